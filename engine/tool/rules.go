package tool

import (
	"errors"
	"slices"

	"github.com/pexctl/pex/engine/text"
)

// ErrChanged says that a server's tools are not those that are pinned: the
// run is refused. What wraps it tells the difference.
var ErrChanged = errors.New("the tools have changed")

// Tighten is the effect of a tool: what the author says of it; else what the
// author says of its server, unless the server itself admits to more; else it
// is taken for a write, whatever the server claims.
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

// Admits says whether include and exclude leave a tool in, by the server's name.
func (r Rules) Admits(name string) bool {
	return (len(r.Include) == 0 || text.MatchAny(r.Include, name)) && !text.MatchAny(r.Exclude, name)
}

// Override is what the author wrote about a tool of the server; zero = nothing.
func (r Rules) Override(name string) Override {
	if i := slices.IndexFunc(r.Overrides, func(o Override) bool { return o.Name == name }); i >= 0 {
		return r.Overrides[i]
	}
	return Override{}
}
