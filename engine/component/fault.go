package component

import "strings"

// Fault is a mistake in a configuration.
type Fault struct {
	// At is a JSON pointer from the component's entry in the spec:
	// "/options/headers/Accept". A missing key has the pointer it would have.
	At      string
	Message string // what is wrong
	Hint    string // how to fix it, or ""
}

// Key returns an element of such a pointer, for the key of a mapping.
func Key(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// Faults are the mistakes in a configuration, in the order of its keys. As an error of
// Factory.Build each is shown at its place.
type Faults []Fault

// Checker is a Config that finds mistakes in itself and the settings. Check has no side
// effects: no files, network or environment. It does not report what it cannot know yet;
// for models that is a base_url rendered at run time, so faults at "/base_url" are
// ignored there. Build reports the same faults.
type Checker[S any] interface {
	Check(settings S) Faults
}

// Check checks a Config that Config returned and the compiler filled; nil = no faults, or
// it is no Checker.
func (f Factory[S, T]) Check(config any, settings S) Faults {
	if c, ok := config.(Checker[S]); ok {
		return c.Check(settings)
	}
	return nil
}

// Err returns the faults as an error, or nil if there are none.
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
