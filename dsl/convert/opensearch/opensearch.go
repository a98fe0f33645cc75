package opensearch

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// Convert converts an agent of OpenSearch's ML Commons to a spec. agent is the
// body that registered it, or the cluster's response for its id. Connectors are
// bodies of connectors, or of models that contain one: the first of a model is
// the planner's, the second the executor's, and those with the protocol mcp_sse
// or mcp_streamable_http are tool servers. An Input with Agent set is the
// conversational agent that executor_agent_id names; it becomes the executor. All
// of them may also be in one file, as in a console's history, a search response,
// or a template of the flow framework.
//
// Convert returns an error for other kinds of files, and for agents of the types
// flow and conversational_flow, which have no plan.
func Convert(agent convert.Input, more ...convert.Input) (convert.Result, error) {
	m := &importer{as: agent.As, from: agent.Name, ids: map[*tree.Value]string{}}
	for i, in := range append([]convert.Input{agent}, more...) {
		if err := m.read(in, i == 0); err != nil {
			return convert.Result{}, err
		}
	}
	if m.agent == nil {
		return convert.Result{}, fmt.Errorf("%s: there is no agent in it: an agent has a type, such as plan_execute_and_reflect, and an llm; "+
			"give the body of POST /_plugins/_ml/agents/_register, or what GET /_plugins/_ml/agents/ID answers", agent.Name)
	}
	if err := m.checkType(); err != nil {
		return convert.Result{}, err
	}
	m.convert()
	spec, err := m.document()
	if err != nil {
		return convert.Result{}, fmt.Errorf("%s: %w", agent.Name, err)
	}
	files := append([]convert.File{{Path: "spec.yaml", Text: spec}}, m.files...)
	return convert.Result{Name: m.name(), Files: files, Notes: m.sortedNotes(append([]string{agent.Name}, names(more)...))}, nil
}

func names(all []convert.Input) (out []string) {
	for _, in := range all {
		out = append(out, in.Name)
	}
	return out
}

// importer is one conversion.
type importer struct {
	tree.Log
	as, from      string
	agent         *tree.Value
	executorAgent *tree.Value // the executor's agent; nil if not given
	ids           map[*tree.Value]string
	others        []*tree.Value // further agents, and unknown bodies
	connectors    []*connector

	iface       string // _llm_interface
	injectsTime bool   // prompts contain the time
	format      string // the format of that time
	meta        tree.Map
	parameters  tree.Map
	llms        tree.Map
	tools       tree.Map
	planner     tree.Map
	executor    tree.Map
	reflector   tree.Map
	limits      tree.Map
	memory      tree.Map
	files       []convert.File
}

