#!/usr/bin/env bats
# Needs: hayate stock
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Data in clear: every way for an administrator to permit it (NoneEnabled,
# globally and in each kind of Match) with every kind of client. The server's log
# shows the result, and the client must have told its user the same:
#
#   clear      data went in clear until the connection ended
#   again      data went in clear, and encryption was restored later
#   refused    the server refused the request
#   encrypted  no request was sent

load helper

# Client, and the result where NoneEnabled is yes and where it is no
TABLE='
asks             clear      refused
asks_T           clear      refused
no_tty_in_file   clear      refused
forward_only     clear      refused
stdio_forward    encrypted  encrypted
local_forward    encrypted  encrypted
master           clear      refused
persists         clear      refused
get              clear      refused
put_O            clear      refused
sftp             clear      refused
rsync            clear      refused
tty_later        again      refused
guest_later      again      refused
tty              encrypted  encrypted
tty_in_file      encrypted  encrypted
wish_alone       encrypted  encrypted
silent           encrypted  encrypted
'

setup_file() {
	sshd_up stock
	TARGET=127.0.0.1:$(sshd_port stock)
	export TARGET
	head -c 100000 /dev/urandom >"$BATS_FILE_TMPDIR/data"
}
teardown_file() { sshd_down; }

setup() {
	DATA=$BATS_FILE_TMPDIR/data
	ASK=(-o NoneEnabled=yes -o NoneSwitch=yes)
	cd "$BATS_TEST_TMPDIR"
	CTL=$PWD/ctl
}

### Clients, each called with SERVER; they fail if they did not do their task

asks() { client "${ASK[@]}" "$1" true; }
asks_T() { client "${ASK[@]}" -T "$1" true; }
silent() { client "$1" true; }
wish_alone() { client -o NoneSwitch=yes "$1" true; }
tty() { client "${ASK[@]}" -tt "$1" true; }
tty_in_file() { filed "$1" force; }
no_tty_in_file() { filed "$1" no; }
filed() {	# SERVER REQUESTTTY
	{ printf 'Host %s\nRequestTTY %s\nNoneEnabled yes\nNoneSwitch yes\n' "$@"
	  cat "$BATS_FILE_TMPDIR/ssh_config"; } >config
	"$(bin ssh)" -F config "$1" true 3>&-
}

get() { copy "${ASK[@]}" "$1:$DATA" got && cmp got "$DATA"; }
put_O() { copy -O "${ASK[@]}" "$DATA" "$1:$PWD/put" && cmp put "$DATA"; }
sftp() {
	files "${ASK[@]}" -b - "$1" <<<"get $DATA $PWD/got.sftp" &&
	    cmp got.sftp "$DATA"
}
rsync() {
	command -v rsync >/dev/null || return 77
	command rsync -e "$(bin ssh) -F $BATS_FILE_TMPDIR/ssh_config ${ASK[*]}" \
	    "$1:$DATA" got.rsync 3>&- && cmp got.rsync "$DATA"
}

stdio_forward() {
	[ "$(client "${ASK[@]}" -W "$TARGET" "$1" </dev/null | head -c 8)" = SSH-2.0- ]
}
forward_only() { up "$1" && down "$1"; }
local_forward() {
	local port=$((20000 + RANDOM % 12000))
	up "$1" -o ExitOnForwardFailure=yes -L "$port:$TARGET" || return
	[ "$(head -c 8 <"/dev/tcp/127.0.0.1/$port")" = SSH-2.0- ] && down "$1"
}
master() { up "$1" && over "$1" && down "$1"; }
persists() {
	client "${ASK[@]}" -M -S "$CTL" -o ControlPersist=60 "$1" true &&
	    over "$1" && down "$1"
}
# A client that "-f" put into the background cannot report, so this master stays
# in the foreground.
tty_later() {
	timeout 60 "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" "${ASK[@]}" \
	    -M -S "$CTL" -N "$1" 3>&- &
	poll 10 test -S "$CTL" && client -q "${ASK[@]}" -S "$CTL" -tt "$1" true && over "$1" &&
	    down "$1" && { wait $! || :; }
}
guest_later() {
	timeout 60 "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" "${ASK[@]}" \
	    -M -S "$CTL" -N "$1" 3>&- &
	poll 10 test -S "$CTL" && client -S "$CTL" "$1" true && over "$1" &&
	    down "$1" && { wait $! || :; }
}

up() { client "${ASK[@]}" -M -S "$CTL" -N -f "${@:2}" "$1"; }
over() { client -q "${ASK[@]}" -S "$CTL" "$1" "cat $DATA" | cmp - "$DATA"; }
down() { client -q -S "$CTL" -O exit "$1"; }

### Results

# since MARK SERVER: its log from there on
since() { tail -n "+$1" "$(sshd_log "$2")" | tr -d '\r'; }

# logged_as MARK SERVER: nothing while the connection is there
logged_as() {
	local who
	who="$(id -un) from 127.0.0.1 port [0-9]+"
	since "$1" "$2" | awk -v began="^Data in clear began for $who: (aes128-gmac@|none with )" \
	    -v ended="^Data in clear ended for $who: .*, [0-9]+ bytes, [0-9.]+ seconds" \
	    -v refused="^Data in clear refused to $who, because NoneEnabled is not set to yes here" '
	    $0 ~ began { b++ }
	    $0 ~ ended { e++; again = !gone }
	    $0 ~ refused { r++ }
	    /^(Disconnected from|Connection closed by) / { gone = 1 }
	    END {
		if (!gone || b != e) exit
		if (b) print again ? "again" : "clear"
		else print r ? "refused" : "encrypted"
	    }'
}
judged() { [ -n "$(logged_as "$@")" ]; }

# told: by the client to its user, in the file err
told() {
	case $(grep -o '^NoneSwitch: .*' err) in
	*'in clear from here on'*'encrypted again'*) echo again ;;
	*'in clear from here on'*) echo clear ;;
	*'because the server refused'*) echo refused ;;
	'' | *'because a terminal'* | *'because a forwarding'* | *'NoneEnabled is not set to yes here'*)
		echo encrypted ;;
	*) cat err ;;
	esac
}

