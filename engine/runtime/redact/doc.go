// Package redact redacts secrets in everything that enters a run: replies and errors of
// models, outputs of tools, listings of tool servers, and streams. This happens inside
// the effect, before its result is journaled, so nothing after the effect contains a
// secret, and a resumed run sees the same values.
package redact
