package format

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
)

// Source formats a file: keys in the caller's order for a file with these
// top-level keys and the text of their values, two spaces per level, no trailing
// white space, at most one empty line. Comments stay with their keys. Text in
// quotes, brackets, braces and block scalars is unchanged. Formatting is
// idempotent.
//
// Source returns the source unchanged if it is not YAML (the list contains the
// reason) or cannot be formatted safely, for example because it has anchors.
func Source(src []byte, order func(top map[string]string) Order) ([]byte, diag.List) {
	r := &syntax.Report{}
	before := syntax.Parse(&syntax.Source{Name: "spec", Text: src}, r)
	if before == nil || r.List.Failed() {
		return src, r.List.Sort()
	}
	out, ok := layout(src, order)
	if !ok {
		return src, nil
	}
	again, ok := layout(out, order)
	after := syntax.Parse(&syntax.Source{Name: "spec", Text: out}, &syntax.Report{})
	if !ok || !bytes.Equal(out, again) || after == nil || !same(before, after) || !slices.Equal(comments(src), comments(out)) {
		return src, nil
	}
	return out, nil
}

// same compares values, ignoring the order of keys.
func same(a, b *syntax.Node) bool {
	if a.Kind != b.Kind || a.IsScalar() && a.Text != b.Text || !slices.Equal(slices.Sorted(slices.Values(a.Keys())), slices.Sorted(slices.Values(b.Keys()))) {
		return false
	}
	if len(a.Items) != len(b.Items) {
		return false
	}
	for i := range a.Items {
		if !same(a.Items[i], b.Items[i]) {
			return false
		}
	}
	for _, e := range a.Entries {
		if !same(e.Value, b.Find(e.Key).Value) {
			return false
		}
	}
	return true
}

// comments returns the comment lines of a source, sorted.
func comments(src []byte) []string {
	doc, _, err := syntax.DecodeYAML(src)
	if err != nil || doc == nil {
		return nil
	}
	found := map[string]int{}
	var walk func(*yaml.Node)
	walk = func(n *yaml.Node) {
		for _, c := range []string{n.HeadComment, n.LineComment, n.FootComment} {
			for line := range strings.Lines(c) {
				if line = strings.TrimSpace(line); line != "" {
					found[line]++
				}
			}
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(doc)
	var out []string
	for _, line := range slices.Sorted(maps.Keys(found)) {
		out = append(out, line, strconv.Itoa(found[line]))
	}
	return out
}

// layout formats the source. ok is false if it does not support it.
func layout(src []byte, order func(top map[string]string) Order) (out []byte, ok bool) {
	src = bytes.ReplaceAll(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")), []byte("\r\n"), []byte("\n"))
	doc, second, err := syntax.DecodeYAML(src)
	if err != nil || second != nil || doc == nil || len(doc.Content) != 1 || !simple(doc.Content[0]) {
		return nil, false
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 || root.Column != 1 || bytes.IndexByte(src, '\t') >= 0 {
		return nil, false
	}
	f := &formatter{lines: strings.Split(strings.TrimRight(string(src), "\n"), "\n")}
	defer func() {
		if recover() != nil { // an unexpected position
			out, ok = nil, false
		}
	}()
	header := f.header(root.Content[0].Line)
	f.emit(header...)
	f.mapping(root, 1+len(header), len(f.lines), 0, order(topKeys(root)))
	return []byte(strings.Join(f.out, "\n") + "\n"), true
}

// simple reports whether a document has no anchors, aliases, tags or merges.
func simple(n *yaml.Node) bool {
	if n.Anchor != "" || n.Kind == yaml.AliasNode || n.Style&yaml.TaggedStyle != 0 {
		return false
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && (c.Kind != yaml.ScalarNode || c.Value == "<<") {
			return false
		}
		if !simple(c) {
			return false
		}
	}
	return true
}

// topKeys returns the keys of the top-level mapping with the text of their
// values.
func topKeys(root *yaml.Node) map[string]string {
	out := make(map[string]string, len(root.Content)/2)
	for i := 0; i+1 < len(root.Content); i += 2 {
		out[root.Content[i].Value] = root.Content[i+1].Value
	}
	return out
}

// Order is the order of a mapping's keys: first, then the rest as written. below
// holds the orders of the mappings in it, "*" that of all others.
type Order struct {
	First []string
	Below map[string]Order
}

func (o Order) under(key string) Order {
	if b, ok := o.Below[key]; ok {
		return b
	}
	return o.Below["*"]
}
