#!/usr/bin/env bats
# Needs: hayate stock unit
# The Debian packages as far as no compiler is needed: versions, what is taken
# from Debian's packaging, and what is said when something is missing.

load helper

# A directory to build in, with the source of $BUILD and a record of our own.
setup() {
	command -v dpkg-checkbuilddeps >/dev/null || skip "no dpkg-dev here"
	cd "$BATS_TEST_TMPDIR"
	mkdir -p build/upstream
	cp "$BUILD/upstream/version.h" "$BUILD/upstream/.source" build/upstream/
	cp -al "$BUILD"/upstream/{OVERVIEW,README*,contrib,readconf.c,servconf.c} build/upstream/
	cp -al "$BUILD/fetched" build/ 2>/dev/null || :
	sed "s|^BUILD=.*|BUILD='$PWD/build'|" "$BUILD/options" >build/options
}

# make_source MARK: copies the tree, with another stamp
make_source() {
	rm -rf src
	mkdir src
	cp -a "$TOP"/{UPSTREAM,LICENCE,contrib,build-aux,common,modules.mk,configure.ac} src/
	printf '%s\n' "epoch 1790000000" "author A B <a@example.org>" \
	    "commit 0a1b2c3d" "mark $1" >src/STAMP
	sed -i "s|^TOP=.*|TOP='$PWD/src'|" build/options
}

# set_revision REVISION DATE: sets which fixes the source has
set_revision() { sed -i "s/^revision .*/revision $1 $2/" build/upstream/.source; }

# set_fixes N: gives the source N fixes of upstream beyond its release
set_fixes() {
	sed -i '/^fix /d' build/upstream/.source
	seq -f 'fix x CVE-1-%g' "$1" >>build/upstream/.source
}

# set_release NUMBER: makes it the source of this release
set_release() { sed -i "s/OpenSSH_[0-9.]*/OpenSSH_$1/" build/upstream/version.h; }

# print_package_version MARK REVISION VERSION [FLAVOUR]: prints the version of the
# packages
print_package_version() {
	make_source "$1"
	set_revision "$2" 2026-01-01
	sed -i "s/^VERSION=.*/VERSION='$3'/" build/options
	OS_RELEASE=$PWD/os src/build-aux/deb-version "${4-beside}"
}

# check_ascending FILE: checks that each version in FILE is later than the one before, as
# dpkg sorts
check_ascending() {
	local newer before=
	while read -r newer; do
		[ -z "$before" ] || dpkg --compare-versions "$before" lt "$newer" || {
			echo "$before is not older than $newer"
			return 1
		}
		before=$newer
	done <"$1"
}

@test "versions sort: commits, releases, Debian's fixes and upstream's, the system" {
	set_release 10.0
	set_fixes 0
	printf 'ID=debian\nVERSION_ID="12"\n' >os
	{
		print_package_version 20260801.120000 unpatched 0.1
		print_package_version 20260801.120000 Debian-7+deb13u4 0.1
		print_package_version 20260801.120001 Debian-7+deb13u4 0.1
		print_package_version "" unpatched 0.1
		print_package_version "" Debian-7+deb13u4~bpo12+1 0.1
		print_package_version "" Debian-7+deb13u4 0.1
		printf 'ID=debian\nVERSION_ID="13"\n' >os
		print_package_version "" Debian-7+deb13u4 0.1
		set_fixes 9
		print_package_version "" Debian-7+deb13u4 0.1
		set_fixes 10
		print_package_version "" Debian-7+deb13u4 0.1
		set_fixes 0
		print_package_version "" Debian-7+deb13u10 0.1
		print_package_version "" Debian-8 0.1
		print_package_version 20260901.000000 Debian-7+deb13u4 0.2
		print_package_version "" Debian-7+deb13u4 0.2
		print_package_version "" Debian-7+deb13u4 0.10
		set_release 10.2
		print_package_version "" Debian-1 0.10
	} >versions
	[ "$(sort -u versions | wc -l)" = 15 ]
	grep -qx '0.1+10.0p1-7+deb13u4+fix9~debian13' versions
	check_ascending versions
	grep -qx '0.1+10.0p1-0unpatched~debian12' versions
	grep -qx '0.1~git20260801.120001+10.0p1-7+deb13u4~debian12' versions
}

