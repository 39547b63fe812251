package main

import (
	"path/filepath"
	"strings"
)

// macHost is a folder of programs that answer as those of a Mac do.
type macHost struct{ dir string }

const (
	developer = "/Applications/Xcode.app/Contents/Developer"
	// Bazel's own rules clear the environment, and with it the way to these programs.
	fakeEnv = `#!/bin/sh
[ "$1" != -i ] || shift
PATH=@BIN@:/usr/bin:/bin exec /usr/bin/env "$@"
`
	fakeXcrun = `#!/bin/sh
while :; do
  case $1 in
  --sdk) shift 2 ;;
  --*) shift ;;
  *) break ;;
  esac
done
case "$*" in
"xcodebuild -version -sdk") printf 'MacOSX15.5.sdk - macOS 15.5 (macosx15.5)\nSDKVersion: 15.5\n' ;;
"xcodebuild -version") printf 'Xcode 16.4\nBuild version 16F6\n' ;;
clang*)
  # What it compiles is the program that lists the Xcodes.
  out=
  while [ $# -gt 0 ]; do
    [ "$1" != -o ] || out=$2
    shift
  done
  printf '#!/bin/sh\necho 16.4.0.16F6:16,16F6,16.4,16.4.0:%s\n' @DEVELOPER@ >"$out"
  chmod +x "$out"
  ;;
*)
  echo "this Mac is made up and has no $*" >&2
  exit 1
  ;;
esac
`
	identity = `{"chip":"Apple M4","core_ml":"CoreML.framework","hardware":"Mac16,10","lane":"physical","os_build":"24G84","os_version":"15.6","xcode_build":"16F6","xcode_version":"16.4"}
`
)

func makeMac(dir string) (macHost, error) {
	m := macHost{dir}
	fill := strings.NewReplacer("@BIN@", filepath.Join(dir, "bin"), "@DEVELOPER@", developer).Replace
	return m, write(dir, map[string]string{
		"bin/env":          fill(fakeEnv),
		"bin/xcrun":        fill(fakeXcrun),
		"bin/xcodebuild":   "#!/bin/sh\nexec " + filepath.Join(dir, "bin", "xcrun") + " xcodebuild \"$@\"\n",
		"bin/xcode-select": "#!/bin/sh\necho " + developer + "\n",
		// The rule that asks a Mac for its identity names programs by their whole path.
		"host/BUILD.bazel":   "exports_files([\"identity.json\"], visibility = [\"//visibility:public\"])\n",
		"host/REPO.bazel":    "",
		"host/identity.json": identity,
	})
}

func (m macHost) path() string { return filepath.Join(m.dir, "bin") + ":/usr/local/bin:/usr/bin:/bin" }

// startup tells repository rules that this is a Mac, and Bazel itself that it is not.
func (m macHost) startup() []string {
	return []string{"--host_jvm_args=-Dos.name=Mac OS X", "--host_jvm_args=-Dos.arch=aarch64", "--host_jvm_args=-Dblaze.os=Linux"}
}

// options are for a workspace in which this module's canonical repository is named.
func (m macHost) options(repository string) []string {
	const mac = "@build_bazel_apple_support//platforms:macos_arm64"
	platform := mac
	if repository != "_main" {
		// A module that depends on this one has no name for apple_support.
		platform = "@@apple_support~//platforms:macos_arm64"
	}
	return []string{
		"--repo_env=PATH=" + m.path(),
		"--override_repository=" + repository + "~whisper~core_ml_host=" + filepath.Join(m.dir, "host"),
		"--platforms=" + platform, "--host_platform=" + platform,
	}
}
