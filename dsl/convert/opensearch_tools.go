package convert

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pexctl/pex/engine/secret"
)

// ours are the tools of OpenSearch that are built in here, by their types.
var ours = map[string]string{
	"ListIndexTool":          "opensearch_list_index",
	"CatIndexTool":           "opensearch_list_index",
	"CATIndexTool":           "opensearch_list_index",
	"IndexMappingTool":       "opensearch_index_mapping",
	"SearchIndexTool":        "opensearch_search",
	"WebSearchTool":          "web_search",
	"WriteToScratchPadTool":  "notepad",
	"ReadFromScratchPadTool": "notepad",
}

// theirs are the tools that only the cluster can run; true = it reads.
var theirs = map[string]bool{
	"VectorDBTool": true, "NeuralSparseSearchTool": true, "RAGTool": true, "PPLTool": true, "VisualizationTool": true,
	"MLModelTool": true, "SearchAlertsTool": true, "SearchMonitorsTool": true, "SearchAnomalyDetectorsTool": true,
	"SearchAnomalyResultsTool": true, "LogPatternTool": true, "LogPatternAnalysisTool": true, "DataDistributionTool": true,
	"QueryPlanningTool": true, "MetricChangeAnalysisTool": true, "SearchAroundDocumentTool": true, "SearchAroundTool": true,
	"HybridSearchTool": true, "CreateAlertTool": false, "CreateAnomalyDetectorTool": false, "AgentTool": false,
	"ConnectorTool": false, "DynamicTool": false, "SearchTemplateTool": true,
}

// asked are the types whose text is called question; of the others it is input.
var asked = []string{"PPLTool", "AgentTool", "MLModelTool", "QueryPlanningTool"}

// toolSection writes the agent's tools, under their names there: prompts speak of them.
func (m *importer) toolSection() {
	tools := m.agent.at("tools").unfold()
	if tools == nil || tools.kind != list {
		return
	}
	for _, t := range tools.items {
		if t.unfold(); t.kind == text { // the type alone
			t.kind, t.keys, t.items = object, []string{"type"}, []*item{{file: t.file, path: t.path, kind: text, text: t.text}}
		}
		m.tool(t)
	}
	if needed := m.asksCluster(); needed != "" {
		m.remind(m.from, "tools", Todo, "set %s: the tools ask the cluster from outside, as that user and not as whoever asks the agent; "+
			"allow_private: true lets a tool reach a cluster in a private network", needed)
	}
}

// asksCluster is the variables that the tools ask the cluster with, in words;
// "" = none asks it.
func (m *importer) asksCluster() string {
	builtin, http := false, false
	for _, e := range m.tools {
		t, _ := e.value.(mapping)
		use, _ := t.get("use").(string)
		builtin = builtin || strings.HasPrefix(use, "opensearch_")
		http = http || t.get("type") == "http"
	}
	const both, basic = "OPENSEARCH_URL, OPENSEARCH_USER", "OPENSEARCH_BASIC_AUTH (user:password in base64)"
	switch {
	case builtin && http:
		return both + ", OPENSEARCH_PASSWORD and " + basic
	case builtin:
		return both + " and OPENSEARCH_PASSWORD"
	case http:
		return "OPENSEARCH_URL and " + basic
	}
	return ""
}

func (m *importer) tool(t *item) {
	typ := t.at("type").peek()
	name := m.toolName(t, typ)
	use, here := ours[typ]
	reads, there := theirs[typ]
	var out mapping
	switch {
	case here && use == "notepad" && m.uses("notepad"):
		m.note(t, Changed, "the tool notepad writes and reads: it stands for both")
		return
	case here:
		m.builtin(&out, t, use)
	case there:
		m.executed(&out, t, typ, reads)
	default:
		m.note(t, Todo, "no tool of the type %s is known: write it by hand, as a tool of type http, command, mcp or agent", clip(typ))
		return
	}
	m.common(&out, t)
	m.overridden(&out, t, typ)
	m.tools.keep(name, out, "")
	for _, sub := range t.left() {
		m.note(sub, Dropped, "the tool has no such setting here: the model writes its arguments, and %s says which there are", also2(use != "", use, "input_schema"))
	}
}

