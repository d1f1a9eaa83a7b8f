#!/usr/bin/env bats
# Needs: hayate stock
# How two Hayates recognise each other (PROTOCOL 1), over real connections.
# Stock OpenSSH's log shows what was sent.

load helper

setup_file() {
	sshd_up hayate "LogLevel DEBUG3"
	sshd_up stock "LogLevel DEBUG3"
	sshd_up hayate:silent "LogLevel DEBUG3" "Hayate no"
}
teardown_file() { sshd_down; }

# Empty the server's logs, so that they show this test only
setup() {
	cd "$BATS_TEST_TMPDIR"
	for s in hayate stock silent; do : >"$(sshd_log $s)"; done
}

# connect_once SERVER [ARG...]: makes one connection; the client's log is in $log
connect_once() {
	log=$BATS_TEST_TMPDIR/client.log
	client "$1" -vvv "${@:2}" true 2>"$log" </dev/null
	poll 5 grep -q 'Connection closed by\|Disconnected from\|Received disconnect' \
	    "$(sshd_log "$1")"
}

# list_extensions LOG: prints the names in each EXT_INFO received, one message a line
list_extensions() {
	awk '{ sub(/\r$/, "") }
	    /SSH2_MSG_EXT_INFO received/ { if (n++) print "" }
	    /kex_input_ext_info: extension / { sub(/.* extension /, ""); sub(/ .*/, ""); printf "%s ", $0 }
	    END { if (n) print "" }' "$1"
}
count_recognised() { grep -c 'hayate@hayate.invalid=<3>, the peer is Hayate' "$1"; }

NAME='hayate@hayate.invalid '

@test "two Hayates recognise each other, and each logs it" {
	connect_once hayate
	[ "$(count_recognised "$log")" = 1 ]
	[ "$(count_recognised "$(sshd_log hayate)")" = 1 ]
	run -1 grep 'hayate@.*unrecognised' "$log" "$(sshd_log hayate)"
}

@test "a stock server ignores our name and is not taken for Hayate" {
	connect_once stock
	[ "$(list_extensions "$(sshd_log stock)")" = "ext-info-in-auth@openssh.com $NAME" ]
	grep -q "hayate@hayate.invalid (unrecognised)" "$(sshd_log stock)"
	run -1 grep 'the peer is Hayate' "$log"
}

@test "a stock client ignores our name and is not taken for Hayate" {
	CLIENT=stock connect_once hayate
	grep -q "hayate@hayate.invalid (unrecognised)" "$log"
	run -1 grep 'the peer is Hayate' "$(sshd_log hayate)"
}

@test "a stock client receives stock's messages with one more extension name" {
	CLIENT=stock connect_once stock
	list_extensions "$log" >stock
	CLIENT=stock connect_once hayate
	list_extensions "$log" >ours
	[ "$(wc -l <stock)" = 2 ]
	sed "1s/\$/$NAME/" stock | diff - ours
}

@test "with Hayate no a stock server receives from the client what stock sends" {
	CLIENT=stock connect_once stock
	list_extensions "$(sshd_log stock)" >stock
	: >"$(sshd_log stock)"
	connect_once stock -o "Hayate no"
	list_extensions "$(sshd_log stock)" >ours
	[ -s stock ]
	cmp stock ours
}

@test "with Hayate no a stock client receives from the server what stock sends" {
	CLIENT=stock connect_once stock
	list_extensions "$log" >stock
	CLIENT=stock connect_once silent
	list_extensions "$log" >ours
	[ -s stock ]
	cmp stock ours
}

@test "a side with Hayate no neither names itself nor recognises the other" {
	connect_once hayate -o "Hayate no"
	[ "$(list_extensions "$(sshd_log hayate)")" = "ext-info-in-auth@openssh.com " ]
	run ! count_recognised "$log"
	run ! count_recognised "$(sshd_log hayate)"
	connect_once silent
	run -1 grep 'extension hayate' "$log"
	run ! count_recognised "$log"
	run ! count_recognised "$(sshd_log silent)"
}

@test "HPNDisabled yes sends the same messages as Hayate no" {
	connect_once stock -o "HPNDisabled yes"
	[ "$(list_extensions "$(sshd_log stock)")" = "ext-info-in-auth@openssh.com " ]
}

@test "sshd -o Hayate=no reaches the process that sends the extension" {
	local sshd
	sshd="$(bin sshd) -i -f $(sshd_dir hayate)/config -E $PWD/server.log"
	client hayate -vvv -o ProxyCommand="$sshd" true 2>with
	client hayate -vvv -o ProxyCommand="$sshd -o Hayate=no" true 2>without
	[ "$(count_recognised with)" = 1 ]
	run ! count_recognised without
	run -1 grep 'extension hayate' without
}

@test "a peer stays recognised through a rekey, and the name is not sent again" {
	log=$BATS_TEST_TMPDIR/client.log
	client hayate -vvv -o RekeyLimit=1M "head -c 20000000 /dev/zero" \
	    2>"$log" >/dev/null
	[ "$(grep -c 'SSH2_MSG_NEWKEYS received' "$log")" -ge 2 ]
	[ "$(count_recognised "$log")" = 1 ]
	[ "$(grep -c 'Sending SSH2_MSG_EXT_INFO' "$log")" = 1 ]
}

@test "two sessions and a proxied client over one master work" {
	local ctl=$BATS_TEST_TMPDIR/ctl
	client hayate -fNM -S "$ctl" 3>&- >/dev/null 2>&1
	[ "$(client hayate -S "$ctl" echo one)" = one ]
	[ "$(client hayate -S "$ctl" -O proxy echo two)" = two ]
	client hayate -S "$ctl" -O exit 2>/dev/null
}
