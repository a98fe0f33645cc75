package api

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// jsonObject is any JSON object.
type jsonObject json.RawMessage

// MarshalJSON implements json.Marshaler.
func (o jsonObject) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (o *jsonObject) UnmarshalJSON(b []byte) error {
	return (*json.RawMessage)(o).UnmarshalJSON(b)
}

// Schema implements huma.SchemaProvider.
func (jsonObject) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// jsonValue is any JSON value.
type jsonValue json.RawMessage

// MarshalJSON implements json.Marshaler.
func (v jsonValue) MarshalJSON() ([]byte, error) { return json.RawMessage(v).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (v *jsonValue) UnmarshalJSON(b []byte) error { return (*json.RawMessage)(v).UnmarshalJSON(b) }

// Schema implements huma.SchemaProvider.
func (jsonValue) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }
