#!/usr/bin/env bats
# Needs: hayate stock unit
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Another release of OpenSSH than the one that is built: try-upstream in its short
# form, with the oldest and the newest release that can be had.

load helper

@test "the other available releases accept the series, compile and pass two suites" {
	local table=$BUILD/try-upstream.txt
	cd "$BUILD/.."
	# The part of Bats that runs a test cannot begin another run.
	PATH=${PATH//"$BATS_LIBEXEC:"/} SHORT=yes SUITES='' run env -u BATS_TMPDIR \
	    -u BATS_RUN_TMPDIR "$TOP/build-aux/try-upstream" oldest newest 3>&-
	[ "$status" = 0 ] || { echo "$output"; return 1; }
	[ "${lines[-1]}" = "try-upstream: works" ]
	grep -q '^compile .* works' "$table" ||
	    skip "no other release can be had: $(grep -m 1 -E 'serves no|this build' <<<"$output")"
	[ "$(grep -cE '^(options|sftp-requests) .* [1-9][0-9]*/0/' "$table")" = 2 ]
}
