#!/usr/bin/env bats
# Needs: hayate stock unit pages
# Hayate's keywords (common/hayopt.h): first the table alone, then the parsers of
# ssh and sshd, compared with stock OpenSSH where they must not differ.

load helper

setup_file() {
	privsep_dirs
	make_keys
}

setup() { cd "$BATS_TEST_TMPDIR"; }

# list_our_lines: prints those lines of ssh -G or sshd -T that are Hayate's
list_our_lines() { grep -E '^(hayate|window)' | tr '\n' ' '; }

# query_ssh FILE [ARG...]: prints what ssh would use for host "near"
query_ssh() { "$(bin ssh "${BUILD_OF-hayate}")" -F "$1" -TG "${@:2}" near; }
# query_sshd FILE [ARG...]: prints what sshd would use
query_sshd() {
	"$(bin sshd "${BUILD_OF-hayate}")" -T -f "$1" -h "$BATS_FILE_TMPDIR/host" \
	    "${@:2}"
}

# list_keywords: prints name, sides (C, S or B) and kind of every keyword but those of
# other builds of OpenSSH, which have a suite of their own (foreign.bats)
list_keywords() { list_all_keywords | grep -v ' FOREIGN'; }
list_all_keywords() {
	sed -n 's/^	{ "\([A-Za-z0-9]*\)", \([CSB]\), \([A-Z_]*\), .*/\1 \2 \3/p' \
	    "$TOP/common/hayopt.c"
}
# print_good_value KIND: prints a valid value
print_good_value() {
	case $1 in
	SIZE|LIMIT) echo 4M ;;
	NAME) echo reno ;;
	HOSTS) echo near,far ;;
	RETIRED|COUNT|NUMBER|DELAY) echo 1 ;;
	*) echo no ;;
	esac
}

# print_memory: prints the bytes of this machine or of its control group
print_memory() {
	local bytes=$(($(getconf _PHYS_PAGES) * $(getconf PAGE_SIZE))) bound
	bound=$(FLAVOUR=plain run_unit memlimit-test)
	[ "$bound" = none ] || bytes=$((bytes < bound ? bytes : bound))
	echo $bytes
}

# print_memory_share NAME [BYTES]: prints a default that follows from the memory
print_memory_share() {
	awk -v name="$1" -v bytes="${2:-$(print_memory)}" '
	    function clamp(x, least, most) { return x < least ? least : x > most ? most : x }
	    BEGIN {
		one = clamp(int(bytes / 32), 67108864, 268435456)
		print name == "WindowMax" ? one : clamp(2 * one, 268435456, 2 * one)
	    }'
}

DEFAULTS="hayate yes windowtuning yes windowmax $(print_memory_share WindowMax) windowmemorymax $(print_memory_share WindowMemoryMax) "

# make_group FILE BYTES: writes FILE of a control group, below the directory "root"
make_group() {
	mkdir -p "root/sys/fs/cgroup$(dirname "$1")"
	echo "$2" >"root/sys/fs/cgroup$1"
}

# set_member LINE...: writes /proc/self/cgroup below "root", and prints the limit that is
# found there
set_member() {
	local plain
	mkdir -p root/proc/self
	printf '%s\n' "$@" >root/proc/self/cgroup
	plain=$(FLAVOUR=plain run_unit memlimit-test root)
	[ "$(FLAVOUR=asan run_unit memlimit-test root)" = "$plain" ] ||
	    { echo "builds differ"; return 1; }
	echo "$plain"
}

@test "the smallest memory limit of a control group and its parents counts" {
	cd "$BATS_TEST_TMPDIR"
	[ "$(run_unit memlimit-test root)" = none ]
	[ "$(set_member 0::/a/b)" = none ]
	make_group /a/b/memory.max max
	make_group /a/b/memory.high 5000000000
	[ "$(set_member 0::/a/b)" = 5000000000 ]
	make_group /a/memory.max 4000000000
	[ "$(set_member 0::/a/b)" = 4000000000 ]
	make_group /memory.max 3000000000	# as a container sees its own group
	[ "$(set_member 0::/elsewhere/c)" = 3000000000 ]
	[ "$(set_member 0::/)" = 3000000000 ]
	make_group /memory/c/memory.limit_in_bytes 2000000000
	[ "$(set_member '4:cpu,memory:/c' '1:name=memory:/c')" = 2000000000 ]
	[ "$(set_member '4:memory:/c/d' '0::/a')" = 2000000000 ]
	[ "$(set_member '4:cpu:/c' '3:memory_x,memor:/c')" = none ]
	make_group /memory/memory.limit_in_bytes 9223372036854771712
	[ "$(set_member 4:memory:/)" = 9223372036854771712 ]
}

