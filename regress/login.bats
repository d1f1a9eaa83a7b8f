#!/usr/bin/env bats
# Needs: hayate stock unit path peers
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# A login in few round trips (ssh/early-servers.h) and what is remembered for it
# (ssh/login-cache.h). Round trips are counted by the path, not timed.

load helper

setup_file() {
	export P=l$$ SERVER_ADDRESS=10.77.0.2 IN_SERVER="ip netns exec lfp-l$$-b"
	cd "$BATS_FILE_TMPDIR" || return
	"$LFP" check 2>why || return 0
	"$LFP" up "$P" --rtt 100ms 3>&-
	make_keys
	for k in second third; do
		ssh-keygen -q -t ed25519 -N '' -C $k -f $k
	done
	sshd_up hayate "AuthorizedKeysFile $PWD/may"
	sshd_up stock "AuthorizedKeysFile $PWD/may"
	sshd_up system "AuthorizedKeysFile $PWD/may"
}

teardown_file() {
	sshd_down
	[ -s "$BATS_FILE_TMPDIR/why" ] || "$LFP" down "$P"
}

setup() {
	need_path
	use_own_cache
}

teardown() {
	foreign_down
	[ -z "$AGENT" ] || kill "$AGENT"
	[ -z "$DROPBEAR" ] || kill "$DROPBEAR"
}

# log_in ARG...: runs ssh over the path, with the login cache of this test
log_in() { run_far client "${KNOWN[@]}" "$@" </dev/null; }

# list_early_steps: prints what the login whose standard error is the file err did early,
# but for its key exchange, which list_guesses() prints
list_early_steps() { list_early_messages | grep -v 'key exchange' || :; }
list_guesses() { list_early_messages | grep 'key exchange' || :; }
list_early_messages() { tr -d '\r' <err | sed -n 's/^debug1: early login: //p'; }

# list_user_entries: prints the entries of users in the login cache; list_kex_entries:
# those of the key exchange
list_user_entries() { sed 1d hayate_logins | grep -v ' own=' || :; }
list_kex_entries() { sed 1d hayate_logins | grep ' own=' || :; }

### Pure parts

ID=$(printf '%040d' 1)
KEY=$(printf 'a%.0s' {1..40})
SALT=$(printf 'b%.0s' {1..32})
run_login_cache() { run_unit login-cache-replay "$@"; }

@test "an entry of the login cache is found, and replaced by a later one with the same ID" {
	run -1 run_login_cache find "$ID" </dev/null
	run_login_cache put "$SALT" "$ID" key="$KEY" methods=publickey,password ext </dev/null >one
	[ "$(run_login_cache find "$ID" <one)" = "key=$KEY methods=publickey,password ext=1 wait=0 late=0.0 plain=0.0" ]
	run_login_cache put "$SALT" "${ID/0/1}" plain <one >two
	run_login_cache put "$SALT" "$ID" methods=password <two >three
	[ "$(wc -l <three)" = 3 ]
	[ "$(run_login_cache find "$ID" <three)" = "key= methods=password ext=0 wait=0 late=0.0 plain=0.0" ]
	[ "$(run_login_cache find "${ID/0/1}" <three)" = "key= methods= ext=0 wait=0 late=0.0 plain=4.1" ]
	# what a session spoke belongs to its key
	run_login_cache put "$SALT" "$ID" key="$KEY" sftp </dev/null >one
	[ "$(run_login_cache find "$ID" <one)" = "key=$KEY sftp methods= ext=0 wait=0 late=0.0 plain=0.0" ]
	run_login_cache put "$SALT" "$ID" methods=password sftp </dev/null >one
	[ "$(run_login_cache find "$ID" <one)" = "key= methods=password ext=0 wait=0 late=0.0 plain=0.0" ]
	# one that says nothing is forgotten
	run_login_cache put "$SALT" "$ID" ext <three >four
	run -1 run_login_cache find "$ID" <four
	[ "$(wc -l <four)" = 2 ]
}

@test "a foreign or truncated text is not a cache entry and does no harm" {
	local bad
	run_login_cache put "$SALT" "$ID" key="$KEY" </dev/null >good
	printf 'hayate-logins 2 %s\n%s key=%s\n' "$SALT" "$ID" "$KEY" >bad.1
	printf 'hayate-logins 1 %sx\n%s key=%s\n' "$SALT" "$ID" "$KEY" >bad.2
	head -c -1 good >bad.3
	sed "2s/ key=./ key=/" good >bad.4
	sed "2s/key=a/key=\\x00/" good >bad.5
	sed "2s/key=/key=g/" good >bad.6
	sed "2s/\$/ methods=a b=\$(id)/;2s/methods=a/methods=A/" good >bad.7
	sed "2s/\$/$(printf ' x%.0s' {1..300})/" good >bad.8
	head -c 100000 /dev/urandom >bad.9
	printf 'hayate-logins 1 %s\n%s own=%s kex=a\n' "$SALT" "$ID" "$KEY" >bad.10
	for bad in bad.*; do
		run -1 run_login_cache find "$ID" <"$bad"
		run_login_cache put "$SALT" "${ID/0/1}" plain <"$bad" >new
		run_login_cache find "${ID/0/1}" <new
		[ "$(wc -l <new)" = 2 ]
	done
	for bad in late=5.1 late=-1.1 late=4.0 late=256.4 late=4.1x late=4 plain=.; do
		run_login_cache put "$SALT" "$ID" key="$KEY" late </dev/null | sed "2s/late=4.1/$bad/" >new
		run -1 run_login_cache find "$ID" <new
	done
	# a word of a later version is ignored
	sed '2s/$/ later=7/' good | run_login_cache find "$ID"
}

@test "a failure causes a back-off of 4 logins, the next one of 32, later ones of 256" {
	mark() { run_login_cache put "$SALT" "$ID" "$@" </dev/null | sed -n '2s/^[0-9]* //p'; }
	[ "$(mark late)" = late=4.1 ]
	[ "$(mark late late- late- late- late-)" = late=0.1 ]
	[ "$(mark late late- late- late- late- late-)" = late=0.1 ]
	[ "$(mark late late)" = late=32.2 ]
	[ "$(mark late late late)" = late=256.3 ]
	[ "$(mark late late late late late-)" = late=255.3 ]
	# as an earlier version wrote it
	printf 'hayate-logins 1 %s\n%s late plain\n' "$SALT" "$ID" >old
	[ "$(run_login_cache find "$ID" <old)" = "key= methods= ext=0 wait=0 late=4.1 plain=4.1" ]
}

@test "the oldest entries are removed beyond 500" {
	{
		echo "hayate-logins 1 $SALT"
		for i in $(seq 500); do printf '%040d plain\n' "$i"; done
	} >full
	run_login_cache put "$SALT" "$(printf '%040d' 501)" plain <full >new
	[ "$(wc -l <new)" = 501 ]
	run -1 run_login_cache find "$(printf '%040d' 1)" <new
	run_login_cache find "$(printf '%040d' 2)" <new
	run_login_cache find "$(printf '%040d' 501)" <new
}

@test "a key is tried first unless an enabled and offered method precedes it" {
	local stock=gssapi-with-mic,hostbased,publickey,keyboard-interactive,password
	first() { run_unit early-servers-replay first "$@"; }
	[ "$(first $stock publickey)" = key ]
	[ "$(first $stock publickey,password)" = key ]
	[ "$(first $stock password,publickey)" = key ]
	[ "$(first $stock gssapi-with-mic,publickey)" = other ]
	[ "$(first $stock gssapi-with-mic,publickey gssapi-with-mic)" = key ]
	[ "$(first $stock publickey publickey)" = other ]
	[ "$(first $stock password)" = other ]
	[ "$(first $stock '')" = other ]
	[ "$(first password,publickey publickey,password)" = other ]
	[ "$(first $stock publickey2,xpublickey)" = other ]
}

@test "servers are known by the beginning of their banner" {
	kind() { run_unit early-servers-replay kind "$1"; }
	[ "$(kind SSH-2.0-OpenSSH_9.2p1)" = session ]
	[ "$(kind SSH-2.0-OpenSSH_10.0p2)" = session ]
	[ "$(kind SSH-2.0-OpenSSH_99.0)" = session ]
	[ "$(kind SSH-2.0-OpenSSH_8.9)" = openssh ]
	[ "$(kind SSH-2.0-OpenSSH_for_Windows_9.5)" = openssh ]
	[ "$(kind SSH-2.0-OpenSSH_)" = openssh ]
	[ "$(kind SSH-2.0-dropbear_2022.83)" = known ]
	[ "$(kind SSH-2.0-mod_sftp)" = known ]
	[ "$(kind SSH-2.0-Go)" = known ]
	[ "$(kind SSH-2.0-GoAnywhere7.4)" = none ]
	[ "$(kind SSH-2.0-Cisco-1.25)" = none ]
	[ "$(kind 'SSH-2.0-x OpenSSH_9.2')" = none ]
	[ "$(kind '')" = none ]
	again() { run_unit early-servers-replay again "$1"; }
	[ "$(again SSH-2.0-OpenSSH_10.2p1_hpn18.8.0)" = yes ]
	[ "$(again SSH-2.0-OpenSSH_9.3-hpn14v15)" = yes ]
	[ "$(again SSH-2.0-OpenSSH_10.0p2)" = no ]
	[ "$(again SSH-2.0-hpn)" = no ]
}

