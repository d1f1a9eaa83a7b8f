#!/usr/bin/env bats
# The packages on Debian 13: built there from a clone, as INSTALL.md says, then
# installed, given back, removed and purged in that root directory, which systemd
# boots in a container without network. "make check-packages" runs this.

load ../helper
load root

# What INSTALL.md asks for before "make deb"
TOOLS=$(sed -n '/^    apt-get install build-essential/,/[^\]$/p' "$TOP/INSTALL.md" |
    sed -e 's/apt-get install//' -e 's/\\$//' | xargs)
PACKAGES="openssh-client openssh-sftp-server openssh-server"

# building COMMANDS: in the clone, with a network
building() {
	systemd-nspawn -q --register=no --keep-unit --pipe --resolv-conf=copy-host \
	    -D "$ROOT" --chdir=/root/hayate env DEBIAN_FRONTEND=noninteractive \
	    sh -ec "$1" </dev/null 3>&-
}

# lacking: the packages that "make deb" names, for FLAVOUR $1
lacking() {
	building "make deb FLAVOUR=$1" 2>&1 | tee "$BATS_FILE_TMPDIR/lacking.$1" |
	    sed -n 's/.*: apt-get install //p'
}

# wanting: prints why nothing can be run here. Bats knows no skip in setup_file. If the
# archive can be read, an error is a failure.
wanting() {
	local tool
	[ "$EUID" = 0 ] || echo "this needs root"
	for tool in systemd-nspawn mmdebstrap; do
		command -v $tool >/dev/null || echo "no $tool"
	done
	(cd "$TOP" && build-aux/apt-source versions openssh trixie) >/dev/null 2>&1 ||
	    echo "no archive of Debian 13"
}

setup_file() {
	export WANTING
	WANTING=$(wanting)
	[ -z "$WANTING" ] || return 0
	export ROOT=$BATS_FILE_TMPDIR/root SUITE=trixie KEEP=$PACKAGES
	export DEBS=$ROOT/root/hayate/build/deb LOG=$BATS_FILE_TMPDIR/build.log
	# shellcheck disable=SC2086 # one word a package
	make_root $PACKAGES $TOOLS lintian
	git clone -q "$TOP" "$ROOT/root/hayate"
	{
		building 'apt-get -q update; autoreconf -fi; ./configure --enable-unfixed-upstream'
		local flavour
		for flavour in beside replace; do
			building "apt-get -q -y --no-install-recommends install $(lacking $flavour)"
		done
		building 'make deb FLAVOUR="beside replace"'
	} >"$LOG" 2>&1 || { tail -n 20 "$LOG" "$BATS_FILE_TMPDIR"/lacking.*; return 1; }
	boot
}

teardown_file() { shut_down; }

setup() {
	[ -z "$WANTING" ] || skip "$WANTING"
	export CONFIG=$ROOT/etc/ssh/sshd_config
}

@test "make deb on Debian 13 names missing packages, and then builds both flavours" {
	grep 'packages to build with are missing: apt-get install .*debhelper' "$BATS_FILE_TMPDIR/lacking.beside"
	grep 'packages to build with are missing: apt-get install .*dh-exec' "$BATS_FILE_TMPDIR/lacking.replace"
	[ "$(find "$DEBS" -name '*.deb' | wc -l)" = 10 ]
	[[ $(dpkg-deb -f "$DEBS"/hayate-server_*.deb Version) = *~debian13 ]]
	[[ $(dpkg-deb -f "$DEBS"/openssh-server_*.deb Version) = *+debian13 ]]
	# units below /usr alone, and its own libraries
	for deb in "$DEBS"/*.deb; do
		dpkg-deb -c "$deb" >"$BATS_TEST_TMPDIR/files"
		run ! grep ' \./lib/' "$BATS_TEST_TMPDIR/files"
	done
	dpkg-deb -f "$DEBS"/hayate-server_*.deb Depends | grep -q libwtmpdb0
}

@test "lintian of Debian 13 finds no error, and each warning is explained" {
	run -0 inside sh -c 'lintian --fail-on error,warning \
	    --suppress-tags package-has-long-file-name /root/hayate/build/deb/*.deb'
	[[ $output != *[EW]": "* ]]
}

@test "beside the distribution's OpenSSH both serve, and after a purge the distribution's" {
	install_debs hayate-client hayate-server
	run ! login 2222
	inside systemctl enable -q --now hayate-sshd
	serves 22 2222
	PROGRAM=hayate-ssh serves 22 2222
	[ -z "$(inside dpkg -V hayate-client hayate-server openssh-client openssh-server)" ]
	[[ $(inside ssh-keyscan -p 2222 127.0.0.1 2>&1) = *Hayate_* ]]
	inside dpkg --remove hayate-server hayate-client
	serves 22
	run ! login 2222
	inside dpkg --purge hayate-server hayate-client
	serves 22
	[ ! -e "$ROOT/etc/hayate" ]
}

@test "in its place configuration, keys and sessions are kept, also on the way back" {
	local key
	key=$(host_key)
	sed -i 's/^#MaxAuthTries .*/MaxAuthTries 3/' "$CONFIG"
	cp "$CONFIG" "$BATS_TEST_TMPDIR/config"
	begin_session 22
	take_over
	[[ $(inside ssh -V 2>&1) = *Hayate_* ]]
	[[ $(inside ssh-keyscan 127.0.0.1 2>&1) = *Hayate_* ]]
	serves 22
	session_lives
	cmp "$CONFIG" "$BATS_TEST_TMPDIR/config"
	[ "$(host_key)" = "$key" ]
	begin_session 22
	give_back
	[[ $(version_of openssh-server) != *hayate* ]]
	serves 22
	session_lives
	cmp "$CONFIG" "$BATS_TEST_TMPDIR/config"
	[ "$(host_key)" = "$key" ]
}

@test "a configuration that cannot work is refused, and the distribution's sshd serves on" {
	echo 'NoSuchKeyword yes' >"$ROOT/etc/ssh/sshd_config.d/wrong.conf"
	run ! take_over
	[[ $output = *"Bad configuration option: NoSuchKeyword"* ]]
	rm "$ROOT/etc/ssh/sshd_config.d/wrong.conf"
	serves 22
	inside dpkg --configure -a
	serves 22
}

@test "a purge of the replacing packages removes keys and configuration" {
	take_over
	inside dpkg --remove openssh-server
	run ! login 22
	take_over
	serves 22
	inside dpkg --purge openssh-server openssh-sftp-server openssh-client
	[ ! -e "$CONFIG" ]
	[ -z "$(find "$ROOT/etc/ssh" -name 'ssh_host_*' 2>/dev/null)" ]
}
