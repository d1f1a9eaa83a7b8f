#!/usr/bin/env bats
# What people use with OpenSSH works with the packages of FLAVOUR=replace in its
# place: other programs that call ssh, other clients, and ways to log in. "make
# check-packages" runs this; a program that the archive lacks is skipped.

load ../helper
load root

PROGRAMS="ansible-core curl git gnupg krb5-admin-server krb5-kdc krb5-user lftp
libc6-dev libpam-oath libpam-google-authenticator libssh-dev oathtool python3
python3-asyncssh python3-paramiko rclone rsync socat sshfs tcc x11-utils xauth xvfb
procps"

setup_file() {
	take_debs openssh-client openssh-sftp-server openssh-server
	# shellcheck disable=SC2086 # one word a package
	make_root openssh-server openssh-client openssh-sftp-server $PROGRAMS
	boot --bind=/dev/fuse
	# shellcheck disable=SC2086
	install_debs $PACKAGES
	cat >"$BATS_FILE_TMPDIR/config" <<-END
	Host t t2 t3 host.test
	    User tester
	    IdentityFile /root/key
	    StrictHostKeyChecking no
	    UserKnownHostsFile /root/known
	    LogLevel ERROR
	Host t t2 t3
	    HostName 127.0.0.1
	END
	install -D -m 600 "$BATS_FILE_TMPDIR/config" "$ROOT/root/.ssh/config"
	echo '127.0.0.1 host.test' >>"$ROOT/etc/hosts"
	[ "$(does 'ssh t id -un')" = tester ]
	[[ $(does 'ssh -V 2>&1') = *Hayate_* ]]
}

teardown_file() { shut_down; }

setup() { rm -f "$ROOT/root/out"; }

teardown() {
	[ ! -e "$ROOT/etc/ssh/sshd_config.d/test.conf" ] || {
		rm "$ROOT/etc/ssh/sshd_config.d/test.conf"
		inside systemctl reload ssh
	}
}

# does COMMANDS: in the container, up to the first that fails
does() { inside env LC_ALL=C.UTF-8 timeout 60 bash -ec "$1"; }

# sshd_with LINE...: the server has these lines first, and listens
sshd_with() {
	printf '%s\n' "$@" >"$ROOT/etc/ssh/sshd_config.d/test.conf"
	inside sshd -t
	# Six starts in ten seconds are too many for systemd.
	inside systemctl reset-failed ssh
	inside systemctl restart ssh
	poll 10 does 'exec 4<>/dev/tcp/127.0.0.1/22'
}

@test "rsync, and git over ssh" {
	does 'rsync -e "ssh -x" /etc/ssh/moduli t:by-rsync; cmp /etc/ssh/moduli /home/tester/by-rsync
		git config --global user.email a@example.org; git config --global user.name A
		ssh t git init -q --bare repo.git; git clone -q t:repo.git /root/repo
		cd /root/repo; echo x >x; git add x; git commit -q -m x; git push -q origin HEAD
		git ls-remote ssh://t/~/repo.git | grep refs/heads'
}

@test "ansible reaches a host, with its master connections" {
	run -0 does 'ansible -i t, all -m ping; ansible -i t, all -m ping; ls /root/.ansible/cp'
	[[ $output = *pong*pong* ]]
}

@test "sshfs mounts a directory" {
	[ -c /dev/fuse ] || skip "no /dev/fuse here"
	does 'test -w /dev/fuse' || skip "the container may not use /dev/fuse"
	does 'mkdir -p /root/mnt; sshfs t:/home/tester /root/mnt; echo through >/root/mnt/by-sshfs
		fusermount3 -u /root/mnt 2>/dev/null || umount /root/mnt'
	grep -x through "$ROOT/home/tester/by-sshfs"
}

