#!/usr/bin/env bats
# The packages hayate-client and hayate-server beside the distribution's OpenSSH:
# installed, upgraded, removed and purged in a root directory of their own, which
# systemd boots in a container without network. "make check-packages" runs this.

load ../helper
load root

setup_file() {
	must lintian
	take_debs hayate-client hayate-server
	make_root openssh-server openssh-client
	boot
}

teardown_file() { shut_down; }

# Each test begins with our packages freshly installed, and started.
setup() {
	afresh
	# Six starts in ten seconds are too many for systemd.
	inside systemctl reset-failed hayate-sshd || :
	inside systemctl enable -q --now hayate-sshd
}

afresh() {
	inside dpkg --purge hayate-server hayate-client
	inside rm -rf /etc/hayate
	add client server
}

# add PART...: dpkg installs these packages of ours, as built or as edited
add() { install_debs "${@/#/hayate-}"; }

# answers TEXT COMMAND...: that is what it prints
answers() { [ "$("${@:2}")" = "$1" ]; }

main_pid() { inside systemctl show -P MainPID "${1-hayate-sshd}"; }

@test "lintian finds no error, and each warning is explained" {
	run -0 lintian --fail-on error,warning \
	    --suppress-tags package-has-long-file-name "$DEBS"/*.deb
	[[ $output != *[EW]": "* ]]
}

@test "the documents are installed, their links lead to files, and debug symbols are separate" {
	local doc link name=$ROOT/usr/share/doc/hayate-client
	for doc in README.md INSTALL.md SECURITY.md PROTOCOL; do
		[ -s "$name/$doc" ]
	done
	for link in $(grep -oh ']([^)]*)' "$name"/{*.md,PROTOCOL} | sed 's/^](//; s/)$//; s/#.*//'); do
		case $link in http*) ;; *) [ -e "$name/$link" ] || { echo "$link"; false; } ;; esac
	done
	for doc in client server; do
		dpkg-deb -c "$BUILD"/deb/hayate-$doc-dbgsym_*.deb | grep -q '/usr/lib/debug/.*\.debug$'
	done
	cd "$ROOT/usr/share/doc"
	ls hayate-server/examples/{fail2ban/filter.d/hayate-sshd.conf,systemd/hayate-user.conf} \
	    hayate-client/examples/{slurm/hayate.sbatch,htcondor/hayate.sub} ../../bin/hayate-fleet
}

@test "a first installation opens no port, and says which rules apply there" {
	afresh >"$BATS_TEST_TMPDIR/said"
	run -1 inside systemctl is-enabled hayate-sshd
	[ "$output" = disabled ]
	[ -z "$(inside find /etc/rc2.d /etc/rc3.d -name 'S*hayate*')" ]
	[ "$(main_pid)" = 0 ]
	run ! login 2222
	grep -F 'No rule of port 22' "$BATS_TEST_TMPDIR/said"
	run -1 grep 'is taken' "$BATS_TEST_TMPDIR/said"
	# nor does one open with an upgrade, or with the next boot
	edited +1
	add client server
	[ "$(main_pid)" = 0 ]
	run -1 inside systemctl is-enabled hayate-sshd
	# where another program has the port
	echo 'Port 2222' >"$ROOT/etc/ssh/sshd_config.d/hpn.conf"
	echo 'Port 22' >>"$ROOT/etc/ssh/sshd_config.d/hpn.conf"
	inside systemctl restart ssh
	DEBS=$BATS_FILE_TMPDIR/debs
	afresh >"$BATS_TEST_TMPDIR/said"
	rm "$ROOT/etc/ssh/sshd_config.d/hpn.conf"
	grep -F 'port 2222 is taken' "$BATS_TEST_TMPDIR/said"
	# another port, before it starts for the first time
	sed -i 's/^Port 2222$/Port 2244/' "$ROOT/etc/hayate/sshd_config"
	inside systemctl enable -q --now hayate-sshd
	serves 2244
	[[ $(inside ssh-keyscan -p 2222 127.0.0.1 2>&1) != *Hayate* ]]
	inside systemctl restart ssh
}

