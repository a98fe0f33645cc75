package mcp

import (
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// Bounds of what a server may list.
const (
	maxPages = 100
	maxTools = 1000
	// maxDefinition is the longest definition of a tool, in bytes, and maxListing
	// that of all together: each call of a model holds them, and a million tokens
	// are about 4 MB.
	maxDefinition = 256 << 10
	maxListing    = 4 << 20
	// maxHeard bounds what is read of definitions, also of those left out.
	maxHeard = 32 << 20
)

// known is a tool of the server as it is now.
type known struct {
	def  tool.Definition
	made maker // nil = a tool of the server's own
}

// catalogue is what a server has, as it is being told. It keeps no more than the
// bounds, and says what it leaves out.
type catalogue struct {
	config   *Config
	tools    []tool.Definition
	warnings []string
	known    map[string]known // the first of a name
	names    []string         // of all tools of the server's own that could be read

	seen, heard, kept int // tools; bytes of theirs; bytes of those kept
}

func (c *catalogue) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

// add notes a tool of the server's own; false = no more are wanted.
func (c *catalogue) add(tool *sdk.Tool) bool {
	if c.seen++; c.seen > maxTools {
		c.warn("the server has more than %d tools: the others are left out", maxTools)
		return false
	}
	def, err := definition(tool)
	if err != nil {
		c.warn("%v", err)
		return true
	}
	c.names = append(c.names, def.Name)
	if c.config.hidden(def.Name) {
		return true
	}
	return c.keep(known{def: def})
}

// keep notes a tool that is told on, if it is within the bounds; false = no more
// are wanted.
func (c *catalogue) keep(k known) bool {
	size := sizeOf(k.def)
	switch c.heard += size; {
	case size > maxDefinition:
		c.warn("the tool %q is left out: what the server tells of it is %d bytes long, more than the %d that are passed on", tail(k.def.Name), size, maxDefinition)
		if c.heard <= maxHeard {
			return true
		}
		c.warn("what the server tells of its tools is longer than the %d bytes that are read: the others are left out", maxHeard)
		return false
	case c.kept+size > maxListing:
		c.warn("the tool %q and those behind it are left out: what the server tells of its tools is longer than the %d bytes that are passed on", tail(k.def.Name), maxListing)
		return false
	}
	c.kept += size
	if _, twice := c.known[k.def.Name]; !twice {
		c.known[k.def.Name] = k
	}
	c.tools = append(c.tools, k.def)
	return true
}

func sizeOf(d tool.Definition) int {
	return len(d.Name) + len(d.Title) + len(d.Description) + len(d.Input) + len(d.Output)
}

// unmatched warns of names and globs of the settings that no tool of the server
// has: what was to be left in is not there, and what was to be left out may be.
func (c *catalogue) unmatched() {
	for _, list := range []struct {
		setting string
		globs   []string
	}{{"include", c.config.Include}, {"exclude", c.config.Exclude}} {
		for _, g := range list.globs {
			meant := list.setting == "include" || !strings.ContainsAny(g, `*?[\`) // a glob may be there in case
			if meant && !c.has(g) {
				c.warn("%s: %q is the name of no tool of the server", list.setting, g)
			}
		}
	}
}

// has says whether a tool has a name of the glob.
func (c *catalogue) has(glob string) bool {
	one := []string{glob}
	return slices.ContainsFunc(c.names, func(n string) bool { return text.MatchAny(one, n) }) ||
		slices.ContainsFunc(c.tools, func(d tool.Definition) bool { return text.MatchAny(one, d.Name) })
}
