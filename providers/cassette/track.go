package cassette

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/secret"
)

// track holds the model calls of a recording. It is immutable once read.
type track struct {
	answers []recordedCall // in request order
	same    map[journal.Digest][]int
	secrets *secret.Values    // secrets whose marks it contains; may be nil
	plain   map[string]string // values of marks that are certainly not secret
}

// recordedCall is a recorded model call with an outcome.
type recordedCall struct {
	path    string
	model   string // model name when recorded
	request journal.Request
	reply   *model.Reply
	fault   *model.Error // instead of a reply
}

// readTrack reads a recording; env returns the values of its marks.
func readTrack(from io.Reader, env func(string) string) (*track, error) {
	recs, err := read(from)
	if err != nil {
		return nil, err
	}
	asked, err := drift.Requests(recs)
	if err != nil {
		return nil, err
	}
	t := &track{same: map[journal.Digest][]int{}}
	t.secrets, t.plain = findSecrets(recs, env)
	for _, q := range asked {
		t.answers = append(t.answers, recordedCall{path: q.Path, model: paramsOf(q.Request).Model, request: q.Request})
	}
	if err := t.setOutcomes(recs); err != nil {
		return nil, err
	}
	t.answers = slices.DeleteFunc(t.answers, func(a recordedCall) bool { return a.reply == nil && a.fault == nil })
	for i := range t.answers {
		key, err := identity(t.answers[i].request)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.answers[i].path, err)
		}
		t.same[key] = append(t.same[key], i)
	}
	return t, nil
}

// setOutcomes assigns the outcomes to the calls.
func (t *track) setOutcomes(recs []journal.Record) error {
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
		rec.Body = t.restorePlain(rec.Body)
		if err := t.answers[i].outcome(&rec); err != nil {
			return fmt.Errorf("line %d (%s): %w", rec.Seq, rec.Path, err)
		}
	}
	return nil
}

// outcome reads a result. Failures other than the model's, such as an interrupted run, are not an outcome.
func (a *recordedCall) outcome(rec *journal.Record) error {
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

var redactionMark = text.Regexp(`\[redacted ([A-Za-z_][A-Za-z0-9_]*)\]`)

// findSecrets returns the secrets whose marks the recording contains and which this machine has. They are redacted from
// requests before these are compared. plain has the values that are certainly not secret, which are restored in
// replies.
func findSecrets(recs []journal.Record, env func(string) string) (secrets *secret.Values, plain map[string]string) {
	values := map[string]string{}
	for i := range recs {
		for _, m := range redactionMark().FindAllSubmatch(recs[i].Body, -1) {
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
		return err != nil || string(written) != `"`+value+`"` || !secret.Plain(name, value) || secrets.NameOf(value) != name
	})
	return secrets, values
}

// restorePlain replaces the marks of folders and regions in a reply by this machine's
// values, because tools are called with them.
func (t *track) restorePlain(body []byte) []byte {
	if len(t.plain) == 0 {
		return body
	}
	return redactionMark().ReplaceAllFunc(body, func(m []byte) []byte {
		if value, ok := t.plain[string(redactionMark().FindSubmatch(m)[1])]; ok {
			return []byte(value)
		}
		return m
	})
}
