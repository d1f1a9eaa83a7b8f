#!/usr/bin/env bats
# Needs: hayate stock
# hayate-check-config: its messages about configurations for stock, for HPN-SSH, and
# about files that are no configuration.

load helper

setup_file() {
	export CHECK=$BATS_FILE_TMPDIR/check ETC=$BATS_FILE_TMPDIR/etc
	mkdir "$ETC"
	sed -e "s,@SSH@,$(bin ssh)," -e "s,@SSHD@,$(bin sshd)," \
	    -e "s,@SYSCONFDIR@,$ETC," -e "s,@LIBEXECDIR@,$BUILD/hayate," \
	    "$TOP/contrib/bin/hayate-check-config" >"$CHECK"
	chmod +x "$CHECK"
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	export HOME=$BATS_TEST_TMPDIR
}

# run_check: runs it, and omits its lines about the kind of file and the release, which are the
# same for most files
run_check() {
	timeout 60 "$CHECK" "$@" | sed '/: [A-Za-z0-9-]*: release: /d; /: is read as ssh.*_config(5)$/d'
	return "${PIPESTATUS[0]}"
}

# list_release_lines ARGUMENT...: prints its lines about the release, as KEYWORD: TEXT
list_release_lines() { timeout 60 "$CHECK" "$@" | sed -n 's/^.*: \([A-Za-z0-9-]*\): release: /\1: /p'; }

# check_lines LINE...: checks that the output is these lines
check_lines() { diff <(printf '%s\n' "$@") <(printf '%s\n' "$output"); }

# list_hpn_keywords: prints name, sides and kind of the keywords of HPN-SSH
list_hpn_keywords() {
	sed -n 's/^	{ "\([A-Za-z0-9]*\)", \([CSB]\), \(OTHER_[A-Z]*\|REFUSED_FLAG\|RETIRED\), .*/\1 \2 \3/p' \
	    "$TOP/common/hayopt.c"
}

@test "the configurations that stock installs cause no message" {
	sed "s,/usr/libexec,$BUILD/hayate," "$BUILD/upstream/sshd_config" >sshd_config
	run -0 run_check "$BUILD/upstream/ssh_config" sshd_config
	check_lines "$BUILD/upstream/ssh_config: no line changes" "sshd_config: no line changes"
}

