#!/usr/bin/env bats
# Needs: hayate
# Fixes of upstream that no release has yet: verified, applied, named, packed, and
# never pretended. A small tree plays upstream, so nothing is compiled.

load helper

# An upstream of one file, as a tree, as a tarball and as a clone with two fixes, and
# a copy of ours that was tried with it.
setup_file() {
	export SRC=$BATS_FILE_TMPDIR/src UP=$BATS_FILE_TMPDIR/up CONFIG_SITE
	mkdir -p "$SRC" "$UP/openssh-10.9p1" "$UP/fixes"
	cd "$UP"
	# written in two parts: this file has no such line of its own
	local os=Open
	seq 20 | sed -e 's/.*/int line_&;/' -e "1i/* \$${os}BSD: piece.c,v 1.6 2026/01/01 \$ */" >piece.c
	git init -q clone
	sed 's/v 1.6/v 1.8/' piece.c >clone/piece.c
	commit_clone() { git -C clone add . && git -C clone -c user.name=A -c user.email=a@b commit -q -m x; }
	commit_clone
	for n in 10 18; do
		sed -i -e "s/int line_$n;/long mended_$n;/" -e "s/v 1.8/v 1.9$n/" clone/piece.c
		commit_clone
		git -C clone format-patch -1 --stdout >"fixes/$(git -C clone rev-parse HEAD).patch"
	done
	export A B
	A=$(git -C clone rev-parse HEAD~1) B=$(git -C clone rev-parse HEAD)
	cp piece.c openssh-10.9p1
	printf '#define SSH_VERSION "OpenSSH_10.9"\n#define SSH_PORTABLE "p1"\n' >openssh-10.9p1/version.h
	touch -d '1 hour ago' openssh-10.9p1/configure.ac
	# This configure writes its cache, as prep expects.
	printf '#!/bin/sh\nfor a do case $a in --cache-file=*) : >"${a#*=}" ;; esac; done\n' \
	    >openssh-10.9p1/configure
	chmod +x openssh-10.9p1/configure
	tar czf openssh-10.9p1.tar.gz openssh-10.9p1

	cd "$SRC"
	# shellcheck disable=SC2046 # names
	(cd "$TOP" && cp -a --parents configure configure.ac Makefile.in modules.mk build-aux \
	    contrib $(list_rooms) "$SRC/")
	mkdir patches man
	touch patches/series
	printf '#!/bin/sh\n' | tee man/splice >man/section
	chmod +x man/*
	printf 'tried	10.9p1 OpenSSH_10.9p1 2026-01-01 %s\nversion	10.0p1\n' \
	    "$(sha256sum <"$UP/openssh-10.9p1.tar.gz" | sed 's/ .*//')" >UPSTREAM
	printf 'dated	%s\n10.10p1	CVE-1-2	a flaw\n10.10p1	commit %.9s	another\n' \
	    "$(date -u +%F)" "$B" >build-aux/advisories
	find . -type f | sed 's,^\./,,' >MANIFEST
	printf 'epoch 1790000000\nmark x\ncommit 0a1b2c3d\nauthor A <a@b>\n' >STAMP
	# What the compiler knows is found out once.
	./configure -q --cache-file="$BATS_FILE_TMPDIR/site" --with-openssh="$UP/openssh-10.9p1" >/dev/null
	sed -i /ac_cv_env_/d "$BATS_FILE_TMPDIR/site"
	CONFIG_SITE=$BATS_FILE_TMPDIR/site
	list_rows
}

setup() {
	cp -a "$SRC" "$BATS_TEST_TMPDIR/src"
	cd "$BATS_TEST_TMPDIR/src"
	rm -rf build
}

hash_patch() { build-aux/fixes text "$1" | sha256sum | sed 's/ .*//'; }

# list_rows: appends rows for both fixes to UPSTREAM
list_rows() {
	printf 'fix	%s %s 10.8p1,10.9p1 %s\n' "$A" "$(hash_patch "$UP/fixes/$A.patch")" CVE-1-2 \
	    "$B" "$(hash_patch "$UP/fixes/$B.patch")" - >>UPSTREAM
}

# run_configure ARG...: configures with the small tree
run_configure() { ./configure -q --with-openssh="$UP/openssh-10.9p1" "$@" >summary; }

# check_stopped PATTERN: checks that no source is left, and that the three ways on are
# named
check_stopped() {
	run -2 make -s build/upstream/.source
	[[ $output = *$1* ]] || { echo "no $1"; false; }
	[[ $output = *"make dist"*"--with-upstream-fixes=DIRECTORY"*"--enable-unfixed-upstream"* ]]
	[ ! -e build/upstream ]
}

