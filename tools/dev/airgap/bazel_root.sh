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

# What upstream's own bridge is compiled with and looked at by, beside clang: GNUstep's Foundation, and valgrind. Its development package would bring a
# hundred others (a packaging suite, a graph drawer); of it only headers and the link to the library are unpacked.
make_foundation() {
  if foundation_is_whole; then
    log "  there"
    return
  fi
  cp -f /etc/resolv.conf /etc/hosts "$root/etc/"
  # shellcheck disable=SC2016 # the inner shell's own variables
  DEBIAN_FRONTEND=noninteractive chroot "$root" /bin/sh -euc '
    apt-get -o Acquire::Check-Valid-Until=false update -qq
    library=$(apt-cache depends libgnustep-base-dev | sed -n "s/^ *Depends: \(libgnustep-base[0-9.]*\)$/\1/p")
    apt-get install -y -qq --no-install-recommends "$library" valgrind >/dev/null
    folder=$(mktemp -d)
    cd "$folder"
    apt-get -o APT::Sandbox::User=root download -qq libgnustep-base-dev
    dpkg-deb --fsys-tarfile ./*.deb | tar -C / -xf - --wildcards "./usr/include/*" "./usr/lib/*/libgnustep-base.so"
    rm -r "$folder"
  ' || die "Debian $debian_suite did not give libgnustep-base-dev and its library"
  foundation_is_whole || die "expected GNUstep's Foundation.h and libgnustep-base.so in $root, and did not find both"
}

foundation_is_whole() {
  # shellcheck disable=SC2016 # the inner shell's own variables
  chroot "$root" /bin/sh -c '
    [ -e "$(clang -print-file-name=libgnustep-base.so)" ] && [ -e "$(clang -print-file-name=libobjc.so)" ] && command -v valgrind >/dev/null &&
      ls /usr/include/GNUstep/Foundation/Foundation.h /usr/include/*/GNUstep/Foundation/Foundation.h 2>/dev/null | grep -q .'
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
  # This set-up under an earlier path wrote it too.
  if [ -e "$command_path" ] && ! grep -q -e "^$marker" -e '^# Written by tools/airgap/setup' -e '^# Written by setup-bazel' "$command_path"; then
    die "$command_path is another Bazel: move it away, or name another place with AIRGAP_COMMAND"
  fi
  sed -e "s|@MARKER@|$marker|" -e "s|@PREFIX@|$prefix|g" "$here/bazel.sh.in" >"$command_path.new"
  chmod +x "$command_path.new"
  mv "$command_path.new" "$command_path"
}