@test "a timer reports missing fixes to the journal and at login, without rights or network" {
	local unit=hayate-security-status list=/usr/lib/hayate/hayate-status/build-aux/advisories
	inside systemctl is-active $unit.timer
	inside systemctl is-enabled $unit.timer
	# The service has not run yet, and runs now, by its timer or at once.
	inside systemctl start $unit
	inside journalctl -o cat -u $unit | grep -F "installed: $(inside hayate-ssh -V 2>&1 | sed 's/,.*//')"
	inside journalctl -o cat -u $unit | grep -F "running:   process $(main_pid) started after"
	# what the list says, without asking anybody
	run inside $unit --offline
	[[ $status != 0 || $output = *"no fix of the list is missing"* ]]
	[[ $output != *apt:* ]]
	greets() { inside sh -c 'echo exit | hayate-ssh -tt -i /root/key -p 2222 -o StrictHostKeyChecking=no \
	    -o UserKnownHostsFile=/dev/null tester@127.0.0.1' 2>&1 | grep -c 'lacks security fixes'; }
	printf 'dated\t%s\n99.1p1\tCVE-1-2\ta flaw\nend\n' "$(date -u +%F)" >"$ROOT/root/list"
	cp "$ROOT$list" "$BATS_TEST_TMPDIR/list"
	cp "$ROOT/root/list" "$ROOT$list"
	# what no build has is no news at login
	inside systemctl start $unit
	[ "$(inside wc -c /run/motd.d/60-hayate)" = "0 /run/motd.d/60-hayate" ]
	sed -i '0,/^tried/s//tried	99.1p1 OpenSSH_99.1p1 2026-01-01 -\ntried/' \
	    "$ROOT/usr/lib/hayate/hayate-status/UPSTREAM"
	inside systemctl start $unit
	[ "$(inside wc -l /run/motd.d/60-hayate)" = "1 /run/motd.d/60-hayate" ]
	[ "$(greets)" = 1 ]
	# nothing missing, nothing said
	sed -i s/99.1p1/9.1p1/ "$ROOT$list"
	inside systemctl start $unit
	[ "$(inside wc -c /run/motd.d/60-hayate)" = "0 /run/motd.d/60-hayate" ]
	[ "$(greets)" = 0 ]
	# a newer list, of the site
	cp "$BATS_TEST_TMPDIR/list" "$ROOT$list"
	sed -i "s/^dated.*/dated	2026-01-01/" "$ROOT$list"
	inside $unit --refresh /root/list
	inside systemctl start $unit
	inside journalctl -o cat -u $unit | grep -F '(/var/lib/hayate/advisories)'
	[ "$(greets)" = 1 ]
	inside dpkg --purge hayate-server hayate-client
	run ! inside systemctl is-active $unit.timer
	run ! inside test -e /run/motd.d/60-hayate -o -e /var/lib/hayate
}

@test "with the sample of port 22's rules, users refused there are refused here" {
	local conf=$ROOT/etc/ssh/sshd_config.d/rules.conf
	does() { PROGRAM=hayate-ssh login 2222 -o BatchMode=yes; }
	[ "$(does)" = tester ]
	inside cp /usr/share/doc/hayate-server/examples/sshd_config.system /etc/hayate/sshd_config.d/00-system.conf
	echo 'AllowGroups nogroup' >"$conf"
	inside systemctl reload hayate-sshd
	poll 10 fails does
	printf '%s\n' 'Match User tester' 'ForceCommand echo forced' >"$conf"
	inside systemctl reload hayate-sshd
	poll 10 answers forced does
	[[ $(inside ssh-keyscan -p 2222 127.0.0.1 2>&1) = *Hayate_* ]]
	inside journalctl -u hayate-sshd | grep -q 'pam_unix(sshd:session): session opened for user tester'
	# Without the system's files it does not go on with rules of its own.
	mv "$ROOT/etc/ssh" "$ROOT/etc/ssh.away"
	run ! inside systemctl reload hayate-sshd
	run ! inside systemctl restart hayate-sshd
	run ! does
	mv "$ROOT/etc/ssh.away" "$ROOT/etc/ssh"
	rm "$conf"
}

