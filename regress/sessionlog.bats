#!/usr/bin/env bats
# Needs: hayate stock peers exporter
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# The line that sshd logs at the end of a connection (sshd/sessionlog-hook.h), and
# the metrics that are made of it (contrib/metrics/hayate-metrics).

load helper

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	sshd_up hayate "LogLevel INFO"
	sshd_up hayate:named "LogLevel INFO" "Subsystem 'x\" limit=none,y' true" \
	    "Subsystem $(printf '%040d' 0) true"
	sshd_up hayate:quiet "LogLevel INFO" "SessionLog no"
	sshd_up hayate:off "LogLevel INFO" "Hayate no"
	sshd_up hayate:clear "LogLevel INFO" "NoneEnabled yes"
	printf 'SessionLog no\nMatch Address 127.0.0.1\n\tSessionLog yes\n' >match
	sshd_up hayate:match "LogLevel INFO" "Include $PWD/match"
	head -c 5000000 /dev/urandom >some
}

teardown_file() { sshd_down; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	T=$BATS_TEST_TMPDIR
	SOME=$BATS_FILE_TMPDIR/some
}

teardown() {
	local pid
	for pid in $(jobs -pr) $(cat journald 2>/dev/null); do kill "$pid" 2>/dev/null || :; done
}

# list_session_lines [SERVER]: prints its lines for connections that have ended
list_session_lines() { grep -aE '^Session 1: user=[^ ]* from=[^ ]* port=' "$(sshd_log "${1:-hayate}")"; }
count_sessions() { list_session_lines "$1" | wc -l; }
has_more_sessions() { [ "$(count_sessions "$1")" -gt "$2" ]; }

# run_logged SERVER COMMAND...: runs COMMAND, and checks that the log has one line more,
# $LINE
run_logged() {
	local server=$1 before
	before=$(count_sessions "$server")
	shift
	"$@" >out 2>err </dev/null || :
	poll 10 has_more_sessions "$server" "$before"
	sleep 0.2
	[ "$(count_sessions "$server")" = $((before + 1)) ]
	LINE=$(list_session_lines "$server" | tail -n 1)
	echo "$LINE"
}

# read_field NAME: prints its value in $LINE
read_field() { tr -s ' \r' '[\n*]' <<<"$LINE" | sed -n "s/^$1=//p"; }

### The line

@test "a copy causes one line, with user, kind, bytes and cipher" {
	run_logged hayate copy -c aes128-gcm@openssh.com "hayate:$SOME" got
	cmp "$SOME" got
	[ "$(read_field user)" = "$(id -un)" ]
	[ "$(read_field from)" = 127.0.0.1 ]
	[[ $(read_field port) = [1-9]* ]]
	[ "$(read_field what)" = sftp ]
	[ "$(read_field sent)" -gt 5000000 ]
	[ "$(read_field received)" -lt 100000 ]
	[[ $(read_field seconds) = *.? ]]
	[ "$(read_field cipher)" = aes128-gcm@openssh.com ]
	[ "$(read_field clear)" = no ]
	[[ $(read_field rtt_ms) = *.? ]]
	[ "$(read_field window)" -ge 2097152 ]
	[ -n "$(read_field limit)" ]
	run_logged hayate copy "$SOME" "hayate:$T/there"
	[ "$(read_field received)" -gt 5000000 ]
	[ "$(read_field sent)" -lt 100000 ]
	# in this order, and nothing else
	[ "$(grep -o '[a-z_]*=' <<<"$LINE" | xargs)" = \
	    "user= from= port= what= sent= received= seconds= cipher= clear= rtt_ms= min_rtt_ms= resent= window= limit= share= end= granted= refused=" ]
	[ "$(read_field end) $(read_field granted) $(read_field refused)" = "closed 0 0" ]
}

@test "a stock client causes its line as well" {
	CLIENT=stock run_logged hayate copy "hayate:$SOME" got
	[ "$(read_field what)" = sftp ]
	[ "$(read_field sent)" -gt 5000000 ]
}

