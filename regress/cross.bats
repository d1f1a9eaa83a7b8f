#!/usr/bin/env bats
# Needs: hayate stock peers
# Trees and files between two servers (scp -3), copied with many files in flight
# (transfer/copy/cross-hook.c). What a user gets is compared with what stock's client does.

load helper
load copies

# The ways to copy a, or the files of it, to b
TREE='scp -q -3 -S ../near -r g:$PWD/a h:b'
TREE_P=${TREE/-r/-rp}
ANY='scp -q -3 -S ../near "g:$PWD/a/*" h:b'
EACH='scp -q -3 -S ../near $(printf "g:$PWD/%q " a/[0-9]*) h:b'

# set_servers SERVER1 SERVER2: makes "near", which starts these for the source g and the
# target h
set_servers() {
	printf '#!/bin/sh\ncase " $* " in\n*" g "*) exec %s ;;\nesac\nexec %s\n' \
	    "$1" "$2" >near
	chmod +x near
}

# use_peers OPTIONS1 OPTIONS2: makes sftp-peers the servers, with the logs log.g and log.h
use_peers() {
	set_servers "$REGRESS/peers/sftp-peer $1 log=$T/log.g" \
	    "$REGRESS/peers/sftp-peer $2 log=$T/log.h"
}

# read_log_value HOST KEY: prints a value that the host's sftp-peer logged at its end
read_log_value() {
	poll 5 test -s "log.$1"
	run -0 cat "log.$1"
	get_value 0 "$2"
}

# run_cross ARG...: runs scp -3 from g to h
run_cross() {
	rm -f log.g log.h
	copy_near -3 "$@"
}

# print_sources DIR FILE...: prints how scp calls them on g
print_sources() { printf "g:$T/$1/%s " "${@:2}"; }

LIMITS=limits=261120,261120,1019

@test "a tree arrives as stock copies it" {
	need_root
	mkdir base
	make_tree base/a
	check_same "umask 027; $TREE"
	cmp run/a/deep/large run/b/deep/large
	[ "$(stat -c %a run/b/many/9)" = 640 ]
}

@test "-p keeps times and modes, as stock keeps them" {
	export TIMES=y
	need_root
	mkdir base
	make_tree base/a
	touch -d '2001-02-03 04:05:06' base base/a base/a/*
	check_same "$TREE_P; touch -d '2002-02-02' ."
	[ "$(stat -c %Y run/b/many/9)" = "$(stat -c %Y run/a/many/9)" ]
	[ "$(stat -c %Y%a run/b/deep/er)" = "$(stat -c %Y%a run/a/deep/er)" ]
	check_same "mkdir b; ${ANY/-3/-3p}; touch -d '2002-02-02' . b"
}

# print_copy_command SOURCE TARGET [OPTION]: prints the command that copies a file to a
# name
print_copy_command() { echo "scp -q -3 ${3:-} -S ../near g:\$PWD/$1 h:\$PWD/$2"; }

@test "one file under another name is copied as stock copies it" {
	need_root
	mkdir base
	head -c 3000000 /dev/urandom >base/a
	: >base/empty
	mkdir base/dir
	head -c 5000000 /dev/urandom >base/longer
	echo closed >base/closed
	chmod 600 base/a
	chmod 0 base/closed
	touch -d '2001-02-03 04:05:06' base/a
	check_same "umask 027; $(print_copy_command a b)"
	cmp base/a run/b
	check_same "$(print_copy_command a longer)"
	cmp base/a run/longer
	check_same "$(print_copy_command empty longer)"
	check_same "$(print_copy_command none b)"
	check_same "$(print_copy_command dir b)"
	check_same "$(print_copy_command closed b)"
	check_same "$(print_copy_command a closed)"
	check_same "$(print_copy_command a none/b)"
	export TIMES=y
	check_same "$(print_copy_command a b -p); touch -d '2002-02-02' ."
	[ "$(stat -c %Y run/b)" = "$(stat -c %Y run/a)" ]
}

@test "a tree over another tree leaves what stock leaves" {
	need_root
	mkdir base
	make_tree base/a
	mkdir -p base/b/a/many base/b/a/deep/zero
	head -c 100000 /dev/urandom >base/b/a/many/1
	echo in the way >base/b/a/empty
	check_same "$TREE"
	[ "$(stat -c %s run/b/a/many/1)" = 37 ]
	grep -q 'exists but is not a directory' err.hayate
	grep -q 'dest open' err.hayate
}

@test "files that cannot be read or written are reported in stock's order" {
	need_root
	mkdir base
	make_tree base/a
	chmod 0 base/a/many/3 base/a/many/33 base/a/many/133 base/a/empty
	mkdir -p base/b/a/deep
	chmod 555 base/b/a/deep
	check_same "$TREE"
	grep -q 'origin open.*Permission denied' err.hayate
	grep -q 'dest open.*Permission denied' err.hayate
	grep -q 'origin readdir' err.hayate
	check_same "mkdir b; chmod 500 b; $TREE"
	check_same "echo in the way >b; $TREE"
	check_same "${TREE/h:b/h:none\/b}"
}

@test "links and other files are followed, left out and reported as in stock" {
	need_root
	mkdir base
	make_tree base/a
	add_links base/a
	check_same "$TREE"
	grep -q dangling err.hayate
	grep -q 'origin .*not a regular file' err.hayate
	check_same "mkdir b; $ANY"
}

@test "no directory below the 64th is entered" {
	local i deep=base/a
	need_root
	for i in $(seq 70); do deep+=/d; done
	mkdir -p "$deep"
	echo x >"$deep/x"
	check_same "$TREE"
	grep -q 'Maximum directory depth exceeded' err.hayate
}

@test "on a full disk each file is complete or empty, as in stock" {
	local i f
	export TEXTS=y		# which of them fit is chance
	need_root
	mkdir -p base/a
	for i in $(seq 30); do head -c 300000 /dev/urandom >"base/a/$i"; done
	run_on_full_disk "${TREE/h:b/h:full}"
	grep -q 'write dest' err.hayate
	for f in run/b/*; do
		[ ! -s "$f" ] || cmp "$f" "run/a/${f##*/}"
	done
	head -c 9000000 /dev/urandom >base/a/large
	run_on_full_disk "mkdir full/a; $(print_copy_command a/large full/a/large)"
	grep -q 'write dest' err.hayate
}

