# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Functions for all Bats suites: servers and clients of three builds and of peers.
#
#   hayate  build/hayate     stock  build/stock     system  /usr/bin
#
# A peer is any other build of OpenSSH or of a fork, of any release, installed or
# in one directory. $PEERS lists them as NAME=PREFIX[:STEM]. With a STEM the
# programs are called STEMssh, STEMsshd and so on.
#
# A suite writes:
#
#   setup_file() { sshd_up hayate; sshd_up stock "Ciphers aes128-ctr"; }
#   teardown_file() { sshd_down; }
#   @test "..." { client hayate true; CLIENT=stock client hayate true; }
#
# Servers listen on a free port of 127.0.0.1, or of $SERVER_ADDRESS at the far end
# of a path. They have their own keys and log at DEBUG2 to $(sshd_log NAME). All
# files are in $BATS_FILE_TMPDIR.

bats_require_minimum_version 1.5.0

TOP=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
REGRESS=$TOP/regress
LFP=$REGRESS/lfp/lfp
BUILD=${HAYATE_BUILD:-$TOP/build}

# A python3 of a version manager takes ten times as long to start, and has none of
# the system's modules.
hash python3 2>/dev/null || :
if [ -x /usr/bin/python3 ] && [ "${BASH_CMDS[python3]-}" != /usr/bin/python3 ] &&
    [ -n "${BATS_RUN_TMPDIR-}" ]; then
	[ -e "$BATS_RUN_TMPDIR/bin/python3" ] || {
		mkdir -p "$BATS_RUN_TMPDIR/bin"
		ln -sf /usr/bin/python3 "$BATS_RUN_TMPDIR/bin/"
	}
	case $PATH in
	"$BATS_RUN_TMPDIR/bin":*) ;;
	*) PATH=$BATS_RUN_TMPDIR/bin:$PATH ;;
	esac
fi

# list_rooms: prints the directories of our modules
list_rooms() { sed -n 's/^HAYATE_ROOMS = //p' "$TOP/modules.mk"; }

PEERS=${PEERS-}
PEER_DIRS='bin sbin libexec libexec/openssh lib/openssh lib/ssh .'

# peer_bin PROGRAM NAME: prints the path of a peer's program; fails if no peer has that
# name
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

# bin PROGRAM [BUILD]: prints its absolute path, even if it is missing
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

# poll SECONDS COMMAND...: repeats COMMAND until it succeeds; fails after SECONDS
poll() {
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.05
	done
}

# need_root [WHAT]: skips the test without root
need_root() { ((EUID == 0)) || skip "${1:-this} needs root"; }

# need COMMAND [PACKAGE]: skips the test without COMMAND
need() { command -v "$1" >/dev/null || skip "no $1 (package ${2-$1})"; }

# must COMMAND [PACKAGE]: fails without COMMAND, for setup_file, where Bats has no skip
must() {
	command -v "$1" >/dev/null || {
		echo "no $1: install the package ${2-$1}"
		return 1
	}
}

# need_path: skips the test where no path can be emulated
need_path() {
	local why
	why=$("$LFP" check 2>&1) || skip "no path: ${why#lfp: }"
}

# need_asyncssh: skips the test without the Python package that regress/peers uses
need_asyncssh() {
	"$REGRESS/peers/authonly-peer" 2>&1 | grep -q CIPHER ||
	    skip "no asyncssh, which is in the package python3-asyncssh"
}

# fails COMMAND...: succeeds if COMMAND fails. A test would continue after "! command".
fails() { ! "$@"; }

# bad_disk: compiles bad.so. A program that has loaded it gets an error when it reads files
# named BAD beyond 300,000 bytes, or $BAD_AT, and when it closes files named FULL, and
# reads and writes files named SHORT in small pieces, with EINTR unless $CALM is set.
bad_disk() {
	cc -shared -fPIC -o bad.so -xc - <<-'EOT'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <errno.h>
	#include <fcntl.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <unistd.h>

	static int
	is(int fd, const char *name)
	{
		char at[40], path[4096] = "";

		snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
		return readlink(at, path, sizeof(path) - 1) > 0 &&
		    strcmp(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, name) == 0;
	}

	/* Returns how many of n bytes one call transfers; -1: interrupted */
	static ssize_t
	piece(int fd, size_t n)
	{
		static int calls;

		if (!is(fd, "SHORT"))
			return n;
		errno = EINTR;
		return ++calls % 5 == 0 && !getenv("CALM") ? -1 : n < 70001 ? n : 70001;
	}

	/* Returns how many of n bytes can be read; -1: none */
	static ssize_t
	readable(int fd, off_t at, size_t n)
	{
		off_t end = getenv("BAD_AT") ? atol(getenv("BAD_AT")) : 300000;

		if (is(fd, "SHORT"))
			return piece(fd, n);
		if (!is(fd, "BAD") || at + (off_t)n <= end)
			return n;
		errno = EIO;
		return at >= end ? -1 : end - at;
	}

	ssize_t
	read(int fd, void *p, size_t n)
	{
		ssize_t (*real)() = dlsym(RTLD_NEXT, "read");
		ssize_t most = readable(fd, lseek(fd, 0, SEEK_CUR), n);

		return most == -1 ? -1 : real(fd, p, most);
	}

	ssize_t
	pread(int fd, void *p, size_t n, off_t at)
	{
		ssize_t (*real)() = dlsym(RTLD_NEXT, "pread");
		ssize_t most = readable(fd, at, n);

		return most == -1 ? -1 : real(fd, p, most, at);
	}

	ssize_t
	pread64(int fd, void *p, size_t n, off_t at)
	{
		return pread(fd, p, n, at);
	}

	ssize_t
	write(int fd, const void *p, size_t n)
	{
		ssize_t (*real)() = dlsym(RTLD_NEXT, "write");
		ssize_t most = piece(fd, n);

		return most == -1 ? -1 : real(fd, p, most);
	}

	ssize_t
	pwrite(int fd, const void *p, size_t n, off_t at)
	{
		ssize_t (*real)() = dlsym(RTLD_NEXT, "pwrite");
		ssize_t most = piece(fd, n);

		return most == -1 ? -1 : real(fd, p, most, at);
	}

	ssize_t
	pwrite64(int fd, const void *p, size_t n, off_t at)
	{
		return pwrite(fd, p, n, at);
	}

	int
	close(int fd)
	{
		int (*real)() = dlsym(RTLD_NEXT, "close");
		int bad = is(fd, "FULL") && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY;

		if (real(fd) == -1 || !bad)
			return bad ? -1 : 0;
		errno = EDQUOT;
		return -1;
	}
	EOT
}

# check_report EXPRESSION: checks a Python expression of the report r and its files f, by
# the name in "from"
check_report() {
	python3 - "$1" <<-'END' || { cat report; return 1; }
	import json, os, sys
	r = json.load(open("report"))
	f = {os.path.basename(x["from"]): x for x in r["files"]}
	sys.exit(not eval(sys.argv[1]))
	END
}

# measure_seconds COMMAND...: prints how many seconds it takes
measure_seconds() {
	local from=$EPOCHREALTIME
	"$@" || return
	echo "${EPOCHREALTIME/,/.} ${from/,/.}" | awk '{ print $1 - $2 }'
}

# measure_peak COMMAND...: prints its peak memory in KiB
measure_peak() {
	python3 - "$@" <<-'END'
	import resource, subprocess, sys
	subprocess.check_call(sys.argv[1:], stdin=subprocess.DEVNULL)
	print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
	END
}

# check_true EXPRESSION: checks an awk expression of numbers, and prints it if it is false
check_true() { awk "BEGIN { exit !($1) }" || { echo "not so: $1"; return 1; }; }

# run_unit DRIVER [ARG...]: runs a driver of "make unit", built as ${FLAVOUR-asan}
run_unit() { "$BUILD/unit/${FLAVOUR-asan}/$1" "${@:2}"; }

# get_value RUN KEY: prints a value from the output of a replay driver about that run
get_value() { sed -n "s/^\(.* \)\{0,1\}$2=\([^ ]*\).*/\2/p" <<<"${lines[$1]}"; }

sshd_dir() { echo "$BATS_FILE_TMPDIR/sshd.$1"; }
sshd_log() { echo "$BATS_FILE_TMPDIR/sshd.$1/log"; }
sshd_port() { cat "$BATS_FILE_TMPDIR/sshd.$1/port"; }

# make_keys: makes keys and known_hosts, once per Bats file
make_keys() {
	local d=$BATS_FILE_TMPDIR k
	[ -f "$d/known_hosts" ] && return
	for k in host user; do
		"$(bin ssh-keygen system)" -q -t ed25519 -N '' -C "$k" -f "$d/$k"
	done
	cp "$d/user.pub" "$d/authorized_keys"
	echo "hayate-test $(cat "$d/host.pub")" >"$d/known_hosts"
}

