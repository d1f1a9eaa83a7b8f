#!/usr/bin/env bats
# The recipes for other package systems, as far as they can be read without them.
# What is not run is said at the top of each recipe.

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

# switches FILE: those of configure that a text names, as upstream-switches does
switches() {
	grep -v '^ *#' "$1" | grep -oE -e '--(with|enable)(out)?-[a-z0-9-]+|--disable-[a-z0-9-]+' |
	    sed -e 's/^--without-/with-/' -e 's/^--disable-/enable-/' -e 's/^--//' | sort -u
}

@test "every switch of configure in the recipes is one that configure knows" {
	./configure --help >"$BATS_TEST_TMPDIR/help"
	{
		switches "$BATS_TEST_TMPDIR/help"
		cat build-aux/upstream-switches
	} | sort -u >"$BATS_TEST_TMPDIR/known"
	for f in contrib/rpm/hayate.spec contrib/spack/package.py contrib/conda/meta.yaml; do
		[ "$(switches "$f" | grep -c .)" -gt 3 ]
		switches "$f" | comm -23 - "$BATS_TEST_TMPDIR/known"
	done >"$BATS_TEST_TMPDIR/unknown"
	diff /dev/null "$BATS_TEST_TMPDIR/unknown"
}