@test "versions of the replacing packages sort between Debian's revision and the next one" {
	set_release 10.0
	set_fixes 0
	printf 'ID=debian\nVERSION_ID="12"\n' >os
	{
		echo 1:9.2p1-2+deb12u10
		print_package_version "" unpatched 0.1 replace
		echo 1:10.0p1-7+deb13u4
		echo 1:10.0p1-7+deb13u4+b1
		print_package_version 20260801.120000 Debian-7+deb13u4 0.1 replace
		print_package_version "" Debian-7+deb13u4 0.1 replace
		printf 'ID=debian\nVERSION_ID="13"\n' >os
		print_package_version "" Debian-7+deb13u4 0.1 replace
		set_fixes 9
		print_package_version "" Debian-7+deb13u4 0.1 replace
		set_fixes 0
		print_package_version 20260901.000000 Debian-7+deb13u4 0.10 replace
		echo 1:10.0p1-7+deb13u5
	} >versions
	check_ascending versions
	grep -qx '1:10.0p1-7+deb13u4+hayate0.1+fix9+debian13' versions
	grep -qx '1:10.0p1-0unpatched+hayate0.1+debian12' versions
	grep -qx '1:10.0p1-7+deb13u4+hayate0.1~git20260801.120000+debian12' versions
}

@test "the stamp names the commit, its time, and edited files" {
	git init -q repo
	cp -a "$TOP"/{build-aux,configure.ac} repo/
	cd repo
	git config user.name A
	git config user.email a@example.org
	git add .
	GIT_COMMITTER_DATE='1790000000 +0900' git commit -q -m x
	run -0 build-aux/stamp
	[ "${lines[0]}" = "epoch 1790000000" ]
	[ "${lines[2]}" = "author A <a@example.org>" ]
	[ "${lines[3]}" = "mark 20260921.141320" ]
	[ "$(build-aux/stamp version)" = "0.2-${lines[1]#commit }" ]
	echo "# x" >>build-aux/stamp
	run -0 build-aux/stamp
	[ "${lines[3]}" = "mark 20260921.141320.edited" ]
	[ "$(build-aux/stamp version)" = "0.2-${lines[1]#commit }.edited" ]
	git checkout -q .
	git tag "v$(sed -n 's/^AC_INIT(\[Hayate\], \[\([^]]*\)\].*/\1/p' configure.ac)"
	run -0 build-aux/stamp
	[ "${lines[3]}" = "mark " ]
	[ "$(build-aux/stamp version)" = 0.2 ]
}

