#!/usr/bin/env bats
# Needs: unit
# The scheduler of many files in flight (transfer/sched/scheduler.h), with a server made of
# text that answers only when nothing more is sent: a round is a round trip. The
# driver ends with "broken" and the promise, if one of scheduler.h does not hold.

load helper

# run_replay COMMAND...: prints one line of results for each put and get
run_replay() { printf '%s\n' "$@" | run_unit sched-replay; }

HANDLES='set handles 1019'

@test "500 files take as many round trips as one" {
	local way
	for way in put get; do
		run -0 run_replay "$HANDLES" "set in_place 1" "set window 10000000" \
		    "$way 1 1 4096" "$way 1 500 4096"
		[ "$(get_value 0 rounds)" -le 10 ]
		[ "$(get_value 1 rounds)" = "$(get_value 0 rounds)" ]
		[ "$(get_value 1 whole)" = 500 ]
	done
}

@test "a file whose size is known is read to its end in one round trip" {
	# OPENDIR and READDIR twice, OPEN, READ and the end, CLOSE
	run -0 run_replay "$HANDLES" "set unit 5000" "get 1 1 4096"
	[ "$(get_value 0 rounds)" = 7 ]
	[ "$(get_value 0 whole)" = 1 ]
}

@test "files start while their directory is still being read, if the server announces a limit" {
	# 16 READDIRs find the first directory, the second is not read to its end.
	run -0 run_replay "$HANDLES" "set unit 5000" "set names 10" "get 1 400 4096" \
	    "get 160 2 4096" "set names 0" "get 1 400 4096"
	[ "$(get_value 0 whole)" = 400 ]
	[ "$(get_value 0 rounds)" -le $(($(get_value 2 rounds) + 2)) ]
	[ "$(get_value 1 whole)" = 320 ]
	[ "$(get_value 1 rounds)" -le $(($(get_value 2 rounds) + 1)) ]
	# The listing and its CLOSE come first.
	run -0 run_replay "set names 10" "set unit 5000" "get 1 1 4096"
	[ "$(get_value 0 rounds)" = 11 ]
}

