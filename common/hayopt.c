/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * See hayopt.h. There is one row per keyword and one slot per option. Two rows
 * may set the same slot: one with our name of the option, and one with
 * HPN-SSH's name. Their values are kept apart, because our name wins wherever
 * both are given in one layer.
 */

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "hayopt.h"

#define K	((uint64_t)1 << 10)
#define M	((uint64_t)1 << 20)
#define G	((uint64_t)1 << 30)
#define AUTO	UINT64_MAX	/* of COUNT, NUMBER, AUTO_FLAG; off is 0 */

/*
 * The default of WindowMax is a share of the memory. At most it is twice what
 * 10 Gbit/s hold at 100 ms, which a lost packet needs; at least what 5 Gbit/s
 * hold. A machine with 8G has the most. One channel may grow by half of what
 * the others leave, so the sum of all windows is at least twice the largest.
 */
#define WINDOW_SHARE	32
#define WINDOW_LEAST	(64 * M)
#define WINDOW_MOST	(256 * M)
#define SUM_LEAST	(256 * M)
#define SUM_TIMES	2

/* The sum for a confined user: 2.6 Gbit/s at 100 ms */
#define SUM_CONFINED	(64 * M)

enum slot {
	HAYATE, WINDOW_TUNING, AVOID_BUFFERBLOAT, WINDOW_MAX, WINDOW_MEMORY_MAX,
	NONE_ENABLED, NONE_SWITCH, CIPHER_THREADS, CONGESTION_CONTROL, MAX_RATE,
	TRANSFER_STREAMS, TRANSFER_HOSTS, EARLY_LOGIN, TELL_LIMITS, SESSION_LOG,
	VERSION_DETAILS, HAPPY_EYES, HAPPY_DELAY, USE_MPTCP,
	NSLOTS,
	NONE = NSLOTS		/* rows that set nothing */
};

enum kind {
	FLAG,			/* yes or no */
	SIZE,			/* bytes, optionally with K, M or G */
	COUNT,			/* auto, off or a number */
	NUMBER,			/* auto or a number */
	DELAY,			/* a number, ms */
	LIMIT,			/* none or a SIZE; none is 0 */
	AUTO_FLAG,		/* auto, yes or no */
	HOSTS,			/* none or names with commas, kept as text */
	NAME,			/* default or a name, kept as text */
	OTHER_FLAG,		/* HPN-SSH's name of a flag */
	OTHER_NOT,		/* HPN-SSH's name of a negated flag */
	OTHER_OFF,		/* yes: off, no: the default of that option */
	REFUSED_FLAG,		/* yes or no; yes is an error, without effect */
	RETIRED,		/* any value, without effect */

	/* Keywords of other builds of OpenSSH, if upstream lacks them */
	FOREIGN,		/* any value, without effect */
	FOREIGN_LOUD,		/* likewise, and an error is logged */
	FOREIGN_LOST,		/* likewise in sshd, unless it is no */
	FOREIGN_YES,		/* only yes, which is the fixed behaviour */
	FOREIGN_NAME,		/* upstream has another name for it */
	FOREIGN_STOP		/* any value: the process ends */
};

#define C	HAYOPT_CLIENT
#define S	HAYOPT_SERVER
#define B	(HAYOPT_CLIENT | HAYOPT_SERVER)

/*
 * Bounds: stock OpenSSH gives a session a window of 2M. 1G is the largest
 * window of TCP, which bounds a channel as well. The sum of all windows of a
 * process is at least one stock window; 4G is four of the largest windows, more
 * than one connection can use. A rate below 1K would send less than a full
 * packet per second, and every kernel takes rates below 4G.
 */