@test "the entry of a complete key exchange is kept, and that of an incomplete one is not" {
	local all="own=$KEY kex=mlkem768x25519-sha256 hostkey=ssh-ed25519" bad
	# shellcheck disable=SC2086 # words
	run_login_cache put "$SALT" "$ID" $all late </dev/null >one
	[ "$(run_login_cache find "$ID" <one)" = "key= methods= ext=0 wait=0 late=4.1 plain=0.0
$all" ]
	for bad in 's/own=a/own=g/' 's/kex=/kex=,/' 's/hostkey=/hostkey=A/' 's/kex=[^ ]*/kex=/' \
	    "s/kex=/kex=$(printf 'k%.0s' {1..60})/"; do
		sed "2$bad" one >two
		run -1 run_login_cache find "$ID" <two
	done
	# shellcheck disable=SC2086 # words
	run_login_cache put "$SALT" "$ID" $all again </dev/null >one
	[ "$(run_login_cache find "$ID" <one | tail -n 1)" = "$all again" ]
	run_login_cache put "$SALT" "$ID" own="$KEY" </dev/null >one
	run_login_cache put "$SALT" "${ID/0/1}" plain <one >two
	fails grep own= two
}

@test "a guess is right if the first names are equal, or with the other rule chosen" {
	guess() { run_unit kexguess-replay guess "$@"; }
	local rule=,kexguess2@matt.ucc.asn.au
	[ "$(guess a,b k,l a,c k,m)" = "right by what is first" ]
	[ "$(guess a k a k)" = "right by what is first" ]
	[ "$(guess a,b k,l c,a k,m)" = "wrong by what is first" ]
	[ "$(guess a,b k,l a,c m,k)" = "wrong by what is first" ]
	[ "$(guess a,b k,l ab k,m)" = "wrong by what is first" ]
	[ "$(guess a,b$rule k,l c,a k,m)" = "wrong by what is first" ]
	[ "$(guess a,b k,l c,a$rule k,m)" = "wrong by what is first" ]
	[ "$(guess '' '' '' '')" = "wrong by what is first" ]
	[ "$(guess a,b$rule k,l c,a$rule m,k)" = "right by what is chosen" ]
	[ "$(guess a,b$rule k,l c,b$rule m,k)" = "wrong by what is chosen" ]
	[ "$(guess a,b$rule k,l c,a$rule m,l)" = "wrong by what is chosen" ]
	# the rule is no method, so it is not what is chosen
	[ "$(guess ${rule#,},a k a$rule k)" = "wrong by what is chosen" ]
	[ "$(guess $rule k $rule k)" = "wrong by what is chosen" ]
	run_unit kexguess-replay noise 1
	run_unit kexguess-replay noise 2
	front() { run_unit kexguess-replay front "$@"; }
	[ "$(front a,b,c b)" = b,a,c ]
	[ "$(front a,b,c a)" = a,b,c ]
	[ "$(front a a)" = a ]
	[ "$(front ab,b b)" = b,ab ]
	[ "$(front a,b ab)" = none ]
	[ "$(front a,b '')" = none ]
	[ "$(front a,b a,b)" = none ]
	[ "$(front '' a)" = none ]
	[ "$(run_unit early-servers-replay skips SSH-2.0-OpenSSH_7.4)" = yes ]
	[ "$(run_unit early-servers-replay skips SSH-2.0-dropbear_2022.83)" = yes ]
	[ "$(run_unit early-servers-replay skips SSH-2.0-paramiko_3)" = no ]
	[ "$(run_unit early-servers-replay skips SSH-2.0-Go)" = no ]
}

### Round trips

# What a login says that sends its key exchange early, to servers of the tests
SENT="sending the key exchange with the banner (mlkem768x25519-sha256, ssh-ed25519)"

@test "a first login needs 5 round trips, and a later one 3, where stock needs 11" {
	local s
	for s in stock hayate; do
		rm -f hayate_logins
		[ "$(CLIENT=stock count_trips log_in $s true)" = 11 ]
		[ "$(count_trips log_in -v $s true)" = 5 ]
		[ "$(list_early_steps)" = "sending the request for authentication methods early
offering a key early
opening the session early" ]
		[ "$(list_guesses)" = "" ]
		[ "$(count_trips log_in -v $s true)" = 3 ]
		[ "$(list_guesses)" = "$SENT" ]
		[ "$(list_early_steps)" = "signing early with the key that was accepted before
opening the session early
skipping the request for authentication methods (publickey)" ]
		[ "$(count_trips log_in -q $s true)" = 3 ]
	done
}

@test "without a cache a login needs 8 round trips" {
	KNOWN=(-o UserKnownHostsFile=none -o GlobalKnownHostsFile="$F/known_hosts")
	[ "$(count_trips log_in stock true)" = 8 ]
	[ "$(count_trips log_in stock true)" = 8 ]
	[ ! -e hayate_logins ]
}

# run_with_home [ARG...]: runs ssh in a home directory of its own, "home", mounted
# ${HOW-rw}
run_with_home() {
	run_at_client unshare -m sh -c 'mount --bind "$1" ~ && mount -o "remount,bind,$2" ~ &&
	    shift 2 && exec "$@"' - "$T/home" "${HOW-rw}" "$(bin ssh)" -F none \
	    -p "$(sshd_port stock)" -i "$F/user" -o GlobalKnownHostsFile="$T/known" "$@" 10.77.0.2 true
}

@test "a missing ~/.ssh is created, and a later login needs 3 round trips" {
	mkdir -m 755 home
	sed "s/hayate-test/[10.77.0.2]:$(sshd_port stock)/" "$F/known_hosts" >known
	[ "$(count_trips run_with_home)" = 5 ]
	[ "$(stat -c %a home/.ssh)" = 700 ]
	[ "$(ls home/.ssh)" = hayate_logins ]
	[ "$(count_trips run_with_home)" = 3 ]
	# no other directory is, nor is it where nothing is remembered
	rm -r home/.ssh
	for how in UserKnownHostsFile="$T/none/hosts" UserKnownHostsFile=none EarlyLogin=no; do
		run_with_home -o "$how"
		[ -z "$(ls -A home)" ]
		[ ! -e none ]
	done
	# and where it cannot be made, nothing is said
	echo x >home/.ssh
	run_with_home 2>err
	rm home/.ssh
	HOW=ro run_with_home 2>>err
	[ ! -s err ]
}

@test "EarlyLogin no and Hayate no send what stock sends, and cache nothing" {
	local how
	for how in EarlyLogin=no Hayate=no; do
		count_trips log_in -v -o $how stock true >trips
		echo "$how $(<trips)"
		[ "$(<trips)" -ge 9 ]
		[ "$(list_early_messages)" = "" ]
		[ ! -e hayate_logins ]
	done
	# nor do they use it
	log_in stock true
	for how in EarlyLogin=no Hayate=no; do
		log_in -vv -o $how stock true 2>err
		[ "$(list_early_messages)" = "" ]
		fails grep -q kexguess2 err
	done
}

@test "a server of an older release accepts early requests" {
	local before
	before=$(count_trips log_in -o EarlyLogin=no system true)
	[ "$(count_trips log_in system true)" -lt "$before" ]
	[ "$(count_trips log_in -v system true)" -le $((before - 5)) ]
	list_early_steps | grep 'opening the session early'
}

### The key exchange

# start_configured NAME BUILD [LINE...]: starts a server that reads these lines
start_configured() {
	printf '%s\n' "${@:3}" >conf
	sshd_up "$2:$1" "AuthorizedKeysFile $F/may" "Include $T/conf"
}
# change_config NAME LINE...: makes the server read other lines
change_config() {
	local n
	n=$(grep -c "Server listening" "$(sshd_log "$1")")
	printf '%s\n' "${@:2}" >conf
	kill -HUP "$(<"$(sshd_dir "$1")/pid")"
	poll 10 eval '[ "$(grep -c "Server listening" "$(sshd_log '"$1"')")" -gt '"$n"' ]'
}
count_connections() { grep -c 'Connection from' "$(sshd_log "$1")"; }
make_host_key() {
	ssh-keygen -q -t rsa -b 2048 -N '' -f rsa
	echo "HostKey $T/rsa"
}

@test "if another host key is preferred, Hayate needs 3 round trips, and stock 4" {
	local s
	make_host_key >conf
	for s in stock hayate; do
		sshd_up $s:rsa "Include $T/conf" "AuthorizedKeysFile $F/may"
		rm -f hayate_logins
		log_in rsa true
		count_trips log_in -vv rsa true >trips
		grep 'host key algorithm: ssh-ed25519' err
		if [ $s = hayate ]; then
			[ "$(<trips)" = 3 ]
			[ "$(list_guesses)" = "$SENT" ]
		else
			[ "$(<trips)" = 4 ]
			[ "$(list_guesses)" = "" ]
			[ "$(list_kex_entries)" = "" ]
		fi
		sshd_down rsa
	done
}

# find_requested_key HOST [ARG...]: prints the round trips of a login, and the key that it
# requested
find_requested_key() {
	count_trips log_in -vv "${@:2}" "$1" true >trips
	echo "$(<trips) $(tr -d '\r' <err | sed -n 's/.*host key algorithm: //p')"
}
# add_known_key KEY [MARK]: adds that key of the server to the client's file
add_known_key() { sed "s/^/${2:+$2 }hayate-test /" "$1.pub" >>hosts; }

@test "if the preferred key is known as well, a login to stock takes 3 round trips too" {
	local s n type=rsa-sha2-512 KNOWN=(-o "UserKnownHostsFile=$T/hosts")
	for s in rsa ecdsa; do
		ssh-keygen -q -t $s -N '' -f $s
		sshd_up stock:$s "HostKey $T/$s" "AuthorizedKeysFile $F/may"
		cp "$F/known_hosts" hosts
		log_in $s true
		[ "$(find_requested_key $s)" = "4 ssh-ed25519" ]
		add_known_key $s
		[ "$(find_requested_key $s)" = "4 ssh-ed25519" ]
		grep "the next login asks for the key of type $type" err
		# The user is remembered with the key of the host.
		[ "$(find_requested_key $s)" = "4 $type" ]
		[ "$(find_requested_key $s)" = "3 $type" ]
		type=ecdsa-sha2-nistp256
	done
	# The key is unknown now: nothing is asked, and stock's key is taken.
	cp "$F/known_hosts" hosts
	n=$(count_connections ecdsa)
	log_in -v -o StrictHostKeyChecking=yes ecdsa true 2>err
	grep 'a better algorithm than the one guessed' err
	[ "$(count_connections ecdsa)" = $((n + 2)) ]
	[ "$(find_requested_key ecdsa)" = "4 ssh-ed25519" ]
}

@test "an outdated line for the preferred key costs one connection, and no login" {
	local n KNOWN=(-o "UserKnownHostsFile=$T/hosts" -o StrictHostKeyChecking=yes)
	ssh-keygen -q -t rsa -N '' -f rsa
	ssh-keygen -q -t rsa -N '' -f gone
	sshd_up stock:rsa "HostKey $T/rsa" "AuthorizedKeysFile $F/may"
	cp "$F/known_hosts" hosts
	add_known_key gone
	log_in rsa true
	n=$(count_connections rsa)
	log_in -v rsa true 2>err
	grep 'another key of the kind that was asked for, beginning anew' err
	fails grep -q CHANGED err
	[ "$(count_connections rsa)" = $((n + 2)) ]
	for _ in 1 2 3 4 5; do log_in -o LogLevel=ERROR rsa true 2>>quiet; done
	[ ! -s quiet ]
	[ "$(find_requested_key rsa)" = "4 ssh-ed25519" ]
	[ "$(count_connections rsa)" = $((n + 8)) ]
	# SHA-1, and keys of which other places than these files tell
	sshd_down rsa
	sshd_up stock:rsa "HostKey $T/rsa" "AuthorizedKeysFile $F/may" "HostKeyAlgorithms ssh-rsa,ssh-ed25519"
	add_known_key rsa
	for _ in 1 2; do log_in -o HostKeyAlgorithms=+ssh-rsa rsa true; done
	[ "$(find_requested_key rsa -o HostKeyAlgorithms=+ssh-rsa)" = "4 ssh-ed25519" ]
	sshd_down rsa
	sshd_up stock:rsa "HostKey $T/rsa" "AuthorizedKeysFile $F/may"
	: >revoked
	for _ in 1 2; do log_in -o RevokedHostKeys="$T/revoked" rsa true; done
	[ "$(find_requested_key rsa -o RevokedHostKeys="$T/revoked")" = "4 ssh-ed25519" ]
}

# start_false_server: starts a server "false", whose keys are others, and adds a line of
# the true one that a guess will request
start_false_server() {
	local k
	for k in true_rsa false_rsa; do ssh-keygen -q -t rsa -N '' -f $k; done
	ssh-keygen -q -t ed25519 -N '' -f false_ed25519
	sshd_up stock:true "HostKey $T/true_rsa" "AuthorizedKeysFile $F/may"
	printf '%s\n' "HostKey $T/false_rsa" "HostKey $T/false_ed25519" >conf
	mv "$F/host" "$F/host.kept"
	cp false_ed25519 "$F/host"
	sshd_up stock:false "AuthorizedKeysFile $F/may" "HostKey $T/false_rsa"
	mv "$F/host.kept" "$F/host"
	cp "$F/known_hosts" hosts
	add_known_key true_rsa
}

@test "a false key of the requested type is named before the next connection" {
	local level n print good bad
	local KNOWN=(-o "UserKnownHostsFile=$T/hosts" -o StrictHostKeyChecking=yes)
	start_false_server
	good=$(sshd_port true) bad=$(sshd_port false)
	print=$(ssh-keygen -lf false_rsa.pub | cut -d' ' -f2)
	start_guess_server "$bad"
	CLIENT=stock log_in_through 2>err && false
	grep 'REMOTE HOST IDENTIFICATION HAS CHANGED' err
	for level in FATAL ERROR INFO DEBUG1; do
		rm -f hayate_logins
		start_guess_server "$good" "$good" "$good" "$good"
		for _ in 1 2 3; do log_in_through; done
		log_in_through -vv 2>err
		grep 'kex: host key algorithm: rsa-sha2-512' err
		# in the first connection alone
		start_guess_server "$bad" "$good"
		n=$(count_connections_met)
		log_in_through -o LogLevel=$level 2>err
		[ "$(count_connections_met)" = $((n + 2)) ]
		[ "$(grep -c "$print" err)" = 1 ]
		grep "RSA.*hayate-test.*$print" err
		grep "$T/hosts:2" err
	done
	# Who hears nothing is asked for the key of stock.
	rm -f hayate_logins
	start_guess_server "$good" "$good" "$good" "$bad"
	for _ in 1 2 3; do log_in_through; done
	n=$(count_connections_met)
	run -255 log_in_through -q
	[ "$(count_connections_met)" = $((n + 1)) ]
	# in both
	rm -f hayate_logins
	start_guess_server "$good" "$good" "$good" "$good" "$bad" "$bad"
	for _ in 1 2 3 4; do log_in_through; done
	run -255 --separate-stderr log_in_through
	[[ $stderr = *"$print"*"REMOTE HOST IDENTIFICATION HAS CHANGED"* ]]
}

@test "UpdateHostKeys brings that key: a default stock server takes 3 round trips soon" {
	local k i trips KNOWN=(-o "UserKnownHostsFile=$T/hosts" -o UpdateHostKeys=yes)
	for k in rsa ecdsa; do
		ssh-keygen -q -t $k -N '' -f $k
		echo "HostKey $T/$k"
	done >conf
	sshd_up stock:all "Include $T/conf" "AuthorizedKeysFile $F/may"
	cp "$F/known_hosts" hosts
	# A command may end before the server has proved a key that was new.
	for i in 1 2 3 4 5 6 7 8; do
		trips+=" $(find_requested_key all)"
		[[ $trips != *" 3 rsa-sha2-512" ]] || break
	done
	echo "$trips"
	[[ $trips = *" ssh-ed25519 4 rsa-sha2-512 3 rsa-sha2-512" ]]
}

@test "a weaker key, or one beside a marker in the file, is not requested first" {
	local mark KNOWN=(-o "UserKnownHostsFile=$T/hosts")
	ssh-keygen -q -t rsa -N '' -f rsa
	ssh-keygen -q -t rsa -b 2048 -N '' -f small
	ssh-keygen -q -t ed25519 -N '' -f other
	sshd_up stock:small "HostKey $T/small" "AuthorizedKeysFile $F/may"
	cp "$F/known_hosts" hosts
	add_known_key small
	for _ in 1 2; do log_in small true; done
	[ "$(find_requested_key small)" = "4 ssh-ed25519" ]
	sshd_up stock:rsa "HostKey $T/rsa" "AuthorizedKeysFile $F/may"
	for mark in @revoked @cert-authority; do
		cp "$F/known_hosts" hosts
		add_known_key rsa
		add_known_key other $mark
		for _ in 1 2; do log_in rsa true; done
		[ "$(find_requested_key rsa)" = "4 ssh-ed25519" ]
	done
	# nor where the user has named an order
	cp "$F/known_hosts" hosts
	add_known_key rsa
	local order=HostKeyAlgorithms=ssh-ed25519,rsa-sha2-512
	for _ in 1 2; do log_in -o $order rsa true; done
	[ "$(find_requested_key rsa -o $order)" = "4 ssh-ed25519" ]
	# nor where DNS may know one key, and stock would warn of the other
	rm -f hayate_logins
	local dns=VerifyHostKeyDNS=yes
	for _ in 1 2; do log_in -o $dns rsa true; done
	[ "$(find_requested_key rsa -o $dns)" = "4 ssh-ed25519" ]
	for _ in 1 2; do log_in rsa true; done
	[[ $(find_requested_key rsa) = *rsa-sha2-512 ]]
}

# count_delays NAME: prints how often that server has delayed an answer
count_delays() { grep -c 'delaying .* (requested' "$(sshd_log "$1")" || :; }

@test "a valid signature is answered at once, and every refusal with a delay" {
	local s n DEBUG="LogLevel DEBUG3"
	sshd_up hayate:told "$DEBUG" "PasswordAuthentication yes"
	sshd_up hayate:off "$DEBUG" "Hayate no"
	sshd_up hayate:never "$DEBUG" "AuthorizedKeysFile none"
	sshd_up stock:as "$DEBUG"
	# The key is offered, then the signature comes.
	for s in told:1 off:2 as:2; do
		CLIENT=stock run_far client "${s%:*}" true
		[ "$(count_delays "${s%:*}")" = "${s#*:}" ]
	done
	printf '#!/bin/sh\necho wrong\n' >askpass
	chmod +x askpass
	n=$(count_delays told)
	SSH_ASKPASS=$T/askpass SSH_ASKPASS_REQUIRE=force CLIENT=stock run -255 run_far client \
	    -o BatchMode=no -o PreferredAuthentications=password -o NumberOfPasswordPrompts=2 told true
	[ "$(count_delays told)" = $((n + 2)) ]
	CLIENT=stock run -255 run_far client never true
	[ "$(count_delays never)" = 1 ]
}

# check_cipher CIPHER ARG...: checks that a login uses that cipher
check_cipher() {
	log_in -v "${@:2}" true 2>err
	[ "$(tr -d '\r' <err | sed -n 's/.*server->client cipher: \([^ ]*\) .*/\1/p')" = "$1" ]
}

@test "a server of HPN-SSH, which would re-key otherwise, is asked for AES-GCM" {
	local how chacha=chacha20-poly1305@openssh.com gcm=aes256-gcm@openssh.com
	grep -qw aes /proc/cpuinfo || skip "no instructions for AES"
	start_configured hpn stock "VersionAddendum hpn18.8.0"
	check_cipher $gcm hpn
	check_cipher $gcm hpn
	[ "$(list_guesses)" = "$SENT" ]
	grep 'does not rekey with AES-GCM' err
	# not where the user has said what to do, nor other servers
	for how in EarlyLogin=no Hayate=no Ciphers=$chacha,$gcm Ciphers=-aes128-ctr; do
		check_cipher $chacha -o "$how" hpn
	done
	for how in stock hayate; do
		check_cipher $chacha $how
		check_cipher $chacha $how
	done
	# The server now accepts either, and the next login knows that.
	change_config hpn
	check_cipher $gcm hpn
	check_cipher $chacha hpn
	[ "$(list_guesses)" = "$SENT" ]
	change_config hpn "VersionAddendum hpn18.8.0"
	check_cipher $chacha hpn
	check_cipher $gcm hpn
	sshd_down hpn
}

@test "the guess for a server with another key exchange method is that method" {
	local s method
	for s in stock hayate; do
		for method in curve25519-sha256 sntrup761x25519-sha512 \
		    curve25519-sha256,mlkem768x25519-sha256 ecdh-sha2-nistp256; do
			start_configured other $s "KexAlgorithms $method"
			rm -f hayate_logins
			log_in other true
			count_trips log_in -vvv other true >trips
			grep 'will use strict KEX ordering' err
			case $s$method in
			*ecdh*) [ "$(<trips)" = 4 ] && [ "$(list_guesses)" = "" ] ;;
			# what stock chooses stands second, which is right by the other rule
			stockcurve*mlkem*) [ "$(<trips)" = 4 ] && [ "$(list_guesses)" = "" ] ;;
			*mlkem*) [ "$(<trips)" = 3 ] && [ "$(list_guesses)" = "$SENT" ] ;;
			*) [ "$(<trips)" = 3 ] && [[ $(list_guesses) = *"(${method%%,*}, "* ]] ;;
			esac
			sshd_down other
		done
	done
}