@test "rclone, lftp and curl copy files" {
	does 'rclone copyto /etc/ssh/moduli ":sftp,host=127.0.0.1,user=tester,key_file=/root/key:by-rclone"
		cmp /etc/ssh/moduli /home/tester/by-rclone
		lftp -e "set sftp:connect-program \"ssh -a -x -i /root/key -F /root/.ssh/config\"; put /etc/ssh/moduli -o by-lftp; bye" sftp://tester@t
		cmp /etc/ssh/moduli /home/tester/by-lftp
		curl -s -k --key /root/key --pubkey /root/key.pub -u tester: sftp://127.0.0.1/etc/ssh/moduli | cmp - /etc/ssh/moduli'
}

@test "paramiko and asyncssh log in, run a command and copy a file" {
	cat >"$ROOT/root/clients.py" <<-'END'
	import asyncio, asyncssh, paramiko
	c = paramiko.SSHClient()
	c.set_missing_host_key_policy(paramiko.AutoAddPolicy())
	c.connect("127.0.0.1", username="tester", key_filename="/root/key")
	assert c.exec_command("id -un")[1].read() == b"tester\n"
	c.open_sftp().put("/etc/ssh/moduli", "by-paramiko")

	async def main():
	    async with asyncssh.connect("127.0.0.1", username="tester",
	            client_keys=["/root/key"], known_hosts=None) as s:
	        assert (await s.run("id -un")).stdout == "tester\n"
	        async with s.start_sftp_client() as f:
	            await f.put("/etc/ssh/moduli", "by-asyncssh")
	asyncio.run(main())
	END
	does 'python3 /root/clients.py; cmp /etc/ssh/moduli /home/tester/by-paramiko
		cmp /etc/ssh/moduli /home/tester/by-asyncssh'
}

@test "a program that is linked to libssh logs in and runs a command" {
	cat >"$ROOT/root/client.c" <<-'END'
	#include <libssh/libssh.h>
	#include <stdio.h>

	int
	main(void)
	{
		ssh_session s = ssh_new();
		ssh_channel c;
		ssh_key key;
		char got[64];

		ssh_options_set(s, SSH_OPTIONS_HOST, "127.0.0.1");
		ssh_options_set(s, SSH_OPTIONS_USER, "tester");
		if (ssh_connect(s) != SSH_OK || ssh_pki_import_privkey_file(
		    "/root/key", NULL, NULL, NULL, &key) != SSH_OK ||
		    ssh_userauth_publickey(s, NULL, key) != SSH_AUTH_SUCCESS ||
		    (c = ssh_channel_new(s)) == NULL ||
		    ssh_channel_open_session(c) != SSH_OK ||
		    ssh_channel_request_exec(c, "id -un") != SSH_OK) {
			fprintf(stderr, "%s\n", ssh_get_error(s));
			return 1;
		}
		printf("%.*s", ssh_channel_read(c, got, sizeof(got), 0), got);
		return 0;
	}
	END
	[ "$(does 'cd /root; tcc -o by-libssh client.c -lssh; ./by-libssh')" = tester ]
}

@test "a chain of jump hosts" {
	[ "$(does 'ssh -J t,t2 t3 id -un')" = tester ]
}

@test "ssh-agent, forwarded, and gpg-agent in its place" {
	run -0 does 'eval "$(ssh-agent)" >/dev/null; ssh-add -q /root/key
		ssh -A t ssh-add -l; kill $SSH_AGENT_PID'
	[[ $output = *ED25519* ]]
	# shellcheck disable=SC2016
	run -0 does 'umask 077; export GNUPGHOME=/root/gnupg; mkdir $GNUPGHOME
		echo enable-ssh-support >$GNUPGHOME/gpg-agent.conf
		gpg -q --batch --passphrase "" --quick-gen-key t@example.org ed25519 auth 2>/dev/null
		gpg --with-keygrip -k 2>/dev/null | sed -n "s/.*Keygrip = //p" >$GNUPGHOME/sshcontrol
		export SSH_AUTH_SOCK=$(gpgconf --list-dirs agent-ssh-socket)
		ssh-add -L >>/home/tester/.ssh/authorized_keys
		ssh -F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/root/known \
		    -o IdentityFile=none tester@127.0.0.1 echo by-gpg; gpgconf --kill gpg-agent'
	[[ $output = *by-gpg* ]]
}