# cell CLIENT SERVER EXPECTED
cell() {
	local mark status=0
	mark=$(($(wc -l <"$(sshd_log "$2")") + 1))
	"$1" "$2" >out 2>err </dev/null || status=$?
	[ $status != 77 ] || return 0
	poll 5 judged "$mark" "$2" || :
	set -- "$@" "$(logged_as "$mark" "$2")" "$(told)"
	[ "$status,$4,$5" = "0,$3,$3" ] || {
		echo "$1 at $2: should be $3; log: $4, client: $5, exit $status"
		cat out err
		since "$mark" "$2" | grep -v ^debug
		return 1
	}
}

# row SERVER yes|no: all clients
row() {
	local name permitted not n=0
	while read -r name permitted not; do
		[ -n "$name" ] || continue
		n=$((n + 1))
		case $2 in
		yes) cell "$name" "$1" "$permitted" ;;
		no) cell "$name" "$1" "$not" ;;
		esac || return
	done <<<"$TABLE"
	[ $n = 18 ]
}

# by_match KIND WORDS: permit in the block only, then outside of it only
by_match() {
	sshd_up "hayate:$1-yes" "UseDNS yes" "Match $1 $2" "NoneEnabled yes" "Match all"
	row "$1-yes" yes
	sshd_up "hayate:$1-no" "UseDNS yes" "NoneEnabled yes" "Match $1 $2" "NoneEnabled no" \
	    "Match all"
	row "$1-no" no
}

@test "every client gets what a global NoneEnabled yes permits" {
	sshd_up hayate:open "NoneEnabled yes"
	row open yes
}

@test "every client stays encrypted where NoneEnabled is not set" {
	sshd_up hayate:closed
	row closed no
}

@test "NoneEnabled in Match User decides for every client" { by_match User "$(id -un)"; }
@test "NoneEnabled in Match Group decides for every client" { by_match Group "$(id -gn)"; }
@test "NoneEnabled in Match Address decides for every client" { by_match Address 127.0.0.0/8; }
@test "NoneEnabled in Match LocalAddress decides for every client" { by_match LocalAddress 127.0.0.1; }
@test "NoneEnabled in Match Host decides for every client" { by_match Host localhost; }

@test "NoneEnabled in Match LocalPort decides for every client" {
	local port
	port=$((12000 + RANDOM % 7000))
	sshd_up hayate:port-yes "Port $port" "Match LocalPort $port" "NoneEnabled yes" "Match all"
	echo "$port" >"$(sshd_dir port-yes)/port"
	ssh_conf >"$BATS_FILE_TMPDIR/ssh_config"
	row port-yes yes
	sshd_down port-yes
	sshd_up hayate:port-no "Port $port" "NoneEnabled yes" "Match LocalPort $port" \
	    "NoneEnabled no" "Match all"
	echo "$port" >"$(sshd_dir port-no)/port"
	ssh_conf >"$BATS_FILE_TMPDIR/ssh_config"
	row port-no no
}
