package tool

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/unseen"
)

// Visible is the listing as models are told of it and reviewers read it: what
// cannot be seen in its texts is spelled out, \u{200B}, and warned of. A tool
// whose name holds such a character is left out: it could pass for another. A
// listing that is visible comes back as it is.
func (l *Listing) Visible() *Listing {
	if l == nil {
		return nil
	}
	out := &Listing{}
	out.Server, _ = unseen.Show(l.Server)
	for _, w := range l.Warnings {
		w, _ = unseen.Show(w)
		out.Warnings = append(out.Warnings, w)
	}
	for _, d := range l.Tools {
		if name, n := unseen.Show(d.Name); n > 0 {
			out.Warnings = append(out.Warnings, fmt.Sprintf("the tool %q is left out: its name holds %s that cannot be seen", name, characters(n)))
			continue
		}
		d, where, n := d.visible()
		if n > 0 {
			out.Warnings = append(out.Warnings, fmt.Sprintf(
				`the tool %s holds %s that cannot be seen, in its %s: models are told of them spelled out, as in \u{200B}`,
				d.Name, characters(n), strings.Join(where, " and ")))
		}
		out.Tools = append(out.Tools, d)
	}
	return out
}

// Visible is the definition as Listing.Visible has it.
func (d Definition) Visible() Definition {
	d, _, _ = d.visible()
	return d
}

// visible also says which parts hold what cannot be seen, and how many
// characters that is.
func (d Definition) visible() (out Definition, where []string, total int) {
	saw := func(part string, n int) {
		if total += n; n > 0 {
			where = append(where, part)
		}
	}
	text := func(part, s string) string {
		s, n := unseen.Show(s)
		saw(part, n)
		return s
	}
	raw := func(part string, b []byte) []byte {
		b, n := unseen.ShowJSON(b)
		saw(part, n)
		return b
	}
	d.Title, d.Description = text("title", d.Title), text("description", d.Description)
	d.Input, d.Output = raw("input schema", d.Input), raw("output schema", d.Output)
	return d, where, total
}

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}