@test "stock keywords of every kind cause no message, in blocks as well" {
	cat >config <<-EOF
	Include none/*.conf
	User=someone
	Host far *.example !near.example
		HostName "far.example"
		Ciphers aes256-gcm@openssh.com,aes128-ctr
		ProxyJump one,two
		ForkAfterAuthentication yes
	Host *
		RemoteCommand tmux attach
	Match host near,far !user root exec "touch executed"
		SendEnv LANG LC_*
		CanonicalizeHostname yes
	Match final
		RekeyLimit 1G 1h
		Hayate yes
		WindowMax 4M
	EOF
	run -0 run_check config
	check_lines "config: no line changes"
	cat >sshd_config <<-EOF
	Port 2200
	ListenAddress 127.0.0.1
	Subsystem sftp internal-sftp -l INFO
	AuthorizedKeysCommand none
	Match User a,b Address 10.0.0.0/8
		ForceCommand internal-sftp
		NoneEnabled no
	Match all
		PermitTTY yes
	EOF
	run -0 run_check sshd_config
	check_lines "sshd_config: no line changes"
}

@test "each keyword of HPN-SSH is named with advice, for every value" {
	local name sides kind value n=0
	while read -r name sides kind; do
		for value in yes no; do
			echo "$name $value" >line
			case $sides in [CB])
				run run_check -c -- line
				[ "$status" -ge 1 ]
				[[ $output = "line:1: $name: "* ]]
				[[ $output = *"; write "* || $output = *"; remove "* ]] ;;
			esac
			case $sides in [SB])
				run run_check -s -- line
				[ "$status" -ge 1 ]
				[[ $output = "line:1: $name: "* ]]
				[[ $output = *"; write "* || $output = *"; remove "* ]] ;;
			esac
		done
		n=$((n + 1))
	done < <(list_hpn_keywords)
	((n >= 12))
}

@test "a client's configuration for HPN-SSH is read line by line" {
	cat >ssh_config <<-EOF
	# HPN
	HPNDisabled yes
	Host far
	    TcpRcvBufPoll=no
	    NoneEnabled "yes"
	    noneswitch yes
	Ciphers chacha20-poly1305-mt@hpnssh.org,aes128-ctr
	Metrics yes
	NoneMacEnabled no
	EOF
	run -1 run_check ssh_config
	check_lines 'ssh_config:2: HPNDisabled: is read as "Hayate no", which turns off all that Hayate adds, not only the windows; write that instead' \
	    'ssh_config:4: TcpRcvBufPoll: is read as "WindowTuning no"; write that instead (in Host far)' \
	    'ssh_config:5: NoneEnabled: weakens security: with NoneSwitch yes data is authenticated but not encrypted (in Host far)' \
	    'ssh_config:6: noneswitch: weakens security: with NoneEnabled yes data is authenticated but not encrypted; HPN-SSH obeys it on the command line only, Hayate in files as well (in Host far)' \
	    'ssh_config:7: Ciphers: names a cipher of HPN-SSH, which is read as chacha20-poly1305@openssh.com,aes128-ctr; write that instead (in Host far)' \
	    'ssh_config:8: Metrics: is ignored: nothing is recorded, "ssh -vv" shows windows, rate and round-trip time; remove the line (in Host far)' \
	    'ssh_config:9: NoneMacEnabled: has no effect: every packet has a MAC; remove the line (in Host far)' \
	    "ssh_config: Port: is not set: HPN-SSH's ssh tries 2222 and then 22, Hayate's only 22; write \"Port 2222\" for hosts that HPN-SSH serves there"
	# with a port the first line is gone
	echo "Port 2222" >>ssh_config
	run -1 run_check ssh_config
	[[ $output != *": Port: "* ]]
}

@test "a server's configuration for HPN-SSH names what HPN-SSH ignores within Match" {
	cat >sshd_config <<-EOF
	Port 2222
	NoneEnabled yes
	NoneMacEnabled yes
	Subsystem sftp internal-sftp
	Match Group data Address 10.0.0.0/8
	    NoneEnabled yes
	    DisableMTAES yes
	Match all
	    HPNBufferSize 4096
	EOF
	run -2 run_check sshd_config
	check_lines 'sshd_config:2: NoneEnabled: weakens security: data of clients that ask for it is authenticated but not encrypted; restrict it to the users and networks that need it' \
	    'sshd_config:3: NoneMacEnabled: is refused and has no effect: every packet has a MAC; remove the line' \
	    'sshd_config:6: NoneEnabled: weakens security: data of clients that ask for it is authenticated but not encrypted; restrict it to the users and networks that need it; HPN-SSH ignores it within Match (in Match Group data Address 10.0.0.0/8)' \
	    'sshd_config:7: DisableMTAES: is read as "CipherThreads off", for every cipher; write that instead; HPN-SSH ignores it within Match (in Match Group data Address 10.0.0.0/8)' \
	    'sshd_config:9: HPNBufferSize: is ignored: windows follow the path; remove the line, or bound them with WindowMax (in Match all)'
}

@test "the reasons agree with the messages of ssh itself" {
	local name sides kind
	while read -r name sides kind; do
		[ "$kind" = RETIRED ] || continue
		echo "$name 1" >line
		run -0 --separate-stderr "$(bin ssh)" -v -G -F line near
		[[ $stderr = *"line line 1: $name ignored: "* ]]
		run -1 run_check -c line
		[[ $output = "line:1: $name: is ignored: "* ]]
	done < <(list_hpn_keywords | grep ' [CB] ')
}

@test "a subsystem whose program is missing or not executable is reported" {
	: >plain
	mkdir hpn
	cp /bin/true hpn/hpnsftp-server
	printf '%s\n' "Subsystem sftp $PWD/none/sftp-server -l INFO" \
	    "subsystem data \"$PWD/plain\"" "Subsystem dir $PWD" \
	    "Subsystem hpn $PWD/hpn/hpnsftp-server" \
	    "Subsystem ok $(bin sftp-server) -R" "Subsystem word true" \
	    "SshdSessionPath /usr/libexec/hpnsshd-session" >s
	run -2 run_check -s s
	ours="write $BUILD/hayate/sftp-server"
	check_lines "s:1: Subsystem: $PWD/none/sftp-server is missing; $ours" \
	    "s:2: subsystem: $PWD/plain is not executable; $ours" \
	    "s:3: Subsystem: $PWD is not executable; $ours" \
	    "s:4: Subsystem: $PWD/hpn/hpnsftp-server is a program of HPN-SSH; $ours" \
	    "s:7: SshdSessionPath: /usr/libexec/hpnsshd-session is missing; remove the line"
	sed -n 4,6p s >less
	run -1 run_check -s less
}

@test "unknown keywords and values that are not allowed are refused, each with its line" {
	cat >c <<-EOF
	NoSuch 1
	Host far
		WindowMax 1M
		Port nine
	Match nonsense x
		NoSuchEither yes
	EOF
	run -2 run_check -c c
	[ "${lines[0]}" = 'c:1: NoSuch: unknown keyword, with which ssh refuses the file; remove the line, or write "IgnoreUnknown NoSuch" above it' ]
	[[ ${lines[1]} = 'c:3: WindowMax: is refused: WindowMax "1M": a size from 2M to 1G is allowed, '*"(in Host far)" ]]
	[[ ${lines[2]} = "c:4: Port: is refused: "* ]]
	[[ ${lines[3]} = "c:5: Match: is refused: "* ]]
	[[ ${lines[4]} = "c:6: NoSuchEither: unknown keyword, "*"(in Match nonsense x)" ]]
	[ ${#lines[@]} = 5 ]
	printf '%s\n' "IgnoreUnknown No*" "NoSuch 1" >c
	run -1 run_check -c c
	check_lines "c:2: NoSuch: is unknown here, and IgnoreUnknown hides it; remove the line"
	cat >s <<-EOF
	NoSuch 1
	MaxRate 5
	PermitRootLogin perhaps
	Match user x
		Port 22
		Ciphers none
		UsePAM yes
	EOF
	run -2 run_check -s s
	[ "${lines[0]}" = "s:1: NoSuch: unknown keyword, with which sshd refuses the file; remove the line" ]
	[[ ${lines[1]} = 's:2: MaxRate: is refused: MaxRate "5": none or a size '* ]]
	[[ ${lines[2]} = "s:3: PermitRootLogin: is refused: "* ]]
	[[ $output = *"s:5: Port: is refused: "*"not allowed within a Match block (in Match user x)"* ]]
	[[ $output = *"s:6: Ciphers: is refused: "*"none"* ]]
}

@test "a keyword of another build is named with upstream's name" {
	printf '%s\n' "RSAMinSize 2048" "Match user x" "RSAMinSize 3000" >s
	run run_check -s s
	[[ ${lines[0]} = "s:1: RSAMinSize: is read as requiredrsasize; write that instead" ]]
	[[ ${lines[1]} = "s:3: RSAMinSize: "*"(in Match user x)" ]]
	echo "RekeyLimit default 1h" >c
	run -1 run_check -c c
	check_lines "c:1: RekeyLimit: \"default\" means 64 GiB with chacha20-poly1305 instead of 1 GiB"
}

@test "files of Include are read, with the block that includes them, and each once" {
	mkdir -p "$ETC/conf.d" .ssh
	echo "HPNBufferSize 1" >"$ETC/conf.d/a b.conf"
	printf '%s\n' "HPNBufferLimit no" "Match user y" "TcpRcvBuf 1" >"$ETC/conf.d/c.conf"
	printf '%s\n' "Port 22" "Match user x" "Include conf.d/*.conf" "Include conf.d/c.conf" \
	    "Include /nonexistent/*" >s
	run -1 run_check -s s
	alone="applies only in Match user x; for all, write it above the first block, or \"Match all\" above it"
	ignored="is ignored: windows follow the path; remove the line, or bound them with WindowMax"
	check_lines "s:3: Include: conf.d/*.conf $alone" "s:4: Include: conf.d/c.conf $alone" \
	    "s:5: Include: /nonexistent/* $alone" "$ETC/conf.d/a b.conf:1: HPNBufferSize: $ignored (in Match user x)" \
	    "$ETC/conf.d/c.conf:1: HPNBufferLimit: $ignored (in Match user x)" \
	    "$ETC/conf.d/c.conf:3: TcpRcvBuf: $ignored (in Match user y)"
	# a client looks in ~/.ssh; "~" and a quoted name
	echo "Metrics no" >.ssh/more
	for name in more '"more"'; do
		printf '%s\n' "Port 22" "Include $name" >c
		run -1 run_check -c c
		[[ ${lines[0]} = "$HOME/.ssh/more:1: Metrics: "* ]]
	done
	printf '%s\n' "Port 22" "Include ~/.ssh/more" >c
	run -1 run_check -c c
	[[ ${lines[0]} = "$HOME/.ssh/more:1: Metrics: "* ]]
	# what sshd would refuse within the block is refused in the included file
	echo "Port 22" >"$ETC/port"
	printf '%s\n' "Match user x" "Include port" >s
	run -2 run_check -s s
	[[ ${lines[0]} = "s:2: Include: port applies only in "* ]]
	[[ ${lines[1]} = "$ETC/port:1: Port: is refused: "*"(in Match user x)" ]]
	# which ends with a block for all
	printf '%s\n' "Match user x" "PermitTTY no" "match  all" "Include $ETC/none" >s
	run -0 run_check -s s
	printf '%s\n' "Host far" "Include $ETC/none" "Host *" "Include $ETC/none" >c
	run -1 run_check -c c
	check_lines "c:2: Include: $ETC/none ${alone/Match user x/Host far}"
}

@test "Include of a file beside the configuration is named if it is not looked for there" {
	mkdir hpnssh
	echo "Metrics no" >hpnssh/part
	printf '%s\n' "Port 1" "Include part" >hpnssh/ssh_config
	run -1 run_check "$PWD/hpnssh/ssh_config"
	check_lines "$PWD/hpnssh/ssh_config:2: Include: part is looked for in $HOME/.ssh, but it is in $PWD/hpnssh; write the absolute path" \
	    "$PWD/hpnssh/part:1: Metrics: is ignored: nothing is recorded, \"ssh -vv\" shows windows, rate and round-trip time; remove the line"
	printf '%s\n' 'Include /etc/%h.conf' >c
	run -1 run_check -c c
	[[ $output = "c:1: Include: /etc/%h.conf is not followed, because "* ]]
}

@test "a file that includes itself, directly or through others, ends and is reported" {
	printf '%s\n' "Include $PWD/a" "Include $PWD/b" "Include $PWD/b" >a
	printf '%s\n' "Include $PWD/a" "Include $PWD/b" >b
	for side in -c -s; do
		run -2 run_check $side "$PWD/a"
		check_lines "$PWD/a:1: Include: $PWD/a includes itself" \
		    "$PWD/b:1: Include: $PWD/a includes itself" \
		    "$PWD/b:2: Include: $PWD/b includes itself"
	done
}

@test "lines that end in CR LF, and a last line that does not end, are read" {
	printf 'Port 22\r\nHost far\r\n\tTcpRcvBuf 1\r\n\r\n# x\r\nMetrics yes' >c
	run -1 run_check -c c
	[[ ${lines[0]} = "c:3: TcpRcvBuf: is ignored: "*"(in Host far)" ]]
	[[ ${lines[1]} = "c:6: Metrics: is ignored: "*"(in Host far)" ]]
	[ ${#lines[@]} = 2 ]
}

@test "a NUL byte is named with its line, and bytes of any value do no harm" {
	printf 'Port 22\nUser a\0b\nTcpRcvBuf 1\n' >c
	run -2 run_check -c c
	[[ ${lines[0]} = "c:2: -: contains a NUL byte, "* ]]
	[[ ${lines[1]} = "c:3: TcpRcvBuf: "* ]]
	head -c 100000 /dev/urandom >c
	run -2 run_check -c c
	run -2 run_check -s c
}

@test "a file that cannot be read is an error: missing, a directory, a pipe" {
	mkfifo pipe
	for f in none . pipe; do
		run -2 run_check -c "$f"
		[[ $output = "hayate-check-config: $f: "* ]]
	done
	# the others are read all the same
	: >c
	run -2 run_check -c none c
	[ "${lines[1]}" = "c: no line changes" ]
	run -2 run_check
	run -2 run_check -x c
	run -2 run_check -c -p "$PWD/no-such-ssh" c
	[[ $output = *"cannot be checked, because $PWD/no-such-ssh is missing"* ]]
}

@test "the exit status is the highest of several files" {
	: >same
	echo "TcpRcvBuf 1" >changes
	echo "NoSuch 1" >refused
	run -1 run_check -c changes same
	run -2 run_check -c refused changes
	run -2 run_check -c changes refused same
}

@test "no command of Match exec is run, and no name is looked up" {
	printf '%s\n' "Match exec \"touch $PWD/executed\"" "TcpRcvBuf 1" \
	    "Match !exec=\"touch $PWD/executed\"" "Metrics no" \
	    "Host *" "CanonicalizeHostname always" "ProxyCommand touch $PWD/executed" >c
	run -1 run_check -c c
	[ ! -e executed ]
	[[ $output = *"c:2: TcpRcvBuf: "*"c:4: Metrics: "* ]]
}

@test "no command is run and no file is read, however the words are quoted" {
	local line n=0
	ran="\"touch $PWD/executed\""
	while read -r line; do
		printf '%s\n' "$line" "TcpRcvBuf 1" >c
		# ssh itself runs it
		"$(bin ssh)" -G -F c near >said 2>&1 || { cat said; false; }
		[ -e executed ] || { echo "not run by ssh: $line"; false; }
		rm executed
		run run_check -c c
		[ ! -e executed ] || { echo "run: $line"; false; }
		[[ $output = "c:2: TcpRcvBuf: "* ]]
		n=$((n + 1))
	done <<-EOF
	Match exec $ran
	Match 'exec' $ran
	=Match exec $ran
	  = Match exec $ran
	Match ex"ec" $ran
	Match 'e'x"e"c=$ran
	Match "!"ex'ec' $ran
	Match user * ''exec $ran
	Ma"tch" exec $ran
	Ma"tch"exec $ran
	"Match"exec $ran
	M"atch"'exec' $ran
	"" Match exec $ran
	""Match exec $ran
	EOF
	((n == 14))
	mkdir .ssh
	printf '%s\n' "Match exec $ran" "Metrics no" >.ssh/more
	for line in 'Incl"ude" more' 'Incl"ude"more' '=Include more' '"" Include more'; do
		printf '%s\n' "$line" "Port 22" >c
		run -1 run_check -c c
		[ ! -e executed ]
		[[ $output = "$HOME/.ssh/more:2: Metrics: "* ]]
	done
}

@test "ten thousand lines are read, and every line that changes is named" {
	for ((i = 0; i < 2500; i++)); do
		printf '%s\n' "Host h$i" "	Port 22" "	TcpRcvBuf 1" "	User u$i"
	done >c
	run -1 run_check -c c
	[ "$(grep -c ': TcpRcvBuf: is ignored: ' <<<"$output")" = 2500 ]
	[[ ${lines[2499]} = "c:9999: TcpRcvBuf: "*"(in Host h2499)" ]]
	sed -i 's/^Host \(.*\)/Match user \1/; s/Port 22/PermitTTY no/; s/User u.*/NoSuch 1/' c
	run -2 run_check -s c
	[ "$(grep -c ': TcpRcvBuf: is ignored: ' <<<"$output")" = 2500 ]
	[ "$(grep -c ': NoSuch: unknown keyword' <<<"$output")" = 2500 ]
}

