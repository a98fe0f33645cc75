package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
)

// What a run's status can be beside those of a result.
const (
	statusRunning    = "running"    // a process has it open
	statusCorrupt    = "corrupt"    // its journal is damaged
	statusUnreadable = "unreadable" // of another version of pexctl, or its tools cannot be built here
)

// standing is how a run stands, for those who list runs: the summary in its head.
type standing struct {
	Run        string            `json:"run_id"`
	Status     string            `json:"status"`
	StopReason engine.StopReason `json:"stop_reason"`
	Spec       engine.SpecInfo   `json:"spec"`
	Question   string            `json:"question"`
	StartedAt  time.Time         `json:"started_at"`
	DurationMS int64             `json:"duration_ms"`
	Steps      int               `json:"steps"`
	ModelCalls int               `json:"model_calls"`
	CostUSD    float64           `json:"cost_usd"`
	MemoryID   string            `json:"memory_id,omitempty"`
	Interrupts int               `json:"interrupts,omitempty"` // open questions
	PID        int               `json:"pid,omitempty"`        // of the process that runs it
	Problem    string            `json:"problem,omitempty"`    // why nothing else can be said
}

func standingOf(in engine.Input, res *engine.Result) standing {
	question, _ := in.Parameters["question"].(string)
	return standing{
		Run: res.RunID, Status: string(res.Status), StopReason: res.StopReason, Spec: res.Spec, Question: question,
		StartedAt: res.StartedAt, DurationMS: res.DurationMS, Steps: len(res.Steps), ModelCalls: res.Usage.ModelCalls,
		CostUSD: res.Usage.CostUSD, MemoryID: in.MemoryID, Interrupts: len(res.Interrupts),
	}
}

func headOf(in engine.Input, res *engine.Result) []byte {
	b, err := json.Marshal(standingOf(in, res))
	if err != nil {
		return nil // the head says nothing then
	}
	return b
}

// look says how the runs of a home stand.
type look struct {
	ctx  context.Context
	dir  string
	home *journal.Home
}

// standing is how a run stands: by its head, else by its journal.
func (l *look) standing(run string) standing {
	pid, held := l.home.Holder(run)
	s, ok := l.summary(run)
	if !ok {
		s = l.read(run)
	}
	if held && s.Problem == "" {
		s = running(s, pid)
	}
	return s
}

// running is how a run stands that a process has open.
func running(s standing, pid int) standing {
	s.Status, s.StopReason, s.PID = statusRunning, engine.StopReason{}, pid
	return s
}

// summary is what the last session left in the run's head, if it still holds.
func (l *look) summary(run string) (standing, bool) {
	head, err := l.home.Head(run)
	if err != nil || head.Stale || len(head.Summary) == 0 {
		return standing{}, false
	}
	var s standing
	if json.Unmarshal(head.Summary, &s) != nil || s.Run != run {
		return standing{}, false
	}
	return s, true
}

// read is how a run stands by its journal, which is run again.
func (l *look) read(run string) standing {
	recs, err := l.home.Read(run)
	if err != nil {
		return l.unread(standing{Run: run}, recs, err)
	}
	p, _, err := remake(l.dir, recs, nil)
	if err != nil {
		return l.unread(standing{Run: run}, recs, err)
	}
	return standingOf(p.start.Input, p.now(l.ctx))
}

// now is the run as its journal has it, with the time that was spent on it.
func (p *past) now(ctx context.Context) *engine.Result {
	return p.timed(p.look(ctx, &engine.Follow{}))
}

// timed corrects the duration of a run that has not ended: what counts is how
// long it was worked on, not how long it took to look.
func (p *past) timed(res *engine.Result) *engine.Result {
	if n := len(p.records); n > 0 && !ended(p.records) {
		res.DurationMS = time.Duration(p.records[n-1].At).Milliseconds()
	}
	return res
}

// verify reads the journal of a run that stands by its head: a damaged one must
// not be listed as if nothing were wrong.
func (l *look) verify(s *standing) {
	if s.Problem != "" {
		return
	}
	if recs, err := l.home.Read(s.Run); err != nil {
		*s = l.unread(*s, recs, err)
	}
}

// unread says what is wrong with a run, and what is known of it all the same.
func (l *look) unread(s standing, recs []journal.Record, err error) standing {
	s.Status, s.Problem, s.StopReason = statusUnreadable, strings.TrimPrefix(err.Error(), l.home.Folder(s.Run)+string(filepath.Separator)), engine.StopReason{}
	if errors.Is(err, journal.ErrCorrupt) {
		s.Status, s.StopReason.Code = statusCorrupt, engine.StopStoreCorrupt
	}
	if start, serr := engine.ReadStart(recs); serr == nil {
		s.Spec = engine.SpecInfo{Name: start.Name, Version: start.Version, Digest: start.Digest}
		s.Question, _ = start.Input.Parameters["question"].(string)
		s.StartedAt = start.At
	}
	if info, serr := os.Stat(l.home.Folder(s.Run)); s.StartedAt.IsZero() && serr == nil {
		s.StartedAt = info.ModTime().UTC()
	}
	return s
}
