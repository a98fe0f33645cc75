package tracecontext

import "encoding/json"

// runJSON is the JSON form of Run.
type runJSON struct {
	ID      string `json:"id,omitempty"`
	Parent  string `json:"parent,omitempty"`
	State   string `json:"state,omitempty"`
	Sampled bool   `json:"sampled,omitempty"`
}

// MarshalJSON encodes the trace for a process that makes calls of the run.
func (r *Run) MarshalJSON() ([]byte, error) {
	return json.Marshal(runJSON{r.id, r.caller.Parent, r.caller.State, r.sampled})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Run) UnmarshalJSON(b []byte) error {
	var in runJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*r = Run{caller: ParseCaller(in.Parent, in.State)}
	if in.ID != "" {
		*r = *NewRun(in.ID, r.caller, in.Sampled)
	}
	return nil
}
