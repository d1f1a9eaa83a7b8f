#!/usr/bin/env bats
# The client's tarball: it runs from a home directory, here and on a system with an
# older libc. "make check-packages" runs this.

load ../helper
load root

setup_file() {
	export PLACE="$BATS_FILE_TMPDIR/home" TARBALL
	make -s -C "$TOP" client-tarball
	TARBALL=$TOP/hayate-client-$("$TOP/build-aux/stamp" version)-$(uname -m).tar.gz
	mkdir "$PLACE"
	tar xzf "$TARBALL" -C "$PLACE"
	mv "$PLACE"/hayate-client-* "$PLACE/hayate"
	sshd_up system
}

teardown_file() { sshd_down; }
teardown() { foreign_down; }

# The option that names the configuration
conf() { echo "-F$BATS_FILE_TMPDIR/ssh_config"; }

@test "the programs run from a home directory, by a link, and through a jump host" {
	local p
	for p in scp sftp ssh-add ssh-agent ssh-keygen ssh-keyscan; do
		[ -x "$PLACE/hayate/bin/$p" ]
	done
	[[ $("$PLACE/hayate/bin/ssh" -V 2>&1) = *Hayate_* ]]
	ln -s "$PLACE/hayate/bin/ssh" "$BATS_TEST_TMPDIR/hssh"
	[ "$("$BATS_TEST_TMPDIR/hssh" "$(conf)" system echo here)" = here ]
	[ "$("$PLACE/hayate/bin/ssh" "$(conf)" -J system system echo through)" = through ]
	"$PLACE/hayate/bin/ssh-keygen" -q -t ed25519 -N '' -f "$BATS_TEST_TMPDIR/key"
	"$PLACE/hayate/bin/ssh-agent" "$PLACE/hayate/bin/ssh-add" -q "$BATS_TEST_TMPDIR/key"
}

@test "scp and sftp call the ssh beside them" {
	head -c 100000 /dev/urandom >"$BATS_TEST_TMPDIR/sent"
	run -0 "$PLACE/hayate/bin/scp" -v "$(conf)" "$BATS_TEST_TMPDIR/sent" "system:$BATS_TEST_TMPDIR/got"
	[[ $output = *"program $PLACE/hayate/bin/ssh"* ]]
	cmp "$BATS_TEST_TMPDIR/sent" "$BATS_TEST_TMPDIR/got"
	echo "get $BATS_TEST_TMPDIR/sent $BATS_TEST_TMPDIR/back" |
	    "$PLACE/hayate/bin/sftp" "$(conf)" -q -b - system
	cmp "$BATS_TEST_TMPDIR/sent" "$BATS_TEST_TMPDIR/back"
}

@test "ssh starts itself for a further connection, and again after a server that hangs up" {
	need_paramiko
	use_own_cache
	check_self_start "$PLACE/hayate/bin"
}

@test "hayate-fleet copies with the scp beside it, called by a link as well" {
	cd "$BATS_TEST_TMPDIR"
	mkdir from
	echo one >from/1
	ln -s "$PLACE/hayate/bin/hayate-fleet" fleet
	printf '4 1\0' | ./fleet plan --shards 1 --from - --from0 from "system:$PWD/to" work "$(conf)"
	# An scp in the way is not taken.
	printf '#!/bin/sh\nexit 9\n' >scp
	chmod +x scp
	PATH=$PWD:$PATH ./fleet run work 1
	./fleet summary work
	cmp from/1 to/1
	cd "$PLACE/hayate/share"
	ls man/man1/hayate-fleet.1 doc/slurm/hayate.sbatch doc/htcondor/hayate.sub
}

@test "the tarball has manual pages and licences, and no setuid file" {
	cd "$PLACE/hayate"
	[ -f LICENCE ]
	[ -f LICENCE.OpenSSH ]
	[ -f share/man/man1/ssh.1 ]
	grep -q WindowMax share/man/man5/ssh_config.5
	[ -f share/doc/libssl3.copyright ] || [ -f share/doc/libssl3t64.copyright ]
	[ -z "$(find . -perm /6000)" ]
	[ -z "$(find . -name '*sshd*')" ]
}

@test "two runs give the same bytes" {
	sum=$(sha256sum <"$TARBALL")
	make -s -C "$TOP" client-tarball
	[ "$(sha256sum <"$TARBALL")" = "$sum" ]
}

# A system from before the libc of the build. Its archive may be gone.
@test "the tarball runs on a Debian with an older libc" {
	local root=$BATS_TEST_TMPDIR/old
	need_root
	need mmdebstrap
	run new_root bullseye "$root"
	[ "$status" = 0 ] || skip "no archive of bullseye: ${lines[-1]}"
	mkdir "$root/root/home"
	cp -a "$PLACE/hayate" "$root/root/home/"
	cp "$BATS_FILE_TMPDIR"/{user,known_hosts} "$root/root/"
	sed "s|$BATS_FILE_TMPDIR|/root|" "$BATS_FILE_TMPDIR/ssh_config" >"$root/root/ssh_config"
	# shellcheck disable=SC2016
	run ! chroot "$root" sh -c 'cd /root/home/hayate && $(sed -n "s/^loader=//p" bin/ssh | head -n 1) \
	    --library-path lib libexec/ssh -V'
	[[ $output = *GLIBC_* ]]
	[ "$(chroot "$root" /root/home/hayate/bin/ssh -F /root/ssh_config system echo old)" = old ]
	chroot "$root" /root/home/hayate/bin/scp -F /root/ssh_config \
	    /etc/debian_version "system:$BATS_TEST_TMPDIR/version"
	[[ $(cat "$BATS_TEST_TMPDIR/version") = 11.* ]]
	chroot "$root" /root/home/hayate/bin/ssh-keygen -q -t ed25519 -N '' -f /root/new
}
