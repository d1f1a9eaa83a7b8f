# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Functions of the scripts in this directory, which source this file. The Makefile
# runs them in the build directory, where configure ran.

say() { echo "hayate: $*"; }
die() { echo "hayate: $*" >&2; exit 1; }

test -f build/options || die "no build/options here: run ./configure first"
# shellcheck source=build-aux/options.in
. ./build/options		# sets VERSION, TOP, BUILD, ... and "$@"

# read_upstream NAME: prints a value of the file UPSTREAM
read_upstream() { sed -n "s/^$1[	 ][	 ]*//p" "$TOP/UPSTREAM"; }

# find_tried FIELD VALUE: prints the row "tried" of UPSTREAM whose field 2 (release) or 3
# (banner) has that value, or nothing
find_tried() {
	awk -v f="$1" -v v="$2" '$1 == "tried" && $f == v { print $2, $3, $4, $5; exit }' \
	    "$TOP/UPSTREAM"
}

# find_newest: prints the first row "tried", which is the newest release
find_newest() {
	awk '$1 == "tried" { print $2, $3, $4, $5; exit }' "$TOP/UPSTREAM"
}

# read_source NAME: prints a value of build/upstream/.source, which fetch writes
read_source() { sed -n "s/^$1 //p" "$BUILD/upstream/.source" 2>/dev/null || :; }

# list_source_fixes WORD: prints the names of the fixes that fetch recorded as "fix" or
# "unfixed", each after a space
list_source_fixes() {
	read_source "$1" | sed 's/^[0-9a-f]*//' | tr -d '\n'
}

# print_version_line: prints the version string of the programs: the release, the revision
# whose fixes it has, Hayate's version, "untested" for a release that the series was not
# tried with, and the names of upstream's fixes beyond the release
print_version_line() {
	revision=$(read_source revision)
	revision=${revision% *} banner=$(read_banner "$BUILD/upstream") untested=
	case $revision,$(find_tried 3 "$banner") in
	untested,*) ;;
	*,)	untested=" untested" ;;
	esac
	echo "$banner $revision Hayate_$VERSION$untested$(list_source_fixes fix)"
}

# print_package_revision: prints the part of a package version that names the revision of
# the source: Debian's 7+deb13u4, 0git0ef0f5a83, or 0 and a word such as 0unpatched
print_package_revision() {
	revision=$(read_source revision)
	revision=${revision% *}
	case $revision in
	git-*)	echo "0git${revision#git-}" ;;
	*-*)	echo "${revision#*-}" ;;
	*)	echo "0$revision" ;;
	esac
}

# print_fix_mark: prints +fixN for the version of a package, where N is the number of
# fixes beyond the release, or nothing
print_fix_mark() { read_source fix | awk 'END { if (NR) print "+fix" NR }'; }

# print_permits: prints the switches that another build from build/upstream needs
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

# print_checksum FILE...: prints one checksum over all files, in that order
print_checksum() { cat "$@" | cksum | tr ' ' -; }

# list_rooms: prints the directories of our modules, lower ones first
list_rooms() { sed -n 's/^HAYATE_ROOMS = //p' "$TOP/modules.mk"; }

# list_patches: prints the names of the patches, in order
list_patches() { sed -e 's/#.*//' -e 's/[	 ].*//' -e '/^$/d' "$TOP/patches/series"; }

# read_banner TREE: prints the version in its version.h, such as OpenSSH_10.0p2
read_banner() {
	sed -n -e 's/^#define[	 ]*SSH_VERSION[	 ]*"\(.*\)".*/\1/p' \
	    -e 's/^#define[	 ]*SSH_PORTABLE[	 ]*"\(.*\)".*/\1/p' \
	    "$1/version.h" | tr -d '\n'
}

# is_later A B: succeeds if release or revision A is later than B
is_later() {
	test "$1" != "$2" &&
	    test "$(printf '%s\n' "$1" "$2" | sort -V | tail -n 1)" = "$1"
}

# format_age DATE: prints " of DATE (N days old)", or nothing if DATE is no date
format_age() {
	then=$(date -u -d "$1" +%s 2>/dev/null) || return 0
	echo " of $1 ($((($(date +%s) - then) / 86400)) days old)"
}

# make_scratch NAME: makes the empty directory $tmp, build/NAME, and removes it on exit
make_scratch() {
	tmp=$BUILD/$1
	rm -rf "$tmp"
	mkdir -p "$tmp"
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 130' HUP INT TERM
}

# apply_series TREE LOG: applies the whole series without fuzz, or ends the script
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
