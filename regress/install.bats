#!/usr/bin/env bats
# Needs: hayate
# Which files "make install" installs, which paths they name, and what "make
# uninstall" leaves. Everything goes below a DESTDIR.

load helper

teardown() {
	foreign_down
	sshd_down
}

setup_file() {
	export DEST=$BATS_FILE_TMPDIR/dest
	make -s -C "$TOP" install DESTDIR="$DEST"
	eval "$(print_directories)"
}

# print_directories: prints where this build was configured to go, as shell variables to
# export
print_directories() {
	local v
	printf 'include %s/hayate/Makefile\nshow:\n' "$BUILD" >"$BATS_FILE_TMPDIR/mk"
	for v in prefix bindir sbindir libexecdir sysconfdir mandir PRIVSEP_PATH; do
		printf '\t@echo export %s=$(%s)\n' $v $v >>"$BATS_FILE_TMPDIR/mk"
	done
	make -s --no-print-directory -C "$BUILD/hayate" -f "$BATS_FILE_TMPDIR/mk" show 2>/dev/null
}

# list_texts: prints every page and every sample file that was installed
list_texts() { find "$DEST$mandir" "$DEST$sysconfdir" -type f ! -name moduli; }

# list_named_paths: prints every absolute path in them, with the file that names it
list_named_paths() {
	list_texts | while read -r f; do
		grep -oE '(^|[^A-Za-z0-9_.~%*@:/<>])/[A-Za-z][A-Za-z0-9_.+-]*(/[A-Za-z0-9_.+%*-]+)+' "$f" |
		    sed -e 's/^[^/]//' -e 's/\.$//' -e "s|\$| ${f##*/}|"
	done | sort -u
}

# Paths that a page may name although we do not install them: those of the
# system, those created later, and examples.
list_other_paths() {
	cat <<-END
	/dev/*
	/etc/hayate/*
	/etc/hosts.*
	/etc/hpnssh/*
	/etc/motd
	/etc/netstart
	/etc/nologin
	/etc/passwd
	/etc/profile
	/etc/rc
	/path/*
	/proc/sys/net/ipv4/*
	/root/.ssh/*
	/run/motd.d/*
	/tmp/blah*
	/usr/bin
	/usr/bin/nc
	/usr/bin/xauth
	/usr/lib\*/\*
	/usr/local/lib\*/\*
	/var/lib/hayate/*
	/var/run/sshd.pid
	$sysconfdir
	$sysconfdir/*.d/\*.conf
	$sysconfdir/shosts.equiv
	$sysconfdir/ssh_host_*_key*
	$sysconfdir/ssh_known_hosts
	$sysconfdir/ssh_known_hosts2
	$sysconfdir/sshrc
	END
}

# is_installed PATH: succeeds if it was installed or belongs to the system
is_installed() {
	local pattern
	[ ! -e "$DEST$1" ] || return 0
	while read -r pattern; do
		# shellcheck disable=SC2254
		case $1 in $pattern) return 0 ;; esac
	done < <(list_other_paths)
	return 1
}

@test "every path named in pages and sample files is installed or the system's" {
	list_named_paths >"$BATS_TEST_TMPDIR/named"
	[ "$(grep -c . "$BATS_TEST_TMPDIR/named")" -gt 50 ]
	while read -r path file; do
		is_installed "$path" || echo "$file names $path"
	done <"$BATS_TEST_TMPDIR/named" >"$BATS_TEST_TMPDIR/strange"
	diff /dev/null "$BATS_TEST_TMPDIR/strange"
	grep -x "Subsystem[	 ]*sftp[	 ]*$libexecdir/sftp-server" "$DEST$sysconfdir/sshd_config"
}

@test "manual pages name a renamed sshd as it is installed" {
	cd "$TOP"
	build-aux/install install "$BATS_TEST_TMPDIR/renamed" 's,^,hy-,'
	[ -x "$BATS_TEST_TMPDIR/renamed$sbindir/hy-sshd" ]
	grep -F "$sbindir/hy-sshd" "$BATS_TEST_TMPDIR/renamed$mandir/man8/hy-sshd.8"
	run ! grep -F "$sbindir/sshd" "$BATS_TEST_TMPDIR/renamed$mandir/man8/hy-sshd.8"
}

# is_stripped FILE: succeeds if it has no symbol table for the debugger
is_stripped() { ! readelf -S "$1" | grep -qE '\.symtab|\.debug_info'; }

@test "programs are installed stripped" {
	for f in "$DEST$bindir"/* "$DEST$sbindir"/* "$DEST$libexecdir"/*; do
		is_stripped "$f"
	done
	run ! is_stripped "$BUILD/hayate/ssh"
}

@test "install-strip strips what --disable-strip would leave" {
	cd "$TOP"
	sed 's/^STRIP_OPT=.*/STRIP_OPT=/' "$BUILD/hayate/Makefile" >"$BATS_TEST_TMPDIR/Makefile"
	copy_build hayate/Makefile
	mv "$BATS_TEST_TMPDIR/Makefile" build/hayate/Makefile
	"$TOP/build-aux/install" install "$PWD/whole" ''
	run ! is_stripped "whole$bindir/ssh"
	STRIP_OPT=-s "$TOP/build-aux/install" install "$PWD/less" ''
	is_stripped "less$bindir/ssh"
	grep -A1 '^install-strip:' "$TOP/Makefile" | grep -F 'STRIP_OPT=-s $(AUX)/install install'
}

