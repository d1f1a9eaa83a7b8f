#!/usr/bin/env bats
# Needs: hayate stock peers
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Packets beyond 32 KiB go only to and from a peer that is known to take them
# (common/peer.h). hpn-packets makes stock OpenSSH do with them what HPN-SSH 18.8
# does; a real one is tried as well if PEERS names it ("hpn=/path:hpn"). HPN-SSH 18.9
# is to be had as part of GSI-OpenSSH 10.3p1c, whose programs have plain names
# ("hpn=/path"): configure --without-gsi, CPPFLAGS with a directory that has an empty
# openssl/fips.h, and make LD=cc.

load helper

CHACHA=chacha20-poly1305@openssh.com
HPN="VersionAddendum hpn18.8.0"

# run_as_hpn HOW COMMAND...: runs it with hpn-packets
run_as_hpn() {
	local with="env LD_PRELOAD=$BATS_FILE_TMPDIR/peer.so HPN_PACKETS=$1"
	IN_SERVER=$with IN_CLIENT=$with "${@:2}"
}

setup_file() {
	cc -shared -fPIC -o "$BATS_FILE_TMPDIR/peer.so" \
	    "$REGRESS/peers/hpn-packets.c" -ldl
	local how
	for how in garble cut; do
		run_as_hpn $how sshd_up stock:$how "$HPN" "LogLevel DEBUG1"
		run_as_hpn $how sshd_up stock:$how-unnamed "LogLevel DEBUG1"
	done
	sshd_up hayate
	sshd_up hayate:rekeys "RekeyLimit 4M"
	sshd_up hayate:often "RekeyLimit 1M" "NoneEnabled yes"
	sshd_up stock
	head -c 12000001 /dev/urandom >"$BATS_FILE_TMPDIR/data"
}
teardown_file() { sshd_down; }

setup() {
	cd "$BATS_TEST_TMPDIR"
	DATA=$BATS_FILE_TMPDIR/data
	HOW=(-c "$CHACHA")
}
teardown() { [ -z "${ODD:-}" ] || kill "$ODD" 2>/dev/null || :; }

# each way to get and to put a file, from SERVER and to it
get_ssh() { client "${HOW[@]}" "$1" "cat $DATA" >got; }
put_ssh() { client "${HOW[@]}" "$1" "cat >$PWD/got" <"$DATA"; }
get_scp() { copy -q "${HOW[@]}" "$1:$DATA" got; }
put_scp() { copy -q "${HOW[@]}" "$DATA" "$1:$PWD/got"; }
get_sftp() { echo "get $DATA got" | files -q -b - "${HOW[@]}" "$1"; }
put_sftp() { echo "put $DATA $PWD/got" | files -q -b - "${HOW[@]}" "$1"; }
get_streams() { copy -q -j 3 "${HOW[@]}" "$1:$DATA" got; }
put_streams() { copy -q -j 3 "${HOW[@]}" "$DATA" "$1:$PWD/got"; }

# check_intact SERVER WAY...: checks that each way gives the same bytes
check_intact() {
	local way
	for way in "${@:2}"; do
		rm -f got
		echo "$way $1" >&2
		"$way" "$1"
		cmp "$DATA" got
	done
}
ONE=(get_ssh put_ssh get_scp put_scp get_sftp put_sftp)
MORE=(get_streams put_streams)

# list_announced SERVER: prints the packet sizes that clients announced to that server
list_announced() {
	sed -n 's/.*server_input_channel_open: ctype .* max \([0-9]*\).*/\1/p' \
	    "$(sshd_log "$1")" | sort -u | paste -sd ' '
}

@test "the peers of this suite garble or cut packets beyond 32 KiB" {
	HOW+=(-o RekeyLimit=1M)		# data gathers during a rekey
	get_ssh garble-unnamed
	fails cmp -s "$DATA" got
	fails get_ssh cut-unnamed
	HOW+=(-o Hayate=no)
	check_intact garble-unnamed get_ssh put_ssh
	check_intact cut-unnamed get_ssh put_ssh
}

@test "a server whose banner names hpn gets and sends packets of 32 KiB, also with rekeys" {
	local how
	for how in garble cut; do
		check_intact $how get_ssh put_ssh
		HOW+=(-o RekeyLimit=4M)
		check_intact $how "${ONE[@]}" "${MORE[@]}"
		[ "$(list_announced $how)" = 32768 ]
	done
}

