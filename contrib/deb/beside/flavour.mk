# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Part of rules: the packages beside the distribution's OpenSSH. sshd has its own
# user, PAM service and directory, so changes of the package openssh-server do not
# affect it.

ETC = hayate
LIBEXEC = hayate
PREFIX = hayate-
MISSING = fail
SWITCHES = --sysconfdir=/etc/hayate --libexecdir=/usr/lib/hayate \
	--program-prefix=hayate- --with-pid-dir=/run/hayate \
	--with-privsep-path=/usr/lib/hayate/empty --with-privsep-user=hayate-sshd \
	--with-pam-service=hayate-sshd

# The server is not started until somebody has decided who may log in; see
# hayate-server.postinst.
override_dh_installinit:
	dh_installinit -phayate-server --name=hayate-sshd --no-enable --no-start

execute_after_dh_installinit:
	dh_installsysusers

override_dh_installpam:
	dh_installpam --name=hayate-sshd

override_dh_installsystemd:
	dh_installsystemd -phayate-server --name=hayate-sshd --no-enable \
	    --no-start --restart-after-upgrade hayate-sshd.service
	dh_installsystemd -phayate-server --name=hayate-sshd --no-enable \
	    --no-start hayate-sshd.socket
	dh_installsystemd -phayate-client --name=hayate-security-status hayate-security-status.timer

execute_after_dh_install:
	install -D -m 644 debian/hayate-server.ufw \
	    debian/hayate-server/etc/ufw/applications.d/hayate-server

override_dh_installdocs:
	$(TOP)/build-aux/doc debian/doc
	cd debian/build && $(TOP)/build-aux/sbom >../doc/hayate.spdx.json
	dh_installdocs -phayate-client debian/doc/*
	dh_installdocs -phayate-server

override_dh_installexamples:
	dh_installexamples -phayate-client $(TOP)/contrib/site/ssh_config.* \
	    $(addprefix $(TOP)/contrib/,migrate.md slurm htcondor)
	dh_installexamples -phayate-server $(TOP)/contrib/site/sshd_config.* \
	    $(addprefix $(TOP)/contrib/,sysctl qos systemd cron fail2ban)
