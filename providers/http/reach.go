package http

import "github.com/pexctl/pex/engine"

var _ engine.Reacher = (*Config)(nil)

// Reaches implements engine.Reacher: the address under url, which may lead
// elsewhere than base_url; one below base_url begins with / and is shown too.
func (c *Config) Reaches() []string {
	if c.URL.Text == "" {
		return nil
	}
	return engine.Connects(c.URL, nil)
}
