#!/usr/bin/env bats
# Needs: hayate stock path timed
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# The benchmark (bench/run): its arithmetic on recorded runs, its clock, and
# all of it once in the smallest form. No number that it prints is judged here.

load ../helper

setup_file() {
	export METER=$BATS_FILE_TMPDIR/meter
	${CC:-cc} -O2 -Wall -Wextra -o "$METER" "$REGRESS/bench/meter.c"
}

setup() {
	STATS=$REGRESS/bench/stats.py
	export TMPDIR=$BATS_TEST_TMPDIR BENCH_DATA=$BATS_TEST_TMPDIR
}

# add_runs PROGRAM MODE SECONDS...: adds runs of 1 GB, of which login takes 1 s
add_runs() {
	local s f=$BATS_TEST_TMPDIR/recorded.tsv target=-
	[ -s "$f" ] || printf '%s\t' date commit builds version libcrypto kernel \
	    cpu cores loadavg place cc rtt_ms rate loss cipher window streams \
	    load cell program mode direction bytes seconds login login_near \
	    login_far cpu_near cpu_far kib ms status target procs >"$f"
	if [ "$1" = hayate ]; then target='rate>=0.95*iperf3,rate>=1*stock~'; fi
	for s in "${@:3}"; do
		printf '\n'
		printf '%s\t' - - - - - - - - - path cubic 100 1gbit 0 - - 1 - \
		    path "$1" "$2" get 1000000000 "$s" 1 0.5 0.25 2 3 - - 0 \
		    "$target" -
	done >>"$f"
}

# print_verdict REFERENCE: prints the verdict in the table on that target
print_verdict() {
	python3 "$STATS" table "$BATS_TEST_TMPDIR/recorded.tsv" |
	    sed -n "s/.*hayate.*=[0-9.]*[*]$1~\{0,1\}  *//p"
}

@test "median, percentile, noise and verdict equal values computed by hand" {
	run -0 python3 "$STATS" --selftest
	[ "${#lines[@]}" -ge 4 ]
	[ "$(printf '%s\n' 9 1 5 | python3 "$STATS" median)" = 5.000000 ]
	[ "$(seq 0 200 | python3 "$STATS" quantile 0.95)" = 190.000000 ]
}

@test "login time is subtracted, and a missed target is reported with its margin" {
	add_runs iperf3 iperf3 10 10 10		# 111 MB/s net of its 1 s
	add_runs stock 'ssh cat' 51 51 51		# 20
	add_runs hayate 'ssh cat' 11 11 11	# 100
	[ "$(print_verdict iperf3)" = 'missed by 5.3 %' ]
	[ "$(print_verdict stock)" = met ]
	run -0 python3 "$STATS" table "$BATS_TEST_TMPDIR/recorded.tsv"
	[[ $output =~ hayate\ +3\ +11.00\ +100.0\ +100.0\ +100.0..100.0 ]]
	[[ $output =~ 1.50\+2.75\ +5.00\ +0.90 ]]
}

@test "a comparison within the noise is called void" {
	add_runs iperf3 iperf3 6 10 21
	add_runs stock 'ssh cat' 6 10 21
	add_runs hayate 'ssh cat' 6 11 21
	[ "$(print_verdict iperf3)" = 'missed by 5.3 % (void)' ]
	[ "$(print_verdict stock)" = 'met within noise' ]
}

@test "a failed run is reported and not counted" {
	add_runs iperf3 iperf3 10
	add_runs hayate 'ssh cat' 10 10
	sed -i '$s/\t0\trate/\t255\trate/' "$BATS_TEST_TMPDIR/recorded.tsv"
	[ "$(print_verdict iperf3)" = 'met 1 failed' ]
	[ "$(print_verdict stock)" = 'no stock 1 failed' ]
}

@test "the meter times the whole process and passes its status on" {
	read -r seconds near far kib status < <("$METER" run sh -c 'sleep 0.3; exit 7')
	check_true "$seconds >= 0.3 && $near < 0.3 && $far == 0 && $kib > 0"
	[ "$status" = 7 ]
	read -r _ _ _ _ status < <("$METER" run -t 1 sleep 30)
	[ "$status" = 143 ]
}

@test "the meter adds the CPU time of a server's children to the server" {
	local pid burn='i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
	mkfifo "$BATS_TEST_TMPDIR/ask"
	bash -c "while read -r _ <'$BATS_TEST_TMPDIR/ask'; do ( $burn ) & wait; done" \
	    3>&- &
	pid=$!
	read -r _ near far _ _ < <("$METER" run -f $pid -- \
	    sh -c "echo >'$BATS_TEST_TMPDIR/ask'; sleep 0.2")
	kill $pid
	check_true "$far > $near"
}

@test "the slow reader reads at the configured rate" {
	read -r seconds _ < <("$METER" run -r 10e6 head -c 3000000 /dev/zero)
	check_true "$seconds >= 0.28"
}

@test "the smallest benchmark measures every job and leaves only its results behind" {
	run -0 --separate-stderr "$REGRESS/bench/run" \
	    --only loopback --runs 1 --bytes 1M --out "$BATS_TEST_TMPDIR/out"
	[[ $output =~ target\ +verdict ]]
	local tsv=("$BATS_TEST_TMPDIR"/out/*.tsv)
	[ "$(ls "$BATS_TEST_TMPDIR/out" | wc -l)" = 2 ]
	awk -F'\t' '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = NF; next }
	NF != n || $at["status"] != 0 { print; bad = 1 }
	$at["program"] ~ /stock|hayate/ && $at["cipher"] !~ /[a-z]/ { bad = 1 }
	{ rows[$at["program"]]++ }
	END { exit bad || rows["stock"] != 7 || rows["hayate"] != 7 }' "${tsv[0]}"
	run ! ls -d "$BATS_TEST_TMPDIR"/lab.*
}

@test "an unknown cell is refused before anything starts" {
	run -1 "$REGRESS/bench/run" --only loopback,nonsense
	[[ $output = *'no cell nonsense'* ]]
	run -0 "$REGRESS/bench/run" --list
	[[ $output = *loopback* ]]
}

@test "without TUN the demo reports that and prints no figure" {
	local hidden=()
	((EUID)) || hidden=(unshare -m sh -c \
	    'mount -t tmpfs none /dev/net && exec "$@"' --)
	run -0 env DEMO_BYTES=1048576 "${hidden[@]}" "$REGRESS/demo-transfer"
	[[ $output = *'No emulated path here'* ]]
	[[ $output = *'NOTHING about speed'* ]]
	[[ $output = *'bytes identical'* ]]
	run ! ls -d "$BATS_TEST_TMPDIR"/lab.*
}
