/*
 * Copyright (c) 2026 The Hayate Authors
 * SPDX-License-Identifier: ISC
 */

/*
 * The keyword table (common/hayopt.h) and the version of a peer
 * (common/peer.h): text in, text out.
 *
 * A case is a configuration in short: lines separated by ';', each with a
 * letter in front. 'g' is a line for the global layer, 'm' one of a Match
 * block that applies, 'x' one of a block that does not. The output is the
 * messages in brackets and the effective values, "hayate tuning max memory
 * [enabled] [switch] [cc NAME] [rate N] [happy MS] [mptcp] [early|late]
 * [quiet] [at HOSTS]". "pass" stands for an unknown keyword.
 *
 * Prints the cases that fail and a count; exits with 1 if there was one.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hayopt.h"
#include "peer.h"

#define C	HAYOPT_CLIENT
#define S	HAYOPT_SERVER
#define DEF	"yes yes 67108864 268435456"
#define DUMP	"hayate no windowtuning yes avoidbufferbloat yes " \
    "windowmax 8388608 windowmemorymax 268435456 noneenabled no"
#define THREADS	" cipherthreads auto congestioncontrol default maxrate none"
#define WITH	" is allowed, in bytes or with K, M or G] "
#define SIZES	": a size from 2M to 1G is allowed, in bytes or with K, " \
	"M or G]"
#define NAMES	": default or the name of an algorithm is allowed, of at " \
	"most 15 characters] "
#define RATES	": none or a size from 1K to 4G is allowed, in bytes or " \
	"with K, M or G] "

#define HOSTS	": none, all, or names of 1 to 7 hosts are allowed, with " \
	"commas between them and no spaces] "

#define DELAYS	": a number from 0 to 60000 is allowed, in milliseconds] "

#define LESS	": no channel gets more than WindowMemoryMax] "

static const struct {
	int side;
	const char *in, *out;
} cases[] = {
	/* an empty configuration, and one without a keyword of ours */
	{ C, "", DEF },
	{ C, "g Port 22", "pass " DEF },
	{ C, "g Hayat no", "pass " DEF },
	{ C, "g Hayatee no", "pass " DEF },

	/* each keyword; upper and lower case are the same */
	{ C, "g Hayate no", "no no 67108864 268435456" },
	{ S, "g hAYATE NO", "no no 67108864 268435456" },
	{ S, "g WindowTuning no", "yes no 67108864 268435456" },
	{ C, "g WindowMax 4M", "yes yes 4194304 268435456" },
	{ C, "g WindowMemoryMax 64m", "yes yes 67108864 67108864" },

	{ C, "g TransferHosts none", DEF },
	{ C, "g TransferHosts a", DEF " at a" },
	{ C, "g TransferHosts a,b@c,[::1];g TransferHosts d",
	    DEF " at a,b@c,[::1]" },
	{ C, "g TransferHosts none;g TransferHosts d", DEF },
	{ C, "x TransferHosts a;g TransferHosts b", DEF " at b" },
	{ C, "g Hayate no;g TransferHosts b",
	    "no no 67108864 268435456" },
	{ C, "g TransferHosts a,b,c,d,e,f,g", DEF " at a,b,c,d,e,f,g" },
	{ C, "g TransferHosts a,b,c,d,e,f,g,h",
	    "[TransferHosts \"a,b,c,d,e,f,g,h\"" HOSTS DEF },
	{ C, "g TransferHosts a,,b", "[TransferHosts \"a,,b\"" HOSTS DEF },
	{ C, "g TransferHosts -a", "[TransferHosts \"-a\"" HOSTS DEF },
	{ C, "g TransferHosts a`b", "[TransferHosts \"a`b\"" HOSTS DEF },
	{ S, "g TransferHosts a", "pass " DEF },
	{ C, "g EarlyLogin auto", DEF },
	{ C, "g EarlyLogin yes;g EarlyLogin no", DEF " early" },
	{ C, "g EarlyLogin false", DEF " late" },
	{ C, "g EarlyLogin yes;g Hayate no", "no no 67108864 268435456" },
	{ C, "g EarlyLogin 1",
	    "[EarlyLogin \"1\": auto, yes or no is allowed] " DEF },
	{ S, "g EarlyLogin no", "pass " DEF },

	/* units of other programs beside K, M and G */
	{ C, "g WindowMax 16MB", "yes yes 16777216 268435456" },
	{ S, "g WindowMax 64MiB", DEF },
	{ S, "g WindowMax 4096kib", "yes yes 4194304 268435456" },
	{ C, "g WindowMemoryMax 1gb", "yes yes 67108864 1073741824" },
	{ C, "g WindowMax 16MBs", "[WindowMax \"16MBs\"" SIZES " " DEF },
	{ C, "g WindowMax 16Mi", "[WindowMax \"16Mi\"" SIZES " " DEF },
	{ C, "g WindowMax 4194304B", "[WindowMax \"4194304B\"" SIZES " " DEF },
	{ C, "g WindowMax 1025MiB", "[WindowMax \"1025MiB\"" SIZES " " DEF },

	/* a sum below one channel's maximum: a note if the user set both */
	{ C, "g WindowMax 32M;g WindowMemoryMax 16M",
	    "aloud [WindowMemoryMax 16777216 is below WindowMax 33554432" LESS
	    "yes yes 33554432 16777216" },
	{ S, "g WindowMemoryMax 16M;m WindowMax 32M;m WindowMax 33M",
	    "[WindowMemoryMax 16777216 is below WindowMax 67108864" LESS
	    "aloud [WindowMemoryMax 16777216 is below WindowMax 33554432" LESS
	    "yes yes 33554432 16777216" },
	{ C, "g WindowMax 16M;g WindowMemoryMax 16M",
	    "yes yes 16777216 16777216" },
	{ C, "x WindowMemoryMax 16M;g WindowMax 64M", DEF },

	/* flags: the words that stock accepts on that side */
	{ C, "g Hayate false", "no no 67108864 268435456" },
	{ C, "g Hayate TRUE", DEF },
	{ S, "g Hayate false",
	    "[Hayate \"false\": yes or no is allowed] " DEF },
	{ C, "g Hayate 0", "[Hayate \"0\": yes or no is allowed] " DEF },
	{ C, "g Hayate noo", "[Hayate \"noo\": yes or no is allowed] " DEF },

	/* sizes: bounds, units, and text that is no size */
	{ C, "g WindowMax 2M", "yes yes 2097152 268435456" },
	{ C, "g WindowMax 2097152", "yes yes 2097152 268435456" },
	{ C, "g WindowMax 2048k", "yes yes 2097152 268435456" },
	{ C, "g WindowMax 64M", DEF },
	{ C, "g WindowMax 67108864", DEF },
	{ C, "g WindowMax 0000000000000000000000064M", DEF },
	{ C, "g WindowMemoryMax 4G", "yes yes 67108864 4294967296" },
	{ C, "g WindowMemoryMax 4294967297",
	    "[WindowMemoryMax \"4294967297\": "
	    "a size from 2M to 4G" WITH DEF },
	{ C, "g WindowMax 2097151", "[WindowMax \"2097151\"" SIZES " " DEF },
	{ C, "g WindowMax 1073741825",
	    "[WindowMax \"1073741825\"" SIZES " " DEF },
	{ C, "g WindowMax 2G", "[WindowMax \"2G\"" SIZES " " DEF },
	{ C, "g WindowMax 1G", "yes yes 1073741824 2147483648" },
	{ C, "g WindowMax 1G;g WindowMemoryMax 1G",
	    "yes yes 1073741824 1073741824" },
	{ S, "g WindowMax 1G;m WindowMax 128M", "yes yes 134217728 268435456" },

	/* the memory of the machine, MiB */
	{ C, "memory 0", DEF },
	{ C, "memory 2048", DEF },
	{ C, "memory 2080", "yes yes 68157440 268435456" },
	{ C, "memory 7000", "yes yes 229376000 458752000" },
	{ S, "memory 8192", "yes yes 268435456 536870912" },
	{ S, "memory 999999999", "yes yes 268435456 536870912" },
	{ S, "memory 8192;g WindowMax 64M", "yes yes 67108864 268435456" },
	/* a session that its user cannot shape; what is configured holds */
	{ S, "memory 8192;confined", "yes yes 268435456 67108864" },
	{ S, "confined", "yes yes 67108864 67108864" },
	{ S, "memory 8192;confined;m WindowMemoryMax 256M",
	    "yes yes 268435456 268435456" },
	{ S, "memory 8192;g WindowMax 64M;confined",
	    "yes yes 67108864 268435456" },
	{ S, "memory 8192;g WindowMemoryMax 59M",
	    "[WindowMemoryMax 61865984 is below WindowMax 268435456" LESS
	    "yes yes 268435456 61865984" },
	{ C, "g WindowMax 0", "[WindowMax \"0\"" SIZES " " DEF },
	{ C, "g WindowMax 7Q", "[WindowMax \"7Q\"" SIZES " " DEF },
	{ C, "g WindowMax 4.5M", "[WindowMax \"4.5M\"" SIZES " " DEF },
	{ C, "g WindowMax M", "[WindowMax \"M\"" SIZES " " DEF },
	{ C, "g WindowMax +4M", "[WindowMax \"+4M\"" SIZES " " DEF },
	{ C, "g WindowMax -4M", "[WindowMax \"-4M\"" SIZES " " DEF },
	{ C, "g WindowMax 0x400000", "[WindowMax \"0x400000\"" SIZES " " DEF },
	/* 4M modulo 2^64 */
	{ C, "g WindowMax 18446744073713745920",
	    "[WindowMax \"18446744073713745920\"" SIZES " " DEF },
	{ C, "g WindowMemoryMax 17179869188G",
	    "[WindowMemoryMax \"17179869188G\": "
	    "a size from 2M to 4G" WITH DEF },
	{ C, "g WindowMax 1111111111222222222233333333334444444444"
	    "55555555556666666666777777777788888888889999999999",
	    "[WindowMax \"1111111111222222222233333333334444444444"
	    "555555555566666666667777\"" SIZES " " DEF },

	/* names: as the kernel has them, up to 15 characters */
	{ C, "g CongestionControl bbr", DEF " cc bbr" },
	{ S, "g CongestionControl Bbr_2-x", DEF " cc Bbr_2-x" },
	{ C, "g CongestionControl DEFAULT", DEF },
	{ C, "g CongestionControl abcdefghijklmno", DEF " cc abcdefghijklmno" },
	{ C, "g CongestionControl abcdefghijklmnop",
	    "[CongestionControl \"abcdefghijklmnop\"" NAMES DEF },
	{ S, "g CongestionControl 7Q",
	    "[CongestionControl \"7Q\"" NAMES DEF },
	{ S, "g CongestionControl ../x",
	    "[CongestionControl \"../x\"" NAMES DEF },
	{ C, "g CongestionControl", "[CongestionControl without a value" NAMES
	    DEF },
	{ C, "g CongestionControl bbr reno", "[CongestionControl \"bbr\": "
	    "nothing may follow the value] " DEF },
	{ C, "g CongestionControl bbr;g CongestionControl reno",
	    DEF " cc bbr" },
	{ S, "g CongestionControl bbr;m CongestionControl reno",
	    DEF " cc reno" },
	{ S, "g CongestionControl bbr;m CongestionControl default", DEF },
	{ S, "g CongestionControl bbr;x CongestionControl reno",
	    DEF " cc bbr" },

	/* a rate: none, or a size with bounds of its own */
	{ C, "g MaxRate 1K", DEF " rate 1024" },
	{ S, "g MaxRate 4G", DEF " rate 4294967296" },
	{ C, "g MaxRate none", DEF },
	{ C, "g MaxRate 1023", "[MaxRate \"1023\"" RATES DEF },
	{ C, "g MaxRate 0", "[MaxRate \"0\"" RATES DEF },
	{ S, "g MaxRate 4294967297", "[MaxRate \"4294967297\"" RATES DEF },
	{ S, "g MaxRate fast", "[MaxRate \"fast\"" RATES DEF },
	{ C, "g MaxRate none;g MaxRate 1M", DEF },
	{ S, "g MaxRate 1M;m MaxRate none", DEF },
	{ S, "m MaxRate 2M;g MaxRate 1M", DEF " rate 2097152" },

	/* what a server tells */
	{ S, "g TellLimits no", DEF " quiet" },
	{ S, "g TellLimits yes;m TellLimits no", DEF " quiet" },
	{ S, "g TellLimits no;m TellLimits yes", DEF },
	{ S, "g TellLimits perhaps", "[TellLimits \"perhaps\": yes or no is "
	    "allowed] " DEF },
	{ C, "g TellLimits no", "pass " DEF },
	{ S, "g SessionLog no", DEF " silent" },
	{ S, "g SessionLog no;m SessionLog yes", DEF },
	{ C, "g SessionLog no", "pass " DEF },

	{ C, "g AvoidBufferbloat no", DEF " queues" },
	{ S, "g AvoidBufferbloat no;m AvoidBufferbloat yes", DEF },
	{ S, "g AvoidBufferbloat some", "[AvoidBufferbloat \"some\": yes or no "
	    "is allowed] " DEF },

	/* what the banner says, also with Hayate no */
	{ C, "g VersionDetails no", DEF " release" },
	{ S, "g VersionDetails no;g VersionDetails yes", DEF " release" },
	{ S, "g VersionDetails some", "[VersionDetails \"some\": yes or no is "
	    "allowed] " DEF },

	/* both are off with "Hayate no" */
	{ C, "g CongestionControl bbr;g MaxRate 1M;g Hayate no",
	    "no no 67108864 268435456" },

	/* no value, an empty value, an extra value */
	{ C, "g WindowMax", "[WindowMax without a value" SIZES " " DEF },
	{ C, "g WindowMax \"\"", "[WindowMax without a value" SIZES " " DEF },
	{ S, "g Hayate",
	    "[Hayate without a value: yes or no is allowed] " DEF },
	{ C, "g MetricsPath",
	    "[MetricsPath without a value: one value is expected] " DEF },
	{ C, "g Hayate no no",
	    "[Hayate \"no\": nothing may follow the value] " DEF },
	{ C, "g HPNBufferSize 1 2",
	    "[HPNBufferSize \"1\": nothing may follow the value] " DEF },

	/* the first valid value wins */
	{ C, "g WindowMax 3M;g WindowMax 5M", "yes yes 3145728 268435456" },
	{ C, "g Hayate yes;g Hayate no", DEF },
	{ C, "g WindowMax 1;g WindowMax 5M",
	    "[WindowMax \"1\"" SIZES " yes yes 5242880 268435456" },

	/* a block that does not apply is checked and has no effect */
	{ C, "x WindowMax 3M;g WindowMax 5M", "yes yes 5242880 268435456" },
	{ C, "x WindowMax 1;g WindowMax 5M",
	    "[WindowMax \"1\"" SIZES " yes yes 5242880 268435456" },
	{ C, "x NoneSwitch yes", DEF },
	{ C, "x NoneSwitch perhaps",
	    "[NoneSwitch \"perhaps\": yes or no is allowed] " DEF },

	/* Match overrides; within it the first value wins */
	{ S, "g WindowMax 3M;m WindowMax 5M", "yes yes 5242880 268435456" },
	{ S, "m WindowMax 5M;g WindowMax 3M", "yes yes 5242880 268435456" },
	{ S, "m WindowMax 5M;m WindowMax 6M", "yes yes 5242880 268435456" },
	{ S, "g Hayate no;m Hayate yes", DEF },
	{ S, "g Hayate no;m WindowMax 5M", "no no 5242880 268435456" },

	/* HPN-SSH's names, and which of two names counts */
	{ C, "g HPNDisabled yes", "no no 67108864 268435456" },
	{ C, "g HPNDisabled no", DEF },
	{ S, "g TcpRcvBufPoll no", "yes no 67108864 268435456" },
	{ S, "g TcpRcvBufPoll yes", DEF },
	{ C, "g HPNDisabled yes;g HPNDisabled no", "no no 67108864 268435456" },
	{ C, "g HPNDisabled yes;g Hayate yes",
	    "[Hayate wins over HPNDisabled] " DEF },
	{ C, "g Hayate yes;g HPNDisabled yes",
	    "[Hayate wins over HPNDisabled] " DEF },
	{ C, "g Hayate no;g HPNDisabled yes", "no no 67108864 268435456" },
	{ C, "g TcpRcvBufPoll no;g WindowTuning yes",
	    "[WindowTuning wins over TcpRcvBufPoll] " DEF },
	/* one note, although the files are read twice */
	{ C, "g Hayate yes;g HPNDisabled yes;g Hayate yes;g HPNDisabled yes",
	    "[Hayate wins over HPNDisabled] " DEF },
	/* a Match block overrides under either name */
	{ S, "g Hayate yes;m HPNDisabled yes", "no no 67108864 268435456" },
	{ S, "g TcpRcvBufPoll no;m WindowTuning yes", DEF },
	{ C, "g HPNDisabled maybe",
	    "[HPNDisabled \"maybe\": yes or no is allowed] " DEF },

	/* retired keywords: one note each, on the sides HPN-SSH has them */
	{ C, "g HPNBufferSize 16384;g HPNBufferSize 1",
	    "[HPNBufferSize ignored: windows follow the path, see WindowMax] "
	    DEF },
	{ S, "g NoneEnabled 1",
	    "[NoneEnabled \"1\": yes or no is allowed] " DEF },
	/* data in clear: off by default, both keywords are needed */
	{ S, "g NoneEnabled yes", DEF " enabled" },
	{ S, "g NoneEnabled no;m NoneEnabled yes", DEF " enabled" },
	{ S, "g NoneEnabled yes;m NoneEnabled no", DEF },
	{ C, "g NoneEnabled yes;g NoneSwitch yes", DEF " enabled switch" },
	{ C, "g NoneSwitch yes;g NoneSwitch no", DEF " switch" },
	{ C, "g Hayate no;g NoneEnabled yes;g NoneSwitch yes",
	    "no no 67108864 268435456" },
	/* refused with one message, and only if it asks for something */
	{ S, "g NoneMacEnabled no", DEF },
	{ S, "x NoneMacEnabled yes", DEF },
	{ S, "g NoneMacEnabled yes;g NoneMacEnabled yes",
	    "aloud [NoneMacEnabled ignored: data is never sent without a MAC] "
	    DEF },
	{ C, "g NoneMacEnabled maybe",
	    "[NoneMacEnabled \"maybe\": yes or no is allowed] " DEF },

	{ C, "g HappyEyes maybe",
	    "[HappyEyes \"maybe\": yes or no is allowed] " DEF },
	{ C, "g HappyEyes yes", DEF " happy 250" },
	{ C, "g HappyEyes yes;g HappyDelay 0;g HappyDelay 1",
	    DEF " happy 0" },
	{ C, "g HappyDelay 60000;g happyeyes TRUE", DEF " happy 60000" },
	{ C, "g Hayate no;g HappyEyes yes", "no no 67108864 268435456" },
	{ C, "g HappyDelay 60001", "[HappyDelay \"60001\"" DELAYS DEF },
	{ C, "g HappyDelay auto", "[HappyDelay \"auto\"" DELAYS DEF },
	{ C, "g HappyDelay 1K", "[HappyDelay \"1K\"" DELAYS DEF },
	{ C, "g HappyDelay -1", "[HappyDelay \"-1\"" DELAYS DEF },
	{ C, "x HappyDelay 2s", "[HappyDelay \"2s\"" DELAYS DEF },
	{ S, "g HappyEyes yes", "pass " DEF },

	{ C, "g UseMPTCP maybe",
	    "[UseMPTCP \"maybe\": yes or no is allowed] " DEF },
	{ C, "g usemptcp TRUE", DEF " mptcp" },
	{ S, "g UseMPTCP yes;m UseMPTCP no", DEF },
	{ S, "g UseMPTCP yes", DEF " mptcp" },
	{ C, "g Hayate no;g UseMPTCP yes", "no no 67108864 268435456" },
	{ S, "g Hayate no;g UseMPTCP yes", "no no 67108864 268435456" },

	{ C, "g MetricsPath /x/y",
	    "[MetricsPath ignored: not supported] " DEF },
	{ S, "g MetricsPath /x/y", "pass " DEF },
	{ S, "g NoneSwitch yes", "pass " DEF },
	{ S, "g Fallback yes", "pass " DEF },

	/* keywords of other builds, asked for after upstream's */
	{ S, "g GSSAPIKexAlgorithms a,b;m GSSAPIKexAlgorithms c",
	    "[GSSAPIKexAlgorithms ignored: GSSAPI key exchange is not "
	    "supported] "
	    DEF },
	{ C, "g DebianBanner no", "pass " DEF },
	{ S, "g DebianBanner \"\"",
	    "[DebianBanner without a value: one value is expected] " DEF },
	{ S, "x KerberosUseKuserok no",
	    "[KerberosUseKuserok \"no\": only yes is "
	    "allowed, ~/.k5login is always checked] " DEF },
	{ S, "g KerberosUseKuserok yes", DEF },
	{ C, "g RefuseConnection maintenance",
	    "stop [RefuseConnection: maintenance] " DEF },
	{ C, "x RefuseConnection maintenance", DEF },
	{ C, "g RefuseConnection", "[RefuseConnection without a value: one "
	    "value is expected] " DEF },
	{ S, "g RefuseConnection yes", "pass " DEF },
};

