#!/usr/bin/env bats
# Needs: hayate
# The series (patches/): complete, explained, small, and applied without fuzz.

load helper

patches=$TOP/patches
list_series() { sed -e 's/#.*//' -e 's/[	 ].*//' -e '/^$/d' "$patches/series"; }

setup() { cd "$BATS_TEST_TMPDIR"; }

# print_header PATCH: prints all that comes before the diff
print_header() { sed '/^--- /,$d' "$patches/$1"; }

# list_touched PATCH...: prints upstream's files in it
list_touched() { (cd "$patches" && sed -n 's|^+++ b/\([^	 ]*\).*|\1|p' "$@") | sort -u; }

# check_applies TREE: applies the whole series, in order, to a copy of the files it
# touches
check_applies() {
	local p f d=$BATS_TEST_TMPDIR/tree
	mkdir -p "$d"
	# shellcheck disable=SC2046 # names
	for f in $(list_touched $(list_series)); do
		(cd "$1" && cp --parents "$f" "$d")
	done
	for p in $(list_series); do
		patch -d "$d" -p1 -f --fuzz=0 --no-backup-if-mismatch <"$patches/$p" || {
			echo "$p does not apply"
			return 1
		}
	done
	[ -z "$(find "$d" -name '*.rej' -o -name '*.orig')" ]
}

@test "the series names every existing patch, and no other" {
	diff <(list_series | sort) <(cd "$patches" && ls -- *.patch | sort)
	diff <(list_series) <(list_series | sort)
}

@test "every patch header has all fields and says why its place was chosen" {
	for p in $(list_series); do
		[[ $p =~ ^[0-4][0-9][0-9]-[a-z0-9-]+\.patch$ ]]
		for field in "Subject: [a-z0-9, /-]*: " "Upstream: openssh 1" \
		    "Calls: " "Forwarded: " "Why here: "; do
			print_header "$p" | grep -q "^$field" || {
				echo "$p: no $field"
				false
			}
		done
	done
}

@test "every module that a patch header names exists" {
	for p in $(list_series); do
		for h in $(print_header "$p" | sed -n 's/^Calls: //p' | grep -o '[a-z/]*/[a-z0-9-]*\.h'); do
			[ -f "$TOP/$h" ] || { echo "$p: $h"; false; }
		done
	done
}

# Upstream has removed these; a stand-in of ours has to be found, not kept.
@test "our code calls no function that a later release dropped" {
	local dropped objects
	objects=$(for f in $(sed -n 's|^	\([a-z/-]*\)\.c .*|\1|p' "$TOP/modules.mk"); do
		echo "$BUILD/hayate/${f##*/}.o"
	done)
	# shellcheck disable=SC2086
	nm -u $objects >"$BATS_TEST_TMPDIR/needed"
	grep -qw cipher_crypt "$BATS_TEST_TMPDIR/needed"
	# shellcheck disable=SC2043 # may become more
	for dropped in cipher_set_keyiv; do	# 10.5
		run -1 grep -w $dropped "$BATS_TEST_TMPDIR/needed"
	done
}

@test "no patch creates or removes a file or has git lines or timestamps" {
	for p in $(list_series); do
		run ! grep -E '^(---|\+\+\+) /dev/null|^(index|diff|Index) |^(---|\+\+\+) .*[0-9]:[0-9]' "$patches/$p"
	done
}

@test "the series applies without fuzz to the upstream tree in use" {
	check_applies "$BUILD/upstream"
}

