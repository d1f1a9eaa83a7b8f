#!/usr/bin/env bats
# Needs: hayate stock path timed
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Windows that follow the path (channels/wtune-hook.h), through real programs:
#
#     client, a 10.77.0.1  ==== 80 ms, 400 Mbit/s ====  b 10.77.0.2, sshd
#
# 2 MiB per round trip are half of what this path carries. Each transfer is
# compared byte by byte, and the receiver's debug log must show its window. Speed
# is measured elsewhere (regress/bench).

load helper

STOCK_MAX=$((14 << 20))		# towards senders that are stock
PATH_OPTIONS="--rtt 80ms --rate 400mbit --queue 8MB"

setup_file() {
	local why
	why=$("$LFP" check 2>&1) || {
		echo "${why#lfp: }" >"$BATS_FILE_TMPDIR/why"
		return
	}
	export P=w$$ SERVER_ADDRESS=10.77.0.2
	export IN_SERVER="ip netns exec lfp-$P-b"
	export IN_CLIENT="ip netns exec lfp-$P-a"
	# reno has no HyStart, which takes the jitter of a busy machine for a queue
	# shellcheck disable=SC2086
	"$LFP" up "$P" $PATH_OPTIONS --cc reno 3>&-
	sshd_up hayate
	sshd_up stock
	head -c 33554432 /dev/urandom >"$BATS_FILE_TMPDIR/bulk"
	head -c 12582912 "$BATS_FILE_TMPDIR/bulk" >"$BATS_FILE_TMPDIR/some"
	head -c 2000000 "$BATS_FILE_TMPDIR/bulk" >"$BATS_FILE_TMPDIR/little"
	sshd_up hayate:idle
	run_idler </dev/null >/dev/null 2>&1 3>&- &
}

teardown_file() {
	[ -z "$P" ] || {
		sshd_down
		"$LFP" down "$P"
	}
}

setup() {
	[ ! -f "$BATS_FILE_TMPDIR/why" ] || skip "$(cat "$BATS_FILE_TMPDIR/why")"
	cd "$BATS_TEST_TMPDIR"
	BULK=$BATS_FILE_TMPDIR/bulk
	SOME=$BATS_FILE_TMPDIR/some
	LITTLE=$BATS_FILE_TMPDIR/little	# at 64 KiB a round trip
	T=$BATS_TEST_TMPDIR
	# shellcheck disable=SC2086
	"$LFP" set "$P" $PATH_OPTIONS --rate-back 400mbit
	for log in "$BATS_FILE_TMPDIR"/sshd.*/log; do : >"$log"; done
}

teardown() {
	local pid
	for pid in $(jobs -pr); do
		kill "$pid" 2>/dev/null || :
	done
	[ ! -S "$T/ctl" ] || client -S "$T/ctl" -O exit hayate 2>/dev/null || :
}
pids=()				# background jobs; they end with the test

run_here() { $IN_CLIENT "$@" 3>&-; }
run_there() { $IN_SERVER "$@" 3>&-; }

# download_some SERVER [ARG...]: downloads SOME; the client's log is in get.log
download_some() { client -vv "${@:2}" "$1" "cat $SOME" >got 2>get.log && cmp "$SOME" got; }

# upload_some SERVER [ARG...]: uploads SOME; the server's log is sshd_log SERVER
upload_some() {
	rm -f "$T/there"
	client -vv "${@:2}" "$1" "cat >$T/there" <"$SOME" 2>put.log &&
	    cmp "$SOME" there
}

# check_stock_windows LOG: checks that there were adjusts, none beyond a stock window, and
# no tuner
check_stock_windows() {
	local most
	most=$(find_largest_credit "$1")
	echo "$1: at most $most; $(list_windows "$1")"
	[ "$most" -gt 0 ] && [ "$most" -le "$STOCK_WINDOW" ] &&
	    [ -z "$(list_windows "$1")" ]
}

has_decision() { list_windows "$2" | grep -q "$1"; }

# is_path_quiet: succeeds if no data moved for some round trips
is_path_quiet() {
	local was now same=0
	was=$("$LFP" stat "$P" fwd sent_bytes)
	while ((same < 10)); do
		now=$("$LFP" stat "$P" fwd sent_bytes)
		((now == was)) || return 1
		same=$((same + 1))
	done
}

