package runtime

import (
	"github.com/pexctl/pex/engine/tool"
)

// seats are the calls that a run makes at once of a tool, or of all tools of a
// server. They are taken before a call is begun: one that waits is in no
// journal, so a session that ends meanwhile leaves nothing in doubt.
type seats struct{ most, taken int }

// seatsOf is the bound on concurrent calls of a tool. A tool that stores vectors
// has a bound of one: of concurrent calls that lack the same vectors, it would be
// chance which one computes and pays for them.
func seatsOf(spec *tool.Spec) *seats {
	switch {
	case vectorsOf(spec) != "":
		return &seats{most: 1}
	case spec == nil || spec.MaxConcurrent <= 0:
		return &seats{most: tool.DefaultConcurrency}
	}
	return &seats{most: spec.MaxConcurrent}
}

// seated waits for a seat; leave gives it back. A call that the journal has begun
// here does not wait: an earlier version of the program had more seats.
func (c *toolRun) seated() (leave func(), err error) {
	at := c.tool.seats
	if at == nil {
		return func() {}, nil
	}
	if err := c.s.Await(func() bool { return at.taken < at.most || c.s.k.Next(c.name) }); err != nil {
		return nil, err
	}
	at.taken++
	return func() { at.taken-- }, nil
}