@test "client or server is recognised by the name, an option, or the keywords in the file" {
	echo "NoneSwitch no" >my.sshd_config
	run -2 run_check my.sshd_config
	run -0 run_check -c my.sshd_config
	printf '%s\n' "ListenAddress 127.0.0.1" "NoneSwitch no" >any
	run -2 run_check any
	[[ $output = *"any:2: NoneSwitch: unknown keyword, with which sshd"* ]]
	echo "NoneSwitch no" >any
	run -0 run_check any
}

# normalise_settings PROGRAM ARGUMENT...: prints one keyword a line, with all its values,
# sorted, in the case and with the names that sshd printed before 10.4
normalise_settings() {
	"$@" 2>/dev/null | sed 's/^[^ ]*/\L&/; s/ prohibit-password$/ without-password/' |
	    awk '{ k = $1; sub(/^[^ ]* */, ""); if (k in all) $0 = all[k] "," $0; all[k] = $0 }
		END { for (k in all) print k, all[k] }' | sort
}

@test "the reported changes of the release are exactly the differences from Debian 12's OpenSSH" {
	local old=/usr/sbin/sshd old_ssh=/usr/bin/ssh name
	[[ $("$old_ssh" -V 2>&1) = OpenSSH_9.2p1* ]] || skip "no OpenSSH 9.2 here"
	: >ssh_config
	: >sshd_config
	list_release_lines ssh_config | sed 's/:.*//' >told.c
	list_release_lines sshd_config | sed 's/:.*//' | grep -v '^sshd$' >told.s
	# Paths, what is off, and what changes nothing for a connection, apart
	list_differences() {
		comm -13 "$1" "$2" | sed 's/ .*//' | sort -u |
		    grep -vxE 'globalknownhostsfile|modulifile|pidfile|xauthlocation|channeltimeout|refuseconnection|revokedhostkeys|gssapidelegatecredentials|debianbanner|pamservicename|persourcepenaltyexemptlist|sshd(auth|session)path|usepam'
	}
	normalise_settings "$old_ssh" -G -F /dev/null near >old.c
	normalise_settings "$(bin ssh stock)" -G -F /dev/null near >new.c
	ssh-keygen -q -t ed25519 -N "" -f host
	[ "$EUID" != 0 ] || mkdir -p /run/sshd
	normalise_settings "$old" -T -h host -f sshd_config >old.s
	[ -s old.s ] || skip "sshd of Debian does not run here"
	normalise_settings "$(bin sshd stock)" -T -h host -f sshd_config >new.s
	diff <(list_differences old.c new.c) <(tr '[:upper:]' '[:lower:]' <told.c | sort)
	diff <(list_differences old.s new.s) <(tr '[:upper:]' '[:lower:]' <told.s | sort)
	# and the values that it gives 9.2 are those that it has
	list_release_lines sshd_config | grep -qF "was \"$(sed -n 's/^ipqos //p' old.s)\" in"
	list_kex_algorithms() { sed -n 's/^kexalgorithms //p' "$1" | tr , '\n' | sort; }
	for name in $(comm -3 <(list_kex_algorithms old.s) <(list_kex_algorithms new.s)); do
		list_release_lines sshd_config | grep '^Kex' | grep -qF "$name"
	done
}

