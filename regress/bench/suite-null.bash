# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# null: what does the way of the bytes cost, where neither a path, nor a disk,
# nor the pages of a new file do?
#
# A file in memory is copied over loopback to /dev/null, by scp and by ssh with
# cat. Speed and CPU time are those of the whole processes, with login. Besides
# Hayate at both ends there are rows of Hayate at one end, and of data in clear,
# which is compared with stock's fastest cipher.

CELLS+=' null'
about_null='a file in memory to /dev/null over loopback, one end or both'

NULL_CIPHERS="$FASTEST chacha20-poly1305@openssh.com"

# The content of /dev/null cannot be checked, but loopback must have carried it.
v_null() {	# CLIENT SERVER BYTES get|put scp|cat [OPTION...]
	local n result file command
	file=$(file_of "$3")
	use "$1"
	case $5-$4 in
	scp-get) command=("${SCP[@]}" "${@:6}" "$2:$file" /dev/null) ;;
	scp-put) command=("${SCP[@]}" "${@:6}" "$file" "$2:/dev/null") ;;
	cat-get) command=("${SSH[@]}" "${@:6}" "$2" "cat $file") ;;
	cat-put) command=(-i "$file" "${SSH[@]}" "${@:6}" "$2" 'cat >/dev/null') ;;
	esac
	n=$(ftp_carried)
	result=$(metered -f "$(pid_of "$2")" "${command[@]}")
	[ $(($(ftp_carried) - n)) -ge "$3" ] || result="${result% *} 254"
	echo "$result"
}

# null_pair PROGRAM CLIENT SERVER TARGET [OPTION...]: scp both ways
null_pair() {
	local d
	for d in get put; do
		job "$1" scp $d "$BYTES" "$4" - v_null "$2" "$3" "$BYTES" $d scp \
		    "${@:5}"
	done
}

null_cat() {	# PROGRAM BUILD TARGET [OPTION...]
	local d
	for d in get put; do
		job "$1" 'ssh cat' $d "$BYTES" "$3" - v_null "$2" "$2" "$BYTES" $d \
		    cat "${@:4}"
	done
}

null_jobs() {	# CIPHER
	local p t factor=1.6
	[ "$1" != "$FASTEST" ] || factor=1.7
	for p in $BUILDS; do
		t=$(target_for "$p" "rate>=$factor*stock,cpu<=0.6*stock")
		null_pair "$p" "$p" "$p" "$t"
		t=$(target_for "$p" 'rate>=1.5*stock')
		null_cat "$p" "$p" "$t"
	done
	null_pair hayate-server stock hayate 'rate>=1.25*stock'
	null_pair hayate-client hayate stock 'rate>=1.1*stock'
	[ "$1" = "$FASTEST" ] || return 0
	null_pair hayate-clear hayate hayate 'rate>=2*stock' "${FTP_CLEAR[@]}"
	null_cat hayate-clear hayate - "${FTP_CLEAR[@]}"
}

cell_null() {
	local cipher p
	at_loop || return
	for p in server client clear; do
		VERSION[hayate-$p]=${VERSION[hayate]}
	done
	for cipher in ${CIPHER:-$NULL_CIPHERS}; do
		at_cipher "$cipher" || continue
		null_jobs "$cipher"
		sitting "$RUNS"
	done
}
