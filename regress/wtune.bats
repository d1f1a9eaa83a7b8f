#!/usr/bin/env bats
# Needs: hayate stock unit
# The estimator and the tuner (channels/bdp.h, wtune.h) on paths made of text.
# Each scenario runs twice: plain, and under ASan and UBSan.

load helper

MiB=1048576
CLIENT='tune 2097152 67108864 8 1 1'	# its socket shows the whole path

# run_replay COMMAND...: runs one command a line; one answer per "run" is in lines[]
run_replay() {
	local dir=$BUILD/unit asan plain
	plain=$(printf '%s\n' "$@" | "$dir/plain/wtune-replay") || return
	asan=$(printf '%s\n' "$@" | "$dir/asan/wtune-replay") || return
	[ "$plain" = "$asan" ] || { echo "builds differ"; return 1; }
	mapfile -t lines <<<"$plain"
	printf '%s\n' "$plain"
}

print_reason() { echo "${lines[$1]##*why=}"; }

@test "the stock window stays on a path that 2 MiB fill" {
	run_replay 'path 0.2 500' 'run 3'
	[ "$(get_value 0 max)" -eq $((2 * MiB)) ]
	[ "$(get_value 0 consumed)" -ge 1490000000 ]
}

@test "a path of 100 ms and 125 MB/s is filled by a window of one to three BDP" {
	run_replay 'path 100 125' 'run 3' 'run 15'
	[ "$(get_value 1 consumed)" -eq 1875000000 ]
	[ "$(get_value 1 window)" -gt 12500000 ]
	[ "$(get_value 1 window)" -le 37500000 ]
}

@test "slow start is not held up by the window" {
	run_replay 'path 100 125' 'run 2'
	tuned=$(get_value 0 consumed)
	run_replay 'tune 67108864 67108864 8' 'path 100 125' 'run 2'
	[ "$tuned" -ge $(($(get_value 0 consumed) * 95 / 100)) ]
}

@test "slow start on a path of a second is not held up by the window" {
	run_replay 'tune 2097152 268435456 8 1' 'memory 1000000000' 'path 1000 125' 'run 14'
	tuned=$(get_value 0 consumed)
	run_replay 'tune 268435456 268435456 8' 'path 1000 125' 'run 14'
	[ "$tuned" -ge $(($(get_value 0 consumed) * 95 / 100)) ]
}

@test "without a socket the credit at the window's edge reveals the path" {
	run_replay 'path 100 125' 'tcp off' 'run 3' 'run 4'
	[ "$(get_value 1 consumed)" -eq 500000000 ]
	[ "$(get_value 1 window)" -le 50000000 ]
}

@test "in a recorded slow start the late answer to the first probe counts" {
	run_replay "$(cat "$REGRESS/unit/wtune-proxy.trace")"
	[ "$(get_value 0 window)" -ge $((8 * MiB)) ]
	[ "$(get_value 1 window)" -ge 30000000 ]
	[ "$(get_value 1 max)" -le 41000000 ]
}

@test "credits younger than 20 ms start no probe" {
	run_replay 'path 18 160' 'tcp off' 'run 5'
	[ "$(get_value 0 max)" -eq $((2 * MiB)) ]
	run_replay 'path 24 160' 'tcp off' 'run 5'
	[ "$(get_value 0 max)" -gt $((2 * MiB)) ]
}

@test "the first probe quadruples the window without a socket and doubles it with one" {
	run_replay 'path 30 20' 'tcp off' 'run 10'
	[ "$(get_value 0 max)" -eq $((8 * MiB)) ]
	run_replay 'path 30 20' 'tcp 5' 'run 10'
	[ "$(get_value 0 max)" -eq $((4 * MiB)) ]
}

@test "a client without a socket probes and finds a threefold RTT" {
	run_replay 'tune 2097152 67108864 8 1' 'path 50 125' 'tcp off' 'run 3' \
	    'path 150 125' 'run 5' 'run 4'
	[ "$(get_value 2 consumed)" -ge 499000000 ]
}

