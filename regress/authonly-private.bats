#!/usr/bin/env bats
# Needs: hayate stock peers
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Data in clear: only a session that asked, and that runs a command or a
# subsystem, is in clear. Everything else on a connection is encrypted, with any
# peer.
#
# A ProxyCommand records both directions in files.

load helper

setup_file() {
	sshd_up hayate:open "NoneEnabled yes" "AllowAgentForwarding yes" \
	    "PermitTunnel yes"
	# The recorder on the path: wire PORT FILE
	cat >"$BATS_FILE_TMPDIR/wire" <<-'END'
	#!/bin/bash
	exec 3<>"/dev/tcp/127.0.0.1/$1" 4<&0
	tee -a "$2.up" <&4 >&3 &
	exec tee -a "$2.down" <&3
	END
	# A service that gives back what it gets: echo PATH, on a port as well
	cat >"$BATS_FILE_TMPDIR/echo" <<-'END'
	import socketserver, sys, threading
	class Echo(socketserver.StreamRequestHandler):
	    def handle(self):
	        for line in self.rfile:
	            self.wfile.write(line)
	class Tcp(socketserver.ThreadingTCPServer): daemon_threads = True
	class Unix(socketserver.ThreadingUnixStreamServer): daemon_threads = True
	unix = Unix(sys.argv[1], Echo)
	threading.Thread(target=unix.serve_forever, daemon=True).start()
	tcp = Tcp(("127.0.0.1", 0), Echo)
	print(tcp.server_address[1], flush=True)
	tcp.serve_forever()
	END
	chmod +x "$BATS_FILE_TMPDIR/wire"
	python3 "$BATS_FILE_TMPDIR/echo" "$BATS_FILE_TMPDIR/sock" \
	    >"$BATS_FILE_TMPDIR/echo.port" 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/echo.pid"
	poll 10 test -s "$BATS_FILE_TMPDIR/echo.port"
}
teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/echo.pid")" || true
	sshd_down
}

setup() {
	ASK=(-o NoneEnabled=yes -o NoneSwitch=yes)
	cd "$BATS_TEST_TMPDIR"
	CTL=$PWD/ctl
	ECHO=127.0.0.1:$(cat "$BATS_FILE_TMPDIR/echo.port")
	SOCK=$BATS_FILE_TMPDIR/sock
}
teardown() {
	[ -z "${MASTER:-}" ] || kill "$MASTER" 2>/dev/null || true
	[ -z "${PEER:-}" ] || kill "$PEER" 2>/dev/null || true
}

# print_recorder [PORT]: prints the option that records a connection
print_recorder() {
	echo "-oProxyCommand=$BATS_FILE_TMPDIR/wire ${1-$(sshd_port open)} $PWD/wire"
}
is_on_wire() { grep -aqF -- "$1" wire.up || grep -aqF -- "$1" wire.down; }
is_not_on_wire() {
	if is_on_wire "$1"; then echo "seen on the way: $1"; return 1; fi
}

# start_master OPTION...: starts a master in clear in the background; sets MASTER
start_master() {
	# shellcheck disable=SC2086 # none, or one
	timeout 60 "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" "${ASK[@]}" \
	    "$(print_recorder ${PORT-})" -M -S "$CTL" -N "$@" open </dev/null 2>master.err 3>&- &
	MASTER=$!
	poll 10 test -S "$CTL"
	poll 10 grep -q 'NoneSwitch: data is in clear' master.err
}
stop_master() {
	client -q -S "$CTL" -O exit open
	wait "$MASTER" || true
	MASTER=
}

# echo_in_clear SAYING...: prints SAYING in a session of the master that requested data in
# clear
echo_in_clear() { client -q "${ASK[@]}" -S "$CTL" open "echo $1" | grep -qx "$1"; }

# check_encrypted_again CLAUSE: checks that the master reported why it is encrypted again
check_encrypted_again() {
	poll 10 grep -q "NoneSwitch: data is encrypted again, because $1" master.err || {
		cat master.err
		return 1
	}
}