# privsep_dirs: makes the empty directory that sshd requires, which only "make install"
# creates otherwise
privsep_dirs() {
	local d
	((EUID == 0)) || return 0
	for d in /var/empty /run/sshd; do
		[ -d $d ] || mkdir -m 0755 $d
	done
}

# sshd_conf BUILD DIR PORT OPTION...: prints a configuration. The given options come
# first, so they take precedence. SHLVL keeps bash from reading the user's .bashrc
# for each command, which it does if it detects that sshd started it.
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

# sshd_parts BUILD: prints the paths of sshd-session and sshd-auth. Older releases
# have neither the programs nor the keywords.
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

# sshd_up [BUILD[:NAME]] ["Option value"...]: starts a server. client, copy and the
# functions above know it as NAME, or BUILD without a NAME. $IN_SERVER, if set, is
# a command prefix, as in IN_SERVER="ip netns exec far".
sshd_up() {
	local name=${1:-hayate} build dir port
	build=${name%%:*} name=${name#*:}
	dir=$(sshd_dir "$name")
	shift $(($# > 0))
	[ -x "$(bin sshd "$build")" ] || {
		echo "no $(bin sshd "$build")" >&2
		return 1
	}
	make_keys
	privsep_dirs
	mkdir -p "$dir"
	for _ in 1 2 3 4 5 6 7 8; do
		port=$((20000 + RANDOM % 12000))
		rm -f "$dir/pid" "$dir/log"
		sshd_conf "$build" "$dir" $port "$@" >"$dir/config"
		# shellcheck disable=SC2086
		setsid $IN_SERVER "$(bin sshd "$build")" -D -f "$dir/config" \
		    -E "$dir/log" </dev/null >"$dir/out" 2>&1 3>&- &
		poll 10 has_sshd_settled "$dir" $!
		if [ -s "$dir/pid" ]; then
			echo $port >"$dir/port"
			ssh_conf >"$BATS_FILE_TMPDIR/ssh_config"
			return 0
		fi
	done
	cat "$dir/out" "$dir/log" >&2
	return 1
}

# has_sshd_settled DIR PID: succeeds if sshd has ended, or listens and has written its pid
has_sshd_settled() { [ -s "$1/pid" ] || ! kill -0 "$2" 2>/dev/null; }

# start_odd_server [OPTION...]: starts a stock server "odd", whose first SFTP session is
# normal, and whose others run the command of set_odd_server()
start_odd_server() {
	local at=$BATS_FILE_TMPDIR/odd
	cat >"$at" <<-END
	#!/bin/sh
	mkdir $at.first 2>/dev/null && exec $(bin sftp-server stock)
	. $at.further
	END
	chmod +x "$at"
	sshd_up stock:odd "Subsystem sftp $at" "$@"
}

# set_odd_server COMMAND: sets the command for each session after the next one
set_odd_server() {
	rm -rf "$BATS_FILE_TMPDIR/odd.first"
	echo "$1" >"$BATS_FILE_TMPDIR/odd.further"
}

# count_logins NAME: prints how many times a user has logged in with a key
count_logins() { grep -c 'Accepted publickey' "$(sshd_log "$1")" || :; }

# sshd_down [NAME...]: stops the servers, or all if none is named, with their sessions
sshd_down() {
	local dir pid
	if (($# == 0)); then set -- "$BATS_FILE_TMPDIR"/sshd.*/; fi
	for dir; do
		dir=${dir%/}
		dir=$BATS_FILE_TMPDIR/sshd.${dir##*/sshd.}
		pid=$(cat "$dir/pid" 2>/dev/null) || continue
		kill -- "-$pid" 2>/dev/null || kill "$pid" 2>/dev/null || continue
		poll 10 is_gone "$pid"
	done
}
is_gone() { ! kill -0 "$1" 2>/dev/null; }

# ssh_conf: prints a Host block for each server. 127.0.0.1 is the server that was started
# last.
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

# client, copy, files ARG...: runs ssh, scp or sftp of the build ${CLIENT-hayate}.
# Server names are host names. $IN_CLIENT, if set, is a command prefix.
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

# use_own_cache: sets this test's directories T and F, the keys that may log in, and a
# login cache of its own
use_own_cache() {
	cd "$BATS_TEST_TMPDIR" || return
	T=$BATS_TEST_TMPDIR
	F=$BATS_FILE_TMPDIR
	cp "$F/user.pub" "$F/may"
	cp "$F/known_hosts" hosts
	# shellcheck disable=SC2034 # for the suites
	KNOWN=(-o UserKnownHostsFile="$T/hosts")
}

# check_self_start BIN: checks that ssh and scp in BIN, started by the dynamic loader, can
# start a further connection, and log in again after a server closed the connection of an
# early login. The test calls use_own_cache first, and its teardown foreign_down and
# sshd_down.
check_self_start() {
	sshd_up hayate:itself
	head -c 8000000 /dev/urandom >sent
	"$1/scp" -v -F "$F/ssh_config" "${KNOWN[@]}" -o MaxRate=4M -j 2 sent itself:"$PWD/got" >said 2>&1
	cmp sent got
	fails grep 'error while loading' said
	[ "$(count_logins itself)" = 2 ] || return
	ssh-keygen -q -t rsa -b 2048 -m PEM -N '' -f rsa
	echo "hayate-test $(cat rsa.pub)" >hosts
	rm -f hayate_logins
	FOREIGN_PORT=$((20000 + RANDOM % 12000))
	"$REGRESS/peers/login-peer" 127.0.0.1 "$FOREIGN_PORT" rsa impatient >said 2>&1 3>&- &
	FOREIGN=$!
	poll 10 grep -qx ready said
	for _ in 1 2; do
		[ "$("$1/ssh" -v -F "$F/ssh_config" "${KNOWN[@]}" -p "$FOREIGN_PORT" -- \
		    127.0.0.1 echo in 2>err </dev/null)" = in ] || return
	done
	tr -d '\r' <err | grep -x 'early login: the server did not take it, beginning anew'
}

# count_trips COMMAND...: prints the round trips over the path $P until its last reply
count_trips() {
	"$LFP" clear "$P"
	"$@" >out 2>err </dev/null || { cat err >&2; return 1; }
	"$LFP" stat "$P" back trips
}

# make_askpass: makes an SSH_ASKPASS that answers "secret" and adds a line to "asked"
make_askpass() {
	printf '#!/bin/sh\necho asked >>%s\necho secret\n' "$PWD/asked" >askpass
	chmod +x askpass
	export SSH_ASKPASS=$PWD/askpass SSH_ASKPASS_REQUIRE=force
}

# require_passphrase: makes the configuration "c", whose key needs a passphrase for each
# login, which make_askpass answers
require_passphrase() {
	cp "$BATS_FILE_TMPDIR/user" key
	"$(bin ssh-keygen)" -q -p -P '' -N secret -f key
	sed "s|IdentityFile .*|IdentityFile $PWD/key|" "$BATS_FILE_TMPDIR/ssh_config" >c
	make_askpass
}

# run_far copy|files|client ARG...: runs it over the path $P, from a to b, 10.77.0.2. SIGHUP
# ends it even if nohup started the tests.
run_far() {
	IN_CLIENT="env --default-signal=HUP ip netns exec lfp-$P-a" "$1" -o HostName=10.77.0.2 "${@:2}"
}

### A control group of version 1 or 2, whichever can bound memory here

# make_cgroup BYTES: makes $CGROUP; fails where that is not possible
make_cgroup() {
	local top
	CGROUP=
	for top in /sys/fs/cgroup/memory /sys/fs/cgroup; do
		mkdir "$top/hayate-$$" 2>/dev/null || continue
		CGROUP=$top/hayate-$$
		bound_cgroup "$1" && return
		remove_cgroup
	done
	return 1
}
# bound_cgroup BYTES: sets how much memory the processes in it may have together
bound_cgroup() {
	local file
	for file in memory.limit_in_bytes memory.max; do
		[ ! -e "$CGROUP/$file" ] || { echo "$1" >"$CGROUP/$file"; return; }
	done
	return 1
}
remove_cgroup() { [ -z "${CGROUP-}" ] || poll 5 rmdir "$CGROUP" 2>/dev/null || :; CGROUP=; }
# join_cgroup PID: adds a process, and those that it will start, to the group
join_cgroup() { echo "$1" >"$CGROUP/cgroup.procs"; }
read_cgroup_peak() { cat "$CGROUP/memory.max_usage_in_bytes" "$CGROUP/memory.peak" 2>/dev/null; }
count_oom_kills() { sed -n 's/^oom_kill //p' "$CGROUP/memory.oom_control" "$CGROUP/memory.events" 2>/dev/null; }

### Other implementations of SFTP servers, with our keys

PROFTPD_AT=
command -v proftpd >/dev/null || PROFTPD_AT=$BUILD/ftpd
# need_proftpd: skips the test without proftpd of the system, or the one that ./check unpacks
need_proftpd() {
	need_root
	[ -x "$PROFTPD_AT/usr/sbin/proftpd" ] &&
	    [ -e "$PROFTPD_AT/usr/lib/proftpd/mod_sftp.so" ] ||
	    skip "no proftpd, which is in the package proftpd-mod-crypto"
}

# need_paramiko: skips the test without Python's paramiko
need_paramiko() {
	/usr/bin/python3 -c 'import paramiko' 2>/dev/null ||
	    skip "no paramiko, which is in the package python3-paramiko"
}

# foreign_up KIND: starts proftpd, asyncssh or paramiko, for copy_foreign. The test's
# teardown calls foreign_down and sshd_down.
foreign_up() {
	SERVER=${SERVER_ADDRESS-127.0.0.1}
	FOREIGN_PORT=$((20000 + RANDOM % 12000))
	[ -s "$BATS_FILE_TMPDIR/ssh_config" ] || sshd_up hayate
	"foreign_$1" "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/server.log" 2>&1 3>&- &
	FOREIGN=$!
	# shellcheck disable=SC2086
	poll 10 $IN_CLIENT bash -c "exec 9<>/dev/tcp/$SERVER/$FOREIGN_PORT" 2>/dev/null
}
foreign_down() {
	[ -z "$FOREIGN" ] || kill "$FOREIGN" 2>/dev/null || :
	FOREIGN=
}

# copy_foreign ARG...: runs scp; the server is 127.0.0.1
copy_foreign() {
	copy -o Port="$FOREIGN_PORT" -o StrictHostKeyChecking=no \
	    -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR "$@"
}

# foreign_KIND DIR: becomes that server (exec)
foreign_proftpd() {
	[ -s "$1/host.rsa" ] ||
	    ssh-keygen -q -t rsa -b 2048 -m PEM -N '' -f "$1/host.rsa"
	ssh-keygen -e -f "$BATS_FILE_TMPDIR/user.pub" >"$1/keys.rfc4716"
	cat >"$1/conf" <<-END
	ServerType standalone
	ServerName t
	Port $FOREIGN_PORT
	DefaultAddress $SERVER
	UseIPv6 off
	User root
	Group root
	RootLogin on
	UseFtpUsers off
	PidFile $1/pid
	ScoreboardFile $1/score
	DelayEngine off
	RequireValidShell off
	AllowOverwrite on
	ModulePath $PROFTPD_AT/usr/lib/proftpd
	LoadModule mod_sftp.c
	SFTPEngine on
	SFTPHostKey $1/host.rsa
	SFTPAuthorizedUserKeys file:$1/keys.rfc4716
	SFTPAuthMethods publickey
	END
	# shellcheck disable=SC2086
	exec $IN_SERVER "$PROFTPD_AT/usr/sbin/proftpd" -n -c "$1/conf"
}
foreign_asyncssh() {
	cat >"$1/server" <<-END
	import asyncio, asyncssh
	async def main():
	    await asyncssh.create_server(
	        asyncssh.SSHServer, "$SERVER", $FOREIGN_PORT, sftp_factory=True,
	        server_host_keys=["$BATS_FILE_TMPDIR/host"],
	        authorized_client_keys="$BATS_FILE_TMPDIR/user.pub")
	    await asyncio.sleep(100)
	asyncio.run(main())
	END
	# shellcheck disable=SC2086
	exec $IN_SERVER /usr/bin/python3 "$1/server"
}
foreign_paramiko() {
	[ -s "$1/host.rsa" ] ||
	    ssh-keygen -q -t rsa -b 2048 -m PEM -N '' -f "$1/host.rsa"
	cat >"$1/server" <<-END
	import os, socket, threading, paramiko
	from paramiko import SFTPAttributes as A, SFTPServer as S
	def tried(f):
	    def g(*args):
	        try:
	            return f(*args)
	        except OSError as e:
	            return S.convert_errno(e.errno)
	    return g
	class Handle(paramiko.SFTPHandle):
	    stat = tried(lambda s: A.from_stat(os.fstat(s.readfile.fileno())))
	    @tried
	    def chattr(self, a):
	        S.set_file_attr(self.name, a)
	        return paramiko.SFTP_OK
	class Files(paramiko.SFTPServerInterface):
	    @tried
	    def list_folder(self, path):
	        out = []
	        for n in os.listdir(path):
	            out.append(A.from_stat(os.lstat(os.path.join(path, n)), n))
	        return out
	    stat = tried(lambda s, p: A.from_stat(os.stat(p)))
	    lstat = tried(lambda s, p: A.from_stat(os.lstat(p)))
	    @tried
	    def open(self, path, flags, attr):
	        h = Handle(flags)
	        h.name = path
	        mode = attr.st_mode if attr.st_mode is not None else 0o666
	        f = os.fdopen(os.open(path, flags, mode),
	                      "wb" if flags & os.O_WRONLY else "rb", 0)
	        h.readfile = h.writefile = f
	        return h
	    @tried
	    def mkdir(self, path, attr):
	        os.mkdir(path)
	        S.set_file_attr(path, attr)
	        return paramiko.SFTP_OK
	    @tried
	    def chattr(self, path, attr):
	        S.set_file_attr(path, attr)
	        return paramiko.SFTP_OK
	class Server(paramiko.ServerInterface):
	    def check_auth_publickey(self, user, key):
	        return paramiko.AUTH_SUCCESSFUL
	    def get_allowed_auths(self, user):
	        return "publickey"
	    def check_channel_request(self, kind, chan):
	        return paramiko.OPEN_SUCCEEDED
	l = socket.create_server(("$SERVER", $FOREIGN_PORT))
	while True:
	    t = paramiko.Transport(l.accept()[0])
	    t.add_server_key(paramiko.RSAKey(filename="$1/host.rsa"))
	    t.set_subsystem_handler("sftp", S, Files)
	    try:
	        t.start_server(server=Server())
	    except (EOFError, paramiko.SSHException):
	        pass
	END
	# shellcheck disable=SC2086
	exec $IN_SERVER /usr/bin/python3 "$1/server"
}

### Messages in logs

# wait_for_log SERVER PATTERN: waits up to 5 s for a line in its log
wait_for_log() { poll 5 grep -qE -- "$2" "$(sshd_log "$1")"; }

# check_none_line CLAUSE: checks that $stderr has one line of NoneSwitch, with this text
check_none_line() {
	[ "$(grep -c '^NoneSwitch: ' <<<"$stderr")" = 1 ] &&
	    [[ $stderr = *"NoneSwitch: $1"* ]] || { echo "said: $stderr"; return 1; }
}

STOCK_WINDOW=$((2 << 20))

# list_windows LOG: prints "channel from to why" for each line of the tuner
list_windows() {
	tr -d '\r' <"$1" |
	    sed -n 's/.*channel \([0-9]*\): window \([0-9]*\) -> \([0-9]*\), \([^(]*\) (.*/\1 \2 \3 \4/p'
}

# find_widest_window LOG [CHANNEL]: prints the largest window that the tuner chose, or 0
find_widest_window() {
	list_windows "$1" | awk -v c="$2" '(c == "" || $1 == c) && $3 > w { w = $3 }
	    END { print w + 0 }'
}

# find_largest_credit LOG [CHANNEL]: prints the largest sum of a remaining window and its
# adjust, which is the window on the wire, whichever end wrote the log
find_largest_credit() {
	tr -d '\r' <"$1" |
	    sed -n 's/.*channel \([0-9]*\): window \([0-9]*\) sent adjust \([0-9]*\).*/\1 \2 \3/p' |
	    awk -v c="$2" '(c == "" || $1 == c) && $2 + $3 > w { w = $2 + $3 }
	    END { print w + 0 }'
}

# has_window_grown LOG [CHANNEL]: the tuner raised a window and sent the adjust
has_window_grown() {
	[ "$(find_widest_window "$@")" -gt $STOCK_WINDOW ] &&
	    [ "$(find_largest_credit "$@")" -gt $STOCK_WINDOW ]
}

# copy_build [FILE]: makes a build directory with the trees of $BUILD and other options.
# The test may write to FILE.
copy_build() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p build/upstream
	cp -al "$BUILD/hayate" build/hayate
	cp "$BUILD/upstream/.source" build/upstream/
	[ $# -eq 0 ] || rm -f "build/$1"
	sed "s|^BUILD=.*|BUILD='$PWD/build'|" "$BUILD/options" >build/options
}