static const struct keyword {
	const char	*name;
	int		 sides;
	enum kind	 kind;
	enum slot	 slot;
	uint64_t	 def, min, max;
	const char	*note;	/* why it has no effect, or upstream's name */
} keywords[] = {
	{ "Hayate", B, FLAG, HAYATE, 1, 0, 1, NULL },
	{ "WindowTuning", B, FLAG, WINDOW_TUNING, 1, 0, 1, NULL },
	{ "AvoidBufferbloat", B, FLAG, AVOID_BUFFERBLOAT, 1, 0, 1, NULL },
	{ "WindowMax", B, SIZE, WINDOW_MAX, AUTO, 2 * M, G, NULL },
	{ "WindowMemoryMax", B, SIZE, WINDOW_MEMORY_MAX,
	    AUTO, 2 * M, 4 * G, NULL },
	{ "NoneEnabled", B, FLAG, NONE_ENABLED, 0, 0, 1, NULL },
	{ "NoneSwitch", C, FLAG, NONE_SWITCH, 0, 0, 1, NULL },
	{ "CipherThreads", B, COUNT, CIPHER_THREADS,
	    AUTO, 1, HAYOPT_THREADS_MAX, NULL },
	{ "CongestionControl", B, NAME, CONGESTION_CONTROL, 0, 0, 0, NULL },
	{ "MaxRate", B, LIMIT, MAX_RATE, 0, K, 4 * G, NULL },
	{ "TransferStreams", C, NUMBER, TRANSFER_STREAMS,
	    1, 1, HAYOPT_STREAMS_MAX, NULL },
	{ "TransferHosts", C, HOSTS, TRANSFER_HOSTS, 0, 0, 0, NULL },
	{ "EarlyLogin", C, AUTO_FLAG, EARLY_LOGIN, AUTO, 0, 1, NULL },
	{ "TellLimits", S, FLAG, TELL_LIMITS, 1, 0, 1, NULL },
	{ "SessionLog", S, FLAG, SESSION_LOG, 1, 0, 1, NULL },
	{ "VersionDetails", B, FLAG, VERSION_DETAILS, 1, 0, 1, NULL },
	{ "HappyEyes", C, FLAG, HAPPY_EYES, 0, 0, 1, NULL },
	{ "HappyDelay", C, DELAY, HAPPY_DELAY, 250, 0, 60000, NULL },
	{ "UseMPTCP", B, FLAG, USE_MPTCP, 0, 0, 1, NULL },

	{ "HPNDisabled", B, OTHER_NOT, HAYATE, 0, 0, 0, NULL },
	{ "TcpRcvBufPoll", B, OTHER_FLAG, WINDOW_TUNING, 0, 0, 0, NULL },
	{ "DisableMTAES", B, OTHER_OFF, CIPHER_THREADS, 0, 0, 0, NULL },

	{ "NoneMacEnabled", B, REFUSED_FLAG, NONE, 0, 0, 0,
	    "data is never sent without a MAC" },

#define WINDOWS	"windows follow the path, see WindowMax"
	{ "HPNBufferSize", B, RETIRED, NONE, 0, 0, 0, WINDOWS },
	{ "HPNBufferLimit", B, RETIRED, NONE, 0, 0, 0, WINDOWS },
	{ "TcpRcvBuf", B, RETIRED, NONE, 0, 0, 0, WINDOWS },

#define ABSENT	"not supported"
	{ "Metrics", C, RETIRED, NONE, 0, 0, 0, ABSENT },
	{ "MetricsInterval", C, RETIRED, NONE, 0, 0, 0, ABSENT },
	{ "MetricsPath", C, RETIRED, NONE, 0, 0, 0, ABSENT },
	{ "Fallback", C, RETIRED, NONE, 0, 0, 0,
	    "there is no fallback port" },
	{ "FallbackPort", C, RETIRED, NONE, 0, 0, 0,
	    "there is no fallback port" },

	/*
	 * Known to the OpenSSH of Debian, Red Hat or both, or to releases
	 * later than ours. Where ignoring the keyword would admit somebody
	 * whom it is meant to keep out, it is obeyed, or it is an error.
	 */
#define KEYEX	"GSSAPI key exchange is not supported"
	{ "GSSAPIKeyExchange", B, FOREIGN_LOST, NONE, 0, 0, 0, KEYEX },
	{ "GSSAPIKexAlgorithms", B, FOREIGN, NONE, 0, 0, 0, KEYEX },
	{ "GSSAPIRenewalForcesRekey", C, FOREIGN, NONE, 0, 0, 0, KEYEX },
	{ "GSSAPIStoreCredentialsOnRekey", S, FOREIGN, NONE, 0, 0, 0, KEYEX },
	{ "GSSAPITrustDns", C, FOREIGN, NONE, 0, 0, 0,
	    "GSSAPI gets the host name as typed" },
	{ "GSSAPIClientIdentity", C, FOREIGN_LOUD, NONE, 0, 0, 0,
	    "GSSAPI uses the default identity" },
	{ "GSSAPIServerIdentity", C, FOREIGN_LOUD, NONE, 0, 0, 0,
	    "GSSAPI expects the identity of the host name" },
	{ "GSSAPIEnablek5users", S, FOREIGN, NONE, 0, 0, 0,
	    "~/.k5users is not read" },
	{ "GSSAPICleanupCreds", S, FOREIGN_NAME, NONE, 0, 0, 0,
	    "gssapicleanupcredentials" },
	{ "GSSAPIDelegateCredentials", S, FOREIGN_YES, NONE, 0, 0, 0,
	    "delegated credentials are always accepted" },
	{ "GSSAPIUseSessionCredCache", S, FOREIGN, NONE, 0, 0, 0, ABSENT },
	{ "GSSUseSessionCcache", S, FOREIGN, NONE, 0, 0, 0, ABSENT },
	{ "KerberosUniqueCCache", S, FOREIGN, NONE, 0, 0, 0, ABSENT },
	{ "KerberosUseKuserok", S, FOREIGN_YES, NONE, 0, 0, 0,
	    "~/.k5login is always checked" },
	{ "RSAMinSize", B, FOREIGN_NAME, NONE, 0, 0, 0, "requiredrsasize" },
	{ "DebianBanner", S, FOREIGN, NONE, 0, 0, 0,
	    "the banner does not name Debian" },
	{ "ProtocolKeepAlives", C, FOREIGN_NAME, NONE, 0, 0, 0,
	    "serveraliveinterval" },
	{ "SetupTimeOut", C, FOREIGN_NAME, NONE, 0, 0, 0, "connecttimeout" },
	{ "UseBlacklistedKeys", C, FOREIGN, NONE, 0, 0, 0, ABSENT },
	{ "PermitBlacklistedKeys", S, FOREIGN, NONE, 0, 0, 0, ABSENT },
	{ "WarnWeakCrypto", C, FOREIGN, NONE, 0, 0, 0,
	    "there are no such warnings" },
	{ "RefuseConnection", C, FOREIGN_STOP, NONE, 0, 0, 0, NULL },
};

