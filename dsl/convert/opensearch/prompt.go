package opensearch

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/text"
)

// place is the place of an OpenSearch prompt in the spec.
type place struct {
	theirs  string // its parameter in OpenSearch
	section string
	ours    string // its key in that section
	names   string // the template whose names it may use: a key of engine.PromptNames
}

var promptPlaces = []place{
	{"system_prompt", "planner", "system_prompt", "system"},
	{"executor_system_prompt", "executor", "executor_system_prompt", "system"},
	{"planner_prompt", "planner", "planner_prompt", "planner"},
	{"planner_prompt_template", "planner", "planner_prompt_template", "planner"},
	{"planner_with_history_template", "planner", "planner_with_history_template", "planner_with_history"},
	{"reflect_prompt", "reflector", "reflect_prompt", "reflector"},
	{"reflect_prompt_template", "reflector", "reflect_prompt_template", "reflector"},
}

// prompts converts the agent's own prompts.
func (m *importer) prompts() {
	params := m.agent.Get("parameters")
	if !m.plans() {
		m.chatPrompts()
	} else {
		for _, p := range promptPlaces {
			if it := params.Get(p.theirs); p.names == "planner_with_history" && m.memory.Get("history") != true {
				m.Note(it, convert.Dropped, "no earlier turn is ever shown, so that this template is never used, there as here")
				continue
			}
			if it := params.Get(p.theirs); it != nil && m.executor.Has(p.ours) {
				m.Note(it, convert.Dropped, "the executor's agent has a system prompt of its own, which goes first there, too")
				continue
			}
			m.prompt(params.Get(p.theirs), p)
		}
		m.systemPromptParts(params)
		m.modelPrompt()
	}
	m.Note(params.Get("prompt"), convert.Dropped, "is made of the planner's and reflector's templates; there it is cleared before a run, too")
	m.Note(m.agent.Get("llm", "parameters", "prompt"), convert.Dropped, "the roles' templates say how the question is asked")
	m.Note(params.Get("plan_execute_reflect_response_format"), convert.Dropped, "how to answer is said by the engine: it fits what reads the answer")
	m.plainParameters(params)
}

// modelPrompt converts the system prompt of the model, if the agent has no other.
func (m *importer) modelPrompt() {
	llm := m.agent.Get("llm", "parameters")
	for _, it := range []*tree.Value{
		m.agent.Get("model", "model_parameters", "system_prompt"), llm.Get("system_prompt"), llm.Get("system_instruction"),
		m.agent.Get("parameters", "system_instruction"),
	} {
		switch {
		case it == nil:
		case m.planner.Has("system_prompt"):
			m.Note(it, convert.Dropped, "the planner has a system prompt of its own, which goes first there, too")
		default:
			m.prompt(it, promptPlaces[0])
			m.NoteAt(it.File, it.Path, convert.Changed, "becomes planner.system_prompt: the planner is who this model is asked as")
		}
	}
}

// systemPromptParts converts the three texts of which a planner's system prompt
// can consist.
func (m *importer) systemPromptParts(params *tree.Value) {
	var all []string
	var from *tree.Value
	for _, key := range []string{"planner_system_prompt_prefix", "important_rules_expand", "result_expand_and_override"} {
		it := params.Get(key)
		if s := strings.TrimSpace(it.Peek()); s != "" {
			all, from = append(all, s), it
			m.Note(it, convert.Changed, "becomes a part of planner.system_prompt; rules and the form of the answer are added by the engine")
		}
	}
	if from == nil {
		return
	}
	m.Note(params.Get("system_prompt"), convert.Dropped, "is put aside there, too, where a part of the system prompt is given: planner.system_prompt holds the parts")
	m.prompt(&tree.Value{File: from.File, Path: from.Path, Kind: tree.Text, Text: strings.Join(all, "\n\n")}, promptPlaces[0])
}

