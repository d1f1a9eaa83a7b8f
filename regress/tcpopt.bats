#!/usr/bin/env bats
# Needs: hayate stock path timed
# CongestionControl, MaxRate and a login without waits (channels/tcpopt-hook.h):
# what the sockets at both ends of a connection have.

load helper

# An algorithm that users may choose and that is not the default
OTHER=$(tr ' ' '\n' </proc/sys/net/ipv4/tcp_allowed_congestion_control |
    grep -vxm 1 "$(</proc/sys/net/ipv4/tcp_congestion_control)" || :)
DEFAULT=$(</proc/sys/net/ipv4/tcp_congestion_control)

setup_file() {
	sshd_up hayate:plain "LogLevel VERBOSE"
	[ -z "$OTHER" ] || sshd_up hayate:set "LogLevel VERBOSE" \
	    "CongestionControl reno" "MaxRate 9M" \
	    "Match Address 127.0.0.1" "CongestionControl $OTHER" "MaxRate 3M" \
	    "Match Address 192.0.2.0/24" "MaxRate 1M" "Match all"
	sshd_up hayate:unknown "LogLevel VERBOSE" "CongestionControl nosuch"
	sshd_up hayate:off "Hayate no" "CongestionControl reno" "MaxRate 3M"
}
teardown_file() { sshd_down; }

setup() {
	need ss iproute2
	[ -n "$OTHER" ] || skip "the kernel allows users no other algorithm"
	cd "$BATS_TEST_TMPDIR"
	mkfifo hold
}

# A session reads "hold", which ends when 8 is closed.
teardown() {
	exec 8>&-
	[ -z "$SESSION" ] || wait "$SESSION" || :
}

# start_waiting COMMAND...: starts a session that stays; its output goes to "where"
start_waiting() {
	exec 8<>hold
	"$@" <hold >where 2>err 8>&- &
	SESSION=$!
}

# start_session ARG... HOST: starts one that stays; sets NEAR and FAR, which choose the
# sockets of the client and of the server
start_session() {
	local c s
	start_waiting client "$@" 'echo $SSH_CONNECTION; exec cat'
	poll 10 test -s where
	read -r _ c _ s <where
	NEAR="sport = :$c and dport = :$s" FAR="sport = :$s and dport = :$c"
}

# has_options SOCKET ALGORITHM RATE: succeeds if the socket has both; RATE may be none
has_options() {
	local line
	line=$(ss -Htin "$1" | tail -n 1)
	case $3 in
	none)	[[ $line = *pacing_rate* && ! $line =~ pacing_rate\ [0-9.]+bps/ ]] ;;
	*)	[[ $line =~ pacing_rate\ [0-9.]+bps/$(($3 * 8))bps ]] ;;
	esac && [[ $line =~ ^[[:space:]]+$2[[:space:]] ]]
}
# wait_for_options SOCKET ALGORITHM RATE: waits up to 5 seconds for them
wait_for_options() { poll 5 has_options "$@" || { ss -Htin "$1"; return 1; }; }

@test "without the keywords both ends keep the system's choice" {
	start_session plain
	sleep 0.5
	has_options "$NEAR" "$DEFAULT" none
	has_options "$FAR" "$DEFAULT" none
}

@test "ssh sets both options on its own socket only" {
	start_session -o "CongestionControl $OTHER" -o "MaxRate 5M" plain
	wait_for_options "$NEAR" "$OTHER" $((5 << 20))
	has_options "$FAR" "$DEFAULT" none
}

@test "sshd sets both options of the Match block on its own socket only" {
	start_session set
	wait_for_options "$FAR" "$OTHER" $((3 << 20))
	has_options "$NEAR" "$DEFAULT" none
}

@test "in ssh the Host block decides" {
	cat >config <<-EOF
	Host plain
		CongestionControl $OTHER
	Host set
		MaxRate 2M
	Match all
	Include $BATS_FILE_TMPDIR/ssh_config
	EOF
	start_session -F config plain
	wait_for_options "$NEAR" "$OTHER" none
	teardown
	rm where
	start_session -F config set
	wait_for_options "$NEAR" "$DEFAULT" $((2 << 20))
}

@test "Hayate no leaves both ends alone" {
	start_session -o "Hayate no" -o "CongestionControl $OTHER" -o "MaxRate 5M" off
	sleep 0.5
	has_options "$NEAR" "$DEFAULT" none
	has_options "$FAR" "$DEFAULT" none
}

