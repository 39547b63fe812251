#!/usr/bin/env bash
# What bound promises: it removes the least recently used first and no more than it must, keeps what it is told to keep, and touches
# nothing outside of the folder.
#
#   bound_test.sh BOUND
set -euo pipefail
bound=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# cache makes three entries of a MiB, last used in the order c, a, b.
cache() {
  rm -rf "$scratch/cache"
  local name minute=1
  for name in c a b; do
    mkdir -p "$scratch/cache/$name/deep"
    head -c 1048576 /dev/urandom >"$scratch/cache/$name/deep/er file"
    touch -d "2026-01-01 00:0$minute" "$scratch/cache/$name"
    minute=$((minute + 1))
  done
}

# leaves NAME CODE ENTRIES ARGUMENTS: expects the exit code and the entries that are left, in the order of the alphabet.
leaves() {
  local name=$1 want=$2 entries=$3 code=0
  shift 3
  "$bound" "$@" >"$scratch/out" 2>&1 || code=$?
  local found
  found=$(cd "$scratch/cache" 2>/dev/null && echo *) || found=none
  if [ "$code" != "$want" ] || [ "$found" != "$entries" ]; then
    echo "$name: expected exit code $want and the entries $entries, found $code, $found and $(cat "$scratch/out")" >&2
    failed=1
  fi
}

cache
leaves "room for all" 0 "a b c" "$scratch/cache" 4
leaves "room for two" 0 "a b" "$scratch/cache" 3
leaves "no room, and one is kept" 0 "a" "$scratch/cache" 0 a
grep -q "nothing else can go" "$scratch/out" || { echo "what cannot go is not told: $(cat "$scratch/out")" >&2; failed=1; }
cache
touch "$scratch/cache/c"
leaves "used again" 0 "b c" "$scratch/cache" 3
cache
leaves "the oldest is kept" 0 "b c" "$scratch/cache" 3 c
cache
ln -s "$scratch/cache" "$scratch/link"
leaves "by a link" 0 "a b" "$scratch/link" 3
cache
leaves "whole, within" 0 "a b c" --whole "$scratch/cache" 4
mkdir "$scratch/beside"
ln -s "$scratch/beside" "$scratch/cache/d"
leaves "whole, above" 0 none --whole "$scratch/cache" 3
[ -d "$scratch/beside" ] || { echo "what a link points to was removed" >&2; failed=1; }
leaves "not there" 0 none "$scratch/cache" 0
cache
leaves "no number" 2 "a b c" "$scratch/cache" many
leaves "no size" 2 "a b c" "$scratch/cache"
leaves "the root" 2 "a b c" / 0
HOME=$scratch/cache leaves "a home" 2 "a b c" "$scratch/cache" 0
exit "$failed"
