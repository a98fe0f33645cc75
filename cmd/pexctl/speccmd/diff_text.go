package speccmd

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/diff"
	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/textdiff"
)

// print prints the difference: first what is looser, breaking and safer, then
// everything by section.
func (d *SpecDiff) print(c *call) {
	w := ui.Styled(c.Stdout)
	if d.State == "same" {
		fmt.Fprintf(c.Stderr, "%s and %s: no differences in behavior\n", d.Old, d.New)
		if r := d.Renamed; r != nil {
			fmt.Fprintf(c.Stderr, "%s was renamed to %s (%s)\n", r.From, r.To, r.text())
		}
		d.printUnread(c.Stderr)
		return
	}
	fmt.Fprintln(w, d.headline())
	if r := d.Renamed; r != nil {
		fmt.Fprintf(w, "  %-9s %s → %s (%s)\n", "renamed", r.From, r.To, r.text())
	}
	for _, x := range d.Effects {
		fmt.Fprintf(w, "  %-9s %s\n", x.Effect, ui.Safe(w, effectText(x)))
	}
	printSections(w, "", d.Sections, d.Agents)
	if d.Worst != nil {
		fmt.Fprintln(w, "\nWorst case of a run")
		for _, row := range worstRows(d.Worst) {
			fmt.Fprintf(w, "  %-7s %s\n", row[0], strings.TrimSpace(fmt.Sprintf("%s → %s %s", row[1], row[2], row[3])))
		}
	}
	if len(d.Unread) > 0 {
		fmt.Fprintln(w)
		d.printUnread(w)
	}
}

// printUnread lists the folders that were not compared.
func (d *SpecDiff) printUnread(w io.Writer) {
	for _, u := range d.folders() {
		fmt.Fprintln(w, ui.Safe(w, fmt.Sprintf("not compared: the files in %s (%s): %s", u.Folder, u.Path, u.Why)))
	}
}

// headline names what is compared.
func (d *SpecDiff) headline() string {
	switch d.State {
	case "new":
		return fmt.Sprintf("%s is new: %s does not exist", d.New, d.Old)
	case "gone":
		return fmt.Sprintf("%s was removed: %s does not exist", d.Old, d.New)
	}
	return d.Old + " → " + d.New
}

// effectText formats a change with an effect on one line.
func effectText(x diff.Change) string {
	text := x.Path
	if way := oldAndNew(x); way != "" {
		text += ": " + way
	}
	if x.Note != "" {
		text += ", " + x.Note
	}
	return text + whereOf(x)
}

// oldAndNew formats the old and new value, or the only one of an added or removed
// part.
func oldAndNew(x diff.Change) string {
	old, now := tty.OneLine(x.Old, 160), tty.OneLine(x.New, 160)
	switch {
	case x.Kind == diff.Added:
		return strings.TrimSpace("+ " + now)
	case x.Kind == diff.Removed:
		return strings.TrimSpace("- " + old)
	case old == now: // the diff of long texts has the details
		return now
	case old == "":
		return "nothing → " + now
	case now == "":
		return old + " → nothing"
	}
	return old + " → " + now
}

func whereOf(x diff.Change) string {
	switch {
	case x.At != "":
		return "  (" + x.At + ")"
	case x.OldAt != "":
		return "  (was at " + x.OldAt + ")"
	}
	return ""
}

func printSections(w io.Writer, indent string, sections []diff.Section, agents []diff.Agent) {
	for _, s := range sections {
		fmt.Fprintf(w, "\n%s%s\n", indent, s.Title)
		for i, x := range s.Changes {
			fmt.Fprintf(w, "%s  %s %s\n", indent, signs[x.Kind], ui.Safe(w, changeText(x)))
			if len(x.Users) > 0 && (i+1 == len(s.Changes) || !slices.Equal(x.Users, s.Changes[i+1].Users)) {
				fmt.Fprintf(w, "%s      used by %s\n", indent, strings.Join(x.Users, ", "))
			}
			printFiles(w, indent+"      ", x.Files)
			printTextDiff(w, indent+"      ", x)
		}
	}
	for i := range agents {
		fmt.Fprintf(w, "\n%sAgent %s\n", indent, agents[i].Path)
		printSections(w, indent+"  ", agents[i].Report.Sections, agents[i].Report.Agents)
	}
}

// signs are the signs of changes.
var signs = map[diff.ChangeKind]string{diff.Added: "+", diff.Removed: "-", diff.Changed: "~", diff.Reordered: "↕"}

// changeText formats a change on one line, without its sign.
func changeText(x diff.Change) string {
	text := strings.TrimSpace(x.Path + "  " + strings.TrimLeft(oldAndNew(x), "+- "))
	if x.Note != "" {
		text += "  " + x.Note
	}
	if x.Effect != "" {
		text += "  [" + string(x.Effect) + "]"
	}
	return text + whereOf(x)
}

// mostNamed is the maximum number of files listed for a folder.
const mostNamed = 20

// printFiles lists the changed files of a folder.
func printFiles(w io.Writer, indent string, files []diff.File) {
	for i, f := range files {
		if i == mostNamed {
			fmt.Fprintf(w, "%s… %d more\n", indent, len(files)-i)
			return
		}
		fmt.Fprintf(w, "%s%s %s\n", indent, signs[f.Kind], quoteName(f.Path))
	}
}

// quoteName returns a file's name, quoted if it contains line breaks or control
// characters.
func quoteName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// printTextDiff writes the diff of long texts. On a terminal it is colored, with
// the changed words marked.
func printTextDiff(w io.Writer, indent string, x diff.Change) {
	if x.Diff == "" {
		return
	}
	text := x.Diff
	if ui.UsesColor(w) {
		text = textdiff.Compare(x.Before, x.After).Color(0, func(s string) string { return ui.Safe(w, s) })
	} else {
		text = ui.Safe(w, text)
	}
	for line := range strings.Lines(text) {
		fmt.Fprintln(w, strings.TrimRight(indent+line, " \n"))
	}
}

// worstRows returns the figures of the worst case: name, before, after, and the
// increase.
func worstRows(w *diff.WorstCase) [][4]string {
	rows := [][4]string{
		shiftRow("calls", w.Calls, text.Amount),
		shiftRow("tokens", w.Tokens, text.Amount),
		shiftRow("cost", w.Cost, func(usd float64) string { return fmt.Sprintf("$%.4f", usd) }),
	}
	return slices.DeleteFunc(rows, func(r [4]string) bool { return r[1] == r[2] })
}

func shiftRow[T int | float64](name string, s diff.Shift[T], text func(T) string) [4]string {
	figure := func(f *costbound.Quantity[T]) string {
		switch {
		case f == nil:
			return "none"
		case !f.Known():
			return unboundedCell
		}
		return text(f.Most)
	}
	row := [4]string{name, figure(s.Old), figure(s.New), ""}
	if p, ok := s.Percent(); ok {
		row[3] = fmt.Sprintf("(%+.0f%%)", p)
	} else if s.New != nil && !s.New.Known() {
		row[3] = "(" + s.New.Unbounded + ")"
	}
	return row
}
