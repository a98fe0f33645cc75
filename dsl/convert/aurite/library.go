package aurite

import (
	"fmt"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// writeLibraries writes what several agents share: the LLMs, and the servers that
// any agent uses.
func (m *project) writeLibraries() error {
	for _, c := range m.byKind(kindLLM) {
		if m.isSingleAgent() && !c.used {
			m.Note(c.it, convert.Dropped, "no agent uses it")
		}
	}
	for _, c := range m.byKind(kindServer) {
		switch {
		case !hasTools(c):
			m.Note(c.it, convert.Dropped, "it has no tools, and a model is shown nothing else of a server")
		case !c.used:
			m.Note(c.it, convert.Dropped, "no agent is given it")
		case !m.isSingleAgent():
			if err := m.library(c.id+".server.yaml", m.head(c), tree.Map{{Key: "tools", Value: tree.Map{{Key: c.id, Value: m.server(c)}}}}); err != nil {
				return err
			}
		}
	}
	if m.isSingleAgent() || len(m.byKind(kindLLM)) == 0 {
		return nil
	}
	var llms tree.Map
	for _, c := range m.byKind(kindLLM) {
		llms.Put(m.llm(c), m.llms[c.id])
	}
	return m.library("lib.yaml", fmt.Sprintf("The llms of an Aurite project, imported from %s by pexctl.", tree.OneLine(m.from[0])), tree.Map{{Key: "llms", Value: llms}})
}

func (m *project) library(path, head string, body tree.Map) error {
	text, err := tree.WriteYAML(head, append(tree.Map{{Key: "apiVersion", Value: "pex/v1"}, {Key: "kind", Value: "Library"}}, body...))
	m.files = append(m.files, convert.File{Path: path, Text: text})
	return err
}
