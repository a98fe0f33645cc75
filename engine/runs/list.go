package runs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/text"
)

// Latest selects the run that started last; see Find.
const Latest = "last"

// Filter selects runs. Its zero value selects all.
type Filter struct {
	Status string // a status or a stop code
	Spec   string // name of the spec
	Limit  int    // maximum number of runs; 0 = all
}

func (f Filter) matches(s Summary) bool {
	return (f.Status == "" || f.Status == string(s.Status) || f.Status == string(s.StopReason.Code)) && (f.Spec == "" || f.Spec == s.Spec.Name)
}

// List returns the runs that a filter selects, newest first, and the number of runs
// beyond its limit. Unreadable runs are listed with their Problem.
func (s *Service) List(ctx context.Context, f Filter) (found []Summary, more int, err error) {
	ids, err := s.home.List()
	if err != nil {
		return nil, 0, err
	}
	total := len(ids)
	if f.Limit > 0 && f.Status == "" && f.Spec == "" {
		ids = latest(ids, f.Limit) // the others are only counted
	}
	unread := total - len(ids)
	found = make([]Summary, 0, len(ids))
	for _, id := range ids {
		if sum := s.Summary(ctx, id); f.matches(sum) {
			found = append(found, sum)
		}
	}
	slices.SortFunc(found, func(a, b Summary) int { return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(b.Run, a.Run)) })
	if f.Limit > 0 && len(found) > f.Limit {
		found, more = found[:f.Limit], len(found)-f.Limit+unread
	}
	for i := range found {
		found[i] = s.verify(found[i])
	}
	return found, more, nil
}

// idTime is the format of the time at the start of ids that NewID made.
const idTime = "r-20060102-150405-"

// latest returns the ids of the runs that can be among the n that started last: the latest of those made by NewID, and all
// others. A run starts less than startDelay after its id was made. It reads no files.
func latest(ids []string, n int) []string {
	const startDelay = time.Minute
	made := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !hasTime(id) })
	if len(made) <= n {
		return ids
	}
	slices.Sort(made)
	last, err := time.Parse(idTime, made[len(made)-n][:len(idTime)])
	if err != nil { // digits, but not a time
		return ids
	}
	first := last.Add(-startDelay).Format(idTime)
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return hasTime(id) && id < first })
}

// hasTime reports whether an id has the form of those that NewID makes.
func hasTime(id string) bool {
	if len(id) < len(idTime) {
		return false
	}
	for i := range len(idTime) {
		isDigit := '0' <= id[i] && id[i] <= '9'
		if wantDigit := '0' <= idTime[i] && idTime[i] <= '9'; isDigit != wantDigit || !isDigit && id[i] != idTime[i] {
			return false
		}
	}
	return true
}

// Find returns the id selected by a word: a complete id, Latest, or a unique prefix. The
// error is a *NotFoundError if nothing matches.
func (s *Service) Find(word string) (string, error) {
	ids, err := s.home.List()
	if err != nil {
		return "", err
	}
	if slices.Contains(ids, word) {
		return word, nil
	}
	if word == Latest {
		if len(ids) == 0 {
			return "", fmt.Errorf("no runs in %s yet", s.dir)
		}
		return slices.MaxFunc(latest(ids, 1), func(a, b string) int { return cmp.Or(s.startTime(a).Compare(s.startTime(b)), cmp.Compare(a, b)) }), nil
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return word == "" || !strings.HasPrefix(id, word) })
	switch len(ids) {
	case 0:
		return "", &NotFoundError{word, s.dir}
	case 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("ambiguous run id %s: it matches %d runs in %s: %s; use a longer prefix", word, len(ids), s.dir, joinSome(ids, text.List))
}

// startTime returns when a run started, from its head or else its journal.
func (s *Service) startTime(run string) time.Time {
	if sum, ok := s.headSummary(run); ok {
		return sum.StartedAt
	}
	recs, _ := s.home.Read(run) // the records before any damage suffice
	start, err := runtime.ReadStart(recs)
	if err != nil {
		return s.unreadableSummary(Summary{Run: run}, nil, err).StartedAt
	}
	return start.At
}

// joinSome returns the first of many words, or joins a few with join.
func joinSome(words []string, join func([]string) string) string {
	const shown = 5
	if len(words) > shown {
		return strings.Join(words[:shown], ", ") + ", ..."
	}
	return join(words)
}

// Unfinished returns the ids of the runs whose heads do not say that they have ended, or
// that have none, sorted. It reads no journal, and each head only once.
func (s *Service) Unfinished() ([]string, error) {
	marks := s.home.HeadMarks()
	ids, err := s.home.List()
	if err != nil {
		return nil, err
	}
	s.ended.mu.Lock()
	defer s.ended.mu.Unlock()
	return slices.DeleteFunc(ids, func(id string) bool {
		mark, hasHead := marks[id]
		if !hasHead {
			return false
		}
		if was, ok := s.ended.marks[id]; ok && was == mark {
			return true
		}
		sum, ok := s.headSummary(id)
		ended := ok && sum.Status != stop.RunInterrupted
		if ended {
			s.ended.marks[id] = mark
		}
		return ended
	}), nil
}

// endedRuns are the runs that have ended, with the marks of their heads.
type endedRuns struct {
	mu    sync.Mutex
	marks map[string]int64
}
