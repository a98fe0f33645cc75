package opensearch

import (
	"slices"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/text"
)

// template is a template of OpenSearch's flow framework: nodes that set up a
// cluster. The user_inputs of a node contain its body, previous_node_inputs what
// it takes from other nodes.
type template struct {
	nodes  []*tree.Value
	called []string // ids of the agents that tools call
}

// fromNode matches a reference to the output of another node.
var fromNode = text.Regexp(`^\s*\$\{\{\s*([^.{}\s]+)\.\w+\s*\}\}\s*$`)

// registeredBodies returns the bodies that a template registers, assembled as the
// cluster would, with the ids of their nodes. Agents that no tool calls come
// first. It returns nil if root is not a template.
func (m *importer) registeredBodies(root *tree.Value) []*tree.Value {
	var t template
	for _, flow := range valuesIn(root.Get("workflows")) {
		t.nodes = append(t.nodes, valuesIn(flow.Get("nodes"))...)
	}
	if len(t.nodes) == 0 {
		return nil
	}
	for i, key := range root.Keys {
		if key != "workflows" {
			m.Note(root.Items[i], convert.Dropped, "is said of the template, and not of an agent in it")
		}
	}
	var agents, connectors []*tree.Value
	for _, node := range t.nodes {
		switch body := node.Get("user_inputs"); {
		case body != nil && body.Kind == tree.Object && node.Get("type").Peek() == "register_agent":
			t.completeAgent(node, body)
			m.ids[body] = node.Get("id").Peek()
			agents = append(agents, body)
		case body != nil && body.Kind == tree.Object && node.Get("type").Peek() == "create_connector":
			body.Set("connector_id", usedText(node, node.Get("id").Peek()))
			connectors = append(connectors, body)
		case node.Get("type").Peek() != "create_tool":
			m.Note(node, convert.Dropped, "sets up the cluster, and is no part of an agent")
		}
	}
	slices.SortStableFunc(agents, func(a, b *tree.Value) int { return t.calls(m.ids[a]) - t.calls(m.ids[b]) })
	return append(agents, connectors...)
}

// completeAgent adds to an agent's body what its node takes from others: the id of its
// model, or of the connector behind it, and its tools.
func (t *template) completeAgent(node, body *tree.Value) {
	llm := body.Get("llm").Decode()
	if llm == nil || llm.Kind != tree.Object {
		llm = &tree.Value{File: node.File, Path: tree.Join(body.Path, "llm"), Kind: tree.Object}
	}
	for _, key := range []string{"parameters", "model_id"} {
		if it := body.Remove("llm." + key); it != nil {
			llm.Set(key, it)
		}
	}
	from := node.Get("previous_node_inputs")
	for i, it := range valuesIn(from) {
		switch id := from.Keys[i]; it.Peek() {
		case "model_id", "llm.model_id":
			llm.Set("model_id", &tree.Value{File: it.File, Path: it.Path, Kind: tree.Text, Text: t.model(id)})
		case "tools":
			t.tool(body, id)
		}
	}
	if len(llm.Keys) > 0 {
		body.Set("llm", llm)
	}
}

// tool adds the tool of a node to an agent's body.
func (t *template) tool(body *tree.Value, id string) {
	node := t.node(id)
	tool := node.Get("user_inputs")
	if tool == nil || tool.Kind != tree.Object {
		return
	}
	from := node.Get("previous_node_inputs")
	for i, it := range valuesIn(from) {
		if it.Peek() == "agent_id" {
			t.called = append(t.called, from.Keys[i])
		}
	}
	tools := body.Get("tools").Decode()
	if tools == nil || tools.Kind != tree.List {
		tools = &tree.Value{File: body.File, Path: tree.Join(body.Path, "tools"), Kind: tree.List}
		body.Set("tools", tools)
	}
	tools.Items = append(tools.Items, tool)
}

// model follows nodes that register and deploy a model to the node of its
// connector.
func (t *template) model(id string) string {
	for range t.nodes {
		from := t.node(id).Get("previous_node_inputs")
		i := slices.IndexFunc(valuesIn(from), func(it *tree.Value) bool { return it.Peek() == "model_id" || it.Peek() == "connector_id" })
		if i < 0 {
			break
		}
		id = from.Keys[i]
	}
	return id
}

func (t *template) node(id string) *tree.Value {
	i := slices.IndexFunc(t.nodes, func(n *tree.Value) bool { return n.Get("id").Peek() == id })
	if i < 0 {
		return nil
	}
	return t.nodes[i]
}

func (t *template) calls(id string) int {
	if slices.Contains(t.called, id) {
		return 1
	}
	return 0
}

// usedText returns a text that a node adds to a body, already marked as used.
func usedText(node *tree.Value, s string) *tree.Value {
	return &tree.Value{File: node.File, Path: node.Path, Kind: tree.Text, Text: s, Used: true}
}

// valuesIn returns the values in an object or list.
func valuesIn(it *tree.Value) []*tree.Value {
	if it == nil {
		return nil
	}
	return it.Items
}
