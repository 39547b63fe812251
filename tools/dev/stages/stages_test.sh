#!/usr/bin/env bash
# What stages.sh promises: no stage is lost, each keeps its own text whole, and one that fails fails the script by name.
#
#   stages_test.sh STAGES.SH
set -euo pipefail
# shellcheck disable=SC2034 # the scripts below read it
stages=$(realpath "$1")
export stages
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# script NAME CODE TEXT: runs the script on stdin with `set -euo pipefail` and stages.sh, and expects its exit code and, if TEXT is
# given, that line among its own.
script() {
  local code=0 folder="$scratch/$1"
  mkdir "$folder"
  # shellcheck disable=SC2016
  { echo 'set -euo pipefail; source "$stages"'; cat; } >"$scratch/$1.sh"
  # Output goes to a file: a process that outlives the script would keep a pipe open.
  folder=$folder timeout 60 bash "$scratch/$1.sh" >"$scratch/$1.out" 2>&1 || code=$?
  if [ "$code" != "$2" ] || { [ -n "$3" ] && ! grep -qxF -- "$3" "$scratch/$1.out"; }; then
    printf '%s: expected exit code %s and the line "%s", found %s and\n%s\n' "$1" "$2" "$3" "$code" "$(cat "$scratch/$1.out")" >&2
    failed=1
  fi
}

script clean 0 "" <<'S'
stages_begin "$folder" a b c
one() { stage a true; stage b true; }
lane one
stage c true
stages_wait
stage_passed a
stages_end
S

# In the background, at the front, and a command that does not exist.
script background 1 "a failed with exit code 7: see above" <<'S'
stages_begin "$folder" a b
one() { stage a sh -c 'exit 7'; }
lane one
stage b true
stages_wait
stages_end
S
script front 1 "b failed with exit code 3: see above" <<'S'
stages_begin "$folder" a b
one() { stage a true; }
lane one
stage b sh -c 'exit 3'
stages_wait
stages_end
S
script absent 1 "a failed with exit code 127: see above" <<'S'
stages_begin "$folder" a
one() { stage a no-such-command; }
lane one
stages_wait
stages_end
S

# What comes after one that failed runs all the same, and both are named.
script after 1 "b failed with exit code 9: see above" <<'S'
stages_begin "$folder" a b c
one() { stage a false; stage b sh -c 'exit 9'; stage c true; }
lane one
stages_wait
stage_passed c
stages_end
S

# A lane that is killed, one that ends early, one that nobody began, and one that was not waited for.
script killed 1 "b never ended" <<'S'
stages_begin "$folder" a b
one() { stage a true; stage b sh -c 'kill -9 $PPID; sleep 1'; }
lane one
stages_wait
stages_end
S
script early 1 "b never ended" <<'S'
stages_begin "$folder" a b
one() { stage a true; exit 0; stage b true; }
lane one
stages_wait
stages_end
S
script forgotten 1 "b never ended" <<'S'
stages_begin "$folder" a b
stage a true
stages_end
S
script early_look 1 "a never ended" <<'S'
stages_begin "$folder" a
one() { stage a sleep 20; }
trap stages_stop EXIT
lane one
stages_end
S

# A name that stands nowhere, and one that ran twice: the second's success does not hide the first's failure.
script unnamed 1 "b ran and is no stage that was named" <<'S'
stages_begin "$folder" a
stage a true
stage b true
stages_end
S
script twice 1 "a failed with exit code 1 0: see above" <<'S'
stages_begin "$folder" a
stage a false
stage a true
stages_end
S

# Two that speak at once: each text is whole.
script whole 0 "" <<'S'
stages_begin "$folder" a b
speak() { local i; for i in 1 2 3 4 5 6 7 8; do echo "$1 $i"; sleep 0.05; done; }
one() { stage a speak a; }
lane one
stage b speak b
stages_wait
stages_end
S
for name in a b; do
  grep -E -A 7 "^$name 1\$" "$scratch/whole.out" | tr '\n' ' ' | grep -qF "$name 1 $name 2 $name 3 $name 4 $name 5 $name 6 $name 7 $name 8" || {
    printf 'whole: the text of %s is torn:\n%s\n' "$name" "$(cat "$scratch/whole.out")" >&2
    failed=1
  }
done

# Whoever ends the script ends its lanes, with what they started, and sees what was said.
script stopped 5 "half a text" <<'S'
stages_begin "$folder" a
one() { stage a sh -c 'echo half a text; echo $$ >"$0/pid"; sleep 50; exit 0' "$folder"; }
trap stages_stop EXIT
lane one
until [ -s "$folder/pid" ]; do sleep 0.05; done
exit 5
S
for _ in $(seq 100); do
  kill -0 "$(cat "$scratch/stopped/pid")" 2>/dev/null || break
  sleep 0.05
done
if kill -0 "$(cat "$scratch/stopped/pid")" 2>/dev/null; then
  echo "stopped: a lane's program outlives the script" >&2
  failed=1
fi
exit "$failed"
