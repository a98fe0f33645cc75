package tree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/pexctl/pex/engine/text"
)

// Entry is one key of a mapping to write, with a comment above it. The value is a
// string, bool, number, nil, list ([]any) or Map.
type Entry struct {
	Key     string
	Value   any
	Comment string
}

// Map is a mapping with ordered keys.
type Map []Entry

// Put sets a key. It ignores nil and empty mappings and lists.
func (m *Map) Put(key string, value any) { m.PutCommented(key, value, "") }

// PutCommented is like Put, with a comment above the key.
func (m *Map) PutCommented(key string, value any, note string) {
	switch v := value.(type) {
	case nil:
		return
	case Map:
		if len(v) == 0 {
			return
		}
	case []any:
		if len(v) == 0 {
			return
		}
	case string:
		if v == "" {
			return
		}
	}
	m.Set(key, value, note)
}

// Set sets a key, even to an empty value, as in clock: {}.
func (m *Map) Set(key string, value any, note string) {
	for i := range *m {
		if (*m)[i].Key == key {
			(*m)[i].Value, (*m)[i].Comment = value, note
			return
		}
	}
	*m = append(*m, Entry{key, value, note})
}

// Get returns the value of a key, or nil if there is none.
func (m Map) Get(key string) any {
	for _, e := range m {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// Has reports whether a key has a value.
func (m Map) Has(key string) bool { return m.Get(key) != nil }

// WriteYAML writes a mapping as YAML, after a comment. It writes multi-line texts
// as blocks and quotes texts that YAML would read as another type.
func WriteYAML(head string, m Map) ([]byte, error) {
	var b bytes.Buffer
	if head != "" {
		b.WriteString(commented(head) + "\n\n")
	}
	root, err := nodeOf(m)
	if err != nil {
		return nil, err
	}
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// commented makes each line of a text a comment. It also treats other line
// separators as line ends, so no text can leave the comment.
func commented(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("# "+OneLine(line), " ")
	}
	return strings.Join(lines, "\n")
}

func nodeOf(v any) (*yaml.Node, error) {
	switch v := v.(type) {
	case Map:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		for _, e := range v {
			key, err := scalarOf(e.Key)
			if err != nil {
				return nil, err
			}
			value, err := nodeOf(e.Value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", e.Key, err)
			}
			if e.Comment != "" {
				key.HeadComment = commented(e.Comment)
			}
			n.Content = append(n.Content, key, value)
		}
		return n, nil
	case []any:
		return listOf(v)
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.String()}, nil
	}
	return scalarOf(v)
}

// listOf writes a list; short lists of plain values are on one line.
func listOf(list []any) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for _, v := range list {
		item, err := nodeOf(v)
		if err != nil {
			return nil, err
		}
		if item.Kind != yaml.ScalarNode || strings.Contains(item.Value, "\n") || len(list) > 8 {
			n.Style = 0
		}
		n.Content = append(n.Content, item)
	}
	return n, nil
}

// oldBool matches words that YAML 1.1 reads as booleans.
var oldBool = text.Regexp(`^(?i:y|n|yes|no|on|off)$`)

func scalarOf(v any) (*yaml.Node, error) {
	var n yaml.Node
	s, ok := v.(string)
	if !ok {
		return &n, n.Encode(v)
	}
	s = strings.ToValidUTF8(s, "\ufffd")
	n.SetString(s)
	if oldBool().MatchString(s) || s == "<<" || n.Style == yaml.LiteralStyle && !blockable(s) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return &n, nil
}

// blockable reports whether a multi-line text can be written as a block without
// changes. Trailing spaces and leading spaces in the first line would be lost.
func blockable(s string) bool {
	if strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") || strings.ContainsAny(s, "\t\r\u0085\u2028\u2029") {
		return false
	}
	for line := range strings.SplitSeq(s, "\n") {
		if strings.HasSuffix(line, " ") {
			return false
		}
	}
	return true
}
