# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Completion of Hayate's keywords after -o, and of its options of scp and sftp, for
# bash-completion. The distribution's completion of ssh, scp and sftp is kept: its
# file is loaded, its function is called first, and our words are added to its own.

_hayate_names='@NAMES@'
_hayate_keywords='@KEYWORDS@'
_hayate_scp='@SCP@'
_hayate_sftp='@SFTP@'
declare -gA _hayate_theirs

# _hayate_load PROGRAM: loads the distribution's completion of a program of OpenSSH:
# the first file that is not ours.
_hayate_load()
{
	local dir dirs
	IFS=: read -ra dirs <<<"${XDG_DATA_DIRS:-/usr/local/share:/usr/share}"
	for dir in "${dirs[@]}"; do
		dir=$dir/bash-completion/completions/$1
		[ -f "$dir" ] && ! grep -q _hayate_keywords "$dir" || continue
		# shellcheck disable=SC1090
		. "$dir"
		return
	done
	return 1
}

# _hayate_values KEYWORD: prints the values of a keyword, from its "NAME:VALUE,VALUE".
_hayate_values()
{
	local row
	for row in $_hayate_keywords; do
		[ "${row%%:*}" = "$1" ] || continue
		row=${row#*:}
		if [ "${row##*,}" = @kernel ]; then
			row="${row%,*} $(cat \
			    /proc/sys/net/ipv4/tcp_allowed_congestion_control \
			    2>/dev/null)"
		fi
		echo "${row//,/ }"
	done
}

# _hayate_add: adds our keywords and values for the end of the line, which bash splits
# at "=".
_hayate_add()
{
	local cur=${COMP_WORDS[COMP_CWORD]} n=$COMP_CWORD word value
	[ "$cur" != = ] || { cur=; n=$((n + 1)); }
	if [ "$n" -ge 3 ] && [ "${COMP_WORDS[n - 1]}" = = ]; then
		word=${COMP_WORDS[n - 2]}
		[[ $word = -o* || ${COMP_WORDS[n - 3]} = -o ]] || return
		word=${word#-o}
		for value in $(_hayate_values "$word"); do
			[[ $value != "$cur"* ]] || COMPREPLY+=("$value")
		done
		return
	fi
	case ${COMP_WORDS[n - 1]}:$cur in
	-o:*)	value= ;;
	*:-o*)	value=-o cur=${cur#-o} ;;
	*)	return ;;
	esac
	for word in $_hayate_keywords; do
		word=${word%%:*}=
		[[ $word != "$cur"* ]] || {
			COMPREPLY+=("$value$word")
			compopt -o nospace 2>/dev/null
		}
	done
}

# _hayate_add_options OPTION...: adds -j, its values and these options, or offers only
# files after an option with an argument. The distribution's function may have found
# our options in the usage already.
_hayate_add_options()
{
	local cur=${COMP_WORDS[COMP_CWORD]} n=$COMP_CWORD word
	[ "$cur" != = ] || { cur=; n=$((n + 1)); }
	if [ "${COMP_WORDS[n - 1]}" = -j ]; then
		mapfile -t COMPREPLY < <(compgen -W \
		    "$(_hayate_values TransferStreams)" -- "$cur")
		return
	fi
	[ "${COMP_WORDS[n - 1]}" != = ] || n=$((n - 1))
	for word; do
		[ "${COMP_WORDS[n - 1]}" = "--${word%:*}" ] || continue
		[[ $word = *:* ]] || continue
		if [ "$word" = hosts:LIST ]; then
			local before=${cur%"${cur##*,}"}
			mapfile -t COMPREPLY < <(compgen -P "$before" -A hostname \
			    -- "${cur##*,}")
			compopt -o nospace 2>/dev/null
			return
		fi
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		compopt +o nospace -o filenames 2>/dev/null
		return
	done
	for word in -j "$@"; do
		[ "$word" = -j ] || word=--${word%:*}
		[[ $cur = -* && $word = "$cur"* ]] || continue
		[[ " ${COMPREPLY[*]} " != *" $word "* ]] || continue
		COMPREPLY+=("$word")
		compopt +o nospace 2>/dev/null
	done
}

_hayate()
{
	COMPREPLY=()
	local name=${1##*/}
	local theirs=${_hayate_theirs[$name]}
	[ -z "$theirs" ] || "$theirs" "$@"
	_hayate_add
	case " $_hayate_names " in
	# shellcheck disable=SC2086 # words
	*" $name:scp "*) _hayate_add_options $_hayate_scp ;;
	# shellcheck disable=SC2086 # words
	*" $name:sftp "*) _hayate_add_options $_hayate_sftp ;;
	esac
}

# _hayate_take NAME:PROGRAM: replaces the current completion of a program, which
# _hayate calls.
_hayate_take()
{
	local name=${1%%:*} program=${1#*:} spec how
	spec=$(complete -p "$program" 2>/dev/null)
	how=$(sed -n 's/.* -F \([^ ]*\) .*/\1/p' <<<"$spec")
	[ "$how" = _hayate ] || _hayate_theirs[$name]=$how
	[[ $spec = *nospace* ]] && spec='-o nospace' || spec='-o default'
	# shellcheck disable=SC2086 # two words
	complete $spec -F _hayate "$name"
}

_hayate_take_all()
{
	local pair
	for pair in $_hayate_names; do
		_hayate_load "${pair#*:}"
	done
	for pair in $_hayate_names; do
		_hayate_take "$pair"
	done
}
_hayate_take_all
