package convert

import "slices"

// template is one of OpenSearch's flow framework: nodes that set up a cluster,
// each with a body in user_inputs, and in previous_node_inputs what it takes from
// other nodes.
type template struct {
	nodes  []*item
	called []string // ids of the agents that tools call
}

// fromNode is how a text in a template stands for what another node makes.
var fromNode = lazily(`^\s*\$\{\{\s*([^.{}\s]+)\.\w+\s*\}\}\s*$`)

// provisioned are the bodies that a template registers, put together as the
// cluster would, called by their nodes' ids; nil = it is no template. Agents that
// no tool calls come first.
func (m *importer) provisioned(root *item) []*item {
	var t template
	for _, flow := range inside(root.at("workflows")) {
		t.nodes = append(t.nodes, inside(flow.at("nodes"))...)
	}
	if len(t.nodes) == 0 {
		return nil
	}
	for i, key := range root.keys {
		if key != "workflows" {
			m.note(root.items[i], Dropped, "is said of the template, and not of an agent in it")
		}
	}
	var agents, connectors []*item
	for _, node := range t.nodes {
		switch body := node.at("user_inputs"); {
		case body != nil && body.kind == object && node.at("type").peek() == "register_agent":
			t.equip(node, body)
			m.ids[body] = node.at("id").peek()
			agents = append(agents, body)
		case body != nil && body.kind == object && node.at("type").peek() == "create_connector":
			body.set("connector_id", found(node, node.at("id").peek()))
			connectors = append(connectors, body)
		case node.at("type").peek() != "create_tool":
			m.note(node, Dropped, "sets up the cluster, and is no part of an agent")
		}
	}
	slices.SortStableFunc(agents, func(a, b *item) int { return t.calls(m.ids[a]) - t.calls(m.ids[b]) })
	return append(agents, connectors...)
}

// equip gives an agent's body what its node takes from others: the id of its
// model, which is that of a connector where one leads to it, and its tools.
func (t *template) equip(node, body *item) {
	llm := body.at("llm").unfold()
	if llm == nil || llm.kind != object {
		llm = &item{file: node.file, path: below(body.path, "llm"), kind: object}
	}
	for _, key := range []string{"parameters", "model_id"} {
		if it := body.cut("llm." + key); it != nil {
			llm.set(key, it)
		}
	}
	from := node.at("previous_node_inputs")
	for i, it := range inside(from) {
		switch id := from.keys[i]; it.peek() {
		case "model_id", "llm.model_id":
			llm.set("model_id", &item{file: it.file, path: it.path, kind: text, text: t.model(id)})
		case "tools":
			t.tool(body, id)
		}
	}
	if len(llm.keys) > 0 {
		body.set("llm", llm)
	}
}

// tool adds the tool that a node makes to an agent's body.
func (t *template) tool(body *item, id string) {
	node := t.node(id)
	tool := node.at("user_inputs")
	if tool == nil || tool.kind != object {
		return
	}
	from := node.at("previous_node_inputs")
	for i, it := range inside(from) {
		if it.peek() == "agent_id" {
			t.called = append(t.called, from.keys[i])
		}
	}
	tools := body.at("tools").unfold()
	if tools == nil || tools.kind != list {
		tools = &item{file: body.file, path: below(body.path, "tools"), kind: list}
		body.set("tools", tools)
	}
	tools.items = append(tools.items, tool)
}

// model follows nodes that register and deploy a model to the one that makes its
// connector.
func (t *template) model(id string) string {
	for range t.nodes {
		from := t.node(id).at("previous_node_inputs")
		i := slices.IndexFunc(inside(from), func(it *item) bool { return it.peek() == "model_id" || it.peek() == "connector_id" })
		if i < 0 {
			break
		}
		id = from.keys[i]
	}
	return id
}

func (t *template) node(id string) *item {
	i := slices.IndexFunc(t.nodes, func(n *item) bool { return n.at("id").peek() == id })
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

// found is a text that a node gives a body, of which nothing more has to become.
func found(node *item, s string) *item {
	return &item{file: node.file, path: node.path, kind: text, text: s, done: true}
}

// inside are the values in an object or list.
func inside(it *item) []*item {
	if it == nil {
		return nil
	}
	return it.items
}

// cut takes a member out of an object; nil = there is none.
func (it *item) cut(key string) *item {
	i := slices.Index(it.keys, key)
	if i < 0 {
		return nil
	}
	member := it.items[i]
	it.keys, it.items = slices.Delete(it.keys, i, i+1), slices.Delete(it.items, i, i+1)
	return member
}
