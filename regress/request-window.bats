#!/usr/bin/env bats
# Needs: hayate stock unit
# How many SFTP requests may be in flight (transfer/sched/request-window.h), on paths made of text.
# Each scenario runs twice: plain, and under ASan and UBSan.

load helper

# 64 requests of 255 KiB, and WindowMax as it is by default
BEGIN='begin 261120 64 67108864'

# run_replay COMMAND...: runs one command a line; one answer per "run" is in lines[]
run_replay() {
	local asan plain
	plain=$(printf '%s\n' "$@" | FLAVOUR=plain run_unit request-window-replay) || return
	asan=$(printf '%s\n' "$@" | FLAVOUR=asan run_unit request-window-replay) || return
	[ "$plain" = "$asan" ] || { echo "builds differ"; return 1; }
	mapfile -t lines <<<"$plain"
	printf '%s\n' "$plain"
}

@test "a path that 64 requests fill gets no more requests" {
	run_replay 'path 1 100' "$BEGIN" 'run 5'
	[ "$(get_value 0 most)" -eq 64 ]
	[ "$(get_value 0 moved)" -ge 499000000 ]
}

# A receive buffer of 1 or 2 MiB at 100 ms looks like this.
@test "a low rate is not mistaken for a short path" {
	run_replay 'path 100 10' "$BEGIN" 'run 5' 'path 100 5' 'run 5'
	[[ ${lines[0]} = *"reason: this rate needs no more" ]]
	[[ ${lines[1]} = *"reason: an interrupt would wait too long" ]]
}

@test "a path that 64 requests do not fill gets more requests until it is filled" {
	run_replay 'path 200 125' "$BEGIN" 'run 2' 'run 5'
	[ "$(get_value 1 moved)" -ge 624000000 ]
	run_replay 'path 600 100' "$BEGIN" 'run 4' 'run 5'
	[ "$(get_value 1 most)" -gt 128 ]
	[ "$(get_value 1 moved)" -ge 499000000 ]
}

# 128 requests of 255 KiB fill 111 MB/s at 300 ms.
@test "an increase of the path's rate beyond what the requests allow is detected" {
	run_replay 'begin 261120 64 268435456' 'path 300 105' 'run 4' \
	    'path 300 495' 'run 6' 'run 4'
	[ "$(get_value 0 requests)" -eq 128 ]
	[ "$(get_value 2 moved)" -ge $((4 * 480 * 1000000)) ]
}

# A queue overflows while the number of requests is tried, as in slow start.
@test "old replies do not end the growth while the rate multiplies" {
	run_replay 'begin 261120 64 268435456' 'path 300 105' 'run 1.8' \
	    'path 665 495' 'run 1' 'path 300 495' 'run 4'
	[ "$(get_value 2 moved)" -ge $((4 * 480 * 1000000)) ]
}

@test "after the path became slow two seconds of data are in flight" {
	local rtt
	for rtt in 1 20 100 200; do
		run_replay "path $rtt 125" "$BEGIN" 'run 5' "path $rtt 2" \
		    'run 20' 'run 5'
		[ "$(get_value 0 requests)" -ge 64 ]
		[ "$(get_value 2 most)" -ge 2 ]
		[ "$(get_value 2 most)" -le 17 ]	# 4 MB, and the one on its way
		[ "$(get_value 2 ms)" -le 2200 ]
		[ "$(get_value 2 moved)" -ge 9700000 ]
	done
}

@test "on a path that became slow nothing is sent until the excess has drained" {
	run_replay 'path 100 125' "$BEGIN" 'run 5' 'path 100 2' 'run 2' 'run 4'
	[ "$(get_value 2 requests)" -le 17 ]
	[ "$(get_value 2 moved)" -ge 7800000 ]
	[ "$(get_value 2 under_way)" -eq \
	    $(($(get_value 1 under_way) - $(get_value 2 moved) / 261120)) ]
}

@test "a path that became fast again is filled within two seconds" {
	run_replay 'path 100 125' "$BEGIN" 'run 5' 'path 100 2' 'run 25' \
	    'path 100 125' 'run 2' 'run 5'
	[ "$(get_value 3 moved)" -ge 624000000 ]
}

@test "a slow path keeps two requests in flight" {
	run_replay 'path 100 0.05' "$BEGIN" 'run 50' 'run 60'
	[ "$(get_value 1 most)" -eq 2 ]
	[ "$(get_value 1 moved)" -ge 2600000 ]
}

@test "a path is still filled after a stall of one second" {
	run_replay 'path 100 125' "$BEGIN" 'run 5' 'stall 1' 'run 1' 'run 5'
	[ "$(get_value 2 moved)" -ge 624000000 ]
}

@test "a path is filled again at once after a stall of four seconds" {
	run_replay 'path 100 125' "$BEGIN" 'run 5' 'stall 4' 'run 4' 'run 1'
	[ "$(get_value 2 moved)" -ge 124000000 ]
}

@test "on a slow path the two-second limit averages over both seconds" {
	run_replay 'path 100 1' "$BEGIN" 'run 5' 'run 10'
	[ "$(get_value 1 most)" -ge 7 ]
	[ "$(get_value 1 most)" -le 8 ]
}

@test "a very long path is filled by the rate of the last half second" {
	run_replay 'path 1500 30' "$BEGIN" 'run 5' 'run 5'
	[ "$(get_value 0 moved)" -ge 40000000 ]
	[ "$(get_value 1 moved)" -ge 70000000 ]
}

@test "on a path with an RTT of a second more than two seconds of data are in flight" {
	# they are 957 requests, and a lost packet would leave 479 of them
	run_replay 'path 1000 125' 'begin 261120 64 268435456' 'run 12'
	[ "$(get_value 0 requests)" -gt 957 ]
}

@test "a long path keeps a margin over what it holds" {
	# 72 requests are on the path, and a loss delays as many again
	run_replay 'path 150 125' "$BEGIN" 'run 2' 'run 5'
	[ "$(get_value 1 requests)" -ge 128 ]
}

@test "the limit is in bytes, so smaller requests are more numerous" {
	run_replay 'path 200 125' 'begin 32768 512 67108864' 'run 2' 'run 5'
	[ "$(get_value 1 moved)" -ge 624000000 ]
	[ "$(get_value 1 most)" -le 2048 ]
}

@test "requests may exceed stock's number but never WindowMax" {
	run_replay 'path 600 100' 'begin 261120 64 20000000' 'run 5'
	[ "$(get_value 0 most)" -eq $((20000000 / 261120)) ]
	run_replay 'path 600 100' 'begin 261120 64 1000000' 'run 5'
	[ "$(get_value 0 most)" -eq 64 ]
}

@test "a transfer starts with the number of requests that the previous one measured" {
	run_replay 'path 200 125' "$BEGIN" 'run 3' "$BEGIN" 'run 1'
	[ "$(get_value 1 moved)" -ge 99000000 ]
	run_replay 'path 200 125' "$BEGIN" 'run 3' 'path 200 1' 'run 30' \
	    "$BEGIN" 'run 1'
	[ "$(get_value 2 most)" -le 8 ]
}
