package tool

import (
	"errors"
	"slices"

	"github.com/pexctl/pex/engine/text"
)

// ErrChanged reports that a server's tools differ from the pinned ones. Errors that wrap
// it describe the difference.
var ErrChanged = errors.New("the tools have changed")

// Tighten returns the effect of a server's tool: the author's for the tool; else the
// author's for the server, unless the server declares a stronger one; else write,
// whatever the server declares.
func (h Hints) Tighten(own, entry Effect) Effect {
	says := func(b *bool, v bool) bool { return b != nil && *b == v }
	switch {
	case own != "":
		return own
	case entry == "" || entry == WriteEffect:
		return WriteEffect
	case says(h.ReadOnly, true):
		return entry
	case says(h.Destructive, true), entry == ReadEffect && says(h.ReadOnly, false), entry == IdempotentEffect && says(h.Idempotent, false):
		return WriteEffect
	}
	return entry
}

// Admits reports whether include and exclude admit a tool, by the server's name.
func (r Rules) Admits(name string) bool {
	return (len(r.Include) == 0 || text.MatchAny(r.Include, name)) && !text.MatchAny(r.Exclude, name)
}

// Override returns the author's override for a tool of the server, or the zero value.
func (r Rules) Override(name string) Override {
	if i := slices.IndexFunc(r.Overrides, func(o Override) bool { return o.Name == name }); i >= 0 {
		return r.Overrides[i]
	}
	return Override{}
}