static const struct {
	int side;
	const char *word;
	enum hayopt_claim claim;
	const char *name;		/* upstream's name if it differs */
} claims[] = {
	{ C, "WindowMax", HAYOPT_OURS, NULL },
	{ S, "NoneMacEnabled", HAYOPT_OURS, NULL },
	{ C, "Port", HAYOPT_UNKNOWN, NULL },
	{ S, "gssapikeyexchange", HAYOPT_FOREIGN, NULL },
	{ C, "rsaminsize", HAYOPT_FOREIGN, "requiredrsasize" },
	{ S, "SetupTimeOut", HAYOPT_UNKNOWN, NULL },
};

#define MT	"chacha20-poly1305-mt@hpnssh.org"
#define CC	"chacha20-poly1305@openssh.com"

static const struct {
	const char *in, *out;		/* NULL: unchanged */
} ciphers[] = {
	{ MT, CC },
	{ "+" MT, "+" CC },
	{ "^" MT "," CC, "^" CC },
	{ "-" MT, NULL },
	{ "a," MT ",b", "a," CC ",b" },
	{ CC ",a," MT, CC ",a" },
	{ MT "," MT "," MT, CC },
	{ "\"" MT ",a\" # " MT, "\"" CC ",a\" # " MT },
	{ " '+" MT "'", " '+" CC "'" },
	{ "a,a," CC "," CC, NULL },
	{ MT "x", NULL },
	{ "x" MT, NULL },
	{ "a # " MT, NULL },
	{ "", NULL },
	{ "\"", NULL },
	{ "+", NULL },
	{ ",,", NULL },
	{ "," MT ",", "," CC "," },
};

