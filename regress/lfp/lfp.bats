#!/usr/bin/env bats
# Needs: path timed
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# The long fat path (regress/lfp): its delay, rate, loss and queue, measured by
# ping, iperf3 and IP timestamps.
#
# The ends run at a raised priority: what is under test is the path, not the
# share of a busy machine they get. (Not at a real-time one: an iperf3 that
# polls would keep the path itself off the processor.)

load ../helper

# Percentiles 0.5 % and 99.5 % of the normal distribution.
Z=2.576

setup() {
	need_path
	for cmd in iperf3 jq ping; do
		command -v $cmd >/dev/null || skip "no $cmd"
	done
	first=(timeout -k 1 60 nice -n -15)
	P=t$$-$BATS_TEST_NUMBER
	paths=()
}

teardown() {
	local p rc=0
	for p in "${paths[@]}"; do
		[ ! -d "/run/lfp/$p" ] || "$LFP" down "$p" || rc=1
	done
	return $rc
}

# make_path NAME OPTION...: makes a path that teardown removes
make_path() {
	paths+=("$1")
	"$LFP" up "$@" 3>&-
}

run_at() { "$LFP" exec "$@"; }

# query_path FWD|BACK KEY
query_path() { "$LFP" stat "$P" "$@"; }

is_listening() { [ -n "$(run_at "$1" b ss -Htln "sport = :$2")" ]; }

# start_iperf NAME: starts an iperf3 at b
start_iperf() {
	"${first[@]}" "$LFP" exec "$1" b iperf3 -s -J >/dev/null 2>&1 3>&- &
	poll 10 is_listening "$1" 5201
}

# run_iperf NAME ARGUMENT...: prints its JSON report
run_iperf() { "${first[@]}" "$LFP" exec "$1" a iperf3 -c 10.77.0.2 -J "${@:2}" 3>&-; }

# measure_rtt NAME: prints the least of ten, ms
measure_rtt() { run_at "$1" a "${first[@]}" ping -nc 10 -i 0.02 10.77.0.2 |
    sed -n 's/.*time=\([0-9.]*\) ms/\1/p' | sort -n | head -1; }

# find_deviation N P [BURST]: prints the deviation of a share of P in N that 99 % of
# samples keep to; losses in bursts vary as if there were fewer of them
find_deviation() { awk -v n="$1" -v p="$2" -v b="${3:-1}" -v z=$Z \
    'BEGIN { print z * sqrt(p * (1 - p) / n * (2 * b - 1)) }'; }

@test "lfp.c compiles without a warning" {
	"${CC:-cc}" -O2 -Wall -Wextra -Werror -o "$BATS_TEST_TMPDIR/lfp" \
	    "${LFP%/*}/lfp.c"
}

@test "ping measures the configured round trip within 1 ms or 2 %" {
	make_path "$P" --rtt 24ms --rate 1gbit
	for ms in 24 100 200; do
		"$LFP" set "$P" --rtt ${ms}ms
		got=$(measure_rtt "$P")
		check_true "$got >= $ms && $got <= $ms + ($ms > 50 ? $ms / 50 : 1)"
	done
}

@test "IP timestamps show that each direction has its own delay" {
	make_path "$P" --delay-fwd 80ms --delay-back 20ms
	run -0 run_at "$P" a ping -nc 1 -T tsonly 10.77.0.2
	# TS: sent, then the differences: received, answered, back
	there=$(sed -n '/TS:/{n;s/[^0-9]//gp}' <<<"$output")
	back=$(sed -n '/TS:/{n;n;n;s/[^0-9]//gp}' <<<"$output")
	# Each stamp is cut to whole milliseconds, of a clock that may be slewed.
	check_true "$there >= 79 && $there <= 82"
	check_true "$back >= 19 && $back <= 22"
}

# measure_steady NAME SECONDS: prints the Mbit/s of payload received, median of the last
# three whole seconds
measure_steady() {
	run_iperf "$1" -t "$2" --get-server-output |
	    jq '[.server_output_json.intervals[].sum
	    | select(.seconds > 0.9).bits_per_second / 1e6][-3:] | sort[1]'
}

