# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Sourced by demo and check in the top directory. Installs missing packages on
# Debian, and builds hayate and stock.

packages="gcc libc6-dev make patch pkg-config autoconf automake dpkg-dev quilt
	libssl-dev zlib1g-dev libpam0g-dev libedit-dev libkrb5-dev libselinux1-dev
	libfido2-dev libaudit-dev libwrap0-dev libbsd-dev
	openssh-client openssh-server openssl python3 iproute2 procps"

# Packages that only tests use: tools that measure the emulated path, peers that
# are not OpenSSH, a PKCS#11 token for upstream's suite, programs that draw and
# show the page of figures, a lock checker, other file transfer tools, a packet
# sniffer, clang for the fuzzers, shells, and checkers of our sources. The FTP
# servers are unpacked and only their libraries installed: Debian would start
# them, and their packages conflict.
unpacked=

# clang_version: of the package "clang"; Debian 12 has 14
clang_version() {
	v=$(apt-cache depends clang 2>/dev/null |
	    sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p')
	echo "${v:-14}"
}

case ${0##*/} in
check)	packages="$packages bats iperf3 jq iputils-ping socat rsync mandoc
	dropbear-bin putty-tools python3-asyncssh python3-paramiko softhsm2 gnuplot-nox
	chromium valgrind tcpdump tnftp lftp rclone
	zsh bash-completion man-db shellcheck cppcheck uncrustify aspell aspell-en
	btrfs-progs clang libclang-rt-$(clang_version)-dev"
	unpacked="vsftpd pure-ftpd proftpd-core proftpd-mod-crypto" ;;
esac

die() { echo "${0##*/}: $*" >&2; exit 1; }

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

install_packages() {
	command -v dpkg-query >/dev/null || {
		echo "not a Debian system: taking the tools and libraries as they are"
		return 0
	}
	missing=
	for p in $packages; do
		case $(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null) in
		installed) ;;
		*) missing="$missing $p" ;;
		esac
	done
	[ -n "$missing" ] || return 0
	as_root true 2>/dev/null ||
	    die "run as root (or with sudo): apt-get install$missing"
	echo "installing$missing"
	# A failed update, as of a third party's list, is not an error.
	as_root env APT_WAIT="${APT_WAIT-}" build-aux/apt-wait apt-install.log update || :
	# shellcheck disable=SC2086 # one word a package
	as_root env APT_WAIT="${APT_WAIT-}" build-aux/apt-wait apt-install.log \
	    -y --no-install-recommends install $missing ||
	    die "apt-get could not install$missing: see apt-install.log"
	rm -f apt-install.log
}

# libraries_of PACKAGE...: that they need
libraries_of() {
	command -v apt-cache >/dev/null || return 0
	apt-cache depends "$@" 2>/dev/null |
	    sed -n 's/^ *Depends: \(lib[^<]*\)$/\1/p' | sort -u
}

# unpack_packages: into build/ftpd. Tests that need a missing one are skipped.
unpack_packages() {
	command -v dpkg-deb >/dev/null || return 0
	for p in $unpacked; do
		[ ! -e "build/ftpd/.$p" ] || continue
		mkdir -p build/ftpd
		(cd build/ftpd && apt-get -q download "$p" &&
		    dpkg-deb -x "$p"_*.deb . && rm "$p"_*.deb && touch ".$p") \
		    >build/ftpd.log 2>&1 </dev/null ||
		    echo "could not unpack $p: see build/ftpd.log"
	done
}

# build: hayate and stock. A configured tree is not configured again.
build() {
	[ -x configure ] || autoreconf -fi || die "autoreconf failed"
	[ -f Makefile ] || ./configure -q || die "configure failed"
	make -j"$(nproc)" && make -j"$(nproc)" stock || die "make failed"
}

install_packages
if [ -n "$unpacked" ]; then
	# shellcheck disable=SC2086 # one word a package
	packages=$(libraries_of $unpacked)
	install_packages
	unpack_packages
fi
build