@test "invalid lines and numbers set no memory limit" {
	cd "$BATS_TEST_TMPDIR"
	make_group /memory.max 1000
	make_group /memory/memory.limit_in_bytes 2000
	local line long
	long=$(printf '%05000d' 1)
	for line in '' : :: 0: 0:: 4:memory: 4:memory 0::a 4:memory:a 0::/../.. \
	    "0::/$long" "4:memory:/$long"; do
		[ "$(set_member "$line")" = none ]
	done
	[ "$(set_member "4:$long,memory:/$long" '' 4:memory:/)" = 2000 ]
	make_group /memory.max 'a lot'
	[ "$(set_member 0::/)" = none ]
	make_group /memory.max 99999999999999999999999
	[ "$(set_member 0::/)" = none ]
	: >root/sys/fs/cgroup/memory.max
	[ "$(set_member 0::/)" = none ]
}

@test "in a control group the default of WindowMax is a share of its memory" {
	local group=/sys/fs/cgroup/memory/hayate$$ bound=memory.limit_in_bytes least
	[ -d /sys/fs/cgroup/memory ] ||
	    group=/sys/fs/cgroup/hayate$$ bound=memory.max
	mkdir "$group" 2>/dev/null || skip "cannot make a control group"
	if ! echo 3221225472 2>/dev/null >"$group/$bound"; then
		rmdir "$group"
		skip "no group of memory"
	fi
	run sh -c "echo \$\$ >$group/cgroup.procs && exec \"\$@\"" sh \
	    "$(bin ssh hayate)" -F none -G c
	poll 10 rmdir "$group"
	least=$(printf '%s\n' 3221225472 "$(print_memory)" | sort -n | head -n 1)
	[[ $status = 0 && $output = \
	    *$'\n'"windowmax $(print_memory_share WindowMax "$least")"$'\n'* ]]
}

@test "the keyword table returns the expected value or message for each case" {
	FLAVOUR=plain run_unit hayopt-test
	FLAVOUR=asan run_unit hayopt-test
}

@test "ssh -G differs from stock by 17 lines" {
	: >c
	query_ssh c >with
	BUILD_OF=stock query_ssh c >without
	run diff without with
	[ "$(printf '%s\n' "${lines[@]}" | grep -c '^<')" = 0 ]
	[ "$(printf '%s\n' "${lines[@]}" | grep -c '^>')" = 17 ]
	[ "$(list_our_lines <with)" = "$DEFAULTS" ]
}

@test "sshd -T differs from stock by 13 lines" {
	cat >s <<-EOF
	SshdSessionPath /bin/sh
	SshdAuthPath /bin/sh
	EOF
	query_sshd s >with
	BUILD_OF=stock query_sshd s >without
	run diff without with
	[ "$(printf '%s\n' "${lines[@]}" | grep -c '^<')" = 0 ]
	[ "$(printf '%s\n' "${lines[@]}" | grep -c '^>')" = 13 ]
	[ "$(list_our_lines <with)" = "$DEFAULTS" ]
}

@test "the output of ssh -G and sshd -T is accepted as input and reproduces itself" {
	printf '%s\n' "Hayate no" "WindowTuning no" "WindowMax 3M" \
	    "WindowMemoryMax 5M" >c
	query_ssh c | grep -E '^(hayate|window)' >again
	[ "$(query_ssh again | list_our_lines)" = "$(list_our_lines <again)" ]
	[ "$(query_sshd again | list_our_lines)" = "$(list_our_lines <again)" ]
	[ "$(list_our_lines <again)" = "hayate no windowtuning no windowmax 3145728 windowmemorymax 5242880 " ]
}

@test "each keyword is accepted in a file, in a block and with -o, by its programs only" {
	local name sides kind value side n=0
	while read -r name sides kind; do
		value=$(print_good_value "$kind") n=$((n + 1))
		printf '%s\n' "$name $value" >bare
		printf '%s\n' "Host far" "$name $value" "Host near" \
		    "$name=$value" "Match all" "$name \"$value\" # why" >blocks
		printf '%s\n' "Match user nobody" "$name $value" \
		    "Match all" "$name = '$value'" >match
		case $sides in [CB])
			query_ssh bare >/dev/null
			query_ssh blocks >/dev/null
			query_ssh /dev/null -o "$name=$value" >/dev/null
			query_ssh /dev/null -o "${name^^} $value" >/dev/null ;;
		*)	run ! query_ssh bare ;;
		esac
		case $sides in [SB])
			query_sshd bare >/dev/null
			query_sshd match >/dev/null
			query_sshd match -C user=nobody >/dev/null
			query_sshd /dev/null -o "$name=$value" >/dev/null
			query_sshd /dev/null -o "${name,,} $value" >/dev/null ;;
		*)	run ! query_sshd bare ;;
		esac
	done < <(list_keywords)
	((n >= 20))
}

