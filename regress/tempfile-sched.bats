#!/usr/bin/env bats
# Needs: unit
# One file that is put over several channels or connections (transfer/sched/tempfile-sched.c),
# with a server made of text. The driver ends with "broken" if a promise does not hold:
# after each request the file under its name has no hole.

load helper

# run_replay COMMAND...: prints one line of results for each put
run_replay() { printf '%s\n' "$@" | run_unit tempfile-sched-replay; }

SIZE=200000	# KiB
NEW='set old -1' LATE=$'set old -1\nset conns_wanted 0' OLD='set old 150000'

@test "a path that holds more than the window gets channels, a smaller one gets none" {
	run -0 run_replay "set path 1000" "put $SIZE" "set path 3500" "put $SIZE" \
	    "set path 7000" "put $SIZE" "set path 50000" "put $SIZE"
	[ "$(get_value 0 channels)" = 1 ]
	[ "$(get_value 1 channels)" = 4 ]
	[ "$(get_value 2 channels)" = 8 ]
	[ "$(get_value 3 channels)" = 10 ]
	[ "$(grep -c 'name=whole temp=none' <<<"$output")" = 4 ]
}

@test "a file of 1 GiB takes about as many round trips as the path allows" {
	local s
	for s in "$NEW" "$OLD"; do
		# 84 at 12500 KiB, slow start and the ends
		run -0 run_replay "set slow 1" "$s" "put 1048576"
		[ "$(get_value 0 rounds)" -le 112 ]
		# what one channel takes
		run -0 run_replay "set slow 1" "set most 1" "$s" "put 1048576"
		[ "$(get_value 0 rounds)" -ge 512 ]
	done
}

@test "no channel is requested at 5 ms, where the window is no limit, nor for a small file" {
	run -0 run_replay "set rtt 5" "put $SIZE" "set rtt 100" "put 30000" \
	    "set window 100000" "put 1048576"
	[ "$(get_value 0 asked)" = 0 ]
	[ "$(get_value 1 asked)" = 0 ]
	[ "$(get_value 2 channels)" = 1 ]
}

@test "a channel that the server refuses sets the limit, and is requested once" {
	local most
	for most in 1 2 3 7; do
		run -0 run_replay "set most $most" "put $SIZE"
		[ "$(get_value 0 channels)" = "$most" ]
		[ "$(get_value 0 asked)" -le 9 ]
		[ "$(get_value 0 name)" = whole ]
		[ "$(get_value 0 reported)" = 0 ]
	done
}

@test "the staging file is used only if the server has the extensions for it" {
	run -0 run_replay "$OLD" "set server_caps 0" "put $SIZE" "set server_caps 1" \
	    "set space 100000" "put $SIZE" "set space 500000" "put $SIZE" \
	    "set special 1" "put $SIZE" "set special 0" "$NEW" "set server_caps 0" \
	    "set conns_wanted 0" "put $SIZE"
	[ "$(get_value 0 channels)" = 1 ]
	[ "$(get_value 1 channels)" = 1 ]
	[ "$(get_value 2 channels)" -gt 1 ]
	[ "$(get_value 3 channels)" = 1 ]
	[ "$(get_value 4 channels)" = 1 ]
	[ "$(grep -c 'name=whole temp=none' <<<"$output")" = 5 ]
}

@test "an error of any request leaves no hole, and is reported if it affects the result" {
	local op n s place name told
	for s in "$NEW" "$OLD"; do
		for place in 0 1; do
			while read -r op name told; do
				for n in 1 2 3 40 300 700; do
					run -0 run_replay "$s" "set in_place $place" \
					    "set preserve 1" "fail $op $n" \
					    "put $SIZE"
					[ "$(get_value 0 reported)" -le "$told" ]
					[[ $name = any || $(get_value 0 name) = whole ]]
				done
			done <<-END
			open_excl whole 0
			lstat_dir whole 0
			fstat_old whole 0
			lstat_stale whole 0
			set_tag whole 0
			fstat_tag whole 0
			fstat_identity whole 0
			lstat_renamed whole 0
			open_staging whole 0
			statvfs whole 0
			helper_open whole 0
			write any 1
			copy_back any 1
			setsize whole 1
			fsetstat whole 1
			rename whole 1
			helper_close whole 1
			close_staging whole 0
			remove_staging whole 1
			close whole 1
			END
		done
	done
}

@test "a server that rejects data gets the file truncated, under its name" {
	run -0 run_replay "$NEW" "fail write 500" "put $SIZE"
	[ "$(get_value 0 failed)" = 1 ]
	[ "$(get_value 0 temp)" = none ]
	[ "$(get_value 0 name)" = "$(get_value 0 contiguous)+0" ]
	[ "$(get_value 0 contiguous)" -gt 50000 ]
	# The staging file is given up, and the upload continues without it.
	run -0 run_replay "$OLD" "fail write 500" "put $SIZE"
	[ "$(get_value 0 failed)" = 0 ]
	[ "$(get_value 0 name)" = whole ]
	[ "$(get_value 0 temp)" = none ]
}

