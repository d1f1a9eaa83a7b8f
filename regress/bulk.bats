#!/usr/bin/env bats
# Needs: hayate stock unit
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# How much of a stream moves at once (channels/bulk-hook.h), the buffers under
# it (channels/sshbuf-hook.c), Poly1305 (cipher/poly1305-hook.c), and sftp-server
# without copies (sshd/sftpsrv-hook.h, sshd/subsys-hook.h).

load helper

setup_file() {
	sshd_up hayate
	sshd_up hayate:small "Hayate no"
	sshd_up stock
	head -c 3000001 /dev/urandom >"$BATS_FILE_TMPDIR/data"
}
teardown_file() { sshd_down; }

# find_announced_size SERVER: prints the packet size that the server announces for a
# session
find_announced_size() {
	client "$1" -vv true 2>&1 |
	    sed -n 's/.*open confirm rwindow [0-9]* rmax \([0-9]*\).*/\1/p'
}

# find_largest_packet SERVER OPTION...: prints the size of the largest packet that a
# client sends of 200 MB
find_largest_packet() {
	head -c 200000000 /dev/zero | client "$1" -vvv "${@:2}" "cat >/dev/null" \
	    2>&1 | sed -n 's/.*packets of up to \([0-9]*\) bytes.*/\1/p' | tail -n 1
}

# check_streams CLIENT SERVER: streams that end round each size arrive both ways
check_streams() {
	local n
	for n in 0 1 32767 32768 32769 65535 65537 261119 261120 261121 261376 261377 262144 522241; do
		head -c $n "$BATS_FILE_TMPDIR/data" >"$BATS_TEST_TMPDIR/sent"
		CLIENT=$1 client "$2" "cat $BATS_TEST_TMPDIR/sent" |
		    cmp - "$BATS_TEST_TMPDIR/sent"
		CLIENT=$1 client "$2" "cat >$BATS_TEST_TMPDIR/got" \
		    <"$BATS_TEST_TMPDIR/sent"
		cmp "$BATS_TEST_TMPDIR/got" "$BATS_TEST_TMPDIR/sent"
	done
}

@test "a server accepts packets of 255 KiB, and of 32 KiB with Hayate no" {
	[ "$(find_announced_size hayate)" = 261376 ]
	[ "$(find_announced_size small)" = 32768 ]
}

@test "packets grow beyond 32 KiB if path, peer and user permit it" {
	[ "$(find_largest_packet hayate)" -gt 65536 ]
	[ -z "$(find_largest_packet hayate -o Hayate=no)" ]
	[ -z "$(find_largest_packet small)" ]
	[ -z "$(find_largest_packet stock)" ]
}

# type_beside_bulk WORD...: prints what a master logs whose sessions are bulk data and the
# output of WORD...
type_beside_bulk() {
	local ctl=$BATS_TEST_TMPDIR/ctl log=$BATS_TEST_TMPDIR/log
	rm -f "$log"
	client -M -N -f -S "$ctl" -vvv -E "$log" hayate
	head -c 400000000 /dev/zero | client -S "$ctl" hayate "cat >/dev/null" &
	"$@" | client -S "$ctl" hayate cat >/dev/null
	wait $!
	client -q -S "$ctl" -O exit hayate
	grep -o 'while another channel is interactive' "$log" || true
}
print_keystrokes() { for _ in {1..12}; do echo x; sleep 0.05; done; }

@test "packets stay at 32 KiB while someone types into another session" {
	[ "$(type_beside_bulk print_keystrokes | sort -u)" = "while another channel is interactive" ]
	[ -z "$(type_beside_bulk head -c 300000 /dev/zero)" ]
}

@test "a copy's own requests do not make its packets small" {
	sshd_up hayate:told "LogLevel DEBUG3"
	CLIENT=hayate copy -vvv "$BATS_FILE_TMPDIR/data" told:/dev/null \
	    >"$BATS_TEST_TMPDIR/put" 2>&1
	CLIENT=hayate copy -vvv told:"$BATS_FILE_TMPDIR/data" /dev/null \
	    >"$BATS_TEST_TMPDIR/get" 2>&1
	grep -q 'packets of up to' "$BATS_TEST_TMPDIR/put"
	grep -q 'packets of up to' "$(sshd_log told)"
	fails grep 'while another channel is interactive' "$BATS_TEST_TMPDIR/put" \
	    "$(sshd_log told)"
	sshd_down told
}

