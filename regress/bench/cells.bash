# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# The measurements: a function cell_NAME for each question, and the verbs that a
# cell measures with. A cell sets up a place, lists its jobs and runs them:
#
#   at_loop | at_path RTT_MS RATE
#   job PROGRAM MODE DIRECTION BYTES TARGET LOGIN VERB ARG...
#   sitting RUNS
#
# PROGRAM is the program that the row measures. stats.py explains TARGET. LOGIN is
# the verb whose median time is subtracted. A verb prints
#
#   seconds cpu_near cpu_far kib ms status [bytes]
#
# with - for an unknown value. get transfers from far to near, put from near to
# far. CLIENT and SERVER are names of builds.

CELLS='path path512 sender stripe connections forward slow loopback memory idle echo'
QUICK_CELLS='path slow loopback echo'

about_path='one stream over 1 Gbit/s, against iperf3'
about_path512='512 MiB in SFTP mode at 100 ms (or --rtt), against iperf3'
about_sender='towards a stock sender'
about_stripe='a large file put to a stock server, 100 and 200 ms'
about_connections='scp -j auto against one connection, 1 % loss, 100 ms'
about_forward='bulk through multiplexing and forwards, against a session'
about_slow='300 MB into a reader of 100 MB/s'
about_loopback='no path at all, against stock'
about_memory="the receiver's peak at 100 ms, fast and slow reader"
about_idle='memory of a connection that does nothing'
about_echo='keystrokes beside bulk on one connection, 50 ms, 100 Mbit/s'

# Stock moves 2 MiB in each RTT. Over a long RTT a part of the bytes gives the
# same rate in less time. The row says how many bytes were moved.
stock_bytes() {	# RTT_MS BYTES
	if [ "${1%.*}" -ge 100 ]; then echo $(($2 / 4)); else echo "$2"; fi
}

bytes_for() {	# PROGRAM RTT_MS BYTES
	if [ "$1" = stock ]; then stock_bytes "$2" "$3"; else echo "$3"; fi
}

target_for() {	# PROGRAM TARGET: only hayate has a target
	if [ "$1" = hayate ]; then echo "$2"; else echo -; fi
}

# metered OPTION... COMMAND...: timed, printed as a verb prints
metered() {
	local out
	out=$(timed "$@" 2>>"$LAB/err") || out='- - - - 255'
	# shellcheck disable=SC2086
	set -- $out
	echo "$1 $2 $3 $4 - $5"
}

### Verbs: sessions and copies

v_login() {	# CLIENT SERVER [SSH-OPTION...]
	use "$1"
	metered -f "$(pid_of "$2")" "${SSH[@]}" "${@:3}" "$2" true
}

v_stdio_login() { v_stdio "$1" "$2" 1; }

v_jump_login() { v_login "$1" "$2" -o "HostName 127.0.0.1" -J "$2"; }

v_get() {	# CLIENT SERVER BYTES [RATE [SSH-OPTION...]]
	use "$1"
	metered -r "${4:-0}" -f "$(pid_of "$2")" "${SSH[@]}" "${@:5}" "$2" \
	    "cat $(file_of "$3")"
}

v_put() {	# CLIENT SERVER BYTES [READER]
	use "$1"
	metered -i "$(file_of "$3")" -f "$(pid_of "$2")" "${SSH[@]}" "$2" \
	    "${4:-cat} >/dev/null"
}

v_scp() {	# CLIENT SERVER BYTES get|put SCP-OPTION...
	local from to got=$DATA/got
	use "$1"
	from=$(file_of "$3") to=$got
	case $4 in
	get) from=$2:$from ;;
	put) to=$2:$to ;;
	esac
	rm -f "$got"
	copied "$3" "$got" \
	    "$(metered -f "$(pid_of "$2")" "${SCP[@]}" "${@:5}" "$from" "$to")"
}

# Over a file that exists and is as long.
v_scp_over() {	# CLIENT SERVER BYTES
	local got=$DATA/got
	use "$1"
	cp "$(file_of "$3")" "$got"
	copied "$3" "$got" "$(metered -f "$(pid_of "$2")" "${SCP[@]}" \
	    "$(file_of "$3")" "$2:$got")"
}

copied() {	# BYTES FILE RESULT: the result, failed if FILE is incomplete
	if [ "$(stat -c %s "$2" 2>/dev/null)" = "$1" ]; then
		echo "$3"
	else
		echo "${3% *} 254"
	fi
	rm -f "$2"
}

# The bytes are those that the receiver had when iperf3 ended.
v_iperf3() {	# BYTES get|put [IPERF3-OPTION...]
	local r=() out n
	[ "$2" = put ] || r=(-R)
	out=$(metered -o "$LAB/iperf3" -f "$IPERF_PID" \
	    iperf3 -c "$FAR" -p "$IPERF_PORT" -n "$1" "${r[@]}" "${@:3}" -J)
	n=$(awk '/"sum_received"/ { f = 1 }
	    f && /"bytes"/ { gsub(/[^0-9]/, ""); print; exit }' "$LAB/iperf3")
	echo "$out ${n:--}"
}

### Verbs: forwards

# A connection that others share. "ssh -f" returns when its forwards listen.
master_up() {	# CLIENT SERVER SSH-OPTION...
	use "$1"
	$AT_A "${SSH[@]}" -f -N -M -S "$LAB/mux" -o ExitOnForwardFailure=yes \
	    "${@:3}" "$2" </dev/null >/dev/null 2>>"$LAB/err" || return
	MASTER=$("${SSH[@]}" -S "$LAB/mux" -O check "$2" 2>&1 |
	    sed -n 's/.*pid=\([0-9]*\).*/\1/p')
}

master_down() {	# SERVER
	"${SSH[@]}" -S "$LAB/mux" -O exit "$1" >/dev/null 2>&1
	poll 5 is_gone "$MASTER"
}

over_master() {	# SERVER COMMAND: runs until the master ends
	$AT_A "${SSH[@]}" -S "$LAB/mux" "$1" "$2" >/dev/null 2>&1
}

# source_up WHERE BYTES: at port 7001 of that end; sets SOURCE
source_up() {
	$1 "$METER" source 127.0.0.1 7001 "$(file_of "$2")" \
	    >/dev/null 2>>"$LAB/err" &
	SOURCE=$!
	poll 5 listening "$1" 7001
}
source_down() { { kill "$SOURCE"; wait "$SOURCE"; } 2>/dev/null; }

failed() { echo '- - - - - 255'; }

v_mux() {	# CLIENT SERVER BYTES get|put
	local io=(-o /dev/null) what
	master_up "$1" "$2" || { failed; return; }
	over_master "$2" 'sleep 900' </dev/null &
	what="cat $(file_of "$3")"
	if [ "$4" = put ]; then
		io=(-i "$(file_of "$3")") what='cat >/dev/null'
	fi
	metered "${io[@]}" -n "$MASTER" -f "$(pid_of "$2")" \
	    "${SSH[@]}" -S "$LAB/mux" "$2" "$what"
	master_down "$2"
	wait $!
}

v_local() {	# CLIENT SERVER BYTES: -L, a far source and a near reader
	source_up "$AT_B" "$3"
	if master_up "$1" "$2" -L 7002:127.0.0.1:7001; then
		metered -n "$MASTER" -f "$(pid_of "$2")" \
		    "$METER" pull 127.0.0.1 7002 "$3"
		master_down "$2"
	else
		failed
	fi
	source_down
}

v_remote() {	# CLIENT SERVER BYTES: -R, a near source and a far reader
	source_up "$AT_A" "$3"
	if master_up "$1" "$2" -R 7003:127.0.0.1:7001; then
		AT_A=$AT_B metered -n "$MASTER" -f "$(pid_of "$2")" \
		    "$METER" pull 127.0.0.1 7003 "$3"
		master_down "$2"
	else
		failed
	fi
	source_down
}

v_stdio() {	# CLIENT SERVER BYTES: -W
	use "$1"
	source_up "$AT_B" "$3"
	metered -f "$(pid_of "$2")" "${SSH[@]}" -W 127.0.0.1:7001 "$2"
	source_down
}

# The second hop is the same sshd, over the far end's loopback.
v_jump() {	# CLIENT SERVER BYTES
	use "$1"
	metered -f "$(pid_of "$2")" "${SSH[@]}" -J "$2" "$2-hop" \
	    "cat $(file_of "$3")"
}

v_command() {	# CLIENT SERVER BYTES
	v_get "$1" "$2" "$3" 0 -o "ProxyCommand=$METER relay %h %p"
}

### Verbs: memory and echo

# The far command prints the peak of sshd-session when all data has arrived.
v_put_peak() {	# CLIENT SERVER BYTES READER
	local out
	out=$(use "$1"
	    metered -o "$LAB/peak" -i "$(file_of "$3")" -f "$(pid_of "$2")" \
	    "${SSH[@]}" "$2" "$4 >/dev/null
	    awk '/^VmHWM/ { print \$2 }' /proc/\$PPID/status")
	# shellcheck disable=SC2086
	set -- $out
	echo "$1 $2 $3 $(cat "$LAB/peak") $5 $6"
}

# The private memory of an open session, a second after the login.
v_idle() {	# CLIENT SERVER ssh|sshd-session
	local pid session kib
	use "$1"
	rm -f "$LAB/hold" "$LAB/session"
	mkfifo "$LAB/hold"
	"${SSH[@]}" "$2" 'echo $PPID; exec cat' <"$LAB/hold" \
	    >"$LAB/session" 2>>"$LAB/err" &
	pid=$!
	exec 8>"$LAB/hold"
	if ! poll 10 test -s "$LAB/session"; then
		exec 8>&-
		failed
		return
	fi
	sleep 1
	session=$(cat "$LAB/session")
	[ "$3" = ssh ] || pid=$session
	kib=$(awk '/^Anonymous:/ { print $2 }' "/proc/$pid/smaps_rollup")
	exec 8>&-
	wait $!
	echo "- - - ${kib:--} - 0"
}

# Bulk data over the master, one way, until the master ends.
bulk() {	# SERVER idle|get|put
	case $2 in
	get) over_master "$1" 'cat /dev/zero' </dev/null ;;
	put) over_master "$1" 'cat >/dev/null' </dev/zero ;;
	esac
}

