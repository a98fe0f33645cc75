package complete

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/guard"
)

// Cursor describes a place of an expression, which may be incomplete.
type Cursor struct {
	From, To int    // byte range of the name, the operator, or the inside of a text; empty if nothing is written yet
	Path     string // path of the field as written: run.tokens, .status
	// Current describes the word at the place. Known is set if the word has a meaning.
	Current guard.Member
	Known   bool
	// Choices are the possible words: names and functions, or fields after a dot.
	Choices []guard.Member
	// Owner is the value before the dot that precedes the place.
	Owner guard.Member
	// Text is set if the place is inside quotes. Compared is the value that the
	// text is compared with, if known.
	Text     bool
	Compared guard.Member
}

// At describes a byte offset of an expression.
//
// It returns the zero Cursor for an expression longer than the maximum.
func At(e guard.Env, src string, at int) Cursor {
	if len(src) > guard.MaxSource {
		return Cursor{From: at, To: at}
	}
	e = e.WithTools(toolsNamedIn(src, e.Tools()))
	c := cursor{env: e, src: src, tokens: lexemes(src)}
	i := slices.IndexFunc(c.tokens, func(t lexeme) bool { return t.kind != isSign && t.from <= at && at <= t.to })
	if i >= 0 && c.tokens[i].kind == isQuoted && (at == c.tokens[i].from || at == c.tokens[i].to && c.tokens[i].closed) {
		return Cursor{From: at, To: at} // next to it
	}
	if i >= 0 {
		return c.describeToken(i, at)
	}
	return c.atGap(at)
}

// describeToken describes a token. A text without a closing quote ends at the place,
// because what follows may not belong to it.
func (c *cursor) describeToken(i, at int) Cursor {
	t := c.tokens[i]
	out := Cursor{From: t.from, To: t.to}
	switch t.kind {
	case isSign, isFigure:
		return out
	case isName:
	case isQuoted:
		out.From, out.Text, out.Compared = t.from+1, true, c.compared(i)
		if out.To--; !t.closed {
			out.To = max(at, out.From)
		}
		if c.symbol(i-1, "[") && c.ends(i-2) {
			c.key(i, &out)
		}
		return out
	}
	word := c.src[t.from:t.to]
	if doc, ok := operators[word]; ok && !c.symbol(i-1, ".", "?.") {
		out.Current, out.Known = guard.Member{Name: word, Type: "operator", Doc: doc}, true
		return out
	}
	if f, ok := guard.Function(word); ok && c.symbol(i+1, "(") && !c.symbol(i-1, ".", "?.") {
		out.Current, out.Known = f, true
	} else {
		from, of := c.operand(i)
		out.Current, out.Known, out.Path = of.member, of.member.Type != "", c.src[c.tokens[from].from:t.to]
	}
	out.Choices, out.Owner = c.choices(i)
	return out
}

// key describes a text used as an index: a field by its name.
func (c *cursor) key(i int, out *Cursor) {
	from, of := c.operand(i - 2)
	out.Owner, out.Choices = of.member, of.members()
	if field := of.field(c.src[out.From:max(out.To, out.From)]); field.member.Type != "" && c.tokens[i].closed {
		out.Current, out.Known, out.Path = field.member, true, c.src[c.tokens[from].from:c.tokens[i].to]
		if c.symbol(i+1, "]") {
			out.Path += "]"
		}
	}
}

// atGap describes a place without a name, after a dot or anywhere else.
func (c *cursor) atGap(at int) Cursor {
	i := slices.IndexFunc(c.tokens, func(t lexeme) bool { return t.from >= at })
	if i < 0 {
		i = len(c.tokens)
	}
	out := Cursor{From: at, To: at}
	if i == 0 || c.tokens[i-1].kind == isSign || operators[c.src[c.tokens[i-1].from:c.tokens[i-1].to]] != "" {
		out.Choices, out.Owner = c.choices(i)
	}
	return out
}

// choices returns what token i can be: fields of the owner after a dot, otherwise
// names and functions.
func (c *cursor) choices(i int) (out []guard.Member, owner guard.Member) {
	switch {
	case c.symbol(i-1, ".", "?."):
		of := c.owner(i - 1)
		return of.members(), of.member
	case c.symbol(i-1, ")", "]", "}"):
		return nil, owner
	}
	out = rootOf(c.env).members()
	for _, name := range guard.Functions() {
		f, _ := guard.Function(name)
		out = append(out, f)
	}
	return out, owner
}

// compared returns the other operand of a text: a == "x", "x" in a.b, a in ["x",
// "y"].
func (c *cursor) compared(i int) guard.Member {
	at := i - 1
	for at >= 0 && (c.symbol(at, ",") || c.tokens[at].kind == isQuoted) {
		at-- // texts of a list
	}
	if c.symbol(at, "[") {
		at--
		if !c.word(at, "in") {
			return guard.Member{}
		}
	} else if at != i-1 || !c.symbol(at, "==", "!=") {
		return c.rightOperand(i)
	}
	_, of := c.operand(at - 1)
	return of.member
}

// rightOperand returns the right operand of a text on the left: "x" == a.b.
func (c *cursor) rightOperand(i int) guard.Member {
	if !c.symbol(i+1, "==", "!=") {
		return guard.Member{}
	}
	end := i + 2
	for c.symbol(end+1, ".", "?.") && end+2 < len(c.tokens) && c.tokens[end+2].kind == isName {
		end += 2
	}
	_, of := c.operand(end)
	return of.member
}

// operators maps the operators that are words to their documentation.
var operators = map[string]string{
	"and": "True if both sides are true. Same as &&.", "or": "True if at least one side is true. Same as ||.", "not": "True if the condition is false. Same as !.",
	"in":       "True if the value is an element of the list or a key of the object.",
	"contains": "True if the string contains the other.", "startsWith": "True if the string starts with the other.", "endsWith": "True if the string ends with the other.",
	"matches": "True if the string matches the regular expression (RE2).",
	"true":    "The boolean true.", "false": "The boolean false.", "nil": "No value.",
	"let": "Gives a value a name: let x = run.tokens; x > 1000 or x == 0.",
}

// cursor reads tokens backwards from a place.
type cursor struct {
	env    guard.Env
	src    string
	tokens []lexeme
}

// symbol reports whether a token is one of some signs.
func (c *cursor) symbol(i int, signs ...string) bool {
	return i >= 0 && i < len(c.tokens) && slices.Contains(signs, c.src[c.tokens[i].from:c.tokens[i].to])
}

func (c *cursor) word(i int, word string) bool {
	return i >= 0 && i < len(c.tokens) && c.tokens[i].kind == isName && strings.EqualFold(c.src[c.tokens[i].from:c.tokens[i].to], word)
}
