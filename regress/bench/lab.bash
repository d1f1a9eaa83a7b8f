# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# The laboratory of the benchmarks and of the demonstration: two places where
# builds are compared, and the servers that run there.
#
#   lab_open                    make a directory, keys and the meter
#   lab_peer NAME=PREFIX[:STEM] add a build to $BUILDS
#   lab_loop SSHD-OPTION...     both ends at 127.0.0.1
#   lab_path LFP-OPTION...      two ends of a path made by ../lfp/lfp
#   lab_close                   remove everything; call it from a trap
#
# Each place has an sshd of build/hayate, of build/stock and of each peer, and
# iperf3 if it is installed. They listen at $FAR. "ssh -F $LAB/config" knows them
# as the hosts "hayate" and "stock". A client at the far end reaches them as
# "hayate-hop" and "stock-hop". $AT_A and $AT_B run a command at the near and at
# the far end. $BUFFERS, if set, is the largest socket buffer on the path in
# bytes, for sending and for receiving.
#
# The servers are started by ../helper.bash, as for the tests.

BENCH_DIR=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
BUILDS=${BUILDS:-stock hayate}
FASTEST=aes128-gcm@openssh.com
GMAC=aes128-gmac@hayate.invalid
# OPENSSL_ia32cap without AES-NI, PCLMULQDQ, SHA, VAES and VPCLMULQDQ
WITHOUT_AES='~0x200000200000000:~0x60020000000'

# Functions that remove what a suite has set up beside servers and path
LAB_DOWN=
# Additional lines in the server's and the client's configuration, by build
declare -gA SSHD_SAYS=([hayate]='NoneEnabled yes') CLIENT_SAYS=()

warn() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { warn "$*"; exit 1; }

# lab_open: fails unless all $BUILDS exist. Small files go to $LAB, transferred
# files to $DATA, which is in memory where that is possible.
lab_open() {
	local b data=${BENCH_DATA:-}
	bats_require_minimum_version() { :; }
	# shellcheck source=../helper.bash
	. "$BENCH_DIR/../helper.bash"
	for b in $BUILDS; do
		[ -x "$(bin ssh "$b")" ] && [ -x "$(bin sshd-session "$b")" ] ||
		    die "no ssh in $BUILD/$b: run make and make stock first"
	done
	if [ -z "$data" ] && [ -w /dev/shm ]; then data=/dev/shm; fi
	LAB=$(mktemp -d "${TMPDIR:-/tmp}/lab.XXXXXXXX") &&
	    DATA=$(mktemp -d "${data:-${TMPDIR:-/tmp}}/lab.XXXXXXXX") || exit
	BATS_FILE_TMPDIR=$LAB
	METER=$LAB/meter
	PLACE='' PATH_NAME='' IPERF_PID='' IN_CLIENT='' AT_A='' AT_B=''
	${CC:-cc} -O2 -o "$METER" "$BENCH_DIR/meter.c" || die "no meter"
}

# lab_peer SPEC: adds a build for bin() of ../helper.bash; dies if one is missing
lab_peer() {
	local name=${1%%=*} prefix=${1#*=} stem='' p missing=''
	case $prefix in *:*) stem=:${prefix##*:} prefix=${prefix%:*} ;; esac
	[[ $1 = *=* && $name =~ ^[a-z0-9][a-z0-9._-]*$ &&
	    $stem =~ ^(:[a-z0-9_-]+)?$ ]] ||
	    die "--peer $1: should be NAME=PREFIX or NAME=PREFIX:STEM"
	case " stock hayate system iperf3 $BUILDS " in
	*" $name "*) die "--peer $1: the name $name is taken" ;;
	esac
	case $prefix in *[[:space:]]*) die "--peer $1: a blank in the path" ;; esac
	[ -d "$prefix" ] || die "--peer $1: no directory $prefix"
	PEERS+=${PEERS:+ }$name=$prefix$stem
	for p in ssh scp sftp sshd sftp-server; do
		[ -x "$(bin "$p" "$name")" ] || missing+="${missing:+, }${stem#:}$p"
	done
	[ -z "$missing" ] || die "--peer $1: no $missing in $prefix, nor in its" \
	    "${PEER_DIRS% .}"
	BUILDS+=" $name"
}

# lab_try NAME: dies unless the peer's programs start with our configuration
lab_try() {
	local why
	why=$("$(bin ssh "$1")" -V 2>&1) ||
	    die "--peer $1: $(bin ssh "$1"): ${why##*$'\n'}"
	make_keys
	privsep_dirs
	sshd_conf "$1" "$LAB" 22 "SetEnv PATH=$PATH" >"$LAB/try"
	why=$("$(bin sshd "$1")" -t -f "$LAB/try" 2>&1) ||
	    die "--peer $1: $(bin sshd "$1"): $(tail -n 1 <<<"$why" | tr -d '\r')"
}

# lab_programs BUILD: the directory of programs that a session finds. A peer's
# directory has its scp under both names.
lab_programs() {
	local d=$LAB/programs.$1 scp
	scp=$(peer_bin scp "$1") || { echo "$BUILD/$1"; return; }
	mkdir -p "$d"
	ln -sf "$scp" "$d/scp"
	ln -sf "$scp" "$d/${scp##*/}"
	echo "$d"
}

