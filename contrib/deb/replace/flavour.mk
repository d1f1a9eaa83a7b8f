# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Part of rules: the packages that replace the distribution's OpenSSH. They have the
# same names, paths, units and files, so the steps are those of Debian's own rules.

ETC = ssh
LIBEXEC = openssh
PREFIX =
SWITCHES =
# dh_missing cannot see which files the packages install through dh-exec.
MISSING = list
# From Debian 13 on, units belong below /usr.
WITH = --with runit $(if $(wildcard /usr/bin/dh_movetousr),--with movetousr)

# ucf treats a file whose checksum is listed as one that nobody edited.
execute_before_dh_install:
	cp debian/tmp/etc/ssh/sshd_config .
	debian/openssh/check-ucf-md5sums || \
	    md5sum <sshd_config | sed 's/ .*//' >>debian/openssh-server.ucf-md5sum

override_dh_installdocs:
	$(TOP)/build-aux/doc debian/doc
	cd debian/build && $(TOP)/build-aux/sbom >../doc/hayate.spdx.json
	dh_installdocs -popenssh-client debian/doc/* debian/README.Hayate
	dh_installdocs -popenssh-server -popenssh-sftp-server \
	    --link-doc=openssh-client
	mkdir -p debian/openssh-server/usr/share/doc/openssh-client

execute_after_dh_installexamples:
	dh_installexamples -popenssh-client $(TOP)/contrib/site/* \
	    $(addprefix $(TOP)/contrib/,migrate.md sysctl qos systemd cron fail2ban slurm htcondor)

override_dh_installinit:
	dh_installinit -R --name ssh

execute_after_dh_installinit:
	dh_installsysusers

override_dh_installsystemd:
	dh_installsystemd -popenssh-server ssh.service
	dh_installsystemd -popenssh-server --no-enable ssh.socket
	dh_installsystemd -popenssh-server --no-start rescue-ssh.target
	dh_installsystemd -popenssh-server sshd-keygen.service
	dh_installsystemd -popenssh-client --name=hayate-security-status hayate-security-status.timer

override_dh_installpam:
	dh_installpam --name sshd

override_dh_runit:
	dh_runit -popenssh-server

# sftp-server is not linked with libcrypto, but loads it. The packages of the other
# programs depend on it through ssh and sshd.
execute_after_dh_shlibdeps:
	echo 'int EVP_sha256(void); int main(void) { return EVP_sha256(); }' | \
	    cc -x c -o debian/uses-libcrypto - -lcrypto
	dpkg-shlibdeps -plibcrypto -dRecommends \
	    -Tdebian/openssh-sftp-server.substvars debian/uses-libcrypto
