package jsonschema

import (
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
)

// wordDocs documents the keywords of a parameter's schema.
var wordDocs = map[string]string{
	"type":                  "The type of the value.",
	"description":           "The purpose. Callers read it, and so do models that call this agent as a tool.",
	"title":                 "A short name for people.",
	"default":               "The value if none is given. It is not a template.",
	"required":              "With true, a run without it is rejected.",
	"enum":                  "The allowed values.",
	"const":                 "The only allowed value.",
	"examples":              "Example values. They are not checked.",
	"format":                "A hint such as date or uri.",
	"pattern":               "A regular expression that a string must match.",
	"minimum":               "The minimum of a number.",
	"maximum":               "The maximum of a number.",
	"exclusiveMinimum":      "The number must be greater than this.",
	"exclusiveMaximum":      "The number must be less than this.",
	"multipleOf":            "The number must be a multiple of this.",
	"minLength":             "The minimum length of a string, in characters.",
	"maxLength":             "The maximum length of a string, in characters.",
	"items":                 "The schema of the items of a list.",
	"prefixItems":           "The schemas of the first items of a list, in order.",
	"minItems":              "The minimum number of items in a list.",
	"maxItems":              "The maximum number of items in a list.",
	"uniqueItems":           "With true, the items of a list must be different.",
	"contains":              "A schema that at least one item of a list must match.",
	"properties":            "The schemas of the keys of a mapping.",
	"patternProperties":     "The schemas of keys that match a pattern.",
	"additionalProperties":  "The schema of other keys. With false, no other keys are allowed.",
	"propertyNames":         "The schema of the keys themselves.",
	"minProperties":         "The minimum number of keys in a mapping.",
	"maxProperties":         "The maximum number of keys in a mapping.",
	"dependentRequired":     "Keys that are required if another key exists.",
	"anyOf":                 "Schemas of which at least one must match.",
	"allOf":                 "Schemas that must all match.",
	"oneOf":                 "Schemas of which exactly one must match.",
	"not":                   "A schema that must not match.",
	"if":                    "The schema that selects then or else.",
	"then":                  "The schema if the one of if matches.",
	"else":                  "The schema if the one of if does not match.",
	"$ref":                  "A schema in $defs, such as #/$defs/name.",
	"$defs":                 "Schemas by name, for $ref.",
	"$comment":              "A comment for readers of the schema.",
	"deprecated":            "With true, callers should no longer pass it.",
	"contentEncoding":       "The encoding of binary data, such as base64.",
	"contentMediaType":      "The media type of the contents, such as image/png.",
	"readOnly":              "A hint for forms: the value cannot be changed.",
	"writeOnly":             "A hint for forms: the value is not shown.",
	"unevaluatedProperties": "The schema of keys that no other keyword covers.",
}

var jsonTypes = []string{"string", "integer", "number", "boolean", "array", "object", "null"}

// parameterSchema returns the schema of one entry of parameters.
func parameterSchema() *syntax.Node {
	types := syntax.NewMap("enum", syntax.NewTexts(jsonTypes...))
	shapes := map[string]*syntax.Node{
		"type":     syntax.NewMap("anyOf", syntax.NewList(types, syntax.NewMap("type", syntax.NewText("array"), "items", types))),
		"required": syntax.NewMap("type", syntax.NewTexts("boolean", "array", "null")),
		"enum":     typed("array"), "description": typed("string", "number", "null"), "pattern": typed("string"), "properties": typed("object"),
	}
	for _, w := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		shapes[w] = typed("number")
	}
	for _, w := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"} {
		shapes[w] = syntax.NewMap("type", syntax.NewText("integer"), "minimum", number("0"))
	}
	properties := syntax.NewMap()
	for _, w := range language.SchemaWords {
		v := shapes[w]
		if v == nil {
			v = syntax.NewMap()
		}
		v.Set("description", syntax.Position{}, syntax.NewText(wordDocs[w]))
		properties.Set(w, syntax.Position{}, v)
	}
	return syntax.NewMap("type", syntax.NewTexts("object", "null"), "properties", properties, "additionalProperties", flag(false))
}
