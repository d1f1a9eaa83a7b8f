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

# talk SERVER [ARG...]: one connection; the client's log in $log
talk() {
	log=$BATS_TEST_TMPDIR/client.log
	client "$1" -vvv "${@:2}" true 2>"$log" </dev/null
	poll 5 grep -q 'Connection closed by\|Disconnected from\|Received disconnect' \
	    "$(sshd_log "$1")"
}

# extensions LOG: the names in each EXT_INFO received, one message a line
extensions() {
	awk '{ sub(/\r$/, "") }
	    /SSH2_MSG_EXT_INFO received/ { if (n++) print "" }
	    /kex_input_ext_info: extension / { sub(/.* extension /, ""); sub(/ .*/, ""); printf "%s ", $0 }
	    END { if (n) print "" }' "$1"
}
recognised() { grep -c 'hayate@hayate.invalid=<3>, the peer is Hayate' "$1"; }

NAME='hayate@hayate.invalid '

@test "two Hayates recognise each other, and each logs it" {
	talk hayate
	[ "$(recognised "$log")" = 1 ]
	[ "$(recognised "$(sshd_log hayate)")" = 1 ]
	run -1 grep 'hayate@.*unrecognised' "$log" "$(sshd_log hayate)"
}

@test "a stock server ignores our name and is not taken for Hayate" {
	talk stock
	[ "$(extensions "$(sshd_log stock)")" = "ext-info-in-auth@openssh.com $NAME" ]
	grep -q "hayate@hayate.invalid (unrecognised)" "$(sshd_log stock)"
	run -1 grep 'the peer is Hayate' "$log"
}

@test "a stock client ignores our name and is not taken for Hayate" {
	CLIENT=stock talk hayate
	grep -q "hayate@hayate.invalid (unrecognised)" "$log"
	run -1 grep 'the peer is Hayate' "$(sshd_log hayate)"
}

@test "a stock client receives stock's messages with one more extension name" {
	CLIENT=stock talk stock
	extensions "$log" >stock
	CLIENT=stock talk hayate
	extensions "$log" >ours
	[ "$(wc -l <stock)" = 2 ]
	sed "1s/\$/$NAME/" stock | diff - ours
}

@test "with Hayate no a stock server receives from the client what stock sends" {
	CLIENT=stock talk stock
	extensions "$(sshd_log stock)" >stock
	: >"$(sshd_log stock)"
	talk stock -o "Hayate no"
	extensions "$(sshd_log stock)" >ours
	[ -s stock ]
	cmp stock ours
}

@test "with Hayate no a stock client receives from the server what stock sends" {
	CLIENT=stock talk stock
	extensions "$log" >stock
	CLIENT=stock talk silent
	extensions "$log" >ours
	[ -s stock ]
	cmp stock ours
}

@test "a side with Hayate no neither names itself nor recognises the other" {
	talk hayate -o "Hayate no"
	[ "$(extensions "$(sshd_log hayate)")" = "ext-info-in-auth@openssh.com " ]
	run ! recognised "$log"
	run ! recognised "$(sshd_log hayate)"
	talk silent
	run -1 grep 'extension hayate' "$log"
	run ! recognised "$log"
	run ! recognised "$(sshd_log silent)"
}

@test "HPNDisabled yes sends the same messages as Hayate no" {
	talk stock -o "HPNDisabled yes"
	[ "$(extensions "$(sshd_log stock)")" = "ext-info-in-auth@openssh.com " ]
}

@test "sshd -o Hayate=no reaches the process that sends the extension" {
	local sshd
	sshd="$(bin sshd) -i -f $(sshd_dir hayate)/config -E $PWD/server.log"
	client hayate -vvv -o ProxyCommand="$sshd" true 2>with
	client hayate -vvv -o ProxyCommand="$sshd -o Hayate=no" true 2>without
	[ "$(recognised with)" = 1 ]
	run ! recognised without
	run -1 grep 'extension hayate' without
}

@test "a peer stays recognised through a rekey, and the name is not sent again" {
	log=$BATS_TEST_TMPDIR/client.log
	client hayate -vvv -o RekeyLimit=1M "head -c 20000000 /dev/zero" \
	    2>"$log" >/dev/null
	[ "$(grep -c 'SSH2_MSG_NEWKEYS received' "$log")" -ge 2 ]
	[ "$(recognised "$log")" = 1 ]
	[ "$(grep -c 'Sending SSH2_MSG_EXT_INFO' "$log")" = 1 ]
}

@test "two sessions and a proxied client over one master work" {
	local ctl=$BATS_TEST_TMPDIR/ctl
	client hayate -fNM -S "$ctl" 3>&- >/dev/null 2>&1
	[ "$(client hayate -S "$ctl" echo one)" = one ]
	[ "$(client hayate -S "$ctl" -O proxy echo two)" = two ]
	client hayate -S "$ctl" -O exit 2>/dev/null
}
