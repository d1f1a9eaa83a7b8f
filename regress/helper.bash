# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# What the Bats suites share: servers and clients of three builds, and of peers.
#
#   hayate  build/hayate     stock  build/stock     system  /usr/bin
#
# A peer is any other build in the shape of OpenSSH, of any age, installed or in
# one directory: $PEERS has words NAME=PREFIX[:STEM]. With a STEM its programs
# are called STEMssh, STEMsshd and so on.
#
# A suite writes:
#
#   setup_file() { sshd_up hayate; sshd_up stock "Ciphers aes128-ctr"; }
#   teardown_file() { sshd_down; }
#   @test "..." { client hayate true; CLIENT=stock client hayate true; }
#
# Servers listen on a free port of 127.0.0.1 with keys of their own, log at
# DEBUG2 to $(sshd_log NAME), and live in $BATS_FILE_TMPDIR like all else.
# At the far end of a path they listen on $SERVER_ADDRESS instead.

bats_require_minimum_version 1.5.0

TOP=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
REGRESS=$TOP/regress
LFP=$REGRESS/lfp/lfp
BUILD=${HAYATE_BUILD:-$TOP/build}

# rooms: the directories of our modules
rooms() { sed -n 's/^HAYATE_ROOMS = //p' "$TOP/modules.mk"; }

PEERS=${PEERS-}
PEER_DIRS='bin sbin libexec libexec/openssh lib/openssh lib/ssh .'

# peer_bin PROGRAM NAME: as bin; 1 if no peer has that name
peer_bin() {
	local peer prefix stem d
	for peer in $PEERS; do
		[ "${peer%%=*}" = "$2" ] || continue
		prefix=${peer#*=} stem=
		case $prefix in
		*:*) stem=${prefix##*:} prefix=${prefix%:*} ;;
		esac
		for d in $PEER_DIRS; do
			d=$prefix/${d/#./}/$stem$1 d=${d/#"$prefix//"/"$prefix/"}
			[ -f "$d" ] && [ -x "$d" ] && break
			d=$prefix/bin/$stem$1
		done
		echo "$d"
		return
	done
	return 1
}

# bin PROGRAM [BUILD]: its absolute path, or where it should have been
bin() {
	peer_bin "$1" "${2-hayate}" && return
	case ${2-hayate} in
	system)	case $1 in
		sshd)		echo /usr/sbin/sshd ;;
		sftp-server)	echo /usr/lib/openssh/sftp-server ;;
		*)		echo "/usr/bin/$1" ;;
		esac ;;
	*)	echo "$BUILD/${2-hayate}/$1" ;;
	esac
}

# poll SECONDS COMMAND...: until it succeeds; 1 if it never does
poll() {
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.05
	done
}

# need_root [WHAT]: skip without root
need_root() { ((EUID == 0)) || skip "${1:-this} needs root"; }

# unit DRIVER [ARG...]: a unit driver of "make unit"; ${FLAVOUR-asan}
unit() { "$BUILD/unit/${FLAVOUR-asan}/$1" "${@:2}"; }

sshd_dir() { echo "$BATS_FILE_TMPDIR/sshd.$1"; }
sshd_log() { echo "$BATS_FILE_TMPDIR/sshd.$1/log"; }
sshd_port() { cat "$BATS_FILE_TMPDIR/sshd.$1/port"; }

# keys: once for a file
keys() {
	local d=$BATS_FILE_TMPDIR k
	[ -f "$d/known_hosts" ] && return
	for k in host user; do
		"$(bin ssh-keygen system)" -q -t ed25519 -N '' -C "$k" -f "$d/$k"
	done
	cp "$d/user.pub" "$d/authorized_keys"
	echo "hayate-test $(cat "$d/host.pub")" >"$d/known_hosts"
}

# An unpacked sshd insists on its empty directory, which installing would make.
privsep_dirs() {
	local d
	((EUID == 0)) || return 0
	for d in /var/empty /run/sshd; do
		[ -d $d ] || mkdir -m 0755 $d
	done
}

# sshd_conf BUILD DIR PORT OPTION...: the options given come first, so they win.
# With that SHLVL bash does not take itself for a shell begun by sshd, which would
# read the user's .bashrc for each command.
sshd_conf() {
	local build=$1 dir=$2 port=$3 pam=no option listen=${SERVER_ADDRESS-127.0.0.1}
	shift 3
	for option; do
		case ${option,,} in listenaddress*) listen= ;; esac
		printf '%s\n' "$option"
	done
	# A locked account may log in through PAM alone.
	case $( ((EUID)) || getent shadow root) in root:!*) pam=yes ;; esac
	[ -z "$listen" ] || echo "ListenAddress $listen"
	cat <<-EOF
	Port $port
	PidFile $dir/pid
	HostKey $BATS_FILE_TMPDIR/host
	AuthorizedKeysFile $BATS_FILE_TMPDIR/authorized_keys
	StrictModes no
	PermitRootLogin yes
	PasswordAuthentication no
	KbdInteractiveAuthentication no
	UsePAM $pam
	LogLevel DEBUG2
	MaxStartups 100
	SetEnv SHLVL=1
	Subsystem sftp $(bin sftp-server "$build")
	EOF
	sshd_parts "$build"
}

