#!/usr/bin/env bats
# Needs: hayate stock path
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# One large file, and the files of a tree, over several channels
# (transfer/copy/tempfile-hook.h, ssh/extra-sessions-hook.h, transfer/copy/transfer-hook.h).
# The servers are stock's, behind
#
#     scp, a 10.77.0.1  ==== 100 ms, 400 Mbit/s ====  b 10.77.0.2, sshd
#
# The path holds 5 MB, so that two channels do not fill it.

load helper

setup_file() {
	export P=z$$
	cd "$BATS_FILE_TMPDIR" || return
	"$LFP" check 2>why || return 0
	"$LFP" up "$P" --rtt 100ms --rate 400mbit --queue 8MB --cc reno 3>&-
	# before the far end copies the table of mounts
	mkdir full
	mount -t tmpfs -o size=64m none full || rmdir full
	# shellcheck disable=SC2034 # sshd_up reads it
	IN_SERVER="ip netns exec lfp-$P-b"
	sshd_up stock "ListenAddress 10.77.0.2"
	sshd_up stock:one "ListenAddress 10.77.0.2" "MaxSessions 1"
	sshd_up stock:two "ListenAddress 10.77.0.2" "MaxSessions 2"
	sshd_up hayate "ListenAddress 10.77.0.2"
	start_odd_server "ListenAddress 10.77.0.2"
	head -c 134217728 /dev/urandom >bulk
	head -c 150000000 /dev/zero | tr '\0' o >old
	chmod 640 bulk
	head -c 67108864 bulk >half
	head -c 41943040 bulk >small
	mkdir -p tree/below
	split -n 16 bulk tree/below/
	mv tree/below/*[a-e] tree
}

teardown_file() {
	sshd_down
	! mountpoint -q "$BATS_FILE_TMPDIR/full" || umount "$BATS_FILE_TMPDIR/full"
	[ -s "$BATS_FILE_TMPDIR/why" ] || "$LFP" down "$P"
}

setup() {
	need_path
	cd "$BATS_TEST_TMPDIR"
	T=$BATS_TEST_TMPDIR
	BULK=$BATS_FILE_TMPDIR/bulk
	HALF=$BATS_FILE_TMPDIR/half
	SMALL=$BATS_FILE_TMPDIR/small
	OLD=$BATS_FILE_TMPDIR/old
	TREE=$BATS_FILE_TMPDIR/tree
	SCP=''
	mkdir there
	# of a test that failed
	# shellcheck disable=SC2046 # numbers
	poll 5 is_no_server_left || kill -9 $(list_servers)
}

teardown() {
	local pid
	for pid in $SCP $(jobs -pr); do kill "$pid" 2>/dev/null || :; done
	[ ! -e long ] || "$LFP" set "$P" --rtt 100ms --queue 8MB
}

# count_channels LOG: prints the most that an upload used
count_channels() {
	tr -d '\r' <"$1" | sed -n 's/.* goes over \([0-9]*\) channels.*/\1/p' |
	    sort -n | tail -n 1 | grep . || echo 1
}

# count_tree_channels LOG: prints the most that a tree or list used
count_tree_channels() {
	sed -n 's/.* there are \([0-9]*\) channels.*/\1/p' "$1" | sort -n |
	    tail -n 1 | grep . || echo 1
}

# is_only_file NAME: succeeds if nothing else lies there
is_only_file() { [ "$(ls -A there)" = "$1" ]; }

# list_servers: prints the sftp-servers of these tests, oldest first. Other suites have
# such servers at the same time, and process IDs are reused.
list_servers() {
	local pid
	for pid in $(pgrep --ns "$(cat "$(sshd_dir stock)/pid")" --nslist net \
	    -f "^$(bin sftp-server stock)$"); do
		awk -v pid="$pid" '{ sub(/.*\) /, ""); print $20, pid }' \
		    "/proc/$pid/stat" 2>/dev/null || :
	done | sort -n | cut -d' ' -f2
}
is_no_server_left() { [ -z "$(list_servers)" ]; }

# find_victim: sets $VICTIM to a server of an additional channel that has a file open, so
# its channel is in use
find_victim() {
	for VICTIM in $(list_servers | tail -n +2); do
		if find "/proc/$VICTIM/fd" -lname "$T/*" 2>/dev/null | grep -q .; then
			return
		fi
	done
	return 1
}

# find_temp_file: prints the temporary file
find_temp_file() { find there -name '.*.hayate-????????????????'; }