# check_changed_patch NAME WHY: checks that a patch that differs from UPSTREAM's is
# refused, which no switch allows
check_changed_patch() {
	run -2 make -s build/upstream/.source
	[[ $output = *"the patch for $1 is not the one that UPSTREAM names: "*"$2"*"--enable-unfixed-upstream does not allow it"* ]] ||
	    { echo "$output"; false; }
	[ ! -e build/upstream ]
}

# list_version_strings: prints what version.h says, as in ssh -V and in the banner
list_version_strings() {
	make -s build/hayate/.prepared >/dev/null
	printf '#include "version.h"\nSSH_RELEASE\n' >v.c
	for flag in -U -D; do
		gcc -E -P ${flag}HAYATE_BANNER -Ibuild/hayate v.c | sed -e '/^const/d' \
		    -e 's/^peer_banner_version(".*", \(.*\))$/\1/' | tr -d '"' | sed 's/ *$//'
	done
}

@test "a fix is verified, applied without the OpenBSD line of the file, and named" {
	for where in "$UP/fixes" "file://$UP/fixes"; do
		rm -rf build
		run_configure --with-upstream-fixes="$where"
		run -0 make -s build/upstream/.source
		[[ $output = *"with fixes that 10.9p1 lacks: CVE-1-2 ${B:0:9}" ]]
		diff build/upstream/piece.c <(sed -e 's/int line_10/long mended_10/' \
		    -e 's/int line_18/long mended_18/' "$UP/piece.c")
		[ "$(sed -n 's/^fix //p' build/upstream/.source)" = "$A CVE-1-2"$'\n'"$B ${B:0:9}" ]
	done
	run -0 list_version_strings
	[[ ${lines[0]} = "OpenSSH_10.9p1 released Hayate_0.2 CVE-1-2 ${B:0:9}" ]]
	[ "${lines[1]}" = "${lines[0]}" ]
	run -0 make -s build/upstream/.source
	[ -z "$output" ]
}

@test "configure names release and fixes, and refuses a source that does not exist" {
	run_configure --with-upstream-fixes="$UP/fixes"
	grep -x "Hayate .* on OpenSSH 10.9p1" summary
	grep -x "  fixes on it:    CVE-1-2 ${B:0:9}" summary
	grep -F "(from $UP/fixes)" summary
	run ! ./configure -q --with-openssh="$UP/openssh-10.9p1" --with-upstream-fixes=http://mirror
	[[ $output = *"is no directory and no address that begins with https://"* ]]
}

# list_uncovered_fixes RELEASE: prints the fixes that neither a row of UPSTREAM nor ours
# brings to it
list_uncovered_fixes() {
	# shellcheck disable=SC2046 # names
	build-aux/lacks names "$1" $(build-aux/fixes names "$1")
}

@test "each known fix is covered for each release: by a row of UPSTREAM, or by our code" {
	local release
	run_configure
	cp "$TOP/UPSTREAM" .
	cp "$TOP/build-aux/advisories" build-aux/
	[ "$(grep -c '^tried' UPSTREAM)" -ge 6 ]
	for release in $(awk '$1 == "tried" { print $2 }' UPSTREAM); do
		run -0 list_uncovered_fixes "$release"
		[ -z "$output" ] || { echo "$release: $output"; false; }
	done
	# It names each whose row is not there.
	grep -v '^fix' "$TOP/UPSTREAM" >UPSTREAM
	grep -v '^closed' "$TOP/build-aux/advisories" >build-aux/advisories
	run -0 list_uncovered_fixes 10.0p1
	diff <(grep -oE 'CVE-[0-9-]+|\<[0-9a-f]{9}\>' <<<"$output" | sort) \
	    <(grep -v 'musl' "$TOP/build-aux/advisories" |
	    sed -nE 's/^10[^	]*	(commit )?([^	]*)	.*/\2/p' | sort)
	[ "$(wc -w <<<"$output")" -gt 30 ]
}

