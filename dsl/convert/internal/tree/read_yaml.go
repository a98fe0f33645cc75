package tree

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/pexctl/pex/dsl/convert"
)

// ReadAny reads a JSON or YAML file. A file that starts with a bracket is JSON.
func ReadAny(in convert.Input) ([]*Value, []convert.Note, error) {
	begin := strings.TrimLeft(strings.TrimPrefix(string(in.Text), "\ufeff"), " \t\r\n")
	if begin == "" || begin[0] == '{' || begin[0] == '[' || strings.HasPrefix(begin, "//") || strings.HasPrefix(begin, "/*") || len(in.Text) > convert.MaxFile {
		return ReadJSON(in)
	}
	d := yaml.NewDecoder(strings.NewReader(begin))
	var out []*Value
	for {
		var n yaml.Node
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: it is neither JSON nor YAML: %s", in.Name, OneLine(strings.TrimPrefix(err.Error(), "yaml: ")))
		}
		r := &yamlReader{file: in.Name, left: maxYAMLValues}
		it, err := r.value("", &n, 0)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, it)
	}
	if len(out) == 0 {
		return nil, nil, fmt.Errorf("%s: the file is empty", in.Name)
	}
	return out, nil, nil
}

// maxYAMLValues bounds the values of a document after its aliases are expanded.
const maxYAMLValues = 200_000

// yamlReader converts the nodes of a document to values.
type yamlReader struct {
	file string
	left int // values left until the limit
}

// value converts a node. An alias becomes a copy of its target.
func (r *yamlReader) value(path string, n *yaml.Node, depth int) (*Value, error) {
	it := &Value{File: r.file, Path: path, Kind: Null}
	if r.left--; r.left < 0 {
		return nil, fmt.Errorf("%s:%d: the document has more than %d values after its aliases are expanded", r.file, n.Line, maxYAMLValues)
	}
	switch {
	case depth > maxDepth:
		return nil, fmt.Errorf("%s:%d: lists and mappings are nested more than %d levels deep", r.file, n.Line, maxDepth)
	case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
		return r.value(path, n.Content[0], depth)
	case n.Kind == yaml.AliasNode:
		return r.value(path, n.Alias, depth+1)
	case n.Kind == yaml.ScalarNode:
		it.Kind, it.Text = yamlScalar(n)
	case n.Kind == yaml.SequenceNode:
		it.Kind = List
		for i, sub := range n.Content {
			v, err := r.value(path+"["+strconv.Itoa(i)+"]", sub, depth+1)
			if err != nil {
				return nil, err
			}
			it.Items = append(it.Items, v)
		}
	case n.Kind == yaml.MappingNode:
		it.Kind = Object
		return it, r.members(it, n, depth)
	}
	return it, nil
}

// members converts the entries of a mapping. Merged ones (<<) come last and do
// not replace its own.
func (r *yamlReader) members(it *Value, n *yaml.Node, depth int) error {
	var merged []*Value
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		path := Join(it.Path, key.Value)
		if key.ShortTag() == "!!merge" {
			path = it.Path
		}
		v, err := r.value(path, n.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		switch {
		case key.ShortTag() != "!!merge":
			it.Set(key.Value, v)
		case v.Kind == List:
			merged = append(merged, v.Items...)
		default:
			merged = append(merged, v)
		}
	}
	for _, m := range merged {
		for i, key := range m.Keys {
			if !slices.Contains(it.Keys, key) {
				it.Set(key, m.Items[i])
			}
		}
	}
	return nil
}

func yamlScalar(n *yaml.Node) (Kind, string) {
	switch n.ShortTag() {
	case "!!null":
		return Null, ""
	case "!!bool":
		return boolean, strings.ToLower(n.Value)
	case "!!int", "!!float":
		if KindOfWord(n.Value) == number {
			return number, n.Value
		}
	}
	return Text, n.Value
}