static char got[4096];

static void
add(const char *text)
{
	if (got[0] != '\0')
		strncat(got, " ", sizeof(got) - strlen(got) - 1);
	strncat(got, text, sizeof(got) - strlen(got) - 1);
}

/* One line: a letter for layer and block, the keyword, its words; or memory */
static void
feed(int side, char *line)
{
	char msg[256], note[300], *av[8], *keyword, *word, *last;
	int ac = 0;
	enum hayopt_layer layer;

	strtok_r(line, " ", &last);
	keyword = strtok_r(NULL, " ", &last);
	while (ac < 8 && (word = strtok_r(NULL, " ", &last)) != NULL)
		av[ac++] = strcmp(word, "\"\"") == 0 ? word + 2 : word;
	if (strcmp(line, "memory") == 0) {
		hayopt_set_memory(strtoull(keyword, NULL, 10) << 20);
		return;
	}
	if (strcmp(line, "confined") == 0) {
		hayopt_set_confined(1);
		return;
	}
	layer = *line == 'm' ? HAYOPT_MATCH : HAYOPT_GLOBAL;
	switch (hayopt_read_line(side, layer,
	    keyword, ac, av, *line != 'x', msg, sizeof(msg))) {
	case HAYOPT_PASS:
		add("pass");
		break;
	case HAYOPT_STOP:
		add("stop");
		goto message;
	case HAYOPT_ACCEPTED_LOUD:
		add("aloud");
		goto message;
	case HAYOPT_BAD:
	case HAYOPT_ACCEPTED:
message:
		if (msg[0] != '\0') {
			snprintf(note, sizeof(note), "[%s]", msg);
			add(note);
		}
		break;
	}
	(void)hayopt_get();	/* its result must not be cached */
}

