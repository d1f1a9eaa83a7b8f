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
request_clear            clear      refused
request_clear_no_tty     clear      refused
run_no_tty_by_config     clear      refused
run_idle_master          clear      refused
forward_stdio            encrypted  encrypted
forward_local_port       encrypted  encrypted
run_master               clear      refused
run_persistent_master    clear      refused
download_file            clear      refused
upload_by_scp_O          clear      refused
download_by_sftp         clear      refused
download_by_rsync        clear      refused
run_tty_over_master      again      refused
run_plain_over_master    again      refused
run_tty                  encrypted  encrypted
run_tty_by_config        encrypted  encrypted
request_without_enabled  encrypted  encrypted
request_nothing          encrypted  encrypted
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

request_clear() { client "${ASK[@]}" "$1" true; }
request_clear_no_tty() { client "${ASK[@]}" -T "$1" true; }
request_nothing() { client "$1" true; }
request_without_enabled() { client -o NoneSwitch=yes "$1" true; }
run_tty() { client "${ASK[@]}" -tt "$1" true; }
run_tty_by_config() { run_with_config "$1" force; }
run_no_tty_by_config() { run_with_config "$1" no; }
run_with_config() {	# SERVER REQUESTTTY
	{ printf 'Host %s\nRequestTTY %s\nNoneEnabled yes\nNoneSwitch yes\n' "$@"
	  cat "$BATS_FILE_TMPDIR/ssh_config"; } >config
	"$(bin ssh)" -F config "$1" true 3>&-
}

download_file() { copy "${ASK[@]}" "$1:$DATA" got && cmp got "$DATA"; }
upload_by_scp_O() { copy -O "${ASK[@]}" "$DATA" "$1:$PWD/put" && cmp put "$DATA"; }
download_by_sftp() {
	files "${ASK[@]}" -b - "$1" <<<"get $DATA $PWD/got.sftp" &&
	    cmp got.sftp "$DATA"
}
download_by_rsync() {
	command -v rsync >/dev/null || return 77
	command rsync -e "$(bin ssh) -F $BATS_FILE_TMPDIR/ssh_config ${ASK[*]}" \
	    "$1:$DATA" got.rsync 3>&- && cmp got.rsync "$DATA"
}

forward_stdio() {
	[ "$(client "${ASK[@]}" -W "$TARGET" "$1" </dev/null | head -c 8)" = SSH-2.0- ]
}
run_idle_master() { start_master "$1" && stop_master "$1"; }
forward_local_port() {
	local port=$((20000 + RANDOM % 12000))
	start_master "$1" -o ExitOnForwardFailure=yes -L "$port:$TARGET" || return
	[ "$(head -c 8 <"/dev/tcp/127.0.0.1/$port")" = SSH-2.0- ] && stop_master "$1"
}
run_master() { start_master "$1" && use_master "$1" && stop_master "$1"; }
run_persistent_master() {
	client "${ASK[@]}" -M -S "$CTL" -o ControlPersist=60 "$1" true &&
	    use_master "$1" && stop_master "$1"
}
# A client that "-f" put into the background cannot report, so this master stays
# in the foreground.
run_tty_over_master() {
	timeout 60 "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" "${ASK[@]}" \
	    -M -S "$CTL" -N "$1" 3>&- &
	poll 10 test -S "$CTL" && client -q "${ASK[@]}" -S "$CTL" -tt "$1" true && use_master "$1" &&
	    stop_master "$1" && { wait $! || :; }
}
run_plain_over_master() {
	timeout 60 "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" "${ASK[@]}" \
	    -M -S "$CTL" -N "$1" 3>&- &
	poll 10 test -S "$CTL" && client -S "$CTL" "$1" true && use_master "$1" &&
	    stop_master "$1" && { wait $! || :; }
}

start_master() { client "${ASK[@]}" -M -S "$CTL" -N -f "${@:2}" "$1"; }
use_master() { client -q "${ASK[@]}" -S "$CTL" "$1" "cat $DATA" | cmp - "$DATA"; }
stop_master() { client -q -S "$CTL" -O exit "$1"; }

### Results

