#!/usr/bin/env bats
# Needs: hayate style
# The text of the tree: findings of tools in its C, its scripts and its prose.

load helper

setup() { cd "$TOP"; }

# edit_copy FILE SED: makes a changed copy of a file, and prints its name
edit_copy() {
	sed "$2" "$1" >"$BATS_TEST_TMPDIR/${1##*/}"
	run ! cmp -s "$1" "$BATS_TEST_TMPDIR/${1##*/}"
	echo "$BATS_TEST_TMPDIR/${1##*/}"
}

@test "the C is formatted as build-aux/uncrustify.cfg says" {
	run -0 build-aux/format
	[ -z "$output" ]
}

@test "the formatter names a line with a wrong indentation, brace or space" {
	local change
	for change in 's/^\treturn/\t\treturn/' 's/^\treturn/        return/' \
	    's/^    \(u*int\)/\t\1/' 's/^\t    /\t        /' \
	    's/^\tif (/\tif(/' 's/ == /==/' 's/^\(struct .*\) {$/\1\n{/' \
	    's/^\t\(if .*\) {$/\t\1\n\t{/'; do
		run -1 build-aux/format "$(edit_copy channels/wtune.c "$change")"
		[[ $output = *wtune.c:* ]]
	done
}

@test "shellcheck finds nothing in the scripts and suites" {
	run -0 build-aux/scripts
	[ -z "$output" ]
}

@test "shellcheck names what a script, a suite or a part of one does wrong" {
	local f
	for f in check regress/rooms.bats regress/helper.bash; do
		run -1 build-aux/scripts "$(edit_copy "$f" '$a\
x() { cat $1; }')"
		[[ $output = *"${f##*/}:"*SC2086* ]]
	done
}

@test "cppcheck finds nothing in the C" {
	run -0 build-aux/analyse
	[ -z "$output" ]
}

@test "cppcheck names a read behind the end of an array" {
	run -1 build-aux/analyse "$(edit_copy channels/bdp.c \
	    's/b->rate_max\[1\] :/b->rate_max[2] :/; s/b->rate_max\[1\];/b->rate_max[2];/')"
	[[ $output = *bdp.c:*arrayIndexOutOfBounds* ]]
}

# list_missing_guards FILE...: prints the headers without the guard HAYATE_NAME_H
list_missing_guards() {
	local f name
	for f; do
		name=HAYATE_$(basename "$f" .h | tr a-z- A-Z_)_H
		[ "$(grep -cx -e "#ifndef $name" -e "#define $name" \
		    -e "#endif /\* $name \*/" "$f")" = 3 ] || echo "$f"
	done
}

