package main

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
)

// latest is the word that stands for the run that began last.
const latest = "last"

// runNames says what a RUN may be, for --help.
const runNames = "RUN is the id of a run, the beginning of only one, or last: the run that began last."

// runNamed is the id of the run that a command was told: a whole id comes first,
// then the word last, then the beginning of one id only. All commands that take
// a run find it here.
func runNamed(c *ui.Call, dir string, home *journal.Home, word string) (string, error) {
	ids, err := home.List()
	if err != nil {
		return "", failure.Infra(err)
	}
	if slices.Contains(ids, word) {
		return word, nil
	}
	if word == latest {
		l := &look{ctx: c.Context, dir: dir, home: home}
		if len(ids) == 0 {
			return "", failure.Usagef("there are no runs in %s yet", dir)
		}
		return slices.MaxFunc(ids, func(a, b string) int { return cmp.Or(l.began(a).Compare(l.began(b)), cmp.Compare(a, b)) }), nil
	}
	begin := slices.DeleteFunc(ids, func(id string) bool { return word == "" || !strings.HasPrefix(id, word) })
	switch len(begin) {
	case 0:
		return "", unread(home, dir, word, fs.ErrNotExist)
	case 1:
		return begin[0], nil
	}
	return "", failure.Usagef("%s is the beginning of %d runs in %s: %s; write more of one", word, len(begin), dir, someOf(begin))
}

// someOf are the first of many words, and that there are more.
func someOf(words []string) string {
	const shown = 5
	if len(words) <= shown {
		return ui.List(words)
	}
	return strings.Join(words[:shown], ", ") + ", ..."
}

// began is when a run began: by its head, else by its journal.
func (l *look) began(run string) time.Time {
	if s, ok := l.summary(run); ok {
		return s.StartedAt
	}
	recs, _ := l.home.Read(run) // what stands before a damage will do
	start, err := engine.ReadStart(recs)
	if err != nil {
		return l.unread(standing{Run: run}, nil, err).StartedAt
	}
	return start.At
}

// newRun is the id of a run to be made: what --run-id says, else one of the time.
func newRun(c *ui.Call) (string, error) {
	switch id := c.String("run-id"); id {
	case "":
		return newRunID(time.Now()), nil
	case latest:
		return "", failure.Usagef("--run-id %s: no run is called %[1]s, the word stands for the run that began last; give it another id", latest)
	default:
		return id, nil
	}
}

// runsNamed is the ids that words stand for, sorted, each once.
func runsNamed(c *ui.Call, dir string, home *journal.Home, words []string) ([]string, error) {
	var out []string
	for _, word := range words {
		run, err := runNamed(c, dir, home, word)
		if err != nil {
			return nil, err
		}
		out = append(out, run)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
