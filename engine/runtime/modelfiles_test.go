package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/modelrecord"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// fileModel records the requests with their files.
type fileModel struct {
	sent []*model.Request
	err  *model.Error
}

func (m *fileModel) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	m.sent = append(m.sent, req)
	if m.err != nil {
		return nil, m.err
	}
	return &model.Reply{Text: "seen", Stop: model.EndTurn}, nil
}

// multimodal is a Config of a provider that counts 10,000 tokens for a file.
type multimodal struct{}

func (multimodal) FileSupport(string) model.FileSupport {
	return model.FileSupport{Tokens: func(model.Attachment) int { return 10_000 }}
}

// fileRun is a run with an image and a PDF.
type fileRun struct {
	home         string
	main, second *fileModel
	program      *engine.Program
	input        engine.Input
	journal      *journal.Memory
}

func newFileRun(t *testing.T, run nodeFunc) *fileRun {
	t.Helper()
	r := &fileRun{home: t.TempDir(), main: &fileModel{}, second: &fileModel{}, journal: &journal.Memory{RoundTrip: true}}
	r.program = program(map[string]nodeFunc{"a": run})
	r.program.Models = []engine.ModelSpec{
		{Name: "main", Config: multimodal{}, Accepts: []model.FileKind{model.ImageFile}, Fallback: []string{"second"}},
		{Name: "second", Config: multimodal{}, Accepts: []model.FileKind{model.ImageFile, model.PDFFile}},
		{Name: "plain", Config: multimodal{}},
	}
	r.input = engine.Input{RunID: "r"}
	for name, content := range map[string]string{attachment.PNG: "a picture", attachment.PDF: "a document"} {
		info, _, err := artifact.Open(r.home, 0).Put(strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		r.input.Attachments = append(r.input.Attachments, model.Attachment{Name: name, MediaType: name, SHA256: info.SHA256, Size: info.Size})
	}
	if r.input.Attachments[0].MediaType == attachment.PDF {
		r.input.Attachments[0], r.input.Attachments[1] = r.input.Attachments[1], r.input.Attachments[0]
	}
	return r
}

func (r *fileRun) run(t *testing.T) *engine.Result {
	t.Helper()
	h := engine.Host{Models: map[string]model.Model{"main": r.main, "second": r.second, "plain": r.main}, Artifacts: r.home}
	return execute(t.Context(), r.program, r.input, h, runtime.Options{Virtual: true, Journal: r.journal})
}

var fileMessages = []model.Message{
	{Role: model.System, Text: model.Text{"Look."}},
	{Role: model.User, Text: model.Text{"What is it?"}},
	{Role: model.Assistant, Text: model.Text{"I look."}},
	{Role: model.User, Text: model.Text{"Well?"}},
}

// ask calls an LLM; files is model.Call.Files.
func ask(llm string, files bool) nodeFunc {
	return func(s engine.Scope) error {
		_, err := s.Model("model", model.Call{Role: "executor", LLM: llm, Messages: fileMessages, Files: files})
		return err
	}
}

// contents returns the contents of the files of each message.
func contents(req *model.Request) (out [][]string) {
	for _, m := range req.Messages {
		var files []string
		for _, f := range m.Attachments {
			files = append(files, string(f.Content))
		}
		out = append(out, files)
	}
	return out
}

func TestFirstUserMessageGetsTheAcceptedFiles(t *testing.T) {
	for name, c := range map[string]struct {
		node nodeFunc
		want []string
	}{
		"accepts images":  {ask("main", true), []string{"a picture"}},
		"accepts both":    {ask("second", true), []string{"a picture", "a document"}},
		"accepts nothing": {ask("plain", true), nil},
		"another role":    {ask("main", false), nil},
	} {
		r := newFileRun(t, c.node)
		if res := r.run(t); res.Status != stop.RunCompleted {
			t.Fatalf("%s: %+v", name, res.StopReason)
		}
		req := append(r.main.sent, r.second.sent...)[0]
		if diff := cmp.Diff([][]string{nil, c.want, nil, nil}, contents(req)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if fileMessages[1].Attachments != nil {
			t.Fatal("the messages of the node were changed")
		}
	}
}

func TestFallbackGetsTheFilesThatItAccepts(t *testing.T) {
	r := newFileRun(t, ask("main", true))
	r.main.err = &model.Error{Kind: model.Overloaded, Message: "busy"}
	if res := r.run(t); res.Status != stop.RunCompleted {
		t.Fatalf("%+v", res.StopReason)
	}
	if diff := cmp.Diff([][]string{nil, {"a picture", "a document"}, nil, nil}, contents(r.second.sent[0])); diff != "" {
		t.Error(diff)
	}
}

func TestJournalHasFilesByDigestOnly(t *testing.T) {
	r := newFileRun(t, ask("second", true))
	r.run(t)
	var all strings.Builder
	for _, rec := range r.journal.Records {
		all.Write(rec.Body)
	}
	if text := all.String(); strings.Contains(text, "a picture") || strings.Contains(text, "YSBwaWN0dXJl") || !strings.Contains(text, r.input.Attachments[0].SHA256) {
		t.Error(text)
	}
	with, without := modelrecord.NewRequest(r.second.sent[0]), *r.second.sent[0]
	without.Messages = fileMessages
	if with.Digest() == modelrecord.NewRequest(&without).Digest() {
		t.Error("a request with files has the digest of one without")
	}
	if recorded, err := modelrecord.Digest(with.Record(&modelrecord.Tools{})); err != nil || recorded != with.Digest() {
		t.Errorf("%v, %v", recorded, err)
	}
}

func TestFilesAreReadAgainFromTheHomeAndVerified(t *testing.T) {
	for name, c := range map[string]struct {
		change func(path string) error
		want   string
	}{
		"changed":   {func(path string) error { return os.WriteFile(path, []byte("b picture"), 0o600) }, "has been changed"},
		"grown":     {func(path string) error { return os.WriteFile(path, []byte("a picture and more"), 0o600) }, "has been changed"},
		"missing":   {os.Remove, "is missing"},
		"directory": {func(path string) error { _ = os.Remove(path); return os.Mkdir(path, 0o700) }, "not a regular file"},
	} {
		r := newFileRun(t, ask("main", true))
		digest := r.input.Attachments[0].SHA256
		if err := c.change(filepath.Join(r.home, artifact.Folder, digest[:2], digest)); err != nil {
			t.Fatal(err)
		}
		res := r.run(t)
		if len(r.main.sent) > 0 || res.Status != stop.RunFailed || !strings.Contains(res.Error, c.want) || !strings.Contains(res.Error, attachment.PNG) {
			t.Errorf("%s: %s %q", name, res.Status, res.Error)
		}
	}
}

func TestFilesCountTowardsTheBudget(t *testing.T) {
	r := newFileRun(t, ask("main", true))
	r.program.Limits.MaxTokens = 9000
	if res := r.run(t); res.StopReason.Code != stop.BudgetTokens || len(r.main.sent) > 0 {
		t.Errorf("%+v", res.StopReason)
	}
	r = newFileRun(t, ask("main", true))
	r.program.Limits.MaxTokens = 20_000
	if res := r.run(t); res.Status != stop.RunCompleted || r.main.sent[0].Estimate() < 10_000 {
		t.Errorf("%+v", res.StopReason)
	}
}
