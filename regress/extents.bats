#!/usr/bin/env bats
# Needs: unit
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# The ranges of one file, and the order in which they are written
# (transfer/data/extents.h, transfer/data/tempfile.h). The driver keeps a map of all bytes,
# and ends with "broken" and the promise, if one of them does not hold.

load helper

# run_replay WORDS...: runs each of these with 50 random seeds
run_replay() {
	local words seed
	for words in "$@"; do
		for seed in $(seq 50); do echo "$words seed=$seed"; done
	done | run_unit extents-replay
}

# check_all_runs TEXT WORDS...: checks that each run reports TEXT
check_all_runs() { [ "$(run_replay "${@:2}" | grep -c "^$1")" = $((50 * ($# - 1))) ]; }

@test "a file is transferred once and completely, whatever replies are late, short or lost" {
	local way
	for way in put=0 put=1 "put=1 hole=3"; do
		check_all_runs "contiguous=5000 behind=0" "$way" "$way conns=8 most=60" \
		    "$way short=2 lose=5"
		check_all_runs "contiguous=5432 behind=0" "$way off=777 ends=5432 lose=3"
	done
}

@test "a file ends where its data ends, and before the first error" {
	local way ends
	for way in put=0 "put=1 hole=4"; do
		for ends in 0 1 99 100 4321; do
			check_all_runs "contiguous=$ends behind=0" "$way ends=$ends lose=6 short=4"
		done
	done
	# Nothing that is got is written behind an error.
	check_all_runs "contiguous=2[0-5]* behind=0" "bad=2500 lose=6" "full=2500 short=3"
	check_all_runs "contiguous=0 behind=0" bad=0
	# Of what is put something is, so that the file has to be cut.
	[ "$(run_replay "put=1 bad=2500 most=30" | grep -c 'behind=[1-9]')" -ge 40 ]
}

@test "data that arrives in order is not buffered, nor is it with one request at a time" {
	check_all_runs "contiguous=5000 behind=0 assigned=51 buffered=0" "most=1 conns=1"
	check_all_runs ".* buffered=0" "most=1 conns=1 short=2" "put=1 short=2"
}

@test "short replies that wait need one buffer for each range, however short they are" {
	local most
	for most in 2 20 60; do
		[ "$(run_replay "short=1 most=$most" | sed 's/.*pieces=//' |
		    sort -n | tail -n 1)" -le 50 ]
	done
}
