#!/usr/bin/env bats
# Needs: hayate stock peers path
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Hayate with other programs: stock OpenSSH of the same release, OpenSSH of this
# machine, dropbear and PuTTY, as clients and servers. The bytes are compared, and
# the log must have the peer's banner. "far" servers are behind 80 ms and
# 400 Mbit/s, where windows must grow:
#
#     client, a 10.77.0.1  ==== 80 ms, 400 Mbit/s ====  b 10.77.0.2, sshd
#
# Short sessions, one for each shared cipher and MAC, need no listener: the client
# runs the server itself (sshd -i).

load helper


setup_file() {
	export P=i$$
	cd "$BATS_FILE_TMPDIR" || return
	if "$LFP" check 2>why; then
		"$LFP" up "$P" --rtt 80ms --rate 400mbit --queue 8MB --cc reno 3>&-
		export IN_SERVER="ip netns exec lfp-$P-b"
		export IN_CLIENT="ip netns exec lfp-$P-a"
		export SERVER_ADDRESS=10.77.0.2
	fi
	# NoneEnabled has no effect on clients that do not ask for data in clear.
	sshd_up hayate "$(print_all_algorithms hayate)" "NoneEnabled yes"
	sshd_up stock "$(print_all_algorithms stock)"
	sshd_up system "$(print_all_algorithms system)"
	sshd_up hayate:rekey "RekeyLimit 1M" "NoneEnabled yes"
	sshd_up system:system-rekey "RekeyLimit 1M"
	head -c 25165824 /dev/urandom >bulk
	head -c 8388608 bulk >some
	head -c 300001 bulk >little
	mkdir home
	make_dropbear_keys
	make_putty_keys
}

teardown_file() {
	[ ! -s "$BATS_FILE_TMPDIR/dropbear.pid" ] ||
	    kill "$(cat "$BATS_FILE_TMPDIR/dropbear.pid")"
	sshd_down
	[ -s "$BATS_FILE_TMPDIR/why" ] || "$LFP" down "$P"
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	T=$BATS_TEST_TMPDIR
	F=$BATS_FILE_TMPDIR
	BULK=$F/bulk
	SOME=$F/some
	LITTLE=$F/little
	ADDRESS=${SERVER_ADDRESS-127.0.0.1}
	[ -s "$F/why" ] || "$LFP" set "$P" --rtt 80ms
	for log in "$F"/sshd.*/log; do : >"$log"; done
}

# print_all_algorithms BUILD: prints everything that it can do, as sshd options
print_all_algorithms() {
	echo "Ciphers $("$(bin ssh "$1")" -Q cipher | paste -sd,)"
	echo "MACs $("$(bin ssh "$1")" -Q mac | paste -sd,)"
}

# has_widened LOG: succeeds if the tuner raised a window, and always without a path
has_widened() { [ -s "$F/why" ] || has_window_grown "$1"; }

# has_banner LOG BANNER: succeeds if the peer sent that banner
has_banner() { grep -q "remote software version $2" "$1"; }

print_banner() {
	case $1 in
	hayate)	echo 'OpenSSH_.*Hayate_' ;;
	*)	echo "OpenSSH_$("$(bin ssh "$1")" -V 2>&1 | sed 's/^OpenSSH_\([0-9.]*\).*/\1/')" ;;
	esac
}

### OpenSSH

# exchange_files CLIENT SERVER: copies BULK there and back through ssh, SOME through scp
# and sftp
exchange_files() {
	local CLIENT=$1 to=$2
	: >"$(sshd_log "$to")"
	client -vv "$to" "cat >$T/there" <"$BULK" 2>put.log
	cmp "$BULK" there
	client -vv "$to" "cat $BULK" >back 2>get.log
	cmp "$BULK" back
	has_banner get.log "$(print_banner "${to%-rekey}")"
	has_banner "$(sshd_log "$to")" "$(print_banner "$1")"
	[ "$CLIENT" != hayate ] || has_widened get.log
	[ "$to" != hayate ] || has_widened "$(sshd_log "$to")"
	copy -q "$SOME" "$to:$T/there2"
	cmp "$SOME" there2
	echo "get $SOME back2" | files -q -b - "$to"
	cmp "$SOME" back2
}

