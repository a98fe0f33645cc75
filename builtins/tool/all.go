package tool

import (
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// All is every tool of this folder, in the order in which catalogues show them.
func All() component.Set[engine.ToolSettings, engine.Tool] {
	return component.Set[engine.ToolSettings, engine.Tool]{
		Clock, Calculator,
		ReadFile, WriteFile, ListFiles, SearchFiles, JSONQuery,
		HTTPGet, HTTPRequest, HTTP, WebSearch, Command, Python,
		Notepad, Variables, AskUser,
		Agent,
	}
}
