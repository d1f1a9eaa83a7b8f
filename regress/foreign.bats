#!/usr/bin/env bats
# Needs: hayate stock
# Configuration files for another OpenSSH: Debian's, Red Hat's, a later release,
# HPN-SSH. We accept the keywords that our upstream does not know, and leave the
# others to upstream.

load helper

# "lacking" is hayate with parsers that lack these keywords, like those of the
# release tarball.
setup_file() {
	local name sides kind
	privsep_dirs
	cp -a "$BUILD/hayate" "$BATS_FILE_TMPDIR/lacking"
	cd "$BATS_FILE_TMPDIR/lacking"
	while read -r name sides kind; do
		case $sides in
		[CB]) sed -i "/^	{ \"${name,,}\",/d" readconf.c ;;&
		[SB]) sed -i "/^	{ \"${name,,}\",/d" servconf.c ;;
		esac
	done < <(list_foreign)
	touch readconf.c servconf.c
	rm -f ./*.d		# which may name files by their way from there
	make ssh sshd >log 2>&1 3>&- || { tail -n 20 log; false; }
}

setup() { cd "$BATS_TEST_TMPDIR"; }
teardown() { sshd_down; }

# list_foreign: prints name, sides (C, S or B) and kind of each word. From 10.4 on
# servconf.h makes more than a parser of each of its words, which are left out here.
list_foreign() {
	sed -n 's/^	{ "\([A-Za-z0-9]*\)", \([CSB]\), \(FOREIGN[A-Z_]*\), .*/\1 \2 \3/p' \
	    "$TOP/common/hayopt.c" |
	    while read -r name rest; do
		grep -Eq "^SSHCONF_.*, $name," "$BUILD/hayate/servconf.h" || echo "$name $rest"
	    done
}

# query_ssh, query_sshd BUILD FILE [ARG...]: print what ssh would use for host "near", and
# sshd
query_ssh() { "$(find_program "$1" ssh)" -F "$2" -TG "${@:3}" near; }
query_sshd() {
	[ -s host ] || ssh-keygen -q -t ed25519 -N '' -f host
	"$(find_program "$1" sshd)" -T -f "$2" -h host "${@:3}"
}
find_program() {
	case $1 in
	lacking) echo "$BATS_FILE_TMPDIR/lacking/$2" ;;
	*) bin "$2" "$1" ;;
	esac
}
# print_stderr: prints standard error without carriage returns
print_stderr() { printf '%s' "${stderr//$'\r'}"; }

# print_good_value KIND: prints a valid value
print_good_value() {
	case $1 in
	FOREIGN_YES) echo yes ;;
	FOREIGN_NAME) echo 2000 ;;
	*) echo 1 ;;
	esac
}

@test "the build under test has parsers that lack the foreign keywords" {
	# the tree was changed for real, or upstream has none of the words
	local name sides kind
	while read -r name sides kind; do
		case $sides in
		[CB]) run -1 grep "\"${name,,}\"" "$BATS_FILE_TMPDIR/lacking/readconf.c" ;;&
		[SB]) run -1 grep "\"${name,,}\"" "$BATS_FILE_TMPDIR/lacking/servconf.c" ;;
		esac
	done < <(list_foreign)
	[ "$(list_foreign | wc -l)" -ge 20 ]
}

@test "each foreign keyword is accepted without upstream's support, also in blocks" {
	local name sides kind value
	while read -r name sides kind; do
		[ "$kind" != FOREIGN_STOP ] || continue
		[ "$name" != GSSAPICleanupCreds ] || continue
		value=$(print_good_value "$kind")
		printf '%s\n' "Host far" "$name $value" "Host near" "$name=$value" >c
		printf '%s\n' "$name $value" "Match user x" "$name \"$value\"" >s
		case $sides in
		[CB])	query_ssh lacking c >/dev/null
			query_ssh lacking /dev/null -o "$name=$value" >/dev/null ;;&
		[SB])	query_sshd lacking s >/dev/null
			query_sshd lacking s -C user=x >/dev/null
			query_sshd lacking /dev/null -o "$name=$value" >/dev/null ;;
		esac
	done < <(list_foreign)
}

@test "each foreign keyword without effect is logged in one line" {
	local name sides kind
	while read -r name sides kind; do
		case $kind in FOREIGN|FOREIGN_LO[US]*) ;; *) continue ;; esac
		printf '%s\n' "$name 1" "$name 1" >c
		case $sides in
		[CB])	run -0 --separate-stderr query_ssh lacking c -v
			[ "$(grep -c "c line 1: $name ignored: ." <<<"$stderr")" = 1 ]
			[ "$(grep -c "$name ignored" <<<"$stderr")" = 1 ] ;;&
		[SB])	run -0 --separate-stderr query_sshd lacking c -ddd
			[ "$(grep -c "c line 1: $name ignored: ." <<<"$stderr")" = 1 ] ;;
		esac
	done < <(list_foreign)
}

