//go:build e2e && unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/e2e"
)

// ran holds the parts of a run's result that these tests read.
type ran struct {
	exit       int
	Status     string `json:"status"`
	Response   string `json:"response"`
	StopReason struct {
		Code string `json:"code"`
	} `json:"stop_reason"`
	Steps []struct {
		Status string `json:"status"`
		Result string `json:"result"`
	} `json:"steps"`
	Usage struct {
		ModelCalls int `json:"model_calls"`
		ToolCalls  int `json:"tool_calls"`
	} `json:"usage"`
}

// runAt runs a spec of internal/e2e with a server.
func runAt(t *testing.T, base, spec, question string) ran {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "run", filepath.Join("..", "..", "internal", "e2e", "testdata", spec), question, "-o", "json")
	cmd.Env = append(os.Environ(), pexctlEnv()...)
	cmd.Env = append(cmd.Env, "PEX_HOME="+t.TempDir(), "E2E_BASE_URL="+base, "OPENAI_API_KEY=of-nothing")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("pexctl: %v (%v)\n%s", err, ctx.Err(), stderr.String())
	}
	r := ran{exit: cmd.ProcessState.ExitCode()}
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatalf("result: %v\nstdout: %s\nstderr: %s", err, stdout.String(), stderr.String())
	}
	return r
}

const sums = "6 * 7 is 42 and 42 + 1 is 43"

// rightSums describes the mistake in a completed run of calc.yaml, or returns "".
func rightSums(r ran) string {
	if r.exit != 0 || r.Response != sums || len(r.Steps) != 2 || r.Usage.ToolCalls != 2 || r.Usage.ModelCalls != 6 {
		return fmt.Sprintf("%+v", r)
	}
	if r.Steps[0].Result != "the product is 42" || r.Steps[1].Result != "the sum is 43" {
		return fmt.Sprintf("steps %+v", r.Steps)
	}
	return ""
}

func TestE2ERunOnAServer(t *testing.T) {
	base := e2e.Aimock(t, "../../internal/e2e/testdata/aimock.json", "--chunk-size", "6")
	if wrong := rightSums(runAt(t, base, "calc.yaml", "Do two sums.")); wrong != "" {
		t.Error(wrong)
	}
}

// With injected faults a run ends with the correct result, or as a failure with a
// reason.
func TestE2ERunsWithFaultsAreNeverWrong(t *testing.T) {
	base := e2e.Aimock(t, "../../internal/e2e/testdata/aimock.json", "--chunk-size", "6",
		"--chaos-ratelimit", "0.05", "--chaos-drop", "0.15", "--chaos-malformed", "0.05", "--chaos-disconnect", "0.1")
	ends := map[string]int{}
	for range 25 {
		r := runAt(t, base, "calc.yaml", "Do two sums.")
		ends[r.StopReason.Code]++
		switch {
		case r.Status == "completed" && r.Response == sums && r.exit == 0:
		case r.Status == "failed" && r.exit != 0 && r.StopReason.Code != "":
		default:
			t.Errorf("neither right nor a failure: %+v", r)
		}
	}
	t.Logf("ends: %v", ends)
	if ends["answered"] == 0 {
		t.Errorf("no run got through: %v", ends)
	}
}

func TestE2ERunOnRandomWeightsEnds(t *testing.T) {
	r := runAt(t, e2e.Ollama(t, "../../testdata/models/tiny.gguf"), "tiny.yaml", "What time is it?")
	if r.Usage.ModelCalls == 0 || r.StopReason.Code == "" || r.StopReason.Code == "internal" || r.StopReason.Code == "provider_error" {
		t.Errorf("%+v", r)
	}
	t.Logf("%s after %d model calls", r.StopReason.Code, r.Usage.ModelCalls)
}

// TestE2EFirstAnswerOfALocalModel types what a newcomer types who has Ollama with one model: init finds server and model, ping
// says what the model supports, run answers.
func TestE2EFirstAnswerOfALocalModel(t *testing.T) {
	base := e2e.Ollama(t, "../../testdata/models/tiny.gguf")
	home := t.TempDir()
	pexctl := func(dir string, wantExit int, args ...string) string {
		t.Helper()
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, self, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), pexctlEnv()...)
		cmd.Env = append(cmd.Env, "OLLAMA_HOST="+strings.TrimSuffix(strings.TrimPrefix(base, "http://"), "/v1"))
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != wantExit {
			t.Fatalf("pexctl %s: %v, want exit code %d\n%s", strings.Join(args, " "), err, wantExit, out)
		}
		t.Logf("$ pexctl %s\n%s", strings.Join(args, " "), out)
		return string(out)
	}
	const live = " --set planner.llm=live --set executor.mode=react_text"
	if out := pexctl(home, 0, "init", "shop", "--yes", "--provider", "ollama"); !strings.Contains(out, "With a real model (tiny):\n  pexctl run shop"+live) {
		t.Errorf("init does not suggest the model of the server:\n%s", out)
	}
	dir := filepath.Join(home, "shop")
	if out := pexctl(dir, 0, "models", "ping", "."); !strings.Contains(out, "executor.mode: react_text") {
		t.Errorf("ping does not say how to do without tool calls:\n%s", out)
	}
	args := append([]string{"run", "."}, strings.Fields(live)...)
	args = append(args, "--set", "llms.live.max_output_tokens=1200", "--set", "llms.live.seed=7", "--set", "limits.executor_max_iterations=2",
		"Which product sold best?", "-o", "json")
	var r ran
	if out := pexctl(dir, 0, append(args, "-q")...); json.Unmarshal([]byte(out), &r) != nil || r.Status != "completed" || r.Usage.ModelCalls == 0 {
		t.Errorf("no answer:\n%s", out)
	}
}
