package dial

import (
	"fmt"

	"github.com/pexctl/pex/engine/text"
)

// Reason is why there is no connection.
type Reason string

// Reasons of errors.
const (
	BadSettings      Reason = "settings"          // the file, a certificate or a key cannot be used
	NoServer         Reason = "no_server"         // nothing answers at the address
	WrongTLS         Reason = "tls"               // one side expects TLS and the other does not, or a certificate is refused
	NotTemporal      Reason = "not_temporal"      // something answers, but no Temporal server
	RefusedKey       Reason = "refused"           // the server refuses the API key or the client certificate
	UnknownNamespace Reason = "unknown_namespace" // the server has no such namespace
	ServerTrouble    Reason = "server"            // the server answers with another error
)

// Error reports why there is no connection, and what to do. It contains no key.
type Error struct {
	Reason    Reason
	Address   string // of the server; "" if the settings name none
	Namespace string
	Err       error // what happened
	Hint      string
}

// Unwrap returns what happened.
func (e *Error) Unwrap() error { return e.Err }

// Error says what failed, why, and what to do.
func (e *Error) Error() string {
	what := map[Reason]string{
		BadSettings:      "the settings of the Temporal connection cannot be used",
		NoServer:         fmt.Sprintf("no Temporal server answers at %s", e.Address),
		WrongTLS:         fmt.Sprintf("no TLS connection with the Temporal server at %s", e.Address),
		NotTemporal:      fmt.Sprintf("the server at %s is not a Temporal server", e.Address),
		RefusedKey:       fmt.Sprintf("the Temporal server at %s refuses access to the namespace %s", e.Address, e.Namespace),
		UnknownNamespace: fmt.Sprintf("the Temporal server at %s has no namespace %s", e.Address, e.Namespace),
		ServerTrouble:    fmt.Sprintf("the Temporal server at %s answers with an error", e.Address),
	}[e.Reason]
	if e.Err != nil {
		what += ": " + e.Err.Error()
	}
	if hint := e.hint(); hint != "" {
		what += "; " + hint
	}
	return what
}

// hint returns what to do.
func (e *Error) hint() string {
	if e.Hint != "" {
		return e.Hint
	}
	switch e.Reason {
	case BadSettings:
		return "correct the TEMPORAL_* variables or the file temporal.toml"
	case NoServer:
		return "start one, for example with `temporal server start-dev`, or set TEMPORAL_ADDRESS"
	case WrongTLS:
		return "check TEMPORAL_ADDRESS and the TEMPORAL_TLS_* variables"
	case NotTemporal:
		return "set TEMPORAL_ADDRESS to the address of its gRPC frontend, usually port 7233"
	case RefusedKey:
		return "check TEMPORAL_API_KEY or the client certificate, and the role of its owner in the namespace"
	case UnknownNamespace:
		return fmt.Sprintf("create it with `temporal operator namespace create --namespace %s`, or set TEMPORAL_NAMESPACE", text.ShellWord(e.Namespace))
	case ServerTrouble:
		return "try again later, or see the log of the server"
	}
	return ""
}

// maskedError is an error whose text has no keys.
type maskedError struct {
	error
	text string
}

// Error returns the text without keys.
func (e *maskedError) Error() string { return e.text }

// Unwrap returns the error itself, for callers that look for its type.
func (e *maskedError) Unwrap() error { return e.error }

// masked returns an error whose text contains no key of the settings.
func (t *target) masked(err error) error {
	if clean, found := t.keys.Text(err.Error()); found {
		return &maskedError{err, clean}
	}
	return err
}