@test "our clients exchange files with a stock server of the same release" {
	exchange_files hayate stock
}

@test "stock clients of the same release exchange files with our server" {
	exchange_files stock hayate
}

@test "our clients exchange files with this machine's OpenSSH server" {
	exchange_files hayate system
}

@test "this machine's OpenSSH clients exchange files with our server" {
	exchange_files system hayate
}

@test "the old scp protocol works with Hayate at either end" {
	local CLIENT s
	for s in hayate:system system:hayate; do
		CLIENT=${s%:*}
		copy -q -O "$SOME" "${s#*:}:$T/there"
		cmp "$SOME" there
		copy -q -O "${s#*:}:$SOME" back
		cmp "$SOME" back
		rm there back
	done
}

### Ciphers and MACs

# list_common QUERY CLIENT SERVER
list_common() {
	comm -12 <("$(bin ssh "$2")" -Q "$1" | sort) \
	    <("$(bin ssh "$3")" -Q "$1" | sort)
}

# list_pairs CLIENT SERVER: prints every cipher and every MAC in common, each once; those
# ciphers that need no MAC stand with "<implicit>"
list_pairs() {
	local aead='gcm|poly' plain c m i=0
	list_common cipher "$1" "$2" | grep -E $aead | sed 's/$/ <implicit>/'
	mapfile -t plain < <(list_common cipher "$1" "$2" | grep -vE $aead)
	for m in $(list_common mac "$1" "$2"); do
		echo "${plain[i++ % ${#plain[@]}]} $m"
	done
}

# check_each_pair PEER: transfers data with each of the pairs; the client is ours in every
# other one, the server in the rest
check_each_pair() {
	local CLIENT=hayate to=$1 c m n=0 sshd
	while read -r c m; do
		sshd="$(bin sshd "$to") -i -f $(sshd_dir "$to")/config -E $T/server.log"
		client -v -o ProxyCommand="$sshd" -c "$c" -m "${m/<implicit>/hmac-sha1}" \
		    "$to" "tee $T/there" <"$LITTLE" >back 2>log
		cmp "$LITTLE" there
		cmp "$LITTLE" back
		has_banner log "$(print_banner "$to")"
		[ "$(tr -d '\r' <log | grep -c "kex: .* cipher: $c MAC: $m")" = 2 ]
		n=$((n + 1))
		m=$to to=$CLIENT CLIENT=$m
	done < <(list_pairs hayate "$1")
	echo "$n pairs"
	[ "$n" -ge 15 ]
}

@test "every shared cipher and MAC works with stock of the same release" {
	check_each_pair stock
}

@test "every shared cipher and MAC works with this machine's OpenSSH" {
	check_each_pair system
}

### Rekeying

has_rekeyed() { [ "$(grep -c 'SSH2_MSG_NEWKEYS received' "$1")" -gt 5 ]; }

# A new key costs round trips, so these talks are over a short path
shorten_path() { [ -s "$F/why" ] || "$LFP" set "$P" --rtt 2ms; }

# check_rekeying CLIENT SERVER [ARG...]: copies SOME there and back, both at once
check_rekeying() {
	local CLIENT=$1
	shorten_path
	client -v "${@:3}" "$2" "tee $T/there" <"$SOME" >back 2>log
	cmp "$SOME" there
	cmp "$SOME" back
	has_rekeyed log
}

@test "our client rekeys in mid-transfer with every server" {
	local s
	for s in hayate stock system; do
		check_rekeying hayate $s -o RekeyLimit=1M
	done
}

@test "our server rekeys in mid-transfer with every client" {
	local c
	for c in hayate stock system; do
		check_rekeying $c rekey
	done
}

@test "client and server both rekey in mid-transfer" {
	check_rekeying hayate system-rekey -o RekeyLimit=1M
	check_rekeying system rekey -o RekeyLimit=1M
}