# block_port PORT: keeps that port from accepting connections, as its queue is full
block_port() {
	cat >silent.py <<-'END'
	import socket, sys, time
	s = socket.socket()
	s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
	s.bind(("10.77.0.2", int(sys.argv[1])))
	s.listen(0)
	waiting = [socket.socket() for i in range(4)]
	for w in waiting:
	    w.setblocking(False)
	    w.connect_ex(s.getsockname())
	open("silent", "w")
	time.sleep(600)
	END
	$IN_SERVER /usr/bin/python3 silent.py "$1" 3>&- &
	FOREIGN=$!
	poll 10 test -e silent
}

@test "the key pair of sntrup761 is made while the connection is established" {
	local how by early jump begun
	make_host_key >conf
	for how in ed25519 rsa; do
		sshd_up stock:older "KexAlgorithms sntrup761x25519-sha512" "AuthorizedKeysFile $F/may" \
		    "$(case $how in rsa) cat conf ;; *) echo "HostKey $F/host" ;; esac)"
		rm -f hayate_logins
		log_in -v older true 2>err
		fails grep -q 'pair made in advance' err
		log_in -vv -o RekeyLimit=300K older 'head -c 9000000 /dev/zero' >out 2>err
		[ "$(stat -c %s out)" = 9000000 ]
		# each further exchange makes its own
		[ "$(grep -c 'pair made in advance' err)" = 1 ]
		[ "$(grep -c 'SSH2_MSG_NEWKEYS received' err)" -gt 3 ]
		early=$(list_guesses | wc -l)
		[ "$early" = "$(case $how in rsa) echo 0 ;; *) echo 1 ;; esac)" ]
		log_in -v -o EarlyLogin=no older true 2>err
		fails grep -q 'pair made in advance' err
		jump="$(bin ssh) -F $F/ssh_config ${KNOWN[*]} -o EarlyLogin=no -o HostName=10.77.0.2"
		for by in ConnectTimeout=10 ConnectTimeout=none \
		    "ProxyCommand=socat - TCP:%h:%p" \
		    "ProxyCommand=$jump -W 10.77.0.2:%p stock"; do
			log_in -v -o "$by" older true 2>err
			[ "$(grep -c 'pair made in advance' err)" = 1 ]
		done
		sshd_down older
		# nobody listens, or nobody answers
		for by in ConnectTimeout=none ConnectTimeout=5; do
			run -255 log_in -o $by older true
			[[ $output = *"Connection refused"* ]]
		done
	done
	block_port "$(sshd_port older)"
	begun=$(date +%s%N)
	run -255 log_in -o ConnectTimeout=1 older true
	[[ $output = *"Connection timed out"* ]]
	(($(date +%s%N) - begun < 10**10))
	kill "$FOREIGN"
	[[ $(list_kex_entries) = "" ]]
}

@test "a wrong guess is ignored, and the login continues on the same connection" {
	local s before change
	ssh-keygen -q -t ecdsa -N '' -f ecdsa
	make_host_key >/dev/null
	sed 's/^/hayate-test /' ecdsa.pub >>hosts
	for s in stock hayate; do
		start_configured turned $s
		for change in "KexAlgorithms curve25519-sha256" \
		    "KexAlgorithms diffie-hellman-group-exchange-sha256" \
		    "KexAlgorithms ecdh-sha2-nistp256" \
		    "HostKeyAlgorithms ecdsa-sha2-nistp256"; do
			change_config turned "HostKey $T/ecdsa"
			rm -f hayate_logins
			log_in turned true
			change_config turned "HostKey $F/host"
			rm -f hayate_logins
			log_in turned true
			log_in turned true
			change_config turned "HostKey $T/ecdsa" "$change"
			before=$(count_connections turned)
			log_in -vvv turned true 2>err
			grep 'will use strict KEX ordering' err
			[ "$(list_guesses)" = "$SENT
the server negotiated another key exchange; removed it from the cache" ]
			[ "$(count_connections turned)" = $((before + 1)) ]
			[[ $(list_kex_entries) != *mlkem*ed25519* ]]
			log_in -v turned true 2>err
			[[ $(list_guesses) != *"from the cache"* ]]
		done
		sshd_down turned
	done
}

@test "~R re-keys after a right guess and after a wrong one" {
	local change
	start_configured turned stock
	mkfifo keyboard
	for change in "# none" "KexAlgorithms curve25519-sha256"; do
		rm -f hayate_logins
		change_config turned
		log_in turned true
		change_config turned "$change"
		run_far client "${KNOWN[@]}" -tt -vvv turned 'stty -echo; cat' <keyboard >out 2>err &
		exec 8>keyboard
		poll 10 grep -q 'Sending command' err
		printf '~Rone\n' >&8
		poll 10 eval '[ "$(grep -c "SSH2_MSG_NEWKEYS received" err)" = 2 ]'
		printf 'two\n\004' >&8
		exec 8>&-
		wait $!
		[ "$(list_guesses | wc -l)" = "$(case $change in '#'*) echo 1 ;; *) echo 2 ;; esac)" ]
		[[ $(tr -d '\r' <out) = *one*two ]]
		grep 'will use strict KEX ordering' err
	done
	sshd_down turned
}

@test "a server that now offers a better method gets it, in a second connection" {
	local before
	start_configured better stock "KexAlgorithms curve25519-sha256"
	log_in better true
	log_in -v better true 2>err
	[[ $(list_guesses) = *curve25519* ]]
	change_config better
	before=$(count_connections better)
	log_in -v better true 2>err
	[[ $(tr -d '\r' <err) = *"the server now offers a better algorithm than the one guessed, beginning anew"* ]]
	[ "$(count_connections better)" = $((before + 2)) ]
	grep 'kex: algorithm: mlkem' err
	[ "$(list_kex_entries)" = "" ]
	# Somebody on the path could have said so, and no signature showed it.
	rm hayate_logins
	change_config better "KexAlgorithms curve25519-sha256"
	log_in better true
	change_config better
	log_in -o LogLevel=INFO better true 2>err
	grep 'a better algorithm than the one guessed, beginning anew' err
	# it may change its mind at random: then only stock's first one is guessed
	change_config better "KexAlgorithms curve25519-sha256"
	log_in better true
	log_in -v better true 2>err
	[ "$(list_guesses)" = "" ]
	change_config better
	log_in better true
	log_in -v better true 2>err
	[ "$(list_guesses)" = "$SENT" ]
	sshd_down better
}

@test "a learnt host key does not replace the preferred one" {
	local KNOWN=(-o "UserKnownHostsFile=$T/hosts")
	find_key_algorithm() { tr -d '\r' <err | sed -n 's/.*kex: host key algorithm: //p' | tail -n 1; }
	ssh-keygen -q -t ecdsa -N '' -f ecdsa
	add_known_key ecdsa
	start_configured keyed stock "HostKey $T/ecdsa"
	log_in keyed true
	log_in -v keyed true 2>err
	[[ $(list_guesses) = *"mlkem768x25519-sha256, ecdsa-sha2-nistp256"* ]]
	cat "$F/known_hosts" >>hosts
	for i in 1 2 3; do
		log_in -v keyed true 2>err
		[ "$(find_key_algorithm)" = ecdsa-sha2-nistp256 ]
	done
	# Stock would take the new one, and so does a login without a guess.
	log_in -v -o EarlyLogin=no keyed true 2>err
	[ "$(find_key_algorithm)" = ssh-ed25519 ]
	sshd_down keyed
}

@test "options that change our proposal make no wrong guess" {
	local how
	for how in KexAlgorithms=curve25519-sha256 HostKeyAlgorithms=ssh-ed25519 \
	    KexAlgorithms=-mlkem768x25519-sha256; do
		log_in hayate true
		log_in -vv -o $how hayate true 2>err
		list_early_steps | grep 'the proposal of this client has changed; removed the server from the cache'
		[ "$(list_guesses)" = "" ]
		fails grep -q 'first_kex_follows 1' err
		log_in -v -o $how hayate true 2>err
		[[ $(list_guesses) = "sending the key exchange with the banner"* ]]
	done
}

@test "no data but a public key precedes the server's host key" {
	local s
	log_in stock true
	log_in -vvv stock true 2>err
	# what was sent before its answer, as ssh counts it
	tr -d '\r' <err | sed '/SSH2_MSG_KEX_ECDH_REPLY received/q' |
	    sed -n 's/^debug3: send packet: type //p' >types
	[ "$(tr '\n' ' ' <types)" = "20 30 " ]
}

@test "a later key exchange of the connection sends no guess and chooses the same methods" {
	local s
	for s in stock hayate; do
		log_in $s true
		log_in -vvv -o RekeyLimit=300K $s "head -c 9000000 /dev/zero" >out 2>err
		[ "$(stat -c %s out)" = 9000000 ]
		[ "$(list_guesses)" = "$SENT" ]
		sed '1,/^Authenticated to/d' err >later
		grep "kex: algorithm: mlkem" later
		fails grep -q 'first_kex_follows 1' later
	done
}

# start_guess_server WAY...: starts a server in front of stock's that handles its
# connections in these ways
start_guess_server() {
	printf '%s\n' "$@" >ways
	[ -z "$FOREIGN" ] || return 0
	FOREIGN_PORT=$((20000 + RANDOM % 12000))
	$IN_SERVER "$REGRESS/peers/guess-server" 10.77.0.2 $FOREIGN_PORT \
	    "$(sshd_port stock)" ways >met 2>&1 3>&- &
	FOREIGN=$!
	poll 10 grep -qx ready met
}
log_in_through() { log_in -p "$FOREIGN_PORT" "$@" 127.0.0.1 true; }
count_connections_met() { grep -c connection met; }

@test "a server that cannot handle a guess costs one connection, once" {
	local way before
	for way in close cut odd; do
		rm -f hayate_logins
		start_guess_server pass pass
		log_in_through
		log_in_through -v 2>err
		[ "$(list_guesses)" = "$SENT" ]
		start_guess_server $way
		before=$(count_connections_met)
		log_in_through -v 2>err
		[ "$(list_guesses)" = "$SENT" ]
		[ "$(tr -d '\r' <err | grep -c 'beginning anew')" = 1 ]
		[ "$(count_connections_met)" = $((before + 2)) ]
		before=$(count_connections_met)
		log_in_through -v 2>err
		[ "$(list_guesses)" = "" ]
		[ "$(count_connections_met)" = $((before + 1)) ]
		log_in_through -v 2>err
		[ "$(count_connections_met)" = $((before + 2)) ]
		# closed before its banner, it may be any reason
		[ $way = close ] || [ "$(list_guesses)" = "" ]
	done
}

@test "a login that could not be restarted, because a file or connection is a pipe, sends no guess" {
	local how last=(-v "${KNOWN[@]}" -o HostName=10.77.0.2 127.0.0.1 true)
	start_guess_server pass pass
	log_in_through
	last=(-p "$FOREIGN_PORT" "${last[@]}")
	mkfifo fifo
	ln -s /dev/null null
	for how in file null stdin fifo dash; do
		start_guess_server pass
		# shellcheck disable=SC2002 # it is to be a pipe
		case $how in
		file) run_at_client "$(bin ssh)" -F "$F/ssh_config" "${last[@]}" 2>err ;;
		null)
			run_at_client "$(bin ssh)" -F "$F/ssh_config" \
			    -o GlobalKnownHostsFile="$T/null" "${last[@]}" 2>err
			;;
		stdin) cat "$F/ssh_config" | run_at_client "$(bin ssh)" -F /dev/stdin "${last[@]}" 2>err ;;
		fifo)
			cat "$F/ssh_config" >fifo &
			run_at_client "$(bin ssh)" -F fifo "${last[@]}" 2>err
			;;
		dash)
			echo "exec $(bin ssh) -F $F/ssh_config -o ProxyCommand=- ${last[*]} 2>$T/err" >dash
			run_at_client socat "TCP:10.77.0.2:$FOREIGN_PORT" "EXEC:sh $T/dash"
			;;
		esac
		list_early_steps | grep 'signing early'
		case $how in
		file|null) [ "$(list_guesses)" = "$SENT" ] ;;
		*) [ "$(list_guesses)" = "" ] ;;
		esac
	done
}
# run_at_client COMMAND...: runs COMMAND at the client's end of the path
run_at_client() { ip netns exec "lfp-$P-a" "$@" 3>&-; }

@test "a server that loses data sent with the banner costs 15 seconds, once" {
	local way
	for way in deaf hush; do
		rm -f hayate_logins
		start_guess_server
		log_in_through
		start_guess_server $way
		[ "$(measure_seconds log_in_through -v 2>err | cut -d. -f1)" -ge 15 ]
		[ "$(tr -d '\r' <err | grep -c 'beginning anew')" = 1 ]
		grep 'plain=256.3' hayate_logins
		log_in_through -v 2>err
		[ "$(list_guesses)" = "" ]
	done
}

@test "a server that does not ignore a wrong guess is contacted by a second connection" {
	local name
	# the second one only says that it would
	for name in paramiko_3 OpenSSH_7.4; do
		rm -f hayate_logins
		start_odd_peer patient $name curve25519-sha256@libssh.org
		log_in "${LAST[@]}"
		log_in -v "${LAST[@]}" 2>err
		[[ $(list_guesses) = *"(curve25519-sha256@libssh.org, rsa-sha2-512)" ]]
		start_odd_peer patient $name ecdh-sha2-nistp256
		log_in -v "${LAST[@]}" 2>err
		[ "$(tr -d '\r' <err | grep -c 'beginning anew')" = 1 ]
		[ "$(grep -c connection said)" = 2 ]
		start_odd_peer patient $name curve25519-sha256@libssh.org
		for i in 1 2 3; do
			log_in -v "${LAST[@]}" 2>err
			[ "$(list_guesses)" = "" ]
		done
		FOREIGN_PORT=
	done
}

# make_late_writer: makes a library with which ssh writes more than its banner when the
# proxy has gone
make_late_writer() {
	cc -shared -fPIC -o late.so -xc - <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <poll.h>
	#include <string.h>
	#include <unistd.h>

	ssize_t
	write(int fd, const void *p, size_t n)
	{
		ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
		ssize_t r = real(fd, p, n);
		struct pollfd pfd = { .fd = fd };

		if (n > 4 && memcmp(p, "SSH-", 4) == 0)
			(void)poll(&pfd, 1, 5000);
		return r;
	}
	END
}

@test "if the guess cannot be written, the login ends with stock's message" {
	local how=(-o ProxyCommand="sh $T/proxy")
	make_late_writer
	echo "exec socat - TCP:10.77.0.2:$(sshd_port stock)" >proxy
	log_in "${how[@]}" stock true
	log_in -v "${how[@]}" stock true 2>err
	[ "$(list_guesses)" = "$SENT" ]
	cp hayate_logins kept
	echo 'read line' >proxy
	CLIENT=stock run -255 log_in -o LogLevel=INFO "${how[@]}" stock true
	echo "$output" >want
	LD_PRELOAD=$T/late.so run -255 log_in -o LogLevel=INFO "${how[@]}" stock true
	echo "$output" | uniq | diff want -
	# with one that was away for a moment ssh executes itself again
	cp kept hayate_logins
	echo "mkdir $T/away && { read line; exit; }; exec socat - TCP:10.77.0.2:$(sshd_port stock)" >proxy
	LD_PRELOAD=$T/late.so log_in "${how[@]}" stock true
	[ -d away ]
}

