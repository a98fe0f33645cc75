package pin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/tool"
)

// Drift is how the tools of a server differ from those that are pinned. It is an
// error that wraps tool.ErrChanged.
type Drift struct {
	Spec    string
	Entry   string
	Changes []Change
}

// Change is one difference. Before and After are texts of lines, to be shown as a
// diff; one of them is "" where the thing is not there.
type Change struct {
	What   string `json:"what"` // "server", or "tool NAME"
	How    How    `json:"how"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// How a thing differs.
type How string

// The ways.
const (
	Added   How = "added"
	Removed How = "removed"
	Changed How = "changed"
)

// Error says in a line what changed.
func (d *Drift) Error() string {
	var said []string
	for _, c := range d.Changes {
		if c.What == asked {
			said = append(said, "the spec asks another server than the one pinned")
			continue
		}
		said = append(said, c.What+" is "+string(c.How))
	}
	return fmt.Sprintf("%s: tools.%s is not as it is pinned in %s: %s", d.Spec, d.Entry, FileName, strings.Join(said, ", "))
}

// Unwrap gives tool.ErrChanged.
func (d *Drift) Unwrap() error { return tool.ErrChanged }

// asked is what a change is about that is none of a tool.
const asked = "server"

// Compare says how what a server says now differs from what is pinned; nil = in
// nothing that counts. What the server tells of its own version does not.
func (e *Entry) Compare(now Entry) *Drift {
	d := &Drift{Spec: e.Spec, Entry: e.Name}
	d.note(asked, e.Origin.text(), now.Origin.text())
	for _, t := range e.Tools {
		after, ok := now.Tool(t.Name)
		switch {
		case !ok:
			d.note("tool "+t.Name, definitionText(t), "")
		case !same(t, after):
			d.note("tool "+t.Name, definitionText(t), definitionText(after))
		}
	}
	for _, t := range now.Tools {
		if _, ok := e.Tool(t.Name); !ok {
			d.note("tool "+t.Name, "", definitionText(t))
		}
	}
	if len(d.Changes) == 0 {
		return nil
	}
	return d
}

// note adds a change, if it is one.
func (d *Drift) note(what, before, after string) {
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

func same(a, b tool.Definition) bool {
	x, err := Digest(a)
	if err != nil {
		return false
	}
	y, err := Digest(b)
	return err == nil && x == y
}

// definitionText is a definition as people read it, line by line.
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
		fmt.Fprintf(&b, "hints: %s\n", encoded(d.Hints))
	}
	return b.String()
}

// schema writes a schema with its members sorted, as their order does not count.
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

// text is which server it is, line by line.
func (o Origin) text() string {
	var b strings.Builder
	if len(o.Command) > 0 {
		fmt.Fprintf(&b, "command: %s\n", encoded(o.Command))
	}
	if o.Cwd != "" {
		fmt.Fprintf(&b, "cwd: %s\n", o.Cwd)
	}
	if o.URL != "" {
		fmt.Fprintf(&b, "url: %s\n", o.URL)
	}
	return b.String()
}

// Asks says whether the spec's entry, in JSON as it stands in the resolved spec,
// asks the server that is pinned; nil = it does.
func (e *Entry) Asks(source json.RawMessage) *Drift {
	d := &Drift{Spec: e.Spec, Entry: e.Name}
	d.note(asked, e.Origin.text(), OriginOf(source).text())
	if len(d.Changes) == 0 {
		return nil
	}
	return d
}

// Destructive are the names of tools whose server says that they destroy.
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
