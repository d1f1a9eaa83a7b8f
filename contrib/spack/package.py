# Copyright (c) 2026 The Hayate Authors
# SPDX-License-Identifier: ISC
#
# Hayate for Spack: the client, and with +server an sshd for administrators. Put
# this file into packages/hayate/ of a repository of your own, as Spack makes one,
# and the tarball of "make dist" into the current directory, as hayate-0.2.tar.gz where
# its name has the commit as well:
#
#     spack install --no-checksum hayate
#
# The tarball has no public address, so there is no checksum here; compare what
# "make checksums" prints. The tarball carries upstream with Debian's fixes.
#
# What was run: Python, with a stand-in for what Spack gives a recipe, for each set
# of variants (regress/recipes.bats). What was not run: Spack, a build and an
# installation by it.

import os

from spack.package import *


class Hayate(AutotoolsPackage):
    """Hayate is portable OpenSSH that follows the path: windows, ciphers on
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
    # upstream's configure is made again, as Debian's patches change its source
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
        # With a DESTDIR no host keys are made; the administrator makes them.
        make("install", "DESTDIR=/")