@test "a copy-data error that sftp-server does not report loses no data" {
	local room
	for room in 1 30000 65535 65536 65537 131000 163840 199990 199999; do
		run -0 run_replay "$OLD" "set room $room" "put $SIZE"
		[ "$(get_value 0 channels)" -gt 1 ]
		[ "$(get_value 0 name)" = whole ]
		[ "$(get_value 0 temp)" = none ]
		[ "$(get_value 0 failed)" = 0 ]
	done
}

@test "a file that another program creates meanwhile is not replaced, and the copy fails" {
	local n
	for n in 2 5 12 25; do
		run -0 run_replay "$NEW" "set made $n" "put $SIZE"
		[ "$(get_value 0 name) $(get_value 0 temp) $(get_value 0 failed)" = "other none 1" ]
	done
}

@test "a further connection gets no data if it opens another file, or others may write to it" {
	local s
	for s in "$NEW" "$LATE" "$OLD"; do
		run -0 run_replay "$s" "set swapped 1" "put $SIZE" "set swapped 0" \
		    "set unsafe 1" "put $SIZE" "set unsafe 0" \
		    "set untagged 1" "put $SIZE"
		[ "$(grep -c 'channels=1 .*reported=0 failed=0 name=whole temp=none' <<<"$output")" = 3 ]
	done
}

@test "an old file that the server does not truncate is uploaded again, and keeps no tail" {
	run -0 run_replay "set old 250000" "fail setsize 1" "put $SIZE" \
	    "set old 150000" "put $SIZE"
	[ "$(get_value 0 channels)" -gt 1 ]
	[ "$(grep -c 'failed=0 name=whole temp=none' <<<"$output")" = 2 ]
	check_true "$(get_value 0 rounds) > 2 * $(get_value 1 rounds)"
}

@test "an interrupt before the first data leaves an old file unchanged" {
	run -0 run_replay "$OLD" "set stop 0" "put $SIZE"
	[ "$(get_value 0 name)" = 0+150000 ]
}

@test "a file that could not be truncated keeps its temporary name" {
	run -0 run_replay "$NEW" "fail write 500" "fail setsize 1" "put $SIZE"
	[ "$(get_value 0 name)" = none ]
	[ "$(get_value 0 temp)" != none ]
	[ "$(get_value 0 failed)" = 1 ]
}

@test "stale temporary files of a killed copy are removed, and no other files" {
	local s
	for s in "$NEW" "$OLD"; do
		run -0 run_replay "$s" "set stale 165" "put $SIZE" \
		    "set alive 33" "put $SIZE" "set rtt 5" "put 33000" \
		    "set stop 2" "put $SIZE" \
		    "set stop -1" "fail write 1" "put $SIZE"
		[ "$(get_value 0 stale)" = 0 ]
		[ "$(get_value 0 channels)" -gt 1 ]
		[ "$(get_value 1 stale)" = 33 ]
		[ "$(get_value 1 name)" = whole ]
		# also if the file is put sooner than that is known
		[ "$(get_value 2 stale)" = 33 ]
		[ "$(get_value 2 rounds)" -ge 600 ]
		# an interrupt or an error removes nothing
		[ "$(get_value 3 stale)" = 165 ]
		[ "$(get_value 4 stale)" = 165 ]
	done
}

@test "a file over one connection removes them as well, without a further round trip" {
	local s fails
	for s in "$NEW" "set old 20000"; do
		run -0 run_replay "$s" "set most 1" "set rtt 5" "put 33000" \
		    "put 2000000" "set no_tempfile 1" "put 33000" "set stale 165" \
		    "put 33000" "put 2000000" "set alive 33" "set stranger 4" \
		    "put 33000" "set stop 2" "put $SIZE"
		[ "$(grep -c 'channels=1 .* failed=0 .* temp=none' <<<"$output")" = 7 ]
		# No upload waits without a stale temporary file, or while one is removed.
		[ "$(get_value 2 rounds)" -le "$(get_value 0 rounds)" ]
		[ "$(get_value 4 rounds)" -le "$(get_value 1 rounds)" ]
		[ "$(get_value 4 stale)" = 0 ]
		# also if the file is put sooner than that is known
		[ "$(get_value 3 stale)" = 0 ]
		[ "$(get_value 3 rounds)" -ge 600 ]
		# neither what a copy writes nor what another user owns
		[ "$(get_value 5 stale)" = 37 ]
		[ "$(get_value 5 name)" = whole ]
		# an interrupt, an error or an unknown owner removes nothing
		[ "$(get_value 6 stale)" = 165 ]
		# the file's owner may be another user where others may write
		run -0 run_replay "$s" "set no_tempfile 1" "set stale 165" "set unsafe 1" \
		    "put $SIZE"
		[ "$(get_value 0 stale)" = 165 ]
		for fails in write fstat_old lstat_dir; do
			run -0 run_replay "$s" "set no_tempfile 1" "set stale 165" \
			    "fail $fails 1" "put $SIZE"
			[ "$(get_value 0 stale)" = 165 ]
		done
	done
}

