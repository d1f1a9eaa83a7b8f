#!/usr/bin/env bats
# Needs: hayate
# The rooms (module directories): which may include which, and what a core may
# include.

load helper

# copy_rooms DIR: makes a copy of the rooms
copy_rooms() {
	mkdir -p "$1"
	# shellcheck disable=SC2046 # names
	(cd "$TOP" && cp -a --parents HOUSE.md modules.mk build-aux $(list_rooms) "$1/")
	mkdir "$1/regress"
	cp "$TOP"/regress/*.bats "$TOP/regress/covers" "$1/regress/"
}

@test "no room includes one above it, no core includes a hook" {
	run -0 "$TOP/build-aux/map" check
	[ -z "$output" ]
}

@test "the check names a file that includes a higher room" {
	copy_rooms "$BATS_TEST_TMPDIR/house"
	cd "$BATS_TEST_TMPDIR/house"
	echo '#include "srvopt-hook.h"' >>channels/wtune-hook.c
	run -1 build-aux/map check
	[[ $output = *"channels/wtune-hook.c includes sshd/srvopt-hook.h"* ]]
}

@test "the check names a file of transfer/ that includes or calls a higher room there" {
	copy_rooms "$BATS_TEST_TMPDIR/house"
	cd "$BATS_TEST_TMPDIR/house"
	mkdir built
	echo 'int json_a(void); int extents_a(void) { return json_a(); }' |
	    cc -xc -c -o built/extents.o -
	echo 'int json_a(void) { return 0; }' | cc -xc -c -o built/json.o -
	run -1 build-aux/map check built
	[[ $output = *"transfer/data/extents needs transfer/report/json: transfer/report/ is above"* ]]
	[ ${#lines[@]} = 1 ]
	echo '#include "scheduler.h"' >>transfer/data/tempfile.h
	echo '#include "file-hook.h"' >>transfer/conns/server-hook.c
	run -1 build-aux/map check
	[[ $output = *"data/tempfile.h includes transfer/sched/scheduler.h: transfer/sched/ is above"* ]]
	[[ $output = *"conns/server-hook.c includes transfer/file/file-hook.h: transfer/file/ is"* ]]
}

@test "the rooms have at most ten floors" {
	local floors
	floors=$("$TOP/build-aux/map" |
	    awk 'NF == 0 { exit } NR > 1 && $2 > most { most = $2 } END { print most }')
	[ "$floors" -gt 1 ]
	[ "$floors" -le 10 ]
	copy_rooms "$BATS_TEST_TMPDIR/house"
	cd "$BATS_TEST_TMPDIR/house"
	echo '#include "pool.h"' >>transfer/data/extents.c
	echo '#include "scheduler.h"' >>transfer/report/json.c
	run -1 build-aux/map check
	[[ $output != *"are allowed"* ]]
	echo '#include "json.h"' >>transfer/sftp/rendezvous.c
	run -1 build-aux/map check
	[[ $output = *"transfer/copy/ is on floor 11, 10 are allowed"* ]]
}

@test "the check names a core that includes a hook" {
	copy_rooms "$BATS_TEST_TMPDIR/house"
	cd "$BATS_TEST_TMPDIR/house"
	echo '#include "peer-hook.h"' >>channels/wtune.c
	run -1 build-aux/map check
	[[ $output = *"channels/wtune.c includes peer-hook.h"* ]]
}

@test "no circle leads through files of a room, by includes or by calls" {
	run -0 "$TOP/build-aux/map" check "$BUILD/hayate"
	[ -z "$output" ]
}

@test "the check names a circle of includes, and one of calls" {
	local house=$BATS_TEST_TMPDIR/house
	copy_rooms "$house"
	cd "$house"
	mkdir built
	echo 'int slow_a(void); int flow_a(void) { return slow_a(); }' |
	    cc -xc -c -o built/request-window.o -
	echo 'int flow_a(void); int slow_a(void) { return flow_a(); }' |
	    cc -xc -c -o built/slow-conn.o -
	run -0 build-aux/map check
	run -1 build-aux/map check built
	[[ $output = *"request-window is in a circle, or between two: it needs slow-conn"* ]]
	[[ $output = *"slow-conn is in a circle, or between two: it needs request-window"* ]]
	[ ${#lines[@]} = 2 ]
	echo '#include "scheduler.h"' >>transfer/sched/sched-action.h
	run -1 build-aux/map check
	[[ $output = *"sched-action is in a circle, or between two: it needs scheduler"* ]]
	[[ $output != *"request-window is in a circle"* ]]
}

@test "the check names a room of transfer/ that HOUSE.md shows wrongly" {
	copy_rooms "$BATS_TEST_TMPDIR/house"
	cd "$BATS_TEST_TMPDIR/house"
	sed -i '/transfer\/data/s/ extents / /; s/^| [0-9]* \(| `transfer.sched\)/| 9 \1/' HOUSE.md
	run -1 build-aux/map check
	[[ $output = *"HOUSE.md does not show extents in transfer/data/"* ]]
	[[ $output = *"HOUSE.md draws transfer/sched/ on floor 9, it is on 3"* ]]
	[ ${#lines[@]} = 2 ]
}

@test "the check names a function of 101 lines and a file of 1001" {
	local house=$BATS_TEST_TMPDIR/house
	copy_rooms "$house"
	cd "$house"
	{
		printf 'void\nflow_a(void)\n{\n'
		yes '	flow_b();' | head -n 99
		echo '}'
	} >>transfer/sched/request-window.c
	yes '' | head -n "$((1001 - $(wc -l <transfer/report/json.c)))" >>transfer/report/json.c
	run -1 build-aux/map check
	[[ $output = *"request-window.c flow_a() has 101 lines, 100 are allowed"* ]]
	[[ $output = *"json.c has 1001 lines, 1000 are allowed"* ]]
	[ ${#lines[@]} = 2 ]
}

@test "the check names a function that compares an operation with three others" {
	copy_rooms "$BATS_TEST_TMPDIR/house"
	cd "$BATS_TEST_TMPDIR/house"
	cat >>transfer/copy/put-hook.c <<-'EOF'
		int
		put_is_open(enum sched_op op)
		{
			switch (op) {
			case OP_OPEN:
			case OP_REOPEN:
				return 1;
			default:
				return op ==
				    OP_OPEN_EXCL || op == OP_OPEN;
			}
		}
	EOF
	run -1 build-aux/map check
	[[ $output = *"put-hook.c put_is_open() compares an operation with 3 others, 2 are"* ]]
	[ ${#lines[@]} = 1 ]
	sed -i 's/OP_OPEN_EXCL ||/OP_REOPEN ||/' transfer/copy/put-hook.c
	run -0 build-aux/map check
}

@test "a module has its suites in regress/covers" {
	copy_rooms "$BATS_TEST_TMPDIR/house"
	cd "$BATS_TEST_TMPDIR/house"
	run -0 build-aux/map check
	rm regress/wtune.bats
	sed -i '/^channels\/bdp/d' regress/covers
	echo 'channels/gone windows' >>regress/covers
	run -1 build-aux/map check
	[[ $output = *"channels/bdp has no suite in regress/covers"* ]]
	[[ $output = *"regress/covers: channels/gone is no module"* ]]
	[[ $output = *"channels/wtune: no suite wtune"* ]]
}

@test "every C file is listed in modules.mk" {
	local f
	# shellcheck disable=SC2046 # names
	for f in $(cd "$TOP" && ls $(list_rooms | sed 's|[^ ][^ ]*|&/*.c|g')); do
		grep -q "^	$f " "$TOP/modules.mk" || echo "$f"
	done >"$BATS_TEST_TMPDIR/missing"
	run -0 cat "$BATS_TEST_TMPDIR/missing"
	[ -z "$output" ]
}

@test "patches call hooks and only the listed cores" {
	local direct name
	direct=$(sed -n 's/^HAYATE_DIRECT = //p' "$TOP/modules.mk")
	for name in $(sed -n 's/^+#include "\(.*\)"/\1/p' "$TOP"/patches/*.patch |
	    sort -u); do
		[[ $name = *-hook.h || " $direct " = *" $name "* ]] || echo "$name"
	done >"$BATS_TEST_TMPDIR/strange"
	run -0 cat "$BATS_TEST_TMPDIR/strange"
	[ -z "$output" ]
}

@test "each link of the pages leads to a file of the repository" {
	local page link
	for page in "$TOP"/*.md "$TOP"/regress/bench/*.md; do
		grep -o '](\([^)]*\))' "$page" | sed 's/^](//; s/)$//' | while read -r link; do
			[ -e "${page%/*}/$link" ] || echo "${page##*/}: $link"
		done
	done >"$BATS_TEST_TMPDIR/lost"
	run -0 cat "$BATS_TEST_TMPDIR/lost"
	[ -z "$output" ]
}

