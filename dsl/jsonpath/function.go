package jsonpath

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/text"
)

// function is one of the functions of the RFC.
type function struct {
	name    string
	arity   int
	nodes   bool // its argument is a query, not a value
	logical bool // it returns true or false, not a value
}

var functions = map[string]function{
	"length": {name: "length", arity: 1},
	"count":  {name: "count", arity: 1, nodes: true},
	"value":  {name: "value", arity: 1, nodes: true},
	"match":  {name: "match", arity: 2, logical: true},
	"search": {name: "search", arity: 2, logical: true},
}

// call is a function with its arguments.
type call struct {
	function  function
	arguments []term
	nodes     []query
	pattern   *regexp.Regexp // of a literal second argument; nil to compile each time
}

// prepare compiles a literal pattern.
func (c *call) prepare() {
	if len(c.arguments) == 2 {
		if l, ok := c.arguments[1].(literal); ok {
			c.pattern = compilePattern(l.v, c.function.name == "match")
			if c.pattern == nil {
				c.pattern = never()
			}
		}
	}
}

// never matches nothing, like an invalid pattern.
var never = text.Regexp(`[^\x{0}-\x{10FFFF}]`)

func (c call) value(e *evaluation, current any) (any, bool) {
	switch c.function.name {
	case "length":
		v, ok := c.arguments[0].value(e, current)
		if !ok {
			return nil, false
		}
		return length(v)
	case "count":
		return len(e.run(c.nodes[0], current)), true
	default:
		return c.nodes[0].value(e, current)
	}
}

func length(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v), true
	case []any:
		return len(v), true
	case map[string]any:
		return len(v), true
	}
	return nil, false
}

func (c call) holds(e *evaluation, current any) bool {
	v, _ := c.arguments[0].value(e, current)
	s, ok := v.(string)
	if !ok {
		return false
	}
	e.visit(1 + len(s)/4)
	re := c.pattern
	if re == nil {
		p, _ := c.arguments[1].value(e, current)
		e.visit(1000) // the cost of compiling a pattern
		re = compilePattern(p, c.function.name == "match")
	}
	return re != nil && re.MatchString(s)
}

// maxPattern is the maximum length of a pattern that is not a literal.
const maxPattern = 1000

// compilePattern converts an I-Regexp (RFC 9485) to Go syntax: its dot does not
// match line ends. ^ and $ are anchors, as usual. It returns nil if v is not a
// pattern.
func compilePattern(v any, whole bool) *regexp.Regexp {
	p, ok := v.(string)
	if !ok || len(p) > maxPattern {
		return nil
	}
	var b strings.Builder
	class := false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\' && i+1 < len(p):
			b.WriteByte(c)
			i++
			b.WriteByte(p[i])
		case class:
			class = c != ']'
			b.WriteByte(c)
		case c == '[':
			class = true
			b.WriteByte(c)
		case c == '.':
			b.WriteString(`[^\n\r]`)
		default:
			b.WriteByte(c)
		}
	}
	src := "(?:" + b.String() + ")"
	if whole {
		src = `\A` + src + `\z`
	}
	re, err := regexp.Compile(src)
	if err != nil {
		return nil
	}
	return re
}
