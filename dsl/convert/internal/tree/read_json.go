package tree

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/engine/text"
)

// maxDepth is the maximum nesting of lists and objects.
const maxDepth = 100

// Reader reads JSON as found in documentation and consoles: with comments,
// trailing commas, texts in triple quotes, an ellipsis for omitted parts, and a
// console's request line before it.
type Reader struct {
	File  string
	Src   string
	pos   int
	notes []convert.Note
}

var requestLine = text.Regexp(`^(GET|POST|PUT)[ \t]+\S+[^\n{]*`)

// ReadJSON reads all JSON values of a file.
func ReadJSON(in convert.Input) ([]*Value, []convert.Note, error) {
	if len(in.Text) > convert.MaxFile {
		return nil, nil, fmt.Errorf("%s: the file has more than %d bytes", in.Name, convert.MaxFile)
	}
	r := &Reader{File: in.Name, Src: strings.TrimPrefix(string(in.Text), "\ufeff")}
	if !utf8.ValidString(r.Src) {
		return nil, nil, fmt.Errorf("%s: the file is no text in UTF-8", in.Name)
	}
	var out []*Value
	for {
		if r.skip(); r.pos == len(r.Src) {
			break
		}
		if line := requestLine().FindString(r.Src[r.pos:]); line != "" {
			r.pos += len(line)
			continue
		}
		it, err := r.Value("", 0)
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

// fail returns an error with a line and column.
func (r *Reader) fail(format string, args ...any) error {
	before := r.Src[:min(r.pos, len(r.Src))]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
	return fmt.Errorf("%s:%d:%d: %s", r.File, line, column, fmt.Sprintf(format, args...))
}

// skip skips white space and comments.
func (r *Reader) skip() {
	for r.pos < len(r.Src) {
		rest := r.Src[r.pos:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			r.pos++
		case strings.HasPrefix(rest, "//"), rest[0] == '#':
			r.pos += lengthThrough(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			r.pos += lengthThrough(rest, "*/")
		default:
			return
		}
	}
}

// lengthThrough returns the length of a text up to and including a mark, or of the whole
// text if it has none.
func lengthThrough(s, mark string) int {
	if i := strings.Index(s, mark); i >= 0 {
		return i + len(mark)
	}
	return len(s)
}

// Next skips white space and returns the next byte, or 0 at the end.
func (r *Reader) Next() byte {
	if r.skip(); r.pos < len(r.Src) {
		return r.Src[r.pos]
	}
	return 0
}

// Value reads the next value. path is its place in the file, depth the number of
// lists and objects around it.
func (r *Reader) Value(path string, depth int) (*Value, error) {
	it := &Value{File: r.File, Path: path}
	if depth > maxDepth {
		return nil, r.fail("lists and objects lie in each other %d deep; no agent does", depth)
	}
	switch r.Next() {
	case '{':
		it.Kind = Object
		return it, r.members(it, depth)
	case '[':
		it.Kind = List
		return it, r.elements(it, depth)
	case '"':
		s, err := r.text()
		it.Kind, it.Text = Text, s
		return it, err
	case 0:
		return nil, r.fail("the file ends where a value is expected")
	}
	word := r.Src[r.pos : r.pos+wordEnd(r.Src[r.pos:])]
	if it.Kind = KindOfWord(word); it.Kind == Unknown {
		return nil, r.fail("%q is no JSON value", Clip(r.Src[r.pos:]))
	}
	r.pos += len(word)
	it.Text = word
	return it, nil
}

func wordEnd(s string) int {
	if i := strings.IndexAny(s, " \t\r\n,]}:/#\"{["); i >= 0 {
		return i
	}
	return len(s)
}

// KindOfWord returns the kind of a JSON value without quotes, or Unknown.
func KindOfWord(word string) Kind {
	switch {
	case word == "true" || word == "false":
		return boolean
	case word == "null":
		return Null
	case word != "" && (word[0] == '-' || word[0] >= '0' && word[0] <= '9') && json.Valid([]byte(word)):
		return number
	}
	return Unknown
}

// members reads an object. The last occurrence of a duplicate key wins, as in
// most readers, and a note reports it.
func (r *Reader) members(it *Value, depth int) error {
	r.pos++
	for {
		switch c := r.Next(); c {
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
		if r.Next() != ':' {
			return r.fail("a colon is expected behind the key %q", Clip(key))
		}
		r.pos++
		member, err := r.Value(Join(it.Path, key), depth+1)
		if err != nil {
			return err
		}
		if it.Set(key, member) {
			r.notes = append(r.notes, convert.Note{File: r.File, Path: member.Path, Outcome: convert.Changed, What: "duplicate key; the last one is used"})
		}
		if c := r.Next(); c != ',' && c != '}' {
			return r.fail("a comma or } is expected behind the value of %q", Clip(key))
		}
	}
}

func (r *Reader) elements(it *Value, depth int) error {
	r.pos++
	for {
		switch c := r.Next(); c {
		case ']':
			r.pos++
			return nil
		case ',':
			r.pos++
			continue
		case '.':
			for r.pos < len(r.Src) && r.Src[r.pos] == '.' {
				r.pos++
			}
			r.notes = append(r.notes, convert.Note{File: r.File, Path: it.Path, Outcome: convert.Todo, What: "the list ends in dots: the example leaves something out; add it by hand"})
			continue
		}
		element, err := r.Value(fmt.Sprintf("%s[%d]", it.Path, len(it.Items)), depth+1)
		if err != nil {
			return err
		}
		it.Items = append(it.Items, element)
		if c := r.Next(); c != ',' && c != ']' && c != '.' {
			return r.fail("a comma or ] is expected in the list")
		}
	}
}

// text reads a text in quotes, or in triple quotes as in the console. Line breaks
// within a text are accepted: the mistake is common and unambiguous.
func (r *Reader) text() (string, error) {
	if rest := r.Src[r.pos:]; strings.HasPrefix(rest, `"""`) {
		n := strings.Index(rest[3:], `"""`)
		if n < 0 {
			return "", r.fail("the text that begins with three quotes does not end")
		}
		r.pos += n + 6
		return rest[3 : n+3], nil
	}
	for i := r.pos + 1; i < len(r.Src); i++ {
		switch r.Src[i] {
		case '\\':
			i++
		case '"':
			raw := strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(r.Src[r.pos : i+1])
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
