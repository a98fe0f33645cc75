package evalcmd

import (
	"time"

	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/trial"
)

// trace prepares to export the evaluation. now is its start unless it is resumed.
func (e *evaluation) trace(dir string, now time.Time) {
	if e.c.Catalog.Evaluate == nil {
		return
	}
	if e.resumed {
		if m, err := batch.ReadManifest(dir); err == nil { // batch.Run reports the error
			now = m.Started
		}
	}
	e.tracer = e.c.Catalog.Evaluate(trial.Evaluation{ID: e.id, Suite: e.Name, Dir: dir, Started: now, Resumed: e.resumed})
}
