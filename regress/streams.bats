#!/usr/bin/env bats
# Needs: hayate stock unit
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Transfers over several connections: scp -j, sftp -j and TransferStreams
# (transfer/conns/conns-hook.h, ssh/spawn-hook.h, transfer/sched/stripe.c,
# transfer/sched/conn-count.h). Each connection carries about 15 MB/s (MaxRate), so that
# all of them are needed. "one" and "two" have room for one connection that is not
# authenticated.

load helper

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	sshd_up hayate "MaxRate 15M"
	sshd_up stock
	sshd_up hayate:one "MaxRate 15M" "PerSourceMaxStartups 1"
	sshd_up stock:two "PerSourceMaxStartups 1"
	start_odd_server
	head -c 134217728 /dev/urandom >bulk
	head -c 40000000 /dev/urandom >less
	mkdir tree tree/some
	for i in 1 2 3 4 5 6; do head -c $((i * 4000000)) bulk >tree/$i; done
	for i in $(seq 200); do echo "$i" >"tree/some/$i"; done
}

teardown_file() { sshd_down; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	T=$BATS_TEST_TMPDIR
	BULK=$BATS_FILE_TMPDIR/bulk
	LESS=$BATS_FILE_TMPDIR/less
	TREE=$BATS_FILE_TMPDIR/tree
	mkdir there
}

teardown() {
	local pid
	for pid in $(jobs -pr); do kill "$pid" 2>/dev/null || :; done
}

# check_logins SERVER N COMMAND...: checks that COMMAND succeeds, with N logins
check_logins() {
	local before
	before=$(count_logins "$1")
	"${@:3}" >log 2>&1 || { cat log; return 1; }
	[ $(($(count_logins "$1") - before)) = "$2" ] ||
	    { echo "$(($(count_logins "$1") - before)) logins"; cat log; return 1; }
}

# count_connections_used LOG: prints the most connections that a file or tree used
count_connections_used() {
	{
		sed -n 's/.* over \([0-9]*\) connections.*/\1/p' "$1"
		sed -n 's/.*there are \([0-9]*\) connections.*/\1/p' "$1"
		echo 1
	} | sort -n | tail -n 1
}

# count_loaded_connections LOG sent|received: prints how many connections transferred 10
# MB at least
count_loaded_connections() {
	sed -n "s/^Transferred:.* $2 \([0-9]*\)[ ,].*/\1/p" "$1" |
	    awk '$1 >= 1e7' | wc -l
}

# copy_slowly ARG...: copies at a rate that four connections share
copy_slowly() { copy -o MaxRate=60M "$@"; }

### What decides

run_replay() { printf '%s\n' "${@:2}" | run_unit "$1-replay"; }

@test "auto adds connections while they help, and keeps those that did" {
	run -0 run_replay conn-count "each=1000" "each=1000 path=1000" \
	    "each=1000 path=2100" "each=1000 path=5000" "each=1000 slow=8" \
	    "each=1000 most=3" "each=1000 seconds=2"
	[[ ${lines[0]} = "want=1,2,4,8 "*" has=8" ]]
	[[ ${lines[1]} = "want=1,2,1 "* ]]
	[[ ${lines[2]} = "want=1,2,4,2 "* ]]
	[[ ${lines[3]} = "want=1,2,4,8,4 "* ]]
	[[ ${lines[4]} = "want=1,2,4,8 "*" has=8" ]]
	[[ ${lines[5]} = "want=1,2,4,3 "*" has=3" ]]
	[[ ${lines[6]} = "want=1 "* ]]
}

@test "auto adds connections where each is slow and uneven" {
	run -0 run_replay conn-count "each=50 noise=50" "each=100 noise=50" \
	    "each=200 noise=50" "each=160 burst=2" "each=160 burst=1"
	[ "$(grep -c 'has=8$' <<<"$output")" = 5 ]
}

@test "auto starts no trial if the rest takes a few seconds" {
	run -0 run_replay conn-count "each=1000 rest=10" "each=1000 rest=11" \
	    "each=1000 rest=25" "each=1000 rest=40"
	[[ ${lines[0]} = "want=1 "* ]]
	[[ ${lines[1]} = "want=1,2 "* ]]
	[[ ${lines[2]} = "want=1,2 "* ]]
	[[ ${lines[3]} = "want=1,2,4 "* ]]
}

@test "channels are opened if the server's window is the limit, up to 10" {
	run -0 run_replay conn-count "rtt=100000 most=10" "rtt=100000 path=40000 most=10" \
	    "rtt=100000 path=10000" "rtt=100000 path=40000 most=2" \
	    "rtt=8000 most=10" "rtt=7999" "rtt=100000 window=32768" \
	    "rtt=100000 window=32768 path=60000 start=64 most=10" \
	    "rtt=100000 path=10000 start=64"
	[[ ${lines[0]} = "want=1,2,4,8,10 "*" has=10 "* ]]
	[[ ${lines[1]} = "want=1,2,4 "*" has=4 "* ]]
	[[ ${lines[2]} = "want=1 "* ]]
	[[ ${lines[3]} = "want=1,2,4 "*" has=2 "* ]]
	[[ ${lines[4]} = "want=1,2,4,8 "* ]]
	[[ ${lines[5]} = "want=1 "*" limit=no" ]]
	# A larger window; and one that is not yet seen in slow start.
	[[ ${lines[6]} = "want=1 "*" limit=no" ]]
	[[ ${lines[7]} = "want=1,2,4,8 "* ]]
	[[ ${lines[8]} = "want=1,2 "* ]]
	# What a stock server sends; and less, because WindowMax is lower.
	run -0 run_replay conn-count \
	    "rtt=100000 window=14336 assumed=14336 most=10" \
	    "rtt=100000 window=14336 assumed=14336 path=280000 start=64 most=10" \
	    "rtt=100000 window=4096 assumed=14336 most=10" \
	    "rtt=100000 window=14336 assumed=14336 path=40000 start=64 most=10"
	[[ ${lines[0]} = "want=1,2,4,8,10 "*" has=10 "* ]]
	[[ ${lines[1]} = "want=1,4 "*" has=4 "* ]]
	[[ ${lines[2]} = "want=1 "*" limit=perhaps" ]]
	[[ ${lines[3]} = "want=1 "* ]]
}