@test "behind a jump host the age of credits overrides the socket's RTT of 0.2 ms" {
	run_replay 'path 100 125' 'tcp 0.2' 'run 3' 'run 4'
	[ "$(get_value 1 consumed)" -eq 500000000 ]
	[ "$(get_value 1 window)" -le 50000000 ]
}

@test "a probe without effect is withdrawn, and a smaller one follows after 5 s" {
	run_replay 'path 10 10' 'tcp off' 'run 4' 'run 1' 'run 30'
	[ "$(get_value 0 max)" -eq $((8 * MiB)) ]
	[ "$(get_value 1 max)" -eq $((2 * MiB)) ]
	[ "$(print_reason 1)" = "hold: more window brings nothing" ]
	[ "$(get_value 2 max)" -eq $((4 * MiB)) ]
	[ "$(get_value 2 consumed)" -eq 300000000 ]
}

@test "a probe of a sender that becomes slower is not repeated" {
	run_replay 'path 30 60' 'tcp off' 'run 6' 'sender 10' 'run 4' 'run 20'
	[ "$(get_value 2 max)" -eq $((2 * MiB)) ]
}

@test "a sender that becomes fast after a probe does not need its window" {
	run_replay 'path 5 125' 'tcp off' 'sender 1' 'run 5' 'sender fast' 'run 10'
	[ "$(get_value 0 window)" -eq $((8 * MiB)) ]
	[ "$(get_value 1 window)" -eq $((2 * MiB)) ]
}

@test "a sender that becomes fast while its old credit answers does not widen the window for good" {
	for slow in 7 11; do
		run_replay 'path 5 125' 'tcp off' 'sender 1' "run $slow" 'sender fast' 'run 5' 'run 5'
		[ "$(get_value 2 window)" -le $((8 * MiB)) ]
		[ "$(get_value 2 consumed)" -eq 625000000 ]
	done
	run_replay 'path 100 125' 'tcp off' 'sender 1' 'run 7' 'sender fast' 'run 5' 'run 5'
	[ "$(get_value 2 window)" -le 37500000 ]
	[ "$(get_value 2 consumed)" -eq 625000000 ]
	# An age below 20 ms is an answer as well.
	run_replay 'path 1 1000' 'tcp off' 'sender 1' 'run 7' 'sender fast' 'run 5'
	[ "$(get_value 1 window)" -eq $((2 * MiB)) ]
}

@test "a fourfold RTT is found although the socket reports the old one" {
	run_replay 'path 50 100' 'run 4' 'path 200 100' 'tcp 50 200' 'run 12' 'run 4'
	[ "$(get_value 2 consumed)" -ge 399000000 ]
}

@test "an RTT that rises while the sender is slow is found within a minute" {
	run_replay 'path 200 50' 'tcp off' 'sender 20' 'run 10' 'path 400 50' 'run 30' \
	    'sender fast' 'run 60' 'run 10'
	[ "$(get_value 3 consumed)" -eq 500000000 ]
	[ "$(get_value 3 window)" -le 60000000 ]
}

@test "an RTT that rises during the first probe is found" {
	run_replay 'path 100 300' 'tcp off' 'stall 210' 'run 1' 'path 200 300' 'run 12' 'run 5'
	[ "$(get_value 2 consumed)" -eq 1500000000 ]
}

@test "a filling queue is not mistaken for a longer path" {
	run_replay 'path 100 125' 'tcp path 101' 'run 20' 'tcp path 250' 'run 4'
	[ "$(get_value 1 max)" -le 37500000 ]
}

@test "a fourfold RTT is found without a socket" {
	run_replay 'path 50 100' 'tcp off' 'run 4' 'path 200 100' 'run 6' 'run 4'
	[ "$(get_value 2 consumed)" -ge 399000000 ]
}