@test "if every temporary name is in use, one channel is used" {
	local s
	for s in "$NEW" "$OLD"; do
		run -0 run_replay "$s" "set stale 255" "set alive 255" "put $SIZE"
		[ "$(get_value 0 channels)" = 1 ]
		[ "$(get_value 0 name)" = whole ]
		[ "$(get_value 0 stale)" = 255 ]
		# one is free
		run -0 run_replay "$s" "set stale 187" "set alive 187" "put $SIZE"
		[ "$(get_value 0 channels)" -gt 1 ]
		[ "$(get_value 0 name)" = whole ]
	done
}

@test "a temporary file that another copy has adopted is not truncated, and that is reported" {
	run -0 run_replay "$NEW" "set stolen 1" "fail write 500" "put $SIZE"
	[ "$(get_value 0 failed)" = 1 ]
	[ "$(get_value 0 reported)" = 2 ]
	[ "$(get_value 0 name)" = none ]
}

@test "the extents of a lost channel are assigned again" {
	local s c n
	for s in "$NEW" "$OLD"; do
		for c in 1 2 5; do
			for n in 3 6 9 14 20; do
				run -0 run_replay "$s" "lose $c $n" "lose 3 17" \
				    "put $SIZE"
				[ "$(get_value 0 name)" = whole ]
				[ "$(get_value 0 temp)" = none ]
				[ "$(get_value 0 reported)" = 0 ]
			done
		done
	done
}

@test "an interrupt leaves the complete prefix" {
	local s n
	for s in "$NEW" "$LATE" "$OLD"; do
		for n in 0 1 2 3 4 5 6 7 8 9 10 12 15 18; do
			run -0 run_replay "$s" "set stop $n" "put $SIZE"
			[ "$(get_value 0 temp)" = none ]
			# before it is opened there is none, or the old one
			[[ $(get_value 0 name) = "$(get_value 0 contiguous)+0" || $(get_value 0 name) = 0+150000 ||
			    "$n $(get_value 0 name)" = [01]" none" ]]
			[ "$(get_value 0 reported)" = 0 ]
		done
	done
}

@test "a file that has grown or shrunk is uploaded with its current size" {
	local s n
	for s in "$NEW" "$OLD"; do
		for n in 0 200001 250000; do
			run -0 run_replay "$s" "set shrink $n" "set actual 180000" \
			    "put $SIZE"
			[ "$(get_value 0 temp)" = none ]
			run -0 run_replay "$s" "set actual 210000" "put $SIZE"
			[ "$(get_value 0 name)" = 210000+0 ]
			[ "$(get_value 0 temp)" = none ]
		done
		# The file shrinks while it is read, and the extents of a lost channel are read again.
		for n in 5 8 12; do
			run -0 run_replay "$s" "set shrink $n" "set actual 40000" \
			    "lose 1 $n" "put $SIZE"
			[ "$(get_value 0 temp)" = none ]
			[ "$(get_value 0 name)" = "$(get_value 0 contiguous)+0" ]
			[ "$(get_value 0 failed)" = 0 ]
		done
	done
}

