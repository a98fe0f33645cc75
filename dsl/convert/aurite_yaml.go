package convert

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// readAny reads a file of JSON or of YAML: what begins with a bracket is JSON.
func readAny(in Input) ([]*item, []Note, error) {
	begin := strings.TrimLeft(strings.TrimPrefix(string(in.Text), "\ufeff"), " \t\r\n")
	if begin == "" || begin[0] == '{' || begin[0] == '[' || strings.HasPrefix(begin, "//") || strings.HasPrefix(begin, "/*") || len(in.Text) > most {
		return readAll(in)
	}
	d := yaml.NewDecoder(strings.NewReader(begin))
	var out []*item
	for {
		var n yaml.Node
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: it is neither JSON nor YAML: %s", in.Name, oneLine(strings.TrimPrefix(err.Error(), "yaml: ")))
		}
		it, err := yamlItem(in.Name, "", &n, 0)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, it)
	}
	return out, nil, nil
}

// yamlItem is a node as an item. Aliases are refused: what they stand for could
// be as large as they like.
func yamlItem(file, path string, n *yaml.Node, depth int) (*item, error) {
	it := &item{file: file, path: path, kind: null}
	switch {
	case depth > deepest:
		return nil, fmt.Errorf("%s:%d: lists and mappings lie in each other %d deep; no agent does", file, n.Line, depth)
	case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
		return yamlItem(file, path, n.Content[0], depth)
	case n.Kind == yaml.AliasNode:
		return nil, fmt.Errorf("%s:%d: aliases are not read: write out what *%s stands for", file, n.Line, oneLine(n.Value))
	case n.Kind == yaml.ScalarNode:
		it.kind, it.text = yamlScalar(n)
	case n.Kind == yaml.SequenceNode:
		it.kind = list
		for i, sub := range n.Content {
			v, err := yamlItem(file, path+"["+strconv.Itoa(i)+"]", sub, depth+1)
			if err != nil {
				return nil, err
			}
			it.items = append(it.items, v)
		}
	case n.Kind == yaml.MappingNode:
		it.kind = object
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, err := yamlItem(file, below(path, n.Content[i].Value), n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			it.set(n.Content[i].Value, v)
		}
	}
	return it, nil
}

func yamlScalar(n *yaml.Node) (kind, string) {
	switch n.ShortTag() {
	case "!!null":
		return null, ""
	case "!!bool":
		return boolean, strings.ToLower(n.Value)
	case "!!int", "!!float":
		if kindOfWord(n.Value) == number {
			return number, n.Value
		}
	}
	return text, n.Value
}
