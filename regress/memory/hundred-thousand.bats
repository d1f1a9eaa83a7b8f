#!/usr/bin/env bats
# Needs: hayate stock path
# 100,000 files, in one directory and in 100, as a tree and as a list: what memory
# scp takes, both ways, and over a path; and what time a list takes. "./check hundred-thousand" runs it, ./check does not; it takes
# four minutes where files can be in memory, and longer on a disk.

load ../helper

setup() { cd "$BATS_TEST_TMPDIR"; }
teardown() {
	sshd_down
	[ -z "${P-}" ] || "$LFP" down "$P" || :
	remove_directory
}

# remove_directory: removes it, at once if it is in memory
remove_directory() {
	cd /
	umount "$BATS_TEST_TMPDIR/at" 2>/dev/null || :
	rm -rf "$BATS_TEST_TMPDIR/at"
}

# make_directory: makes a new directory, in memory if possible
make_directory() {
	mkdir "$BATS_TEST_TMPDIR/at"
	mount -t tmpfs -o size=4g,nr_inodes=1m none "$BATS_TEST_TMPDIR/at" 2>/dev/null || :
	cd "$BATS_TEST_TMPDIR/at"
}

# make_many_files DIRECTORIES: makes 100,000 files in "a"
make_many_files() {
	python3 - "$1" <<-'END'
	import os, sys
	dirs = int(sys.argv[1])
	for d in range(dirs):
	    path = "a" if dirs == 1 else "a/%d" % d
	    os.makedirs(path)
	    for i in range(100000 // dirs):
	        with open("%s/f%05d" % (path, i), "w") as file:
	            file.write("%d" % i)
	END
}

# check_peak COMMAND...: checks that COMMAND takes less than 32 MiB; with all items kept,
# scp takes 39
check_peak() {
	local kib
	kib=$(measure_peak "$@" 3>&-)
	echo "$kib KiB"
	[ "$kib" -lt 32768 ]
}
check_near_copy() { check_peak "$(bin scp)" -q -S ./near -r "$@"; }

# find_fastest COMMAND...: prints the seconds of the best of three runs that make "b"
find_fastest() {
	local _
	for _ in 1 2 3; do
		rm -rf b
		measure_seconds "$@" >&3
	done 3>times
	sort -n times | head -n 1
}

# check_copy_over_path SOURCE TARGET: copies within a tenth of the time that 100,000 files
# take one after the other, three round trips each
check_copy_over_path() {
	check_peak ip netns exec "lfp-$P-a" timeout 600 "$(bin scp)" -q \
	    -S "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" "$@"
}

@test "100,000 files take less than 32 MiB, in one directory and in 100" {
	local dirs
	need python3
	for dirs in 1 100; do
		make_directory
		printf '#!/bin/sh\nexec %s\n' "$(bin sftp-server)" >near
		chmod +x near
		make_many_files $dirs
		check_near_copy a "h:$PWD/b"
		diff -rq a b
		check_near_copy "h:$PWD/a" c
		diff -rq a c
		remove_directory
	done
}

@test "over a path of 20 ms 100,000 files in 100 directories take no more memory, and no round trip each" {
	need python3
	need_path
	export P=h$$ SERVER_ADDRESS=10.77.0.2
	"$LFP" up "$P" --rtt 20ms --rate 1gbit 3>&-
	make_directory
	IN_SERVER="ip netns exec lfp-$P-b" sshd_up	# it sees what is mounted now
	make_many_files 100
	check_copy_over_path -r a "hayate:$PWD/b"
	diff -rq a b
	check_copy_over_path -r "hayate:$PWD/a" c
	diff -rq a c
}

@test "a list of 100,000 names takes no more memory, and 1.2 times the time of its tree" {
	local tree list ways way
	need python3
	make_directory
	printf '#!/bin/sh\nexec %s\n' "$(bin sftp-server)" >near
	chmod +x near
	make_many_files 100
	(cd a && find . -type f) | shuf --random-source=/bin/bash >list
	ways=("a h:$PWD/b" "h:$PWD/a b" "h:$PWD/a g:$PWD/b")
	for way in "${ways[@]}"; do
		rm -rf b
		# shellcheck disable=SC2086 # words
		check_near_copy --files-from list $way
		diff -rq a b
		# shellcheck disable=SC2086 # words
		tree=$(find_fastest "$(bin scp)" -q -S ./near -r $way)
		# shellcheck disable=SC2086 # words
		list=$(find_fastest "$(bin scp)" -q -S ./near --files-from list $way)
		echo "$way: tree $tree s, list $list s"
		check_true "$list <= 1.2 * $tree"
	done
}

@test "over a path of 20 ms a list takes 1.2 times the time of its tree" {
	local tree list
	need python3
	need_path
	export P=h$$ SERVER_ADDRESS=10.77.0.2
	"$LFP" up "$P" --rtt 20ms --rate 1gbit 3>&-
	make_directory
	IN_SERVER="ip netns exec lfp-$P-b" sshd_up
	make_many_files 100
	(cd a && find . -type f) >list
	tree=$(measure_seconds check_copy_over_path -r "hayate:$PWD/a" b 2>/dev/null | tail -n 1)
	list=$(measure_seconds check_copy_over_path --files-from list "hayate:$PWD/a" c 2>/dev/null | tail -n 1)
	diff -rq a c
	echo "tree $tree s, list $list s"
	check_true "$list <= 1.2 * $tree"
}
