#!/usr/bin/env bats
# Needs: hayate shells
# Completion of our keywords and options, in bash and zsh: with the
# distribution's functions, which stay, and without them.

load helper

setup() { cd "$BATS_TEST_TMPDIR"; }

# The distribution's completion, as a stand-in or as installed; and ours as "make
# install" puts it.
setup_file() {
	export DEST=$BATS_FILE_TMPDIR/dest
	"$TOP/build-aux/install-ours" "$DEST" '' /bin /libexec /man /share
	"$TOP/build-aux/install-ours" "$DEST/renamed" 's,^,hayate-,' /bin /libexec /man /share
	mkdir -p "$BATS_FILE_TMPDIR/theirs/bash-completion/completions"
	cat >"$BATS_FILE_TMPDIR/theirs/bash-completion/completions/ssh" <<-'EOT'
	_ssh() { COMPREPLY=($(compgen -W 'Theirs= WindowsOfTheirs= host1 host2' -- "$2")); }
	complete -F _ssh ssh
	complete -F _ssh -o nospace scp sftp
	EOT
	cp "$BATS_FILE_TMPDIR/theirs/bash-completion/completions/ssh" \
	    "$BATS_FILE_TMPDIR/theirs/bash-completion/completions/scp"
	cp "$BATS_FILE_TMPDIR/theirs/bash-completion/completions/ssh" \
	    "$BATS_FILE_TMPDIR/theirs/bash-completion/completions/sftp"
}

