#!/usr/bin/env bats
# Needs: hayate stock unit
# Files that are named one by one, or by a pattern, copied with many in flight
# (transfer/copy/arguments-hook.h). What a user gets is compared with what stock's client does.

load helper
load copies

# The ways to copy the files of a to b. With -N sftp prints what it copies.
ANY="scp -q -S ../near"
PUT="$ANY a/* h:b"
GET="$ANY \"h:\$PWD/a/*\" b"
GET_EACH="$ANY \$(printf \"h:\$PWD/%q \" a/[0-9]*) b"
SFTP='sftp -q -N -S ../near -b - h'
SFTP_PUT="echo \"put a/* b\" | $SFTP"
SFTP_GET="echo \"get \$PWD/a/* b\" | $SFTP"
WAYS=(PUT GET GET_EACH SFTP_PUT SFTP_GET)

# make_odd_files DIR: makes files of most kinds
make_odd_files() {
	local i
	mkdir -p "$1"
	for i in $(seq 60); do
		head -c $((i * 37)) /dev/zero | tr '\0' "\\$((i % 8 + 60))" >"$1/$i"
	done
	head -c 3000000 /dev/urandom >"$1/large"
	: >"$1/0"
	echo x >"$1/-r"
	echo y >"$1/sp ace"
	echo z >"$1/new"$'\n'line
	echo u >"$1/"$'\xff\xfe'
	echo h >"$1/.hidden"
	chmod 4711 "$1/7"
	chmod 444 "$1/8"
	chmod 600 "$1/9"
	touch -d '2001-02-03 04:05:06' "$1"/*
}

# check_each_way TEXT: checks that it is as stock in every way; TEXT comes first, b is
# kept as b.WAY
check_each_way() {
	local w all=
	for w in "${WAYS[@]}"; do
		all+="echo $w; ($1; ${!w}); echo \$?; chmod u+rwx b; mv b b.$w;"
	done
	check_same "$all" || { cat out.stock; return 1; }
}

@test "files arrive as stock copies them" {
	local w
	need_root
	mkdir base
	make_odd_files base/a
	check_same "$GET"
	cmp run/a/large run/b/large
	check_each_way "umask 027; mkdir b"
	cmp run/a/large run/b.SFTP_GET/large
	check_each_way "umask 077; mkdir b; echo old >b/3; seq 9999 >b/4; chmod 600 b/4"
	for w in "${WAYS[@]}"; do
		[ "$(stat -c %s "run/b.$w/4")" = 148 ]
	done
}

@test "a target that is absent or not a directory is treated as in stock" {
	need_root
	mkdir base
	make_odd_files base/a
	check_same "$PUT"
	[ -d run/b ]
	check_same "$GET"
	[ -d run/b ]
	check_each_way ":"
	check_each_way "echo in the way >b"
	check_each_way "mkdir b; chmod 500 b"
	check_each_way "ln -s nowhere b"
	check_same "$ANY a/1 a/2 h:b/none"
	check_same "$ANY a/1 h:b"
	check_same "$ANY a/1 h:a/2"
}

@test "-p keeps times and modes as stock keeps them" {
	local w
	export TIMES=y
	need_root
	mkdir base
	make_odd_files base/a
	touch -d '2001-02-03 04:05:06' base base/a
	for w in "$PUT" "$GET" "$GET_EACH" "echo 'put -p a/* b' | $SFTP" \
	    "echo \"get -p \$PWD/a/* b\" | $SFTP"; do
		check_same "mkdir b; ${w/scp/scp -p}; s=\$?; touch -d 2002-02-02 . b; exit \$s"
	done
	[ "$(stat -c %Y%a run/b/7)" = "$(stat -c %Y run/a/7)711" ]
}

@test "a file that is missing, or cannot be read or written, changes nothing else" {
	need_root
	mkdir base
	make_odd_files base/a
	chmod 0 base/a/3 base/a/33
	mkdir base/a/dir base/a/45dir
	echo x >base/a/dir/x
	ln -s 5 base/a/55link
	ln -s dir base/a/dirlink
	ln -s nowhere base/a/56dangling
	ln -s loop base/a/loop
	check_each_way "mkdir b"
	check_each_way "mkdir b b/11; echo ours >b/22; chmod 0 b/22; ln -s absent/x b/44"
	check_same "mkdir b; $ANY a/1 a/2 a/none a/4 h:b"
	[[ $(<err.hayate) = *'stat local "a/none"'* ]]
	[ ! -e run/b/4 ]
	check_same "mkdir b; $ANY h:\$PWD/a/1 h:\$PWD/a/none h:\$PWD/a/4 b"
	[ -e run/b/4 ]
	check_same "mkdir b; $ANY h:\$PWD/a/1 \"h:\$PWD/a/none*\" h:\$PWD/a/4 b"
	check_same "echo 'put a/none* b' | $SFTP"
	check_same "echo 'get a/none* b' | $SFTP"
	# With -b - the first error ends it, with a dash it does not.
	check_same "mkdir b; printf '%s\n' '-put a/* b' '-get a/* b' 'ls b' | $SFTP"
	check_same "mkdir b; printf '%s\n' 'mput a/* b' 'mget b/* .' | $SFTP"
}

# run_on_bad_disk "PROGRAM ARG...": ours, with the files of bad_disk() and set_server()
run_on_bad_disk() {
	# shellcheck disable=SC2086 # words
	env LD_PRELOAD="$T/bad.so" timeout 60 \
	    "$BUILD/hayate/${1%% *}" -q -S ./near ${1#* } 3>&-
}

@test "a local file that cannot be read fails alone, and its target ends at the last byte read" {
	local w
	mkdir a
	head -c 300000 /dev/urandom | tee a/1 >a/3
	head -c 900000 /dev/urandom >a/BAD
	bad_disk
	set_server "env -u LD_PRELOAD $(bin sftp-server)"
	echo "put a/* $T/b" >put
	echo "put -r a $T/b" >tree
	for w in "scp a/1 a/BAD a/3 h:$T/b" "scp -r a/. h:$T/b" "sftp -b put h" \
	    "sftp -b tree h"; do
		rm -rf b
		mkdir b
		head -c 1000000 /dev/zero >b/BAD
		run -1 run_on_bad_disk "$w"
		[[ $output = *'read local "a/'*'BAD": Input/output error'* ]]
		[ ! -e b/a ] || mv b/a/* b
		cmp a/1 b/1
		cmp a/3 b/3
		[ "$(stat -c %s b/BAD)" = 300000 ]
		cmp -n 300000 a/BAD b/BAD
	done
	# A file that cannot be read at all leaves the old target.
	ln -s /proc/self/mem a/2
	echo old >b/2
	run -1 copy_near a/1 a/2 a/3 "h:$T/b"
	[[ $output = *'read local "a/2": Input/output error'* ]]
	[ "$(<b/2)" = old ]
	cmp a/3 b/3
}

@test "a file that is read and written in small pieces, with interrupts, arrives complete" {
	local w
	mkdir a
	head -c 3000001 /dev/urandom >a/SHORT
	bad_disk
	set_server "env -u LD_PRELOAD $(bin sftp-server)"
	echo "put a/SHORT $T/b" >put
	echo "get $T/a/SHORT b" >get
	for w in "scp a/SHORT h:$T/b" "scp h:$T/a/SHORT b" "scp -r a/. h:$T/b" \
	    "scp -r h:$T/a/. b" "scp --checksum a/SHORT h:$T/b" \
	    "scp --resume a/SHORT h:$T/b" "scp --resume h:$T/a/SHORT b" \
	    "sftp -b put h" "sftp -b get h"; do
		rm -rf b
		mkdir b
		[[ $w != *--resume* ]] || head -c 1500000 a/SHORT >b/SHORT
		run -0 run_on_bad_disk "$w"
		cmp a/SHORT b/SHORT
	done
	# Upstream's server fails a write that is short, and tells of a short read.
	set_server "env CALM=1 LD_PRELOAD=$T/bad.so $(bin sftp-server)"
	rm -rf b
	mkdir b
	run -1 copy_near a/SHORT "h:$T/b"
	[[ $output = *"write remote \"$T/b/SHORT\": Failure"* ]]
	run -0 copy_near "h:$T/a/SHORT" b
	cmp a/SHORT b/SHORT
}

@test "a local file fails if its close() reports a full disk" {
	local w
	mkdir a
	head -c 300000 /dev/urandom | tee a/1 a/FULL >a/3
	touch -d '2001-02-03' a/*
	bad_disk
	set_server "env -u LD_PRELOAD $(bin sftp-server)"
	echo "get -p $T/a/* b" >get
	echo "get -pr $T/a/. b" >tree
	for w in "scp -p h:$T/a/1 h:$T/a/FULL h:$T/a/3 b" "scp -rp h:$T/a/. b" \
	    "scp -p --report report h:$T/a/* b" "sftp -b get h" "sftp -b tree h"; do
		rm -rf b
		mkdir b
		run -1 run_on_bad_disk "$w"
		[[ $output = *'close local "b/'*'FULL": Disk quota exceeded'* ]]
		cmp a/1 b/1
		cmp a/3 b/3
		[ "$(stat -c %y b/1 | cut -c1-4)" = 2001 ]
		[ "$(stat -c %y b/FULL | cut -c1-4)" != 2001 ]
	done
	check_report "f['FULL']['status'] == 'failed' and f['3']['status'] == 'ok'"
	# One alone is copied by upstream's function, or over several connections.
	echo "get $T/a/FULL b" >get
	for w in "scp h:$T/a/FULL b" "scp -p --report report h:$T/a/FULL b" \
	    "scp --resume h:$T/a/FULL b" "sftp -b get h"; do
		rm -f b/FULL
		run -1 run_on_bad_disk "$w"
		[[ $output = *'close local "b/FULL": Disk quota exceeded'* ]]
	done
	check_report "f['FULL']['status'] == 'failed'"
	sshd_up hayate
	truncate -s 40000000 a/FULL
	run -1 env LD_PRELOAD="$T/bad.so" "$(bin scp)" -v -p -j 3 -S "$(bin ssh)" \
	    -F "$BATS_FILE_TMPDIR/ssh_config" "hayate:$T/a/FULL" b/FULL 3>&-
	[[ $output = *'close local "b/FULL": Disk quota exceeded'* ]]
	[ "$(stat -c %y b/FULL | cut -c1-4)" != 2001 ]
}

@test "an argument that becomes a directory before its turn fails alone" {
	local i
	mkdir a b
	for i in $(seq 9); do head -c 300000 /dev/urandom >"a/$i"; done
	mkdir tree
	echo x >tree/x
	use_peer limits=261120,261120,1019 "swap=$T/a/3"
	run -1 copy_near -r a/[1-9] tree "h:$T/b"
	[[ $output != *"ID mismatch"* ]]
	[[ $output = *'b/3" exists but is not a directory'* ]]
	for i in 1 2 4 5 6 7 8 9; do cmp "a/$i" "b/$i"; done
	cmp tree/x b/tree/x
}

@test "a fifo at the server is refused, and the files around it arrive" {
	need_root
	mkdir base
	make_odd_files base/a
	mkfifo base/a/fifo base/a/31fifo
	ln -s fifo base/a/fifolink
	WAYS=(GET GET_EACH SFTP_GET)
	check_each_way "mkdir b"
	grep -q 'not a regular file' err.hayate
}

@test "a fifo as the source of an upload is opened once, and refused" {
	need_root
	mkdir base
	make_odd_files base/a
	mkfifo base/a/fifo
	check_same "mkdir b; echo x >a/fifo & scp -q -S ../near a/1 a/fifo a/2 h:b; s=\$?
	    wait; exit \$s"
	grep -q 'not a regular file' err.hayate
	[ -e run/b/2 ]
}

@test "of files with one name the last stays" {
	local w n
	need_root
	mkdir -p base/{a,c,d}
	for n in 1 2 3 4 5 6; do
		echo "a$n" >base/a/$n
		seq "1$n" >base/c/$n
		echo "long d $n" >base/d/$n
	done
	for w in "$ANY a/1 c/1 a/2 d/1 a/1 a/1 d/2 c/3 h:b" \
	    "$ANY d/1 c/1 a/1 h:b" "$ANY a/1 a/1 h:b" "$ANY a/* c/* d/* h:b" \
	    "$ANY h:\$PWD/{a/1,c/1,a/2,d/1,a/1,a/1,d/2,c/3} b" \
	    "$ANY h:\$PWD/{d/1,c/1,a/1} b" "$ANY \"h:\$PWD/?/*\" b" \
	    "echo 'put ?/* b' | $SFTP" "echo \"get \$PWD/?/* b\" | $SFTP"; do
		check_same "mkdir b; $w"
	done
	[ "$(<run/b/1)" = "long d 1" ]
}

@test "names that differ only in case are not copied at the same time" {
	mkdir a b
	touch a/{B,b,c}
	use_peer limits=261120,261120,1019 gather=0.1
	run -0 copy_near -vv a/B a/b "h:$T/b"
	[[ $output != *'begin_batch:'* ]]
	copy_near a/B a/c a/b "h:$T/b"
	run -0 cat log
	[ "$(get_value 0 open)" = 2 ]
}

@test "patterns match and find what they do in stock" {
	local p n=0 all=
	need_root
	mkdir -p base/a/sub/{one,two,.three} base/a/empty base/a/locked
	echo 1 | tee base/a/{1,2,10,11,-r,.hidden,"sp ace",sub/{one,two}/{x.c,y.c,z.h}} \
	    "base/a/new"$'\n'line >base/a/$'\xff'
	# Not to a directory above: how deep a loop can be followed differs from
	# run to run, in stock as well.
	mkdir base/far
	ln -s ../../far base/a/sub/uplink
	ln -s ../a/sub/one base/far/link
	echo 2 | tee base/far/{x.c,y.z} >base/far/w
	ln -s 1 base/a/link
	chmod 0 base/a/locked
	for p in '*/*/*.c' 'sub/*/x.c' 's*b/one/?.[a-c]' '[1-3]?' '[!1-9]*' '.[!.]*' \
	    '*/' 'sub/*' 'empty/*' 'locked/*' '*/.[a-z]*' '{1,2}' 'sp\ ace' 'sp?ace' \
	    'new*' '\*' 'none' 'none/*' '1/*' '././1*' '../a//1*' 'sub/uplink/*' \
	    1 '*ink' '*'; do
		all+="echo '$p'; mkdir -p b/$((++n))/{1,2,3,4}
		    $ANY \"h:\$PWD/a/$p\" b/$n/1; echo \$?
		    $ANY -r \"h:\$PWD/a/$p\" b/$n/2; echo \$?
		    $ANY 'h:a/$p' b/$n/3; echo \$?
		    printf '%s\n' 'get a/$p b/$n/4' | $SFTP; echo \$?
		    "
	done
	check_same "$all"
	[ -e run/b/1/1/x.c ]
	check_same "printf '%s\n' 'ls a/*' '-rm a/1*' 'ls a' 'chmod 600 a/2*' | $SFTP"
}

@test "directories among the files are copied with -r, and refused without it" {
	need_root
	mkdir base
	make_odd_files base/a
	mkdir -p base/a/{2dir,30dir,zdir}/deep
	echo x | tee base/a/{2dir,30dir,zdir}/{deep/,}x >/dev/null
	check_each_way "mkdir b"
	PUT=${PUT/-q/-rq} GET=${GET/-q/-rq} GET_EACH=${GET_EACH/-q/-rq} \
	    SFTP_PUT=${SFTP_PUT/put/put -r} SFTP_GET=${SFTP_GET/get/get -r} \
	    check_each_way "mkdir b"
	diff -r run/a/30dir run/b.GET/30dir
}

@test "a full disk is reported as by stock, and no file contains wrong bytes" {
	local i
	export TEXTS=y		# stock counts what was not written
	need_root
	mkdir -p base/a
	for i in $(seq 30); do head -c 300000 /dev/urandom >"base/a/$i"; done
	run_on_full_disk "$ANY a/* h:full" .
	grep -q 'write remote' err.hayate
	run_on_full_disk "$ANY \"h:\$PWD/a/*\" full" .
	grep -q 'No space left' err.hayate
}

# check_dot_files: checks that b has what a copy of top/a/.* to b/c brings, and nothing
# else
check_dot_files() {
	[ "$(cd b && find . -type f | sort | xargs)" = "./c/.d/plain ./c/.f" ]
	rm -rf b
	mkdir -p b/c
}

@test "a pattern that begins with a dot matches nothing outside its directory" {
	local how names
	mkdir -p top/a/.d b/c
	echo 1 | tee top/a/.f top/a/.d/plain >top/a/plain
	echo 2 >top/above
	set_server "$(bin sftp-server)"
	for how in -r -rp "-r --resume" "-r --checksum" "-r -o Hayate=no"; do
		for names in 'a/.*' '?/.[!x]*'; do
			# shellcheck disable=SC2086 # options
			copy_near $how "h:$T/top/$names" b/c
			check_dot_files
		done
	done
	for how in "get -r" "mget -R" "reget -r"; do
		run_near_sftp "$how $T/top/a/.* b/c"
		check_dot_files
	done
	# What the user writes out is the user's own.
	copy_near -r "h:$T/top/?/.." b/new
	diff -r top b/new
	rm -r top/a/.[df] b
	for names in '.*' '.?' '.[.]'; do
		run -1 copy_near -r "h:$T/top/a/$names" b
		[[ $output = *"top/a/$names: No such file or directory"* ]]
		[ ! -e b ]
	done
}

### How it is done

# make_some_files N: makes N files in "a"
make_some_files() { make_files "$1"; }

# check_round_trips MOST COMMAND...: checks that COMMAND takes at most that many round
# trips, and has at least 100 files open
check_round_trips() {
	rm -rf b
	mkdir b
	"${@:2}"
	diff -r a b
	run -0 cat log
	[ "$(get_value 0 rounds)" -le "$1" ]
	[ "$(get_value 0 open)" -ge 100 ]
}

# run_near_sftp COMMAND: runs our sftp with what set_server() made
run_near_sftp() {
	echo "$1" | timeout 60 "$(bin sftp)" -q -S ./near -b - h 3>&-
}

@test "200 files take a few round trips, named one by one or by a pattern" {
	local each
	make_some_files 200
	each=(a/*)
	each=("${each[@]/#/h:$T/}")
	use_peer limits=261120,261120,1019 gather=0.1
	check_round_trips 20 copy_near a/* "h:$T/b"
	check_round_trips 20 copy_near "h:$T/a/*" b
	check_round_trips 20 copy_near "${each[@]}" b
	check_round_trips 20 run_near_sftp "put a/* $T/b"
	check_round_trips 20 run_near_sftp "get $T/a/* b"
}

@test "200 links to files take a few round trips" {
	local i each
	make_some_files 1
	for i in $(seq 2 200); do ln -s 1 "a/$i"; done
	each=(a/*)
	each=("${each[@]/#/h:$T/}")
	use_peer limits=261120,261120,1019 gather=0.1
	check_round_trips 25 copy_near "h:$T/a/*" b
	check_round_trips 25 copy_near "${each[@]}" b
}

@test "a server that announces no limit gets few files at once, and one that refuses more gets one" {
	local n
	make_some_files 60
	for n in 0 1 2; do
		use_peer strict=$n
		rm -rf b b2
		mkdir b b2
		copy_near a/* "h:$T/b"
		diff -r a b
		run -0 cat log
		[ $n = 0 ] || [ "$(get_value 0 open)" = $n ]
		[ "$(get_value 0 open)" -le 32 ]
		copy_near "h:$T/a/*" b2
		diff -r a b2
	done
}

@test "copies to and from a server that replies in reverse order are correct" {
	make_some_files 50
	use_peer limits=261120,261120,1019 gather=0.1 backwards=1
	mkdir b b2
	copy_near a/* "h:$T/b"
	diff -r a b
	copy_near "h:$T/a/*" b2
	diff -r a b2
}

@test "after kill -9 files downloaded from a server that replies in reverse order are prefixes" {
	local n f
	mkdir a
	for f in 1 2 3; do head -c 4000000 /dev/urandom >a/$f; done
	for n in 3 8 13 20; do
		use_peer limits=261120,261120,1019 gather=0.1 backwards=1 kill=$n
		mkdir b
		run -137 copy_near "h:$T/a/1" "h:$T/a/2" "h:$T/a/3" b
		check_prefixes a b
		rm -r b
		run -137 copy_near -r "h:$T/a" b
		check_prefixes a b
		rm -r b
	done
	use_peer limits=261120,261120,1019 gather=0.1 backwards=1 short=100000
	copy_near -r "h:$T/a" b
	diff -r a b
}

# Up to 64 MiB of early data are buffered; scp takes 48 MiB without them.
@test "a server that replies to the first READ of each file last cannot exhaust memory" {
	local i kib
	mkdir a
	for i in $(seq 40); do truncate -s 2M "a/$i"; done
	truncate -s 60M a/large
	use_peer limits=261120,261120,1019 starts=0.05
	kib=$(measure_peak timeout 60 "$(bin scp)" -q -S ./near -r "h:$T/a" b 3>&-)
	check_true "$kib < 140 * 1024"
	diff -rq a b
}

@test "no more files are open than descriptors allow, both ways and in a list" {
	local most to
	make_some_files 200
	# 64 are kept for all else
	for most in 100 20; do
		use_peer limits=261120,261120,1019 gather=0.0$((most / 50))
		sed -i '2i ulimit -Sn 1024' near
		ulimit -Sn $((most + 64))
		for to in "-r a h:$T/b" "-r h:$T/a b" "h:$T/a/[0-9]* b"; do
			rm -rf b
			[[ $to = -r* ]] || mkdir b
			# shellcheck disable=SC2086 # words
			copy_near $to
			diff -r a b
			run -0 cat log
			check_true "$(get_value 0 open) <= $most && ($most == 20 || $(get_value 0 open) > 50)"
		done
	done
}

# check_source_bytes: checks that b/a/1 has the size of one of the sources, and each byte
# of any of them
check_source_bytes() {
	python3 - <<-'END'
	sources = [open("a/%d" % i, "rb").read() for i in (1, 2, 3, 4)]
	got = open("b/a/1", "rb").read()
	assert len(got) in map(len, sources)
	assert all(any(s[i:i + 1] == got[i:i + 1] for s in sources)
	           for i in range(len(got)))
	END
}

@test "uploads to several links of one file leave bytes of these uploads, and the links" {
	local i
	mkdir -p a b/a
	for i in 1 2 3 4; do
		head -c $((i % 3 * 30000 + 100)) /dev/zero | tr '\0' $i >a/$i
	done
	for i in 0 1; do
		use_peer limits=32768,32768,1019 gather=0.03 backwards=${i#0}
		rm -f b/a/*
		head -c 90000 /dev/zero | tr '\0' o >b/a/1
		ln b/a/1 b/a/2
		ln b/a/1 b/a/3
		ln b/a/1 b/a/4
		copy_near -r a "h:$T/b"
		[ "$(stat -c %h b/a/1)" = 4 ]
		check_source_bytes
	done
}

@test "one file takes no more round trips than in stock" {
	mkdir a b
	echo 1 >a/1
	use_peer limits=261120,261120,1019 gather=0.1
	copy_near "h:$T/a/1" b
	run -0 cat log
	[ "$(get_value 0 rounds)" -le 6 ]
}

@test "a file is closed without waiting for its attributes if the server announces limits" {
	mkdir a b
	echo 1 >a/1
	use_peer limits=261120,261120,1019 gather=0.1
	copy_near -p a/1 "h:$T/b"
	cmp a/1 b/1
	run -0 cat log
	[ "$(get_value 0 early)" = 1 ]
	run_near_sftp "put -p a/1 $T/b/2"
	run -0 cat log
	[ "$(get_value 0 early)" = 1 ]
	# a server that says nothing about itself gets one after the other
	use_peer gather=0.1
	copy_near -p a/1 "h:$T/b/3"
	cmp a/1 b/3
	run -0 cat log
	[ "$(get_value 0 early)" = 0 ]
}

@test "sftp continues after matches that vanish while they are copied" {
	local i
	mkdir a b
	for i in 1 2 3 4; do head -c 3000000 /dev/urandom >a/$i; done
	use_peer limits=261120,261120,1019 rate=20000000
	(until [ -e b/1 ]; do sleep 0.01; done; rm a/3 a/4) 3>&- &
	printf '%s\n' "-put a/* $T/b" "mkdir $T/d" >commands
	run -0 timeout 60 "$(bin sftp)" -q -S ./near -b commands h
	wait
	[[ $output = *'stat a/4: No such file'* ]]
	[ -d d ]
	[ -e b/4 ] || [[ $output = *'open local "a/4": No such file'* ]]
	cmp a/1 b/1
}

# count_server_starts: prints how often scp started the server
count_server_starts() { wc -l <starts; }

@test "arguments of one server share a connection, those of others do not" {
	make_some_files 5
	set_server "$(bin sftp-server)"
	sed -i "2i echo >>$T/starts" near
	mkdir b
	: >starts
	copy_near "h:$T/a/1" "h:$T/a/2" "h:$T/a/3" b
	[ "$(count_server_starts)" = 1 ]
	copy_near "h:$T/a/1" "h:$T/a/[23]" "h:$T/a/4" b
	[ "$(count_server_starts)" = 2 ]
	copy_near "h:$T/a/1" "g:$T/a/2" "u@g:$T/a/3" "scp://g/$T/a/4" b
	[ "$(count_server_starts)" = 6 ]
	copy_near -X nrequests=7 "h:$T/a/1" "h:$T/a/2" b
	[ "$(count_server_starts)" = 8 ]
	rm b/*
	copy_near "h:$T/a/1" a/2 "h:$T/a/3" "h:$T/a/4" b
	[ "$(echo b/*)" = "b/1 b/2 b/3 b/4" ]
	[ "$(count_server_starts)" = 10 ]
}

@test "with -X and -l one file of several is copied after the other" {
	local o
	make_some_files 30
	use_peer limits=261120,261120,1019
	for o in -Xnrequests=7 -Xbuffer=32000 -l100000; do
		rm -rf b
		mkdir b
		copy_near $o a/* "h:$T/b"
		diff -r a b
		run -0 cat log
		[ "$(get_value 0 open)" = 1 ]
	done
	for o in -R7 -B32000; do
		rm -rf b
		echo "put -r a $T/b" |
		    timeout 60 "$(bin sftp)" $o -q -S ./near -b - h 3>&-
		diff -r a b
		run -0 cat log
		[ "$(get_value 0 open)" = 1 ]
	done
}

@test "-f syncs each file to disk, at either end, with many files in flight" {
	local w
	make_some_files 30
	use_peer limits=261120,261120,1019		# which cannot
	for w in "put -f a/* $T/b" "get -f $T/a/* b" "put -rf a $T/b" "get -a $T/a/* b"; do
		rm -rf b
		mkdir b
		run_near_sftp "$w"
		[ -e b/a ] || diff -r a b
		run -0 cat log
		[ "$(get_value 0 open)" -ge 8 ]
	done
	set_server "$(bin sftp-server) -e -l verbose"
	for w in "put -f a/* $T/b" "put -f a/7 $T/b" "put -rf a $T/b"; do
		echo "$w" | "$(bin sftp)" -q -S ./near -b - h 2>said 3>&-
		[ "$(grep -c 'fsync "' said)" = "$(grep -c 'flags WRITE' said)" ]
	done
	echo "get -f $T/a/* b" | "$(bin sftp)" -v -S ./near -b - h >said 2>&1 3>&-
	[ "$(grep -c 'syncing "b/' said)" = "$(find a -maxdepth 1 -type f | wc -l)" ]
	echo "get -f $T/a/7 b" | "$(bin sftp)" -v -S ./near -b - h >said 2>&1 3>&-
	[ "$(grep -c 'syncing "b/' said)" = 1 ]
}

@test "Hayate no copies one file after the other, each over a connection of its own" {
	sshd_up hayate
	make_some_files 3
	mkdir b b2 b3
	run -0 copy -vv a/* "hayate:$T/b"
	[[ $output = *'begin_batch: from "a/1" on'* ]]
	run -0 copy -vv -o Hayate=no a/* "hayate:$T/b2"
	[[ $output != *'begin_batch:'* ]]
	: >"$(sshd_log hayate)"
	run -0 copy -o Hayate=no "hayate:$T/a/1" "hayate:$T/a/2" b3
	poll 5 eval '[ "$(grep -c "Starting session: subsystem" "$(sshd_log hayate)")" = 2 ]'
	sshd_down
	diff -r a b
	diff -r a b2
}

### Progress

# print_progress LINE...: prints the text of the progress line
print_progress() { printf '%s\n' "$@" | run_unit progress-text-replay; }

@test "the progress line shows files, bytes, rate and time left" {
	run -0 print_progress 10 "11 5 1024000 100 10240000" "12 10 2048000 100 10240000" \
	    "last 20 100 10240000 100 10240000"
	[ "${lines[0]}" = "[5/100 files  10%   1.0MB   1.0MB/s   00:09 ETA]" ]
	[ "${lines[1]}" = "[10/100 files  20%   2.0MB   1.0MB/s   00:08 ETA]" ]
	[ "${lines[2]}" = "[100/100 files 100%   9.8MB   1.0MB/s   00:10    ]" ]
	run -0 print_progress 10 "11 5 0 10 0" "12 9 100 10 100" "13 10 100 10 100"
	[ "${lines[0]}" = "[5/10 files  50%      0B      0B/s   --:-- ETA]" ]
	[[ ${lines[1]} = *"--:-- ETA]" && ${lines[2]} = *"00:00 ETA]" ]]
}

@test "the progress line shows rates beyond 2 GiB/s" {
	run -0 print_progress 0 "0.5 1 4500000000 10 90000000000" "1 2 9000000000 10 90000000000"
	[ "${lines[1]}" = "[2/10 files  10%   8.4GB   8.4GB/s   00:09 ETA]" ]
}

@test "the progress line shows no percentage and no time left while the tree is being scanned" {
	run -0 print_progress 10 "11 1803 1024000 2827 10240000 1" "12 2827 2048000 2827 10240000 1" \
	    "13 2827 2048000 5654 4096000 0" "last 20 5653 4096000 5654 4096000 1"
	[ "${lines[0]}" = "[1803 of 2827+ files   1.0MB   1.0MB/s]" ]
	[[ ${lines[1]} = "[2827 of 2827+ files "* && ${lines[1]} != *%* ]]
	[[ ${lines[2]} = "[2827/5654 files  50% "*" ETA]" ]]
	[[ ${lines[3]} = "[5653/5654 files  99% "* ]]
}

@test "the progress line has a bounded length" {
	local n=18446744073709551615
	run -0 print_progress 0 "0 0 0 0 0" "1 0 0 2 0" "2 1 0 2 0" "3 0 9 1 5" \
	    "4 $n $n $n $n" "1000000000 1 1 $n $n" "last 0 0 0 0 0"
	[ "${lines[0]}" = "[0/0 files 100%      0B      0B/s   00:00 ETA]" ]
	[[ ${lines[1]} = *" 0% "* && ${lines[2]} = *" 50% "* ]]
	[[ ${lines[3]} = *" 99% "* ]]
	[[ ${lines[5]} = *"--:-- ETA]" ]]
}

# run_on_terminal COLUMNS COMMAND: runs COMMAND on a terminal of that width; prints all
# that it printed there
run_on_terminal() {
	python3 - "$@" 3>&- <<-'END'
	import fcntl, os, pty, struct, sys, termios
	pid, fd = pty.fork()
	if pid == 0:
	    os.execvp("bash", ["bash", "-c", "read x; " + sys.argv[2]])
	fcntl.ioctl(fd, termios.TIOCSWINSZ,
	            struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
	os.write(fd, b"\n")
	out = b""
	while True:
	    try:
	        b = os.read(fd, 65536)
	    except OSError:
	        break
	    out += b
	sys.stdout.buffer.write(out)
	sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
}

# list_terminal_lines COLUMNS COMMAND: prints them as lines, each ended by CR or LF
list_terminal_lines() { run_on_terminal "$@" | tr -d '\033' | tr '\r' '\n' | awk NF; }

@test "on a terminal many files have one progress line, and one has upstream's" {
	local scp
	scp="$(bin scp) -S ./near"
	make_some_files 40
	mkdir b
	use_peer limits=261120,261120,1019 gather=0.1
	run -0 list_terminal_lines 80 "$scp a/* h:$T/b; $scp 'h:$T/a/*' b; $scp -r a h:$T/c"
	[ "$(grep -c '^ *40/40 files 100%  *8.0KB .*/s  *00:0[0-9] *$' <<<"$output")" = 3 ]
	[[ $output = *"/40 files"*"ETA"* ]]
	[ "$(awk 'length > 80' <<<"$output")" = "" ]
	run -0 list_terminal_lines 80 "$scp a/7 h:$T/b"
	[[ $output != *" files "* ]]
	grep -q '^7  *100%   70 ' <<<"$output"
	run -0 list_terminal_lines 80 "$scp -q a/* h:$T/b"
	[[ $output != *" files "* ]]
	run -0 bash -c "$scp a/* h:$T/b 2>&1"
	[ -z "$output" ]
}

