# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Adds our modules to upstream's build. build/hayate/GNUmakefile reads this file
# after upstream's Makefile, which is not changed. Our objects go into libssh.a,
# which every program and every unit test of upstream links.

include $(HAYATE_TOP)/modules.mk

VPATH := $(VPATH):$(subst $() ,:,$(HAYATE_ROOMS:%=$(HAYATE_TOP)/%))

hy_objs = $(notdir $(patsubst %.c,%.o,$(filter %.c,$(1))))
HAYATE_OBJS := $(call hy_objs,$(HAYATE_CORE) $(HAYATE_HOOKS))

LIBSSH_OBJS := $(filter-out $(call hy_objs,$(HAYATE_REPLACED)),$(LIBSSH_OBJS)) \
	$(HAYATE_OBJS)
libssh.a: $(HAYATE_OBJS) .modules

# ar does not remove members that are no longer listed.
.modules: $(HAYATE_TOP)/modules.mk
	rm -f libssh.a
	touch $@

# The programs call ssh by the name under which it is installed.
SSH_PROGRAM = $(bindir)/$(HAYATE_SSH)

# Pages and samples name host keys where they are; upstream's list lacks mldsa44.
PATHSUBS += -e 's|/etc/ssh/ssh_host_mldsa44_|$(sysconfdir)/ssh_host_mldsa44_|g'

# Core files include no upstream header, so they cannot use OpenSSH's copies of
# the BSD functions. libbsd declares them.
$(call hy_objs,$(HAYATE_CORE)): CPPFLAGS += $(BSD_CPPFLAGS)
# A member of an upstream structure has different types in different releases, so this
# warning has to be an error.
$(HAYATE_OBJS): CFLAGS += -Wextra -Werror=incompatible-pointer-types
# In build/asan UBSan covers our objects and those of upstream that the series changes.
$(HAYATE_UNDEFINED): CFLAGS += -fsanitize=undefined

# A function of ours that mirrors one of upstream follows the release.
$(HAYATE_OBJS): CPPFLAGS += -DHAYATE_OPENSSH=$(HAYATE_OPENSSH)
# The type of an address depends on the release as well: a fix changed it.
HAYATE_ADDRESS := $(shell sed -n \
	's/.*ssh_kex2.*struct \(sockaddr[a-z_]*\) .*/\1/p' sshconnect.h)
$(HAYATE_OBJS): CPPFLAGS += -DHAYATE_ADDRESS=$(HAYATE_ADDRESS)
# If libc has the BSD functions, they are taken from there, and libbsd is not loaded.
LIBS += $(BSD_LIBS:%=-lc -Wl,--as-needed %)

# kex.c sends the banner, whose length is bounded (build-aux/prep).
kex.o: CPPFLAGS += -DHAYATE_BANNER

# A key exchange may be sent with the banner. The first two functions are in
# kexguess-hook.c, the others in guess-hook.c; each calls upstream's.
kex.o: CPPFLAGS += -Dmatch_list=kexguess_match_list
sshd-auth.o: CPPFLAGS += -Dkex_setup=kexguess_setup
ssh.o: CPPFLAGS += -Dssh_login=guess_login -Dssh_connect=guess_connect
# resolve-all-hook.c has this function, which remembers the addresses found.
ssh.o: CPPFLAGS += -Dgetaddrinfo=resolve_all_getaddrinfo
# reread-hook.c has this function, which notes a configuration read from a pipe.
readconf.o: CPPFLAGS += -Dfopen=reread_fopen
kexsntrup761x25519.o: CPPFLAGS += \
	-Dcrypto_kem_sntrup761_keypair=keypair_sntrup761
sshconnect.o: CPPFLAGS += -Dssh_kex2=guess_kex2 \
	-Dload_hostkeys=known_hosts_load -Dtimeout_connect=guess_timeout_connect
# UseMPTCP: mptcp-hook.c has both functions.
sshconnect.o sshd.o: CPPFLAGS += -Dsocket=mptcp_new_socket
misc.o: CPPFLAGS += -Dsetsockopt=mptcp_setsockopt
sshconnect2.o: CPPFLAGS += -Dkex_setup=guess_setup \
	-Dssh_dispatch_run_fatal=guess_dispatch_run

# Most of a login's CPU time is spent in loops of a few instructions. Without alignment
# their position in the program changes it by a quarter.
ed25519.o smult_curve25519_ref.o: CFLAGS += -funroll-loops -falign-loops=64

