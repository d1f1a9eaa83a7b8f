#!/usr/bin/env bats
# The source package for rpmbuild, and the packages that Debian's rpm builds from
# it as on RHEL. They are installed in a root directory of their own, which systemd
# boots in a container without network. No RHEL is at hand: the system is Debian,
# and what RHEL has round them is played there. "make check-packages" runs this.

load ../helper
load root

# This suite takes long: everything is compiled again. Debian's rpm does not know what Debian's
# packages provide, so the dependencies are not checked.
setup_file() {
	export SRPM RPMS=$BATS_FILE_TMPDIR/rpms
	export ROOT=$BATS_FILE_TMPDIR/root DEBS=$BATS_FILE_TMPDIR/none PROGRAM=hayate-ssh
	must rpmbuild rpm
	make -s -C "$TOP" srpm
	SRPM=$(ls "$BUILD"/rpm/*.src.rpm)
	rpmbuild --rebuild --nodeps --define "_topdir $BATS_FILE_TMPDIR/top" \
	    --define "_rpmdir $RPMS" --define 'debug_package %{nil}' --define 'rhel 9' \
	    "$SRPM" >"$BATS_FILE_TMPDIR/log" 2>&1 || {
		tail -n 30 "$BATS_FILE_TMPDIR/log"
		return 1
	}
	client=$(ls "$RPMS"/*/hayate-client-*.rpm)
	server=$(ls "$RPMS"/*/hayate-server-*.rpm)
	export client server
}

teardown_file() { shut_down; }

@test "the source package has the spec and the tarball, and names Debian's fixes" {
	run -0 rpm -qlp "$SRPM"
	[ "${#lines[@]}" = 2 ]
	[[ $output = *hayate-*.tar.gz*hayate.spec* ]]
	[[ ${SRPM##*/} = hayate-*-7+deb13u*.src.rpm || ${SRPM##*/} = *-0unpatched.src.rpm ]]
}

@test "the spec is accepted as on RHEL 9, RHEL 10, Fedora and elsewhere" {
	local system
	for system in 'rhel 9' 'rhel 10' 'fedora 42'; do
		rpmspec --define "$system" -P "$BUILD/rpm/hayate.spec" >"$BATS_TEST_TMPDIR/spec"
		grep -F /etc/crypto-policies/back-ends/opensshserver.config "$BATS_TEST_TMPDIR/spec"
		grep -F 'semanage fcontext -a -e /etc/ssh /etc/hayate' "$BATS_TEST_TMPDIR/spec"
	done
	rpmspec -P "$BUILD/rpm/hayate.spec" >"$BATS_TEST_TMPDIR/spec"
	run ! grep -E 'crypto-policies|semanage' "$BATS_TEST_TMPDIR/spec"
}

@test "every rpmlint warning about spec, source and packages is explained" {
	need rpmlint
	run rpmlint -r "$TOP/contrib/rpm/hayate.rpmlintrc" "$BUILD/rpm/hayate.spec" "$SRPM" "$client" "$server"
	[[ $output = *"3 packages and 1 specfiles checked; 0 errors, 0 warnings"* ]] || {
		grep -E ': [EW]: ' <<<"$output"
		false
	}
}

@test "rpmbuild packs every installed file, and the packed programs run" {
	local name
	rpm -qlp "$client" | grep -x /usr/bin/hayate-ssh
	rpm -qlp "$server" | grep -x /usr/lib/systemd/system/hayate-sshd.service
	for name in README.md INSTALL.md SECURITY.md; do
		rpm -qlp "$client" | grep "/doc/.*/$name$"
	done
	rpm -qlp "$server" | grep '/doc/.*/sshd_config.system$'
	rpm -qlp "$server" | grep '/doc/.*/systemd/hayate-user.conf$'
	rpm -qlp "$client" | grep '/doc/.*/slurm/hayate.sbatch$'
	rpm -qlp "$client" | grep -x /usr/bin/hayate-fleet
	rpm -qp --requires "$server" | grep "hayate-client.* = 0"
	mkdir "$BATS_TEST_TMPDIR/root"
	cd "$BATS_TEST_TMPDIR/root"
	rpm2cpio "$client" | cpio -id --quiet
	[[ $(./usr/bin/hayate-ssh -V 2>&1) = *Hayate_* ]]
}

main_pid() { inside systemctl show -P MainPID hayate-sshd; }
rpm_in() { inside rpm --force-debian --nodeps "$@"; }

# play: what RHEL has and Debian has not: PAM's common files, policies, SELinux
play() {
	local kind
	for kind in auth account password session; do
		echo "$kind required pam_unix.so"
	done >"$ROOT/etc/pam.d/password-auth"
	: >"$ROOT/etc/pam.d/postlogin"
	mkdir -p "$ROOT/etc/crypto-policies/back-ends"
	echo 'Ciphers aes256-gcm@openssh.com' >"$ROOT/etc/crypto-policies/back-ends/openssh.config"
	echo 'Ciphers aes256-gcm@openssh.com
GSSAPIKexAlgorithms gss-nistp256-sha256-
RequiredRSASize 3072' >"$ROOT/etc/crypto-policies/back-ends/opensshserver.config"
	printf '#!/bin/sh\necho "${0##*/} $*" >>/root/labels\n' >"$ROOT/usr/sbin/restorecon"
	# What semanage of a later release does with a label that exists: it takes it over.
	cat >"$ROOT/usr/sbin/semanage" <<-'END'
	#!/bin/sh
	[ "$*" != 'port -l -C -n' ] || exec cat /root/ports
	echo "${0##*/} $*" >>/root/labels
	END
	: >"$ROOT/root/ports"
	chmod 755 "$ROOT/usr/sbin/semanage" "$ROOT/usr/sbin/restorecon"
}

@test "installed with rpm sshd serves beside the system's OpenSSH, with its own PAM service" {
	need_root
	need systemd-nspawn systemd-container
	need mmdebstrap
	mkdir "$DEBS"
	make_root openssh-server openssh-client libbsd0 rpm
	boot
	play
	mkdir "$ROOT/rpms"
	cp "$client" "$server" "$ROOT/rpms/"
	inside sh -c 'rpm --force-debian --nodeps -i /rpms/*.rpm'
	rpm_in -V hayate-client hayate-server
	inside systemctl daemon-reload
	inside systemctl start hayate-sshd
	serves 22 2222
	inside journalctl | grep -q 'pam_unix(hayate-sshd:session): session opened for user tester'
	[ "$(inside stat -c %a /etc/hayate/sshd_config)" = 600 ]
	# the host keys, which the unit makes, have their labels
	[ "$(tail -n 1 "$ROOT/root/labels")" = "restorecon -R /etc/hayate" ]
}

# ciphers PROGRAM ARGUMENT...: which it would use
ciphers() { inside "$@" | sed -n 's/^ciphers //Ip'; }

@test "sshd follows the system's crypto policy, and a site's file as that OpenSSH does" {
	local dir=$ROOT/etc/hayate
	[ -d "$dir" ] || skip "nothing is installed"
	[ "$(ciphers hayate-ssh -G x)" = aes256-gcm@openssh.com ]
	[ "$(ciphers hayate-sshd -T)" = aes256-gcm@openssh.com ]
	inside hayate-sshd -T | grep -ix 'requiredrsasize 3072'
	echo 'Ciphers aes128-ctr' | tee "$dir/ssh_config.d/60-site.conf" >"$dir/sshd_config.d/60-site.conf"
	[ "$(ciphers hayate-ssh -G x)" = aes128-ctr ]
	[ "$(ciphers hayate-sshd -T)" = aes256-gcm@openssh.com ]
	rm "$dir"/ssh*_config.d/60-site.conf
	# the advice of INSTALL.md on a policy for a later OpenSSH
	echo 'KexAlgorithms curve25519-sha256,no-such' >>"$ROOT/etc/crypto-policies/back-ends/opensshserver.config"
	run ! inside hayate-sshd -t
	[[ $output = *opensshserver.config*no-such* ]]
	sed -i '$d' "$ROOT/etc/crypto-policies/back-ends/opensshserver.config"
}

@test "an upgrade with rpm tests the configuration before it stops sshd" {
	local pid
	[ -d "$ROOT/etc/hayate" ] || skip "nothing is installed"
	pid=$(main_pid)
	begin_session 2222
	echo 'NoSuchKeyword yes' >"$ROOT/etc/hayate/sshd_config.d/wrong.conf"
	run rpm_in --reinstall "/rpms/${server##*/}"
	[[ $output = *"wrong.conf"*"NoSuchKeyword"*"left running"* ]]
	[ "$(main_pid)" = "$pid" ]
	rm "$ROOT/etc/hayate/sshd_config.d/wrong.conf"
	serves 22 2222
	rpm_in --reinstall "/rpms/${server##*/}"
	[ "$(main_pid)" != "$pid" ]
	serves 22 2222
	session_lives
}

@test "removal with rpm removes our labels and leaves keys and the system's sshd" {
	[ -d "$ROOT/etc/hayate" ] || skip "nothing is installed"
	inside systemctl stop hayate-sshd
	rpm_in -e hayate-server hayate-client
	[ ! -e "$ROOT/usr/sbin/hayate-sshd" ]
	[ -e "$ROOT/etc/hayate/ssh_host_ed25519_key" ]
	PROGRAM=ssh serves 22
	# what was added was deleted
	sed -n 's/ -a / /p' "$ROOT/root/labels" | sort >"$BATS_TEST_TMPDIR/added"
	sed -n 's/ -d / /p' "$ROOT/root/labels" | sort >"$BATS_TEST_TMPDIR/deleted"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/added")" = 4 ]
	diff "$BATS_TEST_TMPDIR/added" "$BATS_TEST_TMPDIR/deleted"
	[ ! -e "$ROOT/var/lib/hayate" ]
}