# complete_line [DIR] WORD...: prints what bash offers for the last word of a line, whose
# words are split as bash splits them; DIR has the distribution's files
complete_line() {
	XDG_DATA_DIRS=$1 bash --norc -c '
	. "$0/bash-completion/completions/$1"
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE=$* COMP_POINT=${#COMP_LINE}
	how=$(complete -p "$1" | sed "s/.* -F \([^ ]*\) .*/\1/")
	"$how" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	printf "%s\n" "${COMPREPLY[@]}" | sort | paste -sd" "' "${OURS-$DEST/share}" "${@:2}"
}
complete_both() { complete_line "$BATS_FILE_TMPDIR/theirs" "$@"; }
complete_alone() { complete_line /nonexistent "$@"; }

@test "a keyword is completed behind -o, beside the distribution's" {
	[ "$(complete_both ssh -o Window)" = "WindowMax= WindowMemoryMax= WindowTuning= WindowsOfTheirs=" ]
	[ "$(complete_both scp -o Hay)" = "Hayate=" ]
	[ "$(complete_both sftp -4 -oNoneS)" = "-oNoneSwitch=" ]
	[ "$(complete_both ssh -p 22 -o T)" = "Theirs= TransferHosts= TransferStreams=" ]
	[ "$(complete_alone ssh -o Cong)" = "CongestionControl=" ]
}

@test "everything else is completed by the distribution alone" {
	[ "$(complete_both ssh host)" = "host1 host2" ]
	[ "$(complete_both ssh -i Window)" = "WindowsOfTheirs=" ]
	[ "$(complete_alone ssh Window)" = "" ]
}

@test "the values of a keyword are completed, and the congestion controls of the kernel" {
	[ "$(complete_both ssh -o CipherThreads = a)" = auto ]
	[ "$(complete_both ssh -o CipherThreads =)" = "1 16 2 4 8 auto off" ]
	[ "$(complete_alone ssh -oHayate = n)" = no ]
	[ "$(complete_alone ssh -o NoSuch = n)" = "" ]
	[[ " $(complete_alone ssh -o CongestionControl =) " = *" default "* ]]
	read -r first _ </proc/sys/net/ipv4/tcp_allowed_congestion_control
	[[ " $(complete_alone ssh -o CongestionControl =) " = *" $first "* ]]
}

@test "each keyword of ssh is completed, and each value is one that ssh accepts" {
	local name value n=0
	while read -r name; do
		[ "$(complete_alone ssh -o "$name")" = "$name=" ] || [ "$name" = WindowM ]
		for value in $(complete_alone ssh -o "$name" =); do
			"$(bin ssh)" -G -F /dev/null -o "$name=$value" near >/dev/null
			n=$((n + 1))
		done
	done < <(sed -n 's/^	{ "\([A-Za-z0-9]*\)", [CB], \(FLAG\|SIZE\|COUNT\|NUMBER\|LIMIT\|AUTO_FLAG\|HOSTS\|NAME\), .*/\1/p' \
	    "$TOP/common/hayopt.c")
	((n >= 20))
}

# list_long_options PROGRAM: prints them as the program names them itself, with their
# argument
list_long_options() {
	"$(bin "$1")" --no-such-option 2>&1 | tr -s ' \n' '  ' |
	    sed -n 's/.*long options: \(.*\) The others.*/\1/p' | grep -o '\[[^]]*\]' | tr -d '[]'
}

@test "each long option of scp and sftp is completed, and no other" {
	local program
	for program in scp sftp; do
		list_long_options $program | sed 's/ .*//' >named
		grep -qx -e --resume named
		[ "$(complete_alone $program --)" = "$(sort named | paste -sd' ')" ]
		[ "$(complete_both $program -r --resum)" = --resume ]
		[ "$(complete_alone $program -)" = "$({ cat named; echo -j; } | sort | paste -sd' ')" ]
	done
	[ "$(complete_alone ssh --)" = "" ]
	[ "$(complete_both scp --nosuch)" = "" ]
	# once, if the distribution's function has read it in the usage
	sed 's/Theirs=/--resume/' "$BATS_FILE_TMPDIR/theirs/bash-completion/completions/scp" >t
	mkdir -p more/bash-completion/completions
	mv t more/bash-completion/completions/scp
	[ "$(complete_line "$PWD/more" scp --resu)" = --resume ]
}

@test "after a long option with an argument only files are completed" {
	local program option n=0
	touch host1.json zfile
	for program in scp sftp; do
		while read -r option _; do
			[ "$(complete_both $program "$option" host1)" = host1.json ]
			[ "$(complete_both $program "$option" = zf)" = zfile ]
			[ "$(complete_alone $program "$option" =)" = "host1.json zfile" ]
			n=$((n + 1))
		done < <(list_long_options $program | grep ' ' | grep -v -e --hosts)
	done
	((n >= 2))
	[ "$(complete_both scp --resume host)" = "host1 host2" ]
}

@test "after --hosts names of hosts are completed, separated by commas" {
	local program
	touch host1.json
	echo "127.0.0.1 dtn1 dtn2 other" >hosts
	export HOSTFILE=$PWD/hosts
	for program in scp sftp; do
		[ "$(complete_alone $program --hosts dt)" = "dtn1 dtn2" ]
		[ "$(complete_both $program --hosts = dtn1)" = dtn1 ]
		[ "$(complete_alone $program --hosts dtn1,o)" = dtn1,other ]
		[ "$(complete_both $program --hosts host1)" = "" ]
	done
}

@test "-j of scp and sftp is completed, and so are its values" {
	local program value n=0
	for program in scp sftp; do
		[ "$(complete_both $program -j)" = -j ]
		[ "$(complete_both $program -j a)" = auto ]
		for value in $(complete_both $program -j ''); do
			run "$(bin $program)" -j "$value" -S /bin/false host:x y
			[[ $output != *"is allowed"* ]]
			n=$((n + 1))
		done
	done
	((n == 10))
	run "$(bin scp)" -j 9 -S /bin/false host:x y
	[[ $output = *"is allowed"* ]]
	[ "$(complete_both ssh -j a)" = "" ]
	[ "$(complete_both scp -j 4 host)" = "host1 host2" ]
}

@test "renamed programs have completions of their own" {
	OURS=$DEST/renamed/share
	[ "$(complete_both hayate-ssh -o NoneE)" = "NoneEnabled=" ]
	[ "$(complete_both hayate-scp host)" = "host1 host2" ]
	[ "$(complete_both hayate-sftp --resu)" = --resume ]
	[ ! -e "$OURS/bash-completion/completions/ssh" ]
}

@test "the package bash-completion and ours work together" {
	[ -f /usr/share/bash-completion/bash_completion ] || skip "no package bash-completion"
	run -0 --separate-stderr bash --norc -c '
	. /usr/share/bash-completion/bash_completion
	. "$0/bash-completion/completions/ssh"
	for words in "ssh -o Window" "ssh -o Forward" "ssh -" "scp --ch"; do
		read -ra COMP_WORDS <<<"$words"
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$words COMP_POINT=${#words}
		COMPREPLY=()
		_hayate "${words%% *}" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
		echo "${COMPREPLY[@]}"
	done' "$DEST/share"
	[[ ${lines[0]} = *WindowMax=* && ${lines[0]} = *WindowTuning=* ]]
	[[ ${lines[1]} = *ForwardAgent=* && ${lines[1]} != *Window* ]]
	[[ ${lines[2]} = *-4* ]]
	[ "${lines[3]}" = --checksum ]
}

@test "install and uninstall leave a completion of the distribution unchanged" {
	copy_build
	share=to$(sed -n 's/^prefix=//p' "$BUILD/hayate/Makefile")/share
	mkdir -p "$share/bash-completion/completions"
	echo "complete -F _ssh ssh" >"$share/bash-completion/completions/ssh"
	run -0 "$TOP/build-aux/install" install "$PWD/to" ''
	[[ $output = *"left "*"/completions/ssh as it is"* ]]
	[ "$(cat "$share/bash-completion/completions/ssh")" = "complete -F _ssh ssh" ]
	grep -q _hayate_keywords "$share/bash-completion/completions/scp"
	[ -f "$share/zsh/site-functions/_hayate" ]
	"$TOP/build-aux/install" uninstall "$PWD/to" ''
	[ -f "$share/bash-completion/completions/ssh" ]
	[ ! -e "$share/bash-completion/completions/scp" ]
	[ ! -e "$share/zsh/site-functions/_hayate" ]
}

# check_zsh_tab LINE PATTERN: checks that a Tab at the end of a line makes a terminal of
# zsh show PATTERN
check_zsh_tab() {
	timeout 20 zsh -f -s -- "$1" "$2" "$DEST/share/zsh/site-functions" <<-'EOT'
	zmodload zsh/zpty
	zpty z "TERM=dumb zsh -f -i"
	zpty -w z "PS1=READY; fpath=($3 \$fpath); autoload -Uz compinit; compinit -u -D"
	zpty -w z "zstyle ':completion:*' menu no; echo set''up"
	zpty -r -m z out '*setup*'
	zpty -n -w z "$1"$'\t'
	zpty -r -m z out "*$2*"
	EOT
}

@test "zsh completes a keyword, a value, and what its own function offers" {
	need zsh
	check_zsh_tab "ssh -o CipherT" "CipherThreads="
	check_zsh_tab "ssh -oCipherT" "-oCipherThreads="
	check_zsh_tab "ssh -o CipherThreads=au" "CipherThreads=auto"
	check_zsh_tab "scp -o ForwardAg" "ForwardAgent="
	run ! check_zsh_tab "ssh -o NoSuchT" "NoSuchThreads="
}

@test "zsh completes each long option of scp and sftp, and a file after one" {
	need zsh
	local program option argument
	cd "$BATS_TEST_TMPDIR"
	echo >given.json
	for program in scp sftp; do
		while read -r option argument; do
			check_zsh_tab "$program ${option%?}" "$option"
			[ -n "$argument" ] || continue
			if [ "$option" = --hosts ]; then
				check_zsh_tab "$program $option localho" "localhost"
				check_zsh_tab "$program $option=a,localho" "a,localhost"
				continue
			fi
			check_zsh_tab "$program $option giv" "given.json"
			check_zsh_tab "$program $option=giv" "given.json"
		done < <(list_long_options $program)
	done
	check_zsh_tab "sftp -j au" "-j auto"
	# what follows is that of zsh
	check_zsh_tab "sftp --resume -o ForwardAg" "ForwardAgent="
	check_zsh_tab "sftp -j 4 -o ForwardAg" "ForwardAgent="
	check_zsh_tab "scp --report r.json giv" "given.json"
}
