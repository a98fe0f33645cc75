package testcase

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/engine/interrupt"
)

// people answers the questions of a run as the case says: by the question's
// path, else by its kind, else by "*".
type people map[string]string

var _ interrupt.People = people(nil)

// Ask implements interrupt.People; a question without an answer parks the run.
func (p people) Ask(_ context.Context, q interrupt.Question) (json.RawMessage, error) {
	for _, name := range []string{q.Path, string(q.Kind), "*"} {
		if text, ok := p[name]; ok {
			return json.Marshal(interrupt.Parse(text))
		}
	}
	return nil, fmt.Errorf("run.answers has none for %s", cmp.Or(q.Path, string(q.Kind)))
}
