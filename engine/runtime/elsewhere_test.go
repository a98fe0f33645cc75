package runtime_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/runtime"
)

// elsewhereVariable makes execute perform effects from their work.
const elsewhereVariable = "PEX_TEST_ELSEWHERE"

// TestRunsWithEffectsElsewhere runs the other tests of this package again, with the effects of
// their runs performed as other processes perform them.
func TestRunsWithEffectsElsewhere(t *testing.T) {
	if testing.Short() || os.Getenv(elsewhereVariable) != "" {
		t.Skip("the tests run once")
	}
	except := strings.Join([]string{
		"TestRunsWithEffectsElsewhere", "TestEffectsElsewhere", "TestLostEffects", "TestBudgetsHoldWhenWorkersEnd",
		// Another process has no human who is present, whom a write can ask.
		"TestAnswerDuringAWriteIsRecorded", "TestTimeoutExcludesWaitingForHumans", "TestQuestionIsAskedAfterEarlierEvents/in_a_call", "TestQuestionsDuringACall/.*that_writes",
		// The site opens and closes the servers of agents, too.
		"TestServersOfNestedAgentsAreClosed",
		// The agent is in no program.
		"TestScopeFollowsTheContract/an_agent_answers",
	}, "|")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	again := exec.CommandContext(t.Context(), self, "-test.skip="+except, "-test.failfast")
	again.Env = append(os.Environ(), elsewhereVariable+"=1")
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// execute is runtime.Run for the tests of this package; see elsewhereVariable.
func execute(ctx context.Context, p *engine.Program, in engine.Input, h engine.Host, o runtime.Options) *engine.Result {
	if os.Getenv(elsewhereVariable) == "" || o.World != nil {
		return runtime.Run(ctx, p, in, h, o)
	}
	site := runtime.NewSite(p, h, in)
	defer func() { _ = site.Close() }() // as a run ignores errors of servers that end
	o.World = &workers{wake: make(chan struct{}, 1), began: time.Now(), site: site, sinks: h.Sinks}
	return runtime.Run(ctx, p, in, h, o)
}

// workers is a kernel.World that performs tasks concurrently and in real time, from their work.
type workers struct {
	site  *runtime.Site
	sinks []engine.Sink
	wake  chan struct{}
	began time.Time
}

var _ kernel.World = (*workers)(nil)

func (w *workers) Begin(t kernel.Task) {
	work := runtime.WorkOf(t)
	if work == nil {
		go func() { t.End(t.Perform()) }()
		return
	}
	sent := jsonvalue.Encode(work)
	go func() {
		out, err := w.perform(t, sent)
		if err != nil {
			out = kernel.Outcome{Fatal: err}
		}
		t.End(out)
	}()
}

// perform performs work from bytes. Its context has nothing of the run's.
func (w *workers) perform(t kernel.Task, sent []byte) (out kernel.Outcome, err error) {
	var work runtime.Work
	if err := json.Unmarshal(sent, &work); err != nil {
		return out, err
	}
	if err := t.Committed(); err != nil {
		return out, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(t.Context(), cancel)()
	b, err := w.site.Perform(ctx, &work, func(ev engine.Event) {
		for _, s := range w.sinks {
			s.Send(ev)
		}
	}).AppendBinary(nil)
	if err != nil {
		return out, err
	}
	err = out.UnmarshalBinary(b)
	return out, err
}

func (w *workers) Drop(kernel.Task) {}

func (w *workers) Timer(d time.Duration, fire func()) kernel.Timer { return time.AfterFunc(d, fire) }

func (w *workers) Wait(s kernel.Signals) {
	select {
	case <-w.wake:
	case <-s.Commit:
	case <-s.Cancel:
	case <-s.Suspend:
	}
}

func (w *workers) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *workers) Now() time.Duration { return time.Since(w.began) }
