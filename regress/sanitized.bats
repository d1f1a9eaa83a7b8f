#!/usr/bin/env bats
# Needs: hayate sanitized unit
# Whole programs under AddressSanitizer ("make asan"), with UBSan in what is ours
# or patched. They run our hooks in upstream's processes, which the unit drivers
# cannot. "make check-tsan" does the same under ThreadSanitizer.

load helper
load sanitizers

setup_file() { sanitizers_up asan; }
teardown_file() { sshd_down; }

setup() { exec 2>>"$BATS_FILE_TMPDIR/err"; }

teardown() { check_reports; }


@test "the programs under test are built with the sanitizers" {
	ASAN_OPTIONS=help=1 run -0 "$(bin ssh asan)" -V
	[[ $output = *AddressSanitizer* ]]
	# UBSan: one of our files, and two that the series touches
	for o in wtune packet sftp-client; do
		grep -q __ubsan_handle "$BUILD/asan/$o.o"
	done
}

@test "a session carries bulk both ways without a sanitizer report" {
	client asan "cat $(print_data_path)" | cmp - "$(print_data_path)"
	client asan "cat >$BATS_TEST_TMPDIR/got" <"$(print_data_path)"
	cmp "$BATS_TEST_TMPDIR/got" "$(print_data_path)"
}

@test "buffers and Poly1305 agree with their models without a sanitizer report" {
	make -s -C "$BUILD/asan" sshbuf-model poly1305-model shmpipe-model >&2
	run -0 "$BUILD/asan/sshbuf-model" 7 3000
	run -0 "$BUILD/asan/poly1305-model"
	run -0 "$BUILD/asan/shmpipe-model"
}

@test "blocks of a file are hashed without a sanitizer report" {
	local data
	data=$(print_data_path)
	make -s -C "$BUILD/asan" blocksum-print >&2
	run -0 "$BUILD/asan/blocksum-print" "$data" <<<"1 1000000 4096 65000  0 0 0 1"
	[ "$(wc -w <<<"$output")" = 246 ]
	[[ $output = "$(tail -c +2 "$data" | head -c 4096 | sha256sum | cut -d' ' -f1) "* ]]
}

@test "sftp-server under odd requests in pieces causes no sanitizer report" {
	mkdir "$BATS_TEST_TMPDIR/at"
	timeout 120 "$REGRESS/peers/sftp-burst" 1 "$BATS_TEST_TMPDIR/at" \
	    "$(bin sftp-server asan)" -e
}

@test "trees that scp copies cause no sanitizer report" {
	local i tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree/a/b"
	for i in {1..150}; do echo "$i" >"$tree/a/$i"; done
	cp "$(print_data_path)" "$tree/a/b"
	ln -s nowhere "$tree/a/dangling"
	run -1 copy -rp "$tree" "asan:$BATS_TEST_TMPDIR/put"
	rm "$tree/a/dangling" "$tree/a/7"
	copy -rp "asan:$tree" "$BATS_TEST_TMPDIR/got"
	diff -r "$tree" "$BATS_TEST_TMPDIR/got"
	[ "$(diff -r "$tree" "$BATS_TEST_TMPDIR/put")" = \
	    "Only in $BATS_TEST_TMPDIR/put/a: 7" ]
	copy -q -3 -rp "asan:$tree" "asan:$BATS_TEST_TMPDIR/crossed"
	diff -r "$tree" "$BATS_TEST_TMPDIR/crossed"
}

@test "scp transfers by both protocols cause no sanitizer report" {
	local o
	for o in -s -O; do
		copy -q $o "asan:$(print_data_path)" "$BATS_TEST_TMPDIR/got"
		cmp "$BATS_TEST_TMPDIR/got" "$(print_data_path)"
		copy -q $o "$(print_data_path)" "asan:$BATS_TEST_TMPDIR/put"
		cmp "$BATS_TEST_TMPDIR/put" "$(print_data_path)"
	done
}

@test "threads that seal and open during rekeys cause no sanitizer report" {
	sshd_up asan:threads "CipherThreads 2"
	client -v -o CipherThreads=2 -o RekeyLimit=700K threads "cat $(print_data_path)" \
	    2>"$BATS_TEST_TMPDIR/said" | cmp - "$(print_data_path)"
	grep -q 'packets are sealed and opened by 2 threads' "$BATS_TEST_TMPDIR/said"
	client -o CipherThreads=2 -c aes128-ctr threads \
	    "cat >$BATS_TEST_TMPDIR/got" <"$(print_data_path)"
	cmp "$BATS_TEST_TMPDIR/got" "$(print_data_path)"
	sshd_down threads
}

@test "packets opened in place while more is read cause no sanitizer report" {
	make -s -C "$BUILD/asan" pipeline-oracle gather-oracle
	"$BUILD/asan/pipeline-oracle" 2 "$RANDOM" aes128-gcm@openssh.com
	"$BUILD/asan/pipeline-oracle" 8 "$RANDOM" aes128-ctr hmac-sha2-256
	"$BUILD/asan/gather-oracle" 0 "$RANDOM" aes128-gcm@openssh.com
	"$BUILD/asan/gather-oracle" 2 "$RANDOM" chacha20-poly1305@openssh.com
}

@test "a slow reader and a reader that leaves cause no sanitizer report" {
	client asan "cat $(print_data_path)" | { sleep 0.3; cat; } | cmp - "$(print_data_path)"
	client asan "cat $(print_data_path)" | head -c 1000000 >/dev/null
}

@test "two sessions and a forwarding on one connection cause no sanitizer report" {
	local ctl=$BATS_TEST_TMPDIR/ctl
	client -M -S "$ctl" -f -N asan
	client -S "$ctl" asan "cat $(print_data_path)" | cmp - "$(print_data_path)" &
	client -S "$ctl" -W "127.0.0.1:$(sshd_port asan)" asan </dev/null | head -c 8 |
	    grep -q SSH-2.0
	wait $!
	client -S "$ctl" -O exit asan
}

@test "a pipe as transport with a rekey each megabyte causes no sanitizer report" {
	client -o RekeyLimit=1M -o "ProxyCommand=$(bin ssh asan) -F $BATS_FILE_TMPDIR/ssh_config -W 127.0.0.1:%p asan" \
	    asan "cat $(print_data_path)" | cmp - "$(print_data_path)"
}

@test "data in clear that is encrypted again for a terminal causes no sanitizer report" {
	local ctl=$BATS_TEST_TMPDIR/ctl
	sshd_up asan:clear "NoneEnabled yes"
	client -o NoneEnabled=yes -o NoneSwitch=yes -M -S "$ctl" \
	    -o ControlPersist=60 clear "cat $(print_data_path)" 2>"$BATS_TEST_TMPDIR/said" | cmp - "$(print_data_path)"
	grep -q 'data is in clear' "$BATS_TEST_TMPDIR/said"
	client -S "$ctl" -tt clear true >/dev/null
	client -S "$ctl" clear "cat >$BATS_TEST_TMPDIR/got" <"$(print_data_path)"
	cmp "$BATS_TEST_TMPDIR/got" "$(print_data_path)"
	client -S "$ctl" -O exit clear
}

@test "tampered packets in clear cause no sanitizer report" {
	make -s -C "$BUILD/asan" authonly-tamper
	"$BUILD/asan/authonly-tamper" aes128-gmac@hayate.invalid 5 2000
	"$BUILD/asan/authonly-tamper" none umac-128-etm@openssh.com 6 2000
}
