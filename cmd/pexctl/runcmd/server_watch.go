package runcmd

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/internal/app/failure"
)

// lastEvent returns the last numbered event of a run that nothing executes.
func (s *serverRuns) lastEvent(run string) (last engine.Event, err error) {
	_, err = s.Watch(s.c.Context, run, &apiclient.Watcher{Event: func(e engine.Event) {
		if e.Seq > 0 {
			last = e
		}
	}})
	return last, err
}

// watch shows the events of a run until it ends or waits, and returns its result. With ask,
// it asks the questions of the run at the terminal. Events up to earlier are those of
// earlier sessions.
func (s *serverRuns) watch(run string, f sessionFlags, ask bool, earlier engine.Event) (*engine.Result, json.RawMessage, error) {
	p, err := newProgress(s.c, f.outputFlags, f.resumed)
	if err != nil {
		return nil, nil, err
	}
	ctx, end := ui.OnSignal(s.c.Context, func() {
		p.note("Run " + run + " continues on the server. Follow it: " + s.command(run, "runs", "show") + " --follow")
	})
	defer end()
	a := &asker{server: s, run: run, note: p.note, silent: true}
	if ask {
		a.person, a.silent = p.person, f.quiet
	}
	w := &serverWatch{server: s, progress: p, asker: a, run: run, earlier: earlier}
	res, raw, err := w.watch(ctx, f.conversation)
	a.stop()
	lost := p.close()
	switch {
	case ctx.Err() != nil:
		return nil, nil, ui.SignalError(ctx, nil)
	case err != nil:
		return nil, nil, s.Fail(err)
	case lost != nil:
		return nil, nil, failure.Infra(lost)
	}
	return res, raw, nil
}

// serverWatch watches a run of a server.
type serverWatch struct {
	server   *serverRuns
	progress *progress
	asker    *asker
	run      string
	earlier  engine.Event
	held     []engine.Event // run.suspended: not news if an answer continues the run
}

// watch returns the result of the run once it has ended, or waits for an answer that is
// not given at this terminal.
func (w *serverWatch) watch(ctx context.Context, conversation bool) (*engine.Result, json.RawMessage, error) {
	feed := &apiclient.Watcher{
		Event:   func(e engine.Event) { w.event(ctx, e) },
		Rewound: func(int) { w.progress.note("Run " + w.run + " continues with other limits:") },
		Broken:  func(err error) { w.progress.note(err.Error() + "; reconnecting") },
	}
	for {
		seen, err := w.server.Watch(ctx, w.run, feed)
		if err != nil {
			return nil, nil, err
		}
		res, raw, err := w.server.Result(ctx, w.run, conversation)
		if err != nil {
			return nil, nil, err
		}
		ended := hasEnded(res.Status)
		if ended && !hasEnded(seen) { // after an answer, since the last event
			w.held = nil
			continue
		}
		if ended || !w.asker.wait() {
			for _, e := range w.held {
				w.show(e)
			}
			return res, raw, nil
		}
		w.held = nil
	}
}

func hasEnded(s stop.RunStatus) bool { return s != stop.RunInterrupted && !apiclient.IsLive(s) }

// event handles an event.
func (w *serverWatch) event(ctx context.Context, e engine.Event) {
	if e.Type == engine.RunSuspended {
		w.held = append(w.held, e)
		return
	}
	if e.Type == engine.RunCompleted {
		w.asker.stop() // another client may have answered
	}
	w.show(e)
	if e.Type == engine.InterruptRaised && e.Interrupt != nil {
		w.asker.ask(ctx, *e.Interrupt)
	}
}

// show shows an event. Those of earlier sessions are not news.
func (w *serverWatch) show(e engine.Event) {
	replayed := e.Seq > 0 && (e.Rewinds < w.earlier.Rewinds || e.Rewinds == w.earlier.Rewinds && e.Seq <= w.earlier.Seq)
	for _, sink := range w.progress.sinks {
		if !replayed {
			sink.Send(e)
		} else if whole, ok := sink.(engine.ReplaySink); ok {
			whole.Replay(e)
		}
	}
}

// asker asks the questions of a run at the terminal and sends the answers.
type asker struct {
	server *serverRuns
	run    string
	note   func(string)
	person interrupt.Responder // nil = questions stay open
	silent bool                // do not say so

	asking   sync.WaitGroup
	cancel   []context.CancelFunc
	mu       sync.Mutex
	answered int // since the last wait
}

// ask asks a question in the background, if it is still open.
func (a *asker) ask(ctx context.Context, q interrupt.Question) {
	if a.person == nil || q.Kind == interrupt.Review { // a human must first look at what the write did
		if !a.silent {
			a.note("Waiting for another client to answer; Ctrl-C leaves the run waiting on the server")
		}
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	a.cancel = append(a.cancel, cancel)
	a.asking.Go(func() {
		if err := a.decide(ctx, q); err != nil && ctx.Err() == nil {
			a.note(err.Error())
		}
	})
}

// decide asks a question and sends the answer. An unanswered question stays open.
func (a *asker) decide(ctx context.Context, q interrupt.Question) error {
	res, _, err := a.server.Result(ctx, a.run, false)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(res.Interrupts, func(open interrupt.Question) bool { return open.Path == q.Path }) {
		return nil // it was answered before
	}
	b, err := a.person.Ask(ctx, q)
	if err != nil {
		return nil //nolint:nilerr // the end of input leaves the question open
	}
	var d interrupt.Decision
	if err := json.Unmarshal(b, &d); err != nil {
		return err
	}
	err = a.server.Answer(ctx, a.run, apiclient.NewAnswer(q.Kind, q.Path, d))
	if err == nil || apiclient.IsCode(err, apiclient.AlreadyDecided) {
		a.mu.Lock()
		a.answered++
		a.mu.Unlock()
	}
	return err
}

// wait waits until all questions were asked, and reports whether one was answered.
func (a *asker) wait() bool {
	a.asking.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.answered
	a.answered = 0
	return n > 0
}

// stop withdraws the questions.
func (a *asker) stop() {
	for _, cancel := range a.cancel {
		cancel()
	}
	a.asking.Wait()
}
