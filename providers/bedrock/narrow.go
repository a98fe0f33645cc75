package bedrock

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/members"
)

// unsayable are keywords that Bedrock's schemas have no means for, and without
// which a schema would be another.
var unsayable = []string{
	"$ref", "$dynamicRef", "allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies",
	"patternProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "contains", "prefixItems", "additionalItems",
}

// shapes are those of them that say what a value is in the place of a type.
var shapes = []string{"$ref", "$dynamicRef", "allOf", "oneOf"}

// needless are keywords that bound a value: without them more is allowed, and
// the caller validates in any case.
var needless = []string{
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "format",
	"minItems", "maxItems", "uniqueItems", "minContains", "maxContains", "minProperties", "maxProperties",
	"$schema", "$id", "$comment", "$defs", "definitions", "default", "examples", "readOnly", "writeOnly", "deprecated",
}

// maxDepth is how deep a schema is read.
const maxDepth = 64

// narrowing collects what Bedrock's schemas have no means for.
type narrowing struct{ found component.Faults }

func (n *narrowing) add(at, message, hint string) {
	n.found = append(n.found, component.Fault{At: at, Message: message, Hint: hint})
}

// closed writes a schema with every object closed and without its bounds.
func (n *narrowing) closed(text json.RawMessage, at string) json.RawMessage {
	node, ok := members.Of(text)
	switch {
	case !ok:
		n.add(at, "it says nothing of a value", "give it a type")
		return nil
	case strings.Count(at, "/") > 2*maxDepth:
		n.add("", "it is too deeply nested", "make it flatter")
		return nil
	}
	told := false
	for _, k := range node {
		if slices.Contains(unsayable, k.Name) {
			told = told || slices.Contains(shapes, k.Name)
			n.add(at+"/"+k.Name, k.Name+" is not known there", "write out what it comes to, or leave it out and check it by output.ensures")
		}
	}
	node = slices.DeleteFunc(node, func(k members.Member) bool {
		return slices.Contains(needless, k.Name) || slices.Contains(unsayable, k.Name)
	})
	if !told {
		node = n.shut(node, at)
	}
	for i, k := range node {
		switch at := at + "/" + k.Name; k.Name {
		case "properties":
			node[i].Value = n.each(k.Value, at)
		case "items":
			node[i].Value = n.closed(k.Value, at)
		case "anyOf":
			node[i].Value = n.list(k.Value, at)
		}
	}
	return node.JSON()
}

// shut closes the keys of an object; values must be of a type, and lists say
// what they hold.
func (n *narrowing) shut(node members.Object, at string) members.Object {
	types := kinds(node)
	if node.Get("type") == nil && node.Get("enum") == nil && node.Get("const") == nil && node.Get("anyOf") == nil {
		n.add(at, "it says nothing of a value", "give it a type")
	}
	if slices.Contains(types, "array") && node.Get("items") == nil {
		n.add(at, "a list may hold anything", "write items: {type: ...}")
	}
	if !slices.Contains(types, "object") {
		return node
	}
	switch open := node.Get("additionalProperties"); {
	case open != nil && string(open) != "false":
		n.add(at+"/additionalProperties", "the object takes other properties than its own", "write additionalProperties: false; of a dictionary make a list of keys and values")
	case node.Get("properties") == nil:
		n.add(at, "an object may hold anything", "name its properties; of a dictionary make a list of keys and values")
	case open == nil:
		node = append(node, members.Member{Name: "additionalProperties", Value: json.RawMessage("false")})
	}
	return node
}

// each closes the schemas of an object by name.
func (n *narrowing) each(text json.RawMessage, at string) json.RawMessage {
	node, ok := members.Of(text)
	if !ok {
		n.add(at, "there are no schemas by name", "write a mapping")
	}
	for i, k := range node {
		node[i].Value = n.closed(k.Value, at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(k.Name))
	}
	return node.JSON()
}

// list closes the schemas of a list.
func (n *narrowing) list(text json.RawMessage, at string) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		n.add(at, "there is nothing to choose from", "write a list of schemas")
	}
	for i := range list {
		list[i] = n.closed(list[i], at+"/"+strconv.Itoa(i))
	}
	out, err := json.Marshal(list)
	if err != nil {
		return nil
	}
	return out
}