# Bytes received at both ends of the path, headers included.
carried() {
	local at n=0
	for at in "$AT_A" "$AT_B"; do
		n=$((n + $($at cat /sys/class/net/lfp0/statistics/rx_bytes)))
	done
	echo $n
}

# The 95th percentile of COUNT echoes. Bytes and seconds are those of the path
# meanwhile: they show whether a slow transfer made the echoes quick.
v_echo() {	# CLIENT SERVER idle|get|put COUNT
	local n t
	master_up "$1" "$2" || { failed; return; }
	bulk "$2" "$3" &
	sleep 2		# until windows and queues have settled
	n=$(carried) t=$(date +%s.%N)
	$AT_A "$METER" echo "$4" 60 "${SSH[@]}" -S "$LAB/mux" -tt "$2" \
	    'stty raw -echo; echo go; exec cat' >"$LAB/echo" 2>>"$LAB/err"
	t=$(awk "BEGIN { print $(date +%s.%N) - $t }")
	n=$(($(carried) - n))
	master_down "$2"
	wait $!
	if [ "$(wc -l <"$LAB/echo")" = "$4" ]; then
		echo "$t - - - $(stats quantile 0.95 <"$LAB/echo") 0 $n"
	else
		failed
	fi
}

### Cells

cell_path() {
	local rtt
	for rtt in ${RTTS:-$PATH_RTTS}; do
		at_path "$rtt" 1gbit || return
		path_jobs "$rtt" "$BYTES" "v_get v_scp_O v_scp"
		sitting "$RUNS"
	done
}

# SFTP mode alone. The file is small enough that slow start takes half the time.
cell_path512() {
	local rtt
	for rtt in ${RTTS:-100}; do
		at_path "$rtt" 1gbit || return
		path_jobs "$rtt" $((BYTES / 2)) "v_scp" 0.86
		sitting "$RUNS"
	done
}

path_jobs() {	# RTT_MS BYTES VERBS [FACTOR]
	local p n verb d factor
	for d in get put; do
		job iperf3 iperf3 $d "$2" - - v_iperf3 "$2" $d
		for p in $BUILDS; do
			n=$(bytes_for "$p" "$1" "$2")
			for verb in $3; do
				case $verb in
				v_scp) factor=${4:-0.92} ;;
				*) factor=0.95 ;;
				esac
				path_job "$p" $d "$n" "$verb" "$factor"
			done
		done
	done
}

