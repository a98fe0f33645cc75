// Package redact replaces secrets in what enters a run from outside: replies and
// errors of models, outputs of tools, listings of tool servers, and streams. It is
// done inside the effect, before its result is journaled: nothing behind the effect
// holds a secret, and a resumed run sees what the first session saw.
package redact