@test "a reply before the server's proposal is not accepted" {
	start_guess_server
	log_in_through
	start_guess_server reply reply
	CLIENT=stock log_in_through 2>want && false
	start_guess_server reply
	log_in_through -o LogLevel=INFO 2>err && false
	diff <(tr -d '\r' <want | sed 's/[0-9]\{5\}/PORT/') <(tr -d '\r' <err | sed 's/[0-9]\{5\}/PORT/')
	grep 'strict KEX violation' err || grep 'type 31' err
	log_in_through
}

@test "a message that is inserted before the guess ends the login as with stock" {
	local way before
	for way in first second told; do
		rm -f hayate_logins
		start_guess_server $way
		CLIENT=stock log_in_through -o LogLevel=INFO 2>want && false
		start_guess_server
		log_in_through
		log_in_through -v 2>err
		[ "$(list_guesses)" = "$SENT" ]
		start_guess_server $way
		before=$(count_connections_met)
		log_in_through -o LogLevel=INFO 2>err && false
		[ "$(count_connections_met)" = $((before + 1)) ]
		grep -q 'strict KEX violation' err
		diff <(hide_ports <want) <(hide_ports <err)
		# The next one sends no guess, and many do not if the server objected.
		log_in_through -v 2>err
		[ "$(list_guesses)" = "" ]
		[ $way = told ] || grep 'plain=255.3' hayate_logins
	done
}

@test "a packet that was changed on the way ends the login as with stock" {
	local n
	start_guess_server flip
	CLIENT=stock log_in_through -o LogLevel=INFO 2>want && false
	grep 'message authentication code incorrect' want
	# at first, with a guess, and with a key that was accepted before
	start_guess_server flip
	n=$(count_connections_met)
	for _ in 1 2 3; do
		start_guess_server flip
		log_in_through -o LogLevel=INFO 2>err && false
		diff <(hide_ports <want) <(hide_ports <err)
		log_in_through
		log_in_through -v 2>err
	done
	[ "$(list_guesses)" = "$SENT" ]
	list_early_steps | grep 'signing early'
	[ "$(count_connections_met)" = $((n + 9)) ]
}
# hide_ports: replaces ports by PORT
hide_ports() { tr -d '\r' | sed 's/[0-9]\{5\}/PORT/'; }

