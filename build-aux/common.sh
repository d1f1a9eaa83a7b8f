# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Sourced by the scripts of this directory, which the Makefile runs in the
# directory that configure ran in.

say() { echo "hayate: $*"; }
die() { echo "hayate: $*" >&2; exit 1; }

test -f build/options || die "no build/options here: run ./configure first"
# shellcheck source=build-aux/options.in
. ./build/options		# sets VERSION, TOP, BUILD, ... and "$@"

# read_upstream NAME: one value of the file UPSTREAM
read_upstream() { sed -n "s/^$1[	 ][	 ]*//p" "$TOP/UPSTREAM"; }

# find_tried FIELD VALUE: the row of UPSTREAM whose field 2 (release) or 3 (banner) is
# that, or nothing
find_tried() {
	awk -v f="$1" -v v="$2" '$1 == "tried" && $f == v { print $2, $3, $4, $5; exit }' \
	    "$TOP/UPSTREAM"
}

# find_newest: the first row
find_newest() {
	awk '$1 == "tried" { print $2, $3, $4, $5; exit }' "$TOP/UPSTREAM"
}

# read_source NAME: one value of build/upstream/.source, as fetch wrote it
read_source() { sed -n "s/^$1 //p" "$BUILD/upstream/.source" 2>/dev/null || :; }

# list_source_fixes WORD: the names of the fixes that fetch wrote down as "fix" or "unfixed",
# each behind a space
list_source_fixes() {
	read_source "$1" | sed 's/^[0-9a-f]*//' | tr -d '\n'
}

# print_version_line: what the programs of build/upstream say they are: the release, whose
# fixes, who changed it, whether it was not tried, and the fixes of upstream that the
# release does not have
print_version_line() {
	revision=$(read_source revision)
	revision=${revision% *} banner=$(read_banner "$BUILD/upstream") untested=
	case $revision,$(find_tried 3 "$banner") in
	untested,*) ;;
	*,)	untested=" untested" ;;
	esac
	echo "$banner $revision Hayate_$VERSION$untested$(list_source_fixes fix)"
}

# print_package_revision: for the version of a package, whose fixes the source has: Debian's
# 7+deb13u4, 0git0ef0f5a83, or 0 and the word, as 0unpatched
print_package_revision() {
	revision=$(read_source revision)
	revision=${revision% *}
	case $revision in
	git-*)	echo "0git${revision#git-}" ;;
	*-*)	echo "${revision#*-}" ;;
	*)	echo "0$revision" ;;
	esac
}

# print_fix_mark: for the version of a package, +fix and how many, or nothing
print_fix_mark() { read_source fix | awk 'END { if (NR) print "+fix" NR }'; }

# print_permits: the switches that another build of build/upstream needs
print_permits() {
	case $UNTESTED in
	yes)	printf ' %s' --enable-untested-upstream ;;
	no)	printf ' %s' --disable-untested-upstream ;;
	esac
	case $(read_source revision) in
	unpatched*) printf ' %s' --enable-unpatched-upstream ;;
	esac
	[ -z "$(read_source unfixed)" ] || printf ' %s' --enable-unfixed-upstream
}

# print_checksum FILE...: a checksum over all files, in that order
print_checksum() { cat "$@" | cksum | tr ' ' -; }

# list_rooms: the directories of our modules, lower ones first
list_rooms() { sed -n 's/^HAYATE_ROOMS = //p' "$TOP/modules.mk"; }

# list_patches: the names of the patches, in order
list_patches() { sed -e 's/#.*//' -e 's/[	 ].*//' -e '/^$/d' "$TOP/patches/series"; }

# read_banner TREE: the version in its version.h, as OpenSSH_10.0p2
read_banner() {
	sed -n -e 's/^#define[	 ]*SSH_VERSION[	 ]*"\(.*\)".*/\1/p' \
	    -e 's/^#define[	 ]*SSH_PORTABLE[	 ]*"\(.*\)".*/\1/p' \
	    "$1/version.h" | tr -d '\n'
}

# is_later A B: whether release or revision A is later than B
is_later() {
	test "$1" != "$2" &&
	    test "$(printf '%s\n' "$1" "$2" | sort -V | tail -n 1)" = "$1"
}

# format_age DATE: " of DATE (N days old)", or nothing where there is no date
format_age() {
	then=$(date -u -d "$1" +%s 2>/dev/null) || return 0
	echo " of $1 ($((($(date +%s) - then) / 86400)) days old)"
}

# make_scratch NAME: make an empty directory build/NAME, which is removed on exit
make_scratch() {
	tmp=$BUILD/$1
	rm -rf "$tmp"
	mkdir -p "$tmp"
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 130' HUP INT TERM
}

# apply_series TREE LOG: apply the whole series without fuzz
apply_series() {
	: >"$2"
	for p in $(list_patches); do
		test -f "$TOP/patches/$p" ||
		    die "patches/series names $p, which is not in patches/"
		patch -d "$1" -p1 -f --fuzz=0 --no-backup-if-mismatch \
		    <"$TOP/patches/$p" >>"$2" 2>&1 && continue
		die "patches/$p does not apply to $(read_banner "$1"): see ${2#"$PWD"/}, then patches/README on updating"
	done
}
