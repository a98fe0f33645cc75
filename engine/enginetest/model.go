package enginetest

import (
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// NewModel returns the model to test. The caller provides a fake server that speaks the
// provider's protocol: it decodes each request, passes it to script.Next and sends the
// Response. Waits between attempts must take no time.
type NewModel func(t *testing.T, script *ModelScript, settings model.Settings) model.Model

// Response is the reaction of the fake server to one request. The zero Response is an
// empty reply.
type Response struct {
	Reply      model.Reply   // usage 0 = the server reports none
	Interleave bool          // interleave the pieces of streamed tool calls
	Status     int           // HTTP status of an error; 0 = success
	RetryAfter time.Duration // of an error, in whole seconds
	RequestID  string        // of an error
	Message    string        // of an error
	Cut        bool          // end the response early
	Hang       Hang          // stop sending until the client disconnects
}

// Hang is the point at which a fake server stops sending.
type Hang int

// The points.
const (
	Never        Hang = iota
	BeforeHeader      // before the response header
	MidBody           // after about half of the body
)

// ReceivedRequest is a request as decoded by the fake server.
type ReceivedRequest struct {
	model.Request
	Streamed bool
}

// ModelScript scripts the fake server of a test. It is safe for concurrent use.
type ModelScript struct {
	// Hanging is closed when the server hangs in a response with Hang.
	Hanging chan struct{}

	mu        sync.Mutex
	responses []Response
	requests  []ReceivedRequest
}

// NewModelScript returns a script. Its last response is repeated.
func NewModelScript(exchanges ...Response) *ModelScript {
	return &ModelScript{Hanging: make(chan struct{}), responses: exchanges}
}

// Next records a request and returns the response to send.
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

// Requests returns the requests so far.
func (s *ModelScript) Requests() []ReceivedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ReceivedRequest(nil), s.requests...)
}

// ModelSuite tests a Model against the contract of model.Model. skip lists the cases that
// the provider's protocol does not support.
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
					t.Skip("not supported by the protocol")
				}
			}
			c.run(t)
		})
	}
}

type modelSuite struct{ newModel NewModel }

// settings returns the settings of all cases.
func settings() model.Settings {
	return model.Settings{Name: "main", Model: "model-1", APIKey: "sk-a-secret-of-the-suite"}
}
