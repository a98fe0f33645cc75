package batch

import (
	"bytes"

	"github.com/pexctl/pex/engine/jsonvalue"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
)

// resumed is the journal of a trial's run, with what earlier sessions left.
type resumed struct {
	journal.Journal
	recs    []journal.Record
	err     error
	earlier bool // there were some
}

func takeUp(j journal.Journal) *resumed {
	r := &resumed{Journal: j}
	r.recs, r.err = j.Load()
	r.earlier = len(r.recs) > 0
	return r
}

// Load gives the records of earlier sessions.
func (r *resumed) Load() ([]journal.Record, error) { return r.recs, r.err }

// ofOthers says that the journal is of a run that was given other parameters:
// what it was answered is not this trial's answer.
func (r *resumed) ofOthers(params map[string]any) bool {
	was, err := runtime.ReadStart(r.recs)
	if err != nil {
		return false // there is none, or the run itself says what is wrong with it
	}
	body, err := jsonvalue.Marshal(engine.Start{Input: engine.Input{Parameters: params}})
	if err != nil {
		return false
	}
	now, err := runtime.ReadStart([]journal.Record{{Kind: journal.Start, Body: body}})
	return err == nil && !bytes.Equal(inOneForm(was), inOneForm(now))
}

// inOneForm is what a run was given, as its start record kept it.
func inOneForm(s engine.Start) []byte {
	if len(s.Input.Parameters) == 0 {
		return nil
	}
	b, _ := jsonvalue.Marshal(s.Input.Parameters) // it was read from such a text
	return b
}
