#!/usr/bin/env bats
# Needs: hayate stock path
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# UseMPTCP (channels/mptcp.h, channels/mptcp-hook.h), over two paths of 100 Mbit/s and
# 20 ms:
#
#     a 10.77.0.1  ===== path $P, lfp0 =====   b 10.77.0.2
#       10.78.0.1  ===== path ${P}q, lfp1 ====   10.78.0.2
#
# A connection begins on lfp0. The server announces its address on lfp1.

load helper

setup_file() {
	export P=m$$ SERVER_ADDRESS=10.77.0.2 IN_SERVER="ip netns exec lfp-m$$-b"
	cd "$BATS_FILE_TMPDIR"
	find_obstacle >why || return 0
	make_paths
	head -c 30000000 /dev/urandom >data
	sshd_up hayate "UseMPTCP yes" "ListenAddress 0.0.0.0" "ListenAddress ::"
	sshd_up hayate:tcp "UseMPTCP no"
	sshd_up hayate:limited "UseMPTCP yes" "MaxRate 3M"
	sshd_up hayate:later "LogLevel ERROR" "UseMPTCP yes" "Match user *" "MaxRate 3M" \
	    "Match all"
}

teardown_file() {
	sshd_down
	[ ! -d "/run/lfp/$P" ] || "$LFP" down "$P"
	[ ! -d "/run/lfp/${P}q" ] || "$LFP" down "${P}q"
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	F=$BATS_FILE_TMPDIR
	[ ! -s "$F/why" ] || skip "$(cat "$F/why")"
	IN_CLIENT="ip netns exec lfp-$P-a"
	reset_paths
}

teardown() {
	[ -z "${SESSION-}" ] || kill "$SESSION" 2>/dev/null || :
}

# find_obstacle: prints why there can be no MPTCP here; fails if there is a reason
find_obstacle() {
	"$LFP" check 2>&1 || return
	command -v nstat >/dev/null || { echo "no nstat (package iproute2)"; return 1; }
	unshare -n sh -c 'ip link set lo up && ip mptcp endpoint add 127.0.0.2 signal &&
	    [ "$(cat /proc/sys/net/mptcp/enabled)" = 1 ]' 2>/dev/null ||
	    { echo "the kernel has no MPTCP"; return 1; }
}

# make_paths: makes both paths, between the same namespaces
make_paths() {
	local side at=1
	"$LFP" up "$P" --rtt 20ms --rate 100mbit 3>&-
	"$LFP" up "${P}q" --rtt 20ms --rate 100mbit 3>&-
	for side in a b; do
		ip -n "lfp-${P}q-$side" link set lfp0 netns "lfp-$P-$side" name lfp1
		ip -n "lfp-$P-$side" addr add 10.78.0.$((at++))/24 dev lfp1
		ip -n "lfp-$P-$side" link set lfp1 txqueuelen 8192 up
		ip -n "lfp-$P-$side" mptcp limits set subflow 2 add_addr_accepted 2
	done
	ip -n "lfp-$P-b" mptcp endpoint add 10.78.0.2 signal
}

# set_path 0|1 OPTION...: changes the path of lfp0 or lfp1
set_path() { "$LFP" set "$P$(tr -d 0 <<<"${1/1/q}")" "${@:2}"; }

reset_paths() {
	set_path 0 --loss 0 --rtt 20ms --rate 100mbit
	set_path 1 --loss 0 --rtt 20ms --rate 100mbit
	$IN_CLIENT sysctl -qw net.mptcp.enabled=1
}

# count_sent a|b 0|1: prints how many bytes that end has sent on lfp0 or lfp1
count_sent() { ip netns exec "lfp-$P-$1" cat "/sys/class/net/lfp$2/statistics/tx_bytes"; }

# check_share a|b COMMAND...: checks that it sends at least 2 of 10 MB on each path
check_share() {
	local side=$1 before0 before1
	shift
	before0=$(count_sent "$side" 0) before1=$(count_sent "$side" 1)
	"$@"
	check_true "$(count_sent "$side" 0) - $before0 > 2e6"
	check_true "$(count_sent "$side" 1) - $before1 > 2e6"
}

mptcp=(-o UseMPTCP=yes)
USED='UseMPTCP: the connection uses MPTCP'
NOT_USED='UseMPTCP: the connection uses TCP'

@test "a copy over two paths sends on both, in either direction" {
	# slow enough for a busy machine
	set_path 0 --rate 20mbit
	set_path 1 --rate 20mbit
	head -c 10000000 "$F/data" >data
	check_share a copy -v "${mptcp[@]}" data hayate:"$PWD/there" 2>log
	cmp data there
	grep -q "$USED" log
	check_share b copy -v "${mptcp[@]}" hayate:"$PWD/there" here 2>log
	cmp data here
}

@test "without UseMPTCP, and with Hayate no, the connection is one of TCP" {
	local option before
	before=$(count_sent a 1)
	for option in UseMPTCP=no Hayate=no; do
		copy -v -o $option "${mptcp[@]}" "$F/data" hayate:"$PWD/there" 2>log
		cmp "$F/data" there
		fails grep MPTCP log
	done
	check_true "$(count_sent a 1) - $before < 1e5"
}

# copy_over_failing_path 0|1: downloads while that path fails
copy_over_failing_path() {
	local r=0
	copy -v "${mptcp[@]}" hayate:"$F/data" got 2>log &
	SESSION=$!
	poll 10 test -s got
	set_path "$1" --loss 100%
	wait "$SESSION" || r=$?
	SESSION=
	reset_paths
	[ $r = 0 ]
	grep -q "$USED" log
	cmp "$F/data" got
}