#define NKEYWORDS	(sizeof(keywords) / sizeof(keywords[0]))

#define BY_NAME		0x1
#define BY_OTHER	0x2

/* The values of an option in one layer: by our name, by HPN-SSH's name */
static struct value {
	int		have;	/* BY_NAME, BY_OTHER */
	uint64_t	named, other;
	char		text[HAYOPT_NAME_MAX + 1];	/* of a NAME */
} layers[HAYOPT_MATCH + 1][NSLOTS];

static char hosts[HAYOPT_HOSTS_LEN];	/* "": none; of the global layer */
static int is_logged[NKEYWORDS];	/* its remark was logged */
static int stale = 1;		/* "current" has to be computed again */
static struct hayopt current;

static const struct keyword *
find_keyword(int side, const char *name)
{
	size_t i;

	for (i = 0; i < NKEYWORDS; i++) {
		if ((keywords[i].sides & side) != 0 &&
		    strcasecmp(keywords[i].name, name) == 0)
			return &keywords[i];
	}
	return NULL;
}

static int
sets_option(const struct keyword *k)
{
	return k->kind <= NAME;
}

/* Returns the row that sets the slot by either name, or NULL. */
static const struct keyword *
find_option_row(enum slot slot, int by)
{
	size_t i;

	for (i = 0; i < NKEYWORDS; i++) {
		if (keywords[i].slot == slot &&
		    sets_option(&keywords[i]) == (by == BY_NAME))
			return &keywords[i];
	}
	return NULL;
}

