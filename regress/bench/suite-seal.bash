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

CELLS+=' seal'
about_seal='sealing and opening packets alone, each cipher and the clear modes'

SEAL_MODES=${SEAL_MODES:-"$GMAC none+umac-64-etm@openssh.com
    none+umac-128-etm@openssh.com none+hmac-sha2-256-etm@openssh.com
    aes128-gcm@openssh.com aes256-gcm@openssh.com
    aes128-ctr+umac-64-etm@openssh.com aes256-ctr+umac-128-etm@openssh.com
    aes128-ctr+hmac-sha2-256-etm@openssh.com
    aes256-ctr+hmac-sha2-256-etm@openssh.com chacha20-poly1305@openssh.com"}
SEAL_PACKETS='32768 261120'
SEAL_SECONDS=${SEAL_SECONDS:-0.5}

v_seal() {	# CAPABILITIES seal|open MODE PACKET
	local bytes seconds mode=()
	read -ra mode <<<"${3/+/ }"
	if read -r bytes seconds < <(env ${1:+"OPENSSL_ia32cap=$1"} \
	    "$BUILD/hayate/seal-speed" "$2" "${mode[@]}" "$4" "$SEAL_SECONDS" \
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

cell_seal() {
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
			processor) seal_jobs '' "$packet" ;;
			no-aes) seal_jobs "$WITHOUT_AES" "$packet" ;;
			esac
		done
		sitting "$RUNS"
	done
}
