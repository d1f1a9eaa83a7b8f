#!/usr/bin/env bats
# Two builds of the packages and of the tarball from one commit, in different
# directories.

load ../helper

setup_file() {
	must dpkg-buildpackage dpkg-dev
	git -C "$TOP" diff --quiet HEAD || return 0
	export OTHER=$BATS_FILE_TMPDIR/another-place
	git clone -q "$TOP" "$OTHER"
	cp "$TOP/configure" "$OTHER/"
	cd "$OTHER"
	eval "./configure -q $("$TOP/config.status" --config)" >configure.out
	cp -al "$BUILD/upstream" "$BUILD/fetched" build/
	cp -al "$BUILD/fixes" build/ 2>/dev/null || :
}

setup() {
	git -C "$TOP" diff --quiet HEAD || skip "files differ from the commit"
}

@test "two tarballs made in different directories have the same bytes" {
	[ "$("$OTHER/build-aux/stamp")" = "$("$TOP/build-aux/stamp")" ]
	make -s -C "$TOP" dist
	make -s -C "$OTHER" dist
	cmp "$OTHER/hayate-$("$TOP/build-aux/stamp" version).tar.gz" "$TOP/hayate-$("$TOP/build-aux/stamp" version).tar.gz"
}

@test "two builds in different directories give the same bytes, of both flavours" {
	local deb
	make -s -C "$OTHER" deb FLAVOUR='beside replace'
	[ "$(find "$OTHER/build/deb" -name '*.deb' | wc -l)" = 10 ]
	for deb in "$OTHER"/build/deb/*.deb; do
		cmp "$deb" "$BUILD/deb/${deb##*/}"
	done
	sums() { make -s --no-print-directory -C "$1" checksums | grep -F build/deb/; }
	[ "$(sums "$OTHER")" = "$(sums "$TOP")" ]
}
