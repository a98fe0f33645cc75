package convert

import (
	"slices"
	"strings"
)

// interfaces are the formats that provider http writes and reads by itself.
var interfaces = []string{"openai/v1/chat/completions", "bedrock/converse/claude", "bedrock/converse/deepseek_r1", "gemini/v1beta/generatecontent"}

// overHTTP writes a model that no provider of ours knows: address, headers, body
// and filter of the connector, for provider http.
func (c *connector) overHTTP(out *mapping, iface string, l *log) {
	action, options := c.predict(), mapping{}
	if model := c.body.at("parameters").at("model"); model != nil && !unfilled(model.peek()) {
		out.put("model", model.word())
	}
	c.settings(out, l)
	options.put("url", oneSlash(c.fill(action.at("url").word())))
	options.put("method", strings.ToUpper(action.at("method").word()))
	l.note(action.at("action_type"), Changed, "is what an llm is for")
	c.sent(&options, l)
	if slices.Contains(interfaces, iface) {
		options.put("llm_interface", iface)
		l.note(action.at("request_body"), Changed, "llm_interface %s writes the body itself, tools and history included", iface)
	} else {
		c.asked(&options, l)
	}
	if it := c.body.at("parameters").at("response_filter"); it != nil && !options.has("llm_interface") {
		options.put("response_filter", it.word())
	}
	c.signed(&options, l)
	for _, key := range []string{"pre_process_function", "post_process_function"} {
		l.note(action.at(key), Todo, "no function is run around a call: say in options.request_body what is sent, and by options.response_filter where the text is")
	}
	out.put("options", options)
}

// signed says what is left to do where requests are signed, or a token is fetched.
func (c *connector) signed(options *mapping, l *log) {
	switch it := c.body.at("protocol"); strings.ToLower(it.peek()) {
	case "aws_sigv4":
		l.note(it, Todo, "provider http does not sign requests for AWS: put a gateway that does in front, or use a model on Bedrock")
	case "oci_sigv1":
		l.note(it, Todo, "provider http does not sign requests for Oracle's cloud: put a gateway that does in front")
	case "google_cloud":
		headers, _ := options.get("headers").(mapping)
		headers.put("Authorization", "Bearer ${env.GOOGLE_ACCESS_TOKEN}")
		options.put("headers", headers)
		l.note(it, Todo, "provider http fetches no token: set GOOGLE_ACCESS_TOKEN (gcloud auth print-access-token), which lasts an hour; provider googleai asks the same models with GEMINI_API_KEY")
	}
}

// oneSlash is an address whose parts were joined with a slash too many.
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

// sent takes over the headers.
func (c *connector) sent(options *mapping, l *log) {
	headers := c.predict().at("headers").unfold()
	if headers == nil || headers.kind != object {
		return
	}
	var keep mapping
	for i, key := range headers.keys {
		if strings.EqualFold(key, "content-type") {
			l.note(headers.items[i], Dropped, "provider http says that it sends JSON")
			continue
		}
		keep.put(key, c.fill(headers.items[i].word()))
	}
	options.put("headers", keep)
}

// asked takes over the body, with what a request knows under our names.
func (c *connector) asked(options *mapping, l *log) {
	at := c.predict().at("request_body")
	filled, lost := c.template(at.peek())
	r := &reader{file: c.body.file, src: filled}
	body, err := r.value("", 0)
	if err != nil || r.next() != 0 || body.kind != object {
		options.put("request_body", mapping{{key: "prompt", value: "${args.prompt}"}})
		l.note(at, Todo, "is no JSON once its references are filled: write options.request_body by hand, with ${args.prompt} where the text goes")
		return
	}
	if !strings.Contains(filled, "${args.prompt}") && !strings.Contains(filled, "${args.messages}") {
		body.set("prompt", &item{kind: text, text: "${args.prompt}"})
		lost = append(lost, "prompt")
	}
	options.put("request_body", body.plain())
	what := "becomes options.request_body; the text is ${args.prompt}, and no value can break it"
	if len(lost) > 0 {
		what += "; look at it: there is nothing here for " + strings.Join(lost, ", ")
		l.note(at, Todo, "%s", what)
		return
	}
	l.note(at, Changed, "%s", what)
}

// spliced are the references by which OpenSearch pastes JSON into a body.
var spliced = []string{"_chat_history", "_interactions", "tool_configs", "_tools", "tool_configs.toString()"}

// requestNames are what a request knows, by their names here.
var requestNames = map[string]string{
	"prompt": "prompt", "message": "prompt", "inputs": "prompt", "input": "prompt", "inputText": "prompt", "question": "prompt", "user_prompt": "prompt",
	"system_prompt": "system", "system_instruction": "system", "messages": "messages", "model": "model",
	"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_output_tokens", "stop": "stop", "seed": "seed",
}

// template is a body with references of ours, as JSON. Lost are names of which
// nothing is known here.
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

// value is what stands in place of one reference, and whether there is something.
func (c *connector) value(space, name, otherwise string) (string, bool) {
	if space == "credential" {
		return "${env." + c.variable(name) + "}", true
	}
	if slices.Contains(spliced, name) {
		return "", true
	}
	if p := c.body.at("parameters").at(name); p != nil && p.kind != object && p.kind != list {
		return p.word(), true
	}
	if ours, ok := requestNames[name]; ok {
		return "${args." + ours + "}", true
	}
	return otherwise, otherwise != ""
}
