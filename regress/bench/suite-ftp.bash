# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# ftp: how much slower than FTP is scp?
#
# The experiment is of 2009 (Tohoku University, SENAC): ftp, lftp and scp moved a
# file from the page cache to /dev/null, timed as whole processes with login. FTP
# filled the Gigabit link, scp was far slower, and a mode without cipher lay in
# between. Here today's programs repeat it over loopback, where no link hides
# their cost. RESULTS.md has the figures.
#
# A row's PROGRAM is receiver and sender, as in "lftp-vsftpd". The name of a build
# means its scp from its sshd; "hayate-clear" is Hayate with data in clear. MODE
# is the size, because rows of one mode are compared. "x stock" compares with
# stock's scp. The login is not subtracted.
#
# The Debian packages of vsftpd and pure-ftpd conflict, and their installation
# starts a server. So ./check unpacks both in build/ftpd. Here they serve
# anonymous users, read-only, from one directory, on a port of 127.0.0.1. Each
# server runs in a mount namespace, in which /srv is that directory and the user
# "ftp" exists. That needs root. /etc and the system's services stay unchanged.

CELLS+=' ftp'
about_ftp='one file into /dev/null by ftp, lftp and scp, after a table of 2009'

FTP_CLEAR=(-o NoneEnabled=yes -o NoneSwitch=yes)
FTP_SIZES='17700000 100000000'		# $BYTES is added

declare -A FTP_PID=() FTP_PORT=()
FTP_PAIRS=()

# lftp must neither retry nor rename existing files.
FTP_LFTP='set cmd:fail-exit yes; set net:max-retries 1; set net:timeout 20;
	set xfer:make-backup no; set xfer:clobber yes; set ftp:ssl-allow no;'
# Only the control connection is encrypted, as only a login would be.
FTP_LFTP_SSL='set ftp:ssl-allow yes; set ftp:ssl-allow-anonymous yes;
	set ftp:ssl-force yes; set ftp:ssl-protect-data no;
	set ssl:verify-certificate no;'

### Servers

ftp_find() { PATH=$PATH:$BUILD/ftpd/usr/sbin command -v "$1"; }

ftp_free_port() {
	local p=$((10000 + RANDOM % 4000))
	while listening '' $p; do p=$((p + 1)); done
	echo $p
}

# A directory with a file of each size, and a passwd file with the user "ftp".
ftp_folder() {
	local n
	mkdir -p "$DATA/ftp" "$LAB/home"
	chmod 755 "$DATA/ftp"
	for n in $(ftp_sizes); do
		ln -f "$(file_of "$n")" "$DATA/ftp/" && chmod 644 "$DATA/ftp/$n" ||
		    return
	done
	grep -v '^ftp:' /etc/passwd >"$LAB/passwd"
	echo 'ftp:x:65534:65534::/srv:/usr/sbin/nologin' >>"$LAB/passwd"
	chmod 644 "$LAB/passwd"
}

ftp_certificate() {
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=bench \
	    -keyout "$LAB/ftp.pem" -out "$LAB/ftp.cert" 2>>"$LAB/err" &&
	    cat "$LAB/ftp.cert" >>"$LAB/ftp.pem"
}

# vsftpd's filter of system calls knows only those of older kernels.
ftp_vsftpd_conf() {	# PORT
	cat <<-EOT
	listen=YES
	listen_address=127.0.0.1
	listen_port=$1
	background=NO
	anonymous_enable=YES
	no_anon_password=YES
	anon_root=/srv
	local_enable=NO
	write_enable=NO
	secure_chroot_dir=/var/empty
	xferlog_enable=NO
	seccomp_sandbox=NO
	EOT
	[ ! -s "$LAB/ftp.cert" ] || cat <<-EOT
	ssl_enable=YES
	allow_anon_ssl=YES
	force_anon_logins_ssl=NO
	force_anon_data_ssl=NO
	require_ssl_reuse=NO
	rsa_cert_file=$LAB/ftp.pem
	EOT
}

