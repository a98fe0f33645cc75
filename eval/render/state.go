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

// Epoch is the time at which a state stands that says none: a prompt is the
// same on every day.
var Epoch = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// State is a state as a person writes it: the result object's shape, and what a
// result does not hold. All of it is optional.
type State struct {
	engine.Result
	Question   string               `json:"question"`
	Parameters map[string]any       `json:"parameters"`
	History    []memory.Interaction `json:"history"`
	Files      []string             `json:"files"`
	Now        time.Time            `json:"now"`
}

// Read decodes a state from JSON; nothing is the empty state.
func Read(doc []byte) (State, error) {
	var s State
	if len(doc) == 0 {
		return s, nil
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return State{}, fmt.Errorf("the given state: %s", strings.Replace(err.Error(), "json: unknown field", "there is no key", 1))
	}
	return s, nil
}

// At is the time at which the state stands.
func (s *State) At() time.Time {
	if s.Now.IsZero() {
		return Epoch
	}
	return s.Now
}

const question = "question"

// View is what a node of p would see in the state. flags are parameters as
// "name=value", asked is the question; both are stronger than what the state
// says. A question that is required and was not asked is made up: a prompt can
// be looked at without one.
func (s *State) View(p *engine.Program, asked string, flags []string) (engine.View, error) {
	values := make(map[string]any, len(s.Parameters)+1)
	maps.Copy(values, s.Parameters)
	if _, set := values[question]; !set && s.Question != "" {
		values[question] = s.Question
	}
	if asked == "" && unasked(p, values, flags) {
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
	res.Plan.Steps, res.Steps = slices.Clone(res.Plan.Steps), slices.Clone(res.Steps) // a view fills in what is left out
	return engine.ViewOf(p, engine.Input{Parameters: params, Files: s.Files}, &res, s.History, s.At()), nil
}

// unasked says that the spec wants a question and none is given.
func unasked(p *engine.Program, values map[string]any, flags []string) bool {
	i := slices.IndexFunc(p.Parameters, func(p engine.Parameter) bool { return p.Name == question && p.Required && p.Default == nil })
	passed := slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, question+"=") })
	return i >= 0 && values[question] == nil && !passed
}