@test "certificates of a CA, for users and for the host" {
	does 'cd /root; ssh-keygen -q -t ed25519 -N "" -f ca; ssh-keygen -q -t ed25519 -N "" -f certified
		ssh-keygen -q -s ca -I user -n tester -V +1h certified.pub
		cp /etc/ssh/ssh_host_ed25519_key.pub h.pub; ssh-keygen -q -s ca -h -I host -n host.test -V +1h h.pub
		echo "@cert-authority host.test $(cat ca.pub)" >known-ca'
	sshd_with 'TrustedUserCAKeys /root/ca.pub' 'HostCertificate /root/h-cert.pub' \
	    'HostKey /etc/ssh/ssh_host_ed25519_key' 'AuthorizedKeysFile none'
	[ "$(does 'ssh -F none -i /root/certified -o StrictHostKeyChecking=yes \
	    -o UserKnownHostsFile=/root/known-ca tester@host.test id -un')" = tester ]
	run ! does 'ssh -F none -i /root/key -o BatchMode=yes -o StrictHostKeyChecking=yes \
	    -o UserKnownHostsFile=/root/known-ca tester@host.test id -un'
}

@test "a key, a password and a one-time password, by PAM, and none without it" {
	local secret=3132333435363738393031323334353637383930
	sshd_with 'KbdInteractiveAuthentication yes' 'AuthenticationMethods publickey,keyboard-interactive'
	echo "HOTP/T30/6 tester - $secret" >"$ROOT/etc/users.oath"
	chmod 600 "$ROOT/etc/users.oath"
	cp "$ROOT/etc/pam.d/sshd" "$BATS_TEST_TMPDIR/pam"
	sed -i 's,^@include common-auth,&\nauth required pam_oath.so usersfile=/etc/users.oath window=5,' "$ROOT/etc/pam.d/sshd"
	cat >"$ROOT/root/answer" <<-'END'
	#!/bin/sh
	case $1 in
	*One-time*) cat /root/code ;;
	*) cat /root/password ;;
	esac
	END
	chmod 755 "$ROOT/root/answer"
	factors='SSH_ASKPASS=/root/answer SSH_ASKPASS_REQUIRE=force ssh -o NumberOfPasswordPrompts=1 t id -un'
	echo tester >"$ROOT/root/password"
	echo 000000 >"$ROOT/root/code"
	run ! does "$factors"
	inside sh -c "oathtool --totp $secret >/root/code"
	echo wrong >"$ROOT/root/password"
	run ! does "$factors"
	echo tester >"$ROOT/root/password"
	inside sh -c "oathtool --totp $secret >/root/code"
	run -0 does "$factors"
	cp "$BATS_TEST_TMPDIR/pam" "$ROOT/etc/pam.d/sshd"
	[[ $output = *tester* ]]
}

@test "a code of google-authenticator alone, by PAM" {
	sshd_with 'KbdInteractiveAuthentication yes' 'AuthenticationMethods keyboard-interactive'
	cp "$ROOT/etc/pam.d/sshd" "$BATS_TEST_TMPDIR/pam"
	sed -i 's,^@include common-auth,auth required pam_google_authenticator.so,' "$ROOT/etc/pam.d/sshd"
	does 'su tester -c "google-authenticator -q -C -t -d -f -r 3 -R 30 -w 3"
		printf "#!/bin/sh\noathtool --totp -b $(head -n 1 /home/tester/.google_authenticator)\n" >/root/answer
		chmod 755 /root/answer'
	run -0 does 'SSH_ASKPASS=/root/answer SSH_ASKPASS_REQUIRE=force ssh t id -un'
	cp "$BATS_TEST_TMPDIR/pam" "$ROOT/etc/pam.d/sshd"
	[[ $output = *tester* ]]
}

