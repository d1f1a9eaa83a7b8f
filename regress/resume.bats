#!/usr/bin/env bats
# Needs: hayate stock unit peers
# A copy that was interrupted goes on, and what is there is verified: the
# decision (transfer/verify/verify.h), then scp --resume, sftp reget and reput, --checksum,
# and the server's check-file-name (sshd/checkfile-hook.h).
#
# scp starts a server in place of ssh (-S), so no test but the last ones needs a
# network.

load helper

MIB=$((1 << 20))

setup() {
	cd "$BATS_TEST_TMPDIR"
	T=$BATS_TEST_TMPDIR
}

teardown() {
	! mountpoint -q "$T/full" || umount -l "$T/full"
	foreign_down
	sshd_down
}

### The decision

# check_verify FILE ANSWER: checks the answer of verify-replay for one file
check_verify() {
	local asan
	run -0 run_unit verify-replay <<<"$1"
	[ "$output" = "$2" ]
	asan=$(FLAVOUR=asan run_unit verify-replay <<<"$1")
	[ "$asan" = "$2" ]
}

# check_decision FILE ANSWER: checks that the comparison of an upload begins so, after
# the STAT of its target
check_decision() {
	run -0 run_unit verify-replay <<<"put=1 resume=1 cuts=1 $1"
	[[ $output = "target $2 "* ]]
	[ "$(FLAVOUR=asan run_unit verify-replay <<<"put=1 resume=1 cuts=1 $1")" = "$output" ]
}

@test "an equal prefix is kept, to the byte, and compared in steps of 64 MiB" {
	check_decision 'hashes=1 source=100 target=40' 'hash=0+40 copy=40'
	check_decision 'hashes=1 source=9M target=8M' \
	    "hash=0+8388608 copy=8388608"
	check_decision 'hashes=1 source=200M target=100M' \
	    "hash=0+67108864 hash=67108864+37748736 copy=104857600"
	check_decision 'hashes=1 source=100 target=100' 'hash=0+100 complete'
	check_decision 'hashes=1 source=100 target=300' \
	    'hash=0+100 cut=100 target hash=0+100 complete'
}

@test "the copy continues at the first block that differs" {
	check_decision 'hashes=1 source=200M target=100M differs=0' \
	    'hash=0+67108864 copy=0'
	check_decision 'hashes=1 source=200M target=100M differs=8388607' \
	    'hash=0+67108864 copy=0'
	check_decision 'hashes=1 source=200M target=100M differs=8388608' \
	    'hash=0+67108864 cut=8388608 target hash=0+8388608 copy=8388608'
	check_decision 'hashes=1 source=200M target=100M differs=67108864 cut=3' \
	    'hash=0+67108864 hash=67108864+37748736 cut=67108864 copy=67108864'
	check_decision 'hashes=1 source=90M target=90M differs=94371839' \
	    'hash=0+67108864 hash=67108864+27262976 cut=92274688'
	check_decision 'hashes=1 source=100 target=100 differs=100' \
	    'hash=0+100 complete'
}

@test "an empty file at one end needs no comparison" {
	check_decision 'hashes=1 source=0 target=0' 'complete'
	check_decision 'hashes=1 source=0 target=5' 'copy=0'
	check_decision 'hashes=1 source=5 target=0' 'copy=0'
	check_decision 'source=5 target=0' 'copy=0'
}

@test "a trusted mtime completes a file, but not one of another size" {
	local same_time='preserve=1 stime=50 ttime=50 now=60'
	check_decision "$same_time source=100 target=100" 'complete'
	# where there are hashes, they decide
	check_decision "$same_time hashes=1 source=100 target=100" 'hash=0+100 complete'
	check_decision "$same_time hashes=1 source=100 target=100 differs=0" \
	    'hash=0+100 copy=0'
	check_decision "$same_time hashes=1 source=100 target=99" 'hash=0+99 copy=99'
	check_decision "$same_time source=100 target=101" 'back=0+100 cut=100'
}

@test "without hashes all data that is kept is read back, whatever its length" {
	check_decision 'source=9M target=5M' 'back=0+5242880 copy=5242880'
	check_decision 'source=9M target=5M differs=4194304' \
	    'back=0+5242880 cut=4194304 target back=0+4194304 copy=4194304'
	check_decision 'source=9M target=5M differs=0' 'back=0+5242880 copy=0'
	check_decision 'source=2M target=2M' 'back=0+2097152 complete'
	check_decision 'source=2M target=2M differs=2097151' \
	    'back=0+2097152 cut=2097151'
	check_decision 'source=2M target=3M' 'back=0+2097152 cut=2097152'
	check_decision 'source=2M target=3M differs=7' 'back=0+2097152 cut=7'
}

@test "no bytes are kept beyond the hashes that a server returned" {
	check_decision 'hashes=1 answers=0 source=9M target=5M' \
	    'hash=0+5242880 back=0+5242880 copy=5242880'
	check_decision 'hashes=1 answers=1 source=90M target=80M differs=9' \
	    'hash=0+67108864 copy=0'
	check_decision 'hashes=1 answers=1 source=90M target=80M' \
	    'hash=0+67108864 hash=67108864+16777216 back=67108864+16777216 copy=83886080'
	check_decision 'hashes=1 short=1 source=90M target=80M' \
	    'hash=0+67108864 cut=58720256'
	check_decision 'hashes=1 short=9 source=90M target=80M' \
	    'hash=0+67108864 copy=0'
}

### The requests, and their order

@test "both ends are looked up, and the truncated part of a server's file is compared again" {
	local s="resume=1 cuts=1 hashes=1 source=20M"
	check_verify "put=1 $s" "target copy=0 source end nothing=0"
	check_verify "put=1 $s target=5" "target hash=0+5 copy=5 source end hashes=5"
	check_verify "put=1 $s target=20M" "target hash=0+20971520 complete hashes=20971520"
	check_verify "put=1 $s target=12M differs=11M" \
	    "target hash=0+12582912 cut=8388608 target hash=0+8388608 copy=8388608 source end hashes=8388608"
	check_verify "$s target=12M differs=11M" \
	    "source target hash=0+12582912 cut=8388608 target copy=8388608 source end hashes=8388608"
	check_verify "put=1 $s target=12M differs=11M cut=1" \
	    "target hash=0+12582912 cut=8388608 copy=0 source end hashes=0"
	check_verify "put=1 $s target=12M differs=11M cut=2" \
	    "target hash=0+12582912 cut=8388608 target hash=0+8388608 copy=0 source end hashes=0"
	check_verify "put=1 $s target=30M" \
	    "target hash=0+20971520 cut=20971520 target hash=0+20971520 complete hashes=20971520"
	check_verify "put=1 resume=1 hashes=1 source=9 target=10" "target longer nothing=0"
	check_verify "put=1 resume=1 source=9 target=4" "target back=0+4 copy=4 source end bytes=4"
	check_verify "$s target=0" "source target copy=0 source end nothing=0"
}

@test "the attributes of a listing suffice for a trusted mtime, and for a new copy" {
	local s="resume=1 old=1 hashes=1 preserve=1 source=100"
	check_verify "$s" "target copy=0 source end nothing=0"
	check_verify "$s target=40" "target source hash=0+40 copy=40 source end hashes=40"
	check_verify "$s target=100 stime=50 ttime=50 now=60" \
	    "target source hash=0+100 more=100 complete hashes=100"
	check_verify "$s target=100 stime=50 ttime=50 now=60 hashes=0" \
	    "target complete time=100"
	check_verify "$s target=100 stime=50 ttime=51 now=60" \
	    "target source hash=0+100 more=100 complete hashes=100"
	check_verify "$s target=100 stime=50 ttime=50 now=52" \
	    "target source hash=0+100 more=100 complete hashes=100"
	check_verify "$s target=100 stime=50 ttime=50 tnsec=4 now=60" \
	    "target source hash=0+100 more=100 complete hashes=100"
	check_verify "$s target=100 stime=50 ttime=50 now=60 checksum=1" \
	    "target source hash=0+100 more=100 complete hashes=100"
	check_verify "$s target=90 stime=50 ttime=50 now=60" \
	    "target source hash=0+90 copy=90 source end hashes=90"
	# A size may be too small, and what has set a time has read to the end.
	check_verify "$s target=100 longer=1" \
	    "target source hash=0+100 more=100 copy=100 source end hashes=100"
	check_verify "$s target=100 stime=50 ttime=50 now=60 hashes=0 longer=1" \
	    "target complete time=100"
}

