package cassette_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/cassette"
)

// encodings are ways in which a run may encode a value.
var encodings = []func(string) string{
	func(s string) string { return s },
	func(s string) string { b, _ := json.Marshal(s); return string(b) },
	url.QueryEscape,
	func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + s)) },
	func(s string) string { return hex.EncodeToString([]byte(s)) },
}

// canaries are secrets of all kinds: with characters that JSON and URLs escape, in other scripts, long ones, and digits
// only.
func canaries() map[string]string {
	out := map[string]string{
		"SLASHES": "a/b+c/d==e", "QUOTES": `say "no" \ never`, "HTML": "<b>&amp;</b>", "SPACES": "correct horse battery", "UMLAUT": "schlüsselwörter",
		"CJK": "秘密鍵です", "EMOJI": "key🔑key", "DIGITS": "8675309867", "LINES": "first line\nsecond line", "SHORTEST": "x9!y8?",
		"LONG": strings.Repeat("0f1e2d3c", 40), "PLAIN": "canary-in-a-coal-mine",
	}
	if len(out) != 12 {
		panic("twelve are promised")
	}
	return out
}

func everywhere(canary string) string {
	var b strings.Builder
	for _, encode := range encodings {
		b.WriteString(" <" + encode(canary) + ">")
	}
	return b.String()
}

type fakeModel struct{ reply string }

func (m fakeModel) Generate(_ context.Context, q *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	if q.Role == "judge" {
		return nil, &model.Error{Kind: model.BadRequest, Message: "what is " + m.reply + "?"}
	}
	args, err := json.Marshal(map[string]string{"q": m.reply})
	return &model.Reply{Text: "said" + m.reply, Calls: []model.ToolCall{{ID: "1", Name: "look", Args: args}}, Stop: model.ToolUse}, err
}

type fakeTool struct{ reply string }

func (fakeTool) Info() tool.Info {
	return tool.Info{Name: "look", Description: "looks", Input: json.RawMessage(`{"type":"object"}`), Effect: tool.ReadEffect}
}

func (t fakeTool) Call(context.Context, *tool.Call) (*tool.Output, error) {
	if strings.Contains(t.reply, "correct") {
		return nil, errors.New("no such file: " + t.reply)
	}
	data, err := json.Marshal(map[string]string{"found": t.reply, t.reply: "x"})
	return &tool.Output{Text: t.reply, Data: data}, err
}

// node is a conversation about a text. Each request repeats what was said, and the text spans two segments of the first
// message.
type node struct{}

func (node) Run(s engine.Scope) error {
	text := s.View().State.Question
	half := len(text) / 2
	messages := []model.Message{{Role: model.User, Text: model.Text{"You were given:", text[:half], text[half:], "."}}}
	for turn := range 3 {
		reply, err := s.Model(fmt.Sprintf("turn.%d/model", turn), model.Call{
			Role: "planner", LLM: "main", Messages: messages, Tools: []model.ToolDef{{Name: "look", Description: "about" + text, Input: json.RawMessage(`{"type":"object"}`)}},
		})
		if err != nil {
			return err
		}
		rec, _, err := s.Tool(fmt.Sprintf("turn.%d/tool", turn), engine.Invocation{Tool: "look", Args: reply.Calls[0].Args})
		if err != nil {
			return err
		}
		messages = append(messages,
			model.Message{Role: model.Assistant, Text: model.Text{reply.Text}, Calls: reply.Calls},
			model.Message{Role: model.ToolRole, CallID: "1", Tool: "look", Text: model.Text{rec.Text()}})
	}
	_, err := s.Model("judge", model.Call{Role: "judge", LLM: "main", Messages: messages})
	if model.AsError(err) == nil {
		return err
	}
	s.Record(engine.Answered{Answer: engine.Answer{Text: "done" + text}})
	return nil
}

