# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# files: how long does each of many files take?
#
# In a shared storage of sites 0.16 to 29 ms apart (HPCI, 2013), creating a file
# of 3 bytes took about twenty round trips: small files wait for round trips, not
# for the rate. Sets of files are therefore copied with the tools that people use
# over Secure Shell: scp -r, scp of a list, sftp, rsync, tar through ssh, rclone
# and lftp.
#
# A row's MODE is the tool and the set. PROGRAM is the build of ssh and sshd.
# "ms" is the time of the whole process, login included, divided by the number of
# files. So the login weighs more where the files are few. rclone has its own
# Secure Shell client: only its server is of PROGRAM. A copy succeeds if both
# trees are equal, file by file.
#
# FILES_SETS and FILES_TOOLS in the environment take some of the sets and tools.
# The full sets take long at 100 ms. With --bytes below 1G they are smaller.
#
# trees: 100,000 files of 3 bytes without a path, in one directory and in 100. Is
# scp -r as fast as stock's, in less than 64 MiB? "kib" is the larger of scp and
# ssh.

CELLS+=' files trees'
about_files='time per file, by scp -r, scp, sftp, rsync, tar, rclone, lftp'
about_trees='100,000 files in one directory and in 100, by scp -r'

FILES_RTTS='0.16 8 22 100'
FILES_SETS=${FILES_SETS:-1000x3 500x4096 50x1048576}	# files x bytes
FILES_LEAST=4
FILES_TARGET='ms<=stock~'
FILES_TOOLS=${FILES_TOOLS:-scp scp-list sftp rsync tar rclone lftp}
FILES_SERVE=()					# the installed tools
declare -A FILES_VERSION=()			# for the procs column

# The tools with their default configuration, in a home directory of their own.
files_tools() {
	local t
	FILES_SERVE=()
	for t in $FILES_TOOLS; do
		case $t in
		rsync|tar|rclone|lftp)
			command -v "$t" >/dev/null || {
				warn "$CELL: skipped $t: no $t, which is in the package $t"
				continue
			}
			FILES_VERSION[$t]=$($t --version 2>/dev/null |
			    sed -n '1{s/[[:space:]][[:space:]]*/ /g; p}') ;;
		esac
		FILES_SERVE+=("$t")
	done
}

# rclone examines the remote shell at its first use and stores what it found.
files_remotes() {
	local b
	mkdir -p "$LAB/home"
	for b in $BUILDS; do
		cat <<-EOT
		[$b]
		type = sftp
		host = $FAR
		port = $(sshd_port "$b")
		user = $(id -un)
		key_file = $LAB/user
		shell_type = unix
		md5sum_command = md5sum
		sha1sum_command = sha1sum
		EOT
	done >"$LAB/rclone.conf"
}

### Verb

files_of() {	# FILES BYTES [DIRECTORIES]: the directory of that set
	local dir=$DATA/files.$1x$2.${3:-1} d n=$(($1 / ${3:-1}))
	if [ ! -d "$dir" ]; then
		mkdir "$dir" || return
		for d in $(seq "${3:-1}"); do
			d=$dir/${3:+$d/}
			mkdir -p "$d" && head -c $((n * $2)) /dev/urandom |
			    split -a 5 -d -b "$2" - "${d}f" || return
		done
	fi
	echo "$dir"
}