# check_goodput RTT SECONDS: measures cubic and BBR at once. One that a busy machine has
# slowed is measured again, by itself. LFP_RATE, in Mbit/s, is what any machine can send;
# with 1000 the test judges the machine as well.
check_goodput() {
	local cc got rate=${LFP_RATE:-200} pid=()
	for cc in cubic bbr; do
		make_path "$P-$cc" --rtt "$1" --rate "${rate}mbit" --cc $cc
		start_iperf "$P-$cc"
		measure_steady "$P-$cc" "$2" >"$BATS_TEST_TMPDIR/$cc" &
		pid+=($!)
	done
	wait "${pid[0]}" && wait "${pid[1]}"
	for cc in cubic bbr; do
		got=$(<"$BATS_TEST_TMPDIR/$cc")
		echo "$1 $cc: $got Mbit/s"
		"$LFP" stat "$P-$cc"
		check_true "$got >= 0.95 * $rate" || got=$(measure_steady "$P-$cc" "$2")
		check_true "$got >= 0.95 * $rate && $got <= $rate"
	done
}

@test "goodput with cubic and BBR is within 5 % of the rate at 24 ms" {
	check_goodput 24ms 4
}

@test "goodput with cubic and BBR is within 5 % of the rate at 100 ms" {
	check_goodput 100ms 6
}

@test "goodput with cubic and BBR is within 5 % of the rate at 200 ms" {
	check_goodput 200ms 8
}

@test "each direction has its own rate" {
	make_path "$P" --rtt 10ms --rate 100mbit --rate-back 20mbit
	start_iperf "$P"
	fwd=$(run_iperf "$P" -t 2 | jq '.end.sum_received.bits_per_second / 1e6')
	back=$(run_iperf "$P" -R -t 2 | jq '.end.sum_received.bits_per_second / 1e6')
	check_true "$fwd > 90 && $fwd < 100 && $back > 18 && $back < 20"
}

@test "the loss rate lies in its 99 % interval, and iperf3 counts the same losses" {
	make_path "$P" --rtt 2ms --loss-fwd 1% --seed 1
	start_iperf "$P"
	"$LFP" clear "$P"
	run_iperf "$P" -u -b 120M -l 1400 -w 2M -t 3 >"$BATS_TEST_TMPDIR/json"
	n=$(jq .end.sum.packets "$BATS_TEST_TMPDIR/json")
	missed=$(jq .end.sum.lost_packets "$BATS_TEST_TMPDIR/json")
	lost=$(query_path fwd lost)
	full=$(run_at "$P" b nstat -azs UdpRcvbufErrors | awk '/^Udp/ { print $2 }')
	echo "of $n lost $lost, missed $missed, socket full $full"
	check_true "$n > 20000 && ($lost / $n - 0.01) ^ 2 < $(find_deviation "$n" 0.01) ^ 2"
	# the last packets are missed by nobody
	check_true "$missed - $full <= $lost && $missed - $full >= $lost - 5"
	[ "$(query_path back lost)" = 0 ]
}

# count_missing: prints "lost bursts" of ping's sequence numbers
count_missing() { awk -v n="$1" '/icmp_seq/ {
	sub(/.*icmp_seq=/, ""); got[$1 + 0] = 1 }
	END { for (i = 1; i <= n; i++) {
		if (!got[i]) { lost++; if (i == 1 || got[i - 1]) b++ } }
	print lost + 0, b + 0 }'; }

# run_ping NAME N: sends as fast as replies return, so that losses come soon and no reply
# waits for room in ping's socket, on a busy machine as well
run_ping() {
	run_at "$1" a "${first[@]}" ping -nc "$2" -l 50 -i 0 -W 3 10.77.0.2
}