@test "the error for a wrong value names file, line and allowed values" {
	local name sides kind want side bad
	while read -r name sides kind; do
		bad=7Q
		case $kind in
		SIZE)	want="a size from 2M to [0-9]+[MG] is allowed, in bytes or with K, M or G" ;;
		LIMIT)	want="none or a size from 1K to 4G is allowed, in bytes or with K, M or G" ;;
		NAME)	want="default or the name of an algorithm is allowed, of at most 15 characters" ;;
		COUNT)	want="auto, off or a number from 1 to 16 is allowed" ;;
		NUMBER)	want="auto or a number from 1 to 8 is allowed" ;;
		DELAY)	want="a number from 0 to 60000 is allowed, in milliseconds" ;;
		RETIRED) continue ;;
		AUTO_FLAG) want="auto, yes or no is allowed" ;;
		HOSTS)	bad=7Q,
			want="none, all, or names of 1 to 7 hosts are allowed, with commas between them and no spaces" ;;
		*)	want="yes or no is allowed" ;;
		esac
		printf '%s\n' "# one" "Host far" "$name $bad" >c
		printf '%s\n' "# one" "Match user x" "$name $bad" >s
		want="line 3: $name \"$bad\": $want"
		case $sides in [CB])
			run -255 query_ssh c
			[[ $output =~ ^c\ $want ]]
			[[ $output == *"c: terminating, 1 bad configuration options"* ]] ;;
		esac
		case $sides in [SB])
			run -255 query_sshd s
			[[ $output =~ ^s\ $want ]]
			[[ $output == *"s: terminating, 1 bad configuration options"* ]] ;;
		esac
	done < <(list_keywords)
}

@test "CipherThreads accepts auto, off and numbers, and DisableMTAES yes means off" {
	local word value
	for word in auto off 1 16 AUTO; do
		query_ssh /dev/null -o CipherThreads=$word | grep -qx "cipherthreads ${word,,}"
		query_sshd /dev/null -o CipherThreads=$word | grep -qx "cipherthreads ${word,,}"
	done
	query_ssh /dev/null -o CipherThreads=3 | grep '^cipherthreads' >again
	query_ssh again | grep -qx 'cipherthreads 3'
	for word in 0 17 -1 1K two no; do
		run -255 query_ssh /dev/null -o CipherThreads=$word
		[[ $output = *"CipherThreads \"$word\": auto, off or a number"* ]]
	done
	while read -r word value; do
		printf '%s\n' "${word//,/$'\n'}" | tr : ' ' >c
		query_ssh c | grep -qx "cipherthreads $value" || { cat c; return 1; }
	done <<-EOF
	DisableMTAES:yes off
	DisableMTAES:no auto
	DisableMTAES:yes,CipherThreads:4 4
	CipherThreads:off,DisableMTAES:no off
	EOF
	printf '%s\n' "DisableMTAES yes" "Match user alice" "CipherThreads 2" >s
	query_sshd s | grep -qx 'cipherthreads off'
	query_sshd s -C user=alice,host=h,addr=1.1.1.1 | grep -qx 'cipherthreads 2'
}

@test "CongestionControl and MaxRate follow Host and Match, and print what they read" {
	cat >c <<-EOF
	Host far
		CongestionControl bbr
		MaxRate 1M
	Host near
		CongestionControl reno
		MaxRate 5MB
	Host *
		CongestionControl cubic
	EOF
	query_ssh c | grep -E '^(congestioncontrol|maxrate) ' >again
	[ "$(tr '\n' ' ' <again)" = "congestioncontrol reno maxrate 5242880 " ]
	[ "$(query_ssh again | grep -cxf again)" = 2 ]
	[ "$(query_sshd again | grep -cxf again)" = 2 ]
	printf '%s\n' "CongestionControl bbr" "MaxRate 1G" "Match user alice" \
	    "CongestionControl default" "MaxRate none" >s
	query_sshd s | grep -qx 'congestioncontrol bbr'
	query_sshd s | grep -qx 'maxrate 1073741824'
	query_sshd s -C user=alice,host=h,addr=1.1.1.1 | grep -qx 'congestioncontrol default'
	query_sshd s -C user=alice,host=h,addr=1.1.1.1 | grep -qx 'maxrate none'
	run -255 query_ssh /dev/null -o CongestionControl=bbr/../x
	[[ $output = 'command-line line 0: CongestionControl "bbr/../x": default or'* ]]
}

@test "TellLimits and SessionLog are keywords of the server only, follow Match, and print what they read" {
	local k
	for k in TellLimits SessionLog; do
		printf '%s\n' "$k no" "Match user alice" "$k yes" >s
		query_sshd s | grep -qx "${k,,} no"
		query_sshd s -C user=alice,host=h,addr=1.1.1.1 | grep -qx "${k,,} yes"
		run -255 query_ssh /dev/null -o $k=no
		[[ $output = *"Bad configuration option: ${k,,}"* ]]
		run -1 query_sshd /dev/null -o $k=perhaps
		[[ $output = *"$k \"perhaps\": yes or no is allowed"* ]]
	done
}

@test "AvoidBufferbloat is yes or no, at both ends" {
	[[ $(query_ssh /dev/null) = *"avoidbufferbloat yes"* ]]
	query_ssh /dev/null -o AvoidBufferbloat=no | grep -qx 'avoidbufferbloat no'
	query_sshd /dev/null -o AvoidBufferbloat=no | grep -qx 'avoidbufferbloat no'
	run -1 query_sshd /dev/null -o AvoidBufferbloat=perhaps
	[[ $output = *'AvoidBufferbloat "perhaps": yes or no is allowed'* ]]
}

