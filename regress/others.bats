#!/usr/bin/env bats
# Needs: tests
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# regress/others/run, which compares the results of others' tests for stock and for ours.
# The tests themselves "make check-others" runs: here a go command is in their place.

load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	RUN=$REGRESS/others/run
}

run_compare() { "$RUN" compare "$@"; }

@test "a test that fails, is skipped or does not run only with ours is a difference" {
	printf '%s\n' 'PASS a' 'PASS b/1' 'FAIL c' 'SKIP d' >stock
	run -0 run_compare stock stock
	[ -z "$output" ]
	local bad
	for bad in FAIL SKIP; do
		sed "s,PASS b/1,$bad b/1," stock >ours
		run -1 run_compare stock ours
		[ "$output" = "b/1: passes with stock; ours: $bad" ]
	done
	grep -v b/1 stock >ours
	run -1 run_compare stock ours
	[ "$output" = "b/1: passes with stock; ours: did not run" ]
	: >ours
	run -1 run_compare stock ours
	[ "${#lines[@]}" = 2 ]
	# what passes with ours alone is none
	sed 's/^FAIL/PASS/; s/^SKIP/PASS/' stock >ours
	run -0 run_compare stock ours
	# a second try counts, and each test needs one
	printf '%s\n' 'PASS a' 'FAIL b/1' >first
	printf '%s\n' 'FAIL a' 'PASS b/1' >second
	run -0 run_compare stock first second
	run -1 run_compare stock first first
	# nothing to compare with
	grep -v PASS stock >none
	run -1 run_compare none ours
	[ "$output" = "no test passes with stock" ]
	run -1 run_compare ours/none ours
}

# make_go VERSION: makes a go command, whose modules are empty, and whose test binary
# prints what the file "says" has for the build in $1
make_go() {
	local p
	mkdir -p bin build/{stock,hayate} m/ssh/test m/internal/backend/sftp tmp
	echo 'int x;' >m/ssh/test/sshd_test_pw.c
	for p in ssh sshd sshd-session sshd-auth sftp sftp-server; do
		cp /bin/true build/stock/$p
		cp /bin/true build/hayate/$p
	done
	cat >bin/go <<-END
	#!/bin/sh
	case "\$1 \$2" in
	"env GOVERSION") echo $1 ;;
	"mod download")
		sum=\$(cat "$REGRESS"/others/*.sum | sed -n "s,^\${4%@*} \${4#*@} ,,p")
		[ ! -e "$PWD/changed" ] || sum=h1:other
		printf '{"Dir": "%s", "Sum": "%s"}\n' "$PWD/m" "\$sum" ;;
	"test -c")
		printf '#!/bin/sh\\n. %s/says\\n' "$PWD" >\$4
		chmod +x \$4 ;;
	*)	exit 9 ;;
	esac
	END
	chmod +x bin/go
	chmod 755 . "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" 2>/dev/null || :
	cat >says <<-'END'
	echo "=== RUN   TestIt"
	case $SSH_CLI_PATH in
	*/stock/*) echo "--- PASS: TestIt (0.00s)"; echo "    --- PASS: TestList/max-17 (0.01s)" ;;
	*)	echo "some words--- $ours: TestIt (0.00s)"; echo "    --- PASS: TestList/max-99 (0.01s)" ;;
	esac
	END
}
run_others() { PATH=$PWD/bin:$PATH TMPDIR=$PWD/tmp HAYATE_BUILD=$PWD/build "$RUN" 2>&1; }

@test "a simulated difference fails the run, and none does not" {
	make_go go1.99
	sed -i '1i ours=PASS' says
	run -0 run_others
	[ "${lines[0]}" = "crypto: 2 pass with stock, 2 with ours" ]
	[ "${#lines[@]}" = 5 ]
	sed -i '1s/.*/ours=FAIL/' says
	run -1 run_others
	[ "${lines[0]}" = "TestIt: passes with stock; ours: FAIL" ]
	[ "${lines[-1]}" = "check-others: tests pass with stock and not with ours: crypto sftp sftp-alloc sftp-server restic" ]
	# a program that says nothing
	echo 'exit 3' >says
	run -1 run_others
	[ "${lines[0]}" = "no test passes with stock" ]
	[ -z "$(ls -A tmp)" ]
}

@test "a module that differs from its pinned version, and a Go that is too old, are errors" {
	make_go go1.26.1
	: >changed
	run -1 run_others
	[[ $output = "check-others: golang.org/x/crypto@v"*" is not what $REGRESS/others/go1.26.sum pins" ]]
	sed -i 's/go1.26.1/go1.20.9/' bin/go
	run -1 run_others
	[[ $output = *"/go1.19.sum pins" ]]
	sed -i 's/go1.20.9/go1.9/' bin/go
	run -1 run_others
	[[ $output = "check-others: go1.9 is older than each of "* ]]
	[ -z "$(ls -A tmp)" ]
	# each pin has a version and a hash
	run ! grep -vE '^[^ ]+ v[0-9.]+ h1:[A-Za-z0-9+/]{43}=$' "$REGRESS"/others/*.sum
	[ "$(cat "$REGRESS"/others/*.sum | wc -l)" = 6 ]
}