@test "the window follows a tenfold rise of the rate" {
	run_replay 'path 100 10' 'run 4' 'path 100 100' 'run 4' 'run 3'
	[ "$(get_value 2 consumed)" -eq 300000000 ]
}

@test "a tenfold fall of the rate withdraws the window" {
	run_replay 'path 100 100' 'run 4' 'path 100 10' 'run 15' 'run 10'
	[ "$(get_value 0 max)" -gt 10000000 ]
	[ "$(get_value 2 window)" -le $((4 * MiB)) ]
	[ "$(get_value 2 consumed)" -eq 100000000 ]
}

@test "compressed acknowledgements do not inflate the window" {
	run_replay 'path 100 125' 'burst 20' 'run 4' 'run 20'
	[ "$(get_value 1 window)" -le 37500000 ]
	[ "$(get_value 1 consumed)" -ge 2495000000 ]
}

@test "the burst after a repaired loss is not mistaken for the rate of the path" {
	run_replay 'path 100 125' 'run 15' 'stall 300' 'run 2' 'run 30'
	[ "$(get_value 0 window)" -le 25000000 ]
	[ "$(get_value 1 max)" -le 50000000 ]
	[ "$(get_value 2 window)" -le 37500000 ]
}

@test "a path that always repairs loss is filled two round trips late" {
	run_replay 'tune 2097152 67108864 8 1' 'path 100 125' 'holes 200' 'run 4' \
	    'run 8'
	[ "$(get_value 1 consumed)" -ge $((950 * 1000000)) ]
	[ "$(get_value 1 window)" -ge 37500000 ]
}

@test "a hole that lasts three times as long as the last one stops nothing" {
	run_replay 'tune 2097152 268435456 8 1' 'path 100 125' 'holes 100' \
	    'run 4' 'holes 300' 'run 1'
	[ "$(get_value 1 consumed)" -ge 99900000 ]
}

@test "in a recording data that waits behind losses grows a limiting window" {
	local trace=$REGRESS/unit/wtune-loss.trace
	run_replay "$(cat "$trace")"
	[ "$(get_value 0 window)" -ge $((4 * MiB)) ]
	# the same samples without the bytes that wait behind losses
	run_replay "$(sed 's/^\(sample\( [0-9]*\)\{4\}\) [0-9]*$/\1/' "$trace")"
	[ "$(get_value 0 window)" -le $((3 * MiB)) ]
}

@test "after losses stop the window comes down to the BDP" {
	run_replay 'path 100 40' 'holes 300' 'run 8' 'run 8' 'holes 0' 'run 30'
	[ "$(get_value 1 consumed)" -eq 320000000 ]
	[ "$(get_value 1 window)" -ge 16000000 ]
	[ "$(get_value 1 max)" -le 32000000 ]
	[ "$(get_value 2 window)" -le 12000000 ]
}

@test "loss on a path that 2 MiB fill does not change the window" {
	run_replay 'tune 2097152 67108864 8 1' 'path 20 10' 'holes 40' 'run 10'
	[ "$(get_value 0 max)" -eq $((2 * MiB)) ]
	[ "$(get_value 0 consumed)" -ge 98000000 ]
}

# Twice for what waits behind the hole, and twice because the next may be longer
@test "a slow reader gets four times the window at most if the path loses data" {
	run_replay 'path 100 125' 'reader 20' 'run 5' 'run 20'
	clean=$(get_value 1 max)
	run_replay 'path 100 125' 'reader 20' 'holes 100' 'run 5' 'run 20'
	[ "$(print_reason 1)" = "hold: the reader lags" ]
	[ "$(get_value 1 max)" -le $((clean * 4)) ]
	[ "$(get_value 1 consumed)" -eq 400000000 ]
}