/* Returns the values of the layer in force: the match layer if it has any. */
static const struct value *
find_layer_values(enum slot slot)
{
	return &layers[layers[HAYOPT_MATCH][slot].have != 0 ?
	    HAYOPT_MATCH : HAYOPT_GLOBAL][slot];
}

static uint64_t memory;		/* bytes; 0: not set */

void
hayopt_set_memory(uint64_t bytes)
{
	memory = bytes;
	stale = 1;
}

/* The default of WindowMax */
static uint64_t
window_default(void)
{
	uint64_t bytes = memory / WINDOW_SHARE;

	return bytes < WINDOW_LEAST ? WINDOW_LEAST :
	    bytes > WINDOW_MOST ? WINDOW_MOST : bytes;
}

static int confined;

void
hayopt_set_confined(int is_confined)
{
	confined = is_confined;
	stale = 1;
}

static uint64_t get_value(enum slot);

/* The default of WindowMemoryMax, for the WindowMax in force */
static uint64_t
sum_default(void)
{
	uint64_t bytes = SUM_TIMES * get_value(WINDOW_MAX);

	if (confined && find_layer_values(WINDOW_MAX)->have == 0)
		return SUM_CONFINED;
	return bytes < SUM_LEAST ? SUM_LEAST : bytes;
}

static uint64_t
get_default(enum slot slot)
{
	return slot == WINDOW_MAX ? window_default() :
	    slot == WINDOW_MEMORY_MAX ? sum_default() :
	    find_option_row(slot, BY_NAME)->def;
}

/* Returns the value in force: by our name first. */
static uint64_t
get_value(enum slot slot)
{
	const struct value *v = find_layer_values(slot);

	if (v->have & BY_NAME)
		return v->named;
	if (v->have & BY_OTHER)
		return v->other;
	return get_default(slot);
}

/* Returns the name in force, or NULL for the default. */
static const char *
get_name(enum slot slot)
{
	const struct value *v = find_layer_values(slot);

	return v->text[0] != '\0' ? v->text : NULL;
}

const struct hayopt *
hayopt_get(void)
{
	if (stale) {
		current.hayate = get_value(HAYATE) != 0;
		current.window_tuning =
		    current.hayate && get_value(WINDOW_TUNING) != 0;
		current.avoid_bufferbloat =
		    current.hayate && get_value(AVOID_BUFFERBLOAT) != 0;
		current.window_max = get_value(WINDOW_MAX);
		current.window_memory_max = get_value(WINDOW_MEMORY_MAX);
		current.none_enabled =
		    current.hayate && get_value(NONE_ENABLED) != 0;
		current.none_switch =
		    current.hayate && get_value(NONE_SWITCH) != 0;
		current.cipher_threads = !current.hayate ? 0 :
		    get_value(CIPHER_THREADS) == AUTO ? HAYOPT_THREADS_AUTO :
		    (int)get_value(CIPHER_THREADS);
		current.congestion_control =
		    current.hayate ? get_name(CONGESTION_CONTROL) : NULL;
		current.max_rate = current.hayate ? get_value(MAX_RATE) : 0;
		current.transfer_streams = !current.hayate ? 1 :
		    get_value(TRANSFER_STREAMS) == AUTO ? HAYOPT_STREAMS_AUTO :
		    (int)get_value(TRANSFER_STREAMS);
		current.transfer_hosts = current.hayate && hosts[0] != '\0' ?
		    hosts : NULL;
		current.early_login = !current.hayate ? HAYOPT_EARLY_NO :
		    get_value(EARLY_LOGIN) == AUTO ? HAYOPT_EARLY_AUTO :
		    get_value(EARLY_LOGIN) != 0 ? HAYOPT_EARLY_YES :
		    HAYOPT_EARLY_NO;
		current.session_log =
		    current.hayate && get_value(SESSION_LOG) != 0;
		current.version_details = get_value(VERSION_DETAILS) != 0;
		current.happy_eyes =
		    current.hayate && get_value(HAPPY_EYES) != 0;
		current.happy_delay = get_value(HAPPY_DELAY);
		current.use_mptcp =
		    current.hayate && get_value(USE_MPTCP) != 0;
		current.tell_limits =
		    current.hayate && get_value(TELL_LIMITS) != 0;
		stale = 0;
	}
	return &current;
}