@test "a value that the file sets is not reported as a change of the release" {
	printf '%s\n' "KexAlgorithms curve25519-sha256" "Ciphers +aes128-cbc" "PerSourcePenalties no" \
	    "Match user x" "IPQoS none" >s
	list_release_lines -s s >said
	run -1 grep -E '^(KexAlgorithms|PerSourcePenalties): ' said
	grep '^Ciphers: ' said
	grep '^IPQoS: ' said
	# an older program has nothing new
	printf '#!/bin/sh\necho "kexalgorithms none"\n' >old
	chmod +x old
	[ "$(list_release_lines -s -p "$PWD/old" s | sed 's/:.*//')" = sshd ]
	# sshd prints its keywords so from 10.4 on
	printf '#!/bin/sh\necho "CiPhErs none"\n' >old
	: >empty
	list_release_lines -s -p "$PWD/old" empty | grep '^Ciphers: '
	# with lines that are refused as well
	echo "NoSuch 1" >s
	run -2 run_check -s s
	list_release_lines -s s | grep '^KexAlgorithms: '
}

@test "WindowMemoryMax below WindowMax is named in each block where both apply" {
	below="no channel gets more than WindowMemoryMax"
	printf '%s\n' "WindowMax 16M" "Host far" "	WindowMemoryMax 8M" "Host near" \
	    "	WindowMax 4MiB" "	windowmemorymax \"3M\"" "Host mid" "	WindowMax 2M" "	WindowMemoryMax 16M" \
	    "Host *" "	WindowMemoryMax 12M" >c
	run -1 run_check -c c
	check_lines "c:3: WindowMemoryMax: WindowMemoryMax 8388608 is below WindowMax 16777216: $below (in Host far)" \
	    "c:6: windowmemorymax: WindowMemoryMax 3145728 is below WindowMax 16777216: $below (in Host near)" \
	    "c:11: WindowMemoryMax: WindowMemoryMax 12582912 is below WindowMax 16777216: $below (in Host *)"
	# The first value counts for ssh, that of the block for sshd.
	printf '%s\n' "WindowMax 16M" "WindowMemoryMax 16M" "Match user x" "	WindowMax 32M" \
	    "Match user y" "	WindowMax 4M" >c
	run -1 run_check -s c
	check_lines "c:4: WindowMax: WindowMemoryMax 16777216 is below WindowMax 33554432: $below (in Match user x)"
	run -0 run_check -c c
}