# list_totals: prints the totals of the lines with a percentage, each once
list_totals() { sed -n 's,^.*[0-9]/\([0-9]*\) files .*%.*,\1,p' <<<"$output" | sort -u; }

@test "the progress line of a tree has a percentage when all of it is known" {
	local scp way
	scp="$(bin scp) -S ./near -r"
	mkdir -p a/{1,2,3}/deep/er
	touch a/{1,2,3}/deep/er/{1..700} a/2/deep/last
	ln -s a/1 link
	ln -s ../../2/deep/last a/3/deep/last
	ln -s nowhere a/3/broken
	use_peer limits=261120,261120,1019 gather=0.05 links=1
	for way in "a h:$T/b" "h:$T/a c" "h:$T/link d" "-3 h:$T/a g:$T/e"; do
		run list_terminal_lines 80 "$scp $way"
		[ "$(list_totals)" = "$([[ $way = *link* ]] && echo 700 || echo 2102)" ]
		grep -q '[0-9] of [0-9]*+ files .*/s *$' <<<"$output"
		[[ $output = *" files "*"% "*" ETA"* ]]
		# Nobody knows how long files without bytes take.
		run ! grep '00:00 ETA' <<<"$(grep -v ' 100%' <<<"$output")"
	done
	# Names of a directory that cannot be read to its end do not count: a server
	# that tells no limit has none of them begun before.
	use_peer gather=0.05 links=1 lists=21
	run list_terminal_lines 80 "$scp h:$T/a f"
	[[ $output = *"Couldn't read directory"* ]]
	[ "$(list_totals)" = "$(find f -type f | wc -l)" ]
	[[ $output = *" files 100% "* ]]
}