@test "both servers serve after the installation, each under its own name" {
	serves 22 2222
	PROGRAM=hayate-ssh serves 22 2222
	[[ $(inside hayate-ssh -V 2>&1) = *Hayate_* ]]
	[[ $(inside ssh -V 2>&1) != *Hayate_* ]]
	# files, and programs that call "ssh"
	inside hayate-scp -q -i /root/key -o StrictHostKeyChecking=no \
	    -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -P 2222 \
	    /etc/hayate/moduli tester@127.0.0.1:moduli
	cmp "$ROOT/etc/hayate/moduli" "$ROOT/home/tester/moduli"
	[[ $(inside env PATH=/usr/lib/hayate/bin:/usr/bin sh -c 'ssh -V' 2>&1) = *Hayate_* ]]
	# no file is another package's, and none differs from what was packed
	[ -z "$(inside dpkg -V hayate-client hayate-server openssh-client openssh-server)" ]
}

@test "a password goes through the PAM service hayate-sshd" {
	password() {
		inside env SSH_ASKPASS=/root/askpass SSH_ASKPASS_REQUIRE=force hayate-ssh \
		    -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
		    -o LogLevel=ERROR -o PreferredAuthentications=password \
		    -p 2222 tester@127.0.0.1 id -un
	}
	[ "$(password)" = tester ]
	inside journalctl -u hayate-sshd | grep -q 'pam_unix(hayate-sshd:session): session opened for user tester'
	# An account that this service refuses
	cp "$ROOT/etc/pam.d/hayate-sshd" "$BATS_TEST_TMPDIR/pam"
	sed -i '1i account required pam_deny.so' "$ROOT/etc/pam.d/hayate-sshd"
	run ! login 2222
	serves 22
	cp "$BATS_TEST_TMPDIR/pam" "$ROOT/etc/pam.d/hayate-sshd"
	serves 2222
}

@test "HostKey lines use the distribution's host keys, and can be reverted" {
	shown() { inside ssh-keyscan -p "$1" -t ed25519 127.0.0.1 2>/dev/null | cut -d' ' -f2-; }
	own=$(shown 2222)
	[ "$own" != "$(shown 22)" ]
	echo 'HostKey /etc/ssh/ssh_host_ed25519_key' >"$ROOT/etc/hayate/sshd_config.d/host-keys.conf"
	inside systemctl reload hayate-sshd
	poll 10 serves 2222
	[ "$(shown 2222)" = "$(shown 22)" ]
	rm "$ROOT/etc/hayate/sshd_config.d/host-keys.conf"
	inside systemctl reload hayate-sshd
	poll 10 serves 2222
	[ "$(shown 2222)" = "$own" ]
}

@test "the socket starts the server at the first connection" {
	[[ $(version_of hayate-server) != *-0unpatched* ]] ||
	    skip "socket activation is Debian's patch"
	inside systemctl stop hayate-sshd
	run ! login 2222
	inside systemctl start hayate-sshd.socket
	[ "$(main_pid)" = 0 ]
	serves 2222
	[ "$(main_pid)" != 0 ]
	inside systemctl stop hayate-sshd.socket hayate-sshd
}

@test "the init script serves where systemd does not" {
	init() { inside env SYSTEMCTL_SKIP_REDIRECT=yes /etc/init.d/hayate-sshd "$1"; }
	inside systemctl stop hayate-sshd
	run ! init status
	init start
	poll 10 serves 22 2222
	[ "$(main_pid)" = 0 ]
	init status
	# reload and restart test the configuration first
	echo 'NoSuchKeyword yes' >"$ROOT/etc/hayate/sshd_config.d/wrong.conf"
	run ! init reload
	run ! init restart
	[[ $output = *"Bad configuration option: NoSuchKeyword"* ]]
	rm "$ROOT/etc/hayate/sshd_config.d/wrong.conf"
	serves 22 2222
	init restart
	poll 10 serves 22 2222
	init stop
	poll 10 fails login 2222
	serves 22
}

