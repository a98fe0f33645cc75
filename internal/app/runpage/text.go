package runpage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/invisible"
	"github.com/pexctl/pex/engine/runview"
	"github.com/pexctl/pex/engine/text"
)

var funcs = template.FuncMap{
	"text": visible, "json": jsonText, "line": line, "span": span, "money": money, "amount": text.Amount, "tone": tone,
	"count": text.Count, "name": func(it runview.Item) string { return itemName(&it) }, "group": func(g runview.Group) string { return groupName(&g) }, "px": px, "when": formatTime, "by": decidedBy, "word": func(it runview.Item) string { return statusWord(&it) },
	"brief": brief,
	"took": func(ms int64) string {
		if ms == 0 {
			return "–" // unknown
		}
		return span(float64(ms))
	},
	"dur": func(ms int64) string { return span(float64(ms)) },
}

// visible returns a text for the page: truncated to MaxText, with invisible characters made
// visible.
func visible(s string) string {
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

// line returns the start of a text, on one line.
func line(s string) string {
	const most = 110
	return text.ClipRunes(text.OneLine(visible(s)), most)
}

// brief returns a one-line summary of an item: the arguments, the text, or the tool calls
// of a reply.
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

// jsonText formats JSON for people: a string without quotes, other values indented.
func jsonText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && !bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return visible(s)
	}
	var b bytes.Buffer
	if json.Indent(&b, bytes.TrimSpace(raw), "", "  ") != nil {
		return visible(string(raw))
	}
	return visible(b.String())
}

func span(ms float64) string { return text.Duration(time.Duration(ms * float64(time.Millisecond))) }

func money(usd float64) string { return fmt.Sprintf("$%.4f", usd) }

func px(f float64) string { return fmt.Sprintf("%.1f", f) }

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// decidedBy returns who made a decision, if the journal contains it.
func decidedBy(a *engine.Actor) string {
	if a == nil || a.String() == "" {
		return "unknown"
	}
	return visible(a.String())
}

// itemName returns a short name of an item: "executor → main", "refund".
func itemName(it *runview.Item) string {
	name := visible(it.Name)
	switch it.Kind {
	case runview.ModelItem:
		if it.Role != "" {
			name = visible(it.Role) + " → " + name
		}
	case runview.QuestionItem:
		name = "question: " + name
	case runview.GuardItem, runview.LimitItem:
		name = string(it.Kind) + " " + name
	case runview.ToolItem, runview.PlanItem, runview.WarningItem:
	}
	return strings.TrimSpace(name)
}

// groupName returns the heading of a group.
func groupName(g *runview.Group) string {
	if g.Step != "" {
		return visible(g.Step)
	}
	if g.Role != "" {
		return visible(g.Role)
	}
	return visible(g.Path)
}

// statusWord returns the status of an item in one word.
func statusWord(it *runview.Item) string {
	switch {
	case !it.Done && it.Kind == runview.QuestionItem:
		return "waiting"
	case !it.Done:
		return "no outcome"
	case it.Status == "" || it.Kind == runview.ModelItem && !it.Failed:
		return ""
	}
	return visible(it.Status)
}
