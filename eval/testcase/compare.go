package testcase

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/eval/report"
)

// Owner returns the unique name of a case.
func Owner(c *testspec.Case) string { return fmt.Sprintf("%s (%s)", c.Name, c.Position.File) }

// compare compares the results with the goldens.
func (t *try) compare() {
	if t.c.Golden == "" {
		return
	}
	goldens, err := t.unit.Goldens.Case(Owner(t.c), t.c.Golden)
	if err != nil {
		t.addError("golden", err)
		return
	}
	defer goldens.Close()
	if goldens.Mask, err = golden.NewMask(t.c.Redact, t.folders()...); err != nil {
		t.addError("redact", err)
		return
	}
	compare := goldens.Compare
	if t.bench.Update {
		compare = goldens.Update
	}
	changes, err := compare(t.artefacts, t.partial)
	for _, ch := range changes {
		t.reportChange(ch)
	}
	t.missingGoldens()
	if err != nil {
		t.addError("golden", err)
	}
}

// folders returns the folders whose paths differ between machines.
func (t *try) folders() []golden.FolderAlias {
	out := []golden.FolderAlias{{Dir: t.unit.Root, Name: root}}
	if t.world != nil && t.world.copies.root != "" {
		out = append(out, golden.FolderAlias{Dir: t.world.copies.root, Name: root})
	}
	return out
}

// reportChange reports a changed golden with the source lines that caused it.
func (t *try) reportChange(ch golden.Change) {
	if ch.Kind == golden.Changed && !t.bench.Update {
		d := ch.Diff()
		ch.Causes = golden.Blame(append(t.sources(), t.unit.Sources...), ch.Node(), d)
		p := report.Problem{Kind: report.ProblemGolden, Where: t.short(ch.File), Diff: d.Unified(0)}
		p.Message = fmt.Sprintf("%s differs from its golden file: %s removed, %d added", ch.Name, text.Count(d.Removed, "line"), d.Added)
		switch {
		case len(ch.Causes) > 0:
			p.File, p.Line = ch.Causes[0].Source.File, ch.Causes[0].Line
		case ch.Node() != "" || ch.Name == "tools.json":
			p.Message += "; no prompt in the spec causes it: check the settings, and the version of pexctl that wrote the golden file"
		}
		t.problem(p)
	}
	t.out.Changes = append(t.out.Changes, ch)
}

// retryUpdated runs a case with updated goldens again, to check that its output is
// stable.
func (t *try) retryUpdated(ctx context.Context) {
	if !t.bench.Update || t.partial || len(t.out.Changes) == 0 {
		return
	}
	bench, unit := *t.bench, *t.unit
	bench.Update, unit.Cover = false, nil
	second := newTry(&bench, &unit, t.c)
	defer func() { second.world.close() }() // prepare makes it
	if !second.prepare() {
		return
	}
	second.render()
	second.play(ctx)
	second.compare()
	for _, ch := range second.out.Changes {
		t.problem(report.Problem{
			Kind: report.ProblemGolden, Where: t.short(ch.File), Diff: ch.Diff().Unified(0),
			Message: ch.Name + " differs when the case runs again: mask what varies with redact, or set the result of the tool with run.tools",
		})
	}
}

// missingGoldens reports all missing golden files as one problem.
func (t *try) missingGoldens() {
	var names []string
	for _, ch := range t.out.Changes {
		if ch.Kind == golden.Missing {
			names = append(names, ch.Name)
		}
	}
	if len(names) == 0 || t.bench.Update {
		return
	}
	what := "there is no golden file yet"
	if len(names) > 1 {
		what = "there are no golden files yet"
	}
	t.problem(report.Problem{
		Kind: report.ProblemMissing, Where: t.short(t.c.Golden),
		Message: fmt.Sprintf("%s for %s; pexctl test --update writes what the case gives", what, strings.Join(names, ", ")),
	})
}

// sources returns the texts that the case itself sets, one per line. Their positions are unknown except for the
// file.
func (t *try) sources() []dsl.Source {
	var out []dsl.Source
	add := func(path, text string) {
		for line := range strings.Lines(text) {
			out = append(out, dsl.Source{Path: path, File: t.c.Position.File, Text: strings.TrimRight(line, "\n")})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.c.Parameters)) {
		texts("parameters."+name, t.c.Parameters[name], add)
	}
	if t.c.Given != nil {
		texts("given", jsonvalue.Plain(t.c.Given), add)
	}
	return out
}

// texts calls yield for each string in a value, with its path.
func texts(path string, v any, yield func(path, text string)) {
	switch v := v.(type) {
	case string:
		yield(path, v)
	case []any:
		for i, it := range v {
			texts(fmt.Sprintf("%s[%d]", path, i), it, yield)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			texts(path+"."+name, v[name], yield)
		}
	}
}