@test "a buffer agrees with its model, and none of its contents remain in memory" {
	local seed
	make -s -C "$BUILD/hayate" sshbuf-model >&2
	for seed in 1 2 3; do
		run -0 "$BUILD/hayate/sshbuf-model" $seed 20000
		[[ $output = "20000 operations, "*" growths, "*" resets, "* ]]
		[[ $output = *" "[1-9][0-9][0-9]*" attached, "[1-9][0-9]*" used in part, "* ]]
		[[ $output = *" "[1-9][0-9][0-9]*" times external" ]]
	done
}

@test "a referenced slot stays valid, whoever closes, forks, fills or stalls" {
	make -s -C "$BUILD/hayate" shmpipe-model >&2
	[ "$("$BUILD/hayate/shmpipe-model")" = ok ]
}

@test "a backlog of 600 MiB takes no more memory than its size, which is freed as it drains" {
	local most half rest
	make -s -C "$BUILD/hayate" sshbuf-model >&2
	read -r most half rest < <("$BUILD/hayate/sshbuf-model" -m 600)
	echo "$most MiB, then $half, then $rest"
	check_true "$most >= 599 && $most < 610 && $half < 320 && $rest < 10"
}

# make_valgrind_script PROGRAM: writes a script that runs PROGRAM in valgrind, and prints
# its name
make_valgrind_script() {
	local at=$BATS_TEST_TMPDIR/$1
	cat >"$at" <<-END
	#!/bin/sh
	exec valgrind -q --log-file=$at.%p $BUILD/hayate/marked-$1 "\$@"
	END
	chmod +x "$at"
	echo "$at"
}

# run_marked_hole FILLED: prints valgrind's messages about 64 bytes that are reserved and sent
run_marked_hole() { { valgrind -q "$BUILD/hayate/marked-hole" "$1" >/dev/null; } 2>&1; }

@test "valgrind finds that reserved room in a buffer is always filled" {
	local session data=$BATS_TEST_TMPDIR/data
	need valgrind
	make -s -C "$BUILD/hayate" marked-{hole,scp,ssh,sshd-session} >&2
	[ -z "$(run_marked_hole 64)" ]
	[[ $(run_marked_hole 63) = *uninitialised* ]]
	session=$(make_valgrind_script sshd-session)
	head -c 600000 "$BATS_FILE_TMPDIR/data" >"$data"
	sshd_up hayate:watched "SshdSessionPath $session" "Subsystem sftp internal-sftp"
	set -- "$(make_valgrind_script scp)" -q -S "$(make_valgrind_script ssh)" -F "$BATS_FILE_TMPDIR/ssh_config"
	"$@" "$data" watched:"$data.put"
	cmp "$data.put" "$data"
	"$@" -o CipherThreads=2 -c aes128-ctr watched:"$data" "$data.got"
	cmp "$data.got" "$data"
	sshd_down watched
	run -1 grep -A9 uninitialised "$BATS_TEST_TMPDIR"/{scp,ssh,sshd-session}.*
}

@test "Poly1305 is libcrypto's, or OpenSSH's where libcrypto has none, with the same tags" {
	[[ $("$BUILD/hayate/ssh" -V 2>&1) != *"OpenSSL 1."* ]] || skip "OpenSSL 1.1.1 has no EVP_MAC"
	make -s -C "$BUILD/hayate" poly1305-model >&2
	run -0 "$BUILD/hayate/poly1305-model"
	[ "$output" = "2583 tags, 1559 of them by libcrypto" ]
	run -0 --separate-stderr "$BUILD/hayate/poly1305-model" without
	[ "$output" = "2583 tags, 0 of them by libcrypto" ]
}

@test "streams of each size around that of a packet arrive between two Hayates" {
	check_streams hayate hayate
}

@test "streams of each size around that of a packet arrive from and at stock peers" {
	check_streams stock hayate
	check_streams hayate stock
}