# make_listed_files: makes a directory of files for ANY and EACH
make_listed_files() {
	mkdir base
	make_tree base/a
	mv base/a/many base/m
	cp base/a/deep/large base/a/deep/zero base/m
	rm -r base/a
	mv base/m base/a
}

@test "files of arguments and patterns arrive as stock copies them" {
	need_root
	make_listed_files
	check_same "mkdir b; umask 027; $ANY"
	cmp run/a/large run/b/large
	check_same "mkdir b; echo old >b/3; seq 9999 >b/4; chmod 600 b/4; $EACH"
	[ "$(stat -c %s run/b/4)" = 148 ]
}

@test "a file that is missing, or cannot be read or written, changes nothing else" {
	local w
	need_root
	make_listed_files
	chmod 0 base/a/3 base/a/33
	mkdir base/a/dir base/a/45dir
	ln -s 5 base/a/55link
	ln -s nowhere base/a/56dangling
	for w in "$ANY" "$EACH"; do
		check_same "mkdir b; $w"
		check_same "mkdir b b/11; echo ours >b/22; chmod 0 b/22; ln -s none/x b/44; $w"
		check_same "mkdir b; chmod 500 b; $w"
		check_same "$w"
		check_same "echo in the way >b; $w"
		check_same "ln -s nowhere b; $w"
	done
	w='scp -q -3 -S ../near g:$PWD/a/1 g:$PWD/a/none g:$PWD/a/4'
	check_same "mkdir b; $w h:b"
	grep -q 'a/none' err.hayate
	[ -e run/b/4 ]
	check_same "mkdir b; $w g:\$PWD/a/4 g:\$PWD/a/dir g:\$PWD/a/5 h:b"
	check_same "mkdir b; ${w/-3/-3r} g:\$PWD/a/dir g:\$PWD/a/5 h:b"
	# several into one name, the last of which stays
	check_same "scp -q -3 -S ../near \"g:\$PWD/a/[12]\" h:b"
	check_same "scp -q -3 -S ../near \"g:\$PWD/a/[12]\" h:a/4"
}

### Other servers

@test "200 files take a few round trips at either server" {
	local h
	make_small_tree 200
	use_peers "$LIMITS gather=0.1" "$LIMITS gather=0.1"
	run_cross -r "g:$T/a" "h:$T/b"
	diff -r a b
	for h in g h; do
		[ "$(read_log_value $h rounds)" -le 25 ]
		[ "$(read_log_value $h open)" -ge 100 ]
	done
}

@test "200 files of arguments take a few round trips and one login of each server" {
	local h
	make_small_tree 200
	mkdir b
	use_peers "$LIMITS gather=0.1" "$LIMITS gather=0.1"
	# shellcheck disable=SC2046 # words
	run_cross $(print_sources a $(seq 200)) "h:$T/b"
	rm -r a/sub
	diff -r a b
	for h in g h; do
		[ "$(read_log_value $h rounds)" -le 12 ]
		[ "$(read_log_value $h open)" -ge 100 ]
	done
}

@test "servers that refuse a second open file, at either end, get one file after the other" {
	local n
	make_small_tree 40
	for n in 1 2; do
		rm -rf b
		use_peers "strict=$n" gather=0
		run_cross -r "g:$T/a" "h:$T/b"
		diff -r a b
		[ "$(read_log_value g open)" = $n ]
		rm -rf b
		use_peers "$LIMITS" "strict=$n"
		run_cross -r "g:$T/a" "h:$T/b"
		diff -r a b
		[ "$(read_log_value h open)" = $n ]
	done
}

@test "no more files are open than the lower limit of both servers allows" {
	local g h
	make_small_tree 100
	for g in 40 1019; do
		h=$((1059 - g))
		rm -rf b
		use_peers "limits=261120,261120,$g gather=0.05" \
		    "limits=261120,261120,$h gather=0.05"
		run_cross -r "g:$T/a" "h:$T/b"
		diff -r a b
		[ "$(read_log_value g open)" -le 24 ]
		[ "$(read_log_value h open)" -le 24 ]
	done
}

@test "READs and WRITEs have the smaller of both servers' request sizes" {
	local n
	mkdir a
	head -c 1000001 /dev/urandom >a/x
	for n in "10000,20000 30000,40000" "50000,50000 70000,10000"; do
		rm -rf b
		use_peers "limits=${n% *},1019" "limits=${n#* },1019"
		run_cross -r "g:$T/a" "h:$T/b"
		diff -r a b
		[[ $(read_log_value g sizes) = 10000,* ]]
		[[ $(read_log_value h sizes) = 10000,* ]]
	done
}

@test "short READs and wrong sizes give complete files" {
	local o
	make_small_tree 30
	head -c 700000 /dev/urandom >a/large
	for o in short=1000 more=5000 more=1000000 "more=300 short=700 backwards=1"; do
		rm -rf b
		use_peers "$LIMITS gather=0.02 $o" "$LIMITS gather=0.02 backwards=1"
		run_cross -r "g:$T/a" "h:$T/b"
		diff -r a b
	done
}

@test "a file whose READ or WRITE fails is truncated to zero, and the others arrive" {
	local i
	mkdir a
	for i in $(seq 30); do head -c 5000 /dev/urandom >"a/$i"; done
	use_peers "$LIMITS unread=7" "$LIMITS"
	run -1 run_cross -r "g:$T/a" "h:$T/b"
	[[ $output = *'read origin "'*'": Failure'*'crossload "'*' failed'* ]]
	[ "$(find b -type f -size +4k | wc -l)" = 29 ]
	[ "$(find b -type f -empty | wc -l)" = 1 ]
	rm -rf b
	use_peers "$LIMITS" "$LIMITS fail=7"
	run -1 run_cross -r "g:$T/a" "h:$T/b"
	[[ $output = *'write dest "'*'": Failure'*'crossload "'*' failed'* ]]
	[ "$(find b -type f -size +4k | wc -l)" = 29 ]
	[ "$(find b -type f -empty | wc -l)" = 1 ]
}