@test "the series applies without fuzz to the pristine release" {
	orig=$(ls "$BUILD"/fetched/*.orig.tar.gz "$TOP"/carried/*.orig.tar.gz 2>/dev/null | head -n 1)
	[ -n "$orig" ] || skip "no release tarball here, upstream is a tree"
	mkdir "$BATS_TEST_TMPDIR/pristine"
	tar xzf "$orig" -C "$BATS_TEST_TMPDIR/pristine" --strip-components=1
	check_applies "$BATS_TEST_TMPDIR/pristine"
}

@test "the series adds at most 190 lines" {
	n=$(for p in $(list_series); do
		case $p in 4*) ;; *) grep -c '^+[^+]' "$patches/$p" || : ;; esac
	done | awk '{ n += $1 } END { print n + 0 }')
	echo "$n lines"
	[ "$n" -le 190 ]
}

@test "make hooks finds every hooked function unchanged against its own upstream" {
	run -0 make -s -C "$TOP" hooks
	run ! grep -E '^(changed|gone|fails)' <<<"$output"
}

@test "make hooks reports a mirrored function that upstream changed or dropped" {
	cp -r "$BUILD/upstream" new
	sed -i '/^mac_compute(/,/^}/s/return 0;/return dlen == 0;/' new/mac.c
	sed -i 's/^sftp_get_limits(/sftp_ask_limits(/' new/sftp-client.c
	sed -i 's/^sshbuf_reset(/sshbuf_restart(/' new/sshbuf.c
	run -2 make -s -C "$TOP" hooks NEW="$PWD/new"
	grep '^changed	mac.c mac_compute: 2 lines, mirrored by cipher/' <<<"$output"
	grep '^same	mac.c mac_check, mirrored by cipher/' <<<"$output"
	grep '^gone	sftp-client.c sftp_get_limits, mirrored by transfer/' <<<"$output"
	grep -x 'gone	sshbuf.c sshbuf_reset, a file that ours replaces' <<<"$output"
	grep -x 'new	sshbuf.c sshbuf_restart, a file that ours replaces' <<<"$output"
}

@test "make hooks fails for an unreviewed text or release, and names what our code relies on" {
	cp -r "$BUILD/upstream" new
	sed -i '/^kex_input_newkeys(/,/^}/s/done = 1/done = 2/' new/kex.c
	sed -i '/^static const struct sshcipher ciphers/,/^}/s/"aes256-ctr"/"aes256-crt"/' new/cipher.c
	sed -i '/^read_passphrase(/s/read_/ask_/' new/readpass.c
	sed -i 's/OpenSSH_[0-9.]*/OpenSSH_99.1/' new/version.h
	run -2 make -s -C "$TOP" hooks NEW="$PWD/new"
	grep '^unread	OpenSSH_99.1.* is not in patches/reviewed' <<<"$output"
	grep '^unread	kex.c kex_input_newkeys; cipher/authonly-hook.c: ' <<<"$output"
	grep '^unread	cipher.c ciphers; cipher/sealer-hook.c: ' <<<"$output"
	grep '^unread	readpass.c read_passphrase, which is gone; ' <<<"$output"
	[ "$(grep -c ^unread <<<"$output")" = 4 ]
}

@test "the list of what we rely on names existing files, and each tested release was reviewed" {
	local f n=0 what ours
	while IFS='	' read -r f _ ours what; do
		case $f in ''|'#'*) continue ;; esac
		[ -f "$TOP/$ours" ] && [ -n "$what" ] || { echo "$f: $ours"; false; }
		n=$((n + 1))
	done <"$patches/assumptions"
	((n > 50))
	diff <(awk '$1 == "tried" { print $3 }' "$TOP/UPSTREAM" | sort) \
	    <(sed -n 's/^release //p' "$patches/reviewed" | sort)
}

# list_redirected OVERLAY: prints "FILE FUNCTION OURS" of each function that upstream's
# file calls, or defines, by another name
list_redirected() {
	local objects flags f flag
	sed -e ':a' -e '/\\$/{N; s/\\\n//; ta' -e '}' "$1" |
	    sed -nE 's/^([a-z0-9 .-]+\.o): CPPFLAGS \+= (.*-D[A-Za-z_].*)/\1:\2/p' |
	    while IFS=: read -r objects flags; do
		for f in $objects; do
			for flag in $flags; do
				case $flag in
				-D*=[a-z]*) flag=${flag#-D}; echo "${f%.o}.c ${flag%%=*} ${flag#*=}" ;;
				esac
			done
		done
	done
}

