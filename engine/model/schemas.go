package model

import (
	"encoding/json"

	"github.com/pexctl/pex/engine/component"
)

// SchemaHolder is a provider's Config that knows which parts of a JSON Schema the
// provider cannot enforce, though it enforces other schemas. An answer that does not fit
// then costs another call. Faults are placed by JSON pointers into the schema; nil = it
// is enforced, or the author disabled that, or it is unknown. It has no side effects.
type SchemaHolder interface {
	UnenforcedKeywords(s Settings, schema json.RawMessage) component.Faults
}

// SchemaEnforcer is a provider's Config with the value of options.structured_output that
// makes the server enforce a schema; "" = it is set, or there is none.
type SchemaEnforcer interface {
	EnforcingOutput() string
}
