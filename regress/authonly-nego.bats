#!/usr/bin/env bats
# Needs: hayate stock
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# How data in clear is negotiated: what a client names, given what the server
# has; which algorithms are used after a refusal; foreign servers and clients.
# authonly-peer implements the odd servers.

load helper

S256=hmac-sha2-256-etm@openssh.com
S512=hmac-sha2-512-etm@openssh.com
S1=hmac-sha1-etm@openssh.com
SHORT=hmac-sha1-96-etm@openssh.com	# a tag of 96 bits
U64=umac-64-etm@openssh.com

setup_file() {
	sshd_up hayate:open "NoneEnabled yes"
	sshd_up hayate:closed
	sshd_up hayate:plain "NoneEnabled yes" "MACs $S512,hmac-sha2-256"
	# asyncssh repeats line by line, so the lines are long.
	seq 100000 | tr '\n' ' ' | fold -w 4000 >"$BATS_FILE_TMPDIR/data"
	echo >>"$BATS_FILE_TMPDIR/data"
}
teardown_file() { sshd_down; }

setup() {
	DATA=$BATS_FILE_TMPDIR/data
	ASK=(-v -o NoneEnabled=yes -o NoneSwitch=yes)
	cd "$BATS_TEST_TMPDIR"
}
teardown() { [ -z "${ODD:-}" ] || kill "$ODD" 2>/dev/null || true; }


# start_odd_peer WORD...: starts authonly-peer as a server; sets PORT
start_odd_peer() {
	need_asyncssh
	rm -f port
	"$REGRESS/peers/authonly-peer" server "$BATS_FILE_TMPDIR/host" \
	    "$BATS_FILE_TMPDIR/authorized_keys" "$@" >port 2>odd.err 3>&- &
	ODD=$!
	poll 10 test -s port || { cat odd.err; return 1; }
	PORT=$(cat port)
}

# transfer_both_ways OPTION...: sends data to the odd server and back; the messages are in
# err
transfer_both_ways() {
	timeout 60 "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" "${ASK[@]}" \
	    -p "$PORT" "$@" 127.0.0.1 repeat <"$DATA" >got 2>err 3>&- ||
	    { cat err odd.err; return 1; }
	cmp "$DATA" got
}

# check_notices CLAUSE...: checks that these are the lines of NoneSwitch in err, each once
check_notices() {
	diff <(grep '^NoneSwitch: ' err | tr -d '\r') <(printf 'NoneSwitch: %s.\n' "$@")
}

ENCRYPTED='data stays encrypted, because'
CLEAR='data is in clear from here on, authenticated by'
NO_MAC="$ENCRYPTED both sides share no MAC that ends in -etm@openssh.com"

# list_kexes: prints "WAY CIPHER MAC" of each key exchange in err
list_kexes() {
	tr -d '\r' <err |
	    sed -n 's/^debug1: kex: \([a-z]*->[a-z]*\) cipher: \([^ ]*\) MAC: \([^ ]*\) .*/\1 \2 \3/p'
}

# check_final_mac MAC [CIPHER]: checks that both directions use them at the end
check_final_mac() {
	list_kexes | tail -n 2 | cut -d' ' -f2- | sort -u |
	    diff - <(echo "${2-aes256-ctr} $1")
}

### Names of the modes

@test "a client names none only if each direction has a MAC for it" {
	local way other
	for way in in out; do
		other=out
		[ $way = in ] || other=in
		start_odd_peer "$way=$S512,hmac-sha2-256" "$other=$S256"
		transfer_both_ways -o "MACs=$S256,hmac-sha2-256"
		check_notices "$NO_MAC"
		fails grep -q 'no matching' err
		kill "$ODD"
	done
	start_odd_peer "in=$S512,hmac-sha2-256" "out=$S512,hmac-sha2-256"
	transfer_both_ways -o "MACs=$S256,hmac-sha2-256"
	check_notices "$NO_MAC"
}

@test "each direction uses an encrypt-then-MAC MAC that both sides have" {
	start_odd_peer "in=$S512,hmac-sha2-256" "out=hmac-sha2-512,$S256"
	transfer_both_ways -o "MACs=hmac-sha2-512,hmac-sha2-256,$S256,$S512"
	check_notices "$CLEAR none with $S512"
	list_kexes | grep -qx "client->server none $S512"
	list_kexes | grep -qx "server->client none $S256"
}