@test "streams arrive with rekeys, compression and threads" {
	local o
	for o in "-oRekeyLimit=100K" -C "-oCipherThreads=2"; do
		client hayate "$o" "cat $BATS_FILE_TMPDIR/data" |
		    cmp - "$BATS_FILE_TMPDIR/data"
		client hayate "$o" "cat >$BATS_TEST_TMPDIR/got" \
		    <"$BATS_FILE_TMPDIR/data"
		cmp "$BATS_TEST_TMPDIR/got" "$BATS_FILE_TMPDIR/data"
	done
}

# list_stdio SERVER WORD...: prints what a program there has as input and as output
list_stdio() {
	client "$@" </dev/null | sed 's/:.*//' | paste -sd ' '
}

@test "each program writes into a pipe, whatever the subsystem" {
	local show='readlink /proc/self/fd/0 /proc/self/fd/1'
	sshd_up hayate:shown "Subsystem sftp $show" "Subsystem other $show"
	sshd_up hayate:forced "ForceCommand $show"
	[ "$(list_stdio -s shown sftp)" = "pipe pipe" ]
	[ "$(list_stdio -s shown other)" = "pipe pipe" ]
	[ "$(list_stdio shown "$show")" = "pipe pipe" ]
	[ "$(list_stdio -s forced sftp)" = "pipe pipe" ]
	sshd_down shown
	sshd_down forced
}

@test "a program behind Subsystem sftp may open /dev/stdout" {
	local at=$BATS_TEST_TMPDIR/sftp-server
	printf '#!/bin/sh\necho one >/dev/stdout\necho two >&1\n' >"$at"
	chmod +x "$at"
	sshd_up hayate:script "Subsystem sftp $at -e"
	[ "$(client -s script sftp)" = "$(printf 'one\ntwo')" ]
	sshd_down script
	sshd_up hayate:beside "Subsystem sftp $(bin sftp-server) -h; echo one >/dev/stdout"
	[ "$(client -s beside sftp)" = one ]
	sshd_down beside
}

@test "a ring keeps its invariants, whatever reads, writes or attaches" {
	local flavour
	for flavour in plain asan tsan; do
		FLAVOUR=$flavour run_unit ring-test
	done
}

# copy_through_subsystem SUBSYSTEM OPTION...: copies both ways through it, and prints what
# sftp-server reports about the memory; a subsystem's stderr goes nowhere else
copy_through_subsystem() {
	local sub=$1 out=$BATS_TEST_TMPDIR/said
	: >"$out"
	shift
	sshd_up hayate:sub "Subsystem sftp ${sub//SERVER/$SERVER 2>>$out}" "$@"
	CLIENT=hayate copy sub:"$BATS_FILE_TMPDIR/data" "$BATS_TEST_TMPDIR/got"
	cmp "$BATS_TEST_TMPDIR/got" "$BATS_FILE_TMPDIR/data"
	CLIENT=hayate copy "$BATS_FILE_TMPDIR/data" sub:"$BATS_TEST_TMPDIR/put"
	cmp "$BATS_TEST_TMPDIR/put" "$BATS_FILE_TMPDIR/data"
	sshd_down sub
	sed -n 's/.*shared memory for sftp: \([a-z]*\).*/\1/p' "$out" | sort -u
}

@test "the SFTP server beside sshd-session shares memory with it" {
	local link=$BATS_TEST_TMPDIR/link
	SERVER="$(bin sftp-server) -e -l DEBUG"
	[ "$(copy_through_subsystem SERVER)" = attached ]
	[ "$(copy_through_subsystem SERVER "ForceCommand $SERVER 2>>$BATS_TEST_TMPDIR/said")" = attached ]
	ln -s "$(bin sftp-server)" "$link"
	SERVER="$link -e -l DEBUG"
	[ "$(copy_through_subsystem SERVER)" = attached ]
	copy_through_subsystem internal-sftp
	[ -z "$(copy_through_subsystem SERVER "Hayate no")" ]
}

@test "no other server gets memory, nor ours behind a script or a filter" {
	SERVER="$(bin sftp-server) -e -l DEBUG"
	[ -z "$(copy_through_subsystem "/bin/sh -c 'echo welcome >&2; exec SERVER'")" ]
	[ -z "$(copy_through_subsystem "/bin/sh -c 'cat | SERVER'")" ]
	[ -z "$(copy_through_subsystem "SERVER | cat")" ]
	SERVER="$(bin sftp-server stock) -e -l DEBUG"
	[ -z "$(copy_through_subsystem SERVER)" ]
}

