package probe

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/pexctl/pex/dsl/schema"
	"github.com/pexctl/pex/engine/model"
)

// place has property names that no model would choose by itself, so a matching reply shows that the schema was enforced.
var place = &model.ReplySchema{Name: "place", Schema: json.RawMessage(
	`{"type":"object","properties":{"spot":{"type":"string"},"letters":{"type":"integer"},"side":{"type":"string","enum":["north","south"]}},` +
		`"required":["spot","letters","side"],"additionalProperties":false}`)}

const (
	schemaTask  = "Describe the city of Oslo in JSON."
	schemaWords = schemaTask + " Reply with one JSON object and nothing else: spot is its name, letters the number of letters in it, side the hemisphere it is in. Follow this JSON Schema:\n"
)

// schema asks for JSON with a response schema, first without mentioning it in the prompt: a matching reply shows that the
// server or its adapter enforces it. Otherwise it asks again with the schema in the prompt, as a planner's prompt does.
func (x *exchange) schema() outcome {
	r, err := x.call(&model.Request{Messages: user(schemaTask), Schema: place}, nil)
	if err != nil {
		return failed(err)
	}
	if validate(r.Text) == nil {
		return outcome{Yes, "native", nil}
	}
	if note := unusable(r); note != "" && r.Stop == model.MaxTokens {
		return outcome{Partly, note, nil}
	}
	r, err = x.call(&model.Request{Messages: user(schemaWords + string(place.Schema)), Schema: place}, nil)
	if err != nil {
		return failed(err)
	}
	mismatch := validate(r.Text)
	if mismatch == nil {
		return outcome{Yes, "through the prompt only; the server does not enforce schemas", nil}
	}
	if note := unusable(r); note != "" {
		return outcome{Partly, note, nil}
	}
	why, _, _ := strings.Cut(mismatch.Error(), "\n")
	return outcome{No, "the reply does not match the schema: " + why + ": " + quoteReply(r.Text), nil}
}

// validate checks the JSON object in a reply against the schema. Text and code fences around it are ignored, as in runs.
func validate(text string) error {
	from, to := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if from < 0 || to < from {
		return errors.New("no JSON object")
	}
	v, err := schema.Decode([]byte(text[from : to+1]))
	if err != nil {
		return err
	}
	s, err := schema.Compile(place.Schema)
	if err != nil {
		return err
	}
	return s.Validate(v)
}
