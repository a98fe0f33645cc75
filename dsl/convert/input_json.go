package convert

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// deepest is how many levels of lists and objects are read.
const deepest = 100

// reader reads JSON as people keep it: with comments, commas at the end, texts
// between three quotes, an ellipsis where an example goes on, and the request
// line of the console above it.
type reader struct {
	file  string
	src   string
	pos   int
	notes []Note
}

var requestLine = lazily(`^(GET|POST|PUT)[ \t]+\S+[^\n{]*`)

// readAll reads all bodies of a file, one behind the other.
func readAll(in Input) ([]*item, []Note, error) {
	if len(in.Text) > most {
		return nil, nil, fmt.Errorf("%s: the file has more than %d bytes", in.Name, most)
	}
	r := &reader{file: in.Name, src: strings.TrimPrefix(string(in.Text), "\ufeff")}
	if !utf8.ValidString(r.src) {
		return nil, nil, fmt.Errorf("%s: the file is no text in UTF-8", in.Name)
	}
	var out []*item
	for {
		if r.skip(); r.pos == len(r.src) {
			break
		}
		if line := requestLine().FindString(r.src[r.pos:]); line != "" {
			r.pos += len(line)
			continue
		}
		it, err := r.value("", 0)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, it)
	}
	if len(out) == 0 {
		return nil, nil, fmt.Errorf("%s: there is no JSON in it", in.Name)
	}
	return out, r.notes, nil
}

// fail says what is wrong, and in which line and column.
func (r *reader) fail(format string, args ...any) error {
	before := r.src[:min(r.pos, len(r.src))]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
	return fmt.Errorf("%s:%d:%d: %s", r.file, line, column, fmt.Sprintf(format, args...))
}

// skip goes over blanks and comments.
func (r *reader) skip() {
	for r.pos < len(r.src) {
		rest := r.src[r.pos:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			r.pos++
		case strings.HasPrefix(rest, "//"), rest[0] == '#':
			r.pos += end(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			r.pos += end(rest, "*/")
		default:
			return
		}
	}
}

// end is how long a text is up to and with a mark; all of it without one.
func end(s, mark string) int {
	if i := strings.Index(s, mark); i >= 0 {
		return i + len(mark)
	}
	return len(s)
}

// next is the byte at which the reader stands, behind blanks; 0 = none is left.
func (r *reader) next() byte {
	if r.skip(); r.pos < len(r.src) {
		return r.src[r.pos]
	}
	return 0
}

func (r *reader) value(path string, depth int) (*item, error) {
	it := &item{file: r.file, path: path}
	if depth > deepest {
		return nil, r.fail("lists and objects lie in each other %d deep; no agent does", depth)
	}
	switch r.next() {
	case '{':
		it.kind = object
		return it, r.members(it, depth)
	case '[':
		it.kind = list
		return it, r.elements(it, depth)
	case '"':
		s, err := r.text()
		it.kind, it.text = text, s
		return it, err
	case 0:
		return nil, r.fail("the file ends where a value is expected")
	}
	word := r.src[r.pos : r.pos+wordEnd(r.src[r.pos:])]
	if it.kind = kindOfWord(word); it.kind == unknown {
		return nil, r.fail("%q is no JSON value", clip(r.src[r.pos:]))
	}
	r.pos += len(word)
	it.text = word
	return it, nil
}

func wordEnd(s string) int {
	if i := strings.IndexAny(s, " \t\r\n,]}:/#\"{["); i >= 0 {
		return i
	}
	return len(s)
}

func kindOfWord(word string) kind {
	switch {
	case word == "true" || word == "false":
		return boolean
	case word == "null":
		return null
	case word != "" && (word[0] == '-' || word[0] >= '0' && word[0] <= '9') && json.Valid([]byte(word)):
		return number
	}
	return unknown
}

// members reads an object; of a key that stands twice the last one counts, as
// in most readers, and a note says so.
func (r *reader) members(it *item, depth int) error {
	r.pos++
	for {
		switch c := r.next(); c {
		case '}':
			r.pos++
			return nil
		case ',':
			r.pos++
			continue
		case '"':
		default:
			return r.fail("a key between quotes is expected")
		}
		key, err := r.text()
		if err != nil {
			return err
		}
		if r.next() != ':' {
			return r.fail("a colon is expected behind the key %q", clip(key))
		}
		r.pos++
		member, err := r.value(below(it.path, key), depth+1)
		if err != nil {
			return err
		}
		if it.set(key, member) {
			r.notes = append(r.notes, Note{r.file, member.path, Changed, "the key stands twice; the last one counts"})
		}
		if c := r.next(); c != ',' && c != '}' {
			return r.fail("a comma or } is expected behind the value of %q", clip(key))
		}
	}
}

func (r *reader) elements(it *item, depth int) error {
	r.pos++
	for {
		switch c := r.next(); c {
		case ']':
			r.pos++
			return nil
		case ',':
			r.pos++
			continue
		case '.':
			for r.pos < len(r.src) && r.src[r.pos] == '.' {
				r.pos++
			}
			r.notes = append(r.notes, Note{r.file, it.path, Todo, "the list ends in dots: the example leaves something out; add it by hand"})
			continue
		}
		element, err := r.value(fmt.Sprintf("%s[%d]", it.path, len(it.items)), depth+1)
		if err != nil {
			return err
		}
		it.items = append(it.items, element)
		if c := r.next(); c != ',' && c != ']' && c != '.' {
			return r.fail("a comma or ] is expected in the list")
		}
	}
}

// text reads a text between quotes, or between three of them as the console has
// it. Line ends within one are kept: they are a slip that leaves no doubt.
func (r *reader) text() (string, error) {
	if rest := r.src[r.pos:]; strings.HasPrefix(rest, `"""`) {
		n := strings.Index(rest[3:], `"""`)
		if n < 0 {
			return "", r.fail("the text that begins with three quotes does not end")
		}
		r.pos += n + 6
		return rest[3 : n+3], nil
	}
	for i := r.pos + 1; i < len(r.src); i++ {
		switch r.src[i] {
		case '\\':
			i++
		case '"':
			raw := strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(r.src[r.pos : i+1])
			var s string
			if err := json.Unmarshal([]byte(raw), &s); err != nil {
				return "", r.fail("the text holds an escape or a character that JSON does not have")
			}
			r.pos = i + 1
			return s, nil
		}
	}
	return "", r.fail("the text does not end: a quote is missing")
}

// clip is the begin of a text, fit for a message.
func clip(s string) string {
	const longest = 40
	if r := []rune(s[:min(len(s), 4*longest)]); len(r) > longest {
		s = string(r[:longest]) + "..."
	}
	return oneLine(s)
}