# print_temp_name NAME: prints its temporary name, without the number
print_temp_name() { printf 'there/.%s.hayate-%.15s' "$1" "$(printf %s "$1" | sha256sum)"; }

# is_striped [KIB]: succeeds if an upload uses several channels, and KIB are written
is_striped() {
	local f
	f=$(find_temp_file)
	[ -n "$f" ] && [ "$(du -k "$f" | cut -f 1)" -ge "${1:-20000}" ]
}

# start_copy ARG...: starts scp in the background; its log is "log", its process $SCP
start_copy() {
	run_far copy -v "$@" >log 2>&1 &
	poll 10 is_striped
	SCP=$(pgrep -P $! -x scp || echo $!)
	SCP_JOB=$!
}

has_scp_ended() { ! kill -0 "$SCP_JOB" 2>/dev/null; }

# check_exit_status STATUS: checks that the scp that was started ends with STATUS
check_exit_status() {
	local status=0
	poll 30 has_scp_ended || kill -9 "$SCP" "$SCP_JOB"
	wait "$SCP_JOB" || status=$?
	[ $status = "$1" ] || { echo "ended with $status"; cat log; return 1; }
}

# is_proper_prefix FILE: succeeds if it is the beginning of what was sent, not empty and
# not all
is_proper_prefix() {
	local n
	n=$(stat -c %s "$1")
	[ "$n" -gt 0 ] && [ "$n" -lt 134217728 ] && cmp -n "$n" "$1" "$BULK"
}

# check_continued FILE: checks that FILE is new data, and behind it what was there before:
# no hole
check_continued() {
	local n
	[ "$(stat -c %s "$1")" = 150000000 ] || return
	n=$(cmp "$1" "$BULK" | sed 's|.*differ: [a-z]* \([0-9]*\),.*|\1|')
	[ "$n" -gt 1 ] && cmp -i $((n - 1)) "$1" "$OLD"
}

### What it does

@test "a new file is striped over several channels of one login" {
	local before
	before=$(count_logins stock)
	run_far copy -v "$BULK" "stock:$T/there/x" 2>log
	cmp "$BULK" there/x
	is_only_file x
	[ "$(count_channels log)" -ge 3 ]
	[ $(($(count_logins stock) - before)) = 1 ]
	CLIENT=stock run_far copy -q "$BULK" "stock:$T/y"
	[ "$(stat -c %a there/x)" = "$(stat -c %a y)" ]
	run ! grep 'Requesting no-more-sessions' log
}

@test "an existing file keeps inode, mode and links, and is truncated" {
	local inode
	cp "$OLD" there/x
	chmod 604 there/x
	ln there/x y
	inode=$(stat -c %i there/x)
	run_far copy -v "$BULK" "stock:$T/there/x" 2>log
	cmp "$BULK" there/x
	cmp "$BULK" y
	[ "$(stat -c '%i %a %h' there/x)" = "$inode 604 2" ]
	is_only_file x
	[ "$(count_channels log)" -ge 3 ]
}

@test "sftp uploads over several channels, and -p keeps time and mode" {
	touch -d 2001-02-03 "$BULK"
	run_far files -v -p -b - stock <<<"put $BULK $T/there/x" >out 2>log
	cmp "$BULK" there/x
	is_only_file x
	[ "$(count_channels log)" -ge 3 ]
	[ "$(stat -c '%Y %a' there/x)" = "$(stat -c '%Y %a' "$BULK")" ]
}

@test "a channel that MaxSessions refuses sets the limit, without a message" {
	run --separate-stderr -0 run_far copy "$BULK" "one:$T/there/x"
	[ -z "$output$stderr" ]
	cmp "$BULK" there/x
	run_far copy -v "$BULK" "two:$T/there/y" 2>log
	cmp "$BULK" there/y
	[ "$(count_channels log)" = 2 ]
	[ -z "$(find_temp_file)" ]
}

@test "a read-only directory gets one channel, and no hole" {
	need_root
	cp "$OLD" there/x
	chattr +i there 2>/dev/null || skip "no chattr here"
	run run_far copy -v "$BULK" "stock:$T/there/x"
	chattr -i there
	[ "$status" = 0 ]
	cmp "$BULK" there/x
	echo "$output" >log
	[ "$(count_channels log)" = 1 ]
}

### What it leaves alone

