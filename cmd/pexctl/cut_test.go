//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/acceptance"
	"github.com/pexctl/pex/internal/app/version"
	"github.com/pexctl/pex/providers/otel"
)

// Every run of testdata/run is killed after each of its records and resumed, and
// must have the same outcome as an uninterrupted run. PEX_TEST_CUTS limits the
// number of kills per run (default 4, spread evenly); 0 means all. -short skips
// it: under the race detector the tests of engine/kernel and builtins/node
// interrupt runs.
func TestKilledRunsResumeToTheSameOutcome(t *testing.T) {
	if testing.Short() {
		t.Skip("engine/kernel and builtins/node cut runs with -short")
	}
	t.Setenv("NO_COLOR", "1")
	most := 4
	if n, err := strconv.Atoi(os.Getenv("PEX_TEST_CUTS")); err == nil {
		most = n
	}
	pattern, err := filepath.Abs("../../testdata/run/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	runs, cuts := 0, 0
	goldentest.Each(t, pattern, func(t *testing.T, a *goldentest.Archive) {
		if why := skipReason(t, a); why != "" {
			t.Skip(why)
		}
		home, dir := t.TempDir(), t.TempDir()
		t.Setenv("PEX_HOME", home)
		l := &lives{t: t, archive: a, dir: dir}
		l.record(home)
		for i := range l.starts {
			runs++
			cuts += l.cutAt(i, most)
		}
	})
	t.Logf("%d runs, %d cuts", runs, cuts)
}

// skipReason returns the reason why a case cannot be interrupted and resumed, or
// "".
func skipReason(t *testing.T, a *goldentest.Archive) string {
	t.Helper()
	for _, name := range a.Names() {
		if filepath.Ext(name) != ".yaml" {
			continue
		}
		switch spec := a.Input(t, name); {
		case strings.Contains(spec, "sleep"):
			return "its tools take real time: in virtual time, in which these lives are led, nothing does"
		case strings.Contains(spec, "touch "):
			return "its tool gives something else the second time"
		}
	}
	return ""
}

// lives holds the runs of one case, in the order in which they started.
type lives struct {
	t       *testing.T
	archive *goldentest.Archive
	dir     string
	starts  []*runs.Run
	spans   []string // exported by the last run, but for those of its sessions
}

// record runs the case unchanged, and records how each run started.
func (l *lives) record(home string) {
	l.t.Helper()
	l.afresh()
	l.t.Chdir(l.dir)
	c, err := acceptance.Load(".")
	if err != nil {
		l.t.Fatal(err)
	}
	_, err = acceptance.RunHere(c, func(args []string, in io.Reader, out, err io.Writer) int {
		return run(args, streams{in, out, err})
	}, l.t.Setenv)
	if err != nil {
		l.t.Fatal(err)
	}
	h, err := journal.OpenHome(home, journal.Exit)
	if err != nil {
		l.t.Fatal(err)
	}
	ids, err := h.List()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, id := range ids {
		recs, err := h.Read(id)
		if err != nil {
			l.t.Fatal(err)
		}
		p, err := project.RunsEnv(callOf(streams{}), home).Restore(recs, nil)
		if err != nil {
			l.t.Fatal(err)
		}
		p.Host.Tools = stopped(p.Host.Tools)
		l.starts = append(l.starts, p)
	}
	slices.SortStableFunc(l.starts, func(a, b *runs.Run) int { return a.Start.At.Compare(b.Start.At) })
}

// afresh restores the case's folder to its initial state.
func (l *lives) afresh() {
	l.t.Helper()
	l.empty()
	l.archive.Extract(l.t, l.dir)
}

// empty deletes the content of the case's folder.
func (l *lives) empty() {
	l.t.Helper()
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(l.dir, e.Name())); err != nil {
			l.t.Fatal(err)
		}
	}
}

// before returns the memory before a run, and restores the folder.
func (l *lives) before(i int) *enginetest.Store {
	l.t.Helper()
	l.afresh()
	memory := &enginetest.Store{}
	for k := range i {
		l.live(k, memory, &mortal{left: -1})
	}
	return memory
}

// cutAt kills a run after each record, or after at most most records.
func (l *lives) cutAt(i, most int) (cuts int) {
	l.t.Helper()
	whole := &mortal{left: -1}
	undisturbed := l.live(i, l.before(i), whole)
	want, spans := l.outcome(undisturbed), l.spans
	elsewhere := &mortal{left: -1, oneByOne: true}
	if d := cmp.Diff(want, l.outcome(l.live(i, l.before(i), elsewhere))); d != "" {
		l.t.Errorf("run %d of the case ends otherwise if its effects are performed one by one (-here +there):\n%s", i+1, d)
	}
	if d := cmp.Diff(string(lines(l.t, whole.Records)), string(lines(l.t, elsewhere.Records))); d != "" {
		l.t.Errorf("run %d of the case has another journal if its effects are performed one by one (-here +there):\n%s", i+1, d)
	}
	n := len(whole.Records)
	stride := 1
	if most > 0 {
		stride = max(1, (n+most-1)/most)
	}
	for k := 1; k < n; k += stride {
		cuts++
		j := &mortal{left: k}
		resumed := l.live(i, l.before(i), j)
		got := l.outcome(resumed)
		if j.left >= 0 {
			l.t.Errorf("run %d of the case never came to record %d of %d", i+1, k+1, n)
		}
		if j.paidTwice() && (resumed.StopReason.Code == undisturbed.StopReason.Code || resumed.StopReason.Path == "limits.max_tokens" || resumed.StopReason.Path == "limits.max_cost") {
			continue // a budget already paid for a lost reply, so less is left
		}
		if d := cmp.Diff(want, got); d != "" {
			l.t.Errorf("run %d of the case died behind record %d of %d (%s %s) and came to another end (-undisturbed +resumed):\n%s",
				i+1, k, n, kindOf(whole.Records[k-1]), whole.Records[k-1].Path, d)
			return cuts
		}
		if d := cmp.Diff(spans, l.spans); d != "" {
			l.t.Errorf("run %d of the case died behind record %d of %d and exported other spans (-undisturbed +resumed):\n%s", i+1, k, n, d)
		}
	}
	return cuts
}

