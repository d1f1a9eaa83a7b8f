# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# disk: does a copy pause where the disk is slower than the path?
#
# The page cache takes what the disk cannot, until it is full. A writer that the
# kernel then holds for seconds would stop reading, its window would close, and
# the path would stand still. The disk is a file in memory behind a loop device
# with a bound on its bytes per second, and on how much of the cache waits for it.
# "ms" is the longest time in which less than DISK_LEAST bytes came over the path.
# A "scp cold" reads from that disk what is not in the cache.
#
# Needs root and the blkio controller of cgroup v1: what the kernel writes later
# is bounded there for all processes, and in v2 for those of one group.

CELLS+=' disk'
about_disk='pauses of copies to and from a disk that is slower than the path'

DISK_RATE=${DISK_RATE:-200000000}	# bytes per second
DISK_CACHE=600000000			# bytes that may wait for it
DISK_PATH='100 2gbit'
DISK_LEAST=100000
DISK_BOUND=/sys/fs/cgroup/blkio/blkio.throttle
DISK='' DISK_LOOP='' DISK_SHARE=''
LAB_DOWN+=' disk_down'

# disk_bound read|write RATE
disk_bound() {
	echo "$(<"/sys/block/${DISK_LOOP##*/}/dev") $2" \
	    >"${DISK_BOUND}.$1_bps_device"
}

# Before the servers are started: a namespace has the mounts that were there. The
# rate is bounded last, so that the file system is made at once.
disk_up() {	# BYTES
	DISK=$LAB/disk
	mkdir -p "$DISK"
	truncate -s $(($1 * 2 + 268435456)) "$DATA/disk.img" &&
	    DISK_LOOP=$(losetup --find --show "$DATA/disk.img") || return
	DISK_SHARE=/sys/class/bdi/$(<"/sys/block/${DISK_LOOP##*/}/dev")
	mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 \
	    "$DISK_LOOP" && mount "$DISK_LOOP" "$DISK" &&
	    cp "$(file_of "$1")" "$DISK/cold" && sync -f "$DISK" || return
	echo 1 >"$DISK_SHARE/strict_limit" &&
	    echo "$DISK_CACHE" >"$DISK_SHARE/max_bytes" &&
	    disk_bound read "$DISK_RATE" && disk_bound write "$DISK_RATE"
}

disk_down() {
	[ -z "$DISK_LOOP" ] || {
		disk_bound read 0
		disk_bound write 0
		echo 0 >"$DISK_SHARE/strict_limit"
		echo 100 >"$DISK_SHARE/max_ratio"
		umount "$DISK"
		losetup -d "$DISK_LOOP"
	} 2>>"$LAB/err"
	DISK_LOOP=
	rm -f "$DATA/disk.img"
}

# disk_watch: seconds and received bytes, 50 times a second, until killed
disk_watch() {
	local bytes
	while read -rt 0.02 -u 7; [ $? -gt 128 ]; do
		bytes=$(</sys/class/net/lfp0/statistics/rx_bytes)
		echo "${EPOCHREALTIME/,/.} $bytes"
	done 7<> <(:)
}

# disk_pause FILE: the longest pause, ms, between the first and last megabyte
disk_pause() {
	awk -v least="$DISK_LEAST" '
	{ at[NR] = $1; n[NR] = $2 }
	END {
		for (i = 1; i <= NR; i++) {
			if (n[i] < n[1] + 1e6 || n[i] > n[NR] - 1e6)
				continue
			if (!last) last = i
			if (at[i] - at[last] > most) most = at[i] - at[last]
			if (n[i] >= n[last] + least) last = i
		}
		if (last) printf "%.0f\n", most * 1e3; else print "-"
	}' "$1"
}

v_disk() {	# CLIENT SERVER BYTES get|put|cold
	local at=$AT_A from to got=$DISK/got watcher out
	use "$1"
	from=$2:$(file_of "$3") to=$got
	case $4 in
	put) at=$AT_B from=$(file_of "$3") to=$2:$got ;;
	cold)
		from=$2:$DISK/cold to=$DATA/got got=$DATA/got
		dd if="$DISK/cold" iflag=nocache count=0 2>/dev/null
		;;
	esac
	$at bash -c "$(declare -f disk_watch); disk_watch" >"$LAB/watch" \
	    2>>"$LAB/err" &
	watcher=$!
	out=$(copied "$3" "$got" "$(metered -f "$(pid_of "$2")" "${SCP[@]}" \
	    "$from" "$to")")
	{ kill $watcher; wait $watcher; } 2>/dev/null
	sync -f "$DISK"
	# shellcheck disable=SC2086
	set -- $out
	echo "$1 $2 $3 $4 $(disk_pause "$LAB/watch") $6"
}

disk_jobs() {	# BYTES
	local p t
	JOBS=()
	for p in $BUILDS; do
		t=$(target_for "$p" 'ms<=0*stock+1000')
		job "$p" scp get "$1" "$t" - v_disk "$p" "$p" "$1" get
		job "$p" scp put "$1" "$t" - v_disk "$p" "$p" "$1" put
		job "$p" 'scp cold' get "$1" "$t" - v_disk "$p" "$p" "$1" cold
	done
}

cell_disk() {
	((EUID == 0)) && [ -w "$DISK_BOUND.write_bps_device" ] || {
		warn "$CELL: skipped: needs root and blkio of cgroup v1"
		return 1
	}
	disk_up "$BYTES" 2>>"$LAB/err" || {
		warn "$CELL: skipped, no disk: $(tail -n 1 "$LAB/err")"
		disk_down
		return 1
	}
	# shellcheck disable=SC2086
	if at_path $DISK_PATH; then
		disk_jobs "$BYTES"
		sitting "$RUNS"
	fi
	lab_leave
	disk_down
}
