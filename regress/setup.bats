#!/usr/bin/env bats
# How ./demo and ./check install packages.

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

teardown() { release; }

# hold FILE: as apt and dpkg lock it
hold() {
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

release() {
	[ -n "$holder" ] || return 0
	kill "$holder" 2>/dev/null || :
	wait "$holder" || :
	holder=
}

# demo_missing: ./demo in a copy of the tree, on a machine without make(1)
demo_missing() {
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

waits() { grep -q '^waiting for another package manager to finish: .*'"$1" "$R/out"; }

@test "demo waits for the lock of apt's lists, says so once, and continues" {
	hold "$R/lists/lock"
	demo_missing
	poll 20 waits "$R/lists/lock"
	grep "held by process $holder" "$R/out"
	kill -0 $demo
	release
	if wait $demo; then false; fi
	# The archive is empty, so the wait is over where make is not found.
	grep 'Unable to locate package make' "$R/tree/apt-install.log"
	[ "$(grep -c waiting "$R/out")" = 1 ]
	grep '^demo: apt-get could not install make' "$R/out"
}

@test "demo waits for dpkg's lock" {
	hold "$R/dpkg/lock-frontend"
	demo_missing
	poll 20 waits "$R/dpkg/lock-frontend"
	kill -0 $demo
	release
	if wait $demo; then false; fi
	grep 'Unable to locate package make' "$R/tree/apt-install.log"
}

@test "apt-wait gives up after a time, and at once on other failures" {
	hold "$R/lists/lock"
	APT_WAIT=0 run ! "$TOP/build-aux/apt-wait" "$R/log" update
	[ -z "$output" ]
	grep 'Could not get lock' "$R/log"
	release
	run ! "$TOP/build-aux/apt-wait" "$R/log" -y install nonexistent-package
	[ -z "$output" ]
	run -0 "$TOP/build-aux/apt-wait" "$R/log" update
}
