package tool

import (
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// All returns every tool of this package, in the order of the reference.
func All() component.Set[tool.Settings, tool.Tool] {
	return component.Set[tool.Settings, tool.Tool]{
		Clock, Calculator,
		ReadFile, WriteFile, ListFiles, SearchFiles, JSONQuery,
		HTTPGet, HTTPRequest, HTTP, WebSearch, Command, Python,
		Notepad, Variables, AskUser,
		Agent,
	}
}
