package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// NewRun is a run to start.
type NewRun struct {
	Program *engine.Program
	Input   engine.Input
	Host    engine.Host      // connected; the session closes it
	Records []journal.Record // the recording that Input.From names; nil = there is none
}

// Session has a run locked and executes it. The caller calls Run once, and
// Close in every case.
type Session struct {
	Program *engine.Program
	Input   engine.Input
	Host    engine.Host

	svc     *Service
	home    *journal.Home
	file    *journal.File
	journal journal.Journal // the file, or what also records it
	options runtime.Options
	closes  []func() error
}

// Observer is who watches a session; the zero value is nobody.
type Observer struct {
	Sinks        []engine.Sink
	Responder    interrupt.Responder // answers questions while the run executes; nil = they park it
	Stream       bool                // ask models to stream
	Conversation bool                // keep every message for the result
	// Warn is called with warnings that no event carries; nil = they are in the
	// result alone.
	Warn func(string)
}

// Start creates a run. The error is a *journal.ExistsError where its id is taken.
func (s *Service) Start(n NewRun) (*Session, error) {
	se := &Session{Program: n.Program, Input: n.Input, Host: n.Host, svc: s}
	if err := se.open((*journal.Home).Create); err != nil {
		return nil, err
	}
	if n.Records != nil {
		se.options.Recorded = se.recording(n.Records)
		if !CallsModels(n.Input.From) { // what is replayed touches no network
			se.Host.Models = map[string]model.Model{}
		}
	}
	return se, nil
}

// open locks the journal of the run, under the durability that its program wants.
func (se *Session) open(open func(*journal.Home, string) (*journal.File, error)) (err error) {
	if se.home, err = journal.OpenHome(se.svc.dir, journal.Durability(se.Program.Memory.Durability)); err != nil {
		return err
	}
	if se.file, err = open(se.home, se.Input.RunID); err != nil {
		return se.svc.missing(se.Input.RunID, err)
	}
	se.journal = se.file
	se.closes = []func() error{se.file.Close, se.home.Close}
	return nil
}

// Tee has the session write to another journal, which passes on to the run's own;
// the session closes it.
func (se *Session) Tee(tee func(journal.Journal) (TeeJournal, error)) error {
	j, err := tee(se.journal)
	if err != nil {
		return err
	}
	se.journal = j
	se.closes = append([]func() error{j.Close}, se.closes...)
	return nil
}

// TeeJournal is a journal that also writes elsewhere, until it is closed.
type TeeJournal interface {
	journal.Journal
	io.Closer
}

// Run executes the run until it ends, waits for a person, or ctx ends, which
// suspends it. A decision to cancel the run, from any process, ends it.
func (se *Session) Run(ctx context.Context, by Observer) *engine.Result {
	se.Host.Sinks, se.Host.Responder = by.Sinks, by.Responder
	requested, stopWatch := se.watchCancel()
	o := se.options
	o.Journal, o.Stream, o.Conversation = se.journal, by.Stream, by.Conversation
	o.Grace, o.Version, o.By = se.svc.env.Grace, se.svc.env.Version, se.svc.env.by()
	o.Cancel, o.CancelledBy = requested, se.cancelledBy
	res := runtime.Run(ctx, se.Program, se.Input, se.Host, o)
	stopWatch()
	if note := se.unused(res); note != "" {
		res.Warnings = append(res.Warnings, note)
		if by.Warn != nil {
			by.Warn("warning: " + note)
		}
	}
	if res.Resumable && !se.file.HasRecords() { // there is no run to resume
		res.Status = stop.RunFailed
		res.StopReason.Message += "; nothing of the run was stored: run it again"
		res.Error = res.StopReason.Message
	}
	se.note(res)
	return res
}

// note leaves the summary of the run for its head.
func (se *Session) note(res *engine.Result) {
	if b, err := json.Marshal(summaryOf(se.Input, res)); err == nil {
		se.file.SetHead(b)
	}
}

// unused says which recorded answers the run never asked for; "" = none.
func (se *Session) unused(res *engine.Result) string {
	if se.options.Recorded == nil || se.Input.From.Until != 0 || res.Status != stop.RunCompleted && res.Status != stop.RunStopped {
		return ""
	}
	paths := se.options.Recorded.Unused()
	if len(paths) == 0 {
		return ""
	}
	return fmt.Sprintf("%d recorded answers were not asked for: %s", len(paths), some(paths, func(words []string) string { return strings.Join(words, ", ") }))
}

// Close closes the host and gives the run back.
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

// Discard closes a session whose new run is not wanted, and removes the run.
func (se *Session) Discard() error {
	return errors.Join(se.Close(), se.home.Remove(se.Input.RunID))
}
