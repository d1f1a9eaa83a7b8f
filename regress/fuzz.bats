#!/usr/bin/env bats
# Needs: fuzz
# Fuzzers of what we replaced: buffers, the memory of logins, sftp-server's loop, and
# the engine that takes a server's replies. Here each runs for seconds; "make fuzz" runs them for
# as long as one likes.

load helper

setup_file() {
	[ "$(command -v clang)" ] || skip "no clang"
	make -s -C "$BUILD/.." fuzzers >"$BATS_FILE_TMPDIR/made" 2>&1 ||
	    { cat "$BATS_FILE_TMPDIR/made"; false; }
}

fuzz() { HAYATE_BUILD=$BUILD run -0 "$REGRESS/fuzz/run" "${FUZZ_SECONDS:-15}" "$1"; }

@test "two buffers do what arrays do, whatever the operations" {
	fuzz fuzz-sshbuf
}

@test "what is remembered of logins is read, whatever the file and the server's lists have" {
	fuzz fuzz-login
}

@test "sftp-server takes requests of any form" {
	fuzz fuzz-sftp-server
}

@test "a hostile server harms neither a tree that is copied nor what is beside it" {
	fuzz fuzz-sftp-client
}

@test "a hostile server gets no hole and no other byte into a file over several links" {
	fuzz fuzz-sftp-links
}
