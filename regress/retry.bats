#!/usr/bin/env bats
# Needs: hayate stock path
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# --retry TIME of scp and sftp: a copy that has lost its connection logs in again and
# goes on (transfer/reconnect-hook.h, ssh/relogin-hook.h). MaxRate makes copies last.

load helper

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	sshd_up hayate
	sshd_up stock
	sshd_up hayate:other
	sshd_up hayate:limited "MaxRate 4M"
	# One session ends after the bytes in short.bytes.
	cat >short <<-END
	#!/bin/sh
	if read n <$PWD/short.bytes && [ "\$n" -gt 0 ]; then
	    echo 0 >$PWD/short.bytes
	    $(bin sftp-server) | { stdbuf -o0 head -c "\$n"; kill -9 0; }
	fi
	exec $(bin sftp-server)
	END
	chmod +x short
	sshd_up hayate:short "Subsystem sftp $PWD/short"
	head -c 40000000 /dev/urandom >bulk
	mkdir -p tree/a/b tree/c
	head -c 12000000 /dev/urandom | split -a 3 -b 6000 - tree/f
	mv tree/fa* tree/a/b
	mv tree/fb* tree/c
	mkdir -p many/a many/b/c
	head -c 12000000 /dev/urandom | split -a 3 -b 2500 - many/f
	mv many/fa* many/a
	mv many/fb* many/b/c
}

teardown_file() { sshd_down; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	T=$BATS_TEST_TMPDIR
	F=$BATS_FILE_TMPDIR
}

# bats shows it if the test has failed
teardown() { [ ! -e out ] || tail -n 20 out; }

# cut_connections NAME: ends all sessions of the server, as a lost network would
cut_connections() {
	local pids
	pids=$(pgrep -P "$(cat "$(sshd_dir "$1")/pid")") || return 1
	# shellcheck disable=SC2086 # numbers
	kill -9 $pids $(pgrep -P "${pids//$'\n'/,}") 2>/dev/null || :
}

# cut_server NAME: ends the server and all its sessions
cut_server() {
	local pids
	pids=$(pgrep -P "$(cat "$(sshd_dir "$1")/pid")") || :
	sshd_down "$1"
	# shellcheck disable=SC2086 # numbers
	kill -9 $pids $(pgrep -P "${pids//$'\n'/,}") 2>/dev/null || :
}

# copy_with_cuts N NAME ARG...: runs copy ARG..., and cuts the connections N times, every
# $CUT_AFTER seconds. The output is in "out", the status is the result.
copy_with_cuts() {
	local n=$1 name=$2 pid
	shift 2
	copy "$@" >out 2>&1 &
	pid=$!
	for ((; n > 0; n--)); do
		sleep "${CUT_AFTER-0.8}"
		kill -0 "$pid" 2>/dev/null || break
		cut_connections "$name" || :
	done
	wait "$pid"
}

# count_cuts: prints how often the copy has lost its connection
count_cuts() { grep -c 'Connection lost; logging in again' out; }

# sum_sent: prints the bytes that all connections have sent, of a copy with -v
sum_sent() {
	sed -n 's/^Transferred: sent \([0-9]*\), .*/\1/p' out | awk '{ n += $1 } END { print n + 0 }'
}

@test "an upload of a large file survives ten cuts, byte for byte" {
	copy_with_cuts 10 hayate -o MaxRate=6M --retry 1m "$F/bulk" "hayate:$T/to"
	(($(count_cuts) >= 5))
	cmp "$F/bulk" to
}

@test "a download of a large file survives cuts, byte for byte" {
	copy_with_cuts 5 limited --retry 1m "limited:$F/bulk" to
	(($(count_cuts) >= 3))
	cmp "$F/bulk" to
}

@test "an upload over an older, longer file survives cuts, with and without hashes" {
	head -c 50000000 /dev/urandom >to
	copy_with_cuts 4 hayate -o MaxRate=8M --retry 1m "$F/bulk" "hayate:$T/to"
	(($(count_cuts) >= 3))
	cmp "$F/bulk" to
	head -c 50000000 /dev/urandom >to
	copy_with_cuts 3 stock -o MaxRate=16M --retry 1m "$F/bulk" "stock:$T/to"
	(($(count_cuts) >= 2))
	cmp "$F/bulk" to
}

