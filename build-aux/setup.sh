# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Functions for demo and check in the top directory, which source this file:
# set_up WORD... installs the packages for the words on Debian, and builds.
#
#   hayate stock unit      builds; regress/lanes makes a build that only one suite
#   sanitized tsan fuzz    uses, while other suites run
#   tests                  packages that every suite uses
#   exporter               readers of our log and metrics
#   fleet slurm            tools for a copy by many clients, unpacked
#   path peers pages       packages: the emulated path, other SSH servers and clients,
#   figures shells style   readers of manuals, gnuplot and a browser, shells, checkers
#   upstream musl          of our sources, upstream's suite, another libc
#   repository             tools that make package repositories and read them
#
# Other words, such as "timed", are ignored.

die() { echo "${0##*/}: $*" >&2; exit 1; }

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# print_clang_version: prints the version of the package "clang"; Debian 12 has 14
print_clang_version() {
	v=$(apt-cache depends clang 2>/dev/null |
	    sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p')
	echo "${v:-14}"
}

# list_packages WORD: prints the packages to install
list_packages() {
	case $1 in
	hayate|stock)
		echo gcc libc6-dev make patch pkg-config autoconf automake \
		    dpkg-dev libssl-dev zlib1g-dev libpam0g-dev libedit-dev \
		    libkrb5-dev libselinux1-dev libfido2-dev libaudit-dev \
		    libwrap0-dev libbsd-dev openssh-client openssl ;;
	unit)	list_packages hayate
		echo valgrind ;;
	musl)	echo musl-tools linux-libc-dev ;;
	path)	list_packages unit
		echo iproute2 iputils-ping procps iperf3 tcpdump python3 ;;
	tests)	echo bats jq socat python3 procps iproute2 quilt \
		    openssh-server btrfs-progs ;;
	peers)	echo rsync dropbear-bin putty-tools python3-asyncssh \
		    python3-paramiko tnftp lftp rclone libssh-dev golang-go \
		    golang-golang-x-crypto-dev krb5-kdc krb5-admin-server \
		    krb5-user tzdata ;;
	pages)	echo mandoc man-db ;;
	figures) echo gnuplot-nox chromium ;;
	shells)	echo zsh bash-completion tcsh ;;
	style)	echo shellcheck cppcheck uncrustify aspell aspell-en ;;
	exporter) echo systemd ;;
	repository) echo apt-utils createrepo-c curl dnf gnupg rpm xz-utils ;;
	upstream) echo softhsm2 dropbear-bin putty-tools ;;
	sanitized) list_packages hayate ;;
	fuzz)	list_packages hayate
		echo clang "libclang-rt-$(print_clang_version)-dev" ;;
	esac
}

# list_unpacked WORD: prints packages that are unpacked into build/ftpd instead of being
# installed, because Debian would start their servers and because they conflict. Only
# their libraries are installed. Tests that need a missing one are skipped.
list_unpacked() {
	case $1 in
	peers)	echo vsftpd pure-ftpd proftpd-core proftpd-mod-crypto fail2ban ;;
	exporter) echo prometheus-node-exporter prometheus ;;
	fleet)	echo fpart parallel ;;
	slurm)	echo slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge ;;
	esac
}

