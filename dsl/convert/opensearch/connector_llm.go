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

// modelServer is who serves a model, by where it is asked and how.
type modelServer struct {
	provider string
	base     string // where, when it is not where the provider usually is
	keyEnv   string // the variable the provider looks into by itself
}

// servedBy finds the provider: by the address, then by the interface, which is
// all there is where no one gave the connector.
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
	case host == "api.openai.com" && !strings.HasSuffix(u.Path, "/v1/completions"): // that one completes a text
		return openai
	case strings.HasSuffix(u.Path, "/chat/completions"):
		return modelServer{provider: "openai", base: base + strings.TrimSuffix(u.Path, "/chat/completions")}
	}
	return modelServer{provider: "http"}
}

// llm writes a connector as an llm. The interface is what the agent says of the
// format in which the model is asked.
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

// service is who is asked, as far as the connector itself tells it: where its
// protocol or its credentials are those of AWS, and neither a service nor an
// address is filled in, Bedrock.
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

// knownProvider writes what a provider of ours needs: it speaks the model's language
// itself, so that bodies and functions around them fall away.
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

// model is the model's name at its provider, which may be in the address only.
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
	if m := modelInBody.FindStringSubmatch(c.fill(c.predict().Get("request_body").Peek())); name == "" && m != nil && !strings.Contains(m[1], "${") {
		name = m[1]
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

// thinking takes over how many tokens Claude may think with.
func (c *connector) thinking(options *tree.Map, l *tree.Log) {
	const least = 1024 // of Claude's
	m := thinkingInBody.FindStringSubmatch(c.fill(c.predict().Get("request_body").Peek()))
	if m == nil {
		return
	}
	if n, err := strconv.Atoi(m[1]); err == nil && n >= least {
		options.Put("thinking_budget", n)
		l.Note(c.body.Get("parameters").Get("budget_tokens"), convert.Changed, "becomes options.thinking_budget; with it temperature and top_p are not sent")
	}
}

func inBody(key string) *regexp.Regexp {
	return regexp.MustCompile(`"` + key + `"\s*:\s*"?([^",{}\[\]\s]+)`)
}

// knownProvider settings of a body or of parameters, and what they are called here.
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

// inBodies find those settings in a body, in their order.
var inBodies = func() (out []*regexp.Regexp) {
	for _, s := range bodySettings {
		out = append(out, inBody(s.theirs))
	}
	return out
}()

var modelInBody, thinkingInBody = inBody("model"), inBody("budget_tokens")

// settings takes over how freely and how long a model answers.
func (c *connector) settings(out *tree.Map, l *tree.Log) {
	body := c.fill(c.predict().Get("request_body").Peek())
	params := c.body.Get("parameters")
	for i, s := range bodySettings {
		it := params.Get(s.theirs)
		value := it.Peek()
		if m := inBodies[i].FindStringSubmatch(body); m != nil {
			value = m[1]
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

// headers are taken over but for those that a provider sends by itself.
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
