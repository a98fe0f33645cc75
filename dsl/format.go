package dsl

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/pexctl/pex/dsl/diag"
)

// Format gives a file its canonical layout: keys in the order of the language,
// two blanks a level, no trailing blanks, at most one empty line. Comments stay
// with what they stand at; what is written between quotes, brackets or braces
// and in block scalars is kept as it is. Formatting twice changes nothing more.
//
// The source comes back as it was when it is not YAML (the list says why), and
// when a layout cannot be given without risk, as with anchors.
func Format(src []byte) ([]byte, diag.List) {
	r := &report{}
	before := parse(&source{name: "spec", text: src}, r)
	if before == nil || r.list.Failed() {
		return src, r.list.Sort()
	}
	out, ok := layout(src)
	if !ok {
		return src, nil
	}
	again, ok := layout(out)
	after := parse(&source{name: "spec", text: out}, &report{})
	if !ok || !bytes.Equal(out, again) || after == nil || !same(before, after) || !slices.Equal(comments(src), comments(out)) {
		return src, nil
	}
	return out, nil
}

// same compares values, whatever the order of keys.
func same(a, b *value) bool {
	if a.kind != b.kind || a.isScalar() && a.text != b.text || !slices.Equal(slices.Sorted(slices.Values(a.keys())), slices.Sorted(slices.Values(b.keys()))) {
		return false
	}
	if len(a.items) != len(b.items) {
		return false
	}
	for i := range a.items {
		if !same(a.items[i], b.items[i]) {
			return false
		}
	}
	for _, e := range a.entries {
		if !same(e.val, b.find(e.key).val) {
			return false
		}
	}
	return true
}

// comments lists the comment lines of a source, sorted.
func comments(src []byte) []string {
	doc, _, err := decodeYAML(src)
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
		out = append(out, line, itoa(found[line]))
	}
	return out
}

// layout does the work; ok is false for what it does not handle.
func layout(src []byte) (out []byte, ok bool) {
	src = bytes.ReplaceAll(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")), []byte("\r\n"), []byte("\n"))
	doc, second, err := decodeYAML(src)
	if err != nil || second != nil || doc == nil || len(doc.Content) != 1 || !simple(doc.Content[0]) {
		return nil, false
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 || root.Column != 1 || bytes.IndexByte(src, '\t') >= 0 {
		return nil, false
	}
	f := &formatter{lines: strings.Split(strings.TrimRight(string(src), "\n"), "\n")}
	defer func() {
		if recover() != nil { // a position that is not where it should be
			out, ok = nil, false
		}
	}()
	header := f.header(root.Content[0].Line)
	f.emit(header...)
	f.mapping(root, 1+len(header), len(f.lines), 0, orderOf(root))
	return []byte(strings.Join(f.out, "\n") + "\n"), true
}

// simple says that a document has no anchors, aliases, tags or merges.
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

// orderOf is the order of a file's top keys, by its kind.
func orderOf(root *yaml.Node) keyOrder {
	kind, oneCase := "", false
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch root.Content[i].Value {
		case "kind":
			kind = root.Content[i+1].Value
		case "run", "render":
			oneCase = true
		}
	}
	if kind == "" && oneCase { // a case.yaml
		return testsOrder()
	}
	switch kind {
	case kindAgent, kindLibrary:
		return specOrder()
	case kindTests:
		return testsOrder()
	case kindSuite:
		return suiteOrder()
	case kindPrices:
		return pricesOrder()
	}
	return keyOrder{first: []string{"apiVersion", "kind", "metadata"}}
}

// keyOrder is the order of a mapping's keys: first, then the rest as written.
// below are the orders of the mappings under it, "*" that of all others.
type keyOrder struct {
	first []string
	below map[string]keyOrder
}

func (o keyOrder) under(key string) keyOrder {
	if b, ok := o.below[key]; ok {
		return b
	}
	return o.below["*"]
}

func ofStruct(t any) keyOrder { return keyOrder{first: structKeys(t)} }

func specOrder() keyOrder {
	models := ofStruct(llm{})
	models.below = map[string]keyOrder{"retry": ofStruct(retry{}), "rate_limit": ofStruct(rateLimit{}), "cost": ofStruct(cost{})}
	role := keyOrder{first: []string{"llm"}}
	graph := ofStruct(graphKeys{})
	graph.below = map[string]keyOrder{
		"nodes": {below: map[string]keyOrder{"*": ofStruct(nodeKeys{})}},
		"edges": {below: map[string]keyOrder{"*": ofStruct(edgeKeys{})}},
	}
	parameter := keyOrder{first: []string{"type", "description", "required", "default"}}
	tools := keyOrder{first: []string{"type", "use", "description", "effect", "approval"}}
	store := ofStruct(memory{})
	store.below = map[string]keyOrder{"compaction": {
		first: structKeys(compactionKeys{}),
		below: map[string]keyOrder{"summarize": ofStruct(summarizationKeys{}), "*": ofStruct(truncationKeys{})},
	}}
	return keyOrder{first: structKeys(document{}), below: map[string]keyOrder{
		"metadata": ofStruct(metadata{}), "limits": ofStruct(limits{}), "memory": store, "output": ofStruct(output{}),
		"llms": {below: map[string]keyOrder{"*": models}}, "tools": {below: map[string]keyOrder{"*": tools}},
		"parameters": {below: map[string]keyOrder{"*": parameter}}, "guards": {below: map[string]keyOrder{"*": ofStruct(guardRule{})}},
		"planner": role, "executor": role, "reflector": role, "finalizer": role, "graph": graph,
		"tests": {below: map[string]keyOrder{"*": caseOrder()}},
	}}
}

func checkOrder() keyOrder { return keyOrder{below: map[string]keyOrder{"*": ofStruct(checkKeys{})}} }

func caseOrder() keyOrder {
	order := ofStruct(caseKeys{})
	order.below = map[string]keyOrder{
		"run": ofStruct(runKeys{}), "inject": {below: map[string]keyOrder{"*": ofStruct(injectKeys{})}}, "checks": checkOrder(),
		"redact": {below: map[string]keyOrder{"*": ofStruct(redactKeys{})}},
	}
	return order
}

// testsOrder is the order of a file of tests, and of a case.yaml with a header.
func testsOrder() keyOrder {
	order := caseOrder()
	order.first = append(structKeys(testsKeys{}), order.first...)
	order.below["metadata"], order.below["tests"] = ofStruct(metadata{}), keyOrder{below: map[string]keyOrder{"*": caseOrder()}}
	return order
}

func suiteOrder() keyOrder {
	order := ofStruct(suiteKeys{})
	order.below = map[string]keyOrder{
		"metadata": ofStruct(metadata{}), "llms": specOrder().below["llms"], "dataset": ofStruct(datasetKeys{}),
		"variants": {below: map[string]keyOrder{"*": ofStruct(variantKeys{})}}, "checks": checkOrder(), "judge": ofStruct(judgeKeys{}),
		"gates": {below: map[string]keyOrder{"*": ofStruct(gateKeys{})}}, "baseline": ofStruct(baselineKeys{}),
		"limits": ofStruct(suiteLimits{}), "quarantine": {below: map[string]keyOrder{"*": ofStruct(quarantineKeys{})}},
	}
	return order
}
