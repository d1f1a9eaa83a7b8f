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

# lines [SERVER]: its lines for connections that have ended
lines() { grep -aE '^Session 1: user=[^ ]* from=[^ ]* port=' "$(sshd_log "${1:-hayate}")"; }
count() { lines "$1" | wc -l; }
more() { [ "$(count "$1")" -gt "$2" ]; }

# logged SERVER COMMAND...: it ends, and is one line more, $LINE
logged() {
	local server=$1 before
	before=$(count "$server")
	shift
	"$@" >out 2>err </dev/null || :
	poll 10 more "$server" "$before"
	sleep 0.2
	[ "$(count "$server")" = $((before + 1)) ]
	LINE=$(lines "$server" | tail -n 1)
	echo "$LINE"
}

# field NAME: its value in $LINE
field() { tr -s ' \r' '[\n*]' <<<"$LINE" | sed -n "s/^$1=//p"; }

### The line

@test "a copy causes one line, with user, kind, bytes and cipher" {
	logged hayate copy -c aes128-gcm@openssh.com "hayate:$SOME" got
	cmp "$SOME" got
	[ "$(field user)" = "$(id -un)" ]
	[ "$(field from)" = 127.0.0.1 ]
	[[ $(field port) = [1-9]* ]]
	[ "$(field what)" = sftp ]
	[ "$(field sent)" -gt 5000000 ]
	[ "$(field received)" -lt 100000 ]
	[[ $(field seconds) = *.? ]]
	[ "$(field cipher)" = aes128-gcm@openssh.com ]
	[ "$(field clear)" = no ]
	[[ $(field rtt_ms) = *.? ]]
	[ "$(field window)" -ge 2097152 ]
	[ -n "$(field limit)" ]
	logged hayate copy "$SOME" "hayate:$T/there"
	[ "$(field received)" -gt 5000000 ]
	[ "$(field sent)" -lt 100000 ]
	# in this order, and nothing else
	[ "$(grep -o '[a-z_]*=' <<<"$LINE" | xargs)" = \
	    "user= from= port= what= sent= received= seconds= cipher= clear= rtt_ms= min_rtt_ms= resent= window= limit= share= end= granted= refused=" ]
	[ "$(field end) $(field granted) $(field refused)" = "closed 0 0" ]
}

@test "a stock client causes its line as well" {
	CLIENT=stock logged hayate copy "hayate:$SOME" got
	[ "$(field what)" = sftp ]
	[ "$(field sent)" -gt 5000000 ]
}

@test "requests of a session are named, each once, in order" {
	local port=$((20000 + RANDOM % 12000))
	logged hayate client hayate true
	[ "$(field what)" = exec ]
	logged hayate client hayate
	[ "$(field what)" = shell ]
	logged hayate client -R "$port:127.0.0.1:1" -o ExitOnForwardFailure=no hayate true
	[ "$(field what)" = forwarding,exec ]
	logged hayate client -W "127.0.0.1:$(sshd_port hayate)" hayate
	[ "$(field what)" = forwarding ]
	client -M -N -f -S "$T/mux" hayate
	client -S "$T/mux" hayate true
	client -S "$T/mux" hayate true
	files -q -o ControlPath="$T/mux" -b /dev/null hayate
	logged hayate client -S "$T/mux" -O exit hayate
	[ "$(field what)" = exec,sftp ]
}

@test "forwarding of X11 and of an agent is named" {
	eval "$(ssh-agent)"
	ssh-add -q "$BATS_FILE_TMPDIR/user"
	DISPLAY=:9 logged hayate client -A -Y -o IdentityAgent=SSH_AUTH_SOCK -o XAuthLocation=/none hayate true
	kill "$SSH_AGENT_PID"
	[ "$(field what)" = x11,agent,exec ]
	echo "$LINE" | metrics
	[ "$(value 'sessions_total{kind="exec"}')" = 1 ]
}