@test "requests of a session are named, each once, in order" {
	local port=$((20000 + RANDOM % 12000))
	run_logged hayate client hayate true
	[ "$(read_field what)" = exec ]
	run_logged hayate client hayate
	[ "$(read_field what)" = shell ]
	run_logged hayate client -R "$port:127.0.0.1:1" -o ExitOnForwardFailure=no hayate true
	[ "$(read_field what)" = forwarding,exec ]
	run_logged hayate client -W "127.0.0.1:$(sshd_port hayate)" hayate
	[ "$(read_field what)" = forwarding ]
	client -M -N -f -S "$T/mux" hayate
	client -S "$T/mux" hayate true
	client -S "$T/mux" hayate true
	files -q -o ControlPath="$T/mux" -b /dev/null hayate
	run_logged hayate client -S "$T/mux" -O exit hayate
	[ "$(read_field what)" = exec,sftp ]
}

@test "forwarding of X11 and of an agent is named" {
	eval "$(ssh-agent)"
	ssh-add -q "$BATS_FILE_TMPDIR/user"
	DISPLAY=:9 run_logged hayate client -A -Y -o IdentityAgent=SSH_AUTH_SOCK -o XAuthLocation=/none hayate true
	kill "$SSH_AGENT_PID"
	[ "$(read_field what)" = x11,agent,exec ]
	echo "$LINE" | run_metrics
	[ "$(read_metric 'sessions_total{kind="exec"}')" = 1 ]
}

# A journald of its own, below a /run that only it and its sshd see
start_journald() {
	make_keys
	privsep_dirs
	sshd_conf hayate "$T" "$1" "LogLevel INFO" "SyslogFacility LOCAL3" "${@:2}" >config
	unshare -m sh -c 'mount -t tmpfs none /run &&
	    mkdir -p /run/sshd /run/systemd/journal /run/log/journal && { "$1" & echo $! >journald; } &&
	    until [ -S /run/systemd/journal/socket ]; do sleep 0.1; done &&
	    exec "$2" -D -f config' sh "$journald" "$(bin sshd)" >out 2>&1 </dev/null 3>&- &
	JOURNAL=$!
	poll 10 test -s pid
}
query_journal() { nsenter -m -t "$JOURNAL" sh -c 'journalctl -q -D /run/log/journal/* -o json --no-pager "$@"' sh "$@" >json; [ -s json ]; }
read_json_field() { jq -r ".$1" json; }

@test "systemd's journal has each field, and no second line" {
	local port=$((20000 + RANDOM % 12000)) journald=/lib/systemd/systemd-journald
	[ -x $journald ] && [ "$(id -u)" = 0 ] && unshare -m true || skip "no systemd-journald, or not root"
	start_journald $port
	client -p $port hayate true
	poll 10 query_journal "HAYATE_USER=$(id -un)" MESSAGE_ID=9276c2a6c81c43aab14e0ddac6c5ebaa
	kill "$JOURNAL"
	[ "$(wc -l <json)" = 1 ]
	[ "$(read_json_field HAYATE_WHAT) $(read_json_field HAYATE_FROM) $(read_json_field HAYATE_CLEAR)" = "exec 127.0.0.1 no" ]
	[ "$(read_json_field PRIORITY) $(read_json_field SYSLOG_FACILITY) $(read_json_field SYSLOG_IDENTIFIER)" = "6 19 sshd-session" ]
	[[ $(read_json_field MESSAGE) = "Session 1: user=$(read_json_field HAYATE_USER) from=127.0.0.1 port=$(read_json_field HAYATE_PORT) "* ]]
}

# A /run without journald, and a /dev with a syslog, which only its sshd sees
start_syslog() {
	make_keys
	privsep_dirs
	sshd_conf hayate "$T" "$1" "LogLevel INFO" "SyslogFacility LOCAL3" >config
	mkdir dev
	unshare -m sh -c 'mount -t tmpfs none /run && mkdir /run/sshd &&
	    mount -t tmpfs none dev && for d in null zero full random urandom tty; do
		: >dev/$d && mount --bind /dev/$d dev/$d || exit
	    done && mount --bind dev /dev && { timeout 60 socat -u UNIX-RECV:/dev/log OPEN:said,creat & } &&
	    echo $! >reader && until [ -S /dev/log ]; do sleep 0.1; done &&
	    exec "$1" -D -f config' sh "$(bin sshd)" >out 2>&1 </dev/null 3>&- &
	SYSLOG=$!
	poll 10 test -s pid
}

@test "without a journald the line goes to syslog, once" {
	local port=$((20000 + RANDOM % 12000))
	[ "$(id -u)" = 0 ] && unshare -m true || skip "not root, or no namespaces"
	start_syslog $port
	client -p $port hayate true
	poll 10 grep -aq 'Session 1:' said
	kill "$SYSLOG" "$(<reader)"
	[ "$(tr '<' '\n' <said | grep -ac '^158>.*sshd-session\[[0-9]*\]: Session 1: user=')" = 1 ]
	[ "$(grep -ao 'Session 1:' said | wc -l)" = 1 ]
}

