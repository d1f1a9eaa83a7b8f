# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# matrix: what do a window, a round trip, loss and several streams do to the
# rate, and from where on is a window large enough?
#
# Between two 10 Gbit/s hosts 0.246 ms apart (RIKEN and Kobe University, 2016)
# one scp was fastest with socket buffers far below the product of rate and
# RTT: the processor was the limit. 12 scp at once filled the link. Over 53 ms
# (ESnet) the window is the limit. Here is what lies between, on one machine.
#
# All points of RTT, rate, window, streams, loss and congestion control would
# take days, so there are slices through one point, 24 ms, 1 Gbit/s, no loss,
# cubic, any window, which all of them share and only the first measures:
#
#   matrix_window  window ceilings for 1, 4, 8 and 12 streams; below the BDP,
#                  which the table gives, the streams should add up
#   matrix_rtt     RTT for 1 and 8 streams
#   matrix_loss    loss for cubic and BBR, 1 and 8 streams (try --rtt 100, too)
#   matrix_rate    rate of the path, 1 and 8 streams
#
# "--only matrix" is all of them. With --rtt the ceilings are measured at each
# RTT given (0.25 is that of 2016), and loss and rate at the first.
#
# A row is N ssh at once, each the source (get) or the sink (put) of a whole
# file, with /dev/null at the other end, from the start of the first to the end
# of the last, less the time of N logins at once. matrix_loss has rows of one
# scp as well. iperf3 with as many streams and bytes is the yardstick, and has
# no login taken off: in a run of a second or two its own start counts. COND_WINDOW is
# what the socket's buffers may hold at both ends (tcp_rmem, tcp_wmem), as in
# 2016, because WindowMax begins at 2 MiB; the kernel keeps a part of it for
# itself, so the window is smaller. A program that sets its buffers itself
# escapes. The channel's window is as it is by default.

CELLS+=' matrix_window matrix_rtt matrix_loss matrix_rate'
about_matrix_window='window ceilings, for 1 to 12 streams at once, against iperf3'
about_matrix_rtt='RTT, for 1 and 8 streams, against iperf3'
about_matrix_loss='loss, with cubic and BBR, against iperf3'
about_matrix_rate='rate of the path, against iperf3'

MATRIX_RTT=24		# of the shared point; stock's 2 MiB do not fill it
MATRIX_RTTS='0.25 8 24 100 200'
MATRIX_WINDOWS='16K 64K 256K 1M 4M 16M unlimited'
MATRIX_STREAMS='1 4 8 12'
MATRIX_FEW='1 8'
MATRIX_LOSSES='0 0.01% 0.1% 1%'
MATRIX_SECONDS=${MATRIX_SECONDS-}	# a run, about, if BYTES are not fewer
declare -A MATRIX_HAS=()

matrix_hasty() {
	MATRIX_RTTS='0.25 100' MATRIX_WINDOWS='64K unlimited'
	MATRIX_STREAMS='1 4' MATRIX_FEW=1 MATRIX_LOSSES=0.1%
	MATRIX_SECONDS=${MATRIX_SECONDS:-2}
}

# In the lines all slices are one cell.
matrix_begin() {
	CELL=matrix
	[ -z "$QUICK" ] || matrix_hasty
	MATRIX_SECONDS=${MATRIX_SECONDS:-6}
	# shellcheck disable=SC2086 # a list
	set -- ${RTTS:-$MATRIX_RTT}
	MATRIX_AT=$1
}

# matrix_each PROGRAM STREAMS: bytes of a stream in a run of about
# MATRIX_SECONDS, a power of two, so that a few files serve all. The loss of
# cubic is estimated as that of Reno; Stock's channel holds 2 MiB, and its runs
# may be longer, because a start over 200 ms takes seconds.
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

# Starts a command N times at once, each with INPUT; fails if one of them does.
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

matrix_abreast() {	# BUILD N INPUT COMMAND: of its ssh, to its own sshd
	use "$1"
	metered -f "$(pid_of "$1")" sh -c "$MATRIX_ABREAST" sh "$2" "$3" \
	    "${SSH[@]}" "$1" "$4"
}

v_matrix_login() { matrix_abreast "$1" "$2" /dev/null true; }

v_matrix() {	# BUILD N BYTES get|put: bytes of each
	case $4 in
	get) matrix_abreast "$1" "$2" /dev/null "cat $(file_of "$3")" ;;
	put) matrix_abreast "$1" "$2" "$(file_of "$3")" 'cat >/dev/null' ;;
	esac
}

### Slices

# matrix_lossy STREAMS: what loss should leave of iperf3's rate; one stream has
# to hold all that waits behind a lost packet
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

# From the time of scp goes that of a copy of an empty file: the round trips of
# SFTP's opening would be an eighth of 256 MiB over 100 ms.
matrix_build_jobs() {	# BUILD STREAMS get|put TARGET
	local each
	each=$(matrix_each "$1" "$2")
	job "$1" 'ssh cat' "$3" $((each * $2)) "$4" "v_matrix_login $1 $2" \
	    v_matrix "$1" "$2" "$each" "$3"
	[ -n "${MATRIX_SCP:-}" ] && [ "$2" = 1 ] || return 0
	job "$1" scp "$3" "$each" "$4" "v_scp $1 $1 0 $3" \
	    v_scp "$1" "$1" "$each" "$3"
}

# matrix_place RTT_MS RATE LOSS CC WINDOW "STREAMS": what no other slice has
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

matrix_knows() {	# CC
	modprobe -q "tcp_$1" 2>/dev/null
	case " $(sysctl -n net.ipv4.tcp_available_congestion_control) " in
	*" $1 "*) return ;;
	esac
	warn "matrix_loss: skipped $1, which this kernel does not have"
	return 1
}

cell_matrix_loss() {
	local loss cc MATRIX_SCP=y
	matrix_begin
	for cc in cubic bbr; do
		matrix_knows $cc || continue
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
