package api

import (
	"net/http"

	"github.com/pexctl/pex/server/problem"
)

// ProblemOf returns the problem of an error, for tests.
func ProblemOf(o Options, r *http.Request, err error) *problem.Problem {
	return (&server{Options: o}).problemOf(r, err)
}

// InvalidFile returns the problem of a name of a file, for tests.
func InvalidFile(name string) *problem.Problem { return invalidFile([]RunFile{{Name: name}}) }