# ftp_up NAME PORT COMMAND...: starts a server that ends when we end
ftp_up() {
	setpriv --pdeathsig TERM unshare -m sh -c \
	    "mount --bind '$DATA/ftp' /srv && mount -t tmpfs none /run &&
	    mount --bind '$LAB/passwd' /etc/passwd && exec \"\$@\"" sh \
	    "${@:3}" </dev/null >>"$LAB/err" 2>&1 &
	FTP_PID[$1]=$! FTP_PORT[$1]=$2
	poll 5 listening '' "$2" && ! is_gone "${FTP_PID[$1]}" || {
		warn "$CELL: skipped $1: it does not start: $(tail -n 1 "$LAB/err")"
		return 1
	}
}

ftp_up_vsftpd() {	# PROGRAM PORT
	ftp_certificate || rm -f "$LAB/ftp.cert"
	ftp_vsftpd_conf "$2" >"$LAB/vsftpd.conf"
	ftp_up vsftpd "$2" "$1" "$LAB/vsftpd.conf"
}

ftp_up_pure-ftpd() {	# PROGRAM PORT
	ftp_up pure-ftpd "$2" "$1" -4 -S "127.0.0.1,$2" -e -i -H -f none \
	    -g "$LAB/pure-ftpd.pid"
}

ftp_down() {
	local s
	for s in "${!FTP_PID[@]}"; do
		{ kill "${FTP_PID[$s]}"; wait "${FTP_PID[$s]}"; } 2>/dev/null
	done
	FTP_PID=() FTP_PORT=()
}

# ftp_servers: starts the servers that exist, and finds the clients that can
# fetch from them. Each of FTP_PAIRS is a program, its receiver and its sender.
ftp_servers() {
	local s program
	FTP_PAIRS=()
	((EUID == 0)) || {
		warn "$CELL: skipped vsftpd and pure-ftpd: need root"
		return
	}
	ftp_folder || return
	for s in vsftpd pure-ftpd; do
		program=$(ftp_find $s) || {
			warn "$CELL: skipped $s: no $s, which is in the package $s" \
			    "(unpacked in $BUILD/ftpd it need not be installed)"
			continue
		}
		"ftp_up_$s" "$program" "$(ftp_free_port)" || continue
		ftp_receivers $s
		ftp_version_$s "$program"
	done
}

ftp_receivers() {	# SERVER
	if command -v tnftp >/dev/null; then
		FTP_PAIRS+=("ftp-$1 ftp $1")
	else
		warn "$CELL: skipped ftp from $1: no tnftp, which is in the package tnftp"
	fi
	if ! command -v lftp >/dev/null; then
		warn "$CELL: skipped lftp from $1: no lftp, which is in the package lftp"
		return
	fi
	FTP_PAIRS+=("lftp-$1 lftp $1")
	[ "$1" != vsftpd ] || [ ! -s "$LAB/ftp.cert" ] ||
	    FTP_PAIRS+=("lftp-ssl-$1 lftp-ssl $1")
}

# vsftpd writes its version to descriptor 0, where its client would be.
ftp_version_vsftpd() {
	ftp_versions vsftpd "$("$1" -v 0>&1 2>&1 | sed -n 's/.*version //p')"
}

ftp_version_pure-ftpd() {
	ftp_versions pure-ftpd "$("$1" --help 2>&1 |
	    sed -n '1s/^[^ ]* *v*\([0-9.]*\).*/\1/p')"
}

ftp_versions() {	# SERVER VERSION
	local pair program tool server
	for pair in "${FTP_PAIRS[@]}"; do
		read -r program tool server <<<"$pair"
		[ "$server" = "$1" ] || continue
		VERSION[$program]="$1 $2, $(ftp_client_version "${tool%-ssl}")"
	done
}