@test "each end of a connection causes one line, also that of a killed client" {
	run_logged hayate timeout -s KILL 2 "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" hayate sleep 60
	[ "$(read_field what)" = exec ]
	run_logged hayate client hayate 'exit 7'
}

@test "a session that kills its sshd-session has its line, with the bytes that the kernel counted" {
	head -c 300000 /dev/zero >zeros
	kill_session() { client hayate 'head -c 300000 >/dev/null; kill -9 $PPID' <zeros; }
	run_logged hayate kill_session <zeros
	[ "$(read_field user) $(read_field from) $(read_field what)" = "$(id -un) 127.0.0.1 exec" ]
	[ "$(read_field end)" = killed ]
	check_true "$(read_field received) > 300000 && $(read_field received) < 320000"
	check_true "$(read_field sent) > 1000 && $(read_field sent) < 20000"
	[ "$(read_field cipher)$(read_field window)$(read_field limit)$(read_field clear)" = ---- ]
	echo "$LINE" | run_metrics
	[ "$(read_metric 'received_bytes_total{kind="exec"}')" = "$(read_field received)" ]
}

# upload_as_nobody PORT: copies as an account that is not root, into a temporary directory
upload_as_nobody() {
	files -q -P "$1" -o User=nobody -o CertificateFile="$T/nobody-cert.pub" -b - hayate <<<"put $SOME $TO/some"
}

@test "the monitor writes the line, as root, and lines logged by a user do not count" {
	local port=$((20000 + RANDOM % 12000)) journald=/lib/systemd/systemd-journald fake line name
	[ -x $journald ] && [ "$(id -u)" = 0 ] && unshare -m true || skip "no systemd-journald, or not root"
	make_keys
	ssh-keygen -q -s "$BATS_FILE_TMPDIR/host" -I nobody -n nobody "$BATS_FILE_TMPDIR/user.pub"
	mv "$BATS_FILE_TMPDIR/user-cert.pub" nobody-cert.pub
	TO=$(mktemp -d)
	chown nobody "$TO"
	cp "$BATS_FILE_TMPDIR/host.pub" ca
	printf 'Match User nobody\n\tForceCommand internal-sftp\n\tTrustedUserCAKeys %s\n' "$T/ca" >match
	start_journald $port "Include $T/match"
	upload_as_nobody $port
	rm -r "$TO"
	poll 10 query_journal HAYATE_USER=nobody
	[ "$(read_json_field _UID) $(read_json_field HAYATE_WHAT) $(read_json_field HAYATE_END)" = "0 sftp closed" ]
	# What the user logs, by a program of the same name
	fake='Session 1: user=nobody from=192.0.2.1 port=1 what=exec sent=900000000000000000 received=0 seconds=1.0 granted=9 refused=9'
	cp "$(command -v logger)" /tmp/sshd-session
	for line in "$fake" 'Failed password for root from 192.0.2.1 port 1 ssh2' \
	    'drop connection #0 from [192.0.2.1]:5 on [192.0.2.2]:22 Maxstartups'; do
		for name in sshd-session sshd; do
			printf '%s\n' "MESSAGE=$line" "SYSLOG_IDENTIFIER=$name" |
			    nsenter -m -t "$JOURNAL" setpriv --reuid=nobody --clear-groups /tmp/sshd-session --journald
		done
	done
	rm /tmp/sshd-session
	client -p $port hayate true
	poll 10 query_journal "HAYATE_USER=$(id -un)"
	mkdir bin
	# all of it, and no more
	printf '#!/bin/sh\nshift 2\nexec %s -D /run/log/journal/* -q "$@" -n all\n' "$(command -v journalctl)" >bin/journalctl
	chmod +x bin/journalctl
	sed 's/^WRITE_INTERVAL = .*/WRITE_INTERVAL = 0.0/' "$TOP/contrib/metrics/hayate-metrics" >eager
	run -1 nsenter -m -t "$JOURNAL" --wd="$T" env PATH="$T/bin:$PATH" \
	    python3 eager --journal "$T/hayate.prom"
	query_journal -t sshd-session -t sshd
	[ "$(grep -c 192.0.2.1 json)" = 6 ]
	# the fields that fail2ban is configured to read
	# shellcheck disable=SC2046 # words
	query_journal $(sed -n 's/^journalmatch = //p' "$TOP/contrib/fail2ban/filter.d/hayate-sshd.conf")
	run -1 grep 192.0.2.1 json
	grep 'Session 1: user=nobody from=127.0.0.1 ' json
	kill "$JOURNAL" "$(<journald)"
	[ "$(read_metric 'sessions_total{kind="sftp"}') $(read_metric 'sessions_total{kind="exec"}')" = "1 1" ]
	[ "$(read_metric 'sent_bytes_total{kind="exec"}')" -lt 100000 ]
	[ "$(read_metric clear_granted_total) $(read_metric 'refused_total{why="clear"}') $(read_metric 'refused_total{why="startups"}')" = "0 0 0" ]
}

