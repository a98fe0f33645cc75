package testcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/textdiff"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// listedCase is a case in the output of --list.
type listedCase struct {
	Spec string   `json:"spec"`
	Name string   `json:"name"`
	File string   `json:"file"`
	Line int      `json:"line"`
	Does []string `json:"does"`
}

// listTests lists the cases that would run.
func listTests(c *ui.Call, o *testOptions, plan *testPlan) error {
	cases := []listedCase{}
	rows := [][]string{{"SPEC", "CASE", "DOES", "AT"}}
	for i := range plan.cases {
		k := &plan.cases[i]
		l := listedCase{Spec: k.unit.name, Name: k.Name, File: fspath.Shown(k.Position.File), Line: k.Position.Line, Does: describeCase(k)}
		cases = append(cases, l)
		rows = append(rows, []string{l.Spec, l.Name, strings.Join(l.Does, ", "), fmt.Sprintf("%s:%d", l.File, l.Line)})
	}
	if o.json {
		return ui.PrintJSON(c, struct {
			Cases []listedCase `json:"cases"`
		}{cases})
	}
	ui.Table(c.Stdout, rows)
	return nil
}

// describeCase describes what a case does.
func describeCase(k *plannedCase) []string {
	out := []string{}
	if len(k.Render) > 0 {
		out = append(out, "renders "+strings.Join(k.Render, " "))
	}
	if r := k.Run; r != nil {
		switch {
		case r.Cassette != "":
			out = append(out, "replays a cassette")
		case r.Replies != nil:
			out = append(out, "runs with scripted replies")
		default:
			out = append(out, "runs with the spec's LLMs")
		}
	}
	if n := len(k.Inject); n > 0 {
		out = append(out, ui.Count(n, "fault"))
	}
	if n := len(k.Checks); n > 0 {
		out = append(out, ui.Count(n, "check"))
	}
	return out
}

// staleOf returns the cassettes with requests that differ from the recorded ones.
func staleOf(plan *testPlan, done *testOutcomes) []report.StaleCassette {
	var out []report.StaleCassette
	for i, o := range done.outcomes {
		if o == nil || o.Stale == nil {
			continue
		}
		s := report.StaleCassette{Spec: plan.cases[i].unit.name, Case: o.Name, Cassette: fspath.Shown(o.Stale.Cassette)}
		for _, d := range o.Stale.Calls {
			s.Calls = append(s.Calls, staleCall(d))
		}
		out = append(out, s)
	}
	return out
}

func staleCall(d replay.Drifted) report.StaleCall {
	call := report.StaleCall{Path: d.Path}
	for _, x := range d.Differences {
		if class := string(x.Class); !slices.Contains(call.Classes, class) {
			call.Classes = append(call.Classes, class)
		}
		call.Diff += textdiff.Files("recorded "+x.What, x.Before, "now "+x.What, x.After)
	}
	return call
}

// listStale lists the cassettes to record again; the exit code is 1 if there are
// any.
func listStale(c *ui.Call, o *testOptions, plan *testPlan, done *testOutcomes) error {
	stale := staleOf(plan, done)
	if o.json {
		if stale == nil {
			stale = []report.StaleCassette{}
		}
		if err := ui.PrintJSON(c, struct {
			Stale []report.StaleCassette `json:"stale"`
		}{stale}); err != nil {
			return failure.Infra(err)
		}
	} else if len(stale) > 0 {
		rows := [][]string{{"CASSETTE", "CASE", "CALLS", "FIRST", "DIFFERS IN"}}
		for _, s := range stale {
			first := s.Calls[0]
			rows = append(rows, []string{s.Cassette, s.Case, fmt.Sprint(len(s.Calls)), first.Path, strings.Join(first.Classes, ", ")})
		}
		ui.Table(c.Stdout, rows)
	}
	if len(stale) > 0 {
		return ui.Exit(ui.ExitNegative, nil)
	}
	ui.Logf(c, "no stale cassettes")
	return nil
}
