#!/usr/bin/env bats
# Needs: hayate stock path peers timed
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# The benchmarks beside other tools (bench/suite-ftp, -files and -cross.bash),
# of the queue of a path (-queue.bash) and of a slow disk (-disk.bash), each once in its smallest form: every job runs,
# what did not arrive is no success, and what is missing is named. No speed is
# judged here.

load ../helper

RUN=$REGRESS/bench/run

setup() {
	T=$BATS_TEST_TMPDIR
	export TMPDIR=$T BENCH_DATA=$T
}

need_tools() {
	local tool
	for tool; do
		PATH=$PATH:$BUILD/ftpd/usr/sbin command -v "${tool%:*}" >/dev/null ||
		    skip "no ${tool%:*} (package ${tool#*:})"
	done
}


# run_small CELL [OPTION...]: runs the cell; the lines are left in $TSV
run_small() {
	run -0 --separate-stderr "$RUN" --only "$1" --runs 1 --bytes 1M \
	    --out "$T/out" "${@:2}" 3>&-
	TSV=$(echo "$T"/out/*.tsv)
	run ! ls -d "$T"/lab.*
}

# query_results CONDITION COLUMN...: prints the columns of the TSV where awk's CONDITION
# holds of v[NAME]
query_results() {
	awk -F'\t' -v columns="${*:2}" '
	NR == 1 { for (i = 1; i <= NF; i++) at[i] = $i; n = split(columns, c, " "); next }
	{ for (i = 1; i <= NF; i++) v[at[i]] = $i }
	'"$1"' { line = v[c[1]]
		for (i = 2; i <= n; i++) line = line "|" v[c[i]]
		print line }' "$TSV"
}

check_all_ran() {
	run -0 query_results 'v["status"] != 0' program mode direction status
	[ -z "$output" ] || { echo "$output"; return 1; }
}

count_rows() { query_results "$1" program | wc -l; }

# hide_programs TOOL...: sets a PATH that has all but these, with fakes from $T/fake
# first. The links that ccache has for compilers do not work in another folder.
hide_programs() {
	local d tool
	mkdir -p "$T/bin" "$T/fake"
	for d in ${PATH//:/ }; do
		[[ $d != */ccache ]] || continue
		find "$d/" -maxdepth 1 ! -type d -exec ln -st "$T/bin" {} + \
		    2>/dev/null || :
	done
	for tool; do rm -f "$T/bin/$tool"; done
	export PATH=$T/fake:$T/bin
}

# make_fake TOOL <SCRIPT: makes it of the input, where REAL stands for the real one
make_fake() {
	mkdir -p "$T/fake"
	sed "s,REAL,$(command -v "$1"),; 1i #!/bin/sh" >"$T/fake/$1"
	chmod +x "$T/fake/$1"
	PATH=$T/fake:$PATH
}

### ftp

need_ftp() {
	need_root "an FTP server with mounts of its own"
	unshare -m true 2>/dev/null || skip "no mount namespaces"
	need_tools tnftp:tnftp lftp:lftp vsftpd:vsftpd pure-ftpd:pure-ftpd
}

@test "each FTP client fetches from each FTP server, and scp from both sshd" {
	need_ftp
	run_small ftp
	check_all_ran
	[ "$(query_results 1 program | sort | paste -sd' ')" = "ftp-pure-ftpd ftp-vsftpd \
hayate hayate-clear lftp-pure-ftpd lftp-ssl-vsftpd lftp-vsftpd stock" ]
	[ "$(query_results 1 bytes login | sort -u)" = '1048576|-' ]
	query_results 'v["program"] == "lftp-vsftpd"' version |
	    grep -Eqx 'vsftpd [0-9.]+, lftp [0-9.]+'
	query_results 'v["program"] == "hayate-clear"' version |
	    grep -q ' with aes128-gmac@\|with none+.*-etm@'
}

