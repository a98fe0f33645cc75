package tool

import (
	"encoding/json"
	"fmt"
)

// CallStatus says how a tool call ended.
type CallStatus string

// The tool call statuses (DESIGN section 10).
const (
	CallOK       CallStatus = "ok"
	CallError    CallStatus = "error"
	CallDenied   CallStatus = "denied"
	CallTimedOut CallStatus = "timeout"
	CallUnknown  CallStatus = "unknown" // a write that may have taken effect; see UnknownOutcome
	CallRunning  CallStatus = "running" // in run.calls: it has not ended
)

// Record is one tool call of a step.
type Record struct {
	Tool       string          `json:"tool"`
	Args       json.RawMessage `json:"args"`
	Result     any             `json:"result"` // text, or JSON where the tool gave JSON
	Status     CallStatus      `json:"status"`
	DurationMS int64           `json:"duration_ms"`
	Edited     bool            `json:"edited,omitempty"`  // Args are a person's, not the model's
	Repairs    []ArgsRepair    `json:"repairs,omitempty"` // how Args differ from what the model wrote

	ModelText string `json:"-"` // Result as the model reads it, where a tool returned both text and data
	CallID    string `json:"-"` // the model's id of the call
	Turn      string `json:"-"` // path of the scope that made the call
}

// ArgsRepair is one change that made the arguments a model wrote fit the tool's
// schema. A long value is a string of its head and tail.
type ArgsRepair struct {
	Path    string          `json:"path"`    // JSON Pointer of the value; "" = all arguments
	Repair  string          `json:"repair"`  // what was changed: "integer given as a string"
	Written json.RawMessage `json:"written"` // as the model wrote it; a string where that is not JSON
	Used    json.RawMessage `json:"used"`    // as the tool gets it
}

// String is a repair on one line, for people: /n: integer given as a string ("5" -> 5).
func (r ArgsRepair) String() string {
	text := fmt.Sprintf("%s (%s -> %s)", r.Repair, r.Written, r.Used)
	if r.Path != "" {
		text = r.Path + ": " + text
	}
	return text
}
