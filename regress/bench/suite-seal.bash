# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# seal: what does a cipher alone cost, and how much does data in clear save?
#
# One processor seals and opens packets of 32 and 255 KiB in memory, through
# upstream's packet layer (seal-speed.c). A row's PROGRAM is the cipher with its
# MAC. MB/s are bytes per second of CPU time. COND_PLACE says what libcrypto may
# use of the processor: in "processor" everything, in "no-aes" no instructions for
# AES, carry-less multiplication and SHA (OPENSSL_ia32cap), as on hosts that lack
# them. UMAC uses none of them.
#
# threads: the same, in elapsed time. Sealed data is written to /dev/null, and
# data to open is read from a file in memory. "off" is upstream's serial code.
# "N-cores" is the connection's own thread, which hands out packets and does a
# part of them, and N - 1 threads of the pool (cipher/pool.h). In "1-core" it does
# all of them. model.py fits these figures and predicts more cores. "apart" is two
# processes with serial code at once: the most that two cores can bring where they
# share caches and memory.

CELLS+=' seal threads'
about_threads='sealing and opening alone, on one core, on two and on more'
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

# seal_speed CAPABILITIES WORD...: sets BYTES_, SECONDS_, CPU_ and CRYPTO_
seal_speed() {
	read -r BYTES_ SECONDS_ CPU_ CRYPTO_ < <(env \
	    ${1:+"OPENSSL_ia32cap=$1"} "${@:2}" "$SEAL_SECONDS" 2>>"$LAB/err")
}

v_seal() {	# CAPABILITIES seal|open MODE PACKET
	local BYTES_ SECONDS_ CPU_ CRYPTO_ mode=()
	read -ra mode <<<"${3/+/ }"
	if seal_speed "$1" "$BUILD/hayate/seal-speed" "$2" "${mode[@]}" "$4"; then
		echo "$SECONDS_ $SECONDS_ - - - 0 $BYTES_"
	else
		failed
	fi
}

v_threads() {	# CAPABILITIES seal|open MODE PACKET THREADS|off
	local BYTES_ SECONDS_ CPU_ CRYPTO_ mode=()
	read -ra mode <<<"${3/+/ }"
	if seal_speed "$1" "$BUILD/hayate/seal-speed" -t "$5" "$2" "${mode[@]}" \
	    "$4"; then
		echo "crypto_s=$CRYPTO_" >"$LAB/procs"
		echo "$SECONDS_ $CPU_ - - - 0 $BYTES_"
	else
		failed
	fi
}

v_apart() {	# CAPABILITIES seal|open MODE PACKET
	local mode=() out
	read -ra mode <<<"${3/+/ }"
	out=$(for _ in 1 2; do
		env ${1:+"OPENSSL_ia32cap=$1"} "$BUILD/hayate/seal-speed" -t off \
		    "$2" "${mode[@]}" "$4" "$SEAL_SECONDS" 2>>"$LAB/err" &
	done; wait) && awk '
		{ bytes += $1; rate += $1 / $2; cpu += $3 }
		END { if (NR != 2) exit 1
		      printf "%.6f %.6f - - - 0 %.0f\n", bytes / rate, cpu, bytes }' \
	    <<<"$out" || failed
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
	local m half mode n
	for half in seal open; do
		for m in $THREADS_MODES; do
			mode="$half $(($2 / 1024))K ${m//@openssh.com/}"
			set -- "$1" "$2" v_threads "$1" $half "$m" "$2"
			job off "$mode" - 0 - - "${@:3}" off
			job 1-core "$mode" - 0 'rate>=0.97*off' - "${@:3}" 0
			job 2-cores "$mode" - 0 'rate>=1.8*off' - "${@:3}" 1
			job apart "$mode" - 0 - - v_apart "${@:4:4}"
			for n in 4 8 16; do
				job $n-cores "$mode" - 0 - - "${@:3}" $((n - 1))
			done
		done
	done
}

cell_seal() { seal_places seal_jobs; }

cell_threads() {
	local p
	for p in off apart 1-core 2-cores 4-cores 8-cores 16-cores; do
		[ "${p%-cores}" -gt "$CORES" ] 2>/dev/null ||
		    VERSION[$p]=${VERSION[hayate]}
	done
	seal_places threads_jobs
}

seal_places() {	# JOBS
	local place packet
	declare -gA OTHER_CIPHER=()
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
