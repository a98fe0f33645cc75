package opensearch

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// Config configures opensearch_list_index and opensearch_index_mapping.
type Config struct {
	URL          component.Template `yaml:"url" required:"true" vars:"env" doc:"URL of the cluster, such as https://search.example.org:9200 or ${env.OPENSEARCH_URL}."`
	Auth         Auth               `yaml:"auth" doc:"How requests authenticate."`
	Indices      []string           `yaml:"indices" doc:"Indices and aliases that may be used; wildcards such as logs-* are allowed. Default: all except those that begin with a dot."`
	AllowPrivate bool               `yaml:"allow_private" doc:"Whether the cluster may have a private address. An IP address or localhost in url is always allowed."`
	MaxBytes     int64              `yaml:"max_bytes" min:"1" max:"67108864" doc:"Maximum response size in bytes, after decompression."`
}

// Access implements tool.AccessDescriber.
func (c *Config) Access() []string { return append(tool.Connects(c.URL, nil), c.Auth.access()...) }

// Auth configures the authentication.
type Auth struct {
	Type        string             `yaml:"type" enum:"none|basic|bearer|sigv4" doc:"basic: user and password; bearer: token; sigv4: AWS credentials from the default AWS credential chain."`
	Username    component.Template `yaml:"username" vars:"env" doc:"For basic: the user name, literal or ${env.OPENSEARCH_USER}."`
	PasswordEnv string             `yaml:"password_env" doc:"For basic: environment variable with the password."`
	TokenEnv    string             `yaml:"token_env" doc:"For bearer: environment variable with the token."`
	Region      string             `yaml:"region" doc:"For sigv4: AWS region of the cluster. Default: the region of the environment, such as AWS_REGION."`
	Service     string             `yaml:"service" enum:"es|aoss" doc:"For sigv4: es for Amazon OpenSearch Service, aoss for serverless collections."`
}

// access describes access that the settings do not show.
func (a Auth) access() []string {
	if a.Type != sigv4 {
		return nil
	}
	return []string{"uses this machine's AWS credentials"}
}

// Values of auth.type.
const (
	noAuth = "none"
	basic  = "basic"
	bearer = "bearer"
	sigv4  = "sigv4"
)

const maxBytes = 8 << 20 // default response limit

func defaults() Config {
	return Config{Auth: Auth{Type: noAuth, Service: "es"}, MaxBytes: maxBytes}
}

var variable = text.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check returns the faults of all settings. Faults that depend on the environment are
// reported by the call.
func (c *Config) check() (out component.Faults) {
	if !strings.Contains(c.URL.Text, "${") && !strings.Contains(c.URL.Text, "$<") {
		if _, err := address(c.URL.Text); err != nil {
			out = append(out, component.Fault{At: "/url", Message: err.Error(), Hint: "it looks like https://search.example.org:9200"})
		}
	}
	for i, pattern := range c.Indices {
		if err := checkName(pattern); err != nil {
			out = append(out, component.Fault{At: fmt.Sprintf("/indices/%d", i), Message: err.Error(), Hint: "write an index name, or a pattern such as logs-*"})
		}
	}
	return append(out, c.Auth.check()...)
}

func (a *Auth) check() (out component.Faults) {
	fault := func(key, message, hint string) {
		out = append(out, component.Fault{At: "/auth/" + key, Message: message, Hint: hint})
	}
	for _, key := range []struct {
		name, of string
		value    string
		needed   bool
		variable bool
	}{
		{"username", basic, a.Username.Text, true, false},
		{"password_env", basic, a.PasswordEnv, true, true},
		{"token_env", bearer, a.TokenEnv, true, true},
		{"region", sigv4, a.Region, false, false},
	} {
		switch {
		case key.of == a.Type && key.value == "" && key.needed:
			fault(key.name, "auth."+key.name+" is missing", "required for auth.type "+a.Type)
		case key.of != a.Type && key.value != "":
			fault(key.name, fmt.Sprintf("auth.%s requires auth.type %s, not %s", key.name, key.of, a.Type), "remove it, or write type: "+key.of)
		case key.value != "" && key.variable && !variable().MatchString(key.value):
			fault(key.name, "auth."+key.name+" must be the name of an environment variable", "store the secret in that variable")
		}
	}
	return out
}
