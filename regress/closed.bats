#!/usr/bin/env bats
# Needs: hayate stock peers
# Flaws of upstream that ours closes in each release (the rows "closed" of
# build-aux/advisories). What a server does to a copy is in trees.bats.

load helper

setup_file() { make_keys; }
export PYTHONWARNINGS=ignore
setup() {
	cd "$BATS_TEST_TMPDIR" || return
	F=$BATS_FILE_TMPDIR
}
teardown() {
	local pid
	for pid in $ZLIB $KDC $LATE; do kill "$pid"; done
	sshd_down
}

@test "a user name on the command line with a dollar or backslash is refused" {
	local name
	printf '%s\n' 'Match exec "touch run-%r"' 'Host alias' "User DOMAIN\\\\me" >config
	for name in 'a$HOME' 'DOMAIN\me' "a\\" '$(id)'; do
		for arg in "-l$name" "-oUser=$name"; do
			run -255 "$(bin ssh)" -F config "$arg" 127.0.0.1
			[[ $output = *"remote username contains invalid characters"* ]]
		done
		run -255 "$(bin ssh)" -F config "$name@127.0.0.1"
		[[ $output = *"remote username contains invalid characters"* ]]
		run -255 "$(bin ssh)" -G -F config "ssh://$name@127.0.0.1"
		[[ $output = *"remote username contains invalid characters"* ]]
	done
	[ -z "$(find . -name 'run-*')" ]
	# The file of a user may have them.
	run -0 "$(bin ssh)" -F config -G alias
	grep -xF 'user DOMAIN\me' <<<"$output"
}

# make_zlib_peer: writes a server, or a client of the port $1, with asyncssh, that
# compresses: whoever logs in gets packets, which become "small", or as much as the first
# argument says
make_zlib_peer() {
	cat >compressing.py <<-'END'
	import asyncio, sys, asyncssh
	from asyncssh.constants import MSG_IGNORE
	from asyncssh.packet import String
	host, port, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
	class Server(asyncssh.SSHServer):
	    def begin_auth(self, user):
	        return False
	def send(conn, n):
	    conn.send_packet(MSG_IGNORE, String(bytes(n)))
	def session(process):
	    conn = process.get_extra_info("connection")
	    for n in (100, 200000, 200000, size, 1):
	        send(conn, n)
	    process.stdout.write("whole\n" * 50000)
	    process.exit(0)
	async def main():
	    if host:
	        async with asyncssh.connect(host, port, known_hosts=None, username=sys.argv[4],
	                client_keys=[sys.argv[5]], compression_algs=["zlib@openssh.com"]) as conn:
	            send(conn, size)
	            print((await conn.run("echo whole")).stdout, end="")
	        return
	    server = await asyncssh.create_server(Server, "127.0.0.1", 0, process_factory=session,
	        server_host_keys=[sys.argv[4]], compression_algs=["zlib@openssh.com"])
	    print(server.sockets[0].getsockname()[1], flush=True)
	    await server.wait_closed()
	asyncio.run(main())
	END
}

@test "a compressed packet expands to at most the size limit of a packet, at both ends" {
	local size
	need_asyncssh
	make_zlib_peer
	for size in 200000 100000000; do
		python3 compressing.py "" 0 $size "$F/host" >port 2>err 3>&- &
		ZLIB=$!
		poll 10 test -s port || { cat err; false; }
		run "$(bin ssh)" -F none -C -p "$(<port)" -o StrictHostKeyChecking=no \
		    -o UserKnownHostsFile=known 127.0.0.1 true
		if [ $size = 200000 ]; then
			[ "$status" = 0 ]
			[ "$(grep -cx whole <<<"$output")" = 50000 ]
		else
			[ "$status" = 255 ]
			[[ $output = *"invalid format"* ]]
		fi
		kill $ZLIB
		ZLIB=
		rm port
	done
	sshd_up hayate "Compression yes"
	run -0 python3 compressing.py 127.0.0.1 "$(<"$(sshd_dir hayate)/port")" 200000 "$(id -un)" "$F/user"
	[ "$output" = whole ]
	run ! timeout 30 python3 compressing.py 127.0.0.1 "$(<"$(sshd_dir hayate)/port")" 100000000 "$(id -un)" "$F/user"
	wait_for_log hayate "invalid format"
}

# count_sent_bytes FILE: prints how many bytes ssh reports to have sent of FILE, as
# compressed
count_sent_bytes() {
	client -v -C hayate 'cat >/dev/null' <"$1" 2>&1 |
	    sed -n 's/^debug1: compress outgoing: .* compressed \([0-9]*\),.*/\1/p'
}

