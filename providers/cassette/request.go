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

// Parameters ignored when requests are compared, always or sometimes.
const (
	modelParam     = "model"             // always: the recording used another provider's model
	maxOutputParam = "max_output_tokens" // ignored if a budget determines it
)

// query is a request prepared for comparison with a recording.
type query struct {
	request journal.Request // redacted
	model   string
	bounded bool
}

func (t *track) query(req *model.Request) query {
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
	return query{q, req.Params.Model, req.Bounded}
}

// find returns the indexes of the matching calls in order. It ignores parameters set by a
// budget, and uses the model name only if several models were recorded.
func (t *track) find(q query) []int {
	var out []int
	if key, err := identity(q.request); err == nil {
		out = slices.DeleteFunc(slices.Clone(t.same[key]), func(i int) bool {
			return !q.bounded && paramsOf(t.answers[i].request).MaxOutputTokens != paramsOf(q.request).MaxOutputTokens
		})
	}
	if len(out) == 0 { // redacted or edited requests may have different JSON
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

// differences returns how a query differs from a recorded request.
func (t *track) differences(i int, q query) []drift.Difference {
	names := []string{modelParam}
	if q.bounded {
		names = append(names, maxOutputParam)
	}
	return drift.Compare(without(t.answers[i].request, names...), without(q.request, names...))
}

// identity returns a digest without model name and output limit.
func identity(q journal.Request) (journal.Digest, error) {
	return modelrecord.Digest(without(q, modelParam, maxOutputParam))
}

// without returns the request without some of its parameters.
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

// paramsOf returns the parameters of a recorded request.
func paramsOf(q journal.Request) (p model.Params) {
	for _, f := range q.Fields {
		if f.Name == "params" {
			_ = json.Unmarshal(f.JSON, &p) // damaged parameters do not match
		}
	}
	return p
}
