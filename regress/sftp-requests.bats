#!/usr/bin/env bats
# Needs: hayate stock path
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# SFTP's requests in flight (transfer/conns/server-hook.h), through scp and sftp. Where
# only the bytes matter the servers are near; "far" and "far-old" are behind
#
#     client, a 10.77.0.1  ==== 80 ms, 400 Mbit/s ====  b 10.77.0.2, sshd
#
# and far-old does not know limits@openssh.com, so 64 requests are 2 MiB there.
# Odd servers are sftp-peer's, which sftp starts itself.

load helper

setup_file() {
	export P=q$$
	cd "$BATS_FILE_TMPDIR" || return
	sshd_up hayate
	sshd_up stock
	sshd_up system
	sshd_up hayate:old "Subsystem sftp $(bin sftp-server) -P limits"
	if "$LFP" check 2>why; then
		"$LFP" up "$P" --rtt 80ms --rate 400mbit --queue 8MB --cc reno 3>&-
		# shellcheck disable=SC2034 # sshd_up reads it
		IN_SERVER="ip netns exec lfp-$P-b"
		sshd_up hayate:far "ListenAddress 10.77.0.2"
		sshd_up hayate:far-old "ListenAddress 10.77.0.2" \
		    "Subsystem sftp $(bin sftp-server) -P limits"
	fi
	head -c 33554432 /dev/urandom >bulk
	head -c 12582912 bulk >some
	mkdir sizes
	for n in 0 1 32767 32768 261119 261120 261121 10485761; do
		head -c $n bulk >sizes/$n
	done
	cp sizes/32767 sizes/sparse
	truncate -s 5000000 sizes/sparse
	printf end >>sizes/sparse
}

teardown_file() {
	sshd_down
	[ -s "$BATS_FILE_TMPDIR/why" ] || "$LFP" down "$P"
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	T=$BATS_TEST_TMPDIR
	F=$BATS_FILE_TMPDIR
	SIZES=$F/sizes
	SOME=$F/some
	BULK=$F/bulk
}

teardown() {
	local pid
	[ -s "$F/why" ] || "$LFP" set "$P" --rtt 80ms --rate 400mbit --queue 8MB
	for pid in $(jobs -pr); do kill "$pid" 2>/dev/null || :; done
	! mountpoint -q "$T/full" || umount -l "$T/full"
}
pids=()