# A journald of its own, below a /run that only it and its sshd see
journal_up() {
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
journal() { nsenter -m -t "$JOURNAL" sh -c 'journalctl -q -D /run/log/journal/* -o json --no-pager "$@"' sh "$@" >json; [ -s json ]; }
of() { jq -r ".$1" json; }

@test "systemd's journal has each field, and no second line" {
	local port=$((20000 + RANDOM % 12000)) journald=/lib/systemd/systemd-journald
	[ -x $journald ] && [ "$(id -u)" = 0 ] && unshare -m true || skip "no systemd-journald, or not root"
	journal_up $port
	client -p $port hayate true
	poll 10 journal "HAYATE_USER=$(id -un)" MESSAGE_ID=9276c2a6c81c43aab14e0ddac6c5ebaa
	kill "$JOURNAL"
	[ "$(wc -l <json)" = 1 ]
	[ "$(of HAYATE_WHAT) $(of HAYATE_FROM) $(of HAYATE_CLEAR)" = "exec 127.0.0.1 no" ]
	[ "$(of PRIORITY) $(of SYSLOG_FACILITY) $(of SYSLOG_IDENTIFIER)" = "6 19 sshd-session" ]
	[[ $(of MESSAGE) = "Session 1: user=$(of HAYATE_USER) from=127.0.0.1 port=$(of HAYATE_PORT) "* ]]
}

# A /run without journald, and a /dev with a syslog, which only its sshd sees
syslog_up() {
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
	syslog_up $port
	client -p $port hayate true
	poll 10 grep -aq 'Session 1:' said
	kill "$SYSLOG" "$(<reader)"
	[ "$(tr '<' '\n' <said | grep -ac '^158>.*sshd-session\[[0-9]*\]: Session 1: user=')" = 1 ]
	[ "$(grep -ao 'Session 1:' said | wc -l)" = 1 ]
}

@test "each end of a connection causes one line, also that of a killed client" {
	logged hayate timeout -s KILL 2 "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" hayate sleep 60
	[ "$(field what)" = exec ]
	logged hayate client hayate 'exit 7'
}

@test "a session that kills its sshd-session has its line, with the bytes that the kernel counted" {
	head -c 300000 /dev/zero >zeros
	killing() { client hayate 'head -c 300000 >/dev/null; kill -9 $PPID' <zeros; }
	logged hayate killing <zeros
	[ "$(field user) $(field from) $(field what)" = "$(id -un) 127.0.0.1 exec" ]
	[ "$(field end)" = killed ]
	check_true "$(field received) > 300000 && $(field received) < 320000"
	check_true "$(field sent) > 1000 && $(field sent) < 20000"
	[ "$(field cipher)$(field window)$(field limit)$(field clear)" = ---- ]
	echo "$LINE" | metrics
	[ "$(value 'received_bytes_total{kind="exec"}')" = "$(field received)" ]
}

# as_nobody PORT: a copy by an account that is not root, into a temporary directory
as_nobody() {
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
	journal_up $port "Include $T/match"
	as_nobody $port
	rm -r "$TO"
	poll 10 journal HAYATE_USER=nobody
	[ "$(of _UID) $(of HAYATE_WHAT) $(of HAYATE_END)" = "0 sftp closed" ]
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
	poll 10 journal "HAYATE_USER=$(id -un)"
	mkdir bin
	# all of it, and no more
	printf '#!/bin/sh\nshift 2\nexec %s -D /run/log/journal/* -q "$@" -n all\n' "$(command -v journalctl)" >bin/journalctl
	chmod +x bin/journalctl
	sed 's/^WRITE_INTERVAL = .*/WRITE_INTERVAL = 0.0/' "$TOP/contrib/metrics/hayate-metrics" >eager
	run -1 nsenter -m -t "$JOURNAL" --wd="$T" env PATH="$T/bin:$PATH" \
	    python3 eager --journal "$T/hayate.prom"
	journal -t sshd-session -t sshd
	[ "$(grep -c 192.0.2.1 json)" = 6 ]
	# the fields that fail2ban is configured to read
	# shellcheck disable=SC2046 # words
	journal $(sed -n 's/^journalmatch = //p' "$TOP/contrib/fail2ban/filter.d/hayate-sshd.conf")
	run -1 grep 192.0.2.1 json
	grep 'Session 1: user=nobody from=127.0.0.1 ' json
	kill "$JOURNAL" "$(<journald)"
	[ "$(value 'sessions_total{kind="sftp"}') $(value 'sessions_total{kind="exec"}')" = "1 1" ]
	[ "$(value 'sent_bytes_total{kind="exec"}')" -lt 100000 ]
	[ "$(value clear_granted_total) $(value 'refused_total{why="clear"}') $(value 'refused_total{why="startups"}')" = "0 0 0" ]
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
	logged hayate /usr/bin/python3 breaks
	[ "$(field from)" = 127.0.0.1 ]
	[[ $(field port) = [1-9]* ]]
	[ "$(field what)" = exec ]
	check_true "$(field sent) > 300000 && $(field sent) < 400000"
	run ! grep -a 'signal 11\|Segmentation' "$(sshd_log hayate)"
}

@test "a login that fails causes no line" {
	local before
	before=$(count hayate)
	run -255 client -o User=nobody hayate true
	sleep 0.5
	[ "$(count hayate)" = "$before" ]
}

@test "a subsystem's name cannot forge a field, and a name chosen by a client is not logged" {
	logged named client -s named 'x" limit=none,y'
	[ "$(field what)" = x__limit_none_y ]
	logged named client -s named "$(printf '%040d' 0)"
	[ "$(field what)" = "$(printf '%032d' 0)" ]
	logged hayate client -s hayate 'x" limit=none "'
	[ "$(field what)" = unknown ]
	logged hayate client -s hayate "$(printf 'a\nSession 1: user=root')"
	[ "$(field what)" = unknown ]
}

# many: nine subsystems that are not there, over one connection, then a command
many() {
	local i
	client -M -S "$T/ctl" -o ControlPersist=yes -N -f hayate
	for i in $(seq 9); do client -S "$T/ctl" -s hayate "no$i" || :; done
	client -S "$T/ctl" hayate true
	client -S "$T/ctl" -O exit hayate
}

@test "the kind of a session is named whatever it requested before" {
	logged hayate many
	[ "$(field what)" = unknown,exec ]
}

@test "data in clear is named" {
	logged clear copy -o NoneEnabled=yes -o NoneSwitch=yes "clear:$SOME" got
	[ "$(field clear)" = yes ]
	[ "$(field cipher)" = aes128-gmac@hayate.invalid ]
	[ "$(field granted) $(field refused)" = "1 0" ]
	echo "$LINE" | metrics
	[ "$(value clear_granted_total)" = 1 ]
	logged hayate copy -o NoneEnabled=yes -o NoneSwitch=yes "hayate:$SOME" got
	[ "$(field granted) $(field refused)" = "0 1" ]
}

@test "SessionLog no and Hayate no cause no line, and Match decides for each connection" {
	local s
	for s in quiet off; do
		client $s true
		copy "$s:$SOME" got
	done
	logged match client match true
	[ "$(count quiet)" = 0 ]
	[ "$(count off)" = 0 ]
}

### The metrics

metrics() { "$TOP/contrib/metrics/hayate-metrics" "$T/hayate.prom"; }

# value NAME: of a metric
value() { awk -v name="hayate_$1" '$1 == name { print $2 }' hayate.prom; }

@test "the metrics are the sums of the lines, and continue after a restart" {
	local before=0 i
	for i in 1 2; do
		logged hayate copy "hayate:$SOME" got
		echo "$LINE" >line.$i
		before=$((before + $(field sent)))
		metrics <line.$i
		[ "$(value 'sessions_total{kind="sftp"}')" = $i ]
		[ "$(value 'sent_bytes_total{kind="sftp"}')" = $before ]
	done
	[ "$(value rate_bytes_per_second_count)" = 2 ]
	[ "$(value 'rate_bytes_per_second_bucket{le="+Inf"}')" = 2 ]
	# a window of each, below 16 MiB
	[ "$(value 'window_bytes_bucket{le="1048576"}')" = 0 ]
	[ "$(value 'window_bytes_bucket{le="16777216"}')" = 2 ]
	logged hayate client hayate true
	echo "$LINE" | metrics
	[ "$(value 'sessions_total{kind="exec"}')" = 1 ]
	[ "$(value rate_bytes_per_second_count)" = 2 ]
	[ "$(ls -A)" = "$(printf '%s\n' err got hayate.prom line.1 line.2 out)" ]
}

@test "a log is counted with each connection once, and without names that look like a line" {
	local n
	logged hayate client -s hayate 'Session 1: user=root what=shell'
	logged hayate client -s hayate 'sshd[1]: Session 1: user=root what=shell'
	n=$(count hayate)
	metrics <"$(sshd_log hayate)"
	[ "$(sed -n 's/^hayate_sessions_total.* //p' hayate.prom | paste -sd +  | xargs -I X sh -c 'echo $((X))')" = "$n" ]
	# before a login as well
	cp hayate.prom was
	echo 'Invalid user sshd[1]: Session 1: user=a from=b port=1 what=none sent=1e99 from ::1' | metrics
	diff was hayate.prom
	# numbers that are none, and a limit that is none
	rm hayate.prom
	printf 'Session 1: user=a from=b port=1 what=none sent=%s received=2e6 limit=abc\n' \
	    inf nan -5 | metrics
	[ "$(value 'sessions_total{kind="none"}')" = 3 ]
	[ "$(value 'sent_bytes_total{kind="none"}')" = 0 ]
	[ "$(value 'limits_total{limit="unknown"}')" = 3 ]
	run ! grep abc hayate.prom
	rm hayate.prom
	metrics <"$(sshd_log hayate)"
	# as syslog writes it
	sed 's/^/Nov 24 13:00:00 h sshd-session[77]: /' "$(sshd_log hayate)" >log
	mv hayate.prom was
	metrics <log
	diff was hayate.prom
}

@test "refusals are counted by their reason" {
	logged hayate copy -o NoneEnabled=yes -o NoneSwitch=yes "hayate:$SOME" got
	{
		echo "$LINE"
		echo 'drop connection #0 from [192.0.2.1]:5 on [192.0.2.2]:22 penalty: failed authentication'
		echo 'drop connection #9 from [192.0.2.1]:5 on [192.0.2.2]:22 Maxstartups'
	} | metrics
	[ "$(value 'refused_total{why="clear"}')" = 1 ]
	[ "$(value clear_granted_total)" = 0 ]
	echo 'Session 1: user=a from=b port=1 what=none end=closed granted=2 refused=0' | metrics
	[ "$(value clear_granted_total)" = 2 ]
	[ "$(value 'refused_total{why="penalty"}')" = 1 ]
	[ "$(value 'refused_total{why="startups"}')" = 1 ]
}

@test "metrics that cannot be written are an error, and the old file stays" {
	run -1 "$TOP/contrib/metrics/hayate-metrics" "$T/none/hayate.prom" </dev/null
	[[ $output = *"$T/none/hayate.prom.new: No such file"* ]]
	run -1 "$TOP/contrib/metrics/hayate-metrics" "$T/hayate.txt" </dev/null
	[[ $output = usage:* ]]
}

# steady [OPTION]: the program that counts, which writes after each line
steady() {
	sed 's/^WRITE_INTERVAL = .*/WRITE_INTERVAL = 0.0/' "$TOP/contrib/metrics/hayate-metrics" >steady
	exec python3 steady "$@" "$T/hayate.prom" 2>said 3>&-
}
is() { [ "$(value "$1")" = "$2" ]; }

@test "each counter is written as 0 before anything is counted" {
	local name n=0
	metrics </dev/null
	for name in 'sessions_total{kind="sftp"}' 'sent_bytes_total{kind="none"}' \
	    'received_bytes_total{kind="other"}' 'seconds_total{kind="shell"}' \
	    'limits_total{limit="receive-buffer"}' 'limits_total{limit="unknown"}' \
	    'refused_total{why="penalty"}' 'refused_total{why="clear"}' clear_granted_total \
	    resent_segments_total clear_sessions_total; do
		is "$name" 0 || { echo "$name is \"$(value "$name")\""; false; }
	done
	# before the input has said a word
	rm hayate.prom
	mkfifo log
	(steady <log) &
	exec 8>log
	poll 10 is clear_granted_total 0
	exec 8>&-
	# Each label that a line may count stands there from the first.
	cut -d ' ' -f 1 hayate.prom >names
	metrics <"$(sshd_log hayate)"
	for n in {{,un}known,max-rate,{send,receive}-buffer}; do
		echo "Session 1: user=a from=b port=1 what=shell limit=$n sent=2e6"
	done | metrics
	cut -d ' ' -f 1 hayate.prom | diff names -
}

@test "a full disk stops the writing of metrics, and not the counting" {
	local line='Session 1: user=a from=b port=1 what=exec sent=100' pid
	mkfifo log
	(steady <log) &
	pid=$!
	exec 8>log
	echo "$line" >&8
	poll 10 is 'sessions_total{kind="exec"}' 1
	# as on a full disk: standard error, which is short, can be written
	prlimit --pid $pid --fsize=2000:unlimited
	printf '%s\n' "$line" "$line" >&8
	poll 10 test -s said
	is 'sessions_total{kind="exec"}' 1
	[[ $(<said) = "hayate-metrics: $T/hayate.prom: "* ]]
	prlimit --pid $pid --fsize=unlimited:unlimited
	echo "$line" >&8
	poll 10 is 'sessions_total{kind="exec"}' 4
	# which is said once
	[ "$(wc -l <said)" = 1 ]
	exec 8>&-
	wait $pid
}

@test "with the journal counting continues where it ended, also after a kill" {
	local port=$((20000 + RANDOM % 12000)) journald=/lib/systemd/systemd-journald pid n
	[ -x $journald ] && [ "$(id -u)" = 0 ] && unshare -m true || skip "no systemd-journald, or not root"
	journal_up $port
	mkdir bin
	printf '#!/bin/sh\nexec %s -D /run/log/journal/* "$@"\n' "$(command -v journalctl)" >bin/journalctl
	chmod +x bin/journalctl
	client -p $port hayate true
	poll 10 journal MESSAGE_ID=9276c2a6c81c43aab14e0ddac6c5ebaa
	started() { (steady --journal) & pid=$!; }
	steady() {
		sed 's/^WRITE_INTERVAL = .*/WRITE_INTERVAL = 0.0/' "$TOP/contrib/metrics/hayate-metrics" >steady
		exec nsenter -m -t "$JOURNAL" --wd="$T" env PATH="$T/bin:$PATH" \
		    python3 steady "$@" "$T/hayate.prom" 2>said 3>&-
	}
	# Lines logged before its first run do not count.
	started
	poll 10 is 'sessions_total{kind="exec"}' 0
	client -p $port hayate true
	poll 10 is 'sessions_total{kind="exec"}' 1
	pgrep -P $pid >reader
	kill -KILL $pid "$(<reader)"
	# While it does not run, more is logged than journalctl shows unasked.
	for n in {1..12}; do client -p $port hayate true; done
	poll 10 eval 'journal MESSAGE_ID=9276c2a6c81c43aab14e0ddac6c5ebaa && [ "$(wc -l <json)" = 14 ]'
	started
	poll 10 is 'sessions_total{kind="exec"}' 13
	kill $pid $(pgrep -P $pid) "$JOURNAL"
}

@test "the unit is correct, and gives the program no privileges" {
	hash systemd-analyze || skip "no systemd-analyze (package systemd)"
	sed "s,^ExecStart=[^ ]*,ExecStart=/bin/true," "$TOP/contrib/metrics/hayate-metrics.service" >hayate-metrics.service
	systemd-analyze --man=no verify ./hayate-metrics.service 2>said || { cat said; false; }
	run -1 grep hayate said
	systemd-analyze security --offline=yes --no-pager --threshold=15 ./hayate-metrics.service >said || { tail -n 2 said; false; }
}

# unpacked PROGRAM: that of the system, or the one that set_up unpacked
unpacked() {
	command -v "$1" || { [ -x "$BUILD/ftpd/usr/bin/$1" ] && echo "$BUILD/ftpd/usr/bin/$1"; }
}

# exporter_up PORT: serves hayate.prom; read with "served"
exporter_up() {
	local exporter
	exporter=$(unpacked prometheus-node-exporter) || skip "no prometheus-node-exporter, which is a package"
	"$exporter" --web.listen-address="127.0.0.1:$1" --collector.disable-defaults \
	    --collector.textfile --collector.textfile.directory="$T" >exporter.log 2>&1 3>&- &
	poll 10 url "http://127.0.0.1:$1/metrics"
}
url() { python3 -c "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())" "$1" >served 2>/dev/null; }

@test "a real node exporter serves the metrics" {
	local port=$((20000 + RANDOM % 12000))
	logged hayate copy "hayate:$SOME" got
	echo '# cursor s=1;i=2' >hayate.prom
	echo "$LINE" | metrics
	grep -x '# cursor s=1;i=2' hayate.prom
	exporter_up $port
	grep -x 'node_textfile_scrape_error 0' served
	grep -x 'hayate_sessions_total{kind="sftp"} 1' served
	grep -x '# TYPE hayate_rate_bytes_per_second histogram' served
}

# asked QUERY: Prometheus' answer has a value; $VALUE
asked() {
	url "http://127.0.0.1:$at/api/v1/query?query=$(jq -rn --arg q "$1" '$q | @uri')" &&
	    VALUE=$(jq -er '.data.result[0].value[1]' served)
}
has_rates() { asked 'rate(hayate_sessions_total{kind="sftp"}[10s])' && [ "$VALUE" != 0 ]; }

@test "each query of the dashboard is answered by a real Prometheus" {
	local prometheus port=$((20000 + RANDOM % 6000)) at=$((26000 + RANDOM % 6000)) q n=0
	prometheus=$(unpacked prometheus) || skip "no prometheus, which is a package"
	logged hayate copy "hayate:$SOME" got
	{
		echo "$LINE"
		cat "$(sshd_log hayate)"
		echo 'Session 1: user=a from=b port=1 what=none end=closed granted=1 refused=1'
		echo 'drop connection #0 from [192.0.2.1]:5 on [192.0.2.2]:22 penalty: failed authentication'
	} >log
	metrics <log
	exporter_up $port
	printf '%s\n' 'global: {scrape_interval: 1s}' 'scrape_configs:' \
	    "- {job_name: hayate, static_configs: [{targets: ['127.0.0.1:$port']}]}" >config.yml
	"$prometheus" --config.file=config.yml --storage.tsdb.path=tsdb \
	    --web.listen-address="127.0.0.1:$at" >prometheus.log 2>&1 3>&- &
	poll 20 asked hayate_sessions_total
	metrics <log
	poll 20 has_rates
	while IFS= read -r q; do
		q=${q//'$instance'/.+} q=${q//'$__rate_interval'/60s}
		asked "$q" || { echo "no answer to: $q"; cat served; return 1; }
		n=$((n + 1))
	done < <(jq -r '.panels[].targets[].expr' "$TOP/contrib/metrics/hayate-grafana.json")
	[ $n -ge 12 ]
	# Nothing that is counted is left out.
	for q in $(sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' hayate.prom | grep -v seconds_total); do
		grep -q "$q" "$TOP/contrib/metrics/hayate-grafana.json"
	done
}
