package manager

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Tenants take turns, and within a tenant the oldest run is first.
func TestTenantsTakeTurns(t *testing.T) {
	s := NewSlots(Limits{Running: 1, RunningPerTenant: 9, Waiting: 99})
	first := s.New("a", "")
	if err := first.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	var order []string
	slots := map[string]*Slot{}
	for _, name := range []string{"a1", "a2", "a3", "b1", "b2", "c1"} {
		slot, err := s.Reserve(name[:1], "")
		if err != nil {
			t.Fatal(err)
		}
		slots[name] = slot
	}
	for running := first; ; {
		running.Leave()
		running = nil
		for name, slot := range slots {
			if slot.Granted() {
				order, running = append(order, name), slot
				delete(slots, name)
			}
		}
		if running == nil {
			break
		}
	}
	if want := []string{"a1", "b1", "c1", "a2", "b2", "a3"}; !slices.Equal(order, want) {
		t.Error(order)
	}
	if running, waiting := s.Load(); running != 0 || waiting != 0 || len(s.busy) != 0 || len(s.order) != 0 {
		t.Error(running, waiting, s.busy, s.order)
	}
}

func TestATenantDoesNotTakeTheSlotsOfOthers(t *testing.T) {
	s := NewSlots(Limits{Running: 3, RunningPerTenant: 2, Waiting: 99})
	granted := func(tenant string) bool {
		slot, err := s.Reserve(tenant, "")
		return err == nil && slot.Granted()
	}
	if got := []bool{granted("a"), granted("a"), granted("a"), granted("b"), granted("b")}; !slices.Equal(got, []bool{true, true, false, true, false}) {
		t.Error(got)
	}
}

func TestAConversationExecutesOneRunAtATime(t *testing.T) {
	s := NewSlots(Limits{Running: 9, RunningPerTenant: 9, Waiting: 99})
	var slots []*Slot
	for i := range 4 {
		slot, err := s.Reserve("a", []string{"x", "x", "y", ""}[i])
		if err != nil {
			t.Fatal(err)
		}
		slots = append(slots, slot)
	}
	state := func() string {
		return fmt.Sprint(slots[0].Granted(), slots[1].Granted(), slots[2].Granted(), slots[3].Granted())
	}
	if state() != "true false true true" {
		t.Error(state())
	}
	slots[0].Leave()
	slots[0].Leave() // has no effect
	if !slots[1].Granted() {
		t.Error("the second run of the conversation waits for nothing")
	}
}

func TestAFullQueueTakesNothing(t *testing.T) {
	s := NewSlots(Limits{Running: 1, RunningPerTenant: 1, Waiting: 1})
	running, _ := s.Reserve("a", "")
	waiting, err := s.Reserve("a", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reserve("a", ""); !errors.Is(err, ErrQueueFull) {
		t.Error(err)
	}
	waiting.Leave()
	if _, err := s.Reserve("b", ""); err != nil {
		t.Error(err)
	}
	running.Leave()
	if n, waiting := s.Load(); n != 1 || waiting != 0 {
		t.Error(n, waiting)
	}
}

// A tenant that fills the queue does not block the others.
func TestAFullQueueTakesTheFirstRunOfEachTenant(t *testing.T) {
	s := NewSlots(Limits{Running: 1, Waiting: 2})
	var got []string
	for _, tenant := range []string{"a", "a", "a", "a", "b", "b", "c"} {
		slot, err := s.Reserve(tenant, "")
		switch {
		case err != nil:
			got = append(got, tenant+" "+err.Error())
		case slot.Granted():
			got = append(got, tenant+" runs")
		default:
			got = append(got, tenant+" waits")
		}
	}
	full := " " + ErrQueueFull.Error()
	if want := []string{"a runs", "a waits", "a waits", "a" + full, "b waits", "b" + full, "c waits"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	none := NewSlots(Limits{Running: 1})
	for _, tenant := range []string{"a", "b"} {
		if _, err := none.Reserve(tenant, ""); errors.Is(err, ErrQueueFull) != (tenant == "b") {
			t.Errorf("without a queue: %s: %v", tenant, err)
		}
	}
}

func TestATenantStartsSoManyRunsPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(Limits{Waiting: 99, PerMinutePerTenant: 2})
		for range 2 {
			if _, err := s.Reserve("a", ""); err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.Reserve("a", "")
		if rate, ok := errors.AsType[*RateError](err); !ok || rate.RetryAfter != 30*time.Second {
			t.Fatal(err)
		}
		if _, err := s.Reserve("b", ""); err != nil {
			t.Error("another tenant:", err)
		}
		time.Sleep(30 * time.Second)
		if _, err := s.Reserve("a", ""); err != nil {
			t.Error(err)
		}
	})
}

// A run that a human continues waits while another run of its conversation executes, and is
// next.
func TestAContinuedRunWaitsForItsConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(Limits{Running: 9, Waiting: 99})
		var slots []*Slot
		for range 2 {
			slot, err := s.Reserve("a", "x")
			if err != nil {
				t.Fatal(err)
			}
			slots = append(slots, slot)
		}
		entered := s.New("a", "x")
		done := make(chan error, 1)
		go func() { done <- entered.Enter(t.Context()) }()
		synctest.Wait()
		late := s.New("a", "x")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := late.Enter(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		late.Leave()
		if entered.Granted() || slots[1].Granted() {
			t.Error("two runs of a conversation execute")
		}
		slots[0].Leave()
		if err := <-done; err != nil || slots[1].Granted() {
			t.Error("the continued run was not the next:", err)
		}
		entered.Leave()
		slots[1].Leave()
		if running, waiting := s.Load(); running != 0 || waiting != 0 || len(s.busy) != 0 || len(s.entering) != 0 {
			t.Error(running, waiting, s.busy, s.entering)
		}
	})
}