# print_commands N SEED: prints commands for N files, each with another path, server and
# failures
print_commands() {
	awk -v n="$1" -v seed="$2" '
	function one_of(list, v) { return v[int(rand() * split(list, v, " ")) + 1] }
	function below(n) { return int(rand() * n) }
	BEGIN {
		ops = "open_excl open lstat_dir fstat_old lstat_stale remove_stale" \
		    " open_staging set_tag fstat_tag statvfs helper_open" \
		    " fstat_identity write copy_back lstat_temp setsize fsetstat" \
		    " rename lstat_renamed remove_temp helper_close close_staging" \
		    " remove_staging close"
		srand(seed)
		while (n-- > 0) {
			size = one_of("33000 100000 200000 200000")
			print "set path", one_of("300 5000 9000 12500 40000 40000")
			print "set slow", below(2)
			print "set window", one_of("512 2048 2048 2048 2048 2048")
			print "set most", one_of("1 2 3 5 10 10 10 10")
			print "set old", one_of("-1 -1 -1 0 100 40000 90000")
			print "set server_caps", one_of("0 1 1")
			print "set conns_wanted", one_of("0 1 1")
			print "set unsafe", one_of("0 0 0 1")
			print "set untagged", one_of("0 0 0 1")
			print "set swapped", one_of("0 0 0 1")
			print "set made", one_of("-1 -1 -1 " below(60))
			print "set space", one_of("0 50000 1000000000 1000000000")
			print "set actual", one_of("-1 -1 -1 -1 1 20000 " size + 5000)
			print "set shrink", one_of("-1 3 8 15")
			print "set stop", one_of("-1 -1 -1 " below(60))
			print "set room", one_of("0 0 0 " below(size))
			print "set stale", one_of("0 0 1 36 255 " below(256))
			print "set alive", one_of("0 1 255 " below(256))
			print "set in_place", below(2)
			print "set unit", one_of("32 255 256")
			print "set streams", one_of("0 0 1 4 8")
			print "set logins", one_of("1 2 3 10 10")
			for (i = split(ops, op, " "); i > 0; i--)
				print "fail", op[i], below(40) ? 0 : 1 + below(one_of("1 400"))
			for (i = 1; i < 10; i++)
				print "lose", i, below(8) ? -1 : below(60)
			print "put", size
		}
	}'
}

@test "whatever fails and whichever channel is lost, the invariants hold" {
	local seed
	cd "$BATS_TEST_TMPDIR"
	for seed in 1 2 3 4 5 6 7 8; do
		print_commands 100 $seed | run_unit tempfile-sched-replay >>out || { tail -n 1 out; false; }
	done
	[ "$(grep -c '^rounds=' out)" = 800 ]
	# they came to every end
	grep -q 'name=whole' out
	grep -q 'temp=[0-9]' out
	grep -q 'failed=1' out
}

@test "further connections are opened one by one, and replace channels" {
	local s
	for s in "$NEW" "$OLD"; do
		# with no limit by the window, and at 5 ms
		run -0 run_replay "$s" "set streams 4" "put $SIZE" "set rtt 5" \
		    "set window 100000" "put $SIZE" "set streams 1" "put $SIZE"
		[ "$(get_value 0 channels)" = 4 ]
		[ "$(get_value 1 channels)" = 4 ]
		[ "$(get_value 0 logins)" = 3 ]
		[ "$(get_value 1 logins)" = 3 ]
		[ "$(get_value 2 logins)" = 0 ]
		[ "$(get_value 2 channels)" = 1 ]
		[ "$(grep -c 'asked=0 .*name=whole temp=none' <<<"$output")" = 3 ]
	done
}

@test "a refused connection is the last request, and channels are used if there is none" {
	local s
	for s in "$NEW" "$OLD"; do
		run -0 run_replay "$s" "set streams 4" "set logins 3" "put $SIZE" \
		    "set logins 1" "put $SIZE"
		[ "$(get_value 0 channels)" = 3 ]
		[ "$(get_value 0 logins)" = 3 ]
		[ "$(get_value 0 asked)" = 0 ]
		[ "$(get_value 1 logins)" = 1 ]
		[ "$(get_value 1 channels)" -gt 4 ]
		[ "$(grep -c 'name=whole temp=none' <<<"$output")" = 2 ]
	done
}

@test "the extents of a lost connection are transferred over another one" {
	local s n
	for s in "$NEW" "$OLD"; do
		for n in 3 5 8 12 20; do
			run -0 run_replay "$s" "set streams 4" "lose 2 $n" "put $SIZE"
			[ "$(get_value 0 name)" = whole ]
			[ "$(get_value 0 temp)" = none ]
			[ "$(get_value 0 reported)" = 0 ]
		done
	done
}

@test "all connections are lost: the file begins again, and nothing of it is left" {
	local at s
	for at in 1 3 5 6 7 8 10 15 20; do
		for s in "set conns_wanted 1" "set streams 3" "set most 1"; do
			run -0 run_replay "$NEW" "$s" "set lose_all $at" "put 40000" "$OLD" \
			    "put 40000"
			[ "$(grep -c 'failed=0 name=whole temp=none .*stale=0' <<<"$output")" = 2 ]
		done
	done
}

@test "the main connection is lost before the reply of a connection that opens the file" {
	local at s streams
	for at in $(seq 0 12); do
		for s in "$NEW" "$OLD"; do
			for streams in 2 4; do
				run -0 run_replay "$s" "set streams $streams" "set conns_wanted 1" \
				    "set lose_unanswered 1" "lose 0 $at" "put $SIZE"
				[ "$(get_value 0 name)" = whole ]
				[ "$(get_value 0 temp)" = none ]
				[ "$(get_value 0 failed)" = 0 ]
			done
		done
	done
}
