#!/usr/bin/env bats
# Needs: hayate stock path
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# hayate-path: what a path carries, and what limits it, on the emulator:
#
#     a 10.77.0.1  ==== 60 ms, 100 Mbit/s to b, 50 Mbit/s back ====  b 10.77.0.2

load helper

setup_file() {
	export P=w$$
	cd "$BATS_FILE_TMPDIR" || return
	"$LFP" check 2>why || return 0
	"$LFP" up "$P" --rtt 60ms --rate-fwd 100mbit --rate-back 50mbit --queue 2MB --cc reno 3>&-
	# before the far end copies the table of mounts
	mkdir full
	mount -t tmpfs -o size=4m none full || rmdir full
	# shellcheck disable=SC2034 # sshd_up reads it
	IN_SERVER="ip netns exec lfp-$P-b"
	sshd_up hayate "ListenAddress 10.77.0.2"
	sshd_up stock "ListenAddress 10.77.0.2"
	mkdir poor
	printf '#!/bin/sh\nexit 1\n' >poor/dd
	chmod +x poor/dd
	sshd_up stock:poor "ListenAddress 10.77.0.2" "SetEnv PATH=$PWD/poor:$PATH SHLVL=1"
	sed "s|@SSH@|$(bin ssh)|" "$TOP/contrib/bin/hayate-path" >tool
	chmod +x tool
}

teardown_file() {
	sshd_down
	! mountpoint -q "$BATS_FILE_TMPDIR/full" || umount "$BATS_FILE_TMPDIR/full"
	[ -s "$BATS_FILE_TMPDIR/why" ] || "$LFP" down "$P"
}

setup() {
	need_path
	cd "$BATS_TEST_TMPDIR" || return
	T=$BATS_TEST_TMPDIR
}

# run_tool ARG...: runs it at the near end
run_tool() {
	ip netns exec "lfp-$P-a" "$BATS_FILE_TMPDIR/tool" "$@"
}
run_to_server() { run_tool "$@" -F "$BATS_FILE_TMPDIR/ssh_config" -o HostName=10.77.0.2 "$SERVER"; }

@test "the rates and limits of both directions are those of the path" {
	local SERVER
	for SERVER in hayate stock; do
		run -0 --separate-stderr run_to_server -t 4
		echo "$output"
		[ -z "$stderr" ]
		[[ ${lines[0]} = "host      $SERVER, OpenSSH_"*", login "*" s" ]]
		[[ ${lines[1]} = "path      6"[0-9].[0-9]" ms; "* ]]
		[[ ${lines[2]} = "to   "*" MB/s   limit: "* ]]
		[[ ${lines[3]} = "from "*" MB/s   limit: "* ]]
		awk '$1 == "to" && ($2 < 6 || $2 > 12.6) { exit 1 }
			$1 == "from" && ($2 < 3 || $2 > 6.3) { exit 1 }' <<<"$output"
		[[ ${lines[2]} = *"limit: the path"* ]]
	done
	[[ ${lines[3]} = *"the path or the server"* ]]
	[[ ${lines[1]} = *"loss "*" and - %" ]]
}

@test "JSON has the same, for programs" {
	local SERVER=hayate
	run_to_server -j -t 2 >out
	[ "$(jq -r '.version, .host' out | xargs)" = "1 hayate" ]
	jq -e '.to.mb_per_s > 2 and .to.mb_per_s < 13 and .from.mb_per_s > 1 and
	    .min_rtt_ms > 59 and .min_rtt_ms < 80 and (.to.limit | length > 0)' out
}

@test "with a directory a file is written there, read back and removed" {
	local SERVER=stock
	mkdir "$T/there"
	run_to_server -j -t 1 -d "$T/there" >out
	jq -e '.disk.mb_per_s > 1 and .disk_read.mb_per_s > 1 and
	    .disk_read.mb_per_s < 6.3 and (.disk_read.limit | length > 0)' out
	[ -z "$(ls -A there)" ]
	[ ! -d "$BATS_FILE_TMPDIR/full" ] || run -1 run_to_server -t 2 -d "$BATS_FILE_TMPDIR/full"
	[[ $output = *"/full: cannot write a file: "*"No space left"* || ! -d $BATS_FILE_TMPDIR/full ]]
	[ -z "$(ls -A "$BATS_FILE_TMPDIR/full")" ]
	run_to_server -t 1 -d "$T/there" >out
	grep '^disk read .* MB/s   limit: ' out
	SERVER=poor
	run -0 --separate-stderr run_to_server -t 1 -d "$T/there"
	[[ $stderr = "hayate-path: poor:$T/there: skipping the read test, "* ]]
	[[ $output != *'disk read'* ]]
	[ -z "$(ls -A there)" ]
	# Nor does what watches the file outlive it.
	poll 5 fails pgrep -f "$T/there/.hayate-path"
	run -1 run_to_server -t 1 -d "$T/none"
	[[ $output = *"$T/none: cannot write a file: "*"No such file"* ]]
}

