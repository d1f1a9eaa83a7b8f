#!/usr/bin/env bats
# Needs: unit
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Where the bytes of a file that is put land (transfer/data/tempfile.h), with a server
# that serves as chance wants. After each request the file under its name has no
# hole; the driver ends with "broken" and the promise, if that or another one
# does not hold.

load helper

# run_replay WORDS...: prints one line of results for each
run_replay() { printf '%s\n' "$@" | run_unit tempfile-replay; }

NEW=old=-1 LATE="old=-1 conns_wanted=0" OLD="old=2000 in_place=1"

@test "a file is striped where that is allowed, and is complete at the end" {
	local way
	for way in "$NEW" "$LATE" "$OLD" "old=500"; do
		run -0 run_replay "$way" "$way seed=2" "$way size=10 striped=0" "$way size=0"
		[ "$(grep -c 'name=whole temp=none' <<<"$output")" = 4 ]
		[ "$(get_value 0 striped) $(get_value 1 striped)" = "1 1" ]
	done
	for way in "$LATE" "$OLD" "old=500"; do
		run -0 run_replay "$way striped=-1" "$way server_caps=0"
		[ "$(grep -c 'name=whole temp=none.* striped=0' <<<"$output")" = 2 ]
	done
	# Without space or a name for the staging file, the upload is not striped.
	run -0 run_replay "$OLD space=100" "$OLD stale=240 alive=240" \
	    "$LATE space=100" "$NEW stale=255 alive=255"
	[ "$(grep -c 'name=whole temp=none.* striped=0' <<<"$output")" = 4 ]
}

@test "a file uses one connection if others may write to its directory, or no time can be set" {
	local way
	for way in "$NEW" "$LATE" "$OLD"; do
		run -0 run_replay "$way unsafe=1" "$way untagged=1" "$way fail=4" "$way fail=256"
		[ "$(grep -c 'name=whole temp=none.* striped=0 failed=0' <<<"$output")" = 4 ]
	done
}

@test "a file that appears under the name of a new one is not replaced, and the copy fails" {
	local n
	for n in 1 200 500; do
		run -0 run_replay "$NEW made=$n" "$NEW made=$n stop=1000" "$NEW made=$n write=300"
		[ "$(grep -c 'name=other temp=none.* failed=1 restart=0' <<<"$output")" = 3 ]
		[ "$(get_value 0 reported)" = 1 ]
	done
	# A file that cannot be renamed, though its name is free, is restarted over one connection.
	run -0 run_replay "$NEW fail=8192" "$NEW fail=8192 write=300"
	[ "$(get_value 0 name) $(get_value 0 temp) $(get_value 0 failed) $(get_value 0 restart)" = "none none 0 1" ]
}

@test "if another file replaces the target, the copy fails and that file is not touched" {
	run -0 run_replay "$NEW swapped=1" "$NEW swapped=1 write=300" "$NEW swapped=1 stop=500"
	[ "$(grep -c 'failed=1 restart=0' <<<"$output")" = 3 ]
	[ "$(grep -c 'name=whole' <<<"$output")" = 0 ]
}

@test "an old file that could not be truncated is uploaded again if it was longer" {
	run -0 run_replay "$OLD size=1000 fail=4096" "old=500 size=1000 in_place=1 fail=4096" \
	    "$OLD size=1000 fail=4096 striped=-1"
	[ "$(get_value 0 restart) $(get_value 1 restart) $(get_value 2 restart)" = "1 0 1" ]
	[ "$(grep -c reported=0 <<<"$output")" = 3 ]
}

@test "an error leaves the complete prefix, and is reported if it affects the result" {
	run -0 run_replay "$NEW write=300" "$OLD write=300" "$LATE write=5 striped=-1"
	[[ $(get_value 0 name) = [1-9]*+0 && $(get_value 0 temp) = none && $(get_value 0 failed) = 1 ]]
	# The staging file is given up, and the upload continues without it.
	[ "$(get_value 1 name) $(get_value 1 temp) $(get_value 1 failed)" = "whole none 0" ]
	[ "$(get_value 2 name)" = 16+0 ]
	# A COPY error that sftp-server does not report loses no data: it reports none
	# of the last chunk, whichever that is.
	seq 500 1400 | sed "s/^/$OLD room=/" >"$BATS_TEST_TMPDIR/rooms"
	run -0 run_unit tempfile-replay <"$BATS_TEST_TMPDIR/rooms"
	[ "$(grep -c 'name=whole temp=none' <<<"$output")" = 901 ]
	# A file that could not be truncated keeps its temporary name, which another
	# program may take.
	run -0 run_replay "$NEW write=300 fail=4096" "$NEW write=300 stolen=1"
	[[ $(get_value 0 name) = none && $(get_value 0 temp) = [1-9]* && $(get_value 0 reported) = 1 ]]
	[[ $(get_value 1 name) = none && $(get_value 1 reported) = 1 ]]
}

