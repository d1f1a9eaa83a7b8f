#!/usr/bin/env bats
# Needs: hayate stock
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# What the transfer engine is going to promise, and does not keep yet. "./check
# engine" runs these tests, ./check does not. Each moves to the suite of its
# module together with the change that keeps it.

load ../helper
load ../copies

# beginning FILE FILE: the second is one of the first, as it is written in order
beginning() { cmp -n "$(stat -c %s "$2")" "$1" "$2"; }

### Gets in order

# killed ARG...: scp is, by the peer, when it has dealt with some replies
killed() {
	run -137 copy_near "$@"
}

@test "after kill -9 a file got alone from a server that answers backwards is a beginning" {
	local n
	mkdir a
	head -c 4000000 /dev/urandom >a/1
	for n in 3 8 13 20; do
		peer limits=261120,261120,1019 gather=0.1 backwards=1 kill=$n
		killed "h:$T/a/1" alone
		beginning a/1 alone
	done
}