@test "packet lengths of one channel reveal nothing about the data of another" {
	sshd_up hayate "Compression yes"
	head -c 20000 /dev/urandom | base64 -w 0 >once
	cat once once once once >again
	# Without references a text that comes again is as long as at first.
	[ "$(count_sent_bytes again)" -gt $((3 * $(count_sent_bytes once))) ]
	# Still it is compressed: base64 has 6 bits a byte.
	[ "$(count_sent_bytes again)" -lt $(($(wc -c <again) * 85 / 100)) ]
}

@test "the validity of a certificate begins and ends at local time, also in summer" {
	local zone
	cp "$F/user.pub" key.pub
	for zone in Europe/Berlin America/New_York UTC; do
		[ -e "/usr/share/zoneinfo/$zone" ] || skip "no zone $zone, which is in tzdata"
		TZ=$zone "$(bin ssh-keygen)" -q -s "$F/host" -I x -n x \
		    -V 20260115120000:20260715120000 key.pub
		run -0 env TZ=$zone "$(bin ssh-keygen)" -L -f key-cert.pub
		[[ $output = *"Valid: from 2026-01-15T12:00:00 to 2026-07-15T12:00:00"* ]]
	done
}

@test "restrict forbids a tunnel, though options of a key are merged" {
	local options
	need_asyncssh
	cat >tun.py <<-'END'
	import asyncio, sys, asyncssh
	from asyncssh.packet import UInt32
	async def main():
	    async with asyncssh.connect("127.0.0.1", int(sys.argv[1]), known_hosts=None,
	            username=sys.argv[2], client_keys=[sys.argv[3]]) as conn:
	        try:
	            await conn.create_tcp_channel()._open(b"tun@openssh.com", UInt32(1), UInt32(7))
	            print("opened")
	        except asyncssh.ChannelOpenError as e:
	            print(e.reason)
	asyncio.run(main())
	END
	sshd_up hayate "PermitTunnel yes" "LogLevel DEBUG3"
	request_tunnel() {
		sed "s/^/$1 /" "$F/user.pub" >"$F/authorized_keys"
		: >"$(sshd_log hayate)"
		run -0 timeout 30 python3 tun.py "$(<"$(sshd_dir hayate)/port")" "$(id -un)" "$F/user"
		[ -n "$output" ] && wait_for_log hayate server_input_channel_open
	}
	request_tunnel ""
	wait_for_log hayate sys_tun_open
	for options in restrict 'restrict,tunnel="7"' 'restrict,pty,port-forwarding'; do
		request_tunnel "$options"
		[ "$output" != opened ]
		fails grep sys_tun_open "$(sshd_log hayate)"
	done
	cp "$F/user.pub" "$F/authorized_keys"
}

@test "a crypt() that fails yields no hash, for instance for a locked account" {
	cat >crypt.c <<-'END'
	#include <stdio.h>
	char *crypt_or_fail(const char *, const char *);
	char *xcrypt(const char *password, const char *salt)
	{
		return (char *)password;
	}
	int main(int argc, char **argv)
	{
		for (; argc > 1; argc--)
			printf("%d", crypt_or_fail(argv[argc - 1], "x") != NULL);
		return crypt_or_fail(NULL, "x") != NULL;
	}
	END
	gcc -I"$BUILD/hayate" -I"$TOP/sshd" -o crypt crypt.c "$TOP/sshd/crypt-hook.c"
	run -0 ./crypt '$6$saltsalt$0123456789' abcdefghijklm '*' x '*0' '!' ''
	[ "$output" = 0000011 ]
	nm "$BUILD/hayate/auth-passwd.o" | grep 'U crypt_or_fail'
}