@test "each kind of channel names 32 KiB to a server whose banner names hpn" {
	local ctl=$PWD/ctl
	: >"$(sshd_log cut)"
	client -M -N -f -S "$ctl" -vvE log cut
	HOW+=(-S "$ctl")
	check_intact cut get_ssh put_ssh
	client -S "$ctl" -O proxy cut "cat $DATA" | cmp - "$DATA"
	client -S "$ctl" -W "127.0.0.1:$(sshd_port cut)" cut </dev/null | head -n 1
	client -S "$ctl" -O forward -R "$PWD/far:127.0.0.1:$(sshd_port cut)" cut
	socat -t 1 - UNIX-CONNECT:far </dev/null | head -n 1
	client -q -S "$ctl" -O exit cut
	[ "$(list_announced cut)" = 32768 ]
}

@test "a proxied client, which knows no banner, names 32 KiB" {
	local ctl=$PWD/ctl
	: >"$(sshd_log stock)"
	sshd_up stock:fresh
	client -M -N -f -S "$ctl" fresh
	client -S "$ctl" -O proxy fresh "cat $DATA" | cmp - "$DATA"
	[ "$(list_announced fresh)" = 32768 ]
	client -S "$ctl" fresh true
	[ "$(list_announced fresh)" = "261376 32768" ]
	client -q -S "$ctl" -O exit fresh
	sshd_down fresh
}

@test "a client whose banner names hpn gets and sends packets of 32 KiB" {
	local how
	HOW+=(-o "$HPN")
	for how in garble cut; do
		CLIENT=stock run_as_hpn $how check_intact hayate get_ssh put_ssh
		CLIENT=stock run_as_hpn $how check_intact rekeys "${ONE[@]}"
	done
	CLIENT=stock client -vv "${HOW[@]}" hayate true 2>&1 | grep 'open confirm .* rmax 32768'
	CLIENT=stock client -vv hayate true 2>&1 | grep 'open confirm .* rmax 261376'
}

# start_strict_peer WORD...: starts authonly-peer as a server, which ends at a long packet
start_strict_peer() {
	need_asyncssh
	rm -f port
	"$REGRESS/peers/authonly-peer" server "$BATS_FILE_TMPDIR/host" \
	    "$BATS_FILE_TMPDIR/authorized_keys" strict "$@" >port 2>odd.err 3>&- &
	ODD=$!
	poll 10 test -s port || { cat odd.err; return 1; }
	HOW=(-F "$BATS_FILE_TMPDIR/ssh_config" -p "$(cat port)")
}

# check_both_ways OPTION...: checks what the strict server sends and receives
check_both_ways() {
	timeout 60 "$(bin ssh)" "${HOW[@]}" "$@" 127.0.0.1 repeat <lines 2>err |
	    cmp - lines || { cat err odd.err; return 1; }
	timeout 60 "$(bin ssh)" "${HOW[@]}" "$@" 127.0.0.1 long </dev/null 2>err |
	    cmp - <(yes long | head -n 600000) || { cat err odd.err; return 1; }
}

@test "a server of another implementation gets and sends packets of 32 KiB, whatever it announces" {
	local name
	seq 500000 | tr '\n' ' ' | fold -w 4000 >lines
	echo >>lines
	for name in "" banner=OpenSSH_for_Windows_9.5; do
		start_strict_peer $name
		check_both_ways
		kill "$ODD"
	done
}

@test "data in clear of a server whose banner names hpn is in packets of 32 KiB" {
	seq 500000 | tr '\n' ' ' | fold -w 4000 >lines
	echo >>lines
	start_strict_peer banner=OpenSSH_10.2p1_hpn18.8.0
	check_both_ways -v -o NoneEnabled=yes -o NoneSwitch=yes -o RekeyLimit=1M
	grep -q 'data is in clear from here on' err
}