@test "uninstall leaves configuration and removes no foreign file" {
	cp -a "$DEST" "$BATS_TEST_TMPDIR/gone"
	touch "$BATS_TEST_TMPDIR/gone$bindir/somebody-elses"
	before=$(cd "$DEST" && find . -type f | wc -l)
	[ "$before" -gt 20 ]
	make -s -C "$TOP" uninstall DESTDIR="$BATS_TEST_TMPDIR/gone"
	cd "$BATS_TEST_TMPDIR/gone"
	diff <(find . ! -type d | sort) - <<-END
	.$bindir/somebody-elses
	.$sysconfdir/moduli
	.$sysconfdir/ssh_config
	.$sysconfdir/sshd_config
	END
	# A second uninstall does not fail.
	make -s -C "$TOP" uninstall DESTDIR="$BATS_TEST_TMPDIR/gone"
	[ -f ".$bindir/somebody-elses" ]
}

@test "a client-only build compiles and installs no part of the server" {
	copy_build
	sed -i "s/^SSHD=.*/SSHD='no'/" build/options
	"$TOP/build-aux/install" install "$PWD/client" ''
	cd client
	for f in ssh scp sftp ssh-keygen ssh-agent ssh-add ssh-keyscan; do
		[ -x ".$bindir/$f" ]
		[ -f ".$mandir/man1/$f.1" ]
	done
	[ -f ".$sysconfdir/ssh_config" ]
	[ -u ".$libexecdir/ssh-keysign" ]
	run ! grep -E 'sshd|sftp-server|moduli$|authorized_keys|host.*key|empty' <(find .)
	# No program of the server is compiled.
	make -n -B -C "$BUILD/hayate" client >"$BATS_TEST_TMPDIR/client.make" 2>/dev/null
	grep -E -- '-o ssh ' "$BATS_TEST_TMPDIR/client.make"
	run ! grep -E -- '-o (sshd|sshd-session|sshd-auth|sftp-server) ' "$BATS_TEST_TMPDIR/client.make"
}

@test "a subsystem whose program is missing is named in the server's log" {
	sshd_up hayate "Subsystem sftp /nonexistent/sftp-server -l INFO" \
	    "Subsystem shell true"
	echo x >"$BATS_TEST_TMPDIR/x"
	run ! copy "$BATS_TEST_TMPDIR/x" hayate:"$BATS_TEST_TMPDIR/y"
	poll 5 grep -q 'sftp for user .*cannot run /nonexistent/sftp-server: No such file' "$(sshd_log hayate)"
	[ "$(grep -c 'cannot run' "$(sshd_log hayate)")" = 1 ]
	# A word for the shell is the shell's business.
	client -s hayate shell
	[ "$(grep -c 'cannot run' "$(sshd_log hayate)")" = 1 ]
	sshd_down
	# The server is not started.
	sshd_up hayate "Subsystem sftp /nonexistent/sftp-server" \
	    "ForceCommand internal-sftp"
	copy "$BATS_TEST_TMPDIR/x" hayate:"$BATS_TEST_TMPDIR/y"
	run ! grep 'cannot run' "$(sshd_log hayate)"
	sshd_down
}

# make_launchers: installs the programs of this build, each started by the loader, as
# build-aux/client-run does it in the client's tarball
make_launchers() {
	local program loader
	loader=$(readelf -l "$(bin ssh)" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
	mkdir -p away/bin away/lib away/libexec
	for program in ssh scp; do
		cp "$(bin $program)" away/libexec/
		sed "s,@LOADER@,$loader," "$TOP/build-aux/client-run" >away/bin/$program
		chmod 755 away/bin/$program
	done
}

@test "a client started through the dynamic loader can start further connections and re-execute itself" {
	need readelf binutils
	need_paramiko
	make_keys
	use_own_cache
	make_launchers
	check_self_start "$PWD/away/bin"
}
