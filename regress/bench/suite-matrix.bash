# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# matrix: how do window, round trip, loss and the number of streams change the
# rate, and which window is large enough?
#
# Between two 10 Gbit/s hosts 0.246 ms apart (RIKEN and Kobe University, 2016)
# one scp was fastest with socket buffers far below the BDP: the processor was
# the limit. 12 scp at once filled the link. Over 53 ms (ESnet) the window is the
# limit. This suite measures the range between the two on one machine.
#
# All combinations of RTT, rate, window, streams, loss and congestion control
# would take days. So there are slices through one point: 24 ms, 1 Gbit/s, no
# loss, cubic, any window. All slices share it, and only the first measures it:
#
#   matrix_window  window ceilings for 1, 4, 8 and 12 streams; below the BDP,
#                  which the table gives, the rates of streams should add up
#   matrix_rtt     RTT for 1 and 8 streams
#   matrix_loss    loss for cubic and BBR, 1 and 8 streams (try --rtt 100, too)
#   matrix_rate    rate of the path, 1 and 8 streams
#
# MATRIX_WINDOWS, MATRIX_STREAMS, MATRIX_FEW and MATRIX_LOSSES in the environment
# take a part of a slice. "--only matrix" runs all of them. With --rtt the ceilings are measured at each
# RTT given (0.25 is that of 2016), loss and rate at the first.
#
# A row is N ssh at once. Each reads (get) or writes (put) a whole file, and the
# other end is /dev/null. The time is from the start of the first to the end of
# the last, less that of N logins at once. matrix_loss also has rows of one scp.
# iperf3 with as many streams and bytes is the reference. No login is subtracted
# from it, so in a run of a second or two its start counts.
#
# COND_WINDOW is the largest socket buffer at both ends (tcp_rmem, tcp_wmem), as
# in 2016, because the least WindowMax is 2 MiB. The kernel uses a part of it, so
# the window is smaller. It does not bind a program that sets its buffers itself.
# The channel's window has its default.

CELLS+=' matrix_window matrix_rtt matrix_loss matrix_rate'
about_matrix_window='window ceilings, for 1 to 12 streams at once, against iperf3'
about_matrix_rtt='RTT, for 1 and 8 streams, against iperf3'
about_matrix_loss='loss, with cubic and BBR, against iperf3'
about_matrix_rate='rate of the path, against iperf3'

MATRIX_RTT=24		# of the shared point; 2 MiB are below its BDP
MATRIX_RTTS='0.25 8 24 100 200'
MATRIX_WINDOWS=${MATRIX_WINDOWS:-16K 64K 256K 1M 4M 16M unlimited}
MATRIX_STREAMS=${MATRIX_STREAMS:-1 4 8 12}
MATRIX_FEW=${MATRIX_FEW:-1 8}
MATRIX_LOSSES=${MATRIX_LOSSES:-0 0.01% 0.1% 1%}
MATRIX_SECONDS=${MATRIX_SECONDS-}	# of a run, about; BYTES is the most
declare -A MATRIX_HAS=()

matrix_hasty() {
	MATRIX_RTTS='0.25 100' MATRIX_WINDOWS='64K unlimited'
	MATRIX_STREAMS='1 4' MATRIX_FEW=1 MATRIX_LOSSES=0.1%
	MATRIX_SECONDS=${MATRIX_SECONDS:-2}
}

# All slices have the same cell in their lines.
matrix_begin() {
	CELL=matrix
	[ -z "$QUICK" ] || matrix_hasty
	MATRIX_SECONDS=${MATRIX_SECONDS:-6}
	# shellcheck disable=SC2086 # a list
	set -- ${RTTS:-$MATRIX_RTT}
	MATRIX_AT=$1
}

# matrix_each PROGRAM STREAMS: bytes of each stream in a run of about
# MATRIX_SECONDS. It is a power of two, so that few files are needed. The effect
# of loss on cubic is estimated as for Reno. Stock's channel holds 2 MiB. Its runs
# may be longer, because slow start over 200 ms takes seconds.
matrix_each() {
	local window=0
	[ "$COND_WINDOW" = unlimited ] ||
	    window=$(numfmt --from=iec "$COND_WINDOW")
	awk -v program="$1" -v n="$2" -v window="$window" -v rtt="$COND_RTT" \
	    -v mbit="$(matrix_mbit "$COND_RATE")" -v loss="${COND_LOSS%\%}" \
	    -v cc="$COND_CC" -v most="$BYTES" -v seconds="$MATRIX_SECONDS" '
	function cap(x) { if (x < rate) rate = x }
	BEGIN {
		rtt /= 1e3
		rate = mbit * 125e3
		if (window > 0) cap(n * window / 2 / rtt)
		if (program == "stock") cap(3 * n * 2097152 / rtt)
		if (loss > 0 && cc != "bbr")
			cap(n * 1448 * 1.22 / sqrt(loss / 100) / rtt)
		each = rate * seconds
		if (each > most) each = most
		for (two = 16384; two * 2 <= each / n; two *= 2)
			;
		printf "%d\n", two
	}'
}

