#!/usr/bin/env bats
# 100,000 files, in one directory and in 100: what memory scp takes, both ways.
# "./check hundred-thousand" runs it, ./check does not; it takes two minutes.

load ../helper

setup() { cd "$BATS_TEST_TMPDIR"; }

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

# small SOURCE TARGET: it is copied in less than 64 MiB
small() {
	local kib
	kib=$(peak "$(bin scp)" -q -S ./near -r "$@" 3>&-)
	echo "$kib KiB"
	[ "$kib" -lt 65536 ]
}

@test "100,000 files take less than 64 MiB, in one directory and in 100" {
	local dirs
	need python3
	printf '#!/bin/sh\nexec %s\n' "$(bin sftp-server)" >near
	chmod +x near
	for dirs in 1 100; do
		rm -rf a b c
		tree $dirs
		small a "h:$PWD/b"
		diff -rq a b
		rm -rf b
		small "h:$PWD/a" c
		diff -rq a c
	done
}
