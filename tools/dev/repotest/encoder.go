package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	readyEncoder = "PK ready encoder\n"
	// archiveStub stands for gate/defs.bzl, whose rules this workspace does without: a repository's own file is what is looked at.
	archiveStub = "def coreml_archive(name, archive, sha256, visibility):\n    native.filegroup(name = name, srcs = [archive], tags = [sha256], visibility = visibility)\n"
)

// encoder is a ready encoder as an archive; its tag is written if file is set.
type encoder struct {
	file, sha256, urls string
	data               []byte
}

func (w *world) resetEncoder() { w.encoder = encoder{} }

func withEncoder(edits ...func(w *world)) func(w *world) error {
	return func(w *world) error {
		w.encoder = encoder{file: "small.mlmodelc.zip", sha256: sum([]byte(readyEncoder)), data: []byte(readyEncoder)}
		w.env["WHISPER_ENCODERS_DIR"] = filepath.Join(w.dir, "encoders")
		for _, edit := range edits {
			edit(w)
		}
		return nil
	}
}

func (e encoder) tag() string {
	if e.file == "" {
		return ""
	}
	return fmt.Sprintf("whisper.encoder(name = \"small\", file = %q, sha256 = %q, urls = [%s])\nuse_repo(whisper, \"whisper_encoders\")\n", e.file, e.sha256, e.urls)
}

func (w *world) writeEncoder(out map[string][]byte) {
	if w.encoder.file != "" && w.encoder.data != nil {
		out["encoders/"+filepath.Base(w.encoder.file)] = w.encoder.data
	}
}

func encoderPresent(w *world) error {
	got, err := os.ReadFile(filepath.Join(w.external("whisper_encoder_small"), w.encoder.file))
	if err == nil && !bytes.Equal(got, w.encoder.data) {
		err = fmt.Errorf("encoder: expected %q, found %q", w.encoder.data, got)
	}
	return err
}

// atEncoderAddress has no folder of encoders, and an address for this one.
func atEncoderAddress(w *world) {
	w.env["WHISPER_ENCODERS_DIR"] = ""
	w.encoder.urls = fmt.Sprintf("%q", "file://"+filepath.Join(w.dir, "encoders", w.encoder.file))
}

var encoderCases = []testCase{
	{name: "encoder", encoder: true, edit: withEncoder(), check: encoderPresent},
	{name: "encoder, tar.gz", encoder: true, edit: withEncoder(func(w *world) { w.encoder.file = "small.mlmodelc.tar.gz" }), check: encoderPresent},
	{name: "encoder at its address", encoder: true, edit: withEncoder(atEncoderAddress), check: encoderPresent},
	{
		name: "encoder changed", encoder: true, edit: withEncoder(func(w *world) { w.encoder.data = flip(w.encoder.data) }),
		refusal: []string{"encoder small.mlmodelc.zip", "expected SHA-256 {encoder}", "LFS pointer"},
	},
	{
		name: "encoder changed afterwards", encoder: true, edit: withEncoder(), afterGood: flipFile(in("encoders", "small.mlmodelc.zip")),
		refusal: []string{"encoder small.mlmodelc.zip", "expected SHA-256 {encoder}"},
	},
	{
		name: "encoder missing", encoder: true, edit: withEncoder(func(w *world) { w.env["WHISPER_ENCODERS_DIR"] = filepath.Join(w.dir, "checkout") }),
		refusal: []string{"encoder small.mlmodelc.zip has no `urls`", "WHISPER_ENCODERS_DIR names, does not hold it"},
	},
	{
		name: "encoder without a folder", encoder: true, edit: withEncoder(func(w *world) { w.env["WHISPER_ENCODERS_DIR"] = "" }),
		refusal: []string{"WHISPER_ENCODERS_DIR is not set"},
	},
	{
		name: "encoder that cannot be downloaded", encoder: true, edit: withEncoder(atEncoderAddress, func(w *world) {
			// A digest that Bazel's cache cannot know.
			w.encoder.sha256, w.encoder.urls = zeros, `"file:///nonexistent/e.zip"`
		}), refusal: []string{"encoder small.mlmodelc.zip with SHA-256 " + zeros, "could not be downloaded from file:///nonexistent/e.zip", "WHISPER_ENCODERS_DIR"},
	},
	{
		name: "encoder that is no archive", encoder: true, edit: withEncoder(func(w *world) { w.encoder.file = "small.mlmodelc" }),
		refusal: []string{"`file` must be a plain file name that ends in `.zip` or `.tar`"},
	},
	{
		name: "encoder with a digest in capitals", encoder: true, edit: withEncoder(func(w *world) { w.encoder.sha256 = strings.ToUpper(w.encoder.sha256) }),
		refusal: []string{"encoder small.mlmodelc.zip: expected 64 lower-case hexadecimal digits"},
	},
}
