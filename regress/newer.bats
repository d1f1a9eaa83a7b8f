#!/usr/bin/env bats
# Needs: hayate
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# What OpenSSH brought after 10.0, with our parts at work. A test is skipped where
# the release has not what it is about. "ssh -O conninfo" in clear is in
# authonly.bats, the class of traffic of a wide copy in stripe.bats.

load helper

MLDSA=ssh-mldsa44-ed25519@openssh.com

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	sshd_up hayate "MaxRate 15M"
	sshd_up hayate:old "MaxRate 15M" "KexAlgorithms curve25519-sha256"
	head -c 40000000 /dev/urandom >data
	if "$(bin ssh-keygen)" -q -t mldsa44-ed25519 -N '' -f mldsa 2>/dev/null; then
		"$(bin ssh-keygen)" -q -t mldsa44-ed25519 -N '' -f mldsa-host
		cat mldsa.pub >>authorized_keys
		echo "mldsa-host $(cat mldsa-host.pub)" >>known_hosts
		sshd_up hayate:mldsa "MaxRate 15M" "NoneEnabled yes" \
		    "HostKey $PWD/mldsa-host" "HostKeyAlgorithms $MLDSA" \
		    "PubkeyAcceptedAlgorithms $MLDSA"
	fi
	mkdir home
}

teardown_file() { sshd_down; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	T=$BATS_TEST_TMPDIR
	F=$BATS_FILE_TMPDIR
	AGENT=''
}

teardown() {
	[ -z "$AGENT" ] || kill "$AGENT" 2>/dev/null || :
	[ ! -S ctl ] || client -S ctl -O exit hayate 2>/dev/null || :
}

# need_text PROGRAM TEXT RELEASE: skips the test if the program lacks this text, which
# came with that release
need_text() {
	grep -qaF -- "$2" "$(bin "$1")" || skip "$2 is new in $3"
}

# check_logins SERVER N COMMAND...: checks that COMMAND succeeds with N logins; its errors
# are in "said"
check_logins() {
	local before
	before=$(count_logins "$1")
	"${@:3}" 2>said || { cat said; return 1; }
	[ $(($(count_logins "$1") - before)) = "$2" ] ||
	    { echo "$(($(count_logins "$1") - before)) logins"; cat said; return 1; }
}

# copy_over_four ARG...: runs scp, as slow as four connections are
copy_over_four() { copy -j 4 -o MaxRate=60M "$@"; }

### Key exchanges without a post-quantum part

WARNING='WARNING: connection is not using a post-quantum key exchange'

# The list is the server's: who writes one for the client is not warned.
@test "a key exchange without a post-quantum part causes one warning for all connections of a copy" {
	need_text ssh "$WARNING" 10.1
	client old true 2>said
	[ "$(grep -c "$WARNING" said)" = 1 ]
	check_logins old 4 copy_over_four "$F/data" "old:$T/got"
	[ "$(grep -c "$WARNING" said)" = 1 ]
	cmp "$F/data" got
	check_logins hayate 4 copy_over_four "$F/data" "hayate:$T/got"
	[ ! -s said ]
	check_logins old 4 copy_over_four -o WarnWeakCrypto=no "$F/data" "old:$T/got"
	[ ! -s said ]
}

### Agents

# start_agent: starts ours, with the key of the user; its home is "home"
start_agent() {
	mkdir -p home
	HOME=$T/home "$(bin ssh-agent)" -s >agent.sh 3>&-
	. ./agent.sh >/dev/null
	AGENT=$SSH_AGENT_PID
	"$(bin ssh-add)" -q "$F/user"
}

# make_home_script: makes a script that gives the server "home" of the suite as the home
# of the user
make_home_script() {
	printf '%s\n' '#!/bin/sh' 'd=$(dirname "$0")' \
	    'mount --bind "$d/passwd" /etc/passwd && exec "$@"' >"$F/in-home"
	chmod +x "$F/in-home"
	awk -F : -v OFS=: -v u="$(id -un)" -v h="$F/home" '$1 == u { $6 = h } { print }' \
	    /etc/passwd >"$F/passwd"
}

