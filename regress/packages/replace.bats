#!/usr/bin/env bats
# The packages of FLAVOUR=replace in place of the distribution's OpenSSH: taken
# over, upgraded, given back, removed and purged in a root directory of their own,
# which systemd boots in a container without network. "make check-packages" runs
# this.

load ../helper
load root

setup_file() {
	must lintian
	take_debs openssh-client openssh-sftp-server openssh-server
	export KEEP="$PACKAGES"
	make_root openssh-server openssh-client openssh-sftp-server
	cp -a "$ROOT/etc/ssh" "$BATS_FILE_TMPDIR/etc-ssh"
	cp -a "$ROOT/etc/pam.d/sshd" "$BATS_FILE_TMPDIR/pam"
	boot
}

teardown_file() { shut_down; }

# Each test begins with the distribution's OpenSSH, its host keys, and a
# configuration that somebody edited.
setup() {
	export CONFIG=$ROOT/etc/ssh/sshd_config
	rm -f "$ROOT"/etc/ssh/ssh*_config.d/*
	give_back >"$BATS_TEST_TMPDIR/setup.log" 2>&1 || :
	cp -a "$BATS_FILE_TMPDIR/etc-ssh/." "$ROOT/etc/ssh"
	cp -a "$BATS_FILE_TMPDIR/pam" "$ROOT/etc/pam.d/sshd"
	sed -i -e 's/^#MaxAuthTries .*/MaxAuthTries 3/' -e 's/^#Port 22$/Port 22/' "$CONFIG"
	inside dpkg --configure -a
	# Six starts in ten seconds are too many for systemd.
	inside systemctl reset-failed ssh
	inside systemctl restart ssh
	poll 10 serves 22
	[[ $(version_of openssh-server) != *hayate* ]]
}

main_pid() { inside systemctl show -P MainPID ssh; }