@test "a slow login does not shorten a measurement, and a proxy gives no TCP figures" {
	local SERVER=stock
	run_to_server -j -t 2 -o ProxyCommand="sh -c 'sleep 3; exec socat - TCP:10.77.0.2:%p'" >out
	jq -e '.to.mb_per_s > 6 and .from.mb_per_s > 3 and .min_rtt_ms == null and
	    .to.loss == null' out
}

@test "a host that cannot be reached, and wrong arguments, are clear errors" {
	local SERVER=hayate
	run -1 run_to_server -t 1 -p 9
	[[ $output = "hayate-path: hayate: "*"Connection refused"* ]]
	run -2 run_tool -t 0 hayate
	[[ $output = *'-t "0": expected a number from 1 to 60'* ]]
	run -2 run_tool
	[[ $output = usage:* ]]
}

@test "an account that runs no command is named as such" {
	local name n=0
	sshd_up stock:sftp "ListenAddress 127.0.0.1" "ForceCommand internal-sftp"
	sshd_up stock:nologin "ListenAddress 127.0.0.1" "ForceCommand /usr/sbin/nologin"
	sshd_up stock:noisy "ListenAddress 127.0.0.1" 'ForceCommand echo welcome; $SSH_ORIGINAL_COMMAND'
	for name in sftp nologin; do
		run -1 --separate-stderr timeout 60 "$BATS_FILE_TMPDIR/tool" -t 1 \
		    -F "$BATS_FILE_TMPDIR/ssh_config" -o HostName=127.0.0.1 $name
		[ -z "$output" ]
		[ "$stderr" = "hayate-path: $name: the login succeeded, but the account cannot run a command (perhaps it is restricted to SFTP), and hayate-path needs a shell" ]
		n=$((n + 1))
	done
	[ $n = 2 ]
	# One whose login prints a line runs them.
	run "$BATS_FILE_TMPDIR/tool" -t 1 -F "$BATS_FILE_TMPDIR/ssh_config" -o HostName=127.0.0.1 noisy
	[[ $output != *"no command"* ]]
}

# make_false_ssh STATUS: makes an ssh whose output has control characters, as a server may
# send them
make_false_ssh() {
	cat >ssh <<-END
	#!/bin/bash
	for command do :; done
	[ "\$command" != 'echo hayate-path' ] || { (($1)) || echo hayate-path; exit $1; }
	echo
	[[ \$command != *'cat >/dev/null' ]] || cat >/dev/null
	END
	sed -i '2i printf "%b" "debug1: Remote protocol version 2.0, remote software version Open\\x1b[2J\\b\\xc2\\x9b31m\\xe2\\x80\\xae\\\\\\"\\x5cSSH\\n" "debug1: kex: server->client cipher: c\\xc2\\x85\\n" "9 MiB in 1 s, 9 MB/s. Limit: the\\xe2\\x81\\xa6 \\tpath\\x9b\\n" "why \\x1b]0;x\\a\\xc2\\x9d\\n" >\&2' ssh
	chmod +x ssh
	sed "s|@SSH@|$T/ssh|" "$TOP/contrib/bin/hayate-path" >false
	chmod +x false
}
# check_printable TEXT: checks that it is ASCII that a terminal shows
check_printable() { [ -z "$(printf %s "$1" | LC_ALL=C tr -d '\n -~')" ]; }

@test "text from a server puts no control characters on a terminal or into JSON" {
	make_false_ssh 0
	run -0 --separate-stderr ./false -j -t 1 "$(printf 'h\302\233')"
	echo "$output" >&2
	jq -e '.server and .to.limit and (.to.mb_per_s == 9)' <<<"$output"
	check_printable "$output$stderr"
	run -0 --separate-stderr ./false -t 1 h
	[[ $output = *SSH*path* ]]
	check_printable "$output$stderr"
	make_false_ssh 1
	run -1 ./false -t 1 h
	[[ $output = 'hayate-path: h: why'* ]]
	check_printable "$output"
}
