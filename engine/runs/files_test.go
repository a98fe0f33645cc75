package runs_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/tool"
)

// writer is the Config of a tool that writes files.
type writer struct{}

func (*writer) WrittenFile(args json.RawMessage) (path, content string, ok bool) {
	var a struct {
		Path    string
		Content *string
	}
	if json.Unmarshal(args, &a) != nil || a.Content == nil {
		return "", "", false
	}
	return a.Path, *a.Content, true
}

// A run has the files that its tools and those of its agents wrote, with their last contents,
// and none that was not written or leads elsewhere.
func TestWrittenFiles(t *testing.T) {
	r := &runs.Run{Program: &engine.Program{
		Tools:  []tool.Spec{{Name: "write", Config: &writer{}}, {Name: "search", Config: struct{}{}}},
		Agents: []*engine.Program{{Tools: []tool.Spec{{Name: "report", Config: &writer{}}}}},
	}}
	call := func(path, body string, status journal.Status) {
		r.Records = append(r.Records,
			journal.Record{Seq: uint64(len(r.Records) + 1), Kind: journal.Intent, Class: journal.Write, Path: path, Body: []byte(body)},
			journal.Record{Seq: uint64(len(r.Records) + 2), Kind: journal.Result, Path: path, Status: status})
	}
	call("t.1", `{"tool":"write","args":{"path":"a.md","content":"first"}}`, journal.OK)
	call("t.2", `{"tool":"write","args":{"path":"./b/../a.md","content":"second"}}`, journal.OK)
	call("t.3", `{"tool":"write","args":{"path":"../etc/passwd","content":"denied"}}`, journal.Failed)
	call("t.4", `{"tool":"write","args":{"path":"/srv/out/c.md","content":"absolute"}}`, journal.OK)
	call("t.5", `{"tool":"search","args":{"path":"d.md","content":"no file"}}`, journal.OK)
	call("t.6", `{"tool":"write","args":{"path":"e.md"}}`, journal.OK)
	call("t.7/agent/t.1", `{"tool":"report","args":{"path":"a.md","content":"of an agent"}}`, journal.OK)
	call("t.8", `not JSON`, journal.OK)
	r.Records = append(r.Records, journal.Record{Seq: uint64(len(r.Records) + 1), Kind: journal.Intent, Path: "t.9", Body: []byte(`{"tool":"write","args":{"path":"f.md","content":"not finished"}}`)})
	r.Records = append(r.Records, // the approval of a call, which is denied
		journal.Record{Seq: uint64(len(r.Records) + 1), Kind: journal.Intent, Class: journal.Question, Path: "t.10.approval", Body: []byte(`{"tool":"write","args":{"path":"g.md","content":"denied"}}`)},
		journal.Record{Seq: uint64(len(r.Records) + 2), Kind: journal.Result, Path: "t.10.approval", Body: []byte(`{"do":"deny"}`)})
	want := []runs.WrittenFile{
		{Name: "a.md", Tool: "write", Call: "t.2", Content: "second"},
		{Name: "c.md", Tool: "write", Call: "t.4", Content: "absolute"},
		{Name: "a.md", Tool: "report", Call: "t.7/agent/t.1", Content: "of an agent"},
	}
	if d := cmp.Diff(want, r.Written()); d != "" {
		t.Error(d)
	}
}