@test "a source that changed is reported, but not if it changed before its copy started" {
	local s="checksum=1 strict=1 old=1 hashes=1 source=100"
	check_verify "$s" "copy=0 source target hash=0+100 end hashes=100"
	check_verify "$s flip=1" "copy=0 source target hash=0+100 differs hashes=0"
	check_verify "$s changed=1" "copy=0 source changed end nothing=0"
	check_verify "$s seen=1" "copy=0 source target hash=0+101 end hashes=101"
	check_verify "$s hashes=0" "copy=0 source target back=0+100 end bytes=100"
	# The rest has to fit what was compared.
	check_verify "resume=1 old=1 hashes=1 source=100 target=50 seen=1" \
	    "target source hash=0+50 copy=50 source changed end hashes=50"
	check_verify "$s resume=1 target=100" "target source hash=0+100 more=100 complete hashes=100"
}

@test "a device is not compared after its copy, which fails only if the user wants that" {
	check_verify 'put=1 resume=1 cuts=1 hashes=1 unsure=1 source=100 device=1' \
	    'target copy=0 source target end nothing=0'
	check_verify 'put=1 checksum=1 hashes=1 source=100 device=1' \
	    'copy=0 source target not_regular nothing=0'
	check_verify 'put=1 resume=1 cuts=1 hashes=1 unsure=1 checksum=1 source=100 device=1' \
	    'target copy=0 source target not_regular nothing=0'
	check_verify 'put=1 resume=1 cuts=1 hashes=1 unsure=1 source=100 flip=1' \
	    'target copy=0 source target hash=0+100 differs hashes=0'
}

@test "the temporary file of a killed copy is not compared twice if it has the full length" {
	local s="put=1 resume=1 cuts=1 hashes=1 source=100"
	check_verify "$s target=60 taken=60" "target copy=60 source end hashes=60"
	check_verify "$s target=61 taken=60" "target hash=0+61 copy=61 source end hashes=61"
	check_verify "$s taken=60" "target copy=0 source end hashes=0"
}

### The server's hashes

# request_hashes ALGORITHMS OFFSET LENGTH BLOCK PATH [OPTION...]: requests hashes of our
# sftp-server
request_hashes() {
	run -0 timeout 20 "$REGRESS/peers/check-file" "${@:1:5}" \
	    "$(bin sftp-server)" "${@:6}"
}

# hash_range FILE OFFSET LENGTH: prints the SHA-256 of the range
hash_range() { tail -c +$(($2 + 1)) "$1" | head -c "$3" | sha256sum | cut -d' ' -f1; }

@test "check-file-name returns the SHA-256 of each block, the last one shorter" {
	head -c 10000 /dev/urandom >f
	request_hashes sha256 0 0 4096 f
	[ "${lines[0]}" = "check-file-name=1" ]
	[ "${lines[1]}" = "sha256 $(hash_range f 0 4096) $(hash_range f 4096 4096) $(hash_range f 8192 4096)" ]
	request_hashes md5,sha256,sha1 100 4097 4096 f
	[ "${lines[1]}" = "sha256 $(hash_range f 100 4096) $(hash_range f 4196 1)" ]
	request_hashes sha256 100 300 0 f
	[ "${lines[1]}" = "sha256 $(hash_range f 100 300)" ]
	request_hashes sha256 9999 500 256 f
	[ "${lines[1]}" = "sha256 $(hash_range f 9999 1)" ]
	request_hashes sha256 10000 5 256 f
	[ "${lines[1]}" = sha256 ]
	request_hashes sha256 18446744073709551615 18446744073709551615 256 f
	[ "${lines[1]}" = sha256 ]
	: >empty
	request_hashes sha256 0 0 0 empty
	[ "${lines[1]}" = "sha256 $(sha256sum </dev/null | cut -d' ' -f1)" ]
}

@test "check-file-name does at most 64 MiB and 4096 blocks in one request" {
	truncate -s $((64 * MIB + 1)) f
	request_hashes sha256 0 0 0 f
	[[ ${lines[1]} = "status 4 more than 64 MiB"* ]]
	request_hashes sha256 1 0 0 f
	[[ ${lines[1]} = sha256\ * ]]
	request_hashes sha256 0 $((4097 * 256)) 256 f
	[[ ${lines[1]} = "status 4 more than 4096 blocks"* ]]
	request_hashes sha256 0 $((4096 * 256)) 256 f
	[ "$(wc -w <<<"${lines[1]}")" = 4097 ]
	request_hashes sha256 0 0 255 f
	[[ ${lines[1]} = "status 5 "* ]]
	request_hashes md5,sha1 0 9 0 f
	[[ ${lines[1]} = "status 4 only sha256 is supported" ]]
}

@test "check-file-name reads regular files only, and does not wait for a fifo" {
	mkdir d
	mkfifo p
	for f in d p /dev/zero; do
		request_hashes sha256 0 0 0 $f
		[ "${lines[1]}" = "status 4 not a regular file" ]
	done
	request_hashes sha256 0 0 0 nothing
	[[ ${lines[1]} = "status 2 "* ]]
	echo x >f
	chmod 0 f
	((EUID)) || chown 1 f
	run -0 setpriv --bounding-set -dac_override,-dac_read_search \
	    "$REGRESS/peers/check-file" sha256 0 0 0 f "$(bin sftp-server)"
	[[ ${lines[1]} = "status 3 "* ]]
}

@test "lists of requests and the read-only mode hold for check-file-name" {
	echo x >f
	run -0 "$(bin sftp-server)" -Q requests
	grep -qx check-file-name <<<"$output"
	request_hashes sha256 0 0 0 f -P check-file-name
	[[ ${lines[0]} = none && ${lines[1]} = "status 3 "* ]]
	request_hashes sha256 0 0 0 f -p open,read
	[[ ${lines[0]} = none && ${lines[1]} = "status 3 "* ]]
	request_hashes sha256 0 0 0 f -P remove,read
	[[ ${lines[1]} = "status 3 reading is denied" ]]
	request_hashes sha256 0 0 0 f -P open
	[[ ${lines[1]} = "status 3 reading is denied" ]]
	request_hashes sha256 0 0 0 f -p check-file-name -R
	[ "${lines[1]}" = "sha256 $(hash_range f 0 9)" ]
}

@test "at -l INFO the server names what it hashes" {
	head -c 10000 /dev/urandom >f
	list_hash_messages() { tr -d '\r' <<<"$output" | grep -o 'hash ".*'; }
	request_hashes sha256 100 4097 4096 f -e -l INFO
	[ "$(list_hash_messages)" = 'hash "f" from 100 bytes 4097' ]
	request_hashes sha256 100 0 0 f -e -l INFO
	[ "$(list_hash_messages)" = 'hash "f" from 100 bytes 9900' ]
	request_hashes sha256 0 0 0 none -e -l INFO
	[ "$(list_hash_messages)" = 'hash "none" refused: No such file or directory' ]
	request_hashes sha256 0 0 0 f -e -l ERROR
	run ! list_hash_messages
}

# print_hashes FILE: prints what blocksum-print has to print for the same input
print_hashes() {
	python3 -c 'import hashlib, sys
data = open(sys.argv[1], "rb").read()
for line in sys.stdin:
    off, n, block, _ = map(int, line.split())
    d = data[off:off + n]
    parts = range(0, len(d), block) if block else [0]
    print(*(hashlib.sha256(d[i:i + (block or n)]).hexdigest() for i in parts))' "$1"
}

