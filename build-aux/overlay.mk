# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# How our modules enter upstream's build, read by build/hayate/GNUmakefile after
# upstream's Makefile: more objects in libssh.a, which every program and every
# unit test of upstream's links. Not a line of upstream's Makefile changes.

include $(HAYATE_TOP)/modules.mk

VPATH := $(VPATH):$(subst $() ,:,$(HAYATE_ROOMS:%=$(HAYATE_TOP)/%))

hy_objs = $(notdir $(patsubst %.c,%.o,$(filter %.c,$(1))))
HAYATE_OBJS := $(call hy_objs,$(HAYATE_CORE) $(HAYATE_HOOKS))

LIBSSH_OBJS += $(HAYATE_OBJS)
libssh.a: $(HAYATE_OBJS) .modules

# ar keeps members that are no longer asked for.
.modules: $(HAYATE_TOP)/modules.mk
	rm -f libssh.a
	touch $@

# The programs call one another by the name they are installed under.
SSH_PROGRAM = $(bindir)/$(HAYATE_SSH)

# Core files know no upstream header, hence not openssh's copies of the BSD
# functions either; libbsd declares them.
$(call hy_objs,$(HAYATE_CORE)): CPPFLAGS += $(BSD_CPPFLAGS)
$(HAYATE_OBJS): CFLAGS += -Wextra
LIBS += $(BSD_LIBS:%=-Wl,--as-needed %)

# Drivers of the hooks, which need upstream around them: made when asked for.
VPATH := $(VPATH):$(HAYATE_TOP)/regress/unit:$(HAYATE_TOP)/regress/bench
HAYATE_DRIVERS = authonly-tamper pipeline-oracle seal-speed
$(HAYATE_DRIVERS:=.o) packet-ends.o: CPPFLAGS += -I$(HAYATE_TOP)/regress/unit
HAYATE_HELPERS = packet-ends.o $(P11OBJS) $(SKOBJS)
$(HAYATE_DRIVERS): %: %.o $(HAYATE_HELPERS) $(LIBCOMPAT) libssh.a
	$(LD) -o $@ $*.o $(HAYATE_HELPERS) $(LDFLAGS) -lssh -lopenbsd-compat \
	    $(CHANNELLIBS) $(LIBS) $(WRAP)
pipeline-oracle seal-speed: WRAP = -Wl,--wrap=pthread_attr_init

# Headers: ours are included by upstream's files as well, so all objects write
# down what they were made from.
%.o: CPPFLAGS += -MMD -MP
-include $(wildcard *.d)

# Upstream writes the paths of this build into pages and sample files, but not
# all of them, and Debian's patches brought Debian's own.
PATHSUBS += -e 's|/usr/lib/openssh|$(libexecdir)|g' \
	-e 's|/usr/sbin/sshd|$(sbindir)/sshd|g' \
	-e 's|^\.Pa /etc/ssh\( \.\)*$$|.Pa $(sysconfdir)\1|' \
	-e 's|^\.Pa /etc/init\.d/ssh \.$$|the service manager of the system.|'
$(CONFIGFILES) $(MANPAGES): $(HAYATE_TOP)/build-aux/overlay.mk

# configure --without-sshd
client: $(CONFIGFILES) $(MANPAGES) ssh scp sftp ssh-add ssh-agent ssh-keygen \
    ssh-keyscan ssh-keysign ssh-pkcs11-helper ssh-sk-helper
.PHONY: client
