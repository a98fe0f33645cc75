package model

import (
	"encoding/json"

	"github.com/pexctl/pex/engine/component"
)

// SchemaHolder is a capability of a provider's Config: it tells what of a JSON
// Schema keeps the provider from holding a model to it, though it would hold one
// to other schemas. The model is then asked in words or at its best, and an
// answer that does not fit costs another call. Faults are placed by JSON pointers
// into the schema; nil = the model is held to it, or the author wanted none of
// that, or it cannot be told. It touches nothing.
type SchemaHolder interface {
	Unheld(s Settings, schema json.RawMessage) component.Faults
}

// SchemaEnforcer is a capability of a provider's Config: the value of
// options.structured_output with which the server enforces a schema, "" = it has
// that value, or the provider has none.
type SchemaEnforcer interface {
	EnforcingOutput() string
}
