package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
)

func startOf(p *engine.Program, in engine.Input) []byte {
	return jsonvalue.Encode(engine.Start{Program: p.Source, Digest: p.Digest, Name: p.Name, Version: p.Version, Input: in})
}

// ReadStart is the start of the run that records belong to.
func ReadStart(recs []journal.Record) (engine.Start, error) {
	if len(recs) == 0 || recs[0].Kind != journal.Start {
		return engine.Start{}, errors.New("the records have no start")
	}
	s, err := decodeStart(recs[0].Body)
	s.At = time.Unix(0, recs[0].Wall).UTC()
	return s, err
}

func decodeStart(body []byte) (engine.Start, error) {
	var s engine.Start
	if err := jsonvalue.Unmarshal(body, &s); err != nil {
		return s, fmt.Errorf("start record: %w", err)
	}
	jsonvalue.Normalize(s.Input.Parameters)
	return s, nil
}

// LimitsNow is the limits that a run of p stands under, with what whoever
// resumed it has set so far.
func LimitsNow(p *engine.Program, recs []journal.Record) engine.Limits {
	limits := p.Limits
	for _, rec := range journal.Standing(recs) {
		var c changeBody
		if rec.Kind == journal.Change && json.Unmarshal(rec.Body, &c) == nil {
			limits = c.Limits
		}
	}
	return limits
}

// Raises is the limits that whoever resumed a run has set so far, as they
// were written, in order.
func Raises(recs []journal.Record) []string {
	var out []string
	for _, rec := range journal.Standing(recs) {
		var c changeBody
		if rec.Kind == journal.Change && json.Unmarshal(rec.Body, &c) == nil {
			out = append(out, c.Set...)
		}
	}
	return out
}
