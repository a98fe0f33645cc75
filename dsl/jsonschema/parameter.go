package jsonschema

import (
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
)

// wordDocs says what the words of a parameter's schema mean.
var wordDocs = map[string]string{
	"type":                  "What the value is.",
	"description":           "What it is for; callers, and models that call this agent as a tool, read it.",
	"title":                 "A short name for people.",
	"default":               "The value when none is given; it is data and no template.",
	"required":              "true: a run without it is refused.",
	"enum":                  "The values it may have.",
	"const":                 "The only value it may have.",
	"examples":              "Values as examples; they are not checked.",
	"format":                "A hint such as date or uri.",
	"pattern":               "A regular expression that a text must match somewhere.",
	"minimum":               "The least a number may be.",
	"maximum":               "The most a number may be.",
	"exclusiveMinimum":      "A number must be greater.",
	"exclusiveMaximum":      "A number must be less.",
	"multipleOf":            "A number must be a multiple of it.",
	"minLength":             "The least characters of a text.",
	"maxLength":             "The most characters of a text.",
	"items":                 "The schema of a list's items.",
	"prefixItems":           "The schemas of a list's first items, in order.",
	"minItems":              "The least items of a list.",
	"maxItems":              "The most items of a list.",
	"uniqueItems":           "true: no item of a list stands twice.",
	"contains":              "A schema that an item of a list must fit.",
	"properties":            "The schemas of a mapping's keys.",
	"patternProperties":     "The schemas of keys that match a pattern.",
	"additionalProperties":  "The schema of other keys; false: there are none.",
	"propertyNames":         "The schema of the keys themselves.",
	"minProperties":         "The least keys of a mapping.",
	"maxProperties":         "The most keys of a mapping.",
	"dependentRequired":     "Keys that must be there when another is.",
	"anyOf":                 "Schemas of which one or more must fit.",
	"allOf":                 "Schemas that must all fit.",
	"oneOf":                 "Schemas of which exactly one must fit.",
	"not":                   "A schema that must not fit.",
	"if":                    "A schema that decides between then and else.",
	"then":                  "The schema when that of if fits.",
	"else":                  "The schema when that of if does not fit.",
	"$ref":                  "A schema of $defs, as #/$defs/name.",
	"$defs":                 "Schemas by name, for $ref.",
	"$comment":              "A remark for readers of the schema.",
	"deprecated":            "true: callers should not give it any more.",
	"contentEncoding":       "How bytes are written as text, such as base64.",
	"contentMediaType":      "What the text holds, such as image/png.",
	"readOnly":              "A hint for forms: nobody writes it.",
	"writeOnly":             "A hint for forms: nobody is shown it.",
	"unevaluatedProperties": "The schema of keys that no other word looks at.",
}

var jsonTypes = []string{"string", "integer", "number", "boolean", "array", "object", "null"}

// parameterSchema is one entry of parameters.
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