@test "the progress line fits a narrow terminal and leaves texts whole" {
	local scp
	scp="$(bin scp) -S ./near"
	make_some_files 40
	mkdir b b/20 b/a-name-that-is-long
	mv a/21 "a/a-name-that-is-long"
	set_server "$(bin sftp-server)"
	run -1 run_on_terminal 30 "$scp a/* h:$T/b"
	[[ $output = *$'dest open "'*'/b/20": Failure'$'\r'* ]]
	run -0 awk -v RS='[\r\n]' '!/scp:/ { gsub(/\033\[K/, ""); if (length > 30) print }' <<<"$output"
	[ -z "$output" ]
	run -1 run_on_terminal 80 "printf '%s\n' 'put a/* $T/b' 'get $T/a/* b' | $(bin sftp) -N -S ./near -b - h"
	[ "$(grep -c 'Uploading a/.* to ' <<<"$output")" = 40 ]
}

### Interrupts

# interrupt_copy BYTES COMMAND: interrupts it after BYTES; sets $status and $output
interrupt_copy() {
	use_peer limits=261120,261120,1019 rate=20000000 "interrupt=$1,100000"
	rm -rf b
	mkdir b
	run timeout 20 bash -c "$2"
}

@test "an interrupted list or tree leaves prefixes of files, and ends soon" {
	local i sftp w
	sftp="$(bin sftp) -q -S ./near -b - h"
	mkdir a
	for i in $(seq 30); do head -c 700000 /dev/urandom >"a/$i"; done
	for w in "echo 'put a/* $T/b' | $sftp" "echo 'get $T/a/* b' | $sftp" \
	    "echo 'put -r a/. $T/b' | $sftp" "echo 'get -r $T/a/. b' | $sftp"; do
		interrupt_copy 4000000 "$w"
		[ "$status" -le 1 ]
		check_prefixes a b
		run -0 du -sb b
		[ "${output%%[!0-9]*}" -ge 2000000 ]
		[ "${output%%[!0-9]*}" -le 15000000 ]
	done
	for w in "a/* h:$T/b" "'h:$T/a/*' b" "-r a h:$T/b" "-r h:$T/a b"; do
		interrupt_copy 4000000 "$(bin scp) -q -S ./near $w"
		[ "$status" = 1 ]
	done
}