# kerberos: a KDC of its own, and a ticket for tester
kerberos() {
	cat >"$ROOT/etc/krb5.conf" <<-'END'
	[libdefaults]
		default_realm = TEST
		dns_lookup_kdc = false
		rdns = false
	[realms]
		TEST = {
			kdc = 127.0.0.1
			admin_server = 127.0.0.1
		}
	[domain_realm]
		.test = TEST
	END
	does '[ -e /var/lib/krb5kdc/principal ] || {
			kdb5_util create -s -P master >/dev/null 2>&1
			kadmin.local -q "addprinc -pw secret tester" >/dev/null
			kadmin.local -q "addprinc -randkey host/host.test" >/dev/null
			kadmin.local -q "ktadd host/host.test" >/dev/null
		}
		pidof krb5kdc >/dev/null || krb5kdc
		echo secret | kinit tester >/dev/null'
}

@test "a Kerberos ticket of a local KDC logs in by GSSAPI" {
	kerberos
	sshd_with 'GSSAPIAuthentication yes' 'GSSAPIStrictAcceptorCheck no'
	[ "$(does 'ssh -o GSSAPIAuthentication=yes -o PreferredAuthentications=gssapi-with-mic host.test id -un')" = tester ]
	does kdestroy
	run ! does 'ssh -o GSSAPIAuthentication=yes -o PreferredAuthentications=gssapi-with-mic -o BatchMode=yes host.test id -un'
}

@test "GSSAPI exchanges the keys, and no host key is known" {
	[[ $(version_of openssh-server) != *-0unpatched* ]] ||
	    skip "the key exchange by GSSAPI is Debian's patch"
	kerberos
	sshd_with 'GSSAPIAuthentication yes' 'GSSAPIKeyExchange yes' 'GSSAPIStrictAcceptorCheck no'
	exchange() {
		does "head -c 300000 /dev/zero | ssh -v -o GSSAPIAuthentication=yes -o GSSAPIKeyExchange=yes -o BatchMode=yes \
		    -o PreferredAuthentications=gssapi-keyex -o UserKnownHostsFile=none \
		    -o StrictHostKeyChecking=yes -o 'RekeyLimit 64K' host.test \
		    'id -un; wc -c'"
	}
	run -0 exchange
	[[ $output = *"kex: algorithm: gss-"*tester*300000* ]]
	does kdestroy
	run ! exchange
}

@test "keys in FIDO tokens, with OpenSSH's virtual token" {
	local tree=$BUILD/deb/replace/debian/build/build/hayate type
	make -s -C "$tree" regress/misc/sk-dummy/sk-dummy.so >"$BATS_TEST_TMPDIR/log" 2>&1 ||
	    skip "no virtual token: $(tail -n 1 "$BATS_TEST_TMPDIR/log")"
	install "$tree/regress/misc/sk-dummy/sk-dummy.so" "$ROOT/usr/lib/sk-dummy.so"
	by_token() {
		does "ssh -F none -i /root/$1 -o IdentitiesOnly=yes -o BatchMode=yes \
		    -o StrictHostKeyChecking=no -o UserKnownHostsFile=/root/known \
		    -o SecurityKeyProvider=$2 tester@127.0.0.1 id -un"
	}
	for type in ed25519-sk ecdsa-sk; do
		does "rm -f /root/$type*; ssh-keygen -q -t $type -w /usr/lib/sk-dummy.so -N '' -f /root/$type
			cat /root/$type.pub >>/home/tester/.ssh/authorized_keys"
		run -0 by_token $type /usr/lib/sk-dummy.so
		[[ $output = *tester* ]]
		run ! by_token $type internal
	done
}

@test "internal-sftp in a chroot shows the chroot and runs no command" {
	does 'mkdir -p /srv/jail/in; chown tester /srv/jail/in'
	sshd_with 'Match User tester' 'ChrootDirectory /srv/jail' 'ForceCommand internal-sftp'
	run -0 does 'echo "put /etc/ssh/moduli in/moduli
	ls /" | sftp -q -b - t'
	[[ $output = */in* && $output != */etc$'\n'* ]]
	cmp "$ROOT/etc/ssh/moduli" "$ROOT/srv/jail/in/moduli"
	run does 'ssh t id -un'
	[[ $output != *tester* ]]
}

