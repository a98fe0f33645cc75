package testcase

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/report"
)

// recordAgain is how to update a cassette.
const recordAgain = "pexctl test --record all records the case again"

// cassette reads the case's recording. It returns false if the recording cannot be used.
func (t *try) cassette() ([]journal.Record, bool) {
	file := t.c.Run.Cassette
	recs, err := t.bench.Load(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.missing(fmt.Sprintf("there is no cassette %s yet", t.short(file)), file)
		return nil, false
	case err != nil:
		t.unreadable(file, err)
		return nil, false
	}
	start, err := runtime.ReadStart(recs)
	if err != nil {
		t.unreadable(file, err)
		return nil, false
	}
	if t.recorded = start; t.state.Now.IsZero() {
		t.world.place.Now = start.At // prompts may contain the time
	}
	t.whole = slices.ContainsFunc(recs, func(r journal.Record) bool { return r.Kind == journal.End })
	return recs, t.sameParameters()
}

func (t *try) unreadable(file string, err error) {
	what := strings.TrimPrefix(err.Error(), "cassette "+file+": ")
	if !errors.Is(err, journal.ErrNewer) {
		what += "; " + recordAgain
	}
	t.addError(t.short(file), fmt.Errorf("the cassette %s cannot be used: %s", t.short(file), what))
}

// sameParameters reports whether the case has the parameters of its cassette, since a
// reply to another question does not apply. Parameters set by the spec may have changed.
func (t *try) sameParameters() bool {
	var other []string
	for _, name := range slices.Sorted(maps.Keys(t.c.Parameters)) {
		was, is := t.redactedValue(t.recorded.Input.Parameters[name]), t.redactedValue(t.parameters[name])
		if was != is {
			other = append(other, fmt.Sprintf("%s was %s and is %s", name, clip(was), clip(is)))
		}
	}
	if len(other) == 0 {
		return true
	}
	t.partial = true
	t.problem(report.Problem{
		Kind: report.ProblemReplay, Where: t.short(t.c.Run.Cassette), File: t.c.Position.File, Line: t.c.Position.Line,
		Message: "the cassette was recorded with different parameters: " + strings.Join(other, "; ") + "; " + recordAgain,
	})
	return false
}

// redactedValue returns a value as a cassette stores it.
func (t *try) redactedValue(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	text, _ = t.secrets().JSON(text)
	return string(text)
}

// clip shortens a value for a message.
func clip(s string) string {
	return text.ClipRunes(s, 101)
}

// cassetteProblems returns other problems of a cassette that lacks a reply, as the end of a message.
func (t *try) cassetteProblems() string {
	switch {
	case t.recorded.Name != t.unit.Program.Name:
		return fmt.Sprintf("; the cassette belongs to the spec %q", t.recorded.Name)
	case !t.whole:
		return "; the cassette ends before its run does"
	}
	return ""
}
