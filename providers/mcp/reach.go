package mcp

import (
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

var _ tool.AccessDescriber = (*Config)(nil)

// Reaches implements tool.AccessDescriber.
func (c *Config) Reaches() (out []string) {
	if !c.Command.IsZero() {
		argv, _, ok := c.program()
		if !ok {
			argv = []string{string(c.Command.JSON)} // no server starts by it
		}
		for _, arg := range c.Args {
			argv = append(argv, arg.Text)
		}
		out = append(out, tool.Execs(argv, c.Cwd, c.Env))
	}
	if c.URL.Text != "" {
		out = append(out, tool.Connects(c.URL, c.AllowHosts)...)
	}
	if c.Auth != nil && c.Auth.Issuer != "" {
		out = append(out, tool.Connects(component.Template{Text: c.Auth.Issuer}, nil)...)
	}
	return out
}
