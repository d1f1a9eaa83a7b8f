# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# self: scp from a host to itself, put and get, cipher by cipher, one copy and
# several at once. Which bottleneck remains without a path?
#
# RIKEN and Kobe University asked this in 2016, between the K computer's front-end
# and a visualisation server. One scp reached about 220 MiB/s whatever the window,
# and twelve filled the link. The side whose sshd did the work set the speed,
# which "openssl speed" did not explain. A copy of a host to itself was as slow as
# the slow direction. What kept sshd busy stayed open.
#
# This suite shows (RESULTS.md) that sshd is busy receiving, more in the kernel
# than in crypto. "openssl speed" measures a part of the user time, and that part
# is nearly the same in each process.
#
# A row is N copies at once, from a file in memory to a file in memory. Each copy
# has BYTES / N bytes; above 4 copies it has a quarter of BYTES, because so many
# logins at once take seconds. The text table adds the limit and what each process
# did (limits.py). The share of crypto is computed from "openssl speed" with the
# same library in the same sitting. It measures neither UMAC nor Poly1305, and of
# GMAC only the hash. For these the share is a lower bound and reads "at least".
# If perf works, it samples one more copy, which is not timed, and the share of
# its samples is shown.
#
# bottleneck, bottleneck_path: a row for each possible limit, which must then be
# named. They test limits.py and no program, so they run only on request.

CELLS+=' self'
about_self='a host copied to itself: which process limits, cipher by cipher'

# CIPHER or CIPHER+MAC
ETM=etm@openssh.com
SELF_CIPHERS=${SELF_CIPHERS:-"aes128-ctr+hmac-sha2-256-$ETM
    aes256-ctr+hmac-sha2-256-$ETM aes128-ctr+umac-64-$ETM
    aes256-ctr+umac-64-$ETM aes128-gcm@openssh.com aes256-gcm@openssh.com
    chacha20-poly1305@openssh.com $GMAC none+umac-128-$ETM"}
SELF_STREAMS=${SELF_STREAMS:-1 2 4 8 12}
SELF_QUICK_CIPHERS='aes128-gcm@openssh.com chacha20-poly1305@openssh.com'
SELF_QUICK_STREAMS='1 4'

### Ciphers

# The options of openssl speed for a cipher or a MAC; empty if it has none.
evp_of() {
	case $1 in
	aes*-gmac@*) echo ghash ;;
	aes*-gcm@*) set -- "${1%@*}"; echo "-aead -evp aes-${1#aes}" ;;
	aes*) echo "-evp aes-${1#aes}" ;;
	chacha20-*) echo '-evp chacha20' ;;
	3des-cbc) echo '-evp des-ede3-cbc' ;;
	hmac-sha2-*) set -- "${1#hmac-sha2-}"; echo "-hmac sha${1%%-*}" ;;
	esac
}

can_speed() {
	[ -z "${SPEED_WHY:-}" ] || return 1
	if ! command -v openssl >/dev/null; then
		SPEED_WHY='no openssl, which is in the package openssl'
	elif ! openssl version | grep -qF "$LIBCRYPTO"; then
		SPEED_WHY="openssl is not $LIBCRYPTO"
	else
		return 0
	fi
	warn "$CELL: the share of crypto is not known: $SPEED_WHY"
	return 1
}