static int
run(int side, const char *in, const char *out)
{
	const struct hayopt *o;
	char *copy = strdup(in), *line, *last, end[100];

	got[0] = '\0';
	hayopt_reset();
	hayopt_set_memory(0);
	hayopt_set_confined(0);
	for (line = strtok_r(copy, ";", &last); line != NULL;
	    line = strtok_r(NULL, ";", &last))
		feed(side, line);
	free(copy);
	o = hayopt_get();
	snprintf(end, sizeof(end), "%s %s %llu %llu",
	    o->hayate ? "yes" : "no", o->window_tuning ? "yes" : "no",
	    (unsigned long long)o->window_max,
	    (unsigned long long)o->window_memory_max);
	add(end);
	if (o->none_enabled)
		add("enabled");
	if (o->none_switch)
		add("switch");
	if (o->congestion_control != NULL) {
		add("cc");
		add(o->congestion_control);
	}
	if (o->max_rate != 0) {
		snprintf(end, sizeof(end), "rate %llu",
		    (unsigned long long)o->max_rate);
		add(end);
	}
	if (o->happy_eyes) {
		snprintf(end, sizeof(end), "happy %llu",
		    (unsigned long long)o->happy_delay);
		add(end);
	}
	if (o->use_mptcp)
		add("mptcp");
	if (o->early_login == HAYOPT_EARLY_YES)
		add("early");
	if (o->early_login == HAYOPT_EARLY_NO && side == C && o->hayate)
		add("late");
	if (!o->tell_limits && side == S && o->hayate)
		add("quiet");
	if (o->transfer_hosts != NULL) {
		add("at");
		add(o->transfer_hosts);
	}
	if (!o->session_log && side == S && o->hayate)
		add("silent");
	if (!o->avoid_bufferbloat && o->hayate)
		add("queues");
	if (!o->version_details)
		add("release");
	if (strcmp(got, out) == 0)
		return 0;
	printf("\"%s\"\n  want %s\n  got  %s\n", in, out, got);
	return 1;
}