@test "a reader slower than 2 MiB per RTT is held at three times what it takes" {
	run_replay 'path 100 125' 'reader 20' 'run 5' 'run 20'
	[ "$(get_value 1 max)" -le $((3 * 20 * 100000)) ]
	[ "$(print_reason 1)" = "hold: the reader lags" ]
	[ "$(get_value 1 consumed)" -eq 400000000 ]
}

@test "a slow reader on a short path keeps the stock window" {
	run_replay 'path 0.2 1000' 'reader 100' 'run 8'
	[ "$(get_value 0 max)" -eq $((2 * MiB)) ]
	[ "$(get_value 0 consumed)" -ge 799000000 ]
}

@test "the window recovers after a slow reader speeds up during a withdrawal" {
	run_replay 'path 100 125' 'run 8' 'path 100 12' 'run 11' 'reader 6' 'run 10' \
	    'reader fast' 'path 100 125' 'run 5' 'run 3'
	[ "$(get_value 4 consumed)" -ge 370000000 ]
}

@test "a reader that stops receives at most one window, and then continues" {
	run_replay 'path 100 125' 'run 8' 'reader stop' 'run 4' 'reader fast' 'run 4'
	[ "$(get_value 1 backlog)" -le "$(get_value 0 window)" ]
	[ "$(get_value 1 max)" -eq "$(get_value 0 window)" ]
	[ "$(get_value 2 consumed)" -ge 400000000 ]
}

@test "the window shrinks after idling and grows again" {
	run_replay 'path 100 125' 'run 8' 'sender 0' 'run 20' 'sender 2' 'run 20' \
	    'sender fast' 'run 3'
	[ "$(get_value 2 window)" -le $((8 * MiB)) ]
	[ "$(get_value 3 consumed)" -ge 300000000 ]
}

@test "the window stops exactly at WindowMax" {
	run_replay 'tune 2097152 14680064 6' 'path 200 125' 'run 8'
	[ "$(get_value 0 window)" -eq 14680064 ]
	[ "$(print_reason 0)" = "hold: at the ceiling" ]
}

@test "a WindowMax of 2 MiB turns tuning off" {
	run_replay 'tune 2097152 2097152 8' 'path 200 125' 'run 5'
	[ "$(get_value 0 max)" -eq $((2 * MiB)) ]
}

# set_share TOTAL OTHERS: sets SHARE to the window of a channel that needs more than the
# memory that OTHERS leave
set_share() {
	run_replay "memory $1" "others $2" 'path 200 125' 'run 8'
	[ "$(print_reason 0)" = "hold: at its share of the memory" ]
	SHARE=$(get_value 0 max)
	[ "$(get_value 0 window)" -eq "$SHARE" ]
}

@test "a channel takes exactly half of what the others leave" {
	set_share $((16 * MiB)) 0
	[ "$SHARE" -eq $((9 * MiB)) ]
	set_share $((16 * MiB)) "$SHARE"
	[ "$SHARE" -eq $((9 * MiB / 2)) ]
	set_share $((16 * MiB)) $((14 * MiB))
	[ "$SHARE" -eq $((2 * MiB)) ]
}

@test "four channels with large windows leave the fifth its share of 256 MiB" {
	local others=0
	for _ in 64 64 64; do
		run_replay "memory $((256 * MiB))" "others $others" \
		    'path 500 125' 'run 20'
		[ "$(get_value 0 max)" -eq $((64 * MiB)) ]
		others=$((others + $(get_value 0 max)))
	done
	run_replay "memory $((256 * MiB))" "others $others" 'path 500 125' 'run 20'
	[ "$(get_value 0 max)" -eq $((33 * MiB)) ]
	set_share $((256 * MiB)) $((others + 33 * MiB))
	[ "$SHARE" -eq $((33 * MiB / 2)) ]
}

@test "memory that other channels give back is shared again" {
	run_replay "memory $((16 * MiB))" "others $((9 * MiB))" 'path 200 125' \
	    'run 5' 'others 0' 'run 5'
	[ "$(get_value 1 max)" -eq $((9 * MiB)) ]
}

