package syntax

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/pexctl/pex/dsl/diag"
)

// Limits of one file.
const (
	MaxFile    = 1 << 20
	maxDepth   = 64
	maxValues  = 50_000
	maxKeys    = 2_000
	maxAliases = 100
	maxScalars = 1 << 20 // bytes of scalars after expanding aliases
)

// converter converts the parser's nodes within the limits: it expands aliases,
// applies merge keys, and reports duplicate and other suspicious keys.
type converter struct {
	src     *Source
	r       *Report
	values  int
	aliases int
	bytes   int
	open    map[*yaml.Node]bool // anchors being expanded
	full    bool                // a limit was exceeded and reported
}

func newConverter(src *Source, r *Report) *converter {
	return &converter{src: src, r: r, open: map[*yaml.Node]bool{}}
}

func (c *converter) convert(n *yaml.Node) *Node { return c.value(n, 1) }

func (c *converter) place(n *yaml.Node) Position { return Position{c.src, n.Line, max(n.Column, 1)} }

func (c *converter) value(n *yaml.Node, depth int) *Node {
	v := &Node{Position: c.place(n)}
	if c.values++; c.full || !c.fits(n, depth) {
		return v
	}
	c.tag(n)
	switch n.Kind {
	case yaml.ScalarNode:
		c.scalar(n, v)
	case yaml.SequenceNode:
		v.Kind = List
		for _, it := range n.Content {
			v.Items = append(v.Items, c.value(it, depth+1))
		}
	case yaml.MappingNode:
		v.Kind = Map
		c.mapping(n, v, depth)
	case yaml.AliasNode:
		return c.alias(n, depth)
	default: // a document is never a value
	}
	v.Comment = n.LineComment
	return v
}

// fits reports the first limit that is exceeded.
func (c *converter) fits(n *yaml.Node, depth int) bool {
	c.bytes += len(n.Value)
	switch {
	case depth > maxDepth:
		c.pass(diag.TooLarge, n, "values are nested more than %d levels deep", maxDepth)
	case c.values > maxValues:
		c.pass(diag.TooLarge, n, "the file has more than %d values", maxValues)
	case n.Kind == yaml.MappingNode && len(n.Content) > 2*maxKeys:
		c.pass(diag.TooLarge, n, "the mapping has %d keys; the maximum is %d", len(n.Content)/2, maxKeys)
	case c.aliases > 0 && c.bytes > maxScalars:
		c.pass(diag.Alias, n, "aliases expand to more than %d bytes in total", maxScalars)
	}
	return !c.full
}

func (c *converter) pass(code diag.Code, n *yaml.Node, format string, args ...any) {
	c.full = true
	c.r.Error(code, c.place(n), format, args...)
}

// coreTags are the tags that repeat what the core schema implies.
var coreTags = map[string]bool{
	"!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true, "!!map": true, "!!seq": true,
}

func (c *converter) tag(n *yaml.Node) {
	if n.Style&yaml.TaggedStyle == 0 || coreTags[n.ShortTag()] {
		return
	}
	d := c.r.Error(diag.CustomTag, c.place(n), "YAML reads %s as a tag, and tags are not supported", n.Tag)
	d.Hint = "remove the tag"
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		d.Hint = "remove the tag; if the text is an expression, quote all of it: " + requote(strings.TrimSpace(n.Tag+" "+n.Value))
	}
}

func (c *converter) scalar(n *yaml.Node, v *Node) {
	v.Text = n.Value
	v.Kind = Text
	switch {
	case n.Style&yaml.LiteralStyle != 0:
		v.Style = Literal
	case n.Style&yaml.FoldedStyle != 0:
		v.Style = Folded
	case n.Style&yaml.DoubleQuotedStyle != 0:
		v.Style = DoubleQuoted
	case n.Style&yaml.SingleQuotedStyle != 0:
		v.Style = SingleQuoted
	case n.Style&yaml.TaggedStyle != 0 && n.ShortTag() == "!!str":
	default:
		v.Kind = PlainKind(n.Value)
	}
}

func (c *converter) alias(n *yaml.Node, depth int) *Node {
	c.aliases++
	switch {
	case n.Alias == nil:
		c.pass(diag.Alias, n, "the anchor of the alias *%s is not defined", n.Value)
	case c.open[n.Alias]:
		c.pass(diag.Alias, n, "the alias *%s contains itself", n.Value)
	case c.aliases > maxAliases:
		c.pass(diag.Alias, n, "the file uses more than %d aliases", maxAliases)
	}
	if c.full {
		return &Node{Position: c.place(n)}
	}
	c.open[n.Alias] = true
	defer delete(c.open, n.Alias)
	return c.value(n.Alias, depth)
}

func (c *converter) mapping(n *yaml.Node, v *Node, depth int) {
	if n.Anchor != "" {
		c.open[n] = true
		defer delete(c.open, n)
	}
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	var merges []*Node
	for i := 0; i+1 < len(n.Content) && !c.full; i += 2 {
		k := n.Content[i]
		if k.Kind == yaml.ScalarNode && k.Value == "<<" && k.Style == 0 {
			merges = append(merges, c.value(n.Content[i+1], depth+1))
			continue
		}
		if !c.key(k, seen) {
			continue
		}
		v.Entries = append(v.Entries, &Entry{k.Value, c.place(k), c.value(n.Content[i+1], depth+1)})
	}
	for _, m := range merges {
		c.merge(v, m)
	}
}

// key checks a key, and that it is not a duplicate.
func (c *converter) key(k *yaml.Node, seen map[string]*yaml.Node) bool {
	if c.values++; c.full || !c.fits(k, 1) {
		return false
	}
	c.tag(k)
	if k.Kind != yaml.ScalarNode {
		c.r.Error(diag.KeyNotText, c.place(k), "a key must be a string").Hint = "an alias, a list or a mapping cannot be a key; quote a string that contains braces"
		return false
	}
	if kind := PlainKind(k.Value); k.Style == 0 && kind != Text {
		c.r.Error(diag.KeyNotText, c.place(k), "the key %s must be a string, but YAML reads it as %s", k.Value, kind).Hint = `quote it: "` + k.Value + `"`
		return false
	}
	if first := seen[k.Value]; first != nil {
		c.r.Error(diag.DuplicateKey, c.place(k), "duplicate key %s", Quote(k.Value)).
			Hint = "the first one is on line " + strconv.Itoa(first.Line) + "; remove one of them"
		return false
	}
	seen[k.Value] = k
	return true
}

// merge adds the keys of a merged mapping, or of a list of them, that do not
// exist yet.
func (c *converter) merge(v, m *Node) {
	if c.full {
		return
	}
	switch m.Kind {
	case List:
		for _, it := range m.Items {
			c.merge(v, it)
		}
	case Map:
		for _, e := range m.Entries {
			if v.Find(e.Key) == nil {
				v.Entries = append(v.Entries, e)
			}
		}
	default:
		c.r.Error(diag.WrongType, m.Position, "<< merges a mapping or a list of mappings, got %s", m.Describe())
	}
}
