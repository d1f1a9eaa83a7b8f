#!/usr/bin/env bats
# Needs: hayate stock peers
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Logins to a server that changes its mind each time (peers/fickle-server): what a
# login remembers of it is wrong as often as right. FICKLE_LOGINS=1000 makes more than
# 60 of them, FICKLE_SEED=N repeats those of a seed, which is printed with a failure.

load helper

setup_file() {
	make_keys
	cd "$BATS_FILE_TMPDIR" || return
	ssh-keygen -q -t ed25519 -N '' -C second -f second
	ssh-keygen -q -t ecdsa -N '' -f ecdsa
	sed 's/^/hayate-test /' ecdsa.pub >>known_hosts
	cat user.pub second.pub >both
	: >none
	sshd_up stock:accept "AuthorizedKeysFile $PWD/both"
	sshd_up hayate:ours "AuthorizedKeysFile $PWD/both"
	sshd_up system:older "AuthorizedKeysFile $PWD/both"
	sshd_up stock:refuse "AuthorizedKeysFile $PWD/none"
	sshd_up stock:second "AuthorizedKeysFile $PWD/second.pub"
	sshd_up stock:curve "AuthorizedKeysFile $PWD/both" "KexAlgorithms curve25519-sha256"
	sshd_up stock:group "AuthorizedKeysFile $PWD/both" \
	    "KexAlgorithms diffie-hellman-group14-sha256"
	sshd_up stock:order "AuthorizedKeysFile $PWD/both" "HostKey $PWD/ecdsa"
	sshd_up stock:other "AuthorizedKeysFile $PWD/both" "HostKeyAlgorithms ecdsa-sha2-nistp256" \
	    "HostKey $PWD/ecdsa"
	sshd_up stock:methods "AuthorizedKeysFile $PWD/both" \
	    "AuthenticationMethods publickey,publickey"
	sshd_up stock:closed "AuthorizedKeysFile $PWD/both" "MaxSessions 0"
	sshd_up stock:nokeys "PubkeyAuthentication no" "KbdInteractiveAuthentication yes"
	sshd_up stock:strict "AuthorizedKeysFile $PWD/second.pub" "MaxAuthTries 1"
}
teardown_file() { sshd_down; }

setup() {
	use_own_cache
	need_asyncssh
	head -c 20000 /dev/urandom >input
	head -c 1000 /dev/urandom >small
}
teardown() { [ -z "$FICKLE" ] || kill "$FICKLE"; }

SERVERS="accept ours older refuse second curve group order other methods closed nokeys strict"
MODELS="asyncssh posing odd puzzled promising fooled"

# print_weights: prints the file of all ways; half of the logins are ordinary ones
print_weights() {
	local s
	for s in $SERVERS; do
		case $s in accept) echo 40 ;; ours) echo 8 ;; *) echo 4 ;; esac |
		    sed "s/\$/ $s $(sshd_port "$s")/"
	done
	echo "16 cut"
	# shellcheck disable=SC2086 # words
	printf '2 %s\n' $MODELS
}
set_only_way() { echo "1 $1$([[ " $SERVERS " != *" $1 "* ]] || echo " $(sshd_port "$1")")" >ways; }

start_fickle_server() {
	PORT=$((20000 + RANDOM % 12000))
	: >ways
	"$REGRESS/peers/fickle-server" $PORT "$1" ways "$F/host" "$F/both" >met 2>&1 3>&- &
	FICKLE=$!
	poll 10 grep -qx ready met
}

