#!/usr/bin/env bats
# Needs: hayate stock unit
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Data in clear but authenticated (cipher/authonly.h): which sessions get it, which
# do not, and what client and server report.

load helper

setup_file() {
	sshd_up hayate:open "NoneEnabled yes" "AllowAgentForwarding yes" \
	    "X11Forwarding yes"
	sshd_up hayate:closed
	sshd_up stock
	head -c 3000001 /dev/urandom >"$BATS_FILE_TMPDIR/data"
}
teardown_file() { sshd_down; }

setup() {
	DATA=$BATS_FILE_TMPDIR/data
	ASK=(-o NoneEnabled=yes -o NoneSwitch=yes)
	cd "$BATS_TEST_TMPDIR"
}

@test "of all combinations of conditions only the right ones allow the modes" {
	FLAVOUR=plain run_unit authonly-test
	FLAVOUR=asan run_unit authonly-test
}

@test "a proposal names the modes and MACs that fit the lists of both sides" {
	FLAVOUR=plain run_unit authonly-proposal-test
	FLAVOUR=asan run_unit authonly-proposal-test
}

@test "a permitted request gets data in clear, with GMAC or a MAC, and the same bytes" {
	run -0 --separate-stderr client "${ASK[@]}" open "cat $DATA | cksum; cat $DATA | cksum >&2"
	check_none_line "data is in clear from here on, authenticated by "
	client -q "${ASK[@]}" open "cat $DATA" | cmp - "$DATA"
	client -q "${ASK[@]}" open "cat >$PWD/got" <"$DATA"
	wait_for_log open "Data in clear began for $(id -un) from 127.0.0.1 port [0-9]+: (aes128-gmac@|none with )"
	wait_for_log open "Data in clear ended for $(id -un) from 127.0.0.1 port [0-9]+: .*, [0-9]+ bytes, [0-9.]+ seconds"
}

@test "a session that does not ask is encrypted and prints nothing" {
	run -0 --separate-stderr client open true
	[ -z "$stderr" ]
	run -0 --separate-stderr client -o NoneEnabled=yes open true
	[ -z "$stderr" ]
}

@test "without consent, permission or support data stays encrypted, and the client says why" {
	run -0 --separate-stderr client -o NoneSwitch=yes open echo fine
	[ "$output" = fine ]
	check_none_line "data stays encrypted, because NoneEnabled is not set to yes here."
	run -0 --separate-stderr client "${ASK[@]}" closed echo fine
	[ "$output" = fine ]
	check_none_line "data stays encrypted, because the server refused."
	wait_for_log closed "Data in clear refused to .*, because NoneEnabled is not set to yes here"
	run -0 --separate-stderr client "${ASK[@]}" stock echo fine
	[ "$output" = fine ]
	check_none_line "data stays encrypted, because the server does not support it."
}

# print_mode OPTION... -- COMMAND...: prints "clear" or "encrypted", as the client
# reported
print_mode() {
	run --separate-stderr client "${ASK[@]}" "$@"
	case $stderr in
	*'NoneSwitch: data is in clear from here on, authenticated by '*) echo clear ;;
	*'NoneSwitch: data stays encrypted, because '*) echo encrypted ;;
	*) echo "$stderr" ;;
	esac
}

# Those that do match: authonly-policy.bats
@test "NoneEnabled in a Match block that does not apply permits nothing" {
	local kind n=0
	for kind in "User nobody" "Group nogroup" "Address 10.0.0.0/8" \
	    "LocalAddress 127.0.0.2" "LocalPort 1" "Host nowhere.invalid"; do
		n=$((n + 1))
		sshd_up "hayate:other$n" "UseDNS yes" "Match $kind" "NoneEnabled yes" "Match all"
		[ "$(print_mode "other$n" true)" = encrypted ] || { echo "without $kind"; return 1; }
	done
}

@test "a terminal, an agent or X11 keeps the session encrypted, and -T does not" {
	local config=$BATS_TEST_TMPDIR/config
	[ "$(print_mode -tt open true)" = encrypted ]
	[ "$(print_mode -T open true)" = clear ]
	[ "$(print_mode -A open true)" = encrypted ]
	[ "$(DISPLAY=:77 print_mode -X open true)" = encrypted ]
	[ "$(print_mode -o RequestTTY=force open true)" = encrypted ]
	[ "$(print_mode -o RequestTTY=no open true)" = clear ]
	{ printf 'Host open\nRequestTTY force\nNoneEnabled yes\nNoneSwitch yes\n'
	  cat "$BATS_FILE_TMPDIR/ssh_config"; } >"$config"
	run -0 --separate-stderr "$(bin ssh)" -F "$config" open true
	check_none_line "data stays encrypted, because a terminal was requested."
}

