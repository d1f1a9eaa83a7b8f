#!/usr/bin/env bats
# Needs: hayate stock unit
# --journal FILE of scp and sftp (transfer/report/report-hook.h), the results in --report for
# sources that could not be read, and exit statuses.
# shellcheck disable=SC2086 # commands in words

load helper
load copies

# run_scp ARG..., run_sftp COMMAND...: ours, as a root who may not read everything
run_scp() {
	timeout 60 setpriv --bounding-set -dac_override,-dac_read_search \
	    "$(bin scp)" -q --report report --journal journal -S ./near "$@" 3>&-
}
run_sftp() {
	printf '%s\n' "$@" >commands
	timeout 60 setpriv --bounding-set -dac_override,-dac_read_search \
	    "$(bin sftp)" -q --report report --journal journal -S ./near \
	    -b commands h 3>&-
}

# check_journal EXPRESSION: evaluates Python with the lines j and the files f, by the name
# of "from"
check_journal() {
	python3 - "$1" <<-'END' || { cat journal; return 1; }
	import json, os, sys
	j = [json.loads(l) for l in open("journal") if l != "\n"]
	f = {os.path.basename(x["from"]): x for x in j}
	sys.exit(not eval(sys.argv[1]))
	END
}

# check_both EXPRESSION: checks that it is true of the report's files and of the journal's
# lines
check_both() {
	check_report "(lambda f, j: $1)(f, r['files'])"
	check_journal "$1"
}

### Sources that could not be read

# make_unreadable_tree: makes a tree of which three parts cannot be read, and two files
# can
make_unreadable_tree() {
	mkdir -p a/fine a/locked-dir a/hidden-names b
	echo 1 | tee a/1 a/fine/2 a/locked a/locked-dir/3 >a/hidden-names/4
	chmod 0 a/locked
	chmod 300 a/locked-dir
	chmod 600 a/hidden-names
}

# reset_target: removes what the last copy has left
reset_target() { rm -rf b report journal; mkdir b; }

# check_all_failed NAME...: checks that these have failed, with their whole path
check_all_failed() {
	local n at="os.path.join('$1', '%s')"
	shift
	for n; do
		# shellcheck disable=SC2059 # the path has a place for it
		check_both "[x['status'] for x in j if x['from'] == $(printf "$at" "$n")] == ['failed']"
	done
	check_report "r['totals']['failed'] == $# == len([x for x in r['files'] if x.get('error')])"
}

@test "a part of a tree that cannot be read fails with its full path" {
	need_root
	make_unreadable_tree
	set_server "$(bin sftp-server)"
	run -1 run_scp -r a "h:$T/b"
	check_all_failed a locked locked-dir hidden-names/4
	check_both "f['1']['status'] == f['2']['status'] == 'ok' and len(j) == 5"
	check_both "f['4']['to'] == '$T/b/a/hidden-names/4' and f['4']['direction'] == 'put'"
	check_both "'Permission denied' in f['locked-dir']['error'] and f['locked-dir']['bytes'] == 0"
	reset_target
	run -1 run_sftp "put -r a $T/b"
	check_all_failed a locked locked-dir hidden-names/4
	reset_target
	run -1 run_scp -r "h:$T/a" b
	check_all_failed "$T/a" locked locked-dir
	reset_target
	run -1 run_scp -3 -r "h:$T/a" "g:$T/b"
	check_all_failed "$T/a" locked locked-dir
	check_both "f['locked-dir']['direction'] == 'cross' and f['1']['status'] == 'ok'"
	reset_target
	run -1 run_sftp "get -r $T/a b"
	check_all_failed "$T/a" locked locked-dir
	reset_target
	run -1 run_scp -r a/locked-dir "h:$T/b"
	check_all_failed a locked-dir
	for o in --resume "-X nrequests=3"; do
		reset_target
		run -1 run_scp $o -r "h:$T/a" b
		check_all_failed "$T/a" locked locked-dir
	done
}