@test "an upload of a tree survives ten cuts; what was complete is not sent again" {
	copy_with_cuts 10 hayate -p -r -o MaxRate=2M --retry 1m "$F/tree" "hayate:$T/to"
	(($(count_cuts) >= 3))
	diff -r "$F/tree" to
	diff <(cd "$F/tree" && find . -printf '%p %m %T@\n' | sed 's/[.][0-9]*$//' | sort) \
	    <(cd to && find . -printf '%p %m %T@\n' | sed 's/[.][0-9]*$//' | sort)
	# The tree has 12 MB, and at most 1.25 are in flight. If each attempt sent all
	# again, 24 MB would be sent.
	rm -r to
	CUT_AFTER=2 copy_with_cuts 4 hayate -v -p -r -o MaxRate=1500K --retry 1m "$F/tree" "hayate:$T/to"
	diff -r "$F/tree" to
	(($(sum_sent) > 12000000 && $(sum_sent) < 18000000)) || { sum_sent; false; }
}

@test "a download of a tree survives cuts, also while it is listed" {
	copy_with_cuts 10 limited -p -r --retry 1m "limited:$F/tree" to
	(($(count_cuts) >= 3))
	diff -r "$F/tree" to
	fails grep -q 'listed twice' out
}

@test "a pattern whose directory is listed when the connection is lost names each file once" {
	local n
	mkdir many to
	touch many/file{1..1500}
	for n in 20000 100000; do
		echo $n >"$F/short.bytes"
		copy --retry 1m --journal "list.$n" "short:$T/many/*" to >out 2>&1
		(($(count_cuts) == 1))
		[ "$(wc -l <"list.$n")" = 1500 ]
		diff -r many to
	done
}

@test "a copy between two servers survives cuts of either" {
	copy_with_cuts 3 limited -3 -r --retry 1m "limited:$F/tree" "other:$T/to"
	(($(count_cuts) >= 2))
	diff -r "$F/tree" to
	copy_with_cuts 3 other -3 --retry 1m "limited:$F/bulk" "other:$T/bulk"
	(($(count_cuts) >= 2))
	cmp "$F/bulk" bulk
}

@test "several connections: all are lost, and all come back" {
	copy_with_cuts 4 hayate -v -j 3 -o MaxRate=8M --retry 1m --journal journal \
	    "$F/bulk" "hayate:$T/to"
	(($(count_cuts) >= 2))
	cmp "$F/bulk" to
	[ "$(jq -r '[.status, .retries] | @tsv' journal)" = $'ok\t'"$(count_cuts)" ]
	rm journal
	[ "$(ls)" = $'out\nto' ]
	grep -q 'there are 3 connections' out
}

# How often a first connection is lost, each time at another moment: "LOSSES=10 ./check
# retry" takes five minutes more.
LOSSES=${LOSSES:-3}

# start_copy NAME ARG...: starts copy ARG... over three connections; waits until these are
# up. Sets "pid", the process to wait for, and "first", the ssh that scp has started. The
# output is in "out".
start_copy() {
	copy -v -j 3 "$@" >out 2>&1 &
	pid=$!
	poll 30 grep -q "there are 3 connections" out
	first=$(pgrep -P "$(pgrep -P "$pid" -x scp || echo 0)" -x ssh) || :
}

# kill_first: ends the ssh that has the main connection; those that it has started live on
kill_first() { kill -9 "$first" 2>/dev/null || :; }

# cut_first NAME: ends the oldest session of the server, which has the main connection
cut_first() {
	local pid
	pid=$(pgrep -o -P "$(cat "$(sshd_dir "$1")/pid")")
	# shellcheck disable=SC2046 # numbers
	kill -9 "$pid" $(pgrep -P "$pid") 2>/dev/null || :
}

# check_takeover FROM TO: the copy has lost its first connection and nothing else; on a slow
# machine it may have ended before. Counts the losses in "taken".
check_takeover() {
	wait "$pid" || return
	taken=$((${taken-0} + $(grep -c 'Connection 1 was lost; connection [23] takes over' out || :)))
	diff -r "$1" "$2"
}

@test "without --retry other connections carry on when the first is lost: a large upload" {
	for _ in $(seq "$LOSSES"); do
		rm -rf to
		start_copy -o MaxRate=12M "$F/bulk" "hayate:$T/to"
		sleep "0.$((RANDOM % 9))"
		kill_first
		check_takeover "$F/bulk" to
	done
	((taken >= LOSSES / 2))
	# Nothing is left beside the file.
	[ "$(ls)" = $'out\nto' ]
}

@test "other connections carry on when the first is lost: a large file over an older one" {
	for _ in 1 2 3; do
		head -c 50000000 /dev/urandom >to
		start_copy -o MaxRate=12M "$F/bulk" "hayate:$T/to"
		sleep "0.$((RANDOM % 9))"
		kill_first
		check_takeover "$F/bulk" to
	done
	((taken >= 1))
}

