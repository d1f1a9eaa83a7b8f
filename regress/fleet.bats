#!/usr/bin/env bats
# Needs: hayate fleet
# hayate-fleet: one copy by many clients, through a shared directory. "./check slurm"
# has the same under a real Slurm.

load helper
load copies

setup_file() {
	export FLEET=$BATS_FILE_TMPDIR/hayate-fleet SCP=$BATS_FILE_TMPDIR/scp
	command -v fpart >/dev/null || PATH=$PATH:$BUILD/ftpd/usr/bin
	sshd_up hayate
	sshd_up hayate:narrow
	limit_logins
	# as a user who may not write what is read-only; $VIA takes the place of a network,
	# and $FIRST is done before
	cat >"$SCP" <<-END
	#!/bin/sh
	echo "\$*" >>"\${SCP_LOG:-/dev/null}"
	eval "\${FIRST-}"
	exec setpriv --bounding-set -dac_override,-dac_read_search $(bin scp) \
	    -S "\${VIA:-$(bin ssh)}" -F "$BATS_FILE_TMPDIR/ssh_config" "\$@"
	END
	sed "s|@SCP@|$SCP|" "$TOP/contrib/bin/hayate-fleet" >"$FLEET"
	chmod +x "$FLEET" "$SCP"
}

teardown_file() { sshd_down; }

# limit_logins: makes the server "narrow" take one login at a time
limit_logins() {
	local at
	at=$(sshd_dir narrow)
	sed -i 's/^MaxStartups .*/MaxStartups 1:100:1/' "$at/config"
	kill -HUP "$(cat "$at/pid")"
	poll 10 eval '[ "$(grep -c "Server listening" "$(sshd_log narrow)")" = 2 ]'
}

# the servers are those of the file
teardown() { :; }

run_fleet() { timeout 60 "$FLEET" "$@" 3>&-; }

# run_shards ARG...: runs shards without long pauses
run_shards() { run_fleet run --pause 0.2 "$@"; }

need_fpart() { need fpart; }

# make_odd_tree: makes names that a line cannot hold, empty directories, links, modes,
# times
make_odd_tree() {
	mkdir -p a/d/e a/empty a/$'new\nline' a/-dash
	echo 1 >a/d/e/1
	echo 2 >a/$'new\nline'/$'2\n3 x'
	echo 3 >a/-dash/-rf
	echo 4 >a/$'\xff\xfe'
	echo 5 >'a/ blank "quoted" \back'
	ln -s d/e/1 a/link
	seq 2000 >a/d/some
	chmod 640 a/d/some
	chmod 2750 a/d
	chmod 700 a/empty
	touch -d '2001-02-03 04:05:06' a/d/some a/d/e a/d a/empty a/$'new\nline' a
}

# make_many_files N [BYTES]: makes N files in directories of 20
make_many_files() {
	python3 - "$@" <<-'END'
	import os, sys
	for i in range(int(sys.argv[1])):
	    os.makedirs(f"a/{i // 20}", exist_ok=True)
	    with open(f"a/{i // 20}/{i}", "wb") as f:
	        f.write(os.urandom(int((sys.argv + ["100"])[2])))
	END
}

# count_names SHARD: prints the number of names
# shellcheck disable=SC2086 # it may be a pattern
count_names() { cat work/$1/names | tr -cd '\0' | wc -c; }

# check_copied: checks that the copy is what scp -rp makes of the tree
check_copied() {
	rm -rf plain
	copy -q -rp a "hayate:$T/plain"
	TIMES=y print_state plain >want
	TIMES=y print_state b >got
	diff want got
}

