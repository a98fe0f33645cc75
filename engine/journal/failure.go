package journal

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// Failure is an effect's error as the journal keeps it. Node code sees the
// same Failure live and re-run, so it may branch on Code and Data.
type Failure struct {
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error is the message.
func (f *Failure) Error() string { return f.Message }

// AsFailure is the Failure in err, or one of code "error" with its text.
func AsFailure(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return &Failure{Code: "error", Message: err.Error()}
}

// Encode is the failure as a record's body. Data that is no JSON is kept as a string.
func (f *Failure) Encode() []byte {
	c := Failure{Code: valid(f.Code), Message: valid(f.Message)}
	if len(f.Data) > 0 {
		if c.Data = f.Data; !json.Valid(c.Data) {
			c.Data, _ = jsonvalue.Marshal(valid(string(f.Data)))
		}
	}
	b, _ := jsonvalue.Marshal(&c) // strings and checked JSON always encode
	return b
}

// DecodeFailure reads the body of a failed result; a body that is not a
// Failure is taken as the message.
func DecodeFailure(body []byte) *Failure {
	f := &Failure{}
	if json.Unmarshal(body, f) != nil || f.Code == "" && f.Message == "" {
		return &Failure{Code: "error", Message: string(body)}
	}
	return f
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