@test "NoneEnabled and NoneSwitch work in a file, in Host and in Match" {
	local config=$BATS_TEST_TMPDIR/config
	{ printf 'Host open\nNoneSwitch yes\nMatch host 127.0.0.1\nNoneEnabled yes\n'
	  cat "$BATS_FILE_TMPDIR/ssh_config"; } >"$config"
	run -0 --separate-stderr "$(bin ssh)" -F "$config" \
	    -o HostName=127.0.0.1 open true
	check_none_line "data is in clear from here on"
	run -0 --separate-stderr "$(bin ssh)" -F "$config" closed true
	[ -z "$stderr" ]
}

@test "Hayate no on either side disables data in clear" {
	run -0 --separate-stderr client "${ASK[@]}" -o Hayate=no open true
	[ -z "$stderr" ]
	sshd_up hayate:off "NoneEnabled yes" "Hayate no"
	run -0 --separate-stderr client "${ASK[@]}" off true
	check_none_line "data stays encrypted, because the server does not support it."
}

@test "scp, sftp and rsync pass the options on and transfer the same bytes" {
	local data=$DATA
	run_with_clear() { "$@" "${ASK[@]}"; }
	run -0 --separate-stderr copy "${ASK[@]}" "open:$data" got
	check_none_line "data is in clear from here on"
	cmp "$data" got
	run -0 --separate-stderr copy -O "${ASK[@]}" "$data" "open:$PWD/put"
	check_none_line "data is in clear from here on"
	cmp "$data" put
	run -0 --separate-stderr files "${ASK[@]}" -b - open <<<"get $data $PWD/got2"
	check_none_line "data is in clear from here on"
	cmp "$data" got2
	command -v rsync >/dev/null || skip "no rsync, which is in the package rsync"
	run -0 --separate-stderr rsync -e "$(bin ssh) -F $BATS_FILE_TMPDIR/ssh_config ${ASK[*]}" \
	    "open:$data" got3
	check_none_line "data is in clear from here on"
	cmp "$data" got3
}

# Forwardings, and sessions that did not ask: authonly-private.bats
@test "a master started with -N -f is in clear for sessions that ask" {
	local ctl=$PWD/ctl
	client "${ASK[@]}" -M -S "$ctl" -N -f open 2>err
	grep -q 'NoneSwitch: data is in clear' err
	client -q "${ASK[@]}" -S "$ctl" open "cat $DATA" | cmp - "$DATA"
	client -S "$ctl" -O exit open
	wait_for_log open "Data in clear ended for .*, [0-9]{7,} bytes"
}

# query_conninfo MASTER: runs "ssh -O conninfo" for that connection
query_conninfo() { run -0 --separate-stderr client -S "$1" -O conninfo open; }

# With threads the cipher opens packets before upstream asks for them.
@test "ssh -O conninfo reports the mode and all bytes, and the cipher after a terminal" {
	local threads ctl mode=aes128-gmac@hayate.invalid
	run -255 client -S none -O conninfo open
	[[ $output != *"Invalid multiplex command"* ]] || skip "ssh -O conninfo is new in 10.3"
	for threads in off 2; do
		ctl=$PWD/ctl$threads
		client "${ASK[@]}" -c aes128-ctr -o CipherThreads=$threads \
		    -M -S "$ctl" -N -f open 2>err
		client -q "${ASK[@]}" -S "$ctl" open "cat $DATA" | cmp - "$DATA"
		query_conninfo "$ctl"
		[[ $output = *"cipher $mode"*"traffic "*" 2.9MB in, "* ]]
		client -q "${ASK[@]}" -tt -S "$ctl" open true </dev/null >/dev/null
		client -S "$ctl" open "cat $DATA" | cmp - "$DATA"
		query_conninfo "$ctl"
		[[ $output = *"cipher aes128-ctr"*"traffic "*" 5.7MB in, "* ]]
		[[ $output != *"$mode"* ]]
		client -S "$ctl" -O exit open
	done
}

@test "a later terminal, agent or X11 on a shared connection restores encryption" {
	local what why ctl=$PWD/ctl n=0 master
	while read -r what why; do
		n=$((n + 1))
		DISPLAY=:77 client "${ASK[@]}" -A -X -M -S "$ctl$n" -N open \
		    >/dev/null 2>"err$n" </dev/null &
		master=$!
		poll 10 test -S "$ctl$n"
		# shellcheck disable=SC2086 # one option or two
		DISPLAY=:77 client -q "${ASK[@]}" -S "$ctl$n" $what open true </dev/null >/dev/null
		if ! grep -q "NoneSwitch: data is encrypted again, because $why" "err$n"; then
			kill $master
			echo "$what"; cat "err$n"; return 1
		fi
		client -S "$ctl$n" open "cat $DATA" | cmp - "$DATA"
		client -S "$ctl$n" -O exit open
		wait $master || true
		[ "$(grep -c NoneSwitch "err$n")" = 2 ]
	done <<-END
	-tt a terminal was requested
	-A agent forwarding was requested
	-X X11 forwarding was requested
	END
}