path_job() {	# BUILD get|put BYTES VERB FACTOR
	local t
	t=$(target_for "$1" "rate>=$5*iperf3")
	set -- "$1" "$2" "$3" "$4" "$t" "v_login $1 $1"
	case $4-$2 in
	v_get-get) job "$1" 'ssh cat' get "$3" "$5" "$6" v_get "$1" "$1" "$3" ;;
	v_scp_O-*) job "$1" 'scp -O' "$2" "$3" "$5" "$6" \
	    v_scp "$1" "$1" "$3" "$2" -O ;;
	v_scp-*) job "$1" scp "$2" "$3" "$5" "$6" v_scp "$1" "$1" "$3" "$2" ;;
	esac
}

# Stock sends, the row's program receives. A stock scp that puts in SFTP mode
# keeps 2 MiB in flight whatever the window, so its target is not iperf3.
cell_sender() {
	local rtt far
	for rtt in ${RTTS:-$SENDER_RTTS}; do
		at_path "$rtt" 1gbit || return
		far='rate>=1*stock~'
		case $rtt in 24|100) far="rate>=0.85*iperf3,$far" ;; esac
		sender_jobs "$rtt" "$far"
		sitting "$RUNS"
	done
}

sender_jobs() {	# RTT_MS TARGET
	local p n t few
	few=$(stock_bytes "$1" "$BYTES")
	job iperf3 iperf3 get "$BYTES" - - v_iperf3 "$BYTES" get
	job iperf3 iperf3 put "$BYTES" - - v_iperf3 "$BYTES" put
	for p in $BUILDS; do
		n=$(bytes_for "$p" "$1" "$BYTES")
		t=$(target_for "$p" "$2")
		job "$p" 'ssh cat' get "$n" "$t" "v_login $p stock" \
		    v_get "$p" stock "$n"
		job "$p" scp get "$n" "$t" "v_login $p stock" \
		    v_scp "$p" stock "$n" get
		job "$p" 'scp -O' put "$n" "$t" "v_login stock $p" \
		    v_scp stock "$p" "$n" put -O
		job "$p" scp put "$few" "$(target_for "$p" 'rate>=1*stock~')" \
		    "v_login stock $p" v_scp stock "$p" "$few" put
	done
}

# The time of mux, -L and -R includes the opening of a channel. In the other
# modes that is part of the login.
# The server's window is fixed, so it is several channels that fill the path. At
# 200 ms the 10 channels that it allows hold less than the path.
cell_stripe() {
	local rtt
	for rtt in ${RTTS:-100 200}; do
		at_path "$rtt" 1gbit || return
		stripe_jobs "$rtt" "$BYTES"
		sitting "$RUNS"
	done
}

stripe_jobs() {	# RTT_MS BYTES
	local p n t factor=0.75
	[ "$1" -lt 200 ] || factor=0.6
	job iperf3 iperf3 put "$2" - - v_iperf3 "$2" put
	for p in $BUILDS; do
		n=$(bytes_for "$p" "$1" "$2")
		t=$(target_for "$p" "rate>=$factor*iperf3")
		job "$p" scp put "$n" "$t" "v_login $p stock" \
		    v_scp "$p" stock "$n" put
		t=$(target_for "$p" "rate>=0.6*iperf3")
		job "$p" 'scp over' put "$n" "$t" "v_login $p stock" \
		    v_scp_over "$p" stock "$n"
	done
}

# One stream of cubic carries a fifth of a MB per second where one packet in a
# hundred is lost, so the file is as small as "auto" takes. CONNECTIONS_CC in the
# environment measures one of the two.
cell_connections() {
	local cc n
	for cc in ${CONNECTIONS_CC:-cubic bbr}; do
		knows_cc "$cc" || continue
		at_path 100 1gbit 1% "$cc" || return
		n=$((BYTES / 2))
		[ "$cc" = bbr ] || n=$JOINT_BYTES
		connections_jobs "$n" "$cc"
		sitting "$RUNS"
	done
}