# A peer of OpenSSH 10.4 or later ends the connection at any other message, and
# authonly-peer itself does so here.
@test "between our KEXINIT and NEWKEYS a peer gets key exchange messages only, also with threads and in clear" {
	local clear=(-o NoneEnabled=yes -o NoneSwitch=yes) how s
	seq 500000 | tr '\n' ' ' | fold -w 4000 >lines
	echo >>lines
	for how in begins=1000000000 begins=300000; do
		start_strict_peer "$how"
		HOW+=(-o RekeyLimit=1M -o CipherThreads=2)
		check_both_ways
		check_both_ways "${clear[@]}"
		kill "$ODD"
	done
	for s in aes128-ctr none; do
		"$REGRESS/peers/authonly-peer" client "$(sshd_port often)" \
		    "$BATS_FILE_TMPDIR/user" $s hmac-sha2-256-etm@openssh.com \
		    "tee $PWD/got" <"$DATA" 2>err | cmp - "$DATA" || { cat err; return 1; }
		cmp got "$DATA"
	done
	HOW=(-o RekeyLimit=1M)
	CLIENT=stock check_intact often get_ssh put_ssh
	HOW+=(-o CipherThreads=2)
	check_intact stock get_ssh put_scp "${MORE[@]}"
	HOW+=("${clear[@]}")
	check_intact often get_scp put_ssh "${MORE[@]}"
}

@test "a client of another implementation gets and sends packets of 32 KiB, whatever it announces" {
	need_asyncssh
	local name
	for name in banner=OpenSSH_10.2p1_hpn18.8.0 banner=Go; do
		"$REGRESS/peers/authonly-peer" client "$(sshd_port hayate)" \
		    "$BATS_FILE_TMPDIR/user" aes128-ctr hmac-sha2-256 \
		    "cat $DATA" strict $name </dev/null 2>err | cmp - "$DATA"
	done
}

@test "a real server of HPN-SSH exchanges files and rekeys with our clients" {
	peer_bin sshd hpn >/dev/null || skip "no HPN-SSH: PEERS names none as hpn"
	sshd_up hpn
	HOW+=(-o RekeyLimit=4M)
	check_intact hpn "${ONE[@]}" "${MORE[@]}"
	HOW+=(-o NoneEnabled=yes -o NoneSwitch=yes)
	check_intact hpn "${ONE[@]}"
	sshd_up hpn:clear "NoneEnabled yes"
	client "${HOW[@]}" clear true 2>err
	grep 'in clear from here on, authenticated by none with' err
	fails grep umac-64 err
	check_intact clear "${ONE[@]}" "${MORE[@]}"
}

@test "real clients of HPN-SSH exchange files and rekey with our server" {
	peer_bin ssh hpn >/dev/null || skip "no HPN-SSH: PEERS names none as hpn"
	CLIENT=hpn check_intact hayate "${ONE[@]}"
	CLIENT=hpn check_intact rekeys get_ssh put_ssh
	# with the cipher that it takes by itself
	HOW=()
	CLIENT=hpn check_intact hayate "${ONE[@]}"
	CLIENT=hpn check_intact rekeys get_ssh put_ssh
}

@test "real clients of HPN-SSH exchange data in clear with our server, where it permits that" {
	peer_bin ssh hpn >/dev/null || skip "no HPN-SSH: PEERS names none as hpn"
	HOW=(-o NoneEnabled=yes -o NoneSwitch=yes)
	CLIENT=hpn check_intact often "${ONE[@]}"
	grep 'Data in clear began for .*: none with' "$(sshd_log often)"
	CLIENT=hpn fails client "${HOW[@]}" hayate true
	# without a MAC our server sends nothing in clear
	HOW+=(-o NoneMacEnabled=yes)
	CLIENT=hpn client "${HOW[@]}" often true 2>err || :
	fails grep 'in clear began for .*: none with none' "$(sshd_log often)"
}

@test "the login cache remembers a real server of HPN-SSH, which is asked for AES-GCM" {
	peer_bin sshd hpn >/dev/null || skip "no HPN-SSH: PEERS names none as hpn"
	grep -qw aes /proc/cpuinfo || skip "no instructions for AES"
	use_own_cache
	sshd_up hpn:known
	for _ in 1 2 3; do
		client -v "${KNOWN[@]}" known true 2>err
		grep 'server->client cipher: aes256-gcm@openssh.com' err
		grep 'does not rekey with AES-GCM' err
	done
	grep 'early login: .*key exchange' err
	fails grep 'did not take it' err
	[ -s hayate_logins ]
	fails grep ' plain=\| late=' hayate_logins
	HOW=("${KNOWN[@]}")
	check_intact known "${ONE[@]}" "${MORE[@]}"
}
