package opensearch

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/text"
)

// builtinTools maps OpenSearch tool types to builtin tools.
var builtinTools = map[string]string{
	"ListIndexTool":          "opensearch_list_index",
	"CatIndexTool":           "opensearch_list_index",
	"CATIndexTool":           "opensearch_list_index",
	"IndexMappingTool":       "opensearch_index_mapping",
	"SearchIndexTool":        "opensearch_search",
	"WebSearchTool":          "web_search",
	"WriteToScratchPadTool":  "notepad",
	"ReadFromScratchPadTool": "notepad",
}

// clusterTools are the tools that only the cluster can run; true for those that
// only read.
var clusterTools = map[string]bool{
	"VectorDBTool": true, "NeuralSparseSearchTool": true, "RAGTool": true, "PPLTool": true, "VisualizationTool": true,
	"MLModelTool": true, "SearchAlertsTool": true, "SearchMonitorsTool": true, "SearchAnomalyDetectorsTool": true,
	"SearchAnomalyResultsTool": true, "LogPatternTool": true, "LogPatternAnalysisTool": true, "DataDistributionTool": true,
	"QueryPlanningTool": true, "MetricChangeAnalysisTool": true, "SearchAroundDocumentTool": true, "SearchAroundTool": true,
	"HybridSearchTool": true, "CreateAlertTool": false, "CreateAnomalyDetectorTool": false, "AgentTool": false,
	"ConnectorTool": false, "DynamicTool": false, "SearchTemplateTool": true,
}

// questionTools are the types whose text argument is called question; in other
// types it is called input.
var questionTools = []string{"PPLTool", "AgentTool", "MLModelTool", "QueryPlanningTool"}

// toolSection writes the agent's tools under their original names, because
// prompts refer to them.
func (m *importer) toolSection() {
	tools := m.agent.Get("tools").Decode()
	if tools == nil || tools.Kind != tree.List {
		return
	}
	for _, t := range tools.Items {
		if t.Decode(); t.Kind == tree.Text { // only a type
			t.Kind, t.Keys, t.Items = tree.Object, []string{"type"}, []*tree.Value{{File: t.File, Path: t.Path, Kind: tree.Text, Text: t.Text}}
		}
		m.tool(t)
	}
	if needed := m.clusterVariables(); needed != "" {
		m.NoteAt(m.from, "tools", convert.Todo, "set %s: the tools call the cluster from outside, as that user and not as the user of the agent; "+
			"allow_private: true lets a tool reach a cluster in a private network", needed)
	}
}