@test "ControlPersist keeps the mode, and a terminal ends it" {
	local ctl=$PWD/ctl
	client "${ASK[@]}" -M -S "$ctl" -o ControlPersist=60 open true 2>err
	grep -q 'data is in clear' err
	client -q "${ASK[@]}" -S "$ctl" open "cat $DATA" | cmp - "$DATA"
	client -q "${ASK[@]}" -S "$ctl" -tt open true </dev/null >/dev/null
	client -S "$ctl" -O exit open
	wait_for_log open "Data in clear ended for .*, [0-9]{7,} bytes"
}

@test "input typed at a terminal is encrypted from its first byte" {
	cat >type <<-EOF
	#!/bin/sh
	exec $(bin ssh) -F $BATS_FILE_TMPDIR/ssh_config ${ASK[*]} -T open 'head -n 1 >$PWD/typed'
	EOF
	chmod +x type
	{ poll 5 grep -q 'in clear from here' out && echo secret; sleep 1; } |
	    script -qefc ./type out >/dev/null 3>&-
	[ "$(cat typed)" = secret ]
	grep -q 'data is encrypted again, because input is typed at a terminal' out
}

# run_other_client CIPHER MAC SERVER COMMAND: runs another implementation's client
run_other_client() {
	"$REGRESS/peers/authonly-peer" client "$(sshd_port "$3")" \
	    "$BATS_FILE_TMPDIR/user" "$1" "$2" "$4" 2>err
}

@test "a client like HPN-SSH gets none through two rekeys in a row" {
	need_asyncssh
	run_other_client none hmac-sha2-256-etm@openssh.com open "cat $DATA" | cmp - "$DATA"
	grep -qx 'none none' err
	run_other_client none hmac-sha2-256-etm@openssh.com open "cat >$PWD/got" <"$DATA"
	cmp got "$DATA"
	wait_for_log open "Data in clear began for .*: none with hmac-sha2-256-etm@openssh.com"
}

@test "the log line of a client that breaks the protocol has its address and its bytes" {
	need_asyncssh
	fails run_other_client none hmac-sha2-256-etm@openssh.com open -break
	wait_for_log open "Data in clear ended for $(id -un) from 127.0.0.1 port [1-9][0-9]+: none [^,]*, [3-9][0-9]{6} bytes, "
}

@test "a client like HPN-SSH is disconnected without permission or a suitable MAC" {
	need_asyncssh
	fails run_other_client none hmac-sha2-256-etm@openssh.com closed true
	wait_for_log closed "no matching cipher found. Their offer: none"
	fails run_other_client none hmac-sha2-256 open true
	wait_for_log open "no matching cipher found. Their offer: none"
}

@test "an independent GMAC written from PROTOCOL interoperates, both ways" {
	need_asyncssh
	run_other_client aes128-gmac@hayate.invalid hmac-sha2-256 open "cat $DATA" | cmp - "$DATA"
	grep -qx 'aes128-gmac@hayate.invalid aes128-gmac@hayate.invalid' err
	run_other_client aes128-gmac@hayate.invalid hmac-sha2-256 open "cat >$PWD/got" <"$DATA"
	cmp got "$DATA"
}

@test "a server like HPN-SSH gives none to a client that asks" {
	need_asyncssh
	local pid port
	"$REGRESS/peers/authonly-peer" server "$BATS_FILE_TMPDIR/host" \
	    "$BATS_FILE_TMPDIR/authorized_keys" >port 2>log 3>&- &
	pid=$!
	poll 10 test -s port
	port=$(cat port)
	seq 200000 >numbers
	client "${ASK[@]}" -p "$port" 127.0.0.1 repeat <numbers >got 2>err || true
	kill $pid
	cmp numbers got
	grep -q 'NoneSwitch: data is in clear from here on, authenticated by none with hmac-sha2-256-etm@openssh.com' err
	grep -qx none log
}

@test "the server refuses a terminal while data is in clear, to any client" {
	need_asyncssh
	fails run_other_client none hmac-sha2-256-etm@openssh.com open -tty
	grep -q "PTY request failed" err
	wait_for_log open "Request \"pty-req\" refused to .*, because data is in clear"
}

@test "the server refuses data in clear after a terminal" {
	need_asyncssh
	fails run_other_client aes128-gmac@hayate.invalid hmac-sha2-256 open -tty-first
	wait_for_log open "Data in clear refused to .*, because a terminal was requested"
}