# A login of that kind and number, by the client $CLIENT; prints its exit status
log_in() {
	local how=("${KNOWN[@]}" -o Port="$PORT" -i "$F/user" -i "$F/second") rc=0
	rm -f out got put ran
	case $1 in
	run)	client "${how[@]}" "${@:2}" 127.0.0.1 "echo ran >>$T/ran; cat; exit 3" \
		    <input >out 2>err || rc=$? ;;
	get)	copy -q "${how[@]}" "${@:2}" 127.0.0.1:"$T/small" got 2>err </dev/null || rc=$? ;;
	put)	copy -q "${how[@]}" "${@:2}" small 127.0.0.1:"$T/put" 2>err </dev/null || rc=$? ;;
	esac
	echo $rc
}
# check_login_result KIND: checks that what a login brings is there
check_login_result() {
	case $1 in
	run) cmp -s input out && [ "$(cat ran)" = ran ] ;;
	*) cmp -s small "$1" 2>/dev/null || { [ "$1" = get ] && cmp -s small got; } ;;
	esac
}

# is_allowed_status KIND WAY STATUS: succeeds if such a login may end so where the last
# connection was met in this way
is_allowed_status() {
	[ ! -e ran ] || [ "$(wc -l <ran)" = 1 ] || return
	if [ "$3" = "${WANT[$1 done]}" ]; then check_login_result "$1" || return; fi
	[ "$3" != 255 ] || [ -s err ] || return
	case $2 in
	# The connection may break too late to matter.
	cut) [ "$3" != 0 ] || check_login_result "$1" ;;
	# scp learns the status of the transfer from replies
	asyncssh|posing|odd) [ "$3" = "${WANT[$1 $2]}" ] || { [ "$1$3" != run0 ] && [ "$3" = 0 ] && check_login_result "$1"; } ;;
	*) [ "$3" = "${WANT[$1 $2]}" ] ;;
	esac
}

# Sets WANT[KIND WAY], how stock's login ends
record_stock_status() {
	local way kind
	declare -gA WANT=([run done]=3 [get done]=0 [put done]=0)
	for way in $SERVERS $MODELS; do
		set_only_way "$way"
		for kind in run get put; do
			WANT[$kind $way]=$(CLIENT=stock log_in $kind)
		done
	done
	cp "$F/known_hosts" hosts
}

@test "each login to a server that behaves differently each time ends as with stock" {
	local i kind before n way rc seed=${FICKLE_SEED:-$RANDOM} bad=0
	start_fickle_server "$seed"
	record_stock_status
	declare -p WANT
	echo "seed $seed"
	print_weights >ways
	for i in $(seq "${FICKLE_LOGINS:-60}"); do
		kind=$(echo get put run run run | cut -d' ' -f$((i % 5 + 1)))
		before=$(grep -c ^connection met)
		cp hayate_logins was 2>/dev/null || :
		rc=$(log_in "$kind" -v)
		n=$(($(grep -c ^connection met) - before))
		way=$(sed -n 's/^connection //p' met | tail -n 1)
		if [ "$n" -lt 1 ] || [ "$n" -gt 2 ] || ! is_allowed_status "$kind" "$way" "$rc"; then
			echo "login $i, $kind, met $n times, at last $way: status $rc"
			tail -n $((n + 1)) met
			cat was err
			bad=$((bad + 1))
		fi
	done
	[ $bad = 0 ]
	check_recovery
}

# check_recovery: checks that early logins to a server that is as stock's again are
# resumed, after as many logins as the cache says at most
check_recovery() {
	local most i
	set_only_way accept
	most=$(sed -n 's/.* \(late\|plain\)=\([0-9]*\).*/\2/p' hayate_logins | sort -n | tail -n 1)
	for i in $(seq $((${most:-0} + 4))); do
		[ "$(log_in run -v)" = 3 ]
		check_login_result run
		! is_login_early || return 0
	done
	cat hayate_logins err
	return 1
}
is_login_early() {
	grep -q 'early login: sending the key exchange' err &&
	    grep -q 'signing early' err &&
	    grep -q 'opening the session early' err
}

@test "a server that answers a signature like a key query gets one command" {
	start_fickle_server 1
	set_only_way promising
	[ "$(log_in run -v)" = 255 ]
	grep 'opening the session early' err
	[ "$(grep -c 'Server accepts key' err)" -gt 3 ]
	[ "$(grep -c 'Sending command' err)" = 1 ]
}
