package testcase

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/textdiff"
)

// judge evaluates how a run ended. If it lacked a reply, only that is reported.
func (t *try) judge(ctx context.Context, res *engine.Result, rec *replay.Recording, records []journal.Record) {
	if drifts := rec.Drifts(); len(drifts) > 0 {
		t.out.Stale = &Stale{Cassette: t.c.Run.Cassette, Calls: drifts}
	}
	miss, missed := errors.AsType[*replay.Mismatch](res.ReplayMismatch)
	switch {
	case ctx.Err() != nil:
		t.addError("run", fmt.Errorf("the run was stopped: %w", context.Cause(ctx)))
	case missed:
		t.reportMismatch(miss)
	case t.world.missingModel != "":
		t.missing("the run calls "+t.world.missingModel+", but the case has no cassette and no replies", t.cassettePath())
	case res.StopReason.Code == stop.Internal:
		t.addError("run", fmt.Errorf("the run failed: %s", res.StopReason.Message))
	case res.StopReason.Code == stop.ProviderError && unscripted(records):
		t.addError("run", errors.New(res.StopReason.Message))
	default:
		t.result = res
		t.addResultArtefacts(res)
		t.unused(rec)
	}
}

// unscripted reports whether the run failed because the script had no reply, rather than by the agent's fault.
func unscripted(recs []journal.Record) bool {
	for i := range slices.Backward(recs) {
		r := &recs[i]
		if r.Kind != journal.Result || r.Status != journal.Failed {
			continue
		}
		var e model.Error
		if json.Unmarshal(journal.DecodeFailure(r.Body).Data, &e) == nil {
			return e.Kind == model.NoReply
		}
	}
	return false
}

// reportMismatch reports a request without a reply in the cassette, with its differences
// from the recorded ones.
func (t *try) reportMismatch(m *replay.Mismatch) {
	t.partial = true
	p := report.Problem{Kind: report.ProblemReplay, Where: t.short(t.c.Run.Cassette), File: t.c.Position.File, Line: t.c.Run.Position.Line}
	p.Message = m.Error()
	if m.Recorded == "" {
		if near := m.Nearest(); near != "" {
			p.Message += "; the nearest recorded request is that of " + near
		}
	}
	switch n := t.stale(); n {
	case 0:
	case 1:
		p.Message += " (1 request before it differs from the recorded one)"
	default:
		p.Message += fmt.Sprintf(" (%d requests before it differ from the recorded ones)", n)
	}
	p.Message += t.cassetteProblems() + "; " + recordAgain
	found := m.Differences()
	if words := allowable(found); words != "" && m.Recorded != "" {
		p.Message += ", --allow-drift " + words + " replays it anyway"
	}
	if m.Recorded != "" || !slices.ContainsFunc(found, func(d drift.Difference) bool { return d.What == "role" }) {
		for _, d := range found { // a request of another role is not comparable
			p.Diff += diffOf(d)
		}
	}
	t.problem(p)
}

func (t *try) stale() int {
	if t.out.Stale == nil {
		return 0
	}
	return len(t.out.Stale.Calls)
}

// allowable returns the classes of the differences that can be tolerated, joined by commas, or "" if one of them
// cannot.
func allowable(found []drift.Difference) string {
	var words []string
	for _, d := range found {
		if d.What == "role" {
			return ""
		}
		if word := string(d.Class); d.Class != drift.Prompt && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, ",")
}

// diffOf formats a difference as a unified diff with a heading.
func diffOf(d drift.Difference) string {
	return fmt.Sprintf("--- recorded %s\n+++ now %s\n%s", d.What, d.What, textdiff.Compare(d.Before, d.After).Unified(0))
}

// unused reports recorded replies that were not requested: the agent stopped doing something. With injected faults
// this is expected.
func (t *try) unused(rec *replay.Recording) {
	if !t.world.replays || t.world.faults != nil {
		return
	}
	const shown = 5
	paths := rec.Unused()
	if len(paths) == 0 {
		return
	}
	list := strings.Join(paths[:min(len(paths), shown)], ", ")
	if len(paths) > shown {
		list += ", ..."
	}
	was := "were"
	if len(paths) == 1 {
		was = "was"
	}
	t.problem(report.Problem{
		Kind: report.ProblemUnused, Where: t.short(t.c.Run.Cassette), File: t.c.Position.File, Line: t.c.Run.Position.Line,
		Message: fmt.Sprintf("%s %s not used: %s; %s", text.Count(len(paths), "recorded result"), was, list, recordAgain),
		Actual:  strings.Join(paths, "\n"),
	})
}