### Growth

@test "a download grows the client's window" {
	download_some hayate
	has_window_grown get.log
	check_stock_windows "$(sshd_log hayate)" || [ -z "$(list_windows "$(sshd_log hayate)")" ]
}

@test "an upload grows the server's window" {
	upload_some hayate
	has_window_grown "$(sshd_log hayate)"
}

# print_pipe_command: prints the size of the pipe at standard input after all data has arrived
# The program begins late, so what was sent waits for it.
print_pipe_command() { echo 'sleep 0.5; cat >/dev/null; python3 -c "import fcntl; print(fcntl.fcntl(0, 1032))"'; }

@test "only the pipe of a program that reads bulk data is enlarged" {
	[ "$(client hayate "$(print_pipe_command)" <"$SOME")" -eq 262144 ]
	[ "$(client hayate "$(print_pipe_command)" </dev/null)" -eq 65536 ]
	[ "$(client stock "$(print_pipe_command)" <"$SOME")" -eq 65536 ]
}

@test "a download from a stock server grows the client's window" {
	download_some stock
	has_window_grown get.log
	[ -z "$(list_windows "$(sshd_log stock)")" ]
}

@test "an upload from a stock client grows the server's window" {
	CLIENT=stock upload_some hayate
	has_window_grown "$(sshd_log hayate)"
	[ -z "$(list_windows put.log)" ]
}

@test "scp over SFTP grows the window of each direction" {
	copy -vv "$SOME" "hayate:$T/there" 2>put.log
	has_window_grown "$(sshd_log hayate)"
	copy -vv "hayate:$T/there" back 2>get.log
	has_window_grown get.log
	cmp "$SOME" back
}

@test "bulk data on standard error grows the client's window" {
	client -vv -E get.log hayate "cat $SOME >&2" 2>got
	cmp "$SOME" got
	has_window_grown get.log
}

@test "compressed bulk data grows the client's window" {
	# 2 MiB a round trip are less than zlib manages
	"$LFP" set "$P" --rtt 150ms
	download_some hayate -C
	has_window_grown get.log
}

# lengthen_path: makes the path hold 20 MB
lengthen_path() { "$LFP" set "$P" --rtt 200ms --rate 800mbit --queue 40MB; }

@test "the window for a Hayate peer exceeds 14 MiB" {
	lengthen_path
	client -vv -c aes128-gcm@openssh.com hayate "cat $BULK $BULK" 2>get.log |
	    cmp - <(cat "$BULK" "$BULK")
	[ "$(find_widest_window get.log)" -gt $STOCK_MAX ]
	[ "$(find_largest_credit get.log)" -gt $STOCK_MAX ]
}

@test "the window for a stock peer stops at 14 MiB, both ways" {
	lengthen_path
	client -vv -c aes128-gcm@openssh.com stock "cat $BULK $BULK" 2>get.log |
	    cmp - <(cat "$BULK" "$BULK")
	[ "$(find_widest_window get.log)" = $STOCK_MAX ]
	[ "$(find_largest_credit get.log)" -le $STOCK_MAX ]
	cat "$BULK" "$BULK" | CLIENT=stock client -c aes128-gcm@openssh.com hayate \
	    "cat >$T/there"
	cat "$BULK" "$BULK" | cmp - there
	[ "$(find_widest_window "$(sshd_log hayate)")" = $STOCK_MAX ]
	[ "$(find_largest_credit "$(sshd_log hayate)")" -le $STOCK_MAX ]
}

### What the log says

@test "at -vv an adjust is logged for each change of the window, at -vvv each one" {
	download_some hayate
	has_window_grown get.log
	[ "$(grep -c 'sent adjust' get.log)" -le $(($(list_windows get.log | wc -l) + 1)) ]
	download_some hayate -vvv
	[ "$(grep -c 'sent adjust' get.log)" -gt $(($(list_windows get.log | wc -l) * 2)) ]
}

### Loss