@test "a row "adapt" changes a patch for the releases that it names, and for no other" {
	mkdir tree
	cp -a "$UP/openssh-10.9p1/." tree
	sed -i 's/int line_9;/u_int line_9;/' tree/piece.c
	run_configure --with-openssh="$PWD/tree" --with-upstream-fixes="$UP/fixes"
	check_stopped "without the fixes CVE-1-2: it does not apply to this source"
	printf 'adapt	%.9s 10.8p1 %s\n' "$A" 's/ int line_9;/ u_int line_9;/' >>UPSTREAM
	check_stopped "without the fixes CVE-1-2: it does not apply to this source"
	# The first that applies is taken.
	printf 'adapt	%.9s 10.8p1,10.9p1 %s\n' "$A" 's/mended/spoilt/' \
	    "$A" 's/ int line_9;/ u_int line_9;/' "$A" 's/mended/spoilt/' >>UPSTREAM
	run -0 make -s build/upstream/.source
	[ "$(grep -c 'u_int line_9;\|long mended_10;' build/upstream/piece.c)" = 2 ]
	[ "$(sed -n 's/^fix //p' build/upstream/.source)" = "$A CVE-1-2"$'\n'"$B ${B:0:9}" ]
	# Fetched again, and from a tree that has it
	./configure -q --with-openssh="$PWD/build/upstream" --with-upstream-fixes="$UP/fixes" >/dev/null
	run -0 make -s fetch
	[ "$(grep -c 'long mended' build/upstream/piece.c)" = 2 ]
	run -0 build-aux/fixes row "$A" CVE-1-2 "$PWD/tree"
	[[ $output = "fix	$A "*" 10.9p1 CVE-1-2" ]]
}

@test "a fix that Debian's revision has is neither applied nor named a second time" {
	mkdir tree
	cp -a "$UP/openssh-10.9p1/." tree
	printf '%s\n' "revision Debian-1 2026-01-01" "fixed CVE-1-2 0a1b2c3d4" >tree/.source
	sed -i 's/int line_10;/another mend/' tree/piece.c
	run_configure --with-openssh="$PWD/tree" --with-upstream-fixes="$UP/fixes"
	grep -x "  fixes on it:    ${B:0:9}" summary
	run -0 make -s build/upstream/.source
	[ "$(sed -n 's/^fix //p' build/upstream/.source)" = "$B ${B:0:9}" ]
	grep "another mend" build/upstream/piece.c
}

# make_stable: Debian's stable distribution has 10.0p1, with a fix of its own and one that
# UPSTREAM names for it. Later releases have more, and ours closes one of these.
make_stable() {
	printf '%s\n' 'commits	https://host/commits' 'suites	unstable trixie' 'suite	trixie' 'revision	7+deb13u4' 'fixed	CVE-1-4' \
	    "fix	$A 0 10.0p1 CVE-1-2" >>UPSTREAM
	printf '%s\t%s\t%s\n' 10.10p1 CVE-1-6 "in no release that was tried" \
	    10.9p1 CVE-1-3 "a flaw" 10.9p1 "commit 0a1b2c3d4" another \
	    10.9p1 CVE-1-2 "what UPSTREAM mends" 10.1p1 CVE-1-4 "what Debian mended" \
	    10.1p1 CVE-1-5 "what ours closes" | sed "1i dated	$(date -u +%F)" >build-aux/advisories
	printf '%s\t%s\n' closed CVE-1-5 >>build-aux/advisories
}

@test "configure names the fixes that Debian's stable package lacks, if that package was chosen" {
	make_stable
	run_configure --with-openssh=apt:trixie
	grep -x "Hayate .* on OpenSSH 10.0p1" summary
	grep -x "  fixes on it:    CVE-1-2" summary
	diff <(sed -n '/^OpenSSH .* lacks/,/^Now/p' summary) - <<-END
	OpenSSH 10.0p1 lacks these, which 10.9p1 has, the newest that was tried:
	    10.9p1  CVE-1-3  a flaw
	    10.9p1  commit 0a1b2c3d4  another
	and these, which later releases have:
	    10.10p1  CVE-1-6  in no release that was tried
	(build-aux/advisories of $(date -u +%F))
	Now run make; "make help" says what else there is.
	END
	# A fix that is not fetched is missing as well, and one that a tree has is not.
	run_configure --with-openssh=apt:trixie --without-upstream-fixes
	grep -x "    10.9p1  CVE-1-2  what UPSTREAM mends" summary
	run_configure
	run ! grep CVE-1-3 summary
	grep -A1 "^OpenSSH 10.9p1 lacks these, which later releases have:" summary | grep CVE-1-6
	sed -i '/^10.10p1/d' build-aux/advisories
	sed -i '/^fix/d' UPSTREAM
	run_configure
	run ! grep lacks summary
	grep -x "  fixes on it:    none" summary
}

# list_missing: prints what make says that this source lacks
list_missing() {
	make -s build/upstream/.source >said
	sed -n 's/^hayate: openssh 10[.0-9]*p1 lacks //p' said
}