# find_libcrypto: sets LIBCRYPTO to the name with which ssh is linked
find_libcrypto() {
	LIBCRYPTO=$(readelf -d "$(bin ssh)" | sed -n 's/.*\[\(libcrypto[^]]*\)\]/\1/p')
	[ -n "$LIBCRYPTO" ]
}

# bad_libcrypto: makes a library of that name in bad/. The function that $BAD names fails.
bad_libcrypto() {
	find_libcrypto
	mkdir bad
	cc -shared -fPIC -o "bad/$LIBCRYPTO" -xc - <<-'EOT'
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>

	static int ok(const char *f) { return strcmp(f, getenv("BAD")) != 0; }
	int OPENSSL_init_crypto(void) { return ok("init"); }
	unsigned long ERR_get_error(void) { return 7; }
	void ERR_error_string_n(unsigned long e, char *to, size_t n) { snprintf(to, n, "bad %lu", e); }
	void *EVP_MD_CTX_new(void) { return ok("new") ? "" : NULL; }
	void EVP_MD_CTX_free(void *x) { }
	void *EVP_sha256(void) { return NULL; }
	int EVP_DigestInit_ex(void *x, void *md, void *e) { return ok("begin"); }
	int EVP_DigestUpdate(void *x, void *p, size_t n) { return ok("add"); }
	int EVP_DigestFinal_ex(void *x, void *p, void *n) { return ok("end"); }
	EOT
}

@test "hashes of all lengths around a block of SHA-256 and of holes are right, with and without libcrypto" {
	local n
	make -s -C "$BUILD/hayate" blocksum-print >&2
	truncate -s $((4 * MIB + 100)) f
	head -c $((MIB + 1000)) /dev/urandom | dd of=f conv=notrunc status=none
	head -c 5000 /dev/urandom | dd of=f bs=$MIB seek=3 conv=notrunc status=none
	# The first hashes are computed before libcrypto is loaded.
	for n in 600000 0 1 55 56 63 64 65 $((MIB - 1)) $MIB $((MIB + 1)) $((9 * MIB)); do
		echo "0 $n 4096 4095"
		echo "0 $n 0 $((4 * MIB))"
		echo "77 $n 0 4095"
		echo "$((3 * MIB - 3)) $n 300 $MIB"
		echo "5 $n $((MIB / 2)) 65536"
		echo "$((9 * MIB)) $n 4096 $MIB"
	done >cases
	print_hashes f <cases >expected
	[ "$(wc -l <expected)" = 72 ]
	grep -qx e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 expected
	"$BUILD/hayate/blocksum-print" f <cases >got 2>log
	cmp expected got
	[ ! -s log ]
	bad_libcrypto
	: >"bad/$LIBCRYPTO"
	LD_LIBRARY_PATH=bad "$BUILD/hayate/blocksum-print" f <cases >got 2>log
	cmp expected got
	[[ $(cat log) = "hashing takes longer, without libcrypto: "*"$LIBCRYPTO"* ]]
}

# run_flood REQUESTS REPLIES SERVER...: prints the CPU seconds of SERVER
run_flood() { timeout 60 "$REGRESS/peers/hash-flood" "$1" "$2" "$T/f" "${@:3}"; }

@test "hashing ends when the client hangs up, within a file and before the next" {
	local whole
	truncate -s 64M f
	whole=$(run_flood 1 1 "$(bin sftp-server)")
	check_true "$(run_flood 1 0 "$(bin sftp-server)") < 0.6 * $whole"
	check_true "$(run_flood 200 1 "$(bin sftp-server)") < 4 * $whole"
}

has_server_ended() { fails grep -qx "$T/at" <<<"$(readlink /proc/[0-9]*/cwd)"; }

@test "the server ends with a client that is killed, also on a shared connection" {
	local server how ctl=$T/ctl
	mkdir at
	truncate -s 64M f
	for server in "$(bin sftp-server)" internal-sftp; do
		sshd_up hayate "Subsystem sftp $server -d $T/at"
		client -M -N -f -S "$ctl" hayate
		for how in none "$ctl"; do
			run_flood 200 1 "$(bin ssh)" -F "$BATS_FILE_TMPDIR/ssh_config" \
			    -S "$how" -s hayate sftp
			poll 5 has_server_ended
			[ "$how" = none ] || client -S "$ctl" true
		done
		client -q -S "$ctl" -O exit hayate
		sshd_down
	done
}

### Long options

# print_usage PROGRAM: prints how it names them
print_usage() {
	local list=
	[ "$1" != scp ] || list=' [--files-from LIST] [--from0]'
	echo "[--checksum]$list [--hosts LIST] [--journal FILE] [--report FILE] [--resume] [--retry TIME]"
}

@test "-f and -R of sftp, which mean other things in scp, go with --retry" {
	run -255 "$(bin sftp)" -f -R 64 --retry 1m -S /bin/false h
	[[ $output = *"Connection closed"* ]]
}

@test "long options are accepted where options are allowed, and nowhere else" {
	local program
	for program in scp sftp; do
		run -1 "$(bin $program)" --nonsense a h:b
		[[ $output = *"unknown option --nonsense"* ]]
		[[ $(tr -s ' \n' '  ' <<<"$output") = *"long options: $(print_usage $program) The others are in $program(1)."* ]]
		run ! grep -E '.{81}' <<<"$output"
		run -1 "$(bin $program)" --resum a h:b
		run -1 "$(bin $program)" --resume=yes a h:b
		[ "$output" = "$program: option --resume takes no argument" ]
		run -1 "$(bin $program)" -v -i --nonsense --nonsense2 a h:b
		[[ $output = *"unknown option --nonsense2"* ]]
	done
	printf '#!/bin/sh\nexec "%s"\n' "$(bin sftp-server)" >near
	chmod +x near
	echo x >--resume
	echo y >f
	"$(bin scp)" -q -S ./near -- --resume "h:$T/1"
	"$(bin scp)" -q -S ./near f --resume "h:$T/1" 2>/dev/null || :
	cmp -- --resume 1
}

@test "the usage of scp and sftp names our options, and --help explains them" {
	local program line said
	for program in scp sftp; do
		# as upstream gives them to getopt
		line=$(sed -n 's/^	    "\(12[0-9]*6[^"]*:\)")) != -1) {$/\1/p' \
		    "$BUILD/upstream/$program.c" | tr -d h)
		[ -n "$line" ]
		grep -qF "	\"$line\"" "$TOP/transfer/file/longopt-hook.c"
		for line in "" -Z "-qZ a h:b" -v; do
			# shellcheck disable=SC2086 # words
			run -1 "$(bin $program)" $line
			# one text, and no line is longer than a terminal
			[ "$(grep -c '^usage: ' <<<"$output")" = 1 ]
			said=$(tr -d '\r' <<<"$output" | tr -s ' \n' '  ')
			[[ $line != -Z || $said = *"unknown option -- Z "* ]]
			run ! grep -E '.{81}' <<<"$output"
			grep -E "usage: $program \[-j N\] .* \[--help\] \[-[34].* (source ... target|destination) " <<<"$said"
			[[ $said = *" $(print_usage $program) [--help] ["* ]]
		done
		run -0 --separate-stderr "$(bin $program)" -q --help a
		[ -z "$stderr" ]
		for line in '  -j N ' '  --checksum ' '  --journal FILE ' '  --report FILE ' '  --resume ' '  --retry TIME ' 'usage: '; do
			grep -qe "^$line" <<<"$output"
		done
		run -1 "$(bin $program)" --help=x
	done
	# and where nothing is wrong nothing is said
	run "$(bin scp)" -t "$PWD" </dev/null
	[[ $output != *usage* ]]
	run -0 "$(bin sftp)" -q -D "$(bin sftp-server)" </dev/null
	[[ $output != *usage* ]]
}