@test "an interrupt leaves a prefix, and an old file without new data unchanged" {
	local n
	run -0 run_replay "$OLD stop=1"
	[ "$(get_value 0 name)" = 0+2000 ]
	for n in 100 300 700 1300; do
		run -0 run_replay "$NEW stop=$n" "$OLD stop=$n"
		[[ $(get_value 0 name) = [1-9]*+0 && $(get_value 1 name) = [1-9]*+0 ]]
		[ "$(grep -c temp=none <<<"$output")" = 2 ]
	done
}

@test "a staging file that is opened as the last data arrives is removed" {
	local size seed striped
	for size in 8 20 40; do
		for striped in 5 11 17 23; do
			for seed in 0 1 2 3 4 5; do
				echo "old=500 in_place=1 size=$size striped=$striped seed=$seed"
			done
		done
	done >"$BATS_TEST_TMPDIR/late"
	run -0 run_unit tempfile-replay <"$BATS_TEST_TMPDIR/late"
	[ "$(grep -c 'name=whole temp=none' <<<"$output")" = 72 ]
}

@test "stale temporary files of a killed copy are removed, and no other files" {
	local way
	for way in "$NEW" "$LATE" "$OLD"; do
		run -0 run_replay "$way stale=165" "$way stale=165 alive=33" \
		    "$way stale=165 stop=900" "$way stale=165 write=1" \
		    "$way stale=165 foreign=36"
		[ "$(get_value 0 stale) $(get_value 1 stale) $(get_value 3 stale) $(get_value 4 stale)" = "0 33 165 36" ]
		[ "$(grep -c temp=none <<<"$output")" = 5 ]
	done
}

@test "names that were looked at before are not looked at again, but before a removal" {
	local way
	for way in "$NEW" "$LATE" "$OLD"; do
		run -0 run_replay "$way" "$way searched=1" "$way stale=165 alive=33" \
		    "$way stale=165 alive=33 searched=1"
		[ "$(get_value 1 requests)" = $(($(get_value 0 requests) - 8)) ]
		[ "$(get_value 3 requests)" = $(($(get_value 2 requests) - 8)) ]
		[ "$(get_value 3 stale) $(get_value 3 name)" = "33 whole" ]
	done
}

# print_files N: prints words for N files, each with other failures
print_files() {
	awk -v n="$1" '
	function one_of(list, v) { return v[int(rand() * split(list, v, " ")) + 1] }
	BEGIN {
		srand(27)
		for (; n > 0; n--)
			print "seed=" n, "size=" one_of("0 1 40 900 3000"), \
			    "old=" one_of("-1 -1 0 100 5000"), "striped=" one_of("-1 0 20 200 900"), \
			    "server_caps=" one_of("0 1 2 3 3 3"), "space=" one_of("0 500 99999 99999"), \
			    "in_place=" one_of("0 1"), "preserve=" one_of("0 1"), \
			    "stop=" one_of("-1 -1 1 50 700"), "write=" one_of("0 0 1 20 300"), \
			    "room=" one_of("-1 -1 0 700 2999"), "stale=" one_of("0 0 165 255"), \
			    "alive=" one_of("0 33 255"), "stolen=" one_of("0 0 0 1"), \
			    "conns_wanted=" one_of("0 1 1"), "unsafe=" one_of("0 0 0 1"), \
			    "untagged=" one_of("0 0 0 1"), "foreign=" one_of("0 0 36 255"), \
			    "swapped=" one_of("0 0 0 1"), "made=" one_of("-1 -1 -1 20 900"), \
			    "fail=" (rand() < .5 ? 0 : 2 ^ int(rand() * 20))
	}'
}

@test "whatever fails, the invariants hold" {
	print_files 1500 >"$BATS_TEST_TMPDIR/any"
	run -0 run_unit tempfile-replay <"$BATS_TEST_TMPDIR/any"
	[ "${#lines[@]}" = 1500 ]
	# They came to every end.
	grep -q 'name=whole' <<<"$output"
	grep -q 'temp=[0-9]' <<<"$output"
	grep -q 'failed=1' <<<"$output"
}
