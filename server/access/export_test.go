package access

import (
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/problem"
)

// InvalidFile returns the problem of a name of a file, for tests.
func InvalidFile(name string) *problem.Problem { return invalidFile([]agents.File{{Name: name}}) }