@test "the fixes that a tree or tarball lacks are named as well, but not those already applied" {
	printf '%s\t%s\t%s\n' 10.12p1 CVE-1-8 "a flaw" 10.11p1 CVE-1-7 another >>build-aux/advisories
	cp UPSTREAM one
	mkdir some
	cp "$UP/fixes/$A.patch" some/
	for from in "$UP/openssh-10.9p1" "$UP/openssh-10.9p1.tar.gz"; do
		cp one UPSTREAM
		run_configure --with-openssh="$from" --with-upstream-fixes="$UP/fixes"
		grep -A1 "^OpenSSH 10.9p1 lacks these, which later releases have:" summary | grep CVE-1-8
		[ "$(list_missing)" = "what later releases have: CVE-1-8 CVE-1-7; make security-status tells what they are" ]
		# A newer one was tried, and one of the fixes cannot be had.
		rm -r build/fixes
		sed -i 's/^tried/tried	10.11p1 OpenSSH_10.11p1 2026-02-02 -\n&/' UPSTREAM
		run ! ./configure -q --with-openssh="$from"
		[[ $output = *"OpenSSH 10.9p1 lacks these, which 10.11p1 has"*CVE-1-7*"and these, "*CVE-1-8*"--enable-unpatched-upstream"* ]]
		run_configure --with-openssh="$from" --with-upstream-fixes="$PWD/some" \
		    --enable-unfixed-upstream --enable-unpatched-upstream
		grep -A1 "^OpenSSH 10.9p1 lacks these, which 10.11p1 has," summary | grep CVE-1-7
		[[ $(list_missing) = "what 10.11p1 has: ${B:0:9} CVE-1-7; and what later releases have: CVE-1-8; "* ]]
	done
	# One that is newer than all
	cp -a "$UP/openssh-10.9p1" newer
	sed -i 's/10.9/10.12/' newer/version.h
	run_configure --with-openssh="$PWD/newer" --enable-untested-upstream
	run ! grep lacks summary
	[ -z "$(list_missing)" ]
	grep untested said
}

@test "configure names no release left over from another source" {
	make_stable
	run_configure --with-upstream-fixes="$UP/fixes"
	make -s build/upstream/.source
	run_configure --with-openssh=apt
	grep -x "Hayate .* on OpenSSH as apt serves it" summary
	run_configure --with-openssh=apt:sid
	grep -x "Hayate .* on OpenSSH as apt serves it" summary
	sed -i 's/^wanted [^ ]*/wanted apt:sid/' build/upstream/.source
	run_configure --with-openssh=apt:sid
	grep -x "Hayate .* on OpenSSH 10.9p1" summary
}

@test "the hash does not follow how git abbreviates, nor message, marks and function" {
	local at=$BATS_TEST_TMPDIR
	run_configure --with-upstream-fixes="$UP/fixes"
	want=$(hash_patch "$UP/fixes/$A.patch")
	git -C "$UP/clone" format-patch -1 --stdout --full-index --signature=other "$A" |
	    sed -e 's/^\(@@ .* @@\).*/\1 another();/' -e 's/^Subject.*/&\n\n--- a\n- b/' >"$at/other"
	run ! cmp "$at/other" "$UP/fixes/$A.patch"
	[ "$(hash_patch "$at/other")" = "$want" ]
	build-aux/fixes text "$at/other" >"$at/twice"
	[ "$(hash_patch "$at/twice")" = "$want" ]
	sed 's/long mended/char mended/' "$at/other" >"$at/spoilt"
	[ "$(hash_patch "$at/spoilt")" != "$want" ]
	# A patch that is truncated, has no hunk, or has none that identifies it is refused.
	head -n 25 "$at/other" >"$at/cut"
	sed '/^@@ .*/,$d' "$at/other" >"$at/none"
	sed 's/^--- a.piece.c/rename from x\n&/' "$at/other" >"$at/renamed"
	for f in cut none renamed; do
		run -1 build-aux/fixes text "$at/$f"
	done
}

