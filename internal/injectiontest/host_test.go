package injectiontest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pexctl/pex/builtins/node"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/schema"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

type (
	obedientConfig  struct{}
	recordingConfig struct {
		Kind string `yaml:"kind" required:"true" doc:"What it does."`
	}
)

var provider = component.New("obedient", "Does what it reads.", func() obedientConfig { return obedientConfig{} },
	func(*obedientConfig, model.Settings) (model.Model, error) { return obedient{}, nil })

// recording is a tool whose far side is the ledger alone.
var recording = component.New("recording", "Notes its calls.", func() recordingConfig { return recordingConfig{} },
	func(c *recordingConfig, s tool.Settings) (tool.Tool, error) {
		return recorded{tool.Info{Name: s.Name, Description: "Notes its calls.", Input: json.RawMessage(inputs[c.Kind])}}, nil
	})

var inputs = map[string]string{
	"look":    `{"type":"object","properties":{"text":{"type":"string"}}}`,
	"recall":  `{"type":"object"}`,
	"keep":    `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`,
	"put":     `{"type":"object","properties":{"text":{"type":"string"},"urgency":{"type":"number"}},"required":["text"]}`,
	"send to": `{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"},"urgency":{"type":"number"}},"required":["to","text"]}`,
	"send To": `{"type":"object","properties":{"To":{"type":"string"},"text":{"type":"string"},"urgency":{"type":"number"}},"required":["To","text"]}`,
	"danger":  `{"type":"object"}`,
}

type recorded struct{ info tool.Info }

func (r recorded) Info() tool.Info { return r.info }

func (r recorded) Call(context.Context, *tool.Call) (*tool.Output, error) {
	return &tool.Output{Text: "done"}, nil
}

var catalog = engine.Catalog{
	Models: component.Set[model.Settings, model.Model]{provider},
	Tools:  append(builtintool.All(), recording),
	Nodes:  node.All(),
}

// seen is a tool whose calls stand in the ledger before it does anything.
type seen struct {
	tool.Tool
	w    *world
	name string
}

func (s seen) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	w := s.w
	w.mu.Lock()
	w.ledger = append(w.ledger, entry{s.name, call.Path, append(json.RawMessage(nil), call.Args...)})
	w.mu.Unlock()
	out, err := s.Tool.Call(ctx, call)
	if _, ours := s.Tool.(recorded); !ours || err != nil {
		return out, err
	}
	text := w.injection(w.chance(call.Path))
	w.mu.Lock()
	defer w.mu.Unlock()
	switch s.name {
	case "keep":
		w.kept = string(call.Args)
	case "recall":
		text = w.kept + "\n" + text
	}
	if w.chance("fails"+call.Path).IntN(8) == 0 {
		return nil, fmt.Errorf("it is broken: %s", text)
	}
	return &tool.Output{Text: text}, nil
}

// host connects a program as the product does. The tools that ask over HTTP are
// shared by all runs.
func (w *world) host(p *engine.Program, get tool.Tool) (engine.Host, error) {
	h := engine.Host{
		Models: map[string]model.Model{"main": obedient{w}}, Responder: w,
		Env: func(name string) string { return map[string]string{"SECRET": envCanary, "HOME": "/nowhere"}[name] },
	}
	for i := range p.Tools {
		spec := &p.Tools[i]
		f, _ := catalog.Tools.Find(spec.Type)
		t, err := f.Build(spec.Config, tool.Settings{Name: spec.Name, Dir: w.dir, Root: w.dir, Env: h.Env})
		if err != nil {
			return h, err
		}
		if spec.Type == "http_get" {
			t = get
		}
		check, err := compiled(string(t.Info().Input))
		if err != nil {
			return h, err
		}
		h.Tools = append(h.Tools, tool.Binding{Spec: spec, Tool: seen{t, w, spec.Name}, Fit: func(args json.RawMessage) (json.RawMessage, []tool.ArgsRepair, error) {
			return fit(check, args)
		}})
	}
	return h, nil
}

// schemas are the input schemas that were compiled once; they are few.
var schemas sync.Map

func compiled(input string) (*schema.Schema, error) {
	if s, ok := schemas.Load(input); ok {
		return s.(*schema.Schema), nil
	}
	s, err := schema.Compile([]byte(input))
	if err == nil {
		schemas.Store(input, s)
	}
	return s, err
}

// fit coerces what loses nothing in arguments and checks the rest.
func fit(check *schema.Schema, args json.RawMessage) (fit json.RawMessage, coerced []tool.ArgsRepair, err error) {
	v, err := schema.Decode(args)
	if err != nil || check.Validate(v) == nil {
		return args, nil, err
	}
	v, changed := check.Coerce(v)
	if err := check.Validate(v); err != nil {
		return nil, nil, err
	}
	for _, c := range changed {
		coerced = append(coerced, tool.ArgsRepair{Path: c.Path, Repair: c.Types()})
	}
	fit, err = json.Marshal(v)
	return fit, coerced, err
}

func (w *world) program() (*engine.Program, error) {
	p, _, found := dsl.Compile(w.dir, dsl.Options{Catalog: catalog, Root: w.dir})
	if p == nil {
		return nil, fmt.Errorf("the spec does not compile: %s", found)
	}
	return p, nil
}

// servers are one that may be asked and one that may not, and how often each was.
type servers struct {
	good, evil *httptest.Server
	asked, hit atomic.Int64
	get        tool.Tool
}

func serve(t *testing.T) *servers {
	t.Helper()
	s := &servers{}
	s.evil = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.hit.Add(1)
		fmt.Fprint(w, evilCanary)
	}))
	t.Cleanup(s.evil.Close)
	s.good = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		if strings.Contains(r.URL.String(), "canary") {
			s.hit.Add(1) // what was sent is no business of anybody
		}
		if r.URL.Path == "/redirect" {
			http.Redirect(w, r, s.evil.URL, http.StatusFound)
			return
		}
		some := &world{good: s.good.URL, evil: s.places()}
		w.Header().Set("Content-Type", "text/plain")
		for i := range uint64(3) {
			fmt.Fprintln(w, some.injection((&world{seed: i}).chance(r.URL.String())))
		}
	}))
	t.Cleanup(s.good.Close)
	c := builtintool.HTTPGet.Config().(*builtintool.HTTPGetConfig)
	c.AllowHosts = []string{strings.TrimPrefix(s.good.URL, "http://")}
	get, err := builtintool.HTTPGet.Build(c, tool.Settings{Name: "http_get"})
	if err != nil {
		t.Fatal(err)
	}
	s.get = get
	return s
}

// places are addresses of the server that may not be asked.
func (s *servers) places() []string {
	host := strings.TrimPrefix(s.evil.URL, "http://")
	_, port, _ := strings.Cut(host, ":")
	return []string{
		s.evil.URL + "/", "http://localhost:" + port + "/", "http://127.1:" + port + "/", "http://2130706433:" + port + "/", "http://[::ffff:127.0.0.1]:" + port + "/",
		"http://0:" + port + "/", "http://good@" + host + "/", s.good.URL + "/redirect", s.good.URL + "@" + host + "/",
	}
}