@test "the files of a tree and of a list are copied over several channels of one login" {
	local before
	before=$(count_logins stock)
	run_far copy -v -rp "$TREE" "stock:$T/there" 2>log
	diff -r "$TREE" there/tree
	[ "$(count_tree_channels log)" -gt 8 ]
	[ "$(stat -c '%a %Y' there/tree/below)" = "$(stat -c '%a %Y' "$TREE/below")" ]
	run_far copy -v "$TREE"/below/* "stock:$T/there" 2>log
	[ "$(count_tree_channels log)" -ge 2 ]
	diff -r -x tree "$TREE/below" there
	rm -r there/*
	echo "put -r $TREE there" | run_far files -v -b - "stock:$T" >log 2>&1
	diff -r "$TREE" there/tree
	[ "$(count_tree_channels log)" -ge 2 ]
	[ $(($(count_logins stock) - before)) = 3 ]
}

# make_large_tree: makes a tree whose file "m" waits for its turn, among others
make_large_tree() {
	mkdir -p large/below
	cat "$BULK" "$BULK" >large/m
	chmod 640 large/m
	touch -d 2020-02-02 large/m
	for f in a z below/a below/z; do head -c 300000 "$BULK" >large/$f; done
}

@test "a large file of a tree is striped over several channels, and all others use them as well" {
	make_large_tree
	run_far copy -v -rp --report report large "stock:$T/there" 2>log
	diff -r large there/large
	[ "$(count_channels log)" -ge 3 ]
	[ "$(stat -c '%a %Y' there/large/m)" = "$(stat -c '%a %Y' large/m)" ]
	check_report "r['totals']['files'] == 5 and r['totals']['failed'] == 0"
	check_report "r['totals']['bytes'] == 269635456 and f['m']['bytes'] == 268435456"
}

@test "a large file of a tree that cannot be uploaded fails as in stock, and the others do not" {
	make_large_tree
	mkdir -p there/large/m
	fails run_far copy -v -r --report report large "stock:$T/there" 2>log
	grep 'dest open ".*/there/large/m": Failure' log
	grep 'scp: upload "large/m" to ".*/there/large/m" failed' log
	diff -r -x m large there/large
	check_report "r['totals']['files'] == 5 and r['totals']['failed'] == 1"
	check_report "'Failure' in f['m']['error'] and f['m']['status'] == 'failed'"
}

@test "SIGTERM leaves the prefix of a large file of a tree under its name" {
	make_large_tree
	start_copy -r large "stock:$T/there"
	kill -TERM "$SCP"
	check_exit_status 1
	[ -z "$(find_temp_file)" ]
	is_proper_prefix there/large/m
}

@test "the holes of a large file of a tree are not sent" {
	mkdir large
	truncate -s 300M large/hole
	dd if="$BULK" of=large/hole bs=1M count=200 conv=notrunc status=none
	run_far copy -v -r large "stock:$T/there" 2>log
	cmp large/hole there/large/hole
	[ "$(count_channels log)" = 1 ]
	[ "$(du -m there/large/hole | cut -f 1)" -le 220 ]
}

# Of 21 files the 11th in the order of the directory is large. The others cannot
# be put.
@test "errors of other files are not lost if the connection breaks during a large file" {
	local big f
	mkdir large
	for f in $(seq 21); do echo x >"large/$f"; done
	big=$(find large -type f | sed -n 11p)
	cat "$BULK" "$BULK" >"$big"
	for f in large/*; do [ "$f" = "$big" ] || mkdir -p "there/$f"; done
	start_copy -r --report report large "stock:$T/there"
	[ "$(grep -c 'dest open ".*/there/large/[0-9]*": Failure' log)" = 10 ]
	kill -9 "$(pgrep -P "$SCP" -x ssh)"
	check_exit_status 255
	[ "$(grep -c 'dest open ".*/there/large/[0-9]*": Failure' log)" = 20 ]
	check_report "len(r['files']) == 21 and r['totals']['failed'] == 21"
	check_report "'dest open' not in str(f['${big#*/}'].get('error'))"
}

@test "a tree uses as many channels as MaxSessions allows, without a message" {
	run_far copy -r "$TREE" "one:$T/there/one" >out 2>&1
	run_far copy -v -r "$TREE" "two:$T/there/two" 2>log
	diff -r "$TREE" there/one
	diff -r "$TREE" there/two
	[ "$(count_tree_channels log)" = 2 ]
	[ ! -s out ]
}

