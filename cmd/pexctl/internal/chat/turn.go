package chat

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/server/turn"
)

// MaxQuestion is the maximum size of a question in bytes. A server accepts requests up to 1 MiB
// by default.
const MaxQuestion = 512 << 10

const interruptedStatus = stop.RunInterrupted

// waitingCode returns why a run that has not ended does not continue.
func waitingCode(open []interrupt.Question) stop.Code {
	if len(open) > 0 {
		return stop.Interrupted
	}
	return stop.Suspended
}

// message is news of a run that is watched.
type message struct {
	watch   int
	event   *engine.Event
	rewound bool
	broken  error // the connection broke, and is repeated
	ended   bool  // with status, or err
	status  stop.RunStatus
	err     error
}

// ask starts a turn with a question.
func (c *Chat) ask(ctx context.Context, question string) {
	if len(question) > MaxQuestion {
		c.tooLong(len(question), MaxQuestion, "a question")
		return
	}
	run := runs.NewID(c.o.Now())
	request := apiclient.NewRun{
		Question: question, Parameters: maps.Clone(c.o.Parameters), MemoryID: c.memoryID, Set: c.set, Files: c.files, RunID: run,
	}
	c.show(Said, question)
	c.start(ctx, run, c.o.Client.Start(ctx, c.o.Agent, request))
}

// start follows a run that was started, unless that failed.
func (c *Chat) start(ctx context.Context, run string, err error) {
	if err != nil {
		c.err = c.o.Fail(err)
		c.problem(err)
		c.dropOverrides(err)
		return
	}
	c.err, c.files, c.checked = nil, nil, len(c.set)
	c.follow(ctx, run)
}

// dropOverrides removes the overrides that no run has accepted, if the server refuses them.
func (c *Chat) dropOverrides(err error) {
	refused := apiclient.IsCode(err, apiclient.SetNotAllowed) || apiclient.IsCode(err, apiclient.InvalidSet)
	if !refused || len(c.set) == c.checked {
		return
	}
	c.note("removed: /set %s", strings.Join(c.set[c.checked:], " "))
	c.set = slices.Clip(c.set[:c.checked])
}

// tooLong says that a text was not sent.
func (c *Chat) tooLong(size, most int, what string) {
	c.problemf("not sent: %s of %s; the limit is %s. Put the text in a file and use /file PATH", what, bytesOf(size), bytesOf(most))
}

// follow shows a run from its start.
func (c *Chat) follow(ctx context.Context, run string) {
	c.run, c.turn, c.waits, c.settled = run, turn.Turn{}, nil, map[string]bool{}
	c.progress = c.o.Progress()
	c.watcher = &apiclient.Watcher{}
	c.openFeed(ctx)
}

// openFeed watches the run after the last event that was received.
func (c *Chat) openFeed(ctx context.Context) {
	c.unwatch()
	ctx, c.unwatch = context.WithCancel(ctx)
	c.watch++
	c.watching, c.answered = true, false
	n, run, client, w := c.watch, c.run, c.o.Client, c.watcher
	send := func(m message) {
		m.watch = n
		select {
		case c.feed <- m:
		case <-ctx.Done():
		}
	}
	w.Event = func(e engine.Event) { send(message{event: &e}) }
	w.Rewound = func(int) { send(message{rewound: true}) }
	w.Broken = func(err error) { send(message{broken: err}) }
	go func() {
		status, err := client.Watch(ctx, run, w)
		send(message{ended: true, status: status, err: err})
	}()
}

// leaveRun stops following the run. It continues.
func (c *Chat) leaveRun() {
	c.unwatch()
	c.watch++
	c.run, c.turn, c.waits, c.watching, c.interrupting, c.progress = "", turn.Turn{}, nil, false, false, nil
}

// receive handles news of the run.
func (c *Chat) receive(ctx context.Context, m message) {
	switch {
	case m.watch != c.watch: // of a run that was left
	case m.event != nil:
		c.apply(ctx, m.event)
	case m.rewound:
		c.note("The run continues with other limits")
	case m.broken != nil:
		c.note("%v; reconnecting", m.broken)
	case m.ended:
		c.watching = false
		c.feedEnded(ctx, m)
	}
}

// apply shows an event of the run.
func (c *Chat) apply(ctx context.Context, e *engine.Event) {
	if c.progress != nil {
		c.progress.Send(*e)
	}
	change, ok := c.turn.Apply(e)
	if !ok {
		return
	}
	switch change.Kind {
	case turn.Ended:
		c.waits, c.interrupting = nil, false
		c.showEnd()
	case turn.Asked:
		delete(c.settled, change.Question.Path)
	default: // Options.Progress shows it
	}
	c.promptNext(ctx)
}

// showEnd shows the answer of the turn, or why there is none.
func (c *Chat) showEnd() {
	if c.turn.Answer != "" {
		c.show(Answer, c.turn.Answer)
	}
	if c.turn.Status != stop.RunCompleted {
		c.problemf("%s", strings.TrimSpace(strings.TrimPrefix(c.turn.Outcome(), c.turn.Answer)))
	}
}

// feedEnded continues after the end of a feed: the run has ended, waits or is suspended.
func (c *Chat) feedEnded(ctx context.Context, m message) {
	switch {
	case m.err != nil:
		c.problem(m.err)
		c.note("The run continues: /open %s follows it", c.memoryID)
	case c.turn.Status != "":
	case c.answered: // the answer continues the run
		c.openFeed(ctx)
	case c.waits == nil:
		c.note("The run %s is %s; a message continues it", c.run, m.status)
	}
}

// send passes a message to the run under way. If the run has ended meanwhile, the text is the
// next question.
func (c *Chat) send(ctx context.Context, text string, interrupts bool) {
	if len(text) > engine.MaxMessageText {
		c.tooLong(len(text), engine.MaxMessageText, "a message to a run")
		return
	}
	err := c.o.Client.Message(ctx, c.run, newMessage(text, interrupts))
	switch {
	case apiclient.IsCode(err, apiclient.Ended):
		c.note("The run has ended; asking this as the next question")
		c.ask(ctx, text)
		return
	case err != nil:
		c.problem(err)
		return
	}
	c.show(Said, text)
	if c.watching || len(c.turn.Open) > 0 {
		return
	}
	if err := c.o.Client.Resume(ctx, c.run, nil, true); err != nil && !apiclient.IsCode(err, apiclient.Running) {
		c.problem(err)
		return
	}
	c.openFeed(ctx)
}

// newMessage returns a message to a run.
func newMessage(text string, interrupts bool) runs.Message {
	return runs.Message{ID: runs.NewMessageID(), Text: text, Interrupt: interrupts}
}

// bytesOf formats a size.
func bytesOf(n int) string {
	const kib, mib = 1 << 10, 1 << 20
	switch {
	case n < 10*kib:
		return fmt.Sprintf("%d bytes", n)
	case n < mib:
		return fmt.Sprintf("%d KiB", n/kib)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/mib)
}