# sshd ends such a connection itself, and has freed all of it before the log is written.
@test "a client that breaks the protocol has its line, and the session no crash" {
	need_paramiko
	cat >breaks <<-END
	import paramiko, time
	t = paramiko.Transport(("127.0.0.1", $(sshd_port hayate)))
	t.start_client()
	t.auth_publickey("$(id -un)", paramiko.Ed25519Key.from_private_key_file("$BATS_FILE_TMPDIR/user"))
	c = t.open_session()
	c.exec_command("head -c 300000 /dev/zero")
	while c.recv(99999):
	    pass
	m = paramiko.Message()
	m.add_byte(bytes([94]))		# data for a channel that was never opened
	m.add_int(99)
	m.add_string(b"x")
	t._send_message(m)
	time.sleep(1)
	END
	run_logged hayate /usr/bin/python3 breaks
	[ "$(read_field from)" = 127.0.0.1 ]
	[[ $(read_field port) = [1-9]* ]]
	[ "$(read_field what)" = exec ]
	check_true "$(read_field sent) > 300000 && $(read_field sent) < 400000"
	run ! grep -a 'signal 11\|Segmentation' "$(sshd_log hayate)"
}

@test "a login that fails causes no line" {
	local before
	before=$(count_sessions hayate)
	run -255 client -o User=nobody hayate true
	sleep 0.5
	[ "$(count_sessions hayate)" = "$before" ]
}

@test "a subsystem's name cannot forge a field, and a name chosen by a client is not logged" {
	run_logged named client -s named 'x" limit=none,y'
	[ "$(read_field what)" = x__limit_none_y ]
	run_logged named client -s named "$(printf '%040d' 0)"
	[ "$(read_field what)" = "$(printf '%032d' 0)" ]
	run_logged hayate client -s hayate 'x" limit=none "'
	[ "$(read_field what)" = unknown ]
	run_logged hayate client -s hayate "$(printf 'a\nSession 1: user=root')"
	[ "$(read_field what)" = unknown ]
}

# request_many_subsystems: requests nine subsystems that do not exist, over one
# connection, then runs a command
request_many_subsystems() {
	local i
	client -M -S "$T/ctl" -o ControlPersist=yes -N -f hayate
	for i in $(seq 9); do client -S "$T/ctl" -s hayate "no$i" || :; done
	client -S "$T/ctl" hayate true
	client -S "$T/ctl" -O exit hayate
}

@test "the kind of a session is named whatever it requested before" {
	run_logged hayate request_many_subsystems
	[ "$(read_field what)" = unknown,exec ]
}

@test "data in clear is named" {
	run_logged clear copy -o NoneEnabled=yes -o NoneSwitch=yes "clear:$SOME" got
	[ "$(read_field clear)" = yes ]
	[ "$(read_field cipher)" = aes128-gmac@hayate.invalid ]
	[ "$(read_field granted) $(read_field refused)" = "1 0" ]
	echo "$LINE" | run_metrics
	[ "$(read_metric clear_granted_total)" = 1 ]
	run_logged hayate copy -o NoneEnabled=yes -o NoneSwitch=yes "hayate:$SOME" got
	[ "$(read_field granted) $(read_field refused)" = "0 1" ]
}

@test "SessionLog no and Hayate no cause no line, and Match decides for each connection" {
	local s
	for s in quiet off; do
		client $s true
		copy "$s:$SOME" got
	done
	run_logged match client match true
	[ "$(count_sessions quiet)" = 0 ]
	[ "$(count_sessions off)" = 0 ]
}

