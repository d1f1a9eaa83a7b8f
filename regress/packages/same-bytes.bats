#!/usr/bin/env bats
# Two builds of the packages from one commit, in different directories.

load ../helper

@test "two builds in different directories give the same bytes" {
	local deb
	need dpkg-buildpackage dpkg-dev
	git -C "$TOP" diff --quiet HEAD || skip "files differ from the commit"
	git clone -q "$TOP" "$BATS_TEST_TMPDIR/another-place"
	cd "$BATS_TEST_TMPDIR/another-place"
	[ "$(build-aux/stamp)" = "$("$TOP/build-aux/stamp")" ]
	cp "$TOP/configure" .
	./configure -q >configure.out
	cp -al "$BUILD/upstream" "$BUILD/fetched" build/
	make -s deb
	for deb in build/deb/hayate-[cs]*.deb; do
		cmp "$deb" "$BUILD/deb/${deb##*/}"
	done
	[ "$(make -s --no-print-directory checksums)" = "$(make -s --no-print-directory -C "$TOP" checksums |
	    grep -F build/deb/)" ]
}
