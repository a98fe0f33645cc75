package dsl

import (
	"strings"
	"unicode/utf8"
)

// Source is a text of a spec that may reach a prompt.
type Source struct {
	Path string // planner.system_prompt; for what {use: name} takes, that of the place that uses it too
	File string // as diagnostics name it, or the flag or variable; "" = built in
	Line int    // of its first line; 0 = it stands in no file
	Text string // as decoded, with its references; of what is built in, the beginning

	value *value
}

// LineAt is the line of a byte of the text; 0 = it stands in no file.
func (s Source) LineAt(offset int) int {
	if s.Line == 0 {
		return 0
	}
	if s.value == nil {
		return s.Line + strings.Count(s.Text[:min(offset, len(s.Text))], "\n")
	}
	return s.value.within(offset).line
}

// Sources lists the texts of a spec in its order: prompts, descriptions, names
// of tools, and every other scalar; then what is built in because the spec says
// nothing.
func (s *Spec) Sources() []Source {
	var out []Source
	prompts := s.tree.get("prompts")
	for _, e := range s.tree.entries {
		switch e.key {
		case "apiVersion", "kind", "tests", "evals", "include":
		case "tools":
			for _, tool := range e.val.entries {
				out = tool.val.sources(join(e.key, tool.key), prompts, append(out, tool.named(e.key)))
			}
		default:
			out = e.val.sources(e.key, prompts, out)
		}
	}
	for _, d := range s.defaults {
		if text, _ := strings.CutSuffix(d.Value, "…"); utf8.RuneCountInString(text) >= leastBuiltIn {
			out = append(out, Source{Path: d.Path, Text: text})
		}
	}
	return out
}

// leastBuiltIn is how long a default is that is a text to read.
const leastBuiltIn = 20

func (v *value) sources(path string, prompts *value, out []Source) []Source {
	if key, name := pointer(v); key == "use" && prompts != nil {
		if named := prompts.get(name); named != nil && named.isScalar() {
			v = named
		}
	}
	switch v.kind {
	case dict:
		for _, e := range v.entries {
			if e.key == "spec" && e.val.src != nil && e.val.src.kind == resolved {
				out = e.val.offered(join(path, e.key), out)
				continue
			}
			out = e.val.sources(join(path, e.key), prompts, out)
		}
	case list:
		for i, it := range v.items {
			out = it.sources(path+"["+itoa(i)+"]", prompts, out)
		}
	case null:
	default:
		out = append(out, v.asSource(path))
	}
	return out
}

// offered are the texts of an agent that those see who may call it: what it is,
// and what it wants. Its prompts are its own.
func (v *value) offered(path string, out []Source) []Source {
	for _, key := range []string{"metadata", "parameters"} {
		if section := v.get(key); section != nil {
			out = section.sources(join(path, key), nil, out)
		}
	}
	return out
}

// named is the name of a component, which stands for all that is said of it.
func (e *entry) named(section string) Source {
	s := Source{Path: join(section, e.key), Text: e.key}
	if e.place.src != nil {
		s.File, s.Line = e.place.src.name, e.place.line
	}
	return s
}

func (v *value) asSource(path string) Source {
	s := Source{Path: path, Text: v.text}
	if v.src == nil {
		return s
	}
	s.File = v.src.name
	if v.src.isFile() {
		s.value = v
		s.Line = v.within(0).line
	}
	return s
}
