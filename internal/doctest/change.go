package doctest

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// Patch applies a diff block to a text. Lines that start with a space or - must occur exactly once, anywhere; they
// are replaced by the lines with a space or +. @@ starts the next hunk.
func Patch(text, diff string) (string, error) {
	var before, after []string
	flush := func() error {
		old := strings.Join(before, "")
		if len(before)+len(after) == 0 {
			return nil
		}
		switch n := occurrences(text, old); {
		case len(before) == 0:
			return fmt.Errorf("the diff adds lines without context: %s", strings.Join(after, ""))
		case n != 1:
			return fmt.Errorf("must occur once, but occurs %d times:\n%s", n, old)
		}
		text = strings.Replace("\n"+text, "\n"+old, "\n"+strings.Join(after, ""), 1)[1:]
		before, after = nil, nil
		return nil
	}
	for i, line := range strings.SplitAfter(diff, "\n") {
		switch {
		case line == "" || i == 0 && strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "@@"):
			if err := flush(); err != nil {
				return "", err
			}
		case line[0] == '-':
			before = append(before, line[1:])
		case line[0] == '+':
			after = append(after, line[1:])
		case line[0] == ' ' || line == "\n":
			same := strings.TrimPrefix(line, " ")
			before, after = append(before, same), append(after, same)
		default:
			return "", fmt.Errorf("a line of a diff must start with -, +, a space or @@: %s", line)
		}
	}
	if err := flush(); err != nil {
		return "", err
	}
	return text, nil
}

// occurrences returns how often lines occur in a text.
func occurrences(text, lines string) int {
	n := 0
	for at := range text {
		if (at == 0 || text[at-1] == '\n') && strings.HasPrefix(text[at:], lines) {
			n++
		}
	}
	return n
}

// minimalSpec is the spec that parts of specs are merged into by default.
const minimalSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: example}
llms: {main: {provider: scripted, options: {replies: [{text: done}]}}}
tools: {clock: {}}
`

// Overlay merges a part into a document. Mappings are merged up to a depth; other values replace existing ones.
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

// merge merges one mapping into another, up to a number of levels.
func merge(under, over *yaml.Node, levels int) {
	for i := 0; i+1 < len(over.Content); i += 2 {
		key, value := over.Content[i], over.Content[i+1]
		old := valueOf(under, key.Value)
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

// valueOf returns the value of a key, or nil.
func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// isComplete reports whether a block is a complete spec, suite or other file of pexctl.
func isComplete(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "apiVersion: pex/") {
			return true
		}
	}
	return false
}
