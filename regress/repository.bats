#!/usr/bin/env bats
# Needs: repository
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# "make repository", with small packages of our names: apt and dnf install and upgrade
# from it over HTTP, each in a root directory of its own, as CLIENTS says, and refuse
# what is not signed or not what was signed.

load helper

setup_file() {
	local tool
	for tool in gpg:gnupg apt-ftparchive:apt-utils createrepo_c:createrepo-c rpmbuild:rpm xz:xz-utils; do
		must "${tool%:*}" "${tool#*:}"
	done
	cd "$BATS_FILE_TMPDIR" || return
	# The path of the agent's socket must be short.
	export GNUPGHOME
	GNUPGHOME=$(mktemp -d /tmp/hayate-gpg.XXXXXX)
	make_key site
	make_key other
	printf 'default-cache-ttl 600\n' >"$GNUPGHOME/gpg-agent.conf"
	export PORT=$((20000 + RANDOM % 12000)) SITE=$BATS_FILE_TMPDIR/site
	mkdir "$SITE"
	python3 -m http.server --bind 127.0.0.1 -d "$SITE" "$PORT" >http.log 2>&1 3>&- &
	echo $! >http.pid
	export REPOSITORY=$SITE/hayate REPOSITORY_URL=http://127.0.0.1:$PORT/hayate REPOSITORY_KEY=site@example.org
	make_debs 0.1
	make_rpms 0.1
	RPMS=$(ls rpms/*/*.rpm) make_repository >made
	poll 10 curl -sfo /dev/null "$REPOSITORY_URL/CLIENTS"
	cp -a "$SITE/hayate" first
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/http.pid")"
	gpgconf --kill gpg-agent
	rm -rf "$GNUPGHOME"
}

# Each test begins with the first version in the repository, and nothing installed.
setup() {
	cd "$BATS_FILE_TMPDIR" || return
	rm -rf "$SITE/hayate" build/deb rpms
	cp -a first "$SITE/hayate"
	AT=$BATS_TEST_TMPDIR/root
}

### Making it

make_key() {
	gpg --batch --quiet --passphrase '' --quick-generate-key "$1@example.org" rsa2048 sign never
}

# make_debs VERSION: makes build/deb with our four packages, which contain a file each
make_debs() {
	local name version file
	rm -rf build/deb
	mkdir -p build/deb
	for name in hayate-client hayate-server openssh-client openssh-server; do
		version=$1+10.0p1-7~debian12
		case $name in openssh*) version=1:10.0p1-7+hayate$1+debian12 ;; esac
		file=pkg/usr/share/$name
		rm -rf pkg
		mkdir -p pkg/DEBIAN pkg/usr/share
		echo "$1" >"$file"
		printf '%s: %s\n' Package $name Version "$version" Architecture amd64 \
		    Maintainer 'Nobody <nobody@example.org>' Description 'a test' >pkg/DEBIAN/control
		dpkg-deb --root-owner-group -b pkg "build/deb/${name}_${version#*:}_amd64.deb" >/dev/null
	done
}

# make_rpms VERSION: makes rpms/*/hayate-client-*.el9.*.rpm
make_rpms() {
	cat >spec <<-END
	Name: hayate-client
	Version: $1
	Release: 1.el9
	Summary: a test
	License: ISC
	%description
	A test.
	%install
	mkdir -p %{buildroot}/usr/share
	echo $1 >%{buildroot}/usr/share/hayate-client
	%files
	/usr/share/hayate-client
	END
	rpmbuild -bb --quiet --define "_topdir $PWD/top" --define "_rpmdir $PWD/rpms" spec >rpmbuild.log 2>&1
}

# make_repository: runs the script of "make repository" in a build directory
make_repository() {
	mkdir -p build
	printf 'VERSION=0.2\nTOP=%q\nBUILD=%q\n' "$TOP" "$PWD/build" >build/options
	"$TOP/build-aux/repository"
}

### A client with apt

# apt ARG...: runs apt-get in the root $AT, which it makes at first
apt() {
	if [ ! -d "$AT" ]; then
		mkdir -p "$AT"/var/{lib/{dpkg/{info,updates},apt/lists/partial},cache/apt/archives/partial,log/apt} \
		    "$AT"/etc/apt/{keyrings,sources.list.d,apt.conf.d,preferences.d,trusted.gpg.d}
		: >"$AT/var/lib/dpkg/status"
		curl -sfo "$AT/etc/apt/keyrings/hayate.asc" "$REPOSITORY_URL/hayate.asc"
		curl -sf "$REPOSITORY_URL/debian12.sources" | sed "s,/etc/apt/keyrings,$AT&," \
		    >"$AT/etc/apt/sources.list.d/hayate.sources"
	fi
	LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qy -o Dir="$AT" \
	    -o Dir::State::status="$AT/var/lib/dpkg/status" -o Dir::Etc::sourcelist=/dev/null \
	    -o Dir::Etc::sourceparts="$AT/etc/apt/sources.list.d" \
	    -o Dir::Bin::methods=/usr/lib/apt/methods -o Dir::Bin::dpkg=/usr/bin/dpkg \
	    -o APT::Architecture=amd64 -o APT::Architectures=amd64 \
	    -o APT::Sandbox::User=root -o DPkg::Options::=--root="$AT" -o DPkg::Options::=--force-script-chrootless \
	    -o APT::Update::Error-Mode=any "$@"
}
installed() { cat "$AT/usr/share/$1"; }

@test "apt installs from it over HTTP, fetches indexes by their hashes, and upgrades" {
	need_root
	apt update
	grep -E 'GET .*/by-hash/SHA256/[0-9a-f]{64} .* 200' http.log
	fails grep -E 'GET .*/Packages' http.log
	apt install hayate-client hayate-server
	[ "$(installed hayate-client) $(installed hayate-server)" = "0.1 0.1" ]
	make_debs 0.2
	make_repository
	apt update
	apt upgrade
	[ "$(installed hayate-client) $(installed hayate-server)" = "0.2 0.2" ]
	# The old version can still be had.
	apt install --allow-downgrades hayate-client=0.1+10.0p1-7~debian12
	[ "$(installed hayate-client)" = 0.1 ]
}

@test "packages that replace the system's are installed only with their component" {
	need_root
	apt update
	run -100 apt install openssh-client
	sed -i 's/^Components: .*/Components: replace/' "$AT/etc/apt/sources.list.d/hayate.sources"
	apt update
	apt install openssh-client
	[ "$(installed openssh-client)" = 0.1 ]
}

# change_byte FILE PLACE
change_byte() { printf x | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

# check_refused TEXT: checks that apt installs nothing and says TEXT
check_refused() {
	local out
	rm -rf "$AT"
	if out=$(apt update 2>&1 && apt install hayate-client 2>&1); then
		echo "$out"
		return 1
	fi
	[[ $out = *"$1"* ]] || { echo "$out"; return 1; }
	[ ! -e "$AT/usr/share/hayate-client" ]
}

@test "apt refuses a Release, an index, a package and a key that were changed" {
	need_root
	local dist=$SITE/hayate/dists/debian12 index
	# the Release, signed with another key, changed, or without a signature
	cp "$dist/InRelease" keep
	gpg --batch --yes -u other@example.org --clearsign -o "$dist/InRelease" "$dist/Release"
	check_refused NO_PUBKEY
	sed 's/^Label: Hayate/Label: hayate/' keep >"$dist/InRelease"
	check_refused BADSIG
	rm "$dist/InRelease" "$dist/Release.gpg"
	check_refused 'is not signed'
	cp keep "$dist/InRelease"
	# an index
	cp -a "$dist/beside" beside
	find "$dist/beside" -type f | while read -r index; do change_byte "$index" 100; done
	check_refused 'Hash Sum mismatch'
	rm -r "$dist/beside"
	mv beside "$dist/"
	# a package
	change_byte "$(ls "$SITE"/hayate/pool/debian12/beside/hayate-client_*)" 200
	check_refused 'Hash Sum mismatch'
}

@test "a client that read the old InRelease finds its index after the repository has changed" {
	local hash old=$SITE/hayate/dists/debian12/InRelease
	hash=$(sed -n 's,^ \([0-9a-f]\{64\}\) .* beside/binary-amd64/Packages.xz$,\1,p' "$old")
	make_debs 0.2
	make_repository
	fails grep -q "$hash" "$old"
	curl -sfo index "$REPOSITORY_URL/dists/debian12/beside/binary-amd64/by-hash/SHA256/$hash"
	[ "$(sha256sum <index)" = "$hash  -" ]
	# After a month it is removed, and the new one is not.
	find "$SITE/hayate/dists" -path '*by-hash*' -type f -exec touch -d '31 days ago' {} +
	make_repository
	run -22 curl -sf "$REPOSITORY_URL/dists/debian12/beside/binary-amd64/by-hash/SHA256/$hash"
	need_root
	apt update
}

### A client with dnf

# yum ARG...: runs dnf in the root $AT
yum() {
	if [ ! -d "$AT" ]; then
		mkdir -p "$AT/etc/yum.repos.d" "$AT/etc/pki/rpm-gpg" "$AT/log"
		curl -sfo "$AT/etc/pki/rpm-gpg/hayate.asc" "$REPOSITORY_URL/hayate.asc"
		curl -sf "$REPOSITORY_URL/el9.repo" | sed "s,/etc/pki,$AT&," >"$AT/etc/yum.repos.d/hayate.repo"
		printf '[main]\ngpgcheck=1\n' >"$AT/etc/dnf.conf"
	fi
	LC_ALL=C dnf -yq -c "$AT/etc/dnf.conf" --installroot="$AT" --releasever=9 --setopt=reposdir="$AT/etc/yum.repos.d" \
	    --setopt=cachedir="$AT/cache" --setopt=logdir="$AT/log" --setopt=persistdir="$AT/persist" \
	    --refresh "$@" 2>&1
}

@test "dnf installs from it over HTTP, and upgrades" {
	need_root
	need dnf
	yum install hayate-client
	[ "$(installed hayate-client)" = 0.1 ]
	make_rpms 0.2
	RPMS=$(ls rpms/*/*0.2*.rpm) make_repository
	yum upgrade
	[ "$(installed hayate-client)" = 0.2 ]
}

@test "dnf refuses metadata and a package that were changed" {
	need_root
	need dnf
	local rpm
	sed -i 's,</repomd>,<!-- --></repomd>,' "$SITE/hayate/el9/repodata/repomd.xml"
	run ! yum install hayate-client
	[[ $output = *"repomd.xml GPG signature verification error"* ]] || { echo "$output"; false; }
	rm -rf "$AT"
	rm "$SITE/hayate/el9/repodata/repomd.xml.asc"
	run ! yum install hayate-client
	[[ $output = *"GPG verification is enabled, but GPG signature is not available"* ]] || { echo "$output"; false; }
	rm -rf "$AT" "$SITE/hayate"
	cp -a first "$SITE/hayate"
	rpm=$(ls "$SITE"/hayate/el9/*.rpm)
	# metadata that names a package which another key has signed
	rpmsign --define '_gpg_name other@example.org' --define '__gpg /usr/bin/gpg' --resign "$rpm"
	createrepo_c -q "$SITE/hayate/el9"
	gpg --batch --yes -u site@example.org --armor --detach-sign "$SITE/hayate/el9/repodata/repomd.xml"
	run ! yum install hayate-client
	[[ $output = *"Public key for hayate-client-"*" is not installed"* ]] || { echo "$output"; false; }
	[ ! -e "$AT/usr/share/hayate-client" ]
}

@test "without a usable key, packages or tools nothing is made, and the error says why" {
	local tool
	make_debs 0.3
	REPOSITORY_KEY='' run -1 make_repository
	[ "$output" = "hayate: REPOSITORY_KEY is not set: name the key of gpg that signs the repository" ]
	REPOSITORY_KEY=nobody@example.org run -1 make_repository
	[ "$output" = 'hayate: gpg has no secret key "nobody@example.org" that is valid and can sign' ]
	REPOSITORY_KEY=example.org run -1 make_repository
	[ "$output" = 'hayate: gpg has several keys "example.org": give the fingerprint of one' ]
	for tool in apt-ftparchive:apt-utils createrepo_c:createrepo-c rpmsign:rpm gpg:gnupg; do
		mkdir "$BATS_TEST_TMPDIR/${tool#*:}"
		ln -s /usr/bin/* "$BATS_TEST_TMPDIR/${tool#*:}/"
		rm "$BATS_TEST_TMPDIR/${tool#*:}/${tool%:*}"
		RPMS=x PATH=$BATS_TEST_TMPDIR/${tool#*:} run -1 make_repository
		[[ $output = "hayate: ${tool%:*} not found: install the package ${tool#*:}"* ]] || { echo "$output"; false; }
	done
	diff -r first "$SITE/hayate"
	rm -r build/deb
	run -1 make_repository
	[ "$output" = "hayate: no packages: run make deb, or name some with RPMS" ]
	# A version whose contents differ is not replaced.
	make_debs 0.1
	echo other >>"$(ls build/deb/hayate-client*)"
	run -1 make_repository
	[[ $output = *"exists with other contents"* ]]
}

@test "CLIENTS names the key and its address, and every file that it names exists" {
	local file
	grep -F "$(gpg --with-colons -k site@example.org | awk -F: '$1 == "fpr" { print $10; exit }' |
	    sed 's/..../& /g; s/ $//')" "$SITE/hayate/CLIENTS"
	grep -oE "$REPOSITORY_URL/[^ ]*" "$SITE/hayate/CLIENTS" | sed 's/\$ID\$VERSION_ID/debian12/' >urls
	[ "$(wc -l <urls)" = 4 ]
	while read -r file; do curl -sfo /dev/null "$file"; done <urls
	[ "$(stat -c %a "$SITE/hayate/CLIENTS" "$SITE/hayate/dists/debian12/InRelease" | sort -u)" = 644 ]
}
