#!/usr/bin/env bats
# The source package for rpmbuild, and the packages that Debian's rpm builds from
# it. "make check-packages" runs this.

load ../helper

setup_file() {
	must rpmbuild rpm
	make -s -C "$TOP" srpm
	SRPM=$(ls "$BUILD"/rpm/*.src.rpm)
	export SRPM
}

@test "the source package has the spec and the tarball, and names Debian's fixes" {
	run -0 rpm -qlp "$SRPM"
	[ "${#lines[@]}" = 2 ]
	[[ $output = *hayate-*.tar.gz*hayate.spec* ]]
	[[ ${SRPM##*/} = hayate-*-7+deb13u*.src.rpm || ${SRPM##*/} = *-0unpatched.src.rpm ]]
}

@test "the spec is accepted as on RHEL 9, RHEL 10, Fedora and elsewhere" {
	local system
	for system in 'rhel 9' 'rhel 10' 'fedora 42'; do
		rpmspec --define "$system" -P "$BUILD/rpm/hayate.spec" >"$BATS_TEST_TMPDIR/spec"
		grep -F /etc/crypto-policies/back-ends/opensshserver.config "$BATS_TEST_TMPDIR/spec"
		grep -F 'semanage fcontext -a -e /etc/ssh /etc/hayate' "$BATS_TEST_TMPDIR/spec"
	done
	rpmspec -P "$BUILD/rpm/hayate.spec" >"$BATS_TEST_TMPDIR/spec"
	run ! grep -E 'crypto-policies|semanage' "$BATS_TEST_TMPDIR/spec"
}

@test "rpmlint finds no error in the spec" {
	need rpmlint
	run rpmlint "$BUILD/rpm/hayate.spec"
	[[ $output = *" 0 errors"* ]]
}

# Long: everything is compiled once more. Debian's rpm does not know what Debian's
# packages provide, so the dependencies are not checked.
@test "rpmbuild builds the packages, with every file that is installed" {
	rpmbuild --rebuild --nodeps --define "_topdir $BATS_TEST_TMPDIR/top" \
	    --define "_rpmdir $BATS_TEST_TMPDIR/rpms" --define 'debug_package %{nil}' \
	    "$SRPM" >"$BATS_TEST_TMPDIR/log" 2>&1 || {
		tail -n 30 "$BATS_TEST_TMPDIR/log"
		false
	}
	client=$(ls "$BATS_TEST_TMPDIR"/rpms/*/hayate-client-*.rpm)
	server=$(ls "$BATS_TEST_TMPDIR"/rpms/*/hayate-server-*.rpm)
	rpm -qlp "$client" | grep -x /usr/bin/hayate-ssh
	rpm -qlp "$server" | grep -x /usr/lib/systemd/system/hayate-sshd.service
	rpm -qp --requires "$server" | grep "hayate-client.* = 0"
	# what is packed runs
	mkdir "$BATS_TEST_TMPDIR/root"
	cd "$BATS_TEST_TMPDIR/root"
	rpm2cpio "$client" | cpio -id --quiet
	[[ $(./usr/bin/hayate-ssh -V 2>&1) = *Hayate_* ]]
}