# use_port PORT SAYING: says it to the service behind, and hears it
use_port() {
	local heard
	exec 5<>"/dev/tcp/127.0.0.1/$1"
	echo "$2" >&5
	read -r -t 10 heard <&5
	exec 5>&-
	[ "$heard" = "$2" ]
}
use_socket() {
	python3 - "$@" <<-'END'
	import socket, sys
	s = socket.socket(socket.AF_UNIX)
	s.connect(sys.argv[1])
	said = sys.argv[2].encode() + b"\n"
	s.sendall(said)
	sys.exit(s.makefile("rb").readline() != said)
	END
}
print_free_port() { echo $((20000 + RANDOM % 12000)); }

# request_forward OPTION...: asks the master for a forwarding, from a process that itself
# requests data in clear
request_forward() { client "${ASK[@]}" -S "$CTL" -O forward "$@" open; }

# A forwarding over a master in clear: FUNCTION of one that uses it
check_forward() {
	start_master
	echo_in_clear said-in-clear
	is_on_wire said-in-clear
	"$1" said-by-a-program
	is_not_on_wire said-by-a-program
	check_encrypted_again "a forwarding was requested"
	echo_in_clear said-later
	is_not_on_wire said-later
	stop_master
}

forward_local_port() {
	local port
	port=$(print_free_port)
	request_forward -L "$port:$ECHO" && use_port "$port" "$1"
}
forward_remote_port() {
	local port
	port=$(request_forward -R "0:$ECHO") && use_port "$port" "$1"
}
forward_dynamic_port() {
	local port
	port=$(print_free_port)
	request_forward -D "$port" && python3 - "$port" "${ECHO#*:}" "$1" <<-'END'
	import socket, struct, sys
	s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
	s.sendall(b"\4\1" + struct.pack(">H", int(sys.argv[2])) + b"\x7f\0\0\1\0")
	f = s.makefile("rb")
	assert f.read(8)[1] == 90
	said = sys.argv[3].encode() + b"\n"
	s.sendall(said)
	sys.exit(f.readline() != said)
	END
}
forward_local_socket() { request_forward -L "$PWD/l:$SOCK" && use_socket "$PWD/l" "$1"; }
forward_remote_socket() { request_forward -R "$PWD/r:$SOCK" && use_socket "$PWD/r" "$1"; }
forward_stdio() {
	local heard
	coproc W { client "${ASK[@]}" -S "$CTL" -W "$ECHO" open 2>w.err; }
	echo "$1" >&"${W[1]}"
	read -r -t 10 heard <&"${W[0]}"
	kill "$W_PID"
	[ "$heard" = "$1" ] &&
	    grep -q 'NoneSwitch: data stays encrypted, because a forwarding' w.err
}

@test "data of -L is encrypted before its first byte" { check_forward forward_local_port; }
@test "data of -R is encrypted before its first byte" { check_forward forward_remote_port; }
@test "data of -D is encrypted before its first byte" { check_forward forward_dynamic_port; }
@test "data of -W is encrypted before its first byte" { check_forward forward_stdio; }
@test "data of -L between local sockets is encrypted before its first byte" { check_forward forward_local_socket; }
@test "data of -R between local sockets is encrypted before its first byte" { check_forward forward_remote_socket; }

@test "data of a tunnel is encrypted before its first byte" {
	need_root "a tunnel"
	[ -c /dev/net/tun ] && (exec 6<>/dev/net/tun) 2>/dev/null ||
	    skip "no tun devices here"
	timeout 60 "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" -v "${ASK[@]}" \
	    -w any:any -N open </dev/null 2>master.err 3>&- &
	MASTER=$!
	poll 10 grep -q 'NoneSwitch: \|Tunnel device open failed' master.err
	grep -q 'Tunnel forwarding using interface' master.err || skip "no tun devices are permitted"
	grep -q 'NoneSwitch: data stays encrypted, because a forwarding was requested' master.err
}

@test "a client that forwards from the start stays encrypted and reports why" {
	local what port
	port=$(print_free_port)
	for what in "-L $port:$ECHO" "-R 0:$ECHO" "-D $port" "-L $PWD/l1:$SOCK" "-R $PWD/r1:$SOCK"; do
		# shellcheck disable=SC2086 # an option and its value
		run -0 --separate-stderr client "${ASK[@]}" $what open true
		[ "$(grep NoneSwitch <<<"$stderr" | tr -d '\r')" = \
		    "NoneSwitch: data stays encrypted, because a forwarding was requested." ] || {
			echo "$what"; echo "$stderr"; return 1
		}
	done
}

