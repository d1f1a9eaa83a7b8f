#!/usr/bin/env bats
# Needs: hayate stock peers
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Data in clear with an attacker on the path: what can be read, and that nothing
# can be changed unnoticed.

load helper

MARK=this-line-can-be-read-on-the-way
GMAC=aes128-gmac@hayate.invalid
UMAC=umac-128-etm@openssh.com

setup_file() {
	sshd_up hayate:gmac "NoneEnabled yes"
	sshd_up hayate:none "NoneEnabled yes" "MACs $UMAC"
	# printf repeats for each word
	printf "%.0s$MARK\n" {1..60000} >"$BATS_FILE_TMPDIR/data"
}
teardown_file() { sshd_down; }

setup() {
	DATA=$BATS_FILE_TMPDIR/data
	ASK=(-o NoneEnabled=yes -o NoneSwitch=yes -c aes128-gcm@openssh.com)
	cd "$BATS_TEST_TMPDIR"
}
teardown() { [ -z "${ATTACKER:-}" ] || kill "$ATTACKER" 2>/dev/null || true; }

# force_mode MODE: makes the client use that mode, regardless of speed
force_mode() {
	case $1 in
	gmac) ASK+=(-m hmac-sha2-256) ;;	# no MAC for "none"
	none) ASK+=(-m "$UMAC") ;;
	esac
}

# start_attacker SERVER WAY ATTACK SEED: starts an attacker between client and server;
# sets PORT
start_attacker() {
	"$REGRESS/peers/attacker" "$(sshd_port "$1")" "$MARK" "${@:2}" \
	    >attacker 2>attacker.err 3>&- &
	ATTACKER=$!
	poll 10 test -s attacker
	PORT=$(head -n 1 attacker)
}

# is_proper_prefix FILE: succeeds if FILE is a proper prefix of the data
is_proper_prefix() {
	local n
	n=$(stat -c %s "$1")
	[ "$n" -lt "$(stat -c %s "$DATA")" ] && cmp -n "$n" "$1" "$DATA"
}

REASON='Corrupted MAC|authentication code incorrect|Bad packet length|padding error'

# check_attack MODE WAY ATTACK SEED: checks that the connection ends with a reason, and
# that all data delivered until then is correct
check_attack() {
	local ASK=("${ASK[@]}") log
	force_mode "$1"
	rm -f got attacker
	start_attacker "$1" "$2" "$3" "$4"
	log=$(wc -l <"$(sshd_log "$1")")
	if [ "$2" = in ]; then
		run ! --separate-stderr client "${ASK[@]}" -p "$PORT" "$1" \
		    "cat $DATA" >got
	else
		run ! --separate-stderr client "${ASK[@]}" -p "$PORT" "$1" \
		    "cat >$PWD/got" <"$DATA"
	fi
	wait "$ATTACKER" || true
	echo "$stderr" >reason
	[ "$2" = in ] || tail -n +"$log" "$(sshd_log "$1")" >>reason
	grep -q attacked attacker || { echo "no attack: $*"; cat reason attacker.err; return 1; }
	[[ $stderr = *'data is in clear'* ]] || { echo "not in clear: $*"; cat reason; return 1; }
	grep -qE "$REASON" reason || { echo "no reason: $*"; cat reason; return 1; }
	poll 5 test -e got
	is_proper_prefix got || { echo "wrong bytes: $*"; return 1; }
}

@test "in both modes every changed bit and every moved packet is detected" {
	local driver=authonly-tamper dir=$BUILD/hayate
	make -s -C "$dir" "$driver"
	run -0 "$dir/$driver" "$GMAC" 1 40000
	echo "$output"
	[ "$(grep -c ' ended [1-9]' <<<"$output")" = 6 ]
	run -0 "$dir/$driver" none "$UMAC" 2 20000
	run -0 "$dir/$driver" none hmac-sha2-256-etm@openssh.com 3 20000
	run -0 "$dir/$driver" none umac-64-etm@openssh.com 4 20000
}