void
hayopt_reset(void)
{
	memset(layers, 0, sizeof(layers));
	memset(is_logged, 0, sizeof(is_logged));
	hosts[0] = '\0';
	stale = 1;
}

enum hayopt_claim
hayopt_classify(int side, const char *keyword)
{
	const struct keyword *k = find_keyword(side, keyword);

	if (k == NULL)
		return HAYOPT_UNKNOWN;
	return k->kind >= FOREIGN ? HAYOPT_FOREIGN : HAYOPT_OURS;
}

const char *
hayopt_upstream_name(int side, const char *keyword)
{
	const struct keyword *k = find_keyword(side, keyword);

	return k != NULL && k->kind == FOREIGN_NAME ? k->note : NULL;
}

#define HPN_CHACHA	"chacha20-poly1305-mt@hpnssh.org"
#define CHACHA		"chacha20-poly1305@openssh.com"

static int
is_name(const char *p, size_t len, const char *name)
{
	return len == strlen(name) && strncmp(p, name, len) == 0;
}

/* Returns 1 if HPN-SSH's name is one of those between p and end. */
static int
has_hpn_name(const char *p, const char *end)
{
	size_t len;

	for (; p < end; p += len + 1) {
		len = strcspn(p, ", \t\r\n\"'");
		if (is_name(p, len, HPN_CHACHA))
			return 1;
	}
	return 0;
}

int
hayopt_replace_ciphers(char *text)
{
	char *p = text + strspn(text, " \t\"'"), *out, *end;
	size_t len;
	int has_chacha = 0, first = 1;

	if (*p == '+' || *p == '^')
		p++;
	end = p + strcspn(p, " \t\r\n\"'");
	if (*p == '-' || !has_hpn_name(p, end))
		return 0;
	for (out = p; p <= end; p += len + 1) {
		len = strcspn(p, ", \t\r\n\"'");
		if (is_name(p, len, HPN_CHACHA) || is_name(p, len, CHACHA)) {
			if (has_chacha++)
				continue;
		}
		if (!first)
			*out++ = ',';
		first = 0;
		if (is_name(p, len, HPN_CHACHA)) {
			memcpy(out, CHACHA, strlen(CHACHA));
			out += strlen(CHACHA);
		} else {
			memmove(out, p, len);
			out += len;
		}
	}
	memmove(out, end, strlen(end) + 1);
	return 1;
}

/*
 * Stock ssh accepts true and false for its flags as well; stock sshd does not.
 * Returns 0, or -1 if the word is none of these.
 */
static int
parse_flag(int side, const char *word, uint64_t *valp)
{
	if (strcasecmp(word, "yes") == 0 ||
	    (side == HAYOPT_CLIENT && strcasecmp(word, "true") == 0))
		*valp = 1;
	else if (strcasecmp(word, "no") == 0 ||
	    (side == HAYOPT_CLIENT && strcasecmp(word, "false") == 0))
		*valp = 0;
	else
		return -1;
	return 0;
}

/*
 * Reads digits and at most one unit; 16M, 16MB and 16MiB are the same. Returns
 * 0, or -1 if the value is not in min..max.
 */
