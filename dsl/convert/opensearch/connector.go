package opensearch

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
	"github.com/pexctl/pex/engine/text"
)

// connector is the body that describes how OpenSearch reaches a model or a tool
// server.
type connector struct {
	root    *tree.Value // the whole body: a connector, or a model registration that contains one
	body    *tree.Value // the connector itself
	used    bool
	label   string   // the prefix of its variables; "" if none is needed
	secrets []string // the variables that replace its credentials
}

// isMCP reports whether it describes a tool server.
func (c *connector) isMCP() bool {
	return strings.HasPrefix(strings.ToLower(c.body.Get("protocol").Peek()), "mcp")
}

// hasID reports whether an id, or a name, refers to it.
func (c *connector) hasID(id string) bool {
	if id == "" {
		return false
	}
	for _, it := range []*tree.Value{
		c.root.Get("connector_id"), c.root.Get("model_id"), c.root.Get("id"), c.root.Get("_id"), c.root.Get("name"),
		c.body.Get("connector_id"), c.body.Get("id"), c.body.Get("name"),
	} {
		if it.Peek() == id {
			return true
		}
	}
	return false
}

// predict returns the action that calls a model.
func (c *connector) predict() *tree.Value {
	actions := c.body.Get("actions").Decode()
	if actions == nil {
		return nil
	}
	for _, a := range actions.Items {
		if strings.EqualFold(a.Get("action_type").Peek(), "predict") || len(actions.Items) == 1 {
			return a
		}
	}
	return nil
}

var (
	reference = text.Regexp(`\$\{\s*(parameters|credential)\.([^}:|]+?)(?::-([^}]*))?\s*\}`)
	blank     = text.Regexp(`(?i)^<.*>$|^your[_ -]|^\{\{.*\}\}$|^$`)
)

// isPlaceholder reports whether an example value was not replaced: <MODEL>,
// your_region.
func isPlaceholder(s string) bool { return blank().MatchString(strings.TrimSpace(s)) }

// fill replaces references in a text by the connector's parameters, and
// credentials by references to environment variables. References to values of a
// request remain.
func (c *connector) fill(s string) string {
	return reference().ReplaceAllStringFunc(s, func(ref string) string {
		m := reference().FindStringSubmatch(ref)
		if m[1] == "credential" {
			return "${env." + c.variable(m[2]) + "}"
		}
		if p := c.body.Get("parameters", m[2]); p != nil && p.Kind != tree.List && p.Kind != tree.Object {
			return p.UseText()
		}
		return ref
	})
}

// variable returns the environment variable that replaces a credential.
func (c *connector) variable(credential string) string {
	name := toEnvName(credential)
	if c.label != "" && !strings.HasPrefix(name, c.label+"_") {
		name = c.label + "_" + name
	}
	if !slices.Contains(c.secrets, name) {
		c.secrets = append(c.secrets, name)
	}
	return name
}

// toEnvName converts a name to the form of environment variables: openAI_key to
// OPENAI_KEY, accessKey to ACCESS_KEY.
func toEnvName(s string) string {
	var b strings.Builder
	before := ' '
	for _, r := range s {
		switch {
		case r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = '_'
		case unicode.IsUpper(r) && unicode.IsLower(before) && s != "openAI_key":
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
		before = r
	}
	out := strings.Trim(b.String(), "_")
	if out == "" || out[0] >= '0' && out[0] <= '9' {
		return "KEY_" + out
	}
	return out
}

// address returns the address of the model, or nil if the body has none.
func (c *connector) address() *url.URL {
	at := c.predict().Get("url")
	if at == nil || isPlaceholder(at.Peek()) {
		return nil
	}
	u, err := url.Parse(c.fill(at.Peek()))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil
	}
	return u
}

// noteIdentity notes the keys that only describe the connector or control access
// to it.
func (c *connector) noteIdentity(l *tree.Log) {
	for _, it := range []*tree.Value{c.root, c.body} {
		l.NoteKeys(it, []string{"name", "description", "version", "function_name", "connector_id", "model_group_id", "id", "_id"}, convert.Dropped, "connectors have no name here: the LLM is defined in the spec")
		l.NoteKeys(it, []string{"created_time", "last_updated_time", "last_update_time", "owner", "access", "backend_roles", "add_all_backend_roles", "access_mode", "tenant_id", "is_enabled", "deploy_setting", "rate_limiter", "interface", "guardrails", "model_state", "algorithm", "current_worker_node_count", "planning_worker_node_count", "model_version"}, convert.Dropped, "is the cluster's business: who may use a spec is decided where it lies in git")
		if it == c.body {
			break
		}
	}
	if cred := c.body.Get("credential"); cred != nil {
		what := "secrets are not taken over"
		if len(c.secrets) > 0 {
			what += ": set " + strings.Join(c.secrets, ", ") + " in the environment"
		}
		l.Note(cred, convert.Changed, "%s", what)
	}
}

// timeouts converts timeouts and retries.
func (c *connector) timeouts(llm *tree.Map, l *tree.Log) {
	config := c.body.Get("client_config").Decode()
	if config == nil {
		return
	}
	if it := config.Get("read_timeout"); it != nil {
		if n, ok := it.UseInt(); ok && n > 0 {
			unit := "s"
			if n >= 1000 {
				unit = "ms"
			}
			llm.Put("timeout", strconv.Itoa(n)+unit)
			l.Note(it, convert.Changed, "becomes timeout: %d%s, for the whole call and not for each read; numbers from 1000 on are milliseconds", n, unit)
		}
	}
	if it := config.Get("max_retry_times"); it != nil {
		if n, ok := it.UseInt(); ok {
			attempts := min(n+1, 20)
			if n < 0 {
				attempts = 20
			}
			llm.Put("retry", tree.Map{{Key: "max_attempts", Value: attempts}})
			l.Note(it, convert.Changed, "becomes retry.max_attempts: %d, the first attempt included; 20 is the most", attempts)
		}
	}
	for _, sub := range config.Unused() {
		l.Note(sub, convert.Dropped, "connections and waits between attempts are kept by pex itself; see retry and rate_limit of an llm")
	}
	config.Use()
}