# list_callers FILE FUNCTION: prints upstream's functions in FILE that call it, perhaps by
# the macro deflateInit() of deflateInit_()
list_callers() {
	awk -v called="${2%_}_?" '
	/^[a-zA-Z_][a-zA-Z0-9_]*\(/ { name = $0; sub(/\(.*/, "", name) }
	name != "" && !/^[a-z]/ && $0 ~ "(^|[^a-zA-Z0-9_])" called "\\(" { print name }
	/^}/ { name = "" }' "$BUILD/upstream/$1" | sort -u
}

# list_unreviewed OVERLAY: prints the functions of the overlay of which neither a review
# names the text, nor one of those functions that call them
list_unreviewed() {
	local f stock ours name
	{
		make -s -C "$TOP" hooks | sed -nE 's/^same	([^ ]+ [^ ,]+).*/\1/p'
		awk -F '\t' 'NF == 4 && !/^#/ { print $1 " " $2 }' "$patches/assumptions"
	} | sort -u >reviewed
	list_redirected "$1" | while read -r f stock ours; do
		# A function that another file defines
		! grep -qE "^[^ ]+ $stock\$" reviewed || continue
		for name in $(list_callers "$f" "$stock"); do
			! grep -qx "$f $name" reviewed || continue 2
		done
		echo "$f $stock $ours"
	done
}

@test "of each function in whose place ours is called, a caller or its own text was reviewed" {
	run -0 list_unreviewed "$TOP/build-aux/overlay.mk"
	echo "$output"
	[ -z "$output" ]
	[ "$(list_redirected "$TOP/build-aux/overlay.mk" | wc -l)" -gt 40 ]
	# A new one needs a row.
	echo 'sshd.o: CPPFLAGS += -Dlisten=ours_listen -Dsrclimit_init=ours_init' >overlay
	run -0 list_unreviewed overlay
	[ "$output" = "sshd.c srclimit_init ours_init" ]
}

### What a peer reaches before login

# list_linked: prints upstream's files in ssh and in the programs of sshd
list_linked() {
	sed -e ':a' -e '/\\$/{N; s/\\\n//; ta' -e '}' "$BUILD/upstream/Makefile.in" |
	    sed -nE 's/^(LIBOPENSSH_OBJS|LIBSSH_OBJS|SSHOBJS|SSHDOBJS|SSHD_SESSION_OBJS|SSHD_AUTH_OBJS)=//p' |
	    tr -s '[:blank:]' '\n' | sed -n 's/\.o$/.c/p' | sort -u
}

# Of these files a peer reaches nothing before login: there are no channels, no
# session and no loop yet, and a control socket is the user's own.
AFTER='channels.c clientloop.c serverloop.c session.c mux.c sftp-server.c'
# Of the others, what comes behind the login (245, 246, monitor_hook), and what reads
# the words of the user (310, 312, reread_fopen)
NOT_REACHED='245 246 310 312 reread_fopen() monitor_hook_reinit() monitor_hook_postauth()'

is_before() { [[ " $(list_linked | tr '\n' ' ') " = *" $1 "* && " $AFTER " != *" $1 "* ]]; }

# list_reached PATCHES OVERLAY: prints the numbers of patches and the functions of ours,
# one a line
list_reached() {
	local p f stock ours
	for p in "$1"/*.patch; do
		for f in $(sed -n 's|^+++ b/\([^	 ]*\).*|\1|p' "$p"); do
			! is_before "$f" || basename "${p%%-*}"
		done
	done
	while read -r f stock ours; do
		is_before "$f" || continue
		case $ours in
		stock_*|*_portable) echo "$stock()" ;;
		*) echo "$ours()" ;;
		esac
	done < <(list_redirected "$2")
	sed -n 's/^HAYATE_REPLACED = //p' "$TOP/modules.mk" | tr ' ' '\n'
}

# list_unnamed PATCHES OVERLAY: prints what of it SECURITY.md does not name, and what that
# names and is not reached
list_unnamed() {
	awk '/^## / { on = /What a peer reaches before login/ } on' "$TOP/SECURITY.md" |
	    grep '^|' | grep -oE '\b[1-4][0-9][0-9]\b|`[a-z0-9_]+\(\)`|`(sshbuf|cleanup)\.c`' | tr -d '`' | sort -u >named
	list_reached "$@" | grep -vxF -f <(tr ' ' '\n' <<<"$NOT_REACHED") | sort -u | comm -3 - named
}

@test "SECURITY names each patch and each function that a peer reaches before login" {
	run -0 list_unnamed "$patches" "$TOP/build-aux/overlay.mk"
	echo "$output"
	[ -z "$output" ]
	[ "$(wc -l <named)" -ge 25 ]
	grep -qx 255 named
	grep -qx 'segments_cipher()' named
	# A new patch or function is one that has to be named.
	cp -r "$patches" more
	sed 's/^+++ b.auth2.c/+++ b\/monitor.c/' more/255-*.patch >more/256-monitor.patch
	cat "$TOP/build-aux/overlay.mk" - >overlay <<-'END'
	cipher.o mac.o: CPPFLAGS += -Dfoo=ours_foo \
		-Dbar=stock_bar
	sftp.o: CPPFLAGS += -Dquux=not_ours
	END
	run -0 list_unnamed more overlay
	[ "$(tr -d '\t' <<<"$output" | sort | xargs)" = "256 bar() ours_foo()" ]
	rm more/255-*.patch
	run -0 list_unnamed more overlay
	[[ $output = *255* ]]
}
