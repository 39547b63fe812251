package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
)

// symptom is a row of docs/failed.md: what the log of a failed run shows, and what to type next.
type symptom struct {
	code  string
	shows string // a line of the log, or in words what is not there
	next  string
}

// symptoms are what most failed runs show, the most frequent first. A test bends a good log into each of them.
var symptoms = []symptom{
	{reason.NoCoreMLBuild, "`COREML = 0` in the line `system_info: …`", "coregate binary --flavour coreml WHISPER-CLI"},
	{reason.LoadMarkerAbsent, "no line `whisper_init_state: Core ML model loaded`", "coregate derive MODEL.bin"},
	{reason.CoreMLLoadFailed, "`whisper_init_state: failed to load Core ML model from '…'`, then `error: failed to initialize whisper context`; exit 3", "coregate inspect MODEL.bin ENCODER"},
	{reason.FallbackFailurePresent, "`whisper_init_state: failed to load Core ML model from '…'`, and the run goes on", "coregate binary --flavour coreml WHISPER-CLI"},
	{reason.GGMLEncoderPresent, "`whisper_init_state: compute buffer (encode) = …`", "coregate inspect MODEL.bin ENCODER"},
	{reason.TranscriptEmpty, "a clean log, exit 0, and no words", "coregate parity --model MODEL.bin --encoder ENCODER --bisect"},
	{reason.CrashSignal, "exit 139 (SIGSEGV) or 134 (SIGABRT)", "coregate judge --log LOG --exit 139"},
	{reason.ExitCode, "another exit code than 0", "coregate judge --log LOG --exit CODE"},
	{reason.CanarySignal, "the canary: `failed to load Core ML model`, and then a signal", "coregate patch verify --source WHISPER.CPP"},
	{reason.CanaryExit, "the canary: exit 0", "coregate binary --flavour coreml WHISPER-CLI"},
	{reason.CanaryMarkerAbsent, "the canary: exit 3 without `failed to load Core ML model`", "coregate judge --log LOG --kind canary --exit 3"},
	{reason.CanaryLoaded, "the canary: `whisper_init_state: Core ML model loaded`", "coregate derive MODEL.bin"},
	{reason.CanaryTimeout, "the canary: no exit within the deadline", "coregate judge --log LOG --kind canary --exit timeout"},
	{reason.ContrastCoreML, "the contrast run: `COREML = 1`, or a Core ML line", "coregate binary --flavour ggml WHISPER-CLI"},
	{reason.ContrastNoEncoder, "the contrast run: no line `whisper_init_state: compute buffer (encode) = …`", "coregate judge --log LOG --kind contrast --exit 0"},
	{reason.SecondLoadMarker, "`whisper_init_state: Core ML model loaded`, twice", "coregate judge --log LOG --exit 0"},
	{reason.LogSilenced, "`error: failed to initialize whisper context` alone: the run was started with `-np`", "coregate judge --log LOG --exit 0"},
	{reason.LogEmpty, "no line at all", "coregate judge --log LOG --exit 0"},
	{reason.RunTimeout, "no exit within the deadline", "coregate judge --log LOG --exit timeout"},
}

// inspections are the sections of reason codes that are about something other than a log, with the command that looks at it.
var inspections = []struct{ title, of, next string }{
	{"Artifacts", "the `.bin` and its encoder", "coregate inspect MODEL.bin ENCODER"},
	{"Parity", "the encoder's numbers", "coregate parity --model MODEL.bin --encoder ENCODER --bisect"},
	{"Words", "what was heard in the recordings", "coregate transcripts DIR"},
	{"Placement", "where the encoder runs", "coregate placement --encoder ENCODER --plan RECORD"},
	{"Programs", "whisper-cli's file", "coregate binary WHISPER-CLI"},
	{"Pins and patches", "the source and its patch", "coregate pin verify --source WHISPER.CPP"},
	{"Receipts", "what a receipt binds", "coregate report --format text RECEIPT"},
	{"Verification", "what was demanded of a signed receipt", "coregate verify --key P.pem SIGNED"},
	{"Measurements", "a session's figures", "coregate bench report --format text SUBMISSION.json"},
}

// writeFailed prints docs/failed.md.
func writeFailed(w io.Writer) error {
	var b strings.Builder
	b.WriteString(`# My gate failed

Written by ` + "`coregate explain --guide`" + `; a test compares this page with the program and with real logs.

A red gate prints its reasons, and for each reason what to do. This is the output of a program that was built without Core ML:

` + "```" + `
FAIL //models:small_en_markers_test: markers: fail
  NO_COREML_BUILD
    expected: COREML = 1
    found:    COREML = 0
    where:    stderr line 14
    do:       Build the coreml flavour; look for a stale binary.
  page: docs/failed.md of rules_coreml_gate
` + "```" + `

1. Read ` + "`found`" + `, then ` + "`do`" + `. ` + "`coregate explain CODE`" + ` says what the code means, and so does [reasons.md](reasons.md).
2. Find the code below, and type its command. It looks at one thing alone, and repeats no run.
3. Repair the cause and build again. Nothing else helps: a test that runs again reads the first run again.

A red ` + "`markers`" + ` beside a red ` + "`canary`" + ` has one cause: begin with the canary. ` + "`inconclusive`" + ` says that a run proves nothing.
It does not say that the encoder is wrong, and it never passes.

The log of a gate's run is in its evidence: ` + "`bazel build //models:small_en_receipt`" + ` leaves it beside the receipt, in
` + "`bazel-bin`" + `. LOG is a file with whisper-cli's standard error, from anywhere.

## Runs

| code | the log shows | next command |
|---|---|---|
`)
	for _, s := range symptoms {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", s.code, s.shows, s.next)
	}
	b.WriteString("\n## Everything else\n\n| codes | are about | next command |\n|---|---|---|\n")
	for _, i := range inspections {
		fmt.Fprintf(&b, "| [%s](reasons.md#%s) | %s | `%s` |\n", i.title, strings.ReplaceAll(strings.ToLower(i.title), " ", "-"), i.of, i.next)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