# poly1305-hook.c has the name of upstream's function, which it calls by this one.
poly1305.o: CPPFLAGS += -Dpoly1305_auth=poly1305_portable
# prompted-hook.c does the same. sshconnect2.c and sshconnect.c call our functions, which
# call upstream's.
sftp-server.o: CPPFLAGS += -Dreaddir=sftpsrv_readdir
readpass.o: CPPFLAGS += -Dread_passphrase=stock_read_passphrase
sshconnect2.o: CPPFLAGS += -Dsshpkt_put_cstring=prompted_put_cstring \
	-Dsshpkt_putb=early_auth_put_signed -Dsshpkt_send=early_auth_send \
	-Dverify_host_key=spawn_verify_host_key \
	-Dload_hostkeys=known_hosts_load
# cleanup-hook.c has the first function, and relogin-hook.c the second, which the first
# calls in clientloop.c. early-session-hook.c inspects the data of the fourth,
# bottleneck-ssh-hook.c prints its report after the loop, and early-requests-ssh-hook.c
# inspects VERSION.
clientloop.o: CPPFLAGS += -Dcleanup_exit=client_cleanup_exit -D_exit=relogin_exit \
	-Dhostkeys_foreach=known_hosts_foreach \
	-Dsshpkt_put_cstring=early_session_put_cstring \
	-Dchannel_free_all=bottleneck_ssh_free_all \
	-Dchannel_input_data=early_requests_ssh_data
# segments-hook.c encrypts a packet in pieces.
cipher.o cipher-chachapoly-libcrypto.o: CPPFLAGS += -DEVP_Cipher=segments_cipher
# stalls-hook.c records what both loops wait for.
clientloop.o serverloop.o: CPPFLAGS += -Dchannel_prepare_poll=stalls_prepare_poll \
	-Dchannel_after_poll=stalls_after_poll
# monitor-hook.c has both functions, which call upstream's: the monitor writes the log.
sshd-session.o: CPPFLAGS += -Dmonitor_reinit=monitor_hook_reinit \
	-Dmonitor_child_postauth=monitor_hook_postauth
# stock-hook.c has the first function, and is informed of each close().
sftp-client.o: CPPFLAGS += -Dsftp_download=stock_sftp_download -Dclose=stock_close
# files-from-hook.c has the first function: failed names of a list are reported already.
# stock-hook.c has the second one.
scp.o: CPPFLAGS += -Dsftp_upload_dir=files_from_upload_dir -Dwaitpid=stock_waitpid
# These functions add what upstream's lack in releases before 10.6, and what the merge
# of a key's options omits; they call upstream's. zlib-hook.h, localtime-hook.h,
# ruser-hook.h, remote-glob-hook.h, restrict-hook.h, crypt-hook.h, gss-hook.h explain each.
packet.o: CPPFLAGS += -Dinflate=zlib_bounded_inflate -DdeflateInit_=zlib_huffman_init
misc.o: CPPFLAGS += -Dmktime=localtime_make
ssh.o: CPPFLAGS += -Dlog_init=ruser_log_init
scp.o: CPPFLAGS += -Dsftp_expand_path=remote_glob_expand_path
auth.o auth2-pubkey.o auth2-pubkeyfile.o: CPPFLAGS += \
	-Dsshauthopt_merge=restrict_merge
auth-passwd.o: CPPFLAGS += -Dxcrypt=crypt_or_fail
auth2.o: CPPFLAGS += -Dauth2_challenge_stop=gss_challenge_stop
monitor.o: CPPFLAGS += -Dssh_gssapi_accept_ctx=gss_accept_ctx
sshd-session.o: CPPFLAGS += -Dssh_gssapi_storecreds=gss_store_creds
auth.o auth-passwd.o auth2.o auth2-pubkey.o auth2-pubkeyfile.o cipher.o \
    cipher-chachapoly-libcrypto.o clientloop.o ed25519.o kex.o \
    kexsntrup761x25519.o misc.o monitor.o packet.o poly1305.o readconf.o \
    readpass.o scp.o serverloop.o sftp-client.o smult_curve25519_ref.o ssh.o \
    sshconnect.o sshconnect2.o sshd.o sshd-auth.o sshd-session.o: \
    $(HAYATE_TOP)/build-aux/overlay.mk

# Test drivers of the hooks need upstream's objects, and are made on demand.
VPATH := $(VPATH):$(HAYATE_TOP)/regress/unit:$(HAYATE_TOP)/regress/bench
HAYATE_DRIVERS = authonly-tamper pipeline-oracle poly1305-model seal-speed \
	sshbuf-model shmpipe-model gather-oracle msgname-print
