package http

import (
	"encoding/json"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// BodyOf returns the body that a model sends for a request.
func BodyOf(t *testing.T, m model.Model, req *model.Request) map[string]any {
	t.Helper()
	_, raw, err := m.(*chatModel).write(req)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return out
}

// Read returns the reply that a model extracts from a response.
func Read(m model.Model, req *model.Request, answer []byte) (*model.Reply, error) {
	got, err := m.(*chatModel).read(req, "application/json", answer)
	if err != nil {
		return nil, err
	}
	out, err := got.reply()
	if err == nil {
		modelhttp.Finish(req, out)
	}
	return out, err
}
