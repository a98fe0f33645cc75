package runs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/text"
)

// Latest selects the run that started last; see Find.
const Latest = "last"

// Filter selects runs. Its zero value selects all.
type Filter struct {
	Status   string // a status or a stop code
	Spec     string // name of the spec
	MemoryID string // conversation
	Prefix   string // start of the id
	Question string // part of the question, ignoring case
	Labels   map[string]string
	Waiting  bool // only runs with an open question
	Since    time.Time
	Until    time.Time // exclusive; zero = now
	After    Position  // only runs behind this position
	Limit    int       // maximum number of runs; 0 = all
	// Match selects among the runs that match the rest; nil = all. It must be fast.
	Match func(Summary) bool
}

// isZero reports whether the filter selects all runs, up to its limit.
func (f *Filter) isZero() bool {
	return f.Status == "" && f.Spec == "" && f.MemoryID == "" && f.Question == "" && len(f.Labels) == 0 && !f.Waiting && f.Since.IsZero() && f.Until.IsZero() && f.After == Position{} && f.Match == nil
}

func (f *Filter) matches(s *Summary) bool {
	switch {
	case f.Status != "" && f.Status != string(s.Status) && f.Status != string(s.StopReason.Code),
		f.Spec != "" && f.Spec != s.Spec.Name,
		f.MemoryID != "" && f.MemoryID != s.MemoryID,
		f.Question != "" && !containsFold(s.Question, f.Question),
		!hasLabels(s.Labels, f.Labels),
		f.Waiting && s.Interrupts == 0,
		s.StartedAt.Before(f.Since),
		!f.Until.IsZero() && !s.StartedAt.Before(f.Until),
		f.After != Position{} && f.After.compare(s.Position()) >= 0:
		return false
	}
	return f.Match == nil || f.Match(*s)
}

// containsFold reports whether a text contains another one, ignoring case.
func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// hasLabels reports whether labels contain all of others.
func hasLabels(labels, others map[string]string) bool {
	for key, value := range others {
		if found, ok := labels[key]; !ok || found != value {
			return false
		}
	}
	return true
}

// List returns the runs that a filter selects, newest first, and the number of runs
// beyond its limit. Unreadable runs are listed with their Problem.
func (s *Service) List(ctx context.Context, f Filter) (found []Summary, more int, err error) {
	ids, err := s.home.List()
	if err != nil {
		return nil, 0, err
	}
	if f.Prefix != "" {
		ids = slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, f.Prefix) })
	}
	total := len(ids)
	if f.Limit > 0 && f.isZero() {
		ids = latest(ids, f.Limit) // the others are only counted
	}
	unread := total - len(ids)
	selected := make([]*Summary, 0, len(ids))
	for _, sum := range s.summaries(ctx, ids) {
		if f.matches(sum) {
			selected = append(selected, sum)
		}
	}
	slices.SortFunc(selected, func(a, b *Summary) int { return a.Position().compare(b.Position()) })
	if f.Limit > 0 && len(selected) > f.Limit {
		selected, more = selected[:f.Limit], len(selected)-f.Limit+unread
	}
	found = make([]Summary, len(selected))
	for i, sum := range selected {
		found[i] = s.verify(*sum)
	}
	return found, more, nil
}

// Position is the place of a run in lists.
type Position struct {
	StartedAt time.Time
	Run       string
}

// Position returns the place of the run in lists.
func (s *Summary) Position() Position { return Position{s.StartedAt, s.Run} }

// compare returns a negative number if p is before o: newer.
func (p Position) compare(o Position) int {
	return cmp.Or(o.StartedAt.Compare(p.StartedAt), cmp.Compare(o.Run, p.Run))
}

// String returns the position for ParsePosition. It is "" for the zero Position.
func (p Position) String() string {
	if p == (Position{}) {
		return ""
	}
	return strconv.FormatInt(p.StartedAt.UnixNano(), 36) + "." + p.Run
}

// ParsePosition parses the result of Position.String.
func ParsePosition(s string) (Position, error) {
	if s == "" {
		return Position{}, nil
	}
	at, run, ok := strings.Cut(s, ".")
	n, err := strconv.ParseInt(at, 36, 64)
	if !ok || err != nil {
		return Position{}, fmt.Errorf("invalid position %.40q", s)
	}
	return Position{time.Unix(0, n).UTC(), run}, nil
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
// that have none, sorted. It reads no journal, and each head of an ended run only once.
func (s *Service) Unfinished() ([]string, error) {
	s.list.mu.Lock()
	defer s.list.mu.Unlock()
	if err := s.list.refresh(s); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(s.list.open), func(id string) bool {
		sum, ok := s.headSummary(id)
		return ok && sum.Status != stop.RunInterrupted
	}), nil
}
