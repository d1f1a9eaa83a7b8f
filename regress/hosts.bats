#!/usr/bin/env bats
# Needs: hayate stock
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# One copy over several hosts: --hosts and TransferHosts (transfer/conns/conns-hook.h,
# transfer/conns/fs-identity-hook.h, ssh/spawn-hook.h, ssh/extra-conn-hook.h). "hayate",
# "b", "c" and "d" have keys of their own and one directory behind them. Each sends 12
# MB/s (MaxRate), and what is put is as slow. "x" sees other files, and "s" is slow.

load helper

setup_file() {
	local k
	cd "$BATS_FILE_TMPDIR" || return
	for k in b c d x t w u r s z; do
		ssh-keygen -q -t ed25519 -N '' -C $k -f $k
	done
	sshd_up hayate "MaxRate 12M"
	for k in b c d; do
		sshd_up hayate:$k "MaxRate 12M" "HostKey $PWD/$k"
	done
	for k in 2 3; do
		sshd_up hayate:n$k "MaxRate 12M" "HostKey $PWD/$(tr 23 bc <<<$k)" \
		    "ListenAddress 127.0.0.$k:$(sshd_port hayate)"
	done
	start_swapped x '/there/' '/other/'
	sshd_up hayate:s "MaxRate 1M" "HostKey $PWD/s"
	sshd_up stock
	sshd_up stock:t "HostKey $PWD/t"
	sshd_up hayate:w "HostKey $PWD/w"
	sshd_up hayate:u "HostKey $PWD/u"
	sshd_up hayate:r "HostKey $PWD/r" "AuthorizedKeysFile none"
	write_known_hosts
	head -c 60000000 /dev/urandom >bulk
	head -c 20000000 bulk >less
	mkdir tree tree/some
	for k in 1 2 3 4 5 6; do head -c $((k * 2000000)) bulk >tree/$k; done
	for k in $(seq 1500); do echo "$k" >"tree/some/$k"; done
}

teardown_file() { sshd_down; }

# start_swapped NAME OLD NEW: starts a server that sees NEW where a name has OLD
# (sftp-swap)
start_swapped() {
	cat >"$BATS_FILE_TMPDIR/swap.$1" <<-END
	#!/bin/sh
	SWAP_LOG=$BATS_FILE_TMPDIR/writes.$1 exec $REGRESS/peers/sftp-swap '$2' '$3' \
	    $(bin sftp-server)
	END
	chmod +x "$BATS_FILE_TMPDIR/swap.$1"
	sshd_down "$1"
	sshd_up "hayate:$1" "MaxRate 12M" "HostKey $BATS_FILE_TMPDIR/$1" \
	    "Subsystem sftp $BATS_FILE_TMPDIR/swap.$1"
}

# write_known_hosts: writes the keys of all hosts but u, and for w that of another host; z
# does not exist
write_known_hosts() {
	local k
	for k in b c d x t r s; do echo "host-$k $(cat $k.pub)"; done >>known_hosts
	echo "host-w $(cat z.pub)" >>known_hosts
	{
		for k in b c d x t w u r s z; do
			printf 'Host %s\n\tHostKeyAlias host-%s\n' $k $k
		done
		printf 'Host z\n\tPort 1\n'
		cat ssh_config
	} >with
	mv with ssh_config
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	T=$BATS_TEST_TMPDIR
	F=$BATS_FILE_TMPDIR
	mkdir there other
}

teardown() {
	local pid
	[ ! -e "$F/asleep" ] || kill -KILL "$(cat "$F/asleep")" 2>/dev/null || :
	for pid in $(jobs -pr); do kill "$pid" 2>/dev/null || :; done
}

# upload_over, download_over HOSTS ARG...: copy over these hosts as well
upload_over() { copy -v -o MaxRate=48M --hosts "$@" 2>log || { tail log; return 1; }; }
download_over() { copy -v --hosts "$@" 2>log || { tail log; return 1; }; }

