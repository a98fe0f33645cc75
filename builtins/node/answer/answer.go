package answer

import (
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// Accept checks an answer against the spec's output and adds a warning for each repair;
// see Shape.
func Accept(s engine.Scope, text string, value json.RawMessage) (a engine.Answer, wrong string) {
	v := s.View()
	a, repairs, wrong := Shape(&v, text, value, Final)
	if len(repairs) > 0 {
		s.Record(engine.WarningAdded{Text: "the answer was not valid JSON and was repaired: " + strings.Join(repairs, ", "), Repair: engine.AnswerRepaired})
	}
	return a, wrong
}

// Stage is how far a run has come when an answer is checked.
type Stage int

const (
	// Final is the final state of a run: all conditions of the output must hold.
	Final Stage = iota
	// Unfinished means that other steps are still to run. Violated conditions that depend
	// on the progress of the run are ignored, because they may hold later.
	Unfinished
)

// Shape converts a reply into an answer that matches the spec's output. value is the
// answer as JSON if the model returned JSON; otherwise text is parsed if the output has a
// schema. wrong describes a mismatch, for the model to fix.
func Shape(view *engine.View, text string, value json.RawMessage, stage Stage) (a engine.Answer, repairs []string, wrong string) {
	out := view.Program.Output
	if out == nil {
		return engine.Answer{Text: text}, nil, ""
	}
	if out.Schema.IsZero() {
		return engine.Answer{Text: text}, nil, violations(view, text, stage)
	}
	var v any
	if value != nil {
		v, wrong = checkSchema(out, value)
	} else {
		value, v, repairs, wrong = parseAnswer(out, text)
	}
	if wrong != "" {
		return a, nil, wrong
	}
	a = engine.Answer{Text: string(value), Output: jsonvalue.Encode(v)}
	if text, ok := v.(string); ok {
		a.Text = text
	}
	return a, repairs, violations(view, jsonvalue.Plain(a.Output), stage)
}

// shaped parses text as JSON for the output schema, repairing it if exactly one reading
// matches. If none does and the schema allows a string, the text itself is the answer,
// without quotes.
func parseAnswer(out *engine.Output, text string) (value json.RawMessage, v any, repairs []string, wrong string) {
	got := reply.Fit(text, reply.Options{}, func(value json.RawMessage) bool {
		_, wrong := checkSchema(out, value)
		return wrong == ""
	})
	if got.Code == "" {
		v, wrong = checkSchema(out, got.Value)
		return got.Value, v, got.Repairs, wrong
	}
	value = jsonvalue.Encode(text)
	if out.Schema.TakesText() {
		v, wrong = checkSchema(out, value)
		return value, v, nil, wrong
	}
	if _, wrong = checkSchema(out, json.RawMessage(text)); json.Valid([]byte(text)) && wrong != "" {
		return value, nil, nil, wrong
	}
	return value, nil, nil, "the result must be JSON that matches the output schema: " + unreadable[got.Code]
}

// fitting decodes a value and checks it against the output schema.
func checkSchema(out *engine.Output, value json.RawMessage) (v any, wrong string) {
	v, err := reply.Decode(value)
	if err != nil {
		return nil, "the result is not JSON: " + err.Error()
	}
	if err := out.Schema.Validate(v); err != nil {
		return nil, "the result does not match the output schema:\n" + err.Error()
	}
	return v, ""
}

// unreadable maps error codes of reply.Fit to messages.
var unreadable = map[string]string{
	reply.EmptyOutput:     "it is empty",
	reply.NoFit:           "its JSON does not match",
	reply.SeveralReadings: "it is malformed and ambiguous: several matching values can be read from it",
	reply.Truncated:       "it is not JSON (truncated)",
	reply.TooDeep:         "it is nested too deeply",
	reply.TooLarge:        "it is too long",
	reply.Refusal:         "it is not JSON (refusal)",
	reply.NotJSON:         "it is not JSON (not json)",
}

// violations lists the conditions of the output that the value violates.
func violations(view *engine.View, v any, stage Stage) string {
	var wrong []string
	for _, e := range view.Program.Output.Ensures {
		ok, err := e.Eval(view.OutputEnv(e.Source, v))
		switch {
		case !ok && err == nil && stage == Unfinished && needsProgress(view, e, v):
		case err != nil:
			wrong = append(wrong, "the result must satisfy `"+e.Source+"`, but evaluating it fails: "+err.Error())
		case !ok:
			wrong = append(wrong, "the result must satisfy `"+e.Source+"`, but does not")
		}
	}
	return strings.Join(wrong, "\n")
}

// needsProgress reports whether a condition depends on the progress of the run.
func needsProgress(view *engine.View, condition component.GuardRef, v any) bool {
	env := view.OutputEnv(condition.Source, v)
	delete(env, "plan")
	delete(env, "run")
	_, err := condition.Eval(env)
	return err != nil
}
