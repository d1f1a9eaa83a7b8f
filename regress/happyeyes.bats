#!/usr/bin/env bats
# Needs: hayate stock unit
# HappyEyes: several addresses of a host are tried at a time (ssh/happy-eyes.h,
# ssh/happy-eyes-hook.h), over a path of 100 ms. Nobody answers at 10.88.0.0/24 and
# fd88::/64. The server listens at 10.77.0.2 and fd77::2, but not at 10.77.0.3 and fd77::3.

load helper

setup_file() {
	export P=e$$ SERVER_ADDRESS=10.77.0.2 IN_SERVER="ip netns exec lfp-e$$-b"
	cd "$BATS_FILE_TMPDIR"
	"$LFP" check 2>why || return 0
	"$LFP" up "$P" --rtt 100ms 3>&-
	ip -n "lfp-$P-a" route add 10.88.0.0/24 dev lfp0
	ip -n "lfp-$P-a" route add fd88::/64 dev lfp0
	ip -n "lfp-$P-b" route add blackhole 10.88.0.0/24
	ip -n "lfp-$P-b" route add blackhole fd88::/64
	ip -n "lfp-$P-b" addr add 10.77.0.3/24 dev lfp0
	ip -n "lfp-$P-b" addr add fd77::3/64 dev lfp0 nodad
	sshd_up hayate "ListenAddress 10.77.0.2" "ListenAddress fd77::2"
}

teardown_file() {
	sshd_down
	[ -s "$BATS_FILE_TMPDIR/why" ] || "$LFP" down "$P"
}

setup() { cd "$BATS_TEST_TMPDIR"; }

# set_addresses ADDRESS...: gives the name "many.test" these addresses
set_addresses() {
	local address
	need_path
	cp /etc/hosts names
	for address; do echo "$address many.test"; done >>names
	echo "mount --bind $PWD/names /etc/hosts && exec \"\$@\"" >with-names
	{
		printf 'Host many.test\n\tHostName many.test\n\tPort %s\n\tEarlyLogin no\n' \
		    "$(sshd_port hayate)"
		cat "$BATS_FILE_TMPDIR/ssh_config"
	} >config
	# shellcheck disable=SC2034 # helper.bash uses it
	IN_CLIENT="ip netns exec lfp-$P-a unshare -m sh $PWD/with-names"
}

# use_cache: lets log_in and copies use early logins, and a login cache of this test
use_cache() {
	use_own_cache
	sed -i 's/EarlyLogin no/EarlyLogin yes/' config
}

# log_in [OPTION...]: logs in to many.test, with the seconds in the file "took" and the
# messages in "log"
log_in() {
	local from=$EPOCHREALTIME r=0
	client -F config -v "$@" many.test true 2>log || r=$?
	echo "$EPOCHREALTIME $from" | awk '{ print $1 - $2 }' >took
	return $r
}

happy=(-o HappyEyes=yes)

@test "addresses of the two families alternate, and the first one stays the first" {
	order() { run_unit happy-eyes-replay order "$@"; }
	[ "$(order 6 6 6 4 4)" = "0 3 1 4 2" ]
	[ "$(order 4 4 6)" = "0 2 1" ]
	[ "$(order 6 4 4 4)" = "0 1 2 3" ]
	[ "$(order 4 4)" = "0 1" ]
	[ "$(order 6)" = 0 ]
	[ "$(order 6 4 6 4)" = "0 1 2 3" ]
}

@test "HappyDelay is at least 10 ms, and 0 means the default" {
	delay() { run_unit happy-eyes-replay delay "$1"; }
	[ "$(delay 0) $(delay 1) $(delay 10) $(delay 60000)" = "250 10 10 60000" ]
}

@test "attempts are waited for until the next one or the earliest deadline" {
	wait_for() { run_unit happy-eyes-replay wait "$@"; }
	[ "$(wait_for 1000 1250 never)" = 250 ]
	[ "$(wait_for 1000 1250 1100 9000)" = 100 ]
	[ "$(wait_for 1000 never 3000 2000)" = 1000 ]
	[ "$(wait_for 1000 900 9000)" = 0 ]
	[ "$(wait_for 1000 never never)" = -1 ]
}

@test "a dead address in front of a working one costs HappyDelay" {
	set_addresses fd88::1 10.77.0.2
	log_in "${happy[@]}" -o HappyDelay=1000 -o ConnectTimeout=30
	check_true "$(cat took) >= 1 && $(cat took) < 10"
	grep -q 'Connecting to many.test \[fd88::1\]' log
	grep -q 'HappyEyes: 10.77.0.2 has answered first, other attempts: 1' log
}