# lab_servers OPTION...: starts the sshd of each build, and iperf3. If SetEnv is
# given twice, sshd takes the first. So SHLVL is repeated here, without which bash
# reads the user's .bashrc.
lab_servers() {
	local b
	for b in $BUILDS; do
		IN_SERVER=$AT_B sshd_up "$b" "LogLevel ERROR" "${SSHD_SAYS[$b]:-}" \
		    "SetEnv PATH=$(lab_programs "$b"):$PATH SHLVL=1" "$@" || return
	done
	lab_config
	command -v iperf3 >/dev/null || return 0
	IPERF_PORT=$((14000 + RANDOM % 5000))
	$AT_B iperf3 -s -p $IPERF_PORT >/dev/null 2>&1 &
	IPERF_PID=$!
	poll 5 listening "$AT_B" $IPERF_PORT
}

# listening WHERE PORT: whether a process listens on the port
listening() { [ -n "$($1 ss -Htln "sport = :$2")" ]; }

lab_config() {
	local b
	for b in $BUILDS; do
		printf 'Host %s\n\tPort %s\n\tHostName %s\n' \
		    "$b" "$(sshd_port "$b")" "$FAR" \
		    "$b-hop" "$(sshd_port "$b")" 127.0.0.1
	done >"$LAB/config"
	for b in $BUILDS; do
		[ -z "${CLIENT_SAYS[$b]:-}" ] || lab_say "$b" "${CLIENT_SAYS[$b]}"
	done
	HAYATE_ENV=()
	case ${CIPHER:-} in
	'') ;;
	none|"$GMAC") lab_clear ;;
	*) lab_say "$BUILDS" "Ciphers $CIPHER" ;;
	esac
	sed -n '/^Host \*/,$p' "$LAB/ssh_config" >>"$LAB/config"
}

# lab_say "BUILD..." WORDS: adds a line to the configuration of these hosts
lab_say() {
	local b
	for b in $1; do
		sed -i "s/^Host $b\(-hop\)\?$/&\n\t$2/" "$LAB/config"
	done
}

# Data in clear with Hayate. The other builds use the fastest cipher. A client
# that finds no processor instructions for GMAC negotiates "none".
lab_clear() {
	[ "$CIPHER" = "$GMAC" ] ||
	    HAYATE_ENV=(env "OPENSSL_ia32cap=$WITHOUT_AES")
	lab_say "$BUILDS" "Ciphers $FASTEST"
	lab_say hayate 'NoneEnabled yes\n\tNoneSwitch yes'
	sed -i '1i IgnoreUnknown None*' "$LAB/config"
}

lab_loop() {
	lab_leave
	PLACE=loop FAR=127.0.0.1
	lab_servers "$@"
}

# lab_can_path: whether this machine can make a path; prints why not
lab_can_path() { "$BENCH_DIR/../lfp/lfp" check; }

lab_path() {
	lab_leave
	PLACE=path FAR=10.77.0.2
	# The name is set first, so that a signal's trap removes the path.
	PATH_NAME=bench$$
	"$BENCH_DIR/../lfp/lfp" up $PATH_NAME "$@" || { PATH_NAME=; return 1; }
	AT_A="ip netns exec lfp-$PATH_NAME-a"
	AT_B="ip netns exec lfp-$PATH_NAME-b"
	[ -z "${BUFFERS:-}" ] || lab_buffers "$BUFFERS" || return
	lab_servers "ListenAddress $FAR" "ListenAddress 127.0.0.1"
}

# lab_buffers BYTES: the largest buffer of sockets made from now on. The servers
# start later, because a connection inherits the listener's buffer.
lab_buffers() {
	local at in=131072 out=16384
	[ "$1" -ge $in ] || in=$1
	[ "$1" -ge $out ] || out=$1
	for at in "$AT_A" "$AT_B"; do
		$at sysctl -q -w net.ipv4.tcp_rmem="4096 $in $1" \
		    net.ipv4.tcp_wmem="4096 $out $1" || return
	done
}

# lab_leave: stops the servers and removes the path.
lab_leave() {
	[ -n "${PLACE:-}" ] || return 0
	sshd_down
	[ -z "$IPERF_PID" ] || { kill "$IPERF_PID"; wait "$IPERF_PID"; } 2>/dev/null
	[ -z "$PATH_NAME" ] || "$BENCH_DIR/../lfp/lfp" down "$PATH_NAME"
	PLACE='' PATH_NAME='' IPERF_PID='' AT_A='' AT_B=''
}

lab_close() {
	local down
	[ -n "${LAB:-}" ] || return 0
	lab_leave
	for down in $LAB_DOWN; do $down; done
	rm -rf "$LAB" "$DATA"
	LAB=
}

# file_of BYTES: the name of a random file of that size
file_of() {
	local f=$DATA/$1
	[ -f "$f" ] || head -c "$1" /dev/urandom >"$f" || return
	echo "$f"
}

# pid_of BUILD: the pid of its sshd
pid_of() { cat "$(sshd_dir "$1")/pid"; }

# timed OPTION... COMMAND...: runs the command at the near end under the meter.
# The record of processes goes to $PROCS if that is set.
timed() {
	$AT_A "$METER" run -t "${LIMIT:-900}" ${PROCS:+-p "$PROCS"} "$@"
}

# use BUILD: sets the arrays SSH and SCP
use() {
	local env=()
	[ "$1" != hayate ] || env=("${HAYATE_ENV[@]}")
	SSH=("${env[@]}" "$(bin ssh "$1")" -F "$LAB/config")
	SCP=("${env[@]}" "$(bin scp "$1")" -q -S "$(bin ssh "$1")"
	    -F "$LAB/config")
}
