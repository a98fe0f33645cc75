package convert

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// served is who serves a model, by where it is asked and how.
type served struct {
	provider string
	base     string // where, when it is not where the provider usually is
	keyEnv   string // the variable the provider looks into by itself
}

// servedBy finds the provider: by the address, then by the interface, which is
// all there is where nobody gave the connector.
func servedBy(u *url.URL, service, iface string) served {
	bedrock := served{provider: "bedrock", keyEnv: "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN (or AWS_BEARER_TOKEN_BEDROCK)"}
	openai := served{provider: "openai", keyEnv: "OPENAI_API_KEY"}
	google := served{provider: "googleai", keyEnv: "GEMINI_API_KEY"}
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
		return served{"azure_openai", base, "AZURE_OPENAI_API_KEY"}
	case host == "api.anthropic.com":
		return served{provider: "anthropic", keyEnv: "ANTHROPIC_API_KEY"}
	case host == "generativelanguage.googleapis.com":
		return google
	case host == "api.openai.com" && !strings.HasSuffix(u.Path, "/v1/completions"): // that one completes a text
		return openai
	case strings.HasSuffix(u.Path, "/chat/completions"):
		return served{provider: "openai", base: base + strings.TrimSuffix(u.Path, "/chat/completions")}
	}
	return served{provider: "http"}
}

// llm writes a connector as an llm. The interface is what the agent says of the
// format in which the model is asked.
func (c *connector) llm(iface string, l *log) mapping {
	c.used = true
	l.note(c.body.at("protocol"), Changed, "is said by the llm's provider")
	u := c.address()
	c.body.at("parameters").unfold()
	s := servedBy(u, c.service(u), iface)
	var out mapping
	out.put("provider", s.provider)
	if s.provider == "http" {
		c.overHTTP(&out, iface, l)
	} else {
		c.known(&out, s, u, l)
	}
	c.patience(&out, l)
	c.about(l)
	l.rest(c.root, "has no counterpart: providers write requests, read answers and count tokens by themselves")
	return out
}

// service is who is asked, as far as the connector itself tells it: where its
// protocol or its credentials are those of AWS, and neither a service nor an
// address is filled in, Bedrock.
func (c *connector) service(u *url.URL) string {
	named := c.body.at("parameters").at("service_name").peek()
	if u != nil || !unfilled(named) {
		return named
	}
	signed := strings.EqualFold(c.body.at("protocol").peek(), "aws_sigv4")
	if cred := c.body.at("credential").unfold(); cred.at("access_key") != nil || cred.at("roleArn") != nil {
		signed = true
	}
	if signed {
		return "bedrock"
	}
	return named
}

// known writes what a provider of ours needs: it speaks the model's language
// itself, so that bodies and functions around them fall away.
func (c *connector) known(out *mapping, s served, u *url.URL, l *log) {
	action := c.predict()
	params := c.body.at("parameters")
	options := mapping{}
	model := c.model(s, u, &options, l)
	out.put("model", model)
	if s.base != "" {
		out.put("base_url", s.base)
	}
	if s.provider == "bedrock" {
		c.region(u, &options, l)
		c.thinking(&options, l)
	}
	c.settings(out, l)
	c.headers(out, s, &options, l)
	l.note(params.at("service_name"), Changed, "is said by provider: %s", s.provider)
	for _, key := range []string{"endpoint", "anthropic_version"} {
		l.note(params.at(key), Changed, "provider %s knows it%s", s.provider, also(s.base != "", ", or finds it in base_url"))
	}
	if at := action.at("url"); u == nil {
		l.note(at, Todo, "is no address: the llm asks the usual one of provider %s; write base_url if yours is another", s.provider)
	} else {
		l.note(at, Changed, "provider %s knows the address%s", s.provider, also(s.base != "", ", of which base_url is the begin"))
	}
	l.note(action.at("request_body"), Changed, "provider %s writes the request itself, tools and history included; settings with a fixed value are taken over", s.provider)
	for _, key := range []string{"action_type", "method"} {
		l.note(action.at(key), Changed, "provider %s knows how it asks", s.provider)
	}
	for _, key := range []string{"pre_process_function", "post_process_function"} {
		l.note(action.at(key), Dropped, "provider %s reads and writes the API itself: no function stands in between", s.provider)
	}
	out.put("options", options)
	effort(out, params.at("reasoning_effort"))
}

func also(yes bool, s string) string {
	if yes {
		return s
	}
	return ""
}

var (
	inBedrock = lazily(`/model/([^/]+)/`)
	inGemini  = lazily(`/models/([^/:]+):`)
	inAzure   = lazily(`/deployments/([^/]+)/`)
)

