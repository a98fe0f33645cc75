package dsl

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
)

// withHistory is a prompt of the planner's, beside that of its node.
const withHistory = "planner_with_history"

// rendered lists the nodes whose prompts a case compares.
func (c *compiler) rendered(s *Spec, v *value) []string {
	switch {
	case v == nil || v.kind == null:
		return nil
	case v.kind == text && v.text == "all":
		return s.prompters()
	case v.kind == text:
		c.renderable(s, v)
		return []string{v.text}
	case v.kind != list || len(v.items) == 0:
		c.wrongType(v, "render", "the name of a node, a list of names, or all")
		return nil
	}
	var out []string
	for _, it := range v.items {
		switch {
		case it.kind != text:
			c.wrongType(it, "render", "names of nodes")
			continue
		case slices.Contains(out, it.text):
			c.report.error(diag.DuplicateKey, it.place, "the node %s stands twice", quoted(it.text))
			continue
		}
		c.renderable(s, it)
		out = append(out, it.text)
	}
	return out
}

// renderable checks the name of a node with a prompt.
func (c *compiler) renderable(s *Spec, v *value) {
	if s == nil {
		return
	}
	name := v.text
	if name == withHistory {
		name = planner
	}
	if id, ok := s.program.NodeOf(name); ok {
		name = id
	}
	if _, ok := s.program.Nodes[name].(engine.Prompter); !ok {
		names := s.prompters()
		c.report.error(diag.UnknownNode, v.place, "%s has no node %s with a prompt", c.loader.files.name(s.File), quoted(v.text)).Advice = diag.Suggest(v.text, names)
	}
}