@test "each header has the guard HAYATE_NAME_H" {
	local other
	other=$(edit_copy cipher/pool.h s/HAYATE_POOL_H/POOL_H/)
	run -0 list_missing_guards "$other"
	[ "$output" = "$other" ]
	run -0 list_missing_guards ./{*,transfer/*}/*.h regress/*/*.h
	[ -z "$output" ]
}

# list_double_spaces FILE...: prints comments with two spaces between sentences
list_double_spaces() { grep -nHE '^[	 ]*(#|/?\*).*[a-z0-9)"][.!?]  [^ ]' "$@"; }

@test "one space stands between the sentences of a comment" {
	echo '# One.  Two.' >"$BATS_TEST_TMPDIR/two"
	run -0 list_double_spaces "$BATS_TEST_TMPDIR/two"
	run -1 list_double_spaces check demo ./{*,transfer/*}/*.[ch] regress/*/*.[ch] regress/*.ba* \
	    regress/*/*.ba* build-aux/*[!~] regress/lfp/lfp
	[ -z "$output" ]
}

@test "the prose has no word that neither a dictionary nor regress/words knows" {
	run -0 build-aux/spell
	[ -z "$output" ]
}

# check_misspelt FILE SED: checks that spell names one wrong word in the changed file
check_misspelt() {
	run -1 build-aux/spell "$(edit_copy "$1" "$2")"
	[[ $output = *"${1##*/}:"*": recieve" && ${#lines[@]} = 1 ]]
}

@test "a misspelt word of a page, comment, manual, patch or test name is named" {
	check_misspelt README.md '3a\
They recieve it.'
	check_misspelt channels/bdp.c '1s/$/ recieve/'
	check_misspelt check '5s/$/ recieve/'
	check_misspelt man/ssh_config.inc '$a\
recieve'
	check_misspelt patches/110-channels-window.patch '1s/$/ recieve/'
	check_misspelt regress/rooms.bats 's/^@test "no /&recieve /'
	# not in code
	run -0 build-aux/spell "$(edit_copy channels/bdp.c '$a\
static int recieve;')"
}

@test "regress/words is sorted and has no word twice" {
	LC_ALL=C sort -c -u regress/words
}

@test "no room has more house words, or sentences without a noun, than its bound" {
	run -0 build-aux/wording
	[ -z "$output" ] || printf '# %s\n' "${lines[@]}" >&3
}

# check_wording FILE SED TEXT: checks that wording names TEXT in the changed file
check_wording() {
	run -1 build-aux/wording "$(edit_copy "$1" "$2")"
	[[ $output = *"${1##*/}:"*": \"$3\": "* ]]
}

@test "a house word of a comment, message, page, manual, patch or test title is named" {
	check_wording cipher/pool.h '1s/$/ under way/' 'under way'
	check_wording cipher/pool.h '2s/$/ under\
 * way/' 'under way'
	check_wording cipher/pool.c '$a\
static char *x = "is tried "\
    "again";' 'tried again'
	check_wording check '5s/$/ once more/' 'once more'
	check_wording README.md '3a\
It takes so many files.' 'so many files'
	check_wording man/ssh_config.inc '$a\
begins anew' 'begins anew'
	check_wording patches/110-channels-window.patch '1s/$/ under way/' 'under way'
	check_wording regress/rooms.bats 's/^@test "no /&hidden file /' 'hidden file'
}

@test "a sentence that begins with What, Who, So or It, and lacks a noun, is named" {
	check_wording cipher/pool.h '1a\
 * It is free.' 'It is'
	check_wording cipher/pool.h '2s/$/. Who asks waits./' 'Who asks'
	check_wording check '5a\
#\
# name: So does this' 'So does'
	check_wording build-aux/spell 's/"""Returns the comments/"""What is a comment/' 'What is'
	check_wording README.md '3a\
What was copied is compared.' 'What was'
	# not where the subject is a sentence before it, or within the sentence
	run -0 build-aux/wording "$(edit_copy cipher/pool.h '1a\
 * The pool is small. It is free.\
 * What users see is small.')"
}

@test "more house words or such sentences than the bound fail, fewer ask for a lower bound" {
	local dir=$BATS_TEST_TMPDIR/tree bounds out=()
	mkdir -p "$dir"/{build-aux,cipher,regress}
	cp build-aux/{spell,wording} "$dir/build-aux"
	cp regress/house-words "$dir/regress"
	echo '/* What is under way? */' >"$dir/cipher/a.c"
	for bounds in '1 1' '2 2' '0 1' '1 0'; do
		printf 'cipher\t%s\nbuild-aux\t9\t9\n' "${bounds/ /$'\t'}" \
		    >"$dir/regress/wording-bounds"
		run "$dir/build-aux/wording"
		out+=("$status" "$(grep -c '^cipher: .* lower' <<<"$output")" \
		    "$(grep -c '^cipher/a.c:1: ' <<<"$output" || :)")
	done
	[ "${out[*]}" = '0 0 0 0 2 0 1 0 1 1 0 1' ]
}

# list_long_lines FILE...: prints lines of more than 80 columns; a tab ends at a multiple
# of 8
list_long_lines() {
	local f
	for f; do
		expand "$f" | grep -nE '^.{81}' | sed "s|^|$f:|"
	done
}

@test "no line of the C is longer than 80 columns" {
	printf '\t%072d\n\t%073d\n' 0 0 >"$BATS_TEST_TMPDIR/wide.c"
	run list_long_lines "$BATS_TEST_TMPDIR/wide.c"
	[[ ${#lines[@]} = 1 && $output = *wide.c:2:* ]]
	run list_long_lines ./{*,transfer/*}/*.[ch] regress/*/*.[ch]
	[ -z "$output" ]
}

# list_duplicates FILE...: prints functions that stand in two of the suites, word for word
list_duplicates() {
	awk '
	function told(name) {
		if (text in first && first[text] != FILENAME)
			print name ": " first[text] " " FILENAME
		first[text] = FILENAME
	}
	/^(setup|teardown)/ { next }
	match($0, /^[a-z_]+\(\) \{/) {
		name = $1
		text = $0
		if (/}$/) told(name)
		else open = 1
		next
	}
	open { text = text "\n" $0 }
	open && /^}/ { open = 0; told(name) }' "$@"
}

@test "a function that two suites need stands in helper.bash" {
	local other
	other=$(edit_copy regress/wtune.bats 's/^load.*/&\nfails() { ! "$@"; }/')
	run -0 list_duplicates regress/helper.bash "$other"
	[ "$output" = "fails(): regress/helper.bash $other" ]
	run -0 list_duplicates regress/*.ba* regress/*/*.bats
	[ -z "$output" ]
}

# list_joined_tests FILE...: prints tests that && joins where the failure of the first is
# no error: on any line of a function but its last
list_joined_tests() {
	awk '
	FNR == 1 { held = text = "" }
	text == "" { at = FILENAME ":" FNR }
	{ text = text $0 }
	/(&&|\|\||\\)$/ { next }
	NF == 0 { text = "" }
	text == "" { next }
	{
		if (held != "" && text !~ /^}/) print held
		held = text !~ /\|\|| (break|continue|return)/ && text ~ \
		    /^[\t ]*(! )?\[.* \]+ &&[\t ]*(! )?(\[|cmp |diff |grep )/ ? at : ""
		text = ""
	}' "$@"
}

@test "a line of a test joins no two checks, as Bats would not see the first fail" {
	local bad=$BATS_TEST_TMPDIR/joined
	sed 's/@@/\&\&/g' >"$bad" <<-'END'
	x() {
		[ 1 = 2 ] @@ [ 2 = 2 ]
		[[ 1 = 2 @@ 2 = 2 ]]
		[[ 1 = 2 ]] @@
		    ! [ 2 = 2 ]
		[ 1 = 2 ] @@ [ 2 = 2 ] @@ return
		for i in 1; do
			[ -e x ] @@ cmp x y
		done
		[ 1 = 2 ] @@ [ 2 = 2 ]
	}
	END
	run -0 list_joined_tests "$bad"
	[ "${lines[*]##*:}" = '2 4 8' ]
	run -0 list_joined_tests regress/*.ba* regress/*/*.ba*
	[ -z "$output" ]
}