@test "agents listen in the home, and a forwarded one is gone with its session" {
	need_root "another home"
	unshare -m true 2>/dev/null || skip "no mount namespace"
	need_text ssh-agent .ssh/agent 10.1
	make_home_script
	IN_SERVER="unshare -m $F/in-home" sshd_up hayate:home "AllowAgentForwarding yes"
	start_agent
	[[ $SSH_AUTH_SOCK = $T/home/.ssh/agent/s.*.agent.* ]]
	run -0 --separate-stderr client -A -o IdentityAgent=SSH_AUTH_SOCK home \
	    'echo "$SSH_AUTH_SOCK"; '"$(bin ssh-add)"' -l'
	[[ ${lines[0]} = $F/home/.ssh/agent/s.*.sshd.* ]]
	[[ ${lines[1]} = "256 SHA256:"* ]]
	poll 5 fails test -e "${lines[0]}"
	[ -d "$F/home/.ssh/agent" ]
}

@test "an agent in the home serves all connections of a copy" {
	need_text ssh-agent .ssh/agent 10.1
	start_agent
	mv "$F/user" "$F/user.away"
	check_logins hayate 4 copy_over_four -o IdentityAgent=SSH_AUTH_SOCK "$F/data" \
	    "hayate:$T/got" || { mv "$F/user.away" "$F/user"; return 1; }
	mv "$F/user.away" "$F/user"
	cmp "$F/data" got
}

### What a shared connection carries

# is_channel_listed PATTERN: succeeds if "ssh -O channels" prints a line that matches
is_channel_listed() { client -S ctl -O channels hayate | tr -d '\r' | grep -qE "$1"; }

@test "ssh -O channels lists sessions, copies and forwarded connections, with their queued bytes" {
	local pid
	run -255 client -S none -O channels hayate
	[[ $output != *"Invalid multiplex command"* ]] || skip "ssh -O channels is new in 10.3"
	client -M -N -f -S ctl -L "$T/at:127.0.0.1:$(sshd_port hayate)" hayate
	fails is_channel_listed session
	# A reader that stops, a copy, and a connection that is forwarded
	mkfifo stopped
	sh -c 'exec sleep 60' <stopped 3>&- &
	pid=$!
	client -S ctl hayate "cat $F/data" >stopped &
	head -c 10000000 "$F/data" >less
	copy -q -l 20000 -o ControlPath="$T/ctl" less "hayate:$T/got" &
	socat -u "UNIX-CONNECT:$T/at" OPEN:banner,creat &
	poll 10 is_channel_listed ' client-session \(.*\[session:subsystem:sftp\].* B\)$'
	poll 10 is_channel_listed ' client-session \(.*\[session:command\].* o0/[0-9]{6,} .* B\)$'
	poll 10 is_channel_listed ' (127.0.0.1|direct-streamlocal).* \(t4 \[direct-'
	kill $pid %?socat
	poll 20 fails is_channel_listed 'session:command'
	wait
	poll 10 fails is_channel_listed 'session|direct'
	cmp less got
}

### Keys that a quantum computer does not forge

# The algorithm is off unless it is named, at both ends.
KEYS=(-o "HostKeyAlgorithms=$MLDSA" -o "PubkeyAcceptedAlgorithms=$MLDSA"
    -o HostKeyAlias=mldsa-host)

# need_mldsa: skips the test where such keys do not exist
need_mldsa() { [ -s "$F/mldsa" ] || skip "ML-DSA keys are new in 10.4"; }

# A further connection compares the host's key with that of the first.
@test "ML-DSA keys of host and user serve all connections of a copy" {
	need_mldsa
	check_logins mldsa 4 copy_over_four -v "${KEYS[@]}" -i "$F/mldsa" "$F/data" "mldsa:$T/got"
	cmp "$F/data" got
	grep "Server host key: $MLDSA SHA256:" said
	wait_for_log mldsa 'Accepted publickey .*MLDSA44-ED25519 SHA256:'
	check_logins mldsa 4 copy_over_four "${KEYS[@]}" -i "$F/mldsa" "mldsa:$F/data" back
	cmp "$F/data" back
}

@test "an agent has an ML-DSA key, and a session that it opens can be in clear" {
	need_mldsa
	start_agent
	"$(bin ssh-add)" -q -D
	"$(bin ssh-add)" -q "$F/mldsa"
	run -0 --separate-stderr client -o NoneEnabled=yes -o NoneSwitch=yes \
	    "${KEYS[@]}" -o IdentityAgent=SSH_AUTH_SOCK -i "$F/mldsa.pub" \
	    mldsa "cksum <$F/data"
	[ "$output" = "$(cksum <"$F/data")" ]
	check_none_line "data is in clear from here on"
}
