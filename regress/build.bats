#!/usr/bin/env bats
# Needs: hayate stock unit musl
# The build: it refuses bad sources with one line and leaves no partial tree, and
# it repeats no work that is done.

load helper

# A second tree, so that the tests here do not change the tested one.
setup_file() {
	export SRC=$BATS_FILE_TMPDIR/src
	mkdir "$SRC"
	# shellcheck disable=SC2046 # names
	(cd "$TOP" && cp -a --parents UPSTREAM configure configure.ac Makefile.in modules.mk \
	    build-aux patches man $(list_rooms) "$SRC/")
	# The fixes that it names are for fixes.bats.
	sed -i '/^fix	/d' "$SRC/UPSTREAM"
	# What the compiler knows is found out once.
	(cd "$SRC" && ./configure -q --cache-file="$BATS_FILE_TMPDIR/site" \
	    --with-openssh="$BUILD/upstream" >/dev/null)
	sed -i /ac_cv_env_/d "$BATS_FILE_TMPDIR/site"
	export CONFIG_SITE=$BATS_FILE_TMPDIR/site
}

# configure_copy ARG...: configures a fresh build of that tree
configure_copy() {
	cd "$SRC"
	rm -rf build
	./configure -q "$@" >/dev/null
}

# make_tree_copy BANNER-SED: makes a copy of upstream with another version in version.h;
# prints its path
make_tree_copy() {
	rm -rf "$BATS_TEST_TMPDIR/tree"
	cp -a "$BUILD/upstream" "$BATS_TEST_TMPDIR/tree"
	sed -i "$1" "$BATS_TEST_TMPDIR/tree/version.h"
	echo "$BATS_TEST_TMPDIR/tree"
}

# check_refused GOAL PATTERN: checks that make fails with one line of ours, and makes no
# tree
check_refused() {
	run ! make -s "$1"
	[ "$(grep -c '^hayate: .*'"$2" <<<"$output")" = 1 ]
	[ ! -e build/upstream ] || [ "$1" != build/upstream/.source ]
	[ ! -e build/hayate ]
	[ -z "$(find build -maxdepth 1 -name '.?*' ! -name .lock)" ]
}

# print_expected_version [REVISION]: prints what version strings say before the fixes,
# with upstream's part as stock has it
print_expected_version() {
	local version
	version=$(sed -n 's/^AC_INIT(\[Hayate\], \[\(.*\)\], \[\], .*/\1/p' "$TOP/configure.ac")
	echo "$("$(bin ssh stock)" -V 2>&1 | sed 's/,.*//')${1:+ $1} Hayate_$version"
}

# read_source_word WORD: prints what build-aux/fetch recorded about the upstream in use
read_source_word() { sed -n "s/^$1 //p" "$BUILD/upstream/.source"; }

# read_server_banner: prints the line that the server called hayate sends
read_server_banner() {
	local banner
	exec 4<>"/dev/tcp/127.0.0.1/$(sshd_port hayate)"
	read -r banner <&4
	exec 4>&-
	echo "${banner%$'\r'}"
}

