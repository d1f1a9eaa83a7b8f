#!/usr/bin/env bats
# Needs: hayate fleet slurm timed
# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# hayate-fleet under a real Slurm: one slurmctld, and three slurmd on this host. It
# takes minutes: "./check slurm" runs it, and ./check does not.
#
#     slurmctld --- node1, node2, node3 --- sshd
#                     \      |      /
#                      work, a, b: one directory
#
# Slurm is less patient than at a site: a requeued job waits 11 s (cred_expire) and not
# 121, who may begin is looked at each 2 s and not 60 (SchedulerParameters), and a node
# that is silent is down after 10 s and not 300 (SlurmdTimeout).

load ../helper

setup_file() {
	need_slurm || return 0
	cd "$BATS_FILE_TMPDIR" || return
	export FLEET=$PWD/bin/hayate-fleet SLURM_CONF=$PWD/slurm.conf
	PATH=$PWD/bin:$PATH:$BUILD/ftpd/usr/bin
	export LD_LIBRARY_PATH=$PLUGINS
	mkdir bin state spool
	sshd_up hayate
	printf '#!/bin/sh\nexec %s -S %s -F %s/ssh_config "$@"\n' "$(bin scp)" "$(bin ssh)" "$PWD" >bin/scp
	sed "s|@SCP@|$PWD/bin/scp|" "$TOP/contrib/bin/hayate-fleet" >"$FLEET"
	chmod +x bin/*
	for _ in 1 2 3 4; do
		start_slurm && return
		stop_slurm
	done
	cat ./*.log
	return 1
}

teardown_file() {
	cd "$BATS_FILE_TMPDIR" || return
	stop_slurm
	sshd_down
}

setup() {
	need_root
	need_slurm || skip "no Slurm: packages slurmctld, slurmd, slurm-client, munge"
	cd "$BATS_TEST_TMPDIR" || return
	T=$BATS_TEST_TMPDIR
	scontrol update nodename=node[1-3] state=resume 2>/dev/null || :
}

# need_slurm: succeeds if Slurm is unpacked, or installed with the names of Debian
need_slurm() {
	SBIN=$BUILD/ftpd/usr/sbin
	PLUGINS=$(echo "$BUILD"/ftpd/usr/lib/*/slurm-wlm)
	[ -x "$SBIN/slurmctld-wlm" ] && [ -x "$SBIN/munged" ] && [ -d "$PLUGINS" ]
}

# print_slurm_conf PORT
print_slurm_conf() {
	local host
	host=$(hostname -s)
	cat <<-END
	ClusterName=fleet
	SlurmctldHost=$host(127.0.0.1)
	SlurmctldPort=$1
	SlurmctldPidFile=$PWD/slurmctld.pid
	SlurmdPidFile=$PWD/%n.pid
	AuthInfo=socket=$PWD/munge.sock,cred_expire=10
	PluginDir=$PLUGINS
	SlurmUser=root
	StateSaveLocation=$PWD/state
	SlurmdSpoolDir=$PWD/spool/%n
	SlurmctldLogFile=$PWD/slurmctld.log
	SlurmdLogFile=$PWD/%n.log
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SelectType=select/linear
	ReturnToService=2
	SlurmdTimeout=10
	KillWait=5
	SchedulerParameters=sched_interval=2,bf_interval=2
	MailProg=/bin/true
	NodeName=node[1-3] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$(($1 + 1))-$(($1 + 3))] CPUs=1 RealMemory=2000
	PartitionName=transfer Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	END
}

# start_slurm: starts its daemons on free ports
start_slurm() {
	local n
	print_slurm_conf $((20000 + RANDOM % 12000)) >slurm.conf
	rm -rf state/*
	"$SBIN/mungekey" -c -f -k key
	"$SBIN/munged" --force --socket="$PWD/munge.sock" --key-file="$PWD/key" \
	    --pid-file="$PWD/munged.pid" --log-file="$PWD/munged.log" --seed-file="$PWD/seed" 3>&-
	setsid "$SBIN/slurmctld-wlm" -D -f "$SLURM_CONF" >slurmctld.out 2>&1 </dev/null 3>&- &
	for n in 1 2 3; do start_node $n; done
	poll 15 eval '[ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 3 ]'
}

# start_node N: starts a slurmd, in a session of its own
start_node() {
	mkdir -p "spool/node$1"
	setsid "$SBIN/slurmd-wlm" -D -N "node$1" -f "$SLURM_CONF" -d "$SBIN/slurmstepd-wlm" \
	    >"node$1.out" 2>&1 </dev/null 3>&- &
}

stop_slurm() {
	local pid
	scancel -u root 2>/dev/null || :
	poll 10 eval '[ -z "$(squeue -h 2>/dev/null)" ]' || :
	for pid in node1 node2 node3 slurmctld munged; do
		pid=$(cat $pid.pid 2>/dev/null) && kill "$pid" && poll 10 is_gone "$pid"
	done
	return 0
}

# make_plan RATE BYTES...: makes a tree of one file of each size, each with 20 small ones,
# and plans as many shards, which are limited to RATE
make_plan() {
	local rate=$1 size i=0 j
	shift
	for size; do
		i=$((i + 1))
		mkdir -p "a/$i"
		head -c "$size" /dev/urandom >"a/$i/large"
		for j in $(seq 20); do echo "$j" >"a/$i/$j"; done
	done
	touch -d '2001-02-03 04:05:06' a/*
	find a -type f -printf '%p %s %P\n' | sort -V | cut -d' ' -f2- |
	    "$FLEET" plan --shards $# --from - a "hayate:$T/b" work -o MaxRate="$rate"
}

# submit_shards [OPTION...]: submits all shards; sets JOB to the job's number
submit_shards() {
	JOB=$(sbatch --parsable --array=1-"$(cat work/shards)" "$@" \
	    --output="$T/%A_%a.log" "$TOP/contrib/slurm/hayate.sbatch" "$T/work" --pause 0.5)
}

# has_job_ended: succeeds if nothing of the job is left
has_job_ended() { [ -z "$(squeue -h -j "$JOB" 2>/dev/null)" ]; }

# list_tasks NODE: prints the shards that it has now
list_tasks() { squeue -h -t running -w "$1" -o %K; }

# kill_task NODE: kills what Slurm has started there, with all below
kill_task() {
	local script
	script=$(pgrep -f "$BATS_FILE_TMPDIR/spool/$1/job[0-9]*/slurm_script")
	pkill -9 -s "$(ps -o sid= -p "$script" | tr -d ' ')"
}

# check_copy: checks that the copy equals the source, also for rsync
check_copy() {
	diff -r a b
	need rsync
	[ -z "$(rsync -rtn --itemize-changes --delete a/ b/)" ]
}

# list_resumed: prints the files of which a part was sent, with these bytes; fails if one
# was sent more than once as a whole
list_resumed() {
	local size path
	cat work/[1-9]*/journal.* |
	    jq -r 'select(.status == "ok" and .bytes > 0) | "\(.bytes) \(.from)"' >sent
	[ -z "$(cut -d' ' -f2 sent | sort | uniq -d)" ]
	while read -r size path; do
		[ "$size" = "$(stat -c %s "$path")" ] || echo "${path#"$T/a/"} $size"
	done <sent
}

# print_figure TEXT: prints a measured value for the reader of the results
print_figure() { echo "# $*" >&3; }

@test "1, 2 and 3 nodes copy 12 shards in proportion" {
	local n took
	# shellcheck disable=SC2046 # words
	make_plan 3M $(yes 15000000 | head -n 12)
	[ "$(cat work/shards)" = 12 ]
	cp -r work unused
	for n in 1 2 3; do
		rm -rf work b
		cp -r unused work
		scontrol update nodename=node[1-3] state=resume 2>/dev/null || :
		[ $n = 3 ] || scontrol update nodename="node[$((n + 1))-3]" state=drain reason=test
		SECONDS=0
		took=$EPOCHREALTIME
		submit_shards
		poll 120 has_job_ended
		took=$(echo "$EPOCHREALTIME $took" | awk '{ print $1 - $2 }')
		print_figure "$n nodes: $took s"
		echo "$n $took" >>took
		check_copy
		"$FLEET" summary work
		[ "$("$FLEET" status --json work | jq '.nodes | length')" = $n ]
	done
	print_figure "$("$FLEET" summary work | grep '^node' | paste -sd';')"
	awk '{ t[$1] = $2 } END { print t[1] / t[2] / 2, t[1] / t[3] / 3 }' took >linear
	print_figure "of linear: $(cat linear)"
	awk '{ exit !($1 >= 0.85 && $2 >= 0.85) }' linear
}

