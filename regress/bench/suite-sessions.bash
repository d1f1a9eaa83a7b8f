# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# sessions: how much memory does a session need where there are many, and do
# many sessions slow the next login?
#
# 100 copies at once read a shared storage (HPCI, 2013), and 12 filled a link
# (RIKEN and Kobe University, 2016). So a host holds the memory of a session many
# times. COND_STREAMS is the number of sessions. Each is a connection of its own
# over loopback, with key authentication, and runs a command.
#
#   sessions_memory  KiB per session, of all ssh and of all sshd apart, as Pss:
#                    each process has its part of a shared page. An "idle"
#                    session has done nothing since its login. All "busy" ones
#                    move as much as they can at the same time.
#   sessions_login   ms from the start to the end of "ssh host true", the median
#                    of several, beside that many idle sessions
#
# "--only sessions" runs both. Each run starts new sessions. The commands in the
# sessions and the listening sshd are not counted.

CELLS+=' sessions_memory sessions_login'
about_sessions_memory='memory per session, of 10, 100, 500 idle and 10, 500 busy ones'
about_sessions_login='time of a login while 1, 10, 100 sessions are there'

SESSIONS_MOST=600	# that exist or log in at once
SESSIONS_ABREAST=8	# logins at once, for a machine of few cores
SESSIONS_SETTLE=2	# seconds before their memory is read
SESSIONS_LOGINS=9	# timed in a run

# sessions_counts N...: these numbers; in a short sitting those up to 10
sessions_counts() {
	local n
	for n; do
		[ -n "$QUICK" ] || [ "$BYTES" -lt 16777216 ] || { echo "$n"; continue; }
		[ "$n" -gt 10 ] || echo "$n"
	done
}

# Both have the same cell in their lines.
sessions_begin() {
	CELL=sessions
	if [ -n "$QUICK" ] || [ "$BYTES" -lt 16777216 ]; then
		SESSIONS_SETTLE=1 SESSIONS_LOGINS=3
	fi
	at_loop "MaxStartups $SESSIONS_MOST" "MaxSessions $SESSIONS_MOST"
}

### Sessions at once

# crowd_up BUILD N idle|get|put: starts N sessions. CROWD are the clients, each by
# its pid. Busy sessions start to move data when descriptor 9 is closed. Descriptor
# 8 is an idle client's stdin and carries nothing. If this shell dies, both are
# closed, and all clients and commands end.
crowd_up() {
	local i in=/dev/null what go
	use "$1"
	CROWD=()
	rm -f "$LAB/go" "$LAB/hold"
	mkfifo "$LAB/go" "$LAB/hold"
	exec 8<>"$LAB/hold" 9<>"$LAB/go"
	go="exec 7<$LAB/go; echo up >&2; cat <&7 >/dev/null; exec"
	case $3 in
	idle) in=$LAB/hold what='echo up >&2; exec cat' ;;
	get) what="$go cat /dev/zero" ;;
	put) in=/dev/zero what="$go cat >/dev/null" ;;
	esac
	: >"$LAB/up"
	for ((i = 1; i <= $2; i++)); do
		"${SSH[@]}" "$1" "$what" <"$in" >/dev/null \
		    2>>"$LAB/up" 8>&- 9>&- &
		CROWD+=($!)
		poll 30 crowd_has $((i - SESSIONS_ABREAST)) || return
	done
	poll 30 crowd_has "$2"
}

crowd_has() { [ "$(grep -c '^up' "$LAB/up")" -ge "$1" ]; }

# crowd_down BUILD: ends the sessions, and waits until sshd has no child
crowd_down() {
	exec 8>&- 9>&-
	{ kill "${CROWD[@]}"; wait "${CROWD[@]}"; } 2>/dev/null
	grep -v '^up' "$LAB/up" >>"$LAB/err"
	poll 30 crowd_gone "$(pid_of "$1")"
}

crowd_gone() { [ -z "$(<"/proc/$1/task/$1/children")" ]; }

# crowd_servers BUILD: the sshd processes that serve sessions
crowd_servers() {
	local all i child sshd session
	all=("$(pid_of "$1")")
	sshd=$(bin sshd "$1") session=$(bin sshd-session "$1")
	for ((i = 0; i < ${#all[@]}; i++)); do
		for child in $(<"/proc/${all[i]}/task/${all[i]}/children"); do
			all+=("$child")
			if [ "/proc/$child/exe" -ef "$sshd" ] ||
			    [ "/proc/$child/exe" -ef "$session" ]; then
				echo "$child"
			fi
		done
	done 2>/dev/null
}

# crowd_kib BUILD N near|far: KiB of one session, or - unless all N were read
crowd_kib() {
	local all=("${CROWD[@]}")
	[ "$3" = near ] || readarray -t all < <(crowd_servers "$1")
	all=("${all[@]/#//proc/}")
	cat "${all[@]/%//smaps_rollup}" 2>/dev/null | awk -v n="$2" '
	/^Pss:/ { kib += $2; seen++ }
	END { if (seen >= n) printf "%.0f\n", kib / n; else print "-" }'
}

### Verbs

v_crowd() {	# BUILD N idle|get|put near|far
	local kib=-
	if crowd_up "$1" "$2" "$3"; then
		exec 9>&-
		sleep "$SESSIONS_SETTLE"
		kib=$(crowd_kib "$1" "$2" "$4")
	fi
	crowd_down "$1"
	echo "- - - $kib - $([ "$kib" != - ]; echo $?)"
}

v_beside() {	# BUILD N: a login beside N idle sessions
	local i seconds status=255 times=''
	if crowd_up "$1" "$2" idle; then
		for ((i = 0; i < SESSIONS_LOGINS; i++)); do
			read -r seconds _ _ _ status < <(timed "${SSH[@]}" \
			    "$1" true 2>>"$LAB/err" 8>&- 9>&-)
			[ "$status" = 0 ] || break
			times+="$seconds "
		done
	fi
	crowd_down "$1"
	if [ "$status" = 0 ]; then
		seconds=$(stats median <<<"$times")
		echo "- - - - $(awk "BEGIN { print $seconds * 1e3 }") 0"
	else
		echo "- - - - - $status"
	fi
}

### Cells

sessions_sitting() {	# N
	COND_STREAMS=$1
	sitting "$RUNS"
	JOBS=()
}

cell_sessions_memory() {
	local p t n d
	((EUID == 0)) || {
		warn "$CELL: skipped: the memory of sshd is for root to see"
		return 1
	}
	sessions_begin || return
	for n in $(sessions_counts 10 100 500); do
		for p in $BUILDS; do
			t=$(target_for "$p" 'kib<=stock+256')
			job "$p" 'idle ssh' - 0 "$t" - v_crowd "$p" "$n" idle near
			job "$p" 'idle sshd' - 0 "$t" - v_crowd "$p" "$n" idle far
		done
		sessions_sitting "$n"
	done
	for n in $(sessions_counts 10 500); do
		for p in $BUILDS; do
			for d in get put; do
				job "$p" 'busy ssh' $d 0 - - \
				    v_crowd "$p" "$n" $d near
				job "$p" 'busy sshd' $d 0 - - \
				    v_crowd "$p" "$n" $d far
			done
		done
		sessions_sitting "$n"
	done
}

cell_sessions_login() {
	local p n
	sessions_begin || return
	for n in $(sessions_counts 1 10 100); do
		for p in $BUILDS; do
			job "$p" 'one more login' - 0 \
			    "$(target_for "$p" 'ms<=stock~')" - \
			    v_beside "$p" "$n"
		done
		sessions_sitting "$n"
	done
}