# load_bbr: loads BBR. It does not slow down for lost packets, so the window is what
# limits
load_bbr() {
	[[ " $(sysctl -n net.ipv4.tcp_available_congestion_control) " = *" bbr "* ]] ||
	    modprobe -q tcp_bbr
}

# find_bytes_behind LOG: prints the most bytes that were seen to wait behind lost ones
find_bytes_behind() {
	tr -d '\r' <"$1" | sed -n 's/.*: window .* behind losses \([0-9]*\),.*/\1/p' |
	    sort -n | tail -1
}

@test "the window grows for data that waits behind losses, both ways" {
	load_bbr || skip "no BBR in this kernel"
	"$LFP" set "$P" --loss 1% --cc bbr
	client -vv hayate "cat $BULK" 2>get.log | cmp - "$BULK"
	client hayate "cat >$T/there" <"$BULK"
	"$LFP" set "$P" --loss 0% --cc reno
	cmp "$BULK" there
	for log in get.log "$(sshd_log hayate)"; do
		echo "$log: $(find_bytes_behind "$log") behind losses, window $(find_widest_window "$log")"
		[ "$(find_bytes_behind "$log")" -gt $((STOCK_WINDOW / 4)) ]
		has_window_grown "$log"
	done
}

@test "without loss no data is counted as waiting behind losses" {
	download_some hayate
	[ "$(find_bytes_behind get.log)" = 0 ]
}

### A peer whose window limits

# list_limit_lines LOG: prints the lines about a limiting window of the peer
list_limit_lines() { tr -d '\r' <"$1" | grep -o "channel [0-9]*: the .* window limits .*"; }

# send_long SERVER COMMAND [ARG...]: sends more than a second of data; -v is in put.log
send_long() {
	cat "$BULK" "$BULK" "$BULK" | client -v "${@:3}" "$1" "$2" 2>put.log
}

@test "an upload that a stock server's window limits is reported once" {
	send_long stock 'cat >/dev/null'
	cat put.log
	[ "$(list_limit_lines put.log | wc -l)" = 1 ]
	list_limit_lines put.log | grep "the server's window limits this upload to 2[01].*only the server can raise it, and stock OpenSSH has no setting"
}

@test "a download that the client's WindowMax limits is reported by the server" {
	client -o WindowMax=2M hayate "cat $BULK $BULK $BULK" >/dev/null
	list_limit_lines "$(sshd_log hayate)" | grep "the client's window limits this download.*only the client can raise it (WindowMax, WindowMemoryMax)"
}

@test "an upload whose window follows the path reports no limit" {
	send_long hayate 'cat >/dev/null'
	[ -z "$(list_limit_lines put.log)" ]
}

@test "a slow reader at the server is not mistaken for a small window" {
	client -v stock "$(declare -f send_paced); send_paced >/dev/null" <"$SOME" 2>put.log
	[ -z "$(list_limit_lines put.log)" ]
}

@test "with Hayate no the peer's window is not reported" {
	send_long stock 'cat >/dev/null' -o Hayate=no
	[ -z "$(list_limit_lines put.log)" ]
}

### Bounds

@test "the client's window never exceeds WindowMax" {
	download_some hayate -o WindowMax=4M
	[ "$(find_widest_window get.log)" = 4194304 ]
	[ "$(find_largest_credit get.log)" -le 4194304 ]
	has_decision "hold: at the ceiling" get.log
}

@test "the server's window never exceeds WindowMax, which a Match block may lower" {
	sshd_up hayate:max "WindowMax 5M" "Match User $(id -un)" "WindowMax 3M" \
	    "Match all"
	upload_some max
	[ "$(find_widest_window "$(sshd_log max)")" = 3145728 ]
	[ "$(find_largest_credit "$(sshd_log max)")" -le 3145728 ]
	sshd_down max
}

# start_master [ARG...]: starts a shared connection, logged in master.log
start_master() {
	client -vv -E "$T/master.log" -fNM -S "$T/ctl" "$@" hayate </dev/null
}

is_longer_than() { [ "$(stat -c %s "$1")" -gt "$2" ]; }

