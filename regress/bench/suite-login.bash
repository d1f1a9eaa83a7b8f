# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Programs that call ssh, over 100 ms: most of their time is the login. Sourced by run.
#
#   login_callers    seconds of "git clone" of a small repository and of rsync
#                    with nothing to do, where they are installed
#
# Before the runs of a build it has logged in twice, so Hayate remembers the server.

CELLS+=' login_callers'
about_login_callers='git clone and rsync of little over 100 ms'

# login_script: a program that calls the ssh that use() chose
login_script() {
	printf '#!/bin/sh\nexec %s "$@"\n' "${SSH[*]@Q}" >"$LAB/login-ssh" &&
	    chmod +x "$LAB/login-ssh"
}

login_repository() {
	local i
	git init -q "$DATA/login" && git init -q --bare "$DATA/login.git" || return
	for i in 1 2 3 4 5; do
		seq "$i" 2000 >"$DATA/login/$i"
		git -C "$DATA/login" add "$i"
		git -C "$DATA/login" -c user.name=a -c user.email=a@b commit -qm "$i" ||
		    return
	done
	git -C "$DATA/login" push -q ../login.git HEAD 2>>"$LAB/err"
}

v_login_git() {		# CLIENT
	use "$1"
	login_script
	rm -rf "$DATA/clone"
	metered -f "$(pid_of "$1")" env GIT_SSH="$LAB/login-ssh" \
	    git clone -q "ssh://$1$DATA/login.git" "$DATA/clone"
}

v_login_rsync() {	# CLIENT
	use "$1"
	login_script
	metered -f "$(pid_of "$1")" rsync -a -e "$LAB/login-ssh" \
	    --exclude=.git "$DATA/login/" "$1:$DATA/synced/"
}

cell_login_callers() {
	local p what
	at_path 100 1gbit || return
	command -v git >/dev/null && login_repository || {
		warn "$CELL: skipped, no git"
		return 1
	}
	for p in $BUILDS; do
		for what in git rsync; do
			command -v $what >/dev/null || continue
			"v_login_$what" "$p" >/dev/null
			job "$p" "$what" get 0 "$(target_for "$p" 'seconds<=0.7*stock')" - \
			    "v_login_$what" "$p"
		done
	done
	sitting "$RUNS"
}
