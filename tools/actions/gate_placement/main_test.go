package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/judgements/factstest"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/tree"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/computeplan"
	"github.com/coreml-gate/rules_coreml_gate/tools/run/placement/placementtest"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	model, encoder := write("ggml-x.bin", "model"), filepath.Dir(write("real/coremldata.bin", "x"))
	// As Bazel's sandbox presents it.
	linked := filepath.Join(dir, "ggml-x-encoder.mlmodelc")
	if err := os.Mkdir(linked, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(encoder, "coremldata.bin"), filepath.Join(linked, "coremldata.bin")); err != nil {
		t.Fatal(err)
	}
	digest, err := tree.Digest(encoder)
	if err != nil {
		t.Fatal(err)
	}
	standIn := placementtest.Encoder()
	standIn.Framework = computeplan.FrameworkStandIn
	probe := placementtest.Program(t, placementtest.List(true), standIn, "")
	none := placementtest.Program(t, placementtest.List(false), standIn, "")
	traced := placementtest.Recording(t, digest, placementtest.Contents("whisper-cli", "Core ML", "launched", 0), placementtest.Intervals("ane-hw-intervals"))
	for _, c := range []struct {
		name, lane string
		more       []string
		code       int
		reasons    string
		// says must be in what was written to standard error.
		says string
	}{
		{"the emulated lane", "emulated", nil, 0, "PLACEMENT_EMULATED PLACEMENT_NO_INSTRUMENT", ""},
		{"the stand-in", "emulated", []string{"--probe=" + probe}, 0, "PLACEMENT_EMULATED PLACEMENT_STAND_IN", ""},
		{"a machine without a Neural Engine", "emulated", []string{"--probe=" + none}, 0, "PLACEMENT_NO_NEURAL_ENGINE", ""},
		{"a recording", "emulated", []string{"--policy=placement_trace_v1", "--trace=" + filepath.Join(traced, placement.AboutFile),
			"--trace=" + filepath.Join(traced, placement.ContentsFile), "--trace=" + filepath.Join(traced, placement.IntervalsFile)}, 0, "PLACEMENT_EMULATED PLACEMENT_TRACE_SILENT", ""},
		{"half a recording", "emulated", []string{"--trace=" + filepath.Join(traced, placement.AboutFile)}, 1, "", placement.ContentsFile},
		{"a policy for numbers", "emulated", []string{"--policy=fp32_v2"}, 0, "PLACEMENT_POLICY", ""},
		{"a policy of no name", "emulated", []string{"--policy=mine"}, 1, "", "no frozen policy"},
		{"a lane of no name", "simulated", nil, 2, "", "--lane"},
		{"the physical lane without an identity", "physical", nil, 2, "", "--identity"},
		{"the physical lane elsewhere", "physical", []string{"--identity=" + write("identity.json", `{"lane":"physical","os_build":"24G84"}`)}, 1, "", "macOS"},
		{"a probe that is not there", "emulated", []string{"--probe=" + filepath.Join(dir, "none")}, 1, "", "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, record := filepath.Join(t.TempDir(), "placement.json"), filepath.Join(t.TempDir(), "record.json")
			args := append([]string{"--lane=" + c.lane, "--model=" + model, "--encoder=" + linked, "--policy=placement_plan_v1", "--out=" + out, "--record=" + record}, c.more...)
			var stderr bytes.Buffer
			if code := run(t.Context(), args, &stderr); code != c.code || !strings.Contains(stderr.String(), c.says) {
				t.Fatalf("exit %d, want %d and %q: %s", code, c.code, c.says, &stderr)
			}
			if c.code != 0 {
				return
			}
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			j := &verdict.Judgement{}
			if err := json.Unmarshal(data, j); err != nil {
				t.Fatal(err)
			}
			factstest.Check(t, j, c.lane)
			var codes []string
			for _, r := range j.Reasons {
				codes = append(codes, r.Code)
			}
			if strings.Join(codes, " ") != c.reasons || strings.Contains(string(data), dir) {
				t.Errorf("%s, want %q and no path", data, c.reasons)
			}
			if c.reasons != "PLACEMENT_POLICY" && j.Facts["encoder_digest"] != digest {
				t.Errorf("encoder %v, want %s", j.Facts["encoder_digest"], digest)
			}
			kept, err := os.ReadFile(record)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := placement.ParseRecord(kept); (err == nil) != strings.Contains(c.reasons, "STAND_IN") || err == nil && r.EncoderDigest != digest {
				t.Errorf("record %.80s: %v", kept, err)
			}
		})
	}
}
