package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/server/turn"
)

// Options configure a Chat.
type Options struct {
	Client     *apiclient.Client
	Agent      string
	MemoryID   string         // of the conversation to continue; "" = a new one
	Parameters map[string]any // of all turns
	Set        []string       // overrides of the spec, for all turns
	Owner      bool           // the person may override any value of the spec
	// OneByOne reads no line while a run executes, for lines that were not typed as answers to
	// what the screen shows.
	OneByOne bool
	Screen   Screen
	// Progress returns the sink of the events of a turn; nil = none.
	Progress func() engine.Sink
	// Fail adds hints to an error of the client; nil = none.
	Fail func(error) error
	// Tests is the folder for the tests of the agent's spec; "" = there is no spec.
	Tests string
	Now   func() time.Time // nil = time.Now
}

// Kind is the kind of an Entry.
type Kind int

// The kinds of entries.
const (
	Said     Kind = iota + 1 // by the person
	Answer                   // of the agent
	Question                 // of a run, to the person
	Output                   // of a slash command
	Note                     // about the conversation
	Problem                  // why something was not done
)

// Entry is an addition to the transcript. Its text is not escaped.
type Entry struct {
	Kind Kind
	Text string
	Past bool // of an earlier turn
}

// State is what is in progress.
type State struct {
	MemoryID     string
	Run          string              // under way; "" = none
	Question     *interrupt.Question // which the next line answers; nil = none
	Interrupting bool                // the next line interrupts the run
	Files        []string            // of the next question
}

// Screen shows a conversation. Its methods are called from one goroutine.
type Screen interface {
	// Show adds to the transcript.
	Show(Entry)
	// SetState replaces what is in progress.
	SetState(State)
	// Edit lets the person edit a text, and returns it. name suggests its format.
	Edit(ctx context.Context, name, text string) (string, error)
}

// Input is what a person does.
type Input struct {
	Text      string
	Interrupt bool // of the run under way; without Text, the next line does
}

// Chat is a conversation with an agent.
type Chat struct {
	o        Options
	memoryID string
	files    []apiclient.File // of the next question
	set      []string
	checked  int // how many of set a run has accepted

	run          string // of the latest turn; "" = none
	turn         turn.Turn
	progress     engine.Sink
	waits        *interrupt.Question // which the next line answers
	settled      map[string]bool     // paths of questions that were answered
	interrupting bool
	err          error // of the latest turn, if the server did not execute it

	feed     chan message
	watch    int                // number of the current watch
	watching bool               // the feed of the run is open
	answered bool               // a question was answered since the feed was opened
	watcher  *apiclient.Watcher // of the run; it keeps the cursor
	unwatch  context.CancelFunc
}

// New returns a Chat.
func New(o Options) *Chat {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Fail == nil {
		o.Fail = func(err error) error { return err }
	}
	if o.Progress == nil {
		o.Progress = func() engine.Sink { return nil }
	}
	return &Chat{o: o, set: o.Set, feed: make(chan message), unwatch: func() {}, settled: map[string]bool{}}
}

// errQuit ends the conversation.
var errQuit = errors.New("quit")

// Run continues the conversation until the inputs end, the person quits, or ctx ends. The run
// under way is left as it is.
func (c *Chat) Run(ctx context.Context, inputs <-chan Input) error {
	defer func() { c.unwatch() }()
	if err := c.begin(ctx); err != nil {
		return err
	}
	for {
		c.o.Screen.SetState(c.state())
		ready := inputs
		if c.o.OneByOne && c.watching && c.waits == nil {
			ready = nil
		}
		select {
		case in, more := <-ready:
			if !more {
				return nil
			}
			if err := c.handle(ctx, in); errors.Is(err, errQuit) {
				return nil
			}
		case m := <-c.feed:
			c.receive(ctx, m)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// MemoryID returns the id of the conversation.
func (c *Chat) MemoryID() string { return c.memoryID }

// Result returns the end of the latest turn: nil if there was none, or an error if the server did
// not execute it. A turn that has not ended has the status of a run that waits.
func (c *Chat) Result() (*engine.Result, error) {
	if c.err != nil || c.run == "" {
		return nil, c.err
	}
	res := &engine.Result{RunID: c.run, Status: c.turn.Status, StopReason: c.turn.Stop, Interrupts: c.turn.Open}
	if c.isOpen() {
		res.Status, res.StopReason.Code = interruptedStatus, waitingCode(c.turn.Open)
	}
	return res, nil
}

// begin opens the conversation.
func (c *Chat) begin(ctx context.Context) error {
	if c.o.MemoryID == "" {
		c.memoryID = c.newID()
		return nil
	}
	return c.open(ctx, c.o.MemoryID)
}

// newID returns the id of a new conversation.
func (c *Chat) newID() string { return "c" + strings.TrimPrefix(runs.NewID(c.o.Now()), "r") }

func (c *Chat) state() State {
	s := State{MemoryID: c.memoryID, Question: c.waits, Interrupting: c.interrupting}
	if c.watching {
		s.Run = c.run
	}
	for _, f := range c.files {
		s.Files = append(s.Files, f.Name)
	}
	return s
}

// handle does what the person asks for. The only error is errQuit.
func (c *Chat) handle(ctx context.Context, in Input) error {
	text := strings.TrimSpace(in.Text)
	interrupts := in.Interrupt || c.interrupting
	switch {
	case in.Interrupt && text == "":
		c.interrupting = c.isOpen() && !c.interrupting
	case text == "":
	case strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//"):
		return c.command(ctx, text)
	default:
		text = strings.TrimPrefix(text, "/")
		c.interrupting = false
		c.say(ctx, text, interrupts)
	}
	return nil
}

// say passes on a text: to the open question, to the run under way, or as the next question.
func (c *Chat) say(ctx context.Context, text string, interrupts bool) {
	if rest, ok := strings.CutPrefix(text, "!"); ok && c.isOpen() && strings.TrimSpace(rest) != "" {
		text, interrupts = strings.TrimSpace(rest), true
	}
	switch {
	case c.waits != nil && !interrupts:
		c.answer(ctx, text)
	case c.isOpen():
		c.send(ctx, text, interrupts)
	default:
		c.ask(ctx, text)
	}
}

// isOpen reports whether the latest turn has not ended.
func (c *Chat) isOpen() bool { return c.run != "" && c.turn.Status == "" }

func (c *Chat) show(kind Kind, text string) { c.o.Screen.Show(Entry{Kind: kind, Text: text}) }

func (c *Chat) note(format string, args ...any) { c.show(Note, fmt.Sprintf(format, args...)) }

// problem shows an error of the client.
func (c *Chat) problem(err error) { c.show(Problem, c.o.Fail(err).Error()) }

// problemf shows why a command was not carried out.
func (c *Chat) problemf(format string, args ...any) { c.show(Problem, fmt.Sprintf(format, args...)) }