# list_sent_bytes NAME: prints the bytes that all journals report of that name, one a line
list_sent_bytes() {
	cat work/*/journal.* | jq -r --arg n "/$1" 'select(.from | endswith($n)) | .bytes' | xargs
}

# query_summary EXPRESSION: prints the result of jq for the summary
query_summary() { run_fleet summary --json work | jq -r "$1"; }

### plan

@test "a tree arrives as scp -rp copies it, with any names, by three shards at once" {
	need_fpart
	make_odd_tree
	make_many_files 300
	run_fleet plan --shards 5 a "hayate:$T/b" work
	[ "$(cat work/shards)" = 5 ]
	run_shards work 1 &
	run_shards work 2 3 &
	run_shards work 4 5
	wait $!
	wait
	check_copied
	run_fleet summary work
	[ "$(query_summary '.files.ok')" = 307 ]
}

# list_shards LIST N: prints "bytes files" of each, of a source that is not read
list_shards() {
	run_fleet plan --shards "$2" --from "$1" h:/src b work >/dev/null
	jq -r '.shards[] | "\(.bytes) \(.files)"' work/plan
	rm -r work
}

@test "shards weigh the same, the heaviest is the first, and a large file is alone" {
	# 2000 files of 100 kB, 8000 of 1 kB behind them, and two large ones
	{
		seq 2000 | sed 's|.*|100000 big/&|'
		echo 900000000 huge/1
		seq 8000 | sed 's|.*|1000 small/&|'
		echo 30000000 huge/2
	} >list
	list_shards list 20 >got
	cat got
	[ "$(wc -l <got)" = 20 ]
	[ "$(head -n 2 got | xargs)" = "900000000 1 30000000 1" ]
	awk '{ w = $1 + 32768 * $2; bytes += $1; files += $2 }
	    NR > 1 && w > last { exit 1 }
	    { last = w }
	    NR == 3 { most = w }
	    END { exit !(w > most * 0.95 && bytes == 1138000000 && files == 10002) }' got
	list_shards list 1 >got
	[ "$(cat got)" = "1138000000 10002" ]
	# each name once
	run_fleet plan --shards 20 --from list h:/src b work
	cut -d' ' -f2 list | sort >want
	cat work/[1-9]*/names | tr '\0' '\n' | sort | diff - want
	[ "$(tr '\0' ' ' <work/0/names)" = ". big huge small " ]
}

@test "a large file of a tree is a shard, and what fpart has cut stays together" {
	need_fpart
	make_many_files 130
	truncate -s 300M a/3/large
	run_fleet plan --shards 9 a "hayate:$T/b" work
	[ "$(tr '\0' ' ' <work/1/names)" = "3/large " ]
	[ "$(cat work/shards)" -ge 4 ]
	[ "$(count_names [2-9])" = 130 ]
}

@test "memory does not depend on the number of names" {
	local n
	for n in 20000 300000; do
		seq $n | sed 's|.*|10 some/directory/of/a/tree/&|' | shuf --random-source=/bin/bash >list
		measure_peak "$FLEET" plan --shards 50 --from list h:/src b work >peak.$n
		[ "$(cat work/[1-9]*/names | tr -cd '\0' | wc -c)" = $n ]
		rm -r work
	done
	tail -n 1 peak.*
	check_true "$(tail -n 1 peak.300000) < $(tail -n 1 peak.20000) + 8192"
}

# check_refused_plan TEXT ARG...: checks that plan ends with 2 and this text, and leaves
# nothing
check_refused_plan() {
	run -2 run_fleet plan "${@:2}"
	[[ $output = "hayate-fleet: "*"$1"* ]] || { echo "$output"; return 1; }
	[ ! -e work ]
}

@test "an invalid list is an error with its line number, and no plan remains" {
	mkdir a
	printf '5 fine\nword\n' >list
	check_refused_plan 'list, line 2: "word": expected a size, a blank' --from list a h:b work
	printf '5 fine\n5 a/../b\n' >list
	check_refused_plan 'component ".."' --from list a h:b work
	printf '5 fine\n5 /etc/passwd\n' >list
	check_refused_plan '"/etc/passwd" is not below the source' --from list a h:b work
	printf '5 x/1\n5 ./x//1\n' >list
	check_refused_plan '"x/1" is in the list twice' --from list a h:b work
	printf -- '-5 x\n' >list
	check_refused_plan 'line 1' --from list a h:b work
	check_refused_plan 'list.none: No such file' --from list.none a h:b work
	seq 20000 >list
	check_refused_plan 'list: a record exceeds 65536 bytes; are the names terminated by NUL?' --from list --from0 a h:b work
	# and other ways to write a good one
	printf '5 %s/a/1\n  6\t./2 \n7 d/\n' "$T" >list
	run_fleet plan --shards 9 --from - a h:b work <list
	[ "$(cat work/[12]/names | tr '\0' '|')" = "2 |1|" ]
	[ "$(tr '\0' '|' <work/0/names)" = ".|d|" ]
}

