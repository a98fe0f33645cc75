package manager

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Limits bound the runs of a server. 0 means no limit, except for Waiting.
type Limits struct {
	Running            int // runs that execute at once
	RunningPerTenant   int
	Waiting            int // runs that wait for a slot; a tenant's first waiting run is beyond it, unless it is 0
	PerMinutePerTenant int // runs that may start per minute; up to as many at once
}

// Slots limits how many runs execute at once, over all tenants and conversations. Waiting
// runs get free slots in turns by tenant, and within a tenant by age. A conversation
// executes one run at a time.
type Slots struct {
	limits Limits

	mu       sync.Mutex
	running  int
	waiting  int
	tenants  map[string]*tenant
	order    []string // tenants with waiting runs; the first one is next
	busy     map[conversation]bool
	entering map[conversation][]*Slot // that continue whatever the limits, once their conversation is free
}

// tenant is the use of the slots by one tenant.
type tenant struct {
	running int
	waiting []*Slot
	starts  float64   // runs that may start now, if they are limited
	at      time.Time // of starts
}

// conversation identifies a conversation of a tenant. Without id, it is none.
type conversation struct{ tenant, id string }

// NewSlots returns slots with limits.
func NewSlots(l Limits) *Slots {
	return &Slots{limits: l, tenants: map[string]*tenant{}, busy: map[conversation]bool{}, entering: map[conversation][]*Slot{}}
}

// Slot is the permission to execute a run.
type Slot struct {
	slots   *Slots
	of      conversation
	ready   chan struct{} // closed when the run may execute
	granted bool
	left    bool
}

// Wait is Queue without the limit of waiting runs.
func (s *Slots) Wait(tenantName, memoryID string) *Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enqueue(tenantName, memoryID)
}

func (s *Slots) enqueue(tenantName, memoryID string) *Slot {
	slot := &Slot{slots: s, of: conversation{tenantName, memoryID}, ready: make(chan struct{})}
	t := s.tenant(tenantName)
	t.waiting = append(t.waiting, slot)
	s.waiting++
	if len(t.waiting) == 1 {
		s.order = append(s.order, tenantName)
	}
	s.grant()
	return slot
}

// Reserve is Queue for a new run: the error is a *RateError if the tenant started too many.
func (s *Slots) Reserve(tenantName, memoryID string) (*Slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tenant(tenantName)
	if err := s.limits.checkRate(t, time.Now()); err != nil {
		return nil, err
	}
	slot, err := s.queue(tenantName, memoryID)
	if err == nil {
		t.starts--
	}
	return slot, err
}

// Queue returns a slot that is ready now or later. The error is ErrQueueFull if too many runs
// wait. A full queue still accepts a run of a tenant with none in it, so that no tenant can
// block the others. The caller must call Leave.
func (s *Slots) Queue(tenantName, memoryID string) (*Slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue(tenantName, memoryID)
}

func (s *Slots) queue(tenantName, memoryID string) (*Slot, error) {
	slot := s.enqueue(tenantName, memoryID)
	first := len(s.tenant(tenantName).waiting) == 1 && s.limits.Waiting > 0
	if !slot.granted && !first && s.waiting > s.limits.Waiting {
		s.remove(slot)
		return nil, ErrQueueFull
	}
	return slot, nil
}

// checkRate returns a *RateError if a tenant may not start a run now.
func (l Limits) checkRate(t *tenant, now time.Time) error {
	if l.PerMinutePerTenant == 0 {
		return nil
	}
	most := float64(l.PerMinutePerTenant)
	perSecond := most / 60
	if t.at.IsZero() {
		t.starts = most
	} else {
		t.starts = min(most, t.starts+now.Sub(t.at).Seconds()*perSecond)
	}
	if t.at = now; t.starts < 1 {
		return &RateError{RetryAfter: time.Duration((1 - t.starts) / perSecond * float64(time.Second))}
	}
	return nil
}