# print_server_command CIPHER MAC: prints the command of our server for one connection,
# with these alone
print_server_command() {
	echo "$(bin sshd) -i -f $(sshd_dir hayate)/config -E $T/server.log" \
	    "-o Ciphers=$1 -o MACs=$2"
}

### dropbear

make_dropbear_keys() {
	command -v dropbearconvert >/dev/null || return 0
	dropbearconvert openssh dropbear host dropbear_host 2>/dev/null
	dropbearconvert openssh dropbear user dropbear_user 2>/dev/null
}

need_dropbear() {
	need dropbear dropbear-bin
	need_root "a home directory for dropbear"
	unshare -m true 2>/dev/null || skip "no mount namespaces"
	[ -s "$F/dropbear.pid" ] || start_dropbear
	DROPBEAR_PORT=$(cat "$F/dropbear.port")
}

# start_dropbear: starts the server, with all its window of 10 MB. It takes keys from the
# home directory only, so it gets one of ours.
start_dropbear() {
	local home=$F/home port=$((20000 + RANDOM % 12000))
	mkdir -p "$home/.ssh"
	cp "$F/authorized_keys" "$home/.ssh/"
	chmod -R go-rwx "$home"
	cat >"$F/dropbear.sh" <<-EOF
	mount --bind $home $(getent passwd "$(id -un)" | cut -d: -f6) &&
	    exec dropbear -F -E -s -W 10485760 -r $F/dropbear_host \
	    -P $F/dropbear.pid -p $ADDRESS:$port
	EOF
	# shellcheck disable=SC2086
	setsid $IN_SERVER unshare -m sh "$F/dropbear.sh" </dev/null \
	    >"$F/dropbear.log" 2>&1 3>&- &
	poll 10 test -s "$F/dropbear.pid"
	echo $port >"$F/dropbear.port"
}

@test "our clients exchange files with a dropbear server" {
	need_dropbear
	client -vv -p "$DROPBEAR_PORT" "$ADDRESS" "cat >$T/there" <"$BULK" 2>put.log
	cmp "$BULK" there
	client -vv -p "$DROPBEAR_PORT" "$ADDRESS" "cat $BULK" >back 2>get.log
	cmp "$BULK" back
	has_banner get.log dropbear
	has_widened get.log
	copy -q -P "$DROPBEAR_PORT" "$SOME" "$ADDRESS:$T/there2"
	cmp "$SOME" there2
	copy -q -P "$DROPBEAR_PORT" "$ADDRESS:$SOME" back2
	cmp "$SOME" back2
}

@test "dbclient exchanges files with our server" {
	need dbclient dropbear-bin
	local port
	port=$(sshd_port hayate)
	run_dbclient() { HOME=$F/home $IN_CLIENT dbclient -y -y -W 10485760 \
	    -i "$F/dropbear_user" "$@" 3>&- 2>/dev/null; }
	run_dbclient -p "$port" "$(id -un)@$ADDRESS" "cat >$T/there" <"$BULK"
	cmp "$BULK" there
	has_widened "$(sshd_log hayate)"
	run_dbclient -p "$port" "$(id -un)@$ADDRESS" "cat $BULK" >back
	cmp "$BULK" back
	has_banner "$(sshd_log hayate)" dropbear
	shorten_path
	run_dbclient -p "$(sshd_port rekey)" "$(id -un)@$ADDRESS" "tee $T/there3" \
	    <"$SOME" >back3
	cmp "$SOME" there3
	cmp "$SOME" back3
	has_rekeyed "$(sshd_log rekey)"
}

