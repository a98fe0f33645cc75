package opensearch

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// Config is the settings of opensearch_list_index and opensearch_index_mapping.
type Config struct {
	URL          component.Template `yaml:"url" required:"true" vars:"env" doc:"The cluster, such as https://search.example.org:9200 or ${env.OPENSEARCH_URL}."`
	Auth         Auth               `yaml:"auth" doc:"Who asks."`
	Indices      []string           `yaml:"indices" doc:"Indices and aliases that may be used, with * as in logs-*. Default: all but those that begin with a dot, which must be named here."`
	AllowPrivate bool               `yaml:"allow_private" doc:"The cluster may lie in a private network. An address or localhost in url may without this."`
	MaxBytes     int64              `yaml:"max_bytes" min:"1" max:"67108864" doc:"The largest answer that is read, counted after decompression."`
}

// Reaches implements tool.AccessDescriber.
func (c *Config) Reaches() []string { return append(tool.Connects(c.URL, nil), c.Auth.reaches()...) }

// Auth is how a cluster is told who asks.
type Auth struct {
	Type        string             `yaml:"type" enum:"none|basic|bearer|sigv4" doc:"basic: a user and a password; bearer: a token; sigv4: AWS credentials, found where AWS's own tools find them."`
	Username    component.Template `yaml:"username" vars:"env" doc:"For basic: the user, written out or as ${env.OPENSEARCH_USER}."`
	PasswordEnv string             `yaml:"password_env" doc:"For basic: the environment variable that holds the password."`
	TokenEnv    string             `yaml:"token_env" doc:"For bearer: the environment variable that holds the token."`
	Region      string             `yaml:"region" doc:"For sigv4: the cluster's AWS region. Default: the machine's, as in AWS_REGION."`
	Service     string             `yaml:"service" enum:"es|aoss" doc:"For sigv4: es is Amazon OpenSearch Service, aoss its serverless collections."`
}

// reaches says what is sent that the settings do not name.
func (a Auth) reaches() []string {
	if a.Type != sigv4 {
		return nil
	}
	return []string{"uses this machine's AWS credentials"}
}

// How a cluster is told who asks.
const (
	noAuth = "none"
	basic  = "basic"
	bearer = "bearer"
	sigv4  = "sigv4"
)

const maxBytes = 8 << 20 // of an answer, where the author says nothing

func defaults() Config {
	return Config{Auth: Auth{Type: noAuth, Service: "es"}, MaxBytes: maxBytes}
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check finds what is wrong with the settings, each at its place. What hangs on
// the environment is told by the call.
func (c *Config) check() (out component.Faults) {
	if !strings.Contains(c.URL.Text, "${") && !strings.Contains(c.URL.Text, "$<") {
		if _, err := address(c.URL.Text); err != nil {
			out = append(out, component.Fault{At: "/url", Message: err.Error(), Hint: "it looks like https://search.example.org:9200"})
		}
	}
	for i, pattern := range c.Indices {
		if err := plain(pattern); err != nil {
			out = append(out, component.Fault{At: fmt.Sprintf("/indices/%d", i), Message: err.Error(), Hint: "name an index, or several by logs-*"})
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
			fault(key.name, "auth."+key.name+" is missing", "auth.type "+a.Type+" needs it")
		case key.of != a.Type && key.value != "":
			fault(key.name, fmt.Sprintf("auth.%s is for auth.type %s, not %s", key.name, key.of, a.Type), "leave it out, or write type: "+key.of)
		case key.value != "" && key.variable && !variable.MatchString(key.value):
			fault(key.name, "auth."+key.name+" is the name of an environment variable", "keep the secret there, and write the variable's name")
		}
	}
	return out
}