# start_kdc: starts a realm T, with a ticket of this user that may be forwarded
start_kdc() {
	local tool port=$((20000 + RANDOM % 12000))
	PATH=$PATH:/usr/sbin
	for tool in krb5kdc kadmin.local kinit; do
		command -v $tool >/dev/null || skip "no $tool, which is in krb5-kdc, krb5-admin-server or krb5-user"
	done
	printf '%s\n' '[libdefaults]' default_realm=T rdns=false dns_canonicalize_hostname=false \
	    '[realms]' "T={" "kdc=127.0.0.1:$port" "}" '[domain_realm]' localhost=T >krb5.conf
	printf '%s\n' '[kdcdefaults]' "kdc_listen=127.0.0.1:$port" "kdc_tcp_listen=127.0.0.1:$port" \
	    '[realms]' "T={" "database_name=$PWD/db" "key_stash_file=$PWD/stash" "}" >kdc.conf
	export KRB5_CONFIG=$PWD/krb5.conf KRB5_KDC_PROFILE=$PWD/kdc.conf \
	    KRB5CCNAME=FILE:$PWD/cc KRB5_KTNAME=FILE:$PWD/keytab
	{
		kdb5_util create -s -r T -P x
		kadmin.local -r T -q "addprinc -pw u $(id -un)"
		kadmin.local -r T -q "addprinc -randkey host/localhost"
		kadmin.local -r T -q "ktadd -k $PWD/keytab host/localhost"
	} >kdc.log 2>&1
	krb5kdc -n >>kdc.log 2>&1 3>&- &
	KDC=$!
	get_ticket() { echo u | kinit -f "$(id -un)" >>kdc.log 2>&1; }
	poll 10 get_ticket
}

# log_in_by_gssapi ARG...: logs in and tries GSSAPI first, and then a key
log_in_by_gssapi() {
	client -o GSSAPIAuthentication=yes -o GSSAPIDelegateCredentials=yes -o HostName=localhost \
	    -o PreferredAuthentications=gssapi-with-mic,publickey "$@"
}

@test "a failed GSSAPI login leaves no credentials to a later login by key" {
	start_kdc
	# shellcheck disable=SC2016 # the server's
	local said='echo "by ${KRB5CCNAME:-none}"'
	sshd_up hayate "GSSAPIAuthentication yes" "GSSAPIStrictAcceptorCheck no" "LogLevel DEBUG"
	run -0 --separate-stderr log_in_by_gssapi hayate "$said"
	wait_for_log hayate "Accepted gssapi-with-mic"
	[[ $output = "by FILE:"* ]]
	# With a MIC that is wrong
	cat >mic.c <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <gssapi/gssapi.h>
	OM_uint32 gss_get_mic(OM_uint32 *minor, gss_ctx_id_t ctx, gss_qop_t qop,
	    gss_buffer_t text, gss_buffer_t mic)
	{
		OM_uint32 (*get)(OM_uint32 *, gss_ctx_id_t, gss_qop_t, gss_buffer_t,
		    gss_buffer_t) = dlsym(RTLD_NEXT, "gss_get_mic");
		OM_uint32 r = get(minor, ctx, qop, text, mic);
		((char *)mic->value)[mic->length - 1] ^= 1;
		return r;
	}
	END
	gcc -shared -fPIC -o mic.so mic.c -I/usr/include/mit-krb5
	export LD_PRELOAD=$PWD/mic.so
	run -0 --separate-stderr log_in_by_gssapi hayate "$said"
	unset LD_PRELOAD
	wait_for_log hayate "GSSAPI MIC check failed"
	wait_for_log hayate "Accepted publickey"
	[ "$output" = "by none" ]
}

@test "a request for a login ends the GSSAPI login before it" {
	need_asyncssh
	start_kdc
	cat >late.py <<-'END'
	import asyncio, sys, asyncssh
	from asyncssh.packet import String, UInt32
	krb5 = bytes.fromhex("06092a864886f712010202")
	user = sys.argv[2]
	class Client(asyncssh.SSHClient):
	    def connection_made(self, conn):
	        self.conn = conn
	    async def public_key_auth_requested(self):
	        def ask(method, *more):
	            self.conn.send_packet(50, String(user), String("ssh-connection"), String(method), *more)
	        self.conn._transport.pause_reading()    # it would take replies for its own
	        ask("gssapi-with-mic", UInt32(1), String(krb5))
	        ask("none")
	        self.conn.send_packet(65, String("late"))
	        await asyncio.sleep(30)
	async def main():
	    await asyncssh.connect("127.0.0.1", int(sys.argv[1]), known_hosts=None, username=user,
	        client_factory=Client, preferred_auth="publickey", client_keys=None)
	asyncio.run(main())
	END
	sshd_up hayate "GSSAPIAuthentication yes" "GSSAPIStrictAcceptorCheck no" "LogLevel DEBUG3"
	timeout 30 python3 late.py "$(<"$(sshd_dir hayate)/port")" "$(id -un)" 3>&- &
	LATE=$!
	poll 30 grep -q "Postponed gssapi-with-mic" "$(sshd_log hayate)"
	wait_for_log hayate "protocol error: rcvd type 65"
}
