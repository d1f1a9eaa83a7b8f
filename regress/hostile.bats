#!/usr/bin/env bats
# Needs: hayate peers
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# A server that is trusted, and answers what is sent early with anything
# (peers/hostile-login). HOSTILE_SECONDS=1800 does it at random for as long, and
# CLIENT=asan with "make asan".

load helper

setup_file() {
	keys
	cd "$BATS_FILE_TMPDIR" || return
	sshd_up hayate		# for ssh_config alone
	sshd_down
	"$REGRESS/peers/hostile-login" replies >replies 2>/dev/null || :
}

setup() {
	need_asyncssh
	own_memory
	PORT=$((20000 + RANDOM % 12000))
	echo good >plan
	"$REGRESS/peers/hostile-login" "$PORT" "$F/host" plan >met 2>&1 3>&- &
	HOSTILE=$!
	poll 10 grep -qx ready met
	for _ in 1 2; do login -v; done
	grep 'the key exchange goes out' err
	grep 'opening the session with it' err
	cp hayate_logins known
	# upstream frees nothing at its end
	export ASAN_OPTIONS=detect_leaks=0
}
teardown() { [ -z "$HOSTILE" ] || kill "$HOSTILE"; }

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

@test "whatever answers an early message, ssh ends in order, and logs in later" {
	local n reply bad=0
	for n in 1 2 3 4; do
		while read -r reply; do
			cp known hayate_logins
			echo "$n $reply" >plan
			: >met
			login
			grep -qx so met || { echo "$n $reply: not sent"; bad=1; }
			sound || { echo "$n $reply: status $rc"; cat err; bad=1; }
			# It is done if the server said so, and else there is a text. A
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

@test "no mixture of answers makes ssh or scp end in disorder" {
	local end=$((SECONDS + ${HOSTILE_SECONDS:-5})) seed=$RANDOM$RANDOM count=0
	while ((SECONDS < end)); do
		cp known hayate_logins
		echo "random $((seed + count))" >plan
		if ((count % 3)); then login; else get; fi
		sound || { echo "$(<plan): status $rc"; cat err; return 1; }
		count=$((count + 1))
	done
	echo "good" >plan
	login
	[ $rc = 0 ]
	[ -z "$HOSTILE_SECONDS" ] || echo "# $count logins from seed $seed" >&3
}
