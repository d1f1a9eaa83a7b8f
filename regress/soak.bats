#!/usr/bin/env bats
# Needs: hayate
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# A soak: the same work many thousand times. At the end, all programs together hold as
# many descriptors, processes, zombies, files, shared memory and memory as at the start.
#
#     SOAK_SCALE=1      10,000 commands, logins and rekeys, 1,000 copies, 1,000 switches
#                       to data in clear: "make soak", half an hour
#     SOAK_SCALE=0.001  10 of each, which finds only what leaks each time: ./check
#
# Each test runs a tenth of its work first, so that caches and buffers have their size.
# Servers and clients are in a mount namespace of their own with an empty /tmp and
# /dev/shm, so that regress/census knows them from others. The tests after these give a
# program a bound, and expect an error that names it.

load helper

SCALE=${SOAK_SCALE:-0.001}

setup_file() {
	((EUID == 0)) || return 0
	local own=$BATS_FILE_TMPDIR/own
	mkdir "$own"
	# /tmp is empty but for the directories that the programs need.
	unshare -m sh -ec '
		own=$1; shift
		mount -t tmpfs none "$own"
		for d; do
			case $d in /tmp/*) mkdir -p "$own/${d#/tmp/}"; mount --bind "$d" "$own/${d#/tmp/}" ;; esac
		done
		mount --move "$own" /tmp
		mount -t tmpfs none /dev/shm
		exec sleep 100000' - "$own" "$BATS_RUN_TMPDIR" "$TOP" "$BUILD" </dev/null >/dev/null 2>&1 3>&- &
	export HOLDER=$! IN_SERVER="nsenter -m -t $!"
	poll 10 has_own_shm
	sshd_up hayate "LogLevel ERROR" "NoneEnabled yes"
	IN_SERVER="$IN_SERVER prlimit --nofile=64" sshd_up hayate:few "MaxSessions 1000"
	sshd_up hayate:small
	# The login cache is in the directory of known_hosts.
	mkdir "$BATS_FILE_TMPDIR/cache"
	cp "$BATS_FILE_TMPDIR/known_hosts" "$BATS_FILE_TMPDIR/cache/"
	sed -i "s,UserKnownHostsFile .*,UserKnownHostsFile $BATS_FILE_TMPDIR/cache/known_hosts," \
	    "$BATS_FILE_TMPDIR/ssh_config"
}
has_own_shm() { grep -q ' /dev/shm .* - tmpfs none ' "/proc/$HOLDER/mountinfo"; }

teardown_file() {
	sshd_down
	[ -z "${HOLDER-}" ] || kill "$HOLDER"
}

setup() {
	need_root "a mount namespace"
	cd "$BATS_TEST_TMPDIR" || return
	IN_CLIENT="$IN_SERVER env -C $BATS_TEST_TMPDIR"
}
teardown() {
	[ ! -S ctl ] || client -S ctl -O exit hayate 2>/dev/null || :
	remove_cgroup
	[ -z "${FED_PID-}" ] || { exec {FEED}>&-; wait "$FED_PID" || :; }
}

# scale N: prints the part of N that this run does, and at least 10
scale() { awk -v n="$1" -v scale="$SCALE" 'BEGIN { n *= scale; printf "%d\n", n < 10 ? 10 : n }'; }

### The census

take_census() { "$REGRESS/census" "$HOLDER"; }

# Memory may grow by this many KiB, in all processes together. The C library's heap
# moved by 856 KiB between two moments of the same ten copies.
SLACK=2048

# compare_census BEFORE AFTER: checks that nothing has grown, and prints what has
compare_census() {
	awk -v slack=$SLACK 'NR == FNR { before[$1] = $2; next }
	    { printf "%s %d %d\n", $1, before[$1], $2 }
	    $2 > before[$1] + ($1 == "memory" ? slack : 0) { print $1 " leaked"; bad = 1 }
	    END { exit bad }' "$1" "$2"
}
is_settled() { take_census >after && compare_census before after >compared; }

# soak N COMMAND...: calls COMMAND with the number of times to do it, for a tenth and then
# for N times, and checks that nothing is held after it that was not held before
soak() {
	local n=$1 from=$SECONDS
	shift
	"$@" $((n < 100 ? 10 : n / 10)) || return
	sleep 0.3
	take_census >before
	"$@" "$n" || return
	poll "${SETTLE:-5}" is_settled || { cat compared; return 1; }
	echo "# $n times in $((SECONDS - from)) s: $(awk '{ print $1, $2, "->", $3 }' compared | paste -sd,)"
}

### The work

# start_master [COMMAND...]: starts a master "ctl", prefixed by a command
start_master() {
	$IN_CLIENT "$@" "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" -fNM -S ctl hayate >/dev/null 2>master 3>&-
}

run_commands() {
	local i ssh
	ssh="$IN_CLIENT $(bin ssh) -F $BATS_FILE_TMPDIR/ssh_config -S ctl hayate"
	for ((i = 0; i < $1; i++)); do
		[ "$($ssh echo $i 3>&-)" = "$i" ] || return
	done
}

# run_logins N: logs in N times, with the options $ASK
run_logins() {
	local i ssh
	ssh="$IN_CLIENT $(bin ssh) -F $BATS_FILE_TMPDIR/ssh_config ${ASK-} hayate"
	for ((i = 0; i < $1; i++)); do
		[ "$($ssh echo $i 2>err 3>&-)" = "$i" ] || return
	done
}

# start_fed COMMAND...: starts a client that reads what is written to descriptor $FEED
start_fed() {
	mkfifo feed
	$IN_CLIENT "$@" <feed >fed 2>err 3>&- &
	FED_PID=$!
	exec {FEED}>feed
}

# run_copies N: makes N copies, by turns both ways, in the sftp that is fed
run_copies() {
	local i
	rm -f copied
	for ((i = 0; i < $1; i += 2)); do
		echo "get -r tree got"
		echo "put -r tree put"
	done >&"$FEED"
	echo '!: >copied' >&"$FEED"
	until [ -e copied ]; do
		sleep 0.05
		kill -0 "$FED_PID" || { cat err; return 1; }
	done
}

count_rekeys() { grep -c 'SSH2_MSG_NEWKEYS received' err || :; }
# start_echo COMMAND...: starts a client that is fed, and returns each line to $ECHO
start_echo() {
	mkfifo fed
	start_fed "$@"
	exec {ECHO}<fed
}
# run_rekeys N: sends lines until the client of start_echo had N more rekeys
run_rekeys() {
	local end=$(($(count_rekeys) + $1)) n line
	while [ "$(count_rekeys)" -lt "$end" ]; do
		for ((n = 0; n < 10 + $1 / 20; n++)); do
			echo $n >&"$FEED"
			read -r -t 10 line <&"$ECHO"
			[ "$line" = $n ] || return
		done
	done
}

@test "commands over one master leave nothing behind" {
	start_master
	soak "$(scale 10000)" run_commands
}

@test "logins leave nothing behind" {
	soak "$(scale 10000)" run_logins
}

@test "copies with -j in one process leave nothing behind" {
	mkdir tree got put
	head -c 250000000 /dev/urandom >large
	for i in 1 2 3 4 5 6 7 8; do head -c 300000 large >tree/$i; done
	start_fed "$(bin sftp)" -v -j 3 -b - -S "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" "hayate:$PWD"
	# A copy that takes longer than logins opens the connections, which stay.
	for i in 1 2 3 4 5; do echo "get large got/large"; done >&"$FEED"
	poll 60 grep 'there are 3 connections' err
	soak "$(scale 1000)" run_copies
	diff -r tree got/tree
	diff -r tree put/tree
	fails grep 'there are [12] connections' <(sed '1,/there are 3 connections/d' err)
}

@test "rekeys of one connection leave nothing behind" {
	start_echo "$(bin ssh)" -v -F "$BATS_FILE_TMPDIR/ssh_config" -o RekeyLimit=16 hayate cat
	soak "$(scale 10000)" run_rekeys
}

@test "logins that switch to data in clear leave nothing behind" {
	ASK="-o NoneEnabled=yes -o NoneSwitch=yes"
	soak "$(scale 1000)" run_logins
	grep 'data is in clear from here on' err
}

@test "rekeys of data in clear leave nothing behind" {
	start_echo "$(bin ssh)" -v -F "$BATS_FILE_TMPDIR/ssh_config" -o RekeyLimit=16 \
	    -o NoneEnabled=yes -o NoneSwitch=yes hayate cat
	soak "$(scale 1000)" run_rekeys
	grep 'data is in clear from here on' err
}

### Whether a leak is seen

# build_leak: compiles leak.so, which leaks $LEAK for each connection that a program accepts
build_leak() {
	cc -shared -fPIC -o leak.so -xc - <<-'EOT'
	#define _GNU_SOURCE
	#include <sys/mman.h>
	#include <sys/socket.h>
	#include <dlfcn.h>
	#include <signal.h>
	#include <stdlib.h>
	#include <string.h>
	#include <unistd.h>

	int
	accept(int s, struct sockaddr *addr, socklen_t *len)
	{
		int (*real)() = dlsym(RTLD_NEXT, "accept");
		int fd = real(s, addr, len);
		const char *leak = getenv("LEAK");
		char name[] = "/tmp/leak.XXXXXX", *block;

		if (strcmp(leak, "descriptors") == 0)
			(void)dup(fd);
		else if (strcmp(leak, "zombies") == 0 &&
		    signal(SIGCHLD, SIG_DFL) != SIG_ERR && fork() == 0)
			_exit(0);
		else if (strcmp(leak, "files") == 0)
			close(mkstemp(name));
		else if (strcmp(leak, "shared") == 0)
			mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		else if (strcmp(leak, "memory") == 0 && (block = malloc(400000)) != NULL)
			memset(block, 1, 400000);
		return fd;
	}
	EOT
}

@test "a leak of each kind is seen" {
	local leak
	build_leak
	for leak in descriptors zombies shared files memory; do
		start_master env LD_PRELOAD="$PWD/leak.so" LEAK=$leak
		SETTLE=1 run -1 soak 10 run_commands
		client -S ctl -O exit hayate
		[[ $output = *"$leak leaked"* ]] || { echo "$leak: $output"; false; }
		[ "$(grep -c leaked <<<"$output")" = 1 ] || { echo "$leak: $output"; false; }
	done
}

### Bounds

# make_data: makes a tree of more files than descriptors, and a large file
make_data() {
	mkdir tree
	head -c 50000000 /dev/urandom >large
	head -c 3000000 large | split -b 10000 -a 3 - tree/
}

# copy_all SERVER COMMAND...: copies both ways, in every form, by an scp that COMMAND starts
copy_all() {
	local j server=$1 scp
	shift
	for j in 1 8; do
		scp=("$@" "$(bin scp)" -q -j "$j" -S "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" -r)
		"${scp[@]}" tree large "$server:$PWD/there" 3>&- || return
		"${scp[@]}" "$server:$PWD/tree" "$server:$PWD/large" here 3>&- || return
		cmp large there/large || return
		cmp large here/large || return
		diff -r tree there/tree || return
		diff -r tree here/tree || return
		rm -rf there/* here/*
	done
}

@test "64 descriptors are enough for a copy, at either end" {
	make_data
	mkdir here there
	copy_all few
	copy_all hayate prlimit --nofile=64
}

@test "64 descriptors for all sessions of a connection: those beyond fail, and the log says why" {
	local i
	IN_CLIENT=
	client -fNM -S ctl few >/dev/null 2>&1
	mkfifo go
	for ((i = 0; i < 30; i++)); do
		{
			client -S ctl few "echo up; read x <$PWD/go; echo $i" >out.$i 2>/dev/null &&
			    echo 0 >status.$i || echo 255 >status.$i
		} &
	done
	poll 20 has_answered 30
	grep 'Too many open files' "$(sshd_log few)"
	# The others end as they should.
	exec {all}<>go
	while [ "$(cat status.* 2>/dev/null | wc -l)" -lt 30 ]; do echo >&"$all"; sleep 0.1; done
	exec {all}>&-
	[ "$(cat status.* | sort -u | paste -sd' ')" = "0 255" ]
	for ((i = 0; i < 30; i++)); do
		case $(cat status.$i) in
		0) [ "$(paste -sd' ' out.$i)" = "up $i" ] ;;
		*) [ ! -s out.$i ] ;;
		esac
	done
	# and there is room again
	[ "$(client -S ctl few echo $i)" = $i ]
}
# has_answered N: succeeds if each of N commands runs or has failed
has_answered() { [ $(($(cat out.* | grep -c up) + $(cat status.* 2>/dev/null | wc -l))) -ge "$1" ]; }

@test "a session in a control group of 64 MiB copies both ways, and with too little ends with an error" {
	make_cgroup $((64 << 20)) || skip "no control group with a bound for memory can be made here"
	join_cgroup "$(cat "$(sshd_dir small)/pid")"
	make_data
	mkdir here there
	copy_all small
	echo "$(read_cgroup_peak | paste -sd' ') bytes"
	[ "$(count_oom_kills)" = 0 ]
	# too little for a session, but not for the listener, which the kernel spares
	bound_cgroup $((4 << 20))
	run ! copy large "small:$PWD/there/"
	[[ $output = *"Connection "*closed* || $output = *"Connection reset"* ]] || { echo "$output"; false; }
	bound_cgroup $((64 << 20))
	copy -q large "small:$PWD/there/"
	cmp large there/large
}