@test "a name of a list that is missing or unreadable fails" {
	local way
	need_root
	make_files 3
	mkdir b
	chmod 0 a/2
	set_server "$(bin sftp-server)"
	run -255 run_scp a/1 a/none a/3 "h:$T/b"
	check_all_failed a none
	check_report "not r['errors']"
	reset_target
	run -1 run_scp a/1 a/2 a/3 "h:$T/b"
	check_all_failed a 2
	for way in "h:$T/b" b; do
		reset_target
		run -1 run_scp -3 "g:$T/a/1" "g:$T/a/none" "g:$T/a/2" "g:$T/a/3" "$way"
		check_all_failed "$T/a" none 2
		check_both "f['3']['status'] == 'ok' and f['none']['host'] == 'g'"
	done
	reset_target
	ln -s nowhere a/broken
	run -1 run_sftp "-put a/none $T/b" "-get $T/a/none b" "put a/* $T/b"
	check_both "[x['from'] for x in j if x['status'] == 'failed'] == ['a/none', '$T/a/none', 'a/2', 'a/broken']"
	check_report "r['totals']['failed'] == 4 and not r['errors']"
}

@test "a missing name is recorded exactly, with any bytes" {
	local name
	set_server "$(bin sftp-server)"
	mkdir b
	for name in $'\xc3\xa4' 'a\101' 'a\b' 'q"x, y' $'\xff'; do
		rm -f report journal
		run -255 run_scp "$name" "h:$T/b"
		name=$(printf %s "$name" | xxd -p)
		check_both "[bytes.fromhex(x['from_hex']) if 'from_hex' in x else x['from'].encode() for x in j] == [bytes.fromhex('$name')]"
	done
	# An error of another command is of no source.
	run -1 run_sftp "ls $T/none"
	check_report "not r['files'] and r['errors']"
}

### The journal

@test "a journal has a line for each file, as the report has" {
	local w n
	make_files 20
	mkdir -p a/sub b
	echo x >a/sub/21
	set_server "$(bin sftp-server)"
	for w in "run_scp -r a h:$T/b" "run_scp -r h:$T/a b" "run_scp -3 -r h:$T/a g:$T/b" \
	    "run_scp $(echo a/?) h:$T/b" "run_scp h:$T/a/? b" "run_scp -3 h:$T/a/? g:$T/b" \
	    "run_scp a/1 h:$T/b" "run_scp h:$T/a/1 b/1" "run_scp -3 h:$T/a/1 g:$T/b/1" \
	    "run_scp -X nrequests=2 -r a h:$T/b" "run_scp -X nrequests=2 h:$T/a/1 b"; do
		reset_target
		run -0 $w
		case $w in
		*" -r "*)	n=21 ;;
		*"a/?"*|*" a/2 "*) n=9 ;;
		*)		n=1 ;;
		esac
		check_report "len(f) == $n"
		# In the order in which they were done
		check_journal "sorted((x['from'], x['to'], x['bytes'], x['status']) for x in j) == sorted(
		    (x['from'], x['to'], x['bytes'], 'ok') for x in json.load(open('report'))['files'])"
		check_journal "{x['hayate_journal'] for x in j} == {1} and {x['program'] for x in j} == {'scp'}"
		check_journal "all(x['seconds'] >= 0 and abs(x['time'] - $EPOCHSECONDS) < 100 for x in j)"
	done
	reset_target
	run -0 run_sftp "put -r a $T/b" "get $T/a/? b" "put a/7 $T/b"
	check_journal "len(j) == 31 and {x['program'] for x in j} == {'sftp'}"
}

@test "a journal is continued, and the report may be left out" {
	make_files 3
	mkdir b
	set_server "$(bin sftp-server)"
	copy_near --journal journal a/1 "h:$T/b"
	chmod 600 journal
	timeout 60 "$(bin sftp)" --journal=journal -q -S ./near -b - h <<<"get $T/a/* b" 3>&-
	check_journal "[x['direction'] for x in j] == ['put', 'get', 'get', 'get']"
	[ "$(stat -c %a journal)" = 600 ]
	run -0 copy_near --journal - a/2 "h:$T/b"
	echo "$output" >journal
	check_journal "[x['from'] for x in j] == ['a/2']"
}

