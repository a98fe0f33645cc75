package tree

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"gopkg.in/yaml.v3"
)

// ReadAny reads a file of JSON or of YAML: what begins with a bracket is JSON.
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
func yamlItem(file, path string, n *yaml.Node, depth int) (*Value, error) {
	it := &Value{File: file, Path: path, Kind: Null}
	switch {
	case depth > maxDepth:
		return nil, fmt.Errorf("%s:%d: lists and mappings lie in each other %d deep; no agent does", file, n.Line, depth)
	case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
		return yamlItem(file, path, n.Content[0], depth)
	case n.Kind == yaml.AliasNode:
		return nil, fmt.Errorf("%s:%d: aliases are not read: write out what *%s stands for", file, n.Line, OneLine(n.Value))
	case n.Kind == yaml.ScalarNode:
		it.Kind, it.Text = yamlScalar(n)
	case n.Kind == yaml.SequenceNode:
		it.Kind = List
		for i, sub := range n.Content {
			v, err := yamlItem(file, path+"["+strconv.Itoa(i)+"]", sub, depth+1)
			if err != nil {
				return nil, err
			}
			it.Items = append(it.Items, v)
		}
	case n.Kind == yaml.MappingNode:
		it.Kind = Object
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, err := yamlItem(file, Join(path, n.Content[i].Value), n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			it.Set(n.Content[i].Value, v)
		}
	}
	return it, nil
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