$(HAYATE_DRIVERS:=.o) packet-ends.o: CPPFLAGS += -I$(HAYATE_TOP)/regress/unit
HAYATE_HELPERS = packet-ends.o $(P11OBJS) $(SKOBJS)
$(HAYATE_DRIVERS): %: %.o $(HAYATE_HELPERS) $(LIBCOMPAT) libssh.a
	$(LD) -o $@ $*.o $(HAYATE_HELPERS) $(LDFLAGS) -lssh -lopenbsd-compat \
	    $(CHANNELLIBS) $(LIBS) $(WRAP)
pipeline-oracle seal-speed: WRAP = -Wl,--wrap=pthread_attr_init
gather-oracle: WRAP = -Wl,--wrap=sshbuf_put_external
msgname-print: WRAP = -Wl,--wrap=malloc,--wrap=sshpkt_ptr
poly1305-model: WRAP = -Wl,--wrap=EVP_MAC_fetch,--wrap=EVP_MAC_final
sshbuf-model: WRAP = -Wl,--wrap=malloc,--wrap=free

# Linked as scp is, without libcrypto
blocksum-print: blocksum-print.o $(LIBCOMPAT) libssh.a
	$(LD) -o $@ $@.o $(LDFLAGS) -lssh -lopenbsd-compat $(LIBS)

# Programs in which valgrind treats reserved memory as undefined
MARKED = marked-hole marked-scp marked-ssh marked-sshd-session
marked-hole: marked-hole.o $(P11OBJS) $(SKOBJS)
marked-scp: $(SCP_OBJS)
marked-ssh: $(SSHOBJS)
marked-sshd-session: $(SSHD_SESSION_OBJS)
$(MARKED): reserve-marked.o $(LIBCOMPAT) libssh.a
	$(LD) -o $@ $(filter %.o,$^) $(LDFLAGS) -Wl,--wrap=sshbuf_reserve \
	    -lssh -lopenbsd-compat $(SSHDLIBS) $(LIBS) $(GSSLIBS) $(K5LIBS) \
	    $(CHANNELLIBS) $(LIBWTMPDB)

# Fuzzers, which "make fuzz" makes with clang
VPATH := $(VPATH):$(HAYATE_TOP)/regress/fuzz
HAYATE_FUZZERS = fuzz-sshbuf fuzz-login fuzz-sftp-client fuzz-sftp-links fuzz-sftp-server
fuzz-sftp-client fuzz-sftp-links: FUZZ_OBJS = sftp-client.o sftp-common.o progressmeter.o
fuzz-sftp-server: FUZZ_OBJS = sftp-common.o
fuzz-sftp-links: WRAP = -Wl,--wrap=poll,--wrap=read,--wrap=writev,--wrap=pread,--wrap=clock_gettime
fuzz-sftp-client: WRAP = -Wl,--wrap=rendezvous_offered_conns,--wrap=rendezvous_connect
$(HAYATE_FUZZERS:=.o) fuzz-common.o: CPPFLAGS += -I$(HAYATE_TOP)/regress/fuzz
$(HAYATE_FUZZERS): %: %.o fuzz-common.o sftp-client.o sftp-common.o \
    progressmeter.o $(P11OBJS) $(SKOBJS) $(LIBCOMPAT) libssh.a
	$(LD) -o $@ $*.o fuzz-common.o $(FUZZ_OBJS) $(P11OBJS) $(SKOBJS) \
	    $(LDFLAGS) -fsanitize=fuzzer -lssh -lopenbsd-compat \
	    $(CHANNELLIBS) $(LIBS) $(WRAP)

# Upstream's files include our headers too, so the compiler records the
# dependencies of every object.
%.o: CPPFLAGS += -MMD -MP
-include $(wildcard *.d)

# Upstream writes the paths of this build into manual pages and sample files, but
# misses some. Debian's patches add Debian's own paths.
PATHSUBS += -e 's|/usr/lib/openssh|$(libexecdir)|g' \
	-e 's|/usr/sbin/sshd|$(sbindir)/sshd|g' \
	-e 's|^\.Pa /etc/ssh\( \.\)*$$|.Pa $(sysconfdir)\1|' \
	-e 's|^\.Pa /etc/init\.d/ssh \.$$|the service manager of the system.|'
$(CONFIGFILES) $(MANPAGES): $(HAYATE_TOP)/build-aux/overlay.mk

# configure --without-sshd
client: $(CONFIGFILES) $(MANPAGES) ssh scp sftp ssh-add ssh-agent ssh-keygen \
    ssh-keyscan ssh-keysign ssh-pkcs11-helper ssh-sk-helper
.PHONY: client