# check_hosts_used HOST...: connections went to these, and no other
check_hosts_used() {
	local those
	those=$(sed -n 's/.*scp: connection [0-9]* goes to \([a-z]*\).*/\1/p' log |
	    sort -u | tr '\n' ' ')
	[ "$those" = "$(printf '%s\n' "$@" | sort | tr '\n' ' ')" ] ||
	    { echo "went to $those"; return 1; }
}

# check_tree: checks that the received tree equals the source, with its times, and that no
# temporary file is left
check_tree() {
	diff -r "$F/tree" there/tree && check_no_temp_files &&
	    [ "$(stat -c %Y "$F/tree")" = "$(stat -c %Y there/tree)" ]
}
check_no_temp_files() { [ -z "$(find there other -name '.*hayate*')" ]; }

# check_notices TEXT...: checks that these are all lines of the file "said"
check_notices() {
	[ "$(sed 's/\r//; s/^[^ ]*scp: //' said)" = "$(printf '%s\n' "$@")" ] || { cat said; return 1; }
}

### What works

@test "a large file is striped over all hosts, with one login to each, both ways" {
	local k before
	before=$(count_logins c)
	upload_over b,c,d "$F/bulk" "hayate:$T/there/"
	check_hosts_used hayate b c d
	grep -q 'goes over 4 connections' log
	cmp "$F/bulk" there/bulk && check_no_temp_files
	download_over b,c,d "hayate:$F/bulk" other/
	check_hosts_used hayate b c d
	grep -q 'comes over 4 connections' log
	cmp "$F/bulk" other/bulk
	[ $(($(count_logins c) - before)) = 2 ]
}

@test "a tree is copied over all hosts, both ways, and directories keep their times" {
	upload_over b,c,d -rp "$F/tree" "hayate:$T/there/"
	check_hosts_used hayate b c d
	check_tree
	rm -r there/tree
	download_over b,c,d -rp "hayate:$F/tree" there/
	check_hosts_used hayate b c d
	check_tree
}

# check_shares HOST...: checks that each of these has transferred a tenth of the bytes at
# least
check_shares() {
	python3 - "$@" <<-'END'
	import json, sys
	links = {k["host"]: k["bytes"] for k in json.load(open("report"))["limit"]["links"]}
	print(links)
	assert sorted(links) == sorted(sys.argv[1:])
	assert min(links.values()) * 10 >= sum(links.values())
	END
}

@test "each of four hosts transfers its share, both ways" {
	cat "$F/bulk" "$F/bulk" "$F/bulk" >thrice
	download_over b,c,d --report report "hayate:$T/thrice" other/
	check_shares hayate b c d
	upload_over b,c,d --report report thrice "hayate:$T/there/"
	check_shares hayate b c d
}

@test "a slow host is named, and the report has the bytes of each host" {
	download_over b,s --report report "hayate:$F/bulk" other/
	cmp "$F/bulk" other/bulk
	grep -qE 'Connection [23] to s is slow: [0-9.]+ MB/s, the others [0-9.]+ MB/s' log ||
	    { grep 'scp: ' log; cat report; return 1; }
	python3 - report <<-'END'
	import json, sys
	links = json.load(open(sys.argv[1]))["limit"]["links"]
	assert sorted(k["host"] for k in links) == ["b", "hayate", "s"], links
	assert sum(k["bytes"] for k in links) >= 60000000, links
	assert min(links, key=lambda k: k["bytes"] / k["busy_s"])["host"] == "s", links
	END
	download_over b,c --report report "hayate:$F/bulk" other/
	fails grep 'is slow' log
	download_over none --report report "hayate:$F/bulk" other/
	fails grep '"links"' report
}

# make_host_name NAME NUMBER...: gives the name these addresses, 127.0.0.NUMBER, and the
# port of "hayate"; the file "keys" has the keys of the three servers for this name
make_host_name() {
	local n port
	port=$(sshd_port hayate)
	cp /etc/hosts names
	for n in "${@:2}"; do echo "127.0.0.$n $1" >>names; done
	cat >with-names <<-END
	mount --bind $T/names /etc/hosts
	exec "\$@"
	END
	# shellcheck disable=SC2034 # helper.bash uses it
	IN_CLIENT="unshare -m sh $T/with-names"
	{
		printf 'Host %s\n\tHostName %s\n\tPort %s\n\tHostKeyAlias %s\n' \
		    "$1" "$1" "$port" "$1"
		cat "$F/ssh_config"
	} >with
	sed "s/^hayate-test /$1 /; s/^host-[bc] /$1 /" "$F/known_hosts" >keys
}