@test "invalid arguments are an error with the reason" {
	mkdir a
	echo x >file
	check_refused_plan 'one of source and target must be HOST:PATH' a b work
	check_refused_plan 'one of source and target must be HOST:PATH' h:a h:b work
	check_refused_plan 'is not a directory' none h:b work
	check_refused_plan 'is not a directory' file h:b work
	check_refused_plan 'requires --from LIST' h:a b work
	check_refused_plan 'without wildcards' --from file 'h:a*' b work
	check_refused_plan '1 to 1000' --shards 1001 a h:b work
	check_refused_plan '1 to 1000' --shards 0 a h:b work
	check_refused_plan 'is below the source' a h:b a/work
	check_refused_plan 'is below the source' / h:b work
	check_refused_plan 'must be a path without a host' --to d1,d2 a h:b work
	check_refused_plan '--to requires a local source' --to d1,d2 h:a b work
	check_refused_plan 'has an empty host name' --to d1,,d2 a b work
	check_refused_plan '--from0 requires' --from0 a h:b work
	PATH=/usr/bin:/bin
	if ! command -v fpart >/dev/null; then
		check_refused_plan 'fpart is not installed; install it, or: (cd SRC && find' a h:b work
	fi
	run -2 run_fleet plan a
	run -2 run_fleet
	run -2 run_fleet run none 1
	[[ $output = *'/none" has no plan'* ]]
	run -2 run_fleet status a
	echo '5 1' | run_fleet plan --from - a h:b work
	run -2 run_fleet plan --from list a h:b work
	[[ $output = *'work" is not empty'* ]]
	run -2 run_fleet run work 2
	[[ $output = *'shard 2 does not exist: the plan has shards 1 to 1'* ]]
	run -2 run_fleet run --pause -1 work
	[[ $output = *'--pause -1.0: expected a number of seconds'* ]]
	if ((EUID == 0)); then
		chown 1 work/plan
		run -2 run_fleet run work 1
		[[ $output = *'belongs to another user'* ]]
	fi
}

# check_refused_verbs WHY: checks that each verb ends with 2 and that text, and starts no
# scp
check_refused_verbs() {
	local verb
	for verb in run status summary; do
		SCP_LOG=$T/scp.log run -2 run_fleet $verb work
		[[ $output = *"$1"* ]] || { echo "$output"; return 1; }
	done
	[ ! -e scp.log ]
	[ "$(<mine)" = mine ]
}

@test "a plan that others may write is refused, and no link is followed" {
	local part
	mkdir a
	echo 1 >a/1
	echo mine >mine
	mkdir shared
	chmod 2775 shared
	echo '5 1' >list
	run -2 run_fleet plan --from list a h:b shared
	[[ $output = *"$T/shared is writable by others "*'chmod go-w'* ]]
	[ -z "$(ls -A shared)" ]
	(umask 0; run_fleet plan --from list a "hayate:$T/b" work)
	[ -z "$(find work -perm /077)" ]
	for part in work work/plan work/1; do
		chmod g+w $part
		check_refused_verbs "$T/$part is writable by others "
		chmod g-w $part
	done
	# what somebody has put there while it could be written
	for part in plan 1/state 1/journal.x; do
		[ ! -e work/$part ] || mv work/$part kept
		ln -s "$T/mine" work/$part
		check_refused_verbs "work/$part is a symbolic link"
		rm work/$part
		[ ! -e kept ] || mv kept work/$part
	done
	mv work/1/names kept
	for part in names left said; do
		ln -s "$T/mine" work/1/$part
		SCP_LOG=$T/scp.log run -2 run_fleet run work
		[[ $output = *"work/1/$part is a symbolic link"* ]]
		[ "$(<mine)" = mine ]
		rm work/1/$part
		[ ! -e kept ] || mv kept work/1/names
	done
	(umask 0; run_shards work)
	cmp a/1 b/1
	[ "$(stat -c %a b/1)" = "$(stat -c %a a/1)" ]
	[ -z "$(find work -perm /077)" ]
}

# Somebody who may write in the parent directory replaces the plan when scp starts.
@test "after a plan is renamed, scp still reads and writes the files of that plan" {
	mkdir a evil evil/1
	echo 1 >a/1
	echo 2 >a/2
	echo mine >mine
	printf '2\0' >evil/1/left
	echo '2 1' | run_fleet plan --from - a "hayate:$T/b" work
	ln -s "$T/mine" evil/1/journal.x
	SLURMD_NODENAME=x FIRST="mv $T/work $T/moved; mv $T/evil $T/work" run -2 run_shards work
	[ "$(<mine)" = mine ]
	[ "$(ls b)" = 1 ]
	[ "$(jq -r .from moved/1/journal.x)" = "$T/a/1" ]
}

