package http

import (
	"encoding/json"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// BodyOf is the body that a model would send for a request.
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

// Read is the reply that a model makes of an answer.
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