@test "rekeys keep data in clear and leave the bytes intact" {
	local n
	for n in 64K 512K; do
		client -vv "${ASK[@]}" -o RekeyLimit=$n open "cat $DATA" 2>err | cmp - "$DATA"
		[ "$(grep -c 'kex: server->client cipher: \(none\|aes128-gmac\)' err)" -ge 2 ]
		client -q "${ASK[@]}" -o RekeyLimit=$n open "cat >$PWD/got" <"$DATA"
	done
	fails grep -q 'data is encrypted again' err
}

# as many rekeys as a window of data in flight allows
@test "a rekey after each 64 KiB of 256 MiB leaves the bytes intact" {
	local bytes="head -c 268435456 /dev/zero | openssl enc -aes-128-ctr
	    -K 00112233445566778899aabbccddeeff -iv 0123456789abcdef0123456789abcdef"
	bytes=${bytes//$'\n'/ }
	client -v "${ASK[@]}" -o RekeyLimit=64K open "$bytes" 2>err | sha256sum >got
	eval "$bytes" | sha256sum | cmp - got
	[ "$(grep -c 'cipher: \(none\|aes128-gmac@hayate.invalid\) ' err)" -gt 50 ]
}

@test "compression works with data in clear" {
	client -v -C "${ASK[@]}" open "seq 100000" 2>err | cmp - <(seq 100000)
	grep -q 'cipher: \(none\|aes128-gmac@hayate.invalid\) .*compression: zlib@openssh.com' err
}

@test "contrib/site gives data in clear only to its group on its network" {
	sed "s/pubdata/$(id -gn)/" "$TOP/contrib/site/sshd_config.data" >site
	query_sample() { "$(bin sshd)" -T -f site -h "$BATS_FILE_TMPDIR/host" \
	    -C "user=$(id -un),host=h,addr=$1,laddr=$2"; }
	query_sample 10.20.3.4 10.20.0.1 | grep -qix 'noneenabled yes'
	query_sample 10.21.3.4 10.20.0.1 | grep -qix 'noneenabled no'
	query_sample 10.20.3.4 192.0.2.1 | grep -qix 'noneenabled no'
	query_sample 10.21.3.4 10.20.0.1 | grep -qix 'forcecommand internal-sftp -R'
	"$(bin ssh)" -G -F "$TOP/contrib/site/ssh_config.data" data1.internal.example |
	    grep -qx 'noneswitch yes'
	"$(bin ssh)" -G -F "$TOP/contrib/site/ssh_config.data" elsewhere.example |
	    grep -qx 'noneswitch no'
}

@test "keys of integrity-only modes and ChaCha20 last 64 GiB, and with Hayate no stock's limit" {
	client -vv "${ASK[@]}" open true 2>err
	grep -qE 'a key of (none|aes128-gmac.*) lasts (4294967296|8589934592) blocks' err
	client -v -c chacha20-poly1305@openssh.com open true 2>err
	grep -q 'a key of chacha20-poly1305@openssh.com lasts 8589934592 blocks' err
	client -v -c chacha20-poly1305@openssh.com -o RekeyLimit=1M open true 2>err
	grep -q 'a key of chacha20-poly1305@openssh.com lasts 131072 blocks' err
	client -v -c chacha20-poly1305@openssh.com -o Hayate=no open true 2>err
	grep -q 'rekey out after 134217728 blocks' err
	fails grep -q 'a key of' err
}

@test "the rekey uses the host key of the login" {
	"$(bin ssh-keygen system)" -q -t ecdsa -N '' -f other_key
	echo "hayate-test $(cat other_key.pub)" >known
	sshd_up hayate:keys "NoneEnabled yes" "HostKey $BATS_FILE_TMPDIR/host" \
	    "HostKey $PWD/other_key"
	client -v "${ASK[@]}" -o "UserKnownHostsFile $PWD/known" keys true 2>err
	grep -q 'NoneSwitch: data is in clear' err
	[ "$(grep -c 'kex: host key algorithm: ecdsa-sha2-nistp256' err)" = 2 ]
}

@test "NoneMacEnabled yes is refused with one line and changes nothing" {
	run -0 --separate-stderr client -o NoneMacEnabled=yes "${ASK[@]}" open true
	[ "$(grep -c NoneMacEnabled <<<"$stderr")" = 1 ]
	[[ $stderr = *'data is never sent without a MAC'* ]]
	[[ $stderr = *'data is in clear from here on, authenticated by '* ]]
}

@test "no cipher list of a user can select the integrity-only modes" {
	local c
	for c in none aes128-gmac@hayate.invalid; do
		run -255 client -o Ciphers=$c open true
		run -255 client -c $c open true
		fails grep -qx "$c" <(client -Q cipher)
	done
}