matrix_mbit() {
	case $1 in
	*gbit) echo $((${1%gbit} * 1000)) ;;
	*mbit) echo "${1%mbit}" ;;
	esac
}

### Verbs

# Starts a command N times at once, each with INPUT. Fails if one of them fails.
MATRIX_ABREAST='
n=$1 input=$2 all= status=0
shift 2
while [ $n -gt 0 ]; do
	"$@" <"$input" &
	all="$all $!" n=$((n - 1))
done
trap "kill $all; exit 143" TERM
for p in $all; do wait $p || status=$?; done
exit $status'

matrix_abreast() {	# BUILD N INPUT COMMAND: N ssh to the build's own sshd
	use "$1"
	metered -f "$(pid_of "$1")" sh -c "$MATRIX_ABREAST" sh "$2" "$3" \
	    "${SSH[@]}" "$1" "$4"
}

v_matrix_login() { matrix_abreast "$1" "$2" /dev/null true; }

v_matrix() {	# BUILD N BYTES get|put: BYTES for each
	case $4 in
	get) matrix_abreast "$1" "$2" /dev/null "cat $(file_of "$3")" ;;
	put) matrix_abreast "$1" "$2" "$(file_of "$3")" 'cat >/dev/null' ;;
	esac
}

### Slices

# matrix_lossy STREAMS: the target against iperf3 under loss. A single stream
# holds all data that waits behind a lost packet.
matrix_lossy() {
	case $1-$COND_LOSS in
	1-0.01%) echo 'rate>=0.95*iperf3' ;;
	*) echo 'rate>=0.9*iperf3' ;;
	esac
}

matrix_jobs() {	# STREAMS
	local p d each target='rate>=1*stock~'
	[ "$COND_LOSS" = 0 ] || target+=,$(matrix_lossy "$1")
	each=$(matrix_each iperf3 "$1")
	JOBS=()
	COND_STREAMS=$1
	for d in get put; do
		job iperf3 iperf3 $d $((each * $1)) - - \
		    v_iperf3 $((each * $1)) $d -P "$1"
		for p in $BUILDS; do
			matrix_build_jobs "$p" "$1" $d "$(target_for "$p" "$target")"
		done
	done
}

# The time to copy an empty file is subtracted from that of scp: the round trips
# that begin SFTP would be an eighth of the time of 256 MiB over 100 ms.
matrix_build_jobs() {	# BUILD STREAMS get|put TARGET
	local each
	each=$(matrix_each "$1" "$2")
	job "$1" 'ssh cat' "$3" $((each * $2)) "$4" "v_matrix_login $1 $2" \
	    v_matrix "$1" "$2" "$each" "$3"
	[ -n "${MATRIX_SCP:-}" ] && [ "$2" = 1 ] || return 0
	job "$1" scp "$3" "$each" "$4" "v_scp $1 $1 0 $3" \
	    v_scp "$1" "$1" "$each" "$3"
}

# matrix_place RTT_MS RATE LOSS CC WINDOW "STREAMS": measures what is not yet
matrix_place() {
	local n at="${*:1:5}" left='' BUFFERS='' PROCS=$LAB/procs
	for n in $6; do
		[ -n "${MATRIX_HAS[$at $n]:-}" ] || left+=" $n"
	done
	[ -n "$left" ] || return 0
	[ "$5" = unlimited ] || BUFFERS=$(numfmt --from=iec "$5")
	at_path "$1" "$2" "$3" "$4" || return
	crypto_of "$COND_CIPHER"
	COND_WINDOW=$5
	for n in $left; do
		MATRIX_HAS[$at $n]=y
		matrix_jobs "$n"
		sitting "$RUNS"
	done
}

cell_matrix_window() {
	local rtt window
	matrix_begin
	for rtt in ${RTTS:-$MATRIX_RTT}; do
		for window in $MATRIX_WINDOWS; do
			matrix_place "$rtt" 1gbit 0 "$CC_NAME" "$window" \
			    "$MATRIX_STREAMS" || return
		done
	done
}

cell_matrix_rtt() {
	local rtt
	matrix_begin
	for rtt in ${RTTS:-$MATRIX_RTTS}; do
		matrix_place "$rtt" 1gbit 0 "$CC_NAME" unlimited \
		    "$MATRIX_FEW" || return
	done
}

cell_matrix_loss() {
	local loss cc MATRIX_SCP=y
	matrix_begin
	for cc in cubic bbr; do
		knows_cc $cc || continue
		for loss in $MATRIX_LOSSES; do
			matrix_place "$MATRIX_AT" 1gbit "$loss" $cc unlimited \
			    "$MATRIX_FEW" || return
		done
	done
}

cell_matrix_rate() {
	local rate
	matrix_begin
	for rate in 100mbit 1gbit; do
		matrix_place "$MATRIX_AT" $rate 0 "$CC_NAME" unlimited \
		    "$MATRIX_FEW" || return
	done
}
