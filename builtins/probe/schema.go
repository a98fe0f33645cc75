package probe

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/pexctl/pex/dsl/schema"
	"github.com/pexctl/pex/engine/model"
)

// place is a schema whose names no model would choose by itself, so that a reply
// that fits was held to it.
var place = &model.ReplySchema{Name: "place", Schema: json.RawMessage(
	`{"type":"object","properties":{"spot":{"type":"string"},"letters":{"type":"integer"},"side":{"type":"string","enum":["north","south"]}},` +
		`"required":["spot","letters","side"],"additionalProperties":false}`)}

const (
	schemaTask  = "Describe the city of Oslo in JSON."
	schemaWords = schemaTask + " Reply with one JSON object and nothing else: spot is its name, letters how many letters that has, side the half of the earth it is on, by this JSON Schema:\n"
)

// schema asks for JSON of a schema, first without a word of it in the prompt:
// if the reply fits, the server or its adapter saw to it. Else with the words
// that a planner's prompt would have.
func (x *exchange) schema() outcome {
	r, err := x.ask(&model.Request{Messages: user(schemaTask), Schema: place}, nil)
	if err != nil {
		return broken(err)
	}
	if fits(r.Text) == nil {
		return outcome{Yes, "native", nil}
	}
	if note := mute(r); note != "" && r.Stop == model.MaxTokens {
		return outcome{Partly, note, nil}
	}
	r, err = x.ask(&model.Request{Messages: user(schemaWords + string(place.Schema)), Schema: place}, nil)
	if err != nil {
		return broken(err)
	}
	misfit := fits(r.Text)
	if misfit == nil {
		return outcome{Yes, "by prompt: the server does not hold the model to a schema", nil}
	}
	if note := mute(r); note != "" {
		return outcome{Partly, note, nil}
	}
	why, _, _ := strings.Cut(misfit.Error(), "\n")
	return outcome{No, "the reply does not fit the schema: " + why + ": " + quoted(r.Text), nil}
}

// fits checks a reply against the schema; what stands around the object, a
// fence or a sentence, is no fault, since runs look past it too.
func fits(text string) error {
	from, to := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if from < 0 || to < from {
		return errors.New("it has no JSON object")
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
