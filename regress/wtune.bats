#!/usr/bin/env bats
# The estimator and the tuner (channels/bdp.h, wtune.h) on paths made of text.
# Each scenario runs twice: plain, and under ASan and UBSan.

load helper

MiB=1048576

# replay COMMAND...: one command a line, one answer per "run", in lines[]
replay() {
	local dir=$BUILD/unit asan plain
	plain=$(printf '%s\n' "$@" | "$dir/plain/wtune-replay") || return
	asan=$(printf '%s\n' "$@" | "$dir/asan/wtune-replay") || return
	[ "$plain" = "$asan" ] || { echo "builds differ"; return 1; }
	mapfile -t lines <<<"$plain"
	printf '%s\n' "$plain"
}

# of RUN KEY: what a run answered
of() { sed -n "s/^\(.* \)\{0,1\}$2=\([^ ]*\).*/\2/p" <<<"${lines[$1]}"; }
why() { sed 's/.*why=//' <<<"${lines[$1]}"; }

@test "a path that 2 MiB fill keeps the stock window" {
	replay 'path 0.2 500' 'run 3'
	[ "$(of 0 max)" -eq $((2 * MiB)) ]
	[ "$(of 0 taken)" -ge 1490000000 ]
}

@test "100 ms at 125 MB/s are filled, and end between one and three BDP" {
	replay 'path 100 125' 'run 3' 'run 15'
	[ "$(of 1 taken)" -eq 1875000000 ]
	[ "$(of 1 window)" -gt 12500000 ]
	[ "$(of 1 window)" -le 37500000 ]
}

@test "slow start is not held up: two BDP arrive as fast as with any window" {
	replay 'path 100 125' 'run 2'
	tuned=$(of 0 taken)
	replay 'tune 67108864 67108864 8' 'path 100 125' 'run 2'
	[ "$tuned" -ge $(($(of 0 taken) * 95 / 100)) ]
}

@test "with no socket to ask, the edge of the window finds the path" {
	replay 'path 100 125' 'tcp off' 'run 3' 'run 4'
	[ "$(of 1 taken)" -eq 500000000 ]
	[ "$(of 1 window)" -le 50000000 ]
}

@test "recorded: slow start answers the first question late, and it counts" {
	replay "$(cat "$REGRESS/unit/wtune-proxy.trace")"
	[ "$(of 0 window)" -ge $((8 * MiB)) ]
	[ "$(of 1 window)" -ge 30000000 ]
	[ "$(of 1 max)" -le 41000000 ]
}

@test "credits younger than 20 ms ask nothing" {
	replay 'path 18 160' 'tcp off' 'run 5'
	[ "$(of 0 max)" -eq $((2 * MiB)) ]
	replay 'path 24 160' 'tcp off' 'run 5'
	[ "$(of 0 max)" -gt $((2 * MiB)) ]
}

@test "the first question is fourfold without a socket, else twofold" {
	replay 'path 30 20' 'tcp off' 'run 10'
	[ "$(of 0 max)" -eq $((8 * MiB)) ]
	replay 'path 30 20' 'tcp 5' 'run 10'
	[ "$(of 0 max)" -eq $((4 * MiB)) ]
}

@test "a client without a socket asks, though its socket would be the path" {
	replay 'tune 2097152 67108864 8 1' 'path 50 125' 'tcp off' 'run 3' \
	    'path 150 125' 'run 5' 'run 4'
	[ "$(of 2 taken)" -ge 499000000 ]
}

@test "behind a jump host the credits overrule the socket's 0.2 ms" {
	replay 'path 100 125' 'tcp 0.2' 'run 3' 'run 4'
	[ "$(of 1 taken)" -eq 500000000 ]
	[ "$(of 1 window)" -le 50000000 ]
}

@test "a question that brings nothing is taken back, and not asked again" {
	replay 'path 10 10' 'tcp off' 'run 4' 'run 30'
	[ "$(of 0 max)" -eq $((8 * MiB)) ]
	[ "$(of 1 max)" -eq $((2 * MiB)) ]
	[ "$(why 1)" = "hold: more window brings nothing" ]
}

@test "an RTT that quadruples is found although the socket keeps the old one" {
	replay 'path 50 100' 'run 4' 'path 200 100' 'tcp 50 200' 'run 12' 'run 4'
	[ "$(of 2 taken)" -ge 399000000 ]
}