@test "input typed at a terminal for -W is encrypted, with and without a master" {
	local n=0 via
	start_master
	for via in "$(print_recorder)" "-S$CTL"; do
		n=$((n + 1))
		cat >type <<-END
		#!/bin/sh
		exec $(bin ssh) -F $BATS_FILE_TMPDIR/ssh_config ${ASK[*]} '$via' -W $ECHO open
		END
		chmod +x type
		{ poll 10 grep -q 'NoneSwitch: data' "out$n" && echo "typed-for-w-$n"
		  poll 10 is_echoed "typed-for-w-$n" "out$n" || :; } |
		    script -qefc ./type "out$n" >/dev/null 3>&- || true
		is_echoed "typed-for-w-$n" "out$n"
		is_not_on_wire "typed-for-w-$n"
		grep -q 'data stays encrypted, because a forwarding was requested' "out$n"
	done
}
# The terminal repeats it, and so does the service.
is_echoed() { [ "$(grep -c "$1" "$2")" -ge 2 ]; }

@test "a shell is encrypted, with and without a terminal" {
	run -0 --separate-stderr client "${ASK[@]}" "$(print_recorder)" -T open <<<"echo said-to-a-shell"
	[[ $output = *said-to-a-shell* ]]
	[[ $stderr = *"data stays encrypted, because a shell was requested."* ]]
	is_not_on_wire said-to-a-shell
	start_master
	run -0 --separate-stderr client "${ASK[@]}" -S "$CTL" -T open <<<"echo said-to-a-shell"
	[[ $output = *said-to-a-shell* ]]
	[[ $stderr = *"data stays encrypted, because a shell was requested."* ]]
	is_not_on_wire said-to-a-shell
	check_encrypted_again "a shell was requested"
}

### Clients of one connection

# check_plain_session OPTION...: runs a session over a master in clear, and checks that
# its data is encrypted
check_plain_session() {
	start_master
	echo_in_clear said-in-clear
	is_on_wire said-in-clear
	CLIENT=${GUEST-hayate} client -q "$@" -S "$CTL" open \
	    "cat; echo 'command: secret'" <<<said-by-a-guest >got
	grep -qx said-by-a-guest got
	is_not_on_wire said-by-a-guest
	is_not_on_wire 'command: secret'
	check_encrypted_again "a session of the shared connection did not ask for it"
	stop_master
}

@test "a session that did not ask is encrypted over a shared connection" { check_plain_session; }
@test "a session with NoneSwitch but not NoneEnabled is encrypted over a shared connection" {
	check_plain_session -o NoneSwitch=yes
}
@test "a session with NoneEnabled but not NoneSwitch is encrypted over a shared connection" {
	check_plain_session -o NoneEnabled=yes
}
@test "a session with Hayate no is encrypted over a shared connection" {
	check_plain_session "${ASK[@]}" -o Hayate=no
}
@test "a session of stock OpenSSH is encrypted over our shared connection" {
	GUEST=stock check_plain_session
}

@test "scp and sftp that did not ask are encrypted over a shared connection" {
	printf '%s\n' file-of-scp >file
	start_master
	copy "${ASK[@]}" -o ControlPath="$CTL" file "open:$PWD/f1"
	cmp file f1
	is_on_wire file-of-scp
	printf '%s\n' file-that-said-no >file
	copy -o NoneEnabled=no -o ControlPath="$CTL" file "open:$PWD/f2"
	cmp file f2
	is_not_on_wire file-that-said-no
	printf '%s\n' file-of-sftp >file
	files -q -o ControlPath="$CTL" -b - open <<<"put $PWD/file $PWD/f3"
	cmp file f3
	is_not_on_wire file-of-sftp
}

@test "a session that asks over a shared connection gets one line about the result" {
	start_master
	run -0 --separate-stderr client "${ASK[@]}" -S "$CTL" open echo fine
	[ "$output" = fine ]
	check_none_line "data is in clear from here on, authenticated by "
	run -0 --separate-stderr client -q "${ASK[@]}" -S "$CTL" open true
	[ -z "$stderr" ]
	run -0 --separate-stderr client -S "$CTL" open true
	[ -z "$stderr" ]
	run -0 --separate-stderr client "${ASK[@]}" -S "$CTL" open echo fine
	check_none_line "data stays encrypted, because a session of the shared connection did not ask for it."
	run -0 --separate-stderr client -o NoneSwitch=yes -S "$CTL" open true
	check_none_line "data stays encrypted, because NoneEnabled is not set to yes here."
}

