package tool

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/invisible"
)

// Visible returns the listing for models and reviewers: invisible characters in its texts
// are escaped as \u{200B} and reported in a warning. A tool with such a character in its
// name is dropped, since it could imitate another. The result of Visible is unchanged by
// Visible.
func (l *Listing) Visible() *Listing {
	if l == nil {
		return nil
	}
	out := &Listing{}
	out.Server, _ = invisible.Show(l.Server)
	for _, w := range l.Warnings {
		w, _ = invisible.Show(w)
		out.Warnings = append(out.Warnings, w)
	}
	for _, d := range l.Tools {
		if name, n := invisible.Show(d.Name); n > 0 {
			out.Warnings = append(out.Warnings, fmt.Sprintf("tool %q is not used: its name contains %s", name, characters(n)))
			continue
		}
		d, where, n := d.visible()
		if n > 0 {
			out.Warnings = append(out.Warnings, fmt.Sprintf(
				`tool %s contains %s in its %s; models see them escaped, as in \u{200B}`,
				d.Name, characters(n), strings.Join(where, " and ")))
		}
		out.Tools = append(out.Tools, d)
	}
	return out
}

// Visible returns the definition with invisible characters escaped.
func (d Definition) Visible() Definition {
	d, _, _ = d.visible()
	return d
}

// visible also returns which parts contained invisible characters, and how many.
func (d Definition) visible() (out Definition, where []string, total int) {
	saw := func(part string, n int) {
		if total += n; n > 0 {
			where = append(where, part)
		}
	}
	text := func(part, s string) string {
		s, n := invisible.Show(s)
		saw(part, n)
		return s
	}
	raw := func(part string, b []byte) []byte {
		b, n := invisible.ShowJSON(b)
		saw(part, n)
		return b
	}
	d.Title, d.Description = text("title", d.Title), text("description", d.Description)
	d.Input, d.Output = raw("input schema", d.Input), raw("output schema", d.Output)
	return d, where, total
}

func characters(n int) string {
	if n == 1 {
		return "1 invisible character"
	}
	return fmt.Sprintf("%d invisible characters", n)
}
