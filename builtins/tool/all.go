package tool

import (
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// All is every tool of this folder, in the order in which catalogues show them.
func All() component.Set[tool.Settings, tool.Tool] {
	return component.Set[tool.Settings, tool.Tool]{
		Clock, Calculator,
		ReadFile, WriteFile, ListFiles, SearchFiles, JSONQuery,
		HTTPGet, HTTPRequest, HTTP, WebSearch, Command, Python,
		Notepad, Variables, AskUser,
		Agent,
	}
}
