#!/usr/bin/env bats
# Needs: hayate stock path
# 100,000 files, in one directory and in 100: what memory scp takes, both ways.
# "./check hundred-thousand" runs it, ./check does not; it takes two minutes where
# files can be in memory, and longer on a disk.

load ../helper

setup() { cd "$BATS_TEST_TMPDIR"; }
teardown() { empty; }

# empty: at once, if it is in memory
empty() {
	cd /
	umount "$BATS_TEST_TMPDIR/at" 2>/dev/null || :
	rm -rf "$BATS_TEST_TMPDIR/at"
}

# room: a new directory, in memory if it can be
room() {
	mkdir "$BATS_TEST_TMPDIR/at"
	mount -t tmpfs -o size=4g,nr_inodes=1m none "$BATS_TEST_TMPDIR/at" 2>/dev/null || :
	cd "$BATS_TEST_TMPDIR/at"
}

# peak COMMAND...: KiB, the most that it had in memory
peak() {
	python3 - "$@" <<-'END'
	import resource, subprocess, sys
	subprocess.check_call(sys.argv[1:], stdin=subprocess.DEVNULL)
	print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
	END
}

# tree DIRECTORIES: 100,000 files in "a"
tree() {
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

# small SOURCE TARGET: it is copied in less than 32 MiB; with all items kept, in 39
small() {
	local kib
	kib=$(peak "$(bin scp)" -q -S ./near -r "$@" 3>&-)
	echo "$kib KiB"
	[ "$kib" -lt 32768 ]
}

@test "100,000 files take less than 32 MiB, in one directory and in 100" {
	local dirs
	need python3
	for dirs in 1 100; do
		room
		printf '#!/bin/sh\nexec %s\n' "$(bin sftp-server)" >near
		chmod +x near
		tree $dirs
		small a "h:$PWD/b"
		diff -rq a b
		small "h:$PWD/a" c
		diff -rq a c
		empty
	done
}