@test "other connections carry on when the first is lost: a large download" {
	for _ in $(seq "$LOSSES"); do
		rm -rf to
		start_copy "limited:$F/bulk" to
		sleep "0.$((RANDOM % 9))"
		kill_first
		check_takeover "$F/bulk" to
	done
	((taken >= LOSSES / 2))
}

@test "other connections carry on when the first is lost: a tree, both ways" {
	for _ in $(seq "$LOSSES"); do
		rm -rf to back
		start_copy -p -r -o MaxRate=8M "$F/many" "hayate:$T/to"
		sleep "0.$((RANDOM % 9))"
		kill_first
		check_takeover "$F/many" to
		start_copy -p -r "limited:$F/many" back
		sleep "0.$((RANDOM % 4))"
		cut_first limited
		check_takeover "$F/many" back
	done
	((taken >= LOSSES))
}

@test "each connection may be lost but one; then the copy ends as without others" {
	local status=0
	start_copy -o MaxRate=6M "$F/bulk" "hayate:$T/to"
	kill_first
	poll 5 grep -q 'connection [23] takes over' out
	cut_connections hayate
	wait "$pid" || status=$?
	[ "$status" = 255 ]
	grep -q 'Connection closed' out
	start_copy -o MaxRate=6M "$F/bulk" "hayate:$T/to"
	cut_first hayate
	poll 5 grep -q 'Connection 1 was lost; connection 2 takes over' out
	cut_first hayate
	wait "$pid"
	grep -q 'Connection 2 was lost; connection 3 takes over' out
	cmp "$F/bulk" to
}

@test "with --retry others carry on as well, and when all are lost they come back" {
	start_copy --retry 1m -o MaxRate=6M "$F/bulk" "hayate:$T/to"
	cut_first hayate
	poll 5 grep -q 'connection [23] takes over' out
	sleep 1
	cut_connections hayate
	wait "$pid"
	cmp "$F/bulk" to
	(($(count_cuts) == 1))
	# The temporary file of the lost connections became the file, or was removed.
	fails grep -q 'partial upload\|left behind' out
	[ "$(ls)" = $'out\nto' ]
}

@test "a copy to a device ends well after cuts, as there is nothing to compare" {
	copy_with_cuts 2 hayate -o MaxRate=8M --retry 1m "$F/bulk" hayate:/dev/null
	(($(count_cuts) >= 1))
	start_copy -o MaxRate=12M "$F/bulk" hayate:/dev/null
	kill_first
	wait "$pid"
	grep -q 'connection [23] takes over' out
	fails grep -q 'differ\|checksum' out
}

# The source fails once, when the connection is lost as well.
@test "a local read error before a lost connection does not outlive a successful retry" {
	cat >cut <<-END
	pids=\$(pgrep -P $(cat "$(sshd_dir hayate)/pid"))
	kill -9 \$pids \$(pgrep -P "\$(echo \$pids | tr ' ' ,)")
	END
	cc -shared -fPIC -o once.so -xc - <<-'EOT'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <errno.h>
	#include <stdlib.h>
	#include <unistd.h>

	ssize_t
	pread(int fd, void *p, size_t n, off_t at)
	{
		ssize_t (*real)() = dlsym(RTLD_NEXT, "pread");
		static int has_failed;

		if (has_failed || at < 10000000)
			return real(fd, p, n, at);
		has_failed = 1;
		unsetenv("LD_PRELOAD");
		(void)!system("sh ./cut");
		errno = EIO;
		return -1;
	}

	ssize_t
	pread64(int fd, void *p, size_t n, off_t at)
	{
		return pread(fd, p, n, at);
	}
	EOT
	env LD_PRELOAD="$T/once.so" "$(bin scp)" -S "$(bin ssh)" -F "$F/ssh_config" --retry 1m \
	    "$F/bulk" "hayate:$T/to" >out 2>&1 3>&-
	(($(count_cuts) == 1))
	cmp "$F/bulk" to
	fails grep -q 'read local' out
}

