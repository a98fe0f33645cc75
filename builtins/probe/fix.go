package probe

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/model"
)

// fix suggests what may help if a check failed; "" if unknown.
func (t *Target) fix(f *Finding) string {
	if f.Verdict != No {
		return ""
	}
	if f.Error != nil && (f.Check == Text || !rejectsCheck(f.Error.Kind)) {
		return t.Advice(f.Error)
	}
	switch f.Check {
	case Stream:
		return "use pexctl run --no-stream"
	case Tools:
		return "set executor.mode: react_text, which needs no native tool calling"
	case Schema:
		return "if the provider has it, set " + t.Path + ".options.structured_output"
	case Text, Parallel, Usage:
	}
	return ""
}

// rejectsCheck reports whether an error of this kind can mean that the server does not support what the check asked for.
// Some gateways return 404 if no server of a model supports tools.
func rejectsCheck(k model.ErrorKind) bool {
	return k == model.BadRequest || k == model.BadReply || k == model.NotFound
}

// Advice suggests a fix by the kind of an error; "" = none is known.
func (t *Target) Advice(e *model.Error) string {
	switch e.Kind {
	case model.AuthError:
		return t.key()
	case model.NotFound:
		return "check that the server offers the model in " + t.Path + ".model" + t.ifAddressed(", and that %s is the URL of its API")
	case model.NetworkError:
		if t.Address == "" {
			return "check that the server is running and reachable; HTTPS_PROXY sets a proxy, PEX_CA_FILE the certificate of a private CA"
		}
		return fmt.Sprintf("check that the server is running and that %s is its URL", t.Address)
	case model.CallTimeout:
		if n := t.RateLimit.RequestsPerMinute; n > 0 {
			return fmt.Sprintf("%s.rate_limit allows %d requests per minute and the others wait; use a longer --timeout", t.Path, n)
		}
		return fmt.Sprintf("use a longer --timeout here, and a longer %s.timeout for runs", t.Path)
	case model.RateLimited:
		return fmt.Sprintf("try again later, or set a lower request rate in %s.rate_limit, or more attempts and longer waits in %[1]s.retry", t.Path)
	case model.Overloaded, model.ServerError:
		return fmt.Sprintf("try again later, or set more attempts or longer waits in %s.retry", t.Path)
	case model.BadReply:
		return "check that the provider is correct" + t.ifAddressed(" and that %s is the URL of an API, which often ends in /v1")
	case model.Truncated:
		return "the server's log may say why it stopped (a local model may repeat itself); if a proxy truncates replies, use pexctl run --no-stream"
	case model.BadRequest:
		return fmt.Sprintf("the server rejects a parameter; check %s and its options", t.Path)
	case model.ContextTooLong, model.NoReply, model.Interrupted:
	}
	return ""
}

// ifAddressed formats the path of the server's URL in the spec; "" if it has none.
func (t *Target) ifAddressed(format string) string {
	if t.Address == "" {
		return ""
	}
	return fmt.Sprintf(format, t.Address)
}

// key suggests a fix for a missing or wrong API key.
func (t *Target) key() string {
	switch {
	case t.KeySet != "":
		return fmt.Sprintf("the server rejects the API key in %s; set a valid one, or name another variable in %s.api_key_env", t.KeySet, t.Path)
	case len(t.KeyEnvs) > 0:
		return fmt.Sprintf("set %s, or name another variable in %s.api_key_env", strings.Join(t.KeyEnvs, " or "), t.Path)
	}
	return "set " + t.Path + ".api_key_env to the environment variable with the API key"
}