# files_command TOOL BUILD FROM TO get|put: sets COMMAND. The shell matches the
# names of a list on this host, scp those on the other.
files_command() {
	local from=$3 to=$4
	use "$2"
	case $5 in
	get) from=$2:$3 ;;
	put) to=$2:$4 ;;
	esac
	case $1 in
	scp) COMMAND=("${SCP[@]}" -r "$from" "$to") ;;
	scp-list) COMMAND=("${SCP[@]}" "$from"/* "$to/") ;;
	rsync) COMMAND=(rsync -r -e "${SSH[*]}" "$from/" "$to/") ;;
	rclone) COMMAND=(env "HOME=$LAB/home" rclone copy -q
	    --config "$LAB/rclone.conf" "$from" "$to") ;;
	*) "files_$1" "$5" "$2" "$3" "$4" ;;
	esac
}

files_sftp() {	# get|put BUILD FROM TO
	echo "$1 -r $3 $4" >"$LAB/batch"
	COMMAND=("$(bin sftp "$2")" -q -S "${SSH[0]}" "${SSH[@]:1}"
	    -b "$LAB/batch" "$2")
}

files_tar() {	# get|put BUILD FROM TO
	local here="tar -C $3 -cf - ." there="mkdir $4 && tar -C $4 -xf -"
	case $1 in
	get) here="mkdir $4 && ${SSH[*]} $2 '$here' | tar -C $4 -xf -" ;;
	put) here="$here | ${SSH[*]} $2 '$there'" ;;
	esac
	COMMAND=(sh -c "$here")
}

# The password "none" keeps lftp from asking for one. ssh uses a key.
files_lftp() {	# get|put BUILD FROM TO
	local mirror=mirror
	[ "$1" = get ] || mirror='mirror -R'
	COMMAND=(env "HOME=$LAB/home" lftp -c "set cmd:fail-exit yes;
	    set net:max-retries 1; set sftp:auto-confirm yes;
	    set sftp:connect-program '${SSH[*]} -a -x';
	    open -u $(id -un),none sftp://$2; $mirror $3 $4")
}

v_files() {	# TOOL BUILD FILES BYTES get|put [DIRECTORIES]
	local COMMAND from to=$DATA/to result
	from=$(files_of "$3" "$4" ${6:+"$6"}) || { failed; return; }
	files_command "$1" "$2" "$from" "$to" "$5"
	rm -rf "$to"
	[ "$1" != scp-list ] || mkdir "$to"
	result=$(metered -f "$(pid_of "$2")" "${COMMAND[@]}")
	diff -rq "$from" "$to" 2>&1 | tail -n 1 >>"$LAB/err"
	[ "${PIPESTATUS[0]}" = 0 ] || result="${result% *} 254"
	rm -rf "$to"
	[ -z "${FILES_VERSION[$1]:-}" ] ||
	    echo "${FILES_VERSION[$1]}" >"$LAB/procs"
	# shellcheck disable=SC2086
	files_each "$3" $result
}

files_each() {	# FILES RESULT...
	local ms=-
	[ "$2" = - ] || ms=$(awk "BEGIN { printf \"%.4f\", 1e3 * $2 / $1 }")
	echo "$2 $3 $4 $5 $ms $7"
}

### Cell

# Sets in proportion to $BYTES, which are 1 GiB by default
files_sets() {
	local set n
	for set in $FILES_SETS; do
		n=$((${set%x*} * (BYTES >> 10) >> 20))
		[ $n -le "${set%x*}" ] || n=${set%x*}
		[ "$n" -ge $FILES_LEAST ] || n=$FILES_LEAST
		case ${QUICK:-}$set in y*x4096) ;; *) echo "${n}x${set#*x}" ;; esac
	done
}

files_size() {	# BYTES: 3 B, 4 KiB, 1 MiB
	local n=$1 unit
	for unit in B KiB MiB; do
		[ "$n" -ge 1024 ] || break
		n=$((n / 1024))
	done
	echo "$n $unit"
}

files_jobs() {	# FILES BYTES [DIRECTORIES]
	local t d p mode
	for t in "${FILES_SERVE[@]}"; do
		case $t in
		scp) mode='scp -r' ;;
		scp-list) mode='scp list' ;;
		*) mode=$t ;;
		esac
		mode+=", $1 x $(files_size "$2")${3:+ in $3 directories}"
		for d in get put; do
			for p in $BUILDS; do
				job "$p" "$mode" $d $(($1 * $2)) \
				    "$(target_for "$p" "$FILES_TARGET")" - \
				    v_files "$t" "$p" "$1" "$2" $d \
				    ${3:+"$3"}
			done
		done
	done
}

cell_files() {
	local rtt set
	[ -z "${QUICK:-}" ] || RTTS=${RTTS:-22}
	files_tools
	for rtt in ${RTTS:-$FILES_RTTS}; do
		at_path "$rtt" 1gbit || return
		files_remotes
		for set in $(files_sets); do
			JOBS=()
			files_jobs "${set%x*}" "${set#*x}"
			sitting "$RUNS"
		done
	done
}

cell_trees() {
	local n=$((100000 * (BYTES >> 10) >> 20)) FILES_TOOLS=scp dirs
	local FILES_TARGET='ms<=stock~,kib<=0*stock+65536'
	[ "$n" -le 100000 ] || n=100000
	[ "$n" -ge 400 ] || n=400
	files_tools
	at_loop || return
	for dirs in '' 100; do
		JOBS=()
		files_jobs $((n / 100 * 100)) 3 $dirs
		sitting "$RUNS"
	done
}