@test "every cipher and MAC of dropbear works with our client and our server" {
	need_dropbear
	shorten_path
	local c m n=0
	for c in chacha20-poly1305@openssh.com aes128-ctr aes256-ctr; do
		for m in hmac-sha1 hmac-sha2-256; do
			client -v -p "$DROPBEAR_PORT" -c $c -m $m "$ADDRESS" \
			    "tee $T/there" <"$LITTLE" >back 2>log
			cmp "$LITTLE" there
			cmp "$LITTLE" back
			has_banner log dropbear
			[ "$(grep -c "kex: .* cipher: $c " log)" = 2 ]
			HOME=$F/home dbclient -y -y -i "$F/dropbear_user" -J \
			    "$(print_server_command "$c" "$m")" "$(id -un)@hayate" "tee $T/there" <"$LITTLE" >back 2>dbc.log
			cmp "$LITTLE" there
			cmp "$LITTLE" back
			n=$((n + 1))
		done
	done
	[ "$(grep -c 'remote software version dropbear' server.log)" = $n ]
}

@test "our client and dropbear rekey in mid-transfer" {
	need_dropbear
	shorten_path
	client -v -p "$DROPBEAR_PORT" -o RekeyLimit=1M "$ADDRESS" "tee $T/there" \
	    <"$SOME" >back 2>log
	cmp "$SOME" there
	cmp "$SOME" back
	has_banner log dropbear
	has_rekeyed log
}

### PuTTY

make_putty_keys() {
	command -v puttygen >/dev/null || return 0
	HOME=$PWD/home puttygen user -O private -o putty_user
	ssh-keygen -lf host.pub | cut -d' ' -f2 >fingerprint
}

# run_putty PROGRAM ARG...
run_putty() {
	HOME=$F/home $IN_CLIENT "$1" -batch -i "$F/putty_user" \
	    -hostkey "$(cat "$F/fingerprint")" -P "${PORT-$(sshd_port hayate)}" \
	    "${@:2}" 3>&-
}

@test "a request for data in clear does not change a session with a foreign server" {
	local name ask="-o NoneEnabled=yes -o NoneSwitch=yes" where
	need_dropbear
	for name in stock system-rekey dropbear; do
		where=$name
		[ $name != dropbear ] || where="-p $DROPBEAR_PORT 127.0.0.1"
		# shellcheck disable=SC2086
		client $ask $where "cat $SOME" 2>err | cmp - "$SOME"
		grep -q 'data stays encrypted, because the server does not support it' err
	done
}

@test "plink exchanges files with our server" {
	need plink putty-tools
	run_putty plink "$(id -un)@$ADDRESS" "cat >$T/there" <"$BULK"
	cmp "$BULK" there
	has_widened "$(sshd_log hayate)"
	run_putty plink "$(id -un)@$ADDRESS" "cat $BULK" >back
	cmp "$BULK" back
	has_banner "$(sshd_log hayate)" PuTTY
}

@test "psftp and pscp, with both protocols, exchange files with our server" {
	need pscp putty-tools
	local how
	for how in -sftp -scp; do
		run_putty pscp $how "$SOME" "$(id -un)@$ADDRESS:$T/there" >/dev/null
		cmp "$SOME" there
		run_putty pscp $how "$(id -un)@$ADDRESS:$SOME" back >/dev/null
		cmp "$SOME" back
		rm there back
	done
	printf 'put %s %s\nget %s %s\n' "$BULK" "$T/there" "$BULK" "$T/back" >batch
	run_putty psftp -b batch "$(id -un)@$ADDRESS" >/dev/null
	cmp "$BULK" there
	cmp "$BULK" back
	has_widened "$(sshd_log hayate)"
}

@test "every cipher and MAC that PuTTY shares with our server works" {
	need plink putty-tools
	local c m n=0
	while read -r c m; do
		: >server.log
		run_putty plink -proxycmd "$(print_server_command "$c" "$m")" "$(id -un)@hayate" "tee $T/there" \
		    <"$LITTLE" >back 2>log || {
			# plink may be gone before the server has looked
			grep -q "no matching" server.log ||
			    grep -q "does not correspond to any" log
			continue
		}
		cmp "$LITTLE" there
		cmp "$LITTLE" back
		n=$((n + 1))
	done < <(list_pairs hayate hayate | sed 's/<implicit>/hmac-sha1/')
	echo "$n pairs"
	[ "$n" -ge 8 ]
}

