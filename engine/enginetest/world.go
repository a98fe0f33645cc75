package enginetest

import (
	"slices"
	"time"

	"github.com/pexctl/pex/engine/kernel"
)

// World is a kernel.World for one session, without goroutines and clock: Wait performs one task,
// or else moves its time to the next timer. Results arrive as
// JSON. So a session in it is like one whose tasks other processes perform, and alike each time.
type World struct {
	// Choose returns which of n waiting tasks Wait performs, from 0; nil = the oldest.
	Choose func(n int) int
	// Perform performs a task; nil = Task.Perform.
	Perform func(kernel.Task) kernel.Outcome

	tasks  []kernel.Task
	timers []*worldTimer
	now    time.Duration
	awake  bool
}

var _ kernel.World = (*World)(nil)

type worldTimer struct {
	w    *World
	at   time.Duration
	fire func()
}

// Stop implements kernel.Timer.
func (t *worldTimer) Stop() bool {
	n := len(t.w.timers)
	t.w.timers = slices.DeleteFunc(t.w.timers, func(o *worldTimer) bool { return o == t })
	return len(t.w.timers) < n
}

// Begin implements kernel.World.
func (w *World) Begin(t kernel.Task) { w.tasks = append(w.tasks, t) }

// Drop implements kernel.World: a task that waits is not performed.
func (w *World) Drop(t kernel.Task) {
	w.tasks = slices.DeleteFunc(w.tasks, func(o kernel.Task) bool { return o == t })
}

// Timer implements kernel.World.
func (w *World) Timer(d time.Duration, fire func()) kernel.Timer {
	t := &worldTimer{w, w.now + max(d, 0), fire}
	w.timers = append(w.timers, t)
	slices.SortStableFunc(w.timers, func(a, b *worldTimer) int { return int(a.at - b.at) })
	return t
}

// Wait implements kernel.World.
func (w *World) Wait(s kernel.Signals) {
	switch {
	case w.awake:
		w.awake = false
	case len(w.tasks) > 0:
		w.perform()
	case s.Commit != nil:
		<-s.Commit
	case len(w.timers) > 0:
		t := w.timers[0]
		t.Stop()
		w.now = t.at
		t.fire()
	default:
		panic("the session waits, and nothing can happen")
	}
}

// perform performs one task.
func (w *World) perform() {
	i := 0
	if w.Choose != nil {
		i = w.Choose(len(w.tasks))
	}
	t := w.tasks[i]
	w.tasks = slices.Delete(w.tasks, i, i+1)
	perform := w.Perform
	if perform == nil {
		perform = kernel.Task.Perform
	}
	t.End(sent(perform(t)))
}

// sent returns an outcome as another process returns it.
func sent(out kernel.Outcome) kernel.Outcome {
	b, err := out.AppendBinary(nil)
	if err == nil {
		out = kernel.Outcome{}
		err = out.UnmarshalBinary(b)
	}
	if err != nil {
		return kernel.Outcome{Fatal: err}
	}
	return out
}

// Wake implements kernel.World.
func (w *World) Wake() { w.awake = true }

// Now implements kernel.World.
func (w *World) Now() time.Duration { return w.now }