### The metrics

run_metrics() { "$TOP/contrib/metrics/hayate-metrics" "$T/hayate.prom"; }

# read_metric NAME: prints the value of a metric
read_metric() { awk -v name="hayate_$1" '$1 == name { print $2 }' hayate.prom; }

@test "the metrics are the sums of the lines, and continue after a restart" {
	local before=0 i
	for i in 1 2; do
		run_logged hayate copy "hayate:$SOME" got
		echo "$LINE" >line.$i
		before=$((before + $(read_field sent)))
		run_metrics <line.$i
		[ "$(read_metric 'sessions_total{kind="sftp"}')" = $i ]
		[ "$(read_metric 'sent_bytes_total{kind="sftp"}')" = $before ]
	done
	[ "$(read_metric rate_bytes_per_second_count)" = 2 ]
	[ "$(read_metric 'rate_bytes_per_second_bucket{le="+Inf"}')" = 2 ]
	# a window of each, below 16 MiB
	[ "$(read_metric 'window_bytes_bucket{le="1048576"}')" = 0 ]
	[ "$(read_metric 'window_bytes_bucket{le="16777216"}')" = 2 ]
	run_logged hayate client hayate true
	echo "$LINE" | run_metrics
	[ "$(read_metric 'sessions_total{kind="exec"}')" = 1 ]
	[ "$(read_metric rate_bytes_per_second_count)" = 2 ]
	[ "$(ls -A)" = "$(printf '%s\n' err got hayate.prom line.1 line.2 out)" ]
}

@test "a log is counted with each connection once, and without names that look like a line" {
	local n
	run_logged hayate client -s hayate 'Session 1: user=root what=shell'
	run_logged hayate client -s hayate 'sshd[1]: Session 1: user=root what=shell'
	n=$(count_sessions hayate)
	run_metrics <"$(sshd_log hayate)"
	[ "$(sed -n 's/^hayate_sessions_total.* //p' hayate.prom | paste -sd +  | xargs -I X sh -c 'echo $((X))')" = "$n" ]
	# before a login as well
	cp hayate.prom was
	echo 'Invalid user sshd[1]: Session 1: user=a from=b port=1 what=none sent=1e99 from ::1' | run_metrics
	diff was hayate.prom
	# numbers that are none, and a limit that is none
	rm hayate.prom
	printf 'Session 1: user=a from=b port=1 what=none sent=%s received=2e6 limit=abc\n' \
	    inf nan -5 | run_metrics
	[ "$(read_metric 'sessions_total{kind="none"}')" = 3 ]
	[ "$(read_metric 'sent_bytes_total{kind="none"}')" = 0 ]
	[ "$(read_metric 'limits_total{limit="unknown"}')" = 3 ]
	run ! grep abc hayate.prom
	rm hayate.prom
	run_metrics <"$(sshd_log hayate)"
	# as syslog writes it
	sed 's/^/Nov 24 13:00:00 h sshd-session[77]: /' "$(sshd_log hayate)" >log
	mv hayate.prom was
	run_metrics <log
	diff was hayate.prom
}

@test "refusals are counted by their reason" {
	run_logged hayate copy -o NoneEnabled=yes -o NoneSwitch=yes "hayate:$SOME" got
	{
		echo "$LINE"
		echo 'drop connection #0 from [192.0.2.1]:5 on [192.0.2.2]:22 penalty: failed authentication'
		echo 'drop connection #9 from [192.0.2.1]:5 on [192.0.2.2]:22 Maxstartups'
	} | run_metrics
	[ "$(read_metric 'refused_total{why="clear"}')" = 1 ]
	[ "$(read_metric clear_granted_total)" = 0 ]
	echo 'Session 1: user=a from=b port=1 what=none end=closed granted=2 refused=0' | run_metrics
	[ "$(read_metric clear_granted_total)" = 2 ]
	[ "$(read_metric 'refused_total{why="penalty"}')" = 1 ]
	[ "$(read_metric 'refused_total{why="startups"}')" = 1 ]
}

@test "metrics that cannot be written are an error, and the old file stays" {
	run -1 "$TOP/contrib/metrics/hayate-metrics" "$T/none/hayate.prom" </dev/null
	[[ $output = *"$T/none/hayate.prom.new: No such file"* ]]
	run -1 "$TOP/contrib/metrics/hayate-metrics" "$T/hayate.txt" </dev/null
	[[ $output = usage:* ]]
}

