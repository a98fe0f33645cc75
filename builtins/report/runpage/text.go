package runpage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/invisible"
	"github.com/pexctl/pex/engine/runview"
	"github.com/pexctl/pex/engine/text"
)

var funcs = template.FuncMap{
	"text": shown, "json": jsonText, "line": line, "span": span, "money": money, "amount": tty.Amount, "tone": tone,
	"count": text.Count, "name": func(it runview.Item) string { return itemName(&it) }, "group": func(g runview.Group) string { return groupName(&g) }, "px": px, "when": when, "by": decidedBy, "word": func(it runview.Item) string { return statusWord(&it) },
	"brief": brief,
	"dur":   func(ms int64) string { return span(float64(ms)) },
}

// shown is a text of a run as the page has it: invisible characters are spelled
// out, and what is beyond MaxText is left out.
func shown(s string) string {
	cut := 0
	if len(s) > MaxText {
		n := MaxText
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s, cut = s[:n], len(s)-n
	}
	s, _ = invisible.Show(s)
	if cut > 0 {
		s += fmt.Sprintf("\n… %s more in the journal of the run", text.Count(cut, "byte"))
	}
	return s
}

// line is the beginning of a text, on one line.
func line(s string) string {
	const most = 110
	return tty.OneLine(shown(s), most)
}

// brief is what an item is about, on one line: arguments, a text, or the tool calls
// that a reply asks for.
func brief(it runview.Item) string {
	switch {
	case len(it.Args) > 0:
		var b bytes.Buffer
		if json.Compact(&b, it.Args) != nil {
			return line(string(it.Args))
		}
		return line(b.String())
	case it.Text == "" && len(it.Calls) > 0:
		names := make([]string, len(it.Calls))
		for i, c := range it.Calls {
			names[i] = c.Name
		}
		return line("calls " + strings.Join(names, ", "))
	case len(it.Steps) > 0:
		return text.Count(len(it.Steps), "step")
	}
	return line(it.Text)
}

// jsonText is JSON for reading: a string without quotes, anything else indented.
func jsonText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && !bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return shown(s)
	}
	var b bytes.Buffer
	if json.Indent(&b, bytes.TrimSpace(raw), "", "  ") != nil {
		return shown(string(raw))
	}
	return shown(b.String())
}

func span(ms float64) string { return tty.Span(time.Duration(ms * float64(time.Millisecond))) }

func money(usd float64) string { return fmt.Sprintf("$%.4f", usd) }

func px(f float64) string { return fmt.Sprintf("%.1f", f) }

func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// decidedBy is who made a decision, as far as the journal says.
func decidedBy(a *engine.Actor) string {
	if a == nil || a.String() == "" {
		return "unknown"
	}
	return shown(a.String())
}

// itemName is an item in a few words: "executor → main", "refund".
func itemName(it *runview.Item) string {
	name := shown(it.Name)
	switch it.Kind {
	case runview.ModelItem:
		if it.Role != "" {
			name = shown(it.Role) + " → " + name
		}
	case runview.QuestionItem:
		name = "question: " + name
	case runview.GuardItem, runview.LimitItem:
		name = string(it.Kind) + " " + name
	case runview.ToolItem, runview.PlanItem, runview.WarningItem:
	}
	return strings.TrimSpace(name)
}

// groupName is the heading of a group.
func groupName(g *runview.Group) string {
	if g.Step != "" {
		return shown(g.Step)
	}
	if g.Role != "" {
		return shown(g.Role)
	}
	return shown(g.Path)
}

// statusWord is the status of an item in a word.
func statusWord(it *runview.Item) string {
	switch {
	case !it.Done && it.Kind == runview.QuestionItem:
		return "waiting"
	case !it.Done:
		return "no outcome"
	case it.Status == "" || it.Kind == runview.ModelItem && !it.Failed:
		return ""
	}
	return shown(it.Status)
}