connections_jobs() {	# BYTES CC
	local d p target='rate>=3*single'
	[ "$2" = cubic ] || target='rate>=1*single~'
	for d in get put; do
		for p in ${BUILDS/stock/}; do
			set -- "$1" "$2" "v_login $p $p" v_scp "$p" "$p" "$1" $d
			job "$p" scp $d "$1" - "${@:3}"
			job "$p" 'scp -j auto' $d "$1" \
			    "$(target_for "$p" "$target")" "${@:3}" -j auto
		done
	done
}

cell_forward() {
	local p n t
	at_path 100 1gbit || return
	for p in $BUILDS; do
		n=$(bytes_for "$p" 100 $((BYTES / 2)))
		t=$(target_for "$p" 'rate>=0.85*direct')
		set -- "$p" "$p" "$n"
		job "$p" session get "$n" - "v_login $p $p" v_get "$@"
		job "$p" session put "$n" - "v_login $p $p" v_put "$@"
		job "$p" mux get "$n" "$t" - v_mux "$@" get
		job "$p" mux put "$n" "$t" - v_mux "$@" put
		job "$p" -L get "$n" "$t" - v_local "$@"
		job "$p" -R put "$n" "$t" - v_remote "$@"
		job "$p" -W get "$n" "$t" "v_stdio_login $p $p" v_stdio "$@"
		job "$p" ProxyJump get "$n" "$t" "v_jump_login $p $p" v_jump "$@"
		job "$p" ProxyCommand get "$n" "$t" "v_login $p $p" v_command "$@"
	done
	sitting "$RUNS"
}

cell_slow() {
	local p t n=$SLOW_BYTES
	at_loop || return
	for p in $BUILDS; do
		t=$(target_for "$p" 'seconds<=1.10*stock')
		job "$p" 'ssh cat, slow' get "$n" "$t" - v_get "$p" "$p" "$n" 100e6
		job "$p" 'ssh cat, slow' put "$n" "$t" - \
		    v_put "$p" "$p" "$n" "$METER slow 100e6"
	done
	sitting "$RUNS"
}

cell_loopback() {
	local p t n=$BYTES
	at_loop || return
	job iperf3 iperf3 get "$n" - - v_iperf3 "$n" get
	job iperf3 iperf3 put "$n" - - v_iperf3 "$n" put
	for p in $BUILDS; do
		t=$(target_for "$p" 'rate>=1*stock~')
		job "$p" 'ssh cat' get "$n" "$t" "v_login $p $p" v_get "$p" "$p" "$n"
		job "$p" 'ssh cat' put "$n" "$t" "v_login $p $p" v_put "$p" "$p" "$n"
		job "$p" scp get "$n" "$t" "v_login $p $p" v_scp "$p" "$p" "$n" get
		job "$p" scp put "$n" "$t" "v_login $p $p" v_scp "$p" "$p" "$n" put
	done
	sitting "$RUNS"
}

# 36622 KiB is three times the BDP, 1 Gbit/s * 100 ms.
cell_memory() {
	local p t n
	at_path 100 1gbit || return
	for p in $BUILDS; do
		n=$(bytes_for "$p" 100 "$BYTES")
		t=$(target_for "$p" 'kib<=stock+36622')
		set -- "$p" "$p" "$n"
		job "$p" 'peak, fast' get "$n" "$t" - v_get "$@"
		job "$p" 'peak, slow' get "$n" "$t" - v_get "$@" 50e6
		job "$p" 'peak, fast' put "$n" "$t" - v_put_peak "$@" cat
		job "$p" 'peak, slow' put "$n" "$t" - v_put_peak "$@" \
		    "$METER slow 50e6"
	done
	sitting "$RUNS"
}

cell_idle() {
	local p t
	at_loop || return
	for p in $BUILDS; do
		t=$(target_for "$p" 'kib<=stock+256')
		job "$p" 'idle ssh' - 0 "$t" - v_idle "$p" "$p" ssh
		job "$p" 'idle sshd-session' - 0 "$t" - v_idle "$p" "$p" sshd-session
	done
	sitting "$RUNS"
}

cell_echo() {
	local p t d
	at_path 50 100mbit || return
	for p in $BUILDS; do
		t=$(target_for "$p" 'ms<=stock~')
		for d in idle get put; do
			job "$p" 'echo, 95 %' $d 0 "$t" - \
			    v_echo "$p" "$p" $d "$ECHOES"
		done
	done
	sitting "$RUNS"
}
