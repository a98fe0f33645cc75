package runtime

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/tool"
)

// resolved is decisions about writes in doubt as the journal keeps results:
// what a person says a tool gave is its output.
func resolved(decisions map[string]string) map[string]string {
	out := make(map[string]string, len(decisions))
	for path, how := range decisions {
		if given, ok := strings.CutPrefix(how, "done:"); ok && json.Valid([]byte(given)) {
			how = "done:" + string(jsonvalue.Encode(outputOf(json.RawMessage(given))))
		}
		out[path] = how
	}
	return out
}

// outputOf is what a person wrote down for a tool: a string is its text.
func outputOf(given json.RawMessage) tool.Output {
	if text, ok := jsonvalue.Decode(given).(string); ok {
		return tool.Output{Text: text}
	}
	return tool.Output{Data: given}
}

// Ask implements Scope.
func (s *scope) Ask(name string, q interrupt.Question) (interrupt.Decision, error) {
	d, _, err := s.askAs(name, q, nil)
	return d, err
}

// askAs is Ask of a question that earlier versions put in other words: old, if
// not nil. asOld reports that the journal holds the question in those words.
func (s *scope) askAs(name string, q interrupt.Question, old *interrupt.Question) (d interrupt.Decision, asOld bool, err error) {
	if err := s.halted(); err != nil {
		return interrupt.Decision{}, false, err
	}
	q.Path = joinPath(s.Path(), name)
	body, err := q.Journaled()
	if err != nil {
		return interrupt.Decision{}, false, err
	}
	s.event(engine.Event{Type: engine.InterruptRaised, Path: name, Tool: q.Tool, Args: q.Args, Interrupt: &q})
	k := kernel.Question{Name: name, Digest: digest(body), Request: func() []byte { return body }}
	if old != nil {
		was := *old
		was.Path = q.Path
		before, err := was.Journaled()
		if err != nil {
			return interrupt.Decision{}, false, err
		}
		k.Reread = func(request []byte) {
			asOld = bytes.Equal(jsonvalue.Encode(jsonvalue.Decode(request)), jsonvalue.Encode(jsonvalue.Decode(before)))
		}
		k.Drifted = func() bool { return asOld }
	}
	d, err = kernel.Ask[interrupt.Decision](s.k, k)
	return d, asOld, err
}