@test "unit, PAM service and user are derived from Debian's, which stay unchanged" {
	local d=build/deb/beside/debian
	ls build/fetched/*.debian.tar.xz >/dev/null || skip "upstream did not come as Debian's package"
	make_source 20260801.120000
	run -0 src/build-aux/deb beside tree
	grep -qx 'ExecStart=/usr/sbin/hayate-sshd -D $SSHD_OPTS' $d/hayate-server.hayate-sshd.service
	grep -qx ListenStream=2222 $d/hayate-server.hayate-sshd.socket
	grep -qx '@include common-account' $d/hayate-server.hayate-sshd.pam
	grep -q '^u hayate-sshd ' $d/hayate-server.sysusers
	grep -qx ' -- A B <a@example.org>  Mon, 21 Sep 2026 14:13:20 +0000' $d/changelog
	[ "$(grep -c '^$' $d/changelog)" = 2 ]
	grep -qx 'Maintainer: A B <a@example.org>' $d/control
	sh -n $d/hayate-server.hayate-sshd.init
	grep -F -- '--pidfile /run/hayate/sshd.pid --exec /usr/sbin/hayate-sshd' $d/hayate-server.hayate-sshd.init
	run ! grep -rE '/etc/ssh|Alias=|(init.d|default)/ssh|[^-]sshd \|OpenBSD' $d --include='hayate-server.hayate-sshd.*'
}

@test "for a tree Debian's packaging is fetched and named, and an earlier download is kept" {
	ls build/fetched/*.debian.tar.xz >/dev/null || skip "upstream did not come as Debian's package"
	make_source 20260801.120000
	sed -i "s|^FROM=.*|FROM='$PWD/tree'|" build/options
	mv build/fetched archive
	mkdir -p build/fetched build/apt/trixie bin
	touch build/fetched/mine
	echo read >build/apt/trixie/apt.conf
	printf '#!/bin/sh\necho "Version: 1:%s"\n' "$(basename archive/*.dsc .dsc | sed 's/.*_//')" >bin/apt-cache
	printf '#!/bin/sh\ncp %s/archive/* .\n' "$PWD" >bin/apt-get
	chmod +x bin/*
	PATH=$PWD/bin:$PATH run -0 src/build-aux/deb beside tree
	[[ $output = *"has no Debian packaging: using that of $(basename archive/*.dsc .dsc)" ]]
	[ "$(ls build/fetched)" = mine ]
	[ -f build/deb/beside/debian/openssh/rules ]
}

@test "packaging of Debian that changed is an error that names the line" {
	local d=build/deb/beside
	ls build/fetched/*.debian.tar.xz >/dev/null || skip "upstream did not come as Debian's package"
	make_source 20260801.120000
	run -0 src/build-aux/deb beside tree
	cd $d
	sed -i 's/sshd -t$/sshd -T/' debian/openssh/systemd/ssh.service
	run -1 debian/take
	[[ $output = *"packaging changed"*"ExecReload=/usr/sbin/hayate-sshd -t"* ]]
	sed -i 's/sshd -T$/sshd -t/; $aExecStop=/usr/sbin/sshd --stop' debian/openssh/systemd/ssh.service
	sed -i 's,\(ExecStop=/usr/s\)bin,\1bin/../sbin,' debian/openssh/systemd/ssh.service
	run -1 debian/take
	[[ $output = *"sbin/sshd"*"the distribution's"* ]]
}

@test "the replacing packages have Debian's files, and our parts of its scripts" {
	local d=build/deb/replace/debian f
	ls build/fetched/*.debian.tar.xz >/dev/null || skip "upstream did not come as Debian's package"
	make_source 20260801.120000
	run -0 src/build-aux/deb replace tree
	[ "$(grep '^Package: ' $d/control)" = "$(printf 'Package: %s\n' openssh-client openssh-server openssh-sftp-server)" ]
	for f in systemd/ssh.service openssh-server.sysusers openssh-server.install; do
		cmp $d/$f $d/openssh/$f
	done
	for f in "$d"/openssh-*.{pre,post}{inst,rm}; do
		[ ! -e "$f" ] || sh -n "$f"
	done
	grep -x '	deb-systemd-helper purge sshd-keygen.service .*' $d/openssh-server.postrm
	grep -x '	deb-systemd-helper --user purge ssh-agent.socket .*' $d/openssh-client.postrm
	# before the diversion ends and the new sshd is started
	[ "$(grep -nE '^	(create_keys|accept_configuration)$|dpkg-divert|^#DEBHELPER#' $d/openssh-server.postinst |
	    sed 's/^[0-9]*:[	 ]*//; s/ .*//' | paste -sd' ')" = 'create_keys accept_configuration dpkg-divert #DEBHELPER#' ]
	grep -q 'new logins run the new sshd-session' $d/openssh-server.postinst
	grep -q 'new logins run the new sshd-session' "$TOP/contrib/deb/beside/hayate-server.postinst"
	grep -F "words='Hayate|WindowTuning|AvoidBufferbloat|" $d/openssh-server.prerm
	grep -F 'sshd -t $SSHD_OPTS' $d/openssh-server.postrm
	# what Debian's knows is not named, and what it does not know is
	run ! grep -E 'GSSAPIKeyExchange|DebianBanner|NoneSwitch|@' $d/openssh-server.prerm
	run ! grep -E 'GSSAPIKeyExchange|GSSAPITrustDns|@' $d/openssh-client.prerm
	grep -F '|RSAMinSize' $d/openssh-server.prerm
	grep -F '|KerberosUniqueCCache|' $d/openssh-server.prerm
	grep -F '|NoneSwitch|' $d/openssh-client.prerm
	# A script of Debian's without the place for ours is an error.
	sed -i 's/^	create_keys$/	make_keys/' $d/openssh/openssh-server.postinst
	cd build/deb/replace
	rm -rf contrib debian/openssh-*
	run -1 debian/take
	[[ $output = *"packaging changed"*"create_keys"* ]]
}