@test "without HappyEyes, and with Hayate no, ConnectTimeout passes first" {
	local option
	set_addresses fd88::1 10.77.0.2
	for option in HappyEyes=no Hayate=no; do
		log_in -o $option "${happy[@]}" -o HappyDelay=10 -o ConnectTimeout=2
		check_true "$(cat took) >= 2"
		grep -q 'connect to address fd88::1 .*timed out' log
		fails grep HappyEyes: log
	done
}

@test "after a refused connection the next address is tried at once" {
	set_addresses fd77::3 10.77.0.2
	log_in "${happy[@]}" -o HappyDelay=20000
	check_true "$(cat took) < 10"
	grep -q 'connect to address fd77::3 .*refused' log
	# also while an earlier attempt is pending
	set_addresses fd88::1 10.77.0.3 10.77.0.2
	log_in "${happy[@]}" -o HappyDelay=4000
	check_true "$(cat took) >= 4 && $(cat took) < 7.5"
	grep -q 'connect to address 10.77.0.3 .*refused' log
}

@test "the first answer wins, also over a later attempt, and its address is remembered" {
	local port
	set_addresses fd77::2 10.77.0.2
	port=$(sshd_port hayate)
	grep -v HostKeyAlias config >without
	mv without config
	log_in "${happy[@]}" -o HappyDelay=20 -o CheckHostIP=yes -o HashKnownHosts=no \
	    -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile="$PWD/known"
	grep -q 'Connecting to many.test \[10.77.0.2\]' log
	grep -q 'HappyEyes: fd77::2 has answered first, other attempts: 1' log
	grep -qF "[fd77::2]:$port" known
	fails grep -F "[10.77.0.2]" known
}

# count_connections: prints how many connections the server has
count_connections() {
	$IN_SERVER ss -Htn state established state close-wait "sport = :$(sshd_port hayate)" |
	    grep -c . || :
}
has_connections() { [ "$(count_connections)" = "$1" ]; }

@test "an attempt that has lost leaves no descriptor, and no login at the server" {
	local pid how sockets=
	need ss iproute2
	set_addresses fd77::2 10.77.0.2
	mkfifo never
	for how in no yes; do
		poll 10 has_connections 0
		client -F config -v -o HappyEyes=$how -o HappyDelay=20 many.test \
		    'echo here; read x' <never >out 2>log &
		pid=$!
		exec 7>never
		poll 20 grep -q here out
		poll 10 has_connections 1
		sockets+=" $(find "/proc/$(pgrep -P $pid)/fd" -lname 'socket:*' | wc -l)"
		exec 7>&-
		wait $pid || :
	done
	grep -q 'other attempts: 1' log
	[ "${sockets% *}" = " ${sockets##* }" ]
}

@test "ConnectTimeout holds for each attempt, and ConnectionAttempts for all of them" {
	set_addresses fd88::1 10.88.0.1
	run -255 log_in "${happy[@]}" -o HappyDelay=500 -o ConnectTimeout=2
	check_true "$(cat took) >= 2.5 && $(cat took) < 4"
	grep -q 'ssh: connect to host many.test port [0-9]*: Connection timed out' log
	run -255 log_in "${happy[@]}" -o HappyDelay=100 -o ConnectTimeout=1 -o ConnectionAttempts=2
	check_true "$(cat took) >= 3.1"
	[ "$(grep -c 'Connecting to many.test' log)" = 4 ]
	# refused everywhere
	set_addresses fd77::3 10.77.0.3
	run -255 log_in "${happy[@]}"
	grep -q 'ssh: connect to host many.test port [0-9]*: Connection refused' log
}

@test "AddressFamily and BindAddress limit the attempts" {
	set_addresses fd88::1 10.77.0.2
	log_in "${happy[@]}" -o HappyDelay=20000 -4
	fails grep 'Connecting to .*fd88' log
	log_in "${happy[@]}" -o HappyDelay=20000 -o BindAddress=10.77.0.1
	check_true "$(cat took) < 10"
	# No socket can be made for the last address; the first has not answered yet.
	set_addresses 10.77.0.2 2001:db8::1
	log_in "${happy[@]}" -o HappyDelay=10 -o BindAddress=10.77.0.1
	grep -q 'Connecting to many.test \[2001:db8::1\]' log
	grep -q 'HappyEyes: 10.77.0.2 has answered first, other attempts: 0' log
}

