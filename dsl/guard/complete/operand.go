package complete

import "slices"

// operand returns the type of the value whose last token is i, and its first
// token. The zero type is unknown.
func (c *cursor) operand(i int) (from int, of typed) {
	switch {
	case i < 0 || i >= len(c.tokens):
		return i, typed{}
	case c.tokens[i].kind == isName && c.symbol(i-1, ".", "?."):
		if c.ends(i - 2) {
			from, _ = c.operand(i - 2)
		} else {
			from = i - 1
		}
		return from, c.owner(i - 1).field(c.src[c.tokens[i].from:c.tokens[i].to])
	case c.tokens[i].kind == isName:
		return i, rootOf(c.env).field(c.src[c.tokens[i].from:c.tokens[i].to])
	case c.symbol(i, "#"):
		return i, c.element(i)
	case c.symbol(i, "]"):
		return c.indexed(i)
	case c.symbol(i, ")"):
		return c.called(i)
	}
	return i, typed{}
}

// owner returns the type of the value before a dot. Before a leading dot, it is
// the element of the enclosing loop.
func (c *cursor) owner(dot int) typed {
	if !c.ends(dot - 1) {
		return c.element(dot)
	}
	_, of := c.operand(dot - 1)
	return of
}

// ends reports whether a value can end at a token.
func (c *cursor) ends(i int) bool {
	if i < 0 {
		return false
	}
	t := c.tokens[i]
	return t.kind == isName && operators[c.src[t.from:t.to]] == "" || t.kind == isQuoted || c.symbol(i, ")", "]", "}", "#")
}

// indexed returns the type of a value with an index whose closing bracket is i.
func (c *cursor) indexed(i int) (from int, of typed) {
	open := c.opener(i)
	if !c.ends(open - 1) {
		return max(open, 0), typed{}
	}
	from, whole := c.operand(open - 1)
	if open+2 == i && c.tokens[open+1].kind == isQuoted {
		key := c.tokens[open+1]
		return from, whole.field(c.src[key.from+1 : max(key.to-1, key.from+1)])
	}
	return from, whole.elem()
}

// called returns the type of a call or a value in parentheses.
func (c *cursor) called(i int) (from int, of typed) {
	open := c.opener(i)
	if open <= 0 || c.tokens[open-1].kind != isName {
		return max(open, 0), typed{}
	}
	switch function := c.tokens[open-1]; c.src[function.from:function.to] {
	case "filter":
		return open - 1, c.argument(open)
	case "find", "first", "last":
		return open - 1, c.argument(open).elem()
	}
	return open - 1, typed{}
}

// argument returns the type of the first argument of the call whose parenthesis
// is open. A piped argument is before the call.
func (c *cursor) argument(open int) typed {
	last := c.afterFirstArgument(open) - 1
	if last == open {
		return typed{}
	}
	if last < open {
		last = open - 3
	}
	_, of := c.operand(last)
	return of
}

// afterFirstArgument returns the token after the first argument of a call, or the
// parenthesis itself if the argument is piped.
func (c *cursor) afterFirstArgument(open int) int {
	if c.symbol(open-2, "|") {
		return open
	}
	depth := 0
	for i := open + 1; i < len(c.tokens); i++ {
		switch {
		case c.symbol(i, "(", "[", "{"):
			depth++
		case depth > 0 && c.symbol(i, ")", "]", "}"):
			depth--
		case depth == 0 && c.symbol(i, ",", ")"):
			return i
		}
	}
	return len(c.tokens)
}

// loops are the functions whose second argument is a predicate over one element.
var loops = []string{"all", "any", "none", "one", "filter", "map", "count", "sum", "find", "findIndex"}

// element returns the type of the elements of the innermost loop around a token.
func (c *cursor) element(i int) typed {
	for open := c.around(i); open > 0; open = c.around(open) {
		f := c.tokens[open-1]
		if c.symbol(open, "(") && f.kind == isName && slices.Contains(loops, c.src[f.from:f.to]) {
			if c.afterFirstArgument(open) < i {
				return c.argument(open).elem()
			}
		}
	}
	return typed{}
}

// around returns the sign that opens the brackets around a token, or -1.
func (c *cursor) around(i int) int {
	depth := 0
	for i--; i >= 0; i-- {
		switch {
		case c.symbol(i, ")", "]", "}"):
			depth++
		case c.symbol(i, "(", "[", "{") && depth == 0:
			return i
		case c.symbol(i, "(", "[", "{"):
			depth--
		}
	}
	return -1
}

// opener returns the sign that a token closes, or -1.
func (c *cursor) opener(i int) int { return c.around(i) }