@test "unsupported uses of --resume and --checksum are refused, with the reason" {
	local o
	for o in --resume --checksum; do
		run -1 "$(bin scp)" $o -O a h:b
		[[ $output = *"$o needs SFTP"* ]]
		run -1 "$(bin scp)" -3 $o g:a h:b
		[[ $output = *"$o does not work between two remote hosts"* ]]
		run -1 "$(bin scp)" $o a b h:c g:d
		[[ $output = *"two remote hosts"* ]]
		run -1 "$(bin scp)" $o a b
		[[ $output = *"$o does not work between local files"* ]]
	done
}

### Copies

# set_server SERVER...: makes "near", which scp and sftp start in place of ssh
set_server() {
	printf '#!/bin/sh\nexec %s\n' "$*" >"$T/near"
	chmod +x "$T/near"
}

# use_peer OPTION...: makes sftp-peer the server
use_peer() { set_server "$REGRESS/peers/sftp-peer" "$@"; }

# run_scp ARG...: runs our scp with what set_server() made, as a root with few rights
run_scp() {
	timeout 60 setpriv --bounding-set -dac_override,-dac_read_search \
	    "$(bin scp)" -q -S "$T/near" "$@" 3>&-
}

# run_sftp COMMAND...: does the same for sftp
run_sftp() {
	printf '%s\n' "$@" | timeout 60 "$(bin sftp)" -q -S "$T/near" -b - h 3>&-
}

# resume_upload, resume_download FILE TARGET [OPTION...]: resume
resume_upload() { run_scp --resume "${@:3}" "$1" "h:$T/$2"; }
resume_download() { run_scp --resume "${@:3}" "h:$T/$1" "$2"; }

# make_noise FILE BYTES
make_noise() { head -c "$2" /dev/urandom >"$1"; }

# spoil_byte FILE OFFSET: changes a byte
spoil_byte() {
	local c=x
	[ "$(tail -c +$(($2 + 1)) "$1" | head -c 1)" != x ] || c=y
	printf %s "$c" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

@test "internal-sftp hashes in a directory that has neither libcrypto nor its configuration" {
	need_root
	[ "$(stat -c %u:%A /etc)" = 0:drwxr-xr-x ] || skip "/etc is no place for a chroot"
	sshd_up hayate "Subsystem sftp internal-sftp" "ChrootDirectory /etc"
	run -0 "$REGRESS/peers/check-file" sha256 0 0 0 /passwd "$(bin ssh)" \
	    -F "$BATS_FILE_TMPDIR/ssh_config" -s hayate sftp
	[ "${lines[1]}" = "sha256 $(sha256sum </etc/passwd | cut -d' ' -f1)" ]
}

# count_loaded LIBRARY COMMAND...: prints how many processes have loaded it
count_loaded() {
	rm -f loaded.*
	LD_DEBUG=files LD_DEBUG_OUTPUT=$T/loaded "${@:2}" >&2
	{ grep -l "calling init: .*/$1\$" loaded.* || :; } | wc -l
}

@test "scp, sftp and sftp-server load the libcrypto of ssh to hash more than small files" {
	find_libcrypto
	make_noise small 9000
	make_noise f 600000
	mkdir d
	split -b 200000 f d/
	set_server "$(bin sftp-server)"
	[ "$(count_loaded libc.so.6 run_scp f "h:$T/g")" -ge 2 ]
	[ "$(count_loaded "$LIBCRYPTO" run_scp f "h:$T/g")" = 0 ]
	[ "$(count_loaded "$LIBCRYPTO" run_scp --checksum small "h:$T/g")" = 0 ]
	[ "$(count_loaded "$LIBCRYPTO" run_scp --checksum f "h:$T/g")" = 2 ]
	[ "$(count_loaded "$LIBCRYPTO" run_scp --checksum -r d "h:$T/e")" = 2 ]
	[ "$(count_loaded "$LIBCRYPTO" run_sftp "put f $T/h")" = 0 ]
	[ "$(count_loaded "$LIBCRYPTO" run_sftp "reput f $T/h")" = 2 ]
	run -0 readelf -p .note.dlopen "$(bin sftp-server)"
	[[ $output = *"[{\"soname\":[\"$LIBCRYPTO\"],"* ]]
}

@test "a hash that libcrypto fails to compute is refused, and proves no file" {
	make_noise f 600000
	bad_libcrypto
	for BAD in init new begin add end; do
		export BAD
		cp f g
		spoil_byte g 5
		set_server "env LD_LIBRARY_PATH=$T/bad $(bin sftp-server)"
		run -0 "$REGRESS/peers/check-file" sha256 0 0 4096 f ./near
		[ "${lines[1]}" = "status 4 Input/output error" ]
		run -0 resume_upload f g
		cmp f g
		set_server "env -u LD_LIBRARY_PATH $(bin sftp-server)"
		spoil_byte g 5
		LD_LIBRARY_PATH=$T/bad run -0 resume_upload f g
		cmp f g
		[[ $output = *"libcrypto cannot compute SHA-256: bad 7"* ]]
		LD_LIBRARY_PATH=$T/bad run -1 run_scp --checksum f "h:$T/g"
	done
}

@test "a partial file is continued at its end, and its prefix is not sent" {
	local way
	make_noise a $((20 * MIB))
	set_server "$(bin sftp-server)"
	for way in resume_upload resume_download; do
		head -c $((9 * MIB + 5)) a >b
		run -0 $way a b -v
		cmp a b
		[[ $output = *"continues at byte $((9 * MIB + 5)) of $((20 * MIB))"* ]]
		run -0 $way a b -v
		[[ $output = *'b" is complete'* ]]
	done
}

@test "the rest is written at its offset, not to the end, which may have moved" {
	# a killed server may still write what it got before
	make_noise a 300000
	set_server "$(bin sftp-server)" -e -l info
	head -c 100000 a >b
	run -0 resume_upload a b
	cmp a b
	[[ $output = *"/b\" flags WRITE mode"* ]]
}

@test "a source that is longer than its server reports keeps its end in a resumed download" {
	local o
	make_noise a 300000
	for o in hash=true hash=unknown; do
		cp a b
		use_peer more=-90000 limits=261120,261120,1019 $o
		run -0 run_scp --resume "h:$T/a" b
		cmp a b
		head -c 210000 a >b
		run -0 run_scp --resume "h:$T/a" b
		cmp a b
		# its end cannot be read
		use_peer more=-90000 limits=261120,261120,1019 $o unread=1
		[ $o = hash=unknown ] || run -1 run_scp --resume "h:$T/a" b
		cmp a b
		# what is behind its end is cut
		make_noise c 70000
		cat a c >b
		use_peer limits=261120,261120,1019 $o
		run -0 run_scp --resume "h:$T/a" b
		cmp a b
	done
	# of these the server reports a size of 0
	set_server "$(bin sftp-server)"
	: >b
	run -0 run_scp --resume h:/proc/version b
	cmp /proc/version b
}

@test "a resumed file is not truncated before, because another copy may be writing it" {
	local old
	make_noise a 300000
	set_server "$(bin sftp-server)" -e -l debug
	for old in none empty other longer; do
		rm -f b
		case $old in
		empty) : >b ;;
		other) make_noise b 200000 ;;
		longer) make_noise b 400000 ;;
		esac
		run -0 resume_upload a b
		cmp a b
		echo "$old: $(grep -e flags -e size <<<"$output")"
		[[ $output = *"/b\" flags WRITE,CREATE mode"* ]]
		[[ $output != *"size 0"* ]]
	done
}

@test "a compared file is resumed at a server that reports no times" {
	local how
	make_noise a 300000
	set_server "env SWAP_SAYS=timeless $REGRESS/peers/sftp-swap nothing nothing" \
	    "$(bin sftp-server stock)"
	for how in scp sftp; do
		head -c 100000 a >b
		case $how in
		scp) run -0 resume_upload a b -v ;;
		sftp) run -0 run_sftp "reput a $T/b" ;;
		esac
		cmp a b
	done
}

