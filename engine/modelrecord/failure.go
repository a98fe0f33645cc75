package modelrecord

import (
	"encoding/json"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
)

// EncodeError encodes a model's error for the journal, with all its fields.
func EncodeError(e *model.Error) *journal.Failure {
	data, _ := json.Marshal(e) // its fields always encode
	return &journal.Failure{Code: "model", Message: e.Error(), Data: data}
}

// DecodeError decodes a model's error from a failure. Another kind of failure becomes a
// model.BadReply with its message.
func DecodeError(f *journal.Failure) *model.Error {
	e := &model.Error{Kind: model.BadReply, Message: f.Message}
	if len(f.Data) > 0 && json.Unmarshal(f.Data, e) != nil {
		e.Message = f.Message
	}
	return e
}