@test "the client reads Red Hat's configuration silently and applies upstream's keywords" {
	cat >policy <<-EOF
	Ciphers aes256-gcm@openssh.com,aes256-ctr
	MACs hmac-sha2-256-etm@openssh.com,hmac-sha2-512
	GSSAPIKexAlgorithms gss-curve25519-sha256-,gss-nistp256-sha256-,gss-group16-sha512-
	KexAlgorithms curve25519-sha256,ecdh-sha2-nistp256
	PubkeyAcceptedAlgorithms ssh-ed25519,rsa-sha2-512
	CASignatureAlgorithms ssh-ed25519,rsa-sha2-512
	RSAMinSize 3000
	EOF
	cat >c <<-EOF
	Match final all
		Include $PWD/policy
		GSSAPIAuthentication yes
		GSSAPIKeyExchange no
		ForwardX11Trusted yes
	EOF
	run -0 --separate-stderr query_ssh lacking c
	[ -z "$stderr" ]
	[[ $output = *"ciphers aes256-gcm@openssh.com,aes256-ctr"* ]]
	[[ $output = *"requiredrsasize 3000"* ]]
}

@test "the server reads Red Hat's configuration silently and applies upstream's keywords" {
	cat >policy <<-EOF
	Ciphers aes256-gcm@openssh.com,aes256-ctr
	GSSAPIKexAlgorithms gss-curve25519-sha256-,gss-group16-sha512-
	HostKeyAlgorithms ssh-ed25519,rsa-sha2-512
	RSAMinSize 3000
	EOF
	cat >s <<-EOF
	Include $PWD/policy
	GSSAPIAuthentication no
	GSSAPIKeyExchange no
	GSSAPIEnablek5users no
	KerberosUseKuserok yes
	UsePAM no
	Match user alice
		GSSAPIEnablek5users no
	EOF
	run -0 --separate-stderr query_sshd lacking s
	[ -z "$stderr" ]
	[[ ${output,,} = *"requiredrsasize 3000"* ]]
}

@test "Debian's keywords are accepted silently, and its aliases set upstream's keywords" {
	printf '%s\n' "DebianBanner no" "GSSAPIStoreCredentialsOnRekey no" >s
	run -0 --separate-stderr query_sshd lacking s
	[ -z "$stderr" ]
	echo "GSSAPICleanupCreds no" >s
	echo "GSSAPICleanupCredentials no" >same
	diff <(query_sshd lacking s 2>&1) <(query_sshd lacking same 2>&1)
	printf '%s\n' "ProtocolKeepAlives 33" "SetupTimeOut 44" >c
	run -0 --separate-stderr query_ssh lacking c -v
	[[ $output = *"serveraliveinterval 33"* ]]
	[[ $output = *"connecttimeout 44"* ]]
	[[ $stderr = *"c line 1: protocolkeepalives is taken for serveraliveinterval"* ]]
	echo "SetupTimeOut never" >c
	run -255 query_ssh lacking c
	[[ $output = *"c line 1: "* ]]
}

@test "a GSSAPI identity that is ignored is reported on standard error" {
	echo "GSSAPIServerIdentity host/other.example" >c
	run -0 --separate-stderr query_ssh lacking c
	[ "$(print_stderr)" = "c line 1: GSSAPIServerIdentity ignored: GSSAPI expects the identity of the host name" ]
	printf '%s\n' "Host far" "GSSAPIClientIdentity me@X" >c
	run -0 --separate-stderr query_ssh lacking c
	[ -z "$stderr" ]
}

@test "GSSAPI key exchange that this build lacks is named by sshd -t" {
	ssh-keygen -q -t ed25519 -N '' -f host
	printf '%s\n' "GSSAPIAuthentication yes" "GSSAPIKeyExchange yes" >s
	run -0 "$(find_program lacking sshd)" -t -f s -h host
	[ "${output//$'\r'}" = "s line 2: GSSAPIKeyExchange ignored: GSSAPI key exchange is not supported" ]
	echo "GSSAPIKeyExchange no" >s
	run -0 "$(find_program lacking sshd)" -t -f s -h host
	[ -z "$output" ]
	# ssh goes on as before, which has another way to the host
	echo "GSSAPIKeyExchange yes" >c
	run -0 --separate-stderr query_ssh lacking c
	[ -z "$stderr" ]
}

@test "a keyword that would deny access is never ignored" {
	local word
	for word in $(list_foreign | sed -n 's/ S FOREIGN_YES$//p'); do
		printf '%s\n' "Match user x" "$word no" >s
		run -255 query_sshd lacking s
		[[ $output = "s line 2: $word \"no\": only yes is allowed, "* ]]
	done
	echo "GSSAPIIndicators hardened" >s
	run -255 query_sshd lacking s
	[[ $output = *"Bad configuration option: GSSAPIIndicators"* ]]
}

