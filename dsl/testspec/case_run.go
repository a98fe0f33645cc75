package testspec

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// historyPrompt is the planner's second prompt, besides that of its node.
const historyPrompt = "planner_with_history"

// rendered returns the nodes whose prompts a case compares.
func (c *Compiler) rendered(s *Subject, v *syntax.Node) []string {
	switch {
	case v == nil || v.Kind == syntax.Null:
		return nil
	case v.Kind == syntax.Text && v.Text == "all":
		return s.prompters()
	case v.Kind == syntax.Text:
		c.renderable(s, v)
		return []string{v.Text}
	case v.Kind != syntax.List || len(v.Items) == 0:
		c.WrongType(v, "render", "the name of a node, a list of names, or all")
		return nil
	}
	var out []string
	for _, it := range v.Items {
		switch {
		case it.Kind != syntax.Text:
			c.WrongType(it, "render", "names of nodes")
			continue
		case slices.Contains(out, it.Text):
			c.Report.Error(diag.DuplicateKey, it.Position, "duplicate node %s", syntax.Quote(it.Text))
			continue
		}
		c.renderable(s, it)
		out = append(out, it.Text)
	}
	return out
}

// renderable checks the name of a node with a prompt.
func (c *Compiler) renderable(s *Subject, v *syntax.Node) {
	if s == nil {
		return
	}
	name := v.Text
	if name == historyPrompt {
		name, _ = engine.NodeWith[engine.Planner](s.Program)
	} else if id, ok := s.Program.NodeOf(name); ok {
		name = id
	}
	if _, ok := s.Program.Nodes[name].(engine.Prompter); !ok {
		names := s.prompters()
		c.Report.Error(diag.UnknownNode, v.Position, "%s has no node %s with a prompt", c.Files.Shown(s.File), syntax.Quote(v.Text)).Advice = diag.Suggest(v.Text, names)
	}
}

