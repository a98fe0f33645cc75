package runtime

import (
	"encoding/json"
	"errors"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
)

var _ kernel.Canonical[segmentResult] = segmentResult{}

// Canonical returns the result as decoding its JSON returns it.
func (o segmentResult) Canonical() segmentResult {
	if o.rare() {
		b, err := jsonvalue.Marshal(o)
		var decoded segmentResult
		if err != nil || json.Unmarshal(b, &decoded) != nil {
			return o // AppendJSON reports it
		}
		return decoded
	}
	o.Text, o.Key = jsonvalue.ValidString(o.Text), jsonvalue.ValidString(o.Key)
	if o.Sampled, o.Vectors = nil, nil; len(o.Data) == 0 {
		o.Data = nil
	} else if data, ok := jsonvalue.CompactRaw(o.Data); ok {
		o.Data = data
	}
	return o
}

// rare reports whether a result has more than an output: those are encoded by reflection.
func (o *segmentResult) rare() bool {
	return o.Question != nil || len(o.Sampled) > 0 || len(o.Vectors) > 0
}

// AppendJSON appends the JSON of a canonical result to b: what encoding/json writes.
func (o segmentResult) AppendJSON(b []byte) ([]byte, error) {
	if o.rare() {
		plain, err := jsonvalue.Marshal(o)
		return append(b, plain...), err
	}
	if len(o.Data) > 0 && !json.Valid(o.Data) {
		return nil, errors.New("the tool's data is not JSON")
	}
	w := jsonvalue.NewObject(b)
	w.String("text", o.Text)
	w.Raw("data", o.Data)
	w.Count("heard", int64(o.AnswersUsed))
	w.Count("wants", int64(o.WantTokens))
	w.Count("attempts", int64(o.Attempts))
	w.Count("lost", int64(o.Lost))
	w.Count("lost_vectors", int64(o.LostVectors))
	w.Text("key", o.Key)
	return w.End(), nil
}