@test "keys for cipher none without an encrypt-then-MAC MAC are refused" {
	local driver=authonly-tamper dir=$BUILD/hayate
	make -s -C "$dir" "$driver"
	run -2 "$dir/$driver" none hmac-sha2-256 1 1
	run -2 "$dir/$driver" none 1 1
}

@test "sshd ends if it has no memory to learn which message it may have to refuse" {
	local driver=msgname-print dir=$BUILD/hayate
	make -s -C "$dir" "$driver" >&2
	run -0 "$dir/$driver"
	[[ $output = "a name of"* ]]
	run -255 "$dir/$driver" no-memory
	[[ $output = *"copy the name: memory allocation failed"* ]]
}

@test "a relay in the middle that changes nothing does not disturb the session" {
	force_mode gmac
	start_attacker gmac in nothing 1
	client -q "${ASK[@]}" -p "$PORT" gmac "cat $DATA" | cmp - "$DATA"
}

# check_attacks WAY SEED...: runs each attack on both modes
check_attacks() {
	local mode attack seed
	for mode in gmac none; do
		for attack in length padding payload tag drop repeat swap kexinit; do
			for seed in "${@:2}"; do
				check_attack $mode "$1" $attack "$seed"
			done
		done
	done
}

@test "an attacked download in clear ends without delivering a wrong byte" {
	check_attacks in 1 2
}

@test "an attacked upload in clear ends without delivering a wrong byte" {
	check_attacks out 3 4
}

@test "a proposal of \"none\" before authentication ends the connection" {
	start_attacker gmac in login 1
	run -255 --separate-stderr client "${ASK[@]}" -p "$PORT" gmac true
	[[ $stderr = *'no matching cipher found. Their offer: none'* ]]
	poll 5 grep -q "no matching cipher found. Their offer: none" "$(sshd_log gmac)"
}

# has_captured_end: succeeds if the file "capture" contains the end of a connection
has_captured_end() {
	tcpdump -nr capture 'tcp[tcpflags] & (tcp-fin|tcp-rst) != 0' 2>/dev/null |
	    grep -q .
}

# capture_packets PORT COMMAND...: writes the packets of COMMAND on that port to the file
# "capture"
capture_packets() {
	local pid port=$1
	shift
	tcpdump -i lo -s 0 -B 65536 -U -w capture "tcp port $port" \
	    >tcpdump.out 2>&1 3>&- &
	pid=$!
	poll 10 grep -q 'listening on' tcpdump.out
	"$@"
	poll 10 has_captured_end
	kill $pid
	wait $pid || true
}

is_captured() { grep -aqF -- "$1" capture; }
is_not_captured() { ! is_captured "$1"; }

@test "a capture shows login encrypted, data in clear, and encryption after a terminal" {
	need_root tcpdump
	command -v tcpdump >/dev/null || skip "no tcpdump, which is in the package tcpdump"
	local ctl=$BATS_TEST_TMPDIR/ctl
	printf '#!/bin/sh\necho pass-that-nobody-may-see\n' >askpass
	chmod +x askpass
	sshd_up hayate:wire "NoneEnabled yes" "PasswordAuthentication yes"
	run_master_sessions() {
		export SSH_ASKPASS=$PWD/askpass SSH_ASKPASS_REQUIRE=force
		client -q "${ASK[@]}" -o BatchMode=no -o NumberOfPasswordPrompts=1 \
		    -o PreferredAuthentications=password,publickey \
		    -M -S "$ctl" -o ControlPersist=60 wire \
		    "cat $DATA; echo this-went-in-clear" >got
		client -q "${ASK[@]}" -S "$ctl" -tt wire 'echo typed-at-a-terminal' >/dev/null </dev/null
		client -q "${ASK[@]}" -S "$ctl" wire 'echo bulk-after-the-terminal' >/dev/null
		client -S "$ctl" -O exit wire
	}
	capture_packets "$(sshd_port wire)" run_master_sessions
	is_captured SSH-2.0-OpenSSH
	is_captured "$MARK"
	is_captured this-went-in-clear
	is_not_captured pass-that-nobody-may-see
	is_not_captured ssh-connection		# every authentication request contains it
	is_not_captured typed-at-a-terminal
	is_not_captured bulk-after-the-terminal
}