@test "stream positions pass 2^32 without a jump of the window" {
	run_replay 'path 100 125' 'run 3' 'run 20'
	away=${lines[1]}
	run_replay 'start 2147483648' 'path 100 125' 'run 3' 'run 20'
	[ "${lines[1]}" = "$away" ]
}

# A queue: "tcp queue" lets the RTT of the socket show what waits before the link.

@test "the window is held near the BDP where more would wait in a queue" {
	for path in '60 25' '30 6' '200 25'; do
		run_replay "$CLIENT" "path $path" "tcp queue ${path% *}" 'run 14' 'run 10'
		[ "$(print_reason 1)" = "hold: more would wait in a queue" ]
		bdp=$((${path% *} * ${path#* } * 1000))
		[ "$(get_value 1 window)" -le $((bdp * 5 / 4 + 3 * 32768 + 50000)) ]
		[ "$(get_value 1 max)" -le $((bdp * 6 / 4 + 3 * 32768 + 50000)) ]	# a probe
		[ "$(get_value 1 consumed)" -ge $((${path#* } * 9900000)) ]
	done
}

# RTT in ms, MB/s, bytes that may wait, and the RTT that others may see beside a copy.
# 32 KiB packets take 52 ms on the last one.
QUEUES='60:25:4000000:80 20:125:8000000:30 30:6.25:1000000:45 15:2.5:500000:30 15:0.625:500000:52'

# run_queue SPEC 0|1 COMMAND...: 1 for AvoidBufferbloat yes; 6 s to settle, and 14 s that count
run_queue() {
	IFS=: read -r rtt rate queue most <<<"$1"
	run_replay "tune 2097152 67108864 8 1 $2" "path $rtt $rate" "queue $queue" \
	    "tcp queue $rtt" "${@:3}" 'run 6' 'run 14'
}

@test "others on a path with a long queue do not wait for a copy, and it loses no rate" {
	for spec in $QUEUES; do
		for cc in cubic bbr; do
			run_queue "$spec" 1 "sends $cc"
			[ "$(get_value 1 ping_ms)" -le "$most" ]
			awk -v got="$(get_value 1 consumed)" -v rate="$rate" \
			    'BEGIN { exit got < 0.98 * 14e6 * rate }'
		done
		# The model shows what happens without that.
		run_queue "$spec" 0 'sends cubic'
		[ "$(get_value 1 ping_ms)" -ge $((most * 13 / 10)) ]
	done
	# A window that limits keeps BBR in its startup.
	run_queue "${QUEUES%% *}" 0 'sends bbr'
	[ "$(get_value 1 ping_ms)" -ge 95 ]
}

@test "beside another cubic a copy gets what it would get without a held window" {
	for cc in cubic bbr; do
		for avoids in 1 0; do
			run_replay "tune 2097152 67108864 8 1 $avoids" 'path 60 25' 'queue 4000000' \
			    'tcp queue 60' "sends $cc" 'run 10' 'rival cubic' 'run 10' 'run 90'
			got[avoids]="$(get_value 1 consumed) $(get_value 2 consumed)"
		done
		[ "${got[1]% *}" -ge $((${got[0]% *} * 6 / 10)) ]
		[ "${got[1]#* }" -ge $((${got[0]#* } * 9 / 10)) ]
	done
}

@test "a path without a queue keeps the window of twice its BDP" {
	run_replay "$CLIENT" 'path 100 125' 'tcp path' 'run 20'
	before=${lines[0]}
	run_replay "$CLIENT" 'path 100 125' 'tcp path 120' 'run 20'
	[ "${lines[0]}" = "$before" ]
}

@test "a held window follows a path that becomes four times as fast" {
	run_replay "$CLIENT" 'path 60 25' 'tcp queue 60' 'run 10' 'path 60 100' 'run 1' 'run 5'
	[ "$(print_reason 0)" = "hold: more would wait in a queue" ]
	[ "$(get_value 1 consumed)" -ge 50000000 ]
	[ "$(get_value 2 consumed)" -ge 495000000 ]
}

@test "a held window follows a faster path, also where the RTT is never the smallest" {
	run_replay "$CLIENT" 'path 76 25' 'tcp queue 60' 'queue 4000000' 'run 14' 'path 76 100' \
	    'run 10' 'run 10'
	[ "$(print_reason 0)" = "hold: more would wait in a queue" ]
	[ "$(get_value 1 consumed)" -ge 740000000 ]
	[ "$(get_value 2 consumed)" -ge 990000000 ]
	run_replay "$CLIENT" 'path 84 100' 'tcp queue 60' 'queue 3000000' 'sends cubic' 'run 60' \
	    'path 84 200' 'run 15' 'run 15'
	[ "$(print_reason 0)" = "hold: more would wait in a queue" ]
	[ "$(get_value 2 consumed)" -ge 2700000000 ]
}

# sum_avoiding 0|1 COMMAND...: prints the sum of all runs, which 1 begins with AvoidBufferbloat
sum_avoiding() {
	run_replay "tune 2097152 67108864 8 1 $1" "${@:2}" >&2
	printf '%s\n' "${lines[@]}" |
	    awk -F'consumed=' '{ sum += $2 } END { printf "%d\n", sum }'
}

@test "a rate that alternates is not held at the lower one" {
	commands=('path 150 25' 'tcp queue 150' 'queue 3750000' 'sends bbr' 'run 12')
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		commands+=('rival 2625000' 'run 3' 'rival 0' 'run 3')
	done
	[ "$(sum_avoiding 1 "${commands[@]}")" -ge \
	    $(($(sum_avoiding 0 "${commands[@]}") * 95 / 100)) ]
}

@test "a held window that was too small is restored within two seconds" {
	# The RTT of seconds is that of a queue in the other direction.
	run_replay "$CLIENT" 'path 30 1' 'tcp 30 2000' 'run 3' 'path 2000 1' 'run 2'
	[ "$(print_reason 0)" = "hold: more would wait in a queue" ]
	[ "$(get_value 1 max)" -ge 288000 ]
}

@test "a slow line is spared as well" {
	for rate in 0.1 0.15 0.3; do
		run_replay "$CLIENT" "path 30 $rate" 'tcp queue 30' 'queue 256000' 'sends cubic' \
		    'run 60' 'run 30'
		[ "$(get_value 1 ping_ms)" -le 220 ]
		awk -v got="$(get_value 1 consumed)" -v rate="$rate" \
		    'BEGIN { exit got < 0.98 * 30e6 * rate }'
	done
	run_replay "$CLIENT" 'path 2 0.5' 'tcp queue 2' 'queue 100000' 'sends cubic' 'run 30' 'run 30'
	[ "$(get_value 1 ping_ms)" -le 50 ]
	[ "$(get_value 1 consumed)" -ge 14900000 ]
}

@test "a sender that pauses while its window is held gets it back at once" {
	run_replay "$CLIENT" 'path 60 25' 'tcp queue 60' 'queue 4000000' 'run 4' 'sender 1' 'run 2' \
	    'sender fast' 'run 1'
	[ "$(print_reason 0)" = "hold: more would wait in a queue" ]
	[ "$(get_value 2 consumed)" -ge 23000000 ]
}

@test "streams side by side withdraw their windows together" {
	for cc in 'cubic 2' 'cubic 3' 'bbr 2' 'bbr 4'; do
		run_replay "$CLIENT" 'path 60 25' 'tcp queue 60' 'queue 4000000' "sends ${cc% *}" \
		    "streams ${cc#* } 700" 'run 25' 'run 15'
		[ "$(get_value 1 ping_ms)" -le 86 ]
		[ "$(get_value 1 consumed)" -ge 374000000 ]
	done
	for gap in '3 5000' '4 2000'; do
		run_replay "$CLIENT" 'path 60 25' 'tcp queue 60' 'queue 4000000' 'sends cubic' \
		    "streams $gap" 'run 65' 'run 50'
		[ "$(get_value 1 ping_ms)" -le 86 ]
	done
}

@test "on a path that becomes longer a held window costs less than a fiftieth of the rate" {
	for avoids in 0 1; do
		run_replay "tune 2097152 67108864 8 1 $avoids" 'path 60 25' 'tcp queue 60' 'run 10' \
		    'path 150 25' 'run 5' 'run 120'
		early[avoids]=$(get_value 1 consumed) rest[avoids]=$(get_value 2 consumed)
	done
	[ "${early[1]}" -ge $((early[0] * 93 / 100)) ]
	[ "${rest[1]}" -ge $((rest[0] * 98 / 100)) ]
}

@test "a stream that keeps a queue full does not starve one that was held" {
	run_replay "$CLIENT" 'path 60 25' 'tcp path' 'run 10' 'rival 2000000' 'run 10' 'run 60'
	first=$(get_value 1 consumed) later=$(get_value 2 consumed)
	run_replay "$CLIENT" 'path 60 25' 'tcp queue 60' 'run 10' 'rival 2000000' 'run 10' 'run 60' \
	    'rival 0' 'run 100' 'run 10'
	[ "$(get_value 1 consumed)" -ge $((first * 93 / 100)) ]
	[ "$(get_value 2 consumed)" -ge $((later * 95 / 100)) ]
	# When that stream has ended, the window is held again.
	[ "$(print_reason 4)" = "hold: more would wait in a queue" ]
}

@test "loss that begins while the window is held costs a tenth of a second" {
	run_replay "$CLIENT" 'path 60 25' 'tcp queue 60' 'run 10' 'holes 60' 'run 1' 'run 10'
	[ "$(get_value 1 consumed)" -ge 22500000 ]
	[ "$(get_value 2 consumed)" -ge 249000000 ]
	# Here it begins while the window is withdrawn.
	run_replay "$CLIENT" 'path 300 25' 'tcp queue 300' 'queue 3750000' 'run 12' 'holes 600' 'run 30'
	[ "$(get_value 1 consumed)" -ge 720000000 ]
}

@test "a sender of little data beside a full queue keeps its window" {
	run_replay "$CLIENT" 'path 60 25' 'tcp queue 60' 'rival 4000000' 'sender 0.5' 'run 30'
	[ "$(get_value 0 window)" -ge $((2 * MiB)) ]
}

@test "a sender with little data does not get a large window" {
	run_replay 'path 100 125' 'tcp off' 'sender 1' 'run 40'
	[ "$(get_value 0 max)" -le $((8 * MiB)) ]
}

@test "a sender that the window limits is reported once, after a second" {
	run_replay 'limited 5000 1000 1'
	[ "${#lines[@]}" -eq 1 ]
	[ "$(get_value 0 after)" -eq 1005000 ]
}

@test "a sender that is limited for less than half of the time is not reported" {
	local moments=()
	for _ in {1..30}; do moments+=('limited 10000 20 1' 'limited 10000 30 0'); done
	none=$(run_replay "${moments[@]}")
	[ -z "$none" ]
	moments=()
	for _ in {1..30}; do moments+=('limited 10000 30 1' 'limited 10000 20 0'); done
	run_replay "${moments[@]}"
	[ "${#lines[@]}" -eq 1 ]
}

@test "a sender whose credit pauses for more than a second is not reported" {
	none=$(run_replay 'limited 1000001 60 1')
	[ -z "$none" ]
}

@test "a sender that is limited later is still reported" {
	run_replay 'limited 10000 3000 0' 'limited 10000 800 1'
	[ "${#lines[@]}" -eq 1 ]
}
