#!/usr/bin/env bats
# Needs: hayate stock
# The helper itself (helper.bash): each build serves each other build's client.

load helper

setup_file() {
	sshd_up hayate
	sshd_up stock
	sshd_up system
}
teardown_file() { sshd_down; }

@test "the client of each build runs a command on the server of each build" {
	local -x CLIENT
	for CLIENT in hayate stock system; do
		for server in hayate stock system; do
			[ "$(client $server echo hello)" = hello ]
		done
	done
}

@test "scp copies a file to the server and back intact" {
	head -c 300001 /dev/urandom >"$BATS_TEST_TMPDIR/sent"
	copy -q "$BATS_TEST_TMPDIR/sent" "hayate:$BATS_TEST_TMPDIR/there"
	copy -q "hayate:$BATS_TEST_TMPDIR/there" "$BATS_TEST_TMPDIR/back"
	cmp "$BATS_TEST_TMPDIR/sent" "$BATS_TEST_TMPDIR/back"
}

@test "an option given to sshd_up wins over the helper's own" {
	sshd_up hayate:quiet "LogLevel INFO"
	client quiet true
	run -1 grep debug "$(sshd_log quiet)"
	sshd_down quiet
	run ! client quiet true
}
