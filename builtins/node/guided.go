package node

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine"
)

// direct runs the step's first tool without a model in between: its result is
// the step's. Arguments come from the step, else its goal is the only required
// string, else a model finds them, in a call or written as JSON.
func (a *attempt) direct(s engine.Scope) error {
	v := s.View()
	tool := a.st.Tools[0]
	s = s.Child(turnName(1))
	args, repairs, err := a.arguments(s, v, tool)
	if err != nil || args == nil {
		return err
	}
	rec, err := a.call(s, "tool.0", engine.Invocation{Tool: tool, Args: args, Repairs: repairs, Context: a.situation(v)})
	if rec.Status != "" {
		a.book(s, []engine.ToolRecord{rec})
	}
	if err != nil {
		return err
	}
	a.end(engine.StepOK, rec.Text())
	if rec.Status != engine.CallOK {
		a.fail(engine.StepFailed, fmt.Sprintf("%s: %s", tool, rec.Text()))
		a.rec.Result = ""
	}
	return nil
}

// arguments finds what to call the tool with; nil ends the step.
func (a *attempt) arguments(s engine.Scope, v engine.View, tool string) (args json.RawMessage, repairs []engine.ArgsRepair, err error) {
	if len(a.st.Args) > 0 {
		return reply.Encode(a.st.Args), nil, nil
	}
	info, ok := findTool(v.Tools, tool)
	if !ok {
		return json.RawMessage("{}"), nil, nil // the call itself says that there is none
	}
	if name := onlyString(info.Input); name != "" {
		return reply.Encode(map[string]string{name: a.st.Goal}), nil, nil
	}
	if !wantsArguments(info.Input) {
		return json.RawMessage("{}"), nil, nil
	}
	defs := toolDefs([]engine.ToolInfo{info})
	d := newTranscript(a.x.opening(v, a.st), defs)
	if err := d.compact(s, a); err != nil {
		return nil, nil, err
	}
	messages := append(d.sent, engine.Message{Role: engine.User, Text: engine.Text{guidedArgs, "\n\n", situationText(a.situation(v), false)}})
	r, err := a.ask(s, "model", engine.ModelCall{Role: "executor", Messages: messages, Tools: defs})
	if err != nil || r == nil {
		return nil, nil, err
	}
	d.record(s, messages[len(messages)-1], engine.Message{Role: engine.Assistant, Text: textOf(r.Text), Calls: r.Calls, Reply: r})
	for _, c := range r.Calls {
		if c.Name == tool {
			return c.Args, nil, nil
		}
	}
	args, repairs = writtenArguments(s, r, tool)
	if args == nil {
		a.fail(engine.StepFailed, "the model did not give arguments for "+tool+": "+r.Text)
	}
	return args, repairs, nil
}

// writtenArguments reads the arguments that a model wrote as text instead of a
// call; nil = there is not exactly one object in it that fits the tool.
func writtenArguments(s engine.Scope, r *engine.Reply, tool string) (json.RawMessage, []engine.ArgsRepair) {
	got := reply.Fit(r.Text, reply.Options{Truncated: r.Stop == engine.MaxTokens, Wrapped: true}, func(args json.RawMessage) bool {
		return s.Fits(tool, args) == nil
	})
	if len(got.Repairs) == 0 {
		return got.Value, nil
	}
	return got.Value, []engine.ArgsRepair{{Repair: strings.Join(got.Repairs, ", "), Written: reply.Encode(r.Text), Used: got.Value}}
}

func wantsArguments(schema json.RawMessage) bool {
	var in inputSchema
	return json.Unmarshal(schema, &in) != nil || len(in.Required) > 0
}
