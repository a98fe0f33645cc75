package drift

import (
	"bytes"

	"github.com/pexctl/pex/engine/journal"
)

// The classes of what only whole recordings differ in.
const (
	Order   Class = "order"   // the same calls, another order
	Missing Class = "missing" // a call that only the first recording has
	Extra   Class = "extra"   // a call that only the second recording has
)

// Parting is where two recordings part: the first model or tool call that is
// not the same in both.
type Parting struct {
	Path        string // of its effect
	Class       Class
	Differences []Difference
}

// Part finds where two recordings part; nil = they ask for the same. Calls are
// matched by path, so that steps which ran side by side may have come in any
// order; their order is looked at when nothing else differs. What was answered
// is not compared: it shows in what is asked for next.
func Part(first, second []journal.Record) (*Parting, error) {
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
			return &Parting{b[i].path, Extra, []Difference{{Extra, "call", "", b[i].text()}}}, nil
		}
		if i < len(a) {
			if p := a[i].against(inB[a[i].path]); p != nil {
				return p, nil
			}
		}
	}
	for i := range a {
		if a[i].path != b[i].path {
			return &Parting{b[i].path, Order, []Difference{{Order, "order of calls", pathsOf(a[i:]), pathsOf(b[i:])}}}, nil
		}
	}
	return nil, nil
}

// made is a model or tool call of a recording.
type made struct {
	path    string
	request *journal.Request // of a model
	body    []byte           // of a tool: {"tool", "args"}
}

func callsOf(records []journal.Record) ([]made, error) {
	asked, err := Requests(records)
	if err != nil {
		return nil, err
	}
	var out []made
	for _, rec := range journal.WithoutVoided(records) {
		switch {
		case rec.Kind != journal.Intent:
		case len(asked) > 0 && asked[0].Seq == rec.Seq:
			out = append(out, made{path: rec.Path, request: &asked[0].Request})
			asked = asked[1:]
		case bytes.HasPrefix(rec.Body, []byte(`{"tool":`)) && rec.Class != journal.Question:
			out = append(out, made{path: rec.Path, body: rec.Body})
		}
	}
	return out, nil
}

func byPath(calls []made) map[string]*made {
	out := make(map[string]*made, len(calls))
	for i := range calls {
		out[calls[i].path] = &calls[i]
	}
	return out
}

// against compares a call with the other recording's at the same path.
func (m *made) against(o *made) *Parting {
	var found []Difference
	switch {
	case o == nil:
		return &Parting{m.path, Missing, []Difference{{Missing, "call", m.text(), ""}}}
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
	return &Parting{m.path, found[0].Class, found}
}

// text is a call as people read it.
func (m *made) text() string {
	if m.request != nil {
		return Conversation(*m.request)
	}
	return pretty(m.body)
}

func pathsOf(calls []made) string {
	var b bytes.Buffer
	for _, c := range calls {
		b.WriteString(c.path + "\n")
	}
	return b.String()
}
