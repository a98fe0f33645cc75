package tool_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/tool"
)

// JSON omits what does not fit, the oldest results first, and sets truncated.
func TestPlanContextFitsTheLimit(t *testing.T) {
	long := strings.Repeat("x", 100)
	c := &tool.PlanContext{Objective: "o", Goal: "g", Plan: []tool.PlanContextStep{
		{ID: "a", Goal: "g", Status: "ok", Result: long}, {ID: "b", Goal: "g", Status: "ok", Result: "kept"},
	}}
	whole := string(c.JSON(1 << 10))
	for _, tt := range []struct {
		max  int
		want string
	}{
		{len(whole), whole},
		{len(whole) - 1, `{"objective":"o","goal":"g","plan":[{"id":"a","goal":"g","status":"ok"},{"id":"b","goal":"g","status":"ok","result":"kept"}],"truncated":true}`},
		{60, `{"objective":"o","goal":"g","plan":[],"truncated":true}`},
		{10, `{"objective":"","goal":"","plan":[],"truncated":true}`},
	} {
		if got := string(c.JSON(tt.max)); got != tt.want {
			t.Errorf("JSON(%d) = %s, want %s", tt.max, got, tt.want)
		}
	}
	if c.Plan[0].Result != long {
		t.Error("JSON changed the context")
	}
	var none *tool.PlanContext
	if none.JSON(10) != nil {
		t.Error("nil has JSON")
	}
}
