package sink

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// draft is what a reply in JSON shows of a plan while it is being streamed.
type draft struct {
	steps  []string // goals; the last one may be incomplete
	result string   // so far
}

// goalKeys are the keys under which a step may have its goal.
var goalKeys = []string{"goal", "task", "description", "step", "title", "name"}

// jsonStart matches where a reply in JSON begins: at once, maybe in a fence, or
// after some prose with the object of a plan.
var jsonStart = text.Regexp("^\\s*(?:```\\w*\\s*)?(?:\\{|\\[\\s*[\"{\\[])|\\{\\s*\"(?:steps|result)\"")

// jsonIn returns the JSON of a reply that is being streamed; ok is false where
// there is none yet.
func jsonIn(text string) (json string, ok bool) {
	if _, reply, thought := strings.Cut(text, "</think>"); thought {
		text = reply
	}
	at := jsonStart().FindStringIndex(text)
	if at == nil {
		return "", false
	}
	return strings.TrimLeft(text[at[0]:], " \t\r\n"), true
}

// readDraft reads the steps and the result out of the beginning of a reply. It
// accepts anything: what it does not recognize is not shown.
func readDraft(json string) draft {
	i := strings.IndexAny(json, "{[")
	if i < 0 {
		return draft{}
	}
	s := scanner{text: json[i:]}
	s.value("")
	return s.draft
}

// scanner reads JSON that may end anywhere.
type scanner struct {
	text  string
	depth int
	draft draft
}

// maxDepth bounds the nesting of a reply that is looked into.
const maxDepth = 50

// value reads a value that is stored under a path of keys, such as
// "steps.goal"; ok is false where the text ends or is not JSON.
func (s *scanner) value(path string) (ok bool) {
	s.space()
	if s.text == "" || s.depth >= maxDepth {
		return false
	}
	switch s.text[0] {
	case '{':
		return s.object(path)
	case '[':
		return s.array(path)
	case '"':
		str, whole := s.str()
		s.found(path, str)
		return whole
	}
	end := strings.IndexAny(s.text, ",]}\n")
	if end <= 0 { // the text ends here, or there is no value
		return false
	}
	s.text = s.text[end:]
	return true
}

// found takes a text that is stored under a path.
func (s *scanner) found(path, text string) {
	switch key, under := strings.CutPrefix(path, "steps."); {
	case path == "result":
		s.draft.result = text
	case path == "steps", under && slices.Contains(goalKeys, key):
		s.draft.steps = append(s.draft.steps, text)
	}
}

func (s *scanner) object(path string) bool {
	s.depth++
	defer func() { s.depth-- }()
	before := len(s.draft.steps)
	for s.text = s.text[1:]; ; {
		s.space()
		switch {
		case s.text == "":
			return false
		case s.text[0] == '}':
			s.text = s.text[1:]
			return true
		case s.text[0] == ',':
			s.text = s.text[1:]
			continue
		case s.text[0] != '"':
			return false
		}
		key, whole := s.str()
		s.space()
		if !whole || !strings.HasPrefix(s.text, ":") {
			return false
		}
		s.text = s.text[1:]
		ok := s.value(strings.TrimPrefix(path+"."+key, "."))
		if path == "steps" { // one goal for each step
			s.draft.steps = s.draft.steps[:min(len(s.draft.steps), before+1)]
		}
		if !ok {
			return false
		}
	}
}

func (s *scanner) array(path string) bool {
	s.depth++
	defer func() { s.depth-- }()
	if path == "" { // a plan may be the bare list of its steps
		path = "steps"
	}
	for s.text = s.text[1:]; ; {
		s.space()
		switch {
		case s.text == "":
			return false
		case s.text[0] == ']':
			s.text = s.text[1:]
			return true
		case s.text[0] == ',':
			s.text = s.text[1:]
			continue
		}
		if !s.value(path) {
			return false
		}
	}
}

// str reads a string; whole is false where the text ends within it.
func (s *scanner) str() (text string, whole bool) {
	end := 1
	for end < len(s.text) && s.text[end] != '"' {
		if s.text[end] == '\\' {
			end++
		}
		end++
	}
	whole = end < len(s.text)
	raw := s.text[1:min(end, len(s.text))]
	s.text = s.text[min(end+1, len(s.text)):]
	return unquote(raw), whole
}

// unquote resolves the escapes of a string that may be incomplete.
func unquote(raw string) string {
	if !strings.Contains(raw, `\`) {
		return raw
	}
	var b strings.Builder
	for {
		before, after, escape := strings.Cut(raw, `\`)
		b.WriteString(before)
		if !escape || after == "" {
			return b.String()
		}
		size := 1
		switch after[0] {
		case 'n', 't', 'r', 'b', 'f':
			b.WriteByte(' ')
		case 'u':
			if size = 5; len(after) < size {
				return b.String()
			}
			code, err := strconv.ParseUint(after[1:size], 16, 16)
			if err != nil {
				code = '\uFFFD'
			}
			b.WriteRune(rune(code))
		default:
			b.WriteByte(after[0])
		}
		raw = after[size:]
	}
}

func (s *scanner) space() { s.text = strings.TrimLeft(s.text, " \t\r\n") }