# GitHub gives COMMIT.patch as git format-patch without a signature, byte for byte.
@test "a patch as GitHub gives it has the hash of what git show prints" {
	local as="format-patch -1 --stdout"
	run_configure
	git clone -q "$UP/clone" clone
	printf 'int gone;\n' >clone/old.c
	git -C clone add .
	git -C clone -c user.name=A -c user.email=a@b commit -q -m "a file"
	sed -i -e 's/int line_12;/char twelve;/' -e 's/v 1.9[0-9]*/v 1.920/' clone/piece.c
	printf 'no end of line' >clone/new.c
	rm clone/old.c
	git -C clone add .
	printf '%s\n' "first line" "" " piece.c | 2 +-" "@@ a function @@" "---" "-- " 2.1 |
	    git -C clone -c user.name=Ä -c user.email=1+a@b commit -q --cleanup=verbatim -F -
	git -C clone show >shown
	[ "$(grep -c '^[-+]' <(build-aux/fixes text shown))" = 10 ]
	for form in "$as --no-signature" "$as --no-signature --full-index" "$as" "show --abbrev=4 --format="; do
		# shellcheck disable=SC2086 # words
		git -C clone $form >other
		[ "$(hash_patch other)" = "$(hash_patch shown)" ] || { cat other; false; }
	done
	# The form: a mail's head, statistics, and hunks up to the last line
	# shellcheck disable=SC2086
	git -C clone $as --no-signature >github
	head -n 1 github | grep -xE 'From [0-9a-f]{40} Mon Sep 17 00:00:00 2001'
	grep -x ' 3 files changed, .*' github
	tail -n 1 github | grep '^ int line_'
}

@test "a fix that is missing, has another hash or does not apply stops the build" {
	mkdir some
	cp "$UP/fixes/$A.patch" some/
	run_configure --with-upstream-fixes="$PWD/some"
	check_stopped "without the fixes ${B:0:9}: no such COMMIT.patch in $PWD/some"
	sed 's/long mended/char mended/' "$UP/fixes/$B.patch" >"some/$B.patch"
	check_changed_patch "${B:0:9}" "what came has sha256 "
	head -c 300 "$UP/fixes/$B.patch" >"some/$B.patch"
	check_stopped "${B:0:9}: what came is no whole patch"
	# Fuzz would take it.
	sed 's/ int line_16;/ int other_16;/' "$UP/fixes/$B.patch" >"some/$B.patch"
	sed -i "s/^fix	$B [0-9a-f]*/fix	$B $(hash_patch "some/$B.patch")/" UPSTREAM
	check_stopped "${B:0:9}: it does not apply to this source"
	sed -i "s/ -\$/ x\"y/" UPSTREAM
	run -2 make -s build/upstream/.source
	[[ $output = *'letters, digits and "-" alone go into version strings'* ]]
}

@test "with --enable-unfixed-upstream a patch with another hash is an error all the same" {
	mkdir some
	cp "$UP/fixes"/* some/
	sed -i 's/long mended/char mended/' "some/$B.patch"
	run_configure --with-upstream-fixes="$PWD/some" --enable-unfixed-upstream
	check_changed_patch "${B:0:9}" "what came has sha256 "
	# A patch kept for an older UPSTREAM is not used, but fetched again.
	cp "$UP/fixes/$B.patch" some/
	sed 's/long mended/char mended/' "$UP/fixes/$B.patch" >"build/fixes/$B.patch"
	run -0 make -s build/upstream/.source
	[[ $output = *"with fixes that 10.9p1 lacks: CVE-1-2 ${B:0:9}" ]]
}

@test "a directory is asked for a fix first, and upstream's address second" {
	mkdir bin some
	printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho "$3" >>"%s"\ncp "%s/${3##*/}" "$2"\n' \
	    "$PWD/asked" "$UP/fixes" >bin/curl
	chmod +x bin/curl
	PATH=$PWD/bin:$PATH
	cp "$UP/fixes/$A.patch" some/
	echo 'commits	https://host/commits' >>UPSTREAM
	run_configure --with-upstream-fixes="$PWD/some"
	run -0 make -s build/upstream/.source
	[[ $output = *"with fixes that 10.9p1 lacks: CVE-1-2 ${B:0:9}" ]]
	diff asked - <<<"https://host/commits/$B.patch"
	# Neither has it.
	rm -r build/fixes build/upstream
	printf '#!/bin/sh\nexit 6\n' >bin/curl
	check_stopped "${B:0:9}: no such COMMIT.patch in $PWD/some, and could not be fetched from https://host/commits"
}

# run_missing ARG...: prints what the source lacks, in the words of build-aux/missing, on
# a system with a changelog of its own openssh
run_missing() {
	mkdir -p doc/openssh-client
	printf '%s\n' 'openssh (1:1-1) x' '  * CVE-1-2: mended' | gzip >doc/openssh-client/changelog.Debian.gz
	SYSTEM_DOC=$PWD/doc build-aux/missing "$@"
}

