#!/usr/bin/env bats
# Needs: unit
# The bottleneck of a copy (common/bottleneck.h, stall-stats.h), from numbers. Each case
# runs twice: plain, and under ASan and UBSan. limits.bats has the programs.

load helper

# run_bottleneck WORD...: evaluates one copy; sets NAME, AT, SHARE and TEXT
run_bottleneck() {
	local asan plain
	plain=$(echo "$*" | FLAVOUR=plain run_unit bottleneck-replay) || return
	asan=$(echo "$*" | FLAVOUR=asan run_unit bottleneck-replay) || return
	[ "$plain" = "$asan" ] || { echo "builds differ"; return 1; }
	echo "$plain"
	read -r NAME AT SHARE _ <<<"$plain"
	TEXT=${plain#* | }
}

# is_bottleneck NAME AT: succeeds if the last copy had this bottleneck
is_bottleneck() { [ "$NAME $AT" = "$1 $2" ]; }

# 10 s at 100 ms; MB gives the bytes. The path has no queue.
FAR="us=10000000 here.samples=100 here.rtt-sum=10100000 here.min-rtt=100000 here.mss=1448"
run_far_copy() { run_bottleneck "$FAR bytes=$(($1 * 1000000)) here.sent=$(($1 * 1000000)) ${*:2}"; }
WAITS="here.cpu=1000000 here.wait-tcp=8500000"

@test "a short or small copy has no bottleneck" {
	run_bottleneck put us=600000 bytes=100000000 here.wait-tcp=600000 here.samples=10
	is_bottleneck none here
	run_bottleneck put us=9000000 bytes=400000 here.wait-tcp=9000000 here.samples=90
	is_bottleneck none here
}

@test "a cause of less than half of the time is no bottleneck" {
	run_far_copy 100 put here.wait-tcp=4900000 here.wait-window=2000000 here.cpu=2000000
	is_bottleneck none here
	[ "$TEXT" = "no single cause" ]
}

@test "a sender that waits for TCP is limited by the path if the path has a standing queue" {
	run_far_copy 500 put "$WAITS"
	is_bottleneck none here
	run_far_copy 500 put "$WAITS" here.loss-tolerant=1
	is_bottleneck path there
	run_far_copy 500 put "$WAITS" here.rtt-sum=13000000
	is_bottleneck path there
	[[ $TEXT = "the path, RTT 100.0 ms, now 130.0 ms (85 % of the time); "* ]]
	run_far_copy 500 put "$WAITS" here.rtt-sum=20000000 here.tcp-rwnd=99000000 here.rwnd-full=95
	is_bottleneck path there
}

@test "without the kernel's statistics no part of TCP is named" {
	run_bottleneck put us=10000000 bytes=100000000 here.wait-tcp=9000000
	is_bottleneck path-or-peer there
	[[ $TEXT = "the path or the server (90 %"* ]]
}

@test "loss is named if RTT and rate show it, and not at a full path" {
	# 0.05 %: 1.22 * 1448 / 0.101 / sqrt(0.0005) = 0.78 MB/s, three times is 2.3
	lost="$WAITS here.segments=200000 here.resent=100"
	run_far_copy 20 put "$lost"
	is_bottleneck loss there
	[[ $TEXT = *"0.050 % at 100.0 ms"*"CongestionControl bbr here, or -j 4" ]]
	run_far_copy 24 put "$lost"
	is_bottleneck none here
	run_far_copy 20 put "$lost" here.rtt-sum=14000000
	is_bottleneck path there
	run_far_copy 20 put "$WAITS" here.segments=4000 here.resent=2
	is_bottleneck none here
	run_far_copy 20 put "$lost" here.loss-tolerant=1
	is_bottleneck path there
}

@test "BBR that loses 2 % at full rate is limited by the path" {
	run_far_copy 450 put "$WAITS" here.segments=400000 here.resent=9200 here.loss-tolerant=1
	is_bottleneck path there
}

@test "the peer's window is the bottleneck if the path holds half of it" {
	w="here.wait-window=9100000 here.peer-window=2097152"
	run_far_copy 200 put "$w"
	is_bottleneck window there
	[ "$SHARE" = 91 ]
	[[ $TEXT = "the window of the server, 2.0 MiB in each 100.0 ms"*"stock OpenSSH"* ]]
	run_far_copy 200 put hayate "$w"
	[[ $TEXT = *"raise WindowMax there"* ]]
	run_far_copy 105 put "$w"
	is_bottleneck window there
	run_far_copy 104 put "$w"
	is_bottleneck path-or-peer there
}

@test "a window that leaves a queue on the path is not the bottleneck" {
	w="here.wait-window=9100000 here.peer-window=2600000 here.rtt-sum=12500000"
	run_far_copy 200 put hayate "$w"
	is_bottleneck path there
	[[ $TEXT = "the path, RTT 100.0 ms, now 125.0 ms "* ]]
	run_far_copy 200 get here.wait-net=9500000 here.own-window=2400000 here.rtt-sum=12500000
	is_bottleneck path here
}

@test "a window that a slow reader keeps shut is the reader's" {
	w="here.wait-window=9100000 here.peer-window=2097152"
	run_far_copy 50 put "$w" there.wait-output=9000000
	is_bottleneck reader there
	run_far_copy 50 put "$w" there.wait-output=3100000
	is_bottleneck reader there
	run_far_copy 50 put "$w" there.wait-output=2900000
	is_bottleneck path-or-peer there
	run_far_copy 50 put files "$w" there.wait-output=9000000 files-there.file-write=8000000
	is_bottleneck disk-write there
}

@test "the receiver's TCP buffer is named if the path holds half of it" {
	w="$WAITS here.rwnd-full=95 here.tcp-rwnd=1000000"
	run_far_copy 90 put "$w"
	is_bottleneck receive-buffer there
	[[ $TEXT = *'sysctl net.ipv4.tcp_rmem="4096 131072 268435456" there' ]]
	run_far_copy 40 put "$w"
	is_bottleneck path-or-peer there
	run_far_copy 90 put "$WAITS" here.rwnd-full=49 here.tcp-rwnd=1000000
	is_bottleneck none here
}

@test "the send buffer is named if it alone is full in most samples" {
	run_far_copy 90 put "$WAITS" here.sndbuf-full=84
	is_bottleneck send-buffer here
	[[ $TEXT = *'sysctl net.ipv4.tcp_wmem="4096 16384 268435456" here' ]]
	run_far_copy 90 put "$WAITS" here.sndbuf-full=49
	is_bottleneck none here
	# as much as 10 Gbit/s need at this RTT, and more if it is faster
	run_far_copy 9000 put "$WAITS" here.sndbuf-full=84
	[[ $TEXT = *536870912* ]]
	run_far_copy 90 put "$WAITS" here.sndbuf-full=84 here.min-rtt=4000 here.rtt-sum=404000
	[[ $TEXT = *16777216* ]]
}

@test "MaxRate is named if the rate is near it" {
	run_far_copy 50 put "$WAITS" here.max-rate=5000000
	is_bottleneck max-rate here
	[[ $TEXT = *"5.0 MB/s"*"ssh_config" ]]
	run_far_copy 30 put "$WAITS" here.max-rate=5000000
	is_bottleneck none here
}

@test "time in read() is the disk's only without CPU time and run queue" {
	run_bottleneck put files us=10000000 bytes=100000000 here.wait-input=9000000 \
	    files-here.file-read=9000000 files-here.cpu=500000
	is_bottleneck disk-read here
	[ "$SHARE" = 85 ]
	run_bottleneck put files us=10000000 bytes=100000000 here.wait-input=9000000 \
	    files-here.file-read=9000000 files-here.cpu=500000 files-here.wait-cpu=7000000
	is_bottleneck path-or-peer there
}

@test "a disk that is read while the network is full is not the bottleneck" {
	run_far_copy 300 put files "$WAITS" here.rtt-sum=13000000 files-here.file-read=6000000
	is_bottleneck path there
}

@test "a disk is named at either end, in either direction" {
	run_bottleneck get files us=10000000 bytes=100000000 here.wait-output=9000000 files-here.file-write=9000000
	is_bottleneck disk-write here
	run_bottleneck get files us=10000000 bytes=100000000 here.wait-net=9500000 there.wait-input=9000000 \
	    files-there.file-read=9000000
	is_bottleneck disk-read there
	[[ $TEXT = "disk read by the server (90 %"* ]]
}

@test "a process that runs on a CPU, or waits for one, is the bottleneck" {
	run_bottleneck put us=10000000 bytes=900000000 here.cpu=9600000 there.cpu=8000000
	is_bottleneck cpu here
	[[ $TEXT = *"try another cipher"* ]]
	run_bottleneck put us=10000000 bytes=900000000 here.cpu=3000000 there.cpu=8700000
	is_bottleneck cpu there
	run_bottleneck put us=10000000 bytes=90000000 here.cpu=1500000 here.wait-cpu=7500000
	is_bottleneck cpu here
	[[ $TEXT = *"other programs or a CPU quota"* ]]
	run_bottleneck put files us=10000000 bytes=90000000 here.cpu=1500000 files-here.cpu=9000000
	[[ $TEXT = *"-j 4"* ]]
	run_bottleneck put us=10000000 bytes=90000000 here.cpu=8400000
	is_bottleneck none here
}

@test "without files the program that writes or reads the data is the bottleneck" {
	run_bottleneck put us=10000000 bytes=90000000 here.wait-input=9000000
	is_bottleneck writer here
	run_bottleneck get us=10000000 bytes=90000000 here.wait-net=9000000 there.wait-input=9000000
	is_bottleneck writer there
	run_bottleneck get us=10000000 bytes=90000000 here.wait-output=9000000
	is_bottleneck reader here
}

@test "a download that the server does not explain is limited by the path or the server" {
	run_far_copy 20 get here.wait-net=9500000 here.own-window=67108864
	is_bottleneck path-or-peer there
}

@test "our own window is named in a download if the path fills it, not at twice the path" {
	run_far_copy 200 get here.wait-net=9500000 here.own-window=2097152
	is_bottleneck window here
	[[ $TEXT = "the window here, "*"raise WindowMax here"* ]]
	run_far_copy 110 get here.wait-net=9500000 here.own-window=2097152
	is_bottleneck path-or-peer there
}

@test "the server's stall counters of a download are used" {
	s="there.samples=100 there.min-rtt=100000 there.rtt-sum=10100000 there.mss=1448"
	run_far_copy 200 get here.wait-net=9500000 "$s" there.wait-tcp=8000000 there.sndbuf-full=90
	is_bottleneck send-buffer there
	[[ $TEXT = *there ]]
	run_far_copy 200 get here.wait-net=9500000 "$s" there.wait-window=9000000 there.peer-window=2097152
	is_bottleneck window here
	run_far_copy 200 get here.wait-net=9500000 "$s" there.wait-tcp=9000000 there.rtt-sum=13000000
	is_bottleneck path here
}

@test "requests are named only if the user chose them and the path fills them" {
	run_far_copy 20 put files here.wait-input=9500000 requests=261120
	is_bottleneck path-or-peer there
	run_far_copy 24 put files here.wait-input=9500000 requests=261120
	is_bottleneck requests here
	[[ $TEXT = *"leave out -R, -B and -X" ]]
	run_far_copy 24 get files here.wait-net=9500000 requests=261120
	is_bottleneck requests here
}

@test "only a long copy at half of the path's rate, with a bottleneck, is reported" {
	run_bottleneck put us=11000000 bytes=100000000 here.wait-input=10000000 here.best-rate=90000000
	[[ $(run_bottleneck put us=11000000 bytes=100000000 here.wait-input=10000000 here.best-rate=90000000) = *" notable |"* ]]
	[[ $(run_bottleneck put us=11000000 bytes=100000000 here.wait-input=10000000 here.best-rate=18000000) != *notable* ]]
	[[ $(run_bottleneck put us=9000000 bytes=100000000 here.wait-input=9000000 here.best-rate=90000000) != *notable* ]]
	[[ $(run_bottleneck put us=11000000 bytes=100000000 here.wait-tcp=10000000 here.best-rate=90000000) != *notable* ]]
}

@test "a server's counters are not used for a copy that took twice as long" {
	s="there.wait-input=4500000 there.wait-net=4500000"
	run_bottleneck get us=10000000 bytes=90000000 here.wait-net=9500000 "$s" there.time=5000000
	is_bottleneck writer there
	run_bottleneck get us=10000000 bytes=90000000 here.wait-net=9500000 "$s" there.time=4999999
	is_bottleneck path-or-peer there
}

@test "impossible counters of a server are not used" {
	run_bottleneck get us=10000000 bytes=90000000 here.wait-net=9500000 there.wait-input=9500000
	is_bottleneck writer there
	for odd in wait-input=11300000 wait-output=9000000 cpu=12000000 file-write=12000000; do
		run_bottleneck get us=10000000 bytes=90000000 here.wait-net=9500000 there.wait-input=9500000 \
		    there.wait-net=9500000 "there.$odd"
		is_bottleneck path-or-peer there
	done
	run_bottleneck put files us=10000000 bytes=90000000 here.wait-input=9500000 files-there.file-write=11300000
	is_bottleneck path-or-peer there
}

# Under UBSan: no number of a peer overflows
@test "a peer may send any numbers" {
	local most=$((1 << 56)) all='' n
	for n in time wait-tcp wait-window wait-input wait-output wait-net cpu wait-cpu file-read \
	    file-write samples rwnd-full sndbuf-full sent received segments resent rtt-sum min-rtt \
	    mss tcp-rwnd max-rate own-window peer-window best-rate loss-tolerant; do
		all="$all there.$n=$most files-there.$n=$most"
	done
	for way in put get; do
		run_bottleneck $way files us=10000000 bytes=$most here.samples=1 "$all"
		for n in cpu wait-cpu file-read file-write wait-output wait-tcp; do
			all="$all there.$n=0 files-there.$n=0"
			run_bottleneck $way files hayate us=10000000 bytes=$most "$all"
		done
	done
}

@test "counters survive encoding, and malformed ones are refused or read as far as they go" {
	hex=$(echo write | run_unit bottleneck-replay)
	[ ${#hex} -eq $((2 * (8 + 26 * 8))) ]
	[[ $hex = 000000010000001a* ]]
	[ "$(echo "wire $hex" | run_unit bottleneck-replay)" = "$(python3 -c '
print(*[min(1 << 56, (i + 1) << (8 * (i % 8))) for i in range(26)])')" ]
	more=$(echo "wire 000000010000001b${hex:16}0000000000000001" | run_unit bottleneck-replay)
	[ "$more" = "$(echo "wire $hex" | run_unit bottleneck-replay)" ]
	[[ $(echo "wire 000000010000000100000000000000ff" | run_unit bottleneck-replay) = "255 0 0 "* ]]
	for odd in '' 00000001 0000000200000000 0000000100000001000000 \
	    00000001ffffffff "${hex:0:${#hex}-2}"; do
		[ "$(echo "wire $odd" | run_unit bottleneck-replay)" = bad ]
	done
}

### A slow connection (transfer/sched/slow-conn.h)

# find_slow_connection COPY: prints the connection that is slow, its rate and the others'
find_slow_connection() { run_unit slow-conn-replay <<<"$1"; }

@test "a connection below a quarter of the others is named, with both rates" {
	[ "$(find_slow_connection '0:1000@0-9000 1:249@0-9000')" = "1 249 1000" ]
	[ "$(find_slow_connection '0:1000@0-9000 1:250@0-9000')" = none ]
	[ "$(find_slow_connection '0:10@0-9000 1:900@0-9000 2:1000@0-9000 3:9000@0-9000')" = "0 10 1000" ]
	# The lower one of two in the middle, and the slowest of two slow ones
	[ "$(find_slow_connection '0:10@0-9000 1:30@0-9000 2:900@0-9000')" = none ]
	[ "$(find_slow_connection '0:10@0-9000 1:30@0-9000 2:900@0-9000 3:900@0-9000')" = "0 10 900" ]
	[ "$(find_slow_connection '0:1000@0-9000')" = none ]
	[ "$(find_slow_connection '')" = none ]
}

@test "a connection that was idle, or opened late, is not slow" {
	# It carries as fast as the others while it has something to do.
	[ "$(find_slow_connection '0:1000@0-9000 1:1000@0-1000 1:1000@5000-6500')" = none ]
	[ "$(find_slow_connection '0:1000@0-9000 1:100@0-2240')" = none ]
	[ "$(find_slow_connection '0:1000@0-9000 1:100@6700-9000')" = "1 100 1000" ]
	[ "$(find_slow_connection '0:1000@0-900 1:100@0-690')" = none ]
	# Nor is it compared with.
	[ "$(find_slow_connection '0:1000@0-9000 1:9000@0-2000')" = none ]
}

@test "a connection to another host that replaces a lost one starts with new counters" {
	[ "$(find_slow_connection '0:1000@0-9000 1:10@0-4000/1 1:1000@5000-9000/2')" = none ]
	[ "$(find_slow_connection '0:1000@0-9000 1:1000@0-4000/1 1:10@5000-9000/2')" = "1 10 1000" ]
}