@test "two Hayates without a common MAC for none use GMAC" {
	client "${ASK[@]}" -o "MACs=$S256,hmac-sha2-256" plain "cat $DATA" 2>err |
	    cmp - "$DATA"
	check_notices "$CLEAR aes128-gmac@hayate.invalid"
}

@test "a server that sends no extensions but names none at login is asked for it" {
	start_odd_peer no-ext-info
	transfer_both_ways
	fails grep -q SSH2_MSG_EXT_INFO err
	check_notices "$CLEAR none with $S256"
}

### After a refusal

@test "after a refusal the MAC is the one that the user's order gives" {
	sshd_up hayate:refuses "MACs $S1,$S256,hmac-sha2-512" "Ciphers aes256-ctr"
	client "${ASK[@]}" -c aes256-ctr -o "MACs=hmac-sha2-512,$S1" \
	    -o RekeyLimit=64K refuses "cat $DATA" 2>err | cmp - "$DATA"
	check_notices "$ENCRYPTED the server refused"
	check_final_mac hmac-sha2-512
	# not even in the exchange that was refused
	fails grep -q "MAC: $S1 " err
	# at login, the refused one, and one of RekeyLimit at least
	[ "$(list_kexes | wc -l)" -ge 6 ]
}

@test "a refusal costs one key exchange if the user's order allows it" {
	local mac
	for mac in "$S512" umac-64-etm@openssh.com hmac-sha2-256; do
		client "${ASK[@]}" -c aes256-ctr -o "MACs=$mac,$S256,$S1,$S512" \
		    closed true 2>err
		check_notices "$ENCRYPTED the server refused"
		check_final_mac "$mac"
		[ "$(list_kexes | wc -l)" = 4 ]
	done
	client "${ASK[@]}" -c aes256-gcm@openssh.com -o "MACs=hmac-sha2-512,$S1" \
	    closed true 2>err
	check_final_mac '<implicit>' aes256-gcm@openssh.com
	[ "$(list_kexes | wc -l)" = 4 ]
}

@test "a refusal by a server like HPN-SSH restores the user's order in each direction" {
	start_odd_peer names=1 "in=$S1,hmac-sha2-512" "out=hmac-sha2-256,$S1,hmac-sha2-512"
	transfer_both_ways -c aes256-ctr -o "MACs=hmac-sha2-512,hmac-sha2-256,$S1" \
	    -o RekeyLimit=128K
	check_notices "$ENCRYPTED the server refused"
	check_final_mac hmac-sha2-512
	# the refused one alone
	[ "$(list_kexes | grep -c "$S1")" = 2 ]
}

@test "a client reports that the server ended the mode and restores the user's order" {
	start_odd_peer names=2 "in=$S1,hmac-sha2-512" "out=$S1,hmac-sha2-512"
	transfer_both_ways -c aes256-ctr -o "MACs=hmac-sha2-512,$S1" -o RekeyLimit=128K
	check_notices "$CLEAR none with $S1" "data is encrypted again, because the server refused"
	check_final_mac hmac-sha2-512
	[ "$(list_kexes | grep -c "aes256-ctr $S1")" = 2 ]
}

@test "in a key exchange that the server begins the client names only the server's modes" {
	start_odd_peer names=2 begins=100000 "in=$S1,hmac-sha2-512" "out=$S1,hmac-sha2-512"
	transfer_both_ways -c aes256-ctr -o "MACs=hmac-sha2-512,$S1"
	check_notices "$CLEAR none with $S1" "data is encrypted again, because the server refused"
	check_final_mac hmac-sha2-512
	[ "$(list_kexes | grep -c "aes256-ctr $S1")" = 0 ]
}

# run_other_client CIPHER MAC SERVER [COMMAND]: runs a client in the manner of HPN-SSH
run_other_client() {
	"$REGRESS/peers/authonly-peer" client "$(sshd_port "$3")" \
	    "$BATS_FILE_TMPDIR/user" "$1" "$2" "${4-true}" 2>err
}

# list_proposed_macs OPTION...: prints the MACs of the proposal that requests data in
# clear
list_proposed_macs() {
	client -vv "${ASK[@]}" "$@" true 2>err
	sed -n '/local client KEXINIT/,/MACs stoc/s/^debug2: MACs ctos: //p' err |
	    tr -d '\r' | sed -n 2p
}

@test "speed never ranks SHA-1, MD5 or a short tag above the user's preference" {
	local weak
	for weak in "$S1" hmac-md5-etm@openssh.com umac-64-etm@openssh.com \
	    hmac-sha1-96-etm@openssh.com hmac-md5-96-etm@openssh.com; do
		sshd_up hayate:all "NoneEnabled yes" "MACs $S512,$weak"
		[ "$(list_proposed_macs -o "MACs=$S512,$weak" all)" = "$S512,$weak" ] ||
		    { echo "$weak"; return 1; }
		sshd_down all
	done
}

