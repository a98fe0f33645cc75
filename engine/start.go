package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/text"
)

// Start is what a run's start record holds: all that a later session needs.
type Start struct {
	Program json.RawMessage `json:"program"` // Program.Source
	Digest  string          `json:"digest"`
	Name    string          `json:"name"` // of the spec
	Version string          `json:"version,omitempty"`
	Input   Input           `json:"input"`
	At      time.Time       `json:"-"` // when the run began
}

func startOf(p *Program, in Input) []byte {
	return encoded(Start{Program: p.Source, Digest: p.Digest, Name: p.Name, Version: p.Version, Input: in})
}

// ReadStart is the start of the run that records belong to.
func ReadStart(recs []journal.Record) (Start, error) {
	if len(recs) == 0 || recs[0].Kind != journal.Start {
		return Start{}, errors.New("the records have no start")
	}
	s, err := decodeStart(recs[0].Body)
	s.At = time.Unix(0, recs[0].Wall).UTC()
	return s, err
}

func decodeStart(body []byte) (Start, error) {
	var s Start
	if err := text.Decode(body, &s); err != nil {
		return s, fmt.Errorf("start record: %w", err)
	}
	counts(s.Input.Parameters)
	return s, nil
}

// given is the files that the user gave the run, absolute, by the names that
// prompts show; nil where it is not known where they lie.
func (in *Input) given() map[string]string {
	if len(in.Files) == 0 || in.FilesDir == "" {
		return nil
	}
	out := make(map[string]string, len(in.Files))
	for _, name := range in.Files {
		out[name] = name
		if !filepath.IsAbs(name) {
			out[name] = filepath.Join(in.FilesDir, name)
		}
	}
	return out
}

// LimitsNow is the limits that a run of p stands under, with what whoever
// resumed it has set so far.
func LimitsNow(p *Program, recs []journal.Record) Limits {
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
