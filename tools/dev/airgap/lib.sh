# shellcheck shell=bash
#
# How the set-up keeps what it made: each product is a folder $prefix/NAME with
# a record $prefix/state/NAME.sha256, written last. The record's first line says
# what the product was made from, the rest is the SHA-256 of every file in it.
# A product whose record is missing, speaks of something else or does not match
# the files is made anew.

log() { printf 'airgap: %s\n' "$*" >&2; }

die() {
  log "error: $*"
  exit 1
}

# step TITLE FUNCTION: runs one numbered step and says how long it took.
step_number=0
step() {
  local began=$SECONDS
  step_number=$((step_number + 1))
  log "[$step_number/$step_count] $1"
  "$2"
  log "[$step_number/$step_count] done in $((SECONDS - began)) s"
}

record_of() { printf '%s/state/%s.sha256' "$prefix" "${1//\//_}"; }

# have NAME KEY: is the product there, whole, and made from KEY?
have() {
  local record
  record=$(record_of "$1")
  [ -f "$record" ] && [ -d "$prefix/$1" ] || return 1
  [ "$(head -n 1 "$record")" = "# $2" ] || return 1
  diff -q <(tail -n +2 "$record") <(hashes_of "$prefix/$1") >/dev/null || return 1
  log "  $1: there, and every file is what it was"
}

# keep NAME KEY: takes $scratch/product as the product NAME.
keep() {
  local record
  record=$(record_of "$1")
  rm -f "$record"
  remove_tree "$prefix/$1"
  mkdir -p "$(dirname "$prefix/$1")" "$prefix/state"
  mv "$scratch/product" "$prefix/$1"
  {
    printf '# %s\n' "$2"
    hashes_of "$prefix/$1"
  } >"$record.new"
  mv "$record.new" "$record"
}

# hashes_of FOLDER: every file's SHA-256 and every link's target, sorted by path.
hashes_of() {
  (
    cd "$1" || exit
    find . -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum
    find . -type l -printf 'link  %p -> %l\n' | LC_ALL=C sort
  )
}

# check_sha256 FILE DIGEST
check_sha256() {
  local found
  found=$(sha256sum "$1" | cut -d' ' -f1)
  [ "$found" = "$2" ] ||
    die "$(basename "$1"): expected SHA-256 $2, found $found; the package index serves something else than what was pinned in tools/dev/airgap/pins.sh"
}

# remove_tree FOLDER: rm -rf that never crosses into something mounted there.
remove_tree() {
  [ -e "$1" ] || return 0
  if awk -v top="$1/" 'index($5 "/", top) == 1 { found = 1 } END { exit !found }' /proc/self/mountinfo; then
    die "$1 has to be made anew, and something is mounted in it: stop the Bazel servers that use it and unmount it (findmnt -R '$1' lists the mounts), then run the set-up again"
  fi
  rm -rf --one-file-system -- "$1"
}

# need COMMAND PACKAGE: installs a Debian package unless the command is there.
need() {
  command -v "$1" >/dev/null && return
  log "  installing $2"
  [ -n "${apt_updated:-}" ] || apt-get update -qq
  apt_updated=1
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" >/dev/null
  command -v "$1" >/dev/null || die "the package $2 brought no $1"
}
