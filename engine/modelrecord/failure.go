package modelrecord

import (
	"encoding/json"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
)

// EncodeError returns a model's error as a journal keeps it, with all its fields.
func EncodeError(e *model.Error) *journal.Failure {
	data, _ := json.Marshal(e) // its fields always encode
	return &journal.Failure{Code: "model", Message: e.Error(), Data: data}
}

// DecodeError returns the model's error that a failure holds. A failure of another
// kind is a model.BadReply with its message.
func DecodeError(f *journal.Failure) *model.Error {
	e := &model.Error{Kind: model.BadReply, Message: f.Message}
	if len(f.Data) > 0 && json.Unmarshal(f.Data, e) != nil {
		e.Message = f.Message
	}
	return e
}
