#!/usr/bin/env bats
# Needs: hayate stock path timed
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# The benchmark's grid of paths and its many sessions (bench/suite-matrix.bash,
# bench/suite-sessions.bash), each once in its smallest form; builds that are
# not ours beside ours (--peer), and a sitting that was stopped (--resume).

load ../helper

setup() {
	RUN=$REGRESS/bench/run
	export TMPDIR=$BATS_TEST_TMPDIR BENCH_DATA=$BATS_TEST_TMPDIR
	OUT=$BATS_TEST_TMPDIR/out
}

# run_small OPTION...: runs everything once with few bytes, the same each time
run_small() { "$RUN" --runs 1 --bytes 1M --out "$OUT" "$@" 3>&-; }

# query_results PROGRAM: runs awk over the only results, where $at["name"] is a field
query_results() {
	awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = NF; next }
	'"$1" "$OUT"/*.tsv
}

# check_runs COUNT: checks that there are COUNT runs, and none failed
check_runs() {
	query_results 'NF != n || $at["status"] != 0 { print; bad = 1 }
	    { runs++ }
	    END { if (runs < '"$1"') print runs " runs"; exit bad || runs < '"$1"' }'
}

# list_runs: prints what each line is a run of
list_runs() {
	query_results '{ print $at["cell"], $at["rtt_ms"], $at["rate"], $at["loss"],
	    $at["cc"], $at["window"], $at["streams"], $at["program"],
	    $at["mode"], $at["direction"], $at["run"] }'
}

# find_speed WINDOW PROGRAM: prints MB/s of one stream, all of the process
find_speed() {
	query_results '$at["window"] == "'"$1"'" && $at["program"] == "'"$2"'" &&
	    $at["streams"] == 1 && $at["bytes"] > 0 {
		print $at["bytes"] / $at["seconds"] / 1e6; exit }'
}

@test "a window ceiling limits every program, and several streams add up" {
	need_path
	local p small any
	# Long enough for as many bytes under the ceiling as without.
	export MATRIX_SECONDS=8
	run -0 --separate-stderr run_small --quick --only matrix_window --bytes 8M
	[[ $output = *'window 64K, streams 4, BDP 2930K'* ]]
	[[ $output = *'limit: the window: 4 of 64 KiB each 24.0 ms'* ]]
	check_runs 20
	for p in $(query_results '{ print $at["program"] }' | sort -u); do
		small=$(find_speed 64K "$p") any=$(find_speed unlimited "$p")
		check_true "$small * 2 < $any"
	done
	query_results '$at["window"] == "64K" && $at["program"] == "hayate" &&
	    $at["bytes"] > 0 { s[$at["streams"]] = $at["bytes"] / $at["seconds"] }
	END { exit !(s[4] > 1.5 * s[1]) }'
}

@test "the other slices of the matrix run and measure no point twice" {
	need_path
	run -0 --separate-stderr run_small --quick \
	    --only matrix_rtt,matrix_loss,matrix_rate --rtt 8
	check_runs 20
	for cc in cubic bbr; do
		[[ " $(sysctl -n net.ipv4.tcp_available_congestion_control) " = *" $cc "* ]] ||
		    continue
		for way in 'ssh cat get' 'ssh cat put' 'scp get' 'scp put'; do
			[ "$(list_runs | grep -c "0.1% $cc unlimited 1 hayate $way")" = 1 ]
		done
	done
	[ "$(list_runs | grep -c ' 100mbit 0 cubic .* stock ssh cat put')" = 1 ]
	run -1 grep -q ' 100mbit .* scp ' <(list_runs)
	[ -z "$(list_runs | sort | uniq -d)" ]
}

@test "sessions are open, use memory, and end with the benchmark" {
	need_root 'the memory of sshd'
	run -0 --separate-stderr run_small --only sessions
	check_runs 16
	query_results '$at["mode"] ~ /^(idle|busy) / && $at["kib"] < 100 { print; bad = 1 }
	$at["mode"] == "one more login" && $at["ms"] < 1 { print; bad = 1 }
	{ rows[$at["program"] " " $at["streams"]]++ }
	END { exit bad || rows["stock 10"] != 7 || rows["hayate 1"] != 1 }'
	run ! ls -d "$BATS_TEST_TMPDIR"/lab.*
	run ! pgrep -f "$BATS_TEST_TMPDIR/lab"
}

# make_hpn_directory PREFIX: makes a directory of its programs by other names; prints its
# path
make_hpn_directory() {
	local p d=$BATS_TEST_TMPDIR/hpn
	mkdir -p "$d"
	for p in ssh scp sftp sshd sftp-server sshd-session sshd-auth; do
		[ ! -x "$(PEERS=p=$1 bin $p p)" ] ||
		    ln -sf "$(PEERS=p=$1 bin $p p)" "$d/hpn$p"
	done
	echo "$d"
}