// New returns a slot that is not ready, for Enter. The caller must call Leave.
func (s *Slots) New(tenantName, memoryID string) *Slot {
	return &Slot{slots: s, of: conversation{tenantName, memoryID}, ready: make(chan struct{})}
}

// Enter makes a slot ready that is new or waits, whatever the limits: a human answered the
// run. It waits until no other run of the conversation executes, and returns an error if ctx
// ends first.
func (l *Slot) Enter(ctx context.Context) error {
	s := l.slots
	s.mu.Lock()
	switch {
	case l.granted || l.left:
	case s.busy[l.of]:
		s.entering[l.of] = append(s.entering[l.of], l)
	default:
		s.remove(l)
		s.start(l)
	}
	s.mu.Unlock()
	select {
	case <-l.ready:
		return nil
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		s.withdraw(l)
		return ctx.Err()
	}
}

// Ready returns a channel that is closed when the run may execute.
func (l *Slot) Ready() <-chan struct{} { return l.ready }

// Granted reports whether the run may execute.
func (l *Slot) Granted() bool {
	l.slots.mu.Lock()
	defer l.slots.mu.Unlock()
	return l.granted
}

// Leave frees the slot, or stops waiting for it.
func (l *Slot) Leave() {
	s := l.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.left {
		return
	}
	l.left = true
	if !l.granted {
		s.remove(l)
		return
	}
	s.running--
	s.tenant(l.of.tenant).running--
	delete(s.busy, l.of)
	if waiting := s.entering[l.of]; len(waiting) > 0 {
		next := waiting[0]
		s.remove(next)
		s.start(next)
	}
	s.grant()
}

// Load returns how many runs execute and wait.
func (s *Slots) Load() (running, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running, s.waiting
}

// TenantLoad returns how many runs of a tenant execute and wait.
func (s *Slots) TenantLoad(name string) (running, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tenant(name)
	return t.running, len(t.waiting)
}

func (s *Slots) tenant(name string) *tenant {
	t := s.tenants[name]
	if t == nil {
		t = &tenant{}
		s.tenants[name] = t
	}
	return t
}

// grant gives free slots to waiting runs.
func (s *Slots) grant() {
	for refused := 0; refused < len(s.order) && (s.limits.Running == 0 || s.running < s.limits.Running); {
		name := s.order[0]
		s.order = append(s.order[1:], name) // the next one's turn
		next := s.next(s.tenant(name))
		if next == nil {
			refused++
			continue
		}
		refused = 0
		s.remove(next)
		s.start(next)
	}
}

// next returns the oldest waiting run of a tenant that may execute, or nil.
func (s *Slots) next(t *tenant) *Slot {
	if limit := s.limits.RunningPerTenant; limit > 0 && t.running >= limit {
		return nil
	}
	i := slices.IndexFunc(t.waiting, func(l *Slot) bool { return !s.busy[l.of] })
	if i < 0 {
		return nil
	}
	return t.waiting[i]
}

func (s *Slots) start(l *Slot) {
	l.granted = true
	close(l.ready)
	s.running++
	s.tenant(l.of.tenant).running++
	if l.of.id != "" {
		s.busy[l.of] = true
	}
}

// withdraw ends all calls of Enter of a slot that is not ready.
func (s *Slots) withdraw(l *Slot) {
	if s.entering[l.of] = slices.DeleteFunc(s.entering[l.of], func(other *Slot) bool { return other == l }); len(s.entering[l.of]) == 0 {
		delete(s.entering, l.of)
	}
}

// remove removes a run that waits.
func (s *Slots) remove(l *Slot) {
	s.withdraw(l)
	t := s.tenant(l.of.tenant)
	i := slices.Index(t.waiting, l)
	if i < 0 {
		return
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	s.waiting--
	if len(t.waiting) == 0 {
		s.order = slices.DeleteFunc(s.order, func(name string) bool { return name == l.of.tenant })
	}
}