// prompters returns the nodes with prompts: those of the graph in order, then the
// others.
func (s *Subject) prompters() (out []string) {
	if s == nil {
		return nil
	}
	add := func(id string) {
		if _, ok := s.Program.Nodes[id].(engine.Prompter); ok && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	for _, n := range s.Program.Graph.Nodes {
		add(n.ID)
		if engine.NodeIs[engine.Planner](s.Program, n.ID) && !slices.Contains(out, historyPrompt) {
			out = append(out, historyPrompt)
		}
	}
	for _, role := range language.Roles {
		add(role)
	}
	return out
}

// givenKeys are the keys of a state: those of a result, and others.
var givenKeys = append([]string{"question", "parameters", "history", "files", "now"}, jsonKeys(reflect.TypeFor[engine.Result]())...)

func jsonKeys(t reflect.Type) (out []string) {
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}

// givenState returns a state as JSON: inline, or from a file.
func (c *Compiler) givenState(v *syntax.Node, path string) json.RawMessage {
	if v == nil {
		return nil
	}
	if key, name := config.Pointer(v); key == "file" {
		src := c.Open(v.Entries[0].Value, name)
		if src == nil {
			return nil
		}
		if v = syntax.Parse(src, c.Report); v == nil {
			return nil
		}
	}
	if v.Kind != syntax.Map {
		c.WrongType(v, path, "a state with the keys of a run result").Hint = "write {steps: [...]} or {file: state.yaml}"
		return nil
	}
	for _, e := range v.Entries {
		if !slices.Contains(givenKeys, e.Key) {
			c.Report.Error(diag.UnknownKey, e.Position, "unknown key %s in a state", syntax.Quote(e.Key)).Advice = diag.Suggest(e.Key, givenKeys)
			continue
		}
		if t, ok := stateTypes[e.Key]; ok {
			c.checkKeys(e.Value, e.Key, t)
		}
	}
	return v.AppendJSON(nil)
}

// TestIssuer is the issuer of the actors of tests.
const TestIssuer = "test"

// run decodes the simulated models, tools and answers.
func (t *testsCompiler) run(c *Compiler, s *Subject, at *syntax.Entry, k *language.RunKeys, path string) *CaseRun {
	if k == nil {
		return nil
	}
	out := &CaseRun{Answers: k.Answers, Files: k.Files, MemoryID: k.MemoryID, Position: PositionOf(at.Position)}
	if by := k.AnswersBy; by != nil {
		out.By = &engine.Actor{User: by.Subject, Issuer: cmp.Or(by.Issuer, TestIssuer), Roles: by.Roles, Tenant: by.Tenant}
	}
	switch e := at.Value.Get("cassette"); {
	case e != nil && k.Cassette != "" && k.Replies != nil:
		t.Report.Error(diag.Exclusive, e.Position, "run has both cassette and replies").Hint = "remove one of them"
	case e != nil && k.Cassette != "":
		out.Cassette, _ = c.Path(e, k.Cassette)
	case t.isFolderCase && k.Replies == nil:
		if path := filepath.Join(t.tests.Dir, "cassette.jsonl"); t.Files.Exists(path) {
			out.Cassette = path
		}
	}
	out.Replies = c.replies(k.Replies, path)
	out.Tools = c.toolAnswers(s, k.Tools, path+".tools")
	return out
}

// replies decodes a script with the Config of the provider that plays replies.
func (c *Compiler) replies(v *syntax.Node, path string) any {
	if v == nil {
		return nil
	}
	settings, ok := language.ReplyConfig(c.env.Catalog)
	if !ok {
		c.Report.Error(diag.UnknownType, v.Position, "the provider scripted, which serves replies, is not available")
		return nil
	}
	script := v
	if v.Kind == syntax.List {
		script = &syntax.Node{Position: v.Position, Kind: syntax.Map, Entries: []*syntax.Entry{{Key: "replies", Position: v.Position, Value: v}}}
	}
	if script.Kind != syntax.Map {
		c.WrongType(v, path+".replies", "a list of replies or {file: PATH}")
		return nil
	}
	c.Decode(script, path, settings)
	return settings
}

// toolAnswers decodes the answers of tools that are not called.
func (c *Compiler) toolAnswers(s *Subject, v *syntax.Node, path string) map[string][]ToolAnswer {
	entries := c.Section(path, v).Entries
	if len(entries) == 0 {
		return nil
	}
	out := make(map[string][]ToolAnswer, len(entries))
	for _, e := range entries {
		c.checkToolName(s, &syntax.Node{Position: e.Position}, e.Key, diag.Error)
		if e.Value.Kind != syntax.List {
			out[e.Key] = []ToolAnswer{c.toolAnswer(e.Value, path+"."+e.Key)}
			continue
		}
		if len(e.Value.Items) == 0 {
			c.Report.Error(diag.OutOfRange, e.Value.Position, "%s.%s must have at least 1 entry", path, e.Key).Hint = "for an empty list as the result, write [{result: []}]"
		}
		for i, it := range e.Value.Items {
			out[e.Key] = append(out[e.Key], c.toolAnswer(it, path+"."+e.Key+"["+strconv.Itoa(i)+"]"))
		}
	}
	return out
}

// toolAnswer decodes {result: value}, {error: text}, or the value itself.
func (c *Compiler) toolAnswer(v *syntax.Node, path string) ToolAnswer {
	result, failure := v.Find("result"), v.Find("error")
	if v.Kind == syntax.Map && len(v.Entries) == 2 && result != nil && failure != nil {
		c.Report.Error(diag.Exclusive, v.Position, "%s has both result and error", path)
		return ToolAnswer{}
	}
	switch {
	case v.Kind != syntax.Map || len(v.Entries) != 1:
	case failure != nil:
		var a ToolAnswer
		c.DecodeValue(failure.Value, path+".error", "", reflect.ValueOf(&a.Error).Elem())
		if a.Error == "" && failure.Value.Kind == syntax.Text {
			c.Report.Error(diag.NotAllowed, failure.Value.Position, "%s.error is empty", path).Hint = "write the tool's error message: timeout"
		}
		return a
	case result != nil:
		v = result.Value
	}
	return ToolAnswer{Result: jsonvalue.Plain(v.AppendJSON(nil))}
}

// toolErrors are the faults that can be injected into a tool call.
var toolErrors = []InjectedError{InjectTimeout, Inject429, Inject500, InjectBadJSON}

// injections checks the injected faults.
func (c *Compiler) injections(s *Subject, v *syntax.Node, keys []language.InjectKeys) []Inject {
	out := make([]Inject, 0, len(keys))
	for i, k := range keys {
		at := v.Items[i]
		in := Inject{Tool: k.Tool, Role: k.Role, Call: k.Call, Error: InjectedError(k.Error), Position: PositionOf(at.Position)}
		switch {
		case at.Get("tool") != nil && at.Get("role") != nil:
			c.Report.Error(diag.Exclusive, at.Position, "inject[%d] has both tool and role", i)
		case at.Get("tool") == nil && at.Get("role") == nil:
			c.Report.Error(diag.MissingKey, at.Position, "inject[%d] must have a tool or a role", i).Hint = "to choose the call that fails, set tool or role"
		case in.Tool != "":
			c.checkToolName(s, at.Get("tool"), in.Tool, diag.Error)
			if in.Error != "" && !slices.Contains(toolErrors, in.Error) {
				c.Report.Error(diag.NotAllowed, at.Get("error").Position, "a tool call cannot fail with %s", in.Error).Hint = "use timeout, 429, 500 or bad_json"
			}
		}
		out = append(out, in)
	}
	return out
}