@test "a copy goes on if the first path fails, and if the other one does" {
	copy_over_failing_path 0
	rm got
	copy_over_failing_path 1
}

@test "the receive window follows the sum of both paths, also if the first one is short" {
	local first most
	set_path 1 --rtt 200ms
	# One path of 200 ms holds 2.5 MB. TCP_INFO would describe the first one.
	for first in 200ms 10ms; do
		set_path 0 --rtt $first
		client -vv "${mptcp[@]}" hayate "cat $F/data $F/data $F/data" 2>log | cmp - \
		    <(cat "$F/data" "$F/data" "$F/data")
		grep -q "$USED" log
		most=$(sed -n 's/.*: window \([0-9]*\) .*/\1/p' log | sort -n | tail -n 1)
		echo "$first: $most"
		check_true "${most:-0} > 4e6"
	done
}

@test "a peer or a kernel without MPTCP gives a connection of TCP" {
	client -v "${mptcp[@]}" tcp true 2>log
	grep -q "$NOT_USED" log
	fails grep 'has no effect' log
	# a client that does not know the option
	CLIENT=stock client hayate true
	$IN_CLIENT sysctl -qw net.mptcp.enabled=0
	client -v "${mptcp[@]}" hayate true 2>log
	grep -q 'UseMPTCP has no effect: ' log
	grep -q "$NOT_USED" log
	client -q "${mptcp[@]}" hayate true 2>log
	[ ! -s log ]
	# a listener
	$IN_SERVER sysctl -qw net.mptcp.enabled=0
	sshd_up hayate:without "UseMPTCP yes"
	$IN_SERVER sysctl -qw net.mptcp.enabled=1
	grep -q 'UseMPTCP has no effect: ' "$(sshd_log without)"
	client without true
	sshd_down without
}

@test "with MaxRate the connection is one of TCP, which it limits" {
	client -v "${mptcp[@]}" -o MaxRate=3M hayate true 2>log
	grep -q 'UseMPTCP has no effect: MaxRate can only limit TCP' log
	grep -q "$NOT_USED" log
	grep -q "debug1: MaxRate 3145728" log
	client -v "${mptcp[@]}" limited true 2>log
	grep -q "$NOT_USED" log
	grep -q "debug1: MaxRate 3145728" "$(sshd_log limited)"
	# In a Match block it comes too late, and that is no secret.
	client -v "${mptcp[@]}" later true 2>log
	grep -q "$USED" log
	grep -q "MaxRate 3145728 has no effect: .*MPTCP" "$(sshd_log later)"
}

@test "additional connections, other hosts and HappyEyes use MPTCP as well" {
	copy -v "${mptcp[@]}" -j 2 "$F/data" hayate:"$PWD/there" 2>log
	cmp "$F/data" there
	[ "$(grep -c "$USED" log)" = 2 ]
	sshd_up hayate:second "UseMPTCP yes"
	copy -v "${mptcp[@]}" --hosts second "$F/data" hayate:"$PWD/there" 2>log
	sshd_down second
	cmp "$F/data" there
	[ "$(grep -c "$USED" log)" = 2 ]
	cp /etc/hosts names
	printf '%s two.test\n' 10.77.0.9 10.77.0.2 >>names
	$IN_CLIENT unshare -m sh -c 'mount --bind names /etc/hosts && exec "$@"' sh \
	    "$(bin ssh)" -F "$F/ssh_config" -v "${mptcp[@]}" -o HappyEyes=yes \
	    -o ConnectTimeout=30 -o HostName=two.test hayate true 2>log 3>&-
	grep -q 'HappyEyes: 10.77.0.2 has answered first' log
	grep -q "$USED" log
}

# list_subflows ARG...: prints a line for each subflow of the server's connections
list_subflows() { $IN_SERVER ss -HtniO "$@" state established "sport = :$(sshd_port hayate)"; }
has_subflows() { [ "$(list_subflows | grep -c .)" = "$1" ]; }

@test "socket options apply to all subflows, and IPv6 works without an error" {
	mkfifo hold
	poll 10 has_subflows 0
	client -v "${mptcp[@]}" -o IPQoS=af21 -o TCPKeepAlive=yes -o CongestionControl=reno \
	    hayate 'echo here; cat' <hold >out 2>log &
	SESSION=$!
	exec 8>hold
	poll 10 grep -q here out
	poll 10 has_subflows 2
	$IN_CLIENT ss -HtnieO --tos state established "dport = :$(sshd_port hayate)" >seen
	cat seen
	[ "$(grep -c ' reno ' seen)" = 2 ]
	[ "$(grep -c 'tos:0x48' seen)" = 2 ]
	exec 8>&-
	wait "$SESSION"
	fails grep 'setsockopt' log
	client -v "${mptcp[@]}" -o HostName=fd77::2 -o IPQoS=af21 hayate 'echo there' >out 2>log
	grep -qx there out
	grep -q "$USED" log
	fails grep -i 'error\|setsockopt' log
	fails grep -i '^error\|setsockopt' "$(sshd_log hayate)"
}

@test "a session over MPTCP passes the sandbox, and its line has no figures of TCP" {
	sshd_up hayate:line "UseMPTCP yes"
	client -v "${mptcp[@]}" line 'head -c 100000 /dev/zero' >out 2>log
	[ "$(stat -c %s out)" = 100000 ]
	grep -q "$USED" log
	poll 10 grep -q 'Session 1: .* sent=1[0-9]\{5\} ' "$(sshd_log line)"
	# TCP_INFO would describe the first subflow alone.
	grep -q ' rtt_ms=- min_rtt_ms=- resent=- ' "$(sshd_log line)"
	fails grep -i 'error\|fatal\|signal' "$(sshd_log line)"
	sshd_down line
}