# On a busy machine each reply may wait behind data, so that no reply tells the RTT.
@test "channels are opened if our window is the limit, and each reply is late" {
	local all="rtt=100000 window=14336 assumed=14336 most=10"
	run -0 run_replay conn-count "$all ours=1 age=200000" "$all ours=1 age=130000" \
	    "$all age=200000" "$all path=30000 ours=1 age=200000"
	[[ ${lines[0]} = "want=1,"*"10 "*" has=10 limit=perhaps" ]]
	[[ ${lines[1]} = "want=1,"*"10 "*" has=10 limit=perhaps" ]]
	[[ ${lines[2]} = *" limit=no" ]]
	[[ ${lines[3]} = "want=1 "*" has=1 limit=perhaps" ]]
}

@test "-j accepts auto and 1 to 8, and anything else is refused with a reason" {
	local value
	for value in 0 9 x 44 -1 '' 1.5; do
		run -1 copy -j "$value" "$LESS" "hayate:$T/x"
		[[ $output = *"-j $value: auto or a number from 1 to 8 is allowed"* ]]
		run -1 files -j "$value" hayate
		[[ $output = *"-j $value: auto or a number from 1 to 8 is allowed"* ]]
		[ -z "$value" ] || run -255 client -G -o TransferStreams="$value" hayate
	done
	run -1 copy -j
	[[ $output = *"-j without a value: auto or a number"* ]]
	for value in 1 8 auto; do
		client -G -o TransferStreams=$value hayate | grep -qx "transferstreams $value"
	done
	# in a group, and together with its value
	copy -qj2 "$TREE/1" "hayate:$T/there/a"
	copy -qpj 2 "$TREE/1" "hayate:$T/there/b"
	cmp "$TREE/1" there/a
	[ "$(stat -c %Y there/b)" = "$(stat -c %Y "$TREE/1")" ]
}

@test "-j is refused unless there is exactly one server" {
	run -1 copy -j 2 "hayate:$LESS" "stock:$T/x"
	[[ $output = *"-j does not work between two remote hosts"* ]]
	run -1 copy -j 2 "$LESS" x
	[[ $output = *"-j does not work between local files"* ]]
	run -1 copy -O -j 2 "$LESS" "hayate:$T/x"
	[[ $output = *"-j needs SFTP"* ]]
}

### What it does

@test "a large file is striped over the requested number of connections, both ways" {
	local s
	for s in hayate stock; do
		rm -f there/x
		check_logins $s 4 copy_slowly -v -j 4 "$BULK" "$s:$T/there/x"
		cmp "$BULK" there/x
		[ "$(count_connections_used log)" = 4 ]
		[ "$(ls -A there)" = x ]
	done
	check_logins hayate 4 copy -v -j 4 "hayate:$BULK" got
	cmp "$BULK" got
	[ "$(count_connections_used log)" = 4 ]
}

@test "an existing file is uploaded over several connections, and keeps its inode" {
	local inode
	head -c 150000000 /dev/zero >there/x
	inode=$(stat -c %i there/x)
	check_logins stock 3 copy_slowly -v -j 3 "$BULK" "stock:$T/there/x"
	cmp "$BULK" there/x
	[ "$(stat -c %i there/x)" = "$inode" ]
	[ "$(ls -A there)" = x ]
	head -c 150000000 /dev/zero >got
	check_logins hayate 3 copy -v -p -j 3 "hayate:$BULK" got
	cmp "$BULK" got
	[ "$(stat -c %Y got)" = "$(stat -c %Y "$BULK")" ]
}

# Whoever may write in the target's directory can give names there to other files.

# find_temp_file: prints the temporary file of x
find_temp_file() { find there -name '.x.hayate-????????????????'; }

# count_striped_connections LOG: prints the most connections that a file used
count_striped_connections() {
	sed -n 's/.* goes over \([0-9]*\) connections.*/\1/p' "$1" | sort -n |
	    tail -n 1 | grep . || echo 1
}

# run_striped_upload: uploads $BULK to the server "odd", over three connections if
# possible
run_striped_upload() { copy_slowly -v -j 3 "$BULK" "odd:$T/there/x" >log 2>&1; }

@test "a file that another program renames to the target's name is not touched, and the copy fails" {
	local n
	for n in 2 4; do
		rm -rf there
		mkdir there
		head -c 130000000 "$BULK" | tr '\0-\377' '\1-\377\0' >other
		cp other new
		copy_slowly -j $n "$BULK" "stock:$T/there/x" >log 2>&1 &
		poll 10 eval '[ -n "$(ls -A there)" ]'
		mv new there/x
		fails wait $!
		grep -F "\"$T/there/x\" was created by another program during the upload" log
		cmp other there/x
		[ "$(ls -A there)" = x ]
	done
}

