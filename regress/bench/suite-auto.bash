# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# auto: is "CipherThreads auto" ever slower than no threads?
#
# Only our programs copy: "hayate" with CipherThreads auto, "off" with
# CipherThreads off at both ends. They copy over loopback and over a path, with
# all cores free and with one busy, and with the processor's instructions for AES
# and SHA and without ("no-aes"). On two cores each end needs one, so threads
# cannot win: the suite shows whether they lose. In "no-aes near" only the client
# lacks the instructions, and the server leaves it a part of the second core.

CELLS+=' auto'
about_auto='CipherThreads auto against off: auto may not be slower'

AUTO_CIPHERS=${AUTO_CIPHERS:-"aes128-gcm@openssh.com
    chacha20-poly1305@openssh.com aes128-ctr"}
AUTO_PATH='8 1gbit'

# The builds of this cell: hayate under two names
auto_builds() {
	PEERS+=${PEERS:+ }off=$BUILD/hayate
	BUILDS='hayate off'
	VERSION[off]=${VERSION[hayate]}
	SSHD_SAYS[off]='CipherThreads off'
	CLIENT_SAYS[off]='CipherThreads off'
}

auto_jobs() {	# BYTES
	local p d
	JOBS=()
	for p in $BUILDS; do
		for d in get put; do
			job "$p" scp $d "$1" \
			    "$(target_for "$p" 'rate>=0.97*off~')" \
			    "v_login $p $p" v_scp "$p" "$p" "$1" $d
		done
	done
}

auto_sitting() {	# BYTES WITHOUT
	local cipher load busy place="$COND_PLACE${2:+ $2}"
	for cipher in ${CIPHER:-$AUTO_CIPHERS}; do
		[[ $2 != *near || $cipher = aes* ]] || continue
		at_cipher "$cipher" || continue
		COND_PLACE=$place
		for load in - '1 core'; do
			COND_LOAD=$load busy=
			if [ "$load" != - ]; then
				setpriv --pdeathsig TERM sh -c 'while :; do :; done' &
				busy=$!
			fi
			auto_jobs "$1"
			sitting "$RUNS"
			[ -z "$busy" ] || { kill $busy; wait $busy; } 2>/dev/null
		done
	done
}

# auto_at WITHOUT BYTES PLACE...: WITHOUT applies to the servers, or to the client
auto_at() {
	[ "$1" != no-aes ] || local -x OPENSSL_ia32cap=$WITHOUT_AES
	"${@:3}" || return
	[ "$1" != 'no-aes near' ] || local -x OPENSSL_ia32cap=$WITHOUT_AES
	auto_sitting "$2" "$1"
}

cell_auto() {
	local without BUILDS=$BUILDS PEERS=$PEERS
	auto_builds
	for without in '' no-aes; do
		auto_at "$without" $((BYTES / 2)) at_loop
		# shellcheck disable=SC2086
		auto_at "$without" $((BYTES / 4)) at_path $AUTO_PATH
	done
	auto_at 'no-aes near' $((BYTES / 2)) at_loop
	unset 'SSHD_SAYS[off]' 'CLIENT_SAYS[off]'
	lab_leave
}
