package host

import (
	"crypto/sha256"
	"sync"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/internal/app/catalog"
)

// maxPrograms is how many compiled programs are kept.
const maxPrograms = 32

// programs compiles the programs of runs. It keeps some, since many runs have the same one.
// It is safe for concurrent use.
type programs struct {
	components *catalog.Catalog

	mu   sync.Mutex
	kept map[[sha256.Size]byte]*engine.Program
}

// compile compiles the program of a run.
func (c *programs) compile(start engine.Start) (*engine.Program, error) {
	o := start.Input.Origin
	h := sha256.New()
	h.Write(jsonvalue.Encode([]any{o.Dir, o.Root, o.Allow, o.Prices}))
	h.Write(start.Program)
	key := [sha256.Size]byte(h.Sum(nil))
	c.mu.Lock()
	p := c.kept[key]
	c.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, found := dsl.Recompile(start.Program, o.Dir, RecompileOptions(c.components, o))
	if err := invalid(found); err != nil {
		return p, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxPrograms {
		c.kept = map[[sha256.Size]byte]*engine.Program{}
	}
	c.kept[key] = p
	return p, nil
}