ftp_client_version() {
	case $1 in
	lftp) lftp --version | sed -n '1s/.*Version \([^ ]*\).*/lftp \1/p' ;;
	ftp) grep -aoE '20[0-9]{6}' "$(command -v tnftp)" |
	    sed -n '1s/^/tnftp /p' ;;	# its output lacks the name
	esac
}

### Verb

# ftp_command TOOL SERVER BYTES FILE [SCP-OPTION...]: sets COMMAND, which fetches
# into FILE, and FROM, the pid of the sender
ftp_command() {
	local url="ftp://127.0.0.1:${FTP_PORT[$2]:-}/$3"
	FROM=${FTP_PID[$2]:-}
	COMMAND=(env "HOME=$LAB/home")
	case $1 in
	ftp) COMMAND+=(tnftp -V -o "$4" "$url") ;;
	lftp) COMMAND+=(lftp -c "$FTP_LFTP get $url -o $4") ;;
	lftp-ssl) COMMAND+=(lftp -c "$FTP_LFTP $FTP_LFTP_SSL get $url -o $4") ;;
	scp)
		use "$2"
		FROM=$(pid_of "$2")
		COMMAND=("${SCP[@]}" "${@:5}" "$2:$(file_of "$3")" "$4") ;;
	esac
}

ftp_carried() {
	if [ "$PLACE" = path ]; then
		carried
	else
		sed -n 's/^ *lo: *\([0-9]*\).*/\1/p' /proc/net/dev
	fi
}

# The content of /dev/null cannot be checked. So loopback, or the path, must have
# carried the bytes meanwhile, and once for each job the same command must write a file.
v_ftp() {	# TOOL SERVER BYTES [SCP-OPTION...]
	local COMMAND FROM n result
	ftp_command "$1" "$2" "$3" /dev/null "${@:4}"
	n=$(ftp_carried)
	result=$(metered -f "$FROM" "${COMMAND[@]}")
	n=$(($(ftp_carried) - n))
	if [ "$n" -lt "$3" ] || ! ftp_proved "$@"; then
		result="${result% *} 254"
	fi
	echo "$result"
}

ftp_proved() {	# TOOL SERVER BYTES [SCP-OPTION...]
	local COMMAND FROM proved="$LAB/proved.$1.$2.$3.$#" got=$DATA/got
	[ ! -e "$proved" ] || return 0
	rm -f "$got"
	ftp_command "$1" "$2" "$3" "$got" "${@:4}"
	"${COMMAND[@]}" </dev/null >/dev/null 2>>"$LAB/err"
	if cmp -s "$got" "$(file_of "$3")"; then : >"$proved"; fi
	rm -f "$got"
	[ -e "$proved" ]
}

### Cell

# The sizes up to $BYTES, and $BYTES unless it is close to the largest of them.
ftp_sizes() {
	local n
	for n in $FTP_SIZES; do
		[ -n "${QUICK:-}" ] || [ $((n * 10)) -ge $((BYTES * 9)) ] || echo "$n"
	done
	echo "$BYTES"
}

ftp_jobs() {	# BYTES
	local pair program tool server mode
	mode=$(awk "BEGIN { printf \"%.1f MB\", $1 / 1e6 }")
	for pair in "${FTP_PAIRS[@]}"; do
		read -r program tool server <<<"$pair"
		job "$program" "$mode" get "$1" - - v_ftp "$tool" "$server" "$1"
	done
	for program in $BUILDS; do
		job "$program" "$mode" get "$1" - - v_ftp scp "$program" "$1"
	done
	job hayate-clear "$mode" get "$1" - - v_ftp scp hayate "$1" \
	    "${FTP_CLEAR[@]}"
}

cell_ftp() {
	local n
	at_loop || return
	ftp_servers
	VERSION[hayate-clear]="${VERSION[hayate]} with $(negotiated hayate \
	    "${FTP_CLEAR[@]}")"
	for n in $(ftp_sizes); do
		ftp_jobs "$n"
	done
	sitting "$RUNS"
	ftp_down
}
