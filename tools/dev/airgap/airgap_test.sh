#!/usr/bin/env bash
# airgap_test LIB PINS MODULE: the set-up takes a product for whole only while
# every file in it is what it was, and agrees with MODULE.bazel on versions.
set -euo pipefail
lib=$1 pins=$2 module=$3

# shellcheck source=tools/dev/airgap/lib.sh
. "$lib"
# shellcheck source=tools/dev/airgap/pins.sh
. "$pins"

prefix=$(mktemp -d "$TEST_TMPDIR/prefix.XXXXXX")
scratch=$(mktemp -d "$TEST_TMPDIR/scratch.XXXXXX")

make_thing() {
  mkdir "$scratch/product"
  echo one >"$scratch/product/a"
  mkdir "$scratch/product/b"
  echo two >"$scratch/product/b/c d"
  ln -s a "$scratch/product/link"
  keep things/thing 'version 1'
}

whole() { have things/thing 'version 1' 2>/dev/null; }
# damaged WHAT COMMAND…: after COMMAND the thing is no longer whole, and making it anew repairs it.
damaged() {
  local what=$1
  shift
  whole || die "before '$what': expected a whole product"
  (cd "$prefix/things/thing" && "$@")
  ! whole || die "$what: expected a damaged product, found that it passes for whole"
  make_thing
  whole || die "$what: expected that making it anew repairs it"
}

! whole || die "nothing was made, and something passes for whole"
make_thing
damaged 'a byte changed' sh -c 'printf x >>a'
damaged 'a file is gone' rm 'b/c d'
damaged 'a file too many' touch b/new
damaged 'a link points elsewhere' ln -sf b link
damaged 'the folder is gone' rm -r "$prefix/things/thing"
damaged 'the record is gone' rm "$(record_of things/thing)"
damaged 'the record was cut short' truncate -s -1 "$(record_of things/thing)"
! have things/thing 'version 2' 2>/dev/null || die "a product of another version passes for whole"

echo hello >"$scratch/file"
(check_sha256 "$scratch/file" 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03) ||
  die "check_sha256 refuses a file with the right digest"
if (check_sha256 "$scratch/file" "${model_sha256:?}") 2>"$scratch/message"; then
  die "check_sha256 takes a file with another digest"
fi
grep -q "expected SHA-256 $model_sha256, found 5891b5b5" "$scratch/message" || die "check_sha256 does not say both digests"

# What is mounted below a folder survives an attempt to remove the folder. Should
# the check fail, no rm is there to do harm.
if (rm() { :; } && remove_tree /proc) 2>"$scratch/message"; then
  die "remove_tree takes a folder with mounts in it"
fi
grep -q 'something is mounted in it' "$scratch/message" || die "remove_tree does not say why it refuses"

for pair in "rules_go ${rules_go_version:?}" "gazelle ${gazelle_version:?}" "hermetic_cc_toolchain ${hermetic_version:?}"; do
  read -r name version <<<"$pair"
  grep -qF "bazel_dep(name = \"$name\", version = \"${version#v}\"" "$module" ||
    die "pins.sh brings $name $version, and MODULE.bazel names another version"
done