@test "a file of a list that vanishes before its turn ends scp as in stock" {
	local job
	cp -r "$TREE/below" files
	run_far copy -v files/* "stock:$T/there" >log 2>&1 &
	job=$!
	poll 10 grep -q 'there are [2-9] channels' log
	rm files/ap
	timeout 20 tail --pid=$job -f /dev/null
	fails wait $job
	grep 'stat local "files/ap"' log
}

@test "the loss of a channel costs a tree only its rate" {
	local job
	run_far copy -v -rp "$TREE" "stock:$T/there/x" >log 2>&1 &
	job=$!
	poll 10 find_victim
	kill -9 "$VICTIM"
	wait $job || { tail -n 3 log; return 1; }
	grep 'an additional channel was lost' log
	diff -r "$TREE" there/x
}

@test "no channels are requested or offered if nothing can be striped" {
	local how
	head -c 1000000 "$BULK" >some
	run_far copy -v some "stock:$T/there/some" 2>log.small
	run_far copy -v "stock:$T/there/some" got 2>log.get
	run_far copy -v -l 800000 some "stock:$T/there/some" 2>log.limit
	truncate -s 40M large
	run_far copy -v -X nrequests=64 large "stock:$T/there/large" 2>log.chosen
	run_far copy -v -O large "stock:$T/there/large" 2>log.old
	run_far copy -v -o Hayate=no large "stock:$T/there/large" 2>log.no
	run_far copy -v large "hayate:$T/there/large" 2>log.ours
	mkdir few
	cp some few
	run_far copy -v -r few "stock:$T/there" 2>log.tree
	for how in small get limit chosen old no ours tree; do
		grep 'Requesting no-more-sessions' log.$how
		run ! grep 'additional channels are available' log.$how
	done
	cmp large there/large
}

@test "a resumable copy uses one channel, and grows under its name" {
	run_far copy -v --resume "$BULK" "stock:$T/there/x" 2>log
	[ "$(count_channels log)" = 1 ]
	cmp "$BULK" there/x
	is_only_file x
}

@test "a user's shared connection gets no further channels" {
	run_far client -v -M -N -f -S "$T/mux" stock 2>master
	run_far copy -v -o ControlPath="$T/mux" "$BULK" "stock:$T/there/x" 2>log
	run_far client -S "$T/mux" -O exit stock 2>/dev/null
	cmp "$BULK" there/x
	[ "$(count_channels log)" = 1 ]
}

# The class of traffic follows the channels that are open.
@test "further channels and their connection are marked as bulk" {
	run strings "$(bin ssh)"
	[[ $output = *"classify type"* ]] || skip "no line says how a channel is classed in this release"
	start_copy -vv -o IPQoS="cs6 cs1" "$BULK" "stock:$T/there/x"
	[ "$(ip netns exec "lfp-$P-a" ss -Htn --tos | grep -o 'tos:0x[0-9a-f]*')" = tos:0x20 ]
	check_exit_status 0
	[ "$(count_channels log)" -ge 3 ]
	# what each session was at last; "(null)" is a channel that has no number yet
	sed -n 's/.*channel \([0-9]*\): classify type "\([^"]*\)".* as \([a-z]*\).*/\1 \2 \3/p' log |
	    awk '$2 == "session" { was[$1] } $1 in was && $2 != "(null)" { was[$1] = $3 }
		END { for (c in was) print was[c] }' >classes
	[ "$(grep -cx bulk classes)" -ge 3 ]
	run ! grep -vx bulk classes
	[ "$(grep -c 'labeled channel [0-9]* as session:subsystem:sftp' log)" -ge 3 ]
	# ssh ends with scp, often before it is interactive again.
	[[ "$(sed -n 's/.*session QoS is now \([a-z-]*\).*/\1/p' log | xargs)" = \
	    ?("interactive ")non-interactive?(" interactive") ]]
}

# What scp and ssh tell each other is in a table that everybody can read.
@test "a foreign process gets no channel" {
	need python3
	start_copy "$BULK" "stock:$T/there/x"
	ip netns exec "lfp-$P-a" python3 - <<-'END'
	import re, socket
	told = open('/proc/net/unix').read()
	at = re.findall(r'@hayate=at/(\d+)/\d+/(\d+)/', told)[0]
	s = socket.socket(socket.AF_UNIX)
	s.settimeout(5)
	s.connect('/proc/%s/fd/%s' % at)
	try:
	    s.send(bytes([0, 0, 0, 5, 1, 0, 0, 0, 3]))
	    assert s.recv(10) == b''
	except (ConnectionResetError, BrokenPipeError):
	    pass
	END
	check_exit_status 0
	grep 'refused a channel to a process of another user' log
	cmp "$BULK" there/x
	[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'hayate.??????????')" ]
}

# run_as_stranger: runs python as another user, where scp runs
run_as_stranger() {
	ip netns exec "lfp-$P-a" setpriv --reuid=65534 --regid=65534 \
	    --clear-groups /usr/bin/python3 -
}