/* The dump shows what was configured, not what is in effect. */
static int
dump(int side)
{
	const char *want = side == C ?
	    DUMP " noneswitch no" THREADS " transferstreams 1 "
	    "transferhosts none earlylogin auto versiondetails yes "
	    "happyeyes no happydelay 250 usemptcp no" :
	    DUMP THREADS " telllimits yes sessionlog yes versiondetails yes "
	    "usemptcp no";
	char no[] = "no", size[] = "8M", *av[1], msg[256], line[128];
	size_t i;

	got[0] = '\0';
	hayopt_reset();
	av[0] = no;
	hayopt_read_line(side, HAYOPT_GLOBAL, "Hayate", 1, av, 1, msg,
	    sizeof(msg));
	av[0] = size;
	hayopt_read_line(side, HAYOPT_GLOBAL, "WindowMax", 1, av, 1, msg,
	    sizeof(msg));
	for (i = 0; hayopt_dump(side, i, line, sizeof(line)) == 0; i++)
		add(line);
	if (strcmp(got, want) == 0)
		return 0;
	printf("dump\n  want %s\n  got  %s\n", want, got);
	return 1;
}

static int
claim(size_t i)
{
	const char *name = hayopt_upstream_name(claims[i].side, claims[i].word);

	if (hayopt_classify(claims[i].side, claims[i].word) ==
	    claims[i].claim &&
	    (name == NULL ? claims[i].name == NULL : claims[i].name != NULL &&
	    strcmp(name, claims[i].name) == 0))
		return 0;
	printf("claim \"%s\"\n", claims[i].word);
	return 1;
}

