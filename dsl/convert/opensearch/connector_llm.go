package opensearch

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/text"
)

// modelServer describes where a model is served and how to call it.
type modelServer struct {
	provider string
	base     string // its address, if it is not the provider's usual one
	keyEnv   string // the variable that the provider reads by default
}

// servedBy finds the provider: by the address, or else by the interface, which is
// all that is known without a connector.
func servedBy(u *url.URL, service, iface string) modelServer {
	bedrock := modelServer{provider: "bedrock", keyEnv: "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN (or AWS_BEARER_TOKEN_BEDROCK)"}
	openai := modelServer{provider: "openai", keyEnv: "OPENAI_API_KEY"}
	google := modelServer{provider: "googleai", keyEnv: "GEMINI_API_KEY"}
	if u == nil {
		switch {
		case strings.HasPrefix(iface, "bedrock/") || service == "bedrock":
			return bedrock
		case strings.HasPrefix(iface, "gemini/"):
			return google
		}
		return openai
	}
	host, base := u.Hostname(), u.Scheme+"://"+u.Host
	switch {
	case strings.HasPrefix(host, "bedrock-runtime") || service == "bedrock":
		return bedrock
	case strings.HasSuffix(host, ".openai.azure.com") || strings.HasSuffix(host, ".services.ai.azure.com"):
		return modelServer{"azure_openai", base, "AZURE_OPENAI_API_KEY"}
	case host == "api.anthropic.com":
		return modelServer{provider: "anthropic", keyEnv: "ANTHROPIC_API_KEY"}
	case host == "generativelanguage.googleapis.com":
		return google
	case host == "api.openai.com" && !strings.HasSuffix(u.Path, "/v1/completions"): // /v1/completions is text completion
		return openai
	case strings.HasSuffix(u.Path, "/chat/completions"):
		return modelServer{provider: "openai", base: base + strings.TrimSuffix(u.Path, "/chat/completions")}
	}
	return modelServer{provider: "http"}
}

// llm converts a connector to an LLM. iface is the agent's interface, which names
// the format of model calls.
func (c *connector) llm(iface string, l *tree.Log) tree.Map {
	c.used = true
	l.Note(c.body.Get("protocol"), convert.Changed, "is said by the llm's provider")
	u := c.address()
	c.body.Get("parameters").Decode()
	s := servedBy(u, c.service(u), iface)
	var out tree.Map
	out.Put("provider", s.provider)
	if s.provider == "http" {
		c.overHTTP(&out, iface, l)
	} else {
		c.knownProvider(&out, s, u, l)
	}
	c.timeouts(&out, l)
	c.noteIdentity(l)
	l.NoteUnused(c.root, "has no counterpart: providers write requests, read answers and count tokens by themselves")
	return out
}

// service returns the service named by the connector. If the protocol or the
// credentials are those of AWS, and neither service nor address is filled in, it
// is Bedrock.
func (c *connector) service(u *url.URL) string {
	named := c.body.Get("parameters").Get("service_name").Peek()
	if u != nil || !isPlaceholder(named) {
		return named
	}
	signed := strings.EqualFold(c.body.Get("protocol").Peek(), "aws_sigv4")
	if cred := c.body.Get("credential").Decode(); cred.Get("access_key") != nil || cred.Get("roleArn") != nil {
		signed = true
	}
	if signed {
		return "bedrock"
	}
	return named
}

// knownProvider writes the settings of a provider that pex implements. Bodies and
// functions are not needed, because the provider implements the protocol.
func (c *connector) knownProvider(out *tree.Map, s modelServer, u *url.URL, l *tree.Log) {
	action := c.predict()
	params := c.body.Get("parameters")
	options := tree.Map{}
	model := c.model(s, u, &options, l)
	out.Put("model", model)
	if s.base != "" {
		out.Put("base_url", s.base)
	}
	if s.provider == "bedrock" {
		c.region(u, &options, l)
		c.thinking(&options, l)
	}
	c.settings(out, l)
	c.headers(out, s, &options, l)
	l.Note(params.Get("service_name"), convert.Changed, "is said by provider: %s", s.provider)
	l.NoteKeys(params, []string{"endpoint", "anthropic_version"}, convert.Changed, "provider %s knows it%s", s.provider, textIf(s.base != "", ", or finds it in base_url"))
	if at := action.Get("url"); u == nil {
		l.Note(at, convert.Todo, "is no address: the llm asks the usual one of provider %s; write base_url if yours is another", s.provider)
	} else {
		l.Note(at, convert.Changed, "provider %s knows the address%s", s.provider, textIf(s.base != "", ", of which base_url is the begin"))
	}
	l.Note(action.Get("request_body"), convert.Changed, "provider %s writes the request itself, tools and history included; settings with a fixed value are taken over", s.provider)
	l.NoteKeys(action, []string{"action_type", "method"}, convert.Changed, "provider %s knows how it asks", s.provider)
	l.NoteKeys(action, []string{"pre_process_function", "post_process_function"}, convert.Dropped, "provider %s reads and writes the API itself, without conversion functions", s.provider)
	out.Put("options", options)
	putReasoningEffort(out, params.Get("reasoning_effort"))
}

func textIf(yes bool, s string) string {
	if yes {
		return s
	}
	return ""
}

var (
	inBedrock = text.Regexp(`/model/([^/]+)/`)
	inGemini  = text.Regexp(`/models/([^/:]+):`)
	inAzure   = text.Regexp(`/deployments/([^/]+)/`)
)