@test "of two uploads to one new name one is complete and the other fails, and no other file remains" {
	local first second s
	tr '\0-\377' '\1-\377\0' <"$BULK" >other
	for s in hayate stock; do
		rm -rf there
		mkdir there
		copy_slowly -j 2 "$BULK" "$s:$T/there/x" 2>log &
		first=$!
		copy_slowly -j 2 other "$s:$T/there/x" 2>log.2 &
		second=$!
		if wait $first; then
			fails wait $second
			cmp "$BULK" there/x
		else
			wait $second
			cmp other there/x
		fi
		grep 'was created by another program during the upload' log log.2
		[ "$(ls -A there)" = x ]
	done
}

@test "a further connection that opens another file writes nothing to it" {
	local old
	for old in no yes; do
		rm -rf there
		mkdir there
		[ $old = no ] || head -c 150000000 /dev/zero >there/x
		head -c 134217728 /dev/zero >victim
		ln victim there/y
		set_odd_server "exec $REGRESS/peers/sftp-swap '[.]x[.]hayate-[0-9a-f]*' y $(bin sftp-server stock)"
		run_striped_upload
		grep 'an additional connection opened a different file as' log
		cmp -n 134217728 victim /dev/zero
		cmp "$BULK" there/x
		[ "$(count_striped_connections log)" = 1 ]
		[ "$(ls -A there)" = x$'\n'y ]
	done
}

@test "if others may write in the directory, one connection is used, unless it is sticky" {
	local mode n old
	while read -r mode n; do
		for old in no yes; do
			rm -rf there
			mkdir there
			chmod "$mode" there
			[ $old = no ] || head -c 150000000 /dev/zero >there/x
			copy_slowly -v -j 3 "$BULK" "stock:$T/there/x" 2>log
			cmp "$BULK" there/x
			[ "$(count_striped_connections log)" = "$n" ]
			[ "$(ls -A there)" = x ]
		done
	done <<-END
	2775 1
	757 1
	1777 3
	END
	# The name of a link says nothing of the directory.
	rm -rf there
	mkdir real
	chmod 2775 real
	ln -s real there
	copy_slowly -v -j 3 "$BULK" "stock:$T/there/x" 2>log
	[ "$(count_striped_connections log)" = 1 ]
}

@test "a file that replaced the temporary file fails the copy, and is not removed" {
	copy_slowly -j 3 "$BULK" "stock:$T/there/x" >log 2>&1 &
	poll 10 eval '[ -n "$(find_temp_file)" ]'
	echo other >there/other
	mv there/other "$(find_temp_file)"
	fails wait $!
	grep 'is not the file that was uploaded' log
	[ "$(cat there/* there/.x.* 2>/dev/null)" = other ]
}

@test "a temporary file of another user is neither removed nor adopted" {
	local name
	need_root
	copy_slowly -j 2 "$LESS" "stock:$T/there/x" >log 2>&1 &
	poll 10 eval '[ -n "$(find_temp_file)" ]'
	name=$(find_temp_file)
	kill -9 "$(pgrep -P $! -x scp || echo $!)"
	wait $! || :
	name=${name%?}
	rm -f there/* there/.x*
	head -c 20000000 "$LESS" | tee "${name}0" >"${name}2"
	chown 65534 "${name}0"
	copy -q -j 2 --resume "$LESS" "stock:$T/there/x"
	cmp "$LESS" there/x
	[ "$(stat -c %u there/x)" = 0 ]
	[ "$(ls -A there)" = "$(basename "${name}0")"$'\n'x ]
	copy -q -j 2 "$LESS" "stock:$T/there/x"
	[ "$(ls -A there)" = "$(basename "${name}0")"$'\n'x ]
	# without another one the longest is gone on with
	rm there/x
	chown 0 "${name}0"
	copy -v -j 2 --resume "$LESS" "stock:$T/there/x" 2>log
	grep 'there/x" continues at byte 20000000 of' log
	[ "$(ls -A there)" = x ]
	# where others may write, who owns the file that is there may not be the user
	chmod 2775 there
	head -c 20000000 "$LESS" >"${name}0"
	chown 65534 "${name}0" there/x
	copy -q -j 2 "$LESS" "stock:$T/there/x"
	[ "$(ls -A there)" = "$(basename "${name}0")"$'\n'x ]
}

# is_closed FILE: succeeds if no process has it open
is_closed() { ! find /proc/[0-9]*/fd -lname "$T/$1" 2>/dev/null | grep -q .; }

@test "a plain upload removes stale temporary files of a killed one, and nothing else" {
	local name s writer
	for s in hayate stock; do
		copy_slowly -j 2 "$LESS" "$s:$T/there/x" >log 2>&1 &
		poll 10 eval '[ -n "$(find_temp_file)" ]'
		kill -9 "$(pgrep -P $! -x scp || echo $!)"
		wait $! || :
		name=$(find_temp_file)
		poll 10 is_closed "$name"
		[ ! -e there/x ]
		name=${name%?}
		echo other >"${name}6"
		# one that a copy still writes, and what is no file of the user's
		while printf x; do sleep 0.2; done >>"${name}5" &
		writer=$!
		mkdir "${name}7"
		if [ "$(id -u)" = 0 ]; then
			echo other >"${name}4"
			chown 65534 "${name}4"
		fi
		copy -v "$LESS" "$s:$T/there/x" 2>log
		kill $writer
		cmp "$LESS" there/x
		[ "$(count_connections_used log)" = 1 ]
		[ -s "${name}5" ]
		[ -d "${name}7" ]
		[ "$(id -u)" != 0 ] || [ -s "${name}4" ]
		rm -r "${name}"[457]
		[ "$(ls -A there)" = x ]
		rm there/x
	done
}

