package journal

import (
	"encoding/json"
	"errors"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// Failure is an effect's error as the journal stores it. Node code gets the same Failure
// in a replay, so it may branch on Code and Data.
type Failure struct {
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// AsFailure returns the Failure in err's chain, or one with code "error" and err's text.
func AsFailure(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return &Failure{Code: "error", Message: err.Error()}
}

// Encode returns the failure as the body of a record. Data that is not JSON becomes a
// string.
func (f *Failure) Encode() []byte {
	c := Failure{Code: jsonvalue.ValidString(f.Code), Message: jsonvalue.ValidString(f.Message)}
	if len(f.Data) > 0 {
		if c.Data = f.Data; !json.Valid(c.Data) {
			c.Data, _ = jsonvalue.Marshal(jsonvalue.ValidString(string(f.Data)))
		}
	}
	b, _ := jsonvalue.Marshal(&c) // strings and valid JSON always encode
	return b
}

// DecodeFailure decodes the body of a failed result. A body that is not a Failure becomes
// the message.
func DecodeFailure(body []byte) *Failure {
	f := &Failure{}
	if json.Unmarshal(body, f) != nil || f.Code == "" && f.Message == "" {
		return &Failure{Code: "error", Message: string(body)}
	}
	return f
}
