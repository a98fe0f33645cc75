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

// maxText is where a text is cut: a page that holds all of a tool's output
// would not open any more. The rows have it whole.
const maxText = 64 << 10

// detail is a trial as the page shows it when it is opened. Values are texts:
// JavaScript would round the numbers of JSON.
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
	Plan       int       `json:"plan,omitempty"` // its version
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

// mark is a trial.Mark with its texts cut.
type mark trial.Mark

// step is a step that ran, or one of the plan that did not.
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
	// Repairs says how the arguments differ from what the model wrote.
	Repairs string `json:"repairs,omitempty"`
	MS      int64  `json:"ms"`
}

func detailOf(row *trial.Row) detail {
	run := &row.Run
	d := detail{
		Run: run.ID, At: row.At, Weight: row.Weight(), Input: fieldsOf(row.Input), Parameters: fieldsOf(row.Parameters),
		Status: string(run.Status), Stop: string(run.StopReason.Code), StopReason: long(run.StopReason.Message),
		Response: long(run.Response), Output: jsonText(run.Output), Plan: run.Plan.Version, Steps: stepsOf(run),
		ModelCalls: run.ModelCalls, ToolCalls: run.ToolCalls, Warnings: longs(run.Warnings), Prompts: longs(run.Prompts),
	}
	if row.Fault != nil {
		d.Error = long(row.Fault.Message)
	}
	for _, m := range row.Marks {
		m.Expected, m.Actual, m.Message, m.Diff, m.Error = long(m.Expected), long(m.Actual), long(m.Message), long(m.Diff), long(m.Error)
		d.Marks = append(d.Marks, mark(m))
	}
	return d
}

// stepsOf is the steps that ran, in their order, then those of the plan that
// did not.
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
		ID: p.ID, Goal: long(p.Goal), Success: long(p.Success), Context: long(p.Context), Args: fieldsOf(p.Args),
		Tools: p.Tools, DependsOn: p.DependsOn,
	}
}

func ranStep(r *plan.StepRecord, p *plan.Step) step {
	s := step{}
	if p != nil {
		s = plannedStep(p)
	}
	s.ID, s.Goal, s.Status, s.Attempts = r.ID, long(r.Goal), string(r.Status), r.Attempts
	s.Result, s.Error, s.Notes = long(r.Result), long(r.Error), long(r.Notes)
	s.Tokens, s.MS = r.Usage.Total(), r.DurationMS
	for i := range r.ToolCalls {
		c := &r.ToolCalls[i]
		s.Calls = append(s.Calls, call{
			Tool: c.Tool, Args: jsonText(c.Args), Result: valueText(c.Result), Status: string(c.Status), Edited: c.Edited, Repairs: repairsText(c.Repairs), MS: c.DurationMS,
		})
	}
	return s
}

// repairsText is one line for each repair of a call's arguments.
func repairsText(repairs []tool.ArgsRepair) string {
	var b strings.Builder
	for _, r := range repairs {
		fmt.Fprintln(&b, r)
	}
	return long(b.String())
}

// fieldsOf lists a map by name.
func fieldsOf[V any](m map[string]V) []field {
	var out []field
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, field{name, valueText(m[name])})
	}
	return out
}

// valueText is a text as it is, and any other value as JSON.
func valueText(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return long(x)
	case json.RawMessage:
		return jsonText(x)
	}
	b, err := jsonvalue.Marshal(v) // this is for reading; the page is escaped when it is written
	if err != nil {
		return long(fmt.Sprint(v))
	}
	return jsonText(b)
}

// jsonText is JSON as people read it: a text without its quotes, else indented.
// What is no JSON stays as it is.
func jsonText(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && !bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return long(s)
	}
	var b bytes.Buffer
	if json.Indent(&b, bytes.TrimSpace(raw), "", "  ") != nil {
		return long(string(raw))
	}
	return long(b.String())
}

func longs(all []string) []string {
	var out []string
	for _, s := range all {
		out = append(out, long(s))
	}
	return out
}

// long cuts a text that is too long for a page, and says so.
func long(s string) string {
	if len(s) <= maxText {
		return s
	}
	head := cut(s, maxText)
	return fmt.Sprintf("%s\n… %d more bytes are in the rows of the evaluation", head, len(s)-len(head))
}

// cut is the first n bytes of a text, or a little less: characters stay whole.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for back := range utf8.UTFMax {
		if utf8.RuneStart(s[n-back]) {
			return s[:n-back]
		}
	}
	return s[:n] // no UTF-8
}
