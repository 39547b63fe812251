package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// action is what is read of one action of `bazel aquery --output=jsonproto`.
type action struct {
	Mnemonic      string `json:"mnemonic"`
	Key           string `json:"actionKey"`
	Platform      string `json:"executionPlatform"`
	ExecutionInfo []struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	} `json:"executionInfo"`
}

func (a action) property(name string) string {
	for _, e := range a.ExecutionInfo {
		if e.Key == name {
			return e.Value
		}
	}
	return ""
}

const subjects = "//gate/private/tests:"

// actions asks for the actions of a target for one platform with workers of its own.
func (p *place) actions(target, platform string) (map[string]action, error) {
	out, err := p.must("aquery", "--output=jsonproto", "--ui_event_filters=-info,-stderr", "--noshow_progress", "--color=no", "--curses=no",
		"--extra_execution_platforms="+platform, "--platforms="+platform, target)
	if err != nil {
		return nil, err
	}
	start := strings.Index(out.text, "{")
	if start < 0 {
		return nil, fmt.Errorf("aquery %s: expected an object, found:\n%s", target, tail(out.text))
	}
	var container struct {
		Actions []action `json:"actions"`
	}
	if err := json.NewDecoder(strings.NewReader(out.text[start:])).Decode(&container); err != nil {
		return nil, fmt.Errorf("aquery %s: %w", target, err)
	}
	byMnemonic := map[string]action{}
	for _, a := range container.Actions {
		byMnemonic[a.Mnemonic] = a
	}
	return byMnemonic, nil
}

// keys shows that a worker's identity enters the keys of runs and of nothing else, by exec properties alone,
// and that what no worker can do is refused at analysis.
func (s *stand) keys() error {
	// Nothing is built, so the output base that there is will do.
	p := &place{stand: s, workspace: s.root}
	run := map[string]action{}
	for _, build := range []string{"24G84", "24G90"} {
		platform := subjects + "linux_" + build
		actions, err := p.actions(subjects+"worker_canary", platform)
		if err != nil {
			return err
		}
		run[build] = actions["GateRun"]
		if got := run[build]; got.Key == "" || got.property("OSBuild") != build || got.Platform != platform {
			return fmt.Errorf("a run for %s: expected its OSBuild and platform in the action, found %+v", build, got)
		}
		if actions, err = p.actions("//third_party/whisper_cpp:sources", platform); err != nil {
			return err
		}
		// (aquery's keys hold the platform's label too. A service's keys hold the exec properties alone.)
		if got := actions["GateSources"]; got.Key == "" || got.property("OSBuild") != "" {
			return fmt.Errorf("an action that runs no whisper-cli: expected no OSBuild, found %+v", got)
		}
	}
	if run["24G84"].Key == run["24G90"].Key {
		return fmt.Errorf("runs on two builds of the system have one key, %s", run["24G84"].Key)
	}
	s.say("ok   another OSBuild is another key of a run, and no property of anything else")

	for _, c := range []struct {
		name   string
		args   []string
		expect []string
	}{
		{"a physical demand with Linux workers alone", []string{subjects + "run_that_demands_physical"}, []string{"a platform of the physical lane", "found the emulated one", "macOS arm64 platform and workers"}},
		{"a Mac as target with Linux workers alone", []string{"--platforms=" + subjects + "mac_one", subjects + "worker_canary"}, []string{"No matching toolchains found", "//gate/toolchains:core_ml_toolchain_type"}},
		{
			"a Mac worker whose toolchain nobody registered",
			[]string{"--platforms=" + subjects + "mac_one", "--extra_execution_platforms=" + subjects + "mac_one", subjects + "worker_canary"},
			[]string{"No matching toolchains found", "//gate/toolchains:core_ml_toolchain_type"},
		},
		{
			"a Mac worker with another one's toolchain",
			[]string{"--platforms=" + subjects + "mac_one", "--extra_execution_platforms=" + subjects + "mac_one", "--extra_toolchains=" + subjects + "mac_two_toolchain", subjects + "worker_canary"},
			[]string{"No matching toolchains found", "//gate/toolchains:core_ml_toolchain_type"},
		},
	} {
		out, err := p.run("build", append([]string{"--nobuild"}, c.args...)...)
		if err != nil {
			return err
		}
		if out.code == 0 {
			return fmt.Errorf("%s: expected an error at analysis, found none", c.name)
		}
		for _, want := range c.expect {
			if !strings.Contains(out.text, want) {
				return fmt.Errorf("%s: expected Bazel to say %q, found:\n%s", c.name, want, tail(out.text))
			}
		}
		s.say("ok   %s is refused at analysis", c.name)
	}
	return nil
}