// model returns the name of the model at its provider, which may occur only in
// the address.
func (c *connector) model(s modelServer, u *url.URL, options *tree.Map, l *tree.Log) string {
	it := c.body.Get("parameters").Get("model")
	for _, other := range []string{"model_name", "deploy-name"} {
		if it == nil {
			it = c.body.Get("parameters").Get(other)
		}
	}
	name := it.UseText()
	if u != nil {
		for provider, at := range map[string]*regexp.Regexp{"bedrock": inBedrock(), "googleai": inGemini(), "azure_openai": inAzure()} {
			if m := at.FindStringSubmatch(u.Path); m != nil && provider == s.provider && !strings.Contains(m[1], "${") {
				name = m[1]
			}
		}
		if s.provider == "azure_openai" {
			if v := u.Query().Get("api-version"); v != "" && !strings.Contains(v, "${") {
				options.Put("api_version", v)
			}
		}
	}
	if m := inBody("model", c.fill(c.predict().Get("request_body").Peek())); name == "" && m != "" && !strings.Contains(m, "${") {
		name = m
	}
	if name == "" || isPlaceholder(name) {
		l.NoteAt(c.body.File, tree.Join(tree.Join(c.body.Path, "parameters"), "model"), convert.Todo, "write the model's name at %s into llms.<name>.model: the connector does not hold it", s.provider)
	}
	if name == "" {
		return "MODEL"
	}
	return name
}

var inURL = text.Regexp(`bedrock-runtime[^.]*\.([a-z0-9-]+)\.`)

func (c *connector) region(u *url.URL, options *tree.Map, l *tree.Log) {
	it := c.body.Get("parameters").Get("region")
	region := it.UseText()
	if region == "" && u != nil {
		if m := inURL().FindStringSubmatch(u.Hostname()); m != nil {
			region = m[1]
		}
	}
	if isPlaceholder(region) {
		l.Note(it, convert.Todo, "names no region: AWS_REGION says it, or options.region of the llm")
		return
	}
	options.Put("region", region)
}

// thinking converts the thinking budget of Claude.
func (c *connector) thinking(options *tree.Map, l *tree.Log) {
	const least = 1024 // Claude's minimum
	budget := inBody("budget_tokens", c.fill(c.predict().Get("request_body").Peek()))
	if n, err := strconv.Atoi(budget); err == nil && n >= least {
		options.Put("thinking_budget", n)
		l.Note(c.body.Get("parameters").Get("budget_tokens"), convert.Changed, "becomes options.thinking_budget; with it temperature and top_p are not sent")
	}
}

// inBody returns the scalar value of a key in the text of a request body, "" if there is none.
func inBody(key, body string) string {
	m := regexp.MustCompile(`"` + key + `"\s*:\s*"?([^",{}\[\]\s]+)`).FindStringSubmatch(body)
	if m == nil {
		return ""
	}
	return m[1]
}

// bodySettings are settings of a body or of parameters, with their names in pex.
var bodySettings = []struct{ theirs, ours string }{
	{"temperature", "temperature"},
	{"top_p", "top_p"},
	{"topP", "top_p"},
	{"max_tokens", "max_output_tokens"},
	{"max_completion_tokens", "max_output_tokens"},
	{"max_tokens_to_sample", "max_output_tokens"},
	{"maxTokens", "max_output_tokens"},
	{"maxOutputTokens", "max_output_tokens"},
	{"seed", "seed"},
}

// settings converts the sampling settings and the maximum length of replies.
func (c *connector) settings(out *tree.Map, l *tree.Log) {
	body := c.fill(c.predict().Get("request_body").Peek())
	params := c.body.Get("parameters")
	for _, s := range bodySettings {
		it := params.Get(s.theirs)
		value := it.Peek()
		if v := inBody(s.theirs, body); v != "" {
			value = v
		}
		if !tree.PutModelSetting(out, s.ours, value) {
			continue
		}
		if s.theirs != s.ours {
			l.Note(it, convert.Changed, "is called %s here", s.ours)
		}
		it.Use()
	}
}

// headers converts all headers except those that a provider sends itself.
func (c *connector) headers(out *tree.Map, s modelServer, options *tree.Map, l *tree.Log) {
	var keep tree.Map
	headers := c.predict().Get("headers").Decode()
	if headers == nil || headers.Kind != tree.Object {
		return
	}
	for i, key := range headers.Keys {
		it, value := headers.Items[i], c.fill(headers.Items[i].Peek())
		switch name := strings.ToLower(key); {
		case name == "authorization" || name == "x-api-key" || name == "api-key" || name == "x-goog-api-key":
			switch own := c.ownKey(); {
			case own != "" && s.provider != "bedrock":
				s.keyEnv = own
				out.Put("api_key_env", s.keyEnv)
			case s.provider == "openai" && s.base != "" && len(c.secrets) > 0:
				s.keyEnv = c.secrets[0]
				out.Put("api_key_env", s.keyEnv)
			}
			c.secrets = nil
			if s.keyEnv != "" {
				c.secrets = []string{s.keyEnv}
			}
			l.Note(it, convert.Changed, "provider %s sends the key itself%s", s.provider, textIf(s.keyEnv != "", ", which it reads from "+s.keyEnv))
		case name == "content-type" || name == "accept" || strings.HasPrefix(name, "x-amz-") || name == "anthropic-version" || s.provider == "bedrock":
			l.Note(it, convert.Dropped, "provider %s sends what the API needs", s.provider)
		default:
			keep.Put(key, value)
			it.Use()
		}
	}
	options.Put("headers", keep)
	if s.provider != "bedrock" {
		return
	}
	c.secrets = []string{s.keyEnv}
	if c.label != "" {
		l.NoteAt(c.body.File, tree.Join(c.body.Path, "credential"), convert.Todo, "another connector signs as somebody else, and both llms find the same variables: give one of them options.profile, a profile in the shared files of AWS")
	}
}