@test "AuthorizedKeysCommand and ForceCommand" {
	printf '#!/bin/sh\n[ "$1" = tester ] && cat /etc/known-keys\n' >"$ROOT/usr/bin/test-keys"
	chmod 755 "$ROOT/usr/bin/test-keys"
	does 'install -m 644 /root/key.pub /etc/known-keys'
	sshd_with 'AuthorizedKeysFile none' 'AuthorizedKeysCommand /usr/bin/test-keys %u' \
	    'AuthorizedKeysCommandUser nobody' 'ForceCommand echo "forced: $SSH_ORIGINAL_COMMAND"'
	[ "$(does 'ssh t id -un')" = 'forced: id -un' ]
	: >"$ROOT/etc/known-keys"
	run ! does 'ssh -o BatchMode=yes t id -un'
}

@test "an X11 window is forwarded" {
	run -0 does 'Xvfb :7 -ac >/dev/null 2>&1 & x=$!
		for i in 1 2 3 4 5 6 7 8 9; do [ -e /tmp/.X11-unix/X7 ] && break; sleep 0.3; done
		DISPLAY=:7 ssh -Y t "echo at \$DISPLAY; xdpyinfo" | head -n 5; kill $x'
	[[ $output = *"at localhost:1"*"name of display:    localhost:1"* ]]
}

@test "a socket of systemd starts sshd, and systemd is told when it listens" {
	[[ $(version_of openssh-server) != *-0unpatched* ]] ||
	    skip "socket activation is Debian's patch"
	run -0 does 'systemd-socket-activate -l 2299 /usr/sbin/sshd -D -o PidFile=none -o Port=2299 2>/dev/null &
		for i in 1 2 3 4 5 6 7 8 9; do ssh -p 2299 t id -un 2>/dev/null && break; sleep 0.3; done; kill $!'
	[[ $output = tester* ]]
	run -0 does 'cd /run; rm -f note; socat -u UNIX-RECV:/run/note CREATE:/root/out & s=$!
		for i in 1 2 3 4 5 6 7 8 9; do [ -S note ] && break; sleep 0.2; done
		NOTIFY_SOCKET=/run/note /usr/sbin/sshd -D -o Port=2298 -o PidFile=none & d=$!
		for i in 1 2 3 4 5 6 7 8 9; do grep -aq READY=1 /root/out && break; sleep 0.3; done
		kill $s $d; grep -a READY=1 /root/out'
}

@test "Visual Studio Code's way to call ssh: a shell on stdin, and a SOCKS proxy" {
	run -0 does 'echo "echo begin; id -un; echo end" |
	    ssh -v -T -D 12345 -o ConnectTimeout=15 t bash 2>/root/out'
	[ "$(paste -sd' ' <<<"$output")" = "begin tester end" ]
	grep -q 'Local connections to LOCALHOST:12345 forwarded to remote address socks:0' "$ROOT/root/out"
}

@test "GNOME's way to call ssh: the subsystem sftp, with gvfs's options" {
	# sftp-server goes at the end of its input, so that stays open.
	# shellcheck disable=SC2016
	run -0 does 'coproc S { ssh -oForwardX11=no -oForwardAgent=no \
	    -oPermitLocalCommand=no -oClearAllForwardings=yes -oProtocol=2 \
	    -oNoHostAuthenticationForLocalhost=yes -oControlMaster=auto \
	    -oControlPath=/run/gvfs-%r@%h:%p -l tester -s t sftp; }
		printf "\0\0\0\5\1\0\0\0\3" >&"${S[1]}"
		od -An -tx1 -N9 <&"${S[0]}"; kill $S_PID'
	# its version, 3
	[[ $output = *"02 00 00 00 03"* ]]
}
