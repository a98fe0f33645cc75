package component

import "strings"

// Fault is one thing that is wrong with a configuration.
type Fault struct {
	// At is where, as a JSON pointer from the component's entry in the spec:
	// "/options/headers/Accept". What is missing is named where it would stand.
	At      string
	Message string // what is wrong
	Hint    string // the way out, "" = none is known
}

// Key is a step of such a pointer: into a mapping, by a name as it is written.
func Key(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// Faults are all that is wrong with a configuration, in the order of its keys.
// As an error of Factory.Build they are shown to the author, each at its place.
type Faults []Fault

// Checker is a capability of a Config that can tell what is wrong with it and
// the settings beside it. Check touches nothing: no file, no network, no
// environment. What it cannot know yet it does not report; for models that is
// a base_url that is filled in when a run starts, which settings then lack: a
// fault at "/base_url" does not count there. Build reports the same faults.
type Checker[S any] interface {
	Check(settings S) Faults
}

// Check asks a Config that Config returned and the compiler filled what is
// wrong with it; nil = nothing, or it cannot tell.
func (f Factory[S, T]) Check(config any, settings S) Faults {
	if c, ok := config.(Checker[S]); ok {
		return c.Check(settings)
	}
	return nil
}

// Err is the faults as an error, nil when there are none.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// Error lists the faults with their hints.
func (f Faults) Error() string {
	texts := make([]string, len(f))
	for i, x := range f {
		if texts[i] = x.Message; x.Hint != "" {
			texts[i] += ": " + x.Hint
		}
	}
	return strings.Join(texts, "; ")
}
