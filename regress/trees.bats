#!/usr/bin/env bats
# Trees of files, copied with many files under way (ssh/xtree-hook.h). What a
# user gets is compared with what stock's client does: texts, exit status, tree.
#
# scp starts a server in place of ssh (-S), so no test needs a network. Odd
# servers are sftp-peer's.

load helper

setup() {
	cd "$BATS_TEST_TMPDIR"
	T=$BATS_TEST_TMPDIR
}

teardown() {
	local m
	for m in "$T"/*/full; do
		! mountpoint -q "$m" || umount -l "$m"
	done
}

# near SERVER...: what scp starts in place of ssh
near() {
	printf '#!/bin/sh\nexec %s\n' "$*" >near
	chmod +x near
}

# state DIR: its files with modes and contents, and times if $TIMES is set
# shellcheck disable=SC1083 # names
state() {
	(cd "$1" && find . -printf "%p %y %m %s ${TIMES:+%T@} %l\\n" | LC_ALL=C sort
	find . -type f -print0 | LC_ALL=C sort -z | xargs -0r md5sum)
}

# alone TEXT CLIENT SERVER: run TEXT in a copy of base; "a" and "b" are in it. The
# limited root may not read what it has no permission for.
alone() {
	near "$(bin sftp-server "$3")"
	rm -rf run
	cp -a base run
	local status=0
	(cd run && PATH=$BUILD/$2:$PATH setpriv --bounding-set \
	    -dac_override,-dac_read_search bash -c "$1" \
	    >"$T/out.$2" 2>"$T/err.$2" </dev/null 3>&-) || status=$?
	echo "status $status" >>"$T/out.$2"
	state run >"$T/state.$2"
}

# same TEXT: our client does what stock's does, with our server and with stock's
same() {
	local server
	for server in hayate stock; do
		alone "$1" stock $server
		alone "$1" hayate $server
		diff out.stock out.hayate
		diff err.stock err.hayate
		[ -n "${TEXTS:-}" ] || diff state.stock state.hayate
	done
}

# prefixes DIR DIR: each file of the second begins the one of the first
prefixes() {
	local f
	for f in "$2"/*; do
		cmp -n "$(stat -c %s "$f")" "$f" "$1/${f##*/}" || return 1
	done
}

# The ways to copy a to b. sftp prints what it enters.
PUT='scp -q -S ../near -r a h:b'
GET='scp -q -S ../near -r h:$PWD/a b'
SFTP_PUT='echo "put -r a b" | sftp -q -S ../near -b - h'
SFTP_GET='echo "get -r $PWD/a b" | sftp -q -S ../near -b - h'
PUT_P=${PUT/-r/-rp}
GET_P=${GET/-r/-rp}

# grow DIR: a tree with most of what a tree may have
grow() {
	local i
	mkdir -p "$1/empty" "$1/deep/er/est" "$1/many" "$1/sp ace" "$1/-dash" \
	    "$1/new"$'\n'line
	for i in $(seq 150); do
		head -c $((i * 37)) /dev/zero | tr '\0' "\\$((i % 8 + 60))" \
		    >"$1/many/$i"
	done
	head -c 3000000 /dev/urandom >"$1/deep/large"
	: >"$1/deep/zero"
	echo x >"$1/deep/er/est/x"
	echo y >"$1/-dash/-r"
	echo z >"$1/new"$'\n'"line/z"$'\n'
	echo u >"$1/sp ace/"$'\xff\xfe'
	chmod 500 "$1/deep/er"
	chmod 4711 "$1/many/7"
	chmod 444 "$1/many/8"
	touch -d '2001-02-03 04:05:06' "$1/many/9" "$1/deep/er"
}

@test "a tree arrives as stock copies it" {
	need_root
	mkdir base
	grow base/a
	same "umask 027; $PUT"
	[ -s run/b/deep/large ]
	same "umask 077; $GET"
	cmp run/a/deep/large run/b/deep/large
	same "$SFTP_PUT; $SFTP_GET"
}

