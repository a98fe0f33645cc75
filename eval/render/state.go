package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/memory"
)

// Epoch is the time of a state that sets none, so that prompts do not depend on the date.
var Epoch = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// State is a state written by a user: the fields of a result and others. All are optional.
type State struct {
	engine.Result
	Question   string               `json:"question"`
	Parameters map[string]any       `json:"parameters"`
	History    []memory.Interaction `json:"history"`
	Files      []string             `json:"files"`
	Now        time.Time            `json:"now"`
}

// Read decodes a state from JSON. An empty document is the empty state.
func Read(doc []byte) (State, error) {
	var s State
	if len(doc) == 0 {
		return s, nil
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return State{}, fmt.Errorf("the given state: %s", strings.Replace(err.Error(), "json: unknown field", "unknown key", 1))
	}
	return s, nil
}

// At returns the time of the state.
func (s *State) At() time.Time {
	if s.Now.IsZero() {
		return Epoch
	}
	return s.Now
}

const question = "question"

// View returns what a node of p would see in the state. flags are parameters as "name=value", asked is the
// question; both override the state. If the required question is missing, View uses a placeholder.
func (s *State) View(p *engine.Program, asked string, flags []string) (engine.View, error) {
	values := make(map[string]any, len(s.Parameters)+1)
	maps.Copy(values, s.Parameters)
	if _, set := values[question]; !set && s.Question != "" {
		values[question] = s.Question
	}
	if asked == "" && questionMissing(p, values, flags) {
		asked = "(the question)"
	}
	doc, err := json.Marshal(values)
	if err != nil {
		return engine.View{}, fmt.Errorf("the given parameters: %w", err)
	}
	params, err := dsl.Inputs(p, asked, flags, doc)
	if err != nil {
		return engine.View{}, err
	}
	res := s.Result
	res.Plan.Steps, res.Steps = slices.Clone(res.Plan.Steps), slices.Clone(res.Steps) // a view sets missing fields
	return engine.ViewOf(p, engine.Input{Parameters: params, Files: s.Files}, &res, s.History, s.At()), nil
}

// questionMissing reports whether a required question is missing.
func questionMissing(p *engine.Program, values map[string]any, flags []string) bool {
	i := slices.IndexFunc(p.Parameters, func(p engine.Parameter) bool { return p.Name == question && p.Required && p.Default == nil })
	passed := slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, question+"=") })
	return i >= 0 && values[question] == nil && !passed
}