@test "plink and our server rekey in mid-transfer" {
	need plink putty-tools
	shorten_path
	PORT=$(sshd_port rekey) run_putty plink "$(id -un)@$ADDRESS" "tee $T/there" \
	    <"$SOME" >back
	cmp "$SOME" there
	cmp "$SOME" back
	has_rekeyed "$(sshd_log rekey)"
}

### Threads and others, by every cipher that they have; LONG_BYTES=1G by hand

send_long() {
	[ -s "$F/long" ] || head -c "${LONG_BYTES:-40M}" /dev/urandom >"$F/long"
	LONG=$F/long
	LIMIT=$(($(stat -c %s "$LONG") / 8))
}

# run_threaded CIPHER: as ours
run_threaded() {
	echo "$(print_server_command "$1" hmac-sha1,hmac-sha2-256) -o CipherThreads=2" \
	    "-o RekeyLimit=$LIMIT"
}

# check_both_ways LOG COMMAND...: where LOG is that of whoever has threads
check_both_ways() {
	local where
	for where in "cat $LONG" "cmp - $LONG"; do
		: >"$1"
		if [ "$where" = "cat $LONG" ]; then
			"${@:2}" "$where" </dev/null 2>>log | cmp - "$LONG"
		else
			"${@:2}" "$where" <"$LONG" 2>>log
		fi
		grep -q 'sealed and opened by 2 threads' "$1"
		has_rekeyed "$1"
	done
}

@test "bulk data with threads survives rekeys with stock and every cipher, both ways" {
	local c
	send_long
	for c in $("$(bin ssh stock)" -Q cipher | grep -v cbc); do
		CLIENT=stock check_both_ways server.log client -c "$c" \
		    -o "ProxyCommand=$(run_threaded "$c")" hayate
		check_both_ways log client -v -c "$c" -o CipherThreads=2 \
		    -o RekeyLimit=$LIMIT -o "ProxyCommand=$(bin sshd stock) -i -f $(sshd_dir stock)/config" stock
	done
}

@test "bulk data with threads survives rekeys with dropbear, both ways" {
	local c
	need_dropbear
	send_long
	shorten_path
	for c in chacha20-poly1305@openssh.com aes128-ctr aes256-ctr; do
		HOME=$F/home check_both_ways server.log dbclient -y -y \
		    -i "$F/dropbear_user" -J "$(run_threaded "$c")" "$(id -un)@hayate"
		check_both_ways log client -v -c "$c" -o CipherThreads=2 \
		    -o RekeyLimit=$LIMIT -p "$DROPBEAR_PORT" "$ADDRESS"
	done
}

@test "bulk data with threads survives rekeys with PuTTY, both ways" {
	need plink putty-tools
	local c
	send_long
	for c in aes128-ctr aes192-ctr aes256-ctr aes128-gcm@openssh.com \
	    aes256-gcm@openssh.com chacha20-poly1305@openssh.com; do
		check_both_ways server.log run_putty plink -proxycmd "$(run_threaded "$c")" \
		    "$(id -un)@hayate"
	done
}

### rsync

@test "rsync works through our client and our server, both ways" {
	need rsync rsync
	local s d rsh
	mkdir -p tree/sub
	cp "$SOME" tree/some
	cp "$LITTLE" tree/sub/little
	for s in hayate:system system:hayate hayate:hayate; do
		rsh="$IN_CLIENT $(bin ssh "${s%:*}") -F $F/ssh_config"
		d=${s/:/-}
		mkdir "$d"
		rsync -a -e "$rsh" tree/ "${s#*:}:$T/$d/there/"
		diff -r tree "$d/there"
		rsync -a -e "$rsh" "${s#*:}:$T/tree/" "$d/back/"
		diff -r tree "$d/back"
		# an existing file is not sent again
		[ "$(rsync -a --stats -e "$rsh" tree/ "${s#*:}:$T/$d/there/" |
		    sed -n 's/^Number of regular files transferred: //p')" = 0 ]
	done
}