static int
cipher_list(size_t i)
{
	const char *want = ciphers[i].out;
	char *text = strdup(ciphers[i].in);	/* of exact size */
	int r = hayopt_replace_ciphers(text), failed;

	failed = r != (want != NULL) ||
	    strcmp(text, want != NULL ? want : ciphers[i].in) != 0;
	if (failed)
		printf("ciphers \"%s\"\n  want %s\n  got  %s\n",
		    ciphers[i].in, want != NULL ? want : "the same", text);
	free(text);
	return failed;
}

static const struct {
	const char *value;
	size_t len;
	unsigned int version;
} versions[] = {
	{ "1", 1, 1 },
	{ "2", 1, 2 },
	{ "10", 2, 10 },
	{ "01", 2, 1 },
	{ "1;none", 6, 1 },
	{ "1 2", 3, 1 },
	{ "99999999999999999999", 20, 65535 },
	{ "4294967297", 10, 65535 },
	{ "12", 1, 1 },			/* not read past its length */
	{ "", 0, 0 },
	{ "0", 1, 0 },
	{ "000", 3, 0 },
	{ "-1", 2, 0 },
	{ " 1", 2, 0 },
	{ "yes", 3, 0 },
	{ "\0", 1, 0 },
	{ "1\0", 2, 0 },
	{ "1;\0x", 4, 0 },
	{ "\xff\xfe", 2, 0 },
};