@test "an upgrade starts the new sshd, and keeps configuration, keys and sessions" {
	old=$(main_pid)
	key=$(cat "$ROOT/etc/hayate/ssh_host_ed25519_key.pub")
	sed -i 's/^#MaxAuthTries .*/MaxAuthTries 3/' "$ROOT/etc/hayate/sshd_config"
	begin_session 2222
	edited +1
	add client server
	[[ $(version_of hayate-server) = *+1 ]]
	serves 22 2222
	[ "$(main_pid)" != "$old" ]
	[ "$key" = "$(cat "$ROOT/etc/hayate/ssh_host_ed25519_key.pub")" ]
	[ "$(inside hayate-sshd -T | grep -i maxauthtries)" = "maxauthtries 3" ]
	session_lives
	# and back to the version before
	DEBS=$BATS_FILE_TMPDIR/debs
	add client server
	[[ $(version_of hayate-server) != *+1 ]]
	serves 22 2222
}

@test "a configuration that cannot work is refused before sshd is stopped" {
	old=$(main_pid)
	echo 'NoSuchKeyword yes' >"$ROOT/etc/hayate/sshd_config.d/wrong.conf"
	edited +1
	run ! add client server
	[[ $output = *"wrong.conf: line 1: Bad configuration option: NoSuchKeyword"* ]]
	[[ $output = *"left running"*"dpkg --configure hayate-server"* ]]
	[ "$(main_pid)" = "$old" ]
	[ "$(status_of hayate-server)" = half-configured ]
	rm "$ROOT/etc/hayate/sshd_config.d/wrong.conf"
	serves 22 2222
	inside dpkg --configure hayate-server
	[ "$(main_pid)" != "$old" ]
	serves 22 2222
}

# without_sshd: a server that cannot run; with_foreign: a file of openssh-client
without_sshd() { printf '#!/bin/sh\nexit 1\n' >usr/sbin/hayate-sshd; }
with_foreign() { mkdir -p usr/bin && touch usr/bin/ssh; }

@test "an upgrade that fails leaves the old sshd serving" {
	local old
	old=$(main_pid)
	edited +1 without_sshd
	run ! add client server
	[ "$(main_pid)" = "$old" ]
	serves 22 2222
	# a package that dpkg cannot unpack
	DEBS=$BATS_FILE_TMPDIR/debs
	add client server
	old=$(main_pid)
	edited +2 with_foreign
	run ! add server
	[[ $output = *"trying to overwrite '/usr/bin/ssh'"* ]]
	[ "$(main_pid)" = "$old" ]
	serves 22 2222
}

@test "removal stops the server and leaves the distribution's; purge removes everything" {
	key=$(cat "$ROOT/etc/hayate/ssh_host_ed25519_key.pub")
	inside dpkg --remove hayate-server hayate-client
	serves 22
	run ! login 2222
	[ ! -e "$ROOT/usr/sbin/hayate-sshd" ]
	add client server
	[ "$key" = "$(cat "$ROOT/etc/hayate/ssh_host_ed25519_key.pub")" ]
	inside systemctl start hayate-sshd
	serves 22 2222
	inside dpkg --purge hayate-server hayate-client
	serves 22
	[ ! -e "$ROOT/etc/hayate" ]
	# The user's number may own files.
	diff <(cd "$ROOT" && find etc lib/systemd usr -name '*hayate*') - </dev/null
	grep -q ^hayate-sshd: "$ROOT/etc/passwd"
}

# The last test: nothing of the distribution's server is left after it.
@test "a purge of openssh-server leaves ours serving" {
	inside dpkg --purge openssh-server openssh-sftp-server
	run ! grep ^sshd: "$ROOT/etc/passwd"
	inside systemctl restart hayate-sshd
	serves 2222
	run ! login 22
}
