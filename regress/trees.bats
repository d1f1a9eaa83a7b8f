#!/usr/bin/env bats
# Needs: hayate stock peers
# Trees of files, copied with many files in flight (transfer/copy/transfer-hook.h). What a
# user gets is compared with what stock's client does.

load helper
load copies

# The ways to copy a to b. sftp prints what it enters.
PUT='scp -q -S ../near -r a h:b'
GET='scp -q -S ../near -r h:$PWD/a b'
SFTP_PUT='echo "put -r a b" | sftp -q -S ../near -b - h'
SFTP_GET='echo "get -r $PWD/a b" | sftp -q -S ../near -b - h'
PUT_P=${PUT/-r/-rp}
GET_P=${GET/-r/-rp}

@test "a tree arrives as stock copies it" {
	need_root
	mkdir base
	make_tree base/a
	check_same "umask 027; $PUT"
	[ -s run/b/deep/large ]
	check_same "umask 077; $GET"
	cmp run/a/deep/large run/b/deep/large
	check_same "$SFTP_PUT; $SFTP_GET"
}

@test "-p keeps times and modes, as stock keeps them" {
	export TIMES=y
	need_root
	mkdir base
	make_tree base/a
	touch -d '2001-02-03 04:05:06' base base/a base/a/*
	check_same "$PUT_P; touch -d '2002-02-02' ."
	[ "$(stat -c %Y run/b/many/9)" = "$(stat -c %Y run/a/many/9)" ]
	check_same "$GET_P; touch -d '2002-02-02' ."
	[ "$(stat -c %Y%a run/b/deep/er)" = "$(stat -c %Y%a run/a/deep/er)" ]
}

@test "a tree over another tree leaves what stock leaves" {
	need_root
	mkdir base
	make_tree base/a
	mkdir -p base/b/a/many base/b/a/deep/zero base/b/many base/b/deep/zero
	head -c 100000 /dev/urandom | tee base/b/a/many/1 >base/b/many/1
	echo in the way | tee base/b/a/empty >base/b/empty
	check_same "$PUT"
	[ "$(stat -c %s run/b/a/many/1)" = 37 ]
	check_same "$GET"
	[ "$(stat -c %s run/b/a/many/1)" = 37 ]
	grep -q 'is not a directory\|File exists\|Is a directory' err.hayate
	check_same "$SFTP_PUT; $SFTP_GET"
}

@test "files that cannot be read or written are reported in stock's order" {
	need_root
	mkdir base
	make_tree base/a
	chmod 0 base/a/many/3 base/a/many/33 base/a/many/133 base/a/empty
	mkdir -p base/b/a/deep base/b/deep
	chmod 555 base/b/a/deep base/b/deep
	check_same "$PUT"
	grep -q 'Permission denied' err.hayate
	check_same "$GET"
	grep -q 'Permission denied' err.hayate
	check_same "$SFTP_PUT; $SFTP_GET"
}

@test "links and other files are followed, left out and reported as in stock" {
	need_root
	mkdir base
	make_tree base/a
	add_links base/a
	check_same "$PUT"
	grep -q dangling err.hayate
	check_same "$GET"
	grep -q dangling err.hayate
	check_same "$SFTP_PUT; $SFTP_GET"
}

@test "no directory below the 64th is entered" {
	local i deep=base/a
	need_root
	for i in $(seq 70); do deep+=/d; done
	mkdir -p "$deep"
	echo x >"$deep/x"
	check_same "$PUT"
	grep -q 'Maximum directory depth exceeded' err.hayate
	check_same "$GET"
	grep -q 'Maximum directory depth exceeded' err.hayate
}

@test "a full disk is reported as by stock, and no file contains wrong bytes" {
	local i
	export TEXTS=y		# stock counts what was not written
	need_root
	mkdir -p base/a
	for i in $(seq 30); do head -c 300000 /dev/urandom >"base/a/$i"; done
	run_on_full_disk 'scp -q -S ../near -r a h:full'
	grep -q 'write remote' err.hayate
	run_on_full_disk 'scp -q -S ../near -r h:$PWD/a full'
	grep -q 'No space left' err.hayate
}

### Other servers

@test "200 files take a few round trips to and from a server that announces a limit" {
	make_small_tree 200
	use_peer limits=261120,261120,1019 gather=0.1
	copy_near -r a "h:$T/b"
	diff -r a b
	run -0 cat log
	[ "$(get_value 0 rounds)" -le 40 ]
	[ "$(get_value 0 open)" -ge 100 ]
	copy_near -r "h:$T/a" b2
	diff -r a b2
	run -0 cat log
	[ "$(get_value 0 rounds)" -le 40 ]
	[ "$(get_value 0 open)" -ge 100 ]
}

@test "a directory of 500 files takes 11 round trips, both ways" {
	local i
	make_small_tree 5
	for i in $(seq 495); do echo "$i" >"a/sub/$i"; done
	use_peer limits=261120,261120,1019 gather=0.1
	# LSTAT, OPENDIR and READDIR twice, OPEN, READ, CLOSE
	copy_near -r "h:$T/a" b
	diff -r a b
	run -0 cat log
	[ "$(get_value 0 rounds)" -le 11 ]
	[ "$(get_value 0 open)" -ge 400 ]
	# INIT, STAT and the real path, MKDIR twice, OPEN, WRITE, CLOSE, SETSTAT twice
	copy_near -r a "h:$T/b2"
	diff -r a b2
	run -0 cat log
	[ "$(get_value 0 rounds)" -le 11 ]
}

@test "a listing that fails half way is reported as by stock, and ends the directory" {
	local i n client
	mkdir a
	for i in $(seq 250); do echo "$i" >"a/$i"; done
	for n in 2 3; do
		for client in stock hayate; do
			rm -rf b
			use_peer limits=261120,261120,1019 lists=$n
			run -1 --separate-stderr timeout 60 "$(bin scp $client)" -q \
			    -S ./near -r "h:$T/a" b 3>&-
			echo "${stderr//"$(bin scp $client)"/}" >"err.$client"
		done
		[ -s err.stock ]
		diff err.stock err.hayate
	done
}

@test "a listing that the file system breaks off is an error at either end" {
	local way
	cc -shared -fPIC -o broken.so -xc - <<-'EOT'
	#define _GNU_SOURCE
	#include <dirent.h>
	#include <dlfcn.h>
	#include <errno.h>
	#include <fcntl.h>
	#include <stdio.h>
	#include <string.h>
	#include <unistd.h>

	/* A directory BROKEN has no more than 5 entries, and no end. */
	struct dirent *
	readdir(DIR *d)
	{
		struct dirent *(*real)(DIR *) = dlsym(RTLD_NEXT, "readdir");
		char at[40], path[4096] = "";
		static int n;

		snprintf(at, sizeof(at), "/proc/self/fd/%d", dirfd(d));
		if (readlink(at, path, sizeof(path) - 1) > 0 &&
		    strstr(path, "BROKEN") != NULL && n++ >= 5) {
			errno = ESTALE;
			return NULL;
		}
		return real(d);
	}
	EOT
	make_files 30
	mkdir b
	mv a BROKEN
	set_server "env LD_PRELOAD=$T/broken.so $(bin sftp-server)"
	for way in "scp -r h:$T/BROKEN b" "scp h:$T/BROKEN/* b"; do
		# shellcheck disable=SC2086
		run -1 timeout 60 "$BUILD/hayate/${way%% *}" -q -S ./near ${way#* }
		[ -n "$output" ]
	done
	rm -rf b
	set_server "env -u LD_PRELOAD $(bin sftp-server)"
	LD_PRELOAD=$T/broken.so run -1 copy_near -r BROKEN "h:$T/b"
	[[ $output = *'local readdir "BROKEN": Stale file handle'* ]]
	[ "$(ls b)" != "" ]
}

@test "a server that announces no limit gets few files at once, and one that refuses more gets one" {
	local n
	make_small_tree 60
	for n in 0 1 2; do
		rm -rf b b2
		use_peer strict=$n
		copy_near -r a "h:$T/b"
		diff -r a b
		run -0 cat log
		[ $n = 0 ] || [ "$(get_value 0 open)" = $n ]
		[ "$(get_value 0 open)" -le 32 ]
		copy_near -r "h:$T/a" b2
		diff -r a b2
	done
}

@test "if the server announces a limit, a refusal is final" {
	make_small_tree 30
	use_peer limits=261120,261120,1019 strict=1
	run -1 copy_near -r a "h:$T/b"
	[[ $output = *'dest open'*'Failure'*'failed'* ]]
}

@test "names from a server cannot escape the target" {
	mkdir a
	echo good | tee good a/in >a/same
	use_peer names=1
	run -0 copy_near -r "h:$T/a" b
	[ "$(find b -mindepth 1 | sort | xargs)" = "b/in b/same" ]
	[ ! -e evil ]
	[ ! -e /tmp/evil ]
	[ "$(grep -c 'suspect path' <<<"$output")" = 5 ]
}

# run_in_place COMMAND: runs it in an empty directory, and checks that all that it left is
# below b there, and no link
run_in_place() {
	rm -rf in
	mkdir in
	find . /tmp/evil ! -path './in*' 2>/dev/null | sort >before
	(cd in && timeout 60 bash -c "$1" >../said 2>&1) 3>&- || echo "$1: status $?" >>said
	find . /tmp/evil ! -path './in*' 2>/dev/null | sort | diff before - &&
	    [ -z "$(find in -mindepth 1 ! -path in/b ! -path 'in/b/*')" ] &&
	    [ -z "$(find in -type l)" ] || { echo "$1"; find in; head said; false; }
}

@test "whatever names, types and paths a server sends, nothing is written elsewhere" {
	local hayate alone=
	mkdir -p srv/x srv/a/d srv/s
	echo good | tee srv/a/f srv/a/d/g >srv/s/h
	ln -s ../s srv/a/l
	echo a >list
	mkdir bin
	ln -s "$(bin scp)" bin/scp
	ln -s "$(bin sftp)" bin/sftp
	export PATH=$PWD/bin:$PATH
	touch before log said
	# Upstream's functions: scp with "Hayate no", sftp with -R
	for hayate in yes no; do
		[ $hayate = yes ] || alone="-R 64"
		use_peer names=2 "home=$T/srv/x/.."
		run_in_place "scp -q -o Hayate=$hayate -S ../near -r h:$T/srv/a b"
		grep -l good in/b/f in/b/d/g
		run_in_place "mkdir b; scp -q -o Hayate=$hayate -S ../near -r 'h:$T/srv/*' 'h:$T/srv/a/d*' b"
		grep -l good in/b/a/f in/b/s/h in/b/d/g
		run_in_place "mkdir b; scp -q -o Hayate=$hayate -S ../near -r 'h:*' b"
		run_in_place "scp -q -3 -o Hayate=$hayate -S ../near -r h:$T/srv/a g:$T/in/b"
		grep -l good in/b/f in/b/d/g
		run_in_place "mkdir b; scp -q -3 -o Hayate=$hayate -S ../near -r 'h:$T/srv/a/*' g:$T/in/b"
		grep -l good in/b/f in/b/d/g
		run_in_place "echo 'get -r $T/srv/a b' | sftp -q $alone -S ../near -b - h"
		grep -l good in/b/f in/b/d/g
		run_in_place "mkdir b; printf '%s\n' 'lcd b' 'get -r *' 'reget -r *' | sftp -q $alone -S ../near -b - h"
		run_in_place "mkdir b; printf '%s\n' 'cd $T/srv/a' 'lcd b' 'get -rp d*' | sftp -q $alone -S ../near -b - h"
		grep -l good in/b/d/g
		run_in_place "mkdir -p a/q; echo put >a/q/r; echo 'put -r a $T/in/b' | sftp -q $alone -S ../near -b - h; rm -r a"
		grep -l put in/b/q/r
		# The server chooses the path of ~user, and its last name is that of the copy.
		use_peer names=2 "expand=$T/srv/a/.."
		run_in_place "mkdir b; scp -q -o Hayate=$hayate -S ../near -r h:~eve/a b"
		run_in_place "mkdir b; scp -q -3 -o Hayate=$hayate -S ../near -r h:~eve/a g:$T/in/b"
	done
	use_peer names=2
	run_in_place "scp -q -S ../near -r --files-from ../list h:$T/srv b"
	grep -l good in/b/a/f in/b/a/d/g
}

@test "a server that breaks the protocol ends the copy with a clear message" {
	local bad said
	make_small_tree 3
	while read -r bad said; do
		rm -rf b
		use_peer limits=261120,261120,1019 "bad=$bad"
		run -255 copy_near -r "h:$T/a" b
		[[ $output = *$said* ]]
	done <<-END
	twice Unexpected reply
	id Unexpected reply
	long Received more data than asked for
	empty Server sent 0 bytes
	handle Server sent a handle of 301 bytes
	END
}

@test "a lost connection leaves an old tree unchanged, except the file in progress" {
	local i n w
	mkdir a old
	for i in $(seq 250); do
		head -c $((i % 50 * 20)) /dev/urandom >"a/$i"
		head -c 500 /dev/urandom >"old/$i"
	done
	echo "put -r a/. $T/b" >put
	echo "get -r $T/a/. b" >get
	for w in "sftp -b put h" "sftp -b get h" "scp -r a/. h:$T/b" "scp -r h:$T/a/. b"; do
		for n in 290 400 640; do
			rm -rf b
			cp -a old b
			use_peer limits=261120,261120,1019 gather=0.02 die=$n
			# shellcheck disable=SC2086 # words
			run ! timeout 60 "$BUILD/hayate/"${w/ / -q -S ./near } 3>&-
			echo "$w $n: $(count_torn a old b) of $(count_torn old old b)"
			[ "$status" = 255 ]
			[[ $output = *"Connection closed"* ]]
			[ "$(count_torn a old b)" -le 1 ]
		done
	done
}

@test "an interrupt leaves an old tree unchanged, except the file in progress" {
	local i w
	mkdir a old
	for i in $(seq 250); do
		head -c 20000 /dev/urandom >"a/$i"
		head -c 30000 /dev/urandom >"old/$i"
	done
	echo "put -r a/. $T/b" >put
	echo "get -r $T/a/. b" >get
	for w in put get; do
		rm -rf b
		cp -a old b
		use_peer limits=261120,261120,1019 rate=10000000 interrupt=1000000,100000
		run timeout 60 "$(bin sftp)" -q -S ./near -b $w h 3>&-
		[ "$(count_torn old old b)" -ge 40 ]
		[ "$(count_torn a a b)" -ge 40 ]
		[ "$(count_torn a old b)" -le 1 ]
	done
}

@test "sftp overwrites an old tree, also if the server cannot truncate an open file" {
	local i odd
	mkdir a old
	for i in $(seq 100); do
		head -c $((i * 30)) /dev/urandom >"a/$i"
		head -c $((i % 7 * 700)) /dev/urandom >"old/$i"
	done
	: >a/1
	head -c 200000 /dev/urandom >old/2
	echo "put -r a/. $T/b" >put
	for odd in more=0 nosize=1 "gather=0.02 backwards=1" limits=0,0,0; do
		rm -rf b
		cp -a old b
		# shellcheck disable=SC2086 # words
		use_peer limits=261120,261120,1019 $odd
		timeout 60 "$(bin sftp)" -q -S ./near -b put h 3>&-
		diff -r a b
	done
	truncate -s 100000 a/2		# a hole
	use_peer limits=261120,261120,1019
	timeout 60 "$(bin sftp)" -q -S ./near -b put h 3>&-
	diff -r a b
}

@test "a device among old files is written once" {
	local i name
	mkdir a old
	for i in $(seq 100); do
		head -c $((i * 30)) /dev/urandom >"a/$i"
		echo old >"old/$i"
	done
	head -c 700000 /dev/urandom >a/7
	echo "put -r a/. $T/b" >put
	for name in 7 50 "$(find a -type f -printf '%f\n' | head -n 1)"; do
		rm -rf b
		cp -a old b
		: >"b/$name"
		use_peer limits=261120,261120,1019 gather=0.02 device="$name" log="$T/log"
		timeout 60 "$(bin sftp)" -q -S ./near -b put h 3>&-
		diff -r a b
	done
}

@test "sftp's put and get of files onto themselves are errors, and change nothing" {
	local to w
	make_small_tree 20
	head -c 3000000 /dev/urandom >a/large
	truncate -s 200000 a/holes
	truncate -s 3000000 a/holes
	head -c 40000000 /dev/urandom >a/wide
	touch -d '2001-02-03 04:05:06' a/* a/sub/*
	cp -a a old
	for to in "$(bin sftp-server)" "$(bin sftp-server stock)" \
	    "$REGRESS/peers/sftp-peer" "$REGRESS/peers/sftp-peer $TELLS"; do
		set_server "$to"
		for way in put get; do for w in "$way a/large $T/a" "$way $T/a/wide a/wide" \
		    "$way -r $T/a $T" "$way -p a/holes $T/a/holes"; do
			touch -d '2001-02-03 04:05:06' a/* a/sub/*
			echo "cd $T" >batch
			echo "$w" >>batch
			echo "$to: $w"
			run -1 timeout 60 "$(bin sftp)" -q -S ./near -b batch h 3>&-
			diff -r old a
			[[ $output = *'changed while it was copied, or '*' is the same file'* ]]
		done; done
	done
	head -c 3000000 /dev/urandom >like
	touch -r a/large like
	cp -p like like2
	printf '%s\n' "put -p a/large $T/like" "get -p $T/a/large like2" >batch
	timeout 60 "$(bin sftp)" -q -S ./near -b batch h 3>&-
	cmp a/large like
	cmp a/large like2
}

@test "an fsync that fails is an error of sftp -f, at either end" {
	local w
	make_small_tree 3
	mkdir b
	use_peer fsync=1
	for w in "put -f a/1 $T/b" "put -fr a $T/b"; do
		run -1 timeout 60 "$(bin sftp)" -q -S ./near -b - h <<<"$w" 3>&-
		[[ $output = *'remote fsync: Failure'* ]]
	done
	use_peer limits=261120,261120,1019 fsync=1
	run -1 timeout 60 "$(bin sftp)" -q -S ./near -b - h <<<"put -fr a $T/b" 3>&-
	printf '#include <errno.h>\nint fsync(int fd) { (void)fd; errno = EIO; return -1; }\n' |
	    cc -shared -fPIC -o unsynced.so -xc -
	set_server "env -u LD_PRELOAD $(bin sftp-server)"
	for w in "get -f $T/a/1 b" "get -fr $T/a b"; do
		LD_PRELOAD=$T/unsynced.so run -1 timeout 60 "$(bin sftp)" -q \
		    -S ./near -b - h <<<"$w" 3>&-
		[[ $output = *'local sync "'*'": Input/output error'* ]]
	done
}

@test "sftp reports a lost connection, whether a read or a write notices first" {
	local n client
	make_small_tree 200
	echo "get -r $T/a b" >get
	for n in 100 300 400; do
		rm -rf b
		use_peer limits=261120,261120,1019 gather=0.02 deaf=$n
		run -255 timeout 60 "$(bin sftp)" -q -S ./near -b get h 3>&-
		[[ $output = *"Connection closed"* ]]
	done
}

# Printed names are freed. Freed memory has a pattern, so code that uses it
# does not get far.
@test "a connection that ends with much data queued is an error, and no crash" {
	local i
	mkdir a
	for i in $(seq 40); do head -c 100000 /dev/zero >"a/$i"; done
	use_peer limits=261120,261120,1019 stall=4
	MALLOC_PERTURB_=165 run -255 copy_near -r a "h:$T/b"
	[[ $output = *': Connection closed'* ]]
}

@test "of files copied through links to one file one remains, not a mixture" {
	local i
	mkdir -p a b/a
	for i in 1 2 3 4; do
		head -c $((i % 2 * 5000 + 100)) /dev/zero | tr '\0' $i >a/$i
		: >b/target
		ln -s ../target b/a/$i
	done
	use_peer limits=261120,261120,1019 gather=0.1 backwards=1
	copy_near -r "h:$T/a" b
	cmp a/1 b/target || cmp a/2 b/target || cmp a/3 b/target || cmp a/4 b/target
}

@test "of names that a server does not distinguish the last file remains, not a mixture" {
	local d way
	for d in a a/q_d a/Q_d a/q_d/deep a/Q_d/deep; do
		mkdir $d
		head -c 30000 /dev/zero | tr '\0' 1 | tee $d/q_1 $d/Q_2 $d/q_3 >$d/Q_4
		head -c 5000 /dev/zero | tr '\0' 2 | tee $d/Q_1 $d/q_2 $d/Q_3 >$d/q_4
		truncate -s -3 $d/*3
	done
	find a/Q_d -type f -exec truncate -s -7 {} +
	set_server "$REGRESS/peers/sftp-swap" '[qQ]_' Q_ "$(bin sftp-server stock)"
	for way in new old; do
		"$(bin scp stock)" -q -S ./near -r a "h:$T/b" 3>&-
		copy_near -r a "h:$T/c"
		diff -rq b c
	done
}

@test "with -X and -l one file is copied after the other" {
	local o
	make_small_tree 30
	for o in -Xnrequests=7 -Xbuffer=32000 -l100000; do
		use_peer limits=261120,261120,1019
		rm -rf b
		copy_near $o -r a "h:$T/b"
		diff -r a b
		run -0 cat log
		[ "$(get_value 0 open)" = 1 ]
	done
}

@test "Hayate no copies one file after the other, with upstream's functions" {
	sshd_up hayate
	make_small_tree 3
	run -0 copy -vv -r a "hayate:$T/b"
	[[ $output = *"begin_local_dir: upload local dir"* ]]
	run -0 copy -vv -o Hayate=no -r a "hayate:$T/b2"
	[[ $output != *"begin_local_dir: "* ]]
	[[ $output = *"upload_dir_internal: upload local dir"* ]]
	sshd_down
	diff -r a b/a 2>/dev/null || diff -r a b
}

# check_foreign_tree KIND: copies a tree to and from a server of another kind
check_foreign_tree() {
	foreign_up "$1"
	make_small_tree 100
	mkdir -p b/a		# proftpd has no real path for what is absent
	copy_foreign -q -rp a "127.0.0.1:$T/b" || echo "put $?" >status
	diff -r a b/a
	copy_foreign -q -rp "127.0.0.1:$T/a" b2 || echo "get $?" >>status
	diff -r a b2
}

@test "a tree is copied to proftpd's mod_sftp and back" {
	need_proftpd
	check_foreign_tree proftpd
	[ ! -e status ]
}

@test "a tree is copied to asyncssh, which replies in any order, and back" {
	need_asyncssh
	check_foreign_tree asyncssh
}

@test "a tree is copied to paramiko and back" {
	need_paramiko
	check_foreign_tree paramiko
	# paramiko sends no exit status, so scp may end with 1, as stock's does.
	[ ! -e status ] || [ "$(sort status | tr '\n' ' ')" = "get 1 put 1 " ]
}

@test "a server that empties a file when its size is set, as paramiko does, keeps complete files" {
	local way j
	need_paramiko
	foreign_up paramiko
	mkdir a
	head -c 300000 /dev/urandom >a/1
	head -c 5000 /dev/urandom >a/2
	: >a/3
	for j in 1 2; do
		for way in new shorter equal longer itself tree "tree over"; do
			rm -rf b
			mkdir b
			case $way in
			shorter) echo x | tee b/1 >b/2 ;;
			equal) cp a/* b; printf x | dd of=b/1 conv=notrunc status=none ;;
			longer) head -c 400000 /dev/zero | tee b/1 b/2 >b/3 ;;
			itself) cp a/* b ;;
			*over) cp -r a b; head -c 400000 /dev/zero | tee b/a/1 b/a/2 >b/a/3 ;;
			esac
			case $way in
			itself) copy_foreign -q -j "$j" b/1 b/2 b/3 "127.0.0.1:$T/b" ;;
			tree*) copy_foreign -q -j "$j" -r a "127.0.0.1:$T/b" ;;
			*)	copy_foreign -q -j "$j" a/1 "127.0.0.1:$T/b/1"
				copy_foreign -q -j "$j" a/2 a/3 "127.0.0.1:$T/b" ;;
			esac || [ $? = 1 ] # it sends no exit status
			[[ $way != tree* ]] || { mv b c; mv c/a b; rm -r c; }
			diff -r a b || { echo "$way $j"; false; }
		done
	done
}

# is_prefix FILE FILE: succeeds if the second is a prefix of the first, as it is written
# in order
is_prefix() { cmp -n "$(stat -c %s "$2")" "$1" "$2"; }

# run_killed ARG...: checks that the peer kills scp when it has handled some replies
run_killed() {
	run -137 copy_near "$@"
}

@test "after kill -9 a single file from a server that replies in reverse order is a prefix" {
	local n
	mkdir a
	head -c 4000000 /dev/urandom >a/1
	for n in 3 8 13 20; do
		use_peer limits=261120,261120,1019 gather=0.1 backwards=1 kill=$n
		run_killed "h:$T/a/1" alone
		is_prefix a/1 alone
	done
}
