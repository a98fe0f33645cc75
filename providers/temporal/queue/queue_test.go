package queue_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/temporal/queue"
)

func TestNamesOfQueues(t *testing.T) {
	long := strings.Repeat("ä", 60)
	for _, c := range []struct{ got, want string }{
		{queue.LLM("main"), "pex.llm.main"},
		{queue.LLM("gpt-5_mini"), "pex.llm.gpt-5_mini"},
		{queue.LLM("a.b"), "pex.llm.a%2Eb"},
		{queue.LLM("a%2Eb"), "pex.llm.a%252Eb"},
		{queue.LLM("größe 1/2\n"), "pex.llm.gr%C3%B6%C3%9Fe%201%2F2%0A"},
		{queue.LLM(""), "pex.llm."},
		{queue.ToolOn(""), "pex.tool"},
		{queue.ToolOn("gpu-1"), "pex.tool.gpu-1"},
		{queue.LLM(long), "pex.llm." + strings.Repeat("%C3%A4", 8) + "%C~ae47adceb80f75d46afc10b0270f7dda"},
	} {
		if c.want != c.got {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func FuzzQueuesDiffer(f *testing.F) {
	f.Add("a", "A")
	f.Add("a.b", "a%2Eb")
	f.Add(strings.Repeat("x", 101), strings.Repeat("x", 102))
	f.Add("~", "\x00")
	valid := regexp.MustCompile(`^pex\.llm\.[A-Za-z0-9_%~-]{0,100}$`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if (a == b) != (queue.LLM(a) == queue.LLM(b)) {
			t.Errorf("%q and %q: %s and %s", a, b, queue.LLM(a), queue.LLM(b))
		}
		if (a == b) != (queue.ToolOn(a) == queue.ToolOn(b)) {
			t.Errorf("%q and %q: %s and %s", a, b, queue.ToolOn(a), queue.ToolOn(b))
		}
		if !valid.MatchString(queue.LLM(a)) {
			t.Errorf("%q: %q", a, queue.LLM(a))
		}
		if (a == b) != (queue.Share(a) == queue.Share(b)) || len(queue.Share(a).FairnessKey) > 64 {
			t.Errorf("%q and %q: shares %v and %v", a, b, queue.Share(a), queue.Share(b))
		}
	})
}

func program(name string, limits map[string]int, agents ...*engine.Program) *engine.Program {
	p := &engine.Program{Name: name, Agents: agents}
	for llm, n := range limits {
		p.Models = append(p.Models, engine.ModelSpec{Name: llm, RateLimit: model.RateLimit{RequestsPerMinute: n}})
	}
	return p
}

func TestLimitsOfQueuesComeFromSpecs(t *testing.T) {
	inner := program("inner", map[string]int{"slow": 30})
	got, err := queue.Limits(program("a", map[string]int{"main": 1200, "free": 0}, inner), program("b", map[string]int{"main": 1200}))
	if diff := cmp.Diff(map[string]float64{"pex.llm.main": 20, "pex.llm.free": 0, "pex.llm.slow": 0.5}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestProgramsWithOtherLimitsConflict(t *testing.T) {
	inner := program("inner", map[string]int{"main": 0})
	_, err := queue.Limits(program("outer", map[string]int{"main": 60}, inner))
	const want = "the llm main has rate_limit.requests_per_minute 60 in outer and none in inner, but both share the task queue pex.llm.main; use the same limit, or rename one of the llms"
	if _, ok := errors.AsType[*queue.ConflictError](err); !ok || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
