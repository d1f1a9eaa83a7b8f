#!/usr/bin/env bats
# Needs: hayate stock path peers
# What contrib/ has for sites: sample configurations, sysctl, queues, units, the
# report on security fixes, and the bound of memory.

load helper

setup_file() {
	make_keys
	privsep_dirs
}

setup() { cd "$BATS_TEST_TMPDIR"; }
teardown() {
	local ns
	sshd_down
	for ns in "qa$$" "qb$$"; do
		ip netns del "$ns" 2>/dev/null || :
	done
}

# lower_keywords: keywords as sshd printed them before 10.4
lower_keywords() { sed 's/^[^ ]*/\L&/'; }
# query_sample FILE [ARG...]: prints what sshd makes of a sample
query_sample() { "$(bin sshd)" -T -f "$1" -h "$BATS_FILE_TMPDIR/host" "${@:2}" | lower_keywords; }
# copy_sample NAME: makes a copy of it, with groups that exist here
copy_sample() {
	sed -e "s/Group wheel/Group $(id -gn)/" "$TOP/contrib/site/$1" >"$1"
	echo "$1"
}

@test "each sample is accepted by its program without a message, and "Hayate" lists each one" {
	local f n=0
	for f in "$TOP"/contrib/site/sshd_config.*; do
		sed 's,^HostKey .*,,' "$f" >s
		run -0 "$(bin sshd)" -t -f s -h "$BATS_FILE_TMPDIR/host"
		# but that a kernel has no BBR, which is not the sample's fault
		run ! grep -v 'CongestionControl bbr has no effect' <<<"${output:-CongestionControl bbr has no effect}"
		n=$((n + 1))
	done
	for f in "$TOP"/contrib/site/ssh_config.*; do
		run -0 --separate-stderr "$(bin ssh)" -TG -F "$f" dtn.example
		[ -z "$stderr" ]
		n=$((n + 1))
	done
	((n >= 7))
	# a sample with a mistake is not
	sed 's/WindowMax 256M/WindowMax 1025M/' "$TOP/contrib/site/sshd_config.transfer" >s
	run ! "$(bin sshd)" -t -f s -h "$BATS_FILE_TMPDIR/host"
}