// chatPrompts converts the prompts of a conversational agent. It has no planner,
// so all of them go to the executor.
func (m *importer) chatPrompts() {
	m.executorPrompts(m.agent.Get("parameters"), m.agent.Get("llm", "parameters"))
	m.planner.Put("planner_prompt", "Give a plan of one step only: the objective below, word for word. Give the result at once where no tool is needed for it.")
	m.NoteAt(m.from, "type", convert.Changed, "a conversational agent answers in one loop; here a planner makes it one step, the executor is that loop, and the reflector hands on its answer: two more model calls")
}

// executorPrompts lists the places where a conversational agent may have prompts
// for its model.
func (m *importer) executorPrompts(params, llm *tree.Value) {
	to := promptPlaces[1]
	for _, it := range []*tree.Value{
		params.Get("system_prompt"), llm.Get("system_prompt"), params.Get("system_instruction"), llm.Get("system_instruction"),
		m.agent.Get("model", "model_parameters", "system_prompt"), params.Get("prompt.prefix"), llm.Get("prompt.prefix"),
		params.Get("prompt.suffix"), llm.Get("prompt.suffix"),
	} {
		switch {
		case it == nil:
		case m.executor.Has(to.ours):
			m.Note(it, convert.Todo, "the executor has one system prompt: add what is missing in it by hand")
		default:
			m.prompt(it, to)
		}
	}
	for _, at := range []*tree.Value{params, llm} {
		if it := at.Get("prompt"); it != nil && !isQuestion(it.Peek()) {
			m.Note(it, convert.Todo, "the executor's prompt is made by the engine; add what this one says to executor.executor_system_prompt")
		}
	}
}

var question = text.Regexp(`^\s*\$\{parameters\.question\}\s*$`)

func isQuestion(s string) bool { return question().MatchString(s) }

// prompt writes one prompt: in the spec if it is short, otherwise in a file.
func (m *importer) prompt(it *tree.Value, p place) {
	s := it.Peek()
	if it == nil || strings.TrimSpace(s) == "" {
		it.Use()
		return
	}
	s = m.references(it, s, p)
	it.Use()
	var value any = s
	if len(s) > 160 || strings.Count(s, "\n") > 3 {
		path := "prompts/" + p.ours + ".md"
		m.files = append(m.files, convert.File{Path: path, Text: []byte(s)})
		value = tree.Map{{Key: "file", Value: path}}
	}
	m.section(p.section).Put(p.ours, value)
}

func (m *importer) section(name string) *tree.Map {
	switch name {
	case "planner":
		return &m.planner
	case "executor":
		return &m.executor
	}
	return &m.reflector
}

// renamedVariables maps OpenSearch's names to the names in pex.
var renamedVariables = map[string]string{
	"_tools": "tools_prompt", "tool_descriptions": "tools_prompt", "tools": "tools_prompt", "tool_names": "tools_prompt",
	"_chat_history": "chat_history", "objective": "question",
}

var (
	inPrompt = text.Regexp(`\$\{\s*parameters\.([^}:|]*?)\s*(:-[^}]*)?\}`)
	likeRef  = text.Regexp(`\$\{\s*parameters`)
	escapes  = text.Regexp(`\$\$\{|\$\$?<|\$\{\s*(?:env|args|case)\s*\.`)
)

// references converts the references of a prompt. Names that the engine defines
// in this template stay; what the agent or only a request can set becomes a
// declared parameter.
func (m *importer) references(it *tree.Value, s string, p place) string {
	s = escapes().ReplaceAllStringFunc(s, func(at string) string { return "$" + at })
	s = m.escapeBroken(it, s)
	return inPrompt().ReplaceAllStringFunc(s, func(ref string) string {
		parts := inPrompt().FindStringSubmatch(ref)
		theirs, otherwise := strings.TrimSuffix(parts[1], ".toString()"), parts[2]
		name, filter := theirs, ""
		if theirs != parts[1] {
			filter = " | json"
		}
		if ours, ok := renamedVariables[name]; ok && !m.sets(name) {
			name, filter = ours, ""
		}
		switch {
		case slices.Contains(engine.PromptNames[p.names], name):
			if name != parts[1] {
				m.NoteAt(it.File, it.Path, convert.Changed, "${parameters.%s} is ${parameters.%s} here", tree.Clip(parts[1]), name)
			}
		case !m.sets(name) && engineName(name):
			m.NoteAt(it.File, it.Path, convert.Changed, "${parameters.%s} is left out: there is no such thing yet when this prompt is made", name)
			return ""
		default:
			name = m.declare(it, theirs, otherwise != "")
		}
		return "${parameters." + name + filter + otherwise + "}"
	})
}