@test "VersionDetails is yes or no, at both ends" {
	[[ $(query_ssh /dev/null) = *"versiondetails yes"* ]]
	query_ssh /dev/null -o VersionDetails=no | grep -qx 'versiondetails no'
	query_sshd /dev/null -o VersionDetails=no | grep -qx 'versiondetails no'
	run -1 query_sshd /dev/null -o VersionDetails=perhaps
	[[ $output = *'VersionDetails "perhaps": yes or no is allowed'* ]]
}

@test "a wrong value after -o ends ssh and sshd" {
	run -255 query_ssh /dev/null -o WindowMax=1
	[ "${output%$'\r'}" = 'command-line line 0: WindowMax "1": a size from 2M to 1G is allowed, in bytes or with K, M or G' ]
	run -1 query_sshd /dev/null -o Hayate=perhaps
	[ "${output%$'\r'}" = 'command-line line 0: Hayate "perhaps": yes or no is allowed' ]
}

@test "the suffixes MB and MiB mean the same as M" {
	echo "WindowMax 16MB" >c
	[[ $(query_ssh c | list_our_lines) == *"windowmax 16777216 "* ]]
	[[ $(query_sshd c -o WindowMemoryMax=64MiB | list_our_lines) == *"windowmax 16777216 windowmemorymax 67108864 " ]]
}

@test "WindowMemoryMax below WindowMax causes one warning and takes effect" {
	printf '%s\n' "WindowMemoryMax 16M" "WindowMax 32M" >c
	line="c line 2: WindowMemoryMax 16777216 is below WindowMax 33554432: no channel gets more than WindowMemoryMax"
	run -0 --separate-stderr query_ssh c
	[ "${stderr//$'\r'}" = "$line" ]
	run -0 --separate-stderr query_sshd c
	[ "${stderr//$'\r'}" = "$line" ]
	# alone it is a setting like any other
	echo "WindowMemoryMax 16M" >c
	run -0 --separate-stderr query_ssh c
	[ -z "$stderr" ]
	run -0 --separate-stderr query_ssh c -v
	[[ $stderr = *"debug1: c line 1: WindowMemoryMax 16777216 is below WindowMax $(print_memory_share WindowMax)"* ]]
}

@test "sshd -t rejects bad values of Hayate's keywords" {
	echo "WindowMemoryMax 5G" >s
	run -255 "$(bin sshd)" -t -f s -h "$BATS_FILE_TMPDIR/host"
	[[ $output == 's line 1: WindowMemoryMax "5G": a size from 2M to 4G is allowed'* ]]
	echo "WindowMemoryMax 4G" >s
	run -0 "$(bin sshd)" -t -f s -h "$BATS_FILE_TMPDIR/host"
	[ -z "$output" ]
}

@test "every bad line of a file is reported, not only the first" {
	printf '%s\n' "WindowMax 1" "Hayate x" >c
	run -255 query_ssh c
	[[ $output == *"c line 1: "*"c line 2: "*"terminating, 2 bad"* ]]
	run -255 query_sshd c
	[[ $output == *"c line 1: "*"c line 2: "*"terminating, 2 bad"* ]]
}

@test "a missing, empty, unterminated or second value is refused" {
	local line
	for line in "WindowMax" 'WindowMax ""' "WindowMax # 4M" 'WindowMax "4M' \
	    "WindowMax 4M 5M" "WindowMax=" "Hayate no yes" "HPNBufferSize 1 2"; do
		echo "$line" >c
		run -255 query_ssh c
		[[ $output == "c line 1: "* ]]
		run -255 query_sshd c
		[[ $output == "c line 1: "* ]]
	done
}

@test "an unknown keyword fails with the same message as in stock" {
	local line
	for line in "Hayat no" "HayateX no" "WindowMaximum 4M" "NoneSwitchh x" \
	    "Hayate-X 1"; do
		echo "$line" >c
		run -255 query_ssh c
		ours=$output
		BUILD_OF=stock run -255 query_ssh c
		[ "$ours" = "$output" ]
		run -255 query_sshd c
		ours=$output
		BUILD_OF=stock run -255 query_sshd c
		[ "$ours" = "$output" ]
	done
}

@test "IgnoreUnknown does not hide Hayate's keywords and still hides unknown ones" {
	printf '%s\n' "IgnoreUnknown *" "WindowMax 5M" "Whatever 1" >c
	[[ $(query_ssh c | list_our_lines) == *"windowmax 5242880"* ]]
	printf '%s\n' "IgnoreUnknown *" "WindowMax 1M" >c
	run -255 query_ssh c
}

@test "in ssh the first value that applies wins across Host, Match and Include" {
	echo "WindowMemoryMax 9M" >included
	cat >c <<-EOF
	Host far
		WindowMax 3M
		Include $PWD/included
	Match host near exec true
		WindowMax 4M
	Host *
		WindowMax 5M
		WindowTuning no
	Match final
		WindowTuning yes
		WindowMemoryMax 6M
	EOF
	[ "$(query_ssh c | list_our_lines)" = \
	    "hayate yes windowtuning no windowmax 4194304 windowmemorymax 6291456 " ]
	sed -i 's/Host far/Host near/' c
	[ "$(query_ssh c | list_our_lines)" = \
	    "hayate yes windowtuning no windowmax 3145728 windowmemorymax 9437184 " ]
}

