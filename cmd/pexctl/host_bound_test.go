package main

import (
	"reflect"
	"testing"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/engine/tool"
)

// TestToolsOfOneMachineSaySo: a tool whose settings name files, folders or programs of a machine says
// what it needs, because vet would accept it for several machines otherwise.
func TestToolsOfOneMachineSaySo(t *testing.T) {
	local := 0
	for _, f := range components().Tools {
		c := f.Config()
		access, describes := c.(tool.AccessDescriber)
		starts := describes && tool.StartsPrograms(access.Access())
		if !starts && !namesFiles(config.Struct(c)) {
			continue
		}
		local++
		if _, ok := c.(tool.HostBound); !ok {
			t.Errorf("the settings of %s must implement tool.HostBound", f.Type)
		}
	}
	if local < 10 {
		t.Errorf("only %d tools with files or programs found", local)
	}
}

// namesFiles reports whether a field of a struct has a path of a machine.
func namesFiles(v reflect.Value) bool {
	fields, _ := config.Fields([]reflect.Value{v})
	for _, f := range fields {
		if f.Tag.Get("path") != "" {
			return true
		}
	}
	return false
}