@test "a journal is valid after kill -9, and a truncated line is left unchanged" {
	local lines
	mkdir a b
	head -c 30000000 /dev/urandom >a/0
	make_files 40
	# The large file goes on while the small ones are done.
	use_peer limits=261120,261120,1019 rate=20000000
	"$(bin scp)" -q --journal journal -S ./near -r a "h:$T/b" 3>&- &
	poll 20 eval '[ "$(cat journal 2>/dev/null | wc -l)" -ge 10 ]'
	kill -9 $!
	wait $! || true
	check_journal "len(j) >= 10 and '0' not in f and {x['status'] for x in j} == {'ok'}"
	lines=$(wc -l <journal)
	truncate -s -5 journal
	set_server "$(bin sftp-server)"
	copy_near --journal journal a/1 a/2 "h:$T/b"
	[ "$(wc -l <journal)" = $((lines + 2)) ]
	sed -i "${lines}d" journal
	check_journal "[x['from'] for x in j[-2:]] == ['a/1', 'a/2'] and len(j) == $lines + 1"
}

@test "a file in progress when scp is terminated fails in the journal" {
	mkdir a b
	head -c 9000000 /dev/urandom >a/1
	use_peer limits=261120,261120,1019 rate=20000000 interrupt=4000000,100000
	run -1 copy_near --journal journal a/1 "h:$T/b"
	check_journal "[x['status'] for x in j] == ['failed']"
}

