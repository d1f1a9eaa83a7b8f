# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# run --resume FILE continues a sitting that was stopped.
#
# Each line holds the options of its sitting and all conditions. The KEY_ columns
# identify a run. A run that the file has with status 0 is taken from the file.
# The others are run in the usual order. So logins of the first part count in the
# median that is subtracted.
#
# A sitting continues only with the same programs on the same machine: otherwise
# its lines would not be comparable.

RESUMED=''
KEY_='place cc rtt_ms rate loss tcp_max cipher window streams load cell'
KEY_+=' program mode direction run'
RESULT_='seconds cpu_near cpu_far kib ms status'
declare -A HAD=()

header() {
	# shellcheck disable=SC2086
	(set -- $COLUMNS_; IFS=$'\t'; echo "$*")
}

# lines PROGRAM: runs awk over the complete lines. $at["name"] is a field, and
# pick(NAMES, SEPARATOR) joins several.
lines() {
	head -n "$(wc -l <"$RESUMED")" "$RESUMED" |
	    awk -F'\t' -v key="$KEY_" -v result="$RESULT_" '
	function pick(names, separator,  i, n, v, s) {
		n = split(names, v, " ")
		for (i = 1; i <= n; i++) s = s $at[v[i]] separator
		return s
	}
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = NF; next }
	NF == n { '"$1"' }'
}

# resume FILE|DIRECTORY: sets GIVEN to the options the sitting was begun with
resume() {
	local o begun
	declare -A KEPT=()
	RESUMED=${1%/}
	[ ! -d "$1" ] ||
	    RESUMED=$(find "$1" -maxdepth 1 -name '*.tsv' | sort | tail -n 1)
	[ -f "$RESUMED" ] || die "--resume $1: no results there"
	[ "$(head -n 1 "$RESUMED")" = "$(header)" ] ||
	    die "--resume $1: other columns than this version writes"
	[ -z "${GIVEN[out]:-}" ] || die "--out: the results go to $RESUMED"
	begun=$(lines 'print $at["options"]; exit')
	[ -n "$begun" ] || return 0	# the file has no run
	# shellcheck disable=SC2086
	words KEPT $begun
	for o in "${!GIVEN[@]}"; do
		case $o in resume) continue ;; esac
		[ "${GIVEN[$o]}" = "${KEPT[$o]:-}" ] ||
		    die "--$o: $RESUMED was begun with $begun"
	done
	for o in "${!KEPT[@]}"; do
		GIVEN[$o]=${KEPT[$o]}
	done
}

# same WHAT THEN NOW
same() {
	[ "$2" = "$3" ] || die "--resume: $1 was $2, and is $3"
}

# resume_same: dies unless the machine and the programs are the same
resume_same() {
	local name now program version
	for name in kernel cpu cores libcrypto; do
		now=${name^^}
		lines 'print $at["'$name'"]; exit' | {
			! read -r version || same "$name" "$version" "${!now}"
		} || exit
	done
	while IFS=$'\t' read -r program version; do
		same "$program" "${version% with *}" "${VERSION[$program]:-gone}"
	done < <(lines 'print $at["program"] "\t" $at["version"]' | sort -u)
	version=$(lines 'print $at["commit"]; exit')
	[ "${version:-$COMMIT}" = "$COMMIT" ] ||
	    warn "begun at commit $version, going on at $COMMIT"
}

# resume_lines: fills HAD, and keeps only complete lines of successful runs
resume_lines() {
	local key result n=0 all
	resume_same
	all=$(($(wc -l <"$RESUMED") - 1))
	cp -p "$RESUMED" "$RESUMED~" || exit
	{ header; lines 'if ($at["status"] == "0") print'; } >"$RESUMED.new" || exit
	mv "$RESUMED.new" "$RESUMED" || exit
	while IFS=$'\t' read -r key result; do
		HAD[$key]+=$result$'\n'
		n=$((n + 1))
	done < <(lines 'print pick(key, "|") "\t" pick(result, " ")')
	warn "$RESUMED: $n runs are there, $((all - n)) had failed"
}

# already PROGRAM MODE DIRECTION RUN: whether the file has that run. RESULT is
# then the verb's output.
already() {
	local key
	printf -v key '%s|' "$COND_PLACE" "$COND_CC" "$COND_RTT" "$COND_RATE" \
	    "$COND_LOSS" "$COND_TCP" "$COND_CIPHER" "$COND_WINDOW" \
	    "$COND_STREAMS" "$COND_LOAD" "$CELL" "$@"
	[ -n "${HAD[$key]:-}" ] || return
	RESULT=${HAD[$key]%%$'\n'*}
	HAD[$key]=${HAD[$key]#*$'\n'}
}
