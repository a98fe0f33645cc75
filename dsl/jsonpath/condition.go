package jsonpath

import (
	"strings"
)

// or parses a filter's condition.
func (p *parser) or() condition {
	var out either
	p.nested(func() {
		for {
			out = append(out, p.and())
			before := p.at
			p.blanks()
			if !p.take("||") {
				p.at = before
				break
			}
			p.blanks()
		}
	})
	if len(out) == 1 {
		return out[0]
	}
	return out
}

func (p *parser) and() condition {
	var out both
	for {
		out = append(out, p.basic())
		before := p.at
		p.blanks()
		if !p.take("&&") {
			p.at = before
			break
		}
		p.blanks()
	}
	if len(out) == 1 {
		return out[0]
	}
	return out
}

// basic parses a condition in parentheses, a comparison or a test.
func (p *parser) basic() condition {
	not := p.take("!")
	if not {
		p.blanks()
	}
	var c condition
	if p.take("(") {
		p.blanks()
		c = p.or()
		p.blanks()
		if !p.take(")") {
			p.unexpected(")", operatorHint(p.src[p.at:]))
		}
	} else {
		c = p.comparisonOrTest(not)
	}
	if not {
		return negation{c}
	}
	return c
}

func (p *parser) comparisonOrTest(not bool) condition {
	start := p.at
	left := p.operand()
	before := p.at
	p.blanks()
	op := p.operator()
	if op == "" {
		p.at = before
		return p.test(start, left)
	}
	if not {
		p.fail(start, "! cannot be applied to a comparison", "put the comparison in parentheses: !(...)")
	}
	p.blanks()
	at := p.at
	right := p.operand()
	return comparison{op: op, left: p.comparable(start, left), right: p.comparable(at, right)}
}

// test converts an operand without a comparison to a condition.
func (p *parser) test(at int, o operand) condition {
	switch {
	case o.query != nil:
		return exists{*o.query}
	case o.call != nil && o.call.function.logical:
		return *o.call
	case o.call != nil:
		p.fail(at, o.call.function.name+"() returns a value; compare it", o.call.function.name+"(...) > 1")
	}
	p.blanks()
	p.unexpected("a comparison", operatorHint(p.src[p.at:]))
	return nil
}

// comparable converts an operand to a value.
func (p *parser) comparable(at int, o operand) term {
	switch {
	case o.query != nil && !o.query.singular():
		p.fail(at, "a query that can select several values cannot be compared", "use value(...), count(...) or a filter")
	case o.query != nil:
		return *o.query
	case o.call != nil && o.call.function.logical:
		p.fail(at, o.call.function.name+"() returns a boolean and cannot be compared", "write it without a comparison")
	case o.call != nil:
		return *o.call
	}
	return literal{o.literal}
}

func (p *parser) operator() string {
	for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.take(op) {
			return op
		}
	}
	return ""
}

func operatorHint(rest string) string {
	switch {
	case strings.HasPrefix(rest, "=~"):
		return "write match(@.x, 'pattern') or search(@.x, 'pattern')"
	case strings.HasPrefix(rest, "="):
		return "compare with =="
	case strings.HasPrefix(rest, "and"), strings.HasPrefix(rest, "&"):
		return "write &&"
	case strings.HasPrefix(rest, "or"), strings.HasPrefix(rest, "|"):
		return "write ||"
	case strings.HasPrefix(rest, "in"):
		return "write @.x == 'a' || @.x == 'b'"
	}
	return ""
}

// operand is one side of a comparison, a test, or an argument: a query, a call,
// or, if both pointers are nil, a literal.
type operand struct {
	query   *query
	call    *call
	literal any
}

func (p *parser) operand() operand {
	switch c := p.peek(); {
	case c == '@' || c == '$':
		p.at++
		return operand{query: &query{absolute: c == '$', segments: p.segments()}}
	case c == '\'' || c == '"':
		return operand{literal: p.text()}
	case c == '-' || '0' <= c && c <= '9':
		return operand{literal: p.number()}
	case 'a' <= c && c <= 'z':
		return p.word()
	}
	p.unexpected("@, a literal or a function", "")
	return operand{}
}

// word parses true, false, null or a call.
func (p *parser) word() operand {
	start := p.at
	for c := p.peek(); c == '_' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9'; c = p.peek() {
		p.at++
	}
	word := p.src[start:p.at]
	if p.peek() == '(' {
		return operand{call: p.call(start, word)}
	}
	switch word {
	case "true":
		return operand{literal: true}
	case "false":
		return operand{literal: false}
	case "null":
		return operand{literal: nil}
	}
	p.fail(start, "unknown word "+word, "write @."+word+" for a member of the element, or '"+word+"' for a string")
	return operand{}
}

func (p *parser) call(start int, name string) *call {
	f, ok := functions[name]
	if !ok {
		p.fail(start, "unknown function "+name, "use length, count, match, search or value")
	}
	c := &call{function: f}
	p.at++
	p.nested(func() {
		for p.blanks(); p.peek() != ')'; p.blanks() {
			if len(c.arguments)+len(c.nodes) > 0 {
				if !p.take(",") {
					p.unexpected("a comma or )", operatorHint(p.src[p.at:]))
				}
				p.blanks()
			}
			p.argument(c)
		}
	})
	p.at++
	if n := len(c.arguments) + len(c.nodes); n != f.arity {
		p.fail(start, name+"() takes "+map[int]string{1: "one argument", 2: "two arguments"}[f.arity], "")
	}
	c.prepare()
	return c
}

func (p *parser) argument(c *call) {
	at := p.at
	o := p.operand()
	if !c.function.nodes {
		c.arguments = append(c.arguments, p.comparable(at, o))
		return
	}
	if o.query == nil {
		p.fail(at, c.function.name+"() takes a query such as @.items[*]", "")
	}
	c.nodes = append(c.nodes, *o.query)
}