// escapeBroken escapes incomplete references and references with an invalid name,
// which OpenSearch leaves unchanged.
func (m *importer) escapeBroken(it *tree.Value, s string) string {
	var b strings.Builder
	last := 0
	for _, at := range likeRef().FindAllStringIndex(s, -1) {
		if ref := inPrompt().FindStringIndex(s[at[0]:]); ref == nil || ref[0] != 0 {
			m.NoteAt(it.File, it.Path, convert.Changed, "%s is no reference there, and none here", tree.Clip(s[at[0]:]))
			b.WriteString(s[last:at[0]] + "$")
			last = at[0]
		}
	}
	return b.String() + s[last:]
}

func engineName(name string) bool {
	for _, all := range engine.PromptNames {
		if slices.Contains(all, name) {
			return true
		}
	}
	return false
}

// sets reports whether the agent sets the parameter.
func (m *importer) sets(name string) bool {
	it := m.agent.Get("parameters").Get(name)
	return it != nil && it.Kind != tree.Object && it.Kind != tree.List
}

// declare declares a parameter of the spec and returns its name.
func (m *importer) declare(it *tree.Value, theirs string, optional bool) string {
	name := toName(theirs, "parameter")
	if engineName(name) {
		name += "_given"
	}
	if name != theirs {
		m.NoteAt(it.File, it.Path, convert.Changed, "${parameters.%s} is the parameter %s here: names are letters, digits, _ and -, and begin with a letter", tree.Clip(theirs), name)
	}
	if m.parameters.Has(name) {
		return name
	}
	var out tree.Map
	out.Put("type", "string")
	switch set := m.agent.Get("parameters").Get(theirs); {
	case m.sets(theirs) && isSecret(theirs, set.Peek()):
		out.Put("required", true)
		m.Note(set, convert.Todo, "it looks like a secret and was not taken over; a prompt names it: take it out there, or each run gives it by -p %s=...", name)
	case m.sets(theirs):
		out.Set("default", set.Peek(), "")
		m.Note(set, convert.Changed, "becomes the parameter %s with this default; a run may say otherwise: -p %[1]s=...", name)
	case !optional:
		out.Put("required", true)
		m.NoteAt(it.File, it.Path, convert.Changed, "${parameters.%s} comes with the request there: it is a parameter that each run must give: -p %s=...", tree.Clip(theirs), name)
	}
	m.parameters.Set(name, out, "")
	return name
}

// plainParameters notes parameters that no prompt refers to.
func (m *importer) plainParameters(params *tree.Value) {
	if params == nil {
		return
	}
	for i, key := range params.Keys {
		it := params.Items[i]
		if it.Used || it.Kind == tree.Object || it.Kind == tree.List {
			continue
		}
		if tool, what, ok := strings.Cut(key, "."); ok && m.tools.Has(toName(tool, "")) {
			if what == "description" {
				it.Use()
				continue
			}
			m.Note(it, convert.Todo, "sets an argument of the tool %s: write it below tools.%[1]s.with, which no model can override", toName(tool, ""))
			continue
		}
		if slices.ContainsFunc(settingsLater, func(k string) bool { return k == key }) {
			continue
		}
		m.Note(it, convert.Dropped, "no prompt of the agent names it, and nothing here is set by it")
	}
}

// settingsLater are read by sections that follow the prompts.
var settingsLater = []string{"inject_datetime", "datetime_format"}
