#!/usr/bin/env bats
# Needs: hayate stock path peers
# Servers of five kinds at the far end of a path: a small tree and a larger file,
# put and got. trees.bats and files.bats have more, without a path.

load helper

setup_file() {
	local rtt
	export P=d$$ SERVER_ADDRESS=10.77.0.2
	cd "$BATS_FILE_TMPDIR" || return
	"$LFP" check 2>why || return 0
	for rtt in 22 100; do
		"$LFP" up "$P-$rtt" --rtt ${rtt}ms --rate 1gbit 3>&-
	done
	mkdir -p tree/sub/deep
	for i in $(seq 40); do head -c $((i * 300)) /dev/urandom >"tree/$i"; done
	: >tree/sub/empty
	echo x >tree/sub/deep/x
	chmod 640 tree/7
	touch -d '2001-02-03 04:05:06' tree/8
	head -c 8000001 /dev/urandom >large
}

teardown_file() {
	local rtt
	[ ! -s "$BATS_FILE_TMPDIR/why" ] || return 0
	for rtt in 22 100; do "$LFP" down "$P-$rtt"; done
}

setup() {
	need_path
	cd "$BATS_TEST_TMPDIR"
	T=$BATS_TEST_TMPDIR
	FROM=$BATS_FILE_TMPDIR
}

teardown() {
	foreign_down
	sshd_down
}

# check_received DIR: checks that DIR has what was sent
check_received() {
	diff -r "$FROM/tree" "$1/tree"
	cmp "$FROM/large" "$1/large"
	[ "$(stat -c '%a %Y' "$1"/tree/{7,8} "$1/large")" = \
	    "$(stat -c '%a %Y' "$FROM"/tree/{7,8} "$FROM/large")" ]
}

# copy_both_ways COPY HOST: uploads and downloads a tree and a file
copy_both_ways() {
	rm -rf put got
	mkdir -p put/tree got	# proftpd has no real path for what is absent
	"$1" -q -rp "$FROM/tree" "$FROM/large" "$2:$T/put" || is_stock_status $?
	check_received put
	"$1" -q -rp "$2:$T/put/tree" "$2:$T/put/large" got || is_stock_status $?
	check_received got
}

# is_stock_status STATUS: succeeds if it is 1 and the server sends no exit status
is_stock_status() { [ "$1,${NO_STATUS-}" = 1,yes ]; }

# run_over_paths COMMAND...: runs COMMAND for each path, at whose ends servers and clients
# run
run_over_paths() {
	local rtt
	for rtt in 22 100; do
		export IN_SERVER="ip netns exec lfp-$P-$rtt-b"
		export IN_CLIENT="ip netns exec lfp-$P-$rtt-a"
		"$@"
		foreign_down
		sshd_down
	done
}

check_ssh_server() {
	sshd_up "$1"
	copy_both_ways copy "$1"
}

check_foreign_server() {
	foreign_up "$1"
	copy_both_ways copy_foreign 127.0.0.1
}

@test "a tree and a larger file are copied to our server and back at 22 and 100 ms" {
	run_over_paths check_ssh_server hayate
}

@test "a tree and a larger file are copied to stock's server and back at 22 and 100 ms" {
	run_over_paths check_ssh_server stock
}

@test "a tree and a larger file are copied to proftpd and back at 22 and 100 ms" {
	need_proftpd
	run_over_paths check_foreign_server proftpd
}

# asyncssh over a path, and paramiko, send no exit status, so scp may end with 1, as
# stock's does.
@test "a tree and a larger file are copied to asyncssh and back at 22 and 100 ms" {
	need_asyncssh
	NO_STATUS=yes run_over_paths check_foreign_server asyncssh
}

@test "a tree and a larger file are copied to paramiko and back at 22 and 100 ms" {
	need_paramiko
	NO_STATUS=yes run_over_paths check_foreign_server paramiko
}
