#!/usr/bin/env bats
# Needs: fuzz
# Fuzzers of what we replaced: buffers, the login cache, sftp-server's loop, and
# the engine that takes a server's replies. Here each runs for seconds; "make fuzz" runs them for
# as long as one likes.

load helper

setup_file() {
	[ "$(command -v clang)" ] || skip "no clang"
	make -s -C "$BUILD/.." fuzzers >"$BATS_FILE_TMPDIR/made" 2>&1 ||
	    { cat "$BATS_FILE_TMPDIR/made"; false; }
}

run_fuzzer() { HAYATE_BUILD=$BUILD run -0 "$REGRESS/fuzz/run" "${FUZZ_SECONDS:-6}" "$1"; }

@test "two buffers behave like arrays under any sequence of operations" {
	run_fuzzer fuzz-sshbuf
}

@test "the login cache is parsed safely, whatever the file and the server's lists contain" {
	run_fuzzer fuzz-login
}

@test "sftp-server handles requests of any form" {
	run_fuzzer fuzz-sftp-server
}

@test "a hostile server harms neither a copied tree nor the files beside it" {
	run_fuzzer fuzz-sftp-client
}

@test "a hostile server gets no hole and no wrong byte into a file over several connections" {
	run_fuzzer fuzz-sftp-links
}
