// Command release packs what a user of the module gets, and writes what a registry says about it.
//
//	bazel build //:release_archive        what it writes, in bazel-bin/tools/dev/release/
//
//	rules_coreml_gate-VERSION.tar.gz      the module's archive
//	receipt.json                          an in-toto statement about it: every file by its SHA-256
//	metadata.json, source.json, presubmit.yml, MODULE.bazel    the module's entry in a registry
//
// The archive is a tar of regular files in the order of their paths, below the folder rules_coreml_gate-VERSION, each of mode
// 0644, or 0755 if its first bytes are `#!`, of owner and group 0 and of the time 0, compressed by gzip with a header that names
// nothing. So its bytes follow from the files alone.
//
// Not every file is in it. Tests, their data and tools/dev are left out ([packed]); what follows the marker line of MODULE.bazel
// and of the BUILD.bazel beside it is cut off, and test rules are cut out of every BUILD file, since their sources are not there
// ([product]).
package main