# make_script TEXT: makes a script of the input, for /etc and the rest below this
# directory
make_script() {
	sed "s,/etc/,$PWD/etc/,g; s,/var/lib/hayate,$PWD/lib,g; s,/run/sshd,$PWD/run,g
	    s,/usr/sbin/sshd,$PWD/sbin/sshd,g" >script
}

# run_prerm: changes sshd's configuration on the way back; run_postinst_part: and on the
# next way there
run_prerm() {
	make_script <"build/deb/replace/debian/openssh-${SIDE-server}.prerm"
	sh script upgrade "${1-1:10.0p1-7+deb13u5}"
}
run_postinst_part() {
	sed -n '/^kept=.*aside/,/^fi$/p' \
	    "build/deb/replace/debian/openssh-${SIDE-server}.postinst" | make_script
	sh -e script
}

# make_scripts: makes the scripts of these packages, and a configuration that includes a
# directory
make_scripts() {
	ls build/fetched/*.debian.tar.xz >/dev/null || skip "upstream did not come as Debian's package"
	make_source ""
	src/build-aux/deb replace tree
	mkdir -p etc/ssh/sshd_config.d etc/ssh/ssh_config.d etc/default run
	echo "Include $PWD/etc/ssh/sshd_config.d/*.conf" >etc/ssh/sshd_config
	echo "Include $PWD/etc/ssh/ssh_config.d/*.conf" >etc/ssh/ssh_config
}

@test "going back comments out our keywords, wherever and however they are written, and nothing else" {
	make_scripts
	printf '%s\n' 'maxrate 5M' '  WINDOWMAX = 8M' 'PermitTTY no # MaxRate' '"NoneEnabled" no' \
	    '#MaxRate 6M' 'Match User bob' '	NoneEnabled=yes' '	ForceCommand internal-sftp' \
	    '	HPNDisabled no' "Include 'a b' \"$PWD/etc/ssh/c d\" rel* # MaxRate" \
	    'Match all' '="CongestionControl" bbr' >etc/ssh/sshd_config.d/site.conf
	printf 'CipherThreads 1\r\nPermitOpen none\r\nMaxRate 7M' >etc/ssh/rel1
	printf '%s\n' "Include $PWD/etc/ssh/rel1 a\\ b" 'TellLimits no' 'AllowUsers MaxRate' >'etc/ssh/a b'
	mkdir far
	echo 'SessionLog no' >far/file
	ln -s "$PWD/far/file" 'etc/ssh/c d'
	echo 'MaxRate 8M' >far/other
	echo 'SSHD_OPTS="-4 -f '"$PWD"'/far/other -u0"' >etc/default/ssh
	echo 'MaxRate 9M' >etc/ssh/sshd_config.d/none.off
	chmod 640 far/file
	cp -a etc before
	cp -a far before-far
	run_prerm 2>said
	cat said
	# what no longer holds is named, with file and line
	grep -F "$PWD/etc/ssh/sshd_config.d/site.conf:1: maxrate 5M" said
	grep -F "$PWD/etc/ssh/sshd_config.d/site.conf:7: 	NoneEnabled=yes" said
	grep -F "$PWD/etc/ssh/c d:1: SessionLog no" said
	[ "$(grep -c "^$PWD/" said)" = 11 ]
	[ "$(sed -n '/^[^#]/p' etc/ssh/sshd_config.d/site.conf)" = "$(printf '%s\n' 'PermitTTY no # MaxRate' \
	    'Match User bob' '	ForceCommand internal-sftp' "Include 'a b' \"$PWD/etc/ssh/c d\" rel* # MaxRate" 'Match all')" ]
	[ "$(sed '/^#/d' etc/ssh/rel1)" = $'PermitOpen none\r' ]
	[ "$(sed '/^#/d' 'etc/ssh/a b')" = "Include $PWD/etc/ssh/rel1 a\\ b"$'\n''AllowUsers MaxRate' ]
	run ! grep -v '^#' far/file far/other
	[ -L 'etc/ssh/c d' ]
	[ "$(stat -c %a far/file)" = 640 ]
	cmp etc/ssh/sshd_config.d/none.off before/ssh/sshd_config.d/none.off
	# as it was, for the return
	cmp "lib/aside/sshd$PWD/etc/ssh/rel1" before/ssh/rel1
	# twice is once
	run -0 run_prerm
	[ -z "$output" ]
	# Edits made in the meantime are kept, and our keywords are in force again.
	echo 'PermitTTY yes' >>'before/ssh/a b'
	echo 'PermitTTY yes' >>'etc/ssh/a b'
	run -0 run_postinst_part
	[ -z "$output" ]
	diff -r etc before
	diff -r far before-far
	[ ! -e lib/aside/sshd ]
	# A file that is gone or new is not brought back, and its copy is kept and named.
	run_prerm
	rm etc/ssh/rel1
	run -0 run_postinst_part
	[[ $output = *"$PWD/lib/aside/sshd$PWD/etc/ssh/rel1"* ]]
	[ ! -e etc/ssh/rel1 ]
	# An upgrade to another Hayate changes nothing.
	run -0 run_prerm 1:10.0p1-7+deb13u4+hayate0.3
	[ -z "$output" ]
	grep -qx 'maxrate 5M' etc/ssh/sshd_config.d/site.conf
}

@test "before the distribution's sshd is started, it is asked what it refuses, with its options" {
	mkdir -p sbin etc/default
	printf '%s\n' '#!/bin/sh' 'echo "$*"' '[ "$3" != 10.4 ]' >sbin/sshd
	chmod +x sbin/sshd
	make_script <"$TOP/contrib/deb/replace/refused"
	run -0 sh -e script upgrade 1:9.2p1-2
	[ "$output" = "-t" ]
	echo 'SSHD_OPTS="-o 10.4"' >etc/default/ssh
	run -0 sh -e script upgrade 1:9.2p1-2
	[[ $output = "-t -o 10.4"*"refuses the configuration"*"systemctl restart ssh"* ]]
	run -0 sh -e script upgrade 1:10.0p1-7+hayate0.3
	[ -z "$output" ]
}

# check_held_user BUILD: checks that a user who is held to internal-sftp gets files, and
# no command
check_held_user() {
	sshd_up "$1" "Include $PWD/etc/ssh/sshd_config"
	CLIENT=stock run ! client "$1" echo a shell
	[[ $output != *"a shell"* ]]
	echo "get $PWD/sent $PWD/got" | CLIENT=stock files -b - "$1"
	sshd_down
	cmp sent got
	rm got
}

@test "with each sample in place the distribution's sshd starts, and restrictions stay in force" {
	local build sample keywords='Hayate|Window|None|Cipher|Congestion|MaxRate'
	make_scripts
	make_keys
	privsep_dirs
	echo data >sent
	for sample in "$TOP"/contrib/site/sshd_config.{data,frontend,transfer,visualisation}; do
		cp "$sample" "etc/ssh/sshd_config.d/${sample##*.}.conf"
		printf '%s\n' "Match User $(id -un)" 'MaxRate 50M' 'ForceCommand internal-sftp' \
		    'NoneEnabled no' 'AllowTcpForwarding no' >etc/ssh/sshd_config.d/users.conf
		cp -a etc before
		"$(bin sshd)" -t -f etc/ssh/sshd_config -h "$BATS_FILE_TMPDIR/host"
		run ! "$(bin sshd stock)" -t -f etc/ssh/sshd_config -h "$BATS_FILE_TMPDIR/host"
		run -0 run_prerm
		[[ $output = *"/users.conf:2: MaxRate 50M"*"no longer hold"* ]]
		for build in stock system; do
			[ -x "$(bin sshd $build)" ] || continue
			"$(bin sshd $build)" -t -f etc/ssh/sshd_config -h "$BATS_FILE_TMPDIR/host"
			check_held_user $build
		done
		# All else is as in the sample.
		diff <(sed -E "/^[[:space:]]*($keywords)/d" "$sample") \
		    <(sed '/^# set aside/d' "etc/ssh/sshd_config.d/${sample##*.}.conf")
		run_postinst_part
		diff -r before etc
		rm -r before etc/ssh/sshd_config.d/*
	done
	# and the clients'
	for sample in "$TOP"/contrib/site/ssh_config.*; do
		cp "$sample" "etc/ssh/ssh_config.d/${sample##*.}.conf"
	done
	SIDE=client run_prerm
	"$(bin ssh stock)" -G -F etc/ssh/ssh_config dtn.example >said
	grep -qix 'requesttty false' said
	SIDE=client run_postinst_part
	"$(bin ssh)" -G -F etc/ssh/ssh_config dtn.example | grep -qix 'congestioncontrol bbr'
}

@test "a diversion of the administrator stays, and that of the package ends" {
	local n
	mkdir -p sbin admin
	sed "s,/usr/sbin,$PWD/sbin,g" "$TOP/contrib/deb/replace/abort" >abort
	export DPKG_ADMINDIR=$PWD/admin
	divert_sshd() { dpkg-divert --no-rename --divert "$PWD/sbin/sshd.$1" "${@:2}" "$PWD/sbin/sshd"; }
	divert_sshd own --local --add
	for n in abort-upgrade remove "upgrade 1:9.2p1-2"; do
		touch sbin/sshd sbin/sshd.own
		# shellcheck disable=SC2086 # two words
		sh -e abort $n
		[ -e sbin/sshd ]
		[ "$(dpkg-divert --truename "$PWD/sbin/sshd")" = "$PWD/sbin/sshd.own" ]
	done
	divert_sshd own --local --remove
	# that of the package ends
	for n in abort-upgrade remove "upgrade 1:9.2p1-2"; do
		divert_sshd session-split --package openssh-client --add
		rm -f sbin/*
		[ "$n" = abort-upgrade ] || touch sbin/sshd.session-split
		# shellcheck disable=SC2086 # two words
		sh -e abort $n
		[ -z "$(dpkg-divert --list "$PWD/sbin/sshd")" ]
		[ ! -e sbin/sshd.session-split ]
		case $n in upgrade*) [ -e sbin/sshd ] ;; esac
	done
}

@test "documents in the packages link only to files that the packages contain" {
	local link n=0
	make_source ""
	cp "$TOP"/{README,INSTALL,SECURITY}.md "$TOP/PROTOCOL" src/
	echo '![a picture](regress/bench/rtt.svg)' >>src/README.md
	echo '[a](INSTALL.md) [`b`](HOUSE.md), [c](https://example.org/x) [d](man/hayate.7)' >>src/README.md
	src/build-aux/doc out
	run ! grep '^!' out/README.md
	[ "$(tail -n 1 out/README.md)" = '[a](INSTALL.md) `b`, [c](https://example.org/x) d' ]
	while read -r link; do
		n=$((n + 1))
		case $link in https:*) ;; *) [ -e "out/$link" ] || { echo "$link"; false; } ;; esac
	done < <(grep -oh ']([^)]*)' out/* | sed 's/^](//; s/)$//')
	((n >= 4))
	# and those of the source to what the source has
	while read -r link; do
		[ -e "$TOP/$link" ] || { echo "$link"; false; }
	done < <(cd "$TOP" && grep -oh ']([^)]*)' README.md INSTALL.md SECURITY.md PROTOCOL | sed 's/^](//; s/)$//; /^https:/d; s/#.*//')
}

