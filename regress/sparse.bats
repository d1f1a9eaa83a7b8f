#!/usr/bin/env bats
# Needs: hayate stock
# Holes of files (transfer/data/sparse-hook.h): they need not be sent, and zeros need not
# be written. What arrives has the bytes of the source, whatever becomes of it.

load helper
load copies

# make_holed FILE: makes 9 MiB of data and holes, which begins and ends with a hole
make_holed() {
	truncate -s 9000001 "$1"
	head -c 300000 /dev/urandom | write_at "$1" 2000000
	head -c 5000 /dev/urandom | write_at "$1" 4000000
	head -c 70000 /dev/zero | write_at "$1" 5000000
}

# write_at FILE OFFSET: writes standard input there
write_at() { dd of="$1" bs=1M seek="$2" oflag=seek_bytes conv=notrunc status=none iflag=fullblock; }

# print_kib FILE: prints what it takes on the disk
print_kib() { du -k "$1" | cut -f1; }

# need_holes: skips the test if the file system has no holes
need_holes() {
	make_holed probe
	[ "$(print_kib probe)" -lt 2000 ] || skip "no holes in $PWD"
	rm probe
}

# check_holed FILE: checks that it is the file of make_holed(), byte for byte, with holes
check_holed() {
	cmp a/1 "$1"
	[ "$(print_kib "$1")" -lt 2000 ]
}

LIMITS=limits=261120,261120,1019

@test "a file keeps its holes, alone, in a list and in a tree, both ways" {
	local server
	need_holes
	mkdir -p a
	make_holed a/1
	echo 2 >a/2
	for server in hayate stock; do
		set_server "$(bin sftp-server $server)"
		rm -rf b
		mkdir b
		copy_near a/1 "h:$T/b/alone"
		check_holed b/alone
		copy_near "h:$T/a/1" b/back
		check_holed b/back
		copy_near a/1 a/2 "h:$T/b"
		check_holed b/1
		copy_near -r a "h:$T/b/tree"
		check_holed b/tree/1
		copy_near -r "h:$T/a" b/tree2
		check_holed b/tree2/1
		rm b/1
		printf '%s\n' "put a/1 $T/b/1" "get $T/a/1 b/4" |
		    "$(bin sftp)" -q -S ./near -b - h 3>&-
		check_holed b/1
		check_holed b/4
	done
}

@test "an old target gets the bytes of the source, and keeps none of its own in holes" {
	local way
	need_holes
	mkdir a b
	make_holed a/1
	set_server "$(bin sftp-server)"
	for way in "a/1 h:$T/b/1" "h:$T/a/1 b/1" "-r a h:$T" "-r h:$T/a b"; do
		rm -rf b
		mkdir -p b/a
		head -c 9500000 /dev/zero | tr '\0' x | tee b/1 >b/a/1
		# shellcheck disable=SC2086 # words
		case $way in
		*"h:$T") (cd b && copy_near_tree ../a "h:$T/b") ;;
		*) copy_near $way ;;
		esac
		case $way in
		-r*) cmp a/1 b/a/1 ;;
		*) cmp a/1 b/1 ;;
		esac
	done
}
copy_near_tree() { timeout 60 "$(bin scp)" -q -S ../near -r "$@" 3>&-; }

@test "a file that is copied onto itself keeps its bytes" {
	local way
	need_holes
	mkdir a
	make_holed a/1
	echo 2 >a/2
	cp a/1 whole
	set_server "$(bin sftp-server)"
	for way in "a/1 h:$T/a/1" "a/1 a/2 h:$T/a" "-r a h:$T" "h:$T/a/1 a/1"; do
		# shellcheck disable=SC2086 # words
		copy_near $way
		cmp whole a/1
	done
}

@test "a target that is not a regular file gets every byte" {
	need_holes
	mkdir a
	make_holed a/1
	head -c 9000001 /dev/urandom >b
	use_peer $LIMITS stat=block
	copy_near a/1 "h:$T/b"
	cmp a/1 b
	[ "$(print_kib b)" -gt 8000 ]
}

@test "a server that announces no limits gets every byte" {
	need_holes
	mkdir a
	make_holed a/1
	use_peer
	copy_near a/1 "h:$T/b"
	cmp a/1 b
	[ "$(print_kib b)" -gt 8000 ]
}

@test "an interrupted copy is a prefix of its source" {
	local n way
	need_holes
	mkdir a
	make_holed a/1
	head -c 3000000 /dev/urandom | write_at a/1 5500000
	for n in 1 250000 400000 1500000; do
		use_peer $LIMITS interrupt=$n,99999999 rate=3000000 fast=1000
		for way in "a/1 h:$T/b" "h:$T/a/1 b"; do
			rm -f b
			# shellcheck disable=SC2086 # words
			run ! copy_near $way
			echo "$way, $n: $(stat -c %s b)"
			[ "$(stat -c %s b)" -lt 9000001 ]
			cmp -n "$(stat -c %s b)" a/1 b
		done
	done
}

@test "a hole at the end that the server cannot make is sent" {
	need_holes
	mkdir a
	make_holed a/1
	use_peer $LIMITS nosize=1
	run -0 copy_near a/1 "h:$T/b"
	[ -z "$output" ]
	cmp a/1 b
	run -0 "$(bin sftp)" -q -S ./near -b - h <<<"put a/1 $T/c"
	cmp a/1 c
	truncate -s 3M a/2
	run -0 copy_near -r a "h:$T/d"
	[ -z "$output" ]
	diff -r a d
}

@test "Hayate no writes and sends every byte, as stock does" {
	need_holes
	mkdir a
	make_holed a/1
	sshd_up hayate
	copy -q -o Hayate=no a/1 "hayate:$T/b"
	copy -q -o Hayate=no "hayate:$T/a/1" b2
	cmp a/1 b
	cmp a/1 b2
	[ "$(print_kib b)" -gt 8000 ]
	[ "$(print_kib b2)" -gt 8000 ]
}

@test "holes are kept to proftpd and asyncssh and back" {
	local kind
	need_holes
	need_proftpd
	need_asyncssh
	mkdir a
	make_holed a/1
	for kind in proftpd asyncssh; do
		foreign_up $kind
		# asyncssh sends no exit status.
		copy_foreign -q a/1 "127.0.0.1:$T/b" || [ $kind = asyncssh ]
		cmp a/1 b
		copy_foreign -q "127.0.0.1:$T/a/1" b2 || [ $kind = asyncssh ]
		check_holed b2
		rm b b2
		foreign_down
	done
}

@test "--report has the bytes that were transferred, without those of holes" {
	need_holes
	mkdir a
	make_holed a/1
	set_server "$(bin sftp-server)"
	copy_near --report report a/1 "h:$T/b"
	check_holed b
	run -0 grep -o '"bytes":[0-9]*' report
	[ "$(cut -d: -f2 <<<"${lines[0]}")" -lt 2000000 ]
	[ "$(grep -c '"from"' report)" = 1 ]
}
