package model

import (
	"strings"
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/retry"
)

// Settings are the settings passed to a provider's factory.
type Settings struct {
	Name      string        // entry of llms
	Model     string        // the provider's model name
	BaseURL   string        // "" = the provider's own
	APIKey    string        // "" = none
	Timeout   time.Duration // of one attempt
	Retry     retry.Policy
	RateLimit RateLimit
	UserAgent string

	Certificates Certificates // of the process

	Dir   string              // the spec's folder
	Root  string              // project root: files outside are not read; "" = Dir
	Allow []string            // folders outside Root that may be read
	Env   func(string) string // environment variables declared by the spec; nil = none
}

// FromEnv renders templates from the environment. Unset variables are ""; values are
// trimmed.
func (s Settings) FromEnv(templates map[string]component.Template) map[string]string {
	environment := func(ns, name string) (any, bool) {
		if ns != "env" || s.Env == nil {
			return nil, false
		}
		v := s.Env(name)
		return v, v != ""
	}
	out := make(map[string]string, len(templates))
	for name, t := range templates {
		out[name] = strings.TrimSpace(t.Render(environment))
	}
	return out
}

// Certificates are certificate files for private networks.
type Certificates struct {
	CAFile     string // additional trusted CAs; "" = none
	ClientCert string // client certificate; "" = none
	ClientKey  string // key of ClientCert; "" = in the same file
}

// RateLimit limits this process's calls of one LLM; zero = unlimited.
type RateLimit struct {
	RequestsPerMinute int
	TokensPerMinute   int
	MaxConcurrent     int
}
