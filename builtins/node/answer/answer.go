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
	a, repairs, wrong := Shape(s.View(), text, value, Ensured)
	if len(repairs) > 0 {
		s.Record(engine.WarningAdded{Text: "the answer was not valid JSON and was repaired: " + strings.Join(repairs, ", "), Repair: engine.AnswerRepaired})
	}
	return a, wrong
}

// Judge returns which of the output's conditions the value violates, "" if none.
type Judge func(view engine.View, out *engine.Output, v any) (wrong string)

// Shape converts a reply into an answer that matches the spec's output. value is the
// answer as JSON if the model returned JSON; otherwise text is parsed if the output has a
// schema. wrong describes a mismatch, for the model to fix.
func Shape(view engine.View, text string, value json.RawMessage, judge Judge) (a engine.Answer, repairs []string, wrong string) {
	out := view.Program.Output
	if out == nil {
		return engine.Answer{Text: text}, nil, ""
	}
	if out.Schema.IsZero() {
		return engine.Answer{Text: text}, nil, judge(view, out, text)
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
	return a, repairs, judge(view, out, jsonvalue.Plain(a.Output))
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

// Ensured checks the output's conditions against the final state of a run.
func Ensured(view engine.View, out *engine.Output, v any) string {
	return broken(view, out, v, func(component.GuardRef) bool { return false })
}

// EnsuredSoFar checks the output's conditions while other steps are still to run. It
// ignores violated conditions that depend on the progress of the run, because they may
// hold later.
func EnsuredSoFar(view engine.View, out *engine.Output, v any) string {
	return broken(view, out, v, func(e component.GuardRef) bool {
		env := view.OutputEnv(e.Source, v)
		delete(env, "plan")
		delete(env, "run")
		_, err := e.Eval(env)
		return err != nil // it needs the step results
	})
}

// broken lists the conditions that the value violates, except those for which open
// returns true.
func broken(view engine.View, out *engine.Output, v any, open func(component.GuardRef) bool) string {
	var wrong []string
	for _, e := range out.Ensures {
		ok, err := e.Eval(view.OutputEnv(e.Source, v))
		switch {
		case !ok && err == nil && open(e):
		case err != nil:
			wrong = append(wrong, "the result must satisfy `"+e.Source+"`, but evaluating it fails: "+err.Error())
		case !ok:
			wrong = append(wrong, "the result must satisfy `"+e.Source+"`, but does not")
		}
	}
	return strings.Join(wrong, "\n")
}