func also2(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// uses says whether a builtin is among the tools already.
func (m *importer) uses(use string) bool {
	return slices.ContainsFunc(m.tools, func(e entry) bool {
		t, _ := e.value.(mapping)
		return t.get("use") == use
	})
}

// toolName is a name that tools can have, and that no other tool has.
func (m *importer) toolName(t *item, typ string) string {
	it := t.at("name")
	given := it.word()
	if given == "" {
		given = typ
	}
	name := named(given, "tool")
	for n := 2; m.tools.has(name); n++ {
		name = named(given, "tool") + "_" + itoa(n)
	}
	if it != nil && name != given {
		m.note(it, Changed, "is called %s here: names are letters, digits, _ and -, and each stands once", name)
	}
	t.at("type").take()
	return name
}

// named makes a text a name of the language.
func named(s, otherwise string) string {
	s = strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-') {
			return r
		}
		return '_'
	}, s)
	s = strings.TrimLeft(s, "0123456789_-")
	if s = s[:min(len(s), 56)]; s == "" {
		return otherwise
	}
	return s
}

// common takes over what tools of every type have.
func (m *importer) common(out *mapping, t *item) {
	if d := t.at("description").word(); d != "" {
		out.put("description", d)
	}
	if it := t.at("include_output_in_agent_response"); it != nil {
		if yes, ok := it.truth(); ok && yes {
			out.put("include_output_in_agent_response", true)
		}
	}
	for _, it := range []*item{t.at("output_filter"), t.at("parameters", "output_filter")} {
		if s := it.peek(); strings.HasPrefix(s, "$") {
			out.put("output_filter", it.word())
		}
	}
	m.note(t.at("parameters", "output_processors"), Dropped, "no chain of processors works on an output here; output_filter takes a JSONPath")
	m.note(t.at("attributes", "strict"), Changed, "whether a schema is kept to is the provider's business; arguments are checked before a tool runs in any case")
}

// overridden takes over what the agent's parameters say of a tool: NAME.description.
func (m *importer) overridden(out *mapping, t *item, typ string) {
	params := m.agent.at("parameters")
	for _, name := range []string{t.at("name").peek(), typ} {
		if it := params.at(name + ".description"); it != nil && name != "" {
			out.put("description", it.word())
		}
	}
}

// builtin writes a tool that is built in.
func (m *importer) builtin(out *mapping, t *item, use string) {
	out.put("type", "builtin")
	out.put("use", use)
	switch use {
	case "web_search":
		m.webSearch(out, t)
		return
	case "notepad":
		return
	}
	out.put("url", "${env.OPENSEARCH_URL}")
	out.put("auth", mapping{{key: "type", value: "basic"}, {key: "username", value: "${env.OPENSEARCH_USER}"}, {key: "password_env", value: "OPENSEARCH_PASSWORD"}})
	for _, at := range [][2]string{{"parameters", "index"}, {"parameters", "indices"}, {"config", "index"}, {"config", "indices"}} {
		it := t.at(at[0], at[1]).unfold()
		if indices := indexNames(it); len(indices) > 0 {
			out.put("indices", indices)
			m.note(it, Changed, "becomes indices: the tool can use these and no others")
		}
	}
}

// indexName is one index, or a pattern of such names.
var indexName = lazily(`^[a-z0-9][a-z0-9._*-]*$`)

// indexNames are names of indices that a tool may be held to.
func indexNames(it *item) (out []any) {
	if it == nil {
		return nil
	}
	all := []*item{it}
	if it.kind == list {
		all = it.items
	}
	for _, sub := range all {
		for name := range strings.SplitSeq(sub.peek(), ",") {
			name = strings.TrimSpace(name)
			if !indexName().MatchString(name) {
				return nil
			}
			out = append(out, name)
		}
	}
	return out
}

// webSearch writes the engine that is asked.
func (m *importer) webSearch(out *mapping, t *item) {
	params := t.at("parameters")
	engine, cx := params.at("engine"), params.at("custom_search_engine_id")
	m.note(params.at("api_key"), Changed, "secrets are not taken over: set SEARCH_API_KEY in the environment")
	if strings.EqualFold(engine.peek(), "google") {
		out.put("engine", "json")
		out.put("url", "https://www.googleapis.com/customsearch/v1")
		out.put("query", mapping{{key: "key", value: "${env.SEARCH_API_KEY}"}, {key: "cx", value: escaped(cx.word())}, {key: "q", value: "${args.query}"}})
		out.put("results", "$.items")
		m.note(engine, Changed, "is asked as engine: json, at the address of Google's own search API")
		return
	}
	out.put("engine", "searxng")
	out.put("url", "${env.SEARXNG_URL}")
	if engine != nil {
		m.note(engine, Todo, "is no engine here: set SEARXNG_URL to a SearXNG server, or choose another engine (pexctl list tool)")
		return
	}
	m.note(t, Todo, "names no engine: set SEARXNG_URL to a SearXNG server, or choose another engine (pexctl list tool)")
}