# read_log_since MARK SERVER: prints the server's log from line MARK on
read_log_since() { tail -n "+$1" "$(sshd_log "$2")" | tr -d '\r'; }

# find_logged_mode MARK SERVER: prints the mode that the log reports; nothing before the
# connection has ended
find_logged_mode() {
	local who
	who="$(id -un) from 127.0.0.1 port [0-9]+"
	read_log_since "$1" "$2" | awk -v began="^Data in clear began for $who: (aes128-gmac@|none with )" \
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
is_mode_logged() { [ -n "$(find_logged_mode "$@")" ]; }

# find_client_notice: prints what the client reported to its user, in the file err
find_client_notice() {
	case $(grep -o '^NoneSwitch: .*' err) in
	*'in clear from here on'*'encrypted again'*) echo again ;;
	*'in clear from here on'*) echo clear ;;
	*'because the server refused'*) echo refused ;;
	'' | *'because a terminal'* | *'because a forwarding'* | *'NoneEnabled is not set to yes here'*)
		echo encrypted ;;
	*) cat err ;;
	esac
}

# check_cell CLIENT SERVER EXPECTED: checks the result of one client
check_cell() {
	local mark status=0
	mark=$(($(wc -l <"$(sshd_log "$2")") + 1))
	"$1" "$2" >out 2>err </dev/null || status=$?
	[ $status != 77 ] || return 0
	poll 5 is_mode_logged "$mark" "$2" || :
	set -- "$@" "$(find_logged_mode "$mark" "$2")" "$(find_client_notice)"
	[ "$status,$4,$5" = "0,$3,$3" ] || {
		echo "$1 at $2: should be $3; log: $4, client: $5, exit $status"
		cat out err
		read_log_since "$mark" "$2" | grep -v ^debug
		return 1
	}
}

# check_row SERVER yes|no: checks all clients
check_row() {
	local name permitted not n=0
	while read -r name permitted not; do
		[ -n "$name" ] || continue
		n=$((n + 1))
		case $2 in
		yes) check_cell "$name" "$1" "$permitted" ;;
		no) check_cell "$name" "$1" "$not" ;;
		esac || return
	done <<<"$TABLE"
	[ $n = 18 ]
}

# check_match KIND WORDS: permits data in clear in the block only, then outside of it only
check_match() {
	sshd_up "hayate:$1-yes" "UseDNS yes" "Match $1 $2" "NoneEnabled yes" "Match all"
	check_row "$1-yes" yes
	sshd_up "hayate:$1-no" "UseDNS yes" "NoneEnabled yes" "Match $1 $2" "NoneEnabled no" \
	    "Match all"
	check_row "$1-no" no
}

@test "every client gets what a global NoneEnabled yes permits" {
	sshd_up hayate:open "NoneEnabled yes"
	check_row open yes
}

@test "every client stays encrypted where NoneEnabled is not set" {
	sshd_up hayate:closed
	check_row closed no
}

@test "NoneEnabled in Match User decides for every client" { check_match User "$(id -un)"; }
@test "NoneEnabled in Match Group decides for every client" { check_match Group "$(id -gn)"; }
@test "NoneEnabled in Match Address decides for every client" { check_match Address 127.0.0.0/8; }
@test "NoneEnabled in Match LocalAddress decides for every client" { check_match LocalAddress 127.0.0.1; }
@test "NoneEnabled in Match Host decides for every client" { check_match Host localhost; }

@test "NoneEnabled in Match LocalPort decides for every client" {
	local port
	port=$((12000 + RANDOM % 7000))
	sshd_up hayate:port-yes "Port $port" "Match LocalPort $port" "NoneEnabled yes" "Match all"
	echo "$port" >"$(sshd_dir port-yes)/port"
	ssh_conf >"$BATS_FILE_TMPDIR/ssh_config"
	check_row port-yes yes
	sshd_down port-yes
	sshd_up hayate:port-no "Port $port" "NoneEnabled yes" "Match LocalPort $port" \
	    "NoneEnabled no" "Match all"
	echo "$port" >"$(sshd_dir port-no)/port"
	ssh_conf >"$BATS_FILE_TMPDIR/ssh_config"
	check_row port-no no
}