@test "the files that a run brings have their modes, and new directories those of the user" {
	mkdir a
	echo 1 >a/1
	chmod 664 a/1
	mkdir there
	(umask 002; echo '2 1' | run_fleet plan --from - "hayate:$T/a" there/b work; run_shards work)
	[ "$(stat -c %a there/b/1)" = 664 ]
	[ "$(stat -c %a work/1/journal.*)" = 600 ]
}

@test "names that the plan could not read are reported by plan and summary" {
	need_root
	need_fpart
	make_many_files 30
	mkdir a/locked
	chmod 0 a/locked
	run -1 setpriv --bounding-set -dac_override,-dac_read_search \
	    "$FLEET" plan a "hayate:$T/b" work
	[[ $output = *'not read: ./locked: Permission denied'* ]]
	run_shards work
	run -1 run_fleet summary work
	[[ $output = *'failed: ./locked: Permission denied: not read'* ]]
	chmod 700 a/locked
	rm -r work b
	deep=a/$(yes d/ | head -n 64 | tr -d '\n')
	mkdir -p "$deep"
	echo x >"$deep/x"
	run -1 run_fleet plan a "hayate:$T/b" work
	[[ $output = *'not read: d/d/'*'/x: too long a path'* ]]
	run_shards work
	run -1 run_fleet summary work
	[[ ${lines[0]} = *'files: 30 of 30, 1 failed'* ]]
}

### run

# make_slow_plan: plans one file that takes some seconds, and small ones
make_slow_plan() {
	make_many_files 40
	head -c 12000000 /dev/urandom >a/0/large
	find a -type f -printf '%s %P\n' | sort -n |
	    run_fleet plan --shards 1 --from - a "hayate:$T/b" work -o MaxRate=3M
}

# wait_until_started: waits until the large file is in progress, and others are done
wait_until_started() {
	poll 10 eval '[ "$(du -sk b 2>/dev/null | cut -f 1)0" -gt 40000 ]' &&
	    poll 10 eval '[ "$(cat work/1/journal.* | wc -l)" -ge 5 ]'
}

@test "a shard is copied once, even if several runs want it" {
	export SCP_LOG=$T/scp.log
	make_slow_plan
	run_shards work 1 &
	wait_until_started
	# another one waits for the lock, and has nothing to do then
	run -0 run_shards work 1
	[[ $output = *'shard 1: waiting for '*', which is copying it'* ]]
	wait $!
	run_shards work
	check_copied
	# scp was started for the shard and for the directories
	[ "$(wc -l <scp.log)" = 2 ]
	[ "$(list_sent_bytes 0/large) $(list_sent_bytes 1/33)" = "12000000 100" ]
}

@test "the lock stays until scp has ended, if hayate-fleet alone is killed" {
	export SCP_LOG=$T/scp.log
	local pid
	make_slow_plan
	"$FLEET" run work 1 3>&- &
	pid=$!
	wait_until_started
	kill -9 "$pid"
	run -0 run_shards work 1
	[[ $output = *'waiting for'* ]]
	check_copied
	[ "$(list_sent_bytes 0/large)" = 12000000 ]
	[ "$(wc -l <scp.log)" = 2 ]
}

@test "after a kill only unfinished files are sent, and they are resumed at their end" {
	make_slow_plan
	setsid "$FLEET" run work 1 3>&- &
	wait_until_started
	kill -9 -- "-$!"
	wait $! || true
	run -75 run_fleet summary work
	[[ $output = *'0 done, 0 running, 1 left'* ]]
	run_shards work
	check_copied
	[ "$(cat work/1/journal.* | jq -r .from | sort | uniq -d)" = "" ]
	check_true "$(list_sent_bytes 0/large) < 9000000"
	[ "$(query_summary .status)" = 0 ]
}

@test "a signal ends the copy, with the exit status that asks for another run" {
	make_slow_plan
	"$FLEET" run work 1 3>&- &
	wait_until_started
	kill "$!"
	status=0
	wait "$!" || status=$?
	[ "$status" = 75 ]
	flock -n work/1/state true
	[ "$(run_fleet status --json work | jq -c .shards)" = '{"done":0,"running":0,"left":1}' ]
}

