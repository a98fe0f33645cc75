package aurite

import (
	"fmt"
	"slices"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// Convert converts the agents of an Aurite project: its project files, lists of
// components with a type, and single components, in JSON or YAML. others are
// further files of the project. If several components have the same kind and
// name, Convert uses the first.
//
// A single agent becomes spec.yaml. Several agents become one file each; they
// include lib.yaml (the LLMs) and NAME.server.yaml (one per tool server).
// Workflows become specs whose graph runs those of the agents, and evaluations
// become suites. spec.yaml is the first workflow that no other workflow runs or
// else the first agent. All files are in one folder, which is therefore the root
// of each.
//
// Convert returns an error if a file cannot be read or no file contains an agent.
func Convert(config convert.Input, others ...convert.Input) (convert.Result, error) {
	m := &project{as: config.As, verdicts: map[*component]string{}}
	for _, in := range append([]convert.Input{config}, others...) {
		if err := m.read(in); err != nil {
			return convert.Result{}, err
		}
	}
	if len(m.parts) > maxComponents {
		return convert.Result{}, fmt.Errorf("%s: the project has more than %d components; import its parts by themselves", config.Name, maxComponents)
	}
	if len(m.byKind(kindAgent)) == 0 {
		return convert.Result{}, fmt.Errorf("%s: there is no agent of Aurite in it: an agent has a name and a system_prompt or a llm_config_id, "+
			"and stands under agents or has type: agent; give all files of the project that hold components", config.Name)
	}
	m.name()
	m.resolve()
	if err := m.write(); err != nil {
		return convert.Result{}, fmt.Errorf("%s: %w", config.Name, err)
	}
	for _, root := range m.roots {
		m.NoteUnused(root, "nothing here could be meant by it")
	}
	return convert.Result{Name: m.projectName(), Files: m.files, Notes: m.Sorted(m.roots...)}, nil
}

// projectName returns the name of the project.
func (m *project) projectName() string {
	switch {
	case m.as != "":
		return m.as
	case m.title != "" && !m.isSingleAgent():
		return m.title
	}
	return m.main.id
}

// maxComponents is the maximum number of components of a project.
const maxComponents = 500

// project is one conversion.
type project struct {
	tree.Log
	as    string // the name of the result; "" to use the name of the source
	title string // of the project
	from  []string
	roots []*tree.Value
	parts []*component
	refs  []*tree.Value // names of components in places where components can also be defined

	llms     map[string]tree.Map // converted LLMs by their new names
	verdicts map[*component]string
	files    []convert.File
	main     *component // the component that becomes spec.yaml
}

// component is a part of an Aurite project.
type component struct {
	kind string
	name string // its name in the project
	id   string // its name in the spec
	it   *tree.Value
	used bool
	// comment is a line of the comment at the top of its file; "" if none.
	comment string
}

// path returns the file of an agent or a workflow.
func (m *project) path(c *component) string {
	if c == m.main {
		return "spec.yaml"
	}
	return c.id + ".yaml"
}

// byKind returns the components of a kind, in the order of the source.
func (m *project) byKind(kind string) (out []*component) {
	for _, c := range m.parts {
		if c.kind == kind {
			out = append(out, c)
		}
	}
	return out
}

// find returns the component with a name, or nil if there is none.
func (m *project) find(name string, kinds ...string) *component {
	for _, c := range m.parts {
		if c.name == name && slices.Contains(kinds, c.kind) {
			return c
		}
	}
	return nil
}

// resolve adds a note for each name of a component that no file defines.
func (m *project) resolve() {
	for _, ref := range m.refs {
		name := ref.UseText()
		if !slices.ContainsFunc(m.parts, func(c *component) bool { return c.name == name }) {
			m.Note(ref, convert.Todo, "%q is defined in another file of the project: give that file too", tree.OneLine(name))
		}
	}
}

// isSingleAgent reports whether the project is a single agent, which becomes a
// single file.
func (m *project) isSingleAgent() bool {
	return len(m.byKind(kindAgent)) == 1 && len(m.byKind(kindLinear))+len(m.byKind(kindGraph)) == 0
}

// write creates the files. The file to run is the first.
func (m *project) write() error {
	m.llms = map[string]tree.Map{}
	m.chooseMain()
	var first, agents []convert.File
	add := func(c *component, body tree.Map) error {
		if body == nil {
			return nil
		}
		text, err := tree.WriteYAML(m.head(c), body)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		f := convert.File{Path: m.path(c), Text: text}
		if c == m.main {
			first = append(first, f)
		} else {
			agents = append(agents, f)
		}
		return nil
	}
	for _, c := range m.parts {
		var err error
		switch c.kind {
		case kindAgent:
			err = add(c, m.agent(c))
		case kindLinear:
			err = add(c, m.linearWorkflow(c))
		case kindGraph:
			err = add(c, m.graphWorkflow(c))
		case kindScript:
			m.Note(c.it, convert.Dropped, "a workflow in Python is code: put what it does into a tool of type command or mcp, and call that in a graph node of type tool, or let a script run pexctl")
		case kindOther:
			m.Note(c.it, convert.Dropped, "pex has no such component")
		}
		if err != nil {
			return err
		}
	}
	m.files = append(first, agents...)
	if err := m.writeLibraries(); err != nil {
		return err
	}
	return m.suites()
}

// chooseMain chooses the component for spec.yaml: the first workflow that no
// other workflow runs, or else the first agent.
func (m *project) chooseMain() {
	flows := append(m.byKind(kindLinear), m.byKind(kindGraph)...)
	top := slices.DeleteFunc(slices.Clone(flows), func(c *component) bool {
		return m.problemOf(c) != "" || slices.ContainsFunc(flows, func(o *component) bool { return o != c && m.runs(o, c) })
	})
	m.main = append(top, m.byKind(kindAgent)...)[0]
	if !m.isSingleAgent() {
		m.NoteAt(m.main.it.File, m.main.it.Path, convert.Changed, "it is spec.yaml: what pexctl runs of the folder")
	}
}

// head returns the comment at the top of a file.
func (m *project) head(c *component) string {
	kind := map[string]string{kindAgent: "Agent", kindLinear: "Linear workflow", kindGraph: "Graph workflow", kindEval: "Evaluation", kindServer: "Tool server"}[c.kind]
	return fmt.Sprintf("%s %q of Aurite, imported from %s by pexctl.\n%s", kind, tree.OneLine(c.name), tree.OneLine(c.it.File), c.comment)
}