@test "all addresses of a name are used as hosts, each verified by the keys of that name" {
	local k before
	make_host_name dtn.test 1 2 3
	before=$(count_logins hayate)
	download_over all -F with -o UserKnownHostsFile="$T/keys" "dtn.test:$F/bulk" other/
	cmp "$F/bulk" other/bulk
	grep -q 'comes over 3 connections' log
	grep -q 'goes to 127.0.0.2: ' log
	grep -q 'goes to 127.0.0.3: ' log
	[ "$(count_logins n2)$(count_logins n3)" = 11 ]
	[ $(($(count_logins hayate) - before)) = 1 ]
	upload_over all -F with -o UserKnownHostsFile="$T/keys" -rp "$F/tree" "dtn.test:$T/there/"
	check_tree
	[ "$(count_logins n2)$(count_logins n3)" = 22 ]
	# The key of one is not among those of the name.
	grep -v "$(cut -d' ' -f2 "$F/c.pub")" keys >fewer
	copy -F with -o UserKnownHostsFile="$T/fewer" --hosts all "dtn.test:$F/bulk" \
	    "$T/again" 2>all
	sed 's/\r//' all >said
	check_notices "Host 127.0.0.3 is left out: its host key is not the one that is known"
	cmp "$F/bulk" again
}

@test "with a single address or a proxy --hosts all says so and copies" {
	make_host_name alone.test 1
	copy -F with -o UserKnownHostsFile="$T/keys" --hosts all "alone.test:$F/less" other/ 2>said
	check_notices "TransferHosts all: the host has one address"
	cmp "$F/less" other/less
	make_host_name dtn.test 1 2 3
	copy -F with -o UserKnownHostsFile="$T/keys" -o ProxyCommand="socat - TCP:%h:%p" \
	    --hosts all "dtn.test:$F/less" other/2 2>said
	check_notices "TransferHosts all: behind a proxy the addresses of the host are not known"
	cmp "$F/less" other/2
}

@test "TransferHosts does the same, --hosts takes precedence, and "none" disables it" {
	{ printf 'TransferHosts b,c\n'; cat "$F/ssh_config"; } >with
	copy -v -F with "hayate:$F/bulk" other/ 2>log
	check_hosts_used hayate b c
	download_over d -F with "hayate:$F/bulk" other/
	check_hosts_used hayate d
	copy -v -F with -o TransferHosts=none "hayate:$F/less" other/ 2>log
	fails grep 'goes to' log
	[ "$(client -G -F with hayate | grep transferhosts)" = "transferhosts b,c" ]
}

@test "with -j connections are spread over the hosts, and sftp has --hosts as well" {
	cat "$F/bulk" "$F/bulk" "$F/bulk" >thrice
	download_over b,c -j 5 "hayate:$T/thrice" other/
	[ "$(grep -c 'scp: connection . goes to' log)" = 5 ]
	[ "$(grep -c 'scp: connection . goes to hayate' log)" = 2 ]
	[ "$(grep -c 'scp: connection . goes to [bc]' log)" = 3 ]
	check_hosts_used hayate b c
	cmp thrice other/thrice
	echo "get $F/bulk $T/there/" | files -v --hosts b,c -b - hayate >log 2>&1
	[ "$(grep -c 'connection . goes to' log)" = 3 ]
	cmp "$F/bulk" there/bulk
}

