package bedrock

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
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
	node, err := parse(text)
	switch {
	case err != nil:
		n.add(at, "it says nothing of a value", "give it a type")
		return nil
	case strings.Count(at, "/") > 2*maxDepth:
		n.add("", "it is too deeply nested", "make it flatter")
		return nil
	}
	told := false
	for _, k := range node {
		if slices.Contains(unsayable, k.name) {
			told = told || slices.Contains(shapes, k.name)
			n.add(at+"/"+k.name, k.name+" is not known there", "write out what it comes to, or leave it out and check it by output.ensures")
		}
	}
	node = slices.DeleteFunc(node, func(k keyword) bool {
		return slices.Contains(needless, k.name) || slices.Contains(unsayable, k.name)
	})
	if !told {
		node = n.shut(node, at)
	}
	for i, k := range node {
		switch at := at + "/" + k.name; k.name {
		case "properties":
			node[i].value = n.each(k.value, at)
		case "items":
			node[i].value = n.closed(k.value, at)
		case "anyOf":
			node[i].value = n.list(k.value, at)
		}
	}
	out, err := json.Marshal(node)
	if err != nil { // a part of it is none, which was told
		return nil
	}
	return out
}

// shut closes the keys of an object; values must be of a type, and lists say
// what they hold.
func (n *narrowing) shut(node schemaNode, at string) schemaNode {
	types := kinds(node)
	if node.get("type") == nil && node.get("enum") == nil && node.get("const") == nil && node.get("anyOf") == nil {
		n.add(at, "it says nothing of a value", "give it a type")
	}
	if slices.Contains(types, "array") && node.get("items") == nil {
		n.add(at, "a list may hold anything", "write items: {type: ...}")
	}
	if !slices.Contains(types, "object") {
		return node
	}
	switch open := node.get("additionalProperties"); {
	case open != nil && string(open) != "false":
		n.add(at+"/additionalProperties", "the object takes other properties than its own", "write additionalProperties: false; of a dictionary make a list of keys and values")
	case node.get("properties") == nil:
		n.add(at, "an object may hold anything", "name its properties; of a dictionary make a list of keys and values")
	case open == nil:
		node = append(node, keyword{"additionalProperties", json.RawMessage("false")})
	}
	return node
}

// each closes the schemas of an object by name.
func (n *narrowing) each(text json.RawMessage, at string) json.RawMessage {
	node, err := parse(text)
	if err != nil {
		n.add(at, "there are no schemas by name", "write a mapping")
	}
	for i, k := range node {
		node[i].value = n.closed(k.value, at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(k.name))
	}
	out, err := json.Marshal(node)
	if err != nil {
		return nil
	}
	return out
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