# Between the comparison and the first WRITE somebody else changes what was compared:
# "b" is 100000 bytes of 300000, and the script runs before the server opens it.
@test "a file that was compared and then replaced, extended or removed is sent from the start" {
	local change how
	make_noise a 300000
	while read -r change; do
		for how in scp sftp; do
			rm -rf b c
			head -c 100000 a >b
			touch -d 2001-02-03 b
			echo "$change" >change
			use_peer hash=true cut=well "before=$T/change"
			echo "$how: $change"
			case $how in
			scp) run -0 resume_upload a b -v ;;
			sftp) run -0 run_sftp "reput a $T/b" ;;
			esac
			cmp a b
		done
	done <<-END
	mv b c
	rm b
	: >b
	truncate -s 50000 b
	rm b; head -c 100000 /dev/zero >b
	rm b; ln -s c b; head -c 120000 /dev/zero >c
	head -c 9 a >>b
	END
	# what is no file is not written to as if it had a beginning
	rm -f b
	head -c 100000 a >b
	echo "rm b; mkdir b" >change
	use_peer hash=true cut=well "before=$T/change"
	run -1 resume_upload a b
	# nothing but what was asked for was made
	[ -d b ]
	[ -z "$(ls b)" ]
}

# The same of a file that is got: while it is compared, somebody who may write in the
# directory gives its name to another file, or to a link.
@test "a local file that replaces one being compared gets no mode or time" {
	make_noise a 300000
	echo secret >key
	chmod 600 key
	touch -d 2001-02-03 key
	cp a b
	touch -d 2002-02-03 b
	echo "mv b c; ln -s key b" >change
	use_peer hash=true "during=$T/change"
	run -1 resume_download a b -p
	[[ $output = *'"b" was compared, but cannot be opened'* ]]
	[ "$(stat -c "%a %Y" key)" = "600 $(date -d 2001-02-03 +%s)" ]
	# what stays in its place does
	rm b key
	mv c b
	chmod 200 b
	run -0 resume_download a b -p
	[ "$(stat -c "%a %Y" b)" = "$(stat -c "%a %Y" a)" ]
}

@test "a remote file that replaces the one compared gets no mode or time" {
	local change mode
	make_noise a 300000
	touch -d 2002-02-03 a
	set_server "env SWAP_RUNS=$T/change $REGRESS/peers/sftp-swap" nothing nothing \
	    "$(bin sftp-server)"
	while read -r change; do
		echo "$change"
		rm -f b c key
		echo secret >key
		chmod 600 key
		touch -d 2001-02-03 key
		cp a b
		echo "$change" >change
		run -1 resume_upload a b -p
		[[ $output = *"/b\" has changed since it was compared"* ||
		    $output = *"remote setstat \"$T/b\": No such file or directory"* ]]
		[ "$(stat -c "%a %Y" key)" = "600 $(date -d 2001-02-03 +%s)" ]
		cmp a c
	done <<-END
	mv b c; ln -s key b
	mv b c; ln key b
	mv b c
	mv b c; cp a b; touch -d 2001-02-03 b
	END
	# what stays in its place does, whatever its owner may do with it
	rm -f b
	set_server "$(bin sftp-server stock)"
	for mode in 600 444 222; do
		cp a b
		[ $mode != 222 ] || touch -r a b
		chmod $mode b
		run -0 resume_upload a b -p -v
		[[ $output = *'b" is complete'* ]]
		[ "$(stat -c "%a %Y" b)" = "$(stat -c "%a %Y" a)" ]
		rm -f b
	done
	# a server may open one file at a time
	mkdir d
	for mode in {1..9}; do
		cp a "d/$mode"
	done
	cp -r d e
	use_peer strict=1 hash=true
	run -0 run_scp -rp --resume d/. "h:$T/e"
	[ -z "$output" ]
}

@test "a local file that replaces one being compared is not mistaken for it" {
	make_noise a 300000
	make_noise other 300000
	cat a other >b
	cat other other >d
	touch -r b d
	echo "mv b c; mv d b" >change
	use_peer hash=true "during=$T/change"
	run -0 resume_download a b
	cmp a b
}

@test "a modified prefix is detected, and copied from the first difference" {
	local way at
	make_noise a $((20 * MIB))
	set_server "$(bin sftp-server)"
	for way in resume_upload resume_download; do
		for at in 0 $((8 * MIB - 1)) $((8 * MIB)) $((11 * MIB)); do
			head -c $((12 * MIB)) a >b
			spoil_byte b "$at"
			run -0 $way a b -v
			cmp a b
			[[ $at = 0 || $at = $((8 * MIB - 1)) ||
			    $output = *"continues at byte $((8 * MIB)) of"* ]]
			cp a b
			spoil_byte b "$at"
			run -0 $way a b
			[ -z "$output" ]
			cmp a b
		done
	done
}

# print_head FILE N, print_tail FILE N: print N MiB of it
print_head() { head -c $(($2 * MIB)) "$1"; }
print_tail() { tail -c $(($2 * MIB)) "$1"; }

# try_wrong_targets WHEN TEST...: "a" has an end of zeros, as images of disks do. Run
# the test with "b" as what is there of it, wrong or right, of all lengths
try_wrong_targets() {
	local kind
	{ print_head /dev/urandom 2; print_head /dev/zero 2; } >a
	{ print_head /dev/urandom 2; print_head /dev/zero 2; } >old
	for kind in older newhead longer shorter part one; do
		case $kind in
		older) cat old ;;
		newhead) print_head a 1; print_tail old 3 ;;
		longer) cat old old ;;
		shorter) print_head old 3 ;;
		part) print_head a 3 ;;
		one) cat a ;;
		esac >b
		[ $kind != one ] || spoil_byte b $((2 * MIB - 1))
		touch -d "$1" b
		echo "$kind, from $1: ${*:2}"
		"${@:2}"
		cmp a b
	done
}

@test "without hashes no wrong file is mistaken for a complete one, or for a good prefix" {
	local way
	set_server "$(bin sftp-server stock)"
	for way in resume_upload resume_download; do
		try_wrong_targets '+1 day' run -0 $way a b
		try_wrong_targets now run -0 $way a b -p
		run -0 $way a b
		[ -z "$output" ]
	done
}

@test "data that is read back obeys the rate of -l" {
	local begun
	make_noise a $((3 * MIB))
	cp a b
	set_server "$(bin sftp-server stock)"
	begun=${EPOCHREALTIME/./}
	run -0 resume_upload a b -l 24000
	((${EPOCHREALTIME/./} - begun > 700000))
}

@test "with -p an mtime is trusted, and only one that a copy has set" {
	local way
	make_noise a 300000
	touch -d 2001-01-01 a
	set_server "$(bin sftp-server stock)"
	for way in resume_upload resume_download; do
		cp a b
		spoil_byte b 9
		touch -d 2001-01-01 b
		run -0 $way a b -p	# which is what it means
		[[ $(cmp a b || :) = *differ* ]]
		run -0 $way a b
		cmp a b
	done
	spoil_byte b 9
	touch -d '2001-01-01 00:00:00.004' b	# in this second by chance
	run -0 resume_download a b -p
	cmp a b
}

