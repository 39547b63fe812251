# shellcheck shell=bash
#
# Bazel modules and the Go SDK. rules_go, gazelle and the SDK come from the Go
# module proxy; modules of which Linux uses little or nothing have stand-ins.

module_names=(rules_go gazelle)
for folder in "$here"/stand_ins/*/; do
  module_names+=("$(basename "$folder")")
done

# Debian's Bazel names rules_go's SDK repository by this version.
go_sdk_version=$(sed -n 's/.*go_sdk\.download(version = "\([0-9.]*\)".*/\1/p' "$project/MODULE.bazel")

# go_module_dir MODULE@VERSION: where Go keeps it, fetched and checked by Go.
go_module_dir() {
  local answer
  answer=$(cd "$scratch" && GOFLAGS=-mod=mod go mod download -json "$1") || die "the Go module proxy has no $1: $answer"
  sed -n 's/^[[:space:]]*"Dir": "\(.*\)",\{0,1\}$/\1/p' <<<"$answer"
}

# copy_go_module MODULE@VERSION: to $scratch/product, writable. A module zip
# keeps no run bits.
copy_go_module() {
  local dir
  dir=$(go_module_dir "$1")
  cp -r "$dir" "$scratch/product"
  chmod -R u+w "$scratch/product"
  find "$scratch/product" -name '*.sh' -exec chmod +x {} +
}

make_go_sdk() {
  [ -n "$go_sdk_version" ] || die "MODULE.bazel has no line with go_sdk.download(version = \"…\")"
  have "$go_sdk" "$go_sdk_version" && return
  cp -r "$(cd "$scratch" && GOTOOLCHAIN=go$go_sdk_version go env GOROOT)" "$scratch/product"
  chmod -R u+w "$scratch/product"
  keep "$go_sdk" "$go_sdk_version"
}

make_rules_go() {
  local key sdk_bzl
  key="$rules_go_version $go_sdk $(sha256sum <"$here/go_sdk_hook.bzl.in")"
  have modules/rules_go "$key" && return
  copy_go_module "github.com/bazelbuild/rules_go@$rules_go_version"
  # The one change: an SDK is taken from this machine, not downloaded.
  sdk_bzl=$scratch/product/go/private/sdk.bzl
  sed -e "s|@SDK@|$prefix/$go_sdk|" -e "s|@VERSION@|$go_sdk_version|" "$here/go_sdk_hook.bzl.in" >"$scratch/hook"
  insert_after '^def _go_download_sdk_impl(ctx):$' "$scratch/hook" "$sdk_bzl"
  echo '    return None' >"$scratch/hook"
  insert_after '^def fetch_sdks_by_version(ctx, allow_fail = False):$' "$scratch/hook" "$sdk_bzl"
  keep modules/rules_go "$key"
}

# insert_after PATTERN FILE INTO: after the one line that matches.
insert_after() {
  [ "$(grep -c -e "$1" "$3")" = 1 ] || die "rules_go $rules_go_version has not exactly one line $1 in $(basename "$3"): tools/dev/airgap/modules.sh has to learn how it fetches Go now"
  sed -i -e "/$1/r $2" "$3"
}

# A module zip leaves out vendor/, which gazelle's repository rules build from.
# -e: gazelle's own test data names modules that do not exist.
make_gazelle() {
  have modules/gazelle "$gazelle_version" && return
  copy_go_module "github.com/bazelbuild/bazel-gazelle@$gazelle_version"
  (cd "$scratch/product" && go mod vendor -e) >"$scratch/vendor.log" 2>&1 || true
  [ -d "$scratch/product/vendor/golang.org" ] || {
    cat "$scratch/vendor.log" >&2
    die "could not vendor gazelle's dependencies"
  }
  keep modules/gazelle "$gazelle_version"
}

make_stand_ins() {
  local name key
  for name in "${module_names[@]:2}"; do
    key=$(hashes_of "$here/stand_ins/$name" | sha256sum)
    have "modules/$name" "$key" && continue
    cp -r "$here/stand_ins/$name" "$scratch/product"
    keep "modules/$name" "$key"
  done
}

# Not overridden like the others: Bazel refuses to override a module of which a
# workspace knows nothing, and this one is a dependency of this project's own work
# only. The registry offers it, so it is there for whoever asks.
make_hermetic() {
  local entry=$prefix/registry/modules/hermetic_cc_toolchain key
  key=$(hashes_of "$here/hermetic_cc_toolchain" | sha256sum)
  have modules/hermetic_cc_toolchain "$key" || {
    cp -r "$here/hermetic_cc_toolchain" "$scratch/product"
    sed -i "s|@ZIG@|$prefix/zig|" "$scratch/product/toolchain/zig_sdk.bzl"
    keep modules/hermetic_cc_toolchain "$key"
  }
  rm -rf "$entry"
  mkdir -p "$entry/$hermetic_version"
  printf '{"versions": ["%s"], "yanked_versions": {}}\n' "$hermetic_version" >"$entry/metadata.json"
  cp "$here/hermetic_cc_toolchain/MODULE.bazel" "$entry/$hermetic_version/"
  printf '{"type": "local_path", "path": "%s"}\n' "$prefix/modules/hermetic_cc_toolchain" >"$entry/$hermetic_version/source.json"
}