@test "a queue that fills is not taken for a longer path" {
	replay 'path 100 125' 'tcp path 101' 'run 20' 'tcp path 250' 'run 4'
	[ "$(of 1 max)" -le 37500000 ]
}

@test "an RTT that quadruples is found without a socket" {
	replay 'path 50 100' 'tcp off' 'run 4' 'path 200 100' 'run 6' 'run 4'
	[ "$(of 2 taken)" -ge 399000000 ]
}

@test "a rate that rises tenfold is followed" {
	replay 'path 100 10' 'run 4' 'path 100 100' 'run 4' 'run 3'
	[ "$(of 2 taken)" -eq 300000000 ]
}

@test "a rate that falls tenfold withdraws the window" {
	replay 'path 100 100' 'run 4' 'path 100 10' 'run 15' 'run 10'
	[ "$(of 0 max)" -gt 10000000 ]
	[ "$(of 2 window)" -le $((4 * MiB)) ]
	[ "$(of 2 taken)" -eq 100000000 ]
}

@test "acknowledgements that come compressed do not inflate the window" {
	replay 'path 100 125' 'burst 20' 'run 4' 'run 20'
	[ "$(of 1 window)" -le 37500000 ]
	[ "$(of 1 taken)" -ge 2495000000 ]
}

@test "a leap after a loss is not taken for the rate of the path" {
	replay 'path 100 125' 'run 15' 'stall 300' 'run 2' 'run 30'
	[ "$(of 0 window)" -le 25000000 ]
	[ "$(of 1 max)" -le 50000000 ]
	[ "$(of 2 window)" -le 37500000 ]
}

@test "a path that always repairs loss is filled, two round trips late" {
	replay 'tune 2097152 67108864 8 1' 'path 100 125' 'holes 200' 'run 4' \
	    'run 8'
	[ "$(of 1 taken)" -ge $((950 * 1000000)) ]
	[ "$(of 1 window)" -ge 37500000 ]
}

@test "recorded: what waits behind losses grows a window that limits" {
	local trace=$REGRESS/unit/wtune-loss.trace
	replay "$(cat "$trace")"
	[ "$(of 0 window)" -ge $((4 * MiB)) ]
	# the same moments, and nothing known of what waits
	replay "$(sed 's/^\(sample\( [0-9]*\)\{4\}\) [0-9]*$/\1/' "$trace")"
	[ "$(of 0 window)" -le $((3 * MiB)) ]
}

@test "what waits behind losses ends, and the window comes down to the BDP" {
	replay 'path 100 40' 'holes 300' 'run 8' 'run 8' 'holes 0' 'run 30'
	[ "$(of 1 taken)" -eq 320000000 ]
	[ "$(of 1 window)" -ge 16000000 ]
	[ "$(of 1 max)" -le 32000000 ]
	[ "$(of 2 window)" -le 12000000 ]
}

@test "loss on a path that 2 MiB fill changes nothing" {
	replay 'tune 2097152 67108864 8 1' 'path 20 10' 'holes 40' 'run 10'
	[ "$(of 0 max)" -eq $((2 * MiB)) ]
	[ "$(of 0 taken)" -ge 98000000 ]
}

@test "a slow reader on a lossy path gets no more window than on a clean one" {
	replay 'path 100 125' 'reader 20' 'run 5' 'run 20'
	clean=$(of 1 max)
	replay 'path 100 125' 'reader 20' 'holes 100' 'run 5' 'run 20'
	[ "$(why 1)" = "hold: the reader lags" ]
	[ "$(of 1 max)" -le $((clean * 2)) ]
	[ "$(of 1 taken)" -eq 400000000 ]
}

@test "a reader slower than 2 MiB per RTT is held at three times what it takes" {
	replay 'path 100 125' 'reader 20' 'run 5' 'run 20'
	[ "$(of 1 max)" -le $((3 * 20 * 100000)) ]
	[ "$(why 1)" = "hold: the reader lags" ]
	[ "$(of 1 taken)" -eq 400000000 ]
}

@test "a slow reader on a short path keeps the stock window" {
	replay 'path 0.2 1000' 'reader 100' 'run 8'
	[ "$(of 0 max)" -eq $((2 * MiB)) ]
	[ "$(of 0 taken)" -ge 799000000 ]
}

@test "a reader that lagged while the window was withdrawn is followed again" {
	replay 'path 100 125' 'run 8' 'path 100 12' 'run 11' 'reader 6' 'run 10' \
	    'reader fast' 'path 100 125' 'run 5' 'run 3'
	[ "$(of 4 taken)" -ge 370000000 ]
}