@test "sshd accepts a guess by either rule, and ignores a wrong one" {
	local s rule strict
	guess() { $IN_SERVER "$REGRESS/peers/guess-client" 10.77.0.2 "$(sshd_port "$1")" "${@:2}"; }
	for s in stock hayate; do
		for strict in "" ,kex-strict-c-v00@openssh.com; do
			rule=,kexguess2@matt.ucc.asn.au
			sshd_down curve
			start_configured curve "$s" "KexAlgorithms curve25519-sha256"
			[ "$(guess curve curve25519-sha256$strict ssh-ed25519 none)" = waits ]
			[ "$(guess curve curve25519-sha256$strict ssh-ed25519 right)" = answered ]
			[ "$(guess curve curve25519-sha256$strict$rule ssh-ed25519 right)" = answered ]
			[ "$(guess curve curve25519-sha256$strict ssh-ed25519 junk)" = closed ]
			[ "$(guess curve none,curve25519-sha256$strict ssh-ed25519 junk)" = waits ]
			[ "$(guess curve none,curve25519-sha256$strict$rule ssh-ed25519 junk)" = waits ]
			[ "$(guess curve curve25519-sha256$strict$rule none,ssh-ed25519 junk)" = waits ]
			# the server's first is another one, and this is chosen
			[ "$(guess "$s" curve25519-sha256$strict ssh-ed25519 junk)" = waits ]
			if [ $s = hayate ]; then
				[ "$(guess "$s" curve25519-sha256$strict$rule ssh-ed25519 right)" = answered ]
				[ "$(guess "$s" curve25519-sha256$strict$rule ssh-ed25519 junk)" = closed ]
			else
				[ "$(guess "$s" curve25519-sha256$strict$rule ssh-ed25519 junk)" = waits ]
			fi
			# the rule is no method
			rule=${rule#,}
			[ "$(guess curve "$rule$strict" ssh-ed25519 junk)" = closed ]
			wait_for_log curve 'no matching key exchange method found'
			fails grep -q 'unsupported KEX method' "$(sshd_log curve)"
			[ "$(guess curve "$rule,curve25519-sha256$strict" ssh-ed25519 junk)" = waits ]
		done
	done
	sshd_down curve
}

@test "sshd names the rule, and with Hayate no it does not" {
	log_in -vv hayate true 2>err
	grep 'KEX algorithms: .*kex-strict-s-v00@openssh.com,kexguess2@matt.ucc.asn.au' err
	sshd_up hayate:off "Hayate no" "AuthorizedKeysFile $F/may"
	log_in -vv off true 2>err
	fails grep -q kexguess2 err
	sshd_down off
}

### Keys

@test "a refused key is removed from the cache, and the next key logs in" {
	local both=(-i "$F/user" -i "$F/second")
	log_in stock true
	[[ $(list_user_entries) = *" key="* ]]
	cp "$F/second.pub" "$F/may"
	log_in -v "${both[@]}" stock true 2>err
	list_early_steps | grep 'the server no longer accepts the key; removed it from the cache'
	[ "$(grep -c 'Offering public key' err)" = 2 ]
	# the second is not the first, so it is asked for the first
	log_in -v "${both[@]}" stock true 2>err
	[ "$(list_early_steps | grep -c 'signing early')" = 1 ]
	grep -A1 'Offering.*second' err | grep 'signing early'
	# nobody may: as stock says it
	: >"$F/may"
	CLIENT=stock log_in "${both[@]}" stock true 2>want && false
	log_in "${both[@]}" stock true 2>got && false
	cmp want got
	run -1 grep -q ' key=' hayate_logins
}

@test "a login is bound to the user, the port, the name and the host's key" {
	local other
	sshd_up stock:twin "AuthorizedKeysFile $F/may"
	log_in -v stock true 2>err
	for other in "-p $(sshd_port twin) stock" "-o HostName=::ffff:10.77.0.2 stock" \
	    "-l nobody stock"; do
		# shellcheck disable=SC2086
		IN_CLIENT="ip netns exec lfp-$P-a" client -v "${KNOWN[@]}" $other true \
		    2>err </dev/null || :
		[[ $(list_early_steps) = "sending the request for authentication methods early"* ]]
	done
	log_in -v -l root stock true 2>err
	[[ $(list_early_steps) = *"signing early"* ]]
	ssh-keygen -q -t ed25519 -N '' -f host2
	sshd_down stock
	mv "$F/host" "$F/host.kept"
	cp host2 "$F/host"
	sshd_up stock "AuthorizedKeysFile $F/may"
	mv "$F/host.kept" "$F/host"
	echo "hayate-test $(cat host2.pub)" >>hosts
	log_in -v -p "$(sshd_port stock)" stock true 2>err
	[[ $(list_early_steps) != *"signing early"* ]]
	sshd_down stock
	sshd_up stock "AuthorizedKeysFile $F/may"
	sshd_down twin
}

# set_asker ANSWER: sets the program that answers prompts, which records each in the file
# "asked"
set_asker() {
	printf '#!/bin/sh\necho asked >>%s/asked\necho %s\n' "$T" "$1" >ask
	chmod +x ask
	export SSH_ASKPASS=$T/ask SSH_ASKPASS_REQUIRE=force
	: >asked
}
count_questions() { wc -l <"$T/asked"; }

@test "no passphrase is asked for before the server has accepted the key" {
	set_asker secret
	ssh-keygen -q -t ed25519 -N secret -f locked
	cat "$F/user.pub" locked.pub >"$F/may"
	local how=(-o IdentityFile=none -i locked -o BatchMode=no)
	log_in "${how[@]}" stock true
	[ "$(count_questions)" = 1 ]
	log_in -v "${how[@]}" stock true 2>err
	[ "$(count_questions)" = 2 ]
	[[ $(list_early_steps) = "skipping the request for authentication methods"* ]]
	cp "$F/second.pub" "$F/may"
	run -255 log_in "${how[@]}" stock true
	[ "$(count_questions)" = 2 ]
	# of this key there is no public half, so it is not looked at early
	rm locked.pub
	ssh-keygen -q -t rsa -b 2048 -m PEM -N secret -f pem
	cat pem.pub >"$F/may"
	rm pem.pub
	how=(-o IdentityFile=none -i pem -o BatchMode=no)
	log_in -v "${how[@]}" stock true 2>err
	[ "$(count_questions)" = 3 ]
	[[ $(list_early_steps) != *"offering"* ]]
	# it is signed with before the server has said that it would do
	fails is_early
}

@test "an agent asks for confirmation as often as with stock" {
	set_asker yes
	eval "$(ssh-agent -s)" >/dev/null
	AGENT=$SSH_AGENT_PID
	DISPLAY=:9 ssh-add -q -c "$F/user"
	local how=(-o IdentityAgent="$SSH_AUTH_SOCK" -o IdentityFile="$F/user.pub")
	for i in 1 2 3; do
		log_in -v "${how[@]}" stock true 2>err
		[ "$(count_questions)" = $i ]
	done
	list_early_steps | grep 'signing early'
	CLIENT=stock log_in "${how[@]}" stock true
	[ "$(count_questions)" = 4 ]
}

@test "if two keys are required, both log in, with two signatures" {
	sshd_up stock:two "AuthorizedKeysFile $F/may" \
	    "AuthenticationMethods publickey,publickey"
	cat "$F/user.pub" "$F/second.pub" >"$F/may"
	for i in 1 2 3; do
		log_in -v -i "$F/second" two true 2>err
		grep 'partial success' err
	done
	list_early_steps | grep 'signing early'
	sshd_down two
}

@test "if the key is useless and one attempt is allowed, the login ends as with stock" {
	local n
	sshd_up stock:tight "AuthorizedKeysFile $F/may" "MaxAuthTries 1" \
	    "PubkeyAuthentication no" "KbdInteractiveAuthentication yes"
	CLIENT=stock log_in tight true 2>want && false
	[[ $(<want) = *"Permission denied (keyboard-interactive)"* ]]
	# the first finds out, and ssh executes itself again
	log_in -v tight true 2>err && false
	[ "$(tr -d '\r' <err | tail -n 1)" = "$(tr -d '\r' <want)" ]
	[[ $(tr -d '\r' <err) = *"the server did not take it, beginning anew"* ]]
	# a second one does not try
	log_in -v tight true 2>err && false
	[ "$(list_early_steps)" = "sending the request for authentication methods early" ]
	[ "$(log_in tight true 2>&1)" = "$(<want)" ]
	sshd_down tight
}

@test "a key whose algorithm is for this user alone logs in, at first and later" {
	print_narrow_config() {
		printf '%s\n' "PubkeyAcceptedAlgorithms rsa-sha2-512" \
		    "Match user $(id -un)" "PubkeyAcceptedAlgorithms +ssh-ed25519"
	}
	print_narrow_config >match
	sshd_up stock:match "AuthorizedKeysFile $F/may" "Include $T/match"
	for i in 1 2 3; do
		log_in -v match true 2>err
		[[ $(list_early_steps) = "sending the request for authentication methods early"* ]]
		[[ $(list_early_steps) != *offering* ]]
	done
	sshd_down match
	# and if it becomes so later
	: >match
	sshd_up stock:match "AuthorizedKeysFile $F/may" "Include $T/match"
	log_in match true
	log_in -v match true 2>err
	list_early_steps | grep 'signing early'
	print_narrow_config >match
	kill -HUP "$(<"$(sshd_dir match)/pid")"
	poll 10 eval '[ "$(grep -c "Server listening" "$(sshd_log match)")" -ge 2 ]'
	log_in -v match true 2>err
	[[ $(list_early_steps) = "sending the request for authentication methods early"* ]]
	sshd_down match
}

@test "a banner is shown once, and a message of the login as with stock" {
	echo "Be welcome." >banner
	sshd_up stock:loud "AuthorizedKeysFile $F/may" "Banner $T/banner"
	CLIENT=stock log_in loud true 2>want
	for i in 1 2; do
		log_in loud true 2>got
		cmp want got
	done
	sshd_down loud
}

### The session

# check_as_stock [ARG...]: checks that ours writes the same as stock and ends the same, at
# first and later; the later one opened its session early
check_as_stock() {
	local i rc=0
	CLIENT=stock run_far client "${KNOWN[@]}" "$@" >want.out 2>want.err \
	    <"${INPUT-/dev/null}" || rc=$?
	for i in 1 2; do
		got=0
		run_far client "${KNOWN[@]}" "$@" >got.out 2>got.err <"${INPUT-/dev/null}" || got=$?
		[ $got = $rc ]
		cmp want.out got.out
		cmp want.err got.err
	done
	run_far client -v "${KNOWN[@]}" "$@" >got.out 2>err <"${INPUT-/dev/null}" || :
	cmp want.out got.out
	is_early
}
is_early() { list_early_steps | grep -q 'opening the session early'; }

@test "a command that was sent early has stock's output and exit status" {
	local s
	head -c 3000000 /dev/urandom >large
	for s in stock hayate; do
		check_as_stock $s 'echo out; echo err >&2; exit 3'
		check_as_stock $s 'kill -9 $$'
		check_as_stock $s /no/such
		check_as_stock -n $s cat
		check_as_stock -o SetEnv="LC_HAYATE=1 SHLVL=7" -o SendEnv=HOME $s 'env | grep -E "LC_H|SHLVL"; tty'
		INPUT=large check_as_stock $s cat
		check_as_stock $s "cat $T/large"
		# a shell without a command, and a terminal
		echo 'echo $((6 * 7)); exit 4' >script
		INPUT=script check_as_stock -T $s
		check_as_stock -tt $s 'tty >/dev/null; echo $? $TERM; stty size'
	done
}

@test "a forced command, a subsystem and a refused one are as with stock" {
	sshd_up stock:forced "AuthorizedKeysFile $F/may" "ForceCommand echo forced"
	check_as_stock forced true
	sshd_down forced
	check_as_stock -s stock nothing
	printf 'restrict,command="echo only; exit 5" %s\n' "$(cat "$F/user.pub")" >"$F/may"
	check_as_stock stock true
	check_as_stock -tt stock true
}

# record_blocking COMMAND...: runs COMMAND, and appends to "flags" whether its
# descriptors, which are pipes, block then
record_blocking() {
	sleep 0.1 | {
		"$@" || :
		python3 -c 'import os; print(*map(os.get_blocking, (0, 1, 2)))' >>flags
	} 2>&1 | cat >/dev/null
}

@test "standard input, output and error are left blocking, however the login ends" {
	echo x >x
	echo "put x $T/y" >put
	log_in hayate true
	record_blocking run_far client "${KNOWN[@]}" hayate true
	record_blocking run_far copy "${KNOWN[@]}" x "hayate:$T/y"
	record_blocking run_far copy "${KNOWN[@]}" "hayate:$T/x" y
	record_blocking run_far files "${KNOWN[@]}" -b put hayate
	# a key that is accepted no more, and a session that is refused
	: >"$F/may"
	record_blocking run_far client "${KNOWN[@]}" hayate true
	cp "$F/user.pub" "$F/may"
	sshd_up hayate:none "AuthorizedKeysFile $F/may" "MaxSessions 0"
	log_in none true || :
	record_blocking run_far client "${KNOWN[@]}" none true
	sshd_down none
	[ "$(uniq -c flags | xargs)" = "6 True True True" ]
}

# start_twofold METHODS [LINE...]: starts a stock server "twofold" where a visitor's key
# is not enough; PAM has no question and says yes
start_twofold() {
	echo "AuthenticationMethods $1" >conf
	sshd_up stock:twofold "AuthorizedKeysFile /etc/may" "UsePAM yes" "Include $T/conf" \
	    "PasswordAuthentication yes" "KbdInteractiveAuthentication yes" \
	    "PerSourcePenalties no" "${@:2}"
}
# count_too_early: prints how many messages the server received for a user who was not
# logged in
count_too_early() { grep -c 'dispatch_protocol_error: type 9' "$(sshd_log twofold)" || :; }

@test "if a key is not enough, later logins hold back session and command until the last method" {
	need_root "other accounts for sshd"
	local methods n how=(-o BatchMode=no -i "$F/second" visitor@twofold)
	set_asker secret
	add_accounts
	cat "$F/second.pub" >>etc/may
	sed -i '/pam_nologin/d; s/pam_unix/pam_permit/' etc/pam.d/other
	for methods in publickey,keyboard-interactive publickey,password publickey,publickey; do
		rm -f hayate_logins
		start_twofold $methods
		[ "$(log_in -v "${how[@]}" 'echo yes' 2>err)" = yes ]
		is_early
		n=$(count_too_early)
		[ "$n" -gt 0 ]
		for _ in 1 2 3; do
			[ "$(log_in -v "${how[@]}" 'echo yes' 2>err)" = yes ]
			fails is_early
			list_early_steps | grep 'signing early'
			grep 'partial success' err
			[ "$(count_too_early)" = "$n" ]
		done
		# The key is enough by now.
		change_config twofold "AuthenticationMethods publickey"
		log_in -v "${how[@]}" true 2>err
		fails is_early
		log_in -v "${how[@]}" true 2>err
		is_early
		sshd_down twofold
	done
}

@test "if a key is not enough, that is cached even if the rest failed, and with one host key" {
	need_root "other accounts for sshd"
	local n how=(-o BatchMode=no visitor@twofold) KNOWN=(-o "UserKnownHostsFile=$T/hosts")
	set_asker secret
	add_accounts
	sed -i '/pam_nologin/d; s/pam_unix/pam_deny/' etc/pam.d/other
	ssh-keygen -q -t rsa -N '' -f rsa
	add_known_key rsa
	start_twofold publickey,password "HostKey $T/rsa" "MaxAuthTries 2"
	run -255 log_in -v "${how[@]}" true
	n=$(count_too_early)
	[ "$n" -gt 0 ]
	run -255 log_in -v "${how[@]}" true
	[[ $output = *"signing early"* ]]
	[ "$(count_too_early)" = "$n" ]
	# Another key of the host would lead to another entry of the cache.
	sed -i s/pam_deny/pam_permit/ etc/pam.d/other
	for _ in 1 2 3; do log_in "${how[@]}" true; done
	[ "$(count_too_early)" = "$n" ]
	sshd_down twofold
}

@test "a server that permits no session, or only one, is treated as by stock" {
	local n
	for n in 0 1; do
		sshd_up stock:few "AuthorizedKeysFile $F/may" "MaxSessions $n"
		CLIENT=stock log_in few 'echo yes' >want 2>want.err && rc=0 || rc=$?
		for i in 1 2 3 4; do
			log_in -o LogLevel=INFO few 'echo yes' >got 2>got.err && mine=0 || mine=$?
			[ "$mine" = "$rc" ]
			cmp want got
			cmp want.err got.err
		done
		sshd_down few
	done
}

@test "a command runs once, also if the key is refused or not enough" {
	local both=(-i "$F/user" -i "$F/second")
	log_in "${both[@]}" stock true
	# the first key is no longer accepted
	cp "$F/second.pub" "$F/may"
	log_in -v "${both[@]}" stock "echo ran | tee -a $T/ran" >out 2>err
	is_early
	list_early_steps | grep 'no longer accepts the key'
	[ "$(<out)" = ran ]
	[ "$(<ran)" = ran ]
	# nobody's is
	cp "$F/user.pub" "$F/may"
	log_in "${both[@]}" stock true
	: >"$F/may"
	run -255 log_in "${both[@]}" stock "echo ran >>$T/ran"
	[ "$(<ran)" = ran ]
	# one of two
	sshd_up stock:two "AuthorizedKeysFile $F/may" \
	    "AuthenticationMethods publickey,publickey"
	cat "$F/user.pub" "$F/second.pub" >"$F/may"
	rm hayate_logins
	log_in -v -i "$F/second" two "echo ran | tee -a $T/ran" >out 2>err
	is_early
	[ "$(<out)" = ran ]
	[ "$(wc -l <ran)" = 2 ]
	# with a terminal and an environment
	log_in -tt -o SetEnv=A=b -i "$F/second" two "echo ran >>$T/ran; exit 6" && false
	[ "$(wc -l <ran)" = 3 ]
	sshd_down two
}

@test "nothing but a plain session is opened early" {
	local how
	log_in stock true
	for how in -C -A -X -Y "-L 7001:127.0.0.1:1" "-R 7002:127.0.0.1:1" "-D 7003" \
	    "-o ControlMaster=auto -o ControlPath=$T/m" \
	    "-o PermitLocalCommand=yes -o LocalCommand=true" \
	    "-o NoneEnabled=yes" "-o NoneSwitch=yes"; do
		# shellcheck disable=SC2086
		log_in -v $how stock true 2>err
		list_early_steps | grep 'signing early'
		fails is_early
	done
	log_in -v stock true 2>err
	is_early
	log_in -v -f stock "touch $T/there" 2>err
	fails is_early
	poll 5 test -e there
	log_in -v -W 10.77.0.2:"$(sshd_port stock)" stock 2>err
	fails is_early
}

@test "a shared connection works as before" {
	log_in stock true
	local m=(-o ControlPath="$T/m")
	log_in "${m[@]}" -o ControlMaster=yes -o ControlPersist=yes stock true
	[ "$(log_in "${m[@]}" stock 'echo shared')" = shared ]
	[ "$(count_trips log_in "${m[@]}" stock true)" -le 3 ]
	log_in "${m[@]}" -O exit stock
}

@test "keys of the host are learnt, at the latest by the next login" {
	local k
	for k in rsa ecdsa; do ssh-keygen -q -t $k -N '' -f host_$k; done
	sshd_up stock:keyed "AuthorizedKeysFile $F/may" "HostKey $T/host_ecdsa"
	local how=(-o UpdateHostKeys=yes)
	log_in "${how[@]}" keyed true
	log_in "${how[@]}" keyed true
	[ "$(wc -l <hosts)" = 2 ]
	sshd_down keyed
	sshd_up stock:keyed "AuthorizedKeysFile $F/may" "HostKey $T/host_ecdsa" "HostKey $T/host_rsa"
	# another port, so another server
	log_in -v "${how[@]}" keyed true 2>err
	log_in -v "${how[@]}" keyed true 2>err
	[ "$(wc -l <hosts)" = 3 ]
	sed -i /rsa/d hosts
	log_in -v "${how[@]}" keyed true 2>err
	is_early
	list_early_steps | grep 'keys of the host are to be learnt'
	log_in -v "${how[@]}" keyed true 2>err
	fails is_early
	[ "$(wc -l <hosts)" = 3 ]
	log_in -v "${how[@]}" keyed true 2>err
	is_early
	sshd_down keyed
}

@test "scp, sftp and a jump host need fewer round trips" {
	head -c 1000 /dev/urandom >some
	get() { run_far copy -q "${KNOWN[@]}" "$@" stock:"$T/some" got; }
	put() { run_far copy -q "${KNOWN[@]}" "$@" some stock:"$T/put"; }
	echo "get $T/some got" >batch
	ftp() { run_far files -q -b batch "${KNOWN[@]}" "$@" stock; }
	log_in_through() { log_in -o ProxyCommand="$(bin ssh) -F $F/ssh_config ${KNOWN[*]} $* -o HostName=10.77.0.2 -W 10.77.0.2:$(sshd_port hayate) stock" "$@" hayate true; }
	for what in get put ftp log_in_through; do
		before=$(count_trips $what -o EarlyLogin=no)
		count_trips $what >/dev/null
		after=$(count_trips $what)
		echo "$what"
		[ "$after" -le $((before - 5)) ]
		[ $what = log_in_through ] || cmp some "${what/put/put}" 2>/dev/null || cmp some got
		rm -f got
	done
	cmp some put
}

@test "a server that is not what its banner claims gets no early session request" {
	need_asyncssh
	cat >server <<-END
	import asyncio, asyncssh
	async def handle(process):
	    process.stdout.write("yes\n")
	    process.exit(0)
	async def main():
	    await asyncssh.create_server(
	        asyncssh.SSHServer, "10.77.0.2", 2222, process_factory=handle,
	        server_version="OpenSSH_9.9", server_host_keys=["$F/host"],
	        authorized_client_keys="$F/user.pub")
	    await asyncio.sleep(600)
	asyncio.run(main())
	END
	$IN_SERVER /usr/bin/python3 -Wignore server >log 2>&1 3>&- &
	FOREIGN=$!
	poll 10 ip netns exec "lfp-$P-b" bash -c 'exec 9<>/dev/tcp/10.77.0.2/2222' 2>/dev/null
	# The server may answer a second request first, and then drop the other one.
	log_in -v -p 2222 127.0.0.1 true 2>err
	[ "$(list_early_steps)" = "sending the request for authentication methods early" ]
	for i in 1 2; do
		log_in -v -p 2222 127.0.0.1 true 2>err
		fails is_early
	done
	list_early_steps | grep 'signing early'
}

@test "after a path broke an early login the next four logins wait for each reply" {
	cat >proxy <<-'END'
	import os, select, socket, sys
	s = socket.create_connection(("10.77.0.2", int(sys.argv[1])))
	sent = 0
	while True:
	    r = select.select([0, s], [], [])[0]
	    if s in r:
	        b = s.recv(65536)
	        if not b:
	            break
	        os.write(1, b)
	    if 0 in r:
	        b = os.read(0, 65536)
	        # banner, KEXINIT and its key: less; with the session: more
	        if not b or sent + len(b) > int(sys.argv[2]):
	            break
	        s.sendall(b)
	        sent += len(b)
	END
	local how=(-v -o ProxyCommand="/usr/bin/python3 $T/proxy $(sshd_port stock) 100000")
	log_in "${how[@]}" stock true
	log_in "${how[@]}" stock true 2>err
	is_early
	local cut=("${how[@]/100000/3200}") n
	for n in 4 32; do
		log_in "${cut[@]}" stock true 2>err && false
		list_early_steps | grep "no session before an answer in the next $n logins"
		for _ in $(seq $n); do
			log_in "${how[@]}" stock true 2>err
			fails is_early
			list_early_steps | grep 'signing early'
		done
	done
	# and one that is not cut ends it
	for _ in 1 2; do
		log_in "${how[@]}" stock true 2>err
		is_early
	done
	[[ $(list_user_entries) != *late* ]]
}

@test "a file of known hosts is read once, and again if it has changed" {
	# what is known of others, a revoked key and a second file change nothing
	echo "other $(cut -d' ' -f2- hosts)" >>hosts
	ssh-keygen -q -t ed25519 -N '' -f bad
	echo "@revoked hayate-test $(cat bad.pub)" >>hosts
	KNOWN=(-o UserKnownHostsFile="$T/hosts $T/more")
	head -n 1 hosts >more
	CLIENT=stock log_in -vvv stock true 2>want
	for _ in 1 2; do
		log_in -vvv stock true 2>err
		[ "$(grep -c 'record_hostkey: found' want)" = $((2 * $(grep -c 'record_hostkey: found' err))) ]
		[ "$(grep -c 'was read before' err)" = 2 ]
		grep 'Found key in' want >one
		grep 'Found key in' err | diff one -
	done
	log_in -vvv -o Hayate=no stock true 2>err
	fails grep -q 'was read before' err
	# the key is no longer known when the server shows it
	cat >proxy <<-'END'
	import os, select, socket, sys
	s = socket.create_connection(("10.77.0.2", int(sys.argv[1])))
	sent = 0
	while True:
	    r = select.select([0, s], [], [])[0]
	    for a, send in ((s, lambda b: os.write(1, b)), (0, s.sendall)):
	        if a in r:
	            b = a.recv(65536) if a is s else os.read(a, 65536)
	            if not b:
	                sys.exit()
	            sent += len(b) if a == 0 else 0
	            if sent > 500:
	                open("hosts", "w").close()
	                open("more", "w").close()
	            send(b)
	END
	CLIENT=stock log_in -o ProxyCommand="/usr/bin/python3 $T/proxy $(sshd_port stock)" stock true 2>want && false
	echo "hayate-test $(cat "$F/host.pub")" >hosts
	log_in -o EarlyLogin=no -o ProxyCommand="/usr/bin/python3 $T/proxy $(sshd_port stock)" stock true 2>err && false
	cmp want err
	grep 'Host key verification failed' err
}

# count_opens COMMAND...: prints how often COMMAND opens the file of known hosts
count_opens() {
	: >opened
	OPENED=$T/opened LD_PRELOAD=$T/opened.so "$@" || return
	wc -l <opened
}
make_open_counter() {
	cc -shared -fPIC -o opened.so -xc - <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <fcntl.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <unistd.h>

	FILE *
	fopen(const char *path, const char *mode)
	{
		FILE *(*real)() = dlsym(RTLD_NEXT, "fopen");
		size_t len = strlen(path);
		int fd;

		if (len >= 6 && strcmp(path + len - 6, "/hosts") == 0 &&
		    (fd = open(getenv("OPENED"), O_WRONLY | O_APPEND)) != -1) {
			if (write(fd, "\n", 1) != 1)
				abort();
			close(fd);
		}
		return real(path, mode);
	}
	END
}

@test "a file of known hosts is opened once, also where the server names its other keys" {
	local update
	make_open_counter
	make_host_key >conf
	start_configured more stock "$(<conf)"
	sed 's/^/hayate-test /' rsa.pub >>hosts
	ssh-keygen -q -H -f hosts 2>/dev/null
	for update in yes no; do
		[ "$(CLIENT=stock count_opens log_in -o UpdateHostKeys=$update more true)" -ge 2 ]
		for _ in 1 2 3; do
			[ "$(count_opens log_in -o UpdateHostKeys=$update more 'sleep 0.3')" = 1 ]
		done
	done
	log_in -vvv -o UpdateHostKeys=yes more 'sleep 0.3' 2>err
	grep 'no new or deprecated keys from server' err
	sshd_down more
}

# print_learnt_keys FILE: prints FILE after a login that learns keys
print_learnt_keys() {
	cp "$1" hosts
	log_in -vv -o UpdateHostKeys=yes -o HashKnownHosts=no more 'sleep 0.3' 2>err
	cat hosts
}

@test "host keys are learnt as with stock, whatever else the file contains" {
	local what learnt=0
	make_host_key >conf
	start_configured more stock "$(<conf)"
	sed 's/^/hayate-test /' rsa.pub >rsa.line
	sed 's/^/gone.example /' rsa.pub >other.line
	ssh-keygen -q -t ed25519 -N '' -f bad
	ssh-keygen -q -t ecdsa -N '' -f old
	for what in 'true' 'cat other.line' 'ssh-keygen -q -H -f other.line; cat other.line' \
	    'sed "s/^/@revoked /" other.line' 'echo "@revoked hayate-test $(<bad.pub)"' \
	    'printf "# text\n\nhayate-test\nx y z\n|1|x|y ssh-rsa A\n@odd %s\n" "$(<rsa.line)"' \
	    'echo "hayate-test $(<old.pub)"' 'echo "x,hayate-test,y,z $(<old.pub)"' \
	    'echo "hayate-* $(<old.pub)"' 'cat rsa.line other.line'; do
		{ eval "$what"; cat "$F/known_hosts"; } >before
		CLIENT=stock print_learnt_keys before >want
		echo "$what"
		print_learnt_keys before | diff want -
		cmp -s before want || learnt=$((learnt + 1))
	done
	[ $learnt = 3 ]
	sshd_down more
}

### The file

@test "the login cache is a private file that contains no names" {
	log_in stock true
	[ "$(stat -c '%a %U' hayate_logins)" = "600 $(id -un)" ]
	[ "$(wc -l <hayate_logins)" = 3 ]
	run -1 grep -iE "stock|10[.]77|$(id -un)|$(sshd_port stock)|SHA256:" hayate_logins
	# a login that learns nothing new does not write
	before=$(stat -c '%i %y' hayate_logins)
	log_in stock true
	[ "$(stat -c '%i %y' hayate_logins)" = "$before" ]
	# the same server is another one in another file
	mkdir other
	cp hosts other
	KNOWN=(-o UserKnownHostsFile="$T/other/hosts")
	log_in stock true
	[ "$(sed 1d other/hayate_logins)" != "$(list_user_entries)" ]
	[ -z "$(find . -name 'hayate_logins.*')" ]
}

@test "a file that others may read, a link and a directory are not used or changed" {
	log_in stock true
	cp hayate_logins kept
	chmod 640 hayate_logins
	log_in -v stock true 2>err
	[[ $(list_early_steps) != *signing* ]]
	grep -q 'hayate_logins is not used' err
	cmp kept hayate_logins
	[ "$(stat -c %a hayate_logins)" = 640 ]
	mv hayate_logins real
	chmod 600 real
	ln -s real hayate_logins
	log_in -v stock true 2>err
	[[ $(list_early_steps) != *signing* ]]
	[ -L hayate_logins ]
	cmp kept real
	rm hayate_logins
	mkdir hayate_logins
	log_in stock true
	[ -z "$(ls hayate_logins)" ]
}

@test "a damaged file is replaced, and a deleted one made again" {
	log_in stock true
	head -c 3000 /dev/urandom >hayate_logins
	log_in -v stock true 2>err
	[[ $(list_early_steps) != *signing* ]]
	rm hayate_logins
	log_in stock true
	log_in -v stock true 2>err
	[[ $(list_early_steps) = *signing* ]]
}

@test "a cache entry of a replaced server costs no login" {
	# the entry of the first server is used for the second one
	log_in stock true
	salt=$(sed -n '1s/.* //p' hayate_logins)
	id=$(list_user_entries | cut -d' ' -f1)
	for words in "methods=password ext" "methods=publickey" \
	    "key=$KEY methods=hostbased,publickey" "key=$KEY methods=publickey ext"; do
		printf 'hayate-logins 1 %s\n%s %s\n' "$salt" "$id" "$words" >hayate_logins
		log_in stock true
		[[ $(list_user_entries) = "$id key="*"publickey ext" ]]
		[[ $(list_user_entries) != *"$KEY"* ]]
	done
	# It names algorithms by now, without which no RSA key can be used.
	ssh-keygen -q -t rsa -b 2048 -N '' -f rsa
	cat rsa.pub >>"$F/may"
	sed "s|IdentityFile .*|IdentityFile $PWD/rsa|" "$F/ssh_config" >c
	printf 'hayate-logins 1 %s\n%s methods=publickey\n' "$salt" "$id" >hayate_logins
	log_in -F c stock true
	[[ $(list_user_entries) = "$id key="*"publickey ext" ]]
}

@test "20 simultaneous logins leave a complete cache file" {
	for i in $(seq 20); do
		log_in -o HostKeyAlias=hayate-test "$( ((i % 2)) && echo stock || echo hayate)" true &
	done
	wait
	[ "$(wc -l <hayate_logins)" -ge 2 ]
	run -1 grep -vE "^[0-9a-f]{40} key=[0-9a-f]{40} algs=[0-9a-f]{40} methods=publickey ext\$" <(list_user_entries)
	[ -n "$(list_kex_entries)" ]
	run -1 grep -vE "^[0-9a-f]{40} own=[0-9a-f]{40} kex=mlkem768x25519-sha256 hostkey=ssh-ed25519\$" <(list_kex_entries)
	[ -z "$(find . -name 'hayate_logins.*')" ]
}

### Other servers

# start_foreign KIND: starts a server of that kind at the far end
start_foreign() {
	IN_CLIENT="ip netns exec lfp-$P-a" foreign_up "$1"
	: >hosts
}
# These two end a session without a status, so scp ends with 255 or 1.
run_far_copy() {
	run_far copy -q "${KNOWN[@]}" -o Port="$FOREIGN_PORT" \
	    -o StrictHostKeyChecking=accept-new "$@" || [[ $? = [${WORST-0}] ]]
}

# check_no_more_trips COMMAND...: runs COMMAND with EarlyLogin=no, and three times as it
# is, and checks that round trips are never more, and fewer at last
check_no_more_trips() {
	local before n
	before=$(count_trips "$@" -o EarlyLogin=no "${LAST[@]}")
	for i in 1 2 3; do
		n=$(count_trips "$@" "${LAST[@]}")
		echo "$BATS_TEST_DESCRIPTION: $before, $n"
		[ "$n" -le "$before" ]
	done
	[ "$n" -lt "$before" ]
}

@test "proftpd accepts early requests" {
	need_proftpd
	start_foreign proftpd
	head -c 1000 /dev/urandom >some
	LAST=(some 127.0.0.1:"$T/there")
	check_no_more_trips run_far_copy
	cmp some there
}

@test "asyncssh accepts early requests" {
	need_asyncssh
	start_foreign asyncssh
	WORST=1
	head -c 1000 /dev/urandom >some
	LAST=(some 127.0.0.1:"$T/there")
	check_no_more_trips run_far_copy
	cmp some there
}

@test "paramiko accepts early requests" {
	need_paramiko
	start_foreign paramiko
	WORST=1
	head -c 1000 /dev/urandom >some
	LAST=(some 127.0.0.1:"$T/there")
	check_no_more_trips run_far_copy
	cmp some there
}

# check_server COMMAND...: starts a server of it at port 2222 of the far end, with the
# keys of these tests, and checks that logins are not slower than without, and end as with
# stock
check_server() {
	local rc got how=(-i "$F/second" -p 2222 127.0.0.1)
	$IN_SERVER "$@" >served 2>&1 3>&- &
	FOREIGN=$!
	poll 10 grep -qx ready served
	LAST=(-p 2222 127.0.0.1 true)
	check_no_more_trips log_in
	rm hayate_logins
	head -c 100000 /dev/urandom >large
	CLIENT=stock run_far client "${KNOWN[@]}" "${how[@]}" 'cat; exit 3' <large >want && rc=0 || rc=$?
	[ $rc = 3 ]
	for _ in 1 2 3; do
		run_far client "${KNOWN[@]}" "${how[@]}" 'cat; exit 3' <large >out && got=0 || got=$?
		[ $got = $rc ]
		cmp want out
	done
	# no key is accepted
	CLIENT=stock log_in -o IdentityFile=none -i "$F/second" "${LAST[@]}" 2>want && rc=0 || rc=$?
	log_in -o IdentityFile=none -i "$F/second" "${LAST[@]}" 2>err && got=0 || got=$?
	[ $got = $rc ]
	cmp want err
}

@test "libssh accepts early requests" {
	echo '#include <libssh/server.h>' | cc -E - >cpp 2>&1 ||
	    skip "no libssh/server.h (package libssh-dev)"
	cc -o libssh "$REGRESS/peers/libssh-server.c" -lssh
	check_server ./libssh 10.77.0.2 2222 "$F/host" "$F/user.pub"
}

@test "the library of Go accepts early requests" {
	[ -x /usr/bin/go ] || skip "no /usr/bin/go (package golang-go)"
	[ -d /usr/share/gocode/src/golang.org/x/crypto/ssh ] ||
	    skip "no package golang-golang-x-crypto-dev"
	GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$T/cache \
	    /usr/bin/go build -o go "$REGRESS/peers/go-server.go" 3>&-
	check_server ./go 10.77.0.2:2222 "$F/host" "$F/user.pub"
}

@test "dropbear accepts early requests" {
	need dropbear dropbear-bin
	mkdir -p home/.ssh
	cp "$F/user.pub" home/.ssh/authorized_keys
	chmod -R go-rwx home
	dropbearconvert openssh dropbear "$F/host" key 2>/dev/null
	printf 'mount --bind %s %s && exec dropbear -F -E -s -r %s -P %s -p %s\n' \
	    "$T/home" ~ "$T/key" "$T/pid" 10.77.0.2:2022 >run
	# shellcheck disable=SC2086
	setsid $IN_SERVER unshare -m sh run </dev/null >log 2>&1 3>&- &
	poll 10 test -s pid
	DROPBEAR=$(<pid)
	LAST=(-p 2022 127.0.0.1 true)
	check_no_more_trips log_in
	log_in -v "${LAST[@]}" 2>err
	[[ $(list_guesses) = "sending the key exchange with the banner (curve25519-sha256"* ]]
	[[ $(list_guesses) != *"from the cache"* ]]
}

@test "dropbear's client needs a round trip less than with stock" {
	local s
	need dbclient dropbear-bin
	dropbearconvert openssh dropbear "$F/user" id 2>/dev/null
	for s in stock hayate; do
		count_trips ip netns exec "lfp-$P-a" dbclient -i id -y -y -p "$(sshd_port $s)" \
		    root@10.77.0.2 true >$s
	done
	echo "$(<stock) $(<hayate)"
	[ "$(<hayate)" = $(($(<stock) - 1)) ]
}

# start_odd_peer HOW [NAME METHOD]: starts an odd server; another one at the port of the
# first
start_odd_peer() {
	need_paramiko
	foreign_down
	[ -s rsa ] || ssh-keygen -q -t rsa -b 2048 -m PEM -N '' -f rsa
	FOREIGN_PORT=${FOREIGN_PORT:-$((20000 + RANDOM % 12000))}
	: >said
	$IN_SERVER "$REGRESS/peers/login-peer" 10.77.0.2 "$FOREIGN_PORT" rsa "$@" \
	    >said 2>&1 3>&- &
	# shellcheck disable=SC2034 # foreign_down ends it
	FOREIGN=$!
	poll 10 grep -qx ready said
	echo "hayate-test $(cat rsa.pub)" >hosts
	LAST=(-p "$FOREIGN_PORT" 127.0.0.1 true)
}

@test "the first login to an unknown implementation is like stock's" {
	start_odd_peer patient
	log_in -v "${LAST[@]}" 2>err
	[ "$(list_early_steps)" = "" ]
	run -1 grep early said
	log_in -v "${LAST[@]}" 2>err
	list_early_steps | grep 'signing early'
	grep early said
	# with yes, it is trusted from the first on
	rm hayate_logins
	log_in -v -o EarlyLogin=yes "${LAST[@]}" 2>err
	[[ $(list_early_steps) = "sending the request for authentication methods early"* ]]
}

@test "a server that rejects early requests costs one connection, once, whatever its banner" {
	local name
	for name in Odd_1 OpenSSH_7.4 GoAnywhere7.4; do
		start_odd_peer impatient $name
		rm -f hayate_logins
		log_in -v "${LAST[@]}" 2>err
		log_in -v "${LAST[@]}" 2>>err
		[[ $(tr -d '\r' <err) = *"the server did not take it, beginning anew"* ]]
		[ "$(grep -c early said)" = 1 ]
		log_in -v "${LAST[@]}" 2>err
		[ "$(list_early_steps)" = "not with this server" ]
		[ "$(grep -c early said)" = 1 ]
		[ "$(grep -c command said)" = 3 ]
	done
}

# make_token: makes the file "key", for a token that upstream's library plays; each
# use of it is a line in the file "touched"
make_token() {
	local so=$BUILD/hayate/regress/misc/sk-dummy/sk-dummy.so
	make -s -C "$BUILD/hayate" "regress/misc/sk-dummy/sk-dummy.so" >made 2>&1 ||
	    skip "upstream's sk-dummy cannot be made: $(tail -n 1 made)"
	KNOWN+=(-o SecurityKeyProvider="$so" -i key)
	export SSH_SK_HELPER=$T/helper
	cat >helper <<-END
	#!/bin/sh
	echo >>"$T/touched"
	exec "$(bin ssh-sk-helper)" "\$@"
	END
	chmod +x helper
	"$(bin ssh-keygen)" -q -t ed25519-sk -N '' -w "$so" -f key
}

@test "a token is used once in a login, and not before the server accepts its key" {
	local s how
	make_token
	cat key.pub >may
	for s in stock hayate; do
		sshd_up $s:token "AuthorizedKeysFile $T/may"
		rm -f hayate_logins
		for how in first known known; do
			: >touched
			log_in -vv token true 2>err || { cat err; false; }
			cat touched; list_early_steps
			[ "$(wc -l <touched)" = 1 ]
		done
		: >may
		: >touched
		run -255 log_in token true
		[ ! -s touched ]
		cat key.pub >may
		sshd_down token
	done
}

# add_accounts: gives sshd an /etc of its own with a user "visitor", and a PAM service
add_accounts() {
	cp -a /etc .
	echo "visitor:x:65432:65432::/:/bin/sh" >>etc/passwd
	echo 'visitor:*:20000::::::' >>etc/shadow
	cp "$F/user.pub" etc/may	# where the visitor can read it
	rm -rf etc/pam.d/* etc/nologin
	printf '%s\n' "account required pam_nologin.so" "auth required pam_unix.so" \
	    "account required pam_unix.so" "session required pam_unix.so" >etc/pam.d/other
	echo "mount --bind $T/etc /etc && exec \"\$@\"" >see
	IN_SERVER+=" unshare -m sh $T/see"
}
# set_password_age FIELDS: sets the fields of shadow from the day of the password on
set_password_age() { sed -i "s/^visitor:.*/visitor:*:$1/" etc/shadow; }
NEVER=20000:::::: EXPIRED=20000:::::20001: CHANGE=0::::::

@test "an account that has expired, or may not log in now, is refused as by stock, and nothing runs" {
	need_root "other accounts for sshd"
	local s pam how ran
	ran=$(mktemp -u /tmp/ran.XXXXXX)
	add_accounts
	for s in stock:no hayate:no stock:yes hayate:yes; do
		pam=${s#*:} s=${s%:*}
		sshd_up "$s:dated" "AuthorizedKeysFile /etc/may" "UsePAM $pam" \
		    "PerSourcePenalties no"
		# Without PAM nobody asks about the password behind a key.
		for how in nologin $EXPIRED $([ "$pam" = no ] || echo $CHANGE); do
			rm -f hayate_logins etc/nologin
			set_password_age $NEVER
			for _ in 1 2; do log_in -v visitor@dated true 2>err; done
			is_early
			case $how in
			nologin) echo "closed for today" >etc/nologin ;;
			*) set_password_age "$how" ;;
			esac
			CLIENT=stock run log_in visitor@dated "touch $ran"
			echo "$status" "$output" >stock
			run log_in visitor@dated "touch $ran"
			[ "$status" != 0 ]
			[ "$how" != nologin ] || [[ $output = *"closed for today"* ]]
			diff <(tr -d '0-9\r' <stock) <(echo "$status" "$output" | tr -d '0-9\r')
			[ ! -e "$ran" ]
		done
		sshd_down dated
	done
}