@test "a DSA host key is named, by its file name or contents, and no other key" {
	ssh-keygen -q -t ecdsa -N "" -f ssh_host_ecdsa_key
	ssh-keygen -q -t ed25519 -N "" -f key
	echo 'ssh-dss AAAA' >hidden.pub
	printf '%s\n' "HostKey $PWD/ssh_host_ecdsa_key" "HostKey /etc/x/ssh_host_dsa_key" \
	    "hostkey \"$PWD/hidden\"" "HostKey $PWD/key" >s
	run -2 run_check -s s
	check_lines "s:2: HostKey: /etc/x/ssh_host_dsa_key is a DSA key, which this release does not read; remove the line" \
	    "s:3: hostkey: $PWD/hidden is a DSA key, which this release does not read; remove the line"
	echo 'IdentityFile ~/.ssh/id_dsa' >c
	run -2 run_check -c c
	check_lines "c:1: IdentityFile: ~/.ssh/id_dsa is a DSA key, which this release does not read; remove the line"
}

@test "a congestion control that the kernel lacks is reported as a change, not as an error" {
	printf '%s\n' "Port 22" "CongestionControl nosuch" >s
	run -1 run_check -s s
	[[ $output = "s:2: CongestionControl: CongestionControl nosuch has no effect: "* ]]
}