// read sorts the bodies of a file by their kind.
func (m *importer) read(in convert.Input, first bool) error {
	bodies, notes, err := tree.ReadJSON(in)
	if err != nil {
		return err
	}
	m.Notes = append(m.Notes, notes...)
	for _, body := range bodies {
		for _, found := range m.documents(body) {
			if err := m.classify(in, found, first); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *importer) classify(in convert.Input, found *tree.Value, first bool) error {
	switch c := found.Get("connector").Decode(); {
	case found.Kind != tree.Object:
		return fmt.Errorf("%s: a JSON object is expected, the body of a request", in.Name)
	case in.Agent != "" && !isAgent(found):
		return fmt.Errorf("%s: there is no agent in it: give the body by which the executor's agent was registered, or what GET /_plugins/_ml/agents/ID answers", in.Name)
	case in.Agent != "":
		if in.Agent != "*" || m.ids[found] == "" {
			m.ids[found] = in.Agent
		}
		m.others = append(m.others, found)
	case c != nil && c.Kind == tree.Object:
		m.connectors = append(m.connectors, &connector{root: found, body: c})
	case found.Get("actions") != nil || found.Get("protocol") != nil:
		m.connectors = append(m.connectors, &connector{root: found, body: found})
	case first && isAgent(found) && (m.agent == nil || rank(found) > rank(m.agent)):
		if m.agent != nil {
			m.others = append(m.others, m.agent)
		}
		m.agent = found
	case !first && !isAgent(found):
		return fmt.Errorf("%s: there is no connector in it: a connector has a protocol and actions or a url; "+
			"give the body of POST /_plugins/_ml/connectors/_create, or of a model's registration with a connector in it", in.Name)
	default:
		m.others = append(m.others, found)
	}
	return nil
}

// rank orders the agents of a file by how likely they are the one to convert:
// agents that plan before the others, which may only be called by them, and
// agents without a model last.
func rank(it *tree.Value) int {
	switch kind := strings.ToLower(it.Get("type").Peek()); {
	case kind == planned:
		return 2
	case isChat(kind):
		return 1
	}
	return 0
}

// documents returns the bodies in a search response or a template, with their
// ids. Any other body is returned as is.
func (m *importer) documents(body *tree.Value) (out []*tree.Value) {
	if all := m.registeredBodies(body); all != nil {
		return all
	}
	all := []*tree.Value{body}
	if hits := body.Get("hits", "hits"); hits != nil && len(hits.Items) > 0 {
		all = hits.Items
	}
	for _, hit := range all {
		if source := hit.Get("_source"); source != nil && source.Kind == tree.Object {
			m.ids[source] = hit.Get("_id").Peek()
			hit = source
		}
		out = append(out, hit)
	}
	return out
}

func isAgent(it *tree.Value) bool {
	kind := strings.ToLower(it.Get("type").Peek())
	return kind == planned || isChat(kind) || it.Get("type") != nil && (it.Get("llm") != nil || it.Get("model") != nil || it.Get("tools") != nil || it.Get("parameters") != nil)
}

const (
	planned = "plan_execute_and_reflect"
	chat    = "conversational"
	chat2   = "conversational_v2" // the second version, which contains a model
	chatUI  = "ag_ui"             // a conversational agent for a web page
)

func isChat(kind string) bool { return kind == chat || kind == chat2 || kind == chatUI }

// checkType rejects kinds of agents without a counterpart.
func (m *importer) checkType() error {
	switch kind := strings.ToLower(m.agent.Get("type").Peek()); kind {
	case planned, chat:
		return nil
	case chat2:
		m.NoteAt(m.from, "type", convert.Changed, "the second form of a conversational agent: it is imported as one; a question is text here, files go along by pexctl run --file")
		return nil
	case chatUI:
		m.NoteAt(m.from, "type", convert.Changed, "a conversational agent for web pages: it is imported as one; pexctl run --events writes events as JSON lines, not as AG-UI events")
		return nil
	case "flow", "conversational_flow":
		return fmt.Errorf("%s: a %s agent has no plan: it runs its tools one after another; "+
			"write it as a graph of nodes of type tool (pexctl list node), or import its conversational agent", m.from, kind)
	default:
		return fmt.Errorf("%s: the agent's type is %q; %s and %s can be imported", m.from, tree.Clip(kind), planned, chat)
	}
}

// convert fills the sections in an order in which each finds what it needs.
func (m *importer) convert() {
	params := m.agent.Get("parameters").Decode()
	for _, it := range []*tree.Value{params.Get("_llm_interface"), m.agent.Get("model", "model_provider")} {
		if m.iface == "" {
			m.iface = it.Peek()
		}
	}
	m.findExecutorAgent()
	m.hideSecrets()
	m.labelConnectors()
	m.metadata()
	m.models()
	m.asToolOwner(func() {
		m.toolSection()
		m.mcp()
	})
	m.memorySection()
	m.options()
	m.prompts()
	m.compaction()
	m.noteClusterKeys()
	m.notePrecedence()
	m.noteLeftovers()
}

// notePrecedence notes differences that no key of the source expresses.
func (m *importer) notePrecedence() {
	if params := m.agent.Get("parameters"); params != nil && m.plans() && len(params.Items) > 0 {
		m.NoteAt(m.from, "parameters", convert.Changed, "there, what is registered beats what a request says; here a flag beats a run's input, and both beat the spec (pexctl vet --explain shows it)")
	}
}

// plans reports whether the agent plans.
func (m *importer) plans() bool { return strings.EqualFold(m.agent.Get("type").Peek(), planned) }

func (m *importer) noteLeftovers() {
	m.agent.Get("type").Use()
	m.NoteUnused(m.agent, "nothing in a spec stands for it, and nothing that is known of OpenSearch's agents reads it")
	for _, c := range m.connectors {
		if !c.used {
			m.Note(c.root, convert.Dropped, "no llm and no tool of the agent is left that this connector could be for")
		}
	}
	for _, it := range m.others {
		if it == m.executorAgent {
			continue
		}
		if isAgent(it) {
			m.Note(it, convert.Todo, "is another agent, which this one does not call as its executor: import it by itself; a tool of type agent may then name its file")
			continue
		}
		m.Note(it, convert.Dropped, "is neither an agent nor a connector")
	}
}

// sortedNotes sorts the notes by the order of the files and removes duplicates.
func (m *importer) sortedNotes(files []string) []convert.Note {
	slices.SortStableFunc(m.Notes, func(a, b convert.Note) int { return slices.Index(files, a.File) - slices.Index(files, b.File) })
	var out []convert.Note
	for _, n := range m.Notes {
		if n.Path == "" {
			n.Path = "."
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// name returns the agent's name, or "" if it has none.
func (m *importer) name() string {
	return strings.TrimSpace(tree.OneLine(cmp.Or(m.as, m.agent.Get("name").UseText())))
}

// metadata converts the agent's name and description.
func (m *importer) metadata() {
	m.meta.Put("name", cmp.Or(m.name(), "imported"))
	m.meta.Put("description", m.agent.Get("description").UseText())
	var labels tree.Map
	labels.Put("app_type", m.agent.Get("app_type").UseText())
	m.meta.Put("labels", labels)
}

// document writes the spec.
func (m *importer) document() ([]byte, error) {
	out := tree.Map{{Key: "apiVersion", Value: "pex/v1"}, {Key: "kind", Value: "Agent"}, {Key: "metadata", Value: m.meta}}
	m.sections(&out)
	head := "Imported from " + path.Base(m.from) + ", a " + strings.ToLower(m.agent.Get("type").Peek()) + " agent of OpenSearch.\n" +
		"The import listed what is different here; docs/migrating-opensearch.md tells more."
	b, err := tree.WriteYAML(head, out)
	if err != nil {
		return nil, errors.New("the spec cannot be written as YAML: " + err.Error())
	}
	return b, nil
}

func (m *importer) sections(out *tree.Map) {
	out.Put("parameters", m.parameters)
	if m.injectsTime {
		out.Put("inject_datetime", true)
		out.Put("datetime_format", m.format)
	}
	for _, s := range []struct {
		key   string
		value tree.Map
	}{
		{"llms", m.llms},
		{"tools", m.tools},
		{"planner", m.planner},
		{"executor", m.executor},
		{"reflector", m.reflector},
		{"limits", m.limits},
		{"memory", m.memory},
	} {
		out.Put(s.key, s.value)
	}
}
