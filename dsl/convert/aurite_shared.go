package convert

import "fmt"

// shared writes what several agents have: the llms, and the servers that any of
// them uses.
func (m *project) shared() error {
	for _, c := range m.of(anLLM) {
		if m.alone() && !c.used {
			m.note(c.it, Dropped, "no agent uses it")
		}
	}
	for _, c := range m.of(aServer) {
		switch {
		case !offers(c):
			m.note(c.it, Dropped, "it has no tools, and a model is shown nothing else of a server")
		case !c.used:
			m.note(c.it, Dropped, "no agent is given it")
		case !m.alone():
			if err := m.library(c.id+".server.yaml", m.head(c), mapping{{key: "tools", value: mapping{{key: c.id, value: m.server(c)}}}}); err != nil {
				return err
			}
		}
	}
	if m.alone() || len(m.of(anLLM)) == 0 {
		return nil
	}
	var llms mapping
	for _, c := range m.of(anLLM) {
		llms.put(m.llm(c), m.llms[c.id])
	}
	return m.library("lib.yaml", fmt.Sprintf("The llms of an Aurite project, imported from %s by pexctl.", oneLine(m.from[0])), mapping{{key: "llms", value: llms}})
}

func (m *project) library(path, head string, body mapping) error {
	text, err := document(head, append(mapping{{key: "apiVersion", value: "pex/v1"}, {key: "kind", value: "Library"}}, body...))
	m.files = append(m.files, File{Path: path, Text: text})
	return err
}
