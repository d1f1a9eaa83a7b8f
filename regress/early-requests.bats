#!/usr/bin/env bats
# Needs: hayate stock unit path shells
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# scp's first requests go out before their turn (transfer/sftp/early-requests.h), and ssh
# ends when scp has ended (ssh/early-requests-ssh-hook.h). Each test compares with
# stock's scp: what it prints, how it ends and what it leaves.

load helper

setup_file() {
	export P=o$$ SERVER_ADDRESS=10.77.0.2 IN_SERVER="ip netns exec lfp-o$$-b"
	cd "$BATS_FILE_TMPDIR" || return
	"$LFP" check 2>why || return 0
	"$LFP" up "$P" --rtt 60ms 3>&-
	make_keys
	ssh-keygen -q -t ed25519 -N '' -C second -f second
	mkdir full
	mount -t tmpfs -o size=1m full full
	sshd_up stock "AuthorizedKeysFile $PWD/may"
	sshd_up hayate "AuthorizedKeysFile $PWD/may"
}

teardown_file() {
	sshd_down
	[ -s "$BATS_FILE_TMPDIR/why" ] || "$LFP" down "$P"
	umount "$BATS_FILE_TMPDIR/full" 2>/dev/null || :
}

setup() {
	need_path
	use_own_cache
	umask 022
}

teardown() { [ ! -e "$T/far" ] || "$LFP" set "$P" --rtt 60ms; }

# lengthen_path: makes the path long enough to count our round trips. A process that got
# no processor in time sends after an answer that it would have preceded.
lengthen_path() {
	touch "$T/far"
	"$LFP" set "$P" --rtt 400ms
}

# run_far_scp ARG...: runs scp over the path, with the login cache of this test
run_far_scp() { run_far copy "${KNOWN[@]}" "$@"; }

# is_sent_early: succeeds if the requests of the copy whose errors are in err were sent
# early
is_sent_early() { grep -q 'first requests went out with INIT' err; }

# list_tree: prints all files below this directory, with their types and contents
list_tree() {
	find . -mindepth 1 ! -path './hosts' ! -path './hayate_logins*' -printf '%P %y %m %s %l\n' |
	    LC_ALL=C sort
	find . -type f ! -name hosts ! -name 'hayate_logins*' -exec md5sum {} + | sort
}

@test "replies are used once, in order, and only for the request that was sent" {
	run_unit early-requests-test
	FLAVOUR=asan run_unit early-requests-test
	FLAVOUR=asan run_unit early-requests-test random 20000
}

