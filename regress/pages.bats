#!/usr/bin/env bats
# Needs: hayate stock pages
# The manual pages that are ours, the sections in upstream's pages, and what
# contrib/migrate.md says of keywords.

load helper

setup_file() {
	export DEST=$BATS_FILE_TMPDIR/dest
	make -s -C "$TOP" install DESTDIR="$DEST"
	MAN=$DEST$(sed -n 's/^prefix=//p' "$BUILD/hayate/Makefile")/share/man
	export MAN
}

setup() { cd "$BATS_TEST_TMPDIR"; }

# list_options: prints name and sides of our own keywords
list_options() {
	sed -n 's/^	{ "\([A-Za-z0-9]*\)", \([CSB]\), \(FLAG\|SIZE\|COUNT\|NUMBER\|DELAY\|LIMIT\|AUTO_FLAG\|HOSTS\|NAME\), .*/\1 \2/p' \
	    "$TOP/common/hayopt.c"
}

# print_page FILE: prints it as text
print_page() { mandoc -T ascii "$1" | col -bx; }

@test "apropos finds hayate and its programs in the installed pages" {
	need mandb man-db
	cp -a "$MAN" man
	mandb -q -c -u man
	run -0 apropos -M man hayate
	[[ $output = *"hayate (7) "*"OpenSSH tuned to the network path"* ]]
	[[ $output = *"hayate-check-config (1) "* ]]
	[[ $output = *"hayate-security-status (1) "* ]]
	# and a page that was taken away is not found
	rm man/man7/hayate.7
	mandb -q -c -u man
	run -0 apropos -M man hayate
	[[ $output != *"hayate (7)"* ]]
}

# list_groff_warnings FILE: prints groff's warnings for a page at 80 columns
list_groff_warnings() {
	MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l -Tutf8 -Z "$1" 2>&1 >/dev/null |
	    sed -n 's/.*warning.*: *//p' | sort
}

# As lintian of Debian 13 sees it. A word that fits on no line belongs into a display.
@test "groff warns about none of our lines, and about upstream's as before" {
	need man man-db
	local page
	for page in "$BUILD"/upstream/{ssh,sshd}_config.5 "$BUILD"/upstream/{scp,sftp}.1; do
		list_groff_warnings "$page" >before
		list_groff_warnings "$BUILD/hayate/${page##*/}" >after
		diff before after
	done
	for page in "$MAN"/man?/hayate*; do
		[ -z "$(list_groff_warnings "$page")" ]
	done
}

@test "our pages name the paths of the build, and no placeholder is left" {
	local page
	for page in "$MAN"/man?/hayate*; do
		run -1 grep -E '@[A-Z]+@' "$page"
	done
	grep -F "$(sed -n 's/^sysconfdir=//p' "$BUILD/hayate/Makefile" |
	    sed 's,.*},,')/sshd_config" "$MAN/man7/hayate.7"
	run -1 grep -rE '@[A-Z]+@' "$DEST" --include='hayate*'
}

@test "mandoc and man find nothing wrong in our pages" {
	local page
	need mandoc
	for page in "$TOP"/man/hayate*.[1-8]; do
		run mandoc -T lint "$page"
		run -1 grep -vE 'referenced manual not found|outdated mandoc.db' <<<"$output"
		need man man-db
		run -0 --separate-stderr env MANWIDTH=78 man --warnings -l "$page"
		[ -z "$stderr" ]
	done
	# a macro that does not exist is found
	sed 's/^\.It Windows$/.It Windows\n.Qz/' "$TOP/man/hayate.7" >page.7
	run mandoc -T lint page.7
	[[ $output = *"unknown macro"* ]]
}

@test "a word in a title that is also an mdoc macro is shown as text" {
	local line n=0
	need mandoc
	print_page "$TOP/man/hayate.7" | tr -s ' \n' ' ' >text
	sed -n '/^\.Sh TROUBLESHOOTING/,/^\.Sh SEE/s/^\.It \(.*\)/\1/p' "$TOP/man/hayate.7" >titles
	while read -r line; do
		grep -qF -e "${line#\\&}" text || { echo "$line"; false; }
		n=$((n + 1))
	done <titles
	((n >= 8))
	grep -qF 'No window grows beyond some size' text
}

@test "no macro name occurs within a line, where it would be text" {
	run -1 grep -nE '. \.[A-Z][a-z]( |$)' "$TOP"/man/*.[1-8] "$TOP"/man/*.inc "$TOP"/man/*.section
}

@test "hayate(7) names each keyword with the default that ssh -G prints" {
	local name want
	need mandoc
	print_page "$TOP/man/hayate.7" >text
	"$(bin ssh)" -G -F /dev/null near >given
	while read -r name _; do
		want=$(sed -n "s/^${name,,} //p" given)
		case $name in Window*Max) want="by memory" ;; esac
		case $want in
		*[!0-9]*|'') ;;
		?|???)	;;
		*)	want=$((want / 1048576))M ;;
		esac
		grep -qE "^ *$name +$want " text || { echo "$name $want"; false; }
	done < <(list_options)
	# and none that does not exist
	while read -r name; do
		list_options | grep -q "^$name " || { echo "$name"; false; }
	done < <(sed -n 's/^\.It Cm \([A-Za-z]*\) Ta .*/\1/p' "$TOP/man/hayate.7")
}

