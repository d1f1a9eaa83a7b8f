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

# upstream_word NAME: one value of the file UPSTREAM
upstream_word() { sed -n "s/^$1[	 ][	 ]*//p" "$TOP/UPSTREAM"; }

# tried FIELD VALUE: the row of UPSTREAM whose field 2 (release) or 3 (banner) is
# that, or nothing
tried() {
	awk -v f="$1" -v v="$2" '$1 == "tried" && $f == v { print $2, $3, $4, $5; exit }' \
	    "$TOP/UPSTREAM"
}

# newest_tried: the first row
newest_tried() {
	awk '$1 == "tried" { print $2, $3, $4, $5; exit }' "$TOP/UPSTREAM"
}

# source_word NAME: one value of build/upstream/.source, as fetch wrote it
source_word() { sed -n "s/^$1 //p" "$BUILD/upstream/.source" 2>/dev/null || :; }

# fixes_with WORD: the names of the fixes that fetch wrote down as "fix" or "unfixed",
# each behind a space
fixes_with() {
	source_word "$1" | sed 's/^[0-9a-f]*//' | tr -d '\n'
}

# version_line: what the programs of build/upstream say they are: the release, whose
# fixes, who changed it, whether it was not tried, and the fixes of upstream that the
# release does not have
version_line() {
	revision=$(source_word revision)
	revision=${revision% *} banner=$(banner_of "$BUILD/upstream") untested=
	case $revision,$(tried 3 "$banner") in
	untested,*) ;;
	*,)	untested=" untested" ;;
	esac
	echo "$banner $revision Hayate_$VERSION$untested$(fixes_with fix)"
}

# package_revision: for the version of a package, whose fixes the source has: Debian's
# 7+deb13u4, 0git0ef0f5a83, or 0 and the word, as 0unpatched
package_revision() {
	revision=$(source_word revision)
	revision=${revision% *}
	case $revision in
	git-*)	echo "0git${revision#git-}" ;;
	*-*)	echo "${revision#*-}" ;;
	*)	echo "0$revision" ;;
	esac
}

# fix_mark: for the version of a package, +fix and how many, or nothing
fix_mark() { source_word fix | awk 'END { if (NR) print "+fix" NR }'; }

# permits: the switches that another build of build/upstream needs
permits() {
	case $UNTESTED in
	yes)	printf ' %s' --enable-untested-upstream ;;
	no)	printf ' %s' --disable-untested-upstream ;;
	esac
	case $(source_word revision) in
	unpatched*) printf ' %s' --enable-unpatched-upstream ;;
	esac
	[ -z "$(source_word unfixed)" ] || printf ' %s' --enable-unfixed-upstream
}

# sum FILE...: a checksum over all files, in that order
sum() { cat "$@" | cksum | tr ' ' -; }

# rooms: the directories of our modules, lower ones first
rooms() { sed -n 's/^HAYATE_ROOMS = //p' "$TOP/modules.mk"; }

# series: the names of the patches, in order
series() { sed -e 's/#.*//' -e 's/[	 ].*//' -e '/^$/d' "$TOP/patches/series"; }

# banner_of TREE: the version in its version.h, as OpenSSH_10.0p2
banner_of() {
	sed -n -e 's/^#define[	 ]*SSH_VERSION[	 ]*"\(.*\)".*/\1/p' \
	    -e 's/^#define[	 ]*SSH_PORTABLE[	 ]*"\(.*\)".*/\1/p' \
	    "$1/version.h" | tr -d '\n'
}

# newer A B: whether release or revision A is later than B
newer() {
	test "$1" != "$2" &&
	    test "$(printf '%s\n' "$1" "$2" | sort -V | tail -n 1)" = "$1"
}

# aged DATE: " of DATE (N days old)", or nothing where there is no date
aged() {
	then=$(date -u -d "$1" +%s 2>/dev/null) || return 0
	echo " of $1 ($((($(date +%s) - then) / 86400)) days old)"
}

# scratch NAME: make an empty directory build/NAME, which is removed on exit
scratch() {
	tmp=$BUILD/$1
	rm -rf "$tmp"
	mkdir -p "$tmp"
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 130' HUP INT TERM
}

# apply_series TREE LOG: apply the whole series without fuzz
apply_series() {
	: >"$2"
	for p in $(series); do
		test -f "$TOP/patches/$p" ||
		    die "patches/series names $p, which is not in patches/"
		patch -d "$1" -p1 -f --fuzz=0 --no-backup-if-mismatch \
		    <"$TOP/patches/$p" >>"$2" 2>&1 && continue
		die "patches/$p does not apply to $(banner_of "$1"): see ${2#"$PWD"/}, then patches/README on updating"
	done
}
