# shellcheck shell=bash
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Functions for the suites of whole programs under sanitizers: sanitized.bats, tsan.bats.

# sanitizers_up BUILD: starts a server of the build, which the client then uses as well.
# Reports go to files, and standard error of each test has to go to the file "err".
sanitizers_up() {
	export ASAN_OPTIONS=detect_leaks=0:log_path=$BATS_FILE_TMPDIR/found
	export UBSAN_OPTIONS=print_stacktrace=1:log_path=$BATS_FILE_TMPDIR/found
	# Children have no threads, but may start their own.
	export TSAN_OPTIONS=die_after_fork=0:report_signal_unsafe=0:log_path=$BATS_FILE_TMPDIR/found
	export CLIENT=$1
	chmod 1777 "$BATS_FILE_TMPDIR"
	sshd_up "$@"
	head -c 20000001 /dev/urandom >"$BATS_FILE_TMPDIR/data"
}

# check_reports: fails and prints the reports, if a sanitizer reported anything in our
# files
check_reports() {
	local ours found
	ours="/($(list_rooms | tr ' ' '|'))/[a-z-]*[.]c"
	found=$(find "$BATS_FILE_TMPDIR" -type f \( -name 'found.*' -o -name err \
	    -o -name out -o -name log \) -exec grep -hE \
	    "ERROR: AddressSanitizer|WARNING: ThreadSanitizer|$ours:[0-9]+:[0-9]+: runtime error" {} +)
	[ -z "$found" ] || { echo "$found"; return 1; }
}

print_data_path() { echo "$BATS_FILE_TMPDIR/data"; }