@test "the fixes that a source lacks are listed in one block, by the reason" {
	mkdir some
	cp "$UP/fixes/$B.patch" some/
	printf '%s\t%s\t%s\n' 10.9p2 CVE-1-5 "in no build" 10.9p1 CVE-1-3 "not here" >>build-aux/advisories
	sed -i 's/^tried/tried	10.9p2 OpenSSH_10.9p2 2026-02-02 -\n&/; s/10.8p1,10.9p1/10.8p1,10.9p1,10.9p2/' UPSTREAM
	printf '%s\t%s\t%s\n' 10.11p1 CVE-1-4 "nobody has it" >>build-aux/advisories
	run_configure --with-openssh="$UP/openssh-10.9p1.tar.gz" --with-upstream-fixes="$PWD/some" \
	    --enable-unfixed-upstream --enable-unpatched-upstream
	make -s build/upstream/.source
	run -0 run_missing
	[[ ${lines[0]} = "This OpenSSH 10.9p1 lacks 3 known security fixes:" ]]
	[[ ${lines[1]} = "  1 could not be fetched with the source: CVE-1-2" ]]
	[[ ${lines[2]} = "  1 are in later releases, and UPSTREAM has no row of them for 10.9p1: CVE-1-5" ]]
	[[ ${lines[3]} = "  1 are in no release that Hayate was tried with: CVE-1-4" ]]
	[[ ${lines[4]} = "  The changelog of this system's own openssh "*" names 1 of these 3 CVEs." ||
	    ${lines[4]} = *"cannot be determined here"* ]]
	[[ ${lines[5]} = *"make security-status tells"* ]]
	[ "$(run_missing source)" = "$(printf '%s\n' "${lines[@]:0:4}")" ]
	# make ends with it, also where nothing is to be done.
	mkdir -p build/hayate
	touch build/hayate/.prepared
	touch build/hayate/.built
	for goal in all dist; do
		run -0 make -s $goal
		[[ $output = *"This OpenSSH 10.9p1 lacks 3 known security fixes:"*"make security-status tells what each of them is." ]]
	done
	sed -i '/^10/d' build-aux/advisories
	[ -z "$(run_missing)" ]
}

@test "--enable-unfixed-upstream continues, names the missing fixes, and lists the others" {
	mkdir some
	cp "$UP/fixes/$A.patch" some/
	run_configure --with-upstream-fixes="$PWD/some" --enable-unfixed-upstream
	run -0 make -s build/upstream/.source
	[[ $output = *"OpenSSH 10.9p1 without the fixes ${B:0:9}: no such COMMIT.patch"*"lacks: CVE-1-2" ]]
	grep -x "unfixed $B ${B:0:9}" build/upstream/.source
	run -0 list_version_strings
	[ "${lines[0]}" = "OpenSSH_10.9p1 released Hayate_0.2 CVE-1-2" ]
	run_configure --without-upstream-fixes --enable-unfixed-upstream
	rm -r build/fixes
	run -0 make -s build/upstream/.source
	[[ $output = *"without the fixes CVE-1-2 ${B:0:9}: not looked for"* ]]
	run -0 list_version_strings
	[ "${lines[0]}" = "OpenSSH_10.9p1 released Hayate_0.2" ]
}

# set_source RELEASE REVISION FIX...: writes what fetch records about such a source
set_source() {
	local fix
	mkdir -p build/upstream
	awk -v r="$1" '$1 == "tried" && $2 == r { is = $3 }
	    END { print "#define SSH_VERSION \"" (is ? is : "OpenSSH_" r) "\"" }' \
	    "$TOP/UPSTREAM" >build/upstream/version.h
	printf '%s\n' "release $1 -" "revision $2 2026-05-06" >build/upstream/.source
	for fix in "${@:3}"; do echo "fix 0a $fix"; done >>build/upstream/.source
}

# print_table_row: prints its row of the table behind the switches
print_table_row() {
	# shellcheck disable=SC2016 # quotes of Markdown
	printf '| `%s` | `%s`, `%s` |\n' "$(. build-aux/common.sh; print_version_line)" \
	    "$(build-aux/deb-version beside)" "$(build-aux/deb-version replace)"
}

