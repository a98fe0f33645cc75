package sink

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// draft is the part of a plan that has been streamed so far as JSON.
type draft struct {
	steps  []string // goals; the last one may be incomplete
	result string   // incomplete while streaming
}

// goalKeys are the keys that may contain the goal of a step.
var goalKeys = []string{"goal", "task", "description", "step", "title", "name"}

// jsonStart matches the start of a JSON reply: at once, in a fence, or after prose with
// the object of a plan.
var jsonStart = text.Regexp("^\\s*(?:```\\w*\\s*)?(?:\\{|\\[\\s*[\"{\\[])|\\{\\s*\"(?:steps|result)\"")

// jsonIn returns the JSON part of a streamed reply. ok is false if there is none yet.
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

// readDraft reads the steps and the result from the start of a reply. It accepts any text
// and ignores what it does not recognize.
func readDraft(json string) draft {
	i := strings.IndexAny(json, "{[")
	if i < 0 {
		return draft{}
	}
	s := scanner{text: json[i:]}
	s.value("")
	return s.draft
}

// scanner reads JSON that may be truncated anywhere.
type scanner struct {
	text  string
	depth int
	draft draft
}

// maxDepth is the maximum nesting depth that is read.
const maxDepth = 50

// value reads a value and stores it under a path of keys, such as "steps.goal". ok is
// false if the text ends or is not JSON.
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

// found stores a text under its path.
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
		if path == "steps" { // one goal per step
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
	if path == "" { // a plan may be just the list of its steps
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

// str reads a string. whole is false if the text ends within it.
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

// unquote decodes the escapes of a string that may be incomplete.
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
