package engine

import "encoding/json"

// Results and events write these objects whole. Without a method of their own
// they would leave out what the journal, which holds them too, need not repeat.

// MarshalJSON writes a list of llms also where none was asked.
func (u Usage) MarshalJSON() ([]byte, error) {
	type plain Usage
	if u.ByModel == nil {
		u.ByModel = map[string]ModelUsage{}
	}
	return json.Marshal(struct {
		plain
		Cached int `json:"cached_input_tokens"`
	}{plain(u), u.Cached})
}

// MarshalJSON writes what the caches gave also where it is nothing.
func (u ModelUsage) MarshalJSON() ([]byte, error) {
	type plain ModelUsage
	return json.Marshal(struct {
		plain
		Cached int `json:"cached_input_tokens"`
	}{plain(u), u.Cached})
}

// MarshalJSON writes what the caches gave also where it is nothing.
func (u StepUsage) MarshalJSON() ([]byte, error) {
	type plain StepUsage
	return json.Marshal(struct {
		plain
		Cached int `json:"cached_input_tokens"`
	}{plain(u), u.Cached})
}

// MarshalJSON writes tool, arguments and question also of a question without.
func (q Question) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Path     string          `json:"path"`
		Kind     InterruptKind   `json:"kind"`
		Tool     string          `json:"tool"`
		Args     json.RawMessage `json:"args"`
		Question string          `json:"question"`
	}(q))
}

// journaled is a question as journals hold it: its digest is over these bytes.
func (q Question) journaled() ([]byte, error) {
	type plain Question
	return json.Marshal(plain(q))
}