@test "ssh, sshd and the banner name the release, the revision, Hayate and the fixes" {
	revision=$(read_source_word revision)
	whole="$(print_expected_version "${revision% *}")$(read_source_word fix | sed 's/^[0-9a-f]*//' | tr -d '\n')"
	for part in ssh sshd sshd-session; do
		run -0 "$(bin $part)" -V
		[[ $output = "$whole, OpenSSL "* ]]
	done
	sshd_up
	banner=$(read_server_banner)
	sshd_down
	# Where there are many fixes it has the number of those that are left out.
	case $banner in
	*" +"*)	[[ "SSH-2.0-$whole" = "${banner% +*} "* && ${#banner} -gt 160 && ${#banner} -lt 200 ]] ;;
	*)	[ "$banner" = "SSH-2.0-$whole" ] ;;
	esac
}

@test "the revision is that of Debian's package and is formatted as in Debian's banner" {
	dsc=$(ls "$BUILD"/fetched/*.dsc "$TOP"/carried/*.dsc 2>/dev/null | head -n 1)
	[ -n "$dsc" ] || skip "upstream did not come as Debian's package"
	version=$(sed -n 's/^Version: //p' "$dsc")
	[ "$(read_source_word what | sed 's/ .*//')" = "$(basename "$dsc" .dsc)" ]
	[[ $(read_source_word revision) = "Debian-${version##*-} "20[0-9][0-9]-[0-9][0-9]-[0-9][0-9] ]]
	# nmap and Debian's own tracker look for it straight behind the release
	"$(bin ssh)" -V 2>&1 | grep -E '^OpenSSH_[0-9.p]+ Debian-[^ ]+ Hayate_'
}

@test "the SBOM names our commit, the release, its fixes and each linked library, as SPDX" {
	local so
	cd "$TOP"
	build-aux/sbom >"$BATS_TEST_TMPDIR/sbom"
	query_sbom() { jq -e "$@" "$BATS_TEST_TMPDIR/sbom" >"$BATS_TEST_TMPDIR/is" || { echo "$*"; return 1; }; }
	# What SPDX 2.3 asks for, and every relation leads to something.
	query_sbom '.spdxVersion == "SPDX-2.3" and .dataLicense == "CC0-1.0" and .SPDXID == "SPDXRef-DOCUMENT"'
	query_sbom '.name and .documentNamespace and (.creationInfo.creators | length == 1)'
	query_sbom '.creationInfo.created | test("^20[0-9-]+T[0-9:]+Z$")'
	query_sbom '[.packages[] | .SPDXID, .name, .versionInfo, .downloadLocation, .licenseDeclared] | all(. != null and . != "")'
	query_sbom '[.packages[].SPDXID] | length == (unique | length) and all(test("^SPDXRef-[A-Za-z0-9.-]+$"))'
	query_sbom '([.packages[].SPDXID] + [.SPDXID]) as $all | [.relationships[] | .spdxElementId, .relatedSpdxElement] | all(. as $x | $all | index($x))'
	query_sbom --arg c "$(build-aux/stamp | sed -n 's/^commit //p')" '.packages[0].comment | contains($c)'
	query_sbom --arg v "$("$(bin ssh)" -V 2>&1 | sed 's/,.*//')" '.packages[0].comment | contains($v)'
	query_sbom --arg r "$(read_source_word release | sed 's/ .*//')" '.packages[1].versionInfo == $r'
	for so in $(readelf -d "$(bin ssh)" "$(bin sshd)" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | sort -u); do
		query_sbom --arg so "$so" '.packages[] | select(.comment == $so) | .versionInfo != "unknown"'
	done
	build-aux/sbom | cmp - "$BATS_TEST_TMPDIR/sbom"
}

@test "DebianBanner no removes the revision from the banner" {
	# Ours takes the keyword everywhere; only Debian's has the shorter banner.
	grep -q debian_banner "$BUILD/upstream/servconf.c" ||
	    skip "this upstream has no DebianBanner"
	sshd_up hayate "DebianBanner no"
	[ "$(read_server_banner)" = "SSH-2.0-$(print_expected_version)" ]
	sshd_down
}

@test "with VersionDetails no client and server name the release of OpenSSH alone" {
	local release
	release=$(print_expected_version)
	release=${release%% *}
	for no in "" "DebianBanner no"; do
		sshd_up hayate "VersionDetails no" "VersionAddendum ours" ${no:+"$no"}
		[ "$(read_server_banner)" = "SSH-2.0-$release ours" ]
		client -v -o VersionDetails=no hayate true 2>"$BATS_TEST_TMPDIR/said"
		grep -x "debug1: Local version string SSH-2.0-$release" \
		    <(tr -d '\r' <"$BATS_TEST_TMPDIR/said")
		# The client recognises the server by its extension.
		grep "the peer is Hayate" "$BATS_TEST_TMPDIR/said"
		sshd_down
	done
}

# find_zeroing_option: prints the compiler's option that zeroes the stack, if it has one
# (gcc from 12 on)
find_zeroing_option() {
	local cc
	cc=$(sed -n 's/^CC=//p' "$BUILD/hayate/Makefile")
	! echo 'int x;' | $cc -ftrivial-auto-var-init=zero -xc -c -o "$BATS_TEST_TMPDIR/x.o" - ||
	    echo -ftrivial-auto-var-init=zero
}

@test "hayate and stock use the same compiler flags, with upstream's hardening" {
	list_flags() { grep -E '^(CC|CFLAGS|LDFLAGS|[A-Z0-9]*LIBS|LIB[A-Z0-9]*)=' "$BUILD/$1/Makefile"; }
	diff <(list_flags hayate) <(list_flags stock)
	diff "$BUILD/hayate/config.h" "$BUILD/stock/config.h"
	# shellcheck disable=SC2046
	for flag in -ftrapv $(find_zeroing_option) -fPIE -D_FORTIFY_SOURCE=2 -Wl,-z,now; do
		list_flags hayate | grep -q -e "$flag" || { echo "no $flag"; false; }
	done
}

# make_shared_tree NAME: makes a tree of four files, whose contents are their names
make_shared_tree() {
	mkdir -p "build/$1/openbsd-compat"
	cd "build/$1"
	echo '#include "within.h"' | tee over.c >one.h
	for f in same.c flags.c openbsd-compat/compat.c within.h; do
		echo "$f" >"$f"
	done
	echo '# include <../one.h>' >openbsd-compat/far.c
	printf '%s\n' 'all: same.o over.o flags.o' \
	    '	(cd openbsd-compat && $(MAKE))' '	ranlib x' '%.o: %.c' \
	    '	cc $(M) -c $*.c -o $@' "flags.o: M += -D$1" >Makefile
	printf '%s\n' 'all: compat.o far.o' '%.o: %.c' '	cc -c $*.c' >openbsd-compat/Makefile
	cd ../..
}

@test "the stock build shares those objects of hayate whose sources and flags are the same" {
	cd "$BATS_TEST_TMPDIR"
	make_shared_tree hayate
	make_shared_tree stock
	printf '%s\n' "BUILD=$PWD/build" "TOP=$PWD" >build/options
	for f in same over flags openbsd-compat/compat openbsd-compat/far; do
		echo ours >"build/hayate/$f.o"
	done
	echo "M = -MMD -MP -I$PWD/common" >>build/hayate/Makefile
	echo changed >>build/hayate/within.h
	# Without a whole build, or with one that was edited since, there is nothing.
	"$TOP/build-aux/share"
	touch -d '1 minute ago' build/hayate/.built
	"$TOP/build-aux/share"
	[ -z "$(find build/stock -name '*.o')" ]
	touch -d '1 minute' build/hayate/.built
	"$TOP/build-aux/share"
	[ "$(cd build/stock && find . -name '*.o' | sort | xargs)" = \
	    "./openbsd-compat/compat.o ./same.o" ]
}

@test "all variables on the stack are initialised to zero, except two arrays of channels.c" {
	run -0 make -n -C "$BUILD/hayate" -W channels.c channels.o
	[[ $output = *"$(find_zeroing_option)"*channels.c* ]]
	[[ $output != *-ftrivial-auto-var-init=[!z]* ]]
	[ "$(cat "$BUILD"/hayate/*.c | grep -c BULK_UNINITIALIZED)" = 2 ]
	# gcc 11 knows neither the option nor the attribute.
	echo 'char buf[CHAN_RBUF] BULK_UNINITIALIZED;' >"$BATS_TEST_TMPDIR/stack.c"
	grep -B 9 -A 3 'ifndef BULK_UNINITIALIZED' "$TOP/channels/bulk-hook.h" |
	    sed -n '/^#/p' >"$BATS_TEST_TMPDIR/stack.h"
	run -0 cc -w -E -P -include "$BATS_TEST_TMPDIR/stack.h" "$BATS_TEST_TMPDIR/stack.c"
	[[ $output = *uninitialized* ]]
	sed -i '1i #undef __has_attribute' "$BATS_TEST_TMPDIR/stack.h"
	run -0 cc -w -E -P -include "$BATS_TEST_TMPDIR/stack.h" "$BATS_TEST_TMPDIR/stack.c"
	[ "$output" = 'char buf[CHAN_RBUF] ;' ]
}

@test "the cores and their drivers compile with musl-gcc, and print the same there" {
	local driver at=$BUILD/unit/musl
	command -v musl-gcc >/dev/null || skip "no musl-gcc (package musl-tools)"
	make -s -j "$(nproc)" -C "$TOP" musl
	readelf -l "$at/hayopt-test" | grep ld-musl
	for driver in authonly authonly-proposal autoscale hayopt packetq ring; do
		diff <(FLAVOUR=plain run_unit $driver-test) <(FLAVOUR=musl run_unit $driver-test)
	done
	FLAVOUR=musl run_unit pool-test orders
	diff <(FLAVOUR=plain run_unit wtune-replay <"$REGRESS/unit/wtune-proxy.trace") \
	    <(FLAVOUR=musl run_unit wtune-replay <"$REGRESS/unit/wtune-proxy.trace")
}

@test "a second make does nothing and prints one line" {
	for goal in all stock; do
		make -s -C "$TOP" $goal
		run -0 make -s --no-print-directory -C "$TOP" $goal
		[[ ${lines[0]} = "hayate: build/"*" is up to date" ]]
		# and what the source lacks, if it lacks anything
		diff <(tail -n +2 <<<"$output") \
		    <([ $goal != all ] || (cd "$BUILD/.." && "$TOP/build-aux/missing"))
	done
}

@test "a tarball with another hash is refused" {
	head -c 100000 /dev/zero | gzip >"$BATS_TEST_TMPDIR/openssh.tar.gz"
	cd "$SRC"
	run ! ./configure -q --with-openssh="$BATS_TEST_TMPDIR/openssh.tar.gz" --enable-unpatched-upstream
	[[ $output = *"has a sha256 that UPSTREAM does not name"* ]]
	configure_copy --with-openssh="$BUILD/upstream"
	sed -i "s|^FROM=.*|FROM='$BATS_TEST_TMPDIR/openssh.tar.gz'|" build/options
	check_refused build/upstream/.source "sha256"
}

@test "an older tree is refused" {
	configure_copy --with-openssh="$(make_tree_copy 's/OpenSSH_[0-9.]*/OpenSSH_9.9/')"
	check_refused build/upstream/.source "UPSTREAM names 10.5p1, 10.4p1"
}

# print_version: prints what ssh -V of the source that was fetched says
print_version() { (. build-aux/common.sh; print_version_line); }

@test "a newer tree is accepted if nothing that we rely on changed, and is named untested" {
	newer=$(make_tree_copy 's/OpenSSH_[0-9.]*/OpenSSH_99.1/')
	rm -rf "$newer/.source" "$newer/debian"
	configure_copy --with-openssh="$newer"
	run -0 make -s build/upstream/.source
	[[ $output = *"OpenSSH_99.1p"[0-9]" (untested) was not tried with Hayate; all of it that ours relies on was read"* ]]
	[[ $(print_version) =~ ^OpenSSH_99.1p[0-9]\ untested\ Hayate_[0-9.]+$ ]]
	configure_copy --with-openssh="$newer" --disable-untested-upstream
	check_refused build/upstream/.source "disable-untested-upstream was given"
	# one text that was not reviewed
	sed -i 's/^channel_check_window(.*/&\n\/* new *\//' "$newer/channels.c"
	configure_copy --with-openssh="$newer"
	check_refused build/upstream/.source "its text of channel_check_window in channels.c was not reviewed: configure with --enable-untested-upstream"
	configure_copy --with-openssh="$newer" --enable-untested-upstream
	run -0 make -s build/upstream/.source
	[[ $output = *"OpenSSH_99.1p"[0-9]" (untested) was not tried with Hayate"$'\n'* ]]
}

@test "a tree from between two releases is named by its commit, or as a snapshot" {
	local git="git -c user.name=A -c user.email=a@b"
	between=$(make_tree_copy 's/OpenSSH_[0-9.]*/OpenSSH_10.5/; s/"p2"/"p1"/')
	rm -rf "$between/.source" "$between/debian"
	configure_copy --with-openssh="$between"
	run -0 make -s build/upstream/.source
	[[ $output = *"OpenSSH_10.5p1 (snapshot) was not tried with Hayate"* ]]
	[[ $(print_version) = "OpenSSH_10.5p1 snapshot Hayate_"* ]]
	$git -C "$between" init -q
	$git -C "$between" add -A
	$git -C "$between" commit -q -m x
	id=$(git -C "$between" rev-parse --short=9 HEAD)
	configure_copy --with-openssh="$between"
	make -s build/upstream/.source
	[[ $(print_version) = "OpenSSH_10.5p1 git-$id Hayate_"* ]]
	grep -x "revision git-$id $(date -u +%F)" build/upstream/.source
	[[ $(build-aux/deb-version beside) = *"+10.5p1-0git$id~"* ]]
	echo >>"$between/kex.c"
	[ "$(build-aux/revision "$between")" = "git-$id+ $(date -u +%F)" ]
	# Our code may rely on the changed text.
	: >"$between/misc.h"
	sed -i 's/^channel_check_window(.*/&\n\/* new *\//' "$between/channels.c"
	configure_copy --with-openssh="$between"
	check_refused build/upstream/.source "its text of channel_check_window in channels.c was not reviewed"
}

@test "a directory without OpenSSH sources is refused" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	cd "$SRC"
	run ! ./configure -q --with-openssh="$BATS_TEST_TMPDIR/empty"
	[[ $output = *"not an OpenSSH source tree"* ]]
	configure_copy --with-openssh="$BATS_TEST_TMPDIR/empty" --enable-unpatched-upstream
	check_refused build/upstream/.source "not an OpenSSH source tree"
}

# find_release_tarball: sets $orig to the release tarball, as it came with Debian's
# package
find_release_tarball() {
	orig=$(ls "$BUILD"/fetched/*.orig.tar.gz "$TOP"/carried/*.orig.tar.gz 2>/dev/null |
	    head -n 1)
	[ -n "$orig" ] || skip "no release tarball here, upstream is a tree"
}

@test "a release without Debian's fixes needs a switch and is called unpatched" {
	find_release_tarball
	cd "$SRC"
	run ! ./configure -q --with-openssh="$orig"
	[[ $output = *"OpenSSH 10.0p1 lacks these, "*CVE-2026-59996*CVE-2025-61984*"--with-openssh=apt"* ]]
	[[ $output = *"none of the fixes made since"*"--enable-unpatched-upstream"* ]]
	# The same tarball as a tree, and past configure.
	mkdir "$BATS_TEST_TMPDIR/plain"
	tar xzf "$orig" -C "$BATS_TEST_TMPDIR/plain" --strip-components=1
	run ! ./configure -q --with-openssh="$BATS_TEST_TMPDIR/plain"
	configure_copy --with-openssh="$BATS_TEST_TMPDIR/plain" --enable-untested-upstream
	check_refused build/upstream/.source "none of the fixes made since 10.0p1"
	configure_copy --with-openssh="$orig" --enable-unpatched-upstream
	run -0 make -s build/upstream/.source
	[[ $output = *"without the security fixes made since 10.0p1"*"openssh 10.0p1 lacks what 10.5p1 has: "*CVE-2025-61984* ]]
	grep -x "revision unpatched 2025-04-09" build/upstream/.source
}

@test "UPSTREAM names the fixes that Debian's patch series has" {
	dsc=$(ls "$BUILD"/fetched/*.dsc "$TOP"/carried/*.dsc 2>/dev/null | head -n 1)
	[ -n "$dsc" ] || skip "upstream did not come as Debian's package"
	read_upstream_row() { sed -n "s/^$1[	 ]*//p" "$TOP/UPSTREAM"; }
	tar xJf "${dsc%.dsc}.debian.tar.xz" -C "$BATS_TEST_TMPDIR" debian/patches/series
	list_patched_cves() { grep -o '^CVE-[0-9]*-[0-9]*' "$BATS_TEST_TMPDIR/debian/patches/series"; }
	# A newer revision may have more.
	[ -z "$(comm -23 <(read_upstream_row fixed | grep -o 'CVE[^ ]*' | sort) <(list_patched_cves | sort -u))" ]
	[[ $dsc != *-"$(read_upstream_row revision).dsc" ]] ||
	    [ "$(list_patched_cves | sort -u | grep -c .)" = "$(read_upstream_row fixed | grep -o CVE | wc -l)" ]
}

@test "a tree with Debian's changelog names its revision only if the patches are applied" {
	dsc=$(ls "$BUILD"/fetched/*.dsc "$TOP"/carried/*.dsc 2>/dev/null | head -n 1)
	[ -n "$dsc" ] || skip "upstream did not come as Debian's package"
	cd "$BATS_TEST_TMPDIR"
	dpkg-source -x "$dsc" with >/dev/null 2>&1
	[ "$("$TOP/build-aux/revision" with)" = "$(read_source_word revision)" ]
	dpkg-source --skip-patches -x "$dsc" without >/dev/null 2>&1
	[ "$("$TOP/build-aux/revision" without)" = "unpatched -" ]
	# A version without a revision is no package of Debian.
	sed -i '1s/(.*)/(1:10.0p1)/' with/debian/changelog
	[ "$("$TOP/build-aux/revision" with)" = "unpatched -" ]
	# Characters that do not fit a banner or a C string are removed.
	sed -i '1s/(.*)/(1:1-2"\\n$(id) x)/' with/debian/changelog
	[[ $("$TOP/build-aux/revision" with) =~ ^Debian-[A-Za-z0-9.+~]+\ [0-9-]+$ ]]
}

@test "a tree that cannot be patched is refused and not built" {
	[ -s "$TOP/patches/series" ] || skip "the series is empty"
	spoilt=$(make_tree_copy '')
	for f in $(sed -n 's|^+++ b/||p' "$TOP"/patches/*.patch); do
		: >"$spoilt/$f"
	done
	configure_copy --with-openssh="$spoilt"
	check_refused build/hayate/.prepared "does not apply"
}

@test "make refresh changes only line numbers" {
	command -v quilt >/dev/null || skip "no quilt (package quilt)"
	configure_copy --with-openssh="$BUILD/upstream"
	make -s refresh
	diff -r -I '^@@ ' "$TOP/patches" patches
}

@test "an empty patch series is accepted" {
	cp -a "$SRC" "$BATS_TEST_TMPDIR/src"
	cd "$BATS_TEST_TMPDIR/src"
	: >patches/series
	./configure -q --with-openssh="$BUILD/upstream" >/dev/null
	run -0 make -s hooks OLD="$BUILD/upstream" NEW="$BUILD/upstream"
	# Nothing is hooked, but the mirrored functions are still compared.
	[[ ${lines[0]} = "hayate: from "* ]]
	run ! grep -vE '^hayate: |, mirrored by ' <<<"$output"
}

@test "only apt entries of this Debian release are rewritten for upstream's suite" {
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
	configure_copy --with-openssh="$BUILD/upstream"
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

# list_switches TREE: prints the words that upstream's configure knows
list_switches() {
	sed -n "/^ac_user_opts='/,/^'/p" "$1/configure" | tr _ - |
	    grep -E '^(with|enable)-' | grep -vE 'option-checking|largefile' | sort
}

@test "build-aux/upstream-switches agrees with upstream's configure" {
	read_source_word revision | grep -q ^Debian- || skip "upstream is not Debian's"
	diff <(grep -v '^#' "$TOP/build-aux/upstream-switches" | sort) <(list_switches "$BUILD/upstream")
	find_release_tarball
	mkdir "$BATS_TEST_TMPDIR/plain"
	tar xzf "$orig" -C "$BATS_TEST_TMPDIR/plain" --strip-components=1
	# configure's messages about tarballs and tcp-wrappers
	[ "$(comm -13 <(list_switches "$BATS_TEST_TMPDIR/plain") <(list_switches "$BUILD/upstream"))" = with-tcp-wrappers ]
}

@test "a misspelt switch is refused, and upstream's and packagers' switches pass" {
	cd "$SRC"
	for word in --with-pma --without-seliunx --enable-untested --disable-srtip; do
		run ! ./configure -q --with-openssh="$BUILD/upstream" $word
		[[ $output = *"unknown: $word."* ]]
	done
	configure_copy --with-openssh="$BUILD/upstream" --disable-lastlog \
	    --with-pid-dir=/run --without-Werror --disable-strip \
	    --disable-silent-rules --disable-dependency-tracking \
	    --disable-maintainer-mode
	grep -F -- "'--disable-lastlog' '--with-pid-dir=/run' '--without-Werror' '--disable-strip'" build/options
	run ! grep -E 'silent|tracking|maintainer' build/options
	configure_copy --with-openssh="$BUILD/upstream" --disable-option-checking --with-pma
}

@test "configure announces tcp-wrappers only if upstream has them" {
	cd "$SRC"
	find_release_tarball
	run -0 ./configure -q --with-openssh="$orig" --enable-unpatched-upstream
	[[ $output = *"without: "*tcp-wrappers* ]]
	[[ $output = *"without: "*", GSSAPI key exchange (Debian's package has it)"* ]]
	run ! grep tcp-wrappers build/options
	run ! ./configure -q --with-openssh="$orig" --enable-unpatched-upstream --with-tcp-wrappers
	[[ $output = *"knows no --with-tcp-wrappers"* ]]
	[ -f /usr/include/tcpd.h ] || skip "no libwrap0-dev"
	run -0 ./configure -q --with-openssh="$BUILD/upstream"
	[[ $output = *"  with: "*tcp-wrappers*"without:"* ]]
	[[ $output != *"GSSAPI key exchange"* ]]
}

@test "configure refuses --without-openssl at once, and says what to do" {
	cd "$SRC"
	run ! ./configure -q --with-openssh="$BUILD/upstream" --without-openssl
	[[ $output = *"needs OpenSSL's libcrypto. Leave the switch out"* ]]
	configure_copy --with-openssh="$BUILD/upstream" --with-openssl
}

@test "without PAM's headers Linux needs --without-pam" {
	[ "$(uname -s)" = Linux ] || skip "not Linux"
	export ac_cv_header_security_pam_appl_h=no
	cd "$SRC"
	run ! ./configure -q --with-openssh="$BUILD/upstream"
	[[ $output = *"libpam0g-dev; give --without-pam"* ]]
	configure_copy --with-openssh="$BUILD/upstream" --without-pam
	grep -e --without-pam build/options
	run ! grep -e --with-pam build/options
	configure_copy --with-openssh="$BUILD/upstream" --without-sshd
}

# list_dev_packages: prints the words of the input that are libraries to build with
list_dev_packages() { tr -sc 'a-z0-9-' '\n' | grep -x '\(lib\|zlib\).*-dev' | grep -vx libc6-dev | sort; }

@test "INSTALL names the libraries that ./check installs, and configure needs no other" {
	. "$TOP/build-aux/setup.sh"
	diff <(list_packages hayate | list_dev_packages) \
	    <(sed -n '/apt-get install build-essential/,/[^\]$/p' "$TOP/INSTALL.md" | list_dev_packages)
	[ "$(list_packages hayate | list_dev_packages | grep -c .)" -gt 8 ]
	# One that it knows besides is in no Debian before 13.
	diff <(list_packages hayate | list_dev_packages | grep -vE 'ssl|zlib|bsd') \
	    <(sed -n 's/^HY_FEATURE(.*\[\(lib[a-z0-9]*-dev\)\].*/\1/p' "$TOP/configure.ac" | grep -v wtmpdb | sort)
}

@test "a client-only configure requires no library of the server" {
	configure_copy --with-openssh="$BUILD/upstream" --without-sshd
	run ! grep -E 'pam|selinux|audit|tcp-wrappers|wtmpdb|without-sshd' build/options
	run -0 make -s --eval='show: ; @echo goal: $(GOAL_build/hayate)' show
	[ "${lines[-1]}" = "goal: client" ]
	configure_copy --with-openssh="$BUILD/upstream"
	run -0 make -s --eval='show: ; @echo goal: $(GOAL_build/hayate)' show
	[ "${lines[-1]}" = "goal:" ]
	run ! ./configure -q --with-openssh="$BUILD/upstream" --without-sshd --with-tcp-wrappers
	run ! ./configure -q --with-openssh="$BUILD/upstream" --with-sshd=maybe
}

# make_fake_apt: puts an apt in front of $PATH whose archive is one directory: the
# versions in $ARCHIVE/versions, and their files in $ARCHIVE/VERSION. Without
# $ARCHIVE/versions there is no network.
make_fake_apt() {
	local here
	here=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
	export ARCHIVE=$BATS_TEST_TMPDIR/archive
	mkdir -p "$ARCHIVE" "$BATS_TEST_TMPDIR/fake"
	cd "$BATS_TEST_TMPDIR/fake"
	echo "deb http://mirror/debian $here main" >list
	echo "deb http://mirror/security $here-security main" >>list
	cat >apt-config <<-END
	#!/bin/sh
	echo "main='$PWD/list' parts='$PWD/none'"
	END
	cat >apt-cache <<-'END'
	#!/bin/sh
	case $* in
	*/apt/unstable/*) f=$ARCHIVE/versions.unstable ;;
	*) f=$ARCHIVE/versions ;;
	esac
	sed 's/^/Version: 1:/' $f 2>/dev/null
	END
	cat >apt-get <<-'END'
	#!/bin/sh
	for last do :; done
	case $* in
	*update) [ -f "$ARCHIVE/versions" ] ;;
	*source*) cp "$ARCHIVE/${last#openssh=1:}"/* . ;;
	esac
	END
	# Nothing here is compiled.
	printf '#!/bin/sh\n' >autoreconf
	chmod +x autoreconf
	chmod +x apt-*
	PATH=$PWD:$PATH
}

# offer_version VERSION: adds that version, made of the package that is here, to the
# archive
offer_version() {
	local dsc work=$BATS_TEST_TMPDIR/offer
	dsc=$(ls "$BUILD"/fetched/*.dsc "$TOP"/carried/*.dsc 2>/dev/null | head -n 1)
	[ -n "$dsc" ] || skip "upstream did not come as Debian's package"
	mkdir -p "$ARCHIVE/$1"
	cp "${dsc%/*}"/* "$ARCHIVE/$1"
	echo "$1" >>"$ARCHIVE/versions"
	[ "openssh_$1" != "$(basename "$dsc" .dsc)" ] || return 0
	rm -rf "$work"
	dpkg-source -x "$dsc" "$work" >/dev/null 2>&1
	sed -i "1s/(.*)/(1:$1)/" "$work/debian/changelog"
	rm "$ARCHIVE/$1"/*
	cp "${dsc%/*}"/*.orig.* "$BATS_TEST_TMPDIR"
	(cd "$BATS_TEST_TMPDIR" && dpkg-source -b offer >/dev/null 2>&1)
	mv "$BATS_TEST_TMPDIR"/openssh_* "$ARCHIVE/$1"
}

# print_source_version: prints the version that upstream came as
print_source_version() { read_source_word what | sed -e 's/ .*//' -e 's/^openssh_//'; }

# check_missing_line: checks that one line names what 10.0p1 of Debian lacks, but not what
# Debian or ours mended
check_missing_line() {
	local line has
	line=$(grep "openssh $(print_source_version) lacks" <<<"$output")
	[ "$(grep -c . <<<"$line")" = 1 ]
	has=${line%%;*}
	[[ $has = *" what 10.5p1 has: "*CVE-2026-73283*CVE-2026-60002*5a5e47740* ]]
	[[ $line = *"; make security-status"* ]]
	[[ $line != *CVE-2026-106* && $line != *CVE-2026-35414* && $line != *CVE-2026-59995* ]]
	[[ $line = *CVE-2026-59996* ]]
}

# make_unknown_release RELEASE FILE SED: adds a release to unstable that nobody knows:
# upstream as it is here with one file edited
make_unknown_release() {
	local work=$BATS_TEST_TMPDIR/openssh-$1
	rm -rf "$work" "$ARCHIVE/$1-1"
	mkdir -p "$ARCHIVE/$1-1"
	cp -a "$BUILD/upstream" "$work"
	rm "$work/.source"
	sed -i -e "s/OpenSSH_[0-9.]*/OpenSSH_${1%p*}/" -e 's/"p2"/"p1"/' "$work/version.h"
	sed -i "$3" "$work/$2"
	tar czf "$ARCHIVE/$1-1/openssh_$1.orig.tar.gz" -C "$BATS_TEST_TMPDIR" "openssh-$1"
	mkdir -p "$work/debian/source" "$work/debian/patches"
	echo '3.0 (quilt)' >"$work/debian/source/format"
	echo one >"$work/debian/patches/series"
	printf '%s\n' '--- /dev/null' '+++ b/one' '@@ -0,0 +1 @@' '+one' >"$work/debian/patches/one"
	printf '%s\n' 'Source: openssh' 'Maintainer: A <a@b>' '' 'Package: openssh-client' \
	    'Architecture: any' 'Description: x' >"$work/debian/control"
	printf '%s\n' "openssh (1:$1-1) unstable; urgency=low" '' '  * New.' '' \
	    ' -- A <a@b>  Thu, 01 Oct 2026 00:00:00 +0000' >"$work/debian/changelog"
	cp "$ARCHIVE/$1-1"/* "$BATS_TEST_TMPDIR"
	(cd "$BATS_TEST_TMPDIR" && dpkg-source -b "openssh-$1" >/dev/null 2>&1)
	mv "$BATS_TEST_TMPDIR"/openssh_* "$ARCHIVE/$1-1"
	printf '%s\n' "$1-1" "$(print_source_version)" >"$ARCHIVE/versions.unstable"
}

@test "a newer release of apt is built if nothing that we rely on changed" {
	make_fake_apt
	offer_version "$(print_source_version)"
	# A change elsewhere
	make_unknown_release 99.1p1 ssh-keygen.c '$s/$/\n\/* new *\//'
	configure_copy --with-openssh=apt
	run -0 make -s build/upstream/.source
	[[ $output = *"OpenSSH_99.1p1 (Debian-1) was not tried with Hayate; all of it that ours relies on was read"* ]]
	[[ ${lines[-1]} = *"upstream is openssh_99.1p1-1 of 2026-10-01"*", verified" ]]
	grep -x "release 99.1p1 unstable" build/upstream/.source
	[[ $(print_version) =~ ^OpenSSH_99.1p1\ Debian-1\ Hayate_[0-9.]+\ untested$ ]]
	run build-aux/security-status
	[[ $output = *"source:    no fix of the list is missing"* ]]
	configure_copy --with-openssh=apt --disable-untested-upstream
	run -0 make -s build/upstream/.source
	[[ $output = *"openssh 99.1p1-1 of Debian unstable is not built, because --disable-untested-upstream was given; it has fixes that 10.0p1 lacks: "*CVE-2026-73283* ]]
	grep -x "release 10.0p1 trixie" build/upstream/.source
}

@test "a newer release with an unreviewed change is named, with the fixes that are missed" {
	make_fake_apt
	offer_version "$(print_source_version)"
	# A change in a function that a patch changes
	make_unknown_release 99.1p1 channels.c 's/^channel_check_window(.*/&\n\/* new *\//'
	configure_copy --with-openssh=apt
	run -0 make -s build/upstream/.source
	line=$(grep 'openssh 99.1p1-1 of Debian unstable is not built, because it was not tried, and its text of channel_check_window in channels.c was not reviewed; it has fixes that 10.0p1 lacks: ' <<<"$output")
	[[ $line = *CVE-2026-73283* && $line = *CVE-2026-60002* ]]
	[[ $line != *CVE-2026-35414* && $line != *CVE-2026-59995* ]]
	[[ ${lines[-1]} = *"upstream is openssh_$(print_source_version) of 20"*", verified" ]]
	grep -x "release 10.0p1 trixie" build/upstream/.source
	[ "$(print_version)" = "$(print_expected_version "Debian-$(print_source_version | sed 's/.*-//')")" ]
	# A line of context that moved, in a function of which the text is not new
	make_unknown_release 99.1p1 kex.c '/^kex_send_kexinit(/,/^}/{/kex->done = 0;/{N;s/\n/\n\n/}}'
	run ! diff "$BUILD/upstream/kex.c" "$BATS_TEST_TMPDIR/openssh-99.1p1/kex.c"
	configure_copy --with-openssh=apt
	run -0 make -s build/upstream/.source
	[[ $output = *"99.1p1-1 of Debian unstable is not built, because it was not tried, and patches/210-kex-authonly.patch does not apply to it; it has fixes"* ]]
	grep -x "release 10.0p1 trixie" build/upstream/.source
}

@test "a release that apt lists and does not serve is named and stops no build" {
	make_fake_apt
	offer_version "$(print_source_version)"
	printf '%s\n' 99.1p1-1 10.3p1-4 "$(print_source_version)" >"$ARCHIVE/versions.unstable"
	configure_copy --with-openssh=apt
	run -0 make -s build/upstream/.source
	[[ ${lines[0]} = *"openssh 99.1p1-1 of Debian unstable is not built, because it is listed and not served; it has fixes that 10.0p1 lacks: "*CVE-2026-73283* ]]
	[[ ${lines[1]} = *"openssh 10.3p1-4 of Debian unstable is not built, because it is listed and not served; it has fixes that 10.0p1 lacks: "* ]]
	[[ ${lines[1]} != *CVE-2026-6000* ]]
	check_missing_line
	[[ ${lines[-1]} = *"upstream is openssh_$(print_source_version) of 20"*", verified" ]]
	grep -x "release 10.0p1 trixie" build/upstream/.source
	# One distribution alone, and the newest release as a tree
	configure_copy --with-openssh=apt:trixie
	run -0 make -s build/upstream/.source
	[[ $output != *unstable* ]]
	check_missing_line
	run ! ./configure -q --with-openssh=apt:
	[[ $output = *"name a distribution of Debian"* ]]
	newest=$(make_tree_copy 's/OpenSSH_[0-9.]*/OpenSSH_10.5/; s/"p2"/"p1"/')
	rm -rf "$newest/.source" "$newest/debian"
	cp -a "$SRC" "$BATS_TEST_TMPDIR/src"
	SRC=$BATS_TEST_TMPDIR/src
	sum=$(cd "$newest" && ls -- *.[ch] openbsd-compat/*.[ch] | LC_ALL=C sort | xargs cat | sha256sum)
	sed -i "s/^\(tried	10.5p1 .* \)[0-9a-f]*$/\1${sum%% *}/" "$SRC/UPSTREAM"
	configure_copy --with-openssh="$newest"
	make -s build/upstream/.source
	grep -x "revision released 2026-08-11" build/upstream/.source
}

# make_watched_apt: makes an apt that records as which user the methods would run, and
# whether that user reaches the lists and can write where a source package goes
make_watched_apt() {
	make_fake_apt
	cat >apt-get.new <<-'END'
	#!/bin/sh
	as() { setpriv --reuid="$user" --regid=nogroup --clear-groups "$@"; }
	user=$(sed -n 's/^APT::Sandbox::User "\(.*\)";/\1/p' "$3")
	lists=$(sed -n 's/^Dir::State::lists "\(.*\)";/\1/p' "$3")
	case $* in
	*update) as test -x "$lists/partial" && echo "update $user" ;;
	*source*) as touch x && rm x && echo "source $user" ;;
	esac >>"$ARCHIVE/methods"
	END
	sed 1d apt-get >>apt-get.new
	cat apt-get.new >apt-get
	rm apt-get.new
}

@test "apt's methods run as apt's user, from a private directory as well" {
	need_root "apt's user"
	id _apt >/dev/null 2>&1 || skip "apt has no user here"
	make_watched_apt
	offer_version "$(print_source_version)"
	mkdir -m 700 "$BATS_TEST_TMPDIR/private"
	cd "$BATS_TEST_TMPDIR/private"
	"$SRC/configure" -q --with-openssh=apt:trixie >/dev/null
	make -s build/upstream/.source
	diff "$ARCHIVE/methods" - <<<$'update _apt\nsource _apt'
	[ -z "$(find build -user _apt -type f)" ]
	[ "$(find build/fetched -name '*.dsc' | wc -l)" = 1 ]
	run "$SRC/build-aux/security-status"
	[[ $output = *"no newer revision, Debian trixie has"* ]]
	[ "$(tail -n 1 "$ARCHIVE/methods")" = "update _apt" ]
	# Where it can be nowhere, the log says so.
	printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/fake/setpriv"
	chmod +x "$BATS_TEST_TMPDIR/fake/setpriv"
	run "$SRC/build-aux/security-status"
	grep "apt's methods run as root" build/apt-trixie.log
}

@test "make fetch reports a newer revision or that there is none" {
	make_fake_apt
	offer_version "$(print_source_version)"
	configure_copy --with-openssh=apt
	run -0 make -s build/upstream/.source
	[[ $output = *"upstream is openssh_$(print_source_version) of 20"*" days old), verified"* ]]
	run -0 make -s fetch
	[[ $output = *"no newer revision: Debian "*" still has openssh_$(print_source_version) of 20"* ]]
	[[ $output != *verified* ]]
	offer_version "$(print_source_version).1"
	run -0 make -s fetch
	[[ $output = *"openssh_$(print_source_version).1 of 20"*" came, after openssh_$(print_source_version)"* ]]
	grep "^revision Debian-.*\.1 20" build/upstream/.source
	rm "$ARCHIVE/versions"
	run ! make -s fetch
	[[ $output = *"cannot read the source lists"*"make dist"* ]]
	[[ $output != *"--with-openssh=openssh-"* ]]
}

# hide_programs PROGRAM...: sets a PATH that lacks them, and makes no configure
hide_programs() {
	mkdir "$BATS_TEST_TMPDIR/bin"
	ln -s /usr/bin/* "$BATS_TEST_TMPDIR/bin/"
	(cd "$BATS_TEST_TMPDIR/bin" && rm "$@" && ln -sf true autoreconf)
	PATH=$BATS_TEST_TMPDIR/bin
}

@test "the carried package unpacks without dpkg-source as with it" {
	local dsc
	dsc=$(ls "$BUILD"/fetched/*.dsc 2>/dev/null) || skip "upstream did not come as Debian's package"
	cp -a "$SRC" "$BATS_TEST_TMPDIR/src"
	SRC=$BATS_TEST_TMPDIR/src
	cp -a "${dsc%/*}" "$SRC/carried"
	dpkg-source -x "$dsc" "$BATS_TEST_TMPDIR/with" >/dev/null 2>&1
	hide_programs dpkg-source
	configure_copy
	run -0 make -s build/upstream/.source
	diff -r --exclude=.pc --exclude=debian --exclude=.source "$BATS_TEST_TMPDIR/with" build/upstream
	# a file that is not the one that was packed
	echo x >>"$(ls carried/*.debian.tar.xz)"
	rm -r build/upstream
	check_refused build/upstream/.source "does not unpack, or its files are not those that it names"
}

@test "make fetch in a release tarball reports the age and that no archive was asked" {
	make_fake_apt
	offer_version "$(print_source_version)"
	cp -a "$SRC" "$BATS_TEST_TMPDIR/src"
	SRC=$BATS_TEST_TMPDIR/src
	mv "$ARCHIVE/$(print_source_version)" "$SRC/carried"
	configure_copy
	make -s build/upstream/.source
	run -0 make -s fetch
	[[ $output = *"openssh_$(print_source_version) of 20"*" days old), from this tarball"* ]]
	[[ $output = *"no archive was asked for a newer one"*"security-status"* ]]
}

# make_advisories DATE RELEASE: writes a list of that day with one flaw, which that
# release mended
make_advisories() {
	printf 'dated\t%s\n%s\tCVE-1-2\ta flaw\n' "$(date -u -d "${1:-now}" +%F)" \
	    "$2" >"$SRC/build-aux/advisories"
}

@test "the exit status of security-status distinguishes current, newer, unpatched and unknown" {
	make_fake_apt
	offer_version "$(print_source_version)"
	cp -a "$SRC" "$BATS_TEST_TMPDIR/src"
	SRC=$BATS_TEST_TMPDIR/src
	configure_copy --with-openssh="$BUILD/upstream" --prefix="$BATS_TEST_TMPDIR/none"
	run -2 build-aux/security-status
	[[ $output = *"none was fetched yet"* ]]
	make -s build/upstream/.source
	# What Debian's revision has is not missing; what later releases mended is.
	run -1 build-aux/security-status
	[[ $output = *"fixes are missing: OpenSSH 10.0p1 Debian-"*"10.4p1  CVE-2026-60002  "* ]]
	[[ $output != *"  CVE-2026-35414"* && $output != *"  CVE-2026-59995"* ]]
	make_advisories "" 10.0p1
	run -0 build-aux/security-status
	[[ $output = *"no fix of the list is missing"* ]]
	[[ $output = *"source: "*"Debian-$(print_source_version | sed 's/.*-//') of 20"*"no newer revision"*"mirror/security"* ]]
	echo "$(print_source_version).1" >>"$ARCHIVE/versions"
	run -1 build-aux/security-status
	[[ $output = *"Debian-$(print_source_version | sed 's/.*-//').1, which is newer"* ]]
	run ! make -s security-status
	# Without an answer from apt the status is unknown.
	sed -i /security/d "$BATS_TEST_TMPDIR/fake/list"
	run -2 build-aux/security-status
	[[ $output = *"cannot tell: this machine has no entry for "*-security* ]]
	rm "$ARCHIVE/versions"
	run -2 build-aux/security-status
	[[ $output = *"cannot tell: "*"cannot read the source lists"* ]]
	# A program that was built from something older.
	mkdir -p build/hayate
	printf '#!/bin/sh\necho "OpenSSH_10.0p2 Debian-1 Hayate_0.1, x" >&2\n' >build/hayate/ssh
	chmod +x build/hayate/ssh
	run -1 build-aux/security-status
	[[ $output = *"built:     OpenSSH_10.0p2 Debian-1 Hayate_0.1, not from this source: run make"* ]]
	rm -r build/hayate
	# a list with an old date, and one without a date
	print_source_version >"$ARCHIVE/versions"
	echo "deb http://mirror/security $(. /etc/os-release && echo "$VERSION_CODENAME")-security main" >>"$BATS_TEST_TMPDIR/fake/list"
	run -0 build-aux/security-status
	make_advisories "31 days ago" 10.0p1
	run -2 build-aux/security-status
	[[ $output = *"(31 days old): newer fixes are not in it"* ]]
	sed -i 1d "$SRC/build-aux/advisories"
	run -2 build-aux/security-status
	# The newest release as released: the list alone decides, without apt.
	mv "$ARCHIVE/versions" "$ARCHIVE/none"
	make_advisories "" 10.5p1
	sed -i -e 's/^revision .*/revision released 2026-08-11/' -e 's/^release .*/release 10.5p1 -/' build/upstream/.source
	sed -i -e 's/OpenSSH_10[.0-9]*/OpenSSH_10.5/' -e 's/"p2"/"p1"/' build/upstream/version.h
	run -0 build-aux/security-status
	make_advisories "" 10.6p1
	run -3 build-aux/security-status
	[[ $output = *"no build of this Hayate has these fixes, up to OpenSSH 10.5p1"*"10.6p1  CVE-1-2  a flaw"* ]]
	sed -i -e 's/^revision .*/revision Ubuntu-3 2026-08-11/' -e 's/^fixed .*/fixed /' build/upstream/.source
	run -2 build-aux/security-status
	[[ $output = *"cannot tell which of these Ubuntu-3 has"* ]]
	sed -i 's/^revision .*/revision unpatched 2025-04-09/' build/upstream/.source
	run -1 build-aux/security-status
	[[ $output = *"unpatched of 2025-04-09"*"CVEs and more"* ]]
}

# make_stubs: puts a directory of commands in front of $PATH, with a make that compiles
# nothing
make_stubs() {
	mkdir "$BATS_TEST_TMPDIR/stub"
	cat >"$BATS_TEST_TMPDIR/stub/make" <<-EOF
	#!/bin/sh
	case " \$* " in *" all "*|*" stock "*|*" unit "*) exit 0 ;; esac
	exec $(command -v make) "\$@"
	EOF
	printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/stub/apt-get"
	chmod +x "$BATS_TEST_TMPDIR"/stub/*
	PATH=$BATS_TEST_TMPDIR/stub:$PATH
}

@test "try-upstream tests each release, lists failures in a table, and does not change the build" {
	local s
	spoilt=$(make_tree_copy 's/OpenSSH_[0-9.]*/OpenSSH_99.1/')
	: >"$spoilt/kex.c"
	mkdir "$BATS_TEST_TMPDIR/none" "$SRC/regress"
	cp "$TOP/regress/lanes" "$TOP/regress/cpu" "$SRC/regress"
	s='@test'
	printf '%s\n' "$s 'a' {" true "}" "$s 'b' {" skip "}" >"$SRC/regress/good.bats"
	printf '%s\n' "$s 'c' {" true "}" "$s 'd' {" false "}" >"$SRC/regress/bad.bats"
	make_stubs
	configure_copy --with-openssh="$BUILD/upstream"
	# The part of Bats that runs a test cannot begin another run.
	try_upstream() {
		PATH=${PATH//"$BATS_LIBEXEC:"/} env -u BATS_TMPDIR -u BATS_RUN_TMPDIR \
		    build-aux/try-upstream "$@" 3>&-
	}
	export SUITES="good bad"
	run -1 try_upstream "$BATS_TEST_TMPDIR/none" "$BUILD/upstream" "$spoilt"
	# the columns: no source, one that works, and one that cannot be patched
	print_result_row() { awk -v n="$1" '$1 == n { $1 = ""; print }' build/try-upstream.txt; }
	grep -q ' OpenSSH_99.1p[0-9]*$' build/try-upstream.txt
	[ "$(print_result_row source)" = " fails - -" ]
	[ "$(print_result_row series)" = " - applies fails" ]
	[ "$(print_result_row compile)" = " - works -" ]
	[ "$(print_result_row good)" = " - 1/0/1 -" ]
	[ "$(print_result_row bad)" = " - 1/1/0 -" ]
	[[ $(print_result_row read) = " - all "[1-9]*" unread" ]]
	[[ ${lines[-1]} = "try-upstream: "*" of these failed: does not work, see build/try" ]]
	[ ! -e build/hayate ]
	run -1 try_upstream nowhere
	[[ $output = *"nowhere: no such file or directory"* ]]
	rm -r "$SRC/regress"
}

@test "watch-upstream distinguishes newer, nothing newer and unknown" {
	local newest
	configure_copy --with-openssh="$BUILD/upstream"
	make_stubs
	newest=$(awk '$1 == "tried" { print $2; exit }' "$SRC/UPSTREAM")
	watch_upstream() { UPSTREAM_LIST=$1 build-aux/watch-upstream; }
	run -2 watch_upstream none
	run -2 watch_upstream file:///nonexistent
	echo "<a href=\"openssh-$newest.tar.gz\"> openssh-9.9p2.tar.gz" >list
	run -0 watch_upstream "file://$PWD/list"
	[[ $output = *"upstream: $newest"*"nothing newer than $newest" ]]
	echo "openssh-99.10p1.tar.gz openssh-99.9p1.tar.gz openssh-99.99.tar.gz" >>list
	run -1 watch_upstream "file://$PWD/list"
	[[ $output = *"upstream: 99.10p1, newer than $newest, "*"patches/README"* ]]
}

@test "a build in the source directory is not mistaken for one elsewhere" {
	local made
	configure_copy --with-openssh="$BUILD/upstream"
	for made in upstream/.source hayate/.prepared; do
		mkdir -p "build/${made%/*}"
		touch -d '1 hour' "build/$made"
	done
	mkdir "$BATS_TEST_TMPDIR/else"
	cd "$BATS_TEST_TMPDIR/else"
	"$SRC/configure" -q --with-openssh="$BUILD/upstream" >/dev/null
	run -0 make -n build/hayate/.prepared
	[[ $output = *"build-aux/prep hayate"* ]]
	rm -r "$SRC/build"
}

@test "ssh loads no library that stock's does not" {
	grep -q '^#define HAVE_ARC4RANDOM 1' "$BUILD/hayate/config.h" ||
	    skip "the C library has no arc4random, so it is libbsd's"
	list_needed_libraries() { readelf -d "$(bin "$1" "$2")" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort; }
	list_needed_libraries ssh hayate | grep libc
	[ -z "$(comm -23 <(list_needed_libraries ssh hayate) <(list_needed_libraries ssh stock))" ]
}
