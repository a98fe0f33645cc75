package convert

// Result is a spec converted from another format.
type Result struct {
	Name  string // the agent's name; "" if the source has none
	Files []File // the spec first
	Notes []Note // in the order of the source
}

// File is one file of a Result. Path is relative to the new folder, with slashes.
type File struct {
	Path string
	Text []byte
}

// Outcome is the result of converting a part of the source.
type Outcome string

// Outcomes: the part has another meaning here, it has no counterpart, or the user
// must complete or review it before using the spec.
const (
	Changed Outcome = "changed"
	Dropped Outcome = "dropped"
	Todo    Outcome = "todo"
)

// Note describes a part of the source that the spec does not contain unchanged.
type Note struct {
	File    string  `json:"file"` // the source, as given
	Path    string  `json:"path"` // the place in it: parameters.max_steps, agents[0].llm
	Outcome Outcome `json:"fate"`
	What    string  `json:"what"` // a sentence: the outcome, the reason, and what to do
}