// clusterVariables describes the variables that the tools need to call the cluster; it
// returns "" if none does.
func (m *importer) clusterVariables() string {
	builtin, http := false, false
	for _, e := range m.tools {
		t, _ := e.Value.(tree.Map)
		use, _ := t.Get("use").(string)
		builtin = builtin || strings.HasPrefix(use, "opensearch_")
		http = http || t.Get("type") == "http"
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

func (m *importer) tool(t *tree.Value) {
	typ := t.Get("type").Peek()
	name := m.toolName(t, typ)
	use, here := builtinTools[typ]
	reads, there := clusterTools[typ]
	var out tree.Map
	switch {
	case here && use == "notepad" && m.uses("notepad"):
		m.Note(t, convert.Changed, "the tool notepad writes and reads: it stands for both")
		return
	case here:
		m.builtin(&out, t, use)
	case there:
		m.clusterTool(&out, t, typ, reads)
	default:
		m.Note(t, convert.Todo, "no tool of the type %s is known: write it by hand, as a tool of type http, command, mcp or agent", tree.Clip(typ))
		return
	}
	m.commonToolFields(&out, t)
	m.toolOverrides(&out, t, typ)
	m.tools.Set(name, out, "")
	for _, sub := range t.Unused() {
		m.Note(sub, convert.Dropped, "the tool has no such setting here: the model writes its arguments, and %s says which there are", textIfElse(use != "", use, "input_schema"))
	}
}

func textIfElse(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// uses reports whether the spec already has a builtin.
func (m *importer) uses(use string) bool {
	return slices.ContainsFunc(m.tools, func(e tree.Entry) bool {
		t, _ := e.Value.(tree.Map)
		return t.Get("use") == use
	})
}

// toolName returns a valid name that no other tool has.
func (m *importer) toolName(t *tree.Value, typ string) string {
	it := t.Get("name")
	given := it.UseText()
	if given == "" {
		given = typ
	}
	name := toName(given, "tool")
	for n := 2; m.tools.Has(name); n++ {
		name = toName(given, "tool") + "_" + strconv.Itoa(n)
	}
	if it != nil && name != given {
		m.Note(it, convert.Changed, "is called %s here: names are letters, digits, _ and -, and each stands once", name)
	}
	t.Get("type").Use()
	return name
}

// toName converts a text to a valid name.
func toName(s, otherwise string) string {
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

// commonToolFields converts the fields that tools of every type have.
func (m *importer) commonToolFields(out *tree.Map, t *tree.Value) {
	if d := t.Get("description").UseText(); d != "" {
		out.Put("description", d)
	}
	if it := t.Get("include_output_in_agent_response"); it != nil {
		if yes, ok := it.UseBool(); ok && yes {
			out.Put("include_output_in_agent_response", true)
		}
	}
	for _, it := range []*tree.Value{t.Get("output_filter"), t.Get("parameters", "output_filter")} {
		if s := it.Peek(); strings.HasPrefix(s, "$") {
			out.Put("output_filter", it.UseText())
		}
	}
	m.Note(t.Get("parameters", "output_processors"), convert.Dropped, "no chain of processors works on an output here; output_filter takes a JSONPath")
	m.Note(t.Get("attributes", "strict"), convert.Changed, "whether a schema is kept to is the provider's business; arguments are checked before a tool runs in any case")
}

// toolOverrides converts the agent's parameters about a tool: NAME.description.
func (m *importer) toolOverrides(out *tree.Map, t *tree.Value, typ string) {
	params := m.agent.Get("parameters")
	for _, name := range []string{t.Get("name").Peek(), typ} {
		if it := params.Get(name + ".description"); it != nil && name != "" {
			out.Put("description", it.UseText())
		}
	}
}

// builtin writes a builtin tool.
func (m *importer) builtin(out *tree.Map, t *tree.Value, use string) {
	out.Put("type", "builtin")
	out.Put("use", use)
	switch use {
	case "web_search":
		m.webSearch(out, t)
		return
	case "notepad":
		return
	}
	out.Put("url", "${env.OPENSEARCH_URL}")
	out.Put("auth", tree.Map{{Key: "type", Value: "basic"}, {Key: "username", Value: "${env.OPENSEARCH_USER}"}, {Key: "password_env", Value: "OPENSEARCH_PASSWORD"}})
	for _, at := range [][2]string{{"parameters", "index"}, {"parameters", "indices"}, {"config", "index"}, {"config", "indices"}} {
		it := t.Get(at[0], at[1]).Decode()
		if indices := indexNames(it); len(indices) > 0 {
			out.Put("indices", indices)
			m.Note(it, convert.Changed, "becomes indices: the tool can use these and no others")
		}
	}
}

// indexName matches one index, or a pattern of index names.
var indexName = text.Regexp(`^[a-z0-9][a-z0-9._*-]*$`)

// indexNames returns the names of indices to which a tool may be restricted.
func indexNames(it *tree.Value) (out []any) {
	if it == nil {
		return nil
	}
	all := []*tree.Value{it}
	if it.Kind == tree.List {
		all = it.Items
	}
	for _, sub := range all {
		for name := range strings.SplitSeq(sub.Peek(), ",") {
			name = strings.TrimSpace(name)
			if !indexName().MatchString(name) {
				return nil
			}
			out = append(out, name)
		}
	}
	return out
}

// webSearch writes the search engine.
func (m *importer) webSearch(out *tree.Map, t *tree.Value) {
	params := t.Get("parameters")
	engine, cx := params.Get("engine"), params.Get("custom_search_engine_id")
	m.Note(params.Get("api_key"), convert.Changed, "secrets are not taken over: set SEARCH_API_KEY in the environment")
	if strings.EqualFold(engine.Peek(), "google") {
		out.Put("engine", "json")
		out.Put("url", "https://www.googleapis.com/customsearch/v1")
		out.Put("query", tree.Map{{Key: "key", Value: "${env.SEARCH_API_KEY}"}, {Key: "cx", Value: escaped(cx.UseText())}, {Key: "q", Value: "${args.query}"}})
		out.Put("results", "$.items")
		m.Note(engine, convert.Changed, "is asked as engine: json, at the address of Google's own search API")
		return
	}
	out.Put("engine", "searxng")
	out.Put("url", "${env.SEARXNG_URL}")
	if engine != nil {
		m.Note(engine, convert.Todo, "is no engine here: set SEARXNG_URL to a SearXNG server, or choose another engine (pexctl list tool)")
		return
	}
	m.Note(t, convert.Todo, "names no engine: set SEARXNG_URL to a SearXNG server, or choose another engine (pexctl list tool)")
}

// clusterTool writes a tool that stays in the cluster: it is called through the
// API that executes tools.
func (m *importer) clusterTool(out *tree.Map, t *tree.Value, typ string, reads bool) {
	out.Put("type", "http")
	m.effect(out, t, reads)
	out.Put("method", "POST")
	out.Put("url", "${env.OPENSEARCH_URL}/_plugins/_ml/tools/_execute/"+typ)
	out.Put("headers", tree.Map{{Key: "Authorization", Value: "Basic ${env.OPENSEARCH_BASIC_AUTH}"}})
	var body tree.Map
	schema := t.Get("attributes", "input_schema").Decode()
	asks := "${args." + queryArgument(schema) + "}"
	for _, at := range []string{"parameters", "config"} {
		set := t.Get(at).Decode()
		if set == nil || set.Kind != tree.Object {
			continue
		}
		for i, key := range set.Keys {
			if key == "output_filter" || key == "output_processors" || set.Items[i].Kind == tree.Null {
				continue
			}
			body.Set(key, m.fixedValue(key, set.Items[i], asks), "")
		}
	}
	if !m.schema(out, &body, schema) {
		key := "input"
		if slices.Contains(questionTools, typ) {
			key = "question"
		}
		body.Set(key, asks, "")
	}
	out.Put("body", tree.Map{{Key: "parameters", Value: body}})
	out.Put("response_filter", "$.inference_results[*].output[*]")
	m.NoteAt(t.File, t.Path, convert.Changed, "only the cluster can run a %s: it is called there, by the API that executes tools (3.3 and later, with plugins.ml_commons.execute_tools_enabled)", typ)
}

// effect writes the effect of a call, and that calls need no approval, as in
// OpenSearch.
func (m *importer) effect(out *tree.Map, t *tree.Value, reads bool) {
	if reads {
		out.Put("effect", "read")
		return
	}
	out.Put("effect", "write")
	out.Put("approval", "never")
	m.NoteAt(t.File, t.Path, convert.Changed, "may have side effects, and OpenSearch requires no approval: approval: never keeps that; approval: always requires one")
}

// queryArgument returns the argument that contains a model's query: input, or
// else question, or else the first of the schema.
func queryArgument(schema *tree.Value) string {
	props := schema.Get("properties")
	if props == nil || len(props.Keys) == 0 || props.Get("input") != nil || !declares(props) {
		return "input"
	}
	if props.Get("question") != nil {
		return "question"
	}
	return props.Keys[0]
}

// declares reports whether the names of all properties are valid names of
// arguments.
func declares(props *tree.Value) bool {
	return !slices.ContainsFunc(props.Keys, func(key string) bool { return !tree.PlainKey().MatchString(key) })
}

// fixedValue returns a fixed value of a tool in the form for the cluster. A
// secret becomes a variable, and the question becomes the model's query.
func (m *importer) fixedValue(key string, it *tree.Value, asks string) any {
	if it.Kind == tree.Text && (isSecret(key, it.Text) || secret.FindWellKnown(it.Text).Kind != "") {
		variable := "${env." + toEnvName(key) + "}"
		m.Note(it, convert.Todo, "it looks like a secret and was not taken over: set the environment variable %s", toEnvName(key))
		return variable
	}
	return fixedText(it.Use(), asks)
}

// fixedText returns a fixed value of a tool. The cluster resolves references in
// it, except for the question.
func fixedText(it *tree.Value, asks string) any {
	switch s := strings.TrimSpace(it.Text); {
	case it.Kind != tree.Text:
		return it.Native()
	case s == "${parameters.question}" || s == "${parameters.input}" || s == "${parameters.llm_generated_input}":
		return asks
	}
	return escaped(it.Text)
}

// escaped escapes all references of a text.
func escaped(s string) string {
	return strings.NewReplacer("${", "$${", "$<", "$$<").Replace(s)
}

// schema converts the arguments that a model writes.
func (m *importer) schema(out, body *tree.Map, schema *tree.Value) bool {
	props := schema.Get("properties")
	if schema == nil || schema.Kind != tree.Object || props == nil || len(props.Items) == 0 || !declares(props) {
		return false
	}
	for _, key := range props.Keys {
		body.Set(key, "${args."+key+"}", "")
	}
	out.Put("input_schema", schema.Use().Native())
	return true
}
