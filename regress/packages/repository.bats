#!/usr/bin/env bats
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# The packages of "make deb" in a repository of "make repository", which a fresh root of
# Debian reads over HTTP: the steps of CLIENTS, typed as they are there, an upgrade, and
# the way back. "make check-packages" runs this. repository.bats of ./check has what a
# client refuses, with small packages, and dnf.

load ../helper
load root

setup_file() {
	local tool name
	for tool in gpg:gnupg apt-ftparchive:apt-utils xz:xz-utils; do
		must "${tool%:*}" "${tool#*:}"
	done
	take_debs hayate-client hayate-server openssh-client openssh-sftp-server openssh-server
	cd "$BATS_FILE_TMPDIR" || return
	# The path of the agent's socket must be short.
	export GNUPGHOME
	GNUPGHOME=$(mktemp -d /tmp/hayate-gpg.XXXXXX)
	for name in site other; do
		gpg --batch --quiet --passphrase '' --quick-generate-key "$name@example.org" rsa3072 sign never
	done
	export PORT=$((20000 + RANDOM % 12000)) SITE=$BATS_FILE_TMPDIR/site
	mkdir "$SITE"
	python3 -m http.server --bind 127.0.0.1 -d "$SITE" "$PORT" >http.log 2>&1 3>&- &
	echo $! >http.pid
	export REPOSITORY=$SITE/hayate REPOSITORY_URL=http://127.0.0.1:$PORT/hayate REPOSITORY_KEY=site@example.org
	publish_debs
	poll 10 curl -sfo /dev/null "$REPOSITORY_URL/CLIENTS"
	cp -a "$SITE/hayate" first
	# shellcheck disable=SC1091 # the system's
	new_root "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$PWD/fresh"
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/http.pid")"
	gpgconf --kill gpg-agent
	rm -rf "$GNUPGHOME"
}

# Each test begins with a fresh root and the first version in the repository.
setup() {
	cd "$BATS_FILE_TMPDIR" || return
	rm -rf "$SITE/hayate" root
	cp -a first "$SITE/hayate"
	cp -a fresh root
}

# publish_debs: runs the script of "make repository" with the packages in $DEBS
publish_debs() {
	rm -rf build
	mkdir -p build/deb
	cp "$DEBS"/*.deb build/deb/
	printf 'VERSION=0\nTOP=%q\nBUILD=%q\n' "$TOP" "$PWD/build" >build/options
	"$TOP/build-aux/repository" >>repository.log
}

# in_root COMMAND...: runs it in the root, where it has the network of this machine. Every
# question is answered with y.
in_root() {
	# shellcheck disable=SC2016 # for the inner shell
	yes | unshare -mpf sh -ec 'mount -t proc proc "$0/proc"
		mount --rbind /dev "$0/dev"
		exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
		    DEBIAN_FRONTEND=noninteractive "$@"' "$ROOT" "$@" 3>&-
}

# list_steps SYSTEM: prints the commands that CLIENTS has for it
list_steps() { awk -v on="On $1, as root:" '/^[^ ]/ { is = $0 == on } is' "$SITE/hayate/CLIENTS" | sed -n 's/^    //p'; }

# take_steps: types them
take_steps() {
	list_steps Debian >"$ROOT/root/steps"
	in_root sh -e /root/steps >took 2>&1 || { tail -n 20 took; return 1; }
}

# make_later_build: fills $DEBS with the packages as if they had one more fix
make_later_build() {
	local deb
	DEBS=$BATS_TEST_TMPDIR/debs
	mkdir "$DEBS"
	for deb in "$BATS_FILE_TMPDIR"/debs/*.deb; do
		rm -rf unpacked
		dpkg-deb -R "$deb" unpacked
		sed -i '/^Version: \|^Depends: /s/[~+]debian/+fix1&/g' unpacked/DEBIAN/control
		dpkg-deb --root-owner-group -Znone -b unpacked "$BATS_TEST_TMPDIR" >/dev/null
	done
	mv "$BATS_TEST_TMPDIR"/*.deb "$DEBS"
}

version() { dpkg-query --admindir="$ROOT/var/lib/dpkg" -W -f '${Version}' "$1"; }
built() { dpkg-deb -f "$DEBS/hayate-client_"*.deb Version; }

@test "the steps of CLIENTS install both packages in a fresh root of Debian" {
	local name
	take_steps
	# the fingerprint that the user compares
	name=$(gpg --with-colons -k site@example.org | awk -F: '$1 == "fpr" { print $10; exit }')
	tr -d ' \n' <took | grep -F "$name"
	for name in client server; do
		[ "$(version hayate-$name)" = "$(built)" ]
		grep -E "GET /hayate/pool/.*/hayate-${name}_.* 200" http.log
	done
	[[ $(in_root hayate-ssh -V 2>&1) = *Hayate_* ]]
	[[ $(in_root env PATH=/usr/lib/hayate/bin:/usr/bin ssh -V 2>&1) = *Hayate_* ]]
	in_root hayate-sshd -t
	[ -z "$(in_root dpkg -V hayate-client hayate-server)" ]
	[ -z "$(in_root dpkg --audit)" ]
	in_root apt-cache policy hayate-server | grep -F " $REPOSITORY_URL debian"
}

