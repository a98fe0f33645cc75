package component

import "slices"

// Blueprint is a factory for those who only decode and describe: it says what
// keys a component takes and makes nothing.
type Blueprint struct {
	Info
	// Config returns a pointer to a new Config struct that holds the defaults.
	Config func() any
}

// Blueprints are components of one kind, in the order they are listed.
type Blueprints []Blueprint

// Blueprints describes every member of a set.
func (s Set[S, T]) Blueprints(kind string) Blueprints {
	out := make(Blueprints, len(s))
	for i, f := range s {
		out[i] = Blueprint{Info{Kind: kind, Type: f.Type, Doc: f.Doc, Stability: f.Stability}, f.Config}
	}
	return out
}

// Find returns the blueprint of a type.
func (b Blueprints) Find(typ string) (Blueprint, bool) {
	i := slices.IndexFunc(b, func(b Blueprint) bool { return b.Type == typ })
	if i < 0 {
		return Blueprint{}, false
	}
	return b[i], true
}

// Types lists the type names.
func (b Blueprints) Types() []string {
	out := make([]string, len(b))
	for i := range b {
		out[i] = b[i].Type
	}
	return out
}