# sshd_parts BUILD: where sshd finds the rest of itself. The keywords are as old
# as the programs, which older releases do without.
sshd_parts() {
	local part program
	[ "$1" != system ] || return 0
	for part in Session Auth; do
		program=$(bin "sshd-${part,,}" "$1")
		if [ -x "$program" ] || ! peer_bin sshd "$1" >/dev/null; then
			echo "Sshd${part}Path $program"
		fi
	done
}

# sshd_up [BUILD[:NAME]] ["Option value"...]: a server, called NAME or BUILD by
# client, copy and the functions above. $IN_SERVER, if set, is put in front of
# it, as in IN_SERVER="ip netns exec far".
sshd_up() {
	local name=${1:-hayate} build dir port
	build=${name%%:*} name=${name#*:}
	dir=$(sshd_dir "$name")
	shift $(($# > 0))
	[ -x "$(bin sshd "$build")" ] || {
		echo "no $(bin sshd "$build")" >&2
		return 1
	}
	keys
	privsep_dirs
	mkdir -p "$dir"
	for _ in 1 2 3 4 5 6 7 8; do
		port=$((20000 + RANDOM % 12000))
		rm -f "$dir/pid" "$dir/log"
		sshd_conf "$build" "$dir" $port "$@" >"$dir/config"
		# shellcheck disable=SC2086
		setsid $IN_SERVER "$(bin sshd "$build")" -D -f "$dir/config" \
		    -E "$dir/log" </dev/null >"$dir/out" 2>&1 3>&- &
		poll 10 sshd_settled "$dir" $!
		if [ -s "$dir/pid" ]; then
			echo $port >"$dir/port"
			ssh_conf >"$BATS_FILE_TMPDIR/ssh_config"
			return 0
		fi
	done
	cat "$dir/out" "$dir/log" >&2
	return 1
}

# sshd writes its pid once it listens
sshd_settled() { [ -s "$1/pid" ] || ! kill -0 "$2" 2>/dev/null; }

# sshd_down [NAME...]: all of them if none is named, sessions included
sshd_down() {
	local dir pid
	if (($# == 0)); then set -- "$BATS_FILE_TMPDIR"/sshd.*/; fi
	for dir; do
		dir=${dir%/}
		dir=$BATS_FILE_TMPDIR/sshd.${dir##*/sshd.}
		pid=$(cat "$dir/pid" 2>/dev/null) || continue
		kill -- "-$pid" 2>/dev/null || kill "$pid" 2>/dev/null || continue
		poll 10 gone "$pid"
	done
}
gone() { ! kill -0 "$1" 2>/dev/null; }

# ssh_conf: a Host block for each server that was started; 127.0.0.1 means the
# one started last
ssh_conf() {
	local p name host last=
	for p in $(ls -t "$BATS_FILE_TMPDIR"/sshd.*/port); do
		name=${p%/port} name=${name##*/sshd.}
		host=$name
		if [ -z "$last" ]; then host="$name 127.0.0.1"; last=y; fi
		printf 'Host %s\n\tPort %s\n' "$host" "$(cat "$p")"
	done
	cat <<-EOF
	Host *
	HostName ${SERVER_ADDRESS-127.0.0.1}
	HostKeyAlias hayate-test
	IdentityFile $BATS_FILE_TMPDIR/user
	IdentitiesOnly yes
	IdentityAgent none
	UserKnownHostsFile $BATS_FILE_TMPDIR/known_hosts
	GlobalKnownHostsFile none
	StrictHostKeyChecking yes
	BatchMode yes
	ControlPath none
	EOF
}

# client, copy, files ARG...: ssh, scp and sftp of the build ${CLIENT-hayate},
# with the names of servers as hosts. $IN_CLIENT is put in front.
client() {
	$IN_CLIENT "$(bin ssh "${CLIENT-hayate}")" \
	    -F "$BATS_FILE_TMPDIR/ssh_config" "$@" 3>&-
}
copy() {
	$IN_CLIENT "$(bin scp "${CLIENT-hayate}")" -S "$(bin ssh "${CLIENT-hayate}")" \
	    -F "$BATS_FILE_TMPDIR/ssh_config" "$@" 3>&-
}
files() {
	$IN_CLIENT "$(bin sftp "${CLIENT-hayate}")" -S "$(bin ssh "${CLIENT-hayate}")" \
	    -F "$BATS_FILE_TMPDIR/ssh_config" "$@" 3>&-
}
