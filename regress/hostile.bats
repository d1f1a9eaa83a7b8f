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
	hostile_up "$F/host"
	for _ in 1 2; do login -v; done
	grep 'sending the key exchange' err
	grep 'opening the session early' err
	cp hayate_logins known
	# upstream frees nothing at its end
	export ASAN_OPTIONS=detect_leaks=0
}
teardown() { [ -z "$HOSTILE" ] || kill "$HOSTILE"; }

# hostile_up HOST-KEYS: start it, and do as it should at first
hostile_up() {
	[ -z "$HOSTILE" ] || kill "$HOSTILE"
	PORT=$((20000 + RANDOM % 12000))
	: >met
	echo good >plan
	"$REGRESS/peers/hostile-login" "$PORT" "$1" plan >>met 2>&1 3>&- &
	HOSTILE=$!
	poll 10 grep -qx ready met
}

# login [ARG...]: its status is $rc
login() {
	rc=0
	timeout -s KILL 30 "$(bin ssh "${CLIENT-hayate}")" -F "$F/ssh_config" "${KNOWN[@]}" \
	    -p "$PORT" "$@" 127.0.0.1 true </dev/null >out 2>err 3>&- || rc=$?
}
get() {
	rc=0
	timeout -s KILL 30 "$(bin scp "${CLIENT-hayate}")" -S "$(bin ssh "${CLIENT-hayate}")" \
	    -F "$F/ssh_config" "${KNOWN[@]}" -P "$PORT" 127.0.0.1:x got </dev/null >out 2>err 3>&- || rc=$?
}

# sound: it has ended by itself, and says nothing of memory
sound() {
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
			login
			grep -qx so met || { echo "$n $reply: not sent"; bad=1; }
			sound || { echo "$n $reply: status $rc"; cat err; bad=1; }
			# The copy succeeds if the server said so, or else prints a message. A
			# session that is closed without a status has none with stock.
			case "$n $reply $rc" in
			"4 status 0"|"4 close 255") ;;
			*0) [ "$(tail -n 1 out)" = yes ] ;;
			*) [ -s err ] ;;
			esac || { echo "$n $reply: status $rc, $(<out)"; bad=1; }
			echo good >plan
			login -v
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
		0) get ;;
		1) login ;;
		2) login -o UpdateHostKeys=yes ;;
		esac
		sound || { echo "$(<plan): status $rc"; cat err; return 1; }
		count=$((count + 1))
	done
	echo "good" >plan
	login
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
		hostile_up "$T/$key,$F/host"
		for _ in 1 2 3; do login -vv; done
		[ $rc = 0 ]
		grep 'sending the key exchange' err
		grep -E "host key algorithm: (rsa-sha2|$key)" err
		cp hayate_logins known
		for other in $key "$F/host" other.$key other.ed25519; do
			as_stock "$other"
			case $other in
			other.*) [ $rc = 255 ] && grep 'IDENTIFICATION HAS CHANGED' err ;;
			*) [ $rc = 0 ] ;;
			esac
		done
		rm other.ed25519 other.ed25519.pub
	done
}

# as_stock KEY: shown in a rekey, ours ends as stock's does, after one command over one connection
as_stock() {
	local want
	cp known hayate_logins
	echo "rekey $1" >plan
	CLIENT=stock login
	cp err want.err
	cp out want.out
	want=$rc
	: >met
	login
	echo "$1: $rc, with stock $want"
	[ "$rc" = "$want" ]
	diff want.err err
	cmp want.out out
	cat met
	[ "$(<met)" = "connection
command" ]
}
