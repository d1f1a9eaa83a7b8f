# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# cross: how fast is a transfer on a link that other traffic loads?
#
# A remote file system over a layer-2 VPN (JAXA, SINET3, 2009; RTT 8 ms) was
# slowed by small UDP loads. In a class with assured forwarding it kept its rate
# up to a load of three quarters. Here one scp runs beside UDP of 0 to 90 % of the
# link, in the same direction and through the same queue. It is either unmarked,
# or marked as AF41 by IPQoS, for which a class assures 30 % of the link.
#
#     sender  10.77.1.2 === a, a router [queues] ===== lfp ===== b, sshd
#
# The queues belong to a router, one HTB class each, because TCP behaves
# differently if the queue is in its own host. HTB is a little slower than the
# emulated link, so packets wait in the router's queues. If the kernel lacks HTB,
# all packets pass the one queue of the emulator.
#
# COND_LOAD is the UDP rate asked for, in % of the link. A run succeeds if the
# file arrived complete, the load lasted all the time (the column procs has its
# rate and loss), and exactly the marked packets passed the class. The login is
# not subtracted, because the load slows it as well.

CELLS+=' cross'
about_cross='scp beside UDP load, unmarked and marked, 8 ms, 200 Mbit/s'

CROSS_RTT=8
CROSS_MBIT=200		# two processors carry this beside ssh at both ends
CROSS_LOADS=${CROSS_LOADS:-0 30 60 90}
CROSS_MARKS='none af41'
CROSS_AF41=0x88		# DS field, whose last two bits are ECN
CROSS_DATAGRAM=1472	# with headers a packet of 1500 bytes
CROSS_PID='' CROSS_ROUTER='' CROSS_HTB=''

### The router