@test "hundreds of files are in flight until the end of a tree, whatever its shape" {
	local -x FLAVOUR=plain way set n
	for way in get put cross; do
		for set in "20 1000" "100 200" "3 6000" "4000 5"; do
			run -0 run_replay "$HANDLES" "set names 100" "$way $set 10"
			[ "$(get_value 0 whole)" = $((${set% *} * ${set#* })) ]
			[ "$(get_value 0 requests)" -ge $((400 * $(get_value 0 rounds))) ]
		done
	done
	# The first directory is reported late: thousands of later ones are done by then.
	for n in 8 18; do
		run -0 run_replay "$HANDLES" "set names 100" "late readdir $n 100" "get 30 1000 10"
		[ "$(get_value 0 whole)" = 30000 ]
		[ "$(get_value 0 requests)" -ge $((400 * ($(get_value 0 rounds) - 100))) ]
	done
}

@test "files that wait behind a late one are bounded, and hundreds follow it" {
	local -x FLAVOUR=plain way
	for way in "get read" "put write" "cross open_dest"; do
		run -0 run_replay "$HANDLES" "set names 100" "late ${way#* } 1 1000" \
		    "${way% *} 20 1000 10"
		[ "$(get_value 0 whole)" = 20000 ]
		[ "$(get_value 0 entries)" -ge 8000 ]
		[ "$(get_value 0 entries)" -le 10000 ]
		[ "$(get_value 0 rounds)" -le 1150 ]
	done
}

@test "a file is truncated, gets its times and is closed in one round trip, if limits are announced" {
	local way
	for way in "set preserve 0" "set preserve 1"; do
		# MKDIR, OPEN, WRITE, the last three, SETSTAT
		run -0 run_replay "$HANDLES" "$way" "set in_place 1" "set unit 5000" \
		    "put 1 1 4096" "set handles 0" "put 1 1 4096"
		[ "$(get_value 0 rounds)" = 7 ]
		[ "$(get_value 1 rounds)" = $((8 + ${way##* })) ]
	done
}

@test "files are complete whatever the order, number and size of replies" {
	local order way set
	for order in 0 1 2 3; do
		for way in put get; do
			for set in "0 0 0" "1 0 1" "3 7 0" "3 1 1000" "2 2 1001" \
			    "40 60 999" "1 3 300000"; do
				run -0 run_replay "$HANDLES" "set order $order" \
				    "set in_place 1" "set preserve 1" "$way $set"
				read -r dirs files _ <<<"$set"
				[ "$(get_value 0 whole)" = $((dirs * files)) ]
			done
		done
	done
}

@test "no more files are open than the server announces, and 16 handles are left to others" {
	local handles most
	while read -r handles most; do
		run -0 run_replay "set handles $handles" "put 1 600 10"
		[ "$(get_value 0 most)" = "$most" ]
		[ "$(get_value 0 whole)" = 600 ]
	done <<-END
	1 1
	2 1
	20 10
	40 24
	128 112
	1019 512
	END
}

@test "no more files are open than descriptors allow" {
	run -0 run_replay "$HANDLES" "set files 3" "put 1 50 10" "get 1 50 10"
	[ "$(get_value 0 most)" = 3 ]
	[ "$(get_value 1 most)" = 3 ]
}

@test "a large file is opened when the one before it is nearly done" {
	local way
	for way in put get; do
		run -0 run_replay "$HANDLES" "set unit 200000" "set window 1000000" "$way 1 5 5000000" \
		    "$way 1 500 4096"
		[ "$(get_value 0 most)" = 2 ]
		[ "$(get_value 0 whole)" = 5 ]
		[ "$(get_value 1 most)" = 500 ]
	done
}

@test "files are assigned to connections, which share the window" {
	local way i
	for way in put get; do
		run -0 run_replay "$HANDLES" "set unit 100000" "set window 4000000" \
		    "$way 1 8 5000000" "set conns 4" "$way 1 8 5000000" \
		    "$way 1 1 5000000" "$way 1 500 4096"
		[ "$(get_value 0 most)" -le 3 ]
		# each connection has one large file, and the next when it is nearly done
		[ "$(get_value 1 most)" -ge 4 ]
		[ "$(get_value 1 most)" -le 8 ]
		[ "$(get_value 1 whole)" = 8 ]
		for i in 0 1 2 3; do
			[ "$(get_value 1 conn$i)" -ge 90 ]
			[ "$(get_value 3 conn$i)" -ge 100 ]
		done
		# A file alone has the whole window.
		[ "$(get_value 2 rounds)" -le 10 ]
		# On a short path each has a few requests in flight, and not one.
		run -0 run_replay "$HANDLES" "set unit 1000" "set window 4200" \
		    "set conns 4" "$way 1 8 40000"
		[ "$(get_value 0 rounds)" -le 45 ]
	done
}

@test "files over several connections are complete, whatever the order, failures and interrupts" {
	local order way set
	for order in 0 1 2 3; do
		for way in put get; do
			for set in "1 0 1" "3 7 0" "2 2 1001" "40 60 999" "1 3 300000"; do
				run -0 run_replay "set conns 8" "set order $order" "$HANDLES" \
				    "$way $set" "set short 300" "$way $set" \
				    "set handles 0" "$way $set" "set interrupt 7" "$way $set"
				[ "$(get_value 0 failed)" = 0 ]
				[ "$(get_value 0 whole)" = $((${set%% *} * $(cut -d' ' -f2 <<<"$set"))) ]
			done
		done
	done
}

@test "a server without an announced limit gets 8 files, then twice as many after each round" {
	run -0 run_replay "put 1 9 10" "put 1 2000 10"
	[ "$(get_value 0 most)" = 8 ]
	[ "$(get_value 1 most)" = 64 ]
	[ "$(get_value 1 whole)" = 2000 ]
}

@test "a server that refuses a second open file gets one after the other" {
	local n
	for n in 1 3; do
		run -0 run_replay "set strict $n" "put 1 50 4096" "get 1 50 4096"
		[ "$(get_value 0 whole)" = 50 ]
		[ "$(get_value 0 limit)" -le $n ]
		[ "$(get_value 1 whole)" = 50 ]
		[ "$(get_value 1 limit)" -le $n ]
	done
}

@test "a server that refuses a WRITE beside others gets one file after the other" {
	run -0 run_replay "set full 1" "set in_place 1" "put 1 50 4096"
	[ "$(get_value 0 whole)" = 50 ]
	[ "$(get_value 0 limit)" = 1 ]
}

@test "a file that fails once beside others is restarted" {
	local op
	for op in open write; do
		run -0 run_replay "fail $op 5" "put 1 50 10"
		[ "$(get_value 0 whole)" = 50 ]
	done
}

@test "if the server announces its limit, a failure is final" {
	run -0 run_replay "$HANDLES" "fail open 5" "put 1 50 10"
	[ "$(get_value 0 whole)" = 49 ]
	[ "$(get_value 0 limit)" = 512 ]
}

@test "a failed WRITE truncates the file at the end of the bytes before it" {
	local order n
	for order in 0 1 2 3; do
		for n in 1 2 5; do
			run -0 run_replay "$HANDLES" "set order $order" "fail write $n" \
			    "put 1 1 5000"
			[ "$(get_value 0 cut)" = 1 ]
		done
	done
}

@test "a hole that is not sent counts as written, and the size is set at the end" {
	local hole order n
	for hole in "0 3000" "2000 4000" "3500 9999" "0 9999"; do
		for order in 0 1 2; do
			run -0 run_replay "$HANDLES" "set order $order" \
			    "set hole ${hole% *}" "set hole_end ${hole#* }" \
			    "put 1 9 5000"
			[ "$(get_value 0 whole)" = 9 ]
			for n in 1 2; do
				[ "$hole" = "0 9999" ] && continue
				run -0 run_replay "$HANDLES" "set order $order" \
				    "set hole ${hole% *}" "set hole_end ${hole#* }" \
				    "fail write $n" "put 1 1 5000"
				[ "$(get_value 0 whole)" = 0 ]
				[ "$(get_value 0 cut)" = 1 ]
			done
		done
	done
}

@test "few files are truncated and not yet written, whatever the window, and none is mixed" {
	local window lanes size more
	for window in 3000 100000 10000000; do
		for lanes in 1 4; do
			for size in 0 800 4096; do
				run -0 run_replay "$HANDLES" "set window $window" "set late_truncate 1" \
				    "set conns $lanes" "put 2 300 $size" \
				    "set late_truncate 0" "put 2 300 $size"
				[ "$(get_value 0 whole)" = 600 ]
				[ "$(get_value 0 torn)" -le "$lanes" ]
				# The first one shows what the server does. One
				# of no bytes takes no longer than one with some.
				more=$((size > 0 ? 1 : 3))
				[ "$window" -lt 10000000 ] || [ "$(get_value 0 rounds)" -le \
				    $(($(get_value 1 rounds) + more)) ]
			done
		done
	done
	# An unknown server empties them when it opens them.
	run -0 run_replay "set late_truncate 1" "put 2 300 4096"
	[ "$(get_value 0 whole)" = 600 ]
	[ "$(get_value 0 torn)" -gt 1 ]
}

@test "few files that are overwritten in place have old bytes after new ones" {
	local window lanes order n
	for window in 3000 100000 10000000; do
		for lanes in 1 4; do
			run -0 run_replay "$HANDLES" "set window $window" "set in_place 1" \
			    "set conns $lanes" "put 2 300 4096" "set late_truncate 1" \
			    "put 2 300 4096"
			[ "$(get_value 1 whole)" = 600 ]
			[ "$(get_value 1 torn)" -le "$lanes" ]
			[ "$(get_value 1 requests)" = "$(get_value 0 requests)" ]
		done
	done
	# A file whose WRITE or truncation fails is truncated again.
	for order in 0 1 2; do
		for n in 1 2 5; do
			run -0 run_replay "$HANDLES" "set order $order" "set in_place 1" \
			    "fail write $n" "put 1 9 5000" "fail write 0" \
			    "fail setsize_end $n" "put 1 9 5000"
			[ "$(get_value 0 whole) $(get_value 0 cut)" = "8 1" ]
			[ "$(get_value 1 whole)" = 9 ]
		done
	done
}

@test "no size is set for a file known not to be longer, except after an error" {
	local handles n order
	for handles in 0 1019; do
		run -0 run_replay "set handles $handles" "set in_place 1" "put 1 50 5000" \
		    "set known 5001" "put 1 50 5000" "set known 5002" "put 1 50 5000" \
		    "set conns 3" "put 1 50 5000" "set known 1" "put 1 50 5000"
		[ "$(get_value 1 requests)" = $(($(get_value 0 requests) - 50)) ]
		[ "$(get_value 2 requests)" = "$(get_value 0 requests)" ]
		[ "$(get_value 4 requests)" = $(($(get_value 3 requests) - 50)) ]
	done
	for order in 0 1 2; do
		for n in 1 2 5; do
			run -0 run_replay "$HANDLES" "set order $order" "set in_place 1" \
			    "set known 1" "fail write $n" "put 1 9 5000"
			[ "$(get_value 0 cut)" = 1 ]
		done
	done
}

@test "a device that cannot be truncated gets its data once" {
	local way odd order n
	for way in put cross; do
		for odd in 1 2 7; do
			for order in 0 1 2 3; do
				run -0 run_replay "$HANDLES" "set late_truncate 1" "set device_every $odd" \
				    "set order $order" "set window 20000" \
				    "$way 2 60 5000" "set window 1000000" "$way 2 60 900"
				[ "$(get_value 0 whole) $(get_value 1 whole)" = "120 120" ]
				for n in 3 6 9 12; do
					run_replay "$HANDLES" "set late_truncate 1" "set device_every $odd" \
					    "set interrupt $n" "$way 2 60 5000"
				done
			done
		done
		# The others keep theirs until new bytes come.
		run -0 run_replay "$HANDLES" "set late_truncate 1" "set device_every 3" "$way 2 60 5000"
		[ "$(get_value 0 torn)" -le 1 ]
	done
}

@test "devices that get no data do not keep other files on the main connection" {
	local way n
	for way in 0 1; do
		run -0 run_unit sched-replay -t <<-END
		$HANDLES
		set late_truncate 1
		set in_place 1
		set preserve $way
		set files 4
		set conns 3
		set no_truncate 1
		set device_every 1
		put 1 60 0
		END
		[ "$(get_value "$((${#lines[@]} - 1))" whole)" = 60 ]
		[ "$(grep -c '^open ' <<<"$output")" = 120 ]
		for n in 0 1 2; do
			[ "$(grep -c "^open .* c$n " <<<"$output")" -ge 30 ]
		done
	done
}

@test "a server that cannot truncate an open file, or reorders requests, gets complete files" {
	local order n way
	for order in 0 1 2 3; do
		for n in 1 2 50; do
			run -0 run_replay "$HANDLES" "set order $order" "set late_truncate 1" \
			    "put 2 60 5000" "set no_truncate 1" "put 2 60 5000" \
			    "set no_truncate 0" "fail setsize_0 $n" "put 2 60 5000" \
			    "set conns 3" "put 2 60 5000" "set serve_late 1" \
			    "put 2 60 5000" "set interrupt $((n % 50 + 4))" \
			    "put 2 60 5000"
			for way in 0 1 2 3 4; do
				[ "$(get_value $way whole)" = 120 ]
			done
		done
	done
}

@test "a server that cannot truncate gets complete files" {
	local order in_place lanes handles
	for order in 0 1 2 3; do
		for in_place in 0 1; do
			for lanes in 1 3; do
				for handles in 0 1000; do
					run -0 run_replay "set handles $handles" \
					    "set window 20000" "set order $order" \
					    "set late_truncate 1" "set no_truncate 1" \
					    "set in_place $in_place" \
					    "set conns $lanes" "put 2 60 5000" \
					    "set interrupt 7" "put 2 60 5000"
					[ "$(get_value 0 whole)" = 120 ]
				done
			done
		done
	done
	# A new file has its size, and needs no second copy.
	run -0 run_replay "$HANDLES" "set no_truncate 1" "set conns 3" "put 2 60 5000"
	[ "$(get_value 0 whole)" = 120 ]
	[ "$(($(get_value 0 conn0) + $(get_value 0 conn1) + $(get_value 0 conn2)))" = 720 ]
	# A file without OP_SETSIZE_END needs less than one with it.
	run -0 run_replay "$HANDLES" "set in_place 1" "put 1 1 0" "put 1 1 10" \
	    "put 2 400 0" "put 2 400 10"
	[ "$(get_value 0 rounds)" -lt "$(get_value 1 rounds)" ]
	[ "$(get_value 2 rounds)" -lt "$(get_value 3 rounds)" ]
}

@test "a file that restarts because its old tail stayed is truncated as it is opened" {
	# File 4 goes over connection 1, which refuses twice to truncate it.
	run -0 run_unit sched-replay -t <<-END
	$HANDLES
	set late_truncate 1
	set conns 2
	fail setsize_end 1
	fail setsize_final 1
	put 1 2 5000
	END
	[ "$(get_value "$((${#lines[@]} - 1))" whole)" = 2 ]
	[ "$(grep -c '^open 4 ' <<<"$output")" = 2 ]
	[ "$(grep -c '^setsize_0 4 ' <<<"$output")" = 0 ]
}

@test "after a short READ the rest is requested" {
	run -0 run_replay "$HANDLES" "set short 300" "get 1 20 4096"
	[ "$(get_value 0 whole)" = 20 ]
	run -0 run_replay "$HANDLES" "set order 2" "set short 300" "get 1 20 4096"
	[ "$(get_value 0 whole)" = 20 ]
}

@test "short replies in any order are requested again in few round trips" {
	local order
	for order in 1 2 3; do
		run -0 run_replay "$HANDLES" "set unit 30000" "set window 4000000" \
		    "set ragged 1" "set order $order" "get 1 1 12000000"
		[ "$(get_value 0 whole)" = 1 ]
		[ "$(get_value 0 rounds)" -le 100 ]
	done
}

@test "a file ends where its data ends, not at the announced size" {
	local actual order
	for order in 0 1 2; do
		for actual in 0 1 4095 4097 9000; do
			run -0 run_replay "$HANDLES" "set order $order" \
			    "set actual $actual" "get 1 1 10000"
			[ "$(get_value 0 whole)" = 1 ]
		done
	done
}

@test "bytes in flight stay within the window" {
	run -0 run_replay "$HANDLES" "set window 10000" "put 1 20 10000"
	[ "$(get_value 0 rounds)" -gt 20 ]
	[ "$(get_value 0 whole)" = 20 ]
	run -0 run_replay "$HANDLES" "set window 1" "get 1 3 5000"
	[ "$(get_value 0 whole)" = 3 ]
}

@test "when a listing fails half way, no further file of it starts" {
	local n order
	for n in 1 2 5 17 20 30; do
		for order in 0 1 2 3; do
			run -0 run_replay "$HANDLES" "set names 10" "set order $order" \
			    "fail readdir $n" "get 2 300 4096"
			[ "$(get_value 0 whole)" -lt 600 ]
		done
	done
}

@test "an existing directory keeps its attributes if that was requested" {
	local way keep
	for way in put cross; do
		for keep in 0 1; do
			run -0 run_replay "$HANDLES" "set keep_found $keep" "fail mkdir 1" \
			    "$way 2 3 100"
			[ "$(get_value 0 whole)" = 6 ]
			requests[keep]=$(get_value 0 requests)
		done
		[ "${requests[0]}" = $((requests[1] + 1)) ]
	done
}

@test "each request may fail at each place, and all others are completed" {
	local op n handles way
	for op in stat mkdir opendir readdir open read write setsize_0 setsize_end fstat_type \
	    setsize_final fsetstat close setstat stat_dest open_dest open_dest_trunc \
	    close_dest; do
		for n in 1 2 4 20; do
			for handles in 0 1019; do
				for way in put get cross; do
					run -0 run_replay "set handles $handles" \
					    "set preserve 1" "set in_place 1" \
					    "set names 7" \
					    "set order 2" "fail $op $n" "$way 3 20 5000"
					[ "$(get_value 0 rounds)" -gt 0 ]
				done
			done
		done
	done
}

@test "an interrupt ends the files in progress, and starts no other" {
	local n way
	for way in put get cross; do
		for n in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
			run -0 run_replay "$HANDLES" "set interrupt $n" "set in_place 1" \
			    "set names 10" "$way 5 100 20000"
			[ "$(get_value 0 rounds)" -le $((n + 5 + 3 * (${#way} / 5))) ]
		done
	done
}

@test "files are finished in order, so an interrupt leaves few incomplete files" {
	run -0 run_replay "$HANDLES" "set window 100000" "set in_place 1" \
	    "set interrupt 15" "put 1 100 20000"
	[ "$(get_value 0 whole)" -ge 20 ]
	[ "$(get_value 0 cut)" -le 2 ]
}

### Between two servers

@test "500 files between two servers take as many round trips as one" {
	run -0 run_replay "$HANDLES" "set window 10000000" "cross 1 1 4096" \
	    "cross 1 500 4096" "set preserve 1" "cross 1 500 4096"
	# MKDIR, OPENDIR and READDIR twice, OPEN twice, READ, WRITE, CLOSE, SETSTAT twice
	[ "$(get_value 0 rounds)" = 13 ]
	[ "$(get_value 1 rounds)" = 13 ]
	[ "$(get_value 2 rounds)" = 13 ]
	[ "$(get_value 2 whole)" = 500 ]
}

@test "files between servers are complete whatever the order, sizes and windows" {
	local order set
	for order in 0 1 2 3; do
		for set in "0 0 0" "1 0 1" "3 7 0" "3 1 1000" "2 2 1001" \
		    "40 60 999" "1 3 100000"; do
			run -0 run_replay "$HANDLES" "set order $order" "set window 20000" \
			    "set short 700" "set names 7" "cross $set" \
			    "set handles 0" "cross $set"
			read -r dirs files _ <<<"$set"
			[ "$(get_value 0 whole)" = $((dirs * files)) ]
			[ "$(get_value 1 whole)" = $((dirs * files)) ]
		done
	done
}

@test "a server that refuses a second open file, at either end, gets one at a time" {
	local set
	for set in "strict 1" "strict 3" "strict_to 1" "strict_to 3" "full 1"; do
		run -0 run_replay "set $set" "cross 1 50 4096"
		[ "$(get_value 0 whole)" = 50 ]
		[ "$(get_value 0 limit)" -le "${set#* }" ]
	done
}

@test "between servers a file whose READ or WRITE fails is truncated to zero, and no other" {
	local order op n
	for order in 0 1 2 3; do
		for op in read write; do
			for n in 1 2 50; do
				run -0 run_replay "$HANDLES" "set order $order" \
				    "fail $op $n" "cross 1 20 5000"
				[ "$(get_value 0 cut)" = 1 ]
				[ "$(get_value 0 whole)" = 19 ]
			done
		done
	done
}

@test "between servers few files are neither old nor new at any time" {
	local order n size way
	for size in 0 800 4096; do
		run -0 run_replay "$HANDLES" "set window 100000" "set late_truncate 1" \
		    "cross 2 300 $size" "set late_truncate 0" "cross 2 300 $size"
		[ "$(get_value 0 whole)" = 600 ]
		[ "$(get_value 0 torn)" -le 1 ]
		[ "$(get_value 0 rounds)" -le $(($(get_value 1 rounds) + 3)) ]
	done
	for order in 0 1 2 3; do
		for n in 1 2 50; do
			run -0 run_replay "$HANDLES" "set order $order" "set late_truncate 1" \
			    "cross 2 60 5000" "set no_truncate 1" "cross 2 60 5000" \
			    "set no_truncate 0" "fail setsize_0 $n" "cross 2 60 5000" \
			    "fail setsize_0 0" "set serve_late 1" "cross 2 60 5000" \
			    "set interrupt $((n % 50 + 4))" "cross 2 60 5000"
			for way in 0 1 2 3; do
				[ "$(get_value $way whole)" = 120 ]
			done
		done
	done
}

@test "between servers a file that cannot be opened at the target is not read" {
	run -0 run_replay "$HANDLES" "cross 1 1 5000" "fail open_dest 1" "cross 1 1 5000"
	[ "$(get_value 1 failed)" = 1 ]
	[ "$(get_value 0 requests)" -ge $(($(get_value 1 requests) + 10)) ]
}

### Files over several connections

STRIPED='set stripe_min 5000'

@test "a large file is striped over all idle connections, and is complete" {
	local order
	for order in 0 1 2 3; do
		run -0 run_replay "$HANDLES" "set order $order" "set window 20000" "$STRIPED" \
		    "set conns 4" "get 1 1 100000" "set slow 1" "set slow_by 5" \
		    "get 1 1 100000" "set short 300" "get 1 1 100000" \
		    "set actual 90001" "get 1 1 100000" "set actual 120001" \
		    "get 1 1 100000" "set actual 3000" "get 1 1 100000"
		[ "$(grep -c 'whole=1 ' <<<"$output")" = 6 ]
		[ "$(grep -c 'conns=[34] ' <<<"$output")" -ge 5 ]
	done
	run -0 run_replay "$HANDLES" "set window 20000" "set conns 4" "get 1 1 100000" \
	    "$STRIPED" "get 1 1 100000" "get 1 1 4999"
	[ "$(get_value 0 conn2) $(get_value 2 conns)" = "0 1" ]
	[ "$(get_value 1 conn1)" -ge 15 ]
}

@test "a large file among small ones uses idle connections, and delays no other file" {
	run -0 run_replay "$HANDLES" "set window 20000" "set conns 4" "get 1 40 10" \
	    "get 1 3 60000" "$STRIPED" "get 1 40 10" "get 1 3 60000"
	[ "$(get_value 2 rounds)" = "$(get_value 0 rounds)" ]
	[ "$(get_value 3 whole)" = 3 ]
	[ "$(get_value 1 conn0)" = 0 ]
	[ "$(get_value 3 conn0)" -ge 20 ]
}

@test "a connection that sees another file under the name transfers none of it" {
	run -0 run_replay "$HANDLES" "set window 20000" "$STRIPED" "set conns 4" \
	    "set other 2" "get 1 1 100000"
	[ "$(get_value 0 whole) $(get_value 0 conn2) $(get_value 0 conns)" = "1 0 3" ]
}

@test "a connection is used only after both handles had the same bytes at one offset" {
	local at order
	for order in 0 1 3; do
		run -0 run_replay "$HANDLES" "set order $order" "set window 20000" "$STRIPED" \
		    "set conns 4" "set mixed 2" "get 1 1 100000" \
		    "set mixed 0" "fail sample_owner 2" "get 1 1 100000" "fail sample_owner 0" \
		    "fail sample_helper 1" "get 1 1 100000"
		[ "$(get_value 0 whole) $(get_value 0 conn2) $(get_value 0 conns)" = "1 0 3" ]
		[ "$(get_value 1 whole) $(get_value 1 conns)" = "1 3" ]
		[ "$(get_value 2 whole) $(get_value 2 conns)" = "1 3" ]
	done
	# A connection is lost while others compare or begin.
	for at in 5 6 7 8 9 10 11 12; do
		for order in 0 1 2; do
			run -0 run_replay "$HANDLES" "set order $order" "set window 20000" \
			    "$STRIPED" "set conns 4" "late sample_owner 1 4" "late sample_helper 2 3" \
			    "set lose 1" "set lose_at $at" "get 1 2 100000" \
			    "set lose2 2" "set lose2_at $((at + 1))" "get 1 2 100000" \
			    "set mixed 3" "get 1 2 100000" "set interrupt $((at + 1))" \
			    "get 1 2 100000"
			[ "$(get_value 0 whole) $(get_value 1 whole) $(get_value 2 whole)" = "2 2 2" ]
		done
	done
	# A file opened after a loss has to continue where the other one stopped.
	run -0 run_replay "$HANDLES" "set window 20000" "set conns 2" "set lose 1" "set lose_at 12" \
	    "get 1 2 100000" "set changed 1" "get 1 2 100000"
	[ "$(get_value 0 whole) $(get_value 1 whole)" = "2 1" ]
}

@test "a file striped over hosts is divided at boundaries, with a bounded number of writers" {
	local order
	for order in 0 1 3; do
		run -0 run_replay "$HANDLES" "set order $order" "set window 20000" "$STRIPED" \
		    "set conns 4" "get 1 1 400000" "set align 8192" "get 1 1 400000" \
		    "set lose 2" "set lose_at 20" "get 1 1 400000"
		[ "$(grep -c 'whole=1 ' <<<"$output")" = 3 ]
		[ "$(get_value 1 conns)" = 4 ]
		# where the others join
		[ "$(get_value 1 shared)" -le 3 ]
		check_true "$(get_value 1 conn3) >= 40 && $(get_value 1 conn3) * 4 >= $(get_value 1 conn0)"
	done
	# A put has so many writers, and a get as many readers as there are.
	run -0 run_unit tempfile-sched-replay <<-END
	set streams 8
	put 400000
	set writers 4
	put 400000
	set old 150000
	put 400000
	END
	[ "$(get_value 0 channels) $(get_value 1 channels) $(get_value 2 channels)" = "8 4 4" ]
	[ "$(grep -c 'name=whole temp=none' <<<"$output")" = 3 ]
}

@test "a file that differs on another host is transferred over the first" {
	local way
	run -0 run_replay "$HANDLES" "set conns 4" "get 2 40 2000" "set other_hosts 14" \
	    "get 2 40 2000" "set other 2" "get 2 40 2000" "set other_open_fails 1" \
	    "get 2 40 2000" "put 2 40 2000" "set handles 0" "get 2 40 2000"
	[ "$(grep -c 'whole=80 .* failed=0 ' <<<"$output")" = 6 ]
	# Each file is looked at there, and one that is another one is read elsewhere.
	[ "$(get_value 1 requests)" -ge $(($(get_value 0 requests) + 50)) ]
	[ "$(get_value 1 conn2)" -ge 20 ]
	[ "$(get_value 2 conn2)" = 0 ]
	[ "$(get_value 2 conn1)" -ge 20 ]
	for way in 3 4 5; do
		[ "$(get_value $way conn1)$(get_value $way conn2)$(get_value $way conn3)" = 000 ]
	done
	# A connection is lost at any time.
	for at in 1 2 3 5 8 13; do
		run -0 run_replay "$HANDLES" "set conns 4" "set other_hosts 14" "set lose 1" \
		    "set lose_at $at" "get 2 40 2000" "put 2 40 2000" \
		    "set other 2" "get 2 40 2000"
		[ "$(grep -c 'whole=80 .* failed=0 ' <<<"$output")" = 3 ]
	done
}

@test "a file sent over another host is verified over the first, and sent again if it differs" {
	local at
	run -0 run_replay "$HANDLES" "set conns 4" "put 2 40 2000" "set other_hosts 14" \
	    "put 2 40 2000" "set other 2" "put 2 40 2000"
	[ "$(grep -c 'whole=80 .* failed=0 ' <<<"$output")" = 3 ]
	# 60 files were not sent over connection 0, and are verified over two. The 20 of
	# connection 2 are sent again, with 4 requests each.
	[ $(($(get_value 1 requests) - $(get_value 0 requests))) = 120 ]
	[ $(($(get_value 2 requests) - $(get_value 1 requests))) = 80 ]
	[ "$(get_value 2 conn0)" = $(($(get_value 1 conn0) + 60)) ]
	for at in 1 2 3 4 5 6 7 8 9; do
		run -0 run_replay "$HANDLES" "set conns 4" "set other_hosts 14" "set other 2" \
		    "set lose 1" "set lose_at $at" "put 2 40 2000" \
		    "set lose 2" "put 2 40 2000" \
		    "set lose 0" "set interrupt $at" "put 2 40 2000"
		[ "$(get_value 0 whole) $(get_value 0 failed) $(get_value 1 whole) $(get_value 1 failed)" = "80 0 80 0" ]
		# Files that the lost connection helped with are sent over connection 0 as well.
		[ $at != 5 ] || [ "$(get_value 0 conn0)" = 180 ]
		# A file that differs behind an interrupt is not counted as whole.
		[ "$(get_value 2 whole)" -le 60 ] || [ "$(get_value 2 conn0)" -ge 120 ]
	done
}

@test "late writes of a lost connection do no harm, and the file is verified" {
	local way at n
	# The driver ends if a request that is not safe late is sent over another
	# connection than the first, or if a file of a lost one is not verified.
	for way in "set late_truncate 1" "set in_place 1" "set asks 2" "set handles 0"; do
		for at in 1 2 3 4 5 6 8 10; do
			run -0 run_replay "$HANDLES" "set conns 3" "set preserve 1" \
			    "set window 20000" "$way" "set lose 1" "set lose_at $at" \
			    "put 2 40 5000"
			[[ $output = *"whole=80 cut=0 failed=0"* ]]
		done
	done
	# A file with a wrong modification time then gets its own, and is verified again.
	run -0 run_replay "$HANDLES" "set conns 3" "set window 20000" "set preserve 1" \
	    "set lose 1" "set lose_at 4" "put 2 40 5000" "set wrong_mtime 1" "put 2 40 5000"
	[ "$(get_value 1 mtimes_set)" = 1 ]
	[ "$(get_value 1 requests)" = $(($(get_value 0 requests) + 2)) ]
	# A file of ours is removed before it is sent again, over the first host.
	run -0 run_replay "$HANDLES" "set conns 3" "set other_hosts 2" "set lose 1" \
	    "set lose_at 4" "put 2 40 5000" "set exists_ours 1" "put 2 40 5000"
	[[ $output != *whole=[!8]* ]]
	[ "$(get_value 1 removed)" = 27 ]
	n=$(($(get_value 1 requests) - $(get_value 0 requests)))
	[ "$n" -ge 27 ] && [ "$n" -le 30 ]
}

@test "a second lost connection, or refused late requests, lose no file silently" {
	local at
	for at in 4 5 6 7 8 9 10 11 12; do
		# The lost host's file is restarted: that it cannot be opened is no error.
		run -0 run_replay "$HANDLES" "set conns 3" "set other_hosts 2" "set exists_ours 1" \
		    "set lose 1" "set lose_at $at" "set open_fails 1" "put 2 40 2000"
		[ "$(get_value 0 whole) $(get_value 0 failed)" = "80 0" ]
		# Nor is that of one of ours that was open over the lost connection.
		run -0 run_replay "$HANDLES" "set conns 3" "set window 20000" "set exists_ours 1" "set lose 1" \
		    "set lose_at $at" "set open_fails 1" "put 2 40 2000"
		[ "$(get_value 0 whole) $(get_value 0 failed)" = "80 0" ]
		# A file that cannot be verified is sent twice, and fails.
		run -0 run_replay "$HANDLES" "set conns 3" "set window 20000" "set lose 1" \
		    "set lose_at $at" "set stat_fails 1" "put 2 40 5000"
		[ $(($(get_value 0 whole) + $(get_value 0 failed))) = 80 ]
		[ "$(get_value 0 failed)" -gt 0 ]
		run -0 run_replay "$HANDLES" "set conns 4" "set lose 1" "set lose_at 5" \
		    "set lose2 2" "set lose2_at $at" "put 2 40 5000" \
		    "set other_hosts 2" "set exists_ours 1" "put 2 40 5000"
		[ "$(get_value 0 whole) $(get_value 1 whole)" = "80 80" ]
	done
}

@test "after an error or an interrupt nothing more of a striped file is written" {
	local set
	for set in "bad 50001" "disk 50001" "interrupt 9"; do
		run -0 run_replay "$HANDLES" "set window 20000" "$STRIPED" "set conns 4" \
		    "set order 3" "set $set" "get 1 1 100000"
		[ "$(get_value 0 whole)" = 0 ]
		[ "$(get_value 0 requests)" -le 110 ]
	done
}

@test "early data of a striped file is buffered within bounds while a connection is slow" {
	run -0 run_replay "$HANDLES" "set unit 1000000" "set window 400000000" "$STRIPED" \
	    "set conns 2" "set slow 1" "set slow_by 300" "get 1 1 300000000"
	[ "$(get_value 0 whole)" = 1 ]
	# 64 MiB, and the bytes that one connection may have in flight
	[ "$(get_value 0 waited)" -le $((67108864 + 200000000)) ]
	run -0 run_replay "$HANDLES" "set window 4000000" "$STRIPED" "set short 10" \
	    "set conns 2" "set slow 1" "set slow_by 50" "get 1 1 100000"
	[ "$(get_value 0 whole)" = 1 ]
	[ "$(get_value 0 pieces)" -le 4200 ]
}

@test "a slow connection gets only what it can soon send, and a long one what it needs" {
	# Each round is 0.1 s. One connection transfers 20 MB in it, the other 1 MB/s.
	run -0 run_replay "$HANDLES" "set unit 100000" "set window 40000000" "$STRIPED" \
	    "set round_us 100000" "set conns 2" "set slow 1" "set slow_each 1" \
	    "get 1 1 300000000" "get 1 30 10000000" "put 1 30 10000000" \
	    "set slow_each 0" "set slow_by 19" "get 1 1 300000000"
	[ "$(get_value 0 whole) $(get_value 1 whole) $(get_value 2 whole)" = "1 30 30" ]
	[ "$(get_value 0 rounds)" -le 40 ]
	[ "$(get_value 0 conn1)" -ge 10 ]
	[ "$(get_value 1 rounds)" -le 50 ]
	# A whole file is uploaded by one connection.
	[ "$(get_value 2 rounds)" -le 110 ]
	# Replies that are 2 s late are no queue: more is sent in each 2 s.
	[ "$(get_value 3 conn1)" -ge 60 ]
}

@test "a lost connection costs no file, whatever it was doing" {
	local -x FLAVOUR=plain
	local way at lost
	cd "$BATS_TEST_TMPDIR"
	for way in "get 1 1 100000" "get 3 10 20000" "put 3 10 20000" "get 2 20 5" "put 2 20 5"; do
		for lost in 1 2 3; do
			for at in 1 3 4 5 6 7 8 9 10 12 15 20 30; do
				echo "set lose $lost"
				echo "set lose_at $at"
				echo "$way"
			done
		done
	done >losses
	for way in "set in_place 1" "set preserve 1" "set late_truncate 1" "set handles 0"; do
		run -0 run_replay "$HANDLES" "set window 20000" "$STRIPED" "set conns 4" \
		    "set order 3" "$way" "$([[ $way = *late_truncate* ]] && grep -v get losses || cat losses)"
		[ "$(grep -c rounds= <<<"$output")" -ge 78 ]
		[ "$(grep -cE 'whole=(1|30|40) cut=0 failed=0 ' <<<"$output")" = "$(grep -c rounds= <<<"$output")" ]
	done
}

@test "the files of a lost connection continue on another, and nothing is sent twice" {
	run -0 run_replay "$HANDLES" "set window 20000" "$STRIPED" "set conns 4" \
	    "get 1 1 200000" "set lose 1" "set lose_at 12" "get 1 1 200000"
	# The requests in flight there, and an OPEN on another connection at most
	[ $(($(get_value 1 requests) - $(get_value 0 requests))) -le 8 ]
	[ "$(get_value 1 whole)" = 1 ]
}

### Files that are verified

VERIFIED='set asks 1'

@test "500 files are checked at once, before their copy and after it" {
	local way
	for way in put get; do
		run -0 run_replay "$HANDLES" "$way 1 500 100" "$VERIFIED" "$way 1 500 100" \
		    "set complete 1" "$way 1 500 100" "set complete 0" \
		    "set hash 1000" "$way 1 500 100"
		[ "$(get_value 1 rounds)" = $(($(get_value 0 rounds) + 2)) ]
		[ "$(get_value 2 rounds)" -lt "$(get_value 0 rounds)" ]
		[ "$(get_value 2 most)" -le 1 ]	# none is opened
		[ "$(get_value 3 rounds)" = $(($(get_value 0 rounds) + 4)) ]
		[ "$(grep -c 'whole=500 ' <<<"$output")" = 4 ]
	done
}

@test "a connection has the server hash 64 MiB at a time, or one longer range" {
	run -0 run_replay "$HANDLES" "$VERIFIED" "set hash 20000000" "put 1 50 100" \
	    "set hash 90000000" "put 1 50 100" "set conns 3" "put 1 50 100"
	[ "$(get_value 0 hashing) $(get_value 1 hashing)" = "60000000 90000000" ]
	[ "$(get_value 2 hashing)" = 270000000 ]
	[ "$(grep -c 'whole=50 ' <<<"$output")" = 3 ]
}

@test "a verified file is opened when little data is queued before it" {
	# as one that was not, in the test of a large file above
	run -0 run_replay "$HANDLES" "put 1 50 9000000" "$VERIFIED" "put 1 50 9000000"
	[ "$(get_value 0 whole) $(get_value 1 whole)" = "50 50" ]
	[ "$(get_value 1 most)" = "$(get_value 0 most)" ]
}

@test "data that is read back is read once, and the copy starts at the given offset" {
	local order from
	for order in 0 1 2 3; do
		for from in 0 700; do
			run -0 run_replay "set order $order" "set asks 2" \
			    "set hash 1000" "set read_back 1" "set from $from" \
			    "put 2 30 2500" "get 2 30 2500" "set short 300" \
			    "get 2 30 2500" "set strict 3" "put 2 30 2500" \
			    "get 2 30 2500" "set strict 0" "$HANDLES" \
			    "set complete 3" "put 2 30 2500" "get 2 30 2500"
			[ "$(grep -c 'whole=60 ' <<<"$output")" = 7 ]
		done
	done
}

@test "no connection reads a verified source before its FSTAT was sent" {
	# The helper connection has nothing to do when the file has just been opened.
	run -0 run_replay "set conns 2" "set window 5000" "set short 50" "set ragged 1" \
	    "set asks 2" "set stripe_min 20000" "set slow_by 1" "fail open 1" \
	    "get 1 5 30000"
	[ "$(get_value 0 conns)" = 2 ]
	[[ $output = *whole=5\ * ]]
}

# Each of these ended the program once, because a state was left in a way that nobody had
# thought of: the connection is lost while a step of the file waits to be sent.
@test "a connection that is lost between a comparison and the next request costs no file" {
	run -0 run_replay "set conns 2" "set lose 1" "set lose_at 9" "set asks 1" \
	    "set hash 700" "set pause 1" "put 1 5 100"
	[[ $output = *whole=5\ * ]]
	# on another host, which may have seen another file
	run -0 run_replay "set conns 3" "set lose 1" "set lose_at 7" "set asks 1" \
	    "set other_hosts 6" "put 1 5 3000"
	[[ $output = *whole=5\ * ]]
	# while a time that was wrong waits to be set
	run -0 run_replay "set conns 3" "set lose_last 1" "set lose 1" "set lose_at 20" \
	    "set preserve 1" "set wrong_mtime 2" "set lose2 2" "set lose2_at 26" \
	    "set slow 1" "set slow_by 2" "put 1 60 100"
	[[ $output = *whole=60\ * ]]
}

@test "a comparison that fails, is interrupted or loses its connection costs no other file" {
	local op at n
	for op in verify_stat verify_hash readback_open readback_read readback_close \
	    verify_fstat; do
		# before the copy, and after it
		for n in 7 100; do
			run -0 run_replay "$HANDLES" "$VERIFIED" "set hash 1000" "set read_back 1" \
			    "fail $op $n" "get 2 30 2500" "put 2 30 2500"
			[ "$(grep -c 'whole=60 ' <<<"$output")" = 2 ]
		done
	done
	for at in 3 4 5 6 7 8 9 11 13; do
		run -0 run_replay "$HANDLES" "$VERIFIED" "set hash 1000" "set read_back 1" \
		    "set conns 3" "set lose 1" "set lose_at $at" "put 2 60 2500" \
		    "get 2 60 2500" "set complete 2" "get 2 60 2500"
		[ "$(grep -c 'whole=120 ' <<<"$output")" = 3 ]
		run -0 run_replay "$HANDLES" "$VERIFIED" "set hash 40000000" "set read_back 1" \
		    "set interrupt $at" "put 2 60 2500" "get 2 60 2500"
	done
}

@test "all connections are lost and come back: no file is, whatever it was doing" {
	local -x FLAVOUR=plain
	local at conns
	for at in $(seq 1 14); do
		for conns in 1 3; do
			run -0 run_replay "$HANDLES" "set names 10" "set conns $conns" \
			    "set lose_all $at" "set back_after 3" "set order $at" \
			    "put 2 60 2500" "get 2 60 2500" "set late_truncate 1" \
			    "set preserve 1" "put 2 60 2500" "set lose_last 1" \
			    "put 2 60 2500" "set late_truncate 0" "get 2 60 2500" \
			    "set window 20000" \
			    "set stripe_min 20000" "put 1 5 90000" "get 1 5 90000"
			[ "$(grep -c 'whole=120 ' <<<"$output")" = 5 ]
			[ "$(grep -c 'whole=5 ' <<<"$output")" = 2 ]
		done
		run -0 run_replay "$HANDLES" "set lose_all $at" "set order $at" "cross 2 60 2500" \
		    "set late_truncate 1" "cross 2 60 2500" "set lose_last 1" \
		    "cross 2 60 2500" "set handles 0" "cross 2 60 2500" "put 2 60 2500" \
		    "set late_truncate 0" "get 2 60 2500"
		[ "$(grep -c 'whole=120 ' <<<"$output")" = 6 ]
	done
}

@test "all connections are lost ten times, also while the files of a loss begin again" {
	local at
	for at in 1 2 3 5 11; do
		run -0 run_replay "$HANDLES" "set lose_all $at" "set lose_all_times 10" \
		    "set conns 3" "set names 10" "set back_after 2" "set in_place 1" \
		    "put 2 60 2500" "get 2 60 2500" "set asks 2" "put 2 60 2500" \
		    "get 2 60 2500" "set asks 0" "set conns 1" "cross 2 60 2500"
		[ "$(grep -c 'whole=120 ' <<<"$output")" = 5 ]
	done
}

@test "all connections are lost among links and held names, or during a verification" {
	local at
	for at in $(seq 1 16); do
		run -0 run_replay "$HANDLES" "set names 10" "set lose_all $at" "set links 2" \
		    "get 2 60 2500" "set held 5" "get 2 60 2500" "set handles 0" \
		    "get 2 60 2500"
		[ "$(grep -c 'whole=120 ' <<<"$output")" = 3 ]
		run -0 run_replay "$HANDLES" "$VERIFIED" "set hash 1000" "set read_back 1" \
		    "set conns 3" "set back_after 2" "set lose_all $at" "put 2 60 2500" \
		    "get 2 60 2500" "set complete 2" "get 2 60 2500" "set pause 1" \
		    "put 2 60 2500"
		[ "$(grep -c 'whole=120 ' <<<"$output")" = 4 ]
	done
}

@test "the main connection is lost, up to five times: another becomes it, and no file is lost" {
	local at times
	for at in $(seq 1 14); do
		times=$((at < 4 ? 5 : 1))
		run -0 run_replay "$HANDLES" "set names 10" "set conns 8" \
		    "set lose_main $at" "set lose_main_times $times" "set order $at" \
		    "put 2 60 2500" "get 2 60 2500" "set late_truncate 1" \
		    "set preserve 1" "put 2 60 2500" "set lose_last 1" \
		    "put 2 60 2500" "set in_place 1" "put 2 60 2500" \
		    "set late_truncate 0" "get 2 60 2500" "set handles 0" \
		    "put 2 60 2500" "get 2 60 2500" "$HANDLES" "set window 20000" \
		    "set stripe_min 20000" "put 1 5 90000" "get 1 5 90000"
		[ "$(grep -c 'whole=120 ' <<<"$output")" = 8 ]
		[ "$(grep -c 'whole=5 ' <<<"$output")" = 2 ]
		run -0 run_replay "$HANDLES" "$VERIFIED" "set hash 1000" "set read_back 1" \
		    "set conns 3" "set lose_main $at" "put 2 60 2500" \
		    "get 2 60 2500" "set complete 2" "get 2 60 2500" "set pause 1" \
		    "put 2 60 2500" "set links 2" "set held 5" "get 2 60 2500"
		[ "$(grep -c 'whole=120 ' <<<"$output")" = 5 ]
	done
}

@test "a truncation that the verification sends is lost with the main connection, and sent again" {
	local at trace
	trace=$(printf '%s\n' "$HANDLES" "$VERIFIED" "set set_size 1" "set conns 3" \
	    "set lose_main 3" "put 1 60 2500" | run_unit sched-replay -t)
	[ "$(grep -c '^verify_setsize .* c0' <<<"$trace")" = 60 ]
	[ "$(grep -c '^verify_setsize .* c1' <<<"$trace")" = 60 ]
	for at in $(seq 1 9); do
		run -0 run_replay "$HANDLES" "$VERIFIED" "set set_size 1" "set hash 1000" \
		    "set conns 3" "set lose_main $at" "set lose_main_times $((at < 4 ? 2 : 1))" \
		    "set order $at" "put 2 60 2500" "set lose_last 1" "put 2 60 2500" \
		    "set from 500" "put 2 60 2500" "set complete 2" "put 2 60 2500" \
		    "set lose_all 7" "put 2 60 2500" "set handles 0" "put 2 60 2500"
		[ "$(grep -c 'whole=120 ' <<<"$output")" = 6 ]
	done
}

@test "the main connection is lost before it says whether a file can be truncated" {
	run -0 run_replay "set handles 100" "set conns 3" "set late_truncate 1" \
	    "set lose_main 3" "set lose_main_times 2" "set open_fails 1" "set lose_last 1" \
	    "fail setsize_0 1" "put 2 20 2500"
}

@test "an OPEN that truncates, and may come late over a lost connection, restarts its file" {
	local trace
	trace=$(printf '%s\n' "set conns 2" "set lose_main 2" "put 1 4 2500" |
	    run_unit sched-replay -t)
	grep -q 'open .* c0' <<<"$trace"
	grep -q restart <<<"$trace"
}

@test "an interrupt after all connections were lost ends the copy" {
	local at after way
	for at in 2 5 8; do
		for after in 0 1 2 4; do
			for way in put get cross; do
				run -0 run_replay "$HANDLES" "set names 10" "set lose_all $at" \
				    "set interrupt $((at + after))" "$way 2 60 2500" \
				    "set lose_last 1" "$way 2 60 2500"
			done
		done
	done
}

@test "names that a listing brings late are not lost with the connection" {
	# The end of the listing has arrived before them.
	local at
	for at in 6 8 12; do
		run -0 run_replay "$HANDLES" "set names 10" "late readdir 22 100" \
		    "set lose_all $at" "get 1 400 10"
		[ "$(get_value 0 whole)" = 400 ]
	done
}

@test "a file is looked at in the end if a lost server may truncate or rename it late" {
	# The driver finds it broken if a file is whole that was not looked at.
	local at
	for at in 2 3 4 5; do
		run -0 run_replay "$HANDLES" "set lose_all $at" "put 1 50 1000" \
		    "set late_truncate 1" "put 1 50 1000" "set late_truncate 0" \
		    "set asks 1" "set from 500" "put 1 50 1000"
		[ "$(grep -c 'whole=50 ' <<<"$output")" = 3 ]
	done
}

@test "a file that waits to be seen by another host begins again if all are lost" {
	local at
	for at in $(seq 3 12); do
		run -0 run_replay "set conns 3" "set other_hosts 6" "set lose_last 1" \
		    "set lose_all $at" "set back_after 9" "put 1 50 1000" "$HANDLES" \
		    "put 1 50 1000"
		[ "$(grep -c 'whole=50 ' <<<"$output")" = 2 ]
	done
}
