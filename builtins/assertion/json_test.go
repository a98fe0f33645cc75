package assertion_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/builtins/assertion"
	"github.com/pexctl/pex/eval/trial"
)

func TestJSONSchema(t *testing.T) {
	const total = `{"type":"object","properties":{"total":{"type":"integer"}},"required":["total"]}`
	for _, c := range []struct {
		name, schema, path string
		subject            *trial.Subject
		want               expect
	}{
		{name: "the output", schema: total, subject: withOutput(`{"total":3}`), want: expect{pass: true, message: "fits the schema"}},
		{name: "long digits are whole numbers", schema: total, subject: withOutput(`{"total":12345678901234567890}`), want: pass},
		{name: "the output does not fit", schema: total, subject: withOutput(`{"total":"3"}`), want: expect{message: "total"}},
		{name: "the response as JSON", schema: total, subject: withResponse(` {"total":3} `), want: pass},
		{name: "the response in a fence", schema: total, subject: withResponse("```\n{\"total\":3}\n```"), want: pass},
		{name: "two fences", schema: total, subject: withResponse("```\n{\"total\":3}\n```\n```\n{}\n```"), want: expect{message: "the answer is not JSON"}},
		{name: "prose", schema: total, subject: withResponse("three"), want: expect{message: "the answer is not JSON"}},
		{name: "an empty answer", schema: total, subject: withResponse(""), want: expect{message: "the answer is not JSON: unexpected end of the JSON"}},
		{name: "a part", schema: `{"type":"integer"}`, path: "$.total", subject: withOutput(`{"total":3}`), want: pass},
		{name: "no such part", schema: `{"type":"integer"}`, path: "$.sum", subject: withOutput(`{"total":3}`), want: expect{message: "$.sum selects 0 values"}},
		{name: "nested very deep", schema: total, subject: withResponse(strings.Repeat("[", 9000) + strings.Repeat("]", 9000)), want: expect{message: "nested more than 1000 levels deep"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, newCheck(t, assertion.JSONSchema, none, func(k *assertion.JSONSchemaConfig) {
				if k.Schema = schemaRef(t, c.schema); c.path != "" {
					k.Path = path(t, c.path)
				}
			}), c.subject, c.want)
		})
	}
	wantInvalid(t, assertion.JSONSchema, "requires schema", func(*assertion.JSONSchemaConfig) {})
}

func TestJSONPath(t *testing.T) {
	yes, no, two := true, false, 2
	tenth, three := 0.1, 3.0
	const output = `{"n":0.1,"big":9007199254740993,"s":"3","ok":true,"nil":null,"list":[1,2,3],"users":[{"name":"Ana"},{"name":"Bo"}]}`
	for _, c := range []struct {
		name, path string
		edit       func(*assertion.JSONPathConfig)
		equals     string
		want       expect
	}{
		{name: "there", path: "$.n", want: expect{pass: true, message: "selects what is wanted"}},
		{name: "not there", path: "$.m", want: expect{message: "$.m selects 0 values"}},
		{name: "exists", path: "$.nil", edit: func(k *assertion.JSONPathConfig) { k.Exists = &yes }, want: pass},
		{name: "must not exist", path: "$.m", edit: func(k *assertion.JSONPathConfig) { k.Exists = &no }, want: pass},
		{name: "exists and must not", path: "$.n", edit: func(k *assertion.JSONPathConfig) { k.Exists = &no }, want: expect{message: "selects 1 value"}},
		{name: "count", path: "$.users[*]", edit: func(k *assertion.JSONPathConfig) { k.Count = &two }, want: pass},
		{name: "other count", path: "$.list[*]", edit: func(k *assertion.JSONPathConfig) { k.Count = &two }, want: expect{message: "selects 3 values"}},
		{name: "equals a number", path: "$.n", equals: `0.10`, want: pass},
		{name: "equals long digits", path: "$.big", equals: `9007199254740993`, want: pass},
		{name: "not nearly", path: "$.big", equals: `9007199254740992`, want: expect{message: "selects something else"}},
		{name: "equals true", path: "$.ok", equals: `true`, want: pass},
		{name: "equals null", path: "$.nil", equals: `null`, want: pass},
		{name: "text for a number", path: "$.n", equals: `"0.1"`, want: pass},
		{name: "a number for text", path: "$.s", equals: `3`},
		{name: "text", path: "$.s", equals: `"3"`, want: pass},
		{name: "of the row", path: "$.users[0].name", equals: `"${case.user.name}"`, want: pass},
		{name: "no such column", path: "$.n", equals: `"${case.x}"`, want: expect{err: "case.x does not exist"}},
		{name: "a list", path: "$.list", equals: `[1,2,3.0]`, want: pass},
		{name: "several as a list", path: "$.users[*].name", equals: `["Ana","Bo"]`, want: pass},
		{name: "several in other order", path: "$.users[*].name", equals: `["Bo","Ana"]`, want: expect{message: "something else"}},
		{name: "none as an empty list", path: "$.m[*]", equals: `[]`, want: pass},
		{name: "bounds", path: "$.list[*]", edit: func(k *assertion.JSONPathConfig) { k.Min, k.Max = &tenth, &three }, want: pass},
		{name: "at the bound to the digit", path: "$.n", edit: func(k *assertion.JSONPathConfig) { k.Min, k.Max = &tenth, &tenth }, want: pass},
		{name: "below", path: "$.n", edit: func(k *assertion.JSONPathConfig) { k.Min = &three }, want: expect{message: "$.n selects 0.1, below 3"}},
		{name: "above", path: "$.big", edit: func(k *assertion.JSONPathConfig) { k.Max = &three }, want: expect{message: "above 3"}},
		{name: "no number", path: "$.s", edit: func(k *assertion.JSONPathConfig) { k.Max = &three }, want: expect{message: "which is not a number"}},
		{name: "nothing to bound", path: "$.m", edit: func(k *assertion.JSONPathConfig) { k.Max = &three }, want: expect{message: "selects nothing"}},
		{name: "equals and bounds", path: "$.n", equals: "0.1", edit: func(k *assertion.JSONPathConfig) { k.Max = &three }, want: pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, newCheck(t, assertion.JSONPath, none, func(k *assertion.JSONPathConfig) {
				if k.Path = path(t, c.path); c.equals != "" {
					k.Equals = anyValue(t, c.equals)
				}
				if c.edit != nil {
					c.edit(k)
				}
			}), withOutput(output), c.want)
		})
	}
	prose := newCheck(t, assertion.JSONPath, none, func(k *assertion.JSONPathConfig) { k.Path, k.Exists = path(t, "$.n"), &no })
	check(t, prose, withResponse("no JSON"), expect{message: "the answer is not JSON"})
	for want, edit := range map[string]func(*assertion.JSONPathConfig){
		"requires path":        func(*assertion.JSONPathConfig) {},
		"exists: false cannot": func(k *assertion.JSONPathConfig) { k.Path, k.Exists, k.Count = path(t, "$"), &no, &two },
		"min 3 is above":       func(k *assertion.JSONPathConfig) { k.Path, k.Min, k.Max = path(t, "$"), &three, &tenth },
	} {
		t.Run(want, func(t *testing.T) { wantInvalid(t, assertion.JSONPath, want, edit) })
	}
}
