package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/text"
)

// NewRun describes a run to start.
type NewRun struct {
	Program *engine.Program
	Input   engine.Input
	Host    engine.Host      // connected; the session closes it
	Records []journal.Record // the recording named by Input.From; nil = none
}

// Session holds the lock of a run and executes it. The caller must call Run at most
// once, and Close always.
type Session struct {
	Program *engine.Program
	Input   engine.Input
	Host    engine.Host
	Limits  engine.Limits // of the program, or higher ones that this session or an earlier one set

	svc     *Service
	home    *journal.Home
	file    *journal.File
	journal journal.Journal // file, or a TeeJournal on top of it
	options runtime.Options
	ended   bool // the run had ended before the session
	closes  []func() error
}

// Observer configures what is observed of a session. The zero value observes nothing.
type Observer struct {
	Sinks        []engine.Sink
	Responder    interrupt.Responder // answers questions while the run executes; nil = the run waits
	Stream       bool                // request streamed replies from models
	Conversation bool                // include every message in the result
	Inbox        *Inbox              // passes messages of users to the run; nil = it accepts none
	Decided      func(path string)   // called once a decision of this session about the effect at path is durable; may be nil

	// Warn is called with warnings that are not events; nil = they are only in the
	// result.
	Warn func(string)
}

// Start creates a run. The error is a *journal.ExistsError if its id is in use.
func (s *Service) Start(n NewRun) (*Session, error) {
	if n.Input.By == nil && n.Program.RestrictsApprovers() {
		if by := s.env.by().Identity(); by.Known() {
			n.Input.By = &by
		}
	}
	se := &Session{Program: n.Program, Input: n.Input, Host: n.Host, Limits: n.Program.Limits, svc: s}
	if err := se.open((*journal.Home).Create); err != nil {
		return nil, err
	}
	if err := se.home.CancelDone(n.Input.RunID); err != nil { // of a run with this id that was removed
		return nil, errors.Join(err, se.Discard())
	}
	if n.Records != nil {
		se.options.Recorded = se.recording(n.Records)
		if !CallsModels(n.Input.From) { // a replay must not use the network
			se.Host.Models = map[string]model.Model{}
		}
	}
	return se, nil
}

// Begin stores the start of a new run, unless Run has been called, and returns once it is
// durable. The session may then be closed, and the run resumed later.
func (se *Session) Begin() error {
	return runtime.Begin(se.journal, se.Program, se.Input, time.Now())
}

// open opens and locks the journal of the run with the program's durability.
func (se *Session) open(open func(*journal.Home, string) (*journal.File, error)) (err error) {
	home, release, err := se.svc.homes.get(journal.Durability(se.Program.Memory.Durability))
	if err != nil {
		return err
	}
	if se.file, err = open(home, se.Input.RunID); err != nil {
		return se.svc.asNotFound(se.Input.RunID, errors.Join(err, release()))
	}
	se.home, se.journal = home, se.file
	se.closes = []func() error{se.file.Close, release}
	return nil
}

// Tee makes the session write to the journal that tee returns, which must forward to the
// run's own journal. The session closes it.
func (se *Session) Tee(tee func(journal.Journal) (TeeJournal, error)) error {
	j, err := tee(se.journal)
	if err != nil {
		return err
	}
	se.journal = j
	se.closes = append([]func() error{j.Close}, se.closes...)
	return nil
}

// TeeJournal is a journal that forwards to another one and also writes elsewhere.
type TeeJournal interface {
	journal.Journal
	io.Closer
}

// Run executes the run until it ends, waits for a human, or is suspended because ctx
// ended. A request to cancel the run, from any process, ends it.
func (se *Session) Run(ctx context.Context, by Observer) *engine.Result {
	se.Host.Sinks, se.Host.Responder, se.Host.Artifacts = by.Sinks, by.Responder, se.svc.dir
	if sinks := se.svc.env.Sinks; sinks != nil {
		se.Host.Sinks = append(slices.Clip(se.Host.Sinks), sinks(se.Program, &se.Input)...)
	}
	requested, stopWatch := se.watchCancel()
	o := se.options
	o.Journal, o.Stream, o.Conversation = se.journal, by.Stream, by.Conversation
	o.Grace, o.Version, o.By = se.svc.env.Grace, se.svc.env.Version, se.svc.env.by()
	o.Decided = by.Decided
	if by.Inbox != nil {
		o.Inbox = &by.Inbox.inbox
	}
	o.Cancel, o.CancelledBy = requested, se.cancelledBy
	res := runtime.Run(ctx, se.Program, se.Input, se.Host, o)
	stopWatch()
	if note := se.unusedWarning(res); note != "" {
		res.Warnings = append(res.Warnings, note)
		if by.Warn != nil {
			by.Warn("warning: " + note)
		}
	}
	if res.Resumable && !se.file.HasRecords() { // there is no run to resume
		res.Status = stop.RunFailed
		res.StopReason.Message += "; the run was not stored, so it cannot be resumed: start it again"
		res.Error = res.StopReason.Message
	}
	se.storeSummary(res)
	return res
}

// storeSummary stores the summary of the run in its head, unless the run had ended and this
// session was suspended before it changed that.
func (se *Session) storeSummary(res *engine.Result) {
	if se.ended && !se.file.HasAppended() {
		return
	}
	if b, err := json.Marshal(summaryOf(se.Input, res)); err == nil {
		se.file.SetHead(b)
	}
}

// unusedWarning returns a warning about recorded results that the run did not use, or "".
func (se *Session) unusedWarning(res *engine.Result) string {
	if se.options.Recorded == nil || se.Input.From.Until != 0 || res.Status != stop.RunCompleted && res.Status != stop.RunStopped {
		return ""
	}
	paths := se.options.Recorded.Unused()
	if len(paths) == 0 {
		return ""
	}
	return fmt.Sprintf("%s not used: %s", text.Count(len(paths), "recorded result"), joinSome(paths, func(words []string) string { return strings.Join(words, ", ") }))
}

// Close closes the host and unlocks the run.
func (se *Session) Close() error {
	var errs []error
	if memory, ok := se.Host.Memory.(io.Closer); ok {
		errs = append(errs, memory.Close())
	}
	errs = append(errs, se.Host.Close())
	for _, f := range se.closes {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// Discard closes the session of a new run and removes the run.
func (se *Session) Discard() error {
	return errors.Join(se.Close(), se.home.Remove(se.Input.RunID))
}