@test "losses come in bursts of the configured mean, and ping misses the same packets" {
	make_path "$P" --rtt 2ms --loss-fwd 10% --burst 4 --seed 2
	"$LFP" clear "$P"
	read -r lost bursts < <(run_ping "$P" 4000 | count_missing 4000)
	echo "lost $lost in $bursts bursts"
	[ "$(query_path fwd lost) $(query_path fwd bursts)" = "$lost $bursts" ]
	check_true "($lost / 4000 - 0.1) ^ 2 < $(find_deviation 4000 0.1 4) ^ 2"
	# a geometric length of mean 4 has the deviation sqrt(4 * 3)
	check_true "($lost / $bursts - 4) ^ 2 < ($Z * sqrt(12 / $bursts)) ^ 2"
}

@test "the same seed gives the same losses" {
	make_path "$P" --rtt 2ms --loss-fwd 20%
	for run in 1 2 3; do
		"$LFP" set "$P" --seed $((run / 3 + 7))
		run_ping "$P" 300 | grep -o 'icmp_seq=[0-9]*' | head -n 200 \
		    >"$BATS_TEST_TMPDIR/$run"
	done
	cmp "$BATS_TEST_TMPDIR/1" "$BATS_TEST_TMPDIR/2"
	run -1 cmp -s "$BATS_TEST_TMPDIR/1" "$BATS_TEST_TMPDIR/3"
}

@test "one lost segment of a large packet costs one segment" {
	make_path "$P" --rtt 20ms --rate 500mbit --queue 50MB --loss-fwd 0.2% --cc bbr
	start_iperf "$P"
	"$LFP" clear "$P"
	again=$(run_iperf "$P" -t 3 | jq .end.sum_sent.retransmits)
	lost=$(query_path fwd lost) n=$(query_path fwd packets)
	echo "of $n lost $lost, sent again $again"
	"$LFP" stat "$P"
	check_true "$(query_path fwd split) > 0 && $(query_path fwd qdrop) == 0"
	check_true "$again >= 0.9 * $lost && $again <= 1.1 * $lost + 5"
	check_true "($lost / $n - 0.002) ^ 2 < $(find_deviation "$n" 0.002) ^ 2"
}

# transfer_file ADDRESS: sends 8 MiB from a to b, and compares
transfer_file() {
	rm -f "$BATS_TEST_TMPDIR/got"
	run_at "$P" b perl -MIO::Socket::IP -e '
	    $l = IO::Socket::IP->new(LocalAddr => $ARGV[0], LocalPort => 7,
	    Listen => 1) or die; $c = $l->accept; print while
	    sysread $c, $_, 1 << 20' "$1" >"$BATS_TEST_TMPDIR/got" 3>&- &
	poll 10 is_listening "$P" 7
	run_at "$P" a bash -c "cat >/dev/tcp/$1/7" <"$BATS_TEST_TMPDIR/sent"
	wait $!
	cmp "$BATS_TEST_TMPDIR/sent" "$BATS_TEST_TMPDIR/got"
}

@test "segmentation of large packets keeps the bytes intact over IPv4 and IPv6" {
	command -v perl >/dev/null || skip "no perl"
	make_path "$P" --rtt 4ms --rate 100mbit --loss 1% --burst 2 --cc bbr
	head -c 8388608 /dev/urandom >"$BATS_TEST_TMPDIR/sent"
	for addr in 10.77.0.2 fd77::2; do
		"$LFP" clear "$P"
		transfer_file $addr
		check_true "$(query_path fwd split) > 10 && $(query_path fwd lost) > 10"
	done
}

@test "a full queue adds its length divided by the rate to ping, and no more" {
	# 100 kB at 20 Mbit/s: 40 ms. Ten pings may wait for a busy machine.
	make_path "$P" --rtt 20ms --rate 20mbit --queue 100kB --cc cubic
	start_iperf "$P"
	run_iperf "$P" -t 4 >/dev/null &
	poll 5 eval '[ "$(query_path fwd qdrop)" -gt 0 ]'
	worst=$(run_at "$P" a ping -nc 100 -i 0.02 10.77.0.2 |
	    sed -n 's/.*time=\([0-9.]*\) ms/\1/p' | sort -n | tail -10 | head -1)
	wait $!
	echo "90 of 100 within $worst ms, largest backlog $(query_path fwd qmax)"
	check_true "$worst > 20 + 40 * 0.7 && $worst <= 20 + 40 + 1"
	check_true "$(query_path fwd qmax) <= 100000"
}