@test "two Hayates use no short tag in clear, also where the order names one first" {
	sshd_up hayate:short "NoneEnabled yes" "MACs $U64,$S512"
	[ "$(list_proposed_macs -o "MACs=$U64,$S512" short)" = "$S512,$U64" ]
	client "${ASK[@]}" -c aes256-ctr short true 2>err
	check_notices "$CLEAR aes128-gmac@hayate.invalid"
	client "${ASK[@]}" -o "MACs=$U64" short true 2>err
	check_notices "$CLEAR aes128-gmac@hayate.invalid"
	client "${ASK[@]}" -c aes256-ctr -o "MACs=$U64,$S512" open true 2>err
	check_notices "$CLEAR aes128-gmac@hayate.invalid"
	sshd_down short
}

@test "a server like HPN-SSH is asked for a tag of 128 bits, and refusals restore the order" {
	local c
	start_odd_peer "in=$SHORT,$S512" "out=$SHORT,$S512"
	for c in aes256-ctr aes256-gcm@openssh.com; do
		transfer_both_ways -c $c -o "MACs=$SHORT,$S512"
		check_notices "$CLEAR none with $S512"
	done
	kill "$ODD"
	start_odd_peer names=1 "in=$SHORT,$S512" "out=$SHORT,$S512"
	transfer_both_ways -c aes256-ctr -o "MACs=$SHORT,$S512"
	check_notices "$ENCRYPTED the server refused"
	check_final_mac "$SHORT"
	kill "$ODD"
	start_odd_peer "in=$SHORT" "out=$SHORT"
	transfer_both_ways -o "MACs=$SHORT,$S512"
	check_notices "$CLEAR none with $SHORT"
}

@test "a client like HPN-SSH that names a short tag first gets a longer one, also in rekeys" {
	need_asyncssh
	sshd_up hayate:both "NoneEnabled yes" "MACs $SHORT,$S512" "RekeyLimit 200K"
	run_other_client none "$SHORT,$S512" both "cat $DATA" </dev/null >got
	cmp got "$DATA"
	wait_for_log both 'Data in clear began for .*: none with hmac-sha2-512-etm'
	[ "$(grep -c "cipher: none MAC: $S512" "$(sshd_log both)")" -ge 8 ]
	fails grep "cipher: none MAC: $SHORT" "$(sshd_log both)"
	run_other_client none "$SHORT" both true
	wait_for_log both 'Data in clear began for .*: none with hmac-sha1-96-etm'
	sshd_down both
}

@test "valgrind finds no MAC key in memory after a key exchange" {
	need valgrind
	sshd_up hayate:lean "NoneEnabled yes" "MACs $SHORT,$S512"
	IN_CLIENT="valgrind -q --leak-check=full --log-file=$PWD/lost" \
	    client "${ASK[@]}" -o "MACs=$SHORT,$S512" lean true 2>err
	check_notices "$CLEAR aes128-gmac@hayate.invalid"
	[ -f lost ]
	sed -n '/definitely lost/,/main/p' lost >mine
	fails grep mac_setup mine
}

@test "the proposal lists common MACs first and the rest in the user's order" {
	sshd_up hayate:some "NoneEnabled yes" "MACs $S512,$S1,hmac-sha2-256"
	[ "$(list_proposed_macs -o "MACs=hmac-sha1,$S256,$S512,hmac-sha2-256,$S1" some)" = \
	    "$S512,$S1,hmac-sha1,$S256,hmac-sha2-256" ]
}

### The log line for a client that names nothing else

@test "the log says why a client that offers only none is disconnected" {
	need_asyncssh
	local who ends='this client offers no other cipher, so the connection ends'
	who="$(id -un) from 127.0.0.1 port [0-9]+"
	fails run_other_client none $S512 closed
	wait_for_log closed "^Data in clear refused to $who, because NoneEnabled is not set to yes here; $ends"
	fails run_other_client none hmac-sha2-256 plain
	wait_for_log plain "^Data in clear refused to $who, because both sides share no MAC that ends in -etm@openssh.com; $ends"
	sshd_up hayate:closed2
	client "${ASK[@]}" closed2 true 2>err
	wait_for_log closed2 "^Data in clear refused to $who, because NoneEnabled is not set to yes here.?$"
}