// live resumes a run until it ends, however often it is killed or waits for an
// answer.
func (l *lives) live(i int, memory *enginetest.Store, j *mortal) *engine.Result {
	l.t.Helper()
	p := *l.starts[i]
	if p.Program.Memory.Backend != "none" {
		p.Host.Memory = memory
	}
	w := witness{}
	p.Host = w.watch(p.Host)
	exported := tracetest.NewInMemoryExporter()
	telemetry, err := otel.Open(l.t.Context(), otel.Options{Getenv: func(string) string { return "" }, Exporter: exported, Now: func() time.Time { return time.Time{} }})
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { l.spans = namesOf(l.t, telemetry, exported) }()
	marks := otel.FileMarks{Dir: l.t.TempDir()}
	site := runtime.NewSite(p.Program, p.Host, p.Start.Input)
	defer func() {
		if err := site.Close(); err != nil {
			l.t.Error(err)
		}
	}()
	var o runtime.Options
	for range 50 {
		o.Journal, o.Virtual, o.Version = j, true, version.String()
		if j.oneByOne {
			o.World = &enginetest.World{Perform: elsewhere(l.t, site)}
		}
		p.Host.Sinks = telemetry.Sinks(p.Program, &p.Start.Input, marks)
		res := runtime.Run(l.t.Context(), p.Program, p.Start.Input, p.Host, o)
		o = runtime.Options{}
		switch res.StopReason.Code {
		case stop.Interrupted, stop.NeedsReview:
			o.Answers, o.Resolve = w.answers(res.Interrupts)
		case stop.Internal, stop.StoreUnavailable:
			if !j.died {
				return res
			}
		default:
			return res
		}
		j.died = false
	}
	l.t.Fatal("no end after 50 sessions")
	return nil
}

// elsewhere performs tasks as another process does: from their work as data.
func elsewhere(t *testing.T, site *runtime.Site) func(kernel.Task) kernel.Outcome {
	return func(task kernel.Task) kernel.Outcome {
		w := runtime.WorkOf(task)
		if w == nil {
			return task.Perform()
		}
		sent, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		var received runtime.Work
		if err := json.Unmarshal(sent, &received); err != nil {
			t.Fatal(err)
		}
		return site.Perform(t.Context(), &received, nil)
	}
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// mortal is a journal that fails once after a number of records.
type mortal struct {
	journal.Memory
	left     int // -1 for no failure
	died     bool
	oneByOne bool // effects are performed one by one, as enginetest.World does
}

// lines returns the records as a file has them.
func lines(t *testing.T, recs []journal.Record) (out []byte) {
	t.Helper()
	var c journal.Chain
	for i := range recs {
		var err error
		if out, c, err = journal.AppendLine(out, &recs[i], c); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

var errDied = errors.New("the process died")

// paidTwice reports whether a call was charged whose reply was lost.
func (m *mortal) paidTwice() bool {
	return slices.ContainsFunc(m.Records, func(r journal.Record) bool {
		return r.Kind == journal.Result && r.Status == journal.Failed && journal.DecodeFailure(r.Body).Code == kernel.FailureUnknown
	})
}

// KeepsValues returns false, because a persistent journal stores text.
func (*mortal) KeepsValues() bool { return false }

// Append counts down to the failure.
func (m *mortal) Append(recs []journal.Record) (*journal.Ticket, error) {
	m.RoundTrip = true
	if m.left < 0 {
		return m.Memory.Append(recs)
	}
	n := min(m.left, len(recs))
	if _, err := m.Memory.Append(recs[:n]); err != nil {
		return nil, err
	}
	if m.left -= n; n == len(recs) {
		return nil, nil
	}
	m.left, m.died = -1, true
	return nil, errDied
}

// outcome returns a result as text, without what may differ between sessions.
func (l *lives) outcome(r *engine.Result) string {
	l.t.Helper()
	out := *r
	out.DurationMS = 0
	b, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		l.t.Fatal(err)
	}
	return string(b)
}

func kindOf(rec journal.Record) string {
	return map[journal.Kind]string{
		journal.Start: "start", journal.Intent: "intent", journal.Result: "result", journal.Redo: "redo",
		journal.Cancel: "cut", journal.Marker: "marker", journal.End: "end", journal.Change: "change",
	}[rec.Kind]
}
