package runtime_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// workRun is a run, or several of one conversation, whose effects other processes can perform.
type workRun struct {
	name string
	// build returns the program and the host of a process.
	build    func(p *process) (*engine.Program, engine.Host)
	inputs   []func(*engine.Input) // one per run; none = one run
	answers  map[string]string     // to questions, by path
	options  runtime.Options
	exported bool // as a trace
	// counts is set if the services count their calls, so that another call gets another reply.
	counts bool
}

// outcomeOfRun is what came of a workRun.
type outcomeOfRun struct {
	Journals []string
	Results  []string
	Events   []string
	Keys     []string // of the calls of services, sorted

	last     *engine.Result
	notified []string // types of the transient events of the effects
	tasks    []performedTask
	sent     []byte // all work and outcomes
}

// performedTask is an attempt of an effect.
type performedTask struct {
	work    *runtime.Work
	attempt int
	out     kernel.Outcome
}

// worker performs the tasks of a run, each in a process of its own.
type worker struct {
	run      *workRun
	services *services
	t        *testing.T
	input    []byte
	out      *outcomeOfRun
	lost     int  // index of the task whose outcome is lost; -1 = none
	late     bool // it is lost after the worker has performed it
	always   bool // all tasks are lost
}

func (w *worker) perform(task kernel.Task) kernel.Outcome {
	work := runtime.WorkOf(task)
	if work == nil {
		w.t.Errorf("%s has no work", task.Path())
		return task.Perform()
	}
	sent := jsonvalue.Encode(work)
	w.out.sent = append(w.out.sent, sent...)
	i := len(w.out.tasks)
	if w.out.tasks = append(w.out.tasks, performedTask{work, task.Attempt(), kernel.Outcome{Lost: true}}); w.always || i == w.lost && !w.late {
		return kernel.Outcome{Lost: true}
	}
	var received runtime.Work
	var start engine.Start
	if err := errors.Join(json.Unmarshal(sent, &received), jsonvalue.Unmarshal(w.input, &start)); err != nil {
		w.t.Fatal(err)
	}
	jsonvalue.Normalize(start.Input.Parameters)
	p, h := w.run.build(&process{w.t, w.services, true})
	site := runtime.NewSite(p, h, start.Input)
	out := site.Perform(w.t.Context(), &received, func(ev engine.Event) {
		if !ev.Type.Transient() || ev.Path != task.Path() || strings.Contains(fmt.Sprintf("%+v", ev), canary) {
			w.t.Errorf("%s sends %+v", task.Path(), ev)
		}
		w.out.notified = append(w.out.notified, string(ev.Type))
	})
	if err := errors.Join(site.Close(), h.Close()); err != nil {
		w.t.Error(err)
	}
	if i == w.lost {
		return kernel.Outcome{Lost: true}
	}
	w.out.tasks[i].out = out
	if out.Fatal == nil {
		b, err := out.AppendBinary(nil)
		if err != nil {
			w.t.Error(err)
		}
		w.out.sent = append(w.out.sent, b...)
	}
	return out
}

// perform performs the runs. If w is nil, their effects are performed by the process of the run.
func (r *workRun) perform(t *testing.T, w *worker, resolve string) *outcomeOfRun {
	t.Helper()
	out := &outcomeOfRun{}
	sv := &services{home: t.TempDir(), calls: map[string]int{}, vectors: map[int]bool{}}
	if _, _, err := artifact.Open(sv.home, 0).Put(strings.NewReader(picture)); err != nil {
		t.Fatal(err)
	}
	if w != nil {
		w.run, w.services, w.t, w.out = r, sv, t, out
	}
	inputs := r.inputs
	if inputs == nil {
		inputs = []func(*engine.Input){func(*engine.Input) {}}
	}
	events := &eventLog{}
	for i, set := range inputs {
		in := engine.Input{RunID: fmt.Sprint("r", i), Parameters: map[string]any{"question": "q <?>", "big": 9007199254740993, "million": 10000000, "half": 0.5}}
		set(&in)
		j := &journal.Memory{RoundTrip: true}
		if w != nil {
			w.input = jsonvalue.Encode(engine.Start{Input: in})
		}
		out.last = r.sessions(t, sv, in, j, w, events, resolve)
		out.Journals = append(out.Journals, lines(t, j.Records))
		out.Results = append(out.Results, resultJSON(out.last))
	}
	for _, ev := range events.events {
		if !ev.Type.Transient() {
			out.Events = append(out.Events, fmt.Sprint(string(jsonvalue.Encode(ev)), ev.Reserved, ev.Remote, ev.Embedded, ev.Dimensions))
		}
	}
	slices.Sort(sv.keys)
	out.Keys = sv.keys
	return out
}

// sessions performs a run in as many sessions as it needs.
func (r *workRun) sessions(t *testing.T, sv *services, in engine.Input, j *journal.Memory, w *worker, events engine.Sink, resolve string) *engine.Result {
	t.Helper()
	o := r.options
	for range 8 {
		p, h := r.build(&process{t, sv, w == nil})
		if h.Sinks = []engine.Sink{events}; r.exported {
			h.Sinks = append(h.Sinks, sampledSink{})
		}
		if w != nil {
			o.World = &enginetest.World{Perform: w.perform}
		}
		o.Journal, o.Virtual, o.Conversation, o.Stream = j, true, true, true
		res := runtime.Run(t.Context(), p, in, h, o)
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		o = r.options
		switch res.StopReason.Code {
		case stop.Interrupted:
			o.Answers = encodeAnswers(t, r.answers)
		case stop.NeedsReview:
			o.Resolve = map[string]string{res.Interrupts[0].Path: resolve}
		default:
			return res
		}
	}
	t.Fatal("no end after 8 sessions")
	return nil
}