@test "a maintainer's name with characters that are special to sed is kept" {
	ls build/fetched/*.debian.tar.xz >/dev/null || skip "upstream did not come as Debian's package"
	make_source 20260801.120000
	DEBFULLNAME='A/B & C\D' DEBEMAIL=a@example.org run -0 src/build-aux/deb beside tree
	grep -Fx 'Maintainer: A/B & C\D <a@example.org>' build/deb/beside/debian/control
}

@test "a flavour that does not exist is an error that names those that do" {
	make_source ""
	run -1 src/build-aux/deb instead
	[[ $output = *"FLAVOUR=instead"*"beside or replace"* ]]
}

@test "a source without Debian's fixes is built as unpatched" {
	ls build/fetched/*.debian.tar.xz >/dev/null || skip "upstream did not come as Debian's package"
	make_source ""
	set_revision unpatched 2025-04-09
	run -0 src/build-aux/deb beside tree
	head -n 1 build/deb/beside/debian/changelog | grep -- '-0unpatched[~+]'
	grep -x 'PERMIT = .*--enable-unpatched-upstream.*' build/deb/beside/debian/settings.mk
	set_revision Debian-7+deb13u4 2026-05-06
	run -0 src/build-aux/deb beside tree
	run ! grep unpatched build/deb/beside/debian/{changelog,settings.mk}
}

@test "a missing build dependency is named by its package" {
	ls build/fetched/*.debian.tar.xz >/dev/null || skip "upstream did not come as Debian's package"
	make_source 20260801.120000
	sed -i 's/^ libedit-dev,/ libno-such-dev (>= 2) | other-dev,\n libneither-dev,/' src/contrib/deb/control
	sed -i '/lib[a-df-z]\|autoconf\|automake\|debhelper/{/such\|neither/!d}' src/contrib/deb/control
	run -1 src/build-aux/deb beside
	[[ $output = *"hayate: packages to build with are missing: apt-get install "*"libno-such-dev libneither-dev"* ]]
	[[ $output != *other-dev* ]]
	[ ! -e build/deb/beside/debian/build ]
}

@test "a build dependency that dpkg does not have is named, for both flavours" {
	local flavour
	ls build/fetched/*.debian.tar.xz >/dev/null || skip "upstream did not come as Debian's package"
	make_source 20260801.120000
	mkdir -p admin/updates bin
	awk 'BEGIN { RS = ""; ORS = "\n\n" } !/^Package: libbsd-dev\n/' /var/lib/dpkg/status >admin/status
	printf '#!/bin/sh\nexec %s --admindir=%s "$@"\n' \
	    "$(command -v dpkg-checkbuilddeps)" "$PWD/admin" >bin/dpkg-checkbuilddeps
	chmod 755 bin/dpkg-checkbuilddeps
	for flavour in beside replace; do
		PATH=$PWD/bin:$PATH run -1 src/build-aux/deb $flavour
		[[ $output = *"packages to build with are missing: apt-get install "*libbsd-dev* ]]
	done
}

@test "a fresh install makes the host keys that sshd names, in upper or lower case" {
	local word
	mkdir bin
	ln -s "$(bin ssh-keygen)" bin/hayate-ssh-keygen
	sed "s|^sshd=.*|sshd=$PWD/sshd|; s|/etc/hayate/|$PWD/etc/|" \
	    "$TOP/contrib/deb/beside/hayate-server.postinst" |
	    sed '/^# is_taken/,$d' >make
	echo make_keys >>make
	for word in hostkey HostKey; do
		rm -rf etc
		mkdir etc
		printf '%s\n' "#!/bin/sh" "cat <<END" "$word $PWD/etc/ssh_host_ecdsa_key" \
		    "$word $PWD/etc/ssh_host_ed25519_key" "$word $PWD/mine" END >sshd
		chmod +x sshd
		PATH=$PWD/bin:$PATH run -0 sh make
		[ "$(cd etc && echo *key)" = "ssh_host_ecdsa_key ssh_host_ed25519_key" ]
	done
	# and as the sshd that was built prints it
	rm -rf etc/*
	echo "HostKey $PWD/etc/ssh_host_ed25519_key" >config
	printf '%s\n' "#!/bin/sh" "exec $(bin sshd) -G -f $PWD/config" >sshd
	PATH=$PWD/bin:$PATH run -0 sh make
	grep -q '^ssh-ed25519 ' etc/ssh_host_ed25519_key.pub
	[ ! -e mine ]
	# and all that it names by itself: of the types that ssh-keygen makes by itself
	rm -rf etc/*
	printf '%s\n' "#!/bin/sh" "$(bin sshd) -G -f /dev/null | sed 's,/[^ ]*/ssh_host,$PWD/etc/ssh_host,'" >sshd
	PATH=$PWD/bin:$PATH run -0 sh make
	[ "$(find etc -name '*_key' | wc -l)" = "$("$(bin sshd)" -G -f /dev/null | grep -ci '^hostkey ')" ]
}