@test "a label that the site gave to port 2222 remains after the removal" {
	local line
	[ -e "$ROOT/usr/sbin/semanage" ] || skip "nothing is installed"
	for line in 'ssh_port_t                     tcp      2222' \
	    'ssh_port_t                     tcp      2022, 2222, 2223'; do
		echo "$line" >"$ROOT/root/ports"
		: >"$ROOT/root/labels"
		inside sh -c 'rpm --force-debian --nodeps -i /rpms/*.rpm'
		rpm_in -e hayate-server hayate-client
		grep -F 'fcontext -a -e /etc/ssh /etc/hayate' "$ROOT/root/labels"
		run -1 grep -E 'port -[ad]' "$ROOT/root/labels"
	done
	# a port that only looks like it, or is another protocol's, is none
	printf '%s\n' 'ssh_port_t  tcp  22220, 12222' 'x_port_t  udp  2222' >"$ROOT/root/ports"
	: >"$ROOT/root/labels"
	inside sh -c 'rpm --force-debian --nodeps -i /rpms/*.rpm'
	grep -F 'port -a -t ssh_port_t -p tcp 2222' "$ROOT/root/labels"
	rpm_in -e hayate-server hayate-client
	grep -F 'port -d -t ssh_port_t -p tcp 2222' "$ROOT/root/labels"
}