static int
peer(size_t i)
{
	/* of exact size, so that the sanitizer sees a read beyond it */
	unsigned char *value = malloc(versions[i].len + !versions[i].len);
	unsigned int version;

	if (versions[i].len != 0)
		memcpy(value, versions[i].value, versions[i].len);
	version = peer_parse_version(value, versions[i].len);
	free(value);
	if (version == versions[i].version)
		return 0;
	printf("peer \"%s\"\n  want %u\n  got  %u\n", versions[i].value,
	    versions[i].version, version);
	return 1;
}

static const struct {
	const char *banner;
	int openssh;
} banners[] = {
	{ "SSH-2.0-OpenSSH_10.0p2 Debian-7+deb13u4", 1 },
	{ "SSH-2.0-OpenSSH_9.9", 1 },
	{ "SSH-1.99-OpenSSH_6.6.1p1 Ubuntu-2ubuntu2", 1 },
	{ "SSH-2.0-OpenSSH_10.0p2 unpatched Hayate_0.1", 1 },
	{ "SSH-2.0-OpenSSH_10.2p1_hpn18.8.0", 0 },
	{ "SSH-2.0-OpenSSH_9.3-hpn14v15", 0 },
	{ "SSH-2.0-OpenSSH_9.9 NetBSD_Secure_Shell-hpn13v14-lpk", 0 },
	{ "SSH-2.0-OpenSSH_10.0p2 Debian-7 HPN", 0 },
	{ "SSH-2.0-OpenSSH_9.3p1c-GSI GSI", 0 },
	{ "SSH-2.0-OpenSSH_for_Windows_9.5", 0 },
	{ "SSH-2.0-OpenSSH_10", 0 },
	{ "SSH-2.0-OpenSSH_10.", 0 },
	{ "SSH-2.0-OpenSSH_.1", 0 },
	{ "SSH-2.0-OpenSSH_10.0p", 0 },
	{ "SSH-2.0-OpenSSH_", 0 },
	{ "SSH-2.0-OpenSSH", 0 },
	{ "SSH-2.0-OpenSSHx10.0", 0 },
	{ "SSH-2.0-dropbear_2022.83", 0 },
	{ "SSH-2.0-x OpenSSH_10.0", 0 },
	{ "SSH-2.0", 0 },
	{ "OpenSSH_10.0", 0 },
	{ "", 0 },
};

