package enginetest

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/model"
)

// scenario is a conversation with a model. Its expectations hold for any model that
// understands English.
type scenario struct {
	name   string
	change func(*model.Settings)
	run    func(*conversation)
}

// conversation is a scenario that is being run.
type conversation struct {
	*testing.T
	model model.Model
	noise bool // the model has random weights, so its words are not checked
}

// run runs a scenario and returns the name of the model.
func run(t *testing.T, p Provider, s scenario, server http.RoundTripper, at LiveServer, settings model.Settings) string {
	settings.BaseURL, settings.Model = at.BaseURL, cmp.Or(at.Model, p.Model)
	if s.name == "thinking" {
		settings.Model = cmp.Or(at.Thinking, p.Thinking)
	}
	named := settings.Model
	if s.change != nil {
		s.change(&settings)
	}
	m, err := p.Build(settings, server, s.name)
	if err != nil {
		t.Fatal(err)
	}
	s.run(&conversation{T: t, model: m, noise: at.Noise})
	return named
}

// reply makes a call that must succeed.
func (x *conversation) reply(req *model.Request, streamed bool) *model.Reply {
	x.Helper()
	out, err := x.generate(req, streamed)
	if err != nil {
		x.Fatalf("no reply: %v", err)
	}
	return out
}

// generate makes a call and checks the invariants of replies.
func (x *conversation) generate(req *model.Request, streamed bool) (*model.Reply, error) {
	x.Helper()
	var text strings.Builder
	var stream func(model.Delta)
	if streamed {
		stream = func(d model.Delta) { text.WriteString(d.Text) }
	}
	out, err := x.model.Generate(x.Context(), req, stream)
	if err != nil {
		return nil, err
	}
	if streamed && text.String() != out.Text {
		x.Errorf("the deltas are %q, the reply is %q", text.String(), out.Text)
	}
	u := out.Usage
	if u.Input <= 0 || u.Output < 0 || u.Cached > u.Input || u.Reasoning > u.Output {
		x.Errorf("usage %+v", u)
	}
	if out.Stop == "" || out.Stop == model.ToolUse != (len(out.Calls) > 0) {
		x.Errorf("stop %q with %d calls", out.Stop, len(out.Calls))
	}
	for i, c := range out.Calls {
		var args map[string]any
		if c.ID == "" || json.Unmarshal(c.Args, &args) != nil || args == nil {
			x.Errorf("call %d: %s(%s) with the id %q", i, c.Name, c.Args, c.ID)
		}
	}
	return out, nil
}

// wantWords checks that the reply contains words, unless the model has random weights.
func (x *conversation) wantWords(r *model.Reply, words ...string) {
	x.Helper()
	for _, word := range words {
		if !x.noise && !strings.Contains(strings.ToLower(r.Text), strings.ToLower(word)) {
			x.Errorf("%q is not in the reply: %q", word, r.Text)
		}
	}
}

// wantStop checks the stop reason of a reply.
func (x *conversation) wantStop(r *model.Reply, kinds ...model.StopReason) {
	x.Helper()
	for _, k := range kinds {
		if r.Stop == k || x.noise && r.Stop == model.MaxTokens {
			return
		}
	}
	x.Errorf("stop %s, want %v: %q", r.Stop, kinds, r.Text)
}

// wantError makes a call, whole and streamed, that must fail with an error of a kind.
func (x *conversation) wantError(req *model.Request, kind model.ErrorKind) {
	x.Helper()
	for _, streamed := range []bool{false, true} {
		out, err := x.generate(req, streamed)
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != kind || e.Status < 400 || e.Message == "" || e.Attempts != 1 {
			x.Errorf("streamed %v: reply %+v, error %v, want %s", streamed, out, err, kind)
		}
	}
}

// newRequest returns a request for a short reply to a question, with an optional system
// prompt.
func newRequest(system, question string) *model.Request {
	req := &model.Request{Role: "executor", Params: model.Params{MaxOutputTokens: 400}}
	if system != "" {
		req.Messages = append(req.Messages, say(model.System, system))
	}
	req.Messages = append(req.Messages, say(model.User, question))
	return req
}
