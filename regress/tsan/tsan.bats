#!/usr/bin/env bats
# Needs: hayate tsan
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Whole programs under ThreadSanitizer ("make tsan"), with threads from the first packet
# of the session. "make check-tsan" runs this, ./check does not: it runs the threads'
# own drivers under ThreadSanitizer (pipeline.bats, bulk.bats).

load ../helper
load ../sanitizers

setup_file() { sanitizers_up tsan "CipherThreads 2"; }
teardown_file() { sshd_down; }

setup() { exec 2>>"$BATS_FILE_TMPDIR/err"; }
teardown() { check_reports; }

@test "the programs under test are built with ThreadSanitizer" {
	TSAN_OPTIONS=help=1 run -0 "$(bin ssh tsan)" -V
	[[ $output = *ThreadSanitizer* ]]
}

@test "ThreadSanitizer finds no race between threads, their owner and forked children" {
	local how ctl=$BATS_TEST_TMPDIR/ctl
	for how in aes128-ctr aes256-gcm@openssh.com chacha20-poly1305@openssh.com; do
		client -v -o CipherThreads=2 -o RekeyLimit=5M -c $how tsan \
		    "cat $(print_data_path)" 2>"$BATS_TEST_TMPDIR/said" | cmp - "$(print_data_path)"
		grep -q 'sealed and opened by 2 threads' "$BATS_TEST_TMPDIR/said"
		client -o CipherThreads=2 -c $how tsan \
		    "cat >$BATS_TEST_TMPDIR/put" <"$(print_data_path)"
		cmp "$BATS_TEST_TMPDIR/put" "$(print_data_path)"
	done
	client -o CipherThreads=2 -M -S "$ctl" -o ControlPersist=60 tsan "cat $(print_data_path)" |
	    cmp - "$(print_data_path)" &
	poll 10 test -S "$ctl"
	client -S "$ctl" tsan "cat $(print_data_path)" | cmp - "$(print_data_path)"
	wait $!
	client -S "$ctl" -O exit tsan
}

@test "packets opened in place while more is read cause no race" {
	make -s -C "$BUILD/tsan" pipeline-oracle gather-oracle
	"$BUILD/tsan/pipeline-oracle" 2 "$RANDOM" aes128-gcm@openssh.com
	"$BUILD/tsan/pipeline-oracle" 8 "$RANDOM" aes128-ctr hmac-sha2-256
	"$BUILD/tsan/gather-oracle" 0 "$RANDOM" aes128-gcm@openssh.com
	"$BUILD/tsan/gather-oracle" 2 "$RANDOM" chacha20-poly1305@openssh.com
}