# run_steady_metrics [OPTION]: runs the program that counts, which writes after each line
run_steady_metrics() {
	sed 's/^WRITE_INTERVAL = .*/WRITE_INTERVAL = 0.0/' "$TOP/contrib/metrics/hayate-metrics" >steady
	exec python3 steady "$@" "$T/hayate.prom" 2>said 3>&-
}
is_metric() { [ "$(read_metric "$1")" = "$2" ]; }

@test "each counter is written as 0 before anything is counted" {
	local name n=0
	run_metrics </dev/null
	for name in 'sessions_total{kind="sftp"}' 'sent_bytes_total{kind="none"}' \
	    'received_bytes_total{kind="other"}' 'seconds_total{kind="shell"}' \
	    'limits_total{limit="receive-buffer"}' 'limits_total{limit="unknown"}' \
	    'refused_total{why="penalty"}' 'refused_total{why="clear"}' clear_granted_total \
	    resent_segments_total clear_sessions_total; do
		is_metric "$name" 0 || { echo "$name is \"$(read_metric "$name")\""; false; }
	done
	# before the input has said a word
	rm hayate.prom
	mkfifo log
	(run_steady_metrics <log) &
	exec 8>log
	poll 10 is_metric clear_granted_total 0
	exec 8>&-
	# Each label that a line may count stands there from the first.
	cut -d ' ' -f 1 hayate.prom >names
	run_metrics <"$(sshd_log hayate)"
	for n in {{,un}known,max-rate,{send,receive}-buffer}; do
		echo "Session 1: user=a from=b port=1 what=shell limit=$n sent=2e6"
	done | run_metrics
	cut -d ' ' -f 1 hayate.prom | diff names -
}

@test "a full disk stops the writing of metrics, and not the counting" {
	local line='Session 1: user=a from=b port=1 what=exec sent=100' pid
	mkfifo log
	(run_steady_metrics <log) &
	pid=$!
	exec 8>log
	echo "$line" >&8
	poll 10 is_metric 'sessions_total{kind="exec"}' 1
	# as on a full disk: standard error, which is short, can be written
	prlimit --pid $pid --fsize=2000:unlimited
	printf '%s\n' "$line" "$line" >&8
	poll 10 test -s said
	is_metric 'sessions_total{kind="exec"}' 1
	[[ $(<said) = "hayate-metrics: $T/hayate.prom: "* ]]
	prlimit --pid $pid --fsize=unlimited:unlimited
	echo "$line" >&8
	poll 10 is_metric 'sessions_total{kind="exec"}' 4
	# which is said once
	[ "$(wc -l <said)" = 1 ]
	exec 8>&-
	wait $pid
}

@test "with the journal counting continues where it ended, also after a kill" {
	local port=$((20000 + RANDOM % 12000)) journald=/lib/systemd/systemd-journald pid n
	[ -x $journald ] && [ "$(id -u)" = 0 ] && unshare -m true || skip "no systemd-journald, or not root"
	start_journald $port
	mkdir bin
	printf '#!/bin/sh\nexec %s -D /run/log/journal/* "$@"\n' "$(command -v journalctl)" >bin/journalctl
	chmod +x bin/journalctl
	client -p $port hayate true
	poll 10 query_journal MESSAGE_ID=9276c2a6c81c43aab14e0ddac6c5ebaa
	start_metrics() { (run_steady_metrics --journal) & pid=$!; }
	run_steady_metrics() {
		sed 's/^WRITE_INTERVAL = .*/WRITE_INTERVAL = 0.0/' "$TOP/contrib/metrics/hayate-metrics" >steady
		exec nsenter -m -t "$JOURNAL" --wd="$T" env PATH="$T/bin:$PATH" \
		    python3 steady "$@" "$T/hayate.prom" 2>said 3>&-
	}
	# Lines logged before its first run do not count.
	start_metrics
	poll 10 is_metric 'sessions_total{kind="exec"}' 0
	client -p $port hayate true
	poll 10 is_metric 'sessions_total{kind="exec"}' 1
	pgrep -P $pid >reader
	kill -KILL $pid "$(<reader)"
	# While it does not run, more is logged than journalctl shows unasked.
	for n in {1..12}; do client -p $port hayate true; done
	poll 10 eval 'query_journal MESSAGE_ID=9276c2a6c81c43aab14e0ddac6c5ebaa && [ "$(wc -l <json)" = 14 ]'
	start_metrics
	poll 10 is_metric 'sessions_total{kind="exec"}' 13
	kill $pid $(pgrep -P $pid) "$JOURNAL"
}