@test "a file is written in extents of 1 MiB, by at most four hosts" {
	local k
	for k in e f; do
		[ -d "$(sshd_dir $k)" ] || (
			cd "$F" && cp b $k && cp b.pub $k.pub && start_swapped $k none none
			echo "host-$k $(cat $k.pub)" >>known_hosts
		)
	done
	(
		cd "$F" && sed -i '/^host-[^ef]/d' known_hosts
		write_known_hosts
		for k in e f; do printf 'Host %s\n\tHostKeyAlias host-%s\n' $k $k; done |
		    cat - ssh_config >with && mv with ssh_config
	)
	rm -f "$F"/writes.*
	upload_over b,c,d,e,f "$F/bulk" "hayate:$T/there/"
	cmp "$F/bulk" there/bulk
	check_hosts_used hayate b c d e f
	grep -q 'goes over 4 connections' log
	fails grep 'goes over [5-9] connections' log
	upload_over e,f "$F/bulk" "hayate:$T/there/again"
	cmp "$F/bulk" there/again
	# Each part has one writer, but those where others joined.
	for k in e f; do
		awk -v k=$k '{ print int($1 / 1048576), k } $1 % 1048576 + $2 > 1048576 {
		    print int($1 / 1048576), "cross" }' "$F/writes.$k"
	done | sort -u >parts
	[ "$(wc -l <parts)" -gt 20 ]
	[ "$(grep -c cross parts)" -le 2 ]
	[ "$(cut -d' ' -f1 parts | uniq -d | wc -l)" -le 3 ]
}

@test "a host may have its own jump host or its own user" {
	local before
	printf 'Host b\n\tProxyJump hayate\nHost c\n\tUser nobody-at-all\n' |
	    cat - "$F/ssh_config" >with
	before=$(count_logins hayate)
	download_over "b,$(id -un)@c" -F with "hayate:$F/bulk" other/
	[ $(($(count_logins hayate) - before)) = 2 ]
	grep -q 'connection 2 goes to b' log
	grep -q "connection 3 goes to $(id -un)@c" log
	cmp "$F/bulk" other/bulk
}

@test "stock servers are hosts as well" {
	upload_over t -o MaxRate=24M "$F/bulk" "stock:$T/there/"
	check_hosts_used stock t
	grep -q 'goes over 2 connections' log
	cmp "$F/bulk" there/bulk && check_no_temp_files
	copy -v --hosts t -rp "stock:$F/tree" there/ 2>log
	check_hosts_used stock t
	check_tree
}

### Excluded hosts

@test "a host that sees other files is excluded, with one line, and gets no data" {
	copy -o MaxRate=24M -rp --hosts b,x "$F/tree" \
	    "hayate:$T/there/" 2>said
	check_notices "Host x is left out: it does not see the same files: cannot read the \
file that was just created in \"$T/there/tree\": No such file or directory"
	check_tree
	[ -z "$(ls other)" ]
	cp "$F/bulk" there/bulk
	copy --hosts b,x "hayate:$T/there/bulk" got 2>said
	check_notices "Host x is left out: it does not see the same files: \
cannot read \"$T/there/bulk\" there: No such file or directory"
	cmp "$F/bulk" got
	# The same size and time, and other contents
	head -c 60000000 /dev/zero >other/bulk
	touch -r there/bulk other/bulk
	copy --hosts b,x "hayate:$T/there/bulk" got 2>said
	check_notices "Host x is left out: it does not see the same files: \
\"$T/there/bulk\" is a different file there"
	cmp "$F/bulk" got
}

@test "a server that lies about the temporary file is excluded" {
	local lie=.hayate-host-00000000000000000000000000000000
	(cd "$F" && start_swapped x '\.hayate-host-[0-9a-f]*' "$lie" &&
	    sed -i '/^host-/d' known_hosts && write_known_hosts)
	head -c 64 /dev/zero >there/$lie
	copy -o MaxRate=24M --hosts x "$F/bulk" "hayate:$T/there/" 2>said
	check_notices "Host x is left out: it does not see the same files: the file \
that was just created in \"$T/there/\" has different contents there"
	cmp "$F/bulk" there/bulk
	rm there/$lie && check_no_temp_files
}