@test "stock's server has no hashes, so the file is read back, with all requests in flight" {
	local way
	make_noise a $((5 * MIB))
	for way in resume_upload resume_download; do
		set_server "$(bin sftp-server stock)"
		head -c $((3 * MIB)) a >b
		run -0 $way a b -v
		cmp a b
		[[ $output = *'the server cannot hash files: reading all of "'* ]]
		[[ $output = *"continues at byte $((3 * MIB)) of"* ]]
		head -c $((3 * MIB)) a >b
		spoil_byte b $((2 * MIB))
		run -0 $way a b -v
		cmp a b
		[[ $output =~ "continues at byte "([0-9]*)" of" ]]
		((BASH_REMATCH[1] <= 2 * MIB))
		((BASH_REMATCH[1] > 2 * MIB - 32768))
	done
	# short answers, in any order, and one that fails
	use_peer short=10000 gather=0.01 backwards=1 "log=$T/log"
	head -c $((3 * MIB)) a >b
	run -0 resume_upload a b -v
	cmp a b
	[[ $output = *"continues at byte $((3 * MIB)) of"* ]]
	run -0 cat log
	[ "$(get_value 0 most)" -ge 30 ]
	use_peer unread=50 cut=well
	head -c $((3 * MIB)) a >b
	run -0 resume_upload a b -v
	cmp a b
	[[ $output = *"continues at byte $((49 * 32768)) of"* ]]
}

@test "a server that truncates to zero instead of a size does not leave zeros" {
	local how
	make_noise a $((10 * MIB))
	for how in "" hash=true; do
		use_peer cut=empty $how
		cp a b
		spoil_byte b $((9 * MIB))
		run -0 resume_upload a b
		cmp a b
		cat a a >b
		run -0 resume_upload a b
		cmp a b
		rm b
		run -0 resume_upload a b
		cmp a b
	done
}

@test "targets of any length, links, and files in the way are handled" {
	local way server n
	make_noise a 300000
	for server in hayate stock; do
		set_server "$(bin sftp-server $server)"
		for way in resume_upload resume_download; do
			for n in 0 1 299999 300000 300001 900000; do
				head -c $n a >b
				[ $n -le 300000 ] || head -c 900000 /dev/zero |
				    head -c $((n - 300000)) >>b
				run -0 $way a b
				cmp a b
			done
			: >z
			run -0 $way z b
			[ ! -s b ]
			rm b
			run -0 $way z b
			[ -f b ]
			head -c 100000 a >t
			ln -sf t b
			run -0 $way a b
			[ -L b ]
			cmp a t
			rm -rf b
			mkdir -p b/a
			run -1 $way a b
			rm -rf b
			head -c 100000 a >b
			spoil_byte b 7
			chmod 0200 b
			run -0 $way a b
			chmod 600 b
			cmp a b
			head -c 100000 a >b
			chmod 0400 b
			run -1 $way a b
			[[ $output = *"Permission denied"* ]]
			rm -f b t
		done
	done
}