# sum_windows LOG: prints how many channels the tuner changed, and the largest sum of
# their windows
sum_windows() {
	tr -d '\r' <"$1" | awk -v stock="$STOCK_WINDOW" '
	    { sub(/.*channel /, ""); n = $1 + 0 }
	    $2 == "free:" { sum -= w[n]; delete w[n] }
	    $2 == "window" && $4 == "->" {
		if (!(n in w)) { w[n] = stock; sum += stock; seen++ }
		sum += $5 - w[n]; w[n] = $5 + 0
		if (sum > most) most = sum
	    }
	    END { print seen, most }'
}

@test "two channels share WindowMemoryMax" {
	local seen most
	start_master -o WindowMemoryMax=6M
	client -S "$T/ctl" hayate "cat $BULK" >one &
	pids+=($!)
	client -S "$T/ctl" hayate "cat $BULK" >two
	wait "${pids[0]}"
	cmp "$BULK" one
	cmp "$BULK" two
	# both began with a stock window; at no time had they more than 6 MiB
	read -r seen most < <(sum_windows master.log)
	echo "$seen channels, at most $most"
	[ "$seen" = 2 ]
	[ "$most" -gt $((2 * STOCK_WINDOW)) ]
	[ "$most" -le 6291456 ]
	has_decision "hold: at its share of the memory" master.log
}

@test "an idle channel with a large window leaves room for the next" {
	local first
	lengthen_path
	start_master -o WindowMemoryMax=16M
	mkfifo in
	client -S "$T/ctl" hayate "cat $BULK; echo; cat" <in >out &
	pids+=($!)
	exec 4>in
	poll 30 is_longer_than out 33554432
	first=$(list_windows master.log | tail -1 | cut -d' ' -f1)
	[ "$(find_widest_window master.log "$first")" -gt "$STOCK_WINDOW" ]
	: >master.log
	client -S "$T/ctl" hayate "cat $BULK" >got
	exec 4>&-
	cmp "$BULK" got
	run -1 grep "^$first " <(list_windows master.log)
	has_window_grown master.log
	[ "$(find_widest_window master.log)" = $((9 << 19)) ]
}

### Stock on request

OFF=("Hayate no" "HPNDisabled yes" "WindowTuning no" "TcpRcvBufPoll no")

@test "every option that disables tuning keeps stock windows at the client" {
	local o i=0
	for o in "${OFF[@]}"; do
		mkdir $((++i)) $((i + 4))
		(cd $i && download_some hayate -o "$o") &
		pids+=($!)
		{
			printf 'Match originalhost hayate\n\t%s\nMatch all\n' "$o"
			cat "$BATS_FILE_TMPDIR/ssh_config"
		} >$((i + 4))/config
		(cd $((i + 4)) && download_some hayate -F "$T/$((i + 4))/config") &
		pids+=($!)
	done
	for i in 1 2 3 4 5 6 7 8; do
		wait "${pids[i - 1]}"
		check_stock_windows $i/get.log
	done
}

# check_tuner_off NAME LINE...: starts sshds with each of OFF, behind the lines given, and
# checks that none tunes
check_tuner_off() {
	local i name=$1
	shift
	for i in 0 1 2 3; do sshd_up "hayate:$name$i" "$@" "${OFF[i]}" "Match all"; done
	for i in 0 1 2 3; do
		mkdir "$name$i"
		(T=$T/$name$i; cd "$T" && upload_some "$name$i") &
		pids+=($!)
	done
	for i in 0 1 2 3; do
		wait "${pids[i]}"
		check_stock_windows "$(sshd_log "$name$i")"
		# and the peer received no more than that
		[ "$(sed -n 's/.*rcvd adjust \([0-9]*\).*/\1/p' "$name$i/put.log" |
		    sort -n | tail -1)" -le "$STOCK_WINDOW" ]
	done
	sshd_down "$name"{0,1,2,3}
}

@test "every option that disables tuning keeps stock windows at the server" {
	check_tuner_off global
}

@test "a Match User block that disables tuning keeps stock windows for that user" {
	check_tuner_off user "Match User $(id -un)"
}

@test "a Match Address block that disables tuning keeps stock windows for that address" {
	check_tuner_off address "Match Address 10.77.0.0/24"
}