# The file is confirmed because a connection was lost. The server then reports a wrong time
# and a wrong size.
@test "a wrong time is set again, and a wrong size after that restarts the file" {
	cat >forge <<-'END'
	#!/usr/bin/env python3
	"""forge NAME COUNT COMMAND...: an SFTP server that reports wrong attributes of the file
	NAME, if it exists: the first reply to a STAT has a wrong mtime, the second a wrong
	size."""
	import os, struct, subprocess, sys, threading
	name, count, command = sys.argv[1].encode(), sys.argv[2], sys.argv[3:]
	server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	asked = set()

	def take(f):
	    head = f.read(4)
	    return f.read(int.from_bytes(head, "big")) if len(head) == 4 else None

	def send(f, m):
	    f.write(len(m).to_bytes(4, "big") + m)
	    f.flush()

	def answer():
	    while (m := take(server.stdout)) is not None:
	        if m[0] == 105 and m[1:5] in asked:
	            with open(count, "a") as f:
	                f.write("x")
	            n = os.path.getsize(count)
	            flags, size = struct.unpack(">IQ", m[5:17])
	            if n == 1:
	                m = m[:-4] + struct.pack(">I", int.from_bytes(m[-4:], "big") - 1000)
	            elif n == 2:
	                m = m[:9] + struct.pack(">Q", size - 1) + m[17:]
	        send(sys.stdout.buffer, m)
	    os._exit(0)

	threading.Thread(target=answer).start()
	while (m := take(sys.stdin.buffer)) is not None:
	    if m[0] == 17 and m[9:] == name:
	        asked.add(m[1:5])
	    send(server.stdin, m)
	server.stdin.close()
	END
	chmod +x forge
	sshd_up hayate:forging "Subsystem sftp $T/forge $T/to $T/count $(bin sftp-server)"
	start_copy -p -o MaxRate=8M "$F/bulk" "forging:$T/to"
	sleep 0.5
	pkill -9 -P "$first" ssh || pkill -9 -P "$first"
	wait "$pid"
	grep -q 'an additional connection was lost' out
	[ "$(wc -c <count)" = 3 ]
	cmp "$F/bulk" to
	[ "$(stat -c %Y to)" = "$(stat -c %Y "$F/bulk")" ]
	fails grep -q 'size mismatch' out
	sshd_down forging
}

@test "a temporary file that stays after TIME, or after ^C, is named" {
	local status=0
	start_copy --retry 2 -o MaxRate=6M "$F/bulk" "hayate:$T/to"
	cut_server hayate
	wait "$pid" || status=$?
	[ "$status" = 255 ]
	grep "partial upload of \"$T/to\" remains in \"$(echo "$T"/.to.hayate-*)\"" out
	[ -e "$(echo "$T"/.to.hayate-*)" ]
	sshd_up hayate
	rm "$T"/.to.hayate-*
	start_copy --retry 1m -o MaxRate=6M "$F/bulk" "hayate:$T/to"
	cut_server hayate
	poll 10 grep -q 'logging in again' out
	kill -INT "$(pgrep -P "$pid" -x scp)"
	wait "$pid" && return 1
	grep "partial upload of \"$T/to\" remains in \"$(echo "$T"/.to.hayate-*)\"" out
	sshd_up hayate
}

# The main connection is lost twice. The second time its server still has a truncation of the
# target, which it executes after another connection has written behind that.
@test "a truncation that a lost server executes late during a retry is not silent" {
	local status=0
	cat >sometimes <<-END
	#!/bin/sh
	if mv $T/armed $T/used 2>/dev/null; then
	    exec $REGRESS/peers/sftp-asleep $T/asleep named $(bin sftp-server)
	fi
	exec $(bin sftp-server)
	END
	chmod +x sometimes
	sshd_up hayate:sleepy "Subsystem sftp $T/sometimes"
	{ head -c 20000000 "$F/bulk"; head -c 30000000 /dev/urandom; } >to
	start_copy --retry 1m -o MaxRate=6M "$F/bulk" "sleepy:$T/to"
	# By then the WRITEs in flight are to the staging file, and do no harm late.
	sleep 3
	: >armed
	cut_connections sleepy
	poll 20 test -s asleep
	poll 20 eval '[ "$(grep -c "there are 3 connections" out)" = 2 ]'
	cut_first sleepy
	poll 10 grep -q 'takes over' out
	sleep 1
	kill -CONT "$(cat asleep)"
	wait "$pid" || status=$?
	sshd_down sleepy
	# The truncation may be executed too early to do harm.
	cmp "$F/bulk" to && return
	[ "$status" = 1 ]
	grep -q 'checksum: .* differ' out
}

@test "sftp goes on with its commands after a cut" {
	printf '%s\n' "cd $T" 'mkdir d' "put $F/bulk d/one" 'rename d/one d/two' \
	    "get d/two back" 'bye' >commands
	files -o MaxRate=8M --retry 1m -b commands hayate >out 2>&1 &
	sleep 1.2
	cut_connections hayate
	wait $!
	(($(count_cuts) == 1))
	cmp "$F/bulk" d/two
	cmp "$F/bulk" back
}

