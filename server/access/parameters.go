package access

import (
	"errors"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/server/problem"
)

// invalidParameters returns the problem of parameters that an agent does not accept.
func invalidParameters(err error) *problem.Problem {
	var all []string
	pointer := ""
	for _, e := range inputErrors(err) {
		all = append(all, e.Message)
		if pointer == "" && e.Name != "" {
			pointer = problem.Pointer("parameters", e.Name)
		}
	}
	if len(all) == 0 {
		return problem.New(problem.InvalidParameters, "%v", err).At("/parameters")
	}
	return problem.New(problem.InvalidParameters, "%s", strings.Join(all, "; ")).At(pointer)
}

// inputErrors returns the mistakes that an error joins.
func inputErrors(err error) (out []*dsl.InputError) {
	if joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		for _, each := range joined.Unwrap() {
			if e, ok := errors.AsType[*dsl.InputError](each); ok {
				out = append(out, e)
			}
		}
	}
	return out
}
