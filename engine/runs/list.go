package runs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/text"
)

// Latest is the word that stands for the run that began last.
const Latest = "last"

// Filter selects runs. Its zero value selects all.
type Filter struct {
	Status string // a status or a stop code
	Spec   string // name of the spec
	Limit  int    // at most so many; 0 = all
}

func (f Filter) matches(s Summary) bool {
	return (f.Status == "" || f.Status == string(s.Status) || f.Status == string(s.StopReason.Code)) && (f.Spec == "" || f.Spec == s.Spec.Name)
}

// List returns the runs that a filter selects, the latest first, and how many
// more there are beyond its limit. Runs that cannot be read are listed with
// their Problem.
func (s *Service) List(ctx context.Context, f Filter) (found []Summary, more int, err error) {
	ids, err := s.home.List()
	if err != nil {
		return nil, 0, err
	}
	found = make([]Summary, 0, len(ids))
	for _, id := range ids {
		if sum := s.Summary(ctx, id); f.matches(sum) {
			found = append(found, sum)
		}
	}
	slices.SortFunc(found, func(a, b Summary) int { return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(b.Run, a.Run)) })
	if f.Limit > 0 && len(found) > f.Limit {
		found, more = found[:f.Limit], len(found)-f.Limit
	}
	for i := range found {
		found[i] = s.verify(found[i])
	}
	return found, more, nil
}

// Find returns the id that a word stands for: a whole id, Latest, or the
// beginning of only one id. The error is a *NotFoundError where it stands for none.
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
			return "", fmt.Errorf("there are no runs in %s yet", s.dir)
		}
		return slices.MaxFunc(ids, func(a, b string) int { return cmp.Or(s.began(a).Compare(s.began(b)), cmp.Compare(a, b)) }), nil
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return word == "" || !strings.HasPrefix(id, word) })
	switch len(ids) {
	case 0:
		return "", &NotFoundError{word, s.dir}
	case 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("%s is the beginning of %d runs in %s: %s; write more of one", word, len(ids), s.dir, some(ids, text.List))
}

// began is when a run began: by its head, else by its journal.
func (s *Service) began(run string) time.Time {
	if sum, ok := s.noted(run); ok {
		return sum.StartedAt
	}
	recs, _ := s.home.Read(run) // what precedes a damage will do
	start, err := runtime.ReadStart(recs)
	if err != nil {
		return s.unreadable(Summary{Run: run}, nil, err).StartedAt
	}
	return start.At
}

// some is the first of many words, or all of few as join joins them.
func some(words []string, join func([]string) string) string {
	const shown = 5
	if len(words) > shown {
		return strings.Join(words[:shown], ", ") + ", ..."
	}
	return join(words)
}
