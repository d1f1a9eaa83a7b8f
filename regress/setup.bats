#!/usr/bin/env bats
# Needs: nothing
# How ./demo and ./check install packages, and how ./check runs the suites.

load helper

setup() {
	command -v apt-get >/dev/null || skip "no apt here"
	need_root "apt's lock"
	R=$BATS_TEST_TMPDIR/root
	mkdir -p "$R/lists/partial" "$R/dpkg/updates" "$R/cache/archives/partial" "$R/etc" "$R/bin"
	: >"$R/dpkg/status"
	# apt with locks of its own, and no archive
	cat >"$R/conf" <<-END
	Dir::State "$R";
	Dir::State::status "$R/dpkg/status";
	Dir::Cache "$R/cache";
	Dir::Etc::sourcelist "/dev/null";
	Dir::Etc::sourceparts "$R/etc";
	#clear APT::Update::Post-Invoke;
	#clear APT::Update::Post-Invoke-Success;
	END
	export APT_CONFIG=$R/conf
	holder=
}

teardown() { release_lock; }

# hold_lock FILE: locks it as apt and dpkg do
hold_lock() {
	rm -f "$R/held"
	python3 -c '
import fcntl, signal, sys
f = open(sys.argv[1], "w")
fcntl.lockf(f, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
signal.pause()' "$1" "$R/held" 3>&- &
	holder=$!
	poll 10 test -e "$R/held"
}

release_lock() {
	[ -n "$holder" ] || return 0
	kill "$holder" 2>/dev/null || :
	wait "$holder" || :
	holder=
}

# run_demo_without_make: runs ./demo in a copy of the tree, on a machine without make(1)
run_demo_without_make() {
	mkdir "$R/tree"
	cp -a "$TOP/demo" "$TOP/build-aux" "$R/tree"
	cat >"$R/bin/dpkg-query" <<-'END'
	#!/bin/sh
	for last do :; done
	[ "$last" = make ] || echo installed
	END
	chmod +x "$R/bin/dpkg-query"
	(cd "$R/tree" && PATH=$R/bin:$PATH ./demo >"$R/out" 2>&1 3>&-) &
	demo=$!
}

is_waiting() { grep -q '^waiting for another package manager to finish: .*'"$1" "$R/out"; }

@test "demo waits for the lock of apt's lists, says so once, and continues" {
	hold_lock "$R/lists/lock"
	run_demo_without_make
	poll 20 is_waiting "$R/lists/lock"
	grep "held by process $holder" "$R/out"
	kill -0 $demo
	release_lock
	if wait $demo; then false; fi
	# The archive is empty, so the wait is over where make is not found.
	grep 'Unable to locate package make' "$R/tree/apt-install.log"
	[ "$(grep -c waiting "$R/out")" = 1 ]
	grep '^demo: apt-get could not install make' "$R/out"
}

@test "demo waits for dpkg's lock" {
	hold_lock "$R/dpkg/lock-frontend"
	run_demo_without_make
	poll 20 is_waiting "$R/dpkg/lock-frontend"
	kill -0 $demo
	release_lock
	if wait $demo; then false; fi
	grep 'Unable to locate package make' "$R/tree/apt-install.log"
}

@test "apt-wait gives up after a time, and at once on other failures" {
	hold_lock "$R/lists/lock"
	APT_WAIT=0 run ! "$TOP/build-aux/apt-wait" "$R/log" update
	[ -z "$output" ]
	grep 'Could not get lock' "$R/log"
	release_lock
	run ! "$TOP/build-aux/apt-wait" "$R/log" -y install nonexistent-package
	[ -z "$output" ]
	run -0 "$TOP/build-aux/apt-wait" "$R/log" update
}

# run_lanes SUITE...: runs regress/lanes in a tree of its own, with the suites that stand
# in it
run_lanes() {
	mkdir -p "$R/tree/regress" "$R/tree/build"
	cp "$REGRESS"/{lanes,cpu} "$R/tree/regress"
	(cd "$R/tree" && env -u BATS_TMPDIR -u BATS_RUN_TMPDIR regress/lanes "$@" 3>&-)
}

# suite_of NAME NEEDS TEXT
make_suite() {
	mkdir -p "$R/tree/regress"
	printf '#!/usr/bin/env bats\n# Needs: %s\n%b\n' "$2" "$3" \
	    >"$R/tree/regress/$1.bats"
}

@test "the suites are counted, and a test that passes only alone is named" {
	make_suite one nothing '@test "holds" { :; }\n@test "waits" { skip "for a reason"; }'
	make_suite two timed "@test \"comes late\" { [ -e $R/late ] || ! touch $R/late || false; }"
	run -0 run_lanes regress/one.bats regress/two.bats
	[[ $output = *"passed only alone: comes late"* ]]
	[[ $output = *"1 skipped: for a reason"* ]]
	[ "${lines[-1]}" = "2 passed, 0 failed, 1 skipped" ]
	rm "$R/late"
	ALONE_MOST=0 run -1 run_lanes regress/one.bats regress/two.bats
	[[ $output = *"not ok (two.bats) comes late"* ]]
	[ "${lines[-1]}" = "1 passed, 1 failed, 1 skipped" ]
}

@test "CPU time includes that of orphaned processes" {
	mkfifo "$R/ended"
	make_suite busy nothing "@test \"works\" { (sh -c 'sh -c \"ulimit -t 1; while :; do :; done\"; echo >$R/ended' &); read -r _ <$R/ended; }"
	make_suite idle nothing '@test "rests" { :; }'
	run -0 run_lanes regress/busy.bats regress/idle.bats
	[[ $output =~ the\ most\ CPU.*[[:space:]](0[.][6-9]|[12][.][0-9])\ busy.*[[:space:]]0[.][0-4]\ idle ]]
}

@test "a failed test, a suite that dies and one that does not parse are failures" {
	make_suite bad nothing '@test "is wrong" { false; }'
	make_suite dead nothing '@test "never ends" { kill -9 $PPID $$; }\n@test "never begins" { :; }'
	make_suite broken timed '@test "x" { '
	run -1 run_lanes regress/bad.bats regress/dead.bats regress/broken.bats
	[[ $output = *"not ok (bad.bats) is wrong"* ]]
	[[ ${lines[-1]} =~ ^0\ passed,\ [45]\ failed,\ 0\ skipped$ ]]
}

@test "no process continues after ./check is ended" {
	make_suite long nothing "@test \"sleeps\" { echo \$\$ >$R/pid; sleep 300; }"
	mkdir -p "$R/tree/build"
	cp "$REGRESS"/{lanes,cpu} "$R/tree/regress"
	(cd "$R/tree" && exec regress/lanes regress/long.bats >"$R/out" 2>&1 3>&-) &
	poll 20 test -s "$R/pid"
	kill $!
	if wait $!; then false; fi
	has_ended() { ! kill -0 "$(cat "$R/pid")" 2>/dev/null; }
	poll 10 has_ended
}

@test "each suite declares its needs, in words that ./check knows" {
	local f word
	for f in "$REGRESS"/*.bats "$REGRESS"/{lfp,bench,memory}/*.bats; do
		for word in $(sed -n '2s/^# Needs: //p' "$f" | grep .); do
			[[ $word = nothing || $word = timed ]] ||
			    grep -qE "^#.*\b$word\b" "$TOP/build-aux/setup.sh"
		done
	done
}

@test "a browser is installed only for the suite of the report" {
	local f
	for f in "$REGRESS"/*.bats "$REGRESS"/{lfp,bench,memory}/*.bats; do
		# shellcheck disable=SC2046 # words
		(. "$TOP/build-aux/setup.sh"
		for w in tests $(sed -n '2s/^# Needs: //p' "$f"); do list_packages "$w"; done) |
		    grep -qw chromium && basename "$f"
	done >"$BATS_TEST_TMPDIR/with" || :
	diff "$BATS_TEST_TMPDIR/with" - <<<bench-report.bats
}

@test "a suite ignores no signal that it would not ignore alone" {
	run -0 "$REGRESS/cpu" "$BATS_TEST_TMPDIR/cpu" grep SigIgn /proc/self/status
	[ "$output" = "$(grep SigIgn /proc/self/status)" ]
}