@test "an unknown algorithm causes one message, and the login works with the default" {
	run -0 --separate-stderr client -o CongestionControl=nosuch unknown echo in
	[ "$output" = in ]
	[ "${stderr%$'\r'}" = "CongestionControl nosuch has no effect: the kernel has no such algorithm" ]
	run -0 --separate-stderr client -o LogLevel=FATAL -o CongestionControl=nosuch unknown echo in
	[ "$output" = in ]
	[ "$(grep -c 'nosuch has no effect: the kernel has no such' <<<"$stderr")" = 1 ]
	run -0 --separate-stderr client -q -o CongestionControl=nosuch unknown echo in
	[ "$output" = in ]
	[ -z "$stderr" ]
	: >"$(sshd_log unknown)"
	start_session -o CongestionControl=nosuch unknown
	wait_for_log unknown 'CongestionControl nosuch has no effect: the kernel has no such algorithm'
	[ "$(grep -c nosuch "$(sshd_log unknown)")" = 1 ]
	has_options "$NEAR" "$DEFAULT" none
	has_options "$FAR" "$DEFAULT" none
}

@test "the message about an unknown algorithm is in each log, and printed by sshd -t" {
	local level
	for level in ERROR INFO; do
		sshd_up hayate:$level "LogLevel $level" "CongestionControl nosuch"
		client $level true
		sshd_down $level
		# of the listener, and of the session
		[ "$(grep -c 'CongestionControl nosuch has no effect: ' "$(sshd_log $level)")" = 2 ]
	done
	printf '%s\n' "Match user x" "CongestionControl \"nosuch\"" "Match user y" \
	    "CongestionControl default" "Match user z" "CongestionControl $OTHER" >s
	run -0 "$(bin sshd)" -t -f s -h "$BATS_FILE_TMPDIR/host"
	[ "${output//$'\r'}" = "s line 2: CongestionControl nosuch has no effect: the kernel does not list it in /proc/sys/net/ipv4/tcp_allowed_congestion_control, as one whose module is not loaded" ]
}

@test "a ProxyCommand's pipe is left alone, with one message for each option" {
	need socat
	run -0 --separate-stderr client -v -o CongestionControl="$OTHER" -o MaxRate=1M \
	    -o "ProxyCommand socat - TCP:127.0.0.1:$(sshd_port plain)" plain echo in
	[ "$output" = in ]
	[ "$(grep -c 'has no effect: the connection is no TCP connection' <<<"$stderr")" = 2 ]
}

@test "the ssh of a ProxyJump sets what the jump host's block says" {
	local port
	port=$(sshd_port plain)
	cat >config <<-EOF
	Host plain
		CongestionControl $OTHER
		MaxRate 5M
	Match all
	Include $BATS_FILE_TMPDIR/ssh_config
	EOF
	start_waiting client -F config -J plain unknown 'echo in; exec cat'
	poll 10 test -s where
	wait_for_options "dport = :$port" "$OTHER" $((5 << 20))
}

download_data() { client set 'head -c 6M /dev/zero' >got; }

@test "nothing is sent faster than MaxRate, in either direction" {
	local t
	head -c 6M /dev/zero >data
	t=$(measure_seconds client -o MaxRate=2M plain 'cat >/dev/null' <data)
	check_true "6 / $t <= 2.5"
	t=$(measure_seconds download_data)
	cmp got data
	check_true "6 / $t <= 3.75"
}

@test "sshd sets both options with the privileges of the user" {
	need_root
	sshd_up hayate:user "CongestionControl $OTHER" "MaxRate 3M" \
	    "AuthorizedKeysCommand /bin/echo $(cat "$BATS_FILE_TMPDIR/user.pub")" \
	    "AuthorizedKeysCommandUser nobody" "ForceCommand internal-sftp"
	start_waiting client -l nobody -s user sftp
	wait_for_options "sport = :$(sshd_port user)" "$OTHER" $((3 << 20))
	wait_for_log user 'MaxRate 3145728'
	ps -o user= -p "$(sed -n 's/.*User child is on pid \([0-9]*\).*/\1/p' \
	    "$(sshd_log user)")" | grep -qx nobody
	sshd_down user
}

# list_order ARG...: prints the order in which ssh does two things, and what it cannot do
list_order() {
	client -vv "$@" plain true 2>&1 >/dev/null | tr -d '\r' |
	    sed -n 's/^debug2: fd [0-9]* setting TCP_NODELAY$/at once/p
	    s/^debug1: SSH2_MSG_NEWKEYS sent$/keys/p
	    s/^debug1: getsockopt TCP_NODELAY.*/refused/p'
}

@test "no message of a login waits for a TCP acknowledgement, except with Hayate no" {
	need socat
	[ "$(list_order | xargs)" = 'at once keys' ]
	[ "$(list_order -o "Hayate no" | xargs)" = 'keys at once' ]
	[ "$(list_order -o "ProxyCommand socat - TCP:127.0.0.1:$(sshd_port plain)" | xargs)" = keys ]
}