@test "a copy of a file or tree onto itself is an error, and changes nothing" {
	local to
	make_small_tree 20
	head -c 3000000 /dev/urandom >a/large
	touch -d '2001-02-03 04:05:06' a/* a/sub/*
	cp -a a old
	for to in "$(bin sftp-server)" "$(bin sftp-server stock)" \
	    "$REGRESS/peers/sftp-peer" "$REGRESS/peers/sftp-peer $LIMITS"; do
		set_servers "$to" "$to"
		run -1 run_cross "g:$T/a/large" "h:$T/a/large"
		[[ $output = *'changed while it was copied, or '*' is the same file'* ]]
		run -1 run_cross -r "g:$T/a" "h:$T"
		[ "$(grep -c 'is the same file' <<<"$output")" -ge 20 ]
		touch -d '2001-02-03 04:05:06' a/* a/sub/*
		run -1 run_cross -p "g:$T/a/*[0-9]" "h:$T/a"
		diff -r old a
		touch -d '2001-02-03 04:05:06' a/* a/sub/*
	done
	# another file that looks the same is copied
	head -c 3000000 /dev/urandom >like
	touch -r a/large like
	run_cross -p "g:$T/a/large" "h:$T/like"
	cmp a/large like
}

@test "a target that looks like the source stays complete if a READ fails" {
	head -c 3000000 /dev/urandom >a
	touch -d '2001-02-03 04:05:06' a
	cp -p a old
	use_peers "$LIMITS unread=7" "$LIMITS"
	run -1 run_cross "g:$T/a" "h:$T/a"
	cmp old a
}

@test "a CLOSE that fails at the target is an error" {
	mkdir a
	head -c 5000 /dev/urandom >a/1
	use_peers "$LIMITS" "$LIMITS unclosed=1"
	run -1 run_cross -r "g:$T/a" "h:$T/b"
	[[ $output = *'close remote: Failure'* ]]
	run -1 run_cross "g:$T/a/1" "h:$T/c"
	[[ $output = *'close remote: Failure'* ]]
}

@test "names from a source cannot escape the target" {
	mkdir a
	echo good | tee good a/in >a/same
	use_peers names=1 "$LIMITS"
	run -0 run_cross -r "g:$T/a" "h:$T/b"
	[ "$(find b -mindepth 1 | sort | xargs)" = "b/in b/same" ]
	[ ! -e evil ]
	[ ! -e /tmp/evil ]
	[ "$(grep -c 'suspect path' <<<"$output")" = 5 ]
}

@test "a pattern that begins with a dot cannot escape the target" {
	mkdir -p top/a b/c
	echo 1 >top/a/.f
	echo 2 | tee top/a/plain >top/above
	use_peers "$LIMITS parent=1" "$LIMITS"
	run_cross -r "g:$T/top/a/.*" "h:$T/b/c"
	[ "$(cd b && find . -type f)" = ./c/.f ]
}

@test "a server that breaks the protocol ends the copy with a clear message" {
	local bad said
	make_small_tree 3
	while read -r bad said; do
		rm -rf b
		use_peers "$LIMITS bad=$bad" "$LIMITS"
		run -255 run_cross -r "g:$T/a" "h:$T/b"
		[[ $output = *$said* ]]
		case $bad in id | long | empty) continue ;; esac
		rm -rf b
		use_peers "$LIMITS" "$LIMITS bad=$bad"
		run -255 run_cross -r "g:$T/a" "h:$T/b"
		[[ $output = *$said* ]]
	done <<-END
	twice Unexpected reply
	id Unexpected reply
	long Received more data than asked for
	empty Server sent 0 bytes
	handle Server sent a handle of 301 bytes
	END
}

@test "with -X and -l one file is copied after the other" {
	local o
	make_small_tree 20
	for o in -Xnrequests=7 -Xbuffer=32000 -l100000; do
		rm -rf b
		use_peers "$LIMITS" "$LIMITS"
		run_cross $o -r "g:$T/a" "h:$T/b"
		diff -r a b
		[ "$(read_log_value g open)" = 1 ]
		[ "$(read_log_value h open)" = 1 ]
	done
}

@test "^C ends a copy at once, with stock's status" {
	local client
	make_small_tree 30
	head -c 20000000 /dev/urandom >a/large
	for client in stock hayate; do
		rm -rf b
		set_servers "$REGRESS/peers/sftp-peer $LIMITS interrupt=3000000,10 rate=20000000" \
		    "$(bin sftp-server)"
		run timeout 60 "$(bin scp $client)" -q -3 -S ./near -r "g:$T/a" \
		    "h:$T/b" 3>&-
		echo "$status" >"status.$client"
		[ "$status" != 0 ]
		[ "$status" != 124 ]
		run ! diff -r a b
	done
	diff status.stock status.hayate
}

@test "a lost connection leaves an old tree at the target unchanged, except the file in progress" {
	local i n way
	mkdir a old
	for i in $(seq 250); do
		head -c $((i % 50 * 20)) /dev/urandom >"a/$i"
		head -c 500 /dev/urandom >"old/$i"
	done
	for way in "-r g:$T/a/. h:$T/b" "g:$T/a/* h:$T/b"; do
		for n in 290 400 640; do
			rm -rf b
			cp -a old b
			use_peers "$LIMITS" "$LIMITS gather=0.02 die=$n"
			# shellcheck disable=SC2086 # words
			run -255 run_cross $way
			echo "$way $n: $(count_torn a old b) of $(count_torn old old b)"
			[ "$(count_torn a old b)" -le 1 ]
		done
		[ "$(count_torn old old b)" -ge 40 ]
	done
}

@test "a tree overwrites an old one, also if the server cannot truncate an open file" {
	local i odd
	mkdir a old
	for i in $(seq 100); do
		head -c $((i * 30)) /dev/urandom >"a/$i"
		head -c $((i % 7 * 700)) /dev/urandom >"old/$i"
	done
	: >a/1
	head -c 200000 /dev/urandom | tee old/1 old/2 >/dev/null
	head -c 700000 /dev/urandom >a/3
	: >old/7
	for odd in more=0 nosize=1 device=7 "gather=0.02 backwards=1" limits=0,0,0; do
		rm -rf b
		cp -a old b
		use_peers "$LIMITS" "$LIMITS $odd"
		run_cross -r "g:$T/a/." "h:$T/b"
		diff -r a b
	done
}

@test "Hayate no at either end copies with upstream's functions" {
	local o
	sshd_up hayate
	make_small_tree 3
	mkdir l
	run -0 copy -3 -vv -r "hayate:$T/a" "hayate:$T/b"
	[[ $output != *crossload_dir_internal* ]]
	run -0 copy -3 -vv "hayate:$T/a/[0-9]" "hayate:$T/l"
	[[ $output != *"sftp_crossload: "* ]]
	run -0 copy -3 -vv -o Hayate=no -r "hayate:$T/a" "hayate:$T/b2"
	[[ $output = *crossload_dir_internal* ]]
	run -0 copy -3 -vv -o Hayate=no "hayate:$T/a/[0-9]" "hayate:$T/l"
	[[ $output = *"sftp_crossload: "* ]]
	diff -r a b
	diff -r a b2
	printf 'Host other\n\tPort %s\n\tHayate no\n' "$(sshd_port hayate)" |
	    cat - "$BATS_FILE_TMPDIR/ssh_config" >conf
	for o in "hayate:$T/a other:$T/b3" "other:$T/a hayate:$T/b4"; do
		# shellcheck disable=SC2086 # words
		run -0 copy -F conf -3 -vv -r $o
		[[ $output = *crossload_dir_internal* ]]
	done
	diff -r a b3
	diff -r a b4
}

@test "with Hayate no at the target, upstream's loop has as many requests as with stock" {
	local file
	sshd_up hayate
	printf 'Host other\n\tPort %s\n\tHayate no\n' "$(sshd_port hayate)" |
	    cat - "$BATS_FILE_TMPDIR/ssh_config" >conf
	mkdir b
	head -c 50000000 /dev/urandom >data
	for file in data 'dat?'; do
		run -0 copy -F conf -3 -vvv --report report "hayate:$T/$file" "other:$T/b"
		[[ $output = *"Request range 0 -> 261119 (0/1)"* ]]
		[[ $output = *"Received origin reply T:103 "*" R:64"* ]]
		cmp data b/data
		grep -q '"bytes":50000000,' report
		rm b/data
	done
}

@test "files of arguments share one connection to the source" {
	sshd_up hayate
	sshd_up hayate:second
	make_small_tree 20
	mkdir b
	# shellcheck disable=SC2046 # words
	copy -q -3 $(printf "hayate:$T/a/%s " $(seq 20)) "second:$T/b"
	[ "$(count_logins hayate)" = 1 ]
	[ "$(count_logins second)" = 1 ]
	rm -r a/sub
	diff -r a b
}

# check_foreign_server KIND: copies a tree to and from a server of another kind
check_foreign_server() {
	sshd_up hayate
	foreign_up "$1"
	make_small_tree 100
	mkdir -p b/a b2/a	# proftpd has no real path for what is absent
	printf 'Host foreign\n\tPort %s\n\tStrictHostKeyChecking no\n' \
	    "$FOREIGN_PORT" | sed '$a\	UserKnownHostsFile /dev/null' |
	    cat - "$BATS_FILE_TMPDIR/ssh_config" >conf
	copy -F conf -q -3 -rp "hayate:$T/a" "foreign:$T/b" || echo to >status
	diff -r a b/a
	copy -F conf -q -3 -rp "foreign:$T/a" "hayate:$T/b2" || echo from >>status
	diff -r a b2/a
}

@test "a tree is copied to proftpd's mod_sftp and back" {
	need_proftpd
	check_foreign_server proftpd
	[ ! -e status ]
}

@test "a tree is copied to asyncssh, which replies in any order, and back" {
	need_asyncssh
	check_foreign_server asyncssh	# without an exit status, for which scp fails
}