# crypto_of CIPHER+MAC: sets COND_CRYPTO, bytes per CPU second and the source
crypto_of() {
	local part words source=openssl each=()
	declare -gA SPEED
	COND_CRYPTO=
	can_speed || return 0
	for part in ${1//+/ }; do
		case $part in umac*|chacha20*|*gmac*) source=part ;; esac
		words=$(evp_of "$part")
		[ -n "$words" ] || continue
		# shellcheck disable=SC2086
		[ -n "${SPEED[$words]:-}" ] || SPEED[$words]=$(openssl speed \
		    -mr -seconds 1 -bytes 32768 $words 2>/dev/null |
		    awk -F: '/^[+]F:/ { print $NF }')
		each+=("${SPEED[$words]:-0}")
	done
	((${#each[@]})) || return 0
	COND_CRYPTO=$(printf '%s\n' "${each[@]}" | awk -v source=$source '
	    { if ($1 > 0) t += 1 / $1 }
	    END { if (t) printf "%.0f:%s", 1 / t, source }')
}

# at_cipher CIPHER[+MAC]: selects them in the current place
at_cipher() {
	local CIPHER=${1%%+*} mac=${1#*+}
	lab_config
	[ "$mac" = "$1" ] || lab_say "$BUILDS" "MACs $mac"
	conditions "$COND_PLACE" "$COND_CC" "$COND_RTT" "$COND_RATE" "$COND_LOSS"
	case $COND_CIPHER in
	"$1"|"$1"+*) ;;
	*) warn "$CELL: skipped $1: no such cipher in these builds"; return 1 ;;
	esac
	crypto_of "$COND_CIPHER"
}

### Verbs

# Runs N commands at once; the last word of each ends with its number.
AT_ONCE='n=$1 pids= s=0; shift
for i in $(seq "$n"); do "$@.$i" & pids="$pids $!"; done
for p in $pids; do wait "$p" || s=$?; done
exit $s'

at_once() {	# N OPTION... -- COMMAND...: metered
	local n=$1 o=()
	shift
	while [ "$1" != -- ]; do o+=("$1"); shift; done
	metered "${o[@]}" sh -c "$AT_ONCE" sh "$n" "${@:2}"
}

v_logins() {	# CLIENT SERVER N: at once
	use "$1"
	at_once "$3" -f "$(pid_of "$2")" -- "${SSH[@]}" "$2" "true #"
}

v_self() {	# CLIENT SERVER BYTES get|put N [SCP-OPTION...]
	local each=$(($3 / $5)) from to=$DATA/got out
	use "$1"
	from=$(file_of $each)
	case $4 in get) from=$2:$from ;; put) to=$2:$to ;; esac
	out=$(at_once "$5" -f "$(pid_of "$2")" -- \
	    "${SCP[@]}" "${@:6}" "$from" "$to")
	if [ "$(find "$DATA" -name 'got.*' -size ${each}c | wc -l)" != "$5" ]; then
		out="${out% *} 254"
	fi
	rm -f "$DATA"/got.*
	profiled "$1-$2-$4-${6:-}-$COND_CIPHER" "${SCP[@]}" "${@:6}" "$from" "$to.1"
	rm -f "$DATA"/got.*
	echo "$out $((each * $5))"
}

# can_perf: sets PERF_EVENTS, or says why not
can_perf() {
	local calls='-e raw_syscalls:sys_enter' e
	PERF_EVENTS=
	if ! command -v perf >/dev/null; then
		warn "$CELL: no profiles: no perf, which is in the package linux-perf"
		return 1
	fi
	for e in "-e cpu-clock $calls" '-e cpu-clock'; do
		# shellcheck disable=SC2086
		perf record -q -a -F 499 $e -o "$LAB/perf.data" true \
		    >/dev/null 2>&1 || continue
		PERF_EVENTS=$e
		return 0
	done
	warn "$CELL: no profiles: perf may not record the whole machine"
	return 1
}

# profiled KEY COMMAND...: samples the command with perf, once for each key, and
# adds the result to $PROCS. perf identifies processes by name, so no other ssh
# should run meanwhile.
profiled() {
	local f=$LAB/profile.${1//[^a-zA-Z0-9]/_} bytes
	[ -n "${PERF_EVENTS:-}" ] || return 0
	if [ ! -f "$f" ]; then
		# shellcheck disable=SC2086
		perf record -q -a -F 499 $PERF_EVENTS -o "$LAB/perf.data" \
		    -- "${@:2}" </dev/null >/dev/null 2>>"$LAB/err"
		bytes=$(stat -c %s "$DATA/got.1" 2>/dev/null || echo 0)
		: >"$f"
		((bytes == 0)) || perf script -i "$LAB/perf.data" \
		    -F comm,period,event,ip,sym,dso 2>/dev/null |
		    python3 "$here/limits.py" profile "$bytes" >"$f"
		rm -f "$LAB/perf.data"
	fi
	[ ! -s "$f" ] || printf ' perf=%s' "$(<"$f")" >>"$PROCS"
}

### Cells

cell_self() {
	local PROCS=$LAB/procs PERF_EVENTS cipher n
	local ciphers=$SELF_CIPHERS streams=$SELF_STREAMS
	if [ -n "$QUICK" ]; then
		ciphers=$SELF_QUICK_CIPHERS streams=$SELF_QUICK_STREAMS
	fi
	at_loop || return
	can_perf
	for cipher in ${CIPHER:-$ciphers}; do
		at_cipher "$cipher" || continue
		for n in $streams; do
			JOBS=() COND_STREAMS=$n
			self_jobs "$n"
			sitting "$RUNS"
		done
	done
}

self_jobs() {	# N
	local p d t bytes=$BYTES
	[ "$1" -le 4 ] || bytes=$((BYTES * $1 / 4))
	for p in $BUILDS; do
		t=$(target_for "$p" 'rate>=1*stock~')
		for d in put get; do
			set -- "$1" "$p" "$p" "$bytes" $d
			job "$p" scp $d "$bytes" "$t" "v_logins $p $p $1" \
			    v_self "${@:2}" "$1"
			job "$p" 'scp -O' $d "$bytes" "$t" "v_logins $p $p $1" \
			    v_self "${@:2}" "$1" -O
		done
	done
}

# each_build MODE get|put BYTES VERB WORD...: a job for each build, at both ends
each_build() {
	local p
	for p in $BUILDS; do
		job "$p" "$1" "$2" "$3" - "v_login $p $p" "$4" "$p" "$p" "$3" "${@:5}"
	done
}

# Two copies for each core, of four processes each, keep all cores busy. On a
# machine with many cores something else limits.
cell_bottleneck() {
	local PROCS=$LAB/procs PERF_EVENTS='' n=$BYTES few
	few=$((n < 67108864 ? n : 67108864))
	at_loop 'Ciphers +3des-cbc' || return
	if at_cipher 3des-cbc; then
		each_build 'slow cipher' get $few v_get
		sitting "$RUNS"
	fi
	at_cipher aes128-gcm@openssh.com || return
	each_build 'slow reader' get $few v_get 20e6
	each_build 'busy reader' put $few v_put gzip
	each_build 'many copies' get "$n" v_self get \
	    $((CORES < 16 ? CORES * 2 : 32))
	sitting "$RUNS"
}

cell_bottleneck_path() {
	local PROCS=$LAB/procs few=$((BYTES < 134217728 ? BYTES : 134217728))
	at_path 50 1gbit || return
	COND_WINDOW=2M
	job stock 'small window' get $few - 'v_login stock stock' \
	    v_get stock stock $few
	job hayate 'small window' get $few - 'v_login hayate hayate' \
	    v_get hayate hayate $few 0 -o WindowMax=2M
	sitting "$RUNS"
	at_path 10 100mbit || return
	each_build 'thin path' get $((few / 8)) v_get
	sitting "$RUNS"
}
