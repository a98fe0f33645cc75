package temporal

import (
	"encoding/json"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
)

// Names in histories. They are permanent.
const (
	workflowName = "pex.Run"
	activityName = "pex.Do"

	decideUpdate  = "decide"
	messageUpdate = "message"
	cancelUpdate  = "cancel"
	journalQuery  = "journal"
	stateQuery    = "state"
)

// Types of errors in histories. They are permanent.
const (
	errUnavailable = "pex.Unavailable" // of an activity: it did not begin, and may begin later
	errRefused     = "pex.Refused"     // it cannot be performed: another version, program or host
)

// WorkflowID returns the id of the workflow of a run.
func WorkflowID(tenant, run string) string { return "pex/" + tenant + "/" + run }

// settings are the first argument of the workflow. The others are the body of the start record, the
// portable program, and the journal so far, as lines of a file.
type settings struct {
	Version      string       `json:"version,omitempty"` // of pexctl
	By           engine.Actor `json:"by,omitzero"`       // who started the run
	Conversation bool         `json:"conversation,omitempty"`

	// MaxEvents is the length of the history from which the run continues as a new execution; 0 =
	// when the server suggests it.
	MaxEvents int `json:"max_events,omitempty"`

	// Of a run that continues: what its last execution had not handled yet.
	Decisions []decisions   `json:"decisions,omitempty"`
	Cancelled *engine.Actor `json:"cancelled,omitempty"`
}

// decisions are the answers of one person, by path.
type decisions struct {
	Answers map[string]json.RawMessage `json:"answers,omitempty"`
	Resolve map[string]string          `json:"resolve,omitempty"` // about writes in doubt: done:<json>, redo or skip
	By      engine.Actor               `json:"by,omitzero"`
}

// message is a message for a run.
type message struct {
	ID        string       `json:"id"`
	Text      string       `json:"text"`
	Interrupt bool         `json:"interrupt,omitempty"`
	By        engine.Actor `json:"by,omitzero"`
}

// State is the state of a run.
type State struct {
	Waiting   bool                 `json:"waiting"` // for the answers to Questions
	Questions []interrupt.Question `json:"questions,omitempty"`
	Ended     bool                 `json:"ended"`
	Records   int                  `json:"records"` // in the journal
	At        time.Time            `json:"at"`
}

// output is the result of the workflow.
type output struct {
	Result  json.RawMessage `json:"result"`  // engine.Result
	Journal []byte          `json:"journal"` // lines of a file
}
