#!/usr/bin/env bats
# Needs: hayate stock unit timed
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Packets sealed and opened by threads (cipher/pipeline-hook.h, packetq.h, pool.h
# and autoscale.h): against upstream's serial code in memory, then between real
# programs with CipherThreads 2 from the first packet of the session.

load helper

setup_file() {
	make -s -C "$BUILD/hayate" pipeline-oracle >&2
	sshd_up hayate "CipherThreads 2" "MaxSessions 200" "NoneEnabled yes" \
	    "Ciphers +aes128-cbc"
	sshd_up hayate:auto "MaxSessions 200"
	sshd_up stock
	head -c 30000001 /dev/urandom >"$BATS_FILE_TMPDIR/data"
}
teardown_file() { sshd_down; }

setup() {
	DATA=$BATS_FILE_TMPDIR/data
	TWO=(-o CipherThreads=2)
	cd "$BATS_TEST_TMPDIR"
}

run_oracle() { timeout 300 "$BUILD/hayate/${oracle:-pipeline-oracle}" "$@"; }

# count_threads PID: prints how many threads it has
count_threads() { ls "/proc/$1/task" | wc -l; }

### In memory

@test "threads seal the same bytes as serial code and open them, with every cipher and MAC" {
	run -0 run_oracle 2 "$RANDOM"
	[[ $output =~ ^[0-9]{5,}\ packets ]]
}

@test "the sealed bytes do not depend on the number of threads" {
	local n
	for n in 0 1 3 8; do
		run_oracle $n "$RANDOM" aes256-ctr hmac-sha2-256-etm@openssh.com
		run_oracle $n "$RANDOM" aes128-ctr umac-64@openssh.com
		run_oracle $n "$RANDOM" aes128-gcm@openssh.com
		run_oracle $n "$RANDOM" chacha20-poly1305@openssh.com
		run_oracle $n "$RANDOM" aes128-gmac@hayate.invalid
	done
}

@test "a packet sealed without copying its data has the same bytes" {
	local n
	make -s -C "$BUILD/hayate" gather-oracle >&2
	n=$(oracle=gather-oracle run_oracle 0 "$RANDOM")
	[[ $n =~ ^[0-9]{4}\ packets,\ [0-9]{3}\ external$ ]]
	n=$(oracle=gather-oracle run_oracle 2 "$RANDOM")
	[[ $n =~ ^[0-9]{4}\ packets,\ [1-9]\ external$ ]]
}

@test "the pool runs each job once, in any order of completion and waiting" {
	local flavour
	export TSAN_OPTIONS=die_after_fork=0
	for flavour in asan tsan; do
		FLAVOUR=$flavour run_unit pool-test orders
		FLAVOUR=$flavour run_unit pool-test random "$RANDOM" 4000
		FLAVOUR=$flavour run_unit pool-test fork
	done
}

@test "the packet queue keeps the order of the stream and its size limits" {
	local flavour
	for flavour in plain asan tsan; do
		FLAVOUR=$flavour run_unit packetq-test
	done
}

@test "helgrind finds no race and no lock order violation in the pool" {
	command -v valgrind >/dev/null || skip 'no valgrind, which is in the package valgrind'
	make -s -C "$TOP" helgrind
	local what
	for what in orders "random $RANDOM 300"; do
		# shellcheck disable=SC2086
		valgrind -q --tool=helgrind --error-exitcode=9 \
		    "$BUILD/unit/helgrind/pool-test" $what
	done
}

@test "packets are sealed and opened even if no thread, or only one, can be created" {
	local few
	cc -shared -fPIC -o few.so -xc - <<-'EOT'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <errno.h>
	#include <pthread.h>
	#include <stdlib.h>

	int
	pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg)
	{
		static int n;
		int (*real)() = dlsym(RTLD_NEXT, "pthread_create");

		return n++ >= atoi(getenv("FEW")) ? EAGAIN : real(t, a, f, arg);
	}
	EOT
	for few in 0 1; do
		LD_PRELOAD=$PWD/few.so FEW=$few sshd_up hayate:few "CipherThreads 2"
		LD_PRELOAD=$PWD/few.so FEW=$few client -v "${TWO[@]}" few "cat $DATA" \
		    2>err | cmp - "$DATA"
		LD_PRELOAD=$PWD/few.so FEW=$few client "${TWO[@]}" few "cat >$PWD/got" <"$DATA"
		cmp got "$DATA"
		grep -q "$few of 2 threads could be started" err
		grep -aq "$few of 2 threads could be started" "$(sshd_log few)"
		sshd_down few
	done
}

