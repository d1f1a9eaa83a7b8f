#!/usr/bin/env bats
# Needs: hayate stock path timed
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# The self suite (bench/suite-self.bash) and its verdicts (bench/limits.py): the
# bottleneck is moved, and each time it must be named.

load ../helper

setup_file() {
	export METER=$BATS_FILE_TMPDIR/meter
	${CC:-cc} -O2 -Wall -Wextra -o "$METER" "$REGRESS/bench/meter.c"
}

setup() {
	export TMPDIR=$BATS_TEST_TMPDIR BENCH_DATA=$BATS_TEST_TMPDIR
	PROCS=$BATS_TEST_TMPDIR/procs
}

# read_field COMM N: prints a field of what the meter saw
read_field() { tr ' ' '\n' <"$PROCS" | awk -F: -v c="$1" -v n="$2" '$1 == c { print $n }'; }

# run_bench ARG...: runs it, with its tables in $output and its lines in $TSV
run_bench() {
	local out=$BATS_TEST_TMPDIR/out.$RANDOM
	run -0 --separate-stderr "$REGRESS/bench/run" --out "$out" "$@"
	TSV=$(ls "$out"/*.tsv)
}

# has_limit_sentence MODE LIMIT: succeeds if both rows of that mode have that sentence
has_limit_sentence() {
	local said
	said=$(awk -v mode="$1" 'index($0, mode "  ") == 1 { f = 1; next }
	    f && /^    limit: / { print } /^[^ ]/ { f = 0 }' <<<"$output")
	[ "$(grep -cE "^    limit: $2" <<<"$said")" = 2 ] ||
	    { printf '%s:\n%s\n' "$1" "$said"; return 1; }
}

@test "each verdict follows from its numbers" {
	run -0 python3 "$REGRESS/bench/limits.py" --selftest
	[ "${#lines[@]}" -ge 8 ]
}

@test "the meter reports the CPU time of each process at both ends" {
	local pid near
	mkfifo "$BATS_TEST_TMPDIR/ask"
	bash -c "while read -r _ <'$BATS_TEST_TMPDIR/ask'; do
	    head -c 1500000000 /dev/zero >/dev/null & wait; done" 3>&- &
	pid=$!
	read -r _ near _ < <("$METER" run -p "$PROCS" -f $pid -- sh -c "
	    echo >'$BATS_TEST_TMPDIR/ask'
	    dd if=/dev/urandom of=/dev/null bs=4k count=100000 & sleep 0.3; wait")
	kill $pid
	[ -n "$(read_field @head 1)" ]
	[ "$(read_field dd 2)" = 1 ]
	# all but the last moments, of which there are 20 ms or a few more
	check_true "$(read_field dd 3) + $(read_field dd 4) <= $near + 0.02"
	check_true "$(read_field dd 3) + $(read_field dd 4) > $near * 0.6 - 0.05"
	check_true "$(read_field dd 6) > 100000 && $(read_field dd 6) < 210000"
	check_true "$(read_field dd 8) + $(read_field dd 9) > 0.8"
	check_true "$(read_field sleep 8) < 0.1"
	grep -q ' cores=[0-9.]*$' "$PROCS"
}

@test "the slow reader keeps its rate while the meter watches" {
	read -r seconds _ < <("$METER" run -p "$PROCS" -r 10e6 head -c 3000000 /dev/zero)
	check_true "$seconds >= 0.28 && $seconds < 3"
}

@test "the smallest self suite names the processes and the bottleneck of each row" {
	SELF_CIPHERS='aes128-ctr+umac-64-etm@openssh.com aes128-gcm@openssh.com
	    aes128-gmac@hayate.invalid none+umac-128-etm@openssh.com' \
	    SELF_STREAMS=2 run_bench --only self --runs 1 --bytes 1M
	awk -F'\t' '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = NF; next }
	NF != n || $at["status"] != 0 { print; bad = 1 }
	$at["mode"] !~ /^scp/ { next }
	$at["procs"] !~ /(^| )ssh:/ || $at["procs"] !~ / @sshd-session:/ ||
	    $at["procs"] !~ / cores=/ || $at["bytes"] != 1048576 { print; bad = 1 }
	{ rows[$at["cipher"] " " $at["streams"]]++ }
	END { for (r in rows) { k++; if (rows[r] != 8) bad = 1 }
	    exit bad || k != 4 }' "$TSV"
	[ "$(grep -c '^    limit: ' <<<"$output")" = 32 ]
	[ "$(awk -F'\t' '$16 ~ /^(aes128-gmac|none)/ && $4 ~ /with aes128-gcm/ {
	    print $21 }' "$TSV" | sort -u)" = stock ]
	run ! ls -d "$BATS_TEST_TMPDIR"/lab.*
}

# The four shares, on a machine that other work may crowd for a moment.
check_four_bottlenecks() {
	local only="(crypto in|the CPU time of|the machine's cores:.* busy,)"
	run_bench --only bottleneck --runs 1 --bytes 256M
	has_limit_sentence 'slow cipher' "$only ssh.* (9[0-9]|100) % of that crypto" &&
	    has_limit_sentence 'busy reader' "$only gzip" && has_limit_sentence 'slow reader' 'the reader' &&
	    { (($(nproc) > 16)) || has_limit_sentence 'many copies' "the machine's cores"; }
}

# Where other work takes the cores, those are the limit: it is then said whose
# work had to wait.
@test "the bottleneck is named in whichever process it is" {
	check_four_bottlenecks || check_four_bottlenecks || check_four_bottlenecks
}

@test "a small window and a slow path are named as the bottleneck" {
	need_path
	for _ in 1 2 3; do	# a crowded machine delays packets as well
		run_bench --only bottleneck_path --runs 1 --bytes 128M
		! has_limit_sentence 'small window' 'the window: 2048 KiB' ||
		    ! has_limit_sentence 'thin path' 'the path' || return 0
	done
	return 1
}

@test "sealing alone is measured for the clear modes, with and without AES" {
	export SEAL_SECONDS=0.02 SEAL_MODES='aes128-gmac@hayate.invalid
	    none+umac-128-etm@openssh.com aes128-gcm@openssh.com'
	run_bench --only seal --runs 1
	[ "$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	    $at["status"] == 0 && $at["bytes"] > 0' "$TSV" | wc -l)" = 24 ]
	[[ $output = *'place no-aes'* ]]
	THREADS_MODES=aes128-gcm@openssh.com run_bench --only threads --runs 1
	[ "$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	    $at["status"] == 0 && $at["bytes"] > 0 && $at["cpu_near"] > 0 &&
	    ($at["program"] ~ /^(off|apart)$/ || $at["procs"] ~ /^crypto_s=[0-9.]*[1-9]/)' \
	    "$TSV" | wc -l)" -ge 32 ]
	[ "$(grep -c 'rate>=1.8\*off ' <<<"$output")" = 8 ]
}

@test "automatic threads are measured beside none in each place" {
	AUTO_CIPHERS=aes128-gcm@openssh.com run_bench --only auto --runs 1 --bytes 8M
	[ "$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	    $at["status"] == 0 && $at["bytes"] > 0 && $at["mode"] == "scp" &&
	    $at["program"] ~ /^(hayate|off)$/' "$TSV" | wc -l)" -ge 24 ]
	[[ $output = *'place loopback no-aes near,'*'load 1 core'* ]]
}
