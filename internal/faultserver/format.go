package faultserver

import (
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
)

// The text of a good reply. A stream has it in two pieces, First and Rest.
const (
	First  = "moss, in a field "
	Rest   = "of servers"
	Answer = First + Rest
)

// Tokens is every count in a good reply, written as 7171.
const Tokens = 7171

// Maker creates the model under test. change modifies the settings of its transport.
type Maker func(set model.Settings, change func(*httpclient.Settings)) (model.Model, error)

// Format describes the responses of a provider's server. Texts are JSON. Empty fields disable the faults that need
// them.
type Format struct {
	Whole  string             // a good reply that contains Answer as one string
	Empty  string             // a reply without content
	Error  string             // an error with status 200 instead of a reply; its message is "injected"
	Calls  func(n int) string // a reply with n tool calls
	Stream *Stream            // nil = the provider does not stream
	Bare   bool               // a bare JSON string is a valid reply too
	Part   int                // number of formats that share their calls; 0 = not shared
}

// Stream describes streaming responses.
type Stream struct {
	Kind     string             // content type
	Frame    func(Event) []byte // encodes an event
	Events   []Event            // a good reply: First is in one event, Rest in a later one
	End      int                // number of final events that mark the end
	Mark     int                // how many of those may be missing from a valid reply
	Empty    []Event            // a stream without content
	Error    Event              // an error in the middle; its message is "injected"
	Calls    func(n int) []Event
	Harmless []byte // may occur between events any number of times
}

// Event is one event of a stream.
type Event struct{ Name, JSON string }

// SSE encodes an event as a server-sent event.
func SSE(e Event) []byte {
	name := ""
	if e.Name != "" {
		name = "event: " + e.Name + "\n"
	}
	return []byte(name + "data: " + e.JSON + "\n\n")
}

// List returns a JSON array of n items.
func List(n int, item func(int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = item(i)
	}
	return strings.Join(all, ",")
}

// frames encodes events.
func (s *Stream) frames(events []Event) []byte {
	var out []byte
	for _, e := range events {
		out = append(out, s.Frame(e)...)
	}
	return out
}

// firstEvents returns the events up to the one with First.
func (s *Stream) firstEvents() []Event {
	for i, e := range s.Events {
		if strings.Contains(e.JSON, First) {
			return s.Events[:i+1]
		}
	}
	return nil
}

// contentType returns the content type.
func (f *Format) contentType(streamed bool) string {
	if streamed {
		return f.Stream.Kind
	}
	return "application/json"
}

// reply returns an encoded good reply.
func (f *Format) reply(streamed bool) []byte {
	if streamed {
		return f.Stream.frames(f.Stream.Events)
	}
	return []byte(f.Whole)
}

// partialReply returns the start of a good reply.
func (f *Format) partialReply(streamed bool) []byte {
	if streamed {
		return f.Stream.frames(f.Stream.firstEvents())
	}
	return []byte(f.Whole[:len(f.Whole)/2])
}

// changedReply returns a good reply with changed JSON.
func (f *Format) changedReply(streamed bool, change func(string) string) []byte {
	if !streamed {
		return []byte(change(f.Whole))
	}
	out := make([]Event, len(f.Stream.Events))
	for i, e := range f.Stream.Events {
		out[i] = e
		if strings.HasPrefix(e.JSON, "{") {
			out[i].JSON = change(e.JSON)
		}
	}
	return f.Stream.frames(out)
}