@test "a journal that cannot be opened ends scp and sftp before anything is copied" {
	local p why
	make_files 1
	mkdir b
	echo "put a/1 $T/b" >put
	set_server "sh -c 'touch $T/began; exec $(bin sftp-server)'"
	for p in "scp -q -S ./near a/1 h:$T/b" "sftp -q -S ./near -b put h"; do
		for why in "none/journal: No such file" ".: Is a directory"; do
			run -1 "$BUILD"/hayate/${p%% *} --journal "${why%%:*}" ${p#* }
			[[ $output = *"journal \"${why%%:*}\":${why#*:}"* ]]
		done
		run -1 "$BUILD"/hayate/${p%% *} --journal same --report same ${p#* }
		[[ $output = *"this is the journal; each needs a file of its own" ]]
		run -1 "$BUILD"/hayate/${p%% *} --journal
		[[ $output = *"--journal needs an argument"* ]]
	done
	[ ! -e began ]
}

@test "a report or journal that is also a source or target is an error, and stays complete" {
	local o t
	set_server "$(bin sftp-server)"
	mkdir -p a b/a
	head -c 300000 /dev/urandom | tee a/f >orig
	echo "put a/f $T/b" >put
	echo "get $T/orig a/f" >get
	for o in report journal; do
		for t in "scp -q --$o a/f a/f h:$T/b" "scp -q --$o a/f h:$T/orig a/f" \
		    "scp -q --checksum --$o a/f h:$T/orig a/f" \
		    "scp -qr --$o b/a/f h:$T/a b" "scp -qr --$o b/a/f -j 2 h:$T/a b" \
		    "sftp -q --$o a/f -b put h" "sftp -q --$o a/f -b get h"; do
			cp orig a/f
			rm -f b/a/f
			# shellcheck disable=SC2086 # words
			run -1 timeout 60 "$BUILD/hayate/${t%% *}" -S ./near ${t#* } 3>&-
			[[ $output = *"$o \""*'f": not written, because this file is copied'* ]]
			cmp orig a/f
			[[ $t != *b/a/f* ]] || cmp orig b/a/f
			[ "$(ls -A a)" = f ]
		done
	done
	# The journal may be a new file, and in a tree it is only a file.
	rm a/f
	run -1 copy_near --report a/f "h:$T/orig" a/f
	cmp orig a/f
	run -0 copy_near -r --report a/r a "h:$T/b/new"
	run -0 copy_near -r --report a/r a "h:$T/b/new"
	cmp orig b/new/a/f
	run -1 copy_near --report x --journal x a/f "h:$T/b"
	[[ $output = *'report "x": this is the journal'* ]]
}

@test "a journal on a full disk is a reported error, and the copy continues" {
	local w
	make_files 30
	mkdir b
	set_server "$(bin sftp-server)"
	for w in "a/1 h:$T/b" "-r a h:$T/b" "h:$T/a/1 b"; do
		run -1 copy_near --journal /dev/full $w
		[ "${output%$'\r'}" = "$(bin scp): journal \"/dev/full\": No space left on device" ]
	done
	diff -r a b/a
	echo "put a/1 $T/b/new" >put
	run -1 timeout 60 "$(bin sftp)" -q --journal /dev/full -S ./near -b put h
	[[ $output = *'journal "/dev/full": No space left on device'* ]]
	cmp a/1 b/new
	run -1 bash -c "ulimit -f 4; trap '' XFSZ; timeout 20 '$(bin scp)' -q --journal journal -S ./near -r a h:$T/b"
	[[ $output = *'journal "journal": File too large'* ]]
	[ "$(stat -c %s journal)" = 4096 ]
	copy_near --journal journal a/7 "h:$T/b"
	[ "$(tail -n 2 journal | head -n 1 | tail -c 2)" != "}" ]
	sed -i "$(($(wc -l <journal) - 1))d" journal
	check_journal "j[-1]['from'] == 'a/7'"
}

@test "a journal whose reader is gone is a reported error" {
	make_files 3
	mkdir b
	set_server "$(bin sftp-server)"
	mkfifo pipe
	sleep 60 <>pipe 3>&- &
	# Opened for both, so that nobody waits; nobody reads when it is written.
	set_server "sh -c 'kill $!; while kill -0 $! 2>/dev/null; do :; done; exec $(bin sftp-server)'"
	run -1 copy_near --journal pipe a/1 a/2 "h:$T/b"
	[ "${output%$'\r'}" = "$(bin scp): journal \"pipe\": Broken pipe" ]
	cmp a/2 b/2
}

@test "a journal records which files were verified, how, and which were skipped" {
	local block=$((8 * 1024 * 1024)) w
	mkdir a b
	head -c $((block + 5000)) /dev/urandom >a/1
	head -c 3000 /dev/urandom >a/2
	for w in "put" "get"; do
		set_server "$(bin sftp-server)"
		[ $w = put ] && w="a/1 a/2 h:$T/b" || w="h:$T/a/1 h:$T/a/2 b"
		rm -f journal
		cp a/2 b/2
		head -c $((block + 70)) a/1 >b/1
		run -0 run_scp --resume $w
		check_both "(f['2']['verified'], f['2']['verified_bytes'], f['2']['skipped'], f['2']['bytes']) == ('hashes', 3000, True, 0)"
		check_both "(f['1']['verified'], f['1']['verified_bytes'], f['1']['bytes']) == ('hashes', $block + 70, 4930)"
		check_both "'skipped' not in f['1'] and f['1']['status'] == 'ok'"
		rm -f journal b/*
		run -0 run_scp --checksum $w
		check_both "all(x['verified'] == 'hashes' and x['verified_bytes'] == x['bytes'] > 0 for x in j)"
		rm -f journal b/2
		run -0 run_scp $w
		check_both "all('verified' not in x and 'skipped' not in x for x in j)"
		touch -d '2001-02-03 04:05:06' a/1 b/1
		cp -p a/2 b/2
		rm -f journal
		run -0 run_scp --resume -p $w
		check_both "f['1']['verified'] == 'hashes' and f['1']['skipped'] and f['1']['verified_bytes'] == $block + 5000"
		set_server "$(bin sftp-server stock)"
		rm -f journal
		run run_scp --resume $w
		check_both "f['2']['verified'] == 'bytes' and f['2']['skipped']"
	done
	reset_target
	set_server "$(bin sftp-server)"
	head -c 1000 a/2 >b/2
	run -0 run_sftp "put -ra a $T/b" "reput a/2 $T/b/2"
	check_journal "[x.get('verified') for x in j] == [None, None, 'bytes'] or j[-1]['status'] == 'ok'"
}

### Exit statuses

@test "scp and sftp end with 255 if the connection is lost, and with 1 if a file failed" {
	local w n
	mkdir a b
	for n in 1 2 3; do head -c 900000 /dev/urandom >"a/$n"; done
	echo "put -r a $T/b" >put
	echo "put a/1 $T/b" >put1
	echo "get $T/a/* b" >get
	# By an end of file or by SIGPIPE, as chance has it
	set_server "dd bs=64k count=4 status=none | $(bin sftp-server)"
	for w in "scp a/1 h:$T/b" "scp a/1 a/2 h:$T/b" "scp -r a h:$T/b" "scp -l 500000 a/1 h:$T/b" \
	    "sftp -b put1 h" "sftp -b put h" "sftp -R 3 -b put1 h"; do
		for n in 1 2 3; do
			run -255 timeout 60 "$BUILD"/hayate/${w/ / -q -S ./near } 3>&-
			[[ $output = *"Connection closed"* || $output = *"Broken pipe"* ]]
		done
	done
	set_server "$(bin sftp-server) | dd bs=64k count=4 status=none"
	run -255 copy_near "h:$T/a/1" b
	set_server false
	for w in "scp a/1 h:$T/b" "sftp -b put h"; do
		run -255 timeout 60 "$BUILD"/hayate/${w/ / -q -S ./near } 3>&-
	done
	set_server "$(bin sftp-server)"
	rm -rf b
	mkdir -p b/1
	for w in "scp a/1 h:$T/b" "scp a/1 a/2 h:$T/b" "scp h:$T/none b" "sftp -b put1 h"; do
		run -1 timeout 60 "$BUILD"/hayate/${w/ / -q -S ./near } 3>&-
	done
}

@test "sftp whose output is not read ends like stock's" {
	local p
	set_server "$(bin sftp-server)"
	yes pwd | head -n 20000 >commands
	for p in hayate stock; do
		timeout 60 "$(bin sftp $p)" -S ./near -b commands h 2>/dev/null 3>&- |
		    head -n 1 >/dev/null
		echo "${PIPESTATUS[0]}" >"status.$p"
	done
	[ "$(<status.hayate)" = 141 ]
	[ "$(<status.stock)" = 141 ]
}

@test "no name from a server puts C1 or bidi controls into a report or a journal" {
	mkdir there
	python3 - <<-'END'
	for c in [*range(0x7f, 0xa0), 0x61c, 0x200e, 0x200f, *range(0x202a, 0x202f),
	    *range(0x2066, 0x206a), 0xa0, 0xe9, 0x200d, 0x2030, 0x2065, 0x206a, 0x1f600]:
	    open(f"there/{c:x}-{chr(c)}.", "w").close()
	END
	set_server "$(bin sftp-server)"
	timeout 60 "$(bin scp)" -q -S ./near --report - --journal journal -r "h:$PWD/there" here 3>&- >report
	# readers get each name as it is, and a terminal none of these characters
	check_both "sorted(os.path.basename(x['from']) for x in j) == sorted(os.listdir('there')) and len(j) == 52"
	python3 - <<-'END'
	import re
	for name in "report", "journal":
	    text = open(name, encoding="utf-8", newline="").read()
	    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", text), name
	    # others are not escaped
	    assert "\xe9" in text and "\u206a" in text and "\U0001f600" in text
	END
}

# A wrapper that permits "scp -f" alone looks at no more than that.
@test "as a server scp accepts no long option, before or after -f or -t" {
	local mode option
	echo 1 >a
	for mode in -f -rf -t; do
		for option in --report=told --journal=told --checksum --resume --from0 \
		    --files-from=a --hosts=h --help; do
			run -1 "$(bin scp)" $mode $option a </dev/null
			run -1 "$(bin scp)" $option $mode a </dev/null
		done
		run -1 "$(bin scp)" $mode --report told a </dev/null
		run -1 "$(bin scp)" -j2 $mode a </dev/null
	done
	[ "$(ls -A)" = a ]
	# and it serves without them
	printf '\0\0\0' | "$(bin scp)" -f a | grep -a '^C0[0-7]* 2 a$'
}