cross_apart() {
	[ "$(readlink "/proc/$CROSS_PID/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

# The namespace exists while its only process does, which ends when we end.
cross_namespace() {
	setpriv --pdeathsig TERM unshare -n sleep infinity </dev/null \
	    >/dev/null 2>&1 &
	CROSS_PID=$!
	poll 5 cross_apart
}

# cross_router: puts the near end ($AT_A) behind the router a
cross_router() {
	local a=$AT_A s k
	cross_namespace || return
	s="nsenter -t $CROSS_PID -n"
	$a ip link add cross0 type veth peer name cross0 netns "$CROSS_PID" &&
	    $a ip addr add 10.77.1.1/24 dev cross0 &&
	    $a ip link set cross0 up &&
	    $a sysctl -q -w net.ipv4.ip_forward=1 &&
	    $s ip link set lo up &&
	    $s ip addr add 10.77.1.2/24 dev cross0 &&
	    $s ip link set cross0 up &&
	    $s ip route add default via 10.77.1.1 &&
	    $AT_B ip route add 10.77.1.0/24 via 10.77.0.1 || return
	for k in tcp_rmem tcp_wmem tcp_no_metrics_save tcp_congestion_control; do
		$s sysctl -q -w "net.ipv4.$k=$($a sysctl -n "net.ipv4.$k")" ||
		    return
	done
	CROSS_ROUTER=$a AT_A=$s
}

# Each class may use the whole link while the other is idle. A queue is as long as
# the emulator's. The burst lets HTB catch up after a busy machine served it late;
# half a queue fits into the emulator's queue.
cross_htb() {
	local tc="$CROSS_ROUTER tc" all=$((CROSS_MBIT * 98 / 100)) id
	local queue=$((CROSS_MBIT * 125 * ${1%.*})) how
	[ $queue -ge 262144 ] || queue=262144
	how="quantum 60000 burst $((queue / 2)) cburst $((queue / 2))"
	# shellcheck disable=SC2086
	$tc qdisc add dev lfp0 root handle 1: htb default 20 &&
	    $tc class add dev lfp0 parent 1: classid 1:1 htb \
		rate ${all}mbit $how &&
	    $tc class add dev lfp0 parent 1:1 classid 1:10 htb \
		rate $((all * 3 / 10))mbit ceil ${all}mbit $how &&
	    $tc class add dev lfp0 parent 1:1 classid 1:20 htb \
		rate $((all * 7 / 10))mbit ceil ${all}mbit $how || return
	for id in 10 20; do
		$tc qdisc add dev lfp0 parent 1:$id bfifo limit $queue || return
	done
	$tc filter add dev lfp0 parent 1: protocol ip u32 \
	    match ip dsfield $CROSS_AF41 0xfc flowid 1:10
}

cross_queues() {	# RTT_MS
	CROSS_HTB=
	if ! command -v tc >/dev/null; then
		warn "$CELL: no class for the marked: no tc, which is in the package iproute2"
	elif cross_router 2>"$LAB/why" && cross_htb "$1" 2>"$LAB/why"; then
		CROSS_HTB=y
	else
		warn "$CELL: no class for the marked: $(head -n 1 "$LAB/why")"
		[ -z "$CROSS_ROUTER" ] ||
		    $CROSS_ROUTER tc qdisc del dev lfp0 root 2>/dev/null
	fi
	rm -f "$LAB/why"
}

cross_down() {
	[ -z "$CROSS_PID" ] ||
	    { kill "$CROSS_PID"; wait "$CROSS_PID"; } 2>/dev/null
	CROSS_PID='' CROSS_ROUTER=''
}

### Verb

# UDP datagrams that the sender sent, and that the far end received
cross_sent() { $AT_A awk '/^Udp: [0-9]/ { print $5 }' /proc/net/snmp; }
cross_came() { $AT_B awk '/^Udp: [0-9]/ { print $2 }' /proc/net/snmp; }

cross_classed() {	# bytes that passed the class for AF41
	[ -n "$CROSS_HTB" ] || { echo 0; return; }
	$CROSS_ROUTER tc -s class show dev lfp0 classid 1:10 |
	    sed -n 's/.*Sent \([0-9]*\) bytes.*/\1/p'
}

cross_counts() {
	echo "$(cross_sent) $(cross_came) $(cross_classed) ${EPOCHREALTIME/,/.}"
}

cross_flows() { [ "$(cross_sent)" -ge "$1" ]; }		# DATAGRAMS

# cross_load PERCENT: starts the load, and returns when half a second of it was
# sent. Sets LOADER. The load has priority over ssh for a processor.
cross_load() {
	local bits=$((CROSS_MBIT * 10000 * $1)) port enough
	LOADER=()
	[ "$1" != 0 ] || return 0
	port=$((14000 + RANDOM % 5000))
	$AT_B nice -n -15 iperf3 -s -1 -p $port >/dev/null 2>>"$LAB/err" &
	LOADER=($!)
	poll 5 listening "$AT_B" $port || return
	enough=$(($(cross_sent) + bits / 24000))
	$AT_A nice -n -15 iperf3 -u -c "$FAR" -p $port -t 3600 -l $CROSS_DATAGRAM \
	    -b $((bits * CROSS_DATAGRAM / 1500)) >/dev/null 2>>"$LAB/err" &
	LOADER+=($!)
	poll 5 cross_flows $enough
}

cross_unload() {
	((${#LOADER[@]})) || return 0
	{ kill "${LOADER[@]}"; wait "${LOADER[@]}"; } 2>/dev/null
}

# On a busy machine the load may fall below its rate. Such a run says nothing of
# the transfer and is repeated, at most twice.
v_cross() {	# BUILD BYTES MARK PERCENT
	local result _
	for _ in 1 2 3; do
		result=$(cross_once "$@")
		[ "${result##* }" = 253 ] || break
	done
	echo "$result"
}

cross_once() {
	local result before after LOADER
	if ! cross_load "$4"; then
		cross_unload
		failed
		return
	fi
	before=$(cross_counts)
	result=$(v_scp "$1" "$1" "$2" put -o "IPQoS=$3")
	after=$(cross_counts)
	cross_unload
	if [ "${result##* }" = 0 ]; then
		# shellcheck disable=SC2086
		result="${result% *} $(cross_judged "$2" "$3" "$4" $before $after)"
	fi
	echo "$result"
}

# Writes the load to the column procs, and prints the status.
cross_judged() {	# BYTES MARK PERCENT BEFORE... AFTER...
	awk -v bytes="$1" -v mark="$2" -v percent="$3" -v htb="$CROSS_HTB" \
	    -v link=$((CROSS_MBIT * 1000000)) -v file="$LAB/procs" '
	BEGIN {
		sent = ARGV[5] - ARGV[1]
		came = ARGV[6] - ARGV[2]
		classed = ARGV[7] - ARGV[3]
		rate = sent * 1500 * 8 / (ARGV[8] - ARGV[4])
		lost = sent > came ? 1 - came / sent : 0
		printf "udp %.1f Mbit/s, %.1f %% of it lost\n", rate / 1e6, \
		    lost * 100 >file
		if (rate < 0.8 * link * percent / 100)
			print 253
		else if (htb && (mark == "af41") != (classed >= bytes))
			print 252
		else
			print 0
	}' "${@:4}"
}

### Cell

# A load of 90 % leaves little of the link, so the file is smaller.
cross_bytes() {	# PERCENT
	local n=$((BYTES / ($1 > 80 ? 64 : 16)))
	[ $n -ge 1048576 ] || n=1048576
	echo $n
}

cross_jobs() {	# PERCENT
	local n p mark mode
	n=$(cross_bytes "$1")
	for mark in $CROSS_MARKS; do
		mode="scp, $mark"
		[ "$mark" != none ] || mode='scp, unmarked'
		for p in $BUILDS; do
			job "$p" "$mode" put "$n" \
			    "$(target_for "$p" 'rate>=1*stock~')" - \
			    v_cross "$p" "$n" "$mark" "$1"
		done
	done
}

cell_cross() {
	local rtt load loads=$CROSS_LOADS
	[ -z "${QUICK:-}" ] || loads='0 90'
	command -v iperf3 >/dev/null || {
		warn "$CELL: skipped all load: no iperf3, which is in the package iperf3"
		loads=0
	}
	for rtt in ${RTTS:-$CROSS_RTT}; do
		at_path "$rtt" ${CROSS_MBIT}mbit || return
		cross_queues "$rtt"
		for load in $loads; do
			JOBS=() COND_LOAD=$load%
			cross_jobs "$load"
			sitting "$RUNS"
		done
		cross_down
	done
}