@test "a peer, installed or renamed in a directory, is measured like a build" {
	[ -x /usr/sbin/sshd ] || skip 'no sshd in /usr'
	run -0 --separate-stderr run_small --only loopback --peer old=/usr \
	    --peer hpn="$(make_hpn_directory /usr)":hpn
	check_runs 28
	query_results '{ rows[$at["program"]]++ }
	$at["program"] == "hpn" { v[$at["version"]] }
	END { for (x in v) kinds++
	    exit rows["old"] != rows["stock"] || rows["hpn"] != rows["stock"] || kinds != 1 }'
	grep -q "^scp  *put  *hpn " "$OUT"/*.txt
}

@test "a peer's scp at the far end is the peer's own" {
	[ -x /usr/sbin/sshd ] || skip 'no sshd in /usr'
	local d
	local -x LAB=$BATS_TEST_TMPDIR PEERS
	PEERS=h=$(make_hpn_directory /usr):hpn
	. "$TOP/regress/bench/lab.bash"
	d=$(lab_programs h)
	[ "$d/scp" -ef /usr/bin/scp ]
	[ "$d/hpnscp" -ef /usr/bin/scp ]
	[ "$(lab_programs stock)" = "$BUILD/stock" ]
}

# check_refused WORDS OPTION...: checks that one line has these words, and that nothing
# was measured
check_refused() {
	local words=$1
	shift
	run --separate-stderr run_small --only loopback "$@"
	[ "$status" = 1 ]
	[[ $stderr = *"$words"* ]] || { echo "$stderr"; return 1; }
	[ "${#stderr_lines[@]}" = 1 ]
	run ! ls "$OUT"/*.tsv
	run ! ls -d "$BATS_TEST_TMPDIR"/lab.*
}

@test "a peer that cannot run is refused with the missing part and its path" {
	local d
	d=$(make_hpn_directory "$BUILD/stock")
	rm "$d/hpnscp" "$d/hpnsftp-server"
	check_refused "no hpnscp, hpnsftp-server in $d" --peer x="$d:hpn"
	check_refused 'no ssh, scp, sftp, sshd, sftp-server in /etc' --peer x=/etc
	check_refused 'no directory /nonexistent' --peer x=/nonexistent
	check_refused 'the name stock is taken' --peer stock=/usr
	check_refused 'NAME=PREFIX' --peer /usr
	d=$(make_hpn_directory "$BUILD/hayate")
	printf '#!/bin/sh\necho "$0: lacks a library" >&2\nexit 127\n' >"$d/broken"
	chmod +x "$d/broken"
	ln -sf broken "$d/hpnsshd"
	check_refused "$d/hpnsshd: lacks a library" --peer x="$d:hpn"
}

### Sittings that were stopped

# interrupt_run RUNS: interrupts a sitting when RUNS are there
interrupt_run() {
	"$RUN" --only loopback --runs 2 --bytes 1M --out "$OUT" \
	    >/dev/null 2>&1 3>&- &
	poll 120 sh -c "[ \$(cat '$OUT'/*.tsv | wc -l) -gt $1 ]"
	kill $!
	wait $! || :
	TSV=$(echo "$OUT"/*.tsv)
}

resume_run() { "$RUN" --resume "$@" 3>&-; }

@test "a resumed sitting has each run once" {
	local whole
	interrupt_run 5
	whole=$(($(list_runs | wc -l)))
	[ "$whole" -lt 20 ]
	query_results '$at["status"] == 0' >"$BATS_TEST_TMPDIR/before"
	run -0 --separate-stderr resume_run "$OUT"
	[[ $output =~ target\ +verdict ]]
	[ "$(ls "$OUT"/*.tsv)" = "$TSV" ]
	check_runs 24
	[ -z "$(list_runs | sort | uniq -d)" ]
	[ "$(list_runs | grep -c ' hayate ')" = 12 ]
	tail -n +2 "$TSV" | head -n "$(wc -l <"$BATS_TEST_TMPDIR/before")" |
	    cmp - "$BATS_TEST_TMPDIR/before"
	# A second resume finds nothing to do.
	cp "$TSV" "$BATS_TEST_TMPDIR/whole"
	run -0 --separate-stderr resume_run "$TSV"
	cmp "$TSV" "$BATS_TEST_TMPDIR/whole"
	# Only failed or truncated runs are run again.
	python3 - "$TSV" <<-'EOT'
	import sys
	lines = open(sys.argv[1]).read().splitlines()
	at = lines[0].split("\t").index("status")
	bad = lines[-3].split("\t")
	bad[at] = "255"
	lines[-3] = "\t".join(bad)
	open(sys.argv[1], "w").write("\n".join(lines)[:-40])
	EOT
	run -0 --separate-stderr resume_run "$TSV"
	check_runs 24
	[ -z "$(list_runs | sort | uniq -d)" ]
	[ "$(wc -l <"$TSV")" = "$(wc -l <"$BATS_TEST_TMPDIR/whole")" ]
	[ "$(grep -cvxFf "$TSV" "$BATS_TEST_TMPDIR/whole")" = 2 ]
	[ "$(query_results '{ print $at["options"] }' | sort -u | wc -l)" = 1 ]
}

@test "options that contradict a stopped sitting are refused" {
	interrupt_run 1
	run -1 resume_run "$TSV" --runs 3
	[[ $output = *"--runs: $TSV was begun with --only loopback --runs 2"* ]]
	run -1 resume_run "$TSV" --quick
	run -1 resume_run "$TSV" --out /tmp
	run -1 resume_run "$BATS_TEST_TMPDIR"
	sed -i '1s/\tloadavg/\tload/' "$TSV"
	run -1 resume_run "$TSV"
	[[ $output = *'other columns'* ]]
}

@test "a sitting cannot be resumed on another machine or with another build" {
	interrupt_run 1
	sed -i "s/\t$(uname -r)\t/\t0.0.1\t/" "$TSV"
	run -1 resume_run "$TSV"
	[[ $output = *"kernel was 0.0.1, and is $(uname -r)"* ]]
}
