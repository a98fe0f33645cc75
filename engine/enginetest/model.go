package enginetest

import (
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// NewModel makes the model under test. Its server is a fake of the caller's
// that speaks the provider's protocol: it decodes each request, passes it to
// script.Next and does what the Exchange says. Waits between attempts must
// take no time.
type NewModel func(t *testing.T, script *ModelScript, settings model.Settings) model.Model

// Exchange is what the fake server does with one request. The zero value
// answers with an empty reply.
type Exchange struct {
	Reply      model.Reply   // usage 0 = the server reports none
	Interleave bool          // in a stream, the pieces of the tool calls take turns
	Status     int           // not 0: refuse with this HTTP status
	RetryAfter time.Duration // of a refusal, whole seconds
	RequestID  string        // of a refusal
	Message    string        // of a refusal
	Cut        bool          // end the answer in its middle
	Hang       Hang          // send nothing more until the client is gone
}

// Hang is the point at which a fake server falls silent.
type Hang int

// The points of silence.
const (
	Never     Hang = iota
	AtOnce         // before the header of the answer
	InTheBody      // after about half of the answer
)

// Asked is a request as the fake server understood it.
type Asked struct {
	model.Request
	Streamed bool
}

// ModelScript is the fake server's part of a test. Safe for concurrent use.
type ModelScript struct {
	// Silent is closed when the server falls silent in an exchange that hangs.
	Silent chan struct{}

	mu        sync.Mutex
	exchanges []Exchange
	asked     []Asked
}

// NewModelScript makes a script; its last exchange is repeated for ever.
func NewModelScript(exchanges ...Exchange) *ModelScript {
	return &ModelScript{Silent: make(chan struct{}), exchanges: exchanges}
}

// Next records a request and says what to do with it.
func (s *ModelScript) Next(a Asked) Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, a)
	if len(s.exchanges) == 0 {
		return Exchange{}
	}
	next := s.exchanges[0]
	if len(s.exchanges) > 1 {
		s.exchanges = s.exchanges[1:]
	}
	return next
}

// Asked lists the requests so far.
func (s *ModelScript) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked(nil), s.asked...)
}

// ModelSuite checks that a Model keeps the contract of model.Model. skip
// names the cases that the provider's protocol has no means for.
func ModelSuite(t *testing.T, newModel NewModel, skip ...string) {
	s := &modelSuite{newModel: newModel}
	for _, c := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"text", s.text},
		{"conversation", s.conversation},
		{"tools", s.tools},
		{"empty messages", s.emptyMessages},
		{"parameters", s.parameters},
		{"unset parameters", s.unset},
		{"schema", s.schema},
		{"stop reasons", s.stops},
		{"refusal", s.refusal},
		{"usage", s.usage},
		{"missing usage", s.missingUsage},
		{"call ids", s.callIDs},
		{"streamed text", s.streamedText},
		{"streamed calls", s.streamedCalls},
		{"truncated", s.truncated},
		{"errors", s.errors},
		{"repeats", s.repeats},
		{"cancellation", s.cancellation},
		{"time limit", s.timeLimit},
		{"concurrency", s.concurrency},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, name := range skip {
				if name == c.name {
					t.Skip("the protocol has no means for it")
				}
			}
			c.run(t)
		})
	}
}

type modelSuite struct{ newModel NewModel }

// settings are those that every case begins with.
func settings() model.Settings {
	return model.Settings{Name: "main", Model: "model-1", APIKey: "sk-a-secret-of-the-suite"}
}