@test "a file that is gone fails once, and is retried with --again" {
	export SCP_LOG=$T/scp.log
	make_many_files 60
	(cd a && find . -type f -printf '%s %p\n') | run_fleet plan --shards 2 --from - a "hayate:$T/b" work
	mv a/1/25 .
	run -1 run_shards work
	run -1 run_shards work
	[ "$(wc -l <scp.log)" = 3 ]
	run -1 run_fleet summary work
	[[ $output = *"2 done, 0 running, 0 left; files: 59 of 60, 1 failed"* ]]
	[[ $output = *"failed: $T/a/1/25: "*"No such file"* ]]
	[ "$(grep -c '^failed' <<<"$output")" = 1 ]
	run -1 run_shards --again work
	mv 25 a/1/
	run_shards --again work
	check_copied
	[ "$(query_summary '"\(.status) \(.files.ok) \(.files.failed)"')" = "0 60 0" ]
	# nothing else was sent again
	[ "$(list_sent_bytes 2/47)" = 100 ]
}

@test "a file that became a directory fails, and is retried with --again" {
	make_many_files 60
	(cd a && find . -type f -printf '%s %p\n') | run_fleet plan --shards 2 --from - a "hayate:$T/b" work
	mv a/1/25 .
	mkdir a/1/25
	echo new >a/1/25/in
	run -1 run_shards work
	run -1 run_fleet summary work
	[[ $output = *"2 done, 0 running, 0 left; files: 59 of 60, 1 failed"* ]]
	[[ $output = *"failed: $T/a/1/25: "*"is a directory"* ]]
	rm -r a/1/25 b/1/25
	mv 25 a/1
	run_shards --again work
	check_copied
	[ "$(query_summary '"\(.status) \(.files.ok) \(.files.failed)"')" = "0 60 0" ]
}

@test "a host that cannot be reached is tried three times, then the shard is given up" {
	export SCP_LOG=$T/scp.log
	make_many_files 3
	echo '100 0/1' >list
	run_fleet plan --from list a "hayate:$T/b" work -o Port=9
	run -75 run_shards work
	[[ $output = *'Connection refused'*'shard 1: not done after 3 attempts without progress; scp to hayate:'*'exited with 255'* ]]
	[ "$(wc -l <scp.log)" = 3 ]
	run -75 run_fleet summary work
	[[ $output = "shards: 0 done, 0 running, 1 left; files: 0 of 1, 0 failed"* ]]
}

@test "shards are spread over the hosts of a target, and fail over to the next one" {
	export SCP_LOG=$T/scp.log
	make_many_files 40
	(cd a && find . -type f -printf '%s %p\n') |
	    run_fleet plan --shards 4 --from - --to hayate,127.0.0.1 a "$T/b" work
	run_shards work
	[ "$(grep -c " 127.0.0.1:$T/b\$" scp.log) $(grep -c " hayate:$T/b\$" scp.log)" = "2 3" ]
	check_copied
	rm -r work b scp.log
	(cd a && find . -type f -printf '%s %p\n') |
	    run_fleet plan --shards 4 --from - --to no-such-host.invalid,hayate a "$T/b" work
	run_shards work
	check_copied
	[ "$(grep -c " no-such-host.invalid:" scp.log)" = 3 ]
}

@test "a server that refuses further logins is waited for" {
	local narrow
	make_many_files 3
	narrow=$(sshd_port narrow)
	echo '100 0/1' | run_fleet plan --from - a "narrow:$T/b" work
	exec 9<>"/dev/tcp/127.0.0.1/$narrow"
	head -n 1 <&9
	: >scp.log
	export SCP_LOG=$T/scp.log
	run_shards work 3>&- 9>&- 2>err &
	poll 20 eval '[ "$(wc -l <scp.log)" -ge 5 ]'
	exec 9>&-
	wait $!
	cmp a/0/1 b/0/1
	[ "$(grep -c 'Connection closed by\|Connection reset by\|kex_exchange_id' err)" -ge 4 ]
}

