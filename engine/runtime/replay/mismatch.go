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

// Mismatch ends a run that asks for what its recording does not hold.
type Mismatch struct {
	Path     string
	Layer    string
	Class    kernel.DriftClass // extra: not recorded; request: recorded with another request
	Recorded string            // path of the recorded effect; "" = none
	Request  []byte            // what a tool is asked for: {"tool", "args"}
	Model    *model.Request    // what a model is asked for

	recording *Recording
}

// Error names the effect and how it differs.
func (m *Mismatch) Error() string {
	if m.Recorded == "" {
		return fmt.Sprintf("drift (extra): the recording holds no answer for %s", m.Path)
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
	return fmt.Sprintf("drift (%s): the recording answered another request at %s", strings.Join(classes, ", "), m.Path)
}

// Differences are how the request differs from the recorded one; of one that
// was not recorded, from that which Nearest names. Nil = there is nothing to
// hold it against.
func (m *Mismatch) Differences() []drift.Difference {
	path := m.Recorded
	if path == "" {
		path = m.Nearest()
	}
	if m.Model == nil {
		if e := m.recording.entries[path]; e != nil {
			return drift.CompareCall(e.intent.Body, m.call())
		}
		return nil
	}
	for _, q := range m.requests() {
		if q.Path == path {
			return drift.Compare(q.Request, m.now(q.Request))
		}
	}
	return nil
}

// Nearest is the path of the recorded request that is most like this one; "" =
// there is none.
func (m *Mismatch) Nearest() string {
	if m.Model == nil {
		return m.nearestCall()
	}
	asked := m.requests()
	requests := make([]journal.Request, len(asked))
	for i := range asked {
		requests[i] = asked[i].Request
	}
	if i := drift.Nearest(requests, m.now(journal.Request{})); i >= 0 {
		return asked[i].Path
	}
	return ""
}

// nearestCall is the first recorded call of the same tool.
func (m *Mismatch) nearestCall() string {
	tool, _, _ := bytes.Cut(m.Request, []byte(`,"args":`))
	for _, e := range m.recording.order {
		if len(tool) > 0 && e.layer == LayerTool && bytes.HasPrefix(e.intent.Body, tool) {
			return e.intent.Path
		}
	}
	return ""
}

// now is what the model is asked, without secrets. How much it may say is taken
// from the recorded request where a budget says it: a run that was given more
// tokens meanwhile asks for the same.
func (m *Mismatch) now(recorded journal.Request) journal.Request {
	asked := *m.Model
	if asked.Bounded {
		asked.Params.MaxOutputTokens = paramsOf(recorded).MaxOutputTokens
	}
	q := modelrecord.Of(&asked).Record(&modelrecord.Tools{})
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

// call is what the tool is asked for, without secrets.
func (m *Mismatch) call() []byte {
	if m.recording.o.Secrets == nil {
		return m.Request
	}
	body, _ := m.recording.o.Secrets.JSON(m.Request)
	return body
}

// paramsOf is the parameters of a recorded request.
func paramsOf(q journal.Request) (p model.Params) {
	for _, f := range q.Fields {
		if f.Name == "params" {
			_ = json.Unmarshal(f.JSON, &p) // damaged ones differ
		}
	}
	return p
}

// requests are the recorded requests, decoded once.
func (m *Mismatch) requests() []drift.Asked {
	r := m.recording
	if r.requests == nil {
		r.requests, _ = drift.Requests(r.records) // those before a damaged one will do
	}
	return r.requests
}