@test "Match blocks of other users and addresses leave the tuner on" {
	sshd_up hayate:other "Match User nobody-$$" "Hayate no" \
	    "Match Address 10.78.0.0/24" "WindowTuning no" "Match all"
	upload_some other
	has_window_grown "$(sshd_log other)"
	sshd_down other
}

### Which channels

# find_channel LOG KIND: prints the number of the last channel of that kind
find_channel() {
	tr -d '\r' <"$1" |
	    sed -n "s/.*channel \([0-9]*\): new $2.*/\1/p" | tail -1
}

@test "a terminal keeps its window, both ways, while bulk beside it grows" {
	start_master
	: >"$(sshd_log hayate)"
	client -S "$T/ctl" hayate "cat $SOME" >beside &
	pids+=($!)
	client -tt -e none -S "$T/ctl" hayate "stty raw -echo; cat $SOME" >got
	cmp "$SOME" got
	wait "${pids[0]}"
	cmp "$SOME" beside
	[ "$(list_windows master.log | cut -d' ' -f1 | sort -u | wc -l)" = 1 ]
	has_window_grown master.log
	# the terminal of the server receives: send once it is raw
	mkfifo in
	client -tt -e none -S "$T/ctl" hayate "stty raw -echo; echo ready
	    head -c 12582912 >$T/there" <in >out &
	pids+=($!)
	exec 4>in
	poll 10 grep -q ready out
	cat "$SOME" >&4
	exec 4>&-
	wait "${pids[1]}"
	cmp "$SOME" there
	[ -z "$(list_windows "$(sshd_log hayate)")" ]
}

# print_download_loop FILE: prints shell words that send it, and no EOF until LITTLE came
# back, for with an agent and X11 the end of one direction is the end of both
print_download_loop() {
	echo "{ cat $1; until cmp -s $LITTLE $T/down; do sleep 0.1; done; }"
}

@test "an agent channel keeps its window, both ways, while bulk beside it grows" {
	need socat
	# takes the client's first message, then answers everything with LITTLE
	cat >agent.sh <<-EOF
	exec 3<&0
	head -c \$((0x\$(head -c 4 | od -An -tx1 | tr -d ' '))) >/dev/null
	printf '\\0\\0\\0\\1\\5'
	cat >up.\$\$ <&3 & cat $LITTLE; wait
	EOF
	socat -t 20 UNIX-LISTEN:"$T/agent",fork SYSTEM:"sh agent.sh" \
	    2>/dev/null 3>&- &
	poll 5 test -S agent
	client -vv -A -o IdentityAgent="$T/agent" hayate "($(print_download_loop "$LITTLE") |
	    socat -b 65536 - UNIX-CONNECT:\$SSH_AUTH_SOCK >$T/down) & cat $SOME
	    wait" >got 2>get.log
	cmp "$SOME" got
	cmp "$LITTLE" down
	poll 5 sh -c "for f in up.*; do ! cmp -s \$f $LITTLE || exit 0; done; exit 1"
	has_window_grown get.log "$(find_channel get.log 'session')"
	[ "$(list_windows get.log | cut -d' ' -f1 | sort -u | wc -l)" = 1 ]
	[ -n "$(find_channel get.log 'agent-connection')" ]
	[ -z "$(list_windows "$(sshd_log hayate)")" ]
}

