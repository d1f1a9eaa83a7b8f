#!/usr/bin/env bats
# Needs: hayate stock unit path
# How much memory many sessions take at most: the bound N * (8 MiB + 5/4 *
# WindowMemoryMax) of hayate(7), with 100 busy sessions in a cgroup of that size,
# and with readers that stop while every window is full. "./check many" runs it;
# it takes half a minute. SESSIONS=500 in the environment makes more of them.

load ../helper

MIB=$((1 << 20))

setup() { cd "$BATS_TEST_TMPDIR"; }

teardown() {
	local pid
	[ ! -p go ] || : <>go
	for pid in $(cat pids 2>/dev/null); do kill "$pid" 2>/dev/null || :; done
	sshd_down
	remove_cgroup
	[ -z "${P-}" ] || "$LFP" down "$P" || :
}

### Sessions

# list_sessions: prints the processes that serve sessions, all of them below sshd
list_sessions() {
	local all=("$(cat "$(sshd_dir hayate)/pid")") i child
	for ((i = 0; i < ${#all[@]}; i++)); do
		for child in $(cat "/proc/${all[i]}/task/${all[i]}/children" 2>/dev/null); do
			all+=("$child")
			[ ! "/proc/$child/exe" -ef "$(bin sshd-session)" ] || echo "$child"
		done
	done
}
# measure_sessions: prints the bytes of all sessions, where each has its part of a shared
# page
measure_sessions() {
	list_sessions | sed 's,.*,/proc/&/smaps_rollup,' | xargs cat 2>/dev/null |
	    awk '/^Pss:/ { kib += $2 } END { printf "%d\n", kib * 1024 }'
}
has_started() { [ "$(cat up.* 2>/dev/null | grep -c up)" -ge "$1" ]; }

send_zeros() {
	read -r _ <go || :
	head -c "$BYTES" /dev/zero
}

# start_clients N COMMAND: starts N clients that send zeros to a command when open_pipe
# tells them. They wait without a turn of the processor: for a writer of the pipe "go".
start_clients() {
	local i
	mkfifo go
	for ((i = 1; i <= $1; i++)); do
		{
			send_zeros | client hayate "echo up; echo \$\$ >$PWD/reader.$i; $2" \
			    >"up.$i" 2>"err.$i"
			echo $? >"status.$i"
		} 3>&- &
		echo $! >>pids
		poll 60 has_started $((i - 8))
	done
	poll 60 has_started "$1"
}
open_pipe() { : >go; }
has_ended() { [ "$(cat status.* 2>/dev/null | grep -c .)" -ge "$1" ]; }

@test "many busy sessions stay below the bound of their arithmetic, and all finish" {
	need_root
	local n=${SESSIONS:-100} w=16 bound
	bound=$((n * (8 + w * 5 / 4) * MIB))
	make_cgroup $bound || skip "no cgroup that bounds memory"
	sshd_up hayate "MaxStartups $((2 * n))" "WindowMemoryMax ${w}M" "LogLevel INFO"
	join_cgroup "$(cat "$(sshd_dir hayate)/pid")"
	BYTES=$((8 * MIB)) start_clients "$n" 'cat >/dev/null'
	open_pipe
	poll $((n + 20)) has_ended "$n"
	[ "$(cat status.* | sort -u)" = 0 ]
	[ "$(count_oom_kills)" = 0 ]
	echo "# peak of $n sessions: $(($(read_cgroup_peak) / MIB)) MiB of $((bound / MIB))" >&3
	check_true "$(read_cgroup_peak) < $bound && $(read_cgroup_peak) > $n * $MIB"
}

@test "a bound that is too small kills sessions: the test above would see it" {
	need_root
	make_cgroup $((12 * MIB)) || skip "no cgroup that bounds memory"
	[ -e "$CGROUP/memory.limit_in_bytes" ] || skip "MemoryHigh kills nobody"
	sshd_up hayate "MaxStartups 200" "LogLevel INFO"
	join_cgroup "$(cat "$(sshd_dir hayate)/pid")"
	BYTES=$((8 * MIB)) start_clients 12 'cat >/dev/null' || :
	open_pipe
	poll 60 has_ended 12 || :
	[ "$(count_oom_kills)" -gt 0 ] || [ "$(cat status.* | sort -u)" != 0 ]
}

# has_grown N BYTES: succeeds if N channels have a window of BYTES or more
has_grown() {
	[ "$(list_windows "$(sshd_log hayate)" | awk -v w="$2" '$3 >= w' | wc -l)" -ge "$1" ]
}
# is_memory_stable: succeeds if the memory did not change for a second
is_memory_stable() {
	local was=$now
	now=$(measure_sessions)
	[ "$was" = "$now" ] || { sleep 1; false; }
}

@test "full windows and stalled readers take no more memory than the bound" {
	need_path
	local n=4 w=32 one
	# one channel may grow by half of what the process has left
	one=$(((w - 2) * MIB / 2))
	export P=many$$
	"$LFP" up "$P" --rtt 400ms --rate 1gbit --queue 64MB
	export IN_SERVER="ip netns exec lfp-$P-b" IN_CLIENT="ip netns exec lfp-$P-a"
	export SERVER_ADDRESS=10.77.0.2
	sshd_up hayate "WindowMemoryMax ${w}M"
	BYTES=$((4096 * MIB)) start_clients $n 'exec cat >/dev/null'
	open_pipe
	poll 60 has_grown $n $((one - MIB))
	cat reader.* | xargs kill -STOP
	now=''
	poll 30 is_memory_stable
	echo "# $n sessions with full windows of $((one / MIB)) MiB: $((now / MIB)) MiB" >&3
	cat reader.* | xargs kill -CONT
	cat reader.* | xargs kill
	check_true "$now <= $n * (8 + $w * 5 / 4) * $MIB"
	# and the windows were full
	check_true "$now >= $n * ($one - $MIB)"
}

# is_window_stable: succeeds if no window has grown for three seconds
is_window_stable() {
	local was=$now
	now=$(find_widest_window "$(sshd_log hayate)")
	[ "$was" = "$now" ] || { sleep 3; false; }
}

@test "a session without a program of its user's choice holds at most 88 MiB on any machine" {
	need_path
	local now=''
	export P=many$$
	"$LFP" up "$P" --rtt 800ms --rate 2gbit --queue 128MB --cc reno
	export IN_SERVER="ip netns exec lfp-$P-b" IN_CLIENT="ip netns exec lfp-$P-a"
	export SERVER_ADDRESS=10.77.0.2
	printf '#!/bin/sh\necho up\necho $$ >%s/reader.1\nexec cat >/dev/null\n' "$PWD" >forced
	chmod +x forced
	sshd_up hayate "ForceCommand $PWD/forced"
	BYTES=$((16384 * MIB)) start_clients 1 true
	open_pipe
	poll 60 has_grown 1 $((24 * MIB))
	poll 90 is_window_stable
	cat reader.* | xargs kill -STOP
	now=''
	poll 120 is_memory_stable
	echo "# full windows of $(($(find_widest_window "$(sshd_log hayate)") / MIB)) MiB behind a ForceCommand: $((now / MIB)) MiB" >&3
	cat reader.* | xargs kill -CONT
	cat reader.* | xargs kill
	check_true "$now <= (8 + 64 * 5 / 4) * $MIB"
	# and the window was full
	check_true "$now >= 24 * $MIB"
}

# is_memory_below BYTES: succeeds if the sessions take at most BYTES
is_memory_below() { now=$(measure_sessions); echo "$now"; [ "$now" -le "$1" ]; }

@test "a full window of 400 MiB takes its size in memory, which is freed once it is read" {
	need_path
	local now was
	export P=many$$
	# 200 MB on the path; the window becomes more than twice that
	"$LFP" up "$P" --rtt 800ms --rate 2gbit --queue 128MB --cc reno
	export IN_SERVER="ip netns exec lfp-$P-b" IN_CLIENT="ip netns exec lfp-$P-a"
	export SERVER_ADDRESS=10.77.0.2
	sshd_up hayate "WindowMax 1G"
	BYTES=$((16384 * MIB)) start_clients 1 'exec cat >/dev/null'
	open_pipe
	poll 120 has_grown 1 $((400 * MIB))
	cat reader.* | xargs kill -STOP
	now=''
	poll 120 is_memory_stable
	was=$(find_widest_window "$(sshd_log hayate)")
	echo "# a window of $((was / MIB)) MiB, full: $((now / MIB)) MiB" >&3
	check_true "$now >= $was * 0.9 && $now <= 8 * $MIB + $was * 5 / 4"
	# while it is read, and more comes
	cat reader.* | xargs kill -CONT
	poll 60 is_memory_below $((64 * MIB))
	echo "# read: $((now / MIB)) MiB" >&3
	cat reader.* | xargs kill
}
