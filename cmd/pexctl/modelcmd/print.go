package modelcmd

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/pexctl/pex/builtins/probe"
	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
)

// print writes the table, and then on stderr what did not fit into its last
// column.
func (p *ping) print() {
	rows := [][]string{{"LLM", "CHECK", "WORKS", "TIME", "TRIES", "TOKENS", "COST", "NOTE"}}
	for i := range p.asked {
		rows = append(rows, p.asked[i].rows()...)
	}
	room := ui.Table(p.c.Stdout, ui.WithoutEmpty(rows))
	for i := range p.asked {
		for _, line := range p.asked[i].details(room) {
			fmt.Fprintln(p.c.Stderr, ui.Safe(p.c.Stderr, line))
		}
	}
}

func (a *pingResult) rows() (out [][]string) {
	if a.found == nil {
		return [][]string{{a.name(), "-", "-", "-", "-", "-", "-", a.note}}
	}
	for _, f := range a.found[:a.shownRows()] {
		row := []string{a.name(), words(f.Check), string(f.Verdict), "-", "-", "-", "-", briefNote(f)}
		if f.Attempts > 0 {
			row[3] = text.Duration(f.Latency)
		}
		if f.Attempts > f.Calls { // otherwise each call is one request
			row[4] = strconv.Itoa(f.Attempts)
		}
		if f.Tokens.Total() > 0 {
			row[5], row[6] = text.Amount(f.Tokens.Total()), a.costText(f.Cost)
		}
		if f.Verdict == probe.Skipped {
			row[2] = "-"
		}
		out = append(out, row)
	}
	return out
}

// shownRows returns the number of findings to show: one if there was no text, because
// nothing else was checked.
func (a *pingResult) shownRows() int {
	if len(a.found) > 0 && (a.found[0].Verdict == probe.No || a.found[0].Verdict == probe.Skipped) {
		return 1
	}
	return len(a.found)
}

// costText formats the cost of a check if the LLM has a price: far below a cent.
func (a *pingResult) costText(usd float64) string {
	if a.spec.Cost == nil {
		return "-"
	}
	return fmt.Sprintf("$%.6f", usd)
}

func words(c probe.Check) string { return strings.ReplaceAll(string(c), "_", " ") }

// briefNote returns a finding's note; for an error only its kind, because the full
// text follows.
func briefNote(f probe.Finding) string {
	switch {
	case f.Error != nil && f.Error.Status != 0:
		return fmt.Sprintf("%s (HTTP %d)", f.Error.Kind, f.Error.Status)
	case f.Error != nil:
		return string(f.Error.Kind)
	case f.FirstToken > 0 && f.Verdict == probe.Yes:
		return fmt.Sprintf("%s, first after %s", f.Note, text.Duration(f.FirstToken))
	}
	return cmp.Or(f.Note, "-")
}

// details returns errors and notes that did not fit, and how to fix them.
func (a *pingResult) details(room int) (out []string) {
	for _, f := range a.found[:a.shownRows()] {
		if f.Verdict == probe.Yes || f.Error == nil && f.Fix == "" && tty.Width(briefNote(f)) <= room {
			continue
		}
		name := a.name()
		switch {
		case a.needs != nil:
		case a.use.by == nil:
			name += " (unused)"
		default:
			name += " (embeddings only)"
		}
		out = append(out, name+": "+words(f.Check)+": "+detail(f))
		if f.Fix != "" {
			out = append(out, "  hint: "+f.Fix)
		}
	}
	return out
}

// detail returns a finding's note and error in full.
func detail(f probe.Finding) string {
	if f.Error == nil {
		return f.Note
	}
	text := strings.Join(strings.Fields(f.Error.Error()), " ")
	if f.Note != "" {
		text = f.Note + ": " + text
	}
	return text
}

// pingedJSON is the -o json form of an LLM with its findings.
type pingedJSON struct {
	Name     string        `json:"name"`
	Agent    string        `json:"agent,omitempty"`
	Path     string        `json:"path"`
	Provider string        `json:"provider"`
	Model    string        `json:"model,omitempty"`
	UsedBy   []string      `json:"used_by"`
	Needs    []probe.Check `json:"needs"`
	OK       bool          `json:"ok"` // everything required works
	Note     string        `json:"note,omitempty"`
	Checks   []checkJSON   `json:"checks"`
	Tokens   model.Tokens  `json:"usage"`
	CostUSD  *float64      `json:"cost_usd"` // null if there is no price
}

// checkJSON is one finding.
type checkJSON struct {
	Check        probe.Check   `json:"check"`
	Works        probe.Verdict `json:"works"` // yes, partly, no or unasked
	Note         string        `json:"note,omitempty"`
	Error        *model.Error  `json:"error,omitempty"`
	WayOut       string        `json:"way_out,omitempty"`
	Calls        int           `json:"calls"`
	Attempts     int           `json:"attempts"`
	LatencyMS    int64         `json:"latency_ms"`
	FirstTokenMS int64         `json:"first_token_ms,omitempty"`
	Tokens       model.Tokens  `json:"usage"`
	CostUSD      *float64      `json:"cost_usd"`
}

// json writes everything as one object.
func (p *ping) json() error {
	out := struct {
		OK   bool         `json:"ok"`
		LLMs []pingedJSON `json:"llms"`
	}{true, []pingedJSON{}}
	for i := range p.asked {
		one := p.asked[i].json()
		out.OK = out.OK && one.OK
		out.LLMs = append(out.LLMs, one)
	}
	return ui.PrintJSON(p.c.Call, out)
}

func (a *pingResult) json() pingedJSON {
	out := pingedJSON{
		Name: a.spec.Name, Agent: a.agent, Path: pathOf(a.spec), Provider: a.spec.Provider, Model: a.spec.Params.Model,
		UsedBy: append([]string{}, a.use.by...), Needs: append([]probe.Check{}, a.needs...),
		OK: len(a.missing()) == 0, Note: a.note, Checks: []checkJSON{},
	}
	total := 0.0
	for _, f := range a.found {
		out.Tokens, total = out.Tokens.Plus(f.Tokens), total+f.Cost
		out.Checks = append(out.Checks, checkJSON{
			f.Check, f.Verdict, f.Note, f.Error, f.Fix, f.Calls, f.Attempts,
			f.Latency.Milliseconds(), f.FirstToken.Milliseconds(), f.Tokens, a.priced(f.Cost),
		})
	}
	out.CostUSD = a.priced(total)
	return out
}

func (a *pingResult) priced(usd float64) *float64 {
	if a.spec.Cost == nil {
		return nil
	}
	return &usd
}