static int
parse_size(const char *word, uint64_t min, uint64_t max, uint64_t *valp)
{
	uint64_t val = 0, unit = 1;
	const char *p = word;

	for (; *p >= '0' && *p <= '9'; p++) {
		val = val * 10 + (uint64_t)(*p - '0');
		if (val > max)		/* before it can overflow */
			return -1;
	}
	if (p == word)
		return -1;
	switch (*p) {
	case 'k': case 'K':
		unit = K;
		break;
	case 'm': case 'M':
		unit = M;
		break;
	case 'g': case 'G':
		unit = G;
		break;
	}
	if (unit != 1 && (strcasecmp(++p, "B") == 0 ||
	    strcasecmp(p, "iB") == 0))
		p += strlen(p);
	if (*p != '\0' || val > max / unit || val * unit < min)
		return -1;
	*valp = val * unit;
	return 0;
}

/* Returns 0, or -1 if it is no word of the kind and no number in min..max. */
static int
parse_count(const struct keyword *k, const char *word, uint64_t *valp)
{
	if (k->kind != DELAY && strcasecmp(word, "auto") == 0)
		*valp = AUTO;
	else if (k->kind == COUNT && strcasecmp(word, "off") == 0)
		*valp = 0;
	else if (word[strspn(word, "0123456789")] != '\0')
		return -1;
	else
		return parse_size(word, k->min, k->max, valp);
	return 0;
}

/* Returns 0, or -1 if it is neither "default" nor a name in the kernel. */
static int
parse_name(const char *word)
{
	size_t len = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789_-");

	return isalpha((unsigned char)*word) && word[len] == '\0' &&
	    len <= HAYOPT_NAME_MAX ? 0 : -1;
}

/* Checks one host name by its characters. */
static int
is_host_name(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (!isgraph((unsigned char)name[i]) ||
		    strchr("\"'`$;&|<>(){}*?\\", name[i]) != NULL)
			return 0;
	}
	return len > 0 && name[0] != '-';
}

#define HOSTS_WANTED	"names of 1 to 7 hosts are allowed, with commas " \
	"between them and no spaces"

const char *
hayopt_refuse_hosts(const char *list)
{
	size_t len, n = 0;

	if (strlen(list) >= HAYOPT_HOSTS_LEN)
		return HOSTS_WANTED ", at most 511 characters";
	for (;; list += len + 1) {
		len = strcspn(list, ",");
		if (!is_host_name(list, len) || ++n > HAYOPT_HOSTS_MAX)
			return HOSTS_WANTED;
		if (list[len] == '\0')
			return NULL;
	}
}

/* Writes a bound, which is a whole number of one of the units. */
static const char *
print_bound(uint64_t bound, char *buf, size_t len)
{
	uint64_t unit = bound % G == 0 ? G : bound % M == 0 ? M : K;

	snprintf(buf, len, "%llu%s", (unsigned long long)(bound / unit),
	    unit == G ? "G" : unit == M ? "M" : "K");
	return buf;
}

/* Describes the values that a keyword allows, for an error message. */
static void
describe_values(const struct keyword *k, char *buf, size_t len)
{
	char min[24], max[24];

	switch (k->kind) {
	case SIZE:
	case LIMIT:
		snprintf(buf, len, "%sa size from %s to %s is allowed, in "
		    "bytes or with K, M or G", k->kind == LIMIT ? "none or " :
		    "", print_bound(k->min, min, sizeof(min)),
		    print_bound(k->max, max, sizeof(max)));
		break;
	case NAME:
		snprintf(buf, len, "default or the name of an algorithm is "
		    "allowed, of at most %d characters", HAYOPT_NAME_MAX);
		break;
	case HOSTS:
		snprintf(buf, len, "%s", "none, all, or " HOSTS_WANTED);
		break;
	case COUNT:
	case NUMBER:
		snprintf(buf, len, "auto%s or a number from %llu to %llu "
		    "is allowed", k->kind == COUNT ? ", off" : "",
		    (unsigned long long)k->min, (unsigned long long)k->max);
		break;
	case DELAY:
		snprintf(buf, len, "a number from %llu to %llu is allowed, in "
		    "milliseconds", (unsigned long long)k->min,
		    (unsigned long long)k->max);
		break;
	case RETIRED:
	case FOREIGN:
	case FOREIGN_LOUD:
	case FOREIGN_LOST:
	case FOREIGN_STOP:
		snprintf(buf, len, "one value is expected");
		break;
	case FOREIGN_YES:
		snprintf(buf, len, "only yes is allowed, %s", k->note);
		break;
	default:
		snprintf(buf, len, "%syes or no is allowed",
		    k->kind == AUTO_FLAG ? "auto, " : "");
		break;
	}
}

