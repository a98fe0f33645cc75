package mcp

import (
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// Limits of a server's lists.
const (
	maxPages = 100
	maxTools = 1000
	// maxDefinition is the maximum size of a tool definition in bytes, and maxListing
	// that of all together. Every model call includes them, and a million tokens are
	// about 4 MB.
	maxDefinition = 256 << 10
	maxListing    = 4 << 20
	// maxRead limits the bytes of definitions read, including those left out.
	maxRead = 32 << 20
)

// knownTool is a tool of the server as it is now.
type knownTool struct {
	def   tool.Definition
	synth synthCall // nil = a tool of the server itself
}

// catalogue collects a server's tools within the limits, with warnings about what it
// leaves out.
type catalogue struct {
	config   *Config
	tools    []tool.Definition
	warnings []string
	known    map[string]knownTool // the first tool of each name
	names    []string             // of all readable tools of the server itself

	count, bytesRead, bytesAdded int // tools read; bytes read; bytes of the tools added
}

func (c *catalogue) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

// add adds a tool of the server; false = stop reading.
func (c *catalogue) add(tool *sdk.Tool) bool {
	if c.count++; c.count > maxTools {
		c.warn("the server has more than %d tools; the rest are ignored", maxTools)
		return false
	}
	def, err := definition(tool)
	if err != nil {
		c.warn("%v", err)
		return true
	}
	c.names = append(c.names, def.Name)
	if c.config.shadowed(def.Name) {
		return true
	}
	return c.addKnown(knownTool{def: def})
}

// addKnown adds a tool if it is within the limits; false = stop reading.
func (c *catalogue) addKnown(k knownTool) bool {
	size := sizeOf(k.def)
	switch c.bytesRead += size; {
	case size > maxDefinition:
		c.warn("tool %q is ignored: its definition is %d bytes, the maximum is %d", tail(k.def.Name), size, maxDefinition)
		if c.bytesRead <= maxRead {
			return true
		}
		c.warn("the server's tool definitions exceed %d bytes; the rest are ignored", maxRead)
		return false
	case c.bytesAdded+size > maxListing:
		c.warn("tool %q and those after it are ignored: the server's tool definitions exceed %d bytes", tail(k.def.Name), maxListing)
		return false
	}
	c.bytesAdded += size
	if _, duplicate := c.known[k.def.Name]; !duplicate {
		c.known[k.def.Name] = k
	}
	c.tools = append(c.tools, k.def)
	return true
}

func sizeOf(d tool.Definition) int {
	return len(d.Name) + len(d.Title) + len(d.Description) + len(d.Input) + len(d.Output)
}

// warnUnmatched warns about include and exclude entries that match no tool, such as misspelled names.
func (c *catalogue) warnUnmatched() {
	for _, list := range []struct {
		setting string
		globs   []string
	}{{"include", c.config.Include}, {"exclude", c.config.Exclude}} {
		for _, g := range list.globs {
			exact := list.setting == "include" || !strings.ContainsAny(g, `*?[\`) // an exclude glob may be a precaution
			if exact && !c.has(g) {
				c.warn("%s: %q matches no tool of the server", list.setting, g)
			}
		}
	}
}

// has reports whether any tool's name matches the glob.
func (c *catalogue) has(glob string) bool {
	globs := []string{glob}
	return slices.ContainsFunc(c.names, func(n string) bool { return text.MatchAny(globs, n) }) ||
		slices.ContainsFunc(c.tools, func(d tool.Definition) bool { return text.MatchAny(globs, d.Name) })
}
