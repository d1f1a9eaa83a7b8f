#!/usr/bin/env bats
# The build: what it refuses, in one line and leaving nothing half done, and
# that it does no more than it must.

load helper

# A second tree, so that nothing here disturbs the one that is tested.
setup_file() {
	export SRC=$BATS_FILE_TMPDIR/src
	mkdir "$SRC"
	(cd "$TOP" && cp -a UPSTREAM configure configure.ac Makefile.in modules.mk \
	    build-aux patches man channels cipher ssh sshd "$SRC/" 2>/dev/null || :)
}

# configured ARG...: a fresh build of that tree
configured() {
	cd "$SRC"
	rm -rf build
	./configure -q "$@" >/dev/null
}

# tree BANNER-SED: a copy of upstream that calls itself something else
tree() {
	rm -rf "$BATS_TEST_TMPDIR/tree"
	cp -a "$BUILD/upstream" "$BATS_TEST_TMPDIR/tree"
	sed -i "$1" "$BATS_TEST_TMPDIR/tree/version.h"
	echo "$BATS_TEST_TMPDIR/tree"
}

# refuses GOAL PATTERN: one line of ours that says so, and no tree
refuses() {
	run ! make -s "$1"
	[ "$(grep -c '^hayate: .*'"$2" <<<"$output")" = 1 ]
	[ ! -e build/upstream ] || [ "$1" != build/upstream/.source ]
	[ ! -e build/hayate ]
	[ -z "$(find build -maxdepth 1 -name '.?*' ! -name .lock)" ]
}

@test "ssh and the banner begin as upstream's and end as ours" {
	version=$(sed -n 's/^AC_INIT(\[Hayate\], \[\(.*\)\], \[\], .*/\1/p' "$TOP/configure.ac")
	ours="$("$(bin ssh stock)" -V 2>&1 | sed 's/,.*//') Hayate_$version"
	run -0 "$(bin ssh)" -V
	[[ $output = "$ours, OpenSSL "* ]]
	sshd_up
	exec 4<>"/dev/tcp/127.0.0.1/$(sshd_port hayate)"
	read -r banner <&4
	exec 4>&-
	sshd_down
	[ "${banner%$'\r'}" = "SSH-2.0-$ours" ]
}

@test "both builds are compiled and linked alike, with upstream's hardening" {
	flags() { grep -E '^(CC|CFLAGS|LDFLAGS|[A-Z0-9]*LIBS|LIB[A-Z0-9]*)=' "$BUILD/$1/Makefile"; }
	diff <(flags hayate) <(flags stock)
	diff "$BUILD/hayate/config.h" "$BUILD/stock/config.h"
	for flag in -ftrapv -ftrivial-auto-var-init=zero -fPIE -D_FORTIFY_SOURCE=2 -Wl,-z,now; do
		flags hayate | grep -q -e "$flag" || { echo "no $flag"; false; }
	done
}

@test "a second make does nothing and says so in one line" {
	for goal in all stock; do
		make -s -C "$TOP" $goal
		run -0 make -s --no-print-directory -C "$TOP" $goal
		[ "${#lines[@]}" = 1 ]
		[[ $output = "hayate: build/"*" is up to date" ]]
	done
}

@test "a tarball with another hash is refused" {
	head -c 100000 /dev/zero | gzip >"$BATS_TEST_TMPDIR/openssh.tar.gz"
	configured --with-openssh="$BATS_TEST_TMPDIR/openssh.tar.gz"
	refuses build/upstream/.source "sha256"
}

@test "an older tree is refused" {
	configured --with-openssh="$(tree 's/OpenSSH_[0-9.]*/OpenSSH_9.9/')"
	refuses build/upstream/.source "UPSTREAM pins"
}

@test "a newer tree is refused until it is asked for, and then named" {
	newer=$(tree 's/OpenSSH_[0-9.]*/OpenSSH_99.1/')
	configured --with-openssh="$newer"
	refuses build/upstream/.source "enable-untested-upstream"
	configured --with-openssh="$newer" --enable-untested-upstream
	run -0 make -s build/upstream/.source
	[[ $output = *"newer than the pin"* ]]
}

@test "a directory without OpenSSH in it is refused" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	configured --with-openssh="$BATS_TEST_TMPDIR/empty"
	refuses build/upstream/.source "not an OpenSSH source tree"
}

@test "a tree that cannot be patched is refused and not built" {
	[ -s "$TOP/patches/series" ] || skip "the series is empty"
	spoilt=$(tree '')
	for f in $(sed -n 's|^+++ b/||p' "$TOP"/patches/*.patch); do
		: >"$spoilt/$f"
	done
	configured --with-openssh="$spoilt"
	refuses build/hayate/.prepared "does not apply"
}

@test "a refresh changes nothing but line numbers" {
	command -v quilt >/dev/null || skip "no quilt (package quilt)"
	configured --with-openssh="$BUILD/upstream"
	make -s refresh
	diff -r -I '^@@ ' "$TOP/patches" patches
}

@test "an empty series is a series" {
	cp -a "$SRC" "$BATS_TEST_TMPDIR/src"
	cd "$BATS_TEST_TMPDIR/src"
	: >patches/series
	./configure -q --with-openssh="$BUILD/upstream" >/dev/null
	run -0 make -s hooks OLD="$BUILD/upstream" NEW="$BUILD/upstream"
	[ "${#lines[@]}" = 1 ]
}

@test "only the archive entries of this Debian release are rewritten for upstream's" {
	command -v apt-config >/dev/null || skip "no apt here"
	here=$(. /etc/os-release && echo "$VERSION_CODENAME")
	mkdir "$BATS_TEST_TMPDIR/parts"
	cat >"$BATS_TEST_TMPDIR/list" <<-EOF
	deb [arch=amd64 signed-by=/k1] http://one/debian $here main contrib
	deb-src http://one/debian $here-backports main
	# deb http://no/debian $here main
	deb https://third/party nodistro main
	EOF
	cat >"$BATS_TEST_TMPDIR/parts/a.sources" <<-EOF
	Types: deb
	# a remark in between
	URIs: http://two/debian
	 http://three/debian
	Suites: $here $here-updates other
	Components: main
	Signed-By:
	 -----BEGIN
	 .
	 -----END

	Types: deb
	URIs: http://off/debian
	Suites: $here
	Enabled: no
	EOF
	cat >"$BATS_TEST_TMPDIR/conf" <<-EOF
	Dir::Etc::sourcelist "$BATS_TEST_TMPDIR/list";
	Dir::Etc::sourceparts "$BATS_TEST_TMPDIR/parts";
	EOF
	configured --with-openssh="$BUILD/upstream"
	APT_CONFIG=$BATS_TEST_TMPDIR/conf build-aux/apt-source entries NEXT >"$BATS_TEST_TMPDIR/got"
	diff - "$BATS_TEST_TMPDIR/got" <<-EOF
	Types: deb-src
	URIs: http://one/debian
	Suites: NEXT
	Components: main
	Signed-By: /k1

	Types: deb-src
	URIs: http://two/debian http://three/debian
	Suites: NEXT NEXT-updates
	Components: main
	Signed-By:
	 -----BEGIN
	 .
	 -----END

	EOF
}
