package component

import "slices"

// Blueprint describes a factory without building: which keys a component takes.
type Blueprint struct {
	Info
	// Config returns a pointer to a new Config struct with the defaults.
	Config func() any
}

// Blueprints are the components of one kind, in order.
type Blueprints []Blueprint

// Blueprints returns the blueprints of a set.
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