@test "the served folder and the servers are gone after the benchmark" {
	need_ftp
	run_small ftp
	run ! ls /srv/1048576
	run ! pgrep -f "$T/lab"
}

@test "a client that reports success without the file has failed" {
	need_ftp
	make_fake lftp <<<'case $1 in --version) exec REAL "$@" ;; esac'
	run_small ftp
	[ "$(query_results 'v["status"] == 254' program | sort | paste -sd' ')" = \
	    'lftp-pure-ftpd lftp-ssl-vsftpd lftp-vsftpd' ]
	[ "$(count_rows 'v["status"] == 0')" = 5 ]
}

@test "a client that omits the last byte has failed" {
	need_ftp
	make_fake tnftp <<-'SCRIPT'
	REAL "$@" || exit
	[ ! -f "$3" ] || truncate -s -1 "$3"
	SCRIPT
	run_small ftp
	[ "$(query_results 'v["status"] == 254' program | sort | paste -sd' ')" = \
	    'ftp-pure-ftpd ftp-vsftpd' ]
}

@test "without FTP programs scp is measured, and the packages are named" {
	mkdir "$T/build"
	ln -s "$BUILD"/{stock,hayate} "$T/build"
	hide_programs vsftpd pure-ftpd
	HAYATE_BUILD=$T/build run_small ftp
	check_all_ran
	[ "$(query_results 1 program | paste -sd' ')" = 'stock hayate hayate-clear' ]
	((EUID)) || [[ $stderr = *'skipped pure-ftpd: no pure-ftpd, which is in the package pure-ftpd'* ]]
	((EUID)) || [[ $stderr = *'skipped vsftpd: no vsftpd, which is in the package vsftpd'* ]]
}

### files

@test "every tool carries every set of files intact, both ways, through both builds" {
	need_path
	need_tools rsync:rsync rclone:rclone lftp:lftp
	run_small files --rtt 0.16
	check_all_ran
	[ "$(query_results 1 program | sort | uniq -c | xargs)" = '42 hayate 42 stock' ]
	[ "$(query_results 1 mode | sed 's/,.*//' | LC_ALL=C sort | uniq -c | xargs)" = \
	    '12 lftp 12 rclone 12 rsync 12 scp -r 12 scp list 12 sftp 12 tar' ]
	[ "$(count_rows 'v["mode"] ~ / 4 x 3 B$/ && v["bytes"] == 12 && v["ms"] > 0')" = 28 ]
	[ "$(count_rows 'v["ms"] * 4 / 1000 / v["seconds"] < 1.01 &&
	    v["ms"] * 4 / 1000 / v["seconds"] > 0.99')" = 84 ]
}

@test "a tool that loses one file of a set has failed" {
	need_path
	need_tools rsync:rsync rclone:rclone lftp:lftp
	make_fake rsync <<-'SCRIPT'
	case $1 in --server|--version) exec REAL "$@" ;; esac
	REAL "$@" || exit
	for to do :; done
	rm "${to#*:}/f00002"
	SCRIPT
	FILES_SETS=4x3 run_small files --rtt 0.16
	[ "$(query_results 'v["status"] == 254' mode | sort | uniq -c | xargs)" = \
	    '4 rsync, 4 x 3 B' ]
	[ "$(count_rows 'v["status"] == 0')" = 24 ]
}

@test "a missing tool is named with its package" {
	need_path
	hide_programs rclone lftp
	FILES_SETS=4x3 run_small files --rtt 0.16
	check_all_ran
	[[ $stderr = *'skipped rclone: no rclone, which is in the package rclone'* ]]
	[[ $stderr = *'skipped lftp: no lftp, which is in the package lftp'* ]]
	[ "$(count_rows 1)" = 20 ]
}

@test "a short sitting omits a set of files and uses one round-trip time" {
	need_path
	hide_programs rclone lftp rsync
	run_small files --quick
	[ "$(query_results 1 rtt_ms | sort -u)" = 22 ]
	[ "$(query_results 1 bytes | sort -nu | xargs)" = '12 4194304' ]
}

