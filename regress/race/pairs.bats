#!/usr/bin/env bats
# Needs: hayate stock path
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Pairs of copies to one name at once: plain, -j 2, --resume and stock's scp, to both
# servers, at home and behind
#
#     scp, a 10.77.0.1  ==== 40 ms, 400 Mbit/s ====  b 10.77.0.2, sshd
#
# One of the two is killed in each third pair. Whoever ended with 0 was whole then,
# one is whole when both have ended, and nothing hidden stays behind a run that ended
# by itself. "./check pairs" runs it, ./check does not. PAIRS=1000 in the environment
# makes more of them, SEED others; "kinds" and "places" choose.
#
# A copy that writes in place, as stock's and one over one connection do, cannot know
# of another one. So two copies have different bytes only where both begin under
# temporary names; else they have the same source. In place then nothing is lost, as
# neither empties the file.

load ../helper

setup_file() {
	export P=z$$
	cd "$BATS_FILE_TMPDIR" || return
	"$LFP" check 2>why || return 0
	"$LFP" up "$P" --rtt 40ms --rate 400mbit --queue 4MB --cc reno 3>&-
	sshd_up hayate:near
	sshd_up stock:near-stock
	# shellcheck disable=SC2034 # sshd_up reads it
	IN_SERVER="ip netns exec lfp-$P-b"
	sshd_up hayate:far "ListenAddress 10.77.0.2"
	sshd_up stock:far-stock "ListenAddress 10.77.0.2"
	head -c 40000000 /dev/urandom >one
	head -c 40000000 /dev/urandom >two
	head -c 45000000 /dev/zero | tr '\0' o >old
	touch -d 2001-02-03 one two old
}

teardown_file() {
	sshd_down
	[ -s "$BATS_FILE_TMPDIR/why" ] || "$LFP" down "$P"
}

setup() {
	need_path
	cd "$BATS_TEST_TMPDIR" || return
	T=$BATS_TEST_TMPDIR
	ONE=$BATS_FILE_TMPDIR/one
	TWO=$BATS_FILE_TMPDIR/two
	OLD=$BATS_FILE_TMPDIR/old
}

# pick_one WORD...: prints any of them
pick_one() { shift $((RANDOM % $#)); echo "$1"; }

# run_copy KIND SERVER FILE: runs in the background, see below
run_copy() {
	local client=hayate options=() at='' host=127.0.0.1
	case $1 in
	j2) options=(-j 2) ;;
	resume) options=(--resume) ;;
	stock) client=stock ;;
	esac
	case $2 in far*) at="ip netns exec lfp-$P-a" host=10.77.0.2 ;; esac
	# 40 MB take a second
	[ $client = stock ] || options+=(-o MaxRate=40M)
	[ $client != stock ] || options+=(-l 320000)
	# shellcheck disable=SC2086 # words
	exec $at "$(bin scp $client)" -q -S "$(bin ssh $client)" \
	    -F "$BATS_FILE_TMPDIR/ssh_config" -o HostName=$host "${options[@]}" \
	    "$3" "$2:$T/there/x" 3>&-
}

# copy_one N KIND SERVER FILE: writes the status and whether the target was whole then to
# "end.N", the messages to "said.N", and the process to "pid.N"
copy_one() {
	local status=0
	(echo "$BASHPID" >"pid.$1"; run_copy "${@:2}") >"said.$1" 2>&1 || status=$?
	if cmp -s "$4" there/x; then echo "$status whole"; else echo "$status broken"; fi >"end.$1"
}

# has_writers: succeeds if a server has the file or a temporary file of it open
has_writers() { find /proc/[0-9]*/fd -lname "$T/there/*" 2>/dev/null | grep -q .; }
has_no_writers() { ! has_writers; }

# uses_temp_file KIND SERVER: succeeds if such an upload of a new file uses one
uses_temp_file() {
	[ "$1" = j2 ] || { [ "$1" = plain ] && [ "$2" = far-stock ]; }
}

# report_wrong WHAT: reports a violation
report_wrong() { echo "wrong: $1 ($PAIR)" | tee -a wrongs; }

# check_pair KILLED FILE.1 FILE.2
check_pair() {
	local n status was whole=no file
	for n in 1 2; do
		[ "$n" != "$1" ] || continue
		read -r status was <"end.$n"
		[ "$status $was" != "0 broken" ] || report_wrong "copy $n ended with 0 and was not whole"
		[ "$status" != 0 ] || whole=claimed
		# This is the only message for a failure.
		[ "$status" = 0 ] || grep -q 'was created by another program during the upload' "said.$n" ||
		    report_wrong "copy $n ended with $status: $(tr '\n' ' ' <"said.$n")"
	done
	for file in "$2" "$3"; do
		! cmp -s "$file" there/x || whole=yes
	done
	case $whole in
	claimed) report_wrong "none is whole at the end" ;;
	no) [ -n "$1" ] || report_wrong "none is whole, and neither says so" ;;
	esac
	[ -n "$1" ] || [ "$(ls -A there)" = x ] || report_wrong "left: $(ls -Am there)"
}

# run_pair I: runs one random pair
run_pair() {
	local server first second files=("$ONE" "$ONE") old killed='' jobs
	# shellcheck disable=SC2086 # words
	server=$(pick_one ${places-near near-stock far far-stock})
	# shellcheck disable=SC2086 # words
	first=$(pick_one ${kinds-plain j2 resume stock})
	# shellcheck disable=SC2086 # words
	second=$(pick_one ${kinds-plain j2 resume stock})
	old=$(pick_one new new old)
	rm -rf there end.* pid.*
	mkdir there
	[ "$old" = new ] || cp "$OLD" there/x
	if [ "$old" = new ] && uses_temp_file "$first" "$server" &&
	    uses_temp_file "$second" "$server"; then
		files[1]=$TWO
	fi
	[ $(($1 % 3)) != 0 ] || killed=$(pick_one 1 2)
	PAIR="$1: $first and $second to $server, $old${killed:+, $killed is killed}"
	copy_one 1 "$first" "$server" "${files[0]}" &
	jobs=$!
	# those with other bytes both look before one is there
	[ "${files[0]}" != "${files[1]}" ] || sleep "0.$((RANDOM % 8))"
	copy_one 2 "$second" "$server" "${files[1]}" &
	jobs="$jobs $!"
	if [ -n "$killed" ]; then
		sleep "0.$((RANDOM % 9 + 1))"
		kill -9 "$(cat "pid.$killed")" 2>/dev/null || killed=
	fi
	# shellcheck disable=SC2086 # numbers
	wait $jobs || :
	poll 10 has_no_writers || report_wrong "a server still writes"
	check_pair "$killed" "${files[@]}"
}

@test "two simultaneous copies to one name leave one complete file, and no false success" {
	local i
	RANDOM=${SEED-27}
	for ((i = 1; i <= ${PAIRS-100}; i++)); do
		run_pair "$i"
	done
	[ ! -s wrongs ] || { echo "$(wc -l <wrongs) of ${PAIRS-100} pairs"; false; }
}