@test "another user can neither reach the channels of scp nor take their names" {
	need python3
	need setpriv util-linux
	mkfifo go
	(
		echo "$BASHPID" >pid
		read -r _ <go
		exec ip netns exec "lfp-$P-a" "$(bin scp)" -v -S "$(bin ssh)" \
		    -F "$BATS_FILE_TMPDIR/ssh_config" -o HostName=10.77.0.2 \
		    "$BULK" "stock:$T/there/x" >log 2>&1 3>&-
	) &
	SCP_JOB=$!
	poll 5 test -s pid
	ulimit -n 4096
	# every name that can be guessed, until scp has ended
	run_as_stranger <<-END >taken 3>&- &
	import os, socket, time
	held = []
	for kind in "cn":
	    for fd in range(3, 16):
	        for memory in range(-1, 24):
	            s = socket.socket(socket.AF_UNIX)
	            s.bind("\0hayate=wants/$(<pid)/%s%d/%d" % (kind, fd, memory))
	            held.append(s)
	print("yes", flush=True)
	while os.path.exists("/proc/$(<pid)"):
	    time.sleep(.05)
	END
	poll 10 test -s taken
	echo >go
	poll 10 is_striped
	# every socket that listens, and what ssh offers
	run_as_stranger <<-'END' >reached
	import re, socket
	def reach(name):
	    s = socket.socket(socket.AF_UNIX)
	    try:
	        s.connect(name)
	        print("reached", name)
	    except OSError:
	        pass
	table = open('/proc/net/unix').read()
	for name in re.findall(r'00010000 0001 01 +\d+ @(\S+)', table):
	    for _ in range(30):
	        reach('\0' + name)
	offers = re.findall(r'@hayate=at/(\d+)/\d+/(\d+)/', table)
	assert offers
	for offer in offers:
	    reach('/proc/%s/fd/%s' % offer)
	END
	check_exit_status 0
	cat reached
	[ ! -s reached ]
	run ! grep -e mismatch -e foreign log
	cmp "$BULK" there/x
	[ "$(count_channels log)" -ge 3 ]
}

# The file is not opened again: its further channels write a staging file.
@test "a read-only file is striped over several channels, and keeps its mode" {
	head -c 60000000 "$BULK" >locked
	chmod 444 locked
	start_copy locked "stock:$T/there/x"
	# here it could be opened again, by root
	[ -e there/x ]
	check_exit_status 0
	cmp locked there/x
	[ "$(stat -c %a there/x)" = 444 ]
	[ "$(count_channels log)" -ge 2 ]
	is_only_file x
}

@test "a file with a name of 250 bytes is striped over several channels" {
	local name
	name=there/$(printf '%0250d' 7)
	start_copy "$BULK" "stock:$T/$name"
	[ "$(basename "$(find_temp_file)" | tr -d '\n' | wc -c)" -le 255 ]
	[[ $(find_temp_file) = "there/.$(printf '%0230d' 0).hayate-"* ]]
	check_exit_status 0
	cmp "$BULK" "$name"
	[ "$(count_channels log)" -ge 3 ]
	is_only_file "${name#there/}"
}

@test "a file that is copied onto itself stays unchanged" {
	cp "$BULK" there/x
	run_far copy -v there/x "stock:$T/there/x" 2>log
	cmp "$BULK" there/x
	is_only_file x
	[ "$(count_channels log)" -ge 3 ]
}

### Stale files

@test "kill -9 of scp leaves no file under the name of a new one" {
	start_copy "$BULK" "stock:$T/there/x"
	kill -9 "$SCP"
	poll 5 is_gone "$SCP"
	sleep 0.5
	[ ! -e there/x ]
	[[ $(find_temp_file) = $(print_temp_name x)[0-3] ]]
}

@test "the next copy to the same name removes stale temporary files of a killed one" {
	local left
	start_copy "$BULK" "stock:$T/there/x"
	kill -9 "$SCP"
	fails wait $SCP_JOB
	poll 5 is_gone "$SCP"
	left=$(find_temp_file)
	run_far copy -v "$HALF" "stock:$T/there/x" 2>log
	grep -F "removing stale temporary file \"$T/$left\"" log
	cmp "$HALF" there/x
	is_only_file x
}

@test "stale staging files of copies over an old file are removed" {
	cp "$OLD" there/x
	head -c 9999 "$SMALL" | tee "$(print_temp_name x)4" >"$(print_temp_name x)7"
	run_far copy "$SMALL" "stock:$T/there/x"
	cmp "$SMALL" there/x
	is_only_file x
}

