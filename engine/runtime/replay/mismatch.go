package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/modelrecord"
)

// Mismatch ends a run that requests what its recording does not have.
type Mismatch struct {
	Path     string
	Layer    string
	Class    kernel.DriftClass // extra: not recorded; request: recorded with another request
	Recorded string            // path of the recorded effect; "" = none
	Request  []byte            // request of a tool: {"tool", "args"}
	Model    *model.Request    // request of a model

	recording *Recording
}

// Error describes the effect and how it differs.
func (m *Mismatch) Error() string {
	if m.Recorded == "" {
		return fmt.Sprintf("drift (extra): the recording has no result for %s", m.Path)
	}
	var classes []string
	for _, d := range m.Differences() {
		if c := string(d.Class); !strings.Contains(strings.Join(classes, ", "), c) {
			classes = append(classes, c)
		}
	}
	if len(classes) == 0 {
		classes = append(classes, string(m.Class))
	}
	return fmt.Sprintf("drift (%s): the request differs from the recorded one at %s", strings.Join(classes, ", "), m.Path)
}

// Differences returns how the request differs from the recorded one, or if it was not
// recorded, from the one at Nearest. Nil = there is none to compare.
func (m *Mismatch) Differences() []drift.Difference {
	path := m.Recorded
	if path == "" {
		path = m.Nearest()
	}
	if m.Model == nil {
		if e := m.recording.entries[path]; e != nil {
			return drift.CompareCall(e.intent.Body, m.redactedCall())
		}
		return nil
	}
	for _, q := range m.requests() {
		if q.Path == path {
			return drift.Compare(q.Request, m.redactedRequest(q.Request))
		}
	}
	return nil
}

// Nearest returns the path of the most similar recorded request, or "".
func (m *Mismatch) Nearest() string {
	if m.Model == nil {
		return m.nearestCall()
	}
	asked := m.requests()
	requests := make([]journal.Request, len(asked))
	for i := range asked {
		requests[i] = asked[i].Request
	}
	if i := drift.Nearest(requests, m.redactedRequest(journal.Request{})); i >= 0 {
		return asked[i].Path
	}
	return ""
}

// nearestCall returns the first recorded call of the same tool.
func (m *Mismatch) nearestCall() string {
	tool, _, _ := bytes.Cut(m.Request, []byte(`,"args":`))
	for _, e := range m.recording.order {
		if len(tool) > 0 && e.layer == LayerTool && bytes.HasPrefix(e.intent.Body, tool) {
			return e.intent.Path
		}
	}
	return ""
}

// redactedRequest returns the model request without secrets. An output limit set by a
// budget is taken from the recorded request, since a run with a raised budget makes the
// same request.
func (m *Mismatch) redactedRequest(recorded journal.Request) journal.Request {
	asked := *m.Model
	if asked.Bounded {
		asked.Params.MaxOutputTokens = paramsOf(recorded).MaxOutputTokens
	}
	q := modelrecord.NewRequest(&asked).Record(&modelrecord.Tools{})
	secrets := m.recording.o.Secrets
	if secrets == nil {
		return q
	}
	for i := range q.Messages {
		text, _ := secrets.Text(strings.Join(q.Messages[i].Text, ""))
		head, _ := secrets.JSON(q.Messages[i].Head)
		q.Messages[i] = journal.Message{Head: head, Text: []string{text}}
	}
	for i := range q.Fields {
		q.Fields[i].JSON, _ = secrets.JSON(q.Fields[i].JSON)
	}
	return q
}

// redactedCall returns the tool request without secrets.
func (m *Mismatch) redactedCall() []byte {
	if m.recording.o.Secrets == nil {
		return m.Request
	}
	body, _ := m.recording.o.Secrets.JSON(m.Request)
	return body
}

// paramsOf returns the parameters of a recorded request.
func paramsOf(q journal.Request) (p model.Params) {
	for _, f := range q.Fields {
		if f.Name == "params" {
			_ = json.Unmarshal(f.JSON, &p) // damaged parameters do not match
		}
	}
	return p
}

// requests returns the recorded requests, decoded once.
func (m *Mismatch) requests() []drift.RecordedRequest {
	r := m.recording
	if r.requests == nil {
		r.requests, _ = drift.Requests(r.records) // those before a damaged one suffice
	}
	return r.requests
}