# install_packages PACKAGE...: installs the missing ones. policy-rc.d(8) prevents the start
# of their servers.
install_packages() {
	command -v dpkg-query >/dev/null || {
		echo "not a Debian system: using the installed tools and libraries"
		return 0
	}
	missing=
	for p do
		case $(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null) in
		installed) ;;
		*) missing="$missing $p" ;;
		esac
	done
	[ -n "$missing" ] || return 0
	as_root true 2>/dev/null ||
	    die "run as root (or with sudo): apt-get install$missing"
	echo "installing$missing"
	# A failed update, for instance of a third party's list, is not an error.
	as_root env APT_WAIT="${APT_WAIT-}" build-aux/apt-wait apt-install.log update || :
	policy=/usr/sbin/policy-rc.d
	if [ -e $policy ]; then policy=/dev/null; else
		printf '#!/bin/sh\nexit 101\n' | as_root tee $policy >/dev/null &&
		    as_root chmod 755 $policy || policy=/dev/null
		trap 'as_root rm -f $policy' EXIT
	fi
	# shellcheck disable=SC2086 # one word a package
	as_root env APT_WAIT="${APT_WAIT-}" build-aux/apt-wait apt-install.log \
	    -y --no-install-recommends install $missing ||
	    die "apt-get could not install$missing: see apt-install.log"
	if [ $policy != /dev/null ]; then as_root rm -f $policy; fi
	trap - EXIT
	rm -f apt-install.log
}

# list_libraries PACKAGE...: prints the libraries on which the packages depend
list_libraries() {
	command -v apt-cache >/dev/null || return 0
	apt-cache depends "$@" 2>/dev/null |
	    sed -n 's/^ *Depends: \(lib[^<]*\)$/\1/p' | sort -u
}

# unpack_packages PACKAGE...: unpacks each package into build/ftpd once
unpack_packages() {
	command -v dpkg-deb >/dev/null || return 0
	for p do
		[ ! -e "build/ftpd/.$p" ] || continue
		mkdir -p build/ftpd
		(cd build/ftpd && apt-get -q download "$p" &&
		    dpkg-deb -x "$p"_*.deb . && rm "$p"_*.deb && touch ".$p") \
		    >build/ftpd.log 2>&1 </dev/null ||
		    echo "could not unpack $p: see build/ftpd.log"
	done
}

# add_privsep_user: adds the user sshd, which sshd needs for privilege separation. Debian's
# package adds it as well, but also starts a server on port 22.
add_privsep_user() {
	! getent passwd sshd >/dev/null || return 0
	as_root useradd --system --home-dir /run/sshd --no-create-home \
	    --shell /usr/sbin/nologin sshd ||
	    die "cannot add the user sshd, which sshd needs"
}

# build_goals WORD...: runs configure, unless that was done, and make. A fix of upstream
# that cannot be fetched is named, and stops no test. The unit drivers need no upstream
# and are compiled while its configure runs, which keeps one core busy.
build_goals() {
	case " $* " in
	*" hayate "*|*" stock "*|*" unit "*) ;;
	*)	return 0 ;;
	esac
	[ -x configure ] || autoreconf -fi || die "autoreconf failed"
	[ -f Makefile ] || ./configure -q --enable-unfixed-upstream || die "configure failed"
	mkdir -p build
	units=
	case " $* " in *" unit "*)
		make -j"$(nproc)" unit >build/unit.log 2>&1 &
		units=$!
		trap 'kill "$units" 2>/dev/null; exit 130' HUP INT TERM ;;
	esac
	case " $* " in *" hayate "*) make -j"$(nproc)" all || die "make all failed" ;; esac
	case " $* " in *" stock "*) make -j"$(nproc)" stock || die "make stock failed" ;; esac
	[ -n "$units" ] || return 0
	wait "$units" || {
		tail -n 20 build/unit.log
		die "the unit drivers do not compile: see build/unit.log"
	}
	trap - HUP INT TERM
}

# set_up WORD...: installs packages and builds
set_up() {
	# shellcheck disable=SC2046 # words
	install_packages $(for w do list_packages "$w"; done | tr ' ' '\n' | sort -u)
	unpacked=$(for w do list_unpacked "$w"; done)
	if [ -n "$unpacked" ]; then
		# shellcheck disable=SC2046,SC2086 # words
		install_packages $(list_libraries $unpacked)
		# shellcheck disable=SC2086
		unpack_packages $unpacked
	fi
	case " $* " in *" hayate "*) add_privsep_user ;; esac
	build_goals "$@"
}
