package convert

// Result is a spec made of something else.
type Result struct {
	Name  string // of the agent; "" = the source has none
	Files []File // the spec first
	Notes []Note // in the order of the source
}

// File is one file of it; Path is relative to the new folder, with slashes.
type File struct {
	Path string
	Text []byte
}

// Outcome is what became of a part of the source.
type Outcome string

// The fates: it means something else here, there is no such thing here, or a
// person must fill in or look at something before the spec can be used.
const (
	Changed Outcome = "changed"
	Dropped Outcome = "dropped"
	Todo    Outcome = "todo"
)

// Note says what of the source is not in the spec as it was there.
type Note struct {
	File    string  `json:"file"` // of the source, as it was given
	Path    string  `json:"path"` // in it: parameters.max_steps, agents[0].llm
	Outcome Outcome `json:"fate"`
	What    string  `json:"what"` // in a sentence: what became of it, why, and what to do
}