@test "a reader that stops is sent one window and no more, and goes on" {
	replay 'path 100 125' 'run 8' 'reader stop' 'run 4' 'reader fast' 'run 4'
	[ "$(of 1 backlog)" -le "$(of 0 window)" ]
	[ "$(of 1 max)" -eq "$(of 0 window)" ]
	[ "$(of 2 taken)" -ge 400000000 ]
}

@test "after idling the window comes back down, and up again" {
	replay 'path 100 125' 'run 8' 'sender 0' 'run 20' 'sender 2' 'run 20' \
	    'sender fast' 'run 3'
	[ "$(of 2 window)" -le $((8 * MiB)) ]
	[ "$(of 3 taken)" -ge 300000000 ]
}

@test "the window stops exactly at its ceiling" {
	replay 'tune 2097152 14680064 6' 'path 200 125' 'run 8'
	[ "$(of 0 window)" -eq 14680064 ]
	[ "$(why 0)" = "hold: at the ceiling" ]
}

@test "a ceiling at the floor turns tuning off" {
	replay 'tune 2097152 2097152 8' 'path 200 125' 'run 5'
	[ "$(of 0 max)" -eq $((2 * MiB)) ]
}

# share TOTAL OTHERS: the window of one that wants more, others holding so much
share() {
	replay "memory $1" "others $2" 'path 200 125' 'run 8'
	[ "$(why 0)" = "hold: at its share of the memory" ]
	SHARE=$(of 0 max)
	[ "$(of 0 window)" -eq "$SHARE" ]
}

@test "a channel takes half of what the others leave, to the byte" {
	share $((16 * MiB)) 0
	[ "$SHARE" -eq $((9 * MiB)) ]
	share $((16 * MiB)) "$SHARE"
	[ "$SHARE" -eq $((9 * MiB / 2)) ]
	share $((16 * MiB)) $((14 * MiB))
	[ "$SHARE" -eq $((2 * MiB)) ]
}

@test "four that took 64 MiB each leave the fifth its share of 256 MiB" {
	local n others=0
	for n in 64 64 64; do
		replay "memory $((256 * MiB))" "others $others" \
		    'path 500 125' 'run 20'
		[ "$(of 0 max)" -eq $((64 * MiB)) ]
		others=$((others + $(of 0 max)))
	done
	replay "memory $((256 * MiB))" "others $others" 'path 500 125' 'run 20'
	[ "$(of 0 max)" -eq $((33 * MiB)) ]
	share $((256 * MiB)) $((others + 33 * MiB))
	[ "$SHARE" -eq $((33 * MiB / 2)) ]
}

@test "what others give back is shared again" {
	replay "memory $((16 * MiB))" "others $((9 * MiB))" 'path 200 125' \
	    'run 5' 'others 0' 'run 5'
	[ "$(of 1 max)" -eq $((9 * MiB)) ]
}

@test "stream positions pass 2^32 without a step" {
	replay 'path 100 125' 'run 3' 'run 20'
	away=${lines[1]}
	replay 'start 2147483648' 'path 100 125' 'run 3' 'run 20'
	[ "${lines[1]}" = "$away" ]
}

@test "a sender with little to say is not given much" {
	replay 'path 100 125' 'tcp off' 'sender 1' 'run 40'
	[ "$(of 0 max)" -le $((8 * MiB)) ]
}

@test "a sender that starves says so after a second, and once" {
	replay 'starve 5000 1000 1'
	[ "${#lines[@]}" -eq 1 ]
	[ "$(of 0 after)" -eq 1005000 ]
}

@test "a sender that starves less than half of the time says nothing" {
	local moments=()
	for _ in {1..30}; do moments+=('starve 10000 20 1' 'starve 10000 30 0'); done
	[ -z "$(replay "${moments[@]}")" ]
	moments=()
	for _ in {1..30}; do moments+=('starve 10000 30 1' 'starve 10000 20 0'); done
	replay "${moments[@]}"
	[ "${#lines[@]}" -eq 1 ]
}

@test "a sender whose credit stays away for longer than a second says nothing" {
	[ -z "$(replay 'starve 1000001 60 1')" ]
}

@test "a sender that did not starve at first is heard all the same" {
	replay 'starve 10000 3000 0' 'starve 10000 800 1'
	[ "${#lines[@]}" -eq 1 ]
}
