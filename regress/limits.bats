#!/usr/bin/env bats
# Needs: hayate stock path timed
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# The bottleneck of a copy, through real programs: each test makes one bottleneck true and
# expects its name (common/bottleneck.h, ssh/bottleneck-ssh-hook.h,
# transfer/file/bottleneck-hook.h).
#
#     client, a 10.77.0.1  ==== 60 ms, 400 Mbit/s ====  b 10.77.0.2, sshd
#
# "path-or-peer" is the answer where this end alone cannot know. A name that is
# wrong fails, and so does a name where there has to be none.
#
# Tests that end in "(held out)" were written down before they were run, and were
# not run until the rules were done. They are a third of the cases, and are not to
# be used to change a rule: write a new one instead. RESULTS.md says what they
# found at first.

load helper

PATH_OPTIONS="--rtt 60ms --rate 400mbit --queue 4MB --loss 0%"
CG=/sys/fs/cgroup

setup_file() {
	local why
	why=$("$LFP" check 2>&1) || {
		echo "${why#lfp: }" >"$BATS_FILE_TMPDIR/why"
		return
	}
	export P=l$$ SERVER_ADDRESS=10.77.0.2
	export IN_SERVER="ip netns exec lfp-$P-b"
	export IN_CLIENT="ip netns exec lfp-$P-a"
	# shellcheck disable=SC2086
	"$LFP" up "$P" $PATH_OPTIONS --cc cubic 3>&-
	start_slow_disk
	sshd_up hayate
	sshd_up stock
	sshd_up hayate:narrow "WindowMax 2M"
	sshd_up hayate:clear "WindowMax 2M" "NoneEnabled yes"
	sshd_up hayate:bounded "MaxRate 5M"
	sshd_up hayate:quiet "TellLimits no"
	sshd_up hayate:old "Ciphers +3des-cbc"
	sshd_up hayate:slow
	sshd_up stock:slowstock
	sshd_up hayate:oddities "Subsystem sftp /usr/bin/python3 $BATS_FILE_TMPDIR/odd.py"
	head -c 100000000 /dev/urandom >"$BATS_FILE_TMPDIR/bulk"
	head -c 15000000 "$BATS_FILE_TMPDIR/bulk" >"$BATS_FILE_TMPDIR/some"
	head -c 30000000 "$BATS_FILE_TMPDIR/bulk" >"$BATS_FILE_TMPDIR/more"
	head -c 8000000 "$BATS_FILE_TMPDIR/bulk" >"$BATS_FILE_TMPDIR/few"
	head -c 10000000 "$BATS_FILE_TMPDIR/bulk" >"$BATS_FILE_TMPDIR/ten"
	head -c 5000000 "$BATS_FILE_TMPDIR/bulk" >"$BATS_FILE_TMPDIR/five"
}

teardown_file() {
	[ -z "$P" ] || {
		sshd_down
		stop_slow_disk
		[ ! -d "$CG/cpu/$P" ] || poll 10 rmdir "$CG/cpu/$P"
		"$LFP" down "$P"
	}
}

setup() {
	[ ! -f "$BATS_FILE_TMPDIR/why" ] || skip "$(cat "$BATS_FILE_TMPDIR/why")"
	cd "$BATS_TEST_TMPDIR"
	F=$BATS_FILE_TMPDIR T=$BATS_TEST_TMPDIR
	BULK=$F/bulk MORE=$F/more SOME=$F/some TEN=$F/ten FEW=$F/few FIVE=$F/five
	# shellcheck disable=SC2086
	change_path $PATH_OPTIONS
	set_congestion cubic
	set_buffers a; set_buffers b
}

teardown() { [ -z "$T" ] || rm -f "$T/out" "$F/disk/out" 2>/dev/null || :; }

### Making a limit

# change_path OPTION VALUE...: changes the path
change_path() { "$LFP" set "$P" "$@"; }

# run_at a|b COMMAND...: runs COMMAND at that end
run_at() { ip netns exec "lfp-$P-$1" "${@:2}"; }

# set_congestion NAME: sets it at both ends
set_congestion() {
	run_at a sysctl -qw "net.ipv4.tcp_congestion_control=$1"
	run_at b sysctl -qw "net.ipv4.tcp_congestion_control=$1"
}