@test "two simultaneous copies of the same source do not adopt each other's files" {
	# long enough that the second looks while the first still moves
	local second first=0
	start_copy "$BULK" "stock:$T/there/x"
	run_far copy -v "$BULK" "stock:$T/there/x" >log.2 2>&1 &
	second=$!
	wait $SCP_JOB || first=1
	# the other one fails as where anything is made under the name, and leaves nothing
	if ! wait $second; then
		[ $first = 0 ]
		first=.2
	elif [ $first = 1 ]; then
		first=
	fi
	run ! grep removing log log.2
	cmp "$BULK" there/x
	is_only_file x
	[ "$first" != 0 ] || return 0
	grep -F "\"$T/there/x\" was created by another program during the upload" "log$first"
}

@test "other kinds of files, and other names, are not removed" {
	local name last
	name=$(print_temp_name x)
	last=$(tr 0-9a-f 1-9a-f0 <<<"${name: -1}")
	mkdir "${name}0" "${name}4"
	ln -s "$BULK" "${name}1"
	echo other | tee "${name}8" "${name}a" "${name%?}${last}0" "${name}" \
	    "$(print_temp_name y)0" >others
	find there -mindepth 1 | sort >before
	[ "$(wc -l <before)" = 8 ]
	run_far copy "$SMALL" "stock:$T/there/x"
	find there -mindepth 1 ! -name x | sort | diff before -
}

@test "--resume continues the temporary file of a killed copy at its first hole" {
	local name
	name=$(print_temp_name x)
	head -c 26000000 "$SMALL" >"${name}2"
	truncate -s 30000000 "${name}2"
	# one that was less far
	head -c 1000000 "$SMALL" >"${name}0"
	run_far copy -v --resume "$SMALL" "hayate:$T/there/x" 2>log
	grep 'there/x" continues at byte 25165824 of' log
	cmp "$SMALL" there/x
	is_only_file x
}

@test "--resume leaves the temporary file of a running copy, and restarts at the first wrong data" {
	local name writer
	name=$(print_temp_name x)
	head -c 9999999 "$SMALL" >"${name}1"
	printf wrong | dd of="${name}1" conv=notrunc status=none
	cp "$SMALL" "${name}3"
	while printf x; do sleep 0.2; done >>"${name}3" &
	writer=$!
	run_far copy --resume "$SMALL" "stock:$T/there/x" 2>log
	kill $writer
	cat log
	grep -F "${name##*/}3\" is in use by another copy" log
	grep -F "${name##*/}1\" belongs to a different source; starting over" log
	cmp "$SMALL" there/x
	rm there/x
	is_only_file "$(basename "${name}3")"
	cmp -n "$(stat -c %s "$SMALL")" "$SMALL" "${name}3"
}

@test "kill -9 of scp leaves an old file with new data and no hole" {
	cp "$OLD" there/x
	start_copy "$BULK" "stock:$T/there/x"
	kill -9 "$SCP"
	poll 5 is_gone "$SCP"
	sleep 0.5
	check_continued there/x
	[[ $(find_temp_file) = $(print_temp_name x)[4-7] ]]
}

# An error of write() or the end of the connection, whichever scp sees first
@test "kill -9 of ssh ends scp with an error, and leaves no hole" {
	start_copy "$BULK" "stock:$T/there/x"
	kill -9 "$(pgrep -P "$SCP" -x ssh)"
	fails wait $SCP_JOB
	grep -E 'Connection closed|Broken pipe' log
	[ ! -e there/x ]
	[ -n "$(find_temp_file)" ]
}

# ssh ends after all its channels, and scp after ssh.
@test "the loss of the first channel ends scp, which names the temporary file" {
	start_copy "$BULK" "stock:$T/there/x"
	kill -9 "$(list_servers | head -n 1)"
	fails wait $SCP_JOB
	grep -E 'Connection closed|Broken pipe' log
	grep -F "partial upload of \"$T/there/x\" remains in \"$T/there/.x.hayate-" log
	[ ! -e there/x ]
}

@test "a file that another program creates under the name is not replaced" {
	start_copy "$BULK" "stock:$T/there/x"
	echo other >there/x
	check_exit_status 1
	[ "$(<there/x)" = other ]
	grep -F "\"$T/there/x\" was created by another program during the upload" log
	is_only_file x
}

# lengthen_path: makes the path hold 20 MB, more than the 14 MiB that stock sends on one
# channel; of "large" enough is left after the slow start
lengthen_path() {
	touch "$T/long"
	cat "$BULK" "$BULK" >large
	"$LFP" set "$P" --rtt 400ms --queue 32MB
}

