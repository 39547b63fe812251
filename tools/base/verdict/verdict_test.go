package verdict_test

import (
	"encoding/json"
	"testing"

	"github.com/coreml-gate/rules_coreml_gate/tools/base/reason"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/strictjson"
	"github.com/coreml-gate/rules_coreml_gate/tools/base/verdict"
)

// TestFindings adds findings of each class in turn.
func TestFindings(t *testing.T) {
	f := verdict.New()
	for _, c := range []struct {
		code           string
		want           reason.Verdict
		reasons, notes int
	}{
		{reason.TorchUntested, reason.Pass, 0, 1},
		{reason.LogSilenced, reason.Unknown, 1, 1},
		{reason.CanaryExit, reason.Failed, 2, 1},
		{reason.LogSilenced, reason.Failed, 3, 1},
	} {
		f.Addf(c.code, "here", "this", "that %d", 1)
		if f.Verdict != c.want || len(f.Reasons) != c.reasons || len(f.Notes) != c.notes {
			t.Errorf("after %s: %+v", c.code, f)
		}
	}
	if !f.Has(reason.ModelName, reason.CanaryExit) || f.Has(reason.ModelName) {
		t.Error("Has does not say what is there")
	}
	if f := verdict.From(reason.Reason{Code: "NO_SUCH_CODE"}); f.Verdict != reason.Failed {
		t.Errorf("an unknown code gives %s, want fail", f.Verdict)
	}
	if v := (verdict.Findings{}).Verdict; v == reason.Pass {
		t.Error("findings that nobody began pass")
	}
}

func TestWorst(t *testing.T) {
	for _, c := range []struct {
		in   []reason.Verdict
		want reason.Verdict
	}{
		{nil, reason.Failed},
		{[]reason.Verdict{reason.Pass, reason.Pass}, reason.Pass},
		{[]reason.Verdict{reason.Inadmissible, reason.Pass}, reason.Unknown},
		{[]reason.Verdict{reason.Unknown, reason.Failed}, reason.Failed},
		{[]reason.Verdict{reason.Pass, ""}, reason.Failed},
		{[]reason.Verdict{reason.Pass, "PASS"}, reason.Failed},
	} {
		if got := verdict.Worst(c.in...); got != c.want {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
	}
}

// TestForm holds the JSON form of a judgement: receipts are made of its bytes.
func TestForm(t *testing.T) {
	j := verdict.NewJudgement("canary")
	j.Add(reason.CanaryExit, "exit", "exit 3", "exit 0")
	j.Facts["load_markers"] = 0
	j.Policy = &verdict.PolicyRef{Name: "gate_v1", SHA256: "00"}
	const want = `{"name":"canary","verdict":"fail","reasons":[{"code":"CANARY_EXIT","expected":"exit 3","found":"exit 0","where":"exit"}],` +
		`"notes":[],"facts":{"load_markers":0},"policy":{"name":"gate_v1","sha256":"00"}}`
	got, err := json.Marshal(j)
	if err != nil || string(got) != want {
		t.Fatalf("%s, %v, want %s", got, err, want)
	}
	back := &verdict.Judgement{}
	if err := strictjson.Decode(got, back); err != nil || back.Verdict != reason.Failed {
		t.Errorf("read back: %+v, %v", back, err)
	}
}

// TestCheck holds that a judgement cannot say another verdict than its reasons give.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		code string
		says reason.Verdict
		ok   bool
	}{
		{"", reason.Pass, true},
		{"", reason.Failed, false},
		{"", reason.Inadmissible, false},
		{"", "", false},
		{reason.CanaryExit, reason.Failed, true},
		{reason.CanaryExit, reason.Pass, false},
		{reason.CanaryExit, reason.Unknown, false},
		{reason.CanaryNotPassed, reason.Inadmissible, true},
		{reason.CanaryNotPassed, reason.Unknown, true},
		{reason.CanaryNotPassed, reason.Pass, false},
		{"NO_SUCH_CODE", reason.Pass, false},
	} {
		j := verdict.NewJudgement("canary")
		if c.code != "" {
			j.Add(c.code, "here", "this", "that")
		}
		j.Verdict = c.says
		if err := j.Check(); (err == nil) != c.ok {
			t.Errorf("%q over %q: %v, want agreement %v", c.says, c.code, err, c.ok)
		}
	}
}
