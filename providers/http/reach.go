package http

import (
	"github.com/pexctl/pex/engine/tool"
)

var _ tool.AccessDescriber = (*Config)(nil)

// Reaches implements tool.AccessDescriber: the address under url, which may lead
// elsewhere than base_url; one below base_url begins with / and is shown too.
func (c *Config) Reaches() []string {
	if c.URL.Text == "" {
		return nil
	}
	return tool.Connects(c.URL, nil)
}