@test "each sample applies where its first lines say, also after a Match of the site" {
	local f name all here got
	mkdir d
	for f in "$TOP"/contrib/site/sshd_config.{data,frontend,transfer,visualisation}; do
		name=${f##*.}
		sed "s,/etc/ssh/sshd_config\\.[a-z]*,$PWD/d/$name.conf," "$(copy_sample "${f##*/}")" >"d/$name.conf"
		grep -qF "/etc/ssh/sshd_config.d/$name.conf" "$f"
		# what it says to write at the end
		sed -n '/^#	/s/^#	//p' "d/$name.conf" >lines
		[ "$(wc -l <lines)" = 2 ]
		all=$(query_sample "d/$name.conf" -C user=u,host=h,addr=198.51.100.1 | sort)
		printf '%s\n' "Include $PWD/d/$name.conf" "Match User v" "PermitTTY yes" >begin
		(printf '%s\n' "Match User v" "PermitTTY yes"; cat lines) >end
		(printf '%s\n' "Match User v" "PermitTTY yes"; tail -n 1 lines) >lost
		for here in begin end; do
			got=$(query_sample $here -C user=u,host=h,addr=198.51.100.1 | sort)
			diff <(echo "$all") <(echo "$got")
		done
		# the mistake that these lines are against has no effect, except on NoneEnabled no
		[ "$name" = data ] || [ "$(query_sample lost -C user=u,host=h,addr=198.51.100.1 | sort)" != "$all" ]
	done
}

@test "with the rules of port 22 the system's files apply, and without them sshd does not start" {
	local line
	mkdir sys
	sed "s,/etc/ssh,$PWD/sys,g" "$TOP/contrib/site/sshd_config.system" >system.conf
	printf '%s\n' 'UsePAM yes' 'AllowGroups staff' 'PasswordAuthentication no' \
	    'Subsystem sftp /bin/false -R' 'Match User u' 'ForceCommand internal-sftp' >sys/sshd_config
	printf '%s\n' "Include $PWD/system.conf" 'Port 2222' 'PasswordAuthentication yes' \
	    'PAMServiceName ours' 'Subsystem sftp /bin/true' 'ForceCommand none' >s
	query_from() { "$(bin sshd)" -T -f s -p 2222 -C user="$1",host=h,addr=198.51.100.1 | lower_keywords; }
	run ! "$(bin sshd)" -t -f s
	[[ $output = *"no hostkeys available"* ]]
	cp "$BATS_FILE_TMPDIR/host" sys/ssh_host_ed25519_key
	query_from v >said 2>/dev/null
	for line in 'allowgroups staff' 'passwordauthentication no' 'subsystem sftp /bin/false -R' \
	    'pamservicename sshd' 'forcecommand none' 'port 2222' "hostkey $PWD/sys/ssh_host_ed25519_key"; do
		grep -qxF "$line" said || { echo "$line"; cat said; false; }
	done
	query_from u 2>/dev/null | grep -qx 'forcecommand internal-sftp'
	# a port of the system's does not count beside -p
	sed -i '1iPort 22' sys/sshd_config
	[ "$(query_from v 2>/dev/null | grep '^port')" = 'port 2222' ]
	# what it says about more than one AllowGroups
	echo 'AllowGroups ours' >>s
	[ "$(query_from v 2>/dev/null | grep -c '^allowgroups')" = 2 ]
}

@test "the front-end limits every user, and the transfer node less strictly" {
	f=$(copy_sample sshd_config.frontend)
	query_from() { query_sample "$f" -C "user=u,host=h,addr=$1" | grep -E "^(windowmemorymax|windowmax|maxrate|cipherthreads) " | sort | paste -sd' '; }
	[ "$(query_from 198.51.100.1)" = "cipherthreads 1 maxrate 524288000 windowmax 33554432 windowmemorymax 61865984" ]
	[ "$(query_from 10.20.3.4)" = "cipherthreads auto maxrate none windowmax 67108864 windowmemorymax 268435456" ]
	# 100 sessions stay below a half of 16 GiB
	check_true "100 * (8 + 5 / 4 * 61865984 / 1048576) <= 8192"
}

@test "the transfer node chooses bbr, and a partner's share" {
	f=$(copy_sample sshd_config.transfer)
	query_from() { query_sample "$f" -C "user=$(id -un),host=h,addr=$1" | grep -E "^(congestioncontrol|maxrate|permittty) " | sort | paste -sd' '; }
	[ "$(query_from 198.51.100.1)" = "congestioncontrol bbr maxrate none permittty no" ]
	[ "$(query_from 192.0.2.9)" = "congestioncontrol bbr maxrate 62914560 permittty no" ]
	[ "$(query_from 10.1.0.9)" = "congestioncontrol default maxrate none permittty yes" ]
	"$(bin ssh)" -G -F "$TOP/contrib/site/ssh_config.transfer" dtn1.example |
	    grep -qx 'congestioncontrol bbr'
	"$(bin ssh)" -G -F "$TOP/contrib/site/ssh_config.transfer" other.example |
	    grep -qx 'congestioncontrol default'
}

@test "on the direct link data in clear is permitted, and from nowhere else" {
	f=$(copy_sample sshd_config.visualisation)
	query_from() { query_sample "$f" -C "user=u,host=h,addr=$1,laddr=$2" | grep -E "^(noneenabled|maxrate) " | sort | paste -sd' '; }
	[ "$(query_from 192.168.100.2 192.168.100.1)" = "maxrate none noneenabled yes" ]
	[ "$(query_from 192.168.100.2 10.0.0.1)" = "maxrate none noneenabled no" ]
	[ "$(query_from 192.168.100.3 192.168.100.1)" = "maxrate 104857600 noneenabled no" ]
	[ "$(query_from 198.51.100.1 10.0.0.1)" = "maxrate 104857600 noneenabled no" ]
}

@test "a laptop on a VPN sends at most its rate, to its site alone" {
	f=$TOP/contrib/site/ssh_config.vpn
	"$(bin ssh)" -G -F "$f" a.site.example | grep -qx 'maxrate 2097152'
	"$(bin ssh)" -G -F "$f" a.site.example | grep -qx 'windowmax 8388608'
	"$(bin ssh)" -G -F "$f" elsewhere.example | grep -qx 'maxrate none'
}

@test "an account for transfers cannot forward, from any address, and can read or copy" {
	local opened
	export SERVER_ADDRESS=127.0.0.1
	# check_barred NAME FILE: checks that -L, -R and a terminal are refused. Sockets, which no
	# sshd forwards for root, are checked by the output of -T.
	check_barred() {
		opened=$(client -W "127.0.0.1:$(sshd_port "$1")" "$1" 2>/dev/null </dev/null || :)
		[ -z "$opened" ] || { echo "-L: $opened"; return 1; }
		run -255 client -o ExitOnForwardFailure=yes -R 0:127.0.0.1:22 "$1" true </dev/null
		[[ $output = *"forwarding failed"* ]] || { echo "$output"; return 1; }
		query_sample "$2" -C "user=$(id -un),host=h,addr=127.0.0.1,laddr=127.0.0.1" |
		    grep -x 'disableforwarding yes' || return
		run client -tt "$1" true </dev/null
		[[ $output = *"PTY allocation request failed"* ]]
	}
	echo data >sent
	sed "s/Group pubdata/Group $(id -gn)/" "$TOP/contrib/site/sshd_config.data" >away
	sed -e "s,10.20.0.0/16 LocalAddress 10.20.0.1,127.0.0.0/8 LocalAddress 127.0.0.1," away >here
	for f in here away; do
		sshd_up "hayate:$f" "Include $PWD/$f"
		check_barred "$f" "$f"
		echo "get $PWD/sent $PWD/got" | files -b - "$f"
		cmp sent got
		echo "put $PWD/sent $PWD/put" | fails files -b - "$f"
		[ ! -e put ]
		sshd_down "$f"
		rm got
	done
	sshd_up hayate:dtn "Include $TOP/contrib/site/sshd_config.transfer"
	check_barred dtn "$TOP/contrib/site/sshd_config.transfer"
	copy sent dtn:"$PWD/got"
	cmp sent got
}

@test "a sample with MaxRate states the rate" {
	local f rate n=0
	while IFS=: read -r f rate; do
		rate=$(awk -v m="${rate//[!0-9]}" 'BEGIN { printf "%.3g MB/s", m * 1048576 / 1e6 }')
		tr -d '#' <"$f" | tr -s ' \n' ' ' | grep -qF " $rate" || { echo "$f does not say $rate"; false; }
		n=$((n + 1))
	done < <(grep -oE '^[	 ]*MaxRate [0-9]+M$' "$TOP"/contrib/site/*)
	[ $n = 4 ]
	grep -qF 'MaxRate` counts bytes, in powers of 1024, and bounds one connection: 500M is 524 MB/s, or 4.2 Gbit/s' "$TOP/SECURITY.md"
	printf 'MaxRate 500M\n' >s
	ssh-keygen -q -t ed25519 -N '' -f host
	"$(bin sshd)" -T -f s -h host | grep -x 'maxrate 524288000'
	check_true "524288000 * 8 > 4.19e9 && 524288000 * 8 < 4.2e9"
}

@test "a server with the transfer node's sample serves a copy" {
	echo data >sent
	sshd_up hayate "Include $PWD/$(copy_sample sshd_config.transfer)"
	copy sent hayate:"$PWD/got"
	cmp sent got
}

### fail2ban

# run_with_log COMMANDS: runs them with a network of their own, and a /dev whose log is
# the file "log"
run_with_log() {
	# shellcheck disable=SC2016 # of the shell inside
	unshare -mn sh -ec 'mkdir dev; mount -t tmpfs dev dev
		cp -a /dev/null /dev/zero /dev/random /dev/urandom /dev/tty dev/
		mkdir dev/pts; mount --rbind /dev/pts dev/pts; ln -s pts/ptmx dev/ptmx
		mount --rbind dev /dev; ip link set lo up
		"$1" /dev/log log & trap "kill $!" EXIT
		until [ -S /dev/log ]; do sleep 0.05; done
		eval "$2"' - "$TOP/regress/peers/syslogd" "$1" 3>&-
}

# count_failures DIR FILTER: prints how many failed logins fail2ban sees in the file
# "log", with that filter of DIR
count_failures() {
	PYTHONPATH=$BUILD/ftpd/usr/lib/python3/dist-packages python3 "$FAIL2BAN" \
	    -c "$1" log "$1/filter.d/$2.conf" >said 2>&1 || { cat said; return 1; }
	sed -n 's/^Failregex: \([0-9]*\) total$/\1/p' said
}

@test "fail2ban counts the logins that failed in our log, with our filter" {
	need_root
	FAIL2BAN=$(command -v fail2ban-regex) || FAIL2BAN=$BUILD/ftpd/usr/bin/fail2ban-regex
	local etc=$BUILD/ftpd/etc/fail2ban
	[ -e "$FAIL2BAN" ] || skip "no fail2ban-regex, which is in the package fail2ban"
	[ -d "$etc" ] || etc=/etc/fail2ban
	cp -r "$etc" etc
	cp -r "$TOP"/contrib/fail2ban/* etc/
	printf '#!/bin/sh\necho wrong\n' >answer
	chmod 755 answer
	sshd_conf hayate "$PWD" 2222 'PasswordAuthentication yes' \
	    'PerSourcePenalties no' 'LogLevel INFO' >s
	# shellcheck disable=SC2016
	sshd=$(bin sshd) ssh=$(bin ssh) run_with_log '"$sshd" -D -f s & pid=$!
		until ss -Hltn | grep -q :2222; do sleep 0.05; done
		for user in nobody-here nobody-there; do
			SSH_ASKPASS=$PWD/answer SSH_ASKPASS_REQUIRE=force "$ssh" -F none -p 2222 \
			    -o StrictHostKeyChecking=no -o UserKnownHostsFile=$PWD/known -o PreferredAuthentications=password \
			    -o NumberOfPasswordPrompts=2 $user@127.0.0.1 true || :
		done; kill $pid'
	grep 'sshd-session\[[0-9]*\]: Failed password for invalid user nobody-here from 127.0.0.1' log
	(($(count_failures etc hayate-sshd) >= $(grep -cE 'Invalid user|Failed password' log)))
	# which the filter of Debian 12 does not see
	case $(PYTHONPATH=$BUILD/ftpd/usr/lib/python3/dist-packages python3 -c \
	    'import fail2ban.version as v; print(v.version)') in
	1.0.*)	[ "$(count_failures etc sshd)" = 0 ] ;;
	esac
	# and the jail is one that fail2ban can read
	PYTHONPATH=$BUILD/ftpd/usr/lib/python3/dist-packages python3 - <<-END
	from fail2ban.client.jailsreader import JailsReader
	r = JailsReader(basedir="$PWD/etc", force_enable=False)
	assert r.read() and r.getOptions(), "not read"
	words = r.convert(allow_no_files=True)
	assert ["start", "hayate-sshd"] in words, words
	assert any("sshd(?:-session|-auth)?" in str(w) for w in words), words
	END
}

### sysctl

# print_value FILE KEY [N]: prints the N-th word of it
print_value() { sed -n "s/^$2 = //p" "$1" | awk -v n="${3:-1}" '{ print $n }'; }

@test "each line of the sysctl samples has a key of the kernel and the arithmetic it states" {
	local f gbit bdp key
	for f in "$TOP"/contrib/sysctl/*.conf; do
		gbit=$(basename "$f" g.conf) bdp=$((gbit * 125000000 / 10))
		grep -qF "= $bdp bytes" "$f"
		for key in tcp_rmem tcp_wmem; do
			check_true "$(print_value "$f" net.ipv4.$key 3) >= ($bdp * 2 < 2147483647 ? $bdp * 2 : 2147483647)"
			check_true "$(print_value "$f" net.ipv4.$key 1) <= $(print_value "$f" net.ipv4.$key 2)"
		done
		for key in $(sed -n 's/^\([a-z].*\) = .*/\1/p' "$f"); do
			[ -e "/proc/sys/${key//.//}" ] || { echo "$f: $key"; false; }
		done
		# packets that wait, in ms of 1500 bytes
		grep -qF "are $(($(print_value "$f" net.core.netdev_max_backlog) * 12 / gbit / 1000)) ms" "$f"
	done
	[ "$(ls "$TOP"/contrib/sysctl | tr '\n' ' ')" = "100g.conf 10g.conf 1g.conf 40g.conf " ]
}

@test "the kernel takes the sysctl samples in a network namespace" {
	need_root
	local f
	for f in "$TOP"/contrib/sysctl/*.conf; do
		# the others are of the whole machine
		grep -E '^net\.ipv4\.tcp_[a-z_]* = ' "$f" | grep -v congestion >part
		run -0 unshare -n sysctl -p part
		[ "$(grep -c ' = ' <<<"$output")" = "$(grep -c . part)" ]
	done
}

### Queues

# start_queues RATE: makes two hosts, $A and $B, with the queues of that rate at $A
start_queues() {
	need_root
	need tc iproute2
	A=qa$$ B=qb$$
	ip netns add $A && ip netns add $B
	ip -n $A link add v0 type veth peer name v1 netns $B || skip "no veth devices"
	ip -n $A addr add 10.79.0.1/24 dev v0
	ip -n $B addr add 10.79.0.2/24 dev v1
	ip -n $A link set v0 up
	ip -n $B link set v1 up
	run env TC="tc -n $A" "$TOP/contrib/qos/htb" v0 "$@"
	[[ $output != *"kind is unknown"* ]] || skip "no htb in this kernel"
}

@test "packets that ssh marks as bulk go to the class with the lowest priority" {
	start_queues 900mbit
	[ "$status" = 0 ]
	count_class_bytes() { tc -n $A -s class show dev v0 | awk -v c="1:$1" '$3 == c { getline; print $2 }'; }
	export SERVER_ADDRESS=10.79.0.2 IN_SERVER="ip netns exec $B" IN_CLIENT="ip netns exec $A"
	sshd_up hayate
	head -c 3000000 /dev/zero >data
	copy -o "IPQoS af21 cs1" data hayate:"$PWD/got"
	bulk=$(count_class_bytes 30) other=$(count_class_bytes 20)
	client -tt -o "IPQoS af21 cs1" hayate true </dev/null || :
	typed=$(count_class_bytes 10)
	# and what this build marks by default
	client -G hayate | grep -i '^ipqos ef '
	client -tt hayate true </dev/null || :
	by_default=$(($(count_class_bytes 10) - typed))
	copy -o "IPQoS cs0 cs0" data hayate:"$PWD/got2"
	unmarked=$(count_class_bytes 20)
	# twice is no error, and a wrong rate is
	TC="tc -n $A" "$TOP/contrib/qos/htb" v0 1gbit
	run -2 env TC="tc -n $A" "$TOP/contrib/qos/htb" v0 fast
	TC="tc -n $A" "$TOP/contrib/qos/htb" v0 off
	cmp data got
	check_true "$bulk > 3000000 && $other < 20000"
	check_true "$typed > 1000 && $unmarked > 3000000"
	check_true "$by_default > 1000"
}

@test "the queues limit all connections of a copy together" {
	start_queues 200mbit
	export SERVER_ADDRESS=10.79.0.1 IN_SERVER="ip netns exec $A" IN_CLIENT="ip netns exec $B"
	sshd_up hayate "MaxRate 20M"
	head -c 50000000 /dev/zero >data
	from=$EPOCHREALTIME
	copy -v -j 4 hayate:"$PWD/data" got 2>log
	to=$EPOCHREALTIME
	cmp data got
	[ "$(count_logins hayate)" = 4 ]
	check_true "50000000 * 8 / (${to/,/.} - ${from/,/.}) <= 200e6"
}

@test "a user's connections share one rate limit, and others have none" {
	start_queues 900mbit 4=8mbit
	[ "$status" = 0 ]
	count_class_bytes() { tc -n $A -s class show dev v0 | awk -v c="1:$1" '$3 == c { getline; print $2 }'; }
	export SERVER_ADDRESS=10.79.0.1 IN_SERVER="ip netns exec $A" IN_CLIENT="ip netns exec $B"
	sshd_up hayate "Match User $(id -un) LocalAddress 10.79.0.1" "IPQoS 4" "Match all"
	sshd_up hayate:other
	head -c 1000000 /dev/zero >data
	from=$EPOCHREALTIME
	copy hayate:"$PWD/data" got &
	copy hayate:"$PWD/data" got2
	wait $!
	to=$EPOCHREALTIME
	marked=$(count_class_bytes 40)
	copy other:"$PWD/data" got3
	cmp data got
	cmp data got2
	check_true "$marked > 2000000 && $(count_class_bytes 40) - $marked < 20000"
	# 1 MB/s, but for what the class may send at once
	check_true "${to/,/.} - ${from/,/.} > 1.7"
	for wrong in 0=1mbit 32=1mbit 184=1mbit 5=1mbit 256=1mbit 0x4=1mbit 4=fast 4=; do
		run -2 env TC="tc -n $A" "$TOP/contrib/qos/htb" v0 1gbit 8=1mbit $wrong
	done
	check_true "$(count_class_bytes 40) >= $marked"
}

### Units and reports

@test "the units are correct" {
	need systemd-analyze systemd
	mkdir units
	cp "$TOP"/contrib/systemd/*.{service,timer} units/
	sed -i "s,^ExecStart=hayate-.*,ExecStart=/bin/true," units/hayate-security-status.service
	sed -i 's/^Description=.*/&\nOnFailure=hayate-security-mail.service/' units/hayate-security-status.service
	systemd-analyze --man=no verify units/*.{service,timer} 2>said || { cat said; false; }
	run -1 grep units said
	# The report has no rights and no network. systemd counts what is left, from 10 to 0.
	systemd-analyze security --offline=yes --no-pager --threshold=15 units/hayate-security-status.service >said
	grep '✓ PrivateNetwork=' said
	grep '✓ User=/DynamicUser=' said
	# a misspelt line is named
	sed -i 's/^OnCalendar=daily/OnCalendar=dayly/' units/hayate-security-status.timer
	run systemd-analyze --man=no verify units/hayate-security-status.timer
	[[ $output = *dayly* ]]
}

@test "the drop-in sets the limits that its arithmetic states" {
	need systemd-analyze systemd
	f=$TOP/contrib/systemd/hayate-memory.conf
	mkdir -p units/x.slice.d
	printf '[Unit]\nDescription=x\n' >units/x.slice
	cp "$f" units/x.slice.d/
	systemd-analyze --man=no verify units/x.slice 2>said || { cat said; false; }
	run -1 grep -E 'units|hayate' said
	high=$(sed -n 's/^MemoryHigh=\([0-9]*\)G$/\1/p' "$f")
	grep -qF '100 * (8 + 73.75) MiB = 8.0 GiB' "$f"
	check_true "59 * 5 / 4 == 73.75 && 100 * (8 + 73.75) <= 8192 && $high * 1024 > 8192"
}

# start_with_task_limit TASKS: starts sshd whose PAM moves a session into a group of that
# size, as pam_systemd does with TasksMax
start_with_task_limit() {
	local group=/sys/fs/cgroup/pids/user$$
	mkdir "$group"
	echo "$1" >"$group/pids.max"
	mkdir pam.d
	printf '%s required pam_permit.so\n' auth account >pam.d/other
	echo "session required pam_exec.so quiet $PWD/move" >>pam.d/other
	printf '#!/bin/sh\necho $PPID >%s/cgroup.procs\n' "$group" >move
	chmod +x move
	echo "mount --bind '$PWD/pam.d' /etc/pam.d && exec \"\$@\"" >see
	IN_SERVER="unshare -m sh $PWD/see" sshd_up hayate "UsePAM yes" "MaxStartups 100"
}

@test "the user drop-in is valid, and its task limit refuses further connections only" {
	need_root "PAM of another kind"
	need systemd-analyze systemd
	[ -w /sys/fs/cgroup/pids/cgroup.procs ] || skip "no cgroup for pids here"
	local n held
	mkdir -p units/x.slice.d
	printf '[Unit]\nDescription=x\n' >units/x.slice
	cp "$TOP/contrib/systemd/hayate-user.conf" units/x.slice.d/
	systemd-analyze --man=no verify units/x.slice 2>said || { cat said; false; }
	run -1 grep -E 'units|hayate' said
	grep -qF '100 / 3 * 88 MiB = 2.9 GiB' units/x.slice.d/hayate-user.conf
	check_true "8 + 64 * 5 / 4 == 88 && 100 / 3 * 88 <= 2.9 * 1024"
	grep -x TasksMax=100 units/x.slice.d/hayate-user.conf
	# Three tasks each: there is room for two, and a part of the third.
	start_with_task_limit 8
	for n in 1 2; do
		IN_CLIENT="exec" client hayate 'echo up; cat' </dev/zero >got.$n 2>/dev/null 3>&- &
		held[n]=$!
		poll 10 test -s got.$n
	done
	CLIENT=stock run -255 client hayate true
	kill "${held[1]}"
	poll 10 client hayate true
	kill "${held[2]}"
	sshd_down
	poll 10 rmdir "/sys/fs/cgroup/pids/user$$"
}

@test "the cron job mails a report only if action is needed" {
	line=$(sed -n 's/^[0-9 *]*	root	//p' "$TOP/contrib/cron/hayate-security-status" | sed 's/\\%/%/g')
	[ -n "$line" ]
	mkdir bin
	for want in 0 1 2 3; do
		printf '#!/bin/sh\necho "said 100%%"\nexit %s\n' $want >bin/hayate-security-status
		chmod +x bin/hayate-security-status
		run -0 env PATH="$PWD/bin:$PATH" sh -c "$line"
		if [ $want = 0 ] || [ $want = 3 ]; then [ -z "$output" ]; else [ "$output" = "said 100%" ]; fi
	done
}

# run_status VERSION-LINE [VERSION [OPTION...]]: runs hayate-security-status of a program
# that prints this, where the archive has that version, and whose source $SOURCE describes
run_status() {
	local here
	here=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
	mkdir -p fake
	printf '#!/bin/sh\necho "%s" >&2\n' "$1" >fake/ssh
	printf '%s\n' "deb http://mirror/debian $here main" \
	    "deb http://mirror/security $here-security main" >fake/list
	printf '#!/bin/sh\necho "main=%s parts=%s"\n' "'$PWD/${LIST-fake/list}'" "'$PWD/none'" >fake/apt-config
	printf '#!/bin/sh\necho "Version: 1:%s"\n' "${2-}" >fake/apt-cache
	printf '#!/bin/sh\ngrep Sandbox "$3" >"%s"\nexit %s\n' "$PWD/sandbox" \
	    "$([ -n "${2-}" ] && echo 0 || echo 100)" >fake/apt-get
	chmod +x fake/*
	"$TOP/build-aux/install-ours" "$PWD/dest" '' /bin /libexec /man /share \
	    -e "s,@SSH@,$PWD/fake/ssh,g" -e "s,@SSHD@,$PWD/sbin/sshd-of-test,g" -e "s,@LIBEXECDIR@,$PWD/dest/libexec,g"
	[ -n "${REAL-}" ] ||
	    printf 'dated\t%s\n%s\tCVE-1-2\ta flaw\nhayate-0.2\tabc\tanother\n' "$(date -u -d "${DATED:-now}" +%F)" \
	    "${MENDED:-10.0p1}" >dest/libexec/hayate-status/build-aux/advisories
	sed -i "s,/etc/hayate/,$PWD/etc/,; s,/var/lib/hayate/,$PWD/var/," dest/bin/hayate-security-status
	PATH=$PWD/fake:$PATH dest/bin/hayate-security-status "${@:3}"
}

# make_sshd LINE: makes sbin/sshd-of-test, which contains that version, and only sleeps
make_sshd() {
	mkdir -p sbin
	cp "$(command -v sleep)" sbin/new
	printf '%s\n' "$1" >>sbin/new
	mv sbin/new sbin/sshd-of-test
}

@test "hayate-security-status compares with the list of fixes, with and without apt" {
	v="OpenSSH_10.0p2 Debian-7+deb13u4 Hayate_0.1, OpenSSL 3.0"
	# The list as it is: what Debian and what ours mended is not missing.
	REAL=yes run -1 run_status "$v" 10.0p1-7+deb13u4
	[[ $output = *"fixes are missing: OpenSSH 10.0p1 Debian-7+deb13u4 lacks"*"10.4p1  CVE-2026-60002"* ]]
	[[ $output != *CVE-2026-106552* && $output != *CVE-2026-35414* && $output != *CVE-2026-59995* && $output != *hayate-* ]]
	REAL=yes run -1 run_status "OpenSSH_10.0p2 Debian-7+deb13u2 Hayate_0.1, x" 10.0p1-7+deb13u2
	[[ $output = *CVE-2026-35414* ]]
	# What 10.6 mends ours closes.
	REAL=yes run -0 run_status "OpenSSH_10.5p1 released Hayate_0.1 CVE-2026-73282 CVE-2026-73281 CVE-2026-73283, x"
	[[ $output = *"no fix of the list is missing"* && $output != *"  CVE-2026-"* ]]
	# As on a system with RPM: without an answer from apt the list decides.
	run -0 run_status "OpenSSH_10.5p1 released Hayate_0.1, x"
	DATED="31 days ago" run -2 run_status "OpenSSH_10.5p1 released Hayate_0.1, x"
	[[ $output = *"(31 days old): newer fixes are not in it"* ]]
	# Of what no build has, it says so, with a status of its own.
	MENDED=10.6p2 run -3 run_status "OpenSSH_10.5p1 released Hayate_0.1, x"
	# newer than all that were tried
	run -0 run_status "OpenSSH_10.7p1 untested Hayate_0.2, x"
	[[ $output = *"no fix of the list is missing"* ]]
	MENDED=10.8p1 run -2 run_status "OpenSSH_10.7p1 git-0ef0f5a83 Hayate_0.2, x"
	[[ $output = *"cannot tell which of these git-0ef0f5a83 has"*"10.8p1  CVE-1-2"* ]]
	run -2 run_status "OpenSSH_9.9p1 released Hayate_0.1, x"
	[[ $output = *"the list does not know the release"* ]]
	# Fixes of upstream that the program names beyond its release
	MENDED=10.4p1 run -0 run_status "OpenSSH_10.0p2 Debian-7+deb13u4 Hayate_0.1 CVE-9-9 CVE-1-2, x" 10.0p1-7+deb13u4
	MENDED=10.4p1 run -1 run_status "OpenSSH_10.0p2 Debian-7+deb13u4 Hayate_0.1 CVE-1-20, x"
	REAL=yes run -1 run_status "OpenSSH_10.0p2 Debian-7+deb13u4 Hayate_0.1 CVE-2026-59996 26cde4cfc, x"
	[[ $output = *"CVE-2026-59997"*"commit 72b05ecd1"* ]]
	[[ $output != *"  CVE-2026-59996"* && $output != *"commit 26cde4cfc"* ]]
	# What apt could tell is not asked for.
	run -0 run_status "$v" 10.0p1-7+deb13u10 --offline
	[[ $output != *apt:* ]]
	run -2 run_status "$v" "" --of
	[[ $output = usage:* ]]
	# A revision that the list does not know.
	MENDED=10.4p1 run -2 run_status "OpenSSH_10.0p2 Debian-7+deb13u5 Hayate_0.1, x" 10.0p1-7+deb13u5
	[[ $output = *"cannot tell which of these Debian-7+deb13u5 has"*"10.4p1  CVE-1-2  a flaw"* ]]
}

@test "an unpinned revision is judged by what its source states" {
	export SOURCE=$PWD/source
	v="OpenSSH_10.0p2 Debian-7+deb13u9 Hayate_0.2, x"
	printf '%s\n' 'release 10.0p1 trixie' 'revision Debian-7+deb13u9 2026-11-20' 'fixed 72b05ecd1 CVE-1-2' >source
	MENDED=10.4p1 run -0 run_status "$v" "" --offline
	sed -i 's/ CVE.*/ CVE-1-3/' source
	MENDED=10.4p1 run -1 run_status "$v" "" --offline
	[[ $output = *"OpenSSH 10.0p1 Debian-7+deb13u9 lacks"*"10.4p1  CVE-1-2  a flaw"* ]]
	# of another revision, or another release, it says nothing
	MENDED=10.4p1 run -2 run_status "OpenSSH_10.0p2 Debian-7+deb13u8 Hayate_0.2, x" "" --offline
	MENDED=10.4p1 run -2 run_status "OpenSSH_10.3p1 Debian-7+deb13u9 Hayate_0.2, x" "" --offline
	# with upstream's commits as well
	echo 'fixed CVE-2026-60002 72b05ecd1 -' | cat <(sed '$d' source) - >new
	mv new source
	REAL=yes run -1 run_status "$v" "" --offline
	[[ $output != *72b05ecd1* && $output != *CVE-2026-60002* && $output = *CVE-2026-59996* ]]
}

@test "the fixes of a revision are read from its series, its patches and its changelog" {
	mkdir -p tree/debian/patches
	cd tree/debian
	printf '%s\n' CVE-2026-1111-1.patch '# off.patch' other.patch >patches/series
	printf '%s\n' 'Subject: x' '--- a/x' '+++ b/x' '+ CVE-2026-9999' >patches/CVE-2026-1111-1.patch
	printf '%s\n' 'Subject: this is CVE-2026-2222' 'Origin: upstream, https://x/commit/?id=72b05ecd141b9683285dcdb439de01903c1a07d3' \
	    '--- a/x' >patches/other.patch
	echo 'Subject: CVE-2026-8888' >patches/off.patch
	printf '%s\n' 'openssh (1:10.0p1-9) trixie; urgency=medium' '  * Fix CVE-2026-3333.' \
	    '  * We are not affected by CVE-2026-7777.' 'openssh (1:10.0p1-8) trixie; x' '  * CVE-2026-4444: x' \
	    'openssh (1:9.9p2-1) trixie; x' '  * CVE-2025-6666' >changelog
	cd "$BATS_TEST_TMPDIR"
	[ "$("$TOP/build-aux/fixed-by" tree)" = "72b05ecd1 CVE-2026-1111 CVE-2026-2222 CVE-2026-3333 CVE-2026-4444" ]
	rm -r tree/debian
	[ "$("$TOP/build-aux/fixed-by" tree)" = - ]
	echo 'fixed CVE-1-2' >tree/.source
	[ "$("$TOP/build-aux/fixed-by" tree)" = CVE-1-2 ]
}

@test "the message of the day has a line if fixes are missing, and nothing otherwise" {
	v="OpenSSH_10.5p1 released Hayate_0.1, x"
	print_motd() { run_status "$v" "" --offline --motd 2>said; }
	run -0 print_motd
	[ -z "$output" ]
	grep 'no fix of the list is missing' said
	DATED="31 days ago" run -2 print_motd
	[ -z "$output" ]
	grep '(31 days old): newer fixes are not in it' said
	# what no build has is in the report alone
	MENDED=10.6p1 run -3 print_motd
	[ -z "$output" ]
	grep '10.6p1  CVE-1-2  a flaw' said
	v="OpenSSH_10.4p1 released Hayate_0.1, x"
	MENDED=10.5p1 run -1 print_motd
	[[ $output = "Hayate, the OpenSSH of this host, lacks security fixes that can be had"* && ${#lines[@]} = 1 ]]
	grep '10.5p1  CVE-1-2  a flaw' said
}

@test "missing fixes are listed by who can reach them, apart from unavailable ones, and whether Debian lacks them" {
	v="OpenSSH_10.0p2 Debian-7+deb13u4 Hayate_0.2"
	REAL=yes run -1 run_status "$v, x" "" --offline
	printf '%s\n' "${lines[@]}" | sed -n '/^installed: fixes/,/lacks it too/p' >could
	grep -n ':$' could | sed 's/^[0-9]*: *//' | diff - <(printf '%s\n' "sshd, before a login:" \
	    "sshd and sftp-server, after a login:" "ssh, scp and sftp:" ssh-agent: GSSAPI:)
	grep -A9 'before a login:' could | sed '/after a login/q' | grep -F '         * 10.4p1  CVE-2026-60001  sshd before login'
	grep -A9 'GSSAPI:' could | grep -F '10.4p1  CVE-2026-60000'
	tail -n 1 could | grep -x "         \* Debian trixie's openssh 10.0p1-7+deb13u4 lacks it too"
	# what Debian mended is not marked
	REAL=yes run -1 run_status "OpenSSH_10.0p2 unpatched Hayate_0.2, x" "" --offline
	[[ $output = *"           10.3p1  CVE-2026-35414"*"         * 10.4p1  CVE-2026-59997"* ]]
	# Each row of the list stands once, in one half.
	REAL=yes run -1 run_status "$v, x" "" --offline
	[ "$(printf '%s\n' "${lines[@]}" | grep -c '10\.[0-9]p[12]  ')" = "$(
	    printf '%s\n' "${lines[@]}" | grep -o '10\.[0-9]p[12]  .*' | sort -u | wc -l)" ]
	# What 10.6 mends is closed by ours.
	[[ $output != *10.6p1* ]]
	# With all fixes that a build can have, none is missing that could be had.
	fixes=$(cd "$TOP" && awk '$1 == "fix" && $4 ~ /10.4p1/ { print $5 }' UPSTREAM | paste -sd' ')
	REAL=yes run -1 run_status "OpenSSH_10.4p1 released Hayate_0.2, x"
	[[ $output = *"fixes are missing: OpenSSH 10.4p1"*"10.5p1  CVE-2026-73281"* ]]
	REAL=yes run -0 run_status "OpenSSH_10.4p1 released Hayate_0.2 $fixes, x"
}

# print_list DAYS-AGO RELEASE: prints a whole list of that day, with a flaw that RELEASE
# mended
print_list() {
	printf 'dated\t%s\n# words\n\n%s\tCVE-1-2\ta flaw\nclosed\tCVE-1-9\nhayate-0.2\tabc\tx\nend\n' \
	    "$(date -u -d "$1 days ago" +%F)" "$2"
}

@test "a newer list of the site is used if it is complete and writable by nobody else" {
	need_root "a file that only root writes"
	v="OpenSSH_10.5p1 released Hayate_0.1, x"
	mkdir etc var
	print_list 3 10.6p1 >etc/advisories
	DATED="31 days ago" run -3 run_status "$v" "" --offline
	[[ $output = *"known on $(date -u -d '3 days ago' +%F) ($PWD/etc/advisories)"*"10.6p1  CVE-1-2"* ]]
	# the newest of them
	print_list 2 10.5p1 >var/advisories
	DATED="31 days ago" run -0 run_status "$v" "" --offline
	# one that is older than what came with the programs says nothing
	DATED="1 day ago" MENDED=10.6p2 run -3 run_status "$v" "" --offline
	[[ $output = *"10.6p2  CVE-1-2"* ]]
	rm etc/advisories
	chmod o+w var/advisories
	run -2 run_status "$v" "" --offline
	[[ $output = *"can be written by others than root"* ]]
	chmod o-w var/advisories
	sed -i '$d' var/advisories
	run -2 run_status "$v" "" --offline
	[[ $output = *"not read: $PWD/var/advisories is no list of security fixes: no last line \"end\": it is truncated"* ]]
}

@test "a list is replaced only by a complete and newer one" {
	refresh_list() { "$TOP/build-aux/refresh-advisories" "$1" list; }
	print_list 5 10.6p1 >list
	check_list_unchanged() {
		cp list before
		run "-$1" refresh_list "$2"
		[[ $output = *"$3"* ]] || { echo "$output"; return 1; }
		cmp list before
		[ -z "$(compgen -G 'list.*')" ]
	}
	print_list 4 10.6p2 >new
	run -0 refresh_list new
	cmp new list
	check_list_unchanged 0 new "it is kept"
	print_list 9 10.6p1 >old
	check_list_unchanged 0 old "it is kept"
	print_list -3 10.6p2 >ahead
	check_list_unchanged 1 ahead "its date is invalid or in the future"
	print_list 3 10.6p2 | sed '$d' >cut
	check_list_unchanged 1 cut 'no last line "end": it is truncated'
	print_list 3 10.6p2 | sed 's/a flaw/a \x1b[2Jflaw/' >escape
	check_list_unchanged 1 escape "line 4: a character that is not printable"
	print_list 3 10.6p2 | sed 's/CVE-1-2/what?/' >row
	check_list_unchanged 1 row "line 4: neither a release and a CVE or commit"
	print_list 3 10.6p2 | sed 1d >undated
	check_list_unchanged 1 undated "line 1: no day"
	echo '<html>404</html>' >page
	check_list_unchanged 1 page "line 1: no day"
	check_list_unchanged 1 none "cannot fetch"
	check_list_unchanged 1 http://127.0.0.1:1/list "only https is accepted"
	check_list_unchanged 1 https://127.0.0.1:1/list "cannot fetch"
	run -1 refresh_list ""
	# the one of the project is one
	"$TOP/build-aux/refresh-advisories" check "$TOP/build-aux/advisories"
}

# start_https: serves a list at /list, sends /moved on to it by HTTP, and /endless has
# no end; $HTTPS is its address
start_https() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
	    -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key -out cert 2>/dev/null
	cat >serve <<-'END'
	import http.server as h, ssl, threading
	class Handler(h.BaseHTTPRequestHandler):
	    def do_GET(self):
	        self.send_response(302 if self.path == "/moved" else 200)
	        if self.path == "/moved":
	            self.send_header("Location", "http://localhost:%d/list" % plain.server_port)
	        text = open("new", "rb").read() if self.path == "/list" else b""
	        if text:
	            self.send_header("Content-Length", str(len(text)))
	        self.end_headers()
	        self.wfile.write(text)
	        while self.path == "/endless":
	            self.wfile.write(b"#" * 99999)
	    def log_message(self, *_):
	        pass
	plain, tls = (h.ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in "12")
	context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
	context.load_cert_chain("cert", "key")
	tls.socket = context.wrap_socket(tls.socket, server_side=True)
	threading.Thread(target=plain.serve_forever, daemon=True).start()
	print(tls.server_port, flush=True)
	tls.serve_forever()
	END
	python3 serve >port 2>/dev/null 3>&- &
	HTTPS_PID=$!
	poll 10 test -s port
	HTTPS=https://localhost:$(<port)
}

@test "over https a list of at most a megabyte and no redirect to HTTP is accepted, by curl and wget" {
	local program tool
	need openssl curl wget
	print_list 5 10.6p1 >list
	print_list 4 10.6p2 >new
	start_https
	echo "ca_certificate = $PWD/cert" >wgetrc
	for program in curl wget; do
		mkdir $program
		for tool in sh awk cat chmod date dirname head id mkdir mktemp mv rm sed sort tail timeout wc $program; do
			ln -s "$(command -v "$tool")" "$program"
		done
		# another user does not see this directory
		printf '#!/bin/sh\nshift 3\nexec "$@"\n' >$program/setpriv
		chmod +x $program/setpriv
	done
	refresh_list() {
		PATH=$PWD/$program WGETRC=$PWD/wgetrc CURL_CA_BUNDLE=$PWD/cert timeout 30 \
		    "$TOP/build-aux/refresh-advisories" "$HTTPS/$1" taken
	}
	for program in curl wget; do
		cp list taken
		run -1 refresh_list moved
		[[ $output = *"cannot fetch "*": taken is kept"* ]]
		run -1 refresh_list endless
		[[ $output = *"cannot fetch "*": taken is kept"* ]]
		cmp list taken
		run -0 refresh_list list
		cmp new taken
	done
	kill "$HTTPS_PID"
	[ -z "$(compgen -G 'taken.*')" ]
}

@test "a list is refreshed from the changelogs of apt's packages, and dated if all were read" {
	mkdir -p parts/build-aux
	cp "$TOP/build-aux/refresh-advisories" parts/build-aux
	printf 'suites\tunstable trixie\nversion\t10.0p1\nfixed\tCVE-2025-2\n' >parts/UPSTREAM
	cat >parts/build-aux/apt-source <<-'END'
	#!/bin/sh
	[ "$1 $2" = "changelog openssh" ] && cat "$3"
	END
	chmod +x parts/build-aux/apt-source
	cat >unstable <<-END
	openssh (1:10.6p1-2) unstable; urgency=medium
	  * CVE-2026-1001 does not reach this build.
	openssh (1:10.6p1-1) unstable; urgency=medium
	  * New upstream release: CVE-2026-1002, CVE-2026-1003; CVE-1-2.
	openssh (1:10.0p1-1) unstable; urgency=medium
	  * CVE-2025-1004
	openssh (1:9.9p2-1) unstable; urgency=medium
	  * CVE-2025-1005
	END
	print_list 3 10.5p1 >list
	sed -i 's/CVE-1-2/CVE-2026-1003/' list
	refresh_list() { parts/build-aux/refresh-advisories apt list; }
	# One suite cannot be read: what was found counts, and the day stays.
	run -1 refresh_list
	[[ $output = *"cannot read the changelog of Debian trixie"*"could not be classified"* ]]
	[[ $(grep -c CVE list) = 3 && $(sed -n 1p list) != *"$(date -u +%F)" ]]
	grep -q "^10.6p1	CVE-2026-1002	" list
	# A fix that Debian had before a release had it
	printf 'openssh (1:10.0p1-7+deb13u9) trixie; urgency=high\n  * CVE-2025-2\n  * CVE-2026-9\n' >trixie
	run -1 refresh_list
	[[ $output = *"CVE-2026-9 is mended in Debian's 10.0p1-7+deb13u9: add the release"* ]]
	[[ $output != *CVE-2025-2* ]]
	sed -i '/CVE-2026-9/d' trixie
	echo '  * CVE-2025-2' >>trixie
	run -1 refresh_list
	[[ $output = *"CVE-2026-1001: read what Debian's changelog of 10.6p1-2 says"* ]]
	sed -i '2i # CVE-2026-1001 does not reach us.' list
	run -0 refresh_list
	[[ $(grep -c '^[^#]*CVE' list) = 3 && $(sed -n 1p list) = *"$(date -u +%F)" ]]
	"$TOP/build-aux/refresh-advisories" check list
	[ -z "$(compgen -G 'list.*')" ]
	# what is no list stays as it is
	sed -i '$d' list
	cp list before
	run -1 refresh_list
	cmp list before
}

@test "hayate-security-status names a running sshd that is older than the installed one" {
	v="OpenSSH_10.5p1 released Hayate_0.2"
	make_sshd "$v"
	"$PWD/sbin/sshd-of-test" 60 3>&- &
	started=$!
	until [ "$(readlink /proc/$started/exe)" = "$PWD/sbin/sshd-of-test" ]; do :; done
	MENDED=10.5p1 run -0 run_status "$v, x"
	[[ $output = *"running:   $v (process $started)"*"running:   as above"* ]]
	kill $started
	wait $started || :
	make_sshd "OpenSSH_10.4p1 released Hayate_0.1"
	"$PWD/sbin/sshd-of-test" 60 3>&- &
	started=$!
	until [ "$(readlink /proc/$started/exe)" = "$PWD/sbin/sshd-of-test" ]; do :; done
	make_sshd "$v"
	MENDED=10.5p1 run -1 run_status "$v, x"
	[[ $output = *"running:   OpenSSH_10.4p1 released Hayate_0.1 (process $started)"* ]]
	[[ $output = *"older than the installed $PWD/sbin/sshd-of-test: restart it"*"hayate-0.2  abc  another"*"10.5p1  CVE-1-2"* ]]
	# Another user cannot see which program it has, but since when it runs.
	if [ "$(id -u)" = 0 ]; then
		chmod -R a+rX . "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR"
		run_as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups dest/bin/hayate-security-status --offline; }
		run -0 run_as_nobody
		[[ $output = *"process $started started after $PWD/sbin/sshd-of-test was installed"* ]]
		# a process may seem to have begun a second later
		is_newer() { make_sshd "$v" && [ "$(stat -c %W sbin/sshd-of-test)" -gt $(($(stat -c %Y /proc/$started) + 2)) ]; }
		poll 10 is_newer
		MENDED=10.5p1 run -1 run_as_nobody
		[[ $output = *"process $started is older than the installed $PWD/sbin/sshd-of-test: restart it"* ]]
	fi
	kill $started
	wait $started || :
	# One that runs with a fix; what it sends as its banner may be shorter.
	make_sshd "$v"$'\n'"$v CVE-1-2"$'\n'"$v CVE-1-2 "
	"$PWD/sbin/sshd-of-test" 60 3>&- &
	started=$!
	until [ "$(readlink /proc/$started/exe)" = "$PWD/sbin/sshd-of-test" ]; do :; done
	MENDED=10.6p1 run -3 run_status "$v, x"
	[[ $output = *"installed: no build of this Hayate has these fixes"*"running:   $v CVE-1-2 (process $started)"*"running:   no fix of the list is missing"* ]]
	kill $started
}

@test "hayate-security-status distinguishes current, newer, unpatched and unknown without a build" {
	command -v apt-config >/dev/null || skip "no apt here"
	v="OpenSSH_10.0p2 Debian-7+deb13u4 Hayate_0.1, OpenSSL 3.0"
	run -0 run_status "$v" 10.0p1-7+deb13u4
	[[ $output = *"installed: OpenSSH_10.0p2 Debian-7+deb13u4 Hayate_0.1"*"no newer revision"* ]]
	# Root's apt reads the network as its own user.
	[ "$(id -u)" != 0 ] || ! id _apt >/dev/null || grep -q '"_apt"' sandbox
	run -1 run_status "$v" 10.0p1-7+deb13u10
	[[ $output = *"has Debian-7+deb13u10, which is newer"* ]]
	run -0 run_status "$v" 10.0p1-7+deb13u3
	run -1 run_status "OpenSSH_10.0p2 unpatched Hayate_0.1, x" 10.0p1-7+deb13u4
	[[ $output = *"CVEs and more"*"has Debian-7+deb13u4, which has these fixes"* ]]
	run -2 run_status "$v"
	[[ $output = *"cannot tell: "*"cannot read the source lists"* ]]
	run -2 run_status "OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0" 10.0p1-7+deb13u4
	[[ $output = *"is not Hayate"* ]]
	printf 'deb http://mirror/debian %s main\n' "$(. /etc/os-release && echo "$VERSION_CODENAME")" >less
	LIST=less run -2 run_status "$v" 10.0p1-7+deb13u4
	[[ $output = *"has no entry for "*"-security"* ]]
	# nothing is left behind
	run -1 compgen -G "/tmp/tmp.*/build/apt/*/openssh.sources"
}
