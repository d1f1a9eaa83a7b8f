# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# rates: does one connection fill a path of 2 or 4 Gbit/s, up to 300 ms long?
#
# Such a path holds up to 150 MB, so the socket buffers are those of
# contrib/sysctl for 10 Gbit/s, twice. Each transfer lasts RATES_SECONDS at the
# path's rate (default: 10), because slow start over 300 ms takes five of them.
# Stock, with 2 MiB in each RTT, is not measured. iperf3 in the same turns is the
# reference. Two processors carry the path itself, both ends and iperf3, so at
# 4 Gbit/s they may be the limit: the row has the CPU time.

CELLS+=' rates'
about_rates='2 and 4 Gbit/s, 50 to 300 ms, against iperf3'

RATES_RATES=${RATES_RATES:-2gbit 4gbit}
RATES_RTTS='50 100 300'
RATES_SECONDS=${RATES_SECONDS:-10}

cell_rates() {
	local rtt rate n BUFFERS=536870912
	for rate in $RATES_RATES; do
		n=$((${rate%gbit} * 125000000 * RATES_SECONDS))
		for rtt in ${RTTS:-$RATES_RTTS}; do
			at_path "$rtt" "$rate" || return
			rates_jobs "$n"
			sitting "$RUNS"
		done
	done
}

# From memory to /dev/null: new pages of a file would be the limit at 4 Gbit/s.
rates_jobs() {	# BYTES
	local d p way target='rate>=0.9*iperf3'
	for d in get put; do
		job iperf3 iperf3 $d "$1" - - v_iperf3 "$1" $d
		for p in ${BUILDS/stock/}; do
			for way in scp cat; do
				job "$p" $way $d "$1" "$target" "v_login $p $p" \
				    v_null "$p" "$p" "$1" $d $way
			done
		done
	done
}