# An X client that sends SOME after its cookie, and keeps what comes back
run_x_client() {
	local n=${DISPLAY##*:} cookie
	cookie=$(sed -n 's/^add .* //p' "$T/xauth")
	{
		printf 'l\0\013\0\0\0\022\0\020\0\0\0MIT-MAGIC-COOKIE-1\0\0'
		# shellcheck disable=SC2059,SC2001 # an escape for each byte
		printf "$(sed 's/../\\x&/g' <<<"$cookie")"
		eval "$(print_download_loop "$SOME")"
	} | socat - "TCP:127.0.0.1:$((6000 + ${n%.*}))" >"$T/down"
}

@test "an X11 channel keeps its window, both ways, while bulk beside it grows" {
	need socat
	printf '#!/bin/sh\nexec cat >%s/xauth\n' "$T" >keep-xauth
	printf 'exec 3<&0; head -c 48 >hello; cat >up <&3 & cat %s; wait\n' \
	    "$LITTLE" >display
	chmod 755 keep-xauth
	{
		declare -p T SOME LITTLE
		declare -f run_x_client print_download_loop
		echo run_x_client
	} >x
	sshd_up hayate:x11 "X11Forwarding yes" "XAuthLocation $T/keep-xauth"
	$IN_CLIENT socat -t 20 TCP-LISTEN:6077,bind=127.0.0.1 \
	    SYSTEM:"sh display" 3>&- &
	pids+=($!)
	poll 5 is_listening run_here 6077
	DISPLAY=127.0.0.1:77 client -vv -Y -o XAuthLocation=/nonexistent x11 \
	    "bash $T/x & cat $SOME; wait" >got 2>get.log
	wait "${pids[0]}"
	cmp "$SOME" got
	cmp "$SOME" up
	cmp "$LITTLE" down
	[ -n "$(find_channel get.log x11)" ]
	has_window_grown get.log
	[ "$(list_windows get.log | cut -d' ' -f1 | sort -u)" = 0 ]
	[ -z "$(list_windows "$(sshd_log x11)")" ]
	sshd_down x11
}

@test "the second session of a shared connection grows its window like the first" {
	local first second
	start_master
	client -S "$T/ctl" hayate "cat $SOME" >one
	first=$(list_windows master.log | tail -1 | cut -d' ' -f1)
	has_window_grown master.log "$first"
	: >master.log
	# another stays open, so that the number is not the same
	mkfifo in
	client -S "$T/ctl" hayate "echo ready; cat" <in >out &
	pids+=($!)
	exec 4>in
	poll 10 grep -q ready out
	client -S "$T/ctl" hayate "cat $SOME" >two
	second=$(list_windows master.log | tail -1 | cut -d' ' -f1)
	exec 4>&-
	[ "$first" != "$second" ]
	has_window_grown master.log "$second"
	cmp "$SOME" one
	cmp "$SOME" two
}

### Forwardings

is_listening() { $1 ss -Htln "sport = :$2" | grep -q .; }
# start_services run_here|run_there: serves SOME at that side and writes T/sunk, on TCP
# ports 7001 and 7002 and at T/source and T/sink
start_services() {
	need socat
	local at=$IN_CLIENT a
	[ "$1" = run_here ] || at=$IN_SERVER
	for a in TCP-LISTEN:7001,reuseaddr UNIX-LISTEN:"$T/source"; do
		$at socat -b 65536 -U "$a",fork OPEN:"$SOME" 3>&- &
	done
	for a in TCP-LISTEN:7002,reuseaddr UNIX-LISTEN:"$T/sink"; do
		$at socat -b 65536 -u "$a",fork CREATE:"$T/sunk" 3>&- &
	done
	poll 5 is_listening "$1" 7001
	poll 5 is_listening "$1" 7002
	poll 5 test -S "$T/source"
	poll 5 test -S "$T/sink"
}

# start_forwarding ARG...: starts a connection for that alone, logged in master.log
start_forwarding() {
	client -vv -E "$T/master.log" -fNM -S "$T/ctl" \
	    -o ExitOnForwardFailure=yes "$@" hayate </dev/null
}

# pull_through run_here|run_there ADDRESS LOG: downloads SOME through it; LOG is the
# receiving side's
pull_through() {
	: >"$3"
	$1 socat -b 65536 -u "$2" CREATE:got
	cmp "$SOME" got
	has_window_grown "$3"
}

# push_through run_here|run_there ADDRESS LOG
push_through() {
	: >"$3"
	rm -f sunk
	$1 socat -b 65536 -u OPEN:"$SOME" "$2"
	poll 10 cmp -s "$SOME" sunk
	has_window_grown "$3"
}

@test "-L grows the window of the receiving side" {
	start_services run_there
	start_forwarding -L 7101:127.0.0.1:7001 -L 7102:127.0.0.1:7002
	pull_through run_here TCP:127.0.0.1:7101 master.log
	push_through run_here TCP:127.0.0.1:7102 "$(sshd_log hayate)"
}

@test "-R grows the window of the receiving side" {
	start_services run_here
	start_forwarding -R 7101:127.0.0.1:7001 -R 7102:127.0.0.1:7002
	pull_through run_there TCP:127.0.0.1:7101 "$(sshd_log hayate)"
	push_through run_there TCP:127.0.0.1:7102 master.log
}

@test "-D grows the server's window" {
	start_services run_there
	start_forwarding -D 7103
	push_through run_here SOCKS4:127.0.0.1:127.0.0.1:7002,socksport=7103 \
	    "$(sshd_log hayate)"
}

# Stock writes its SOCKS reply into the same buffer as the server's data and
# counts it as consumed. So more bytes are consumed than arrived, and the backlog
# that wtune_channel() computes must not wrap below 0.
@test "-D grows the client's window" {
	start_services run_there
	start_forwarding -D 7103
	pull_through run_here SOCKS4:127.0.0.1:127.0.0.1:7001,socksport=7103 master.log
}

@test "-R without a destination grows the window of the receiving side" {
	start_services run_here
	start_forwarding -R 7103
	pull_through run_there SOCKS4:127.0.0.1:127.0.0.1:7001,socksport=7103 \
	    "$(sshd_log hayate)"
	push_through run_there SOCKS4:127.0.0.1:127.0.0.1:7002,socksport=7103 master.log
}

@test "-W grows the window of the receiving side" {
	start_services run_there
	client -vv -W 127.0.0.1:7001 hayate </dev/null >got 2>get.log
	cmp "$SOME" got
	has_window_grown get.log
	: >"$(sshd_log hayate)"
	client -W 127.0.0.1:7002 hayate <"$SOME"
	poll 10 cmp -s "$SOME" sunk
	has_window_grown "$(sshd_log hayate)"
}

@test "-L of a local socket grows the window of the receiving side" {
	start_services run_there
	start_forwarding -L "$T/l1:$T/source" -L "$T/l2:$T/sink"
	pull_through run_here UNIX-CONNECT:"$T/l1" master.log
	push_through run_here UNIX-CONNECT:"$T/l2" "$(sshd_log hayate)"
}

@test "-R of a local socket grows the window of the receiving side" {
	start_services run_here
	start_forwarding -R "$T/r1:$T/source" -R "$T/r2:$T/sink"
	pull_through run_there UNIX-CONNECT:"$T/r1" "$(sshd_log hayate)"
	push_through run_there UNIX-CONNECT:"$T/r2" master.log
}

### Paths whose RTT no socket knows

# has_grown_by_edge LOG: succeeds if the window grew without a round trip time of the
# transport
has_grown_by_edge() {
	grep -q 'grow: the window is what limits (rtt 0\.0 ms' "$1" &&
	    ! grep -q 'grow: the path holds more (rtt 0\.0 ms' "$1"
}

@test "with ProxyCommand the age of credits alone grows the client's window" {
	need socat
	download_some hayate -o ProxyCommand="socat -b 65536 - TCP:%h:%p,nodelay"
	has_window_grown get.log
	has_grown_by_edge get.log
}

@test "with ProxyJump the age of credits alone grows the client's window" {
	download_some hayate -J stock
	has_window_grown get.log
	has_grown_by_edge get.log
}

### Readers

# send_paced: sends 64 KiB each 10 ms
send_paced() {
	perl -e 'while (sysread STDIN, $_, 65536) {
	    syswrite STDOUT, $_; select undef, undef, undef, 0.01 }'
}

