#!/usr/bin/env bats
# Needs: hayate
# The recipes for other package systems, as far as they can be read without them.
# The top of each recipe names the parts that are not run.

load helper

setup() {
	cd "$TOP"
	version=$(sed -n 's/^AC_INIT(\[Hayate\], \[\([^]]*\)\].*/\1/p' configure.ac)
}

@test "Python compiles the recipe for Spack, and it names the version of the tree" {
	run -0 python3 -B -c '
import ast, sys
tree = ast.parse(open(sys.argv[1]).read())
compile(tree, sys.argv[1], "exec")
print([n.args[0].value for n in ast.walk(tree) if isinstance(n, ast.Call)
    and getattr(n.func, "id", "") == "version"])' contrib/spack/package.py
	[ "$output" = "['$version']" ]
	grep -F "/hayate-$version.tar.gz" contrib/spack/package.py
}

# print_spack_args: prints what the recipe gives configure, a line for each set of
# variants. What Spack gives a recipe is played: a dependency exists if it was declared
# for them.
print_spack_args() {
	python3 -B - contrib/spack/package.py <<-'END'
	import itertools, sys, types

	variants, needs = [], {}

	class Path(str):
	    def __getattr__(self, name):
	        return Path(self + "/" + name)

	class Spec:
	    def __init__(self, on):
	        self.on = on
	    def __contains__(self, variant):
	        return variant in self.on
	    def __getitem__(self, name):
	        assert needs[name] is None or needs[name] in self.on, name
	        return types.SimpleNamespace(prefix=Path("/" + name))

	def depends_on(name, type=None, when=None):
	    needs[name.split("@")[0]] = when

	stub = types.ModuleType("spack.package")
	stub.AutotoolsPackage = object
	stub.license = stub.version = stub.conflicts = lambda *a, **k: None
	stub.variant = lambda name, default, description: variants.append("+" + name)
	stub.depends_on = depends_on
	sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": stub})
	recipe = {}
	exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), recipe)
	for bits in itertools.product((0, 1), repeat=len(variants)):
	    package = recipe["Hayate"]()
	    package.prefix = Path("/prefix")
	    package.spec = Spec([v for v, bit in zip(variants, bits) if bit])
	    print(*package.spec.on, *package.configure_args())
	END
}

@test "the recipe for Spack gives switches for every set of its variants" {
	args=$BATS_TEST_TMPDIR/args
	print_spack_args >"$args"
	[ "$(grep -c . "$args")" = 8 ]
	[ "$(sort -u "$args" | grep -c .)" = 8 ]
	run ! grep -e '+server.*--without-sshd' "$args"
	run ! grep -v -e '+server' -e '--without-sshd' "$args"
	grep -e '+gssapi.*--with-kerberos5=/krb5' "$args"
	run ! grep -e '+fido.*--without-security-key-builtin' "$args"
}

@test "the recipe for conda is YAML and names the version of the tree" {
	python3 -c 'import yaml' 2>/dev/null || skip "no yaml (package python3-yaml)"
	run -0 python3 -B -c '
import sys, yaml
r = yaml.safe_load(open(sys.argv[1]))
print(r["package"]["version"], r["source"]["path"])
assert r["build"]["script"] and r["requirements"]["host"] and r["test"]["commands"]' contrib/conda/meta.yaml
	[ "$output" = "$version hayate-$version.tar.gz" ]
}

@test "the spec for rpm names the versions of Hayate and of OpenSSH" {
	grep -qx "%global hayate $version" contrib/rpm/hayate.spec
	grep -qx "%global openssh $(sed -n 's/^version[	 ]*//p' UPSTREAM)" contrib/rpm/hayate.spec
}

# list_switches FILE: prints the switches of configure that a text names, as
# upstream-switches does
list_switches() {
	grep -v '^ *#' "$1" | grep -oE -e '--(with|enable)(out)?-[a-z0-9-]+|--disable-[a-z0-9-]+' |
	    sed -e 's/^--without-/with-/' -e 's/^--disable-/enable-/' -e 's/^--//' | sort -u
}

@test "every switch of configure in the recipes is one that configure knows" {
	./configure --help >"$BATS_TEST_TMPDIR/help"
	{
		list_switches "$BATS_TEST_TMPDIR/help"
		cat build-aux/upstream-switches
	} | sort -u >"$BATS_TEST_TMPDIR/known"
	for f in contrib/rpm/hayate.spec contrib/spack/package.py contrib/conda/meta.yaml; do
		[ "$(list_switches "$f" | grep -c .)" -gt 3 ]
		list_switches "$f" | comm -23 - "$BATS_TEST_TMPDIR/known"
	done >"$BATS_TEST_TMPDIR/unknown"
	diff /dev/null "$BATS_TEST_TMPDIR/unknown"
}
