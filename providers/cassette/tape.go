package cassette

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"

	"github.com/pexctl/pex/engine/jsonvalue"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/secret"
)

// tape is what a recording holds of models. It is not changed once it is read.
type tape struct {
	answers []answered // in the order in which they were asked for
	same    map[[32]byte][]int
	secrets *secret.Values    // whose marks stand in it; nil = none do
	plain   map[string]string // the values of those that are surely none
}

// answered is a recorded call of a model that has an outcome.
type answered struct {
	path    string
	model   string // the llm's model at that time
	request journal.Request
	reply   *model.Reply
	fault   *model.Error // instead of a reply
}

// readTape reads a recording; env finds the values that marks in it stand for.
func readTape(from io.Reader, env func(string) string) (*tape, error) {
	recs, err := read(from)
	if err != nil {
		return nil, err
	}
	asked, err := drift.Requests(recs)
	if err != nil {
		return nil, err
	}
	t := &tape{same: map[[32]byte][]int{}}
	t.secrets, t.plain = marked(recs, env)
	for _, q := range asked {
		t.answers = append(t.answers, answered{path: q.Path, model: paramsOf(q.Request).Model, request: q.Request})
	}
	if err := t.take(recs); err != nil {
		return nil, err
	}
	t.answers = slices.DeleteFunc(t.answers, func(a answered) bool { return a.reply == nil && a.fault == nil })
	for i := range t.answers {
		key, err := identity(t.answers[i].request)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.answers[i].path, err)
		}
		t.same[key] = append(t.same[key], i)
	}
	return t, nil
}

// take gives the calls their outcomes.
func (t *tape) take(recs []journal.Record) error {
	at, next := map[string]int{}, 0
	for _, rec := range journal.WithoutVoided(recs) {
		if drift.IsRequest(&rec) {
			at[rec.Path] = next
			next++
			continue
		}
		i, ok := at[rec.Path]
		if !ok || rec.Kind != journal.Result {
			continue
		}
		rec.Body = t.spoken(rec.Body)
		if err := t.answers[i].outcome(&rec); err != nil {
			return fmt.Errorf("line %d (%s): %w", rec.Seq, rec.Path, err)
		}
	}
	return nil
}

// outcome reads a result. What failed for another reason than the model's, such
// as a run that was cut off, is none.
func (a *answered) outcome(rec *journal.Record) error {
	a.reply, a.fault = nil, nil
	if rec.Status != journal.Failed {
		a.reply = &model.Reply{}
		return json.Unmarshal(rec.Body, a.reply)
	}
	f := journal.DecodeFailure(rec.Body)
	if f.Code != "model" {
		return nil
	}
	a.fault = &model.Error{Kind: model.BadReply, Message: f.Message}
	if len(f.Data) > 0 {
		return json.Unmarshal(f.Data, a.fault)
	}
	return nil
}

var mark = regexp.MustCompile(`\[redacted ([A-Za-z_][A-Za-z0-9_]*)\]`)

// marked are the secrets whose marks stand in a recording, as far as this
// machine has them: what is asked for is compared with it without them. plain
// are the values of those that are surely none, and that are found again.
func marked(recs []journal.Record, env func(string) string) (secrets *secret.Values, plain map[string]string) {
	values := map[string]string{}
	for i := range recs {
		for _, m := range mark.FindAllSubmatch(recs[i].Body, -1) {
			if name := string(m[1]); env != nil && env(name) != "" {
				values[name] = env(name)
			}
		}
	}
	if len(values) == 0 {
		return nil, nil
	}
	secrets = secret.New(values)
	maps.DeleteFunc(values, func(name, value string) bool {
		written, err := jsonvalue.Marshal(value)
		return err != nil || string(written) != `"`+value+`"` || !secret.Plain(name, value) || secrets.Named(value) != name
	})
	return secrets, values
}

// spoken is what a model said, with the folders and regions of this machine
// instead of their marks: tools are to be called with them.
func (t *tape) spoken(body []byte) []byte {
	if len(t.plain) == 0 {
		return body
	}
	return mark.ReplaceAllFunc(body, func(m []byte) []byte {
		if value, ok := t.plain[string(mark.FindSubmatch(m)[1])]; ok {
			return []byte(value)
		}
		return m
	})
}