# make_half_tree: makes "a", and "b" with most of it, whole, in part, spoilt or too long
make_half_tree() {
	local i
	mkdir -p a/sub/sub a/"sp ace" a/-dash a/new$'\n'line
	for i in $(seq 40); do make_noise "a/sub/$i" $((i * 100)); done
	make_noise a/large $((10 * MIB))
	: >a/zero
	echo x >a/sub/sub/x
	echo u >a/"sp ace"/$'\xff\xfe'
	echo r >a/-dash/-r
	echo z >a/new$'\n'line/z$'\n'
	chmod 500 a/sub/sub
	chmod 711 a/sub/7
	chmod 444 a/sub/8
	touch -d '2001-02-03 04:05:06' a/sub/9 a/sub
	cp -a a b
	touch -d '2005-01-01' b/sub/5 b/sub b
	rm b/sub/1 b/"sp ace"/*
	rm -r b/-dash
	truncate -s 150 b/sub/2
	truncate -s $((9 * MIB)) b/large
	spoil_byte b/sub/3 4
	touch -d '2005-01-01' b/sub/3
	echo more >>b/sub/4
}

# check_tree: checks that "b" has what "a" has, with modes, and seconds if $TIMES is set
check_tree() {
	local d
	for d in a b; do
		(cd $d && find . -printf "%p %y %m %s ${TIMES:+%T@}\n" |
		    sed -E 's/ ([0-9]+)\.[0-9]+$/ \1/' | LC_ALL=C sort) >state.$d
	done
	diff state.a state.b
	diff -r a b
}

@test "a half copied tree is completed, and complete files are not touched" {
	local server way
	need_root
	for server in hayate stock; do
		set_server "$(bin sftp-server $server)"
		for way in put get; do
			make_half_tree
			touch -d '+1 day' b/sub/9
			if [ $way = put ]; then mkdir c && mv b c/a && ln -s c/a b
			else mkdir d && mv a d/b && ln -s d/b a; fi
			case $way in
			put) run -0 run_scp --resume -v -r a "h:$T/c" ;;
			get) run -0 run_scp --resume -v -r "h:$T/d/b" . ;;
			esac
			diff -r a b
			[ "$(grep -c 'is complete' <<<"$output")" -ge 38 ]
			rm -rf a b c d
		done
	done
}

@test "with -p a half copied tree gets modes and times as well" {
	local server way TIMES=y
	need_root
	for server in hayate stock; do
		set_server "$(bin sftp-server $server)"
		for way in put get; do
			make_half_tree
			case $way in
			put) mkdir c; mv b c/a
			    run -0 run_scp --resume -v -rp a "h:$T/c"; mv c/a b ;;
			get) mkdir c; mv b c/a
			    run -0 run_scp --resume -v -rp "h:$T/a" c; mv c/a b ;;
			esac
			check_tree
			[ "$(grep -c 'is complete' <<<"$output")" -ge 38 ]
			# now nothing is left to do, and nothing is hashed
			case $way in
			put) mv b c/a; run -0 run_scp --resume -v -rp a "h:$T/c" ;;
			get) mv b c/a; run -0 run_scp --resume -v -rp "h:$T/a" c ;;
			esac
			[ "$(grep -c 'is complete' <<<"$output")" = 46 ]
			rm -rf a b c
		done
	done
}

@test "sftp's reget and reput verify, and refuse a longer file, as stock's do" {
	local server
	make_noise a $((9 * MIB))
	for server in hayate stock; do
		set_server "$(bin sftp-server $server)"
		head -c $((8 * MIB)) a | tee b c >d
		spoil_byte b $((8 * MIB - 9))
		spoil_byte c $((8 * MIB - 9))
		run -0 run_sftp "reput a $T/b" "reget $T/a c" "put -a a $T/e" \
		    "get -a $T/a d"
		cmp a b
		cmp a c
		cmp a d
		cmp a e
		run -0 run_sftp "reput a $T/b" "reget $T/a c"
		spoil_byte b 9		# which stock's refuses, as it is as long
		spoil_byte c 9
		run -0 run_sftp "reput a $T/b" "reget $T/a c"
		cmp a b
		cmp a c
		rm e
		echo more | tee -a b >>c
		run -1 run_sftp "reput a $T/b"
		[[ $output = *"same size or larger"* ]]
		run -1 run_sftp "reget $T/a c"
		[[ $output = *"local file is larger"* ]]
		printf '%s\n' "put a $T/b" "get $T/a c" | timeout 60 \
		    "$(bin sftp)" --resume -q -S "$T/near" -b - h 3>&-
		cmp a b
		cmp a c
	done
}

@test "an invalid reply counts as none: too long, of md5, refused" {
	local how
	make_noise a $((3 * MIB))
	for how in long odd md5 refused; do
		use_peer hash=$how
		head -c $((2 * MIB)) a >b
		run -0 resume_upload a b -v
		cmp a b
		[[ $output = *"back to compare"* ]]
		[[ $output = *"continues at byte $((2 * MIB)) of"* ]]
		case $how in
		refused) [[ $output = *"cannot hash this range: Failure"* ]] ;;
		*) [[ $output = *"server sent "*" hashes of sha256"* ]] ;;
		esac
	done
	for how in short lie; do
		use_peer hash=$how
		head -c $((2 * MIB)) a >b
		run -0 resume_upload a b -v
		cmp a b
		[[ $output != *"continues at byte $((2 * MIB))"* ]]
	done
	for how in name true; do
		use_peer hash=$how
		head -c $((2 * MIB)) a >b
		run -0 resume_download a b -v
		cmp a b
		[[ $output = *"continues at byte $((2 * MIB)) of"* ]]
		[[ $output != *"back to compare"* ]]
	done
	mkdir c d
	cp a b c
	use_peer hash=unknown "log=$T/log"
	run -0 run_scp --resume -r c "h:$T/d"
	run -0 run_scp --resume -r c "h:$T/d"
	diff -r c d/c
	run -0 cat log
	[ "$(get_value 0 asked)" = 2 ]		# of two files at once
	run -0 run_sftp "reput a $T/d/c/a" "reput a $T/d/c/b"
	run -0 cat log
	[ "$(get_value 0 asked)" = 1 ]
	use_peer hash=hashid
	head -c $((2 * MIB)) a >b
	run -255 resume_upload a b
	[[ $output = *"Unexpected reply"* ]]
}

@test "a server that cannot truncate gets the complete file" {
	make_noise a $((10 * MIB))
	use_peer hash=true			# its SETSTAT does nothing
	head -c $((10 * MIB)) a >b
	spoil_byte b $((9 * MIB))
	run -0 resume_upload a b
	cmp a b
}

@test "--checksum compares both files when they are copied" {
	make_noise a $((9 * MIB))
	set_server "$(bin sftp-server)"
	run -0 run_scp --checksum a "h:$T/b"
	[ -z "$output" ]
	cmp a b
	run -0 run_scp --checksum -v "h:$T/a" c
	cmp a c
	mkdir d
	cp a d/1
	echo x >d/2
	: >d/3
	run -0 run_scp --checksum -r d "h:$T/e"
	diff -r d e
	run -0 run_scp --checksum --resume -p a "h:$T/b"
	cmp a b
	touch -d 2001-01-01 a b
	spoil_byte b 9
	touch -r a b
	run -0 run_scp --checksum --resume -p a "h:$T/b"	# times are not believed
	cmp a b
}

@test "--checksum to a device writes all, and says that it cannot be compared" {
	make_noise a 300000
	set_server "$(bin sftp-server)"
	for w in "a h:/dev/null" "h:$T/a /dev/null"; do
		# shellcheck disable=SC2086 # words
		run -1 run_scp --checksum $w
		[[ $output = *'checksum: "/dev/null" is not a regular file and cannot be compared'* ]]
		[[ $output != *differ* ]]
	done
	run -0 run_scp a h:/dev/null
}

@test "--checksum of a file onto itself reports that source and target are the same file" {
	make_noise a 300000
	touch -d '2001-02-03 04:05:06' a
	cp a old
	set_server "$(bin sftp-server)"
	run -1 run_scp --checksum a "h:$T/a"
	[[ $output = *'changed while it was copied, or '*' is the same file'* ]]
	touch -d '2001-02-03 04:05:06' a
	run -1 run_scp --checksum "h:$T/a" a
	[[ $output = *'changed while it was copied, or '*' is the same file'* ]]
	touch -d '2001-02-03 04:05:06' a
	run -1 timeout 60 "$(bin sftp)" --checksum -q -S ./near -b - h \
	    <<<"put a $T/a" 3>&-
	[ "$(grep -c 'changed while' <<<"$output")" = 1 ]
	cmp old a
}

@test "--checksum names the file that differs, and fails" {
	mkdir d
	make_noise d/1 100000
	make_noise d/2 100000
	use_peer hash=true flip=1
	run -1 run_scp --checksum d/1 "h:$T/b"
	[[ $output = *"checksum: \"d/1\" and \"$T/b\" differ"* ]]
	run -1 run_scp --checksum -r d "h:$T/e"
	[[ $output = *'d/1" and '*differ*'d/2" and '*differ* ||
	    $output = *'d/2" and '*differ*'d/1" and '*differ* ]]
	use_peer hash=true
	run -0 run_scp --checksum d/1 "h:$T/b"
	# what is not hashed is read back
	use_peer hash=refused
	run -0 run_scp --checksum d/1 "h:$T/b"
	use_peer hash=refused flip=1
	run -1 run_scp --checksum d/1 "h:$T/b"
}

@test "--checksum with a server that has no hashes copies nothing and fails" {
	local way
	make_noise a 1000
	set_server "$(bin sftp-server stock)"
	run -255 run_scp --checksum a "h:$T/b"
	[[ $output = *"--checksum needs a server that can hash files, such as Hayate's sftp-server; this one cannot, and nothing was copied"* ]]
	run -255 run_scp --checksum "h:$T/a" b
	[ ! -e b ]
	run -255 run_scp --checksum -r "h:$T" b
	[[ $output = *"--checksum needs a server that can hash files"* ]]
}

@test "a source that changes during the copy is reported, and the copy fails" {
	make_noise a 100000
	use_peer hash=true "change=$T/a"
	run -1 run_scp --resume a "h:$T/b"
	[[ ${lines[0]} = *'"a" changed while it was copied'* ]]
	run -1 run_scp --checksum a "h:$T/b"
	[[ $output = *'"a" changed while it was copied'* ]]
	run -1 run_scp --checksum "h:$T/a" b
	[[ $output = *"\"$T/a\" changed while it was copied"* ]]
	# reget of a file that grows is no error, as in stock
	head -c 50000 a >b
	run -0 run_sftp "reput a $T/b"
	[[ $output = *'"a" changed while it was copied'* ]]
}

@test "a file that changes before its turn in a tree is not one that changed" {
	local option last
	mkdir d
	make_noise d/1 10000
	make_noise d/2 10000
	last=$(find d -type f | tail -n 1)	# in the order of the listing
	for option in --checksum --resume; do
		use_peer hash=true "change=$T/$last"
		run -0 run_scp $option -r -p "h:$T/d" e
		[ -z "$output" ]
		diff -r d e
		[ "$(stat -c %Y d/*)" = "$(stat -c %Y e/*)" ]
		rm -r e
	done
}

# count_rounds ARG...: prints how many round trips a copy takes
count_rounds() {
	run_scp "$@" >&2
	sed -n 's/.*rounds=\([0-9]*\).*/\1/p' log
}

# check_round_trips HASH OPTION...: checks that a complete tree takes at most twice as
# many as its copy
check_round_trips() {
	local n
	use_peer limits=261120,261120,1019 gather=0.02 "hash=$1" "log=$T/log"
	rm -rf b c
	n=$(count_rounds -rp a "h:$T/b")
	check_true "$(count_rounds "${@:2}" -r a/. "h:$T/b") <= 2 * $n"
	diff -r a b
	n=$(count_rounds -rp "h:$T/a" c)
	check_true "$(count_rounds "${@:2}" -r "h:$T/a/." c) <= 2 * $n"
	diff -r a c
}

