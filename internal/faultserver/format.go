package faultserver

import (
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
)

// What a good reply says: a stream says it in two pieces, First and Rest.
const (
	First  = "moss, in a chaos "
	Rest   = "of servers"
	Answer = First + Rest
)

// Tokens is each count of a good reply, written 7171.
const Tokens = 7171

// Maker makes the model under test; change goes to its transport.
type Maker func(set model.Settings, change func(*httpclient.Settings)) (model.Model, error)

// Format is how the servers of a provider answer. Texts are JSON; what is empty
// is left out of the list of faults.
type Format struct {
	Whole  string             // a good reply: Answer stands in it as one string
	Empty  string             // a reply in which nothing is replied
	Error  string             // an error in place of a reply, with status 200; its message is chaos
	Calls  func(n int) string // a reply of n tool calls
	Stream *Stream            // nil = the provider does not stream
	Bare   bool               // a JSON string alone is a reply too
	Part   int                // it is one of so many formats that share their calls; 0 = it has its own
}

// Stream is how they answer where a stream is asked for.
type Stream struct {
	Kind     string             // type of the content
	Frame    func(Event) []byte // puts an event on the wire
	Events   []Event            // a good reply: First stands in one event, Rest in a later one
	End      int                // how many of the last events say that it is the end
	Mark     int                // how many of those may be missing and it still is a reply
	Empty    []Event            // a stream in which nothing is replied
	Error    Event              // an error in the middle; its message is chaos
	Calls    func(n int) []Event
	Harmless []byte // may stand between events, as often as the server likes
}

// Event is one event of a stream.
type Event struct{ Name, JSON string }

// SSE frames the data of an event as server-sent events do.
func SSE(e Event) []byte {
	name := ""
	if e.Name != "" {
		name = "event: " + e.Name + "\n"
	}
	return []byte(name + "data: " + e.JSON + "\n\n")
}

// List is n items of a JSON array.
func List(n int, item func(int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = item(i)
	}
	return strings.Join(all, ",")
}

// frames are events on the wire.
func (s *Stream) frames(events []Event) []byte {
	var out []byte
	for _, e := range events {
		out = append(out, s.Frame(e)...)
	}
	return out
}

// begun are the events up to the one that says First.
func (s *Stream) begun() []Event {
	for i, e := range s.Events {
		if strings.Contains(e.JSON, First) {
			return s.Events[:i+1]
		}
	}
	return nil
}

// kind is the type of the content.
func (f *Format) kind(streamed bool) string {
	if streamed {
		return f.Stream.Kind
	}
	return "application/json"
}

// good is a good reply on the wire.
func (f *Format) good(streamed bool) []byte {
	if streamed {
		return f.Stream.frames(f.Stream.Events)
	}
	return []byte(f.Whole)
}

// part is the beginning of a good reply.
func (f *Format) part(streamed bool) []byte {
	if streamed {
		return f.Stream.frames(f.Stream.begun())
	}
	return []byte(f.Whole[:len(f.Whole)/2])
}

// altered is a good reply whose JSON was changed.
func (f *Format) altered(streamed bool, change func(string) string) []byte {
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