@test "in ssh -o wins over the configuration file" {
	echo "WindowMax 3M" >c
	[[ $(query_ssh c -o WindowMax=4M -o WindowMax=5M | list_our_lines) == *" windowmax 4194304 "* ]]
}

@test "ssh accepts true and false, and sshd does not, as for stock's flags" {
	echo "Hayate false" >c
	[[ $(query_ssh c | list_our_lines) == "hayate no "* ]]
	run -255 query_sshd c
	[[ $output == 'c line 1: Hayate "false": yes or no is allowed'* ]]
}

@test "in sshd the first Match block that applies overrides the global value" {
	echo "WindowMemoryMax 9M" >included
	cat >s <<-EOF
	WindowMax 3M
	WindowMax 63M
	Match user alice
		WindowMax 4M
		Include $PWD/included
	Match address 10.0.0.0/8
		WindowMax 5M
		Hayate no
	EOF
	spec=host=h,addr=127.0.0.1
	[ "$(query_sshd s -C user=bob,$spec | list_our_lines)" = \
	    "hayate yes windowtuning yes windowmax 3145728 windowmemorymax 268435456 " ]
	[ "$(query_sshd s -C user=alice,$spec | list_our_lines)" = \
	    "hayate yes windowtuning yes windowmax 4194304 windowmemorymax 9437184 " ]
	[ "$(query_sshd s -C user=alice,host=h,addr=10.1.2.3 | list_our_lines)" = \
	    "hayate no windowtuning yes windowmax 4194304 windowmemorymax 9437184 " ]
	[ "$(query_sshd s | list_our_lines)" = "$(query_sshd s -C user=bob,$spec | list_our_lines)" ]
}

@test "in sshd an included file may hold its own Match block" {
	printf '%s\n' "WindowMax 7M" "Match user alice" "WindowMax 8M" >included
	printf '%s\n' "Include $PWD/included" "WindowTuning no" >s
	[ "$(query_sshd s -C user=alice,host=h,addr=1.1.1.1 | list_our_lines)" = \
	    "hayate yes windowtuning no windowmax 8388608 windowmemorymax 268435456 " ]
	[ "$(query_sshd s -C user=bob,host=h,addr=1.1.1.1 | list_our_lines)" = \
	    "hayate yes windowtuning no windowmax 7340032 windowmemorymax 268435456 " ]
}

@test "in sshd -o wins over the file, and a Match block wins over both" {
	printf '%s\n' "WindowMax 3M" "Match user alice" "WindowMax 5M" >s
	[[ $(query_sshd s -o WindowMax=4M | list_our_lines) == *" windowmax 4194304 "* ]]
	[[ $(query_sshd s -o WindowMax=4M -C user=alice,host=h,addr=1.1.1.1 | list_our_lines) == \
	    *" windowmax 5242880 "* ]]
}

@test "HPNDisabled yes means Hayate no, and TcpRcvBufPoll no means WindowTuning no" {
	printf '%s\n' "HPNDisabled yes" "TcpRcvBufPoll no" >c
	[[ $(query_ssh c | list_our_lines) == "hayate no windowtuning no "* ]]
	[[ $(query_sshd c | list_our_lines) == "hayate no windowtuning no "* ]]
	printf '%s\n' "HPNDisabled no" "TcpRcvBufPoll yes" >c
	[ "$(query_ssh c | list_our_lines)" = "$DEFAULTS" ]
}

@test "Hayate wins over HPNDisabled, and one debug line says so" {
	printf '%s\n' "HPNDisabled yes" "Hayate yes" "Match final" "WindowMax 4M" >c
	run -0 --separate-stderr query_ssh c -v
	[[ $(list_our_lines <<<"$output") == "hayate yes windowtuning yes windowmax 4194304 "* ]]
	[ "$(grep -c "Hayate wins over HPNDisabled" <<<"$stderr")" = 1 ]
	[[ $stderr == *"debug1: c line 2: Hayate wins over HPNDisabled"* ]]
}

@test "a client configuration for HPN-SSH is accepted without a message" {
	cat >c <<-EOF
	HPNDisabled no
	HPNBufferSize 4096
	HPNBufferLimit yes
	TcpRcvBuf 1024
	TcpRcvBufPoll yes
	NoneEnabled yes
	NoneMacEnabled no
	NoneSwitch no
	DisableMTAES no
	UseMPTCP no
	HappyEyes yes
	HappyDelay 250
	Metrics no
	MetricsInterval 5
	MetricsPath /tmp/ssh_stack_metrics
	Fallback yes
	FallbackPort 22
	EOF
	run -0 --separate-stderr query_ssh c
	[ -z "$stderr" ]
	[ "$(list_our_lines <<<"$output")" = "$DEFAULTS" ]
	run -0 --separate-stderr query_ssh c -v
	[ "$(grep -c 'debug1: c line [0-9]*: .* ignored: ' <<<"$stderr")" = 8 ]
}

