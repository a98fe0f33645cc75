package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/server/turn"
)

// serverLabel is the label of the tools of agents.
const serverLabel = "pex"

// item is an item of the output of a response: a reasoning, an mcp_call, an
// mcp_approval_request or a message.
type item struct {
	Type      string  `json:"type"`
	ID        string  `json:"id"`
	Status    string  `json:"status,omitempty"`
	Role      string  `json:"role,omitempty"`
	Content   *[]part `json:"content,omitempty"`
	Summary   *[]part `json:"summary,omitempty"`
	Label     string  `json:"server_label,omitempty"`
	Name      string  `json:"name,omitempty"`
	Arguments *string `json:"arguments,omitempty"`
	Approval  string  `json:"approval_request_id,omitempty"`
	Output    *string `json:"output,omitempty"`
	Error     *string `json:"error,omitempty"`

	path string // of the call or the question
}

// part is a text of an item.
type part struct {
	Type        string      `json:"type"`
	Text        string      `json:"text"`
	Annotations *[]struct{} `json:"annotations,omitempty"`
	Logprobs    *[]struct{} `json:"logprobs,omitempty"`
}

// event is an event of a response's stream.
type event struct {
	Type         string          `json:"type"`
	Sequence     int             `json:"sequence_number"`
	Response     *responseObject `json:"response,omitempty"`
	OutputIndex  *int            `json:"output_index,omitempty"`
	ItemID       string          `json:"item_id,omitempty"`
	Item         *item           `json:"item,omitempty"`
	SummaryIndex *int            `json:"summary_index,omitempty"`
	ContentIndex *int            `json:"content_index,omitempty"`
	Part         *part           `json:"part,omitempty"`
	Delta        *string         `json:"delta,omitempty"`
	Text         *string         `json:"text,omitempty"`
	Arguments    *string         `json:"arguments,omitempty"`
	Logprobs     *[]struct{}     `json:"logprobs,omitempty"`
}

// output is the output of a part of a run, and the events that create it. Its content and the
// numbers of the events follow from the journal, so they are the same whenever they are read.
type output struct {
	run   string
	items []*item
	send  func(event) // receives each event

	seq, n int // number of the change, and of its next event
}

const (
	eventsPerChange = 1024 // how many events follow from one change at most
	maxDeltas       = 512  // of a message
)

// emit sends an event with the next number.
func (o *output) emit(e event) {
	e.Sequence = o.seq*eventsPerChange + o.n
	o.n++
	o.send(e)
}

// id returns the id of the item that a change creates.
func (o *output) id(kind string, c turn.Change) string {
	return fmt.Sprintf("%s_%s_%d", kind, o.run, c.Seq)
}

// apply adds a change of the run.
func (o *output) apply(t *turn.Turn, c turn.Change) {
	if c.Seq == 0 {
		return
	}
	if o.seq != c.Seq {
		o.seq, o.n = c.Seq, 0
	}
	switch c.Kind {
	case turn.Planned:
		o.addReasoning(o.id("rs", c), t.Line(c))
	case turn.CallStarted:
		o.startCall(c)
	case turn.CallEnded:
		o.endCall(c)
	case turn.Asked:
		o.addQuestion(c)
	case turn.Ended:
		if runError(t) == nil {
			o.addMessage(o.id("msg", c), t.Outcome())
		}
	default:
	}
}

// add adds an item in progress and returns its index.
func (o *output) add(i *item) *int {
	o.items = append(o.items, i)
	n := len(o.items) - 1
	o.emitItem("response.output_item.added", n)
	return &n
}

// emitItem sends an event with an item as it is now.
func (o *output) emitItem(kind string, n int) {
	shown := *o.items[n]
	o.emit(event{Type: kind, OutputIndex: &n, Item: &shown})
}

func (o *output) addReasoning(id, text string) {
	i := &item{Type: "reasoning", ID: id, Summary: &[]part{}}
	n, zero := o.add(i), 0
	o.emit(event{Type: "response.reasoning_summary_part.added", ItemID: id, OutputIndex: n, SummaryIndex: &zero, Part: &part{Type: "summary_text"}})
	o.emit(event{Type: "response.reasoning_summary_text.delta", ItemID: id, OutputIndex: n, SummaryIndex: &zero, Delta: &text})
	o.emit(event{Type: "response.reasoning_summary_text.done", ItemID: id, OutputIndex: n, SummaryIndex: &zero, Text: &text})
	full := part{Type: "summary_text", Text: text}
	o.emit(event{Type: "response.reasoning_summary_part.done", ItemID: id, OutputIndex: n, SummaryIndex: &zero, Part: &full})
	i.Summary = &[]part{full}
	o.emitItem("response.output_item.done", *n)
}