# read_sent: prints the bytes written to b and the emulator's clock in us, of one moment
read_sent() { query_path fwd | sed 's/.* sent_bytes=\([0-9]*\).* clock_us=\([0-9]*\).*/\1 \2/'; }

# measure_speed: prints the Mbit/s that b is sent, over half a second after a tenth
measure_speed() {
	local b0 t0 b1 t1
	read -r b1 t1 < <(read_sent)
	for wait in 100000 500000; do
		b0=$b1 t0=$t1
		until [ $((t1 - t0)) -gt $wait ]; do
			read -r b1 t1 < <(read_sent)
		done
	done
	echo $(((b1 - b0) * 8 / (t1 - t0)))
}

list_connections() { run_at "$P" a ss -Htn state established dport = :5201; }

@test "rate and delay change while connections stay open" {
	make_path "$P" --rtt 10ms --rate 100mbit --queue 1MB --cc cubic
	start_iperf "$P"
	run_iperf "$P" -t 30 >/dev/null 2>&1 &
	poll 5 eval '[ "$(query_path fwd backlog)" -gt 0 ]'
	ports=$(list_connections | awk '{ print $3 }' | sort)
	before=$(measure_speed)
	"$LFP" set "$P" --rate-fwd 30mbit --rtt 30ms
	after=$(measure_speed)
	"$LFP" set "$P" --rate 200mbit
	echo "$before, $after Mbit/s"
	check_true "$before >= 95 && $before <= 102 && $after >= 28 && $after <= 31"
	poll 10 eval '[ "$(measure_speed)" -gt 150 ]'
	[ "$(list_connections | awk '{ print $3 }' | sort)" = "$ports" ]
	check_true "$(measure_rtt "$P") >= 30"
}

@test "the netem backend accepts the same options and keeps the round trip" {
	unshare -n tc qdisc add dev lo root netem 2>/dev/null ||
	    skip "no netem in this kernel"
	make_path "$P" --emulator netem --rtt 24ms --rate 100mbit --loss 0.1% --burst 2
	"$LFP" set "$P" --rtt 40ms --loss 0
	got=$(measure_rtt "$P")
	check_true "$got >= 40 && $got <= 41"
}

# start_echo PORT NODELAY: starts a server at b that sends back what it receives, line by
# line
start_echo() {
	run_at "$P" b perl -MIO::Socket::INET -MSocket=:all -e '
	    $l = IO::Socket::INET->new(LocalPort => $ARGV[0], Listen => 9) or die;
	    while ($c = $l->accept) {
		setsockopt $c, IPPROTO_TCP, TCP_NODELAY, 0 + $ARGV[1];
		$c->autoflush;
		print $c $_ while <$c>;
	    }' "$@" >/dev/null 2>&1 3>&- &
	poll 10 is_listening "$P" "$1"
}

# count_question_trips PORT N TOGETHER: sends N questions from a, TOGETHER of them at
# once, and prints the round trips
count_question_trips() {
	"$LFP" clear "$P"
	run_at "$P" a perl -MIO::Socket::INET -e '
	    ($port, $n, $at_once) = @ARGV;
	    $s = IO::Socket::INET->new("10.77.0.2:$port") or die;
	    $s->autoflush;
	    for (; $n > 0; $n -= $at_once) {
		print $s "?\n" x $at_once;
		<$s> for 1 .. $at_once;
	    }' "$@"
	query_path back trips
}