# set_buffers a|b [wmem|rmem BYTES]: sets the most that TCP takes there
set_buffers() {
	run_at "$1" sysctl -qw net.ipv4.tcp_wmem='4096 16384 268435456' \
	    net.ipv4.tcp_rmem='4096 131072 268435456'
	[ $# = 1 ] || run_at "$1" sysctl -qw "net.ipv4.tcp_$2=4096 16384 $3"
}

# A disk of 12 MB/s for who is in the group "slow", and a fast one for all others
start_slow_disk() {
	local dev
	[ -w "$CG/blkio/tasks" ] && command -v mkfs.ext4 >/dev/null || return 0
	truncate -s 300M "$BATS_FILE_TMPDIR/disk.img"
	mkfs.ext4 -q -F "$BATS_FILE_TMPDIR/disk.img"
	mkdir "$BATS_FILE_TMPDIR/disk"
	dev=$(losetup --show -f "$BATS_FILE_TMPDIR/disk.img") || return 0
	mount -o sync "$dev" "$BATS_FILE_TMPDIR/disk" || { losetup -d "$dev"; return 0; }
	echo "$dev" >"$BATS_FILE_TMPDIR/dev"
	mkdir "$CG/blkio/$P"
	for way in read write; do
		echo "$((0x$(stat -c %t "$dev"))):$((0x$(stat -c %T "$dev"))) 12000000" \
		    >"$CG/blkio/$P/blkio.throttle.${way}_bps_device"
	done
	head -c 30000000 /dev/urandom | dd bs=1M of="$BATS_FILE_TMPDIR/disk/src" 2>/dev/null
	head -c 130000000 /dev/urandom | dd bs=1M of="$BATS_FILE_TMPDIR/disk/long" 2>/dev/null
}

stop_slow_disk() {
	[ -f "$BATS_FILE_TMPDIR/dev" ] || return 0
	poll 10 umount "$BATS_FILE_TMPDIR/disk"
	losetup -d "$(cat "$BATS_FILE_TMPDIR/dev")"
	poll 10 rmdir "$CG/blkio/$P"
}

# need_slow_disk here|there: skips the test without it; its files have to be read from it
need_slow_disk() {
	[ -f "$F/dev" ] || skip "no blkio cgroup, loop device or mkfs.ext4"
	dd if="$F/disk/src" iflag=nocache count=0 2>/dev/null
	dd if="$F/disk/long" iflag=nocache count=0 2>/dev/null
	if [ "$1" = here ]; then
		IN_CLIENT="$(print_group_command blkio) $IN_CLIENT"
	else
		cat "$(sshd_dir slow)/pid" >"$CG/blkio/$P/tasks"
		cat "$(sshd_dir slowstock)/pid" >"$CG/blkio/$P/tasks"
	fi
}

# print_group_command CONTROLLER: prints the command that runs another one in our group
print_group_command() {
	cat >in-group <<-END
	echo \$\$ >$CG/$1/$P/tasks
	exec "\$@"
	END
	echo "sh $T/in-group"
}

# set_cpu_quota PERCENT: makes a group with that share of a CPU
set_cpu_quota() {
	[ -w "$CG/cpu/cpu.cfs_quota_us" ] || [ -w "$CG/cpu/tasks" ] || skip "no cpu cgroup"
	mkdir -p "$CG/cpu/$P"
	echo 100000 >"$CG/cpu/$P/cpu.cfs_period_us"
	echo "$(($1 * 1000))" >"$CG/cpu/$P/cpu.cfs_quota_us"
}

# print_paced FILE: prints FILE at 5 MB/s; without a file, standard input
print_paced() {
	python3 -c "
import sys, time
f = open(sys.argv[1], 'rb') if len(sys.argv) > 1 else sys.stdin.buffer
n, t = 0, time.time()
while True:
    b = f.read(65536)
    if not b: break
    sys.stdout.buffer.write(b)
    sys.stdout.flush()
    n += len(b)
    time.sleep(max(0, n / 5e6 - time.time() + t))
" "$@"
}
PACED=$(declare -f print_paced)

### Copies

# upload_file, download_file SERVER FILE [ARG...]: copy by scp, whose messages are in
# "said" and "report"
upload_file() { run_scp "${@:3}" "$2" "$1:$T/out"; cmp "$2" out; }
download_file() { run_scp "${@:3}" "$1:$2" "$T/out"; cmp "$2" out; }
run_scp() {
	LAST=("$@")
	copy -v --report report "$@" 2>err || { cat err; return 1; }
	tr -d '\r' <err | sed -n 's/.*Limit\( of [^:]*\)\{0,1\}: //p' >said
	cat said
}

# check_bottleneck NAME[,NAME...] [here|there|anywhere]: checks the bottleneck of the last
# copy by scp. A wrong name fails at once. Where the copy has no name or only
# "path-or-peer", a busy machine may be the reason, so the copy is repeated, three times
# in all.
check_bottleneck() {
	local try
	for try in 1 2 3; do
		[ "$try" = 1 ] || run_scp "${LAST[@]}"
		compare_bottleneck "$@" && return
		[ $? = 2 ] || return 1
	done
	return 1
}

# compare_bottleneck ...: returns 1 for a wrong name, 2 for none
compare_bottleneck() {
	python3 - "$@" <<-'END'
	import json, sys
	limit = json.load(open("report"))["limit"]
	print(json.dumps(limit))
	name, at = limit["name"], limit.get("at")
	where = (sys.argv[2:] + [None])[0]
	right = name in sys.argv[1].split(",") and where in (at, "anywhere")
	sys.exit(0 if right else 2 if name in ("none", "path-or-peer") else 1)
	END
}

# run_ssh ARG...: runs it with -v; standard output is that of ssh
run_ssh() { client -v "$@" 2>err; }

# check_limit_line TEXT: checks that TEXT is in the line of the last ssh
check_limit_line() {
	tr -d '\r' <err | grep 'Limit: ' >said
	cat said
	[ "$(wc -l <said)" = 1 ]
	grep -q "Limit: $1" said
}

### The path

@test "path rate, put to Hayate: path" {
	upload_file hayate "$BULK"
	check_bottleneck path
}

@test "path rate, put to stock over several channels: path" {
	upload_file stock "$BULK"
	check_bottleneck path
}

@test "path rate, get from Hayate: path" {
	download_file hayate "$BULK"
	check_bottleneck path
	grep -q '^the path, RTT 60' said
}

@test "path rate, get from stock: path or peer" {
	download_file stock "$BULK"
	check_bottleneck path-or-peer
	grep -q '^the path or the server' said
}

@test "path rate of 100 Mbit/s at 20 ms with reno, put to stock: path (held out)" {
	change_path --rtt 20ms --rate 100mbit --queue 500kB
	set_congestion reno
	upload_file stock "$MORE"
	check_bottleneck path
}

@test "path rate of 100 Mbit/s at 20 ms with reno, get from Hayate: path (held out)" {
	change_path --rtt 20ms --rate 100mbit --queue 500kB
	set_congestion reno
	download_file hayate "$MORE"
	check_bottleneck path
}

@test "path rate with BBR, put to Hayate: path (held out)" {
	set_congestion bbr
	upload_file hayate "$BULK"
	check_bottleneck path
}

@test "0.2 % loss with BBR and 100 Mbit/s, put to Hayate: path (held out)" {
	change_path --loss 0.2% --rate 100mbit
	set_congestion bbr
	upload_file hayate "$MORE"
	check_bottleneck path
}

### Loss

@test "0.5 % loss with cubic at 20 ms, put to Hayate: loss" {
	change_path --loss 0.5% --rtt 20ms --seed 1
	upload_file hayate "$FIVE"
	check_bottleneck loss
	grep -q 'CongestionControl bbr here' said
}

@test "0.5 % loss with cubic at 20 ms, get from stock: path or peer" {
	change_path --loss 0.5% --rtt 20ms --seed 1
	download_file stock "$FIVE"
	check_bottleneck path-or-peer
}

@test "0.5 % loss with reno at 40 ms, get from Hayate: loss (held out)" {
	change_path --loss 0.5% --rtt 40ms --seed 1
	set_congestion reno
	download_file hayate "$FIVE"
	check_bottleneck loss
}

# A few seconds are mostly slow start.
@test "0.4 % loss with cubic at 30 ms, put to stock: loss, or none (held out)" {
	change_path --loss 0.4% --rtt 30ms --seed 1
	upload_file stock "$FIVE"
	check_bottleneck loss,none
}

### Windows and buffers

@test "window of a Hayate server, put: window there" {
	upload_file narrow "$MORE"
	check_bottleneck window there
	grep -q 'raise WindowMax there' said
}

@test "window of a stock server, put over one channel: window there" {
	upload_file stock "$MORE"
	check_bottleneck window there
	grep -q 'stock OpenSSH' said
}

@test "our own window, get from Hayate: window here" {
	download_file hayate "$BULK" -o WindowMax=2M
	check_bottleneck window here
}

@test "our own window, get from stock: window here" {
	download_file stock "$BULK" -o WindowMax=2M
	check_bottleneck window here
}

@test "data in clear, put to Hayate: window there" {
	upload_file clear "$BULK" -o NoneEnabled=yes -o NoneSwitch=yes
	grep -q 'NoneSwitch: data is in clear from here on' err
	check_bottleneck window there
}

@test "data in clear, get from Hayate: window here" {
	download_file clear "$BULK" -o NoneEnabled=yes -o NoneSwitch=yes -o WindowMax=2M
	grep -q 'NoneSwitch: data is in clear from here on' err
	check_bottleneck window here
}

@test "window of a stock server at 100 ms with BBR, put: window there (held out)" {
	change_path --rtt 100ms
	set_congestion bbr
	upload_file stock "$MORE"
	check_bottleneck window there
}

@test "our own window at 100 ms, get from Hayate: window here (held out)" {
	change_path --rtt 100ms
	download_file hayate "$MORE" -o WindowMax=2M
	check_bottleneck window here
}

@test "tcp_wmem here, put to Hayate: send buffer here" {
	set_buffers a wmem 500000
	upload_file hayate "$TEN"
	check_bottleneck send-buffer here
	grep -q 'sysctl net.ipv4.tcp_wmem="4096 16384 268435456" here' said
}

@test "tcp_wmem there, get from Hayate: send buffer there" {
	set_buffers b wmem 500000
	download_file hayate "$SOME"
	check_bottleneck send-buffer there
}

@test "tcp_wmem there, get from stock: path or peer" {
	set_buffers b wmem 500000
	download_file stock "$TEN"
	check_bottleneck path-or-peer
}

@test "tcp_wmem of 1 MB here at 100 ms, put to stock: send buffer here (held out)" {
	change_path --rtt 100ms
	set_buffers a wmem 1000000
	upload_file stock "$SOME"
	check_bottleneck send-buffer here
}

@test "tcp_rmem there, put to Hayate: receive buffer there" {
	set_buffers b rmem 700000
	upload_file hayate "$TEN"
	check_bottleneck receive-buffer there
}

@test "tcp_rmem there, put to stock: receive buffer there" {
	set_buffers b rmem 700000
	upload_file stock "$TEN"
	check_bottleneck receive-buffer there
}

@test "tcp_rmem here, get from Hayate: receive buffer here" {
	set_buffers a rmem 700000
	download_file hayate "$SOME"
	check_bottleneck receive-buffer here
}

@test "tcp_rmem here, get from stock: path or peer" {
	set_buffers a rmem 700000
	download_file stock "$TEN"
	check_bottleneck path-or-peer
}

@test "tcp_rmem of 300 kB here at 20 ms, get from Hayate: receive buffer here (held out)" {
	change_path --rtt 20ms
	set_buffers a rmem 300000
	download_file hayate "$SOME"
	check_bottleneck receive-buffer here
}

@test "MaxRate here, put to Hayate: max-rate here" {
	upload_file hayate "$TEN" -o MaxRate=5M
	check_bottleneck max-rate here
}

@test "MaxRate there, get: max-rate there" {
	download_file bounded "$TEN"
	check_bottleneck max-rate there
	grep -q 'raise it in sshd_config there' said
}

@test "MaxRate here at 20 ms, put to stock: max-rate here (held out)" {
	change_path --rtt 20ms
	upload_file stock "$SOME" -o MaxRate=4M
	check_bottleneck max-rate here
}

### Disks

@test "disk read here, put to Hayate: disk-read here" {
	need_slow_disk here
	upload_file hayate "$F/disk/src"
	check_bottleneck disk-read here
}

@test "disk read here, put to stock: disk-read here" {
	need_slow_disk here
	upload_file stock "$F/disk/src"
	check_bottleneck disk-read here
}

@test "disk write there, put to Hayate: disk-write there" {
	need_slow_disk there
	T=$F/disk upload_to_disk slow
	check_bottleneck disk-write there
}

@test "disk write there, put to stock: path or peer" {
	need_slow_disk there
	T=$F/disk upload_to_disk slowstock
	check_bottleneck path-or-peer
}
upload_to_disk() { run_scp "$MORE" "$1:$F/disk/out"; }

@test "disk read there, get from Hayate: disk-read there (held out)" {
	need_slow_disk there
	download_file slow "$F/disk/src"
	check_bottleneck disk-read there
}

@test "disk read there, get from stock: path or peer (held out)" {
	need_slow_disk there
	download_file slowstock "$F/disk/src"
	check_bottleneck path-or-peer
}

@test "disk write here, get from Hayate: disk-write here (held out)" {
	need_slow_disk here
	run_scp "hayate:$MORE" "$F/disk/out"
	check_bottleneck disk-write here
}

@test "disk write here, get from stock: disk-write here (held out)" {
	need_slow_disk here
	run_scp "stock:$MORE" "$F/disk/out"
	check_bottleneck disk-write here
}

### Pipes

# The server has sent all at once, and its command has ended. What it does then is
# no waiting for data.
@test "a short download with a slow reader gets no wrong bottleneck" {
	run_ssh hayate "cat $FEW" | print_paced >/dev/null
	check_limit_line 'the program here that reads the data' || check_limit_line 'no single cause'
}

@test "a slow reader here, from Hayate and stock: the program that reads here" {
	for s in hayate stock; do
		run_ssh $s "cat $TEN" | print_paced >/dev/null
		check_limit_line 'the program here that reads the data'
	done
}

@test "a slow writer there, Hayate: the program that writes to the server" {
	run_ssh hayate "$PACED; print_paced $TEN" >/dev/null
	check_limit_line 'the program at the server that supplies the data'
}

@test "a command that waits before it writes at the path's rate: the program that writes" {
	run_ssh hayate "sleep 3; cat $MORE" >/dev/null
	check_limit_line 'the program at the server that supplies the data'
}

@test "a slow writer there, stock: path or peer" {
	run_ssh stock "$PACED; print_paced $TEN" >/dev/null
	check_limit_line 'the path or the server'
}

@test "a slow writer here, to Hayate and stock: the program that writes here (held out)" {
	for s in hayate stock; do
		print_paced "$TEN" | run_ssh $s "cat >$T/out"
		check_limit_line 'the program here that supplies the data'
	done
}

@test "a slow reader there, Hayate: the program that reads from the server (held out)" {
	run_ssh hayate "$PACED; print_paced >/dev/null" <"$TEN"
	check_limit_line 'the program at the server that reads the data'
}

@test "a slow reader there, stock: path or peer (held out)" {
	run_ssh stock "$PACED; print_paced >/dev/null" <"$TEN"
	check_limit_line 'the path or the server'
}

### Processors

@test "a slow cipher, put to Hayate: cpu, and another cipher is advised" {
	change_path --rtt 1ms --rate 0
	upload_file old "$MORE" -c 3des-cbc
	check_bottleneck cpu anywhere
	# The second is right where the machine has more to do; bottleneck.bats tells
	# them apart.
	grep -qE 'try another cipher|other programs or a CPU quota use it' said
}

# Both processes of an end share a quota, so neither needs one all the time.
@test "a CPU quota there, put to Hayate: cpu there, or none (held out)" {
	set_cpu_quota 2
	cat "$(sshd_dir narrow)/pid" >"$CG/cpu/$P/tasks"
	upload_file narrow "$MORE"
	check_bottleneck cpu,none,path-or-peer anywhere
	run ! grep '"at":"here"' report
}

### Connections of other kinds

@test "with two connections the bottleneck is that of the first, and the line says so" {
	copy -v -j 2 --report report "$BULK" "hayate:$T/out" 2>err
	check_bottleneck path,none,path-or-peer
	tr -d '\r' <err | grep 'Limit of the first of 2 connections: '
}

@test "with threads for the cipher the path is named" {
	download_file hayate "$BULK" -o CipherThreads=2
	check_bottleneck path
}

@test "through a jump host no part of TCP is named, and the line says why" {
	upload_file narrow "$MORE" -o ProxyJump=hayate
	check_bottleneck path-or-peer
	grep -q 'ssh does not see it through ProxyJump or ProxyCommand' said
}

@test "through a jump host a download gets no wrong bottleneck" {
	download_file hayate "$MORE" -o ProxyJump=narrow
	check_bottleneck path-or-peer,none
}

@test "over a shared connection no bottleneck is reported" {
	client -M -S "$T/ctl" -f -N hayate
	copy -v -o ControlPath="$T/ctl" --report report "$MORE" "hayate:$T/out" 2>err
	client -S "$T/ctl" -O exit hayate
	grep -q '"status":"ok"' report
	run ! grep Limit err
	run ! grep '"limit"' report
}

@test "with TellLimits no a server does not report its stall counters" {
	download_file quiet "$MORE"
	check_bottleneck path-or-peer
	grep '"peer_told":false' report
	grep -q 'the server does not report stall statistics' err
	grep -q 'the SFTP server does not report stall statistics' err
}

@test "with Hayate no nothing is requested, counted or reported" {
	copy -vvv -o Hayate=no "$FEW" "hayate:$T/out" 2>err
	run ! grep -aE 'Limit|rtype figures|does not tell' err
	client -vvv -o Hayate=no hayate "cat $FEW" >out 2>err
	run ! grep -aE 'Limit|figures' err
}

@test "no line is printed without -v, with -q or for a small file" {
	copy "$MORE" "hayate:$T/out" 2>err
	run ! grep Limit err
	copy -q "$FEW" "hayate:$T/out" 2>err
	[ ! -s err ]
	head -c 1000 "$BULK" >tiny
	copy -v tiny "hayate:$T/out" 2>err
	run ! grep 'Limit: [^n]' err
}

@test "an SFTP server that is denied the request does not announce it" {
	query_version() { { printf '\0\0\0\5\1\0\0\0\3'; sleep 0.3; } | "$(bin sftp-server)" "$@" | tr '\0' '\n'; }
	query_version >all
	grep -aq limits@openssh.com all && grep -aq figures@hayate.invalid all
	query_version -P figures >all
	grep -aq limits@openssh.com all && fails grep -aq figures@hayate.invalid all
	query_version -p limits >all
	grep -aq limits@openssh.com all && fails grep -aq figures@hayate.invalid all
}

# An SFTP server that announces the figures and answers $1 to who asks
make_odd_sftp_server() {
	cat >"$F/odd.py" <<-END
	import os, struct, subprocess, sys, threading
	p = subprocess.Popen(["$(bin sftp-server stock)"], stdin=subprocess.PIPE,
	                     stdout=subprocess.PIPE)
	lock = threading.Lock()
	def text(b): return struct.pack(">I", len(b)) + b
	def message(f):
	    n = f.read(4)
	    return f.read(struct.unpack(">I", n)[0]) if len(n) == 4 else None
	def send(f, m):
	    with lock:
	        f.write(text(m))
	        f.flush()
	def back():
	    while (m := message(p.stdout)) is not None:
	        if m[0] == 2:
	            m += text(b"figures@hayate.invalid") + text(b"1")
	        send(sys.stdout.buffer, m)
	    os._exit(0)
	threading.Thread(target=back).start()
	while (m := message(sys.stdin.buffer)) is not None:
	    if m[0] == 200 and b"figures@hayate.invalid" in m:
	        send(sys.stdout.buffer, bytes([$1]) + m[1:5] + bytes.fromhex("$2"))
	    else:
	        p.stdin.write(text(m))
	        p.stdin.flush()
	p.stdin.close()
	END
}

@test "malformed replies of an SFTP server change no copy, and are not used" {
	local type hex most
	most=$(printf 'ff%.0s' {1..208})
	while read -r type hex; do
		make_odd_sftp_server "$type" "$hex"
		upload_file oddities "$MORE"
		grep -q 'the SFTP server does not report stall statistics' err
		check_bottleneck path,none
	done <<-END
	201 00000001
	201 000000020000000000
	201 000000010000001a${most:2}
	101 00000000
	END
	make_odd_sftp_server 201 "000000010000001a$most"
	upload_file oddities "$MORE"
	check_bottleneck path,none
}

# run_on_terminal COMMAND...: runs COMMAND with standard error on a terminal, and prints
# the errors
run_on_terminal() {
	python3 -c "
import os, pty, subprocess, sys
m, s = pty.openpty()
p = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=s)
os.close(s)
while True:
    try:
        b = os.read(m, 4096)
    except OSError:
        break
    if not b: break
    os.write(1, b)
sys.exit(p.wait())
" "$@"
}

@test "a long copy far below the path's rate is reported on a terminal, not in a file" {
	need_slow_disk here
	local scp
	scp="$(bin scp) -S $(bin ssh) -F $F/ssh_config"
	# shellcheck disable=SC2086
	run_on_terminal $IN_CLIENT $scp "$F/disk/long" "hayate:$T/out" >said
	cat said
	grep -q 'Limit: disk read here' said
}