func (o *output) addMessage(id, text string) {
	none := []struct{}{}
	i := &item{Type: "message", ID: id, Role: "assistant", Status: "in_progress", Content: &[]part{}}
	n, zero := o.add(i), 0
	o.emit(event{Type: "response.content_part.added", ItemID: id, OutputIndex: n, ContentIndex: &zero, Part: &part{"output_text", "", &none, &none}})
	for _, line := range strings.SplitAfterN(text, "\n", maxDeltas) {
		o.emit(event{Type: "response.output_text.delta", ItemID: id, OutputIndex: n, ContentIndex: &zero, Delta: &line, Logprobs: &none})
	}
	o.emit(event{Type: "response.output_text.done", ItemID: id, OutputIndex: n, ContentIndex: &zero, Text: &text, Logprobs: &none})
	full := part{"output_text", text, &none, &none}
	o.emit(event{Type: "response.content_part.done", ItemID: id, OutputIndex: n, ContentIndex: &zero, Part: &full})
	i.Content, i.Status = &[]part{full}, "completed"
	o.emitItem("response.output_item.done", *n)
}

// find returns the index of the item of a type that a test selects by its path, or -1.
func (o *output) find(kind string, test func(path string) bool) int {
	return slices.IndexFunc(o.items, func(i *item) bool { return i.Type == kind && test(i.path) })
}

func (o *output) startCall(c turn.Change) int {
	args := argsText(c.Call.Args)
	i := &item{Type: "mcp_call", ID: o.id("mcp", c), Status: "in_progress", Label: serverLabel, Name: c.Call.Tool, Arguments: &args, path: c.Call.ID}
	if q := o.find("mcp_approval_request", func(path string) bool { return strings.HasPrefix(path, i.path+".") }); q >= 0 {
		i.Approval = o.items[q].ID
	}
	n := o.add(i)
	o.emit(event{Type: "response.mcp_call.in_progress", ItemID: i.ID, OutputIndex: n})
	o.emit(event{Type: "response.mcp_call_arguments.done", ItemID: i.ID, OutputIndex: n, Arguments: &args})
	return *n
}

func (o *output) endCall(c turn.Change) {
	n := o.find("mcp_call", func(path string) bool { return path == c.Call.ID })
	if n < 0 {
		n = o.startCall(c)
	}
	i, text := o.items[n], c.Call.Text
	i.Status, i.Output = "completed", &text
	if !c.Call.OK() {
		i.Status, i.Output, i.Error = "failed", nil, &text
	}
	o.emit(event{Type: "response.mcp_call." + i.Status, ItemID: i.ID, OutputIndex: &n})
	o.emitItem("response.output_item.done", n)
}

// addQuestion adds a request for an approval, or a message with a question that needs a text.
func (o *output) addQuestion(c turn.Change) {
	q := *c.Question
	switch q.Kind {
	case interrupt.Approval, interrupt.Plan, interrupt.Guard:
	default:
		o.addMessage(o.id("msg", c), turn.Prompt([]interrupt.Question{q}))
		return
	}
	args, name := argsText(q.Args), q.Tool
	if name == "" {
		name = string(q.Kind)
	}
	n := o.add(&item{Type: "mcp_approval_request", ID: o.id(approvalPrefix, c), Label: serverLabel, Name: name, Arguments: &args, path: q.Path})
	o.emitItem("response.output_item.done", *n)
}

// argsText returns arguments as the text of a JSON object.
func argsText(args json.RawMessage) string {
	if len(args) == 0 || string(args) == "null" {
		return "{}"
	}
	return string(args)
}

// approvalPrefix is the prefix of the ids of requests for approvals.
const approvalPrefix = "mcpr"

// parseApproval returns the run and the number of the event of a request for an approval.
func parseApproval(id string) (run string, seq int, ok bool) {
	rest, found := strings.CutPrefix(id, approvalPrefix+"_")
	i := strings.LastIndexByte(rest, '_')
	if !found || i < 0 {
		return "", 0, false
	}
	seq, err := strconv.Atoi(rest[i+1:])
	return rest[:i], seq, err == nil
}
