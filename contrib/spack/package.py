# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Hayate for Spack: the client, and with +server an sshd for administrators. Put
# this file into packages/hayate/ of a Spack repository of your own, and the tarball
# of "make dist" into the current directory. If the name of the tarball has the commit
# in it, rename it to hayate-0.2.tar.gz:
#
#     spack install --no-checksum hayate
#
# The tarball has no public address, so there is no checksum here; compare it with the
# output of "make checksums". The tarball contains upstream with Debian's fixes.
#
# Tested: the recipe in Python, for each set of variants, with stubs for Spack's
# functions (regress/recipes.bats). Not tested: Spack itself, building and installing.

import os

from spack.package import *


class Hayate(AutotoolsPackage):
    """Hayate is portable OpenSSH tuned to the network path: windows, ciphers on
    several cores and file transfers for long and fast networks."""

    homepage = "https://www.openssh.com/"
    url = f"file://{os.getcwd()}/hayate-0.2.tar.gz"
    manual_download = True

    license("ISC AND BSD-2-Clause AND BSD-3-Clause AND MIT")

    version("0.2")

    variant("server", default=False, description="Build sshd as well")
    variant("gssapi", default=True, description="Log in by Kerberos")
    variant("fido", default=False, description="Keys in FIDO tokens")

    depends_on("c", type="build")
    # upstream's configure is regenerated, because Debian's patches change configure.ac
    depends_on("autoconf", type="build")
    depends_on("automake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("xz", type="build")
    depends_on("libbsd")
    depends_on("libedit")
    depends_on("openssl@1.1.1:")
    depends_on("zlib-api")
    depends_on("krb5", when="+gssapi")
    depends_on("libfido2", when="+fido")
    depends_on("linux-pam", when="+server")

    conflicts("platform=windows")

    def configure_args(self):
        spec = self.spec
        args = [
            "--sysconfdir=" + self.prefix.etc.ssh,
            "--with-ssl-dir=" + spec["openssl"].prefix,
            "--with-libedit=" + spec["libedit"].prefix,
            "--without-selinux",
            "--without-audit",
        ]
        if "+server" in spec:
            args += ["--with-pam", "--with-privsep-path=" + self.prefix.var.empty]
        else:
            args.append("--without-sshd")
        if "+gssapi" in spec:
            args.append("--with-kerberos5=" + spec["krb5"].prefix)
        else:
            args.append("--without-kerberos5")
        if "+fido" not in spec:
            args.append("--without-security-key-builtin")
        return args

    def install(self, spec, prefix):
        # With DESTDIR set no host keys are generated; the administrator does that.
        make("install", "DESTDIR=/")