@test "a message about a whole file has no line number" {
	printf '%s\n' "HPNDisabled no" >ssh_config
	printf '%s\n' "TcpRcvBuf 1" "Subsystem sftp internal-sftp" >sshd_config
	local f n=0
	for f in ssh_config sshd_config; do
		run -1 timeout 60 "$CHECK" $f
		grep "^$f: Port: is not set" <<<"$output"
		grep "^$f: [A-Za-z]*: release: " <<<"$output"
		run ! grep -E "^$f:0" <<<"$output"
		n=$((n + 1))
	done
	# a text of ssh that names no line of the file
	printf '%s\n' 'echo "of the whole file" >&2; exit 255' >says
	chmod +x says
	run -2 run_check -c -p "$PWD/says" ssh_config
	[[ $output = *"ssh_config: ssh: is refused: of the whole file"* ]]
}

@test "Include in a block for all hosts, such as Red Hat's, is not reported" {
	mkdir -p "$ETC/ssh_config.d" "$ETC/policies"
	echo "Ciphers aes128-ctr" >"$ETC/policies/openssh.config"
	printf '%s\n' "Match final all" "	Include $ETC/policies/openssh.config" \
	    "	GSSAPIAuthentication yes" "	SendEnv LANG" >"$ETC/ssh_config.d/50-redhat.conf"
	echo "Include $ETC/ssh_config.d/*.conf" >"$ETC/ssh_config"
	run run_check "$ETC/ssh_config"
	[[ $output != *Include* ]] || { echo "$output"; false; }
	local block
	for block in "Match final" "match  FINAL  all" "Match all" "Host *"; do
		printf '%s\n' "$block" "Include $ETC/policies/*" >c
		run -0 run_check -c c
	done
	# others are a choice
	for block in "Match canonical all" "Match final user x" "Match final host a*" "Host * !x"; do
		printf '%s\n' "$block" "Include $ETC/policies/*" >c
		run -1 run_check -c c
		[[ $output = "c:2: Include: "*" applies only in $block; "* ]]
	done
	printf '%s\n' "Match final all" "Include $ETC/policies/*" >s
	run -2 run_check -s s
	[[ $output = *"s:2: Include: "*" applies only in "* ]]
}

@test "the first line says which manual page a file is read by, and --help lists the options" {
	: >ssh_config
	: >any
	echo "Subsystem sftp internal-sftp" >other
	print_first_line() { timeout 60 "$CHECK" "$@" | head -n 1; }
	[ "$(print_first_line ssh_config)" = "ssh_config: is read as ssh_config(5)" ]
	[ "$(print_first_line any)" = "any: is read as ssh_config(5)" ]
	[ "$(print_first_line other)" = "other: is read as sshd_config(5)" ]
	[ "$(print_first_line -s any)" = "any: is read as sshd_config(5)" ]
	echo "NoSuch 1" >any
	[ "$(print_first_line any)" = "any: is read as ssh_config(5)" ]
	local help
	for help in --help -h; do
		run -0 --separate-stderr "$CHECK" $help
		[ "${lines[0]}" = "usage: hayate-check-config [-c | -s] [-p PROGRAM] FILE..." ]
		[ -z "$stderr" ]
	done
	run -2 --separate-stderr "$CHECK" -x any
	[ -z "$output" ]
	[[ $stderr = *usage:* ]]
}
