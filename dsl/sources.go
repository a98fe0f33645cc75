package dsl

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/syntax"
)

// Source is a text of a spec that may be part of a prompt.
type Source struct {
	Path string // planner.system_prompt; the text of {use: name} also has the path that uses it
	File string // as in diagnostics, or the flag or variable; "" for built-in text
	Line int    // of its first line; 0 if it is not in a file
	Text string // decoded, with its references; of built-in text, the beginning

	value *syntax.Node
}

// LineAt returns the line of a byte of the text, or 0 if it is not in a file.
func (s Source) LineAt(offset int) int {
	if s.Line == 0 {
		return 0
	}
	if s.value == nil {
		return s.Line + strings.Count(s.Text[:min(offset, len(s.Text))], "\n")
	}
	return s.value.PositionAt(offset).Line
}

// Sources returns the texts of a spec in order: prompts, descriptions, names of
// tools, and every other scalar, followed by the built-in texts of keys that the
// spec omits.
func (s *Spec) Sources() []Source {
	var out []Source
	prompts := s.tree.Get("prompts")
	for _, e := range s.tree.Entries {
		switch e.Key {
		case "apiVersion", "kind", "tests", "evals", "include":
		case "tools":
			for _, tool := range e.Value.Entries {
				out = addSources(tool.Value, config.Join(e.Key, tool.Key), prompts, append(out, nameSource(tool, e.Key)))
			}
		default:
			out = addSources(e.Value, e.Key, prompts, out)
		}
	}
	for _, d := range s.defaults {
		if text, _ := strings.CutSuffix(d.Value, "…"); utf8.RuneCountInString(text) >= minBuiltInText {
			out = append(out, Source{Path: d.Path, Text: text})
		}
	}
	return out
}

// minBuiltInText is the minimum length of a default that counts as a text.
const minBuiltInText = 20

func addSources(v *syntax.Node, path string, prompts *syntax.Node, out []Source) []Source {
	if key, name := config.Pointer(v); key == "use" && prompts != nil {
		if named := prompts.Get(name); named != nil && named.IsScalar() {
			v = named
		}
	}
	switch v.Kind {
	case syntax.Map:
		for _, e := range v.Entries {
			if e.Key == "spec" && e.Value.Source != nil && e.Value.Source.Kind == syntax.Resolved {
				out = addPublicTexts(e.Value, config.Join(path, e.Key), out)
				continue
			}
			out = addSources(e.Value, config.Join(path, e.Key), prompts, out)
		}
	case syntax.List:
		for i, it := range v.Items {
			out = addSources(it, path+"["+strconv.Itoa(i)+"]", prompts, out)
		}
	case syntax.Null:
	default:
		out = append(out, asSource(v, path))
	}
	return out
}

// addPublicTexts adds the texts of an agent that its callers see: its description and
// its parameters. Its prompts are private.
func addPublicTexts(v *syntax.Node, path string, out []Source) []Source {
	for _, key := range []string{"metadata", "parameters"} {
		if section := v.Get(key); section != nil {
			out = addSources(section, config.Join(path, key), nil, out)
		}
	}
	return out
}

// nameSource returns the name of a component, which represents all texts about
// it.
func nameSource(e *syntax.Entry, section string) Source {
	s := Source{Path: config.Join(section, e.Key), Text: e.Key}
	if e.Position.Source != nil {
		s.File, s.Line = e.Position.Source.Name, e.Position.Line
	}
	return s
}

func asSource(v *syntax.Node, path string) Source {
	s := Source{Path: path, Text: v.Text}
	if v.Source == nil {
		return s
	}
	s.File = v.Source.Name
	if v.Source.IsFile() {
		s.value = v
		s.Line = v.PositionAt(0).Line
	}
	return s
}