@test "a small file needs 3 round trips, and 6 at first, where stock needs 20 and 19" {
	local s more first
	head -c 1024 /dev/urandom >some
	for s in stock hayate; do
		[ "$(CLIENT=stock count_trips run_far_scp "$s:$T/some" got)" = 20 ]
		[ "$(CLIENT=stock count_trips run_far_scp some "$s:$T/put")" = 19 ]
		rm got put
	done
	[ "$(count_trips run_far_scp -o EarlyLogin=no stock:"$T/some" got)" -gt 8 ]
	[ "$(count_trips run_far_scp -o Hayate=no stock:"$T/some" got)" -gt 8 ]
	rm got
	lengthen_path
	# a stock server does not say that nothing else runs, so its end is waited for
	for s in hayate:0 stock:1; do
		more=${s#*:} s=${s%:*}
		for first in "$s:$T/some got" "some $s:$T/put"; do
			rm -f hayate_logins got put
			# shellcheck disable=SC2086
			[ "$(count_trips run_far_scp $first)" = $((6 + more)) ]
			[ "$(count_trips run_far_scp "$s:$T/some" got)" = $((3 + more)) ]
			[ "$(count_trips run_far_scp some "$s:$T/put")" = $((3 + more)) ]
			cmp some got
			cmp some put
		done
	done
	# without a cache the session is opened behind the login
	KNOWN=(-o UserKnownHostsFile=none -o GlobalKnownHostsFile="$F/known_hosts")
	[ "$(count_trips run_far_scp stock:"$T/some" got)" = 11 ]
}

@test "an upload keeps the access time, and sends no read-only file early" {
	head -c 1024 /dev/urandom >some
	run_far_scp -q hayate:"$F/may" seen
	touch -a -d '2001-02-03 04:05:06' some
	lengthen_path
	[ "$(count_trips run_far_scp -p some hayate:"$T/put")" = 3 ]
	[ "$(stat -c %X put)" = "$(date -d '2001-02-03 04:05:06' +%s)" ]
	# a second OPEN of such a file is refused, unless by root. The target's file
	# is looked up early, as for a large file.
	chmod 444 some
	rm put
	[ "$(count_trips run_far_scp some hayate:"$T/put")" = 6 ]
	cmp some put
}

@test "files of every size are copied both ways, with mode and times, new or overwritten" {
	local n how
	run_far_scp -q stock:"$F/may" seen
	for n in 0 1 1023 32767 32768 32769 65535 65536 65537 200000; do
		head -c "$n" /dev/urandom >from
		chmod 640 from
		touch -d '2001-02-03 04:05:06' from
		for how in "" -p; do
			rm -f new
			head -c 300000 /dev/zero | tee old >over
			# shellcheck disable=SC2086
			run_far_scp -v $how stock:"$T/from" old 2>err
			is_sent_early
			cmp from old
			# shellcheck disable=SC2086
			run_far_scp -q $how stock:"$T/from" new
			cmp from new
			[ "$(stat -c %a new)" = 640 ]
			[ -z "$how" ] || [ from -ot hosts ]
			[ -z "$how" ] || [ "$(stat -c %Y new)" = "$(stat -c %Y from)" ]
			rm new
			# shellcheck disable=SC2086
			run_far_scp -v $how from stock:"$T/over" 2>err
			is_sent_early
			cmp from over
			# shellcheck disable=SC2086
			run_far_scp -q $how from stock:"$T/new"
			cmp from new
			[ "$(stat -c %a new)" = 640 ]
			[ -z "$how" ] || [ "$(stat -c %Y new)" = "$(stat -c %Y from)" ]
		done
	done
}

# check_as_stock ARG...: runs stock's scp and ours, each in its own copy of the directory
# "given", and checks that they print the same, end the same, and leave the same. "@"
# stands for the copy.
check_as_stock() {
	local who
	for who in stock hayate; do
		rm -rf "$T/here"
		cp -a "$T/given" "$T/here"
		(
			cd "$T/here"
			code=0
			IN_CLIENT="timeout 20 ip netns exec lfp-$P-a" CLIENT=$who \
			    copy -o HostName=10.77.0.2 "${KNOWN[@]}" "${@//@/$T/here}" \
			    >"$T/$who.out" 2>&1 </dev/null || code=$?
			echo "exit $code" >>"$T/$who.out"
			list_tree >>"$T/$who.out"
		)
		sed -i "s/\r//;s|^$(bin scp $who)|scp|" "$T/$who.out"
	done
	diff "$T/stock.out" "$T/hayate.out"
}

@test "a source that is no regular file is refused as by stock, and nothing hangs" {
	mkdir -p given/dir
	head -c 500 /dev/urandom >given/file
	mkfifo given/fifo
	ln -s file given/link
	ln -s fifo given/link-to-fifo
	ln -s nowhere given/dangling
	run_far_scp -q stock:"$F/may" seen
	check_as_stock stock:@/file got
	check_as_stock stock:@/link got
	check_as_stock stock:@/fifo got
	check_as_stock stock:@/link-to-fifo got
	check_as_stock stock:@/dangling got
	check_as_stock stock:@/missing got
	check_as_stock stock:@/dir got
	check_as_stock stock:/dev/null got
	check_as_stock stock:@/file dir
	check_as_stock stock:@/file missing/got
	check_as_stock "stock:@/fil*" got
	check_as_stock stock:@/file fifo.d/
}

@test "a FIFO at our server is not opened, and its writer loses no data" {
	mkdir given
	mkfifo given/fifo fifo
	ln -s fifo given/link
	run_far_scp -q hayate:"$F/may" seen
	check_as_stock hayate:@/fifo got
	check_as_stock hayate:@/link got
	timeout 60 sh -c 'echo precious >fifo' 3>&- &
	run -1 run_far_scp -v hayate:"$T/fifo" got
	[[ $output = *"went out with INIT"* && $output = *"not a regular file"* ]]
	[ "$(timeout 10 cat fifo)" = precious ]
	wait $!
}

@test "our sftp-server answers the requests before one that waits for a writer" {
	mkfifo fifo
	timeout 20 /usr/bin/python3 - "$(bin sftp-server)" "$T/fifo" <<-'END'
	import os, struct, subprocess, sys
	p = subprocess.Popen(sys.argv[1:2], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	path = struct.pack(">I", len(sys.argv[2])) + sys.argv[2].encode()
	def message(b):
	    return struct.pack(">I", len(b)) + b
	p.stdin.write(message(struct.pack(">BI", 1, 3)) +
	    message(struct.pack(">BI", 7, 8) + path) +
	    message(struct.pack(">BI", 3, 9) + path + struct.pack(">II", 1, 0)))
	p.stdin.flush()
	def get():
	    return p.stdout.read(struct.unpack(">I", p.stdout.read(4))[0])
	assert get()[0] == 2
	assert get()[:5] == struct.pack(">BI", 105, 8)
	# it waits, as stock's does, until somebody writes
	fd = os.open(sys.argv[2], os.O_WRONLY)
	assert get()[:5] == struct.pack(">BI", 102, 9)
	END
}

@test "after a FIFO ssh ends while keys are being learnt, and the next logins learn them" {
	ssh-keygen -q -t ecdsa -N '' -f host_ecdsa
	sshd_up stock:keyed "AuthorizedKeysFile $F/may" "HostKey $T/host_ecdsa"
	mkfifo fifo
	IN_CLIENT="timeout 20 ip netns exec lfp-$P-a" run -1 copy -o HostName=10.77.0.2 \
	    "${KNOWN[@]}" -o UpdateHostKeys=yes keyed:"$T/fifo" got
	[[ $output = *"not a regular file"* ]]
	for _ in 1 2 3; do
		run_far_scp -q -o UpdateHostKeys=yes keyed:"$F/may" got
	done
	[ "$(wc -l <hosts)" = 2 ]
	sshd_down keyed
}

@test "the target of an upload is determined as by stock" {
	mkdir -p given/dir given/full
	head -c 500 /dev/urandom >given/file
	head -c 900 /dev/urandom >given/other
	ln -s other given/link
	ln -s new given/dangling
	touch given/full/file
	run_far_scp -q stock:"$F/may" seen
	check_as_stock file stock:@/new
	check_as_stock file stock:@/other
	check_as_stock file stock:@/link
	check_as_stock file stock:@/dangling
	check_as_stock file stock:@/dir
	check_as_stock file stock:@/dir/
	check_as_stock file stock:@/full
	check_as_stock file stock:@/missing/new
	check_as_stock file stock:@/missing/
	check_as_stock missing stock:@/new
	check_as_stock dir stock:@/new
	check_as_stock file other stock:@/many
	check_as_stock file other stock:@/dir
	check_as_stock -r dir stock:@/tree
	check_as_stock -d file stock:@/other
	check_as_stock -d file stock:@/made
}

@test "a file that changes during the login is copied with its new contents" {
	run_far_scp -q stock:"$F/may" seen
	echo first >from
	printf '#!/bin/sh\necho the second, which is longer >%s/from\n' "$T" >change
	chmod +x change
	run_far_scp -v -o KnownHostsCommand="$T/change" from stock:"$T/to" 2>err
	is_sent_early
	grep -q 'has changed since it was sent early' err
	cmp from to
	grep -q second to
}

@test "early requests survive a refused key" {
	local both=(-i "$F/user" -i "$F/second")
	head -c 20000 /dev/urandom >some
	for what in get put; do
		cp "$F/user.pub" "$F/may"
		run_far_scp -q stock:"$F/may" seen
		cp "$F/second.pub" "$F/may"
		if [ $what = get ]; then
			run_far_scp -v "${both[@]}" stock:"$T/some" other 2>err
		else
			run_far_scp -v "${both[@]}" some stock:"$T/other" 2>err
		fi
		grep -q 'bytes of input early' err
		grep -q 'no longer accepts the key' err
		grep -q 'first requests went out behind VERSION' err
		cmp some other
		rm other hayate_logins
	done
}

@test "a small file whose WRITE fails does not end up with the source's size and time" {
	local s
	head -c 20000 /dev/urandom >some
	touch -d '2001-02-03 04:05:06' some
	for s in stock hayate; do
		run_far_scp -q "$s:$F/may" seen
		fails dd if=/dev/zero of="$F/full/rest" 2>dd
		run -1 run_far_scp -v -p some "$s:$F/full/put"
		[[ $output = *"went out with INIT"* && $output = *"write remote"* ]]
		[ "$(stat -c %s "$F/full/put")" = 0 ]
		rm "$F/full/rest"
		run_far_scp -q -p --resume some "$s:$F/full/put"
		cmp some "$F/full/put"
		rm "$F/full/put"
	done
}

@test "with -p --resume our server's hash decides, not a matching time and size" {
	head -c 20000 /dev/urandom >some
	touch -d '2001-02-03 04:05:06' some
	head -c 20000 /dev/zero >put
	touch -r some put
	run_far_scp -q -p --resume some hayate:"$T/put"
	cmp some put
	head -c 20000 /dev/zero >got
	touch -r some got
	run_far_scp -q -p --resume hayate:"$T/some" got
	cmp some got
}

# start_odd_sftp HOW: starts an SFTP server of that kind behind stock's sshd, as "odd"
start_odd_sftp() {
	cat >"$T/odd" <<-END
	#!/usr/bin/python3
	import os, struct, sys
	HOW = "$1"
	END
	cat >>"$T/odd" <<-'END'
	data = b"0123456789" * 100
	held = []
	def get(n):
	    b = b""
	    while len(b) < n:
	        c = os.read(0, n - len(b))
	        if not c:
	            sys.exit(0)
	        b += c
	    return b
	def put(b):
	    os.write(1, struct.pack(">I", len(b)) + b)
	def answer(b):
	    if HOW != "backwards":
	        return put(b)
	    held.append(b)
	    if len(held) == 6:
	        while held:
	            put(held.pop())
	handle = b"0000" if HOW == "handles" else b"\0\0\0\0"
	attrs = struct.pack(">IQI", 5, len(data), 0o100644)
	def status(i, n):
	    answer(struct.pack(">BIIII", 101, i, n, 0, 0))
	asked = 0
	while True:
	    m = get(struct.unpack(">I", get(4))[0])
	    if m[0] == 1:
	        put(struct.pack(">BI", 2, 3))
	        continue
	    i = struct.unpack(">I", m[1:5])[0]
	    asked += 1
	    if HOW == "ends" and asked == 4:
	        sys.exit(0)
	    if HOW == "nobody" and asked == 3:
	        i = 77
	    if m[0] in (7, 17, 8):
	        answer(struct.pack(">BI", 105, i) + attrs)
	    elif m[0] == 3:
	        answer(struct.pack(">BII", 102, i, 4) + handle)
	    elif m[0] == 5:
	        n = struct.unpack(">I", m[5:9])[0]
	        h, (off, want) = m[9:9 + n], struct.unpack(">QI", m[9 + n:21 + n])
	        if HOW == "short":
	            want = min(want, 7 if i < 0x80000000 else 300)
	        part = data[off:off + want]
	        if h != handle:
	            status(i, 4)
	        elif not part:
	            status(i, 1)
	        else:
	            answer(struct.pack(">BII", 103, i, len(part)) + part)
	    elif m[0] == 16:
	        answer(struct.pack(">BII", 104, i, 1) + m[5:] + struct.pack(">II", 0, 0))
	    else:
	        status(i, 0 if m[0] in (4, 10) else 8)
	END
	chmod +x "$T/odd"
	sshd_up stock:odd "AuthorizedKeysFile $F/may" "Subsystem sftp $T/odd"
}

@test "servers with other handles, short reads or another order give the complete file" {
	local how n
	printf '0123456789%.0s' {1..100} >want
	for how in plain handles short; do
		start_odd_sftp $how
		for n in 1 2 3; do
			rm -f got
			run_far_scp -v odd:any got 2>err
			[ $n = 1 ] || is_sent_early
			cmp want got
		done
		sshd_down odd
	done
	start_odd_sftp backwards
	timeout 20 run_far_scp -q odd:any got || [ $? = 255 ] || [ $? = 1 ]
	sshd_down odd
}

@test "a server that ends, or replies to no request, is an error" {
	local how
	for how in ends nobody; do
		start_odd_sftp $how
		for _ in 1 2; do
			rm -f got
			run -255 run_far_scp odd:any got
			[ ! -s got ]
		done
		sshd_down odd
	done
	[[ $output = *"a reply to no request"* ]]
}

@test "a forced command is not treated as an SFTP server, as with stock" {
	echo 'no such thing' >some
	sshd_up stock:forced "AuthorizedKeysFile $F/may" "ForceCommand /bin/echo hello"
	for _ in 1 2; do
		run -255 run_far_scp some forced:"$T/other"
		[ ! -e other ]
	done
	[[ $output = *"message too long"* ]]
	sshd_down forced
}

### Requests to a program that has not spoken SFTP before

# set_account_program PROGRAM: makes the account run it, and keeps its input in the file "seen-input"
set_account_program() {
	sshd_up stock:forced "AuthorizedKeysFile $F/may" \
	    "ForceCommand cd $T/account && timeout 0.7 tee $T/seen-input | $1"
}

# check_sent_init WHO ARG...: checks that scp sends the program only INIT
check_sent_init() {
	rm -f seen-input
	CLIENT=$1 IN_CLIENT="timeout 10 ip netns exec lfp-$P-a" \
	    copy -q -o HostName=10.77.0.2 "${KNOWN[@]}" "${@:2}" \
	    >out 2>&1 </dev/null && return 1
	[ "$(od -An -tx1 seen-input | tr -d ' \n')" = 000000050100000003 ]
}

@test "a program that is no SFTP server is sent INIT only, as by stock, and does nothing" {
	local program name
	need tcsh
	mkdir account
	cat >cmd <<-'END'
	#!/usr/bin/python3
	# as cmd.exe: commands end with &, | or a line, > names a file, %X% is a value
	import re, subprocess, sys
	text = sys.stdin.buffer.read().replace(b"\0", b"")
	for line in re.split(rb"[\r\n]", re.sub(rb"%\w*%", b"", text)):
	    for part in re.split(rb"[&|]+", line):
	        words = part.split(b">")
	        for name in words[1:]:
	            open(name.strip() or b"none", "wb").close()
	        if words[0].split():
	            subprocess.call([b"/bin/sh", b"-c", words[0]])
	END
	chmod +x cmd
	printf 'touch a\n\ntouch b & touch c | touch d\nopen("e", "w")\n' >some
	name=$'x\ntouch a\nopen("b", "w")\n'
	for program in 'bash -s' tcsh python3 "$T/cmd" "cat >$T/cat-input" sh; do
		set_account_program "$program"
		check_sent_init stock some forced:"$name"
		for _ in 1 2; do
			check_sent_init hayate some forced:"$name"
			check_sent_init hayate forced:"$name" got
		done
		[ "$program" = sh ] || sshd_down forced
	done
	[ "$(od -An -tx1 cat-input | tr -d ' \n')" = 000000050100000003 ]
	# characters of a shell, and a name whose length is ">" to it
	for name in 'x;touch a&touch b|touch c;$(touch d)`touch e`' \
	    "$(printf '%062d' 0)"; do
		check_sent_init hayate some forced:"$name"
		check_sent_init hayate forced:"$name" got
	done
	[ -z "$(ls -A account)" ]
	sshd_down forced
}

# count_sent_bytes: prints how many bytes a copy of the file "some" sent to the account's
# cat
count_sent_bytes() {
	rm -f cat-input
	IN_CLIENT="timeout 3 ip netns exec lfp-$P-a" copy -q -o HostName=10.77.0.2 \
	    "${KNOWN[@]}" "$@" some stock:"$T/put" >out 2>&1 </dev/null && return 1
	stat -c %s cat-input
}

@test "contents are sent with the login only if the last login used this key" {
	head -c 1000 /dev/urandom >some
	run_far_scp -v some stock:"$T/put" 2>err
	fails is_sent_early
	grep -q 'first requests went out behind VERSION' err
	cmp some put
	run_far_scp -v some stock:"$T/put" 2>err
	is_sent_early
	# the account of another key runs another program
	sed "s|^|command=\"cat >$T/cat-input\" |" "$F/second.pub" >>"$F/may"
	[ "$(count_sent_bytes -i "$F/second")" = 9 ]
	[ "$(count_sent_bytes -i "$F/second")" = 9 ]
	# a key that is refused is followed by that one
	run_far_scp -q -i "$F/user" stock:"$F/may" seen
	run_far_scp -v some stock:"$T/put" 2>err
	is_sent_early
	sed -i 1d "$F/may"
	[ "$(count_sent_bytes -i "$F/user" -i "$F/second")" = 9 ]
	# the program of an account has changed: once
	cp "$F/user.pub" "$F/may"
	run_far_scp -q some stock:"$T/put"
	run_far_scp -v some stock:"$T/put" 2>err
	is_sent_early
	sed -i "s|^|command=\"cat >$T/cat-input\" |" "$F/may"
	[ "$(count_sent_bytes)" -gt 1000 ]
	[ "$(count_sent_bytes)" = 9 ]
	cp "$F/user.pub" "$F/may"
	run_far_scp -v some stock:"$T/put" 2>err
	fails is_sent_early
	run_far_scp -v some stock:"$T/put" 2>err
	is_sent_early
}

### The end

@test "scp waits for a program around the SFTP server, and exits with its status" {
	local s how
	head -c 1000 /dev/urandom >some
	echo "get $T/some got" >batch
	for s in stock hayate; do
		printf '#!/bin/sh\n%s\nsleep 0.3\ntouch %s/ended\nexit 7\n' \
		    "$(bin sftp-server $s)" "$T" >wrap
		chmod +x wrap
		for how in "Subsystem sftp $T/wrap" "ForceCommand $T/wrap" \
		    "ForceCommand $(bin sftp-server $s); sleep 0.3; touch $T/ended; exit 7"; do
			sshd_up $s:wrapped "AuthorizedKeysFile $F/may" "$how"
			for _ in 1 2; do
				rm -f put got ended
				run -1 run_far_scp some wrapped:"$T/put"
				cmp some put
				rm ended
				run -1 run_far_scp wrapped:"$T/some" got
				cmp some got
				rm ended
				run_far files -q "${KNOWN[@]}" -b batch wrapped
				rm ended
			done
			sshd_down wrapped
		done
	done
}

@test "our sftp-server announces that its end is final if the session runs nothing else" {
	/usr/bin/python3 - "$(bin sftp-server)" <<-'END'
	import socket, struct, subprocess, sys
	def version(words, pipe):
	    a, b = socket.socketpair()
	    out = subprocess.PIPE if pipe else b
	    p = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=out)
	    p.stdin.write(struct.pack(">IBI", 5, 1, 3))
	    p.stdin.flush()
	    got = p.stdout.read(9) if pipe else a.recv(9, socket.MSG_WAITALL)
	    left = struct.unpack(">I", got[:4])[0] - 5
	    got = p.stdout.read(left) if pipe else a.recv(left, socket.MSG_WAITALL)
	    p.stdin.close()
	    p.wait()
	    return b"own@hayate.invalid" in got
	server = sys.argv[1]
	assert version([server], False)
	assert version(["/bin/sh", "-c", "exec " + server], False)
	assert not version([server], True)
	assert not version(["/bin/sh", "-c", server + "; exit 7"], False)
	END
}

@test "ssh ends with scp and sftp, and a shared connection goes on" {
	head -c 1000 /dev/urandom >some
	echo "get $T/some got" >batch
	run_far_scp -v hayate:"$T/some" got 2>err
	grep -q 'scp has ended, so has ssh' err
	run_far files -v "${KNOWN[@]}" -b batch hayate 2>err
	grep -q 'scp has ended, so has ssh' err
	run_far_scp -v stock:"$T/some" got 2>err
	fails grep -q 'scp has ended, so has ssh' err
	run_far client "${KNOWN[@]}" -f -N -M -S "$T/master" stock 3>&-
	for _ in 1 2; do
		rm got
		run_far_scp -q -o ControlPath="$T/master" stock:"$T/some" got
		cmp some got
	done
	run_far client -S "$T/master" -O exit stock
	# a program that is not ours, and ends early, is heard to its end
	[ "$(: | run_far client "${KNOWN[@]}" stock 'sleep 0.2; echo late')" = late ]
}