func run(j journal.Journal, text string, recorded *replay.Recording) *engine.Result {
	p := &engine.Program{
		Name: "p", Digest: "sha256:p", Source: json.RawMessage("{}"), Nodes: map[string]engine.Node{"a": node{}},
		Graph:  &graph.Graph[engine.Condition]{Start: "a", Nodes: []graph.Node{{ID: "a", Type: "test"}}},
		Models: []engine.ModelSpec{{Name: "main"}}, Limits: engine.Limits{MaxSteps: 9, MaxReplans: 9},
		Memory: engine.MemorySettings{Backend: "none"},
	}
	h := engine.Host{Models: map[string]model.Model{"main": fakeModel{text}}, Tools: []tool.Binding{{Tool: fakeTool{text}}}}
	in := engine.Input{RunID: "r", Parameters: map[string]any{"question": text, "nested": map[string]any{"deep": []any{text}}}}
	return runtime.Run(context.Background(), p, in, h, runtime.Options{Journal: j, Virtual: true, Recorded: recorded})
}

// recordedRun returns the cassette of a run about a text.
func recordedRun(t testing.TB, inner journal.Journal, text string, secrets *secret.Values) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	r, err := cassette.New(inner, path, secrets)
	if err != nil {
		t.Fatal(err)
	}
	if res := run(r, text, nil); res.Status != stop.RunCompleted {
		t.Fatalf("%s: %s", res.Status, res.Error)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func content(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func homeFile(t testing.TB) *journal.File {
	t.Helper()
	home, err := journal.OpenHome(t.TempDir(), journal.Exit)
	if err != nil {
		t.Fatal(err)
	}
	f, err := home.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close(); home.Close() })
	return f
}

// No cassette contains any of twelve secrets, in five encodings each, from parameters, prompts, tool definitions,
// arguments, results, failures and replies.
func TestCassetteContainsNoSecret(t *testing.T) {
	for name, canary := range canaries() {
		for kind, inner := range map[string]journal.Journal{"a file": homeFile(t), "memory": &journal.Memory{}, "nothing": journal.Discard{}} {
			t.Run(name+" beside "+kind, func(t *testing.T) {
				secrets := secret.New(map[string]string{name: canary})
				text := everywhere(canary)
				file := content(t, recordedRun(t, inner, text, secrets))
				plain := content(t, recordedRun(t, &journal.Memory{}, text, nil))
				for i, encode := range encodings {
					form := strings.TrimRight(encode(canary), "=")
					b, _ := json.Marshal(form)
					for _, hidden := range []string{form, string(b[1 : len(b)-1])} {
						if strings.Contains(file, hidden) {
							t.Errorf("encoding %d is in the file", i)
						}
					}
				}
				if n := strings.Count(file, "[redacted "+name+"]"); n < 30 {
					t.Errorf("%d places were redacted, of a run of %d bytes", n, len(plain))
				}
			})
		}
	}
}

// A redacted run that is answered by its cassette makes the requests in the cassette.
func TestCassetteAnswersItsRun(t *testing.T) {
	for name, canary := range canaries() {
		t.Run(name, func(t *testing.T) {
			secrets := secret.New(map[string]string{name: canary})
			recs, err := cassette.Load(recordedRun(t, &journal.Memory{}, everywhere(canary), secrets))
			if err != nil {
				t.Fatal(err)
			}
			var start struct{ Input engine.Input }
			if err := json.Unmarshal(recs[0].Body, &start); err != nil {
				t.Fatal(err)
			}
			text := start.Input.Parameters["question"].(string)
			recording := replay.New(recs, replay.Options{Layers: []string{replay.LayerLLM, replay.LayerTool}})
			res := run(&journal.Memory{}, text, recording)
			if res.Status != stop.RunCompleted || len(recording.Unused()) != 0 || res.Response != "done"+text {
				t.Errorf("%s (%s), not used: %q", res.Status, res.Error, recording.Unused())
			}
		})
	}
}

// Without secrets, a cassette equals the journal.
func TestCassetteWithoutSecretsEqualsJournal(t *testing.T) {
	home, err := journal.OpenHome(t.TempDir(), journal.Exit)
	if err != nil {
		t.Fatal(err)
	}
	f, err := home.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	file := content(t, recordedRun(t, f, "hello", secret.New(map[string]string{"KEY": "not in there"})))
	f.Close()
	if want := content(t, home.File("r")); file != want {
		t.Errorf("cassette:\n%s\njournal:\n%s", file, want)
	}
	recs, err := home.Read("r")
	if err != nil {
		t.Fatal(err)
	}
	var exported strings.Builder
	if err := cassette.Export(&exported, recs, nil); err != nil || exported.String() != file {
		t.Errorf("exported it is another one: %v", err)
	}
}