@test "a server that cannot rename or truncate gets a complete file over one connection" {
	local deny
	for deny in rename fsetstat; do
		sshd_up stock:deny "Subsystem sftp $(bin sftp-server stock) -P $deny"
		for old in no yes; do
			rm -rf there
			mkdir there
			[ $old = no ] || head -c 150000000 /dev/zero >there/x
			copy_slowly -v -j 3 "$BULK" "deny:$T/there/x" 2>log
			cmp "$BULK" there/x
			[ "$(ls -A there)" = x ]
		done
		sshd_down deny
	done
}

@test "a server that reports no owner, or inconsistent modes, gets a complete file" {
	local says
	for says in nobody private; do
		printf '#!/bin/sh\nSWAP_SAYS=%s exec %s nothing nothing %s\n' $says \
		    "$REGRESS/peers/sftp-swap" "$(bin sftp-server stock)" >server
		chmod +x server
		sshd_up stock:says "Subsystem sftp $T/server"
		copy -j 2 "$LESS" "says:$T/there/x"
		cmp "$LESS" there/x
		[ "$(ls -A there)" = x ]
		rm there/x
		sshd_down says
	done
}

@test "a file uploaded over several connections has the current time, unless -p keeps it" {
	touch -d 2001-02-03 "$LESS"
	copy -j 2 "$LESS" "stock:$T/there/x"
	check_true "$(stat -c %Y there/x) >= $(date +%s) - 20 && $(stat -c %X there/x) <= $(date +%s) + 2"
	check_true "$(stat -c %Y there/x) <= $(date +%s) + 2"
	copy -p -j 2 "$LESS" "stock:$T/there/y"
	[ "$(stat -c %Y there/y)" = "$(stat -c %Y "$LESS")" ]
}

@test "TransferStreams in ssh_config does what -j does, and -j takes precedence" {
	{ echo "TransferStreams 3"; cat "$BATS_FILE_TMPDIR/ssh_config"; } >c
	check_logins hayate 3 copy -v -F c "hayate:$BULK" got
	cmp "$BULK" got
	check_logins hayate 2 copy -v -F c -j 2 "hayate:$BULK" got
	check_logins hayate 1 copy -v -F c -j 1 "hayate:$LESS" got
}

@test "further connections need no writable TMPDIR" {
	export TMPDIR
	for TMPDIR in "$T/none" "$T/$(printf '%0200d' 0)"; do
		check_logins hayate 2 copy -v -j 2 "hayate:$LESS" got
		cmp "$LESS" got
	done
}

@test "the files of sftp and of a list use the existing connections" {
	check_logins hayate 3 files -v -j 3 -b - hayate <<-END
	get $BULK a
	get $BULK b
	END
	cmp "$BULK" a
	cmp "$BULK" b
	[ "$(grep -c 'comes over 3 connections' log)" = 2 ]
	check_logins hayate 2 copy -v -j 2 "hayate:$BULK" "hayate:$LESS" "hayate:$TREE/1" there
	cmp "$BULK" there/bulk
	cmp "$LESS" there/less
	cmp "$TREE/1" there/1
}

@test "the files of a tree are copied over several connections, both ways" {
	check_logins hayate 3 copy_slowly -v -rp -j 3 "$TREE" "hayate:$T/there"
	diff -r "$TREE" there/tree
	[ "$(count_connections_used log)" = 3 ]
	[ "$(count_loaded_connections log sent)" = 3 ]
	check_logins hayate 3 copy -v -rp -j 3 "hayate:$TREE" got
	diff -r "$TREE" got
	[ "$(count_connections_used log)" = 3 ]
	[ "$(count_loaded_connections log received)" = 3 ]
	[ "$(stat -c '%a %Y' got/some)" = "$(stat -c '%a %Y' "$TREE/some")" ]
}