// prompters lists the nodes with prompts: those of the graph in its order, then
// the others.
func (s *Spec) prompters() (out []string) {
	if s == nil {
		return nil
	}
	add := func(id string) {
		if _, ok := s.program.Nodes[id].(engine.Prompter); ok && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	for _, n := range s.program.Graph.Nodes {
		add(n.ID)
		if n.Type == planner && !slices.Contains(out, withHistory) {
			out = append(out, withHistory)
		}
	}
	for _, role := range roles {
		add(role)
	}
	return out
}

// givenKeys are what a state may say: a result's keys, and what it does not hold.
var givenKeys = append([]string{"question", "parameters", "history", "files", "now"}, jsonKeys(reflect.TypeFor[engine.Result]())...)

func jsonKeys(t reflect.Type) (out []string) {
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}

// given is a state as JSON: inline, or of a file.
func (c *compiler) given(v *value, path string) json.RawMessage {
	if v == nil {
		return nil
	}
	if key, name := pointer(v); key == "file" {
		src := c.open(v.entries[0].val, name)
		if src == nil {
			return nil
		}
		if v = parse(src, c.report); v == nil {
			return nil
		}
	}
	if v.kind != dict {
		c.wrongType(v, path, "a state in the shape of a result").Hint = "write {steps: [...]}, or {file: state.yaml}"
		return nil
	}
	for _, e := range v.entries {
		if !slices.Contains(givenKeys, e.key) {
			c.report.error(diag.UnknownKey, e.place, "a state has no key %s", quoted(e.key)).Advice = diag.Suggest(e.key, givenKeys)
			continue
		}
		if t, ok := stateTypes[e.key]; ok {
			c.shaped(e.val, e.key, t)
		}
	}
	return v.appendJSON(nil)
}

// run reads who answers in place of the world.
func (t *tester) run(c *compiler, s *Spec, at *entry, k *runKeys, path string) *CaseRun {
	if k == nil {
		return nil
	}
	out := &CaseRun{Answers: k.Answers, Files: k.Files, MemoryID: k.MemoryID, Position: at.place.position()}
	switch e := at.val.get("cassette"); {
	case e != nil && k.Cassette != "" && k.Replies != nil:
		t.report.error(diag.Exclusive, e.place, "run has a cassette and replies: only one can answer").Hint = "remove one of them"
	case e != nil && k.Cassette != "":
		out.Cassette, _ = c.below(e, k.Cassette)
	case t.own && k.Replies == nil:
		if path := filepath.Join(t.tests.Dir, "cassette.jsonl"); t.files.has(path) {
			out.Cassette = path
		}
	}
	out.Replies = c.replies(k.Replies, path)
	out.Tools = c.toolAnswers(s, k.Tools, path+".tools")
	return out
}

// replies decodes a script, as the provider scripted takes it.
func (c *compiler) replies(v *value, path string) any {
	if v == nil {
		return nil
	}
	f, ok := c.loader.options.Catalog.Models.Find("scripted")
	if !ok {
		c.report.error(diag.UnknownType, v.place, "there is no provider scripted to give replies")
		return nil
	}
	config, script := f.Config(), v
	if v.kind == list {
		script = &value{place: v.place, kind: dict, entries: []*entry{{"replies", v.place, v}}}
	}
	if script.kind != dict {
		c.wrongType(v, path+".replies", "a list of replies, or {file: path}")
		return nil
	}
	c.decode(script, path, config)
	return config
}

// toolAnswers reads what tools give without being called.
func (c *compiler) toolAnswers(s *Spec, v *value, path string) map[string][]ToolAnswer {
	entries := c.section(path, v).entries
	if len(entries) == 0 {
		return nil
	}
	out := make(map[string][]ToolAnswer, len(entries))
	for _, e := range entries {
		c.toolWord(s, &value{place: e.place}, e.key, diag.Error)
		if e.val.kind != list {
			out[e.key] = []ToolAnswer{c.toolAnswer(e.val, path+"."+e.key)}
			continue
		}
		if len(e.val.items) == 0 {
			c.report.error(diag.OutOfBounds, e.val.place, "%s.%s wants at least 1 answer", path, e.key).Hint = "an empty list as its result is [{result: []}]"
		}
		for i, it := range e.val.items {
			out[e.key] = append(out[e.key], c.toolAnswer(it, path+"."+e.key+"["+itoa(i)+"]"))
		}
	}
	return out
}

// toolAnswer is {result: value}, {error: text}, or the value itself.
func (c *compiler) toolAnswer(v *value, path string) ToolAnswer {
	result, failure := v.find("result"), v.find("error")
	if v.kind == dict && len(v.entries) == 2 && result != nil && failure != nil {
		c.report.error(diag.Exclusive, v.place, "%s has result and error: a call gives one of them", path)
		return ToolAnswer{}
	}
	switch {
	case v.kind != dict || len(v.entries) != 1:
	case failure != nil:
		var a ToolAnswer
		c.value(failure.val, path+".error", "", reflect.ValueOf(&a.Error).Elem())
		if a.Error == "" && failure.val.kind == text {
			c.report.error(diag.NotAllowed, failure.val.place, "%s.error is empty", path).Hint = "say what the tool would: timeout"
		}
		return a
	case result != nil:
		v = result.val
	}
	return ToolAnswer{Result: engine.PlainJSON(v.appendJSON(nil))}
}

// ofTools are the faults that a tool's call can have.
var ofTools = []InjectedError{InjectTimeout, Inject429, Inject500, InjectBadJSON}

// injections checks faults.
func (c *compiler) injections(s *Spec, v *value, keys []injectKeys) []Inject {
	out := make([]Inject, 0, len(keys))
	for i, k := range keys {
		at := v.items[i]
		in := Inject{Tool: k.Tool, Role: k.Role, Call: k.Call, Error: InjectedError(k.Error), Position: at.place.position()}
		switch {
		case at.get("tool") != nil && at.get("role") != nil:
			c.report.error(diag.Exclusive, at.place, "inject[%d] has tool and role: a fault is of one of them", i)
		case at.get("tool") == nil && at.get("role") == nil:
			c.report.error(diag.MissingKey, at.place, "inject[%d] has no tool or role", i).Hint = "say whose call fails"
		case in.Tool != "":
			c.toolWord(s, at.get("tool"), in.Tool, diag.Error)
			if in.Error != "" && !slices.Contains(ofTools, in.Error) {
				c.report.error(diag.NotAllowed, at.get("error").place, "the call of a tool cannot end in %s", in.Error).Hint = "there are timeout, 429, 500, bad_json"
			}
		}
		out = append(out, in)
	}
	return out
}