# The time of 500 files of 4 KiB at 20 ms is that of their round trips.
@test "500 files are resumed or compared in twice the round trips of their copy" {
	local i
	mkdir a
	for i in $(seq 500); do make_noise "a/$i" 4096; done
	check_round_trips true --resume
	check_round_trips true --resume -p
	check_round_trips refused --resume
	check_round_trips true --checksum
	check_round_trips true --resume --checksum -p
	# files that are named, and those of a pattern
	use_peer limits=261120,261120,1019 gather=0.02 hash=true "log=$T/log"
	i=$(count_rounds a/* "h:$T/b")
	check_true "$(count_rounds --resume a/* "h:$T/b") <= 2 * $i"
	run_sftp "reput a/* $T/b" "reget $T/a/* c"
	i=$(sed -n 's/.*rounds=\([0-9]*\).*/\1/p' log)
	echo "$i round trips"
	[ "$i" -le 60 ]
}

@test "SIGINT in a comparison of many files leaves all unchanged, and sftp continues" {
	local i way
	mkdir a b
	for i in $(seq 100); do make_noise "a/$i" 30000; done
	cp a/* b
	for way in "reput a/* $T/b" "reget $T/a/* b"; do
		use_peer limits=261120,261120,1019 hash=refused interrupt=1000000,0
		run -0 timeout 60 "$(bin sftp)" -S "$T/near" h \
		    <<<"$way"$'\n'"lls a/7"
		[[ $output = *"a/7" ]]
		diff -r a b
		[ "$(grep -c 'was not modified' <<<"$output")" -lt 100 ]
	done
}

@test "a long comparison has a progress display" {
	local name
	set_server "$(bin sftp-server)"
	truncate -s $((65 * MIB)) a b
	make_noise c $((3 * MIB))
	# shellcheck disable=SC2016 # for the other shell
	printf '#!/bin/sh\nexec "%s" -S "%s" --resume "$@"\n' "$(bin scp)" \
	    "$T/near" >resume
	chmod +x resume
	timeout 20 script -qefc "./resume a h:$T/b" out </dev/null >shown 3>&-
	grep -q 'a: comparing .* 100%' shown
	head -c $((2 * MIB)) c >d
	use_peer rate=1500000
	timeout 20 script -qefc "./resume h:$T/c d" out </dev/null >shown 3>&-
	grep -q 'c: comparing .*%' shown
	cmp c d
	run -0 run_scp --resume a "h:$T/b"
	[ -z "$output" ]
}

# list_final_lines: prints the lines that are left on a terminal
list_final_lines() { sed 's/\r$//; s/.*\r//' "$1" | sed 's/ *$//' | grep . || :; }

@test "the progress display of a comparison leaves the line of the copy in place" {
	local way n=0
	set_server "$(bin sftp-server)"
	make_noise a $((65 * MIB))
	printf '#!/bin/sh\nexec "%s" -S "%s" --checksum "$@"\n' "$(bin scp)" "$T/near" >checksum
	chmod +x checksum
	for way in "a h:$T/b" "h:$T/a c"; do
		timeout 20 script -qefc "./checksum $way" out </dev/null >shown 3>&-
		list_final_lines shown >lines
		cat lines
		[ "$(wc -l <lines)" = 2 ]
		grep -E '^a +100% ' lines
		grep -E '^a: comparing +100% ' lines
		n=$((n + 1))
	done
	cmp a b
	cmp a c
	# a tree has one line
	mkdir d
	ln a d/1
	make_noise d/2 1000
	timeout 20 script -qefc "./checksum -r d h:$T/e" out </dev/null >shown 3>&-
	[ "$(list_final_lines shown | wc -l)" = 1 ]
}

### Interruptions

# has_grown BYTES DIR: succeeds if DIR has that many bytes
has_grown() { [ "$(du -sb "$2" 2>/dev/null | cut -f1)" -ge "$1" ] 2>/dev/null; }

# list_processes PID NAME: prints this process and those below it that are called so
list_processes() {
	local p
	[ "$(cat "/proc/$1/comm" 2>/dev/null)" != "$2" ] || echo "$1"
	for p in $(pgrep -P "$1"); do list_processes "$p" "$2"; done
}

# kill_during_copy VICTIM SERVER BYTES DIR ARG...: runs scp with these arguments and kills
# the process called VICTIM when BYTES are in DIR; counts failures in "broken"
kill_during_copy() {
	local pid root
	copy -q -rp "${@:5}" >out 2>&1 &
	pid=$! root=$pid
	poll 20 has_grown "$3" "$4"
	case $1 in sftp-server|sshd-session) root=$(cat "$(sshd_dir "$2")/pid") ;; esac
	# shellcheck disable=SC2046 # numbers
	kill -9 $(list_processes "$root" "$1") || :
	wait $pid || broken=$((broken + 1))
}

# make_bulk_tree: makes "a", 24 MB in 60 files of all sizes
make_bulk_tree() {
	local i
	mkdir -p a/one a/two/three
	for i in $(seq 50); do make_noise "a/one/$i" $((i * 4000)); done
	for i in $(seq 8); do make_noise "a/two/three/$i" $((i * 300000)); done
	make_noise a/two/large 9000000
	: >a/two/none
	chmod 640 a/one/7
	touch -d '2001-02-03 04:05:06' a/one/* a/two/* a/two a
}

@test "after kill -9 of scp, ssh or the server, anywhere, --resume makes trees equal" {
	local victim server way bytes broken=0 TIMES=y
	need_root
	sshd_up hayate "MaxRate 15M"
	sshd_up stock
	make_bulk_tree
	for server in hayate stock; do
		for victim in scp sftp-server ssh sshd-session; do
			# what dies at our end does not depend on the server
			[[ $server$victim != stockssh* ]] || continue
			for way in put get; do
				rm -rf c
				mkdir c
				bytes=$((RANDOM % 200 * 100000 + 50000))
				echo "$server $victim $way $bytes"
				case $way in
				put) set -- -o MaxRate=15M a "$server:$T/c" ;;
				get) set -- "$server:$T/a" c ;;
				esac
				[ $server$way != stockget ] || set -- -l 120000 "$@"
				kill_during_copy $victim $server $bytes c "$@"
				bytes=$((bytes / 2 + 11000000))
				kill_during_copy $victim $server $bytes c --resume "$@"
				run -0 copy -q -rp --resume "$@"
				rm -rf b
				mv c/a b
				check_tree
			done
		done
	done
	echo "$broken of 24 copies were broken off"
	[ $broken -ge 8 ]
}

@test "after a full disk --resume makes trees equal" {
	local server way TIMES=y
	need_root
	make_bulk_tree
	mkdir full
	for server in hayate stock; do
		set_server "$(bin sftp-server $server)"
		for way in put get; do
			mount -t tmpfs -o size=7m none full
			case $way in
			put) set -- a "h:$T/full" ;;
			get) set -- "h:$T/a" full ;;
			esac
			run -1 run_scp -rp "$@"
			run -1 run_scp -rp --resume "$@"
			mount -o remount,size=60m full
			run -0 run_scp -rp --resume "$@"
			rm -rf b
			cp -a full/a b
			umount full
			check_tree
		done
	done
}

# resume_foreign ARG...: resumes; the messages of scp are in "said". asyncssh ends a
# session without a status, which is 1
resume_foreign() {
	copy_foreign --resume -v "$@" >said 2>&1 || echo "$?" >>status
}

# check_foreign_resume KIND: resumes a partial file and half a tree, to and from that
# server
check_foreign_resume() {
	make_noise a $((10 * MIB))
	foreign_up "$1"
	head -c $((9 * MIB)) a >b
	resume_foreign a "127.0.0.1:$T/b"
	mv said put
	grep 'continues at byte 9437184 of' put
	cmp a b
	head -c $((9 * MIB)) a >b
	resume_foreign "127.0.0.1:$T/a" b
	mv said get
	# proftpd ends a block only with the file
	grep 'continues at byte \(9437184\|8388608\) of' get
	cmp a b
	rm a b
	make_half_tree
	mkdir c d
	cp -a b d/a
	mv b c/a
	resume_foreign -rp a "127.0.0.1:$T/c"
	diff -r a c/a
	resume_foreign -rp "127.0.0.1:$T/a" d
	diff -r a d/a
}

@test "a copy to proftpd's mod_sftp is resumed" {
	need_proftpd
	check_foreign_resume proftpd
	run -1 grep 'back to compare' put get said
	[ ! -e status ]
}

@test "a copy to asyncssh is resumed" {
	need_asyncssh
	check_foreign_resume asyncssh
	grep -q 'reading all of ".*large" back' said
}

@test "each long option is in the manual pages of its programs, and in the tests" {
	local name n=0
	for name in $(sed -n 's/^	{ "\([a-z0-9-]*\)", .*offsetof.*/\1/p' "$TOP/transfer/file/longopt.c"); do
		grep -q "^\.It Fl -$name" "$TOP/man/scp.inc"
		[[ " files-from from0 " = *" $name "* ]] ||
		    grep -q "^\.It Fl -$name" "$TOP/man/sftp.inc"
		grep -q -e "--$name" "$TOP"/regress/*.bats
		n=$((n + 1))
	done
	[ $n -ge 2 ]
}