@test "SECURITY.md has the version strings of ssh -V and the packages for each kind of build" {
	local all newest
	run_configure
	cp "$TOP/UPSTREAM" .
	newest=$(awk '$1 == "tried" { print $2; exit }' UPSTREAM)
	sed -i 's/^mark .*/mark /' STAMP
	printf 'ID=debian\nVERSION_ID="12"\n' >release
	export OS_RELEASE=$PWD/release
	# shellcheck disable=SC2046 # names
	all=$(build-aux/fixes names 10.0p1 $(sed -n 's/^fixed	//p' UPSTREAM))
	{
		# shellcheck disable=SC2086 # names
		set_source 10.0p1 Debian-7+deb13u4 $all
		print_table_row
		set_source 10.0p1 Debian-7+deb13u4 CVE-2026-59995 CVE-2026-59997
		print_table_row
		set_source 10.0p1 Debian-7+deb13u4
		print_table_row
		# shellcheck disable=SC2046
		set_source 10.3p1 unpatched $(build-aux/fixes names 10.3p1)
		print_table_row
		set_source "$newest" unknown
		rm build/upstream/.source
		# as if these were its sources
		sed -i '/^tried/s/ [0-9a-f]*$//' UPSTREAM
		set_source "$newest" "$(build-aux/revision build/upstream | sed 's/ .*//')"
		print_table_row
		set_source "$newest" git-0ef0f5a83
		print_table_row
		set_source 10.6p1 unknown
		rm build/upstream/.source
		set_source 10.6p1 "$(build-aux/revision build/upstream | sed 's/ .*//')"
		print_table_row
		set_source 10.6p1 Debian-1
		print_table_row
	} >rows
	diff <(sed -n '/^| source and switches/,/^$/p' "$TOP/SECURITY.md" | sed '1,2d;/^$/d;s/^|[^|]*//') rows
}

@test "each fix is requested from an address once, and none after the network failed" {
	mkdir bin
	printf '#!/bin/sh\nfor last do :; done\necho "$last" >>"%s"\ncat <"%s/${last##*/}" || exit 22\n' \
	    "$PWD/asked" "$UP/fixes" >bin/get
	printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n"%s/bin/get" "$3" >"$2"\n' "$PWD" >bin/curl
	chmod +x bin/*
	PATH=$PWD/bin:$PATH
	run_configure --with-upstream-fixes=https://host/commits
	make -s build/upstream/.source
	diff asked - <<<"https://host/commits/$A.patch"$'\n'"https://host/commits/$B.patch"
	# They are kept.
	rm asked build/upstream/.source
	make -s build/upstream/.source
	[ ! -e asked ]
	rm -r build/fixes build/upstream
	sed -i 's/22$/6/; s/^cat .*/exit 6/' bin/get
	check_stopped "CVE-1-2 ${B:0:9}: could not be fetched from https://host/commits"
	[ "$(grep -c . asked)" = 1 ]
}

@test "a fix that the source has is named and not applied again" {
	mkdir tree
	cp -a "$UP/openssh-10.9p1/." tree
	sed -i 's/int line_10/long mended_10/' tree/piece.c
	run_configure --with-openssh="$PWD/tree" --with-upstream-fixes="$UP/fixes"
	make -s build/upstream/.source
	[ "$(grep -c mended build/upstream/piece.c)" = 2 ]
	[ "$(grep -c '^fix ' build/upstream/.source)" = 2 ]
	# Another build of the same source has the fixes as well, and needs no patch.
	mkdir other
	cd other
	../configure -q --with-openssh=../build/upstream --without-upstream-fixes >/dev/null
	make -s build/upstream/.source
	[ "$(grep -c '^fix ' build/upstream/.source)" = 2 ]
}

@test "the banner stays below 255 characters, and gives the number of names that it omits" {
	run_configure --with-upstream-fixes="$UP/fixes"
	make -s build/upstream/.source
	seq -f 'fix x CVE-2026-%05g' 40 >>build/upstream/.source
	run -0 list_version_strings
	[[ ${lines[0]} = *" CVE-2026-00040" ]]
	[[ ${lines[1]} =~ ^OpenSSH_10.9p1\ released\ Hayate_0.2\ CVE-1-2\ .*\ \+([0-9]+)$ ]]
	[ "$(($(wc -w <<<"${lines[1]}") - 4 + BASH_REMATCH[1]))" = 42 ]
	[ "${#lines[1]}" -gt 160 ]
	[ "${#lines[1]}" -le 190 ]
}

@test "a tarball of make dist contains the verified release and fixes, and builds offline" {
	run_configure --with-openssh="$UP/openssh-10.9p1.tar.gz" --with-upstream-fixes="$UP/fixes"
	run -0 make -s dist
	[[ $output = *"with openssh-10.9p1.tar.gz and the fixes CVE-1-2 ${B:0:9}" ]]
	cp hayate-*.tar.gz first.tar.gz
	make -s dist
	cmp first.tar.gz hayate-0.2-0a1b2c3d.tar.gz
	tar xzf first.tar.gz
	cd hayate-0.2-0a1b2c3d
	./configure -q --without-upstream-fixes | grep "tarball .*/carried/openssh-10.9p1.tar.gz, released"
	run -0 make -s build/upstream/.source
	[[ $output = *"lacks: CVE-1-2 ${B:0:9}" ]]
	grep mended_18 build/upstream/piece.c
	# make dist packs the fixes again, and a changed one stops it.
	make -s dist
	cmp ../first.tar.gz hayate-0.2-0a1b2c3d.tar.gz
	rm -r build
	sed -i 's/mended_18/mended_19/' "carried/fixes/$B.patch"
	./configure -q --without-upstream-fixes >/dev/null
	check_changed_patch "${B:0:9}" "/carried/fixes/$B.patch has sha256 "
}

