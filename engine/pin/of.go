package pin

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pexctl/pex/engine/tool"
)

// Of is what a server that a spec asks says now, as it would be pinned: of its
// tools those that the rules of the entry admit. source is the entry as it
// stands in the resolved spec, in JSON. An error tells which definition cannot
// be pinned, and why.
func Of(spec, name string, source json.RawMessage, l *tool.Listing, rules tool.Rules) (Entry, error) {
	l = l.Visible()
	e := Entry{Spec: spec, Name: name, Origin: OriginOf(source), Server: l.Server}
	for _, d := range l.Tools {
		if !rules.Admits(d.Name) || slices.ContainsFunc(e.Tools, func(first tool.Definition) bool { return first.Name == d.Name }) {
			continue // of two of one name a run has the first
		}
		if _, err := Digest(d); err != nil {
			return e, fmt.Errorf("the tool %s cannot be pinned: %w", d.Name, err)
		}
		e.Tools = append(e.Tools, d)
	}
	return e, nil
}

// OriginOf reads which server an entry of tools asks. A command may be a text or
// a list, with its arguments under args.
func OriginOf(source json.RawMessage) Origin {
	var entry struct {
		Command json.RawMessage `json:"command"`
		Args    json.RawMessage `json:"args"`
		Cwd     string          `json:"cwd"`
		URL     string          `json:"url"`
	}
	_ = json.Unmarshal(source, &entry) // the compiler wrote it
	return Origin{Command: append(words(entry.Command), words(entry.Args)...), Cwd: entry.Cwd, URL: entry.URL}
}

// words are the words of a command: a text is one, a list holds one each.
func words(b json.RawMessage) []string {
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

// Sources are the entries of tools in a resolved spec, by name.
func Sources(spec json.RawMessage) map[string]json.RawMessage {
	var doc struct {
		Tools map[string]json.RawMessage `json:"tools"`
	}
	_ = json.Unmarshal(spec, &doc) // the compiler wrote it
	return doc.Tools
}