@test "each function that HOUSE.md and CONTRIBUTING.md name exists" {
	local name
	for name in $(grep -ohE '[a-z0-9_]+\(\)' "$TOP/HOUSE.md" \
	    "$TOP/CONTRIBUTING.md" | tr -d '()' | sort -u); do
		grep -qE "^$name\(" "$BUILD"/upstream/*.c "$TOP"/{*,transfer/*}/*.c ||
		    echo "$name"
	done >"$BATS_TEST_TMPDIR/lost"
	run -0 cat "$BATS_TEST_TMPDIR/lost"
	[ -z "$output" ]
}

@test "each patch that the pages name by its number exists" {
	local number
	for number in $(grep -ohE '(patch |\b)[1-4][0-9][0-9](-[a-z]|\b)' \
	    "$TOP/HOUSE.md" "$TOP/README.md" | grep -oE 'patch [0-9]+|[0-9]+-' |
	    tr -dc '0-9\n' | sort -u); do
		compgen -G "$TOP/patches/$number-*.patch" >/dev/null ||
		    echo "$number"
	done >"$BATS_TEST_TMPDIR/lost"
	run -0 cat "$BATS_TEST_TMPDIR/lost"
	[ -z "$output" ]
}

# list_defined FILE...: prints the names that objects and libraries define for others
list_defined() { nm "$@" | awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' | sort -u; }

@test "no global name of ours is one of upstream, libc or libcrypto" {
	local object ours replaced upstream=() here=$BATS_TEST_TMPDIR
	cd "$BUILD/hayate"
	ours=$(sed -n 's|^	.*/\(.*\)\.c \\$|\1.o|p' "$TOP/modules.mk")
	replaced=$(sed -n 's/^HAYATE_REPLACED = //p' "$TOP/modules.mk")
	for object in *.o; do
		[[ " ${ours//$'\n'/ } ${replaced//.c/.o} " = *" $object "* ]] ||
		    upstream+=("$object")
	done
	# shellcheck disable=SC2086 # names
	list_defined -g --defined-only $ours >"$here/ours"
	# shellcheck disable=SC2046 # names
	{
		list_defined -g --defined-only "${upstream[@]}"
		list_defined -D --defined-only $(ldd ssh |
		    grep -oE '/[^ ]*/lib(c|crypto)\.so[^ ]*')
	} | sort -u >"$here/theirs"
	[ "$(grep -cxE 'sftp_init|transfer_can|transfer_put_tree' "$here/ours")" = 2 ]
	[ "$(grep -cxE 'sftp_init|malloc|EVP_MAC_init' "$here/theirs")" = 3 ]
	# Some programs of upstream have their own cleanup_exit().
	run -0 comm -12 "$here/ours" "$here/theirs"
	[ "$output" = cleanup_exit ]
}