### queue

@test "ping is measured beside each transfer, and shows what waits in the queue" {
	need_path
	need_tools ping:iputils-ping
	QUEUE_CC=cubic QUEUE_PATHS=30:50:1MB:0 run_small queue --bytes 64M
	check_all_ran
	[ "$(query_results 'v["ms"] != "-"' mode direction | sort | uniq -c | xargs)" = \
	    '2 scp|get 2 scp|put 2 ssh cat|get' ]
	# The queue is that of the path, and stock fills it.
	run -0 query_results 'v["program"] == "stock" && v["ms"] != "-" && v["ms"] < 60' ms
	[ -z "$output" ]
	run -0 query_results 'v["ms"] != "-" && (v["ms"] < 30 || v["ms"] > 230)' ms
	[ -z "$output" ]
}

@test "a transfer without replies of ping is not counted" {
	need_path
	make_fake ping <<<'exec sleep 60'
	QUEUE_CC=cubic QUEUE_PATHS=30:50:1MB:0 run_small queue
	[ "$(count_rows 'v["mode"] !~ /^login/ && v["status"] == 0')" = 0 ]
}

### disk

@test "a disk of a bounded rate is read from and written to, and unmounted" {
	need_path
	[ -w /sys/fs/cgroup/blkio/blkio.throttle.write_bps_device ] ||
	    skip "no blkio controller of cgroup v1"
	DISK_RATE=2000000 run_small disk --bytes 4M
	check_all_ran
	[ "$(query_results 1 program | sort | uniq -c | xargs)" = '3 hayate 3 stock' ]
	[ "$(count_rows 'v["mode"] == "scp cold" && v["seconds"] > 1.8')" = 2 ]
	[ "$(count_rows 'v["ms"] > 0')" = 6 ]
	run ! grep -F "$T" /proc/mounts
	[[ $(losetup --list) != *"$T"* ]]
}

### cross

need_cross() {
	need_path
	need_tools iperf3:iperf3
}

@test "a transfer is measured beside each load, unmarked and marked" {
	need_cross
	run_small cross
	check_all_ran
	[ "$(query_results 1 load | uniq -c | xargs)" = '4 0% 4 30% 4 60% 4 90%' ]
	[ "$(query_results 1 mode | sort | uniq -c | xargs)" = '8 scp, af41 8 scp, unmarked' ]
	# A sender that was kept waiting catches up, so of four runs the middle two count.
	query_results 1 load procs | sed 's/%|udp \([0-9.]*\).*/ \1/' | sort -k 1,1n -k 2,2n >"$T/rates"
	cat "$T/rates"
	[ "$(awk 'NR % 4 == 2 { low = $2 }
	    NR % 4 == 3 { is = (low + $2) / 2; want = 2 * $1
	    if (is < want * 0.8 || is > want * 1.2) print $1, is }' "$T/rates")" = '' ]
}

@test "a run without the requested load is not counted" {
	need_cross
	make_fake iperf3 <<<'case " $* " in *" -u "*) exec sleep 60 ;; esac; exec REAL "$@"'
	CROSS_LOADS=90 run_small cross
	[ "$(count_rows 'v["status"] == 0')" = 0 ]
	[ "$(count_rows 'v["status"] == 255')" = 4 ]
}

@test "a run whose load ends before the transfer has failed" {
	need_cross
	make_fake iperf3 <<<'case " $* " in *" -u "*) set -- "$@" -t 1 ;; esac; exec REAL "$@"'
	CROSS_LOADS=30 run_small cross --bytes 256M
	[ "$(count_rows 'v["status"] == 253')" = 4 ]
}

@test "without tc no class is set up, and one line says so" {
	need_cross
	hide_programs tc
	CROSS_LOADS=0 run_small cross
	check_all_ran
	[ "$(grep -c 'no class for the marked: no tc, which is in the package iproute2' \
	    <<<"$stderr")" = 1 ]
}