@test "names below directories that cannot be written form one shard" {
	need_root
	need_fpart
	make_many_files 400
	mkdir -p a/ro/deep/er
	for i in 1 2 3; do echo $i | tee a/ro/$i a/ro/deep/$i >a/ro/deep/er/$i; done
	chmod 555 a/ro/deep/er a/ro
	touch -d '2001-02-03 04:05:06' a/ro a/ro/deep/er
	run -0 run_fleet plan --shards 12 a "hayate:$T/b" work
	[[ $output = *"9 files are below directories that are not writable by their owner, and form one shard"* ]]
	printf '#!/bin/sh\nexec setpriv --bounding-set -dac_override,-dac_read_search %s\n' \
	    "$(bin sftp-server)" >near
	chmod +x near
	VIA=$T/near run_shards work
	check_copied
	chmod -R u+w a b plain
}

@test "a source on a server is copied by its list" {
	make_odd_tree
	make_many_files 50
	(cd a && find -L . ! -type d -printf '%s %P\0' -o -empty -printf '0 %P/\0') >list
	run_fleet plan --shards 4 --from list --from0 "hayate:$T/a/" b work
	run_shards work
	check_copied
	[ "$(query_summary '"\(.status) \(.files.ok)"')" = "0 57" ]
	rm -r b work
	rm a/1/30
	run_fleet plan --shards 4 --from list --from0 "hayate:$T/a" b work
	run -1 run_shards work
	[ "$(query_summary '"\(.status) \(.files.ok) \(.failed[].from)"')" = "1 56 $T/a/1/30" ]
}

@test "GNU parallel and a shell loop run it" {
	local gnu=$BUILD/ftpd/usr/bin/parallel	# moreutils has one as well
	[ -x "$gnu" ] || gnu=parallel
	"$gnu" --version 2>/dev/null | grep -q '^GNU' ||
	    skip "no GNU parallel (package parallel)"
	make_many_files 100
	(cd a && find . -type f -printf '%s %p\n') >list
	run_fleet plan --shards 6 --from list a "hayate:$T/b" work
	seq "$(cat work/shards)" | "$gnu" -j 3 "$FLEET" run work 3>&-
	check_copied
	rm -r work b
	run_fleet plan --shards 3 --from list a "hayate:$T/b" work
	for n in $(seq "$(cat work/shards)"); do run_shards work "$n"; done
	check_copied
}

### status and summary

@test "status and summary report the progress, as text and as JSON" {
	make_slow_plan
	run -0 run_fleet status work
	[ "$output" = "shards: 0 done, 0 running, 1 left; files: 0 of 41, 0 failed; 0 B of 12.0 MB, 0.0 MB/s" ]
	SLURMD_NODENAME=node7 "$FLEET" run work 3>&- &
	wait_until_started
	[ "$(run_fleet status --json work | jq -c .shards)" = '{"done":0,"running":1,"left":0}' ]
	check_true "$(run_fleet status --json work | jq .files.ok) >= 5"
	run -75 run_fleet summary work
	wait $!
	run -0 run_fleet summary work
	[[ ${lines[0]} = "shards: 1 done, 0 running, 0 left; files: 41 of 41, 0 failed; 12.0 MB of 12.0 MB, "* ]]
	[[ ${lines[1]} = "verified: 0 files, 0 B; directories: done" ]]
	[[ ${lines[2]} = "node node7: 41 files, 12.0 MB, "*" s, "*" MB/s" ]]
	check_true "$(query_summary '.nodes.node7.mb_per_s') < 3.5 && $(query_summary '.nodes.node7.mb_per_s') > 1.5"
	# of a single file as well
	head -c 3000000 a/0/large >a/one
	rm -r work
	echo '3000000 one' | run_fleet plan --from - a "hayate:$T/b" work -o MaxRate=3M
	run_shards work
	check_true "$(query_summary .mb_per_s) < 6 && $(query_summary .mb_per_s) > 0.5"
}

@test "verified files are counted, and a name cannot send control characters to a terminal" {
	mkdir a
	echo x >a/$'\e[31mred'
	echo y >a/y
	printf '2 y\0002 \e[31mred\0' | run_fleet plan --from - --from0 a "hayate:$T/b" work --checksum
	mv a/y .
	run -1 run_shards work
	[ "$(query_summary '"\(.files.verified) \(.bytes.verified)"')" = "1 2" ]
	rm -r work
	mv y a/
	printf '2 y\0002 \e[31mred\0' | run_fleet plan --from - --from0 a "hayate:$T/b" work
	rm a/*red
	run -1 run_shards work
	run -1 run_fleet summary work
	[[ $output = *'/a/\x1b[31mred: '* ]]
	[[ $output != *$'\e'* ]]
}
