package answer

import (
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// Accept checks an answer against the spec's output, and warns about what was
// repaired to read it; see shape.
func Accept(s engine.Scope, text string, value json.RawMessage) (a engine.Answer, wrong string) {
	a, repairs, wrong := Shape(s.View(), text, value, Ensured)
	if len(repairs) > 0 {
		s.Record(engine.WarningAdded{Text: "the answer was not valid JSON and was repaired: " + strings.Join(repairs, ", "), Repair: engine.AnswerMended})
	}
	return a, wrong
}

// Judge says which of the output's conditions an answer breaks.
type Judge func(view engine.View, out *engine.Output, v any) (wrong string)

// Shape makes an answer that fits the spec's output. value is the answer as
// JSON where the model gave it so; else text is parsed where a schema wants
// JSON. wrong tells the model what does not fit.
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
		v, wrong = fitting(out, value)
	} else {
		value, v, repairs, wrong = shaped(out, text)
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

// shaped reads a text as the JSON that the schema wants, repaired if exactly one
// reading of it fits. Where none does, the text itself may be the answer: a
// schema that names string among its types needs no quotes.
func shaped(out *engine.Output, text string) (value json.RawMessage, v any, repairs []string, wrong string) {
	got := reply.Fit(text, reply.Options{}, func(value json.RawMessage) bool {
		_, wrong := fitting(out, value)
		return wrong == ""
	})
	if got.Code == "" {
		v, wrong = fitting(out, got.Value)
		return got.Value, v, got.Repairs, wrong
	}
	value = jsonvalue.Encode(text)
	if out.Schema.TakesText() {
		v, wrong = fitting(out, value)
		return value, v, nil, wrong
	}
	if _, wrong = fitting(out, json.RawMessage(text)); json.Valid([]byte(text)) && wrong != "" {
		return value, nil, nil, wrong
	}
	return value, nil, nil, "the result must be JSON that matches the output schema: " + unreadable[got.Code]
}

// fitting is a value that fits the output schema, or what does not.
func fitting(out *engine.Output, value json.RawMessage) (v any, wrong string) {
	v, err := reply.Decode(value)
	if err != nil {
		return nil, "the result is not JSON: " + err.Error()
	}
	if err := out.Schema.Validate(v); err != nil {
		return nil, "the result does not match the output schema:\n" + err.Error()
	}
	return v, ""
}

// unreadable says why a text gives no value, by the code of reply.Fit.
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

// Ensured is the judging of a run as it is.
func Ensured(view engine.View, out *engine.Output, v any) string {
	return broken(view, out, v, func(component.GuardRef) bool { return false })
}

// EnsuredSoFar is the judging while other steps of the plan are to end: what is
// broken only by how far the run has come may hold when it has come further.
func EnsuredSoFar(view engine.View, out *engine.Output, v any) string {
	return broken(view, out, v, func(e component.GuardRef) bool {
		env := view.OutputEnv(e.Source, v)
		delete(env, "plan")
		delete(env, "run")
		_, err := e.Eval(env)
		return err != nil // it takes them to tell
	})
}

// broken lists the conditions that an answer breaks. One that gives no verdict
// yet, by open, is left for later.
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
