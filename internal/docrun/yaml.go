package docrun

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// least is the spec that parts of specs are laid over, if they name no other.
const least = `apiVersion: pex/v1
kind: Agent
metadata: {name: example}
llms: {main: {provider: scripted, options: {replies: [{text: done}]}}}
tools: {clock: {}}
`

// Overlay is a document with a part of one laid over it: sections of both are
// merged, and an entry of the part comes in the place of one with its name.
func Overlay(whole, part string) (string, error) {
	var under, over yaml.Node
	if err := yaml.Unmarshal([]byte(whole), &under); err != nil {
		return "", err
	}
	if err := yaml.Unmarshal([]byte(part), &over); err != nil {
		return "", err
	}
	if len(over.Content) == 0 || over.Content[0].Kind != yaml.MappingNode || len(under.Content) == 0 {
		return "", fmt.Errorf("it has no keys")
	}
	merge(under.Content[0], over.Content[0], 2)
	out, err := yaml.Marshal(&under)
	return string(out), err
}

// merge lays one mapping over another, so many levels deep.
func merge(under, over *yaml.Node, levels int) {
	for i := 0; i+1 < len(over.Content); i += 2 {
		key, value := over.Content[i], over.Content[i+1]
		old := at(under, key.Value)
		switch {
		case old == nil:
			under.Content = append(under.Content, key, value)
		case levels > 1 && old.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode:
			merge(old, value, levels-1)
		default:
			*old = *value
		}
	}
}

// at is the value of a key; nil = there is none.
func at(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// isWhole says that a block is a file of ours by itself.
func isWhole(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "apiVersion: pex/") {
			return true
		}
	}
	return false
}