# To autoscale.h this process is busy, and three cores are idle.
@test "auto continues if the thread of a trial cannot be created, and retries rarely" {
	local bytes=1000000000 begun
	cc -shared -fPIC -o none.so -xc - <<-'EOT'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <errno.h>
	#include <pthread.h>
	#include <sched.h>
	#include <stdio.h>
	#include <string.h>
	#include <time.h>
	#include <unistd.h>

	int
	pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg)
	{
		(void)!write(2, "no thread\n", 10);
		return EAGAIN;
	}

	int
	sched_getaffinity(pid_t pid, size_t n, cpu_set_t *set)
	{
		memset(set, 0xf, 1);
		memset((char *)set + 1, 0, n - 1);
		return 0;
	}

	int
	clock_gettime(clockid_t id, struct timespec *t)
	{
		int (*real)() = dlsym(RTLD_NEXT, "clock_gettime");

		return real(id == CLOCK_THREAD_CPUTIME_ID ? CLOCK_MONOTONIC : id, t);
	}

	FILE *
	fopen64(const char *path, const char *mode)
	{
		static char text[64];
		FILE *(*real)() = dlsym(RTLD_NEXT, "fopen64");
		struct timespec t;

		if (strcmp(path, "/proc/stat") != 0)
			return real(path, mode);
		clock_gettime(CLOCK_MONOTONIC, &t);
		snprintf(text, sizeof(text), "cpu 0 0 0 %.0f",
		    3. * sysconf(_SC_CLK_TCK) * (t.tv_sec + t.tv_nsec / 1e9));
		return fmemopen(text, strlen(text), "r");
	}

	FILE *
	fopen(const char *path, const char *mode)
	{
		return fopen64(path, mode);
	}
	EOT
	LD_PRELOAD=$PWD/none.so sshd_up hayate:none
	begun=$SECONDS
	[ "$(LD_PRELOAD=$PWD/none.so client -c aes128-ctr -m hmac-sha2-512-etm@openssh.com none \
	    "env -u LD_PRELOAD head -c $bytes /dev/zero" 2>err | wc -c)" = $bytes ]
	sshd_down none
	grep -aq 'no thread' "$(sshd_dir none)"/*
	grep -q 'no thread' err
	[ "$(grep -c 'no thread' err)" -le $((1 + (SECONDS - begun) / 5)) ]
}

@test "pool threads block all signals and end when idle" {
	FLAVOUR=plain run_unit pool-test signals
	FLAVOUR=plain run_unit pool-test idle
}

@test "autoscale keeps a thread only if data moves faster with it" {
	run_unit autoscale-test
}

### Between programs

@test "with threads every cipher carries the same bytes both ways" {
	local c
	for c in $(client -Q cipher | grep -v 'cbc$') aes128-cbc; do
		client "${TWO[@]}" -c "$c" hayate "cat $DATA" | cmp - "$DATA"
		client "${TWO[@]}" -c "$c" hayate "cat >$PWD/got" <"$DATA"
		cmp got "$DATA"
	done
	for c in $(client -G hayate | sed -n 's/^macs //p' | tr , ' '); do
		client "${TWO[@]}" -c aes192-ctr -m "$c" hayate "cat $DATA" | cmp - "$DATA"
	done
}

@test "threads exist while data moves and end after it has stopped" {
	local ctl=$PWD/ctl master
	"$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" "${TWO[@]}" -M -S "$ctl" \
	    -N hayate 3>&- &
	master=$!
	poll 10 test -S "$ctl"
	client -S "$ctl" hayate 'cat /dev/zero' | head -c 500000000 >/dev/null &
	poll 10 eval "[ \"\$(count_threads $master)\" = 3 ]"
	wait $!
	poll 10 eval "[ \"\$(count_threads $master)\" = 1 ]"
	client -S "$ctl" hayate "cat $DATA" | cmp - "$DATA"
	client -q -S "$ctl" -O exit hayate
	wait $master || true
}

@test "off and auto start no thread for a small transfer" {
	client -v -o CipherThreads=off hayate "cat $DATA" 2>err | cmp - "$DATA"
	client -v auto "head -c 3000000 $DATA" 2>>err | cksum
	fails grep -E 'packets are sealed' err
	client auto true
	fails grep -aE 'packets are sealed' "$(sshd_log auto)"
}

@test "no thread starts before authentication" {
	client "${TWO[@]}" -v hayate true 2>err
	awk '/Authenticated to/ { a = 1 } /packets are sealed/ { exit !a }' err
	grep -q 'packets are sealed and opened by 2 threads' err
	grep -aq 'packets are sealed and opened by 2 threads' "$(sshd_log hayate)"
	fails grep -aE 'packets are sealed.*preauth' "$(sshd_log hayate)"
}

@test "Hayate no starts no thread" {
	client -v -o Hayate=no "${TWO[@]}" hayate "cat $DATA" 2>err | cmp - "$DATA"
	fails grep -q 'packets are sealed' err
}

@test "rekeys at any moment by either side leave the data intact, with every kind of cipher" {
	local c n
	for c in aes128-ctr aes256-gcm@openssh.com chacha20-poly1305@openssh.com; do
		n=$((64 + RANDOM % 400))
		client -v "${TWO[@]}" -c $c -o RekeyLimit=${n}K hayate "cat $DATA" 2>err | cmp - "$DATA"
		[ "$(grep -c 'SSH2_MSG_NEWKEYS received' err)" -gt 8 ]
		client "${TWO[@]}" -c $c -o RekeyLimit=${n}K hayate "cat >$PWD/got" <"$DATA"
		cmp got "$DATA"
	done
	client "${TWO[@]}" -o NoneEnabled=yes -o NoneSwitch=yes -o RekeyLimit=256K \
	    hayate "cat $DATA" 2>err | cmp - "$DATA"
	grep -q 'data is in clear' err
}

@test "compression works with threads" {
	client "${TWO[@]}" -C hayate "seq 2000000" | cmp - <(seq 2000000)
	seq 2000000 | client "${TWO[@]}" -C hayate "cmp - <(seq 2000000)"
}

@test "scp and sftp with threads work both ways, also with stock at the other end" {
	local from to
	for from in "hayate hayate" "hayate stock" "stock hayate"; do
		to=${from#* } from=${from% *}
		local o=()
		[ "$from" = stock ] || o=("${TWO[@]}")
		CLIENT=$from copy -q "${o[@]}" "$to:$DATA" got
		cmp got "$DATA"
		CLIENT=$from copy -q "${o[@]}" "$DATA" "$to:$PWD/put"
		cmp put "$DATA"
		CLIENT=$from copy -q -O "${o[@]}" "$to:$DATA" got
		cmp got "$DATA"
		rm got put
	done
}

@test "keystrokes keep their timing obfuscation, and their order beside bulk" {
	local ctl=$PWD/ctl bulk key
	client -vvv "${TWO[@]}" -o ObscureKeystrokeTiming=interval:20 -M -S "$ctl" \
	    -N -f hayate 2>err
	client -S "$ctl" hayate "cat $DATA" | cmp - "$DATA"
	for key in a b c d e f g h; do sleep 0.05; printf %s $key; done |
	    client -S "$ctl" -tt hayate 'stty raw -echo; head -c 8' >keys
	[ "$(cat keys)" = abcdefgh ]
	grep -q 'obfuscate_keystroke_timing: starting: interval ~20ms' err
	grep -E 'stopping: .* \([1-9][0-9]* chaff packets sent' err
	client -S "$ctl" hayate 'cat >/dev/null' </dev/zero 3>&- &
	bulk=$!
	for key in $(seq 300); do printf '%s ' "$key"; done |
	    client -S "$ctl" -tt hayate 'stty raw -echo; head -c 1092' >keys
	[ "$(cat keys)" = "$(seq -s ' ' 300) " ]
	client -q -S "$ctl" -O exit hayate
	wait $bulk || true
}

@test "each of a hundred sessions on one connection receives its own bytes" {
	local ctl=$PWD/ctl i pids=()
	head -c 1000000 "$DATA" >some
	client "${TWO[@]}" -M -S "$ctl" -N -f hayate
	for i in $(seq 100); do
		client -S "$ctl" hayate "head -c $((200000 + i)) $DATA | cksum;
		    cksum" <some >"out$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
	for i in $(seq 100); do
		[ "$(cat "out$i")" = "$(head -c $((200000 + i)) "$DATA" | cksum
		    cksum <some)" ] || { cat "out$i"; return 1; }
	done
	client -q -S "$ctl" -O exit hayate
}

@test "forks while threads are busy do not harm -f, ControlPersist or new sessions" {
	local ctl=$PWD/ctl port=$((20000 + RANDOM % 12000)) i
	client "${TWO[@]}" -f -o ExitOnForwardFailure=yes \
	    -L "$port:127.0.0.1:$(sshd_port stock)" hayate "sleep 2"
	[ "$(head -c 8 <"/dev/tcp/127.0.0.1/$port")" = SSH-2.0- ]
	client "${TWO[@]}" -M -S "$ctl" -o ControlPersist=60 hayate "cat $DATA" | cmp - "$DATA"
	client -S "$ctl" hayate "cat /dev/zero" | head -c 600000000 | cksum >zeros &
	for i in 1 2 3 4 5 6; do
		client -S "$ctl" hayate "cat $DATA" | cmp - "$DATA"
	done
	wait $!
	[ "$(cat zeros)" = "$(head -c 600000000 /dev/zero | cksum)" ]
	client -q -S "$ctl" -O exit hayate
}

@test "internal-sftp, a fork without exec, works beside threads" {
	sshd_up hayate:internal "CipherThreads 2" "ForceCommand internal-sftp"
	files -q "${TWO[@]}" -b - internal <<-EOF >/dev/null
	get $DATA $PWD/got
	put $DATA $PWD/put
	EOF
	cmp got "$DATA"
	cmp put "$DATA"
	sshd_down internal
}

# measure_client_peak OPTION COMMAND: prints the peak memory in KiB of a client, which
# then waits
measure_client_peak() {
	local pid
	rm -f over
	"$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" -o "$1" hayate \
	    "$2; touch $PWD/over; sleep 30" </dev/zero >/dev/null 3>&- &
	pid=$!
	poll 30 test -e over
	awk '/^VmHWM/ { print $2 }' "/proc/$pid/status"
	kill $pid
}

# Sending: PACKETQ_BYTES of packets, as much sealed, one packet more, in buffers
# that may be half empty; and what threads have of their own. Receiving: the
# reads as well, and a channel's buffer for what is there at once.
@test "threads cost at most 6 MiB for sending and 16 MiB for receiving" {
	local off
	off=$(measure_client_peak CipherThreads=off "head -c 300000000 >/dev/null")
	[ "$(measure_client_peak CipherThreads=8 "head -c 300000000 >/dev/null")" -le \
	    $((off + 6144)) ]
	off=$(measure_client_peak CipherThreads=off "head -c 300000000 /dev/zero")
	[ "$(measure_client_peak CipherThreads=8 "head -c 300000000 /dev/zero")" -le \
	    $((off + 16384)) ]
}

# A client that asks for channels and reads no answer. 150,000 take 145 MB if each
# waits as a job of its own, and 16 MB if not.
@test "replies that a client does not read take little memory" {
	need_paramiko
	cat >asks <<-END
	import os, paramiko, subprocess, time
	def kids(p):
	    own = subprocess.run(["pgrep", "-P", str(p)], stdout=subprocess.PIPE, text=True).stdout.split()
	    return sum((kids(k) for k in own), own)
	t = paramiko.Transport(("127.0.0.1", $(sshd_port hayate)))
	t.packetizer.REKEY_BYTES = t.packetizer.REKEY_PACKETS = 2 ** 50
	t.get_security_options().ciphers = ("aes128-ctr",)
	t.start_client()
	t.auth_publickey("$(id -un)", paramiko.Ed25519Key.from_private_key_file("$BATS_FILE_TMPDIR/user"))
	t.packetizer.read_message = lambda: time.sleep(600)
	m = paramiko.Message()
	m.add_byte(bytes([90]))
	m.add_string(b"x")
	m.add_int(7)
	m.add_int(1 << 20)
	m.add_int(32768)
	t._send_message(m)
	for i in range(150000):
	    t.packetizer.send_message(m)
	time.sleep(2)
	print(max(int(l.split()[1]) for k in kids($(cat "$(sshd_dir hayate)/pid"))
	    for l in open("/proc/%s/status" % k) if l.startswith("VmRSS")), flush=True)
	os._exit(0)
	END
	run -0 timeout 100 /usr/bin/python3 asks
	echo "$output KiB"
	[ "${lines[-1]}" -le 30000 ]
}

@test "a process that exits or is killed while threads are busy ends at once" {
	local i pid ssh
	ssh=("$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" "${TWO[@]}")
	for i in 1 2 3 4 5; do
		timeout 20 "${ssh[@]}" hayate 'cat /dev/zero' 3>&- |
		    head -c 50000000 >/dev/null
		"${ssh[@]}" hayate 'cat /dev/zero' >/dev/null 3>&- &
		pid=$!
		sleep 0.$((RANDOM % 6 + 2))
		kill $pid
		poll 5 is_gone $pid
	done
	poll 10 eval '! pgrep -P "$(cat "$(sshd_dir hayate)/pid")" >/dev/null'
	fails grep -aE 'fatal|crash|SIGSEGV|SIGABRT' "$(sshd_log hayate)"
}