@test "make dist refuses a source that it cannot pack or that differs from the build" {
	run_configure --with-upstream-fixes="$UP/fixes"
	mkdir -p build/fetched
	touch build/fetched/openssh_1.dsc
	run -2 make -s dist
	[[ $output = *"upstream is the tree $UP/openssh-10.9p1, which recipients cannot verify"*"--with-openssh=apt"* ]]
	cp "$UP/openssh-10.9p1.tar.gz" .
	run_configure --with-openssh="$PWD/openssh-10.9p1.tar.gz" --with-upstream-fixes="$UP/fixes"
	make -s build/upstream/.source
	echo x >>openssh-10.9p1.tar.gz
	run -2 make -s dist
	[[ $output = *"was made from openssh-10.9p1.tar.gz, and $PWD/openssh-10.9p1.tar.gz is not that any more"* ]]
	cp "$UP/openssh-10.9p1.tar.gz" .
	rm -r build/fixes
	mkdir some
	cp "$UP/fixes/$A.patch" some
	run_configure --with-openssh="$PWD/openssh-10.9p1.tar.gz" --with-upstream-fixes="$PWD/some" --enable-unfixed-upstream
	run -0 make -s dist
	[[ $output = *"it lacks the fixes ${B:0:9}: "* ]]
	[ ! -e hayate-0.2-0a1b2c3d ]
	run -0 tar tzf hayate-0.2-0a1b2c3d.tar.gz
	[[ $output = *"carried/fixes/$A.patch"* && $output != *"$B"* ]]
}

@test "security-status counts an applied fix as fixed, and detects a program without it" {
	mkdir some
	cp "$UP/fixes/$A.patch" some/
	run_configure --with-upstream-fixes="$PWD/some" --enable-unfixed-upstream --prefix="$PWD/none"
	make -s build/upstream/.source
	run -1 build-aux/security-status
	[[ $output = *"source:    released of 2026-01-01"*", and CVE-1-2"*"commit ${B:0:9}  another"* ]]
	[[ $output != *"10.10p1  CVE-1-2"* ]]
	run_configure --with-upstream-fixes="$UP/fixes" --prefix="$PWD/none"
	make -s build/upstream/.source
	run -0 build-aux/security-status
	[[ $output = *"source:    no fix of the list is missing"* ]]
	mkdir -p build/hayate
	make_ssh_script() {
		printf '#!/bin/sh\necho "%s, x" >&2\n' "$1" >build/hayate/ssh
		chmod +x build/hayate/ssh
	}
	make_ssh_script "OpenSSH_10.9p1 released Hayate_0.0 CVE-1-2 ${B:0:9}"
	run -0 build-aux/security-status
	[[ $output = *"built:     released CVE-1-2 ${B:0:9}"* ]]
	make_ssh_script "OpenSSH_10.9p1 released Hayate_0.2 CVE-1-2"
	run -1 build-aux/security-status
	[[ $output = *"not from this source: run make"*"commit ${B:0:9}  another"* ]]
}

@test "fixes row writes the row for a commit, for those trees that take it" {
	cp -a "$UP/openssh-10.9p1" has
	sed -i 's/int line_10/long mended_10/' has/piece.c
	sed -i '/^fix/d' UPSTREAM
	run_configure --with-upstream-fixes="$UP/fixes"
	make -s build/upstream/.source
	build-aux/fixes row "$A" CVE-1-2 build/upstream "$PWD/has" >row 2>said
	diff row - <<<"fix	$A $(hash_patch "$UP/fixes/$A.patch") 10.9p1 CVE-1-2"
	grep -x "hayate: $PWD/has has it" said
	cat row >>UPSTREAM
	run -0 make -s build/upstream/.source
	[[ $output = *"lacks: CVE-1-2" ]]
	run -1 build-aux/fixes row "${A:0:9}"
	[[ $output = *"by all its 40 digits"* ]]
	: >has/piece.c
	run -1 build-aux/fixes row "$A" - "$PWD/has"
	[[ $output = *"does not take it as it is: see build/fixes.log"*"no row"* ]]
}
