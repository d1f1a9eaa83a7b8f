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

### --resume and --checksum

# rounds ARG...: how many round trips a copy takes
rounds() {
	copy_near "$@" >&2
	sed -n 's/.*rounds=\([0-9]*\).*/\1/p' log
}

# within_twice HASH OPTION...: a complete tree takes twice as many as its copy
within_twice() {
	local n
	peer limits=261120,261120,1019 gather=0.02 "hash=$1"
	rm -rf b c
	n=$(rounds -rp a "h:$T/b")
	true_ "$(rounds "${@:2}" -r a/. "h:$T/b") <= 2 * $n"
	diff -r a b
	n=$(rounds -rp "h:$T/a" c)
	true_ "$(rounds "${@:2}" -r "h:$T/a/." c) <= 2 * $n"
	diff -r a c
}

# The time of 500 files of 4 KiB at 20 ms is that of their round trips.
@test "500 files are resumed or compared in twice the round trips of their copy" {
	local i
	mkdir a
	for i in $(seq 500); do head -c 4096 /dev/urandom >"a/$i"; done
	within_twice true --resume
	within_twice true --resume -p
	within_twice refused --resume
	within_twice true --checksum
	within_twice true --resume --checksum -p
}