@test "the unit is correct, and gives the program no privileges" {
	hash systemd-analyze || skip "no systemd-analyze (package systemd)"
	sed "s,^ExecStart=[^ ]*,ExecStart=/bin/true," "$TOP/contrib/metrics/hayate-metrics.service" >hayate-metrics.service
	systemd-analyze --man=no verify ./hayate-metrics.service 2>said || { cat said; false; }
	run -1 grep hayate said
	systemd-analyze security --offline=yes --no-pager --threshold=15 ./hayate-metrics.service >said || { tail -n 2 said; false; }
}

# find_program PROGRAM: prints the path of that of the system, or the one that set_up
# unpacked
find_program() {
	command -v "$1" || { [ -x "$BUILD/ftpd/usr/bin/$1" ] && echo "$BUILD/ftpd/usr/bin/$1"; }
}

# start_exporter PORT: serves hayate.prom; read with "served"
start_exporter() {
	local exporter
	exporter=$(find_program prometheus-node-exporter) || skip "no prometheus-node-exporter, which is a package"
	"$exporter" --web.listen-address="127.0.0.1:$1" --collector.disable-defaults \
	    --collector.textfile --collector.textfile.directory="$T" >exporter.log 2>&1 3>&- &
	poll 10 fetch_url "http://127.0.0.1:$1/metrics"
}
fetch_url() { python3 -c "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())" "$1" >served 2>/dev/null; }

@test "a real node exporter serves the metrics" {
	local port=$((20000 + RANDOM % 12000))
	run_logged hayate copy "hayate:$SOME" got
	echo '# cursor s=1;i=2' >hayate.prom
	echo "$LINE" | run_metrics
	grep -x '# cursor s=1;i=2' hayate.prom
	start_exporter $port
	grep -x 'node_textfile_scrape_error 0' served
	grep -x 'hayate_sessions_total{kind="sftp"} 1' served
	grep -x '# TYPE hayate_rate_bytes_per_second histogram' served
}

# query_prometheus QUERY: Prometheus' answer has a value; $VALUE
query_prometheus() {
	fetch_url "http://127.0.0.1:$at/api/v1/query?query=$(jq -rn --arg q "$1" '$q | @uri')" &&
	    VALUE=$(jq -er '.data.result[0].value[1]' served)
}
has_rates() { query_prometheus 'rate(hayate_sessions_total{kind="sftp"}[10s])' && [ "$VALUE" != 0 ]; }

@test "each query of the dashboard is answered by a real Prometheus" {
	local prometheus port=$((20000 + RANDOM % 6000)) at=$((26000 + RANDOM % 6000)) q n=0
	prometheus=$(find_program prometheus) || skip "no prometheus, which is a package"
	run_logged hayate copy "hayate:$SOME" got
	{
		echo "$LINE"
		cat "$(sshd_log hayate)"
		echo 'Session 1: user=a from=b port=1 what=none end=closed granted=1 refused=1'
		echo 'drop connection #0 from [192.0.2.1]:5 on [192.0.2.2]:22 penalty: failed authentication'
	} >log
	run_metrics <log
	start_exporter $port
	printf '%s\n' 'global: {scrape_interval: 1s}' 'scrape_configs:' \
	    "- {job_name: hayate, static_configs: [{targets: ['127.0.0.1:$port']}]}" >config.yml
	"$prometheus" --config.file=config.yml --storage.tsdb.path=tsdb \
	    --web.listen-address="127.0.0.1:$at" >prometheus.log 2>&1 3>&- &
	poll 20 query_prometheus hayate_sessions_total
	run_metrics <log
	poll 20 has_rates
	while IFS= read -r q; do
		q=${q//'$instance'/.+} q=${q//'$__rate_interval'/60s}
		query_prometheus "$q" || { echo "no answer to: $q"; cat served; return 1; }
		n=$((n + 1))
	done < <(jq -r '.panels[].targets[].expr' "$TOP/contrib/metrics/hayate-grafana.json")
	[ $n -ge 12 ]
	# Nothing that is counted is left out.
	for q in $(sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' hayate.prom | grep -v seconds_total); do
		grep -q "$q" "$TOP/contrib/metrics/hayate-grafana.json"
	done
}