# list_request_windows LOG: prints the allowed number of requests, one decision per line
list_request_windows() {
	tr -d '\r' <"$1" |
	    sed -n 's/.*requests in flight \([0-9]*\) -> \([0-9]*\), /\1 \2 /p'
}
# has_requests_grown LOG: succeeds if it grew because of what was measured, not only at
# the start
has_requests_grown() { list_request_windows "$1" | awk '$2 > 64 && $2 > $1 && $3 == "grow:" { n++ }
    END { exit !n }'; }

# has_more_requests LOG: succeeds if there were more than stock ever has
has_more_requests() { list_request_windows "$1" | awk '$2 > 64 { n++ } END { exit !n }'; }

# lengthen_path: makes the path hold 10 MB, more than 128 requests to far-old; teardown
# restores it
lengthen_path() { "$LFP" set "$P" --rtt 200ms; }

# is_pipelined LOG: succeeds if more than one request was sent before any reply
is_pipelined() {
	tr -d '\r' <"$1" | awk '/Request range/ { n++ }
	    /Received reply T:103/ { exit } END { exit !(n > 1) }'
}

### Bytes

@test "scp copies files of every size intact to and from every server" {
	local s
	for s in hayate stock system old; do
		mkdir there.$s back.$s
		copy -q "$SIZES"/* "$s:$T/there.$s/"
		diff -r "$SIZES" there.$s
		copy -q "$s:$SIZES/*" back.$s/
		diff -r "$SIZES" back.$s
	done
}

@test "sftp copies files of every size intact to and from every server" {
	local s
	for s in hayate stock system old; do
		mkdir there.$s back.$s
		files -q -b - $s <<-END >/dev/null
		cd $T
		put $SIZES/* there.$s/
		get $SIZES/* back.$s/
		END
		diff -r "$SIZES" there.$s
		diff -r "$SIZES" back.$s
	done
}

@test "stock scp and sftp copy files of every size intact to our server" {
	local CLIENT
	for CLIENT in stock system; do
		mkdir there.$CLIENT back.$CLIENT
		copy -q "$SIZES"/* "hayate:$T/there.$CLIENT/"
		files -q -b - hayate <<-END >/dev/null
		get $SIZES/* back.$CLIENT/
		END
		diff -r "$SIZES" there.$CLIENT
		diff -r "$SIZES" back.$CLIENT
	done
}

@test "scp -3 copies files of every size intact between servers" {
	local s
	for s in hayate:stock stock:hayate system:old old:system; do
		mkdir "$s"
		copy -q -3 "${s%:*}:$SIZES/*" "${s#*:}:$T/$s/"
		diff -r "$SIZES" "$s"
	done
}

@test "a file in /proc, whose size is unknown, arrives whole" {
	local f big
	big=$(head -c 60000 "$BULK" | od -An -v -tx1 | tr -d ' \n')
	env -i A="$big" B="$big" C="$big" "$(command -v tail)" -f /dev/null 3>&- &
	f=/proc/$!/environ
	poll 5 eval "[ \$(wc -c <$f) -gt 360000 ]"
	[ "$(stat -c %s $f)" = 0 ]
	copy -q "hayate:$f" scp
	cmp $f scp
	echo "get $f sftp" | files -q -b - stock
	cmp $f sftp
	copy -q -3 "hayate:$f" "stock:$T/third"
	cmp $f third
}

@test "reget and reput transfer only what is missing" {
	head -c 5000001 "$SOME" >got
	head -c 5000001 "$SOME" >there
	files -vvv -b - hayate <<-END 2>log
	reget $SOME got
	reput $SOME $T/there
	END
	cmp "$SOME" got
	cmp "$SOME" there
	[ "$(sed -n 's/.*Request range \([0-9]*\) .*/\1/p' log | head -1)" = 5000001 ]
	[ "$(sed -n 's/.*FXP_WRITE I:[0-9]* O:\([0-9]*\).*/\1/p' log | head -1)" = 5000001 ]
}

@test "-p keeps times and modes and -r copies whole trees, both ways" {
	mkdir -p tree/empty "tree/with space/deep"
	cp "$SIZES/1" "tree/with space/deep/one"
	cp "$SIZES/261121" tree/more
	cp "$SIZES/0" tree/none
	chmod 640 tree/more
	touch -d '2001-02-03 04:05:06' tree/more tree/none "tree/with space/deep/one"
	copy -q -rp tree "hayate:$T/there"
	copy -q -rp "stock:$T/there" back
	files -q -b - hayate <<-END >/dev/null
	put -rp tree $T/there2
	get -rp $T/there2 back2
	END
	for d in there back there2 back2; do
		diff -r tree $d
		[ "$(cd tree && find . -type f -printf '%p %m %t\n' | sort)" = \
		    "$(cd $d && find . -type f -printf '%p %m %t\n' | sort)" ]
	done
}

### Requests

@test "a download starts with many requests, and their number grows" {
	need_path
	lengthen_path
	run_far copy -vvv "far-old:$BULK" got 2>log
	cmp "$BULK" got
	is_pipelined log
	has_requests_grown log
}

@test "an upload's requests grow, and several are sent before the first reply" {
	need_path
	lengthen_path
	run_far copy -vvv "$BULK" "far-old:$T/there" 2>log
	cmp "$BULK" there
	has_requests_grown log
	tr -d '\r' <log | awk '/Sent message SSH2_FXP_WRITE/ { n++ }
	    /Received reply T:101/ && n { exit } END { exit !(n > 1) }'
}

@test "the requests of a copy between servers grow" {
	need_path
	lengthen_path
	run_far copy -vvv -3 "far-old:$BULK" "far:$T/there" 2>log
	cmp "$BULK" there
	has_requests_grown log
}

@test "a copy between servers sizes its window by the smaller of both request sizes" {
	need_path
	lengthen_path
	# 10 MB of path are over 300 requests of the destination's 32 KiB
	run_far copy -vvv -3 "far:$BULK" "far-old:$T/there" 2>log
	cmp "$BULK" there
	list_request_windows log
	[ "$(list_request_windows log | awk '$2 > most { most = $2 } END { print most }')" \
	    -gt 128 ]
}

@test "at 400 Mbit/s and 500 ms more than 64 requests of 255 KiB are in flight" {
	need_path
	"$LFP" set "$P" --rtt 500ms --rate 400mbit --queue 30MB
	run_far files -vv -c aes128-gcm@openssh.com -b - far <<-END >/dev/null 2>log
	put $BULK $T/1
	put $BULK $T/1
	put $BULK $T/1
	get $BULK 2
	get $BULK 2
	get $BULK 2
	END
	cmp "$BULK" 1
	cmp "$BULK" 2
	has_more_requests log
}

@test "with -R, -B, -X or -l the user sets the number of requests" {
	need_path
	local i=0 o
	for o in "files -R 64" "files -B 32768" "copy -X nrequests=64" \
	    "copy -X buffer=32768" "copy -l 400000"; do
		i=$((i + 1))
		# shellcheck disable=SC2086 # a command and its options
		run_far $o -vvv far-old:"$SOME" $i 2>$i.log >/dev/null &
		pids+=($!)
	done
	for i in 1 2 3 4 5; do
		wait "${pids[i - 1]}"
		cmp "$SOME" $i
		[ -z "$(list_request_windows $i.log)" ]
		run ! is_pipelined $i.log
	done
}

# list_messages LOG: prints what was sent and received, in order
list_messages() {
	tr -d '\r' <"$1" | sed -n 's/.*debug3: //; /^Request range\|^Received reply\|^Sent message \(fd\|SSH2_FXP\|limits\)\|^In write loop/p' |
	    sed 's/fd [0-9]* //'
}

# record_both ARG...: downloads and uploads; the messages are in NAME.talk
record_both() {
	copy -vvv "${@:2}" "stock:$F/sizes/10485761" "$1.got" 2>"$1.log"
	cmp "$SIZES/10485761" "$1.got"
	list_messages "$1.log" >"$1.talk"
	copy -vvv "${@:2}" "$SIZES/10485761" "stock:$T/there" 2>"$1.log"
	cmp "$SIZES/10485761" there
	list_messages "$1.log" >>"$1.talk"
}

@test "every option that disables tuning makes scp send stock's messages" {
	CLIENT=stock record_both stock
	[ "$(wc -l <stock.talk)" -gt 100 ]
	grep -q 'Sent message limits@openssh.com' stock.talk
	record_both on
	run ! cmp -s stock.talk on.talk
	record_both off -o "Hayate no"
	diff stock.talk off.talk
	record_both hpn -o "HPNDisabled yes"
	diff stock.talk hpn.talk
	{ echo "Hayate no"; cat "$F/ssh_config"; } >config
	record_both file -F "$T/config"
	diff stock.talk file.talk
	{ printf 'Host stock\n\tHayate no\n'; cat "$F/ssh_config"; } >config
	record_both host -F "$T/config"
	diff stock.talk host.talk
}

@test "a server without limits@openssh.com is not queried and works" {
	copy -vvv "old:$SOME" got 2>log
	cmp "$SOME" got
	run -1 grep -q 'using .* / 26' log
	grep -q 'Request range 0 -> 32767' log
	is_pipelined log
}

### Odd servers

# run_peer NAME=VALUE...: runs sftp of CLIENT, with commands from stdin, at such a server
run_peer() {
	"$(bin sftp "${CLIENT-hayate}")" -q -b - \
	    -D "$REGRESS/peers/sftp-peer log=$T/report $*" 3>&-
}

# read_peer_value KEY: prints what the server reported when it ended
read_peer_value() { sed -n "s/^\(.* \)\{0,1\}$1=\([^ ]*\).*/\2/p" "$T/report"; }

# run_blind_server: runs sftp at a server without users-groups-by-id@openssh.com, which
# the command "ls" would request
run_blind_server() {
	"$(bin sftp "${CLIENT-hayate}")" -q -b - \
	    -D "$(bin sftp-server) -P users-groups-by-id" 3>&-
}

@test "reput looks up a file again that may have changed since ls" {
	head -c 3000000 "$SOME" >r
	run_blind_server <<-END
	ls $T/r
	!truncate -s 1000000 $T/r
	reput $SOME $T/r
	END
	cmp "$SOME" r
}

@test "put looks up a file again that may have become a directory since ls" {
	: >r
	run_blind_server <<-END
	ls $T/r
	!rm $T/r; mkdir $T/r
	put $SIZES/32768 $T/r
	END
	cmp "$SIZES/32768" r/32768
}

@test "a download uses its own LSTAT and sends no STAT" {
	files -vvv -b - old <<<"get $SOME got" 2>log
	cmp "$SOME" got
	run ! grep -q 'SSH2_FXP_STAT ' log
	grep -q 'Received reply T:103' log
}

# A request is no handle, though stock before 10.3 counts it as one.
@test "with a limit of 4 open handles, or none, at least 64 requests are in flight" {
	local n
	for n in 4 0; do
		run_peer limits=32768,32768,$n rate=40000000 <<-END
			put $SIZES/10485761 $T/there
			get $SIZES/10485761 $T/got
		END
		cmp "$SIZES/10485761" there
		cmp "$SIZES/10485761" got
		[ "$(read_peer_value most)" -ge 64 ]
		rm there got
	done
}

@test "the limits reply may come after the reply to a later request" {
	run_peer limits=100000,50000,0 defer=1 <<-END
	put $SIZES/10485761 $T/there
	get $T/there $T/back
	END
	cmp "$SIZES/10485761" back
	# the last WRITE is what remains
	[[ $(read_peer_value sizes), == 50000,$((10485761 % 50000)),100000,* ]]
}

@test "limits that arrive during a transfer apply from the next file on" {
	local n
	for n in 3 6 20; do
		run_peer limits=200000,150000,0 defer=$n <<-END
		put $SIZES/10485761 $T/1
		put $SIZES/10485761 $T/2
		get $T/2 $T/3
		END
		cmp "$SIZES/10485761" 1
		cmp "$SIZES/10485761" 3
		echo "after $n: $(read_peer_value sizes)"
		[[ $(read_peer_value sizes), == *150000,*,200000,* ]]
	done
	[[ $(read_peer_value sizes) == 32768,* ]]
	run_peer limits=200000,150000,0 defer=5 <<-END
	get $SIZES/10485761 $T/4
	get $SIZES/10485761 $T/5
	END
	cmp "$SIZES/10485761" 4
	cmp "$SIZES/10485761" 5
}

# Upstream's loop copies such a file, and has allocated its buffer before.
@test "limits of a server of version 2 cannot arrive during a put" {
	run_peer version=2 limits=261120,261120,0 <<<"put $SIZES/10485761 $T/there"
	cmp "$SIZES/10485761" there
	rm there
	# As stock, sftp waits for them.
	MALLOC_CHECK_=3 run -124 timeout 2 "$(bin sftp)" -q -b - -D \
	    "$REGRESS/peers/sftp-peer version=2 limits=261120,261120,0 defer=3" \
	    3>&- <<<"put $SIZES/10485761 $T/there"
	[ ! -e there ]
}

@test "a transfer does not wait for limits that never arrive" {
	run_peer limits=32768,32768,0 defer=-1 <<-END
	put $SIZES/10485761 $T/there
	get $T/there $T/back
	END
	cmp "$SIZES/10485761" back
}

@test "put leaves no data in the file after a failed WRITE" {
	run ! run_peer fail=5 <<<"put $SIZES/10485761 $T/there"
	[ "$(stat -c %s there)" -eq $((4 * 32768)) ]
	cmp -n $((4 * 32768)) there "$SIZES/10485761"
	run_peer <<<"reput $SIZES/10485761 $T/there"
	cmp "$SIZES/10485761" there
}

@test "on a path that became slow SIGINT waits for at most two seconds of data" {
	# 64 requests of 8 KiB are more than two seconds of 200 kB/s
	run run_peer limits=8192,8192,0 fast=1000000 rate=200000 \
	    interrupt=1500000,416384 <<<"put $SOME $T/there"
	head -c "$(stat -c %s there)" "$SOME" | cmp - there
	echo "$(read_peer_value most) under way at most, $(read_peer_value after) bytes after SIGINT"
	[ "$(read_peer_value most)" -ge 64 ]
	[ "$(read_peer_value after)" -gt 0 ]
	[ "$(read_peer_value after)" -le 416384 ]
}

### Errors

# make_small_disk MEGABYTES: mounts a file system of that size at T/full
make_small_disk() {
	need_root "mounting a small file system"
	mkdir full
	mount -t tmpfs -o "size=$1m" none full || skip "cannot mount a tmpfs"
}

@test "a full file system makes put fail as in stock" {
	local CLIENT
	make_small_disk 4
	for CLIENT in stock hayate; do
		run copy "$SOME" "hayate:$T/full/$CLIENT"
		echo "$output"
		[ "$status" = 1 ]
		[[ $output == *"write remote \"$T/full/$CLIENT\": Failure"* ]]
		rm full/*
		run files -b - hayate <<<"put $SOME $T/full/$CLIENT"
		echo "$output"
		[ "$status" = 1 ]
		[[ $output == *"write remote \"$T/full/$CLIENT\": Failure"* ]]
		rm full/*
	done
}

# print_size FILE: prints it in bytes
print_size() { stat -c %s "$1"; }

@test "a full file system keeps only what was written, and reput continues" {
	local how
	make_small_disk 5
	CLIENT=stock run -1 copy "$BULK" "hayate:$T/full/x"
	echo "$output"; echo "stock leaves $(print_size full/x) bytes"
	stock=$(print_size full/x)
	for how in scp put; do
		rm full/x
		if [ $how = scp ]; then
			run -1 copy "$BULK" "hayate:$T/full/x"
		else
			run -1 files -b - hayate <<<"put $BULK $T/full/x"
		fi
		echo "$output"; echo "$how leaves $(print_size full/x) bytes"
		[ "$(print_size full/x)" -gt 4000000 ]
		[ "$(print_size full/x)" -le 5242880 ]
		[ "$(print_size full/x)" -le "$stock" ]
		cmp -n "$(print_size full/x)" full/x "$BULK"
	done
	mount -o remount,size=64m full
	files -b - hayate <<<"reput $BULK $T/full/x"
	cmp "$BULK" full/x
}

@test "a full local file system makes get fail as in stock" {
	local CLIENT
	make_small_disk 4
	for CLIENT in stock hayate; do
		run copy "hayate:$SOME" full/x
		echo "$output"
		[ "$status" = 1 ]
		[[ $output == *"No space left on device"* ]]
		rm full/*
	done
}

# make_quota: mounts a file system of 128 MiB at T/full, whose directory "of" has a quota
make_quota() {
	need_root "mounting a file system"
	need mkfs.btrfs btrfs-progs
	truncate -s 128M image
	mkfs.btrfs -q image
	mkdir full
	mount -o loop image full || skip "cannot mount btrfs"
	btrfs quota enable full
	btrfs -q subvolume create full/of
}

# check_complete: checks that the file is a prefix of SOME, or that the output says that
# the rest could not be truncated, which this file system refuses too. Stock's later
# requests may fit where an earlier one did not.
check_complete() {
	[ "$CLIENT" = stock ] || cmp -n "$(print_size "$1")" "$1" "$SOME" ||
	    [[ $output =~ (remote fsetstat: Failure|local ftruncate .*: Disk quota) ]]
}

# The first WRITE fails, one in the middle, or one near the end.
@test "a quota makes put and get fail as in stock, wherever it ends" {
	local CLIENT bytes
	make_quota
	for bytes in 100K 1M 4M; do
		btrfs qgroup limit "$bytes" full/of
		for CLIENT in stock hayate; do
			run -1 copy "$SOME" "hayate:$T/full/of/x"
			echo "$output"
			[[ $output == *"write remote \"$T/full/of/x\": Failure"* ]]
			check_complete full/of/x
			rm full/of/x
			run -1 copy "hayate:$SOME" full/of/x
			echo "$output"
			[[ $output == *"Disk quota exceeded"* ]]
			check_complete full/of/x
			rm full/of/x
		done
	done
}

@test "a write that failed stays failed when the later ones succeed" {
	make_small_disk 8
	# no room but for the tail, which is there already
	truncate -s 2097152 full/target
	head -c 4194304 "$BULK" >>full/target
	cat "$BULK" >full/rest 2>/dev/null || :
	head -c 6291456 "$BULK" >sent
	run copy -vvv sent "hayate:$T/full/target"
	[ "$status" = 1 ]
	[[ $output == *"write remote \"$T/full/target\": Failure"* ]]
	# the case is the one meant: a failure first, success last
	[ "$(grep -o 'SSH2_FXP_STATUS [0-9]*' <<<"$output" | uniq |
	    grep -A9 4 | tail -n +1 | head -2 | tr '\n' ' ')" = \
	    "SSH2_FXP_STATUS 4 SSH2_FXP_STATUS 0 " ]
}

@test "a file size limit at the server makes put fail" {
	sshd_up hayate:limited "Subsystem sftp /bin/sh -c 'trap \"\" XFSZ; \
ulimit -f 4096; exec $(bin sftp-server)'"
	run copy "$SOME" "limited:$T/there"
	sshd_down limited
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *"write remote \"$T/there\": "* ]]
	cmp -n "$(stat -c %s there)" there "$SOME"
}

### Interrupts

is_larger() { [ -e "$1" ] && [ "$(stat -c %s "$1")" -gt "$2" ]; }

# is_proper_prefix FILE: succeeds if it is a part of BULK and not the whole, without holes
is_proper_prefix() {
	local n
	n=$(stat -c %s "$1")
	echo "$n bytes"
	[ "$n" -gt 1000000 ] && [ "$n" -lt 33554432 ] && cmp -n "$n" "$1" "$BULK"
}

# print_sftp_command: prints sftp of CLIENT as a simple command, so that $! is its own
# number
print_sftp_command() {
	echo "$(bin sftp "$CLIENT") -o HostName=10.77.0.2 \
	    -S $(bin ssh "$CLIENT") -F $F/ssh_config"
}

# A narrow path: two seconds of it are a third of BULK, and stock stops sooner
narrow_path() { "$LFP" set "$P" --rate 40mbit; }

@test "SIGINT during get leaves a whole prefix, as in stock" {
	need_path
	local CLIENT
	narrow_path
	for CLIENT in stock hayate; do
		echo "get $BULK $CLIENT" >batch
		# shellcheck disable=SC2046
		ip netns exec "lfp-$P-a" $(print_sftp_command) -b batch far \
		    >/dev/null 2>&1 3>&- &
		poll 20 is_larger $CLIENT 1000000
		kill -INT $!
		wait $! || :
		is_proper_prefix $CLIENT
	done
}

@test "SIGINT during put leaves a whole prefix, as in stock" {
	need_path
	local CLIENT
	narrow_path
	for CLIENT in stock hayate; do
		echo "put $BULK $T/$CLIENT" >batch
		# shellcheck disable=SC2046
		ip netns exec "lfp-$P-a" $(print_sftp_command) -b batch far \
		    >/dev/null 2>&1 3>&- &
		poll 20 is_larger $CLIENT 1000000
		kill -INT $!
		wait $! || :
		is_proper_prefix $CLIENT
	done
}

@test "a WRITE that is longer than SFTP allows is refused as in stock" {
	local b said=()
	for b in stock hayate; do
		CLIENT=$b run -255 copy -q -X buffer=262144 "$SOME" "hayate:$T/got"
		said+=("${output#*scp: }")
	done
	[[ ${said[0]} = 'Outbound message too long 2'* ]]
	[ "${said[1]}" = "${said[0]}" ]
}

# get_from_home PATH FILE: gets FILE by sftp from a server that says it is in PATH
get_from_home() {
	printf '#!/bin/sh\nexec "%s" "home=%s"\n' "$REGRESS/peers/sftp-peer" "$1" >ssh
	chmod +x ssh
	"$(bin sftp "${CLIENT-hayate}")" -q -S "$PWD/ssh" "host:$2" 3>&-
}

@test "a server cannot choose the name under which sftp writes a file" {
	mkdir "$T/here" "$T/evil" "$T/a b"
	cd "$T/here"
	echo alias ls=rm >"$T/evil/1"
	echo mine >.profile
	run ! get_from_home "$T/evil/* .profile " report.txt
	[ "$(cat .profile)" = mine ]
	[ "$(ls -A)" = $'.profile\nssh' ]
	echo data >"$T/evil/report.txt"
	get_from_home "$T/evil" report.txt
	[ "$(cat report.txt)" = data ]
	echo blank >"$T/a b/x"
	# As it is from OpenSSH 10.5 on, or with a line that says why not.
	get_from_home "$T/a b" x 2>why || grep -F 'which sftp cannot use with HOST:FILE' why
}

@test "an absolute path works if the server starts in a directory with a blank in its name" {
	mkdir "$T/here" "$T/a b"
	cd "$T/here"
	echo data >"$T/report.txt"
	get_from_home "$T/a b" "$T/report.txt"
	[ "$(cat report.txt)" = data ]
	get_from_home "$T/a b" "$T" <<<ls | grep -F report.txt
}

@test "sftp-server answers all requests before the end of its input" {
	local s n
	head -c 3000000 /dev/urandom >data
	# INIT, OPEN, and READs, which stock drops when its input has ended
	python3 - "$PWD/data" 90 >requests <<-'END'
	import struct, sys
	def text(b):
	    return struct.pack(">I", len(b)) + b
	def send(kind, body):
	    sys.stdout.buffer.write(struct.pack(">IB", len(body) + 1, kind) + body)
	send(1, struct.pack(">I", 3))
	send(3, struct.pack(">I", 1) + text(sys.argv[1].encode()) + struct.pack(">II", 1, 0))
	for i in range(int(sys.argv[2])):
	    send(5, struct.pack(">I", i) + text(bytes(4)) + struct.pack(">QI", i * 32768, 32768))
	END
	# count_replies: prints how many replies there are, and the bytes of the file
	count_replies() {
		python3 -c '
import struct, sys
b, n, data = sys.stdin.buffer.read(), 0, b""
while len(b) >= 4 and len(b) >= 4 + struct.unpack(">I", b[:4])[0]:
    m, b = b[4:4 + struct.unpack(">I", b[:4])[0]], b[4 + struct.unpack(">I", b[:4])[0]:]
    data += m[9:] if m[0] == 103 else b""
    n += 1
print(n, len(b), data == open("data", "rb").read(90 * 32768))'
	}
	"$(bin sftp-server)" <requests | count_replies >got
	[ "$(<got)" = "92 0 True" ]
	{ sleep 0.1; cat requests; } | "$(bin sftp-server)" | { sleep 0.5; count_replies; } >got
	[ "$(<got)" = "92 0 True" ]
	for s in stock hayate; do
		CLIENT=$s client -s hayate sftp <requests | count_replies >got
		[ "$(<got)" = "92 0 True" ]
	done
	# and ends if nobody takes the replies
	(trap '' PIPE; timeout 10 "$(bin sftp-server)" <requests; echo $? >status) | head -c 100 >/dev/null
	[ "$(<status)" != 124 ]
}
