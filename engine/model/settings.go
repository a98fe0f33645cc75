package model

import (
	"strings"
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/retry"
)

// Settings is what our code passes to a provider's factory.
type Settings struct {
	Name      string        // the llm entry in the spec
	Model     string        // the provider's name of the model
	BaseURL   string        // "" = the provider's own
	APIKey    string        // "" = none
	Timeout   time.Duration // of one attempt
	Retry     retry.Policy
	RateLimit RateLimit
	UserAgent string

	Certificates Certificates // of the process

	Dir   string              // the spec's folder
	Root  string              // the project's: no file outside of it is read; "" = Dir
	Allow []string            // folders outside of it that may be read all the same
	Env   func(string) string // the machine's environment, for names the spec declares; nil = none
}

// FromEnv fills templates from the environment: an unset variable is "", and
// white space around a value is none of it.
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

// Certificates are files of the process: what it needs in a network of its own.
type Certificates struct {
	CAFile     string // trusted besides the machine's own; "" = none
	ClientCert string // that servers are shown; "" = none
	ClientKey  string // of ClientCert; "" = it stands in the same file
}

// RateLimit bounds the calls of one llm by this process; zero = unbounded.
type RateLimit struct {
	RequestsPerMinute int
	TokensPerMinute   int
	MaxConcurrent     int
}