# check_waiting LOG: checks that nothing that waited was ever more than the window
check_waiting() {
	[ "$(tr -d '\r' <"$1" |
	    sed -n 's/.*: window \([0-9]*\) -> .* waiting \([0-9]*\)).*/\1 \2/p' |
	    awk '$2 > $1' | wc -l)" = 0 ]
}

@test "a slow reader does not grow the window and gets every byte" {
	client -vv hayate "cat $SOME" 2>get.log | send_paced >got
	cmp "$SOME" got
	has_decision "hold: the reader lags" get.log
	check_waiting get.log
}

# read_peak_memory PID: prints the most bytes that it ever held
read_peak_memory() { awk '/^VmHWM/ { print $2 * 1024 }' "/proc/$1/status"; }

@test "a reader that stops costs at most its window in memory, and then continues" {
	local window
	client hayate "echo \$PPID >$T/pid; head -c 20000000 >$T/head; touch $T/stop
	    until [ -e $T/go ]; do sleep 0.05; done; cat >$T/tail" <"$BULK" &
	pids+=($!)
	poll 20 test -e stop
	poll 20 is_path_quiet
	window=$(find_widest_window "$(sshd_log hayate)")
	echo "window $window, memory $(read_peak_memory "$(cat pid)")"
	[ "$window" -gt "$STOCK_WINDOW" ]
	[ "$(read_peak_memory "$(cat pid)")" -lt $((2 * window + (24 << 20))) ]
	touch go
	wait "${pids[0]}"
	cat head tail | cmp - "$BULK"
	check_waiting "$(sshd_log hayate)"
}

