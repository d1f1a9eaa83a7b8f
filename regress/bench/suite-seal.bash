# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# seal: what does a cipher cost where nothing else does, and what is saved by
# leaving data in clear?
#
# One processor seals and opens packets of 32 and 255 KiB in memory, through
# upstream's packet layer (seal-speed.c). A row's PROGRAM is the cipher with its
# MAC, MB/s are bytes per second of CPU time. COND_PLACE says what of the
# processor libcrypto may use: "processor" all, "no-aes" neither instructions
# for AES, carry-less multiplication nor SHA (OPENSSL_ia32cap), as on hosts that
# have none. UMAC, and Poly1305 as OpenSSH has it, use none of them anyway.

# threads: the same by the clock on the wall, with what is sealed written to
# /dev/null: "off" is upstream's serial code, "one" and "two" are threads of the
# pool (cipher/pool.h), beside the one that gives them work and does a part of it:
# "one" needs two cores.

CELLS+=' seal threads'
about_threads='sealing and opening alone, with one thread and with two'
about_seal='sealing and opening packets alone, each cipher and the clear modes'

SEAL_MODES=${SEAL_MODES:-"$GMAC none+umac-64-etm@openssh.com
    none+umac-128-etm@openssh.com none+hmac-sha2-256-etm@openssh.com
    aes128-gcm@openssh.com aes256-gcm@openssh.com
    aes128-ctr+umac-64-etm@openssh.com aes256-ctr+umac-128-etm@openssh.com
    aes128-ctr+hmac-sha2-256-etm@openssh.com
    aes256-ctr+hmac-sha2-256-etm@openssh.com chacha20-poly1305@openssh.com"}
THREADS_MODES=${THREADS_MODES:-"aes128-ctr+hmac-sha2-256-etm@openssh.com
    aes256-ctr+umac-128-etm@openssh.com aes128-gcm@openssh.com
    chacha20-poly1305@openssh.com"}
SEAL_PACKETS='32768 261120'
SEAL_SECONDS=${SEAL_SECONDS:-0.5}

v_seal() {	# CAPABILITIES seal|open MODE PACKET [-t THREADS]
	local bytes seconds mode=()
	read -ra mode <<<"${3/+/ }"
	if read -r bytes seconds < <(env ${1:+"OPENSSL_ia32cap=$1"} \
	    "$BUILD/hayate/seal-speed" "${@:5}" "$2" "${mode[@]}" "$4" "$SEAL_SECONDS" \
	    2>>"$LAB/err"); then
		echo "$seconds $seconds - - - 0 $bytes"
	else
		failed
	fi
}

seal_jobs() {	# CAPABILITIES PACKET
	local m half name
	for half in seal open; do
		for m in $SEAL_MODES; do
			name=${m//@openssh.com/}
			name=${name/@hayate.invalid/}
			VERSION[$name]=${VERSION[hayate]}
			job "$name" "$half $(($2 / 1024))K" - 0 - - \
			    v_seal "$1" $half "$m" "$2"
		done
	done
}

threads_jobs() {	# CAPABILITIES PACKET
	local m half mode
	for half in seal open; do
		for m in $THREADS_MODES; do
			mode="$half $(($2 / 1024))K ${m//@openssh.com/}"
			set -- "$1" "$2" v_seal "$1" $half "$m" "$2" -t
			job off "$mode" - 0 - - "${@:3}" off
			job one "$mode" - 0 'rate>=1.8*off' - "${@:3}" 1
			job two "$mode" - 0 - - "${@:3}" 2
		done
	done
}

cell_seal() { seal_places seal_jobs; }

cell_threads() {
	local p
	for p in off one two; do VERSION[$p]=${VERSION[hayate]}; done
	seal_places threads_jobs
}

seal_places() {	# JOBS
	local place packet
	declare -gA STRANGE=()
	make -s -C "$BUILD/hayate" seal-speed >&2 || {
		warn "$CELL: skipped: seal-speed was not made"
		return 1
	}
	for place in processor no-aes; do
		COND_PLACE=$place COND_CC=- COND_RTT=- COND_RATE=- COND_LOSS=-
		COND_TCP=- COND_CIPHER=- COND_WINDOW=- COND_STREAMS=1
		COND_LOAD=- COND_CRYPTO=''
		JOBS=()
		for packet in $SEAL_PACKETS; do
			case $place in
			processor) $1 '' "$packet" ;;
			no-aes) $1 "$WITHOUT_AES" "$packet" ;;
			esac
		done
		sitting "$RUNS"
	done
}
