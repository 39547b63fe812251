# shellcheck shell=bash
# Stages of a long script, some of them side by side, none of which can be lost. To be sourced:
#
#   stages_begin FOLDER NAME…   names every stage that has to run; FOLDER is empty, and holds what each says and how it ended
#   stage NAME COMMAND…         runs one. What it says is printed whole when it has ended, in one piece. Always returns 0.
#   lane FUNCTION               runs a function of stages beside what follows, in a process group of its own
#   stages_wait                 waits for every lane
#   stage_passed NAME           whether it has ended with exit code 0
#   stages_end                  names each stage that failed, each that never ended, and each that ran without being named; returns 1 if
#                               there is one
#   stages_stop                 for `trap … EXIT`: ends what still runs, and prints what it had said
#
# A stage's COMMAND is a program or a function that returns its own exit code: `set -e` has no effect in it.

stages_begin() {
  stages_folder=$1
  shift
  stages_named=("$@")
  stages_lanes=()
}

stages_log() { printf '%s: %s (%d s)\n' "${0##*/}" "$*" "$SECONDS" >&2; }

stage() {
  local name=$1 code=0 begun=$SECONDS
  shift
  stages_log "$name"
  "$@" >"$stages_folder/$name.said" 2>&1 </dev/null || code=$?
  {
    flock 9
    cat -- "$stages_folder/$name.said"
    stages_log "$name ended with exit code $code after $((SECONDS - begun)) s"
  } 9>"$stages_folder/lock"
  # Only now has it ended, whatever kills this script before.
  echo "$code" >>"$stages_folder/$name.ended"
}

lane() {
  # A group of its own, so that all of it can be ended.
  set -m
  "$@" </dev/null &
  stages_lanes+=($!)
  set +m
}

stages_wait() {
  local pid
  for pid in ${stages_lanes[@]+"${stages_lanes[@]}"}; do
    wait "$pid" || stages_log "a lane ended with exit code $?"
  done
  stages_lanes=()
}

stage_passed() { [ "$(cat -- "$stages_folder/$1.ended" 2>/dev/null)" = 0 ]; }

stages_end() {
  local name file wrong=0
  for name in "${stages_named[@]}"; do
    stage_passed "$name" && continue
    wrong=1
    if [ -s "$stages_folder/$name.ended" ]; then
      echo "$name failed with exit code $(paste -sd ' ' "$stages_folder/$name.ended"): see above"
    else
      echo "$name never ended"
    fi
  done
  for file in "$stages_folder"/*.said; do
    name=$(basename "$file" .said)
    case " ${stages_named[*]} " in *" $name "*) continue ;; esac
    [ -e "$file" ] && echo "$name ran and is no stage that was named" && wrong=1
  done
  return "$wrong"
}

stages_stop() {
  local pid file
  for pid in ${stages_lanes[@]+"${stages_lanes[@]}"}; do
    kill -- "-$pid" 2>/dev/null || true
  done
  for file in "$stages_folder"/*.said; do
    [ ! -e "$file" ] || [ -e "${file%.said}.ended" ] || { stages_log "$(basename "$file" .said) did not end; it had said:" && cat -- "$file" >&2; }
  done
}