@test "a session learns that its master, ours or stock's, did not ask" {
	local build
	for build in hayate stock; do
		CLIENT=$build client -M -S "$CTL.$build" -N -f open
		run -0 --separate-stderr client "${ASK[@]}" -S "$CTL.$build" open echo fine
		client -q -S "$CTL.$build" -O exit open
		[ "$output" = fine ]
		check_none_line "data stays encrypted, because the master of the shared connection did not ask for it."
	done
}

@test "a session over a master learns that the server refuses" {
	sshd_up hayate:closed
	client -q "${ASK[@]}" -M -S "$CTL" -N -f closed
	run -0 --separate-stderr client "${ASK[@]}" -S "$CTL" closed true
	client -q -S "$CTL" -O exit closed
	check_none_line "data stays encrypted, because the server refused."
}

@test "ControlPersist reports the mode once, and later sessions have to ask" {
	run -0 --separate-stderr client "${ASK[@]}" "$(print_recorder)" -M -S "$CTL" \
	    -o ControlPersist=60 open "echo said-first"
	check_none_line "data is in clear from here on"
	is_on_wire said-first
	client -q -S "$CTL" open "echo said-by-a-guest" >/dev/null
	client -q -S "$CTL" -O exit open
	is_not_on_wire said-by-a-guest
}

@test "control commands to a master do not change its mode" {
	start_master
	client -S "$CTL" -O check open
	CLIENT=stock client -S "$CTL" -O check open
	echo_in_clear said-in-clear
	is_on_wire said-in-clear
	fails grep -q 'encrypted again' master.err
}

# send_hello HEX: prints the answer to a first message to the master with these extensions
send_hello() {
	python3 - "$CTL" "$@" <<-'END'
	import socket, struct, sys
	s = socket.socket(socket.AF_UNIX)
	s.connect(sys.argv[1])
	f = s.makefile("rb")
	size, = struct.unpack(">I", f.read(4))
	print(f.read(size)[8:])
	def string(b): return struct.pack(">I", len(b)) + b
	s.sendall(string(struct.pack(">II", 1, 4) + eval(sys.argv[2])))
	s.sendall(string(struct.pack(">II", 0x10000002, 0) + string(b"") +
	    struct.pack(">IIIII", 0, 0, 0, 0, 0xffffffff) + string(b"") +
	    string(b"echo said-after-an-odd-hello; exit 7")))
	# descriptors as mm_send_fd() sends them
	for fd in (0, 1, 2):
	    socket.send_fds(s, [b"\0"], [fd])
	while True:
	    head = f.read(4)
	    if len(head) < 4:
	        break
	    print(f.read(*struct.unpack(">I", head)).hex())
	END
}

@test "a request with an odd value or another name is ignored" {
	local odd
	for odd in 'b""' 'string(b"authonly@hayate.invalid") + string(b"")' \
	    'string(b"authonly@hayate.invalid") + string(b"TELL")' \
	    'string(b"authonly@hayate.invalid") + string(b"tell\0x")' \
	    'string(b"Clear@hayate.invalid") + string(b"tell")' \
	    'string(b"x") + string(b"authonly@hayate.invalid") + string(b"tell") + string(b"")'; do
		echo "$odd"
		start_master
		send_hello "$odd" >answers </dev/null
		grep -qx said-after-an-odd-hello answers
		is_not_on_wire said-after-an-odd-hello
		check_encrypted_again "a session of the shared connection did not ask for it"
		stop_master
		rm wire.*
	done
}

@test "a request after an unknown extension counts, and a truncated one ends only its client" {
	start_master
	send_hello 'string(b"x") + string(b"y") + string(b"authonly@hayate.invalid") + string(b"quiet")' \
	    >answers </dev/null
	grep -qx said-after-an-odd-hello answers
	grep -aqF authonly@hayate.invalid answers
	is_on_wire said-after-an-odd-hello
	send_hello 'string(b"authonly@hayate.invalid") + b"\0\0\0\4te"' >answers </dev/null || true
	fails grep -q said-after answers
	echo_in_clear said-in-clear
	is_on_wire said-in-clear
}

