#!/usr/bin/env bats
# Needs: hayate stock peers
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# A server that is trusted, and answers what is sent early with anything
# (peers/hostile-login), or shows another key later. HOSTILE_SECONDS=1800 does the
# former at random for as long, and CLIENT=asan with "make asan".

load helper

setup_file() {
	make_keys
	cd "$BATS_FILE_TMPDIR" || return
	sshd_up hayate		# for ssh_config alone
	sshd_down
	"$REGRESS/peers/hostile-login" replies >replies 2>/dev/null || :
}

setup() {
	need_asyncssh
	use_own_cache
	start_hostile "$F/host"
	for _ in 1 2; do log_in -v; done
	grep 'sending the key exchange' err
	grep 'opening the session early' err
	cp hayate_logins known
	# upstream frees nothing at its end
	export ASAN_OPTIONS=detect_leaks=0
}
teardown() { [ -z "$HOSTILE" ] || kill "$HOSTILE"; }

# start_hostile HOST-KEYS: starts the server, which behaves well at first
start_hostile() {
	[ -z "$HOSTILE" ] || kill "$HOSTILE"
	PORT=$((20000 + RANDOM % 12000))
	: >met
	echo good >plan
	"$REGRESS/peers/hostile-login" "$PORT" "$1" plan >>met 2>&1 3>&- &
	HOSTILE=$!
	poll 10 grep -qx ready met
}

# log_in [ARG...]: logs in; the status is in $rc
log_in() {
	rc=0
	timeout -s KILL 30 "$(bin ssh "${CLIENT-hayate}")" -F "$F/ssh_config" "${KNOWN[@]}" \
	    -p "$PORT" "$@" 127.0.0.1 true </dev/null >out 2>err 3>&- || rc=$?
}
download_file() {
	rc=0
	timeout -s KILL 30 "$(bin scp "${CLIENT-hayate}")" -S "$(bin ssh "${CLIENT-hayate}")" \
	    -F "$F/ssh_config" "${KNOWN[@]}" -P "$PORT" 127.0.0.1:x got </dev/null >out 2>err 3>&- || rc=$?
}

# check_clean_end: checks that ssh has ended by itself, and reports no memory error
check_clean_end() {
	[ "$rc" = 0 ] || [ "$rc" = 1 ] || [ "$rc" = 255 ] || return
	fails grep -E 'Sanitizer|runtime error|corrupt|free\(\)|assert' err
}

@test "whatever replies to an early message, ssh ends cleanly, and logs in later" {
	local n reply bad=0
	for n in 1 2 3 4; do
		while read -r reply; do
			cp known hayate_logins
			echo "$n $reply" >plan
			: >met
			log_in
			grep -qx so met || { echo "$n $reply: not sent"; bad=1; }
			check_clean_end || { echo "$n $reply: status $rc"; cat err; bad=1; }
			# The copy succeeds if the server said so, or else prints a message. A
			# session that is closed without a status has none with stock.
			case "$n $reply $rc" in
			"4 status 0"|"4 close 255") ;;
			*0) [ "$(tail -n 1 out)" = yes ] ;;
			*) [ -s err ] ;;
			esac || { echo "$n $reply: status $rc, $(<out)"; bad=1; }
			echo good >plan
			log_in -v
			[ $rc = 0 ] && [ "$(<out)" = yes ] || { echo "after $n $reply"; cat err hayate_logins; bad=1; }
		done <"$F/replies"
	done
	[ $bad = 0 ]
}

@test "no mixture of replies makes ssh or scp end uncleanly" {
	local end=$((SECONDS + ${HOSTILE_SECONDS:-5})) seed=$RANDOM$RANDOM count=0
	cp hosts true_hosts
	while ((SECONDS < end)); do
		cp known hayate_logins
		cp true_hosts hosts
		echo "random $((seed + count))" >plan
		case $((count % 3)) in
		0) download_file ;;
		1) log_in ;;
		2) log_in -o UpdateHostKeys=yes ;;
		esac
		check_clean_end || { echo "$(<plan): status $rc"; cat err; return 1; }
		count=$((count + 1))
	done
	echo "good" >plan
	log_in
	[ $rc = 0 ]
	[ -z "$HOSTILE_SECONDS" ] || echo "# $count logins from seed $seed" >&3
}

# The key that stands first at the server is asked for, which stock would not do.
@test "a server that shows another key in a rekey is refused as by stock, and runs nothing twice" {
	local key
	for key in rsa ecdsa; do
		ssh-keygen -q -t $key -N '' -f $key
		ssh-keygen -q -t $key -N '' -f other.$key
		ssh-keygen -q -t ed25519 -N '' -f other.ed25519
		cp "$F/known_hosts" hosts
		sed 's/^/hayate-test /' $key.pub >>hosts
		start_hostile "$T/$key,$F/host"
		for _ in 1 2 3; do log_in -vv; done
		[ $rc = 0 ]
		grep 'sending the key exchange' err
		grep -E "host key algorithm: (rsa-sha2|$key)" err
		cp hayate_logins known
		for other in $key "$F/host" other.$key other.ed25519; do
			check_as_stock "$other"
			case $other in
			other.*) [ $rc = 255 ] && grep 'IDENTIFICATION HAS CHANGED' err ;;
			*) [ $rc = 0 ] ;;
			esac
		done
		rm other.ed25519 other.ed25519.pub
	done
}

# check_as_stock KEY: checks that ours ends as stock's does, after one command over one
# connection, if KEY is shown in a rekey
check_as_stock() {
	local want
	cp known hayate_logins
	echo "rekey $1" >plan
	CLIENT=stock log_in
	cp err want.err
	cp out want.out
	want=$rc
	: >met
	log_in
	echo "$1: $rc, with stock $want"
	[ "$rc" = "$want" ]
	diff want.err err
	cmp want.out out
	cat met
	[ "$(<met)" = "connection
command" ]
}