@test "a server configuration for HPN-SSH is accepted with one message, about NoneMacEnabled" {
	cat >s <<-EOF
	HPNDisabled no
	HPNBufferSize 4096
	HPNBufferLimit yes
	TcpRcvBuf 1024
	TcpRcvBufPoll yes
	NoneEnabled yes
	NoneMacEnabled yes
	DisableMTAES no
	UseMPTCP no
	Match user alice
		NoneEnabled no
		HPNDisabled yes
	EOF
	run -0 --separate-stderr query_sshd s
	[ "${stderr%$'\r'}" = "s line 7: NoneMacEnabled ignored: data is never sent without a MAC" ]
	[ "$(list_our_lines <<<"$output")" = "$DEFAULTS" ]
	[[ $output = *'noneenabled yes'* ]]
	[[ $(query_sshd s -C user=alice,host=h,addr=1.1.1.1 | list_our_lines) == "hayate no "* ]]
	[[ $(query_sshd s -C user=alice,host=h,addr=1.1.1.1) = *'noneenabled no'* ]]
}

@test "a server that uses every keyword logs nothing about them at INFO" {
	sshd_up hayate:quiet "LogLevel INFO" "HPNBufferSize 1" "NoneEnabled yes" \
	    "HPNDisabled yes" "Hayate yes" "WindowMax 4M" \
	    "Match user *" "WindowMax 5M" "UseMPTCP no" "Match all"
	client quiet true
	sshd_down quiet
	run -1 grep -E 'HPN|None|Hayate wins|WindowMax|MPTCP' "$(sshd_log quiet)"
}

@test "a server with a bad value logs it once and does not start" {
	run ! sshd_up hayate:bad "WindowMax 1M"
	[ "$(grep -c 'line 1: WindowMax "1M": a size from 2M' <<<"$output")" = 1 ]
}

