#!/usr/bin/env bats
# Needs: hayate stock unit
# scp --files-from (transfer/file/files-from-hook.h): what a list names is copied as scp -r
# copies it, and what is wrong with a list or a server stays with its line.

load helper
load copies

# copy_list ARG...: copies what "list" names, as a root who may not read everything
copy_list() {
	timeout 60 setpriv --bounding-set -dac_override,-dac_read_search \
	    "$(bin scp)" -q -S ./near --files-from list "$@" 3>&-
}

# check_each_way COMMAND...: runs COMMAND in each direction; sources and target are in
# $SOURCE, $TARGET
check_each_way() {
	local way
	for way in put get cross; do
		rm -rf b
		SOURCE=h:$T/a TARGET=g:$T/b
		[ $way != put ] || SOURCE=a
		[ $way != get ] || TARGET=b
		echo "$way"
		"$@"
	done
}

# make_three_files: a tree
make_three_files() {
	mkdir -p a/b/c a/d
	echo 1 >a/b/c/1
	echo 2 >a/d/2
	echo 3 >a/3
}

### The list

# check_normalised [-0] TEXT: prints the driver's output, and checks that it is the same
# for one byte at a time
# shellcheck disable=SC2059 # it is a format
check_normalised() {
	local text=${*: -1} all
	all=$(printf "$text" | run_unit lines-replay "${@:1:$#-1}")
	[ "$(printf "$text" | run_unit lines-replay "${@:1:$#-1}" 1)" = "$all" ]
	echo "$all"
}

@test "names of a list are normalised, and the last one needs no terminator" {
	[ "$(check_normalised 'a/b\n/x//y/./z/\n\n./.\nlast')" = "1 2 [a/b]
2 3 [x/y/z]
4 0 []
5 1 [last]" ]
	[ "$(check_normalised '..a/b..\n...\n.a\n')" = "1 2 [..a/b..]
2 1 [...]
3 1 [.a]" ]
	[ "$(check_normalised -0 'a\nb\0\0 \0c\0')" = "1 1 [a
b]
3 1 [ ]
4 1 [c]" ]
	[ -z "$(check_normalised '')" ]
	[ -z "$(check_normalised '\n\n')" ]
}

@test "invalid lines of a list are named, and the lines after them are used" {
	local long
	[ "$(check_normalised '../x\nx/..\na/../b\n..\nq')" = '1 0 ".." is not allowed [../x]
2 0 ".." is not allowed [x/..]
3 0 ".." is not allowed [a/../b]
4 0 ".." is not allowed [..]
5 1 [q]' ]
	[ "$(check_normalised 'a\0b\nq\n')" = "1 0 contains a NUL byte [a]
2 1 [q]" ]
	long=$(printf '%4095s' x)
	[[ $(check_normalised "$long\nq\n") = "1 1 ["*$'\n'"2 1 [q]" ]]
	long=$(printf '%4096s' x)
	[[ $(check_normalised "$long\nq\n") = "1 0 longer than a path can be ["*$'\n'"2 1 [q]" ]]
	long=$(printf '%100000s' x)
	[[ $(check_normalised "q\n$long") = "1 1 [q]"$'\n'"2 0 longer than a path can be ["* ]]
}

### What arrives

# check_list_as_tree SORT: checks that a list of the whole tree "a", in this order, leaves
# what -r$P of stock leaves
check_list_as_tree() {
	(cd run.a && find . -mindepth 1 -print0 | $1) >list
	set_server "$(bin sftp-server)"
	[ ! -e b ] || chmod -R u+rwX b
	rm -rf a b stock
	cp -a run.a a
	"$(bin scp stock)" -q -S ./near "-r$P" "$SOURCE" "$TARGET" 3>&-
	mv b stock
	copy_list --from0 ${P:+-$P} "$SOURCE" "$TARGET"
	print_state stock >state.stock
	print_state b >state.b
	diff state.stock state.b
}

@test "a list of a tree gives the same result as scp -r, in any order" {
	export TIMES=y P=p
	need_root
	make_tree run.a
	touch -d '2001-02-03 04:05:06' run.a run.a/*
	check_each_way check_list_as_tree 'sort -z'
	check_each_way check_list_as_tree 'sort -zr'
	check_each_way check_list_as_tree 'shuf -z --random-source=/bin/bash'
}

@test "without -p modes are those that scp -r gives" {
	need_root
	make_tree run.a
	chmod 700 run.a/many
	chmod 1777 run.a/deep
	umask 027
	export P=
	check_each_way check_list_as_tree 'sort -z'
	umask 077
	check_each_way check_list_as_tree 'sort -zr'
}

check_parents() {
	copy_list "$SOURCE" "$TARGET"
	[ "$(find b | sort | xargs)" = "b b/b b/d" ]
	rm -rf b
	copy_list -r "$SOURCE" "$TARGET"
	diff -r a/b b/b
	diff -r a/d b/d
	[ ! -e b/3 ]
	echo . >list.all
	rm -rf b
	copy_list -r --files-from list.all "$SOURCE" "$TARGET"
	diff -r a b
	rm -rf b
	copy_list --files-from=list.all "$SOURCE" "$TARGET"
	[ "$(find b)" = b ]
}

@test "a directory is made, and copied with its tree only with -r" {
	make_three_files
	printf 'b\nd/\n' >list
	set_server "$(bin sftp-server)"
	check_each_way check_parents
}

check_repeated_names() {
	copy_list -rp "$SOURCE" "$TARGET"
	diff -r a b
	[ "$(stat -c %a%Y a a/b a/b/c a/d)" = "$(stat -c %a%Y b b/b b/b/c b/d)" ]
}

@test "a name that occurs twice, or lies below an earlier one, arrives complete" {
	make_three_files
	head -c 3000000 /dev/urandom >a/d/large
	touch -d '2001-02-03 04:05:06' a a/b a/b/c a/d
	printf '%s\n' b/c/1 b b/c/1 d/large d d/large 3 3 3 d/2 >list
	set_server "$(bin sftp-server)"
	check_each_way check_repeated_names
}

check_overwrite() {
	mkdir -p b/b b/d/2
	seq 9999 >b/3
	echo in the way >b/b/c
	run -1 copy_list "$SOURCE" "$TARGET"
	[[ $output = *'is not a directory'* || $output = *'Not a directory'* ]]
	[ "$(<b/3)" = 3 ]
	[ "$(<b/b/c)" = "in the way" ]
	[ -d b/d/2 ]
}

@test "if names in a list differ in case only, the last file stays whole" {
	local i way
	mkdir -p a/q_d/deep a/Q_d/deep
	for i in {1..12}; do
		head -c $((30000 + i)) /dev/zero | tr '\0' 1 | tee "a/q_$i" >"a/q_d/deep/$i"
		head -c $((5000 + i)) /dev/zero | tr '\0' 2 | tee "a/Q_$i" >"a/Q_d/deep/$i"
		printf '%s\n' "q_$i" "Q_$i"
	done >list
	printf '%s\n' q_d/deep/{1..12} Q_d/deep/{1..12} >>list
	set_server "$REGRESS/peers/sftp-swap" '[qQ]_' Q_ "$(bin sftp-server stock)"
	for way in new old tree; do
		[ $way != tree ] || printf '%s\n' {q,Q}_{1..12} {q,Q}_d >list
		copy_list -r a "h:$T/b"
		for i in {1..12}; do
			cmp "a/Q_$i" "b/Q_$i"
			cmp "a/Q_d/deep/$i" "b/Q_d/deep/$i"
		done
	done
}

@test "an existing target is filled, and a file in the place of a directory is kept" {
	make_three_files
	printf 'b/c/1\nd/2\n3\n' >list
	set_server "$(bin sftp-server)"
	check_each_way check_overwrite
}

check_links() {
	copy_list "$SOURCE" "$TARGET"
	[ "$(<b/link/1)" = 1 ]
	[ "$(<b/three)" = 3 ]
	[ ! -L b/link ]
}

@test "links are followed, as with -r" {
	make_three_files
	ln -s b/c a/link
	ln -s 3 a/three
	printf 'link/1\nthree\n' >list
	set_server "$(bin sftp-server)"
	check_each_way check_links
}

### Failures

# check_failed NAME TEXT: checks that it is in the report and the journal, under its whole
# path
check_failed() {
	check_report "[x['status'] for x in r['files'] if x['from'] == '${SOURCE#h:}/$1'
	    and '''$2''' in x['error']] == ['failed']"
	grep -F "\"from\":\"${SOURCE#h:}/$1\"" journal | grep -q '"status":"failed"'
}

check_mixed() {
	rm -f report journal
	run -1 copy_list --report report --journal journal "$SOURCE" "$TARGET"
	[ "$(find b -type f | sort | xargs)" = "b/3 b/b/c/1 b/d/2" ]
	check_failed none 'No such file'
	check_failed b/none 'No such file'
	check_failed gone/none 'No such file'
	check_failed fifo 'not a regular file'
	check_failed 3/x ''
	check_failed locked 'Permission denied'
	check_failed ../out 'line 4: "../out": ".." is not allowed'
	[[ $output = *'"list", line 4: "../out"'* ]]
	check_report "r['totals']['failed'] == 7 and r['totals']['files'] == 10"
	[ ! -e b/gone ]
	[ ! -e b/fifo ]
}

@test "a name that cannot be copied fails with its full path, and the rest is copied" {
	need_root
	need python3
	make_three_files
	mkfifo a/fifo
	echo x >a/locked
	chmod 0 a/locked
	echo secret >out
	printf '%s\n' b/c/1 none b/none ../out gone/none d/2 fifo 3/x locked 3 >list
	set_server "$(bin sftp-server)"
	check_each_way check_mixed
}

check_missing_name() {
	run -1 copy_list "$SOURCE" "$TARGET"
	echo "$output"
	cmp a/3 b/3
	cmp a/d/2 b/d/2
	[ "${#lines[@]}" = 1 ]
	[[ $output = *"a/none"*"No such file or directory"* ]]
}

@test "a list with a single missing file produces one error" {
	make_three_files
	set_server "$(bin sftp-server)"
	printf '%s\n' 3 none d/2 >list
	check_each_way check_missing_name
}

check_hostile() {
	run -1 copy_list "$SOURCE" "$TARGET"
	[ "$(find b -type f | sort | xargs)" = "b/3 b/etc/passwd" ]
	[ "$(<b/etc/passwd)" = ours ]
	[ "$(grep -c 'line' <<<"$output")" = 5 ]
	[[ $output = *'line 6: "d/d/d/'*'"...: too many directories'* ]]
	[[ $output = *'line 8: "'*'"...: longer than a path can be'* ]]
	[[ $output = *'line 9: "nul": contains a NUL byte'* ]]
	[ ! -e x ]
	[ ! -e evil ]
}

@test "a hostile list cannot escape the root, and each of its lines is named" {
	local i deep=
	make_three_files
	mkdir a/etc
	echo ours >a/etc/passwd
	echo x >evil
	mv evil a/../../evil.$$
	for i in $(seq 65); do deep+=d/; done
	{
		printf '../../evil.%s\n/etc/passwd\nb/../../x\n\n\n' $$
		printf '%sx\n////\n' "$deep"
		head -c 1000000 /dev/zero | tr '\0' /
		printf 'x\nnul\0l\n%s' 3
	} >list
	set_server "$(bin sftp-server)"
	check_each_way check_hostile
	rm "$T/../evil.$$"
}

check_any_byte() {
	copy_list --from0 "$SOURCE" "$TARGET"
	diff -r a b
}

@test "names may have any bytes except the terminator" {
	local i
	mkdir -p a/$'new\nline'
	for i in $'\xff\xfe' $'new\nline/\n' ' ' '*' '?[a]' '~' '#x' '-r' $'cr\r' '"' "'"; do
		echo x >"a/$i"
	done
	(cd a && find . -type f -printf '%P\0') >list
	set_server "$(bin sftp-server)"
	check_each_way check_any_byte
	(cd a && find . -maxdepth 1 -type f -printf '%P\n') >list
	rm -rf b a/new*
	copy_list a "h:$T/b"
	diff -r a b
}

check_depth() {
	copy_list "$SOURCE" "$TARGET"
	cmp "a/$deep" "b/$deep"
}

@test "a name may have 64 parts" {
	local i deep=
	for i in $(seq 63); do deep+=d/; done
	mkdir -p "a/$deep"
	deep+=x
	echo x >"a/$deep"
	echo "$deep" >list
	set_server "$(bin sftp-server)"
	check_each_way check_depth
}

check_unwritable() {
	mkdir -p b
	chmod 555 b
	run -1 copy_list "$SOURCE" "$TARGET"
	chmod 755 b
	[[ $output = *'Permission denied'* || $output = *'stat remote: No such'* ]]
	[[ $output = *"/d/2\" is not copied: its directory could not be created"* ]]
	[ "$(find b)" = b ]
}

@test "names whose directory cannot be made fail" {
	need_root
	make_three_files
	printf 'd/2\nb/c/1\n' >list
	set_server "setpriv --bounding-set -dac_override,-dac_read_search $(bin sftp-server)"
	check_each_way check_unwritable
}

### The list is read as it comes

check_slow_list() {
	mkfifo names
	copy_list --files-from names "$SOURCE" "$TARGET" &
	exec 4>names
	echo d/2 >&4
	poll 20 test -s b/d/2
	echo 3 >&4
	poll 20 test -s b/3
	printf 'b/c' >&4
	exec 4>&-
	wait $!
	[ -d b/b/c ]
	rm names
}

@test "a name is copied while the list is still being written" {
	make_three_files
	set_server "$(bin sftp-server)"
	check_each_way check_slow_list
}

@test "a list is read from standard input, and - names no other file" {
	make_three_files
	set_server "$(bin sftp-server)"
	echo d/2 >-
	printf 'b/c/1\n3' | copy_list --files-from - a "h:$T/b"
	[ "$(find b -type f | sort | xargs)" = "b/3 b/b/c/1" ]
	: | copy_list --files-from - a "h:$T/c"
	[ "$(find c)" = c ]
}

### Use

# check_refused TEXT ARG...: checks that scp ends with status 1 and this text, and copies
# nothing
check_refused() {
	run -1 timeout 20 "$(bin scp)" -q -S ./near "${@:2}" 3>&-
	[[ $output = *"$1"* ]] || { echo "$output"; return 1; }
	[ ! -e b ]
}

@test "invalid options end scp with the reason before anything is copied" {
	make_three_files
	echo 3 >list
	set_server "$(bin sftp-server)"
	check_refused 'list.none": No such file' --files-from list.none a h:b
	check_refused 'Is a directory' --files-from a a h:b
	check_refused 'needs an argument' --files-from
	check_refused 'one source' --files-from list a a/b "h:$T/b"
	check_refused 'one source' --files-from list "h:$T/a" "h:$T/a/b" b
	check_refused 'between local files' --files-from list a b
	check_refused 'does not work with -O' -O --files-from list a "h:$T/b"
	check_refused 'does not work with -R' -R --files-from list "h:$T/a" "g:$T/b"
	check_refused 'is not a directory' --files-from list a/3 "h:$T/b"
	check_refused 'is not a directory' --files-from list "h:$T/a/3" b
	check_refused 'is not a directory' --files-from list "h:$T/a/3" "g:$T/b"
	check_refused 'No such file' --files-from list none "h:$T/b"
	check_refused 'No such file' --files-from list "h:$T/none" b
	check_refused 'is a pattern' --files-from list "h:$T/*" b
	check_refused '--from0 requires --files-from' --from0 a "h:$T/b"
	run -1 "$(bin sftp)" --files-from list h
	[[ $output = *'unknown option --files-from'* ]]
}

@test "a list is refused in modes that copy one file after the other" {
	local o way
	make_three_files
	echo 3 >list
	for o in -l100000 -Xnrequests=7; do
		set_server "$(bin sftp-server)"
		check_refused '--files-from cannot be combined with' $o --files-from list a "h:$T/b"
		check_refused '--files-from cannot be combined with' $o --files-from list "h:$T/a" b
	done
	check_refused '--files-from cannot be combined with' -l100000 --files-from list "h:$T/a" "g:$T/b"
}

# check_verified: copies to a target that has one file complete, one in part and one with
# other bytes, and lacks one
check_verified() {
	mkdir -p b/d b/b
	cp -p a/3 b/3
	head -c 1000000 a/d/large >b/d/large
	head -c 700000 /dev/zero >b/b/other
	copy_list -p --resume --report report "$SOURCE" "$TARGET"
	diff -r a b
	check_report "f['3'].get('skipped') and f['large']['bytes'] < 3000000"
	check_report "f['other']['bytes'] == 700000 and f['1']['bytes'] == 2"
	copy_list --checksum --report report "$SOURCE" "$TARGET"
	check_report "[x['verified'] for x in r['files']] == ['hashes'] * 5"
}

@test "the files of a list are resumed and compared" {
	need python3
	make_three_files
	head -c 3000000 /dev/urandom >a/d/large
	head -c 700000 /dev/urandom >a/b/other
	(cd a && find . -type f) >list
	set_server "$(bin sftp-server)"
	SOURCE=a TARGET=h:$T/b check_verified
	rm -r b
	SOURCE=h:$T/a TARGET=b check_verified
}

@test "a directory whose name looks like a pattern can be the root" {
	mkdir 'a[b]*'
	echo x >'a[b]*/x'
	echo x >list
	set_server "$(bin sftp-server)"
	copy_list "h:$T/a\\[b]\\*" b
	diff -r 'a[b]*' b
}

@test "the root may be a URI, a home directory or a login's, and -j works with lists" {
	make_three_files
	sshd_up
	(cd a && find . -type f) >list
	copy -q -j2 --files-from list a "hayate:$T/b"
	diff -r a b
	copy -q -j2 --files-from list "hayate:$T/a" c
	diff -r a c
	copy -q --files-from list "scp://hayate/$T/a/" d
	diff -r a d
	copy -q --files-from list "hayate:$T/a" "hayate:$T/e"
	diff -r a e
	run -1 copy -q -o Hayate=no --files-from list "hayate:$T/a" f
	[[ $output = *'--files-from cannot be combined with'* ]]
	[ ! -e f ]
}

### Servers

make_many_files() {
	local i
	mkdir -p a/1/2 a/3
	for i in $(seq 250); do echo "$i" | tee "a/1/2/$i" >"a/3/$i"; done
	(cd a && find . -type f) >list
}

@test "500 names take 11 round trips, both ways" {
	make_many_files
	use_peer limits=261120,261120,1019 gather=0.1
	# INIT, the root twice, STAT, OPEN, READ, CLOSE
	copy_list "h:$T/a" b
	diff -r a b
	run -0 cat log
	echo "$output"
	[ "$(get_value 0 rounds)" -le 11 ]
	[ "$(get_value 0 open)" -ge 400 ]
	# INIT, the real path, MKDIR of three levels, OPEN, WRITE, CLOSE, SETSTAT of three
	copy_list a "h:$T/b2"
	diff -r a b2
	run -0 cat log
	echo "$output"
	[ "$(get_value 0 rounds)" -le 11 ]
}

@test "a server may reply in any order, announce no limit, or refuse a second open file" {
	local odd
	make_many_files
	echo nothing/here >>list
	for odd in "limits=261120,261120,1019 gather=0.02 backwards=1" strict=0 \
	    strict=1 strict=2 "limits=261120,261120,40 strict=40"; do
		rm -rf b b2
		# shellcheck disable=SC2086 # words
		use_peer $odd
		run -1 copy_list "h:$T/a" b
		[[ $output = *'nothing/here'* ]]
		[ "$(wc -l <<<"$output")" = 1 ]
		diff -r a b
		run -1 copy_list a "h:$T/b2"
		diff -r a b2
	done
}

# get_from_odd_server STAT STATUS ARG...: gets the list from a server that sends these
# attributes
get_from_odd_server() {
	rm -rf b
	use_peer limits=261120,261120,1019 "stat=$1"
	run "-$2" copy_list "${@:3}" "h:$T/a" b
}

@test "attributes from a server are used only as far as they are given" {
	make_three_files
	printf 'b/c/1\n3\n' >list
	get_from_odd_server block 1
	[ "$(grep -c 'not a regular file' <<<"$output")" = 2 ]
	[ "$(find b -type f)" = "" ]
	get_from_odd_server dir 0
	[ -d b/3 ]
	[ -d b/b/c/1 ]
	get_from_odd_server dir 1 -r
	[[ $output = *'readdir("'*'/a/3")'* ]]
	get_from_odd_server file 1
	[[ $output = *'/b/c/1" is not copied: its directory could not be created'* ]]
	[ "$(<b/3)" = 3 ]
	get_from_odd_server none 1
	[ "$(grep -c 'not a regular file' <<<"$output")" = 2 ]
	get_from_odd_server huge 0
	diff a/3 b/3
	diff a/b/c/1 b/b/c/1
	get_from_odd_server handle 255
	[[ $output = *'Expected packet of type'* ]]
}

@test "the exit status is 255 for a lost connection, and 1 for a file that failed" {
	local n
	make_many_files
	for n in 20 300 700; do
		rm -rf b
		use_peer limits=261120,261120,1019 gather=0.02 die=$n
		run -255 copy_list "h:$T/a" b
		[[ $output = *"Connection closed"* ]]
		rm -rf b
		run -255 copy_list a "h:$T/b"
		[[ $output = *"Connection closed"* ]]
	done
	chmod 0 a/3/7
	rm -rf b
	set_server "$(bin sftp-server)"
	need_root
	run -1 copy_list a "h:$T/b"
	[ "$(find b -type f | wc -l)" = 499 ]
}
