package cassette

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/modelrecord"
)

// The parameters that make no difference always, or not always.
const (
	modelName = "model"             // the provider is another one: its name says nothing
	mostWords = "max_output_tokens" // nothing where a budget says it
)

// question is what is asked for, ready to be compared with a recording.
type question struct {
	request journal.Request // without secrets
	model   string
	bounded bool
}

func (t *tape) question(req *model.Request) question {
	q := modelrecord.Encode(req)
	if t.secrets != nil {
		for i, m := range q.Messages {
			text, _ := t.secrets.Text(strings.Join(m.Text, ""))
			head, _ := t.secrets.JSON(m.Head)
			q.Messages[i] = journal.Message{Head: head, Text: []string{text}}
		}
		for i := range q.Fields {
			q.Fields[i].JSON, _ = t.secrets.JSON(q.Fields[i].JSON)
		}
	}
	return question{q, req.Params.Model, req.Bounded}
}

// find lists the answers to a question in their order. The parameters that a
// budget sets are looked at last; a name of a model chooses where several
// models were asked.
func (t *tape) find(q question) []int {
	var out []int
	if key, err := identity(q.request); err == nil {
		out = slices.DeleteFunc(slices.Clone(t.same[key]), func(i int) bool {
			return !q.bounded && paramsOf(t.answers[i].request).MaxOutputTokens != paramsOf(q.request).MaxOutputTokens
		})
	}
	if len(out) == 0 { // where secrets were taken out, or someone edited it, JSON is written otherwise
		for i := range t.answers {
			if len(t.differences(i, q)) == 0 {
				out = append(out, i)
			}
		}
	}
	other := func(i int) bool { return t.answers[i].model != q.model }
	if slices.ContainsFunc(out, func(i int) bool { return !other(i) }) {
		out = slices.DeleteFunc(out, other)
	}
	return out
}

// differences are how a question differs from a recorded one.
func (t *tape) differences(i int, q question) []drift.Difference {
	names := []string{modelName}
	if q.bounded {
		names = append(names, mostWords)
	}
	return drift.Compare(without(t.answers[i].request, names...), without(q.request, names...))
}

// identity is the same for requests that differ in nothing but the names of
// their models and how much may be said.
func identity(q journal.Request) ([32]byte, error) {
	return modelrecord.Digest(without(q, modelName, mostWords))
}

// without is a request that leaves some of its parameters out.
func without(q journal.Request, names ...string) journal.Request {
	q.Fields = slices.Clone(q.Fields)
	for i, f := range q.Fields {
		params := map[string]json.RawMessage{}
		if f.Name != "params" || json.Unmarshal(f.JSON, &params) != nil {
			continue
		}
		for _, name := range names {
			delete(params, name)
		}
		if b, err := jsonvalue.Marshal(params); err == nil {
			q.Fields[i].JSON = b
		}
	}
	return q
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