@test "every keyword is in a man page and in a Bats file" {
	local name sides kind
	while read -r name sides kind; do
		case $sides in [CB])
			grep -qE "^\\.(It )?Cm $name( |\$)" "$TOP/man/ssh_config.inc" ;;
		esac
		case $sides in [SB])
			grep -qE "^\\.(It )?Cm $name( |\$)" "$TOP/man/sshd_config.inc" ;;
		esac
		grep -qw "$name" "$TOP"/regress/*.bats
	done < <(list_keywords)
	while read -r name sides kind; do
		case $sides in
		[CB]) grep -qw "$name" "$TOP/man/ssh_config.inc" ;;&
		[SB]) grep -qw "$name" "$TOP/man/sshd_config.inc" ;;
		esac
	done < <(list_all_keywords)
}

@test "no man page names a keyword that its program does not have" {
	local page side name
	for page in ssh_config:C sshd_config:S; do
		side=${page#*:} page=${page%:*}
		while read -r name; do
			list_keywords | grep -q "^$name [B$side] "
		done < <(sed -n 's/^\.It Cm //p' "$TOP/man/$page.inc")
	done
}

# list_rows: prints name, sides, kind, default, least and most of each option, as numbers
list_rows() {
	awk '
	/^	\{ "/ { row = "" }
	{ row = row $0 }
	/\},$/ && row ~ /^	\{ "/ { print row; row = "" }' "$TOP/common/hayopt.c" |
	    sed -n 's/^	{ "\([A-Za-z0-9]*\)", \([CSB]\), \(FLAG\|SIZE\|COUNT\|NUMBER\|DELAY\|LIMIT\|AUTO_FLAG\|HOSTS\|NAME\), [A-Z_]*, *\(.*\), NULL },$/\1|\2|\3|\4/p' |
	    sed -e 's/\<K\>/1024/g; s/\<M\>/1048576/g; s/\<G\>/1073741824/g' \
		-e 's/\<AUTO\>/-1/; s/HAYOPT_THREADS_MAX/16/; s/HAYOPT_STREAMS_MAX/8/; s/[ 	]//g; s/,/|/g'
}

# print_word KIND NUMBER NAME: prints a default, as ssh -G does
print_word() {
	case $1:$2 in
	SIZE:-1) print_memory_share "$3" ;;
	FLAG:0)	echo no ;;
	FLAG:1)	echo yes ;;
	COUNT:-1|AUTO_FLAG:-1) echo auto ;;
	NAME:0)	echo default ;;
	LIMIT:0|HOSTS:0) echo none ;;
	*)	echo $(($2)) ;;
	esac
}

# print_short NUMBER: prints it with the largest unit
print_short() {
	local n=$(($1)) unit
	for unit in '' K M G; do
		((n % 1024 == 0 && n > 0)) || break
		((n /= 1024))
	done
	echo "$n$unit"
}

# print_entry PAGE NAME: prints the manual entry, as one line
print_entry() {
	awk -v name="$2" '$1 == ".It" { on = $3 == name } on' "$1" | tr '\n' ' '
}

# print_constant NAME: prints it as hayopt.c defines it
print_constant() { sed -n "s/^#define $1	*(*\([0-9]*\)\( \* M)\)*\$/\1/p" "$TOP/common/hayopt.c"; }

# print_share NAME DEFAULT: prints a default, as the manual says it
print_share() {
	case $1:$2 in
	WindowMax:-1) echo "1/$(print_constant WINDOW_SHARE) of the memory of the machine, or of the smallest limit of the control groups above the process, at least $(print_constant WINDOW_LEAST)M and at most $(print_constant WINDOW_MOST)M" ;;
	WindowMemoryMax:-1) echo "$(print_constant SUM_LEAST)M, or $(print_constant SUM_TIMES) times .Cm WindowMax if that is more" ;;
	*) print_short "$2" ;;
	esac
}

# list_gaps PAGE NAME KIND DEFAULT LEAST MOST: prints what the entry does not say
list_gaps() {
	local text default
	text=$(print_entry "$1" "$2") default=$(print_word "$3" "$4" "$2")
	report_missing() { grep -qE -- "$1" <<<"$text" || echo "$2: $3"; }
	case $3 in
	FLAG)
		report_missing '\.Cm yes( \(the default\)| or)' "$2" "the value yes"
		report_missing '\.Cm no( \(the default\)| ,| \(|$)' "$2" "the value no"
		report_missing "\\.Cm $default (, )?\\(the default\\)" "$2" "the default" ;;
	SIZE)
		report_missing "The default is $(print_share "$2" "$4")\\." "$2" "the default"
		report_missing "from $(print_short "$5")[ ,].*to $(print_short "$6")[., ]" "$2" "bounds"
		report_missing 'in bytes' "$2" "the unit" ;;
	COUNT)
		report_missing "\\.Cm $default \\(the default\\)" "$2" "the default"
		report_missing '\.Cm off' "$2" "the value off"
		report_missing "a number from $5 to $6" "$2" "bounds" ;;
	NUMBER)
		report_missing "The default is $default\\." "$2" "the default"
		report_missing '\.Cm auto' "$2" "the value auto"
		report_missing "a number from $5 to $6" "$2" "bounds" ;;
	DELAY)
		report_missing "$default \\(the default\\)" "$2" "the default"
		report_missing "milliseconds from $5 to $6" "$2" "bounds" ;;
	LIMIT)
		report_missing "\\.Cm $default \\(the default\\)" "$2" "the default"
		report_missing "from $(print_short "$5") to $(print_short "$6")" "$2" "bounds"
		report_missing 'in bytes per second' "$2" "the unit" ;;
	AUTO_FLAG)
		report_missing "\\.Cm $default \\(the default\\)" "$2" "the default"
		report_missing '\.Cm yes' "$2" "the value yes"
		report_missing '\.Cm no' "$2" "the value no" ;;
	HOSTS)
		report_missing "\\.Cm $default \\(the default\\)" "$2" "the default"
		report_missing 'names of 1 to 7 hosts' "$2" "bounds" ;;
	NAME)	report_missing "\\.Cm $default \\(the default\\)" "$2" "the default" ;;
	esac
	report_missing "^.It Cm $2 Specifies " "$2" "what it does"
	report_missing '[Ss]tock (server|client|OpenSSH|sender|\.Xr)|is not Hayate' "$2" "the effect with a stock peer"
	grep -qE '\.Cm (Ha|Window|None|MaxRate|Cipher|Congestion|Transfer|Early)[A-Za-z]*' <<<"${text//.Cm $2 /}" ||
	    echo "$2: another keyword"
}

@test "table, ssh -G, sshd -T and manual agree on the names and defaults of our keywords" {
	local name sides kind default least most
	: >c
	query_ssh c | sort >ours.C
	BUILD_OF=stock query_ssh c | sort >stock.C
	printf '%s\n' "SshdSessionPath /bin/sh" "SshdAuthPath /bin/sh" >s
	query_sshd s | sort >ours.S
	BUILD_OF=stock query_sshd s | sort >stock.S
	for side in C S; do
		while IFS='|' read -r name sides kind default least most; do
			case $sides in B|"$side") ;; *) continue ;; esac
			echo "${name,,} $(print_word "$kind" "$default" "$name")"
		done < <(list_rows) | sort >table
		diff table <(comm -13 stock.$side ours.$side)
	done
	# the defaults of the page are those of the table: see lacks
	[ "$(list_rows | wc -l)" = "$(list_keywords | grep -cE ' (FLAG|SIZE|COUNT|NUMBER|DELAY|LIMIT|AUTO_FLAG|HOSTS|NAME)$')" ]
}

@test "each manual entry has purpose, values and units, default, interplay, and the effect with a stock peer" {
	local name sides kind default least most page
	while IFS='|' read -r name sides kind default least most; do
		for page in ssh_config:C sshd_config:S; do
			case $sides in B|"${page#*:}") ;; *) continue ;; esac
			list_gaps "$TOP/man/${page%:*}.inc" "$name" "$kind" \
			    "$default" "$((least))" "$((most))"
		done
	done < <(list_rows) >missing
	diff /dev/null missing
}

@test "an entry that lacks one of these, or has another value, is named" {
	local change what line
	while IFS='|' read -r name kind default least most change what; do
		sed "/^\\.It Cm $name\$/,/^\\.It Cm /{$change}" "$TOP/man/ssh_config.inc" >page
		run -1 cmp -s page "$TOP/man/ssh_config.inc"
		list_gaps page "$name" "$kind" "$default" "$((least))" "$((most))" >missing
		grep -qxF "$name: $what" missing || { echo "$name: $change"; cat missing; false; }
	done <<-'EOF'
	WindowMax|SIZE|-1|2*1048576|1024*1048576|s/at most 256M/at most 128M/|the default
	WindowMemoryMax|SIZE|-1|2*1048576|4*1073741824|s/or 2 times/or 3 times/|the default
	WindowMax|SIZE|-1|2*1048576|1024*1048576|s/^from 2M/from 1M/|bounds
	WindowMax|SIZE|-1|2*1048576|1024*1048576|s/in bytes/in octets/|the unit
	WindowMax|SIZE|-1|2*1048576|1024*1048576|s/is not Hayate/is another/;s/stock/other/|the effect with a stock peer
	WindowTuning|FLAG|1|0|1|s/(the default)//|the default
	WindowTuning|FLAG|0|0|1|s/x/x/;s/Specifies/Says/|the default
	Hayate|FLAG|1|0|1|s/^Specifies/Says/|what it does
	MaxRate|LIMIT|0|1024|4*1073741824|s/to 4G/to 2G/|bounds
	CipherThreads|COUNT|-1|1|16|s/to 16/to 8/|bounds
	TransferStreams|NUMBER|1|1|8|s/to 8/to 9/|bounds
	TransferHosts|HOSTS|0|0|0|s/1 to 7/1 to 8/|bounds
	CipherThreads|COUNT|-1|1|16|s/^\.Cm Hayate no/no/|another keyword
	EarlyLogin|AUTO_FLAG|-1|0|1|s/^(the default)//|the default
	EarlyLogin|AUTO_FLAG|-1|0|1|s/^\.Cm yes/yes/|the value yes
	EOF
}

@test "splice inserts each entry once and in order, also when it runs twice" {
	local page inc name
	for page in scp.1 sftp.1 ssh_config.5 sshd_config.5; do
		inc=$TOP/man/${page%.*}.inc
		cp "$BUILD/upstream/$page" once
		chmod u+w once
		"$TOP/man/splice" once "$inc"
		cp once twice
		"$TOP/man/splice" twice "$inc"
		cmp once twice
		run diff "$BUILD/upstream/$page" once
		run -1 grep '^<' <<<"$output"
		while read -r name; do
			[ "$(grep -cxF ".It $name" once)" = 1 ]
		done < <(sed -n 's/^\.It //p' "$inc")
		[[ $page = *_config.5 ]] || continue
		sed -n '/^\.It Cm AddKeys\|^\.It Cm AcceptEnv/,$s/^\.It Cm \([A-Z][A-Za-z]*\).*/\1/p' once |
		    grep -A1 -B1 -E '^(Hayate|None.*|Window.*)$' | grep -v -e -- >near
		LC_ALL=C sort -c -f near
	done
}