# count_download_channels LOG: prints the number of channels that a download used
count_download_channels() {
	sed -n 's/.* comes over \([0-9]*\) channels.*/\1/p' "$1" | sort -n |
	    tail -n 1 | grep . || echo 1
}

@test "a download uses several channels of one login if the window limits one" {
	local before
	lengthen_path
	before=$(count_logins stock)
	run_far files -v -b - stock <<<"get $T/large x" >log 2>&1
	cmp large x
	[ "$(count_download_channels log)" -ge 2 ]
	[ $(($(count_logins stock) - before)) = 1 ]
	# One that is lost costs its rate.
	run_far files -v -b - stock <<<"get $T/large y" >log 2>&1 3>&- &
	poll 20 find_victim
	kill -9 "$VICTIM"
	wait $!
	grep 'an additional channel was lost' log
	cmp large y
}

# scp does not know before the login what it will get; who wants more connections
# and would have to type a passphrase for each gets channels.
@test "scp -j downloads over channels if no further connection is possible" {
	local before
	require_passphrase
	lengthen_path
	before=$(count_logins stock)
	run_far copy -F c -o BatchMode=no -v -j 4 "stock:$T/large" x 2>log
	cmp large x
	[ "$(count_download_channels log)" -ge 2 ]
	[ $(($(count_logins stock) - before)) = 1 ]
	[ "$(<asked)" = asked ]
}

@test "the loss of a channel costs only its rate" {
	start_copy "$BULK" "stock:$T/there/x"
	poll 10 find_victim
	kill -9 "$VICTIM"
	check_exit_status 0
	grep 'an additional channel was lost' log
	cmp "$BULK" there/x
	is_only_file x
}

@test "a further channel that is silent, ends at once or speaks no SFTP costs nothing" {
	local further
	for further in 'exit 1' 'exec cat >/dev/null' \
	    'echo HTTP/1.1 400 Bad Request; exec cat >/dev/null'; do
		rm -f there/x
		set_odd_server "$further"
		run_far copy -v "$BULK" "odd:$T/there/x" 2>log
		cmp "$BULK" there/x
		is_only_file x
		[ "$(count_channels log)" = 1 ]
		grep 'asking for channel 2' log
	done
}

@test "a further channel that breaks the protocol ends scp with a clear error, and no hole" {
	local peer="exec $REGRESS/peers/sftp-peer limits=261120,261120,1019"
	set_odd_server 'exec cat /dev/zero'
	run -255 run_far copy "$BULK" "odd:$T/there/x"
	[[ $output = *"partial upload of \"$T/there/x\" remains in "*'parse version: incomplete message'* ]]
	[ ! -e there/x ]
	is_proper_prefix "$(find_temp_file)"
	rm "$(find_temp_file)"
	# its replies belong to no request
	set_odd_server "$peer bad=ids"
	run -255 run_far copy "$BULK" "odd:$T/there/x"
	[[ $output = *"partial upload of \"$T/there/x\" remains in "*'Unexpected reply'* ]]
	[ ! -e there/x ]
	[ -n "$(find_temp_file)" ]
}

@test "an existing file uses one channel if the next channel's server lacks copy-data" {
	cp "$OLD" there/x
	set_odd_server "exec $REGRESS/peers/sftp-peer limits=261120,261120,1019 bad=ids"
	run_far copy -v "$BULK" "odd:$T/there/x" 2>log
	cmp "$BULK" there/x
	is_only_file x
	[ "$(count_channels log)" = 1 ]
	grep 'asking for channel 2' log
}

# interrupt_copy SIGNAL WHO: signals scp alone, or ssh as well, which gets it first
interrupt_copy() {
	local ssh=''
	[ "$2" = scp ] || ssh=$(pgrep -P "$SCP" -x ssh)
	# shellcheck disable=SC2086 # none, or a process
	kill -s "$1" $ssh "$SCP"
}

@test "SIGTERM and SIGHUP, also to the group, leave the prefix of the file under its name" {
	local old sig who
	while read -r old sig who; do
		rm -f there/x
		[ "$old" = new ] || cp "$OLD" there/x
		start_copy "$BULK" "stock:$T/there/x"
		interrupt_copy "$sig" "$who"
		check_exit_status 1
		is_proper_prefix there/x
		is_only_file x
	done <<-END
	new TERM scp
	old TERM all
	new HUP all
	old HUP scp
	END
}

