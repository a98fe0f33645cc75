package runs

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/tool"
)

// WrittenFile is a file that a tool of a run has written, with the content from the
// journal: the file itself may have been changed since, by a run of another tenant.
type WrittenFile struct {
	Name    string // path below the folder of the tool
	Tool    string
	Call    string // path of the call
	Content string
}

// Written returns the files that the tools of the run have written, with their last
// contents, in the order of these calls. It knows the tools whose Config is a
// tool.FileWriter.
func (r *Run) Written() (all []WrittenFile) {
	writers := map[string]tool.FileWriter{}
	addWriters(writers, r.Program)
	if len(writers) == 0 {
		return nil
	}
	open := map[string]WrittenFile{} // calls without an outcome, by path
	for _, rec := range journal.WithoutVoided(r.Records) {
		switch {
		case rec.Kind == journal.Intent && rec.Class != journal.Question && !drift.IsRequest(&rec):
			delete(open, rec.Path)
			if f, ok := writtenBy(writers, &rec); ok {
				open[rec.Path] = f
			}
		case rec.Kind == journal.Result && rec.Status == journal.OK:
			f, ok := open[rec.Path]
			if !ok {
				continue
			}
			all = slices.DeleteFunc(all, func(o WrittenFile) bool { return o.Name == f.Name && o.Tool == f.Tool })
			all = append(all, f)
		}
	}
	return all
}

// addWriters adds the tools of a program, and of the agents in it, that write files.
func addWriters(writers map[string]tool.FileWriter, p *engine.Program) {
	for i := range p.Tools {
		if w, ok := p.Tools[i].Config.(tool.FileWriter); ok {
			writers[p.Tools[i].Name] = w
		}
	}
	for _, agent := range p.Agents {
		addWriters(writers, agent)
	}
}

// writtenBy returns the file that a call writes.
func writtenBy(writers map[string]tool.FileWriter, intent *journal.Record) (WrittenFile, bool) {
	var call struct {
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args"`
	}
	if json.Unmarshal(intent.Body, &call) != nil || writers[call.Tool] == nil {
		return WrittenFile{}, false
	}
	name, content, ok := writers[call.Tool].WrittenFile(call.Args)
	if name = path.Clean(filepath.ToSlash(name)); !filepath.IsLocal(filepath.FromSlash(name)) { // an absolute path below the folder
		name = path.Base(name)
	}
	return WrittenFile{name, call.Tool, intent.Path, content}, ok
}