@test "a node killed with its task and a daemon killed alone cost time, and no byte twice" {
	local dead orphan
	# shellcheck disable=SC2046 # words
	make_plan 3M 200000000 40000000 30000000 $(yes 3000000 | head -n 9)
	submit_shards
	poll 20 eval '[ "$(list_tasks node1 | wc -l)$(list_tasks node2 | wc -l)$(list_tasks node3 | wc -l)" = 111 ]'
	# what goes on is still writing when Slurm begins it again
	dead=$(list_tasks node2) orphan=$(list_tasks node1)
	[ "$orphan" = 1 ]
	poll 30 eval '[ "$(du -sm b 2>/dev/null | cut -f 1)0" -gt 400 ]'
	kill -9 "$(cat "$BATS_FILE_TMPDIR/node2.pid")"
	kill_task node2
	kill -9 "$(cat "$BATS_FILE_TMPDIR/node1.pid")"
	SECONDS=0
	poll 150 has_job_ended
	print_figure "all was copied $SECONDS s after the kill; shard $dead was killed, $orphan went on"
	"$FLEET" summary work
	check_copy
	print_figure "sent in parts: $(list_resumed | xargs)"
	# only the rest of unfinished files is sent, and no other file twice or in parts
	[ "$(list_resumed | wc -l)" = 1 ]
	list_resumed | awk '!/\/large / || $2 > 35000000 { exit 1 }'
	[ "$("$FLEET" summary --json work | jq -r '"\(.status) \(.files.ok)"')" = "0 252" ]
	grep "shard 1: waiting for node1, which is copying it" ./*_1.log
	(cd "$BATS_FILE_TMPDIR" && start_node 1 && start_node 2)
	poll 20 eval '[ "$(sinfo -h -t idle -o %D)" = 3 ]'
}

@test "a terminated task is requeued, one with a file that is gone is not" {
	make_plan 3M 25000000 3000000 3000000
	mv a/2/7 .
	submit_shards
	poll 20 eval '[ "$(du -sm b 2>/dev/null | cut -f 1)0" -gt 80 ]'
	# as Slurm does before the time is up
	scancel --batch --signal=TERM "${JOB}_1"
	sbatch --dependency=afterany:"$JOB" --output=summary --mem=10 --wrap "hayate-fleet summary $T/work"
	poll 60 has_job_ended
	grep 'shard 1 is requeued' ./*_1.log
	run ! grep requeued ./*_2.log
	[ "$(scontrol show job "${JOB}_1" | grep -o 'Restarts=[0-9]* \|JobState=[A-Z]*' | xargs)" = "JobState=COMPLETED Restarts=1" ]
	[ "$(scontrol show job "${JOB}_2" | grep -o 'Restarts=[0-9]* \|JobState=[A-Z]*' | xargs)" = "JobState=FAILED Restarts=0" ]
	[ "$(list_resumed | sed 's/ .*//')" = 1/large ]
	poll 20 grep -q '^failed' summary
	[[ $(cat summary) = *"3 done, 0 running, 0 left; files: 62 of 63, 1 failed"* ]]
	[[ $(cat summary) = *"failed: $T/a/2/7: "*"No such file"* ]]
	# when it is there again
	mv 7 a/2/
	sbatch --parsable --wait --array=2 --output="$T/again" "$TOP/contrib/slurm/hayate.sbatch" "$T/work" --again
	touch -d '2001-02-03 04:05:06' a/2
	rm -r work
	find a -type f -printf '%s %P\n' | "$FLEET" plan --from - a "hayate:$T/b" work
	"$FLEET" run work
	check_copy
}