@test "each message quoted in hayate(7) is in the code" {
	local line word n=0
	sed 's/\\$//' "$TOP"/{*,transfer/*}/*.c | tr -d '\n\t' | sed 's/" *"//g' >code
	while read -r line; do
		n=$((n + 1))
		# what stands between the words in capitals, which are values
		while read -r word; do
			[ ${#word} -lt 5 ] || grep -qF -e "$word" code ||
			    { echo "$line: $word"; false; }
		done < <(sed -e 's/\\(dq/\\"/g' -e 's/ -> / /' -e 's/(\.\.\.)//' \
		    -e 's/\<[A-Z][A-Z]\+\>\|\<[NM]\>/\n/g' <<<"$line" |
		    sed -e 's/^[ ,:;.]*//' -e 's/[ ,:;."]*$//' | grep .)
	done < <(sed -n 's/^\.It "\(.*\)"$/\1/p' "$TOP/man/hayate.7")
	((n >= 15))
}

@test "the arithmetic of hayate(7) is right" {
	need mandoc
	print_page "$TOP/man/hayate.7" | tr -s ' \n' ' ' >text
	# N * (8 MiB + 5/4 * WindowMemoryMax), with the least and the most default
	grep -qF "$((8 + 256 * 5 / 4)) MiB for each of them on a machine with 4 GiB, and $((8 + 512 * 5 / 4)) MiB on one with 8 GiB" text
	max=$("$(bin sshd)" -G -f /dev/null | sed -n 's/^windowmemorymax //p')
	check_true "$max >= 256 * 1048576 && $max <= 512 * 1048576"
	# the bound that it derives keeps 100 sessions below 8 GiB, and the next does not
	value=$(sed -n 's/.* = \([0-9]*\) MiB and write .*/\1/p' text)
	grep -qF "WindowMemoryMax ${value}M" text
	check_true "100 * (8 + 5 / 4 * $value) <= 8192 && 100 * (8 + 5 / 4 * ($value + 1)) > 8192"
	# rates: a window of 14 MiB and of 30 MiB at 100 ms
	grep -qF "14 MiB carry 1.1 Gbit/s at 100 ms" text
	check_true "int(14 * 1048576 * 8 / 0.1 / 1e8) == 11"
	grep -qF "30 MiB, enough for 2.5 Gbit/s at 100 ms" text
	check_true "int(30 * 1048576 * 8 / 0.1 / 1e8) == 25"
}

@test "upstream's pages have a section on Hayate, once, and lead to hayate(7)" {
	local name
	need mandoc
	for name in scp.1 sftp.1 ssh.1 sshd.8; do
		[ "$(grep -c '^\.Sh HAYATE$' "$BUILD/hayate/$name")" = 1 ]
		[ "$(grep -c '^\.Xr hayate 7 ,$' "$BUILD/hayate/$name")" = 1 ]
		print_page "$BUILD/hayate/$name" | grep -A3 '^HAYATE' | grep -q 'hayate(7)'
		cp "$BUILD/upstream/$name" once
		chmod u+w once
		"$TOP/man/section" once "$TOP/man/$name.section"
		cp once twice
		"$TOP/man/section" twice "$TOP/man/$name.section"
		cmp once twice
		run -1 diff "$BUILD/upstream/$name" once
		run -1 grep '^<' <<<"$output"
		mandoc -T lint "$BUILD/upstream/$name" | cut -d: -f4- | sort >before || :
		mandoc -T lint once | cut -d: -f4- | sort >after || :
		comm -13 before after | grep -v 'referenced manual not found: Xr hayate' >worse || :
		diff /dev/null worse
	done
}

@test "section refuses a page without SEE ALSO, and a file without a section" {
	printf '%s\n' ".Sh NAME" >page
	run -1 "$TOP/man/section" page "$TOP/man/scp.1.section"
	[ "$output" = "section: page: no section SEE ALSO" ]
	[ "$(cat page)" = ".Sh NAME" ]
	printf '%s\n' ".Sh SEE ALSO" >page
	echo '.\" nothing' >empty
	run -1 "$TOP/man/section" page empty
	[ "$output" = "section: page: nothing to insert" ]
}

@test "migrate.md names every keyword of HPN-SSH with its effect in Hayate" {
	local name kind row side
	while read -r name kind; do
		row=$(grep "\`${name}[ \`]" "$TOP/contrib/migrate.md" | head -n 1)
		case $kind in
		RETIRED) [[ $row = *"| ignored |"* ]] ;;
		REFUSED_FLAG) [[ $row = *"| refused |"* ]] ;;
		*) [[ $row = *"| \`"* ]] ;;
		esac || { echo "$name $kind: $row"; false; }
	done < <(sed -n 's/^	{ "\([A-Za-z0-9]*\)", [CSB], \(OTHER_[A-Z]*\|REFUSED_FLAG\|RETIRED\), .*/\1 \2/p' \
	    "$TOP/common/hayopt.c")
	# ssh itself confirms the aliases
	while read -r name kind; do
		echo "$name" >c
		"$(bin ssh)" -G -F c near | grep -qx "$kind"
	done <<-EOF
	HPNDisabled=yes hayate no
	TcpRcvBufPoll=no windowtuning no
	DisableMTAES=yes cipherthreads off
	Ciphers=chacha20-poly1305-mt@hpnssh.org ciphers chacha20-poly1305@openssh.com
	EOF
	run ! "$(bin ssh)" -G -o Ciphers=none near
	# stock's ssh reads a file with every keyword behind the line that is given
	{
		sed -n 's/^    \(IgnoreUnknown .*None\*.*\)/\1/p' "$TOP/contrib/migrate.md"
		while read -r name side; do [ "$side" = S ] || echo "$name x"; done < <(list_options)
	} >c
	"$(bin ssh stock)" -G -F c near >/dev/null
}

@test "each link of migrate.md leads to a file" {
	local link
	while read -r link; do
		[ -e "$TOP/contrib/$link" ] || { echo "$link"; false; }
	done < <(grep -o '](\([^)]*\))' "$TOP/contrib/migrate.md" | sed 's/^](//; s/)$//')
	grep -qF '(contrib/migrate.md)' "$TOP/README.md"
}