@test "RefuseConnection ends ssh before it connects if its block applies" {
	printf '%s\n' "Host far" "RefuseConnection \"use the other one\"" >c
	query_ssh lacking c >/dev/null
	printf '%s\n' "Host near" "HostName 127.0.0.1" "ProxyCommand touch $PWD/connected" \
	    "RefuseConnection \"use the other one\"" >c
	run -255 "$(find_program lacking ssh)" -F c near true
	[ "${output//$'\r'}" = "c line 4: RefuseConnection: use the other one" ]
	[ ! -e connected ]
	run -255 query_ssh lacking /dev/null -o RefuseConnection=no
	printf '%s\n' "Match host near" "RefuseConnection" >c
	run -255 query_ssh lacking c
	[[ $output != *"RefuseConnection: "* ]]
}

@test "sshd refuses connections that match a block with RefuseConnection" {
	sshd_up hayate:closed "RefuseConnection no" "Match user *" \
	    "RefuseConnection yes" "Match all"
	run -255 client closed true
	grep -q 'administratively prohibited' "$(sshd_log closed)"
	sshd_down closed
	sshd_up hayate:open "Match user no-one" "RefuseConnection yes" "Match all"
	client open true
}

@test "a foreign keyword that upstream knows is left to upstream" {
	grep -Eqi '"debianbanner"|, DebianBanner,' "$BUILD"/hayate/servconf.[ch] ||
	    skip "this upstream is not Debian's"
	printf '%s\n' "DebianBanner no" >s
	query_sshd hayate s | grep -qix 'debianbanner no'
	run -255 query_sshd hayate /dev/stdin <<<"GSSAPIKeyExchange 7"
	[[ $output != *ignored* ]]
	run -255 query_ssh hayate /dev/null -o GSSAPIKexAlgorithms=nonsense
	run -0 query_ssh lacking /dev/null -o GSSAPIKexAlgorithms=nonsense
}

MT=chacha20-poly1305-mt@hpnssh.org
CHACHA=chacha20-poly1305@openssh.com

@test "HPN-SSH's cipher name in a list becomes the stock name, once, in its place" {
	local list want
	while read -r list want; do
		list=${list//MT/$MT} list=${list//CHACHA/$CHACHA}
		want=${want//CHACHA/$CHACHA}
		echo "Ciphers $list" >c
		query_ssh hayate c | grep -qx "ciphers $want" || { echo "$list"; false; }
		query_sshd hayate c | grep -qix "ciphers $want" || { echo "$list"; false; }
		query_ssh hayate /dev/null -c "${list//\"}" | grep -qx "ciphers $want"
	done <<-EOF
	MT CHACHA
	MT,MT CHACHA
	aes128-ctr,MT aes128-ctr,CHACHA
	MT,aes128-ctr,CHACHA CHACHA,aes128-ctr
	CHACHA,aes128-ctr,MT CHACHA,aes128-ctr
	"MT,aes256-ctr" CHACHA,aes256-ctr
	aes128-ctr,aes256-ctr aes128-ctr,aes256-ctr
	EOF
}

@test "a cipher list that begins with +, - or ^ keeps its meaning" {
	local sign
	for sign in + ^ -; do
		echo "Ciphers $sign$CHACHA" >stock
		echo "Ciphers $sign$MT" >c
		[ $sign != - ] || : >stock
		[ "$(query_ssh hayate c | grep '^ciphers')" = "$(query_ssh stock stock | grep '^ciphers')" ]
		[ "$(query_sshd hayate c | grep '^ciphers')" = "$(query_sshd hayate stock | grep '^ciphers')" ]
	done
}

@test "a name that only resembles HPN-SSH's cipher is refused as in stock" {
	local name
	for name in x$MT ${MT}x $MT-$MT $MT,x; do
		run ! query_ssh hayate /dev/null -o "Ciphers=$name"
		[[ $output = *"Bad SSH2 cipher spec"* ]]
		run ! query_ssh hayate /dev/null -c "$name"
		[[ $output = *"Unknown cipher type"* ]]
	done
}

@test "sshd and ssh -c accept HPN-SSH's cipher name and use the stock cipher" {
	sshd_up hayate:mt "Ciphers $MT"
	client -v -c $MT mt true 2>log
	grep -q "kex: server->client cipher: $CHACHA" log
	[ "$(grep -c "debug1: .*HPN-SSH's name of a cipher is taken for the stock name: $CHACHA" log)" = 1 ]
	run -0 client -c $MT mt true
	[ -z "$output" ]
}

@test "IgnoreUnknown lets stock read a configuration with Hayate's keywords" {
	cat >c <<-EOF
	IgnoreUnknown Window*,Hayate,None*,CipherThreads
	Hayate no
	WindowTuning no
	WindowMax 4M
	WindowMemoryMax 8M
	NoneEnabled no
	NoneSwitch no
	CipherThreads off
	User someone
	EOF
	run -0 --separate-stderr query_ssh stock c
	[ -z "$stderr" ]
	[[ $output = *"user someone"* ]]
	query_ssh hayate c | grep -qx 'windowmax 4194304'
	for page in README.md man/ssh_config.inc; do
		tr '\n' ' ' <"$TOP/$page" |
		    grep -qF 'IgnoreUnknown Window*,Hayate,None*,CipherThreads'
	done
	sed 1d c >bare
	run -255 query_ssh stock bare
}
