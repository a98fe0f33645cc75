package probe

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/model"
)

// wayOut is what may help where something does not work.
func (t *Target) wayOut(f *Finding) string {
	if f.Works != No {
		return ""
	}
	if f.Error != nil && (f.Check == Text || !ofCheck(f.Error.Kind)) {
		return t.afterError(f.Error)
	}
	switch f.Check {
	case Stream:
		return "pexctl run --no-stream asks for whole replies"
	case Tools:
		return "executor.mode: react_text needs no tool calls"
	case Schema:
		return t.Path + ".options.structured_output says how a schema is sent, where the provider has it"
	case Text, Parallel, Usage:
	}
	return ""
}

// ofCheck says that an error means what was asked for, where text was given.
// Gateways say 404 of tools that no server of a model takes.
func ofCheck(k model.ErrorKind) bool {
	return k == model.BadRequest || k == model.BadReply || k == model.NotFound
}

// afterError goes by the kind of an error.
func (t *Target) afterError(e *model.Error) string {
	switch e.Kind {
	case model.AuthError:
		return t.key()
	case model.NotFound:
		return "see that " + t.Path + ".model is one the server has" + t.ifAddressed(", and %s the address of its API")
	case model.NetworkError:
		if t.Address == "" {
			return "see that the server runs and that this machine reaches it: HTTPS_PROXY names a proxy, PEX_CA_FILE the certificate of your own CA"
		}
		return fmt.Sprintf("see that the server runs, and that %s is its address", t.Address)
	case model.CallTimeout:
		if n := t.RateLimit.RequestsPerMinute; n > 0 {
			return fmt.Sprintf("%s.rate_limit lets %d requests a minute pass, the rest wait: --timeout gives them longer", t.Path, n)
		}
		return fmt.Sprintf("--timeout waits longer here, %s.timeout in runs", t.Path)
	case model.RateLimited, model.Overloaded, model.ServerError:
		return fmt.Sprintf("later it may answer; %s.retry waits longer, %[1]s.rate_limit asks more slowly", t.Path)
	case model.BadReply:
		return "see that the provider is the right one" + t.ifAddressed(", and that %s is the address of an API, which often ends in /v1")
	case model.Truncated:
		return "what stands between here and the server may cut its answers; pexctl run --no-stream asks for whole ones"
	case model.BadRequest:
		return fmt.Sprintf("what the server refuses stands in %s, its options included", t.Path)
	case model.ContextTooLong, model.NoReply:
	}
	return ""
}

// ifAddressed fills in where the spec has the server's address, if it has one.
func (t *Target) ifAddressed(format string) string {
	if t.Address == "" {
		return ""
	}
	return fmt.Sprintf(format, t.Address)
}

// key is the way out of a key that is missing or wrong.
func (t *Target) key() string {
	switch {
	case t.KeySet != "":
		return fmt.Sprintf("the key in %s is not taken: put another there, or name another variable in %s.api_key_env", t.KeySet, t.Path)
	case len(t.KeyEnvs) > 0:
		return fmt.Sprintf("set %s, or name another variable in %s.api_key_env", strings.Join(t.KeyEnvs, " or "), t.Path)
	}
	return "name the variable that holds the key in " + t.Path + ".api_key_env"
}
