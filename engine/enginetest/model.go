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

// Response is what the fake server does with one request. The zero value
// answers with an empty reply.
type Response struct {
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
	Never        Hang = iota
	BeforeHeader      // before the header of the answer
	MidBody           // after about half of the answer
)

// ReceivedRequest is a request as the fake server understood it.
type ReceivedRequest struct {
	model.Request
	Streamed bool
}

// ModelScript is the fake server's part of a test. Safe for concurrent use.
type ModelScript struct {
	// Hanging is closed when the server falls silent in an exchange that hangs.
	Hanging chan struct{}

	mu        sync.Mutex
	responses []Response
	requests  []ReceivedRequest
}

// NewModelScript makes a script; its last exchange is repeated for ever.
func NewModelScript(exchanges ...Response) *ModelScript {
	return &ModelScript{Hanging: make(chan struct{}), responses: exchanges}
}

// Next records a request and says what to do with it.
func (s *ModelScript) Next(a ReceivedRequest) Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, a)
	if len(s.responses) == 0 {
		return Response{}
	}
	next := s.responses[0]
	if len(s.responses) > 1 {
		s.responses = s.responses[1:]
	}
	return next
}

// ReceivedRequest lists the requests so far.
func (s *ModelScript) Requests() []ReceivedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ReceivedRequest(nil), s.requests...)
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
