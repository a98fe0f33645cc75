package node

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine"
)

// accept checks an answer against the spec's output. value is the answer as
// JSON where the model gave it so; else text is parsed where a schema wants
// JSON. wrong says what does not fit, for the model to mend.
func accept(s *engine.Scope, text string, value json.RawMessage) (a engine.Answer, wrong string) {
	out := s.View().Program.Output
	if out == nil {
		return engine.Answer{Text: text}, ""
	}
	if out.Schema.IsZero() {
		return engine.Answer{Text: text}, ensured(s, out, text)
	}
	if value == nil {
		parsed, repaired, code := reply.JSON(text, reply.Options{})
		if code != "" {
			return a, "the result must be JSON that fits the output schema, and it is not JSON (" + strings.ReplaceAll(code, "_", " ") + ")"
		}
		if repaired {
			s.Record(engine.Warned{Text: "the answer was not valid JSON as it stood and was mended"})
		}
		value = parsed
	}
	v, err := decode(value)
	if err != nil {
		return a, "the result is not JSON: " + err.Error()
	}
	if err := out.Schema.Validate(v); err != nil {
		return a, "the result does not fit the output schema:\n" + err.Error()
	}
	compact, err := json.Marshal(v)
	if err != nil {
		return a, err.Error()
	}
	return engine.Answer{Text: string(value), Output: compact}, ensured(s, out, plain(v))
}

// ensured says which of the output's conditions the answer breaks.
func ensured(s *engine.Scope, out *engine.Output, v any) string {
	var wrong []string
	for _, e := range out.Ensures {
		ok, err := e.Eval(s.View().OutputEnv(e.Source, v))
		switch {
		case err != nil:
			wrong = append(wrong, "the result must satisfy `"+e.Source+"`, which fails on it: "+err.Error())
		case !ok:
			wrong = append(wrong, "the result must satisfy `"+e.Source+"`, and does not")
		}
	}
	return strings.Join(wrong, "\n")
}

// decode keeps numbers as they are written, as schemas want them.
func decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// plain gives numbers as expressions want them: int where they are whole.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return int(i)
		}
		f, _ := v.Float64() // the decoder checked it
		return f
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range sortedKeys(v) {
			out[k] = plain(v[k])
		}
		return out
	}
	return v
}
