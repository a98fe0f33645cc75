package lockfile

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pexctl/pex/engine/tool"
)

// NewEntry returns the entry for a server's current listing: the tools that the rules admit.
// source is the entry in the resolved spec, as JSON. An error says which definition
// cannot be pinned, and why.
func NewEntry(spec, name string, source json.RawMessage, l *tool.Listing, rules tool.Rules) (Entry, error) {
	l = l.Visible()
	e := Entry{Spec: spec, Name: name, Origin: OriginOf(source), Server: l.Server}
	for _, d := range l.Tools {
		if !rules.Admits(d.Name) || slices.ContainsFunc(e.Tools, func(first tool.Definition) bool { return first.Name == d.Name }) {
			continue // of two with the same name a run uses the first
		}
		if _, err := Digest(d); err != nil {
			return e, fmt.Errorf("the tool %s cannot be pinned: %w", d.Name, err)
		}
		e.Tools = append(e.Tools, d)
	}
	return e, nil
}

// OriginOf returns the origin of a tools entry. A command may be a string or a list, with
// its arguments under args.
func OriginOf(source json.RawMessage) Origin {
	var entry struct {
		Command json.RawMessage `json:"command"`
		Args    json.RawMessage `json:"args"`
		Cwd     string          `json:"cwd"`
		URL     string          `json:"url"`
	}
	_ = json.Unmarshal(source, &entry) // written by the compiler
	return Origin{Command: append(commandWords(entry.Command), commandWords(entry.Args)...), Cwd: entry.Cwd, URL: entry.URL}
}

// commandWords returns the words of a command, given as string or list.
func commandWords(b json.RawMessage) []string {
	var one string
	if json.Unmarshal(b, &one) == nil && one != "" {
		return []string{one}
	}
	var all []any
	if json.Unmarshal(b, &all) != nil {
		return nil
	}
	out := make([]string, len(all))
	for i, word := range all {
		out[i] = fmt.Sprint(word)
	}
	return out
}

// Sources returns the tools entries of a resolved spec by name.
func Sources(spec json.RawMessage) map[string]json.RawMessage {
	var doc struct {
		Tools map[string]json.RawMessage `json:"tools"`
	}
	_ = json.Unmarshal(spec, &doc) // written by the compiler
	return doc.Tools
}