### ssh -O proxy

# run_proxied OPTION...: runs a proxied client of the master
run_proxied() { client "${ASK[@]}" -S "$CTL" -O proxy "$@"; }

@test "a proxied client is encrypted from the moment it attaches" {
	start_master
	echo_in_clear said-in-clear
	is_on_wire said-in-clear
	run --separate-stderr run_proxied open "echo said-by-the-proxied" </dev/null
	[[ $output = *said-by-the-proxied* ]]
	[[ $stderr = *"NoneSwitch: data stays encrypted, because a proxied client is attached."* ]]
	is_not_on_wire said-by-the-proxied
	check_encrypted_again "a proxied client is attached"
}

@test "input typed for a proxied client with a terminal is encrypted" {
	start_master
	{ echo typed-for-a-pty; echo exit; } | run_proxied -q -tt open 'read a; echo got-$a' >got || true
	grep -q got-typed-for-a-pty got
	is_not_on_wire typed-for-a-pty
	check_encrypted_again "a proxied client is attached"
}

# start_peer: starts another implementation's server, which speaks "none"; sets PEER and
# PORT
start_peer() {
	"$REGRESS/peers/authonly-peer" 2>&1 | grep -q CIPHER ||
	    skip "no asyncssh, which is in the package python3-asyncssh"
	"$REGRESS/peers/authonly-peer" server "$BATS_FILE_TMPDIR/host" \
	    "$BATS_FILE_TMPDIR/authorized_keys" >port 2>peer.log 3>&- &
	PEER=$!
	poll 10 test -s port
	PORT=$(cat port)
}

@test "input of a proxied client and its echo are encrypted to a foreign server" {
	start_peer
	start_master
	client -q "${ASK[@]}" -S "$CTL" open true <<<said-in-clear >got
	is_on_wire said-in-clear
	timeout 20 "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" -S "$CTL" -O proxy -tt open \
	    <<<typed-for-a-pty >got 2>&1 3>&- || true
	grep -q typed-for-a-pty got
	is_not_on_wire typed-for-a-pty
	check_encrypted_again "a proxied client is attached"
}

@test "an unrequested agent channel is encrypted before the client answers it" {
	local key=$BATS_FILE_TMPDIR/user
	start_peer
	eval "$(ssh-agent -a "$PWD/agent" 3>&-)" >/dev/null
	"$(bin ssh-keygen system)" -q -t ed25519 -N '' -C comment-of-my-key -f key
	SSH_AUTH_SOCK=$PWD/agent ssh-add -q key
	# A master that offers its agent, for sessions that never came
	SSH_AUTH_SOCK=$PWD/agent start_master -o ForwardAgent=yes -o IdentityAgent="$PWD/agent" \
	    -i "$key"
	client -q "${ASK[@]}" -S "$CTL" open agent </dev/null >got || true
	kill "$SSH_AGENT_PID"
	grep -qE '^agent [0-9]{2,}' got
	check_encrypted_again "a forwarding was requested"
	is_not_on_wire comment-of-my-key
}

### The server, and clients of another implementation

@test "while data is in clear the server refuses everything but commands" {
	start_peer
	"$REGRESS/peers/authonly-peer" client "$(sshd_port open)" \
	    "$BATS_FILE_TMPDIR/user" none hmac-sha2-256-etm@openssh.com -rest \
	    </dev/null >got 2>err
	grep -qx 'none none' err
	diff - got <<-END
	direct-tcpip refused: data is in clear
	direct-streamlocal@openssh.com refused: data is in clear
	tun@openssh.com refused: data is in clear
	odd refused: data is in clear
	tcpip-forward refused
	streamlocal-forward@openssh.com refused
	shell refused
	END
	local who
	who="$(id -un) from 127.0.0.1 port [0-9]+, because data is in clear"
	poll 5 grep -qE "Channel \"direct-tcpip\" refused to $who" "$(sshd_log open)"
	poll 5 grep -qE "Channel \"odd .*forgedy+\" refused to $who" "$(sshd_log open)"
	poll 5 grep -qE "Request \"tcpip-forward\" refused to $who" "$(sshd_log open)"
	poll 5 grep -qE "Request \"shell\" refused to $who" "$(sshd_log open)"
}