@test "trips counts the requests that waited for a reply, however long that took" {
	command -v perl >/dev/null || skip "no perl"
	make_path "$P" --rtt 40ms
	start_echo 7 1
	start_echo 8 0
	for ms in 40 90; do
		"$LFP" set "$P" --rtt ${ms}ms
		# one for the connection
		[ "$(count_question_trips 7 1 1)" = 2 ]
		[ "$(count_question_trips 7 6 1)" = 7 ]
		[ "$(count_question_trips 7 6 3)" = 3 ]
		[ "$(count_question_trips 7 6 6)" = 2 ]
		# Nagle: the second answer waits until the first was seen
		[ "$(count_question_trips 8 6 3)" = 5 ]
	done
	# packets in flight before do not count
	count_question_trips 7 6 1 >/dev/null
	"$LFP" clear "$P"
	sleep 0.2
	[ "$(query_path back trips)" = 0 ]
}

@test "two paths with the same addresses do not interfere" {
	make_path "$P-1" --rtt 10ms
	make_path "$P-2" --rtt 60ms
	check_true "$(measure_rtt "$P-1") < 12 && $(measure_rtt "$P-2") >= 60"
	"$LFP" down "$P-1"
	check_true "$(measure_rtt "$P-2") >= 60"
}

# is_path_removed NAME: succeeds if no namespace, state or device of it is left
is_path_removed() {
	[ ! -e "/run/netns/lfp-$1-a" ] && [ ! -e "/run/netns/lfp-$1-b" ] &&
	    [ ! -e "/run/lfp/$1" ]
}

# has_ended PID: succeeds if it has ended, and perhaps is not yet reaped by init
has_ended() { case "$(ps -o stat= -p "$1")" in ''|Z*) ;; *) return 1 ;; esac; }

# list_inside: prints the processes at both ends
list_inside() { ip netns pids "lfp-$P-a"; ip netns pids "lfp-$P-b"; }

@test "down leaves no process, device or namespace" {
	make_path "$P" --rtt 10ms
	for side in a b; do
		run_at "$P" $side sh -c 'trap "" TERM; exec tail -f /dev/null' 3>&- &
	done
	poll 10 eval '[ "$(list_inside | wc -l)" = 2 ]'
	pids="$(list_inside) $(<"/run/lfp/$P/pid")"
	"$LFP" down "$P"
	is_path_removed "$P"
	for pid in $pids; do
		has_ended "$pid"
	done
}

@test "down removes the remains of an interrupted up" {
	for after in 0.02 0.05 0.1 0.2 0.3; do
		paths+=("$P")
		timeout -s KILL $after "$LFP" up "$P" --rtt 10ms 3>&- || :
		[ ! -d "/run/lfp/$P" ] || "$LFP" down "$P"
		is_path_removed "$P"
		run -1 pgrep -f "lfp-emu.* run /run/lfp/$P "
	done
}

@test "a name in use is refused, and a bad option leaves nothing behind" {
	make_path "$P" --rtt 10ms
	run -1 "$LFP" up "$P" --rtt 20ms
	check_true "$(measure_rtt "$P") < 12"
	for bad in "--rate 10" "--rtt 10" "--loss 101%" "--burst 0.5" "--rtt"; do
		# shellcheck disable=SC2086
		run -1 "$LFP" up "$P-bad" $bad
		is_path_removed "$P-bad"
		# shellcheck disable=SC2086
		run -1 "$LFP" set "$P" $bad
	done
	check_true "$(measure_rtt "$P") < 12"
}

@test "ASan and UBSan report nothing under load, loss and changes" {
	export LFP_SANITIZE=1
	make_path "$P" --rtt 10ms --rate 300mbit --loss 1% --burst 2 --cc bbr
	start_iperf "$P"
	run_iperf "$P" -t 2 --bidir >/dev/null &
	for opt in "--rate 100mbit" "--queue 3000" "--rtt 50ms" "--rate 0" \
	    "--loss 100%" "--rate 10mbit --loss 3% --burst 0" "--queue auto"; do
		# shellcheck disable=SC2086
		"$LFP" set "$P" $opt
		n=$(query_path fwd packets)
		run_at "$P" a ping -6 -nc 5 -i 0.02 -W 0.1 -s 4000 fd77::2 >/dev/null || :
		check_true "$(query_path fwd packets) > $n"
	done
	wait $! || :
	"$LFP" down "$P"
	is_path_removed "$P"
}
