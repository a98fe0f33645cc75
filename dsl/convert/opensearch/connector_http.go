package opensearch

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// interfaces are the formats that the provider http implements.
var interfaces = []string{"openai/v1/chat/completions", "bedrock/converse/claude", "bedrock/converse/deepseek_r1", "gemini/v1beta/generatecontent"}

// overHTTP converts a model without a provider: address, headers, body and filter
// of the connector, for the provider http.
func (c *connector) overHTTP(out *tree.Map, iface string, l *tree.Log) {
	action, options := c.predict(), tree.Map{}
	if model := c.body.Get("parameters").Get("model"); model != nil && !isPlaceholder(model.Peek()) {
		out.Put("model", model.UseText())
	}
	c.settings(out, l)
	options.Put("url", oneSlash(c.fill(action.Get("url").UseText())))
	options.Put("method", strings.ToUpper(action.Get("method").UseText()))
	l.Note(action.Get("action_type"), convert.Changed, "is what an llm is for")
	c.requestHeaders(&options, l)
	if slices.Contains(interfaces, iface) {
		options.Put("llm_interface", iface)
		l.Note(action.Get("request_body"), convert.Changed, "llm_interface %s writes the body itself, tools and history included", iface)
	} else {
		c.requestBody(&options, l)
	}
	if it := c.body.Get("parameters").Get("response_filter"); it != nil && !options.Has("llm_interface") {
		options.Put("response_filter", it.UseText())
	}
	c.noteSigning(&options, l)
	l.NoteKeys(action, []string{"pre_process_function", "post_process_function"}, convert.Todo, "no function is run around a call: say in options.request_body what is sent, and by options.response_filter where the text is")
	out.Put("options", options)
}

// noteSigning notes what to do if requests are signed, or a token must be
// fetched.
func (c *connector) noteSigning(options *tree.Map, l *tree.Log) {
	switch it := c.body.Get("protocol"); strings.ToLower(it.Peek()) {
	case "aws_sigv4":
		l.Note(it, convert.Todo, "provider http does not sign requests for AWS: put a gateway that does in front, or use a model on Bedrock")
	case "oci_sigv1":
		l.Note(it, convert.Todo, "provider http does not sign requests for Oracle's cloud: put a gateway that does in front")
	case "google_cloud":
		headers, _ := options.Get("headers").(tree.Map)
		headers.Put("Authorization", "Bearer ${env.GOOGLE_ACCESS_TOKEN}")
		options.Put("headers", headers)
		l.Note(it, convert.Todo, "provider http fetches no token: set GOOGLE_ACCESS_TOKEN (gcloud auth print-access-token), which lasts an hour; provider googleai asks the same models with GEMINI_API_KEY")
	}
}

// oneSlash removes double slashes from a joined address.
func oneSlash(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return s
	}
	path, query, asked := strings.Cut(rest, "?")
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if asked {
		path += "?" + query
	}
	return scheme + "://" + path
}

// requestHeaders converts the headers.
func (c *connector) requestHeaders(options *tree.Map, l *tree.Log) {
	headers := c.predict().Get("headers").Decode()
	if headers == nil || headers.Kind != tree.Object {
		return
	}
	var keep tree.Map
	for i, key := range headers.Keys {
		if strings.EqualFold(key, "content-type") {
			l.Note(headers.Items[i], convert.Dropped, "provider http says that it sends JSON")
			continue
		}
		keep.Put(key, c.fill(headers.Items[i].UseText()))
	}
	options.Put("headers", keep)
}

// requestBody converts the body; references to values of a request get their
// names in pex.
func (c *connector) requestBody(options *tree.Map, l *tree.Log) {
	at := c.predict().Get("request_body")
	filled, lost := c.template(at.Peek())
	r := &tree.Reader{File: c.body.File, Src: filled}
	body, err := r.Value("", 0)
	if err != nil || r.Next() != 0 || body.Kind != tree.Object {
		options.Put("request_body", tree.Map{{Key: "prompt", Value: "${args.prompt}"}})
		l.Note(at, convert.Todo, "is no JSON once its references are filled: write options.request_body by hand, with ${args.prompt} where the text goes")
		return
	}
	if !strings.Contains(filled, "${args.prompt}") && !strings.Contains(filled, "${args.messages}") {
		body.Set("prompt", &tree.Value{Kind: tree.Text, Text: "${args.prompt}"})
		lost = append(lost, "prompt")
	}
	options.Put("request_body", body.Native())
	what := "becomes options.request_body; the text is ${args.prompt}, and no value can break it"
	if len(lost) > 0 {
		what += "; look at it: there is nothing here for " + strings.Join(lost, ", ")
		l.Note(at, convert.Todo, "%s", what)
		return
	}
	l.Note(at, convert.Changed, "%s", what)
}

// pastedJSON are the references that OpenSearch replaces by JSON.
var pastedJSON = []string{"_chat_history", "_interactions", "tool_configs", "_tools", "tool_configs.toString()"}

// requestNames maps values of a request to their names in pex.
var requestNames = map[string]string{
	"prompt": "prompt", "message": "prompt", "inputs": "prompt", "input": "prompt", "inputText": "prompt", "question": "prompt", "user_prompt": "prompt",
	"system_prompt": "system", "system_instruction": "system", "messages": "messages", "model": "model",
	"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_output_tokens", "stop": "stop", "seed": "seed",
}

// template converts the references of a body, as JSON. lost are names without a
// counterpart.
func (c *connector) template(body string) (out string, lost []string) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(body); {
		at := reference().FindStringSubmatchIndex(body[i:])
		if at == nil || at[0] != 0 {
			n := 1
			if body[i] == '\\' && i+1 < len(body) {
				n = 2
			} else if body[i] == '"' {
				quoted = !quoted
			}
			b.WriteString(body[i : i+n])
			i += n
			continue
		}
		m := reference().FindStringSubmatch(body[i:])
		i += at[1]
		value, known := c.value(m[1], m[2], m[3])
		if !known {
			lost = append(lost, m[2])
		}
		switch {
		case quoted:
			value = strings.NewReplacer("\\", `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(value)
		case strings.HasPrefix(value, "${"):
			value = `"` + value + `"`
		}
		b.WriteString(value)
	}
	return b.String(), lost
}

// value returns the replacement of a reference. ok is false if there is none.
func (c *connector) value(space, name, otherwise string) (string, bool) {
	if space == "credential" {
		return "${env." + c.variable(name) + "}", true
	}
	if slices.Contains(pastedJSON, name) {
		return "", true
	}
	if p := c.body.Get("parameters").Get(name); p != nil && p.Kind != tree.Object && p.Kind != tree.List {
		return p.UseText(), true
	}
	if ours, ok := requestNames[name]; ok {
		return "${args." + ours + "}", true
	}
	return otherwise, otherwise != ""
}
