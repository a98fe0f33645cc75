package syntax

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/text"
)

// Parse parses one YAML document, or reports the error and returns nil. A value
// with errors inside is still returned, so that later phases can report more.
func Parse(src *Source, r *Report) *Node {
	if len(src.Text) > MaxFile {
		r.Error(diag.TooLarge, Position{Source: src}, "the file has %d bytes; the maximum is %d", len(src.Text), MaxFile).
			Hint = "move long texts to separate files"
		return nil
	}
	if !readable(src, r) {
		return nil
	}
	if at, why := prescan(src.Text); at >= 0 {
		r.Error(diag.TooLarge, src.PositionAt(at), "%s", why)
		return nil
	}
	r.ignoresOf(src)
	r.HiddenText(src)
	doc, second, err := DecodeYAML(src.Text)
	if err != nil {
		reportSyntax(src, err, r)
		return nil
	}
	if second != nil {
		r.Error(diag.ManyDocuments, Position{src, second.Line, max(second.Column, 1)}, "a second YAML document starts here").
			Hint = "remove it, or move it to a separate file"
	}
	if doc == nil || len(doc.Content) == 0 {
		return &Node{Position: Position{src, 1, 1}}
	}
	return newConverter(src, r).convert(doc.Content[0])
}

// DecodeYAML decodes the first document and the start of a second one. It
// converts panics of the library on damaged input to errors.
func DecodeYAML(b []byte) (doc, second *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: line 1: the YAML parser failed: %v", p)
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))))
	var first, next yaml.Node
	if err := d.Decode(&first); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil, nil
		}
		return nil, nil, err
	}
	switch err := d.Decode(&next); {
	case err == nil:
		return &first, &next, nil
	case errors.Is(err, io.EOF):
		return &first, nil, nil
	default:
		return nil, nil, err
	}
}

var unknownAnchor = text.Regexp(`unknown anchor '([^']*)'`)

var yamlLine = text.Regexp(`^yaml: (?:line (\d+): )?`)

// lineBefore matches the messages of the library's parser, whose lines count from
// 0; those of its scanner count from 1.
var lineBefore = text.Regexp(`did not find expected (?:key|'-' indicator|<document start>|node content|',' or)`)

// blockEnds matches the parser's messages for a block that ends in a wrong place.
var blockEnds = text.Regexp(`did not find expected (?:key|'-' indicator)`)

// reportSyntax adds a column and a hint to the parser's message.
func reportSyntax(src *Source, err error, r *Report) {
	line := 1
	if m := yamlLine().FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
		if line, _ = strconv.Atoi(m[1]); lineBefore().MatchString(err.Error()) {
			line++
		}
	}
	message := yamlLine().ReplaceAllString(err.Error(), "")
	if m := unknownAnchor().FindStringSubmatch(message); m != nil {
		at := max(bytes.Index(src.Text, []byte("*"+m[1])), 0)
		r.Error(diag.Alias, src.PositionAt(at), "the alias *%s has no anchor before it", m[1]).Hint = "define the anchor first: &" + m[1]
		return
	}
	if at, written := referenceInFlow(src, line); written != "" {
		r.Error(diag.Syntax, at, "%s", "inside braces, YAML reads the { of "+written+" as a mapping").
			Hint = `quote the string: "` + written + `...", or write ` + angleReference(written)
		return
	}
	if at, expression := unquotedBang(src, line, message); expression != "" {
		r.Error(diag.Syntax, at, "YAML reads the ! at the start of this string as a tag").Hint = "quote all of it: " + requote(expression)
		return
	}
	if at, found := questionInFlow(src, line); found {
		r.Error(diag.Syntax, at, "inside braces, YAML reads a ? at the end of a string as a mapping key").Hint = "quote the string"
		return
	}
	if blockEnds().MatchString(message) && reportIndent(src, r) {
		return
	}
	at := findText(src, line, "")
	if i := strings.LastIndex(src.line(at.Line), ": "); strings.Contains(message, "mapping values") && i >= at.Column {
		at.Column = len([]rune(src.line(at.Line)[:i])) + 1
	}
	r.Error(diag.Syntax, at, "%s", message).Hint = syntaxHint(src.line(at.Line), message)
}

// findText returns the position of a text in a line, or else of the line's first
// character. The parser may name the line after the last one.
func findText(src *Source, line int, what string) Position {
	for line > 1 && strings.TrimSpace(src.line(line)) == "" {
		line--
	}
	s := src.line(line)
	i := strings.Index(s, what)
	if what == "" || i < 0 {
		i = len(s) - len(strings.TrimLeft(s, " \t"))
	}
	return Position{src, line, len([]rune(s[:i])) + 1}
}

func syntaxHint(line, message string) string {
	switch {
	case strings.Contains(line, "\t"):
		return "indent with spaces; YAML does not allow tabs"
	case strings.Contains(message, "mapping values are not allowed"):
		return "if a string contains a colon and a space, quote it; if not, check the indentation"
	case strings.Contains(message, "unexpected end of stream"):
		return "a quote or a bracket that opens here or below is not closed"
	case strings.Contains(message, "cannot start any token"):
		return "quote a string that starts with this character"
	case strings.Contains(message, "did not find expected key"):
		return "check the indentation, and look for a quote that closes too early"
	case strings.Contains(message, "did not find expected node content"):
		return "a value is missing: there is a double comma, or a bracket is not closed"
	case strings.Contains(message, "did not find expected ',' or"):
		return "close the bracket or add the missing comma; if a string contains brackets, braces or a comma, quote it"
	}
	return ""
}

var flowReference = text.Regexp(`\$\{[a-z]+\.[^}]*\}`)

// referenceInFlow finds an unquoted ${...} after an open brace or bracket, near
// the line that the parser names.
func referenceInFlow(src *Source, line int) (at Position, written string) {
	for _, n := range []int{line, line - 1, line + 1} {
		s := src.line(n)
		m := flowReference().FindStringIndex(s)
		if m == nil {
			continue
		}
		before := s[:m[0]]
		opened := strings.LastIndexAny(before, "{[")
		if opened < 0 || quoteOpen(before) {
			continue
		}
		return Position{src, n, len([]rune(before)) + 1}, s[m[0]:m[1]]
	}
	return Position{}, ""
}

var flowQuestion = text.Regexp(`[\[{,:]\s*([^\[{,:"'\s][^\[{,:"']*\?)\s*[,}\]]`)

// maxFlowLine is the maximum length in bytes of lines to search.
const maxFlowLine = 4 << 10

// questionInFlow finds an unquoted text that ends in a ? in braces, near the line
// that the parser names.
func questionInFlow(src *Source, line int) (Position, bool) {
	for _, n := range []int{line, line - 1, line + 1, line + 2} {
		s := src.line(n)
		if len(s) > maxFlowLine {
			continue
		}
		if m := flowQuestion().FindStringSubmatchIndex(s); m != nil && strings.ContainsAny(s[:m[2]], "[{") && !strings.Contains(s[:m[2]], "#") {
			return Position{src, n, len([]rune(s[:m[2]])) + 1}, true
		}
	}
	return Position{}, false
}

// angleReference returns a reference in the spelling that needs no quotes in flow style.
func angleReference(ref string) string {
	return "$<" + strings.TrimSuffix(strings.TrimPrefix(ref, "${"), "}") + ">"
}

// ScalarText returns the text of a scalar on one line, without quotes and
// comment, or "" if it is not a scalar.
func ScalarText(line []byte) string {
	var s string
	if yaml.Unmarshal(line, &s) != nil {
		return ""
	}
	return s
}