/* Reads the value of a line. Returns 0, or -1 with the reason in msg. */
static int
parse_value(const struct keyword *k, int side, int ac, char **av,
    uint64_t *valp, char *msg, size_t msglen)
{
	char want[128];
	int r = 0;

	describe_values(k, want, sizeof(want));
	if (ac < 1 || *av[0] == '\0') {
		snprintf(msg, msglen, "%s without a value: %s", k->name, want);
		return -1;
	}
	if (k->kind == SIZE)
		r = parse_size(av[0], k->min, k->max, valp);
	else if (k->kind == COUNT || k->kind == NUMBER || k->kind == DELAY)
		r = parse_count(k, av[0], valp);
	else if (k->kind == LIMIT && strcasecmp(av[0], "none") != 0)
		r = parse_size(av[0], k->min, k->max, valp);
	else if (k->kind == NAME)
		r = parse_name(av[0]);
	else if (k->kind == HOSTS)
		r = strcasecmp(av[0], "none") == 0 ||
		    hayopt_refuse_hosts(av[0]) == NULL ? 0 : -1;
	else if (k->kind == AUTO_FLAG && strcasecmp(av[0], "auto") == 0)
		*valp = AUTO;
	else if (k->kind == FOREIGN_YES)
		r = parse_flag(side, av[0], valp) != 0 || *valp != 1 ? -1 : 0;
	else if (k->kind < RETIRED && k->kind != LIMIT)
		r = parse_flag(side, av[0], valp);
	if (r != 0) {
		snprintf(msg, msglen, "%s \"%.64s\": %s", k->name, av[0],
		    want);
		return -1;
	}
	if (ac > 1) {
		snprintf(msg, msglen, "%s \"%.64s\": nothing may follow the "
		    "value", k->name, av[0]);
		return -1;
	}
	return 0;
}

/*
 * Stores a value unless the layer has one by that name already. If both names
 * have a value and they differ, msg says which name wins.
 */
static void
store_value(const struct keyword *k, enum hayopt_layer layer, uint64_t val,
    const char *word, char *msg, size_t msglen)
{
	struct value *v = &layers[layer][k->slot];
	int by = sets_option(k) ? BY_NAME : BY_OTHER;

	if (v->have & by)
		return;
	v->have |= by;
	if (k->kind == NAME && strcasecmp(word, "default") != 0)
		snprintf(v->text, sizeof(v->text), "%s", word);
	if (k->kind == HOSTS && strcasecmp(word, "none") != 0)
		snprintf(hosts, sizeof(hosts), "%s", word);
	if (by == BY_NAME)
		v->named = val;
	else if (k->kind == OTHER_OFF)
		v->other = val ? 0 : find_option_row(k->slot, BY_NAME)->def;
	else
		v->other = k->kind == OTHER_NOT ? !val : val;
	stale = 1;
	if (v->have == (BY_NAME | BY_OTHER) && v->named != v->other) {
		snprintf(msg, msglen, "%s wins over %s",
		    find_option_row(k->slot, BY_NAME)->name,
		    find_option_row(k->slot, BY_OTHER)->name);
	}
}

/*
 * If no channel can have a window of WindowMax, msg says so. If both values
 * were configured, one of them is a mistake, and the message is for the user.
 */
