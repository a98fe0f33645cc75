package runcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/internal/app/failure"
)

// opening returns the question of a run and the conversation before it. question
// is that of the command line, params the parameters in JSON or nil.
func (f *runFlags) opening(c *ui.Call, params []byte, question string) (earlier []memory.Interaction, asked string, err error) {
	if f.messages == "" {
		return nil, question, nil
	}
	b, err := ui.ReadInput(c, "--messages", f.messages, ui.MaxMessages)
	if err != nil {
		return nil, "", err
	}
	earlier, last, err := dsl.Messages(b)
	switch {
	case err != nil:
		return nil, "", failure.Usagef("--messages %s: %w", f.messages, err)
	case last == "":
		return earlier, question, nil
	case question != "" || f.givesQuestion(params):
		return nil, "", failure.Usagef("two questions: the last message of --messages %s is from the user, and another question is given; remove one of them", f.messages)
	}
	return earlier, last, nil
}

// givesQuestion reports whether the question is given as a parameter.
func (f *runFlags) givesQuestion(params []byte) bool {
	var file map[string]json.RawMessage
	if json.Unmarshal(params, &file) == nil && file["question"] != nil {
		return true
	}
	return slices.ContainsFunc(f.params, func(p string) bool { return strings.HasPrefix(p, "question=") })
}

// checkJSON returns an error with the place where the text of --params is not
// valid JSON.
func checkJSON(file string, text []byte) error {
	var v any
	bad, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(text, &v))
	if !ok {
		return nil
	}
	before := text[:min(max(int(bad.Offset)-1, 0), len(text))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return failure.Usagef("--params %s:%d:%d: not JSON: %w; write an object such as {\"question\": \"...\"}", file, line, column, bad)
}
