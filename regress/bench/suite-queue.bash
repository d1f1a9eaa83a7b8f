# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# queue: how long does everybody else wait while a transfer fills the path?
#
# A sender that has more in flight than the path holds keeps the rest in the queue
# of the narrowest link, and every packet of others waits behind it. Here ping runs
# beside a transfer. The column ms is the median of its RTT from two seconds after
# the start until the transfer ends; the column procs has the 95th percentile and
# how many packets were lost. On an idle path, the median is the path's RTT. The
# queue holds more than the path does, as in the routers of many access lines.
#
# The congestion control of the sender decides as well: cubic fills a queue until
# it overflows, BBR leaves it nearly empty unless the sender has too little to send.
# QUEUE_CC in the environment measures one of the two.

CELLS+=' queue'
about_queue='ping beside scp and ssh cat, 20 to 1000 Mbit/s with long queues'

# RTT in ms, Mbit/s (down/up, if they differ), queue, loss; the last is a home line
QUEUE_PATHS=${QUEUE_PATHS:-60:200:4MB:0 20:1000:8MB:0 30:50:1MB:0 15:20/5:500kB:0}
QUEUE_SETTLE=40		# pings that do not count, of each 20 in a second

v_queue() {	# BUILD BYTES get|put|cat
	local result pid
	$AT_A ping -n -i 0.05 "$FAR" >"$LAB/ping" 2>>"$LAB/err" &
	pid=$!
	case $3 in
	cat) result=$(v_get "$1" "$1" "$2") ;;
	*) result=$(v_scp "$1" "$1" "$2" "$3") ;;
	esac
	kill -INT "$pid" 2>/dev/null
	poll 2 is_gone "$pid" || kill "$pid"
	wait "$pid" 2>/dev/null
	queue_judged "$LAB/ping" "$2" "$result"
}

# Puts the median into the result, and the rest into the column procs. Of a short
# transfer the second half counts.
queue_judged() {	# FILE BYTES RESULT
	local rtts median lost
	rtts=$(sed -n 's/.* time=\([0-9.]*\) ms$/\1/p' "$1" |
	    awk -v settle=$QUEUE_SETTLE '{ rtt[NR] = $1 }
	    END { if (settle > NR / 2) settle = int(NR / 2)
		for (i = settle + 1; i <= NR; i++) print rtt[i] }')
	lost=$(sed -n 's/.* \([0-9.]*\)% packet loss.*/\1/p' "$1")
	if [ -z "$rtts" ]; then
		failed
		return
	fi
	median=$(stats median <<<"$rtts")
	echo "ping p95 $(stats quantile 0.95 <<<"$rtts") ms, ${lost:--} % lost" \
	    >"$LAB/procs"
	# shellcheck disable=SC2086
	set -- $3
	echo "$1 $2 $3 $4 $median $6"
}

# Seven seconds at the rate of the link
queue_bytes() {	# MBIT
	local n=$(($1 * 125000 * 7))
	[ $n -le $((BYTES / 4)) ] || n=$((BYTES / 4))
	echo $n
}

queue_jobs() {	# BYTES-DOWN BYTES-UP
	local p
	for p in $BUILDS; do
		job "$p" scp get "$1" - "v_login $p $p" v_queue "$p" "$1" get
		job "$p" scp put "$2" - "v_login $p $p" v_queue "$p" "$2" put
		job "$p" 'ssh cat' get "$1" - "v_login $p $p" \
		    v_queue "$p" "$1" cat
	done
}

cell_queue() {
	local spec rtt mbit queue loss cc down up
	for cc in ${QUEUE_CC:-cubic bbr}; do
		knows_cc "$cc" || continue
		for spec in $QUEUE_PATHS; do
			IFS=: read -r rtt mbit queue loss <<<"$spec"
			down=${mbit%/*} up=${mbit#*/}
			at_path "$rtt" "${down}mbit" "$loss" "$cc" || return
			"$BENCH_DIR/../lfp/lfp" set "$PATH_NAME" --queue "$queue" \
			    --rate-fwd "${up}mbit" || return
			queue_jobs "$(queue_bytes "$down")" "$(queue_bytes "$up")"
			sitting "$RUNS"
		done
	done
}