@test "with another key than that of the repository nothing is installed" {
	gpg --armor --export other@example.org >"$SITE/hayate/hayate.asc"
	run ! take_steps
	[[ $output = *NO_PUBKEY* ]] || { echo "$output"; false; }
	[[ $output = *"is not signed"* ]] || { echo "$output"; false; }
	[ ! -e "$ROOT/usr/bin/hayate-ssh" ]
}

@test "apt-get upgrade installs a later build and keeps the configuration, and what is removed is gone" {
	local old key
	take_steps
	old=$(version hayate-server)
	key=$(cat "$ROOT/etc/hayate/ssh_host_ed25519_key.pub")
	sed -i 's/^#MaxAuthTries .*/MaxAuthTries 3/' "$ROOT/etc/hayate/sshd_config"
	in_root apt-get update
	in_root apt-get upgrade
	[ "$(version hayate-server)" = "$old" ]
	make_later_build
	publish_debs
	in_root apt-get update
	in_root apt-get upgrade
	dpkg --compare-versions "$(version hayate-server)" gt "$old"
	[ "$(version hayate-client) $(version hayate-server)" = "$(built) $(built)" ]
	[[ $(in_root hayate-ssh -V 2>&1) = *Hayate_* ]]
	[ "$(in_root hayate-sshd -T | grep -i '^maxauthtries ')" = "maxauthtries 3" ]
	[ "$key" = "$(cat "$ROOT/etc/hayate/ssh_host_ed25519_key.pub")" ]
	# the way back
	in_root apt-get remove hayate-client hayate-server
	[ ! -e "$ROOT/usr/bin/hayate-ssh" ]
	[ ! -e "$ROOT/usr/sbin/hayate-sshd" ]
	[ "$key" = "$(cat "$ROOT/etc/hayate/ssh_host_ed25519_key.pub")" ]
	in_root apt-get purge hayate-client hayate-server
	[ ! -e "$ROOT/etc/hayate" ]
	rm "$ROOT/etc/apt/keyrings/hayate.asc" "$ROOT/etc/apt/sources.list.d/hayate.sources"
	in_root apt-get update
	run ! in_root apt-get install hayate-client
	[[ $output = *"Unable to locate package hayate-client"* ]] || { echo "$output"; false; }
}

@test "with its component, packages that replace the system's OpenSSH come with a dist-upgrade" {
	in_root apt-get update
	in_root apt-get install openssh-client openssh-server
	list_steps Debian | grep -v 'install hayate' >"$ROOT/root/steps"
	in_root sh -e /root/steps
	in_root apt-get dist-upgrade
	[[ $(in_root ssh -V 2>&1) != *Hayate_* ]]
	sed -i 's/^Components: .*/Components: replace/' "$ROOT/etc/apt/sources.list.d/hayate.sources"
	in_root apt-get update
	in_root apt-get dist-upgrade
	[[ $(in_root ssh -V 2>&1) = *Hayate_* ]]
	in_root sshd -t
	make_later_build
	publish_debs
	in_root apt-get update
	in_root apt-get upgrade
	[[ $(version openssh-server) = *+fix1+debian* ]]
	[ -z "$(in_root dpkg --audit)" ]
}