@test "the copy waits for a server that is restarted" {
	local port pid
	port=$(sshd_port hayate)
	copy -o MaxRate=8M --retry 1m "$F/bulk" "hayate:$T/to" >out 2>&1 &
	pid=$!
	sleep 1
	cut_server hayate
	sleep 2
	sshd_up hayate "Port $port"
	wait "$pid"
	cmp "$F/bulk" to
	(($(count_cuts) >= 1))
	grep -qE 'Connected again after [1-9][0-9]* seconds' out
}

@test "after TIME the copy ends as without --retry" {
	local status=0 pid
	copy -o MaxRate=8M --retry 2 "$F/bulk" "hayate:$T/to" >out 2>&1 &
	pid=$!
	sleep 1
	cut_server hayate
	wait "$pid" || status=$?
	sshd_up hayate
	[ "$status" = 255 ]
	grep -q 'Connection closed' out
	poll 5 fails pgrep -f "$T/to"
}

# It accepts connections, and sends nothing.
@test "after TIME the copy ends, also while a server does not answer" {
	local status=0 pid port
	port=$(sshd_port hayate)
	copy -o MaxRate=8M --retry 3 "$F/bulk" "hayate:$T/to" >out 2>&1 &
	pid=$!
	sleep 1
	cut_server hayate
	python3 -c 'import socket, sys, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen()
time.sleep(60)' "$port" 3>&- &
	poll 20 fails kill -0 "$pid"
	kill $!
	wait "$pid" || status=$?
	[ "$status" = 255 ]
	sshd_up hayate "Port $port"
}

@test "without --retry a lost connection ends the copy as before" {
	run copy_with_cuts 1 hayate -o MaxRate=8M "$F/bulk" "hayate:$T/to"
	[ "$status" = 255 ]
	fails grep -q 'logging in again' out
}

@test "what --retry cannot do is refused" {
	local word
	for word in 0 x -1 1y ''; do
		run copy --retry "$word" "$F/bulk" "hayate:$T/to"
		[ "$status" = 1 ]
		[[ $output = *"--retry"* ]]
	done
	run copy -O --retry 1m "$F/bulk" "hayate:$T/to"
	[ "$status" = 1 ]
	run copy -R --retry 1m "hayate:$F/bulk" "stock:$T/to"
	[ "$status" = 1 ]
	run files -D /bin/true --retry 1m
	[ "$status" = 1 ]
}

@test "a copy with --retry that loses nothing leaves no process" {
	copy --retry 1m "$F/tree/a/b/faaa" "hayate:$T/to" >out 2>&1
	[ ! -s out ]
	cmp "$F/tree/a/b/faaa" to
	fails pgrep -f "$T/to"
}

@test "kill -9 of scp leaves no process, also after a cut" {
	local n pid
	for n in 0 1; do
		copy -o MaxRate=8M --retry 1m "$F/bulk" "hayate:$T/to.$n" >out 2>&1 &
		pid=$!
		sleep 1
		if ((n)); then cut_connections hayate; sleep 1; fi
		kill -9 "$pid"
		wait "$pid" || :
		poll 5 fails pgrep -f "$T/to.$n"
	done
}

@test "where the login prompted, one line says so, and a lost connection ends the copy" {
	local status=0 pid
	require_passphrase
	"$(bin scp)" -S "$(bin ssh)" -F c -o BatchMode=no -o MaxRate=8M --retry 1m \
	    "$F/bulk" "hayate:$T/to" >out 2>&1 3>&- &
	pid=$!
	sleep 3
	cut_connections hayate
	wait "$pid" || status=$?
	grep -q 'cannot log in again without a prompt' out
	[ "$status" = 255 ]
}

# The connection stays as it is, but nothing arrives any more, as for a laptop asleep.
@test "the copy goes on after a network that was gone for seconds" {
	local P=y$$ pid
	need_path
	export SERVER_ADDRESS=10.77.0.2
	"$LFP" up "$P" --rtt 20ms --rate 100mbit --queue 1MB 3>&-
	IN_SERVER="ip netns exec lfp-$P-b" sshd_up hayate:far "ListenAddress 10.77.0.2"
	IN_CLIENT="ip netns exec lfp-$P-a" copy -o ServerAliveInterval=1 --retry 1m \
	    "$F/bulk" "$F/bulk" "far:$T" >out 2>&1 &
	pid=$!
	sleep 1.5
	ip netns exec "lfp-$P-a" ip link set lfp0 down
	sleep 6
	ip netns exec "lfp-$P-a" ip link set lfp0 up
	wait "$pid"
	sshd_down far
	"$LFP" down "$P"
	cmp "$F/bulk" bulk
	(($(count_cuts) == 1))
	grep -q 'Timeout, server 10.77.0.2 not responding' out
}
