# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Compares copies by our client and by stock's: messages, exit status, files. For
# trees.bats, files.bats and cross.bats.
#
# scp starts a server in place of ssh (-S), so no test needs a network. Servers with
# deviations are those of peers/sftp-peer.

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	T=$BATS_TEST_TMPDIR
}

teardown() {
	local m
	for m in "$T"/*/full; do
		! mountpoint -q "$m" || umount -l "$m"
	done
	foreign_down
	sshd_down
}

# set_server SERVER...: makes "near", which scp starts in place of ssh
set_server() {
	printf '#!/bin/sh\nexec %s\n' "$*" >near
	chmod +x near
}

# print_state DIR: prints its files with modes and contents, and times if $TIMES is set
# shellcheck disable=SC1083 # names
print_state() {
	(cd "$1" && find . -printf "%p %y %m %s ${TIMES:+%T@} %l\\n" | LC_ALL=C sort
	find . -type f -print0 | LC_ALL=C sort -z | xargs -0r md5sum)
}

# run_client TEXT CLIENT SERVER: runs TEXT in a copy of base, which contains "a" and "b",
# as a root without the right to ignore permissions
run_client() {
	set_server "$(bin sftp-server "$3")"
	rm -rf run
	cp -a base run
	local status=0
	(cd run && PATH=$BUILD/$2:$PATH setpriv --bounding-set \
	    -dac_override,-dac_read_search bash -c "$1" \
	    >"$T/out.$2" 2>"$T/err.$2" </dev/null 3>&-) || status=$?
	echo "status $status" >>"$T/out.$2"
	print_state run >"$T/state.$2"
}

# check_same TEXT: checks that our client does what stock's does, with either server
check_same() {
	local server
	for server in hayate stock; do
		run_client "$1" stock $server
		run_client "$1" hayate $server
		diff out.stock out.hayate
		diff err.stock err.hayate
		[ -n "${TEXTS:-}" ] || diff state.stock state.hayate
	done
}

# check_prefixes DIR DIR: checks that each file of the second is a prefix of the one in the
# first
check_prefixes() {
	local f
	for f in "$2"/*; do
		cmp -n "$(stat -c %s "$f")" "$f" "$1/${f##*/}" || return 1
	done
}

# run_on_full_disk COMMAND [DIR]: runs it with a disk "full" of 5 MiB, and keeps the files on
# it as b
run_on_full_disk() {
	check_same "mkdir full; mount -t tmpfs -o size=5m none full
	    $1; s=\$?; cp -a full/${2-a} b; umount full; exit \$s"
	check_prefixes run/a run/b
}

# use_peer OPTION...: makes sftp-peer the server of scp
use_peer() { set_server "$REGRESS/peers/sftp-peer" "$@" "log=$T/log"; }

# copy_near ARG...: runs our scp with the server of set_server()
copy_near() { timeout 60 "$(bin scp)" -q -S ./near "$@" 3>&-; }

# make_tree DIR: makes a tree with most kinds of names, sizes and modes
make_tree() {
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

# add_links DIR: adds links and a fifo to that tree
add_links() {
	ln -s many "$1/dirlink"
	ln -s many/5 "$1/filelink"
	ln -s nowhere "$1/dangling"
	ln -s loop "$1/loop"
	mkfifo "$1/fifo"
	ln -s fifo "$1/fifolink"
}

# make_files N: makes N files in "a"
make_files() {
	local i
	mkdir -p a
	for i in $(seq "$1"); do head -c $((i * 10)) /dev/urandom >"a/$i"; done
}

# make_small_tree N: makes a tree "a" of N files
make_small_tree() {
	local i
	mkdir -p a/sub
	for i in $(seq "$1"); do head -c $((i * 10)) /dev/urandom >"a/$i"; done
	echo x >a/sub/x
}

# count_torn NEW OLD DIR: prints how many files of DIR equal neither their new nor their old
# version
count_torn() {
	local d
	{
		for d in "$1" "$2"; do (cd "$d" && md5sum -- *); done
		echo
		(cd "$3" && md5sum -- *)
	} | awk '!NF { last = 1 } !last { good[$0] } last && NF && !($0 in good) { n++ }
	    END { print n + 0 }'
}