@test "a file that differs on another host is downloaded from the first" {
	(cd "$F" && start_swapped x '(/some/7[0-9]*|/tree/[456])$' '/tree/1' &&
	    sed -i '/^host-/d' known_hosts && write_known_hosts)
	download_over x,b -rp "hayate:$F/tree" there/
	check_hosts_used hayate x b
	grep -q 'connection [23] sees a different ".*" and is not used for it' log
	check_tree
	(cd "$F" && start_swapped x '/there/' '/other/' &&
	    sed -i '/^host-/d' known_hosts && write_known_hosts)
}

# make_private_directory NAME: gives host x a directory of its own where the others have
# NAME
make_private_directory() {
	mkdir "${1/there/other}"
	(cd "$F" && start_swapped x "/there/${1#there/}/" "/other/${1#there/}/" &&
	    sed -i '/^host-/d' known_hosts && write_known_hosts)
}

@test "files below a directory that another host does not share are sent to the first host" {
	local k
	mkdir mine mine/some there/mine there/mine/some other/mine
	for k in $(seq 60); do
		tail -c +$((k * 500000)) "$F/bulk" | head -c 900000 >"mine/some/$k"
	done
	make_private_directory there/mine/some
	upload_over x,b -r mine "hayate:$T/there/"
	check_hosts_used hayate x b
	grep -q '/there/mine/some/[0-9]*" is not visible on every host' log
	diff -r mine there/mine && check_no_temp_files
	# An old file of the same size is in the way.
	for k in there/mine/some/*; do
		dd if=/dev/zero of="$k" bs=900000 count=1 conv=notrunc status=none
	done
	touch -d 2020-02-02 there/mine/some/*
	upload_over x,b -r mine "hayate:$T/there/"
	grep -q '/there/mine/some/[0-9]*" differs on another host' log
	diff -r mine there/mine && check_no_temp_files
	(cd "$F" && start_swapped x '/there/' '/other/' &&
	    sed -i '/^host-/d' known_hosts && write_known_hosts)
}

@test "an unknown key, a wrong key, a refused login and an unknown host cause one line each" {
	local logins
	cp "$F/known_hosts" before
	logins=$(count_logins hayate)
	copy -o StrictHostKeyChecking=accept-new --hosts u,w,r,z \
	    "hayate:$F/less" other/ 2>all </dev/null
	sort all >said
	check_notices "Host r is left out: $(id -un)@127.0.0.1: Permission denied (publickey)." \
	    "Host u is left out: its host key is not known; log in to it once with ssh" \
	    "Host w is left out: its host key is not the one that is known" \
	    "Host z is left out: ssh: connect to host 127.0.0.1 port 1: Connection refused"
	cmp "$F/less" other/less
	cmp before "$F/known_hosts"
	[ $(($(count_logins hayate) - logins)) = 1 ]
	[ "$(count_logins u)$(count_logins w)$(count_logins r)" = 000 ]
	# With -q nothing is said, and with -v all.
	copy -q --hosts u,w "hayate:$F/less" other/ 2>said
	[ ! -s said ]
	download_over u "hayate:$F/less" other/
	grep -q 'Host u is left out: what stands above says why' log
}

@test "a host whose name does not resolve is named after a small copy, too" {
	local name before
	name=$(printf '%070d' 0 | tr 0 x)	# longer than DNS has any
	printf 'Host n o\n\tHostName %s\nHost o\n\tProxyJump b\n' "$name" |
	    cat - "$F/ssh_config" >with
	before=$(count_logins b)
	echo 1 >small
	copy -F with --hosts b,n,o small "hayate:$T/there/" 2>said
	check_notices "Host n is left out: ssh: Could not resolve hostname $name: Name or service not known"
	copy -F with --hosts n,o,b "hayate:$T/there/small" other/ 2>said
	check_notices "Host n is left out: ssh: Could not resolve hostname $name: Name or service not known"
	cmp small other/small
	# What a file names is looked up when it is needed.
	copy -F with -o TransferHosts=n small "hayate:$T/there/" 2>said
	grep -q 'Host n is left out' said
	{ printf 'TransferHosts n\n'; cat with; } >more
	copy -F more small "hayate:$T/there/" 2>said
	[ ! -s said ]
	# None is logged in to for that, and with -q nothing is said.
	[ "$(count_logins b)" = "$before" ]
	copy -q -F with --hosts n small "hayate:$T/there/" 2>said
	[ ! -s said ]
	# A copy that would use it says it once.
	copy -F with --hosts n,b "hayate:$F/less" other/ 2>said
	check_notices "Host n is left out: ssh: Could not resolve hostname $name: Name or service not known"
}

@test "data is not in clear at another host if it is encrypted at the first" {
	sshd_down c
	(cd "$F" && sshd_up hayate:c "NoneEnabled yes" "HostKey $F/c" &&
	    sed -i '/^host-/d' known_hosts && write_known_hosts)
	printf 'Host c\n\tNoneEnabled yes\n\tNoneSwitch yes\n' | cat - "$F/ssh_config" >with
	# Alone it is.
	copy -v -F with "c:$F/bulk" other/ 2>log
	grep -qi 'data is not encrypted\|in clear' log
	download_over c -F with "hayate:$F/bulk" other/
	check_hosts_used hayate c
	fails grep -i 'data is not encrypted\|in clear' log
	sshd_down c
	(cd "$F" && sshd_up hayate:c "MaxRate 12M" "HostKey $F/c" &&
	    sed -i '/^host-/d' known_hosts && write_known_hosts)
}

@test "unsupported uses of --hosts are refused with a reason" {
	local list
	run -1 copy --hosts b,c "hayate:$F/bulk" b:x
	[[ $output = *"--hosts does not work between two remote hosts"* ]]
	run -1 copy --hosts b "$F/bulk" x
	[[ $output = *"--hosts does not work between local files"* ]]
	run -1 copy -O --hosts b "$F/bulk" hayate:x
	[[ $output = *"--hosts needs SFTP"* ]]
	run -1 copy -j 1 --hosts b "$F/bulk" hayate:x
	[[ $output = *"--hosts needs a connection to each host, and -j 1 allows one"* ]]
	run -1 files --hosts b -D "$(bin sftp-server)"
	[[ $output = *"--hosts needs ssh"* ]]
	for list in ' ' ',' 'a,' ',a' -oPort=1 'a b' a,-b 'a;b' 1,2,3,4,5,6,7,8; do
		run -1 copy --hosts "$list" "$F/bulk" hayate:x
		[[ $output = *"--hosts $list: names of 1 to 7 hosts are allowed"* ]]
		run -255 client -G -o "TransferHosts=\"$list\"" hayate
	done
}

### Lost hosts

# kill_host NAME: ends its connections; the host accepts no more
kill_host() {
	local next all=
	next=$(cat "$(sshd_dir "$1")/pid")
	while [ -n "$next" ]; do
		all="$all $next"
		# shellcheck disable=SC2086 # words
		kill -STOP $next
		next=$(pgrep -d, -P "${next// /,}" | tr , ' ') || :
	done
	# shellcheck disable=SC2086 # words
	kill -KILL $all
}

# holds_file NAME: succeeds if a process of that server has a copied file open
holds_file() {
	local next pid
	next=$(cat "$(sshd_dir "$1")/pid")
	while [ -n "$next" ]; do
		for pid in $next; do
			if find "/proc/$pid/fd" '(' -lname "$T/there/*" -o \
			    -lname "$T/thrice" -o -lname "$F/tree/*" ')' \
			    ! -lname '*hayate-host*' 2>/dev/null | grep -q .; then
				return 0
			fi
		done
		next=$(pgrep -d, -P "${next// /,}" | tr , ' ') || :
	done
	return 1
}

# kill_during_copy HOST COMMAND...: kills the host when it transfers a file, and checks
# that the copy continues without it
kill_during_copy() {
	local pid
	rm -f log
	"${@:2}" & pid=$!
	poll 10 grep -qs "goes to $1" log
	poll 10 holds_file "$1"
	kill_host "$1"
	wait $pid || { tail -5 log; return 1; }
	grep -q "Host $1 was lost; continuing with" log
	(cd "$F" && sshd_up "hayate:$1" "MaxRate 12M" "HostKey $F/$1" >/dev/null &&
	    sed -i '/^host-/d' known_hosts && write_known_hosts)
}

@test "a host that is killed costs only its rate: a large file, both ways" {
	cat "$F/bulk" "$F/bulk" "$F/bulk" >thrice
	kill_during_copy c upload_over b,c,d thrice "hayate:$T/there/"
	cmp thrice there/thrice && check_no_temp_files
	kill_during_copy c download_over b,c,d "hayate:$T/thrice" other/
	cmp thrice other/thrice
}

@test "a host that is killed costs only its rate: a tree, both ways" {
	kill_during_copy b upload_over b,c -rp "$F/tree" "hayate:$T/there/"
	check_tree
	rm -r there/tree
	kill_during_copy b download_over b,c -rp "hayate:$F/tree" there/
	check_tree
}

# start_sleepy WHAT: restarts the server of host c so that it sleeps from its first
# request of that kind until wake_host; its process ID is in "asleep" (sftp-asleep)
start_sleepy() {
	rm -f "$F/asleep"
	cat >"$F/sleep.c" <<-END
	#!/bin/sh
	exec $REGRESS/peers/sftp-asleep '$F/asleep' $1 $(bin sftp-server)
	END
	chmod +x "$F/sleep.c"
	restart_c "Subsystem sftp $F/sleep.c"
}
restart_c() {
	sshd_down c
	(cd "$F" && sshd_up hayate:c "MaxRate 12M" "HostKey $F/c" "$@" >/dev/null &&
	    sed -i '/^host-/d' known_hosts && write_known_hosts)
}

# cut_c: ends the connections of host c; its SFTP server stays, and sleeps
cut_c() {
	local next all=
	next=$(cat "$(sshd_dir c)/pid")
	while [ -n "$next" ]; do
		all="$all $next"
		next=$(pgrep -d' ' -P "${next// /,}" sshd) || :
	done
	# shellcheck disable=SC2086 # words
	kill -KILL $all
}

# wake_host: wakes the server of host c, which executes the requests that it had received
wake_host() {
	local pid
	pid=$(cat "$F/asleep")
	kill -CONT "$pid"
	poll 10 is_gone "$pid"
}

# check_late_requests WHAT CHECK COMMAND...: runs COMMAND, during which host c falls
# asleep and is lost; checks that it succeeds without c, and that CHECK holds then and
# when c has woken up
check_late_requests() {
	local pid
	start_sleepy "$1"
	rm -f log
	"${@:3}" & pid=$!
	poll 10 test -e "$F/asleep" || { tail -5 log; return 1; }
	cut_c
	wait $pid || { tail -5 log; return 1; }
	grep -q "Host c was lost; continuing with" log
	$2
	wake_host
	$2 || { echo "after it woke up"; return 1; }
	restart_c
}

# upload_by_sftp ARG...: uploads by sftp over host c as well
upload_by_sftp() { echo "put $*" | files -v -o MaxRate=48M --hosts c -b - hayate >log 2>&1; }

# check_tree_content: checks that the received tree equals the source; check_tree_times:
# with its times
check_tree_content() { diff -r sent there/sent; }
check_tree_times() {
	check_tree_content && diff <(cd sent && find . -type f -printf '%P %T@\n' | sort) \
	    <(cd there/sent && find . -type f -printf '%P %T@\n' | sort)
}

# make_sent_tree: makes a tree of files to be sent, as large as a first round
make_sent_tree() {
	local k
	mkdir -p sent
	for k in $(seq 80); do
		tail -c +$((k * 10000)) "$F/bulk" | head -c 500000 >"sent/$k"
	done
	touch -d 2021-03-04T05:06:07 sent/*
}

@test "an OPEN that a lost host executes late does not truncate the file" {
	local k
	make_sent_tree
	check_late_requests open check_tree_content upload_by_sftp -R sent "$T/there/"
	rm -r there/sent
	# Files with holes
	for k in sent/*; do truncate -s 3M "$k"; done
	check_late_requests open check_tree_content upload_over c -r sent "hayate:$T/there/"
}

@test "a truncation that a lost host executes late leaves the file complete" {
	local k
	mkdir -p sent there/sent
	for k in $(seq 12); do
		tail -c +$((k * 10000)) "$F/bulk" | head -c 9000000 >"sent/$k"
		head -c 9500000 "$F/bulk" >"there/sent/$k"
	done
	check_late_requests size check_tree_content upload_by_sftp -R sent "$T/there/"
}

@test "requests that change a file by name are sent to the first host only" {
	local k
	mkdir -p sent there/sent
	head -c 30000 "$F/bulk" >some
	cat some some >longer
	for k in $(seq 3000); do
		ln some "sent/$k"
		cp longer "there/sent/$k"
	done
	start_sleepy named
	(upload_over c --resume -r sent "hayate:$T/there/" && : >ended) &
	poll 20 eval '[ -e ended ] || [ -e "$F/asleep" ]'
	[ ! -e "$F/asleep" ] || { wake_host; return 1; }
	check_hosts_used hayate c
	check_tree_content
	restart_c
}

@test "a write that a lost host executes late does not change the mtime" {
	make_sent_tree
	check_late_requests write check_tree_times upload_over c -rp sent "hayate:$T/there/"
	rm -r sent/* there/sent
	cp "$F/bulk" sent/ && touch -d 2021-03-04T05:06:07 sent/bulk
	mkdir there/sent
	check_late_requests write check_tree_times upload_over c -p sent/bulk "hayate:$T/there/sent/"
}

# start_silent_host: starts a host that accepts connections and never answers; its port is
# in "port"
start_silent_host() {
	python3 - <<-'END' 3>&- &
	import socket, time
	s = socket.create_server(("127.0.0.1", 0))
	open("port", "w").write(str(s.getsockname()[1]))
	time.sleep(60)
	END
	poll 10 test -s port
	printf 'Host s\n\tPort %s\n' "$(cat port)" | cat - "$F/ssh_config" >with
}

@test "a host that never replies delays nothing, and leaves no temporary file" {
	start_silent_host
	upload_over b,s -F with "$F/bulk" "hayate:$T/there/"
	check_hosts_used hayate b
	cmp "$F/bulk" there/bulk && check_no_temp_files
	# The file is gone before the time of the directory is set.
	upload_over b,s -F with -rp "$F/tree" "hayate:$T/there/"
	check_tree
}

@test "no signal to scp leaves the temporary file behind" {
	local sig scp
	start_silent_host
	for sig in INT TERM HUP; do
		IN_CLIENT="env --default-signal=$sig" copy -F with \
		    -o MaxRate=8M --hosts s -r "$F/tree" "hayate:$T/there/" 2>said &
		poll 10 eval '[ -e there/tree/.hayate-host-* ]'
		[ "$(stat -c %a there/tree/.hayate-host-*)" = 600 ]
		scp=$(pgrep -x scp -P "$(pgrep -d, -P $!),$!")
		kill -$sig "$scp"
		wait $! && return 1
		check_no_temp_files
		rm -rf there/tree
	done
	# Nobody can remove it after kill -9.
	copy -F with -o MaxRate=8M --hosts s -r "$F/tree" "hayate:$T/there/" 2>said &
	poll 10 eval '[ -s there/tree/.hayate-host-* ]'
	kill -9 "$(pgrep -x scp -P "$(pgrep -d, -P $!),$!")"
	wait $! || :
	[ "$(stat -c '%a %s' there/tree/.hayate-host-*)" = "600 64" ]
}

@test "if the first connection is lost, the temporary file is named" {
	start_silent_host
	copy -F with -o MaxRate=8M --hosts s "$F/bulk" "hayate:$T/there/" 2>said &
	poll 10 eval '[ -e there/.hayate-host-* ]'
	kill_host hayate
	wait $! && return 1
	grep "temporary file \"$(echo "$T"/there/.hayate-host-*)\" may remain on the server" said
	(cd "$F" && sshd_up hayate "MaxRate 12M" && sed -i '/^host-/d' known_hosts && write_known_hosts)
}