// model is the model's name at its provider, which may stand in the address only.
func (c *connector) model(s served, u *url.URL, options *mapping, l *log) string {
	it := c.body.at("parameters").at("model")
	for _, other := range []string{"model_name", "deploy-name"} {
		if it == nil {
			it = c.body.at("parameters").at(other)
		}
	}
	name := it.word()
	if u != nil {
		for provider, at := range map[string]*regexp.Regexp{"bedrock": inBedrock(), "googleai": inGemini(), "azure_openai": inAzure()} {
			if m := at.FindStringSubmatch(u.Path); m != nil && provider == s.provider && !strings.Contains(m[1], "${") {
				name = m[1]
			}
		}
		if s.provider == "azure_openai" {
			if v := u.Query().Get("api-version"); v != "" && !strings.Contains(v, "${") {
				options.put("api_version", v)
			}
		}
	}
	if m := modelInBody.FindStringSubmatch(c.fill(c.predict().at("request_body").peek())); name == "" && m != nil && !strings.Contains(m[1], "${") {
		name = m[1]
	}
	if name == "" || unfilled(name) {
		l.remind(c.body.file, below(below(c.body.path, "parameters"), "model"), Todo, "write the model's name at %s into llms.<name>.model: the connector does not hold it", s.provider)
	}
	if name == "" {
		return "MODEL"
	}
	return name
}

var inURL = lazily(`bedrock-runtime[^.]*\.([a-z0-9-]+)\.`)

func (c *connector) region(u *url.URL, options *mapping, l *log) {
	it := c.body.at("parameters").at("region")
	region := it.word()
	if region == "" && u != nil {
		if m := inURL().FindStringSubmatch(u.Hostname()); m != nil {
			region = m[1]
		}
	}
	if unfilled(region) {
		l.note(it, Todo, "names no region: AWS_REGION says it, or options.region of the llm")
		return
	}
	options.put("region", region)
}

// thinking takes over how many tokens Claude may think with.
func (c *connector) thinking(options *mapping, l *log) {
	const least = 1024 // of Claude's
	m := thinkingInBody.FindStringSubmatch(c.fill(c.predict().at("request_body").peek()))
	if m == nil {
		return
	}
	if n, err := strconv.Atoi(m[1]); err == nil && n >= least {
		options.put("thinking_budget", n)
		l.note(c.body.at("parameters").at("budget_tokens"), Changed, "becomes options.thinking_budget; with it temperature and top_p are not sent")
	}
}

func inBody(key string) *regexp.Regexp {
	return regexp.MustCompile(`"` + key + `"\s*:\s*"?([^",{}\[\]\s]+)`)
}

// known settings of a body or of parameters, and what they are called here.
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
func (c *connector) settings(out *mapping, l *log) {
	body := c.fill(c.predict().at("request_body").peek())
	params := c.body.at("parameters")
	for i, s := range bodySettings {
		it := params.at(s.theirs)
		value := it.peek()
		if m := inBodies[i].FindStringSubmatch(body); m != nil {
			value = m[1]
		}
		if !setting(out, s.ours, value) {
			continue
		}
		if s.theirs != s.ours {
			l.note(it, Changed, "is called %s here", s.ours)
		}
		it.take()
	}
}

// setting writes one of them where the value is one that it can have.
func setting(out *mapping, key, value string) bool {
	if key == "temperature" || key == "top_p" {
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || f < 0 || f > 2 || key == "top_p" && f > 1 {
			return false
		}
		out.put(key, f)
		return true
	}
	n, err := strconv.Atoi(strings.TrimSuffix(value, ".0"))
	if err != nil || n < 1 || n > 1e9 {
		return false
	}
	out.put(key, n)
	return true
}

// headers are taken over but for those that a provider sends by itself.
func (c *connector) headers(out *mapping, s served, options *mapping, l *log) {
	var keep mapping
	headers := c.predict().at("headers").unfold()
	if headers == nil || headers.kind != object {
		return
	}
	for i, key := range headers.keys {
		it, value := headers.items[i], c.fill(headers.items[i].peek())
		switch name := strings.ToLower(key); {
		case name == "authorization" || name == "x-api-key" || name == "api-key" || name == "x-goog-api-key":
			switch own := c.ownKey(); {
			case own != "" && s.provider != "bedrock":
				s.keyEnv = own
				out.put("api_key_env", s.keyEnv)
			case s.provider == "openai" && s.base != "" && len(c.secrets) > 0:
				s.keyEnv = c.secrets[0]
				out.put("api_key_env", s.keyEnv)
			}
			c.secrets = nil
			if s.keyEnv != "" {
				c.secrets = []string{s.keyEnv}
			}
			l.note(it, Changed, "provider %s sends the key itself%s", s.provider, also(s.keyEnv != "", ", which it reads from "+s.keyEnv))
		case name == "content-type" || name == "accept" || strings.HasPrefix(name, "x-amz-") || name == "anthropic-version" || s.provider == "bedrock":
			l.note(it, Dropped, "provider %s sends what the API needs", s.provider)
		default:
			keep.put(key, value)
			it.take()
		}
	}
	options.put("headers", keep)
	if s.provider != "bedrock" {
		return
	}
	c.secrets = []string{s.keyEnv}
	if c.label != "" {
		l.remind(c.body.file, below(c.body.path, "credential"), Todo, "another connector signs as somebody else, and both llms find the same variables: give one of them options.profile, a profile in the shared files of AWS")
	}
}
