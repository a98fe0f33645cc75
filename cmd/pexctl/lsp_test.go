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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/pexctl/pex/engine/goldentest"
)

// editor is a client of the real binary over its stdin and stdout.
type editor struct {
	*jrpc2.Client
	t      testing.TB
	told   chan json.RawMessage
	server *exec.Cmd
	stderr bytes.Buffer
}

func startEditor(t testing.TB) *editor {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := &editor{t: t, told: make(chan json.RawMessage, 10_000), server: exec.Command(self, "lsp", "--stdio")}
	e.server.Env = append(os.Environ(), pexctlEnv()...)
	e.server.Stderr = &e.stderr
	in, err := e.server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.server.Start(); err != nil {
		t.Fatal(err)
	}
	e.Client = jrpc2.NewClient(channel.LSP(out, in), &jrpc2.ClientOptions{OnNotify: func(r *jrpc2.Request) {
		e.told <- json.RawMessage(r.ParamString())
	}})
	t.Cleanup(func() {
		_ = e.Close()       // ends the server if it is still running
		_ = e.server.Wait() // the test checks the exit code where it matters
	})
	e.ask("initialize", `{"capabilities":{"textDocument":{"completion":{"completionItem":{"snippetSupport":true}}}}}`)
	e.tell("initialized", `{}`)
	return e
}

func (e *editor) ask(method, params string) json.RawMessage {
	e.t.Helper()
	r, err := e.Call(context.Background(), method, json.RawMessage(params))
	if err != nil {
		e.t.Fatalf("%s: %v\n%s", method, err, e.stderr.String())
	}
	return json.RawMessage(r.ResultString())
}

func (e *editor) tell(method, params string) {
	e.t.Helper()
	if err := e.Notify(context.Background(), method, json.RawMessage(params)); err != nil {
		e.t.Fatal(err)
	}
}

