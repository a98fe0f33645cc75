package runs

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// The statuses of a run in addition to those of a result.
const (
	Running    stop.RunStatus = "running"    // a process executes it
	Corrupt    stop.RunStatus = "corrupt"    // its journal is damaged
	Unreadable stop.RunStatus = "unreadable" // from another version of pexctl, or its tools cannot be built here
)

// Summary is the state of a run for lists. A session stores it in the run's head.
type Summary struct {
	Run        string            `json:"run_id"`
	Status     stop.RunStatus    `json:"status"`
	StopReason stop.Reason       `json:"stop_reason"`
	Spec       engine.SpecInfo   `json:"spec"`
	Agent      string            `json:"agent,omitempty"` // of the server that started it; see engine.Input
	Question   string            `json:"question"`
	StartedAt  time.Time         `json:"started_at"`
	DurationMS int64             `json:"duration_ms"`
	Steps      int               `json:"steps"`
	ModelCalls int               `json:"model_calls"`
	Tokens     int               `json:"tokens,omitempty"` // input and output
	CostUSD    float64           `json:"cost_usd"`
	MemoryID   string            `json:"memory_id,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Interrupts int               `json:"interrupts,omitempty"` // open questions
	PID        int               `json:"pid,omitempty"`        // of the process that executes it
	Problem    string            `json:"problem,omitempty"`    // why the run is corrupt or unreadable
}

func summaryOf(in engine.Input, res *engine.Result) Summary {
	return Summary{
		Run: res.RunID, Status: res.Status, StopReason: res.StopReason, Spec: res.Spec, Agent: in.Agent, Question: Question(in),
		StartedAt: res.StartedAt, DurationMS: res.DurationMS, Steps: len(res.Steps), ModelCalls: res.Usage.ModelCalls,
		Tokens: res.Usage.Total(), CostUSD: res.Usage.CostUSD, MemoryID: in.MemoryID, Labels: in.Labels, Interrupts: len(res.Interrupts),
	}
}

// Summary returns the state of a run, from its head or else its journal.
func (s *Service) Summary(ctx context.Context, run string) Summary {
	pid, held := s.home.Holder(run)
	sum, ok := s.headSummary(run)
	if !ok {
		sum = s.journalSummary(ctx, run)
	}
	if held && sum.Problem == "" {
		sum.Status, sum.StopReason, sum.PID = Running, stop.Reason{}, pid
	}
	return sum
}

// endCache has the summaries of runs that have ended for good, by run.
type endCache struct {
	mu  sync.Mutex
	was map[string]cachedEnd
}

// cachedEnd is the summary in a head.
type cachedEnd struct {
	head *journal.Head
	sum  *Summary
}

// listCache has the list of runs while no run starts, ends or is removed.
type listCache struct {
	mu    sync.Mutex
	stamp journal.Stamp
	ids   []string
	open  []string   // of ids, those whose heads do not say that they have ended for good
	all   []*Summary // of ids; nil = not read yet
}

// refresh reads the list again unless it is up to date. The caller holds mu.
func (c *listCache) refresh(s *Service) error {
	if now := s.home.Stamp(); now == c.stamp && now.Settled(time.Now()) {
		return nil
	}
	c.stamp, c.all = journal.Stamp{}, nil
	at := time.Now()
	ids, stamp, err := s.home.ListStamped()
	if err != nil {
		return err
	}
	if stamp.Settled(at) {
		c.stamp = stamp
	}
	heads := s.home.Heads(ids)
	s.ends.mu.Lock()
	defer s.ends.mu.Unlock()
	c.ids, c.open = ids, nil
	for _, id := range ids {
		if s.ends.summary(id, heads[id]) == nil {
			c.open = append(c.open, id)
		}
	}
	return nil
}

// Summaries returns the states of all runs, in any order. Unlike List, it does not verify the
// journals of runs that have ended, and while the list of runs does not change, it reads only
// those that have not ended. The caller must not change the summaries.
func (s *Service) Summaries(ctx context.Context) ([]*Summary, error) {
	c := s.list
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refresh(s); err != nil {
		return nil, err
	}
	if c.all == nil {
		c.all = s.summaries(ctx, c.ids)
		return slices.Clone(c.all), nil
	}
	out := slices.Clone(c.all)
	for i, sum := range out {
		if !hasEndedForGood(sum) {
			now := s.Summary(ctx, sum.Run)
			out[i] = &now
		}
	}
	return out, nil
}

// summaries returns the states of runs, in any order. The caller must not change them.
func (s *Service) summaries(ctx context.Context, ids []string) []*Summary {
	heads := s.home.Heads(ids)
	s.ends.mu.Lock()
	defer s.ends.mu.Unlock()
	out := make([]*Summary, 0, len(ids))
	for _, id := range ids {
		sum := s.ends.summary(id, heads[id])
		if sum == nil {
			now := s.Summary(ctx, id)
			sum = &now
		}
		out = append(out, sum)
	}
	return out
}

// summary returns the summary in a head, or nil if another session of the run may follow.
// The caller holds mu.
func (c *endCache) summary(run string, head *journal.Head) *Summary {
	if head == nil {
		return nil
	}
	if was, ok := c.was[run]; ok && was.head == head {
		return was.sum
	}
	sum, ok := fromHead(run, head)
	if !ok || !hasEndedForGood(&sum) {
		delete(c.was, run)
		return nil
	}
	c.was[run] = cachedEnd{head, &sum}
	return &sum
}

// hasEndedForGood reports whether no session of the run can follow.
func hasEndedForGood(sum *Summary) bool {
	return sum.Status == stop.RunCompleted || sum.Status == stop.RunFailed || sum.Status == stop.RunCancelled
}

// headSummary returns the summary in the run's head, if it is up to date.
func (s *Service) headSummary(run string) (Summary, bool) {
	head, err := s.home.Head(run)
	if err != nil {
		return Summary{}, false
	}
	return fromHead(run, &head)
}

func fromHead(run string, head *journal.Head) (sum Summary, ok bool) {
	if head == nil || head.Stale || len(head.Summary) == 0 || json.Unmarshal(head.Summary, &sum) != nil || sum.Run != run {
		return Summary{}, false
	}
	return sum, true
}

// journalSummary returns the state of a run derived from its journal.
func (s *Service) journalSummary(ctx context.Context, run string) Summary {
	recs, err := s.home.Read(run)
	if err != nil {
		return s.unreadableSummary(Summary{Run: run}, recs, err)
	}
	r, err := s.env.Restore(recs, nil)
	if err != nil {
		return s.unreadableSummary(Summary{Run: run}, recs, err)
	}
	return summaryOf(r.Start.Input, r.Result(ctx))
}

// verify reads the journal of a run whose summary came from its head, so that a damaged
// run is listed as such.
func (s *Service) verify(sum Summary) Summary {
	if sum.Problem != "" {
		return sum
	}
	if recs, err := s.home.Read(sum.Run); err != nil {
		return s.unreadableSummary(sum, recs, err)
	}
	return sum
}

// unreadableSummary returns the summary of a run that cannot be read, with what is still known.
func (s *Service) unreadableSummary(sum Summary, recs []journal.Record, err error) Summary {
	sum.Status, sum.StopReason = Unreadable, stop.Reason{}
	sum.Problem = strings.TrimPrefix(err.Error(), s.home.File(sum.Run)+": ")
	if errors.Is(err, journal.ErrCorrupt) {
		sum.Status, sum.StopReason.Code = Corrupt, stop.StoreCorrupt
	}
	if start, serr := runtime.ReadStart(recs); serr == nil {
		sum.Spec = engine.SpecInfo{Name: start.Name, Version: start.Version, Digest: start.Digest}
		sum.Agent, sum.Question, sum.Labels, sum.StartedAt = start.Input.Agent, Question(start.Input), start.Input.Labels, start.At
	}
	if info, serr := os.Stat(s.home.File(sum.Run)); sum.StartedAt.IsZero() && serr == nil {
		sum.StartedAt = info.ModTime().UTC()
	}
	return sum
}