@test "a large file of a tree is striped over several connections, both ways" {
	mkdir -p large/some
	cat "$BULK" "$BULK" >large/m
	chmod 640 large/m
	touch -d 2020-02-02 large/m
	cp "$TREE"/[12] large
	cp "$TREE"/[12] large/some
	check_logins hayate 4 copy_slowly -v -rp -j 4 large "hayate:$T/there"
	diff -r large there/large
	[ "$(grep -c 'm" goes over 4 connections' log)" = 1 ]
	check_logins hayate 4 copy -v -rp -j 4 --report report "hayate:$T/large" got
	diff -r large got
	[ "$(grep -c 'm" comes over 4 connections' log)" = 1 ]
	[ "$(stat -c '%a %Y' got/m there/large/m | uniq)" = "$(stat -c '%a %Y' large/m)" ]
	check_report "r['totals']['files'] == 5 and r['totals']['failed'] == 0"
	check_report "f['m']['bytes'] == 268435456"
	# zeros become a hole
	rm -r got large/m
	truncate -s 300M large/m
	check_logins hayate 4 copy -v -rp -j 4 "hayate:$T/large" got
	cmp large/m got/m
	[ "$(grep -c 'm" comes over' log)" -ge 1 ]
	[ "$(du -m got/m | cut -f 1)" -le 30 ]
	# Of as many as there are connections, each goes over one. Whoever is ready first
	# may carry what is left of the other.
	rm -r got large/m
	cat "$BULK" "$BULK" >large/m1
	cp large/m1 large/m2
	check_logins hayate 2 copy -v -r -j 2 "hayate:$T/large" got
	diff -r large got
	[ "$(count_connections_used log)" = 2 ]
	[ "$(grep -c 'comes over' log)" -le 1 ]
	mkdir two
	mv got/m[12] two
	check_logins hayate 2 copy -v -r -j 2 two "hayate:$T/there"
	diff -r two there/two
	[ "$(count_connections_used log)" = 2 ]
	[ "$(grep -c 'goes over' log)" -le 1 ]
	rm large/m2
	# The file cannot be written, the others can.
	rm -r got
	mkdir -p got/large/m1
	fails copy -v -r -j 4 "hayate:$T/large" got 2>log
	diff -r -x m1 large got/large
	grep 'open local "got/large/m1": Is a directory' log
}

@test "a server that cannot truncate gets complete files" {
	local i
	sshd_up hayate:nocut "Subsystem sftp $(bin sftp-server) -P fsetstat"
	mkdir a there/a old
	for i in $(seq 400); do
		head -c 100000 "$LESS" >"a/$i"
		head -c 200000 "$BULK" >"old/$i"
	done
	echo x >a/new
	: >a/0
	cp "$LESS" a/hole
	truncate -s 3M a/hole
	for i in 0 hole; do
		cp "$BULK" "old/$i"
	done
	ln -sf /dev/null old/5
	echo "put -r a $T/there" >put
	for i in "files -b put nocut" "copy -r a nocut:$T/there"; do
		rm -rf there/a
		cp -R old there/a
		# shellcheck disable=SC2086
		${i%% *} -j 2 -o MaxRate=30M ${i#* } >log 2>&1
		diff -r -x 5 a there/a
		run ! grep fsetstat log
	done
	# A device takes a large file, though none of its connections can truncate it.
	ln -s /dev/null there/device
	copy -v -j 4 "$BULK" "nocut:$T/there/device" >log 2>&1
	run ! grep fsetstat log
	sshd_down nocut
}

@test "auto adds a connection if one alone is limited" {
	sshd_up hayate:held "MaxRate 6M"
	copy -v -j auto "held:$BULK" got 2>log
	cmp "$BULK" got
	grep 'TransferStreams auto: now' log
	[ "$(count_connections_used log)" -ge 2 ]
}

# has_pacing_rates BITS...: succeeds if the kernel limits the connections to "stock" to
# these rates
has_pacing_rates() {
	[ "$(ss -Htin state established "dport = :$(sshd_port stock)" |
	    sed -n 's|.*pacing_rate [0-9.]*bps/\([0-9]*\)bps.*|\1|p' |
	    sort -n | paste -sd' ')" = "$*" ]
}

@test "the connections of one copy share MaxRate, and one that ends releases its share" {
	local t
	t=$(measure_seconds copy -v -j 4 -o MaxRate=16M "$LESS" "stock:$T/there/x" 2>log)
	cmp "$LESS" there/x
	[ "$(count_connections_used log)" = 4 ]
	check_true "40 / $t <= 1.2 * 16.8"
	RATE=12M start_copy "$BULK" "stock:$T/there/y"
	poll 5 has_pacing_rates 33554432 33554432 33554432
	kill "$(find_scp)"
	poll 5 has_pacing_rates
	# One that ends at once, because it is another host, gives its share back.
	make_two_host_config
	copy -F config -o MaxRate=12M -v -j 3 "$BULK" "hayate:$T/there/z" >log 2>&1 &
	poll 20 grep 'an additional connection was refused' log
	poll 5 has_pacing_rates 100663296
}

@test "a local file that cannot be read ends scp as in stock, with the data read before" {
	local old
	bad_disk
	ln "$BULK" BAD
	for old in no yes; do
		rm -f there/*
		[ $old = no ] || head -c 150000000 /dev/zero >there/x
		BAD_AT=60000000 LD_PRELOAD=$T/bad.so run copy_slowly -v -j 3 BAD \
		    "stock:$T/there/x"
		echo "$output" >log
		[ "$status" = 255 ]
		grep 'read local "BAD": Input/output error' log
		[ "$(count_connections_used log)" = 3 ]
		check_true "$(stat -c %s there/x) > 59e6 && $(stat -c %s there/x) <= 6e7"
		cmp -n "$(stat -c %s there/x)" "$BULK" there/x
		[ "$(ls -A there)" = x ]
	done
}

@test "connections to one server are not used for the next one" {
	local n
	n=$(count_logins stock)
	check_logins hayate 3 copy -v -j 2 "hayate:$LESS" "hayate:$TREE/2" \
	    "stock:$TREE/6" "stock:$TREE/3" "hayate:$TREE/1" there
	[ $(($(count_logins stock) - n)) = 2 ]
	for n in 1 2 3 6; do cmp "$TREE/$n" "there/$n"; done
	cmp "$LESS" there/less
}

### Logins

@test "at most one connection at a time is unauthenticated" {
	local s
	for s in one two; do
		check_logins $s 4 copy_slowly -v -j 4 "$BULK" "$s:$T/there/$s"
		cmp "$BULK" there/$s
	done
	check_logins one 4 copy -v -j 4 "one:$BULK" got
	cmp "$BULK" got
	for s in one two; do
		run ! grep -i 'drop connection' "$(sshd_log $s)"
	done
}

# count_connections SERVER: prints how many the server has seen
count_connections() { grep -c 'Connection from' "$(sshd_log "$1")" || :; }

# check_single_login SERVER ARG...: checks that a copy prompts once, makes one connection
# and says why, once
check_single_login() {
	local before
	before=$(count_connections "$1")
	rm -f asked
	run -0 --separate-stderr "${@:2}"
	echo "$stderr"
	[ "$(<asked)" = asked ]
	[ -z "$output" ]
	[[ $stderr = *"Using one connection: further logins would prompt again"* ]]
	[ "$(wc -l <<<"$stderr")" = 1 ]
	[ $(($(count_connections "$1") - before)) = 1 ]
}

# A passphrase has to be typed for each login.
@test "where a passphrase was typed there is one login, and one line says why" {
	local s n
	require_passphrase
	set -- -F c -o BatchMode=no -j 4
	for s in hayate stock; do
		check_single_login $s copy "$@" "$LESS" "$s:$T/there/$s"
		cmp "$LESS" there/$s
	done
	check_single_login stock copy "$@" "stock:$LESS" got
	cmp "$LESS" got
	check_single_login stock copy "$@" -r "stock:$TREE" got.tree
	diff -r "$TREE" got.tree
	# The user is not told of what would not have been, nor with -q.
	for s in "$TREE/some/1" "-q $LESS"; do
		rm asked
		# shellcheck disable=SC2086
		run -0 --separate-stderr copy "$@" ${s% *} "${s##* }" "hayate:$T/there"
		[ -z "$output$stderr" ]
		[ "$(<asked)" = asked ]
	done
	# Questions of a jump host are asked by another ssh.
	printf 'Host hayate\n\tIdentityFile %s\n' "$BATS_FILE_TMPDIR/user" >j
	sed 's/^Host \*/&\n\tBatchMode no/' c >>j
	n=$(count_connections stock)
	check_single_login hayate copy -F j -j 4 -J stock "hayate:$LESS" got
	[ $(($(count_connections stock) - n)) = 1 ]
	# An agent that has the key needs nobody.
	eval "$("$(bin ssh-agent)" -s)" >/dev/null 3>&-
	"$(bin ssh-add)" -q key
	sed -i "s|IdentityAgent .*|IdentityAgent $SSH_AUTH_SOCK|" c
	check_logins hayate 4 copy -v "$@" "hayate:$BULK" got
	kill "$SSH_AGENT_PID"
}

@test "stale environment variables of an earlier ssh write into no other pipe" {
	mkfifo pipe
	cat pipe >came &
	exec {out}>pipe
	cp "$BATS_FILE_TMPDIR/user" key
	"$(bin ssh-keygen)" -q -p -P '' -N secret -f key
	make_askpass
	HAYATE_ASKED="$BASHPID $out" client -i key -o IdentitiesOnly=yes -o BatchMode=no hayate true
	HAYATE_ASKED="$BASHPID $out 1" client -i key -o IdentitiesOnly=yes -o BatchMode=no hayate true
	[ -s asked ]
	exec {out}>&-
	wait $!
	[ ! -s came ]
}

# With penalties the address would be shut out after few copies.
@test "a password or an answer is never sent again, so no address gets blocked" {
	local way
	need_asyncssh
	cat >server <<-END
	import asyncio, asyncssh, sys
	class Server(asyncssh.SSHServer):
	    def connection_made(self, conn):
	        print("connection", flush=True)
	    def begin_auth(self, user):
	        return True
	    def password_auth_supported(self):
	        return sys.argv[1] == "password"
	    def validate_password(self, user, password):
	        return password == "secret"
	    def kbdint_auth_supported(self):
	        return sys.argv[1] != "password"
	    # "push": nothing is typed here, but on a telephone
	    def get_kbdint_challenge(self, user, lang, methods):
	        return "", "look", "", [("Code: ", True)] if sys.argv[1] == "answer" else []
	    def validate_kbdint_response(self, user, responses):
	        return responses in ([], ["secret"])
	async def main():
	    s = await asyncssh.create_server(
	        Server, "127.0.0.1", 0, sftp_factory=True,
	        server_host_keys=["$BATS_FILE_TMPDIR/host"])
	    print(s.sockets[0].getsockname()[1], flush=True)
	    await asyncio.sleep(100)
	asyncio.run(main())
	END
	make_askpass
	for way in password answer push; do
		/usr/bin/python3 server $way >from.$way 2>/dev/null 3>&- &
		poll 10 test -s from.$way
		# asyncssh tells no exit status.
		run --separate-stderr copy -j 4 -c aes128-gcm@openssh.com -o Port="$(head -n 1 from.$way)" \
		    -o BatchMode=no -o PubkeyAuthentication=no \
		    "127.0.0.1:$LESS" got.$way
		cmp "$LESS" got.$way
		[ "$(grep -c connection from.$way)" = 1 ]
		[ "$(grep -c 'Using one connection' <<<"$stderr")" = 1 ]
	done
}

# make_changed_server: makes "go", which leads to a server with another key from the
# second time on. Of what the first one sends, 30 MB pass before the second has ended,
# which makes the file "met".
make_changed_server() {
	ssh-keygen -q -t ed25519 -N '' -f other
	sed "s|^HostKey .*|HostKey $T/other|" "$(sshd_dir hayate)/config" >other.config
	cat >gate <<-END
	import os, time
	n, end = 0, time.time() + 20
	while b := os.read(0, 65536):
	    n += len(b)
	    while n > 3e7 and not os.path.exists("$T/met") and time.time() < end:
	        time.sleep(.05)
	    while b:
	        b = b[os.write(1, b):]
	END
	cat >go <<-END
	#!/bin/sh
	echo noise >&2
	if mkdir $T/first 2>/dev/null; then
		$(bin sshd) -i -f $(sshd_dir hayate)/config -E $T/far.log |
		    exec python3 $T/gate
	else
		trap : HUP
		$(bin sshd) -i -f $T/other.config -E $T/far.log
		touch $T/met
	fi
	END
	chmod +x go
}

@test "the warning of a further connection about another host key is shown" {
	local way
	make_changed_server
	for way in "" -v; do
		rm -rf first met
		# shellcheck disable=SC2086
		run -0 --separate-stderr copy $way -j 4 -o ProxyCommand="$T/go" \
		    "hayate:$BULK" got
		cmp "$BULK" got
		[[ $stderr = *"REMOTE HOST IDENTIFICATION HAS CHANGED"* ]]
		[[ $stderr = *"Offending ED25519 key in $BATS_FILE_TMPDIR/known_hosts"* ]]
		[[ $stderr = *"The additional connection with this key was closed"* ]]
		[[ $stderr = *"Host key verification failed."* ]]
		# and nothing else of what the first has said
		[ -n "$way" ] || [ "$(grep -c noise <<<"$stderr")" = 1 ]
	done
	rm -rf first met
	run -0 --separate-stderr copy -q -j 4 -o ProxyCommand="$T/go" "hayate:$BULK" got
	[ "$stderr" = noise ]
	[ -e met ]
	# A host that was not known, and is not kept, is no alarm.
	run -0 --separate-stderr copy -j 4 -o StrictHostKeyChecking=no \
	    -o UserKnownHostsFile=/dev/null "hayate:$LESS" got
	[ "$(wc -l <<<"$stderr")" = 1 ]
	[[ $stderr = *"Permanently added"* ]]
}

# upload_to_odd, download_from_odd FURTHER: sets $status and $output of a copy by "odd"
upload_to_odd() { rm -rf there/*; set_odd_server "$1"; run copy_slowly -v -j 3 "$BULK" "odd:$T/there/x"; }
download_from_odd() { rm -rf there/*; set_odd_server "$1"; run copy_slowly -v -j 3 "odd:$BULK" there/x; }

@test "a further connection that is silent, ends at once or speaks no SFTP costs nothing" {
	local way further
	for way in upload_to_odd download_from_odd; do
		for further in 'exit 1' 'exec cat >/dev/null' \
		    'echo HTTP/1.1 400 Bad Request; exec cat >/dev/null'; do
			$way "$further"
			[ "$status" = 0 ]
			[[ $output = *'asking for an additional connection'* ]]
			cmp "$BULK" there/x
			[ "$(ls -A there)" = x ]
		done
	done
}

@test "a download takes no byte of another file that took the name, even with the same size and time" {
	local i
	for i in 1 2 3; do
		cp "$BULK" from
		head -c 134217728 /dev/urandom >new
		chmod --reference=from new
		touch -r from new
		rm -f there/x
		set_odd_server "mv -f $T/new $T/from; exec $(bin sftp-server stock)"
		run -0 copy_slowly -v -j 3 "odd:$T/from" there/x
		[ ! -e new ]
		cmp "$BULK" there/x
		[[ $output = *"an additional connection reads different data of"* ]]
	done
}

@test "a further connection that breaks the protocol ends scp with a clear error" {
	local peer="exec $REGRESS/peers/sftp-peer limits=261120,261120,1019" n
	download_from_odd "$peer bad=ids"
	[ "$status" = 255 ]
	[[ $output = *'Unexpected reply'* ]]
	n=$(stat -c %s there/x)
	[ "$n" -lt 134217728 ]
	cmp -n "$n" there/x "$BULK"
	upload_to_odd "$peer bad=ids"
	[ "$status" = 255 ]
	[[ $output = *'Unexpected reply'* ]]
	[ ! -e there/x ]
}

# start_pair: starts "pair", which serves two sessions, of which the second answers with
# an ID of the first
start_pair() {
	cat >pair <<-END
	#!/bin/sh
	exec $REGRESS/peers/sftp-peer limits=261120,261120,1019 share=$T/id
	END
	chmod +x pair
	sshd_up stock:pair "Subsystem sftp $T/pair"
}

@test "a reply with the ID of another connection's request ends a tree, and no data is wrong" {
	local f way
	start_pair
	for way in "$TREE pair:$T/there" "pair:$TREE there"; do
		rm -rf id there/tree
		# shellcheck disable=SC2086 # words
		run -255 copy_slowly -v -r -j 2 $way
		[[ $output = *"Unexpected reply $(<id)"* ]]
		[ "$way" = "$TREE pair:$T/there" ] || break
		while read -r f; do
			cmp -n "$(stat -c %s "there/tree/$f")" "there/tree/$f" "$TREE/$f"
		done < <(cd there/tree && find . -type f)
	done
}

@test "after a connection that fails, no other is attempted" {
	cat >once <<-END
	#!/bin/bash
	echo try >>$T/tries
	[ \$(wc -l <$T/tries) -le 2 ] || exit 1
	exec socat - TCP:127.0.0.1:$(sshd_port hayate)
	END
	chmod +x once
	copy -v -j 4 -o ProxyCommand="$T/once" "hayate:$LESS" got 2>log
	cmp "$LESS" got
	[ "$(wc -l <tries)" = 3 ]
	[ "$(grep -c 'an additional connection was refused' log)" = 1 ]
}

@test "further connections use a ProxyJump as well" {
	check_logins one 2 copy -v -j 2 -J stock "one:$LESS" got
	cmp "$LESS" got
	[ "$(count_connections_used log)" = 2 ]
}

@test "Hayate no, -l and a shared connection use one connection" {
	check_logins hayate 1 copy -v -j 4 -o Hayate=no "hayate:$LESS" got
	cmp "$LESS" got
	check_logins hayate 1 copy -v -j 4 -l 800000 "hayate:$LESS" got
	cmp "$LESS" got
	check_logins hayate 1 copy -v -j 4 -X nrequests=64 "hayate:$LESS" got
	client -M -N -f -S "$T/mux" hayate
	check_logins hayate 0 copy -v -j 4 -o ControlPath="$T/mux" "hayate:$LESS" got
	cmp "$LESS" got
	client -S "$T/mux" -O exit hayate 2>/dev/null
}

### Stale files

# find_extra_ssh: prints the process of an additional connection
find_extra_ssh() {
	sed -n 's/.*started an additional connection, process \([0-9]*\).*/\1/p' log |
	    tail -n 1 | grep .
}

# is_striped N: succeeds if N connections transfer the file
is_striped() { [ "$(count_connections_used log)" -ge "$1" ]; }

# start_copy ARG...: starts a copy in the background, and waits until it has three
# connections
start_copy() {
	copy -o MaxRate="${RATE-45M}" -v -j 3 "$@" >log 2>&1 &
	SCP=$!
	poll 20 is_striped 3
}

# find_scp: prints the process of the program, not of the shell that waits for it
find_scp() { pgrep -P "$SCP" -x scp || echo "$SCP"; }

@test "the loss of a further connection costs only its rate" {
	start_copy "hayate:$BULK" got
	kill -9 "$(find_extra_ssh)"
	wait $SCP
	grep 'an additional connection was lost' log
	cmp "$BULK" got
	start_copy "$BULK" "stock:$T/there/x"
	kill -9 "$(find_extra_ssh)"
	wait $SCP
	grep 'was lost' log
	cmp "$BULK" there/x
	[ "$(ls -A there)" = x ]
}

# kill_connection: checks that the copy goes on to its end without one of its connections
kill_connection() {
	kill -9 "$(find_extra_ssh)"
	wait $SCP || { tail -n 3 log; return 1; }
	grep 'an additional connection was lost' log
}

@test "the loss of a connection costs a tree only its rate, both ways" {
	local f
	start_copy -rp "hayate:$TREE" got
	kill_connection
	diff -r "$TREE" got
	(cd "$TREE" && find . -type f) >list
	start_copy --files-from list "hayate:$TREE" listed
	kill_connection
	diff -r "$TREE" listed
	start_copy -rp "$TREE" "stock:$T/there/tree"
	kill_connection
	diff -r "$TREE" there/tree
	for f in 1 5 some/7 some .; do
		[ "$(stat -c '%a %Y' "got/$f" "there/tree/$f" | uniq)" = "$(stat -c '%a %Y' "$TREE/$f")" ]
	done
}

@test "after kill -9 a downloaded file is a prefix, which can be resumed" {
	local n
	start_copy "hayate:$BULK" got
	kill -9 "$(find_scp)"
	fails wait $SCP
	n=$(stat -c %s got)
	[ "$n" -lt 134217728 ]
	cmp -n "$n" got "$BULK"
	copy -v -j 3 --resume "hayate:$BULK" got 2>log
	cmp "$BULK" got
	[ "$(count_connections_used log)" -ge 2 ]
}

# make_two_host_config: writes "config", with which the first connection goes to stock
make_two_host_config() {
	{
		printf 'Match exec "mkdir %s"\n' "$T/first"
		printf '\tPort %s\n' "$(sshd_port stock)"
		printf 'Match all\n'
		cat "$BATS_FILE_TMPDIR/ssh_config"
	} >config
}

@test "a name of several hosts gets one connection, and all files are copied to one host" {
	make_two_host_config
	run -0 check_logins stock 1 check_logins hayate 1 copy -F config -v -j 3 "$BULK" \
	    "hayate:$T/there/x"
	cat log
	grep -q 'additional connection closed: it reached host' log
	grep -q 'an additional connection was refused; continuing with 1' log
	cmp "$BULK" there/x
}

@test "a local file that is larger than the remote one stays unchanged" {
	local before
	cp "$LESS" there/x
	head -c 50000000 "$BULK" >there/y
	before=$(stat -c '%s %Y %a' there/y)
	touch -d 2001-01-01 there/x
	run files -b - -j 2 hayate <<<"reget -p $T/there/x $T/there/y"
	[[ $output = *'local file is larger than remote'* ]]
	[[ $output != *'not modified'* ]]
	[ "$(stat -c '%s %Y %a' there/y)" = "$before" ]
	cmp -n 50000000 "$BULK" there/y
}

# has_arrived: succeeds if some of it has been received
has_arrived() { [ -n "$(ls -A there)" ] && [ "$(du -s --block-size=1 there | cut -f1)" -gt 20000000 ]; }

@test "^C at the terminal leaves the prefix of an uploaded file, under its name" {
	need script bsdutils
	mkfifo keys
	declare -f copy bin peer_bin >run
	cat >>run <<-END
	BUILD=$BUILD PEERS='' IN_CLIENT='' BATS_FILE_TMPDIR=$BATS_FILE_TMPDIR
	copy -o MaxRate=15M -q -j 3 "$BULK" "hayate:$T/there/x" 3>&-
	echo "scp ended with \$?"
	END
	timeout 40 script -qefc "bash run" /dev/null <keys >out 2>&1 3>&- &
	exec 8>keys
	poll 20 has_arrived
	printf '\003' >&8
	wait $! || :
	exec 8>&-
	cat out
	[ "$(ls -A there)" = x ]
	cmp -n "$(stat -c %s there/x)" there/x "$BULK"
}

@test "the loss of the first connection costs only its rate, and leaves no process" {
	start_copy "hayate:$BULK" got
	kill -9 "$(pgrep -P "$(find_scp)" -x ssh)"
	wait $SCP
	cmp "$BULK" got
	start_copy "$BULK" "stock:$T/there/x"
	kill -9 "$(pgrep -P "$(find_scp)" -x ssh)"
	wait $SCP
	cmp "$BULK" there/x
	[ "$(ls -A there)" = x ]
	poll 10 fails pgrep -f "TransferStreams=1 .*$BATS_FILE_TMPDIR"
}

@test "no process of a further connection outlives scp" {
	local n
	start_copy "hayate:$BULK" got
	n=$(find_extra_ssh)
	kill -9 "$(find_scp)"
	poll 10 is_gone "$n"
	copy -v -j 3 "hayate:$BULK" got >log 2>&1
	for n in $(sed -n 's/.*started an additional connection, process \([0-9]*\).*/\1/p' log); do
		poll 10 is_gone "$n"
	done
}