// open opens a text in the server, and waits for its diagnostics.
func (e *editor) open(uri, text string, version int) json.RawMessage {
	e.t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		e.t.Fatal(err)
	}
	e.tell("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":%q,"languageId":"yaml","version":%d,"text":%s}}`, uri, version, quoted))
	return e.diagnostics(uri, version)
}

func (e *editor) diagnostics(uri string, version int) json.RawMessage {
	e.t.Helper()
	for b := range e.told {
		var p struct {
			URI         string
			Version     int
			Diagnostics json.RawMessage
		}
		if err := json.Unmarshal(b, &p); err != nil {
			e.t.Fatal(err)
		}
		if p.URI == uri && p.Version == version {
			return p.Diagnostics
		}
	}
	return nil
}

// TestEditorRequestsToTheRealBinary: testdata/lsp/*.txtar hold a file with ‸ as the
// cursor, and the server's responses there. The comment lists the requests.
func TestEditorRequestsToTheRealBinary(t *testing.T) {
	e := startEditor(t)
	version := 0
	goldentest.Each(t, "testdata/lsp/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		dir := t.TempDir()
		a.Extract(t, dir)
		names := a.Names()
		name := names[max(0, slices.IndexFunc(names, func(name string) bool { return strings.Contains(a.Input(t, name), "‸") }))]
		text, rest, _ := strings.Cut(a.Input(t, name), "‸")
		uri := "file://" + filepath.ToSlash(filepath.Join(dir, name))
		line := strings.Count(text, "\n")
		place := fmt.Sprintf(`{"textDocument":{"uri":%q},"position":{"line":%d,"character":%d},"newName":"other","context":{"includeDeclaration":true}}`,
			uri, line, len(text)-(strings.LastIndex(text, "\n")+1))
		version++
		found := e.open(uri, text+rest, version)
		var out strings.Builder
		for question := range strings.FieldsSeq(a.Comment()) {
			answer := found
			if question != "diagnostics" {
				answer = e.ask("textDocument/"+question, place)
			}
			shown := strings.ReplaceAll(brief(t, question, answer), "file://"+filepath.ToSlash(dir)+"/", "")
			fmt.Fprintf(&out, "%s:\n%s\n", question, shown)
		}
		a.Want(t, "answers", out.String())
	})
}

// brief formats a response: labels and inserted text of completions, otherwise
// JSON.
func brief(t *testing.T, question string, answer json.RawMessage) string {
	t.Helper()
	if question == "completion" {
		var list struct {
			Items []struct {
				Label, Detail string
				TextEdit      struct{ NewText string }
			}
		}
		if err := json.Unmarshal(answer, &list); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, it := range list.Items {
			fmt.Fprintf(&b, "  %s (%s) %q\n", it.Label, it.Detail, it.TextEdit.NewText)
		}
		return b.String()
	}
	var b bytes.Buffer
	if err := json.Indent(&b, answer, "  ", "  "); err != nil {
		t.Fatal(err)
	}
	return "  " + b.String() + "\n"
}

func TestEditorEndsTheServer(t *testing.T) {
	cases := []struct {
		name     string
		shutdown bool
		want     int
	}{{"after a shutdown", true, 0}, {"without one", false, 1}}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := startEditor(t)
			if c.shutdown {
				e.ask("shutdown", "null")
			}
			e.tell("exit", "null")
			err := e.server.Wait()
			code := 0
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				code = exit.ExitCode()
			}
			if code != c.want {
				t.Errorf("exit code %d, want %d (%v)", code, c.want, err)
			}
		})
	}
}

// BenchmarkKeystroke measures the time from a keystroke in a spec of 300 lines to
// its diagnostics, over stdio, one at a time.
func BenchmarkKeystroke(b *testing.B) {
	b.Run("one", func(b *testing.B) { benchmarkBursts(b, 1) })
	b.Run("of ten at once", func(b *testing.B) { benchmarkBursts(b, 10) })
}

// benchmarkBursts types letters in bursts, and measures the time from the last
// letter of each to the diagnostics of the final text.
func benchmarkBursts(b *testing.B, letters int) {
	e := startEditor(b)
	uri := "file://" + filepath.ToSlash(filepath.Join(b.TempDir(), "spec.yaml"))
	text, line := longSpec()
	e.open(uri, text, 0)
	var took []time.Duration
	version := 0
	for b.Loop() {
		for range letters {
			version++
			e.tell("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":%d},"contentChanges":[{"range":{"start":{"line":%d,"character":8},"end":{"line":%[3]d,"character":8}},"text":"x"}]}`, uri, version, line))
		}
		begin := time.Now()
		e.diagnostics(uri, version)
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	for _, m := range []struct {
		name string
		at   int
	}{{"p50-ms", len(took) / 2}, {"p95-ms", len(took) * 95 / 100}, {"worst-ms", len(took) - 1}} {
		b.ReportMetric(float64(took[m.at].Microseconds())/1000, m.name)
	}
}

// longSpec returns a spec of about 300 lines, and the number of a line in its
// prompt.
func longSpec() (text string, line int) {
	var b strings.Builder
	b.WriteString("apiVersion: pex/v1\nkind: Agent\nmetadata: {name: long}\nparameters:\n")
	for i := range 20 {
		fmt.Fprintf(&b, "  p%d:\n    type: string\n    description: The parameter number %[1]d.\n    default: x\n", i)
	}
	b.WriteString("llms:\n  main:\n    provider: openai\n    model: gpt-5.4-mini\ntools:\n  clock: {}\n")
	for i := range 17 {
		fmt.Fprintf(&b, "  t%d:\n    type: command\n    description: Tool %[1]d.\n    effect: read\n    argv: [echo, '${args.x}']\n    input_schema:\n      type: object\n      properties: {x: {type: string}}\n", i)
	}
	b.WriteString("planner:\n  system_prompt: |\n")
	line = strings.Count(b.String(), "\n")
	for i := range 20 {
		fmt.Fprintf(&b, "    A line with ${parameters.p%d} of the prompt.\n", i)
	}
	b.WriteString("guards:\n")
	for i := range 10 {
		fmt.Fprintf(&b, "  - name: g%d\n    at: after_step\n    when: run.tokens > %[1]d000 && step.status == 'ok'\n    do: stop\n", i+1)
	}
	return b.String(), line
}