@test "a global name of transfer/ begins with the name of its file" {
	local f name
	# Some have a shorter one: sched for scheduler, conn-sched and sched-replies. Functions
	# of scheduler.h may be in a file below it.
	local -A short=([arguments]=args [conn-sched]=sched [deferred-signals]=signals
		[file]="(file|dir)" [fs-identity]=fs [lookup-queue]="(lookup_queue|sched)"
		[op-table]=op
		[scheduler]=sched
		[sched-replies]=sched [sequence]=seq
		[sftp-request]="(request|reply)" [sftp-stream]=stream
		[verify-requests]=verify)
	for f in "$TOP"/transfer/*/*.c; do
		f=$(basename "$f" .c)
		name=${f%-hook}
		list_defined -g --defined-only "$BUILD/hayate/$f.o" |
		    grep -vE "^${short[$name]:-${name//-/_}}_" || :
	done >"$BATS_TEST_TMPDIR/strange"
	# Upstream calls these two, or what stands for it.
	run -0 sort "$BATS_TEST_TMPDIR/strange"
	[ "${lines[*]}" = "cleanup_first sftp_download" ]
}

# list_missing_tests FILE: prints tests that it names and that do not exist, and promises
# without a test
list_missing_tests() {
	local f
	for f in "$REGRESS"/{,memory/,race/}*.bats; do
		sed -n "s/^@test \"\(.*\)\" {$/$(basename "$f" .bats): \1/p" "$f"
	done | sort >"$BATS_TEST_TMPDIR/tests"
	sed -n 's/^- //p' "$1" | sort -u | comm -23 - "$BATS_TEST_TMPDIR/tests"
	grep . "$1" | awk '/^[^-#]/ && n++ && !tests { print promise }
	    /^[^-#]/ { promise = $0; tests = n == 1 } /^-/ { tests = 1 }
	    END { if (!tests) print promise }'
}

@test "each test that PROMISES.md names exists, and each promise has one" {
	local at=$BATS_TEST_TMPDIR/spoilt
	run -0 list_missing_tests "$REGRESS/PROMISES.md"
	[ -z "$output" ]
	{
		cat "$REGRESS/PROMISES.md"
		printf '%s\n' '' 'First.' '' 'Next.' '' '- trees: none' '' 'Last.'
	} | grep -v '^- scheduler: 500 files are checked\|^- resume: 500 files' >"$at"
	run -0 list_missing_tests "$at"
	[ "${lines[0]}" = "trees: none" ]
	[[ ${lines[1]} = "Verifying many complete files"* ]]
	[ "${lines[2]} ${lines[3]}" = "First. Last." ]
	[ ${#lines[@]} = 4 ]
}

# Each more is one that a caller has to know in order to use the scheduler.
@test "the scheduler has 26 functions, and an entry at most 30 members" {
	local n
	n=$(grep -oE '\bsched_[a-z_]+\(' "$TOP/transfer/sched/scheduler.h" | sort -u | grep -c .)
	[ "$n" -le 26 ]
	n=$(sed -n '/^struct sched_entry {/,/^};/p' "$TOP/transfer/sched/sched-internal.h" |
	    sed 's|/\*.*||' | grep -oE '[a-z_]+(, [a-z_*]+)*;' | tr ',' '\n' | grep -c .)
	[ "$n" -le 30 ]
}