@test "lintian finds no error in the packages that replace, and explains warnings" {
	run -0 lintian --fail-on error,warning \
	    --suppress-tags package-has-long-file-name "$DEBS"/*.deb
	[[ $output != *[EW]": "* ]]
}

@test "taking over keeps configuration, keys, PAM file, unit and open sessions" {
	local key old
	key=$(host_key)
	old=$(main_pid)
	cp "$CONFIG" "$BATS_TEST_TMPDIR/config"
	sed -i '$a# edited' "$ROOT/etc/pam.d/sshd"
	begin_session 22
	take_over
	[[ $(version_of openssh-server) = *hayate* ]]
	[[ $(inside ssh -V 2>&1) = *Hayate_* ]]
	serves 22
	[ "$(main_pid)" != "$old" ]
	[ "$(host_key)" = "$key" ]
	cmp "$CONFIG" "$BATS_TEST_TMPDIR/config"
	grep -qx '# edited' "$ROOT/etc/pam.d/sshd"
	[ "$(inside systemctl is-enabled ssh)" = enabled ]
	[ "$(inside sshd -T | grep -i maxauthtries)" = "maxauthtries 3" ]
	session_lives
	[ ! -e "$ROOT/usr/sbin/sshd.session-split" ]
	# nothing differs from what was packed but what was there before
	inside dpkg -V openssh-client openssh-server openssh-sftp-server >"$BATS_TEST_TMPDIR/differs"
	run ! grep -v ' c /etc/' "$BATS_TEST_TMPDIR/differs"
	# files, through the sftp-server of the new packages
	inside scp -q -i /root/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
	    -o LogLevel=ERROR /etc/ssh/moduli tester@127.0.0.1:moduli
	cmp "$ROOT/etc/ssh/moduli" "$ROOT/home/tester/moduli"
}

@test "a configuration that nobody edited becomes the new one without a question" {
	cp "$BATS_FILE_TMPDIR/etc-ssh/sshd_config" "$CONFIG"
	take_over
	cmp "$CONFIG" "$ROOT/usr/share/openssh/sshd_config"
	serves 22
}

@test "passwords go through the PAM service sshd as before" {
	password() {
		inside env SSH_ASKPASS=/root/askpass SSH_ASKPASS_REQUIRE=force ssh \
		    -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \
		    -o PreferredAuthentications=password tester@127.0.0.1 id -un
	}
	[ "$(password)" = tester ]
	take_over
	[ "$(password)" = tester ]
	inside journalctl -u ssh | grep -q 'pam_unix(sshd:session): session opened for user tester'
}

@test "an upgrade of ours starts the new sshd and keeps an open session" {
	local old
	take_over
	old=$(main_pid)
	begin_session 22
	edited +1
	take_over
	[[ $(version_of openssh-server) = *+1 ]]
	[ "$(main_pid)" != "$old" ]
	serves 22
	session_lives
	# and back to our version before
	DEBS=$BATS_FILE_TMPDIR/debs
	take_over
	[[ $(version_of openssh-server) != *+1 ]]
	serves 22
}

# bob_held: who is held to internal-sftp gets no shell, and files
bob_held() {
	as_bob() {
		inside "$1" -i /root/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
		    -o LogLevel=ERROR "${@:2}"
	}
	run as_bob ssh bob@127.0.0.1 echo a shell
	[[ $output != *"a shell"* ]]
	as_bob scp -q /etc/ssh/moduli bob@127.0.0.1:moduli
	cmp "$ROOT/etc/ssh/moduli" "$ROOT/home/bob/moduli"
	rm "$ROOT/home/bob/moduli"
}

@test "going back keeps keys, sessions and rules: only our keywords become comments" {
	local key sample
	inside sh -ec 'useradd -m -s /bin/sh bob; install -d -o bob /home/bob/.ssh
		usermod -p "*" bob
		install -o bob /root/key.pub /home/bob/.ssh/authorized_keys'
	key=$(host_key)
	take_over
	for sample in "$TOP"/contrib/site/sshd_config.{data,frontend,transfer,visualisation}; do
		cp "$sample" "$ROOT/etc/ssh/sshd_config.d/${sample##*.}.conf"
	done
	printf '%s\n' 'Match User bob' 'WindowMax 8M' 'ForceCommand internal-sftp' \
	    >"$ROOT/etc/ssh/sshd_config.d/bob.conf"
	echo 'WindowMax 8M' >"$ROOT/etc/ssh/ssh_config.d/hayate.conf"
	sed -i '$aNoneEnabled no' "$CONFIG"
	cp -a "$ROOT/etc/ssh" "$BATS_TEST_TMPDIR/before"
	inside systemctl restart ssh
	bob_held
	begin_session 22
	inside find /etc/systemd -xtype l >"$BATS_TEST_TMPDIR/dangling"
	run -0 give_back
	[[ $output = *"/etc/ssh/sshd_config.d/bob.conf:2: WindowMax 8M"*"no longer hold"* ]]
	[[ $output = *"/etc/ssh/ssh_config.d/hayate.conf:1: WindowMax 8M"* ]]
	[[ $output != *refuses* ]]
	inside find /etc/systemd -xtype l | diff "$BATS_TEST_TMPDIR/dangling" -
	[[ $(version_of openssh-server) != *hayate* ]]
	inside sshd -t
	poll 10 serves 22
	bob_held
	[ "$(host_key)" = "$key" ]
	session_lives
	# and forth
	take_over
	serves 22
	diff -r "$BATS_TEST_TMPDIR/before" "$ROOT/etc/ssh"
	[ "$(inside sshd -T -C user=bob,host=h,addr=127.0.0.2 | grep -i windowmax)" = "windowmax 8388608" ]
	[ "$(inside ssh -G x | grep -i windowmax)" = "windowmax 8388608" ]
	[ ! -e "$ROOT/var/lib/hayate/aside/sshd" ]
	# What only a newer release knows is named by the distribution's sshd.
	echo 'PerSourcePenalties no' >"$ROOT/etc/ssh/sshd_config.d/newer.conf"
	run give_back
	[[ $(version_of openssh-server) != *:9.2* || $output = *"newer.conf"*"does not"* ]]
}

@test "a configuration that cannot work is refused, and the distribution's sshd serves on" {
	local old
	old=$(main_pid)
	echo 'NoSuchKeyword yes' >"$ROOT/etc/ssh/sshd_config.d/wrong.conf"
	run ! take_over
	[[ $output = *"wrong.conf"*"Bad configuration option: NoSuchKeyword"* ]]
	[[ $output = *"left running"*"dpkg --configure -a"* ]]
	[ "$(main_pid)" = "$old" ]
	[ "$(status_of openssh-server)" = half-configured ]
	rm "$ROOT/etc/ssh/sshd_config.d/wrong.conf"
	serves 22
	inside dpkg --configure -a
	[ "$(main_pid)" != "$old" ]
	serves 22
	[[ $(inside ssh-keyscan -t ed25519 127.0.0.1 2>&1) = *Hayate_* ]]
}

@test "a configuration that our own next version refuses leaves our sshd serving" {
	local old
	take_over
	old=$(main_pid)
	echo 'NoSuchKeyword yes' >"$ROOT/etc/ssh/sshd_config.d/wrong.conf"
	edited +1
	run ! take_over
	[[ $output = *"Bad configuration option: NoSuchKeyword"* ]]
	[ "$(main_pid)" = "$old" ]
	rm "$ROOT/etc/ssh/sshd_config.d/wrong.conf"
	serves 22
}

# without_sshd: a server that cannot run; with_foreign: a file of another package
without_sshd() { printf '#!/bin/sh\nexit 1\n' >usr/sbin/sshd; }
with_foreign() { mkdir -p usr/bin && touch usr/bin/dpkg; }

@test "an installation that fails leaves the old sshd serving, in its place" {
	local old
	old=$(main_pid)
	edited +1 without_sshd
	run ! take_over
	[ "$(main_pid)" = "$old" ]
	serves 22
	# The distribution's goes back into its own place.
	give_back
	serves 22
	[ -z "$(inside dpkg-divert --list '*sshd*')" ]
	[ ! -e "$ROOT/usr/sbin/sshd.session-split" ]
	# a package that dpkg cannot unpack, over the distribution's
	old=$(main_pid)
	edited +2 with_foreign
	run ! install_debs openssh-server
	[[ $output = *"trying to overwrite '/usr/bin/dpkg'"* ]]
	serves 22
	[ -z "$(inside dpkg-divert --list '*sshd*')" ]
	# and over ours
	DEBS=$BATS_FILE_TMPDIR/debs
	take_over
	old=$(main_pid)
	DEBS=$BATS_TEST_TMPDIR/debs+2
	run ! install_debs openssh-server
	[ "$(main_pid)" = "$old" ]
	serves 22
}

@test "removal stops sshd and keeps configuration and keys; a purge removes them" {
	local key
	take_over
	key=$(cat "$ROOT/etc/ssh/ssh_host_ed25519_key.pub")
	inside dpkg --remove openssh-server
	run ! login 22
	[ ! -e "$ROOT/usr/sbin/sshd" ]
	grep -qx 'MaxAuthTries 3' "$CONFIG"
	take_over
	[ "$key" = "$(cat "$ROOT/etc/ssh/ssh_host_ed25519_key.pub")" ]
	serves 22
	inside dpkg --purge openssh-server openssh-sftp-server openssh-client
	[ ! -e "$CONFIG" ]
	[ -z "$(find "$ROOT/etc/ssh" -name 'ssh_host_*' 2>/dev/null)" ]
	# The distribution's packages start afresh.
	give_back
	serves 22
}