@test "splice refuses a page without the keyword list and does not change it" {
	echo ".Sh DESCRIPTION" >page
	run -1 "$TOP/man/splice" page "$TOP/man/ssh_config.inc"
	[ "$output" = "splice: page: no list of keywords" ]
	[ "$(cat page)" = ".Sh DESCRIPTION" ]
}

@test "mandoc reports nothing about our entries that it does not report about upstream's" {
	command -v mandoc >/dev/null || skip "no mandoc"
	local page
	for page in scp.1 sftp.1 ssh_config.5 sshd_config.5; do
		cp "$BUILD/upstream/$page" page
		chmod u+w page
		mandoc -Tlint page | cut -d: -f4- | sort >before || :
		"$TOP/man/splice" page "$TOP/man/${page%.*}.inc"
		mandoc -Tlint page | cut -d: -f4- | sort >after || :
		diff before after
	done
}

@test "windows of a user with a forced command have a bound, unless it is configured" {
	local keys=$BATS_TEST_TMPDIR/keys server bound
	sed 's/^/command="true" /' "$BATS_FILE_TMPDIR/authorized_keys" >"$keys"
	sshd_up hayate:free
	sshd_up hayate:forced "ForceCommand true"
	sshd_up hayate:key "AuthorizedKeysFile $keys"
	sshd_up hayate:set "ForceCommand true" "WindowMemoryMax 100M"
	sshd_up hayate:root "ChrootDirectory /" "ForceCommand internal-sftp"
	for server in free:0 forced:67108864 key:67108864 set:104857600 root:67108864; do
		bound=${server#*:} server=${server%:*}
		[ "$server" != root ] || [ "$(id -u)" = 0 ] || continue
		client "$server" true || [ "$server" = root ]
		[ "$(sed -n 's/.*all windows together hold at most \([0-9]*\) bytes.*/\1/p' "$(sshd_log "$server")" | tail -n 1)" = "${bound#0}" ]
	done
	sshd_down
}
