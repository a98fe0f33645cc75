package speccmd

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/builtins/markdown"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/diff"
)

// Limits of a comment.
const (
	CommentMost    = 65000 // characters; GitHub accepts 65,536 in a comment
	commentEffects = 30    // lines of looser, breaking and safer changes
	commentChanges = 60    // lines of a section
	commentOpen    = 25    // changes that are shown uncollapsed
	commentShort   = 16    // lines of a diff that is
)

// markdown returns the difference for a pull request: what is looser, breaking
// and safer, a table of the rest, and collapsible details.
func (d *SpecDiff) markdown() string {
	if d.State == "same" {
		return fmt.Sprintf("%s and %s: no differences in behavior.\n%s%s", markdown.Code(d.Old, 120), markdown.Code(d.New, 120), d.renamedNote(), d.unreadNote())
	}
	r := diff.Report{Sections: d.Sections, Agents: d.Agents}
	m := &comment{open: r.Count() <= commentOpen}
	m.add("### " + markdown.Prose(d.headline(), 240) + "\n")
	m.add(d.renamedNote())
	m.add(effectList(d.Effects))
	if d.Worst != nil {
		m.add(worstTable(d.Worst))
	}
	m.sections("", d.Sections, d.Agents)
	m.add(d.unreadNote())
	return m.text()
}

// renamedNote reports that the spec was moved from another path.
func (d *SpecDiff) renamedNote() string {
	if d.Renamed == nil {
		return ""
	}
	return fmt.Sprintf("\nRenamed: %s → %s (%s).\n", markdown.Code(d.Renamed.From, 120), markdown.Code(d.Renamed.To, 120), markdown.Prose(d.Renamed.text(), 120))
}

// unreadNote lists the folders that were not compared.
func (d *SpecDiff) unreadNote() string {
	var b strings.Builder
	for _, u := range d.folders() {
		fmt.Fprintf(&b, "\nNot compared: the files in %s (%s): %s.\n", markdown.Code(u.Folder, 120), markdown.Prose(u.Path, 200), markdown.Prose(u.Why, 200))
	}
	return b.String()
}

// comment is a text with a maximum length. Parts that do not fit are omitted
// completely.
type comment struct {
	b       strings.Builder
	runes   int
	omitted int
	open    bool // it is short: changes are shown uncollapsed
}

// noteRoom is reserved for the line about omitted parts.
const noteRoom = 200

func (m *comment) add(part string) {
	n := utf8.RuneCountInString(part)
	switch {
	case part == "":
	case m.runes+n > CommentMost-noteRoom:
		m.omitted++
	default:
		m.b.WriteString(part)
		m.runes += n
	}
}

func (m *comment) text() string {
	if m.omitted > 0 {
		fmt.Fprintf(&m.b, "\n%s omitted to keep the comment short. For everything: `pexctl diff`.\n", ui.Count(m.omitted, "part"))
	}
	return m.b.String()
}

// effectList lists what a reviewer should read first.
func effectList(effects []diff.Change) string {
	var b strings.Builder
	for i, x := range effects {
		if i == 0 {
			b.WriteString("\n")
		}
		if i == commentEffects {
			fmt.Fprintf(&b, "- … %d more\n", len(effects)-i)
			break
		}
		fmt.Fprintf(&b, "- **%s** %s\n", x.Effect, changeLine(x))
	}
	return b.String()
}

// changeLine formats a change as a line of Markdown.
func changeLine(x diff.Change) string {
	text := markdown.Code(x.Path, 120)
	if way := oldAndNew(x); way != "" {
		text += ": " + markdown.Code(way, 200)
	}
	if x.Note != "" {
		text += ", " + markdown.Prose(x.Note, 200)
	}
	if where := strings.TrimSpace(whereOf(x)); where != "" {
		text += " " + markdown.Code(strings.Trim(where, "()"), 120)
	}
	return text
}

func worstTable(w *diff.WorstCase) string {
	var b strings.Builder
	b.WriteString("\n| worst case of a run | before | now | |\n| --- | --- | --- | --- |\n")
	for _, row := range worstRows(w) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", row[0], row[1], row[2], markdown.Prose(row[3], 160))
	}
	return b.String()
}

// sections writes a table of the changes, then the changes themselves, collapsed,
// and then the same for agents within.
func (m *comment) sections(within string, sections []diff.Section, agents []diff.Agent) {
	if len(sections) > 0 && !m.open {
		m.add(sectionTable(within, sections))
	}
	for _, s := range sections {
		m.section(within, s)
	}
	for i := range agents {
		a := &agents[i]
		m.sections(within+a.Path+": ", a.Report.Sections, a.Report.Agents)
	}
}

func sectionTable(within string, sections []diff.Section) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n| %s | changes | |\n| --- | --- | --- |\n", markdown.Prose(strings.TrimSuffix(within, ": "), 120))
	for _, s := range sections {
		by := map[diff.Effect]int{}
		for _, x := range s.Changes {
			by[x.Effect]++
		}
		var effects []string
		for _, e := range []diff.Effect{diff.Looser, diff.Breaking, diff.Safer} {
			if by[e] > 0 {
				effects = append(effects, fmt.Sprintf("%d %s", by[e], e))
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %s |\n", s.Title, len(s.Changes), strings.Join(effects, ", "))
	}
	return b.String()
}

// section writes the changes of a section with their diffs, each as a separate
// part.
func (m *comment) section(within string, s diff.Section) {
	var b strings.Builder
	if m.open {
		fmt.Fprintf(&b, "\n**%s**\n\n", markdown.Prose(within+s.Title, 160))
	} else {
		fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n\n", markdown.Summary(within+s.Title, 160))
	}
	for i, x := range s.Changes {
		if i == commentChanges {
			fmt.Fprintf(&b, "- … %d more\n", len(s.Changes)-i)
			break
		}
		fmt.Fprintf(&b, "- %s %s", x.Kind, changeLine(x))
		if len(x.Users) > 0 {
			fmt.Fprintf(&b, ", used by %s", markdown.Prose(strings.Join(x.Users, ", "), 200))
		}
		b.WriteString("\n")
		fileList(&b, x.Files)
	}
	if !m.open {
		b.WriteString("\n</details>\n")
	}
	m.add(b.String())
	for _, x := range s.Changes {
		m.add(m.diff(within+x.Path, x.Diff))
	}
}

// fileList lists the changed files of a folder.
func fileList(b *strings.Builder, files []diff.File) {
	for i, f := range files {
		if i == mostNamed {
			fmt.Fprintf(b, "  - … %d more\n", len(files)-i)
			return
		}
		fmt.Fprintf(b, "  - %s %s\n", f.Kind, markdown.Code(f.Path, 120))
	}
}

// diff formats the diff of a text: a short one directly, a long one collapsed.
func (m *comment) diff(title, text string) string {
	var b strings.Builder
	switch {
	case text == "":
	case m.open && strings.Count(text, "\n") <= commentShort:
		fmt.Fprintf(&b, "\n%s\n\n%s", markdown.Code(title, 120), markdown.Block("diff", text, commentShort))
	default:
		ui.MarkdownDiff(&b, title, text)
	}
	return b.String()
}
