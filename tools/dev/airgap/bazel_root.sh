# shellcheck shell=bash
#
# Bazel itself: a Debian root that holds Debian's bazel-bootstrap, a `bazel`
# command that runs it in the current directory, and the settings that only the
# Bazel in that root reads.

# What Bazel needs and what it builds and tests with.
root_packages=bazel-bootstrap,bazel-rules-shell,ca-certificates,clang,lld,git,zip,patch,python3

make_root() {
  if root_is_whole; then
    log "  there, and every package's files are what they were"
    return
  fi
  need mmdebstrap mmdebstrap
  drop_namespace
  remove_tree "$root"
  remove_tree "$root.new"
  # The mirror may be a frozen copy whose Release file has run out. What is
  # mounted meanwhile is gone with the process, however it ends.
  unshare --mount --propagation private -- mmdebstrap --quiet --variant=apt \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    --include="$root_packages" \
    "$debian_suite" "$root.new"
  mv "$root.new" "$root"
  [ "$(root_bazel_version)" = "$bazel_version" ] ||
    die "Debian $debian_suite has Bazel $(root_bazel_version), the project needs Bazel $bazel_version (.bazelversion): name a suite that carries it in tools/dev/airgap/pins.sh"
  root_is_whole || die "the Debian root that was just made is not whole"
}

# The command's mounts: a root that is made anew needs new ones.
drop_namespace() {
  local mount
  for mount in "$prefix/namespace/mnt" "$prefix/namespace"; do
    ! mountpoint -q "$mount" || umount "$mount"
  done
}

# dpkg compares each file with its package's list. Two configuration files are
# expected to differ: bazelrc, which an earlier set-up may have written to, and
# openssl.cnf, hidden by the machine's own /etc/ssl.
root_is_whole() {
  [ -x "$root/usr/bin/bazel" ] || return 1
  [ "$(root_bazel_version)" = "$bazel_version" ] || return 1
  local package differing
  for package in ${root_packages//,/ }; do
    # shellcheck disable=SC2016 # dpkg's own variable
    chroot "$root" dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || return 1
  done
  differing=$(chroot "$root" dpkg --verify | grep -v -e ' c /etc/' || true)
  [ -z "$differing" ] || {
    log "  files that are not what their package says: $(head -n 3 <<<"$differing" | tr '\n' ' ')"
    return 1
  }
}

# Bazel itself would not even say its version without /proc.
root_bazel_version() {
  # shellcheck disable=SC2016 # dpkg's own variable
  chroot "$root" dpkg-query -W -f '${Version}' bazel-bootstrap 2>/dev/null | sed 's/[+~-].*//'
}

# A section at the end of that root's own bazelrc: later lines win.
write_settings() {
  local name rc=$root/etc/bazel/bazelrc
  # Bazel asks a registry for every module that is not overridden: name an empty one.
  mkdir -p "$prefix/registry/modules"
  {
    # host_javabase does nothing but warn.
    sed -e '/^# --- airgap/,$d' -e '/host_javabase/d' "$rc"
    echo "# --- airgap: written by tools/dev/airgap/setup"
    # WORKSPACE files, and what Bazel appends to them, would be fetched.
    echo "common --noenable_workspace"
    echo "common --registry=file://$prefix/registry"
    echo "common --override_module=rules_shell=/usr/share/bazel/rules/shell"
    for name in "${module_names[@]}"; do
      echo "common --override_module=$name=$prefix/modules/$name"
    done
    echo "common --repo_env=WHISPER_CPP_ARCHIVE=$prefix/archives/${npm_package/@/-}.tgz"
    echo "common --repo_env=WHISPER_CPP_PIN=$whisper_cpp_pin"
    echo "common --repo_env=WHISPER_MODELS_DIR=$prefix/models"
    echo "common --repo_env=WHISPER_SPEECH_DIR=$prefix/speech"
    # Debian keeps every sandbox: on this project that is gigabytes.
    echo "build --nosandbox_debug"
  } >"$rc.new"
  mv "$rc.new" "$rc"
  rm -f "$root/etc/bazel.bazelrc"
}

write_command() {
  local marker='# Written by tools/dev/airgap/setup or its forerunner'
  if [ -e "$command_path" ] && ! grep -q -e "^$marker" -e '^# Written by setup-bazel' "$command_path"; then
    die "$command_path is another Bazel: move it away, or name another place with AIRGAP_COMMAND"
  fi
  sed -e "s|@MARKER@|$marker|" -e "s|@PREFIX@|$prefix|g" "$here/bazel.sh.in" >"$command_path.new"
  chmod +x "$command_path.new"
  mv "$command_path.new" "$command_path"
}