@test "additional connections of a copy go to the address of the first one" {
	set_addresses fd88::1 10.77.0.2
	head -c 20000000 /dev/urandom >data
	copy -F config -v "${happy[@]}" -o ConnectTimeout=60 -j 2 data "many.test:$PWD/there" \
	    2>log
	cmp data there
	[ "$(grep -c 'HappyEyes: 10.77.0.2 has answered first' log)" = 1 ]
	[ "$(grep -c 'Connecting to many.test \[fd88::1\]' log)" = 1 ]
	[ "$(grep -c 'Connecting to many.test \[10.77.0.2\]' log)" = 2 ]
	fails grep 'timed out' log
}

@test "another host of --hosts is reached in the same way, and --hosts all has all other addresses" {
	set_addresses fd88::1 10.77.0.2
	sshd_up hayate:second
	echo "fd88::1 second.test" >>names
	echo "10.77.0.2 second.test" >>names
	{
		printf 'Host second.test\n\tHostName second.test\n\tPort %s\n' \
		    "$(sshd_port second)"
		cat config
	} >both
	head -c 20000000 /dev/urandom >data
	copy -F both -v "${happy[@]}" -o ConnectTimeout=60 --hosts second.test data \
	    "many.test:$PWD/there" 2>log
	cmp data there
	grep -q 'Connecting to second.test \[fd88::1\]' log
	[ "$(grep -c 'HappyEyes: 10.77.0.2 has answered first' log)" = 2 ]
	[ "$(count_logins second)" = 1 ]
	sshd_down second
	# The first address wins, although it is not the one that is tried last.
	set_addresses fd77::2 10.77.0.2
	copy -F config -v "${happy[@]}" -o HappyDelay=20 --hosts all data \
	    "many.test:$PWD/there" 2>log
	cmp data there
	[ "$(grep -c 'HappyEyes: .* has answered first' log)" = 1 ]
	grep -q 'HappyEyes: fd77::2 has answered first, other attempts: 1' log
	[ "$(grep -c 'Connecting to many.test \[10.77.0.2\]' log)" = 2 ]
}

# count_banners: prints how many connections have sent something to the server
count_banners() { grep -c 'Remote protocol version' "$(sshd_log hayate)" || :; }

@test "an early login goes to the address that answers, and nothing to the others" {
	local before
	set_addresses fd77::2 10.77.0.2
	use_cache
	log_in "${KNOWN[@]}"
	before=$(count_banners)
	log_in "${KNOWN[@]}" "${happy[@]}" -o HappyDelay=20
	grep -q 'HappyEyes: fd77::2 has answered first, other attempts: 1' log
	grep -q 'early login: .*key exchange' log
	poll 10 has_connections 0
	[ "$(count_banners)" = $((before + 1)) ]
	# with a dead address, over several logins
	set_addresses fd88::1 10.77.0.2
	use_cache
	for _ in 1 2 3; do
		log_in "${KNOWN[@]}" "${happy[@]}" -o HappyDelay=100 -o ConnectTimeout=30
		grep -q 'early login: .*key exchange' log
		fails grep 'did not take it' log
	done
	[ -s hayate_logins ]
	fails grep ' plain=\| late=' hayate_logins
}

@test "a key pair is made once while attempts are pending" {
	set_addresses fd88::1 fd88::2 10.77.0.2
	sshd_up stock:older "KexAlgorithms sntrup761x25519-sha512"
	sed -i "s/Port .*/Port $(sshd_port older)/; s/EarlyLogin no//" config
	use_own_cache
	log_in "${KNOWN[@]}" "${happy[@]}" -o HappyDelay=50
	fails grep 'pair made in advance' log
	log_in "${KNOWN[@]}" "${happy[@]}" -o HappyDelay=50 -o ConnectTimeout=30
	grep -q 'HappyEyes: 10.77.0.2 has answered first, other attempts: 2' log
	[ "$(grep -c 'pair made in advance' log)" = 1 ]
	check_true "$(cat took) < 10"
	# nobody answers
	set_addresses fd88::1 fd88::2
	sed -i "s/Port .*/Port $(sshd_port older)/; s/EarlyLogin no//" config
	run -255 log_in "${KNOWN[@]}" "${happy[@]}" -o HappyDelay=50 -o ConnectTimeout=1
	grep -q 'ssh: connect to host many.test port [0-9]*: Connection timed out' log
	sshd_down older
}

@test "a command of ProxyCommand is not concerned" {
	set_addresses fd88::1 10.77.0.2
	log_in "${happy[@]}" -o ProxyCommand="$(bin ssh) -F config -W 10.77.0.2:%p hayate"
	fails grep 'HappyEyes: .*answered' log
}
