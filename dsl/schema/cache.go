package schema

import "sync"

// maxCached is how many schemas a Cache keeps.
const maxCached = 256

// Cache keeps compiled schemas by their text. It is for processes that compile the same
// ones again and again. A nil Cache keeps none. It is safe for concurrent use.
type Cache struct {
	mu   sync.Mutex
	kept map[string]*Schema
}

// Compile is the function Compile.
func (c *Cache) Compile(raw []byte) (*Schema, error) {
	if c == nil {
		return Compile(raw)
	}
	c.mu.Lock()
	s := c.kept[string(raw)]
	c.mu.Unlock()
	if s != nil {
		return s, nil
	}
	s, err := Compile(raw)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxCached {
		c.kept = map[string]*Schema{}
	}
	c.kept[string(raw)] = s
	return s, nil
}
