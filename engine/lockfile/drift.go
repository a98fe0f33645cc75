package lockfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/tool"
)

// Drift is how the tools of a server differ from the pinned ones. It is an error that
// wraps tool.ErrChanged.
type Drift struct {
	Spec    string
	Entry   string
	Changes []Change
}

// Change is one difference. Before and After are texts to show as a diff; one of them is
// "" if the item is missing there.
type Change struct {
	What   string `json:"what"` // "server", or "tool NAME"
	How    How    `json:"how"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// How is the kind of a change.
type How string

// The kinds of changes.
const (
	Added   How = "added"
	Removed How = "removed"
	Changed How = "changed"
)

// Error summarizes the changes on one line.
func (d *Drift) Error() string {
	var changes []string
	for _, c := range d.Changes {
		if c.What == serverChange {
			changes = append(changes, "the spec uses another server than the one pinned")
			continue
		}
		changes = append(changes, c.What+" is "+string(c.How))
	}
	return fmt.Sprintf("%s: tools.%s does not match %s: %s", d.Spec, d.Entry, FileName, strings.Join(changes, ", "))
}

// Unwrap returns tool.ErrChanged.
func (d *Drift) Unwrap() error { return tool.ErrChanged }

// serverChange is the What of a change that is not about a tool.
const serverChange = "server"

// Compare returns how the current tools of a server differ from the pinned ones; nil = in
// nothing that counts. The server's version does not count.
func (e *Entry) Compare(now Entry) *Drift {
	d := &Drift{Spec: e.Spec, Entry: e.Name}
	d.add(serverChange, e.Origin.text(), now.Origin.text())
	for _, t := range e.Tools {
		after, ok := now.Tool(t.Name)
		switch {
		case !ok:
			d.add("tool "+t.Name, definitionText(t), "")
		case !equalDefinitions(t, after):
			d.add("tool "+t.Name, definitionText(t), definitionText(after))
		}
	}
	for _, t := range now.Tools {
		if _, ok := e.Tool(t.Name); !ok {
			d.add("tool "+t.Name, "", definitionText(t))
		}
	}
	if len(d.Changes) == 0 {
		return nil
	}
	return d
}

// add adds a change, if before and after differ.
func (d *Drift) add(what, before, after string) {
	how := Changed
	switch {
	case before == after:
		return
	case before == "":
		how = Added
	case after == "":
		how = Removed
	}
	d.Changes = append(d.Changes, Change{what, how, before, after})
}

func equalDefinitions(a, b tool.Definition) bool {
	x, err := Digest(a)
	if err != nil {
		return false
	}
	y, err := Digest(b)
	return err == nil && x == y
}

// definitionText returns a definition as readable lines.
func definitionText(d tool.Definition) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\n", d.Name)
	if d.Title != "" {
		fmt.Fprintf(&b, "title: %s\n", d.Title)
	}
	if d.Description != "" {
		fmt.Fprintf(&b, "description:\n  %s\n", strings.ReplaceAll(d.Description, "\n", "\n  "))
	}
	schema(&b, "input_schema", d.Input)
	schema(&b, "output_schema", d.Output)
	if d.Hints != (tool.Hints{}) {
		fmt.Fprintf(&b, "hints: %s\n", toJSON(d.Hints))
	}
	return b.String()
}

// schema writes a schema with sorted keys, whose order does not count.
func schema(b *strings.Builder, name string, raw json.RawMessage) {
	form, err := canonical(raw)
	if err != nil {
		form = raw
	}
	if len(form) == 0 {
		return
	}
	var out bytes.Buffer
	if json.Indent(&out, form, "", "  ") != nil {
		out.Reset()
		out.Write(form)
	}
	fmt.Fprintf(b, "%s: %s\n", name, out.String())
}

// text describes the server, line by line.
func (o Origin) text() string {
	var b strings.Builder
	if len(o.Command) > 0 {
		fmt.Fprintf(&b, "command: %s\n", toJSON(o.Command))
	}
	if o.Cwd != "" {
		fmt.Fprintf(&b, "cwd: %s\n", o.Cwd)
	}
	if o.URL != "" {
		fmt.Fprintf(&b, "url: %s\n", o.URL)
	}
	return b.String()
}

// SourceDrift compares the server in the spec's entry, as JSON of the resolved spec, with the
// pinned one; nil = the same.
func (e *Entry) SourceDrift(source json.RawMessage) *Drift {
	d := &Drift{Spec: e.Spec, Entry: e.Name}
	d.add(serverChange, e.Origin.text(), OriginOf(source).text())
	if len(d.Changes) == 0 {
		return nil
	}
	return d
}

// Destructive returns the names of tools with a destructive hint.
func (e *Entry) Destructive() []string {
	var out []string
	for _, d := range e.Tools {
		if d.Hints.Destructive != nil && *d.Hints.Destructive {
			out = append(out, d.Name)
		}
	}
	slices.Sort(out)
	return out
}
