# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Functions for the suites of packages: a root directory of its own with the
# distribution's OpenSSH, which systemd boots in a container without network.
#
#   setup_file() { take_debs hayate-client hayate-server; make_root; boot; }
#   teardown_file() { shut_down; }

# take_debs PACKAGE...: copy these packages of build/deb to $DEBS. $PACKAGES are
# their names, the server's last.
take_debs() {
	local package
	[ "$EUID" = 0 ] || {
		echo "this needs root"
		return 1
	}
	must mmdebstrap
	export ROOT=$BATS_FILE_TMPDIR/root DEBS=$BATS_FILE_TMPDIR/debs PACKAGES=$*
	mkdir "$DEBS"
	for package; do
		cp "$BUILD/deb/${package}"_*.deb "$DEBS/" || {
			echo "no $package in build/deb: run make deb" >&2
			return 1
		}
	done
}

# needs: what the packages in $DEBS depend on, of alternatives the first
needs() {
	local deb
	for deb in "$DEBS"/*; do
		[ ! -f "$deb" ] || dpkg-deb -f "$deb" Pre-Depends Depends
	done | sed 's/^[A-Za-z-]*: //' | tr ',' '\n' |
	    sed -e 's/[|(].*//' -e 's/ //g' -e '/^hayate/d' -e '/^openssh/d' -e '/^$/d' | sort -u
}

# new_root SUITE DIR OPTION...: a system of that release of Debian, from the archives
# that this machine uses; fails with the last lines of mmdebstrap
new_root() {
	(cd "$TOP" && build-aux/apt-source entries "$1") |
	    sed 's/^Types: deb-src$/Types: deb/' >"$2.sources"
	mmdebstrap --quiet --variant=minbase "${@:3}" "$1" "$2" "$2.sources" >"$2.log" 2>&1 || {
		tail -n 5 "$2.log" >&2
		return 1
	}
}

# make_root PACKAGE...: a system of Debian's release $SUITE, or of this machine's,
# with these and with what the packages in $DEBS depend on, from the archives that
# this machine uses. The packages of $KEEP are kept as files in /distribution.
make_root() {
	local suite all
	must systemd-nspawn systemd-container
	suite=${SUITE-$(. /etc/os-release && echo "$VERSION_CODENAME")}
	all=$( (needs && printf '%s\n' systemd-sysv dbus libpam-systemd "$@") | paste -sd,)
	# shellcheck disable=SC2016 # for the shell of the hook
	new_root "$suite" "$ROOT" --include="$all" \
	    --customize-hook='mkdir "$1/distribution" && cd "$1/distribution" && if [ -n "$KEEP" ]; then
		APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get -q -o APT::Sandbox::User=root download $KEEP; fi' || return
	mkdir "$ROOT/debs"
}

# boot [OPTION...]: start the container, and make a user with a key and a password
boot() {
	systemd-nspawn -q --register=no --keep-unit --boot --private-network "$@" \
	    --console=pipe -D "$ROOT" >"$BATS_FILE_TMPDIR/boot.log" 2>&1 </dev/null 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/nspawn"
	poll 60 booted
	inside sh -ec '
		useradd -m -s /bin/sh tester
		echo tester:tester | chpasswd
		ssh-keygen -q -t ed25519 -N "" -f /root/key
		install -d -o tester /home/tester/.ssh
		install -o tester /root/key.pub /home/tester/.ssh/authorized_keys
		printf "#!/bin/sh\necho tester\n" >/root/askpass
		chmod 755 /root/askpass'
}

shut_down() {
	[ -s "$BATS_FILE_TMPDIR/nspawn" ] || return 0
	inside poweroff || :
	poll 30 is_gone "$(cat "$BATS_FILE_TMPDIR/nspawn")" ||
	    kill -9 "$(cat "$BATS_FILE_TMPDIR/nspawn")"
}

leader() { pgrep -P "$(cat "$BATS_FILE_TMPDIR/nspawn")"; }
booted() { inside systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded'; }

# inside COMMAND...: run it in the container
inside() {
	nsenter -a -t "$(leader)" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	    HOME=/root DEBIAN_FRONTEND=noninteractive "$@" </dev/null 3>&-
}

# install_debs PACKAGE...: dpkg installs those of $DEBS
install_debs() {
	local package
	rm -f "$ROOT"/debs/*
	for package; do
		cp "$DEBS/${package}"_*.deb "$ROOT/debs/"
	done
	inside sh -c 'dpkg -i --force-confold /debs/*.deb'
}

# take_over: install ours, of FLAVOUR=replace; give_back: install the distribution's
# shellcheck disable=SC2086 # one word a package
take_over() { install_debs $PACKAGES; }
give_back() { inside sh -c 'dpkg -i --force-downgrade --force-confold /distribution/*.deb'; }

# edited SUFFIX [COMMAND...]: in $DEBS, the packages with a later version, after
# COMMAND in the unpacked directory of the server's
edited() {
	local suffix=$1 package dir
	export DEBS=$BATS_TEST_TMPDIR/debs$suffix
	mkdir "$DEBS"
	shift
	for package in $PACKAGES; do
		dir=$BATS_TEST_TMPDIR/$package$suffix
		dpkg-deb -R "$BATS_FILE_TMPDIR/debs/${package}"_*.deb "$dir"
		sed -i -e "s/^Version: .*/&$suffix/" \
		    -e "/^Depends: /s/\((= [^)]*\))/\1$suffix)/g" "$dir/DEBIAN/control"
		[ "$package" != "${PACKAGES##* }" ] || [ $# = 0 ] || (cd "$dir" && "$@")
		dpkg-deb --root-owner-group -Znone -b "$dir" "$DEBS/${package}_$suffix.deb"
	done
}

# login PORT [OPTION...]: as tester, with the client $PROGRAM
login() {
	inside "${PROGRAM-ssh}" -i /root/key -o StrictHostKeyChecking=no \
	    -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -p "$1" "${@:2}" \
	    tester@127.0.0.1 id -un
}

# serves PORT...: one can log in there
serves() {
	local port
	for port; do [ "$(login "$port")" = tester ] || return 1; done
}

host_key() { inside ssh-keyscan -t ed25519 127.0.0.1 2>/dev/null | grep -o 'ssh-ed25519 .*'; }

# begin_session PORT: leave a session open; session_lives: it does, and ends
begin_session() {
	rm -f "$ROOT/root/fifo" "$ROOT/root/session"
	inside mkfifo /root/fifo
	inside sh -c "ssh -i /root/key -o StrictHostKeyChecking=no \
	    -o UserKnownHostsFile=/dev/null -p $1 tester@127.0.0.1 'echo begun; cat' <>/root/fifo >/root/session" &
	poll 10 grep -q begun "$ROOT/root/session"
}
session_lives() {
	echo alive >"$ROOT/root/fifo"
	poll 10 grep -q alive "$ROOT/root/session"
	inside sh -c 'pkill -u tester; rm -f /root/fifo /root/session' || :
}

status_of() { inside dpkg-query -W -f '${db:Status-Status}' "$1"; }
version_of() { inside dpkg-query -W -f '${Version}' "$1"; }