// sampledSink is a sink that exports traces.
type sampledSink struct{}

func (sampledSink) Send(engine.Event) {}
func (sampledSink) Sampled() bool     { return true }

func lines(t *testing.T, recs []journal.Record) string {
	t.Helper()
	var b []byte
	var c journal.Chain
	for i := range recs {
		var err error
		if b, c, err = journal.AppendLine(b, &recs[i], c); err != nil {
			t.Fatal(err)
		}
	}
	return string(b)
}

func resultJSON(res *engine.Result) string {
	out := *res
	out.DurationMS = 0
	return string(jsonvalue.Encode(out))
}

// TestEffectsElsewhere performs runs whose effects are performed by other processes, one for each
// effect, from bytes: journals, results and events are those of a run in one process.
func TestEffectsElsewhere(t *testing.T) {
	kinds, notified := map[runtime.WorkKind]bool{}, map[string]bool{}
	for _, r := range workRuns() {
		t.Run(r.name, func(t *testing.T) {
			want, w := r.perform(t, nil, ""), &worker{lost: -1}
			got := r.perform(t, w, "")
			if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(outcomeOfRun{})); d != "" {
				t.Errorf("(-here +elsewhere):\n%s", d)
			}
			if len(got.tasks) == 0 {
				t.Error("no effect was performed elsewhere")
			}
			for _, task := range got.tasks {
				kind, _ := task.work.Kind()
				kinds[kind] = true
			}
			for _, typ := range got.notified {
				notified[typ] = true
			}
			for what, b := range map[string]string{"sent": string(got.sent), "journaled": strings.Join(got.Journals, "")} {
				if strings.Contains(b, canary) || strings.Contains(b, "goroutine ") {
					t.Errorf("a secret is %s:\n%s", what, b)
				}
			}
		})
	}
	if len(kinds) != 3 {
		t.Errorf("work of the kinds %v", kinds)
	}
	want := []string{"model.delta", "model.retrying", "tool.progress", "tool.retrying"}
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(notified))); d != "" {
		t.Errorf("transient events (-want +got):\n%s", d)
	}
}

// TestLostEffects loses the outcome of each effect of the runs once, before and after a worker
// has performed it. What is done about it depends on its class; the result is the same.
func TestLostEffects(t *testing.T) {
	for _, r := range workRuns() {
		t.Run(r.name, func(t *testing.T) {
			whole := r.perform(t, &worker{lost: -1}, "")
			stride := 1 + len(whole.tasks)/20
			if testing.Short() {
				stride *= 5
			}
			for i := 0; i < len(whole.tasks); i += stride {
				for _, late := range []bool{false, true} {
					if late && r.counts {
						continue
					}
					r.lose(t, whole, i, late)
				}
			}
		})
	}
}

// lose performs a run whose i-th task is lost.
func (r *workRun) lose(t *testing.T, whole *outcomeOfRun, i int, late bool) {
	t.Helper()
	task := whole.tasks[i]
	where := fmt.Sprintf("%s is lost (late: %v)", task.work.Path, late)
	resolutions := []string{""}
	if task.work.Class == journal.Write {
		resolutions = []string{"redo", "done:" + string(task.out.Body), "skip"}
	}
	for _, resolve := range resolutions {
		w := &worker{lost: i, late: late}
		got := r.perform(t, w, resolve)
		attempts := 0
		for _, again := range got.tasks {
			if again.work.Path != task.work.Path || again.work.Key != task.work.Key {
				continue
			}
			if attempts++; again.attempt != attempts {
				t.Errorf("%s: attempt %d has number %d", where, attempts, again.attempt)
			}
		}
		switch {
		case metered(task.work):
			if attempts != 1 || !strings.Contains(strings.Join(got.Results, ""), "worst case of") {
				t.Errorf("%s: %d attempts, and it is not charged: %s", where, attempts, got.Results)
			}
		case task.work.Class == journal.Write && resolve != "redo":
			if attempts != 1 {
				t.Errorf("%s, %s: %d attempts", where, resolve, attempts)
			}
		default:
			if d := cmp.Diff(whole.Results, got.Results); d != "" || attempts != 2 {
				t.Errorf("%s %s: %d attempts, (-undisturbed +lost):\n%s", where, resolve, attempts, d)
			}
		}
		if got.last.Status != whole.last.Status || got.last.StopReason.Code != whole.last.StopReason.Code || got.last.Response != whole.last.Response {
			t.Errorf("%s: the run ends with %+v %q, not %+v %q", where, got.last.StopReason, got.last.Response, whole.last.StopReason, whole.last.Response)
		}
	}
}

func metered(w *runtime.Work) bool {
	return w.Model != nil && w.Model.Metered || w.Tool != nil && w.Tool.Metered
}

// TestRunsEndIfWorkersAlwaysEnd loses every effect, as if the calls end the workers: none is begun
// without end, and runs end with a reason.
func TestRunsEndIfWorkersAlwaysEnd(t *testing.T) {
	for _, r := range workRuns() {
		t.Run(r.name, func(t *testing.T) {
			w := &worker{lost: -1, always: true}
			got := r.perform(t, w, "skip")
			if got.last.Status == "" || got.last.StopReason.Code == stop.Internal && !strings.Contains(got.last.StopReason.Message, "the worker that performed it ended") {
				t.Errorf("it ends with %+v", got.last.StopReason)
			}
			begun := map[string]int{}
			for _, task := range got.tasks {
				path, _, _ := strings.Cut(task.work.Path, ".again")
				path, _, _ = strings.Cut(path, ".anew")
				begun[task.work.Key+" "+path]++
			}
			for what, n := range begun {
				if n > 18 {
					t.Errorf("%s was begun %d times", what, n)
				}
			}
		})
	}
}
