package component

import "slices"

// Stability is how far a component may still change.
type Stability string

// The stabilities.
const (
	Experimental Stability = "experimental"
	Stable       Stability = "stable"
)

// Info is the catalog entry of a component.
type Info struct {
	Kind      string    `json:"kind"`
	Type      string    `json:"type"` // name used in YAML
	Doc       string    `json:"doc"`
	Stability Stability `json:"stability"`
}

// Factory describes one component. S are the settings passed by our code, T is what it
// builds.
type Factory[S, T any] struct {
	Type      string
	Doc       string
	Stability Stability
	// Config returns a pointer to a new Config struct with the defaults.
	Config func() any
	// Build builds the component from a pointer that Config returned and the compiler
	// filled. It opens nothing.
	Build func(config any, settings S) (T, error)
}

// New returns a Factory for the Config struct C.
func New[C, S, T any](typ, doc string, defaults func() C, build func(*C, S) (T, error)) Factory[S, T] {
	return Factory[S, T]{
		Type: typ, Doc: doc, Stability: Stable,
		Config: func() any { c := defaults(); return &c },
		Build:  func(config any, s S) (T, error) { return build(config.(*C), s) },
	}
}

// Preview marks a factory as experimental.
func (f Factory[S, T]) Preview() Factory[S, T] { f.Stability = Experimental; return f }

// Set is the components of one kind, in order.
type Set[S, T any] []Factory[S, T]

// Find returns the factory of a type.
func (s Set[S, T]) Find(typ string) (Factory[S, T], bool) {
	i := slices.IndexFunc(s, func(f Factory[S, T]) bool { return f.Type == typ })
	if i < 0 {
		return Factory[S, T]{}, false
	}
	return s[i], true
}

// Types lists the type names.
func (s Set[S, T]) Types() []string {
	out := make([]string, len(s))
	for i, f := range s {
		out[i] = f.Type
	}
	return out
}

// List returns the catalog entries.
func (s Set[S, T]) List(kind string) []Info {
	out := make([]Info, len(s))
	for i, f := range s {
		out[i] = Info{Kind: kind, Type: f.Type, Doc: f.Doc, Stability: f.Stability}
	}
	return out
}