@test "a file that was to be restarted is a prefix after an interrupt" {
	local n sftp
	sftp="$(bin sftp) -q -S ./near -b - h"
	mkdir a
	for n in $(seq 8); do head -c 400000 /dev/urandom >"a/$n"; done
	for n in 10 20 30 40 50; do
		rm -rf b
		mkdir b
		use_peer "fail=$n" rate=20000000 \
		    "interrupt=$((n * 32768 + 100000)),99999999"
		run timeout 20 bash -c "$sftp" <<<"put a/* $T/b"
		check_prefixes a b
	done
}

@test "a file that is its own source and is restarted keeps its bytes" {
	local n
	mkdir a
	for n in 1 2 3 4 5; do head -c 300000 /dev/urandom >"a/$n"; done
	for n in 1 3; do
		cp -r a b
		use_peer "unread=$n"
		run -0 copy_near "h:$T/b/*" b
		use_peer "fail=$n"
		run -0 copy_near b/* "h:$T/b"
		diff -r a b
		rm -r b
	done
}

@test "at a server that cannot truncate, a file that is its own source keeps its bytes" {
	local n
	set_server "$(bin sftp-server)" -P fsetstat
	mkdir a b
	for n in $(seq 1000 1700); do echo "$n" >"a/$n"; done
	head -c 100000 /dev/zero >b/1000
	head -c 300000 /dev/urandom >b/own
	cp b/own own
	run -0 copy_near a/* b/own "h:$T/b"
	cmp own b/own
	cmp a/1000 b/1000
}

@test "a server that neither truncates a file nor reports its size gets it complete" {
	set_server "$(bin sftp-server)" -P fsetstat,fstat
	head -c 300000 /dev/urandom >a
	head -c 400000 /dev/zero >b
	run -0 copy_near a "h:$T/b"
	cmp a b
}

@test "after an interrupted list sftp continues with the next command" {
	local i
	mkdir a
	for i in $(seq 30); do head -c 700000 /dev/urandom >"a/$i"; done
	interrupt_copy 4000000 "printf '%s\n' '-get $T/a/* b' 'pwd' 'put a/1 $T/c' |
	    $(bin sftp) -q -S ./near -b - h"
	[ "$status" = 0 ]
	[[ $output = *"Remote working directory"* ]]
	cmp a/1 c
}

### The report

@test "--report names the host of each file, as the command line does" {
	make_some_files 4
	mkdir b
	set_server "$(bin sftp-server)"
	"$(bin scp)" -q --report report -S ./near "u@one:$T/a/1" "scp://u@two:2222/$T/a/2" "[::1]:$T/a/3" b
	check_report "[f[n]['host'] for n in '123'] == ['one', 'two', '::1']"
	"$(bin scp)" -q --report report -S ./near a/1 a/2 "scp://three/$T/b"
	check_report "{x['host'] for x in r['files']} == {'three'} and len(f) == 2"
	for to in four u@four "u@four:$T" "sftp://u@four:2200/$T"; do
		echo "put a/1 $T/b/1" | "$(bin sftp)" -q --resume --report report -S ./near -b - "$to"
		check_report "f['1']['host'] == 'four'"
	done
}

@test "--report has the result of each file" {
	local w n
	need_root
	make_some_files 20
	mkdir b a/dir b/20
	chmod 0 a/7
	set_server "$(bin sftp-server)"
	for w in "scp -q -S ./near a/* h:$T/b" "scp -q -S ./near 'h:$T/a/*' b" \
	    "sftp -q -S ./near -b put h" "sftp -q -S ./near -b get h"; do
		rm -f report
		echo "put a/* $T/b" >put
		echo "get $T/a/* b" >get
		w=${w/ / --report report }
		run -1 setpriv --bounding-set -dac_override,-dac_read_search \
		    bash -c "$BUILD/hayate/$w 3>&-"
		n=$((2100 - 70 - 200))
		check_report "r['hayate_report'] == 1 and r['program'] == '${w%% *}'"
		check_report "r['totals']['files'] == 21 == len(r['files'])"
		check_report "r['totals']['failed'] == 3 and not r['interrupted']"
		check_report "r['totals']['bytes'] == $n"
		check_report "f['5']['bytes'] == 50 and f['5']['status'] == 'ok'"
		check_report "f['5']['to'].endswith('b/5') and 'error' not in f['5']"
		check_report "f['5']['host'] == 'h'"
		check_report "f['5']['seconds'] >= 0 and f['5']['direction'] in ('put', 'get')"
		check_report "'Permission denied' in f['7']['error'] and f['7']['status'] == 'failed'"
		check_report "f['20']['status'] == 'failed'"
	done
}

@test "--report has every name, with any bytes, and the files of trees" {
	mkdir -p a/sub
	echo 1 >"a/"$'\xff\n"\\\x7f'
	echo 2 >"a/sub/"$'\xc3\xa4\x01'
	echo 3 >"a/sub/"$'\xed\xa0\x80\xf4\x90\x80\x80\xc0\xaf'
	set_server "$(bin sftp-server)"
	run -0 copy_near --report report -r a "h:$T/b"
	[ -z "$output" ]
	check_report "sorted(bytes.fromhex(x['from_hex']) if 'from_hex' in x else
	    x['from'].encode() for x in r['files']) == sorted(
	    os.path.join(d, n) for d, _, names in os.walk(b'a') for n in names)"
	check_report "f[chr(228) + chr(1)]['to'] == '$T/b/sub/' + chr(228) + chr(1)"
	copy_near --report report a/sub/* "h:$T/b"
	check_report "len(f) == 2"
	copy_near --report report "h:$T/a/sub/*" b
	check_report "len(f) == 2"
}

@test "--report is complete after a failure, an interrupt and a lost connection" {
	local i
	mkdir a b
	for i in $(seq 30); do head -c 700000 /dev/urandom >"a/$i"; done
	use_peer limits=261120,261120,1019 rate=20000000 interrupt=4000000,100000
	run -1 copy_near --report report a/* "h:$T/b"
	check_report "r['interrupted'] and r['totals']['bytes'] < 21000000"
	echo "get $T/a/* b" >get
	run timeout 20 "$(bin sftp)" --report report -q -S ./near -b get h
	check_report "r['interrupted'] and 0 < r['totals']['failed']"
	set_server "dd bs=64k count=4 status=none | $(bin sftp-server)"
	echo old >report
	run -255 copy_near --report report a/* "h:$T/b"
	check_report "'Connection closed' in str(r['errors']) and not r['interrupted']"
	run -255 timeout 20 "$(bin sftp)" --report report -q -S ./near -b get h
	check_report "'Connection closed' in str(r['errors']) and not r['interrupted']"
	[ "$(echo report*)" = report ]
}

@test "--report goes to a pipe or standard output, and a place that cannot be written is an error" {
	make_some_files 2
	mkdir b
	set_server "$(bin sftp-server)"
	mkfifo pipe
	cat pipe >report &
	copy_near --report pipe a/* "h:$T/b"
	wait
	check_report "len(f) == 2"
	[ -p pipe ]
	copy_near --report - a/* "h:$T/b" >report
	check_report "len(f) == 2"
	run ! copy_near --report none/report a/* "h:$T/b"
	[[ $output = *'report "none/report": No such file or directory'* ]]
	run ! copy_near --report
	[ -n "$output" ]
	run -1 bash -c "ulimit -f 0; trap '' XFSZ; timeout 20 '$(bin scp)' -q --report full -S ./near a/* h:$T/b"
	[[ $output = *'report "full": File too large'* ]]
	[ ! -e full ]
}

@test "messages are the same with --report and without" {
	make_some_files 5
	mkdir b b/3
	set_server "$(bin sftp-server)"
	run -255 copy_near a/* a/$'\xff\\\t' "h:$T/b"
	[ "${#lines[@]}" = 3 ]
	echo "$output" >before
	run -255 copy_near --report report a/* a/$'\xff\\\t' "h:$T/b"
	diff before - <<<"$output"
}

@test "--report stays where the option named it when sftp changes its directory" {
	make_some_files 2
	mkdir b
	set_server "$(bin sftp-server)"
	printf '%s\n' "lcd a" "put * $T/b" >put
	timeout 60 "$(bin sftp)" --report report -q -S "$T/near" -b put h
	check_report "len(f) == 2"
	[ ! -e a/report ]
}

@test "--report has the file that an error or a signal ended" {
	mkdir a b
	head -c 9000000 /dev/urandom >a/1
	# What dd leaves in its pipe is lost, and nobody would end.
	set_server "sh -c 'echo \$\$ >$T/pid; exec $(bin sftp-server)' |" \
	    "{ dd bs=64k count=20 status=none; kill \$(cat $T/pid); }"
	run ! copy_near --report report "h:$T/a/1" b	# by EOF or by SIGPIPE
	[ "$status" -ne 124 ]
	check_report "f['1']['status'] == 'failed' and (r['interrupted'] or f['1']['error'])"
	check_report "r['totals']['failed'] == 1 and not r['errors']"
	use_peer limits=261120,261120,1019 rate=20000000 interrupt=4000000,100000
	run -1 copy_near --report report a/1 "h:$T/b"
	check_report "r['interrupted'] and f['1']['status'] == 'failed'"
}

@test "--report has the files of a tree that is resumed or verified" {
	local w
	mkdir -p a/dir
	head -c 30000 /dev/urandom | tee a/1 a/dir/2 >a/3
	set_server "$(bin sftp-server)"
	mkdir c
	for w in "scp --resume -r a h:$T/c" "scp --checksum -r a h:$T/c" \
	    "scp --resume -r h:$T/a c" "scp --checksum -r h:$T/a c" \
	    "sftp -b put h" "sftp -b get h" "scp --resume -X nrequests=3 -r a h:$T/c"; do
		rm -rf c/a
		echo "put -ra a $T/c" >put
		echo "get -ra $T/a c" >get
		w=${w/ / --report report -q -S ./near }
		run -0 bash -c "timeout 60 $BUILD/hayate/$w 3>&-"
		check_report "sorted(f) == ['1', '2', '3'] and r['totals']['files'] == 3"
		check_report "r['totals']['bytes'] == 90000 and not r['totals']['failed']"
	done
}

@test "an interrupt before the login leaves the old report and no other file" {
	local p
	set_server sleep 30
	echo old >report
	for p in scp sftp; do
		run timeout -s INT 1 "$(bin $p)" --report report -q -S ./near h:x .
		[ "$(<report)" = old ]
		[ "$(echo report*)" = report ]
	done
}

# A server that stops answers nothing, so the copy waits for its replies.
@test "SIGUSR1 tells what each file waits for, and -v tells it after 30 s without progress" {
	local scp state='data, handle open on connection 0, 0 helpers, [0-9]* of 8000000000 bytes'
	printf '#!/bin/sh\necho $$ >pid\nexec %s\n' "$(bin sftp-server)" >near
	chmod +x near
	truncate -s 8000000000 big
	"$(bin scp)" -v -S ./near "h:$PWD/big" copy >out 2>err 3>&- &
	scp=$!
	poll 10 test -s copy
	kill -STOP "$(cat pid)"
	sleep 1
	kill -USR1 $scp
	poll 5 grep -q "\"$PWD/big\": $state, [0-9]* requests in flight, waits for replies" err
	poll 40 grep -q 'nothing has moved for 30 s; 1 files in flight' err
	poll 5 test "$(grep -c "big\": $state" err)" = 2
	kill -0 $scp
	kill -KILL $scp "$(cat pid)"
}

@test "SIGUSR1 does not end scp before the login, nor sftp at its prompt" {
	printf '#!/bin/sh\nsleep 1\nexec %s\n' "$(bin sftp-server)" >near
	chmod +x near
	"$(bin scp)" -S ./near "h:$PWD/near" copy >out 2>&1 3>&- &
	sleep 0.5
	kill -USR1 $!
	wait $!
	cmp near copy
	{ sleep 2; echo "get $PWD/near got"; } | "$(bin sftp)" -D "$(bin sftp-server)" >out 2>&1 3>&- &
	sleep 1
	kill -USR1 "$(pgrep -f -n "^$(bin sftp) -D")"
	wait $!
	cmp near got
}