@test "-p keeps times and modes, as stock keeps them" {
	local TIMES=y
	need_root
	mkdir base
	grow base/a
	touch -d '2001-02-03 04:05:06' base base/a base/a/*
	same "$PUT_P; touch -d '2002-02-02' ."
	[ "$(stat -c %Y run/b/many/9)" = "$(stat -c %Y run/a/many/9)" ]
	same "$GET_P; touch -d '2002-02-02' ."
	[ "$(stat -c %Y%a run/b/deep/er)" = "$(stat -c %Y%a run/a/deep/er)" ]
}

@test "a tree over another tree leaves what stock leaves" {
	need_root
	mkdir base
	grow base/a
	mkdir -p base/b/a/many base/b/a/deep/zero base/b/many base/b/deep/zero
	head -c 100000 /dev/urandom | tee base/b/a/many/1 >base/b/many/1
	echo in the way | tee base/b/a/empty >base/b/empty
	same "$PUT"
	[ "$(stat -c %s run/b/a/many/1)" = 37 ]
	same "$GET"
	[ "$(stat -c %s run/b/a/many/1)" = 37 ]
	grep -q 'is not a directory\|File exists\|Is a directory' err.hayate
	same "$SFTP_PUT; $SFTP_GET"
}

@test "files that cannot be read or written are reported in stock's order" {
	need_root
	mkdir base
	grow base/a
	chmod 0 base/a/many/3 base/a/many/33 base/a/many/133 base/a/empty
	mkdir -p base/b/a/deep base/b/deep
	chmod 555 base/b/a/deep base/b/deep
	same "$PUT"
	grep -q 'Permission denied' err.hayate
	same "$GET"
	grep -q 'Permission denied' err.hayate
	same "$SFTP_PUT; $SFTP_GET"
}

@test "links and other files are followed, left out and reported as in stock" {
	need_root
	mkdir base
	grow base/a
	ln -s many base/a/dirlink
	ln -s many/5 base/a/filelink
	ln -s nowhere base/a/dangling
	ln -s loop base/a/loop
	mkfifo base/a/fifo
	ln -s fifo base/a/fifolink
	same "$PUT"
	grep -q dangling err.hayate
	same "$GET"
	grep -q dangling err.hayate
	same "$SFTP_PUT; $SFTP_GET"
}

@test "no directory below the 64th is entered" {
	local i deep=base/a
	need_root
	for i in $(seq 70); do deep+=/d; done
	mkdir -p "$deep"
	echo x >"$deep/x"
	same "$PUT"
	grep -q 'Maximum directory depth exceeded' err.hayate
	same "$GET"
	grep -q 'Maximum directory depth exceeded' err.hayate
}

# full COMMAND: run it with a disk "full" of 5 MiB, and keep as b what is there
full() {
	same "mkdir full; mount -t tmpfs -o size=5m none full
	    $1; s=\$?; cp -a full/a b; umount full; exit \$s"
	prefixes run/a run/b
}

@test "a full disk is reported as by stock, and no file has anything but its bytes" {
	local i TEXTS=y		# stock counts what was not written
	need_root
	mkdir -p base/a
	for i in $(seq 30); do head -c 300000 /dev/urandom >"base/a/$i"; done
	full 'scp -q -S ../near -r a h:full'
	grep -q 'write remote' err.hayate
	full 'scp -q -S ../near -r h:$PWD/a full'
	grep -q 'No space left' err.hayate
}

@test "two links to one file never mix what two files have" {
	local i
	need_root
	mkdir -p base/a base/b/a
	for i in 1 2 3 4; do
		head -c 2000000 /dev/zero | tr '\0' $i >base/a/$i
		: >base/b/target
		ln -s ../target base/b/a/$i
	done
	alone "$GET" hayate stock
	[ "$(tr -d '\n' <run/b/target | fold -w 1 | head -n 1 |
	    tr -dc 1234 | wc -c)" = 1 ]
	[ "$(od -An -c -v -w1 run/b/target | sort -u | wc -l)" = 1 ]
	[ "$(stat -c %s run/b/target)" = 2000000 ]
}