static int
banner(size_t i)
{
	/* of exact size, as above */
	char *copy = strdup(banners[i].banner);
	int openssh = peer_is_openssh(copy);

	free(copy);
	if (openssh == banners[i].openssh)
		return 0;
	printf("banner \"%s\"\n  want %d\n  got  %d\n", banners[i].banner,
	    banners[i].openssh, openssh);
	return 1;
}

int
main(void)
{
	const size_t n = sizeof(cases) / sizeof(cases[0]);
	const size_t m = sizeof(versions) / sizeof(versions[0]);
	const size_t c = sizeof(claims) / sizeof(claims[0]);
	const size_t l = sizeof(ciphers) / sizeof(ciphers[0]);
	const size_t b = sizeof(banners) / sizeof(banners[0]);
	size_t i;
	int failed = 0;

	for (i = 0; i < n; i++)
		failed += run(cases[i].side, cases[i].in, cases[i].out);
	failed += dump(C) + dump(S);
	for (i = 0; i < m; i++)
		failed += peer(i);
	for (i = 0; i < c; i++)
		failed += claim(i);
	for (i = 0; i < l; i++)
		failed += cipher_list(i);
	for (i = 0; i < b; i++)
		failed += banner(i);
	printf("%zu cases, %d failed\n", n + 2 + m + c + l + b, failed);
	return failed != 0;
}
