//go:build faults && linux

package crashtest_test

import (
	"strings"
	"time"
)

// fate is what becomes of a session; the zero value leaves it in peace.
type fate struct {
	at         string        // NAME:N of the point at which it is killed
	kill, term time.Duration // when it is killed, and when it is sent SIGTERM
}

// untilDone is the life of a run: begun, ended by whatever fate has for each
// session, resumed, and looked after by a person who reads the ledger.
func (w *world) untilDone(next func(session int) fate) *result {
	w.t.Helper()
	var answers []string
	for n := range 1000 {
		f := next(n)
		c := w.begin
		if w.exists {
			c = func(f fate) *session { return w.resume(f, answers...) }
		}
		s := c(f)
		code := w.finish(s, f)
		said := s.stderr.String()
		switch {
		case code == done:
			return w.result(s)
		case code == killed, code == terminated:
			w.exists, answers = true, nil
		case code == waits:
			w.exists, answers = true, w.decide(w.result(s))
		case code == usage && strings.Contains(said, "no run"):
			w.exists = false // killed before its first record
		default:
			w.fatal("session %d ended with %d: %s", n, code, said)
		}
	}
	w.fatal("no end after 1000 sessions")
	return nil
}

// decide answers the questions about writes in doubt as the ledger has it.
func (w *world) decide(r *result) []string {
	w.t.Helper()
	ledger := w.ledger()
	var answers []string
	for _, q := range r.Interrupts {
		if q.Kind != "needs_review" {
			w.fatal("asked about %+v", q)
		}
		w.doubts++
		entry := strings.TrimPrefix(strings.Split(q.Path, "/")[0], "step.write-")
		if ledger["write "+runID+"/"+q.Path] > 0 {
			w.done++
			answers = append(answers, q.Path+`=done:"wrote `+entry+`"`)
			continue
		}
		w.redone++
		answers = append(answers, q.Path+"=redo")
	}
	if len(answers) == 0 {
		w.fatal("the run waits and asks nothing: %+v", r)
	}
	return answers
}

// undisturbed is the result of a run that nobody kills.
func undisturbed(w *world) *result {
	w.t.Helper()
	r := w.untilDone(func(int) fate { return fate{} })
	w.check(r, r)
	if w.resumes > 0 || len(r.Steps) != 20 {
		w.fatal("the undisturbed run had %d resumes and %d steps", w.resumes, len(r.Steps))
	}
	return r
}