# count_ring_attaches OPTION...: copies both ways, and prints how often scp's ssh attached
# to memory
count_ring_attaches() {
	local got=$BATS_TEST_TMPDIR/got put=$BATS_TEST_TMPDIR/put
	local data=$BATS_FILE_TMPDIR/data
	rm -f "$got" "$put"
	copy -v "$@" "hayate:$data" "$got" 2>"$BATS_TEST_TMPDIR/get.log"
	cmp "$got" "$data"
	copy -v "$@" "$data" "hayate:$put" 2>"$BATS_TEST_TMPDIR/put.log"
	cmp "$put" "$data"
	cat "$BATS_TEST_TMPDIR"/*.log | grep -c "shared memory with scp: attached" || :
}

@test "scp shares memory with its ssh, both ways" {
	[ "$(count_ring_attaches)" = 4 ]
	[ "$(count_ring_attaches -l 800000)" = 0 ]
	[ "$(count_ring_attaches -R 3)" = 0 ]
	[ "$(count_ring_attaches -o Hayate=no)" = 0 ]
	[ "$(count_ring_attaches -O)" = 0 ]
}

# Each session is a child of the process that reads the slots.
@test "sessions that start and end on one connection do not disturb a copy over it" {
	local ctl=$BATS_TEST_TMPDIR/ctl pid n=0
	truncate -s 2G "$BATS_TEST_TMPDIR/zeros"
	client -M -S "$ctl" -f -N -o ControlPersist=yes hayate </dev/null
	copy -q -o ControlPath="$ctl" "hayate:$BATS_TEST_TMPDIR/zeros" /dev/null \
	    2>"$BATS_TEST_TMPDIR/err" &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		client -S "$ctl" hayate true </dev/null
		n=$((n + 1))
	done
	wait $pid
	client -S "$ctl" -O exit hayate
	check_true "$n >= 5"
}

# Its window is 64 KiB, so a packet may use all of it. The data before it makes
# packets as large.
@test "a message to an agent, and its answer, may be longer than its window" {
	local n agent=$BATS_TEST_TMPDIR/agent pid
	cat >"$BATS_TEST_TMPDIR/echo" <<-END
	import socket
	s = socket.socket(socket.AF_UNIX)
	s.bind("$agent")
	s.listen()
	while True:
	    c, _ = s.accept()
	    while head := c.recv(4, socket.MSG_WAITALL):
	        n = int.from_bytes(head, "big")
	        text = c.recv(n, socket.MSG_WAITALL)
	        if n == 1:
	            head, text = bytes([0, 0, 0, 5]), bytes([12, 0, 0, 0, 0])
	        c.sendall(head + text)
	END
	cat >"$BATS_TEST_TMPDIR/ask" <<-END
	import os, socket, sys
	s = socket.socket(socket.AF_UNIX)
	s.connect(os.environ["SSH_AUTH_SOCK"])
	n = int(sys.argv[1])
	text = n.to_bytes(4, "big") + os.urandom(n)
	s.sendall(text)
	got = b""
	while len(got) < len(text):
	    got += s.recv(1 << 20)
	sys.exit(got != text)
	END
	timeout 120 python3 "$BATS_TEST_TMPDIR/echo" 3>&- &
	pid=$!
	poll 5 test -S "$agent"
	for n in 60000 100000 200000 300000; do
		timeout 20 "$(bin ssh)" -A -o IdentityAgent="$agent" \
		    -F "$BATS_FILE_TMPDIR/ssh_config" hayate \
		    "head -c 200000000 /dev/zero; python3 $BATS_TEST_TMPDIR/ask $n" \
		    >/dev/null 3>&-
	done
	kill $pid
}

# make_ring_probe FILE: makes a library that appends to FILE the program, and "ring" or
# "own", for each large piece of a file that it reads or writes
make_ring_probe() {
	cc -shared -fPIC -o "$BATS_TEST_TMPDIR/in-ring.so" -xc - <<-END
	#define _GNU_SOURCE
	#include <sys/syscall.h>
	#include <errno.h>
	#include <stdio.h>
	#include <string.h>
	#include <unistd.h>
	static void
	note(const void *p, size_t n)
	{
		unsigned long from, to, at = (unsigned long)p;
		const char *where = "own";
		char line[500];
		FILE *f;

		if (n < 100000 || (f = fopen("/proc/self/maps", "r")) == NULL)
			return;
		while (fgets(line, sizeof(line), f) != NULL) {
			if (strstr(line, "/memfd:hayate-ring") != NULL &&
			    sscanf(line, "%lx-%lx", &from, &to) == 2 &&
			    from <= at && at < to)
				where = "ring";
		}
		fclose(f);
		if ((f = fopen("$1", "a")) != NULL) {
			fprintf(f, "%s %s\n", program_invocation_short_name, where);
			fclose(f);
		}
	}
	ssize_t read(int fd, void *p, size_t n)
	{ note(p, n); return syscall(SYS_read, fd, p, n); }
	ssize_t write(int fd, const void *p, size_t n)
	{ note(p, n); return syscall(SYS_write, fd, p, n); }
	ssize_t pread(int fd, void *p, size_t n, off_t off)
	{ note(p, n); return syscall(SYS_pread64, fd, p, n, off); }
	ssize_t pwrite(int fd, const void *p, size_t n, off_t off)
	{ note(p, n); return syscall(SYS_pwrite64, fd, p, n, off); }
	END
}

# find_ring_percent FILE PROGRAM: prints which percentage of its large pieces was in a
# ring
find_ring_percent() {
	awk -v p="$2" '$1 == p { n++; r += $2 == "ring" }
	    END { print n ? int(100 * r / n) : "none" }' "$1"
}

# Data that arrives while a ring or a window is full is gathered and copied.
@test "scp and sftp-server read and write files directly in the ring" {
	local at=$BATS_TEST_TMPDIR/at lib=$BATS_TEST_TMPDIR/in-ring.so d way
	local far=$BATS_TEST_TMPDIR/far here=$BATS_TEST_TMPDIR/here reads writes
	make_ring_probe "$at"
	head -c 30000000 /dev/urandom >"$far"
	sshd_up hayate:ring "SetEnv LD_PRELOAD=$lib"
	for d in get put; do
		way=("ring:$far" "$here")
		[ $d = get ] || way=("$far" "ring:$here")
		rm -f "$at" "$here"
		LD_PRELOAD=$lib copy "${way[@]}"
		cmp "$far" "$here"
		sort "$at" | uniq -c
		reads=scp writes=sftp-server
		[ $d = put ] || reads=sftp-server writes=scp
		check_true "$(find_ring_percent "$at" $reads) >= 70"
		check_true "$(find_ring_percent "$at" $writes) >= 1"
	done
	sshd_down ring
}

@test "a script between scp and ssh passes the shared memory on" {
	printf '#!/bin/sh\nexec %s "$@"\n' "$(bin ssh)" >"$BATS_TEST_TMPDIR/with"
	chmod +x "$BATS_TEST_TMPDIR/with"
	[ "$(count_ring_attaches -S "$BATS_TEST_TMPDIR/with")" = 4 ]
}

@test "a user's shared connection carries the plain stream, without shared memory" {
	local ctl=$BATS_TEST_TMPDIR/ctl
	client -M -N -f -S "$ctl" hayate
	[ "$(count_ring_attaches -o ControlPath="$ctl")" = 0 ]
	client -q -S "$ctl" -O exit hayate
}

# A denied extension is not announced either.
@test "sftp-server answers requests in bursts and pieces byte for byte as stock" {
	local seed build
	for seed in 1 2 3 4; do
		for build in stock hayate; do
			mkdir -p "$BATS_TEST_TMPDIR/at"
			rm -f "$BATS_TEST_TMPDIR/at/file"
			timeout 60 "$REGRESS/peers/sftp-burst" $seed \
			    "$BATS_TEST_TMPDIR/at" "$(bin sftp-server $build)" -e \
			    -P check-file-name,figures \
			    >"$BATS_TEST_TMPDIR/$build" 2>/dev/null
		done
		cmp "$BATS_TEST_TMPDIR/stock" "$BATS_TEST_TMPDIR/hayate"
	done
}

@test "a request that is shorter than its header ends sftp-server" {
	printf '\0\0\0\0\0\0\0\5' >"$BATS_TEST_TMPDIR/short"
	run -255 timeout 10 "$(bin sftp-server)" -e <"$BATS_TEST_TMPDIR/short"
}