# The server stops, so that nothing can be repaired.
# stall_server: start, for a file that is $1
stall_server() {
	rm -rf there
	mkdir there
	[ "$1" = new ] || cp "$OLD" there/x
	start_copy "$BULK" "stock:$T/there/x"
	mapfile -t STOPPED < <(list_servers)
	kill -STOP "${STOPPED[@]}"
}

# is_gone_after_signal SIGNAL: signals scp, and succeeds if it is gone
is_gone_after_signal() { ! kill -s "$1" "$SCP" 2>/dev/null; }

@test "the second signal ends scp, which names the temporary file" {
	local old sig began
	while read -r old sig; do
		stall_server "$old"
		began=$SECONDS
		poll 5 is_gone_after_signal "$sig"
		check_exit_status 1
		[ $((SECONDS - began)) -le 4 ]
		kill -9 "${STOPPED[@]}"
		case $old in
		new) grep -F "partial upload of \"$T/there/x\" remains in \"$T/$(find_temp_file)\"" log ;;
		old) grep -F "temporary file \"$T/$(find_temp_file)\" of \"$T/there/x\" was left behind" log ;;
		esac
	done <<-END
	new TERM
	old HUP
	END
}

is_zombie() { grep -q '^State:.Z' "/proc/$1/status"; }

# An ssh whose scp says nothing is the second one here.
@test "with a stalled server a signal ends scp after 10 s, ssh alone after 12" {
	local began ssh scp other
	run_far copy -v "$OLD" "stock:$T/y" >log.y 2>&1 3>&- &
	poll 10 grep -q 'goes over' log.y
	scp=$(pgrep -P $! -x scp || echo $!)
	other=$(pgrep -P "$scp" -x ssh)
	kill -STOP "$scp"
	began=$SECONDS
	kill -HUP "$other"
	stall_server new
	ssh=$(pgrep -P "$SCP" -x ssh)
	interrupt_copy TERM all
	poll 15 is_zombie "$other"
	[ $((SECONDS - began)) -ge 11 ]
	kill -9 "$scp"
	check_exit_status 1
	[ $((SECONDS - began)) -ge 10 ]
	is_gone "$ssh"
	kill -9 "${STOPPED[@]}"
	grep -F "partial upload of \"$T/there/x\" remains in \"$T/$(find_temp_file)\"" log
}

@test "SIGHUP leaves the prefix of a file that sftp uploads under its name" {
	echo "put $BULK $T/there/x" >batch
	run_far files -v -b batch stock >log 2>&1 &
	SCP_JOB=$!
	poll 10 is_striped
	SCP=$(pgrep -P $SCP_JOB -x sftp || echo $SCP_JOB)
	interrupt_copy HUP all
	check_exit_status 1
	is_proper_prefix there/x
	is_only_file x
}

@test "^C at the terminal leaves the prefix of the file under its name" {
	need script bsdutils
	mkfifo keys
	IN_CLIENT="ip netns exec lfp-$P-a" declare -f copy run_far bin peer_bin >run
	cat >>run <<-END
	BUILD=$BUILD PEERS='' P=$P BATS_FILE_TMPDIR=$BATS_FILE_TMPDIR
	run_far copy -q "$BULK" "stock:$T/there/x" 3>&-
	echo "scp ended with \$?"
	END
	timeout 30 script -qefc "bash run" /dev/null <keys >out 2>&1 3>&- &
	exec 8>keys
	poll 10 is_striped
	printf '\003' >&8
	wait $! || :
	exec 8>&-
	cat out
	is_proper_prefix there/x
	is_only_file x
	run ! grep 'closed' out
}

@test "a full disk keeps the complete prefix" {
	local full=$BATS_FILE_TMPDIR/full
	[ -d "$full" ] || skip "cannot mount a tmpfs"
	run -1 run_far copy "$BULK" "stock:$full/x"
	[[ $output = *"write remote \"$full/x\": Failure"* ]]
	mv "$full/x" there/
	[ -z "$(ls -A "$full")" ]
	is_proper_prefix there/x
	# no space for a staging file
	head -c 20000000 "$OLD" >"$full/x"
	run -1 run_far copy "$BULK" "stock:$full/x"
	[ "$(ls -A "$full")" = x ]
	is_proper_prefix "$full/x"
}

@test "a file that shrinks while it is read is uploaded up to its new end" {
	cp "$BULK" bulk
	start_copy bulk "stock:$T/there/x"
	truncate -s 30000000 bulk
	check_exit_status 0
	is_proper_prefix there/x
	is_only_file x
}
