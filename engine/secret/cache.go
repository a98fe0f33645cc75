package secret

import "sync"

// maxCached is how many Values a Cache keeps.
const maxCached = 100

// Cache keeps Values that were built from environment variables. A nil Cache keeps nothing. Safe
// for concurrent use.
type Cache struct {
	mu   sync.Mutex
	kept map[string]cached
}

type cached struct {
	read   map[string]string // the variables that build read, and their values
	values *Values
}

// Get returns what build returned for a key, and calls build again only if a variable that it
// read has changed.
func (c *Cache) Get(key string, env func(string) string, build func(env func(string) string) *Values) *Values {
	if c == nil || env == nil {
		return build(env)
	}
	c.mu.Lock()
	k, ok := c.kept[key]
	c.mu.Unlock()
	if ok && k.isCurrent(env) {
		return k.values
	}
	k = cached{read: map[string]string{}}
	k.values = build(func(name string) string {
		value := env(name)
		k.read[name] = value
		return value
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxCached {
		c.kept = map[string]cached{}
	}
	c.kept[key] = k
	return k.values
}

func (k *cached) isCurrent(env func(string) string) bool {
	for name, value := range k.read {
		if env(name) != value {
			return false
		}
	}
	return true
}