@test "a reader that closes early ends its session as in stock and no other" {
	local CLIENT s=()
	for CLIENT in stock hayate; do
		client hayate "cat $SOME" | head -c 3000000 >got.$CLIENT
		s+=("${PIPESTATUS[0]}")
		client hayate "head -c 3000000" <"$SOME" >put.$CLIENT
		s+=($?)
		cmp -n 3000000 "$SOME" got.$CLIENT
		cmp -n 3000000 "$SOME" put.$CLIENT
	done
	[ "${s[0]} ${s[1]}" = "${s[2]} ${s[3]}" ]
	start_master
	client -S "$T/ctl" hayate "cat $SOME" | head -c 3000000 >got
	client -S "$T/ctl" hayate "head -c 3000000 >/dev/null" <"$SOME"
	client -S "$T/ctl" hayate "cat $SOME" >got
	cmp "$SOME" got
}

### A path that changes

# send_endless: sends SOME repeatedly until T/stop exists
send_endless() {
	client -vv hayate "until [ -e $T/stop ]; do cat $SOME; done |
	    tee >(sha256sum >$T/sent)" 2>get.log | sha256sum >got
}

is_wider_than() { [ "$(find_widest_window get.log)" -gt "$1" ]; }
find_latest_window() { list_windows get.log | tail -1 | cut -d' ' -f3; }
is_narrower_than() { [ "$(find_latest_window)" -lt "$1" ]; }
# The queue of a path that became slower may be noticed first.
is_too_large() {
	has_decision "withdraw: the path holds less" get.log ||
	    has_decision "hold: more would wait in a queue" get.log
}

@test "the window grows for a longer path and is withdrawn for a slower one" {
	local before
	"$LFP" set "$P" --rtt 30ms
	send_endless &
	pids+=($!)
	poll 10 is_wider_than "$STOCK_WINDOW"
	before=$(find_widest_window get.log)
	"$LFP" set "$P" --rtt 120ms
	poll 20 is_wider_than $((before * 2))
	sleep 2			# what was asked has been answered
	before=$(find_latest_window)
	"$LFP" set "$P" --rate 40mbit
	poll 30 is_too_large
	poll 30 is_narrower_than "$before"		# it may have grown meanwhile
	touch stop
	wait "${pids[0]}"
	cmp sent got
}

# run_idler: downloads SOME twice with a pause between, begun by setup_file
run_idler() {
	cd "$BATS_FILE_TMPDIR" || return
	client -vv idle "cd $PWD; cat some; touch idle
	    until [ -e resume ]; do sleep 0.1; done; cat some" >idle.got 2>idle.log
	touch idle.done
}

is_older() { (($(date +%s) - $(stat -c %Y "$1") > $2)); }

@test "an idle channel withdraws its window and continues intact" {
	cd "$BATS_FILE_TMPDIR"
	poll 20 test -e idle
	poll 15 is_older idle 11
	touch resume
	poll 20 test -e idle.done
	cat some some | cmp - idle.got
	has_window_grown idle.log
	has_decision "withdraw: the channel idled" idle.log
}

@test "a path that is too slow for large packets gets packets of 32 KiB" {
	"$LFP" set "$P" --rate 50mbit --rate-back 50mbit --rtt 2ms
	client hayate -vvv "cat >/dev/null" <"$SOME" 2>log
	fails grep 'packets of up to' log
	client hayate "cat $SOME" | cmp - "$SOME"
}
