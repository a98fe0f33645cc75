package envfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Variable is a variable of a file.
type Variable struct{ Name, Value string }

// maxSize is the maximum size of a file in bytes.
const maxSize = 1 << 20

// Read reads a file. A syntax error starts with FILE:LINE.
func Read(file string) ([]Variable, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxSize {
		return nil, fmt.Errorf("%s: larger than 1 MiB", file)
	}
	vars, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	return vars, nil
}

// loaded lists the absolute paths of loaded files.
var loaded struct {
	sync.Mutex
	files []string
}

// Load sets the variables of files in the environment of this process, so that they apply wherever exported variables
// do, including libraries of providers. If two files have the same variable, the later file applies. Variables that
// are already set, even to "", are unchanged.
func Load(files []string) error {
	loaded.Lock()
	defer loaded.Unlock()
	values := map[string]string{}
	for _, file := range files {
		vars, err := Read(file)
		if err != nil {
			return err
		}
		for _, v := range vars {
			values[v.Name] = v.Value
		}
		abs, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		loaded.files = append(loaded.files, abs)
	}
	for name, value := range values {
		if _, set := os.LookupEnv(name); set {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}

// Loaded returns the absolute paths of the loaded files.
func Loaded() []string {
	loaded.Lock()
	defer loaded.Unlock()
	return slices.Clone(loaded.files)
}

// Unread returns a .env file in one of the folders that was not loaded, or "".
func Unread(dirs ...string) string {
	for _, dir := range dirs {
		file := filepath.Join(dir, ".env")
		at, err := os.Stat(file)
		if err != nil || !at.Mode().IsRegular() {
			continue
		}
		known := false
		for _, name := range Loaded() {
			other, err := os.Stat(name)
			known = known || err == nil && os.SameFile(at, other)
		}
		if !known {
			return file
		}
	}
	return ""
}

// Parse reads the text of a dotenv file:
//
//	# comment
//	NAME=value # comment
//	export NAME="double quotes: \n \r \t \" \\ \$, and line breaks"
//	NAME='single quotes: as it is, and line breaks'
//
// Nothing is expanded: $NAME stays as it is. An error begins with the line.
func Parse(text []byte) ([]Variable, error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	p := parser{text: strings.ReplaceAll(string(text), "\r\n", "\n"), line: 1}
	if i := strings.IndexFunc(p.text, func(r rune) bool { return r == utf8.RuneError || r == 0 }); i >= 0 {
		return nil, fmt.Errorf("%d: not UTF-8 text", 1+strings.Count(p.text[:i], "\n"))
	}
	var vars []Variable
	for p.text != "" {
		v, err := p.statement()
		if err != nil {
			return nil, err
		}
		if v != nil {
			vars = append(vars, *v)
		}
	}
	return vars, nil
}

// parser parses the rest of a text.
type parser struct {
	text string
	line int
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("%d: "+format, append([]any{p.line}, args...)...)
}

// statement parses one line, or more if a quoted value spans several. It returns nil for blank lines and comments.
func (p *parser) statement() (*Variable, error) {
	p.space()
	if p.text == "" || p.text[0] == '#' || p.text[0] == '\n' {
		p.restOfLine()
		return nil, nil
	}
	if after, ok := strings.CutPrefix(p.text, "export"); ok {
		word := strings.TrimLeft(after, " \t")
		if word != after && !strings.HasPrefix(word, "=") { // otherwise export is the name of the variable
			p.text = word
		}
	}
	size := 0
	for size < len(p.text) && inName(p.text[size], size == 0) {
		size++
	}
	name := p.text[:size]
	p.text = p.text[size:]
	p.space()
	if name == "" || !strings.HasPrefix(p.text, "=") {
		return nil, p.errorf("want NAME=VALUE, where NAME has letters, digits and _")
	}
	p.text = p.text[1:]
	value, err := p.value()
	if err != nil {
		return nil, err
	}
	return &Variable{name, value}, nil
}

func inName(c byte, first bool) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || !first && '0' <= c && c <= '9'
}

// value parses a value and the rest of its line.
func (p *parser) value() (string, error) {
	p.space()
	if p.text == "" || p.text[0] != '\'' && p.text[0] != '"' {
		return unquoted(p.restOfLine()), nil
	}
	quote, at := p.text[0], p.line
	p.text = p.text[1:]
	var b strings.Builder
	for i := 0; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == quote:
			p.text = p.text[i+1:]
			if rest := strings.TrimLeft(p.restOfLine(), " \t"); rest != "" && rest[0] != '#' {
				p.line = at
				return "", p.errorf("text after the closing %c", quote)
			}
			return b.String(), nil
		case c == '\\' && quote == '"' && i+1 < len(p.text):
			i++
			b.WriteString(unescape(p.text[i]))
			if p.text[i] == '\n' {
				p.line++
			}
		default:
			if c == '\n' {
				p.line++
			}
			b.WriteByte(c)
		}
	}
	p.line = at
	return "", p.errorf("the closing %c is missing", quote)
}

// unescape returns the character for a byte after a backslash.
func unescape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	case '"', '\\', '$':
		return string(c)
	}
	return string([]byte{'\\', c})
}

// unquoted returns an unquoted value, without a comment and trailing space.
func unquoted(text string) string {
	for i := range text {
		if text[i] == '#' && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t') {
			text = text[:i]
			break
		}
	}
	return strings.TrimRight(text, " \t\r")
}

// restOfLine reads to the end of the line.
func (p *parser) restOfLine() string {
	line, rest, more := strings.Cut(p.text, "\n")
	p.text = rest
	if more {
		p.line++
	}
	return line
}

func (p *parser) space() { p.text = strings.TrimLeft(p.text, " \t") }
