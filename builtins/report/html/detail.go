package html

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/trial"
)

// maxText is the length at which a text is truncated: a page with all tool outputs could
// become too large to open. The rows contain the complete text.
const maxText = 64 << 10

// detail is a trial as shown when it is opened. Values are strings, because JavaScript
// would round JSON numbers.
type detail struct {
	Run        string    `json:"run,omitempty"`
	At         time.Time `json:"at,omitzero"`
	Weight     float64   `json:"weight"`
	Input      []field   `json:"input,omitempty"`
	Parameters []field   `json:"parameters,omitempty"`
	Status     string    `json:"status,omitempty"`
	Stop       string    `json:"stop,omitempty"`
	StopReason string    `json:"stop_reason,omitempty"`
	Error      string    `json:"error,omitempty"` // why it could not be graded
	Marks      []mark    `json:"marks,omitempty"`
	Response   string    `json:"response,omitempty"`
	Output     string    `json:"output,omitempty"`
	Plan       int       `json:"plan,omitempty"` // version of the plan
	Steps      []step    `json:"steps,omitempty"`
	ModelCalls int       `json:"model_calls"`
	ToolCalls  int       `json:"tool_calls"`
	Warnings   []string  `json:"warnings,omitempty"`
	Prompts    []string  `json:"prompts,omitempty"`
}

// field is a name with its value.
type field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// mark is a trial.Mark with truncated texts.
type mark trial.Mark

// step is a step that ran, or a planned one that did not.
type step struct {
	ID        string   `json:"id"`
	Goal      string   `json:"goal"`
	Status    string   `json:"status,omitempty"` // "" = it did not run
	Success   string   `json:"success,omitempty"`
	Context   string   `json:"context,omitempty"`
	Args      []field  `json:"args,omitempty"`
	Tools     []string `json:"tools,omitempty"`
	DependsOn []string `json:"depends_on,omitempty"`
	Attempts  int      `json:"attempts,omitempty"`
	Calls     []call   `json:"calls,omitempty"`
	Result    string   `json:"result,omitempty"`
	Error     string   `json:"error,omitempty"`
	Notes     string   `json:"notes,omitempty"`
	Tokens    int      `json:"tokens,omitempty"`
	MS        int64    `json:"ms,omitempty"`
}

// call is a tool call.
type call struct {
	Tool   string `json:"tool"`
	Args   string `json:"args,omitempty"`
	Result string `json:"result,omitempty"`
	Status string `json:"status"`
	Edited bool   `json:"edited,omitempty"`
	// Repairs describes how the arguments differ from those that the model wrote.
	Repairs string `json:"repairs,omitempty"`
	MS      int64  `json:"ms"`
}

func detailOf(row *trial.Row) detail {
	run := &row.Run
	d := detail{
		Run: run.ID, At: row.At, Weight: row.Weight(), Input: fieldsOf(row.Input), Parameters: fieldsOf(row.Parameters),
		Status: string(run.Status), Stop: string(run.StopReason.Code), StopReason: truncate(run.StopReason.Message),
		Response: truncate(run.Response), Output: jsonText(run.Output), Plan: run.Plan.Version, Steps: stepsOf(run),
		ModelCalls: run.ModelCalls, ToolCalls: run.ToolCalls, Warnings: truncateAll(run.Warnings), Prompts: truncateAll(run.Prompts),
	}
	if row.Fault != nil {
		d.Error = truncate(row.Fault.Message)
	}
	for _, m := range row.Marks {
		m.Expected, m.Actual, m.Message, m.Diff, m.Error = truncate(m.Expected), truncate(m.Actual), truncate(m.Message), truncate(m.Diff), truncate(m.Error)
		d.Marks = append(d.Marks, mark(m))
	}
	return d
}

// stepsOf returns the steps that ran, in order, followed by the planned ones that did
// not.
func stepsOf(run *trial.Run) []step {
	planned := map[string]*plan.Step{}
	for i := range run.Plan.Steps {
		planned[run.Plan.Steps[i].ID] = &run.Plan.Steps[i]
	}
	var out []step
	for i := range run.Steps {
		out = append(out, ranStep(&run.Steps[i], planned[run.Steps[i].ID]))
		delete(planned, run.Steps[i].ID)
	}
	for i := range run.Plan.Steps {
		if p := &run.Plan.Steps[i]; planned[p.ID] != nil {
			out = append(out, plannedStep(p))
		}
	}
	return out
}

func plannedStep(p *plan.Step) step {
	return step{
		ID: p.ID, Goal: truncate(p.Goal), Success: truncate(p.Success), Context: truncate(p.Context), Args: fieldsOf(p.Args),
		Tools: p.Tools, DependsOn: p.DependsOn,
	}
}

func ranStep(r *plan.StepRecord, p *plan.Step) step {
	s := step{}
	if p != nil {
		s = plannedStep(p)
	}
	s.ID, s.Goal, s.Status, s.Attempts = r.ID, truncate(r.Goal), string(r.Status), r.Attempts
	s.Result, s.Error, s.Notes = truncate(r.Result), truncate(r.Error), truncate(r.Notes)
	s.Tokens, s.MS = r.Usage.Total(), r.DurationMS
	for i := range r.ToolCalls {
		c := &r.ToolCalls[i]
		s.Calls = append(s.Calls, call{
			Tool: c.Tool, Args: jsonText(c.Args), Result: valueText(c.Result), Status: string(c.Status), Edited: c.Edited, Repairs: repairsText(c.Repairs), MS: c.DurationMS,
		})
	}
	return s
}

// repairsText returns one line per repair of a call's arguments.
func repairsText(repairs []tool.ArgsRepair) string {
	var b strings.Builder
	for _, r := range repairs {
		fmt.Fprintln(&b, r)
	}
	return truncate(b.String())
}

// fieldsOf returns the entries of a map, sorted by name.
func fieldsOf[V any](m map[string]V) []field {
	var out []field
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, field{name, valueText(m[name])})
	}
	return out
}

// valueText returns a string unchanged, and any other value as JSON.
func valueText(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return truncate(x)
	case json.RawMessage:
		return jsonText(x)
	}
	b, err := jsonvalue.Marshal(v) // not escaped here; the page escapes everything
	if err != nil {
		return truncate(fmt.Sprint(v))
	}
	return jsonText(b)
}

// jsonText formats JSON for people: a string without quotes, other values indented.
// Invalid JSON is returned unchanged.
func jsonText(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && !bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return truncate(s)
	}
	var b bytes.Buffer
	if json.Indent(&b, bytes.TrimSpace(raw), "", "  ") != nil {
		return truncate(string(raw))
	}
	return truncate(b.String())
}

func truncateAll(all []string) []string {
	var out []string
	for _, s := range all {
		out = append(out, truncate(s))
	}
	return out
}

// truncate truncates a text that is too long for the page, with a note.
func truncate(s string) string {
	if len(s) <= maxText {
		return s
	}
	head := cut(s, maxText)
	return fmt.Sprintf("%s\n… %d more bytes are in the rows of the evaluation", head, len(s)-len(head))
}

// cut returns at most the first n bytes of a text, without splitting characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for back := range utf8.UTFMax {
		if utf8.RuneStart(s[n-back]) {
			return s[:n-back]
		}
	}
	return s[:n] // invalid UTF-8
}
