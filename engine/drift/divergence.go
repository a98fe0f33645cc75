package drift

import (
	"bytes"

	"github.com/pexctl/pex/engine/journal"
)

// Classes of differences between recordings.
const (
	Order   Class = "order"   // the same calls in another order
	Missing Class = "missing" // a call only in the first recording
	Extra   Class = "extra"   // a call only in the second recording
)

// Divergence is the first model or tool call in which two recordings differ.
type Divergence struct {
	Path        string // of its effect
	Class       Class
	Differences []Difference
}

// FirstDivergence returns where two recordings diverge; nil = they make the same calls.
// Calls are matched by path, since parallel steps may finish in any order; the order is
// compared only if nothing else differs. Replies are not compared: they show in later
// requests.
func FirstDivergence(first, second []journal.Record) (*Divergence, error) {
	a, err := callsOf(first)
	if err != nil {
		return nil, err
	}
	b, err := callsOf(second)
	if err != nil {
		return nil, err
	}
	inA, inB := byPath(a), byPath(b)
	for i := range max(len(a), len(b)) {
		if i < len(b) && inA[b[i].path] == nil {
			return &Divergence{b[i].path, Extra, []Difference{{Extra, "call", "", b[i].text()}}}, nil
		}
		if i < len(a) {
			if p := a[i].compare(inB[a[i].path]); p != nil {
				return p, nil
			}
		}
	}
	for i := range a {
		if a[i].path != b[i].path {
			return &Divergence{b[i].path, Order, []Difference{{Order, "order of calls", pathsOf(a[i:]), pathsOf(b[i:])}}}, nil
		}
	}
	return nil, nil
}

// recordedCall is a model or tool call of a recording.
type recordedCall struct {
	path    string
	request *journal.Request // of a model
	body    []byte           // of a tool: {"tool", "args"}
}

func callsOf(records []journal.Record) ([]recordedCall, error) {
	asked, err := Requests(records)
	if err != nil {
		return nil, err
	}
	var out []recordedCall
	for _, rec := range journal.WithoutVoided(records) {
		switch {
		case rec.Kind != journal.Intent:
		case len(asked) > 0 && asked[0].Seq == rec.Seq:
			out = append(out, recordedCall{path: rec.Path, request: &asked[0].Request})
			asked = asked[1:]
		case IsCall(&rec):
			out = append(out, recordedCall{path: rec.Path, body: rec.Body})
		}
	}
	return out, nil
}

// IsCall reports whether a record is the intent of a model or tool call.
func IsCall(rec *journal.Record) bool {
	return rec.Kind == journal.Intent && (IsRequest(rec) || bytes.HasPrefix(rec.Body, []byte(`{"tool":`)) && rec.Class != journal.Question)
}

func byPath(calls []recordedCall) map[string]*recordedCall {
	out := make(map[string]*recordedCall, len(calls))
	for i := range calls {
		out[calls[i].path] = &calls[i]
	}
	return out
}

// compare compares a call with the other recording's at the same path.
func (m *recordedCall) compare(o *recordedCall) *Divergence {
	var found []Difference
	switch {
	case o == nil:
		return &Divergence{m.path, Missing, []Difference{{Missing, "call", m.text(), ""}}}
	case m.request != nil && o.request != nil:
		found = Compare(*m.request, *o.request)
	case m.request == nil && o.request == nil:
		found = CompareCall(m.body, o.body)
	default:
		found = []Difference{{Tools, "call", m.text(), o.text()}}
	}
	if len(found) == 0 {
		return nil
	}
	return &Divergence{m.path, found[0].Class, found}
}

// text returns a call as readable text.
func (m *recordedCall) text() string {
	if m.request != nil {
		return Conversation(*m.request)
	}
	return pretty(m.body)
}

func pathsOf(calls []recordedCall) string {
	var b bytes.Buffer
	for _, c := range calls {
		b.WriteString(c.path + "\n")
	}
	return b.String()
}