static enum hayopt_result
compare_sizes(const struct keyword *k, char *msg, size_t msglen)
{
	const struct value *g = layers[HAYOPT_GLOBAL];
	const struct value *m = layers[HAYOPT_MATCH];
	uint64_t one = get_value(WINDOW_MAX);
	uint64_t all = get_value(WINDOW_MEMORY_MAX);

	if (all >= one || is_logged[k - keywords])
		return HAYOPT_ACCEPTED;
	is_logged[k - keywords] = 1;
	snprintf(msg, msglen, "WindowMemoryMax %llu is below WindowMax %llu: "
	    "no channel gets more than WindowMemoryMax",
	    (unsigned long long)all, (unsigned long long)one);
	return (g[WINDOW_MAX].have || m[WINDOW_MAX].have) &&
	    (g[WINDOW_MEMORY_MAX].have || m[WINDOW_MEMORY_MAX].have) ?
	    HAYOPT_ACCEPTED_LOUD : HAYOPT_ACCEPTED;
}

enum hayopt_result
hayopt_read_line(int side, enum hayopt_layer layer, const char *keyword,
    int ac, char **av, int active, char *msg, size_t msglen)
{
	const struct keyword *k;
	uint64_t val = 0;

	msg[0] = '\0';
	if ((k = find_keyword(side, keyword)) == NULL)
		return HAYOPT_PASS;
	if (parse_value(k, side, ac, av, &val, msg, msglen) != 0)
		return HAYOPT_BAD;
	if (!active)
		return HAYOPT_ACCEPTED;
	if (k->slot != NONE) {
		store_value(k, layer, val, av[0], msg, msglen);
		return k->kind == SIZE ? compare_sizes(k, msg, msglen) :
		    HAYOPT_ACCEPTED;
	}
	if (k->kind == FOREIGN_STOP) {
		snprintf(msg, msglen, "%s: %s", k->name, av[0]);
		return HAYOPT_STOP;
	}
	if (is_logged[k - keywords] || k->kind == FOREIGN_YES ||
	    (k->kind == REFUSED_FLAG && val == 0))
		return HAYOPT_ACCEPTED;
	is_logged[k - keywords] = 1;
	snprintf(msg, msglen, "%s ignored: %s", k->name, k->note);
	return k->kind == REFUSED_FLAG || k->kind == FOREIGN_LOUD ||
	    (k->kind == FOREIGN_LOST && side == S &&
	    strcasecmp(av[0], "no") != 0) ? HAYOPT_ACCEPTED_LOUD :
	    HAYOPT_ACCEPTED;
}

static void
dump_option(const struct keyword *k, char *buf, size_t len)
{
	uint64_t val = get_value(k->slot);
	const char *word = NULL;

	if (k->kind == FLAG || (k->kind == AUTO_FLAG && val != AUTO))
		word = val ? "yes" : "no";
	else if (k->kind == NAME)
		word = get_name(k->slot) ? get_name(k->slot) : "default";
	else if (k->kind == HOSTS)
		word = hosts[0] != '\0' ? hosts : "none";
	else if (k->kind == LIMIT && val == 0)
		word = "none";
	else if ((k->kind == COUNT && val == 0) || val == AUTO)
		word = val ? "auto" : "off";
	if (word != NULL)
		snprintf(buf, len, "%s %s", k->name, word);
	else
		snprintf(buf, len, "%s %llu", k->name,
		    (unsigned long long)val);
}

int
hayopt_dump(int side, size_t i, char *buf, size_t len)
{
	const struct keyword *k;
	size_t n, at;

	for (n = 0; n < NKEYWORDS; n++) {
		k = &keywords[n];
		if (!sets_option(k) || (k->sides & side) == 0 || i-- != 0)
			continue;
		dump_option(k, buf, len);
		for (at = 0; buf[at] != '\0' && buf[at] != ' '; at++)
			buf[at] = (char)tolower((unsigned char)buf[at]);
		return 0;
	}
	return -1;
}