// executed writes a tool that stays in the cluster: it is called by the API that
// executes tools.
func (m *importer) executed(out *mapping, t *item, typ string, reads bool) {
	out.put("type", "http")
	m.effect(out, t, reads)
	out.put("method", "POST")
	out.put("url", "${env.OPENSEARCH_URL}/_plugins/_ml/tools/_execute/"+typ)
	out.put("headers", mapping{{key: "Authorization", value: "Basic ${env.OPENSEARCH_BASIC_AUTH}"}})
	var body mapping
	schema := t.at("attributes", "input_schema").unfold()
	asks := "${args." + said(schema) + "}"
	for _, at := range []string{"parameters", "config"} {
		set := t.at(at).unfold()
		if set == nil || set.kind != object {
			continue
		}
		for i, key := range set.keys {
			if key == "output_filter" || key == "output_processors" || set.items[i].kind == null {
				continue
			}
			body.keep(key, m.sent(key, set.items[i], asks), "")
		}
	}
	if !m.schema(out, &body, schema) {
		key := "input"
		if slices.Contains(asked, typ) {
			key = "question"
		}
		body.keep(key, asks, "")
	}
	out.put("body", mapping{{key: "parameters", value: body}})
	out.put("response_filter", "$.inference_results[*].output[*]")
	m.remind(t.file, t.path, Changed, "only the cluster can run a %s: it is called there, by the API that executes tools (3.3 and later, with plugins.ml_commons.execute_tools_enabled)", typ)
}

// effect says what a call does, and that nobody is asked, as it was there.
func (m *importer) effect(out *mapping, t *item, reads bool) {
	if reads {
		out.put("effect", "read")
		return
	}
	out.put("effect", "write")
	out.put("approval", "never")
	m.remind(t.file, t.path, Changed, "may change something, and OpenSearch asks nobody: approval: never says the same; always has a person decide")
}

// said is the argument in which a model says what it wants to know: input, else
// question, else the first of the schema.
func said(schema *item) string {
	props := schema.at("properties")
	if props == nil || len(props.keys) == 0 || props.at("input") != nil || !declares(props) {
		return "input"
	}
	if props.at("question") != nil {
		return "question"
	}
	return props.keys[0]
}

// declares says that the names of properties can be those of arguments.
func declares(props *item) bool {
	return !slices.ContainsFunc(props.keys, func(key string) bool { return !plainKey().MatchString(key) })
}

// sent is a fixed value of a tool as the cluster is sent it; a variable stands
// for a secret, and what the model asks for the question.
func (m *importer) sent(key string, it *item, asks string) any {
	if it.kind == text && (secretive(key, it.text) || secret.Known(it.text).Looks != "") {
		variable := "${env." + screaming(key) + "}"
		m.note(it, Todo, "it looks like a secret and was not taken over: set the environment variable %s", screaming(key))
		return variable
	}
	return sentTo(it.take(), asks)
}

// sentTo is a fixed value of a tool. References are the cluster's to fill, but
// for the question.
func sentTo(it *item, asks string) any {
	switch s := strings.TrimSpace(it.text); {
	case it.kind != text:
		return it.plain()
	case s == "${parameters.question}" || s == "${parameters.input}" || s == "${parameters.llm_generated_input}":
		return asks
	}
	return escaped(it.text)
}

// escaped is a text in which nothing is a reference.
func escaped(s string) string {
	return strings.NewReplacer("${", "$${", "$<", "$$<").Replace(s)
}

// schema takes over the arguments that a model writes.
func (m *importer) schema(out, body *mapping, schema *item) bool {
	props := schema.at("properties")
	if schema == nil || schema.kind != object || props == nil || len(props.items) == 0 || !declares(props) {
		return false
	}
	for _, key := range props.keys {
		body.keep(key, "${args."+key+"}", "")
	}
	out.put("input_schema", schema.take().plain())
	return true
}
