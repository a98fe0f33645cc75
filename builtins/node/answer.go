package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// accept checks an answer against the spec's output, and warns where it took
// mending to read it; see shape.
func accept(s *engine.Scope, text string, value json.RawMessage) (a engine.Answer, wrong string) {
	a, mended, wrong := shape(s.View(), text, value, ensured)
	if mended {
		s.Record(engine.Warned{Text: "the answer was not valid JSON as it stood and was mended", Repair: engine.AnswerMended})
	}
	return a, wrong
}

// judging says which of the output's conditions an answer breaks.
type judging func(view engine.View, out *engine.Output, v any) (wrong string)

// shape makes an answer that fits the spec's output. value is the answer as
// JSON where the model gave it so; else text is parsed where a schema wants
// JSON. wrong says what does not fit, for the model to mend.
func shape(view engine.View, text string, value json.RawMessage, judge judging) (a engine.Answer, mended bool, wrong string) {
	out := view.Program.Output
	if out == nil {
		return engine.Answer{Text: text}, false, ""
	}
	if out.Schema.IsZero() {
		return engine.Answer{Text: text}, false, judge(view, out, text)
	}
	var v any
	if value != nil {
		v, wrong = fitting(out, value)
	} else {
		value, v, mended, wrong = shaped(out, text)
	}
	if wrong != "" {
		return a, false, wrong
	}
	a = engine.Answer{Text: string(value), Output: compactJSON(v)}
	if text, ok := v.(string); ok {
		a.Text = text
	}
	return a, mended, judge(view, out, engine.PlainJSON(a.Output))
}

// shaped reads a text as the JSON that the schema wants; where that does not
// fit, the text itself may: a schema of type string needs no quotes.
func shaped(out *engine.Output, text string) (value json.RawMessage, v any, repaired bool, wrong string) {
	value, repaired, code := reply.JSON(text, reply.Options{})
	wrong = "the result must be JSON that fits the output schema, and it is not JSON (" + strings.ReplaceAll(code, "_", " ") + ")"
	if code == "" {
		if v, wrong = fitting(out, value); wrong == "" {
			return value, v, repaired, ""
		}
	}
	value = compactJSON(text)
	v, unfit := fitting(out, value)
	if unfit == "" || takesText(out.Schema.JSON) {
		wrong = unfit
	}
	return value, v, false, wrong
}

// fitting is a value that fits the output schema, or what does not.
func fitting(out *engine.Output, value json.RawMessage) (v any, wrong string) {
	v, err := decode(value)
	if err != nil {
		return nil, "the result is not JSON: " + err.Error()
	}
	if err := out.Schema.Validate(v); err != nil {
		return nil, "the result does not fit the output schema:\n" + err.Error()
	}
	return v, ""
}

// takesText says that a schema names string among its types.
func takesText(schema json.RawMessage) bool {
	var one struct{ Type string }
	var many struct{ Type []string }
	if json.Unmarshal(schema, &one) == nil {
		return one.Type == "string"
	}
	return json.Unmarshal(schema, &many) == nil && slices.Contains(many.Type, "string")
}

// ensured is the judging of a run as it stands.
func ensured(view engine.View, out *engine.Output, v any) string {
	return broken(view, out, v, func(component.GuardRef) bool { return false })
}

// ensuredAmid is the judging while other steps of the plan are to end: what is
// broken only by how far the run has come may hold when it has come further.
func ensuredAmid(view engine.View, out *engine.Output, v any) string {
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
			wrong = append(wrong, "the result must satisfy `"+e.Source+"`, which fails on it: "+err.Error())
		case !ok:
			wrong = append(wrong, "the result must satisfy `"+e.Source+"`, and does not")
		}
	}
	return strings.Join(wrong, "\n")
}

// decode reads one JSON value and keeps numbers as they are written, as schemas
// want them.
func decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the value")
	}
	return v, nil
}
