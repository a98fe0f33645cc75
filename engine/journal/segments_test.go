package journal_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
)

var tools = journal.Field{Name: "tools", JSON: json.RawMessage(`[{"name":"THE TOOL","description":"` + strings.Repeat("adds. ", 50) + `"}]`)}

// conversation is the requests of a plan-execute-reflect run of k steps: a
// prompt whose list of done steps grows in the middle of it, and for each step
// a conversation that grows by two messages a turn.
func conversation(k int) (reqs []journal.Request) {
	system := journal.Message{Head: json.RawMessage(`{"role":"system"}`), Text: []string{"THE SYSTEM PROMPT: " + strings.Repeat("be diligent. ", 20)}}
	user := json.RawMessage(`{"role":"user"}`)
	done := []string{"\n## DONE\n"}
	for i := range k {
		prompt := append([]string{"## OBJECTIVE\nadd up\n## PLAN\n", fmt.Sprintf("plan %d", i)}, done...)
		step := []journal.Message{system, {Head: user, Text: append(prompt, "Your task is: ", fmt.Sprintf("step %d", i))}}
		for turn := range 3 {
			reqs = append(reqs, journal.Request{Messages: slices.Clip(step), Fields: []journal.Field{{Name: "role", JSON: json.RawMessage(`"executor"`)}, tools}})
			step = append(step,
				journal.Message{Head: fmt.Appendf(nil, `{"role":"assistant","calls":[%d]}`, turn), Text: nil},
				journal.Message{Head: json.RawMessage(`{"role":"tool"}`), Text: []string{fmt.Sprintf("result %d.%d", i, turn)}})
		}
		done = append(done, fmt.Sprintf("Step %d: %s\n", i, strings.Repeat("was done. ", 3)))
	}
	return reqs
}

func encodeAll(t testing.TB, s *journal.Segments, reqs []journal.Request) (bodies [][]byte, size int) {
	t.Helper()
	for _, q := range reqs {
		b, err := s.Encode(q)
		if err != nil {
			t.Fatal(err)
		}
		bodies, size = append(bodies, b), size+len(b)
	}
	return bodies, size
}

func TestSegmentsGiveEveryRequestBack(t *testing.T) {
	reqs := conversation(12)
	reqs = append(reqs, journal.Request{}, journal.Request{Messages: []journal.Message{{Text: []string{"", "x", "x", "x", "x", "x"}}, {Text: []string{"x", "x", "x"}}}})
	bodies, _ := encodeAll(t, &journal.Segments{}, reqs)
	var s journal.Segments
	for i, b := range bodies {
		got, err := s.Decode(b)
		if err != nil {
			t.Fatal(i, err)
		}
		if d := cmp.Diff(reqs[i], got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("request %d (-want +got):\n%s", i, d)
		}
	}
}

func TestEachTextStandsOnce(t *testing.T) {
	bodies, _ := encodeAll(t, &journal.Segments{}, conversation(10))
	all := ""
	for _, b := range bodies {
		all += string(b)
	}
	for _, text := range []string{"THE SYSTEM PROMPT", "THE TOOL", "## OBJECTIVE", "Step 3: ", "result 7.1"} {
		if n := strings.Count(all, text); n != 1 {
			t.Errorf("%q stands %d times", text, n)
		}
	}
}

func TestRequestsGrowLinearly(t *testing.T) {
	_, small := encodeAll(t, &journal.Segments{}, conversation(40))
	_, large := encodeAll(t, &journal.Segments{}, conversation(160))
	if ratio := float64(large) / float64(small); ratio > 4.4 {
		t.Fatalf("four times the steps take %.2f times the bytes (%d, %d)", ratio, small, large)
	}
}

// A goal is a field as JSON and part of a prompt as it is.
func TestALongFieldSharesTheTextOfAPrompt(t *testing.T) {
	goal := "Find the item \"A\" and\nadd it to the running total."
	q := journal.Request{
		Messages: []journal.Message{{Text: []string{"Your step: ", goal}}},
		Fields:   []journal.Field{{Name: "step", JSON: jsonvalue.AppendString(nil, goal)}, {Name: "like", JSON: json.RawMessage(`"` + strings.Repeat(`\u0041`, 9) + `"`)}},
	}
	bodies, _ := encodeAll(t, &journal.Segments{}, []journal.Request{q})
	if n := strings.Count(string(bodies[0]), "running total"); n != 1 {
		t.Errorf("it stands %d times: %s", n, bodies[0])
	}
	got, err := new(journal.Segments).Decode(bodies[0])
	if d := cmp.Diff(q, got, cmpopts.EquateEmpty()); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

func TestFieldsOfTheFirstJournalsAreRead(t *testing.T) {
	var s journal.Segments
	got, err := s.Decode([]byte(`{"new":{"1":"[\"a long list\"]"},"messages":[],"fields":[{"name":"role","json":"x"},{"name":"tools","text":1}]}`))
	want := journal.Request{Fields: []journal.Field{{Name: "role", JSON: json.RawMessage(`"x"`)}, {Name: "tools", JSON: json.RawMessage(`["a long list"]`)}}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Fatalf("%v (-want +got):\n%s", err, d)
	}
	if _, err := s.Encode(want); err != nil {
		t.Fatal("not to be built on:", err)
	}
}

// A run that was cut goes on with the same references.
func TestKeptRequestsAreBuiltOn(t *testing.T) {
	reqs := conversation(6)
	want, _ := encodeAll(t, &journal.Segments{}, reqs)
	for cut := range want {
		var s journal.Segments
		for _, b := range want[:cut] {
			s.AddRecorded(b)
		}
		got, _ := encodeAll(t, &s, reqs[cut:])
		if d := cmp.Diff(want[cut:], got); d != "" {
			t.Fatalf("cut at %d: %s", cut, d)
		}
	}
}

func TestHostileRequestsAreErrors(t *testing.T) {
	double := `{"new":{"1":"x"},"defs":{"1":{"text":[1,1]}},"messages":[1]}`
	for name, body := range map[string]string{
		"not JSON":         `{`,
		"unknown text":     `{"defs":{"1":{"text":[9]}},"messages":[]}`,
		"unknown message":  `{"messages":[9]}`,
		"negative":         `{"messages":[-1]}`,
		"run out of range": `{"messages":[[0,5]]}`,
		"negative run":     `{"messages":[[-1,1]]}`,
		"empty run":        `{"messages":[[0,0]]}`,
		"gap in texts":     `{"new":{"2":"x"},"messages":[]}`,
		"unknown field":    `{"messages":[],"fields":[{"name":"a","text":7}]}`,
		"unset field":      `{"messages":[],"with":[1]}`,
		"gap in fields":    `{"messages":[],"sets":{"2":{"name":"a","json":1}},"with":[]}`,
		"unknown string":   `{"messages":[],"sets":{"1":{"name":"a","string":1}},"with":[1]}`,
		"negative string":  `{"messages":[],"sets":{"1":{"name":"a","string":-1}},"with":[1]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := new(journal.Segments).Decode([]byte(body)); err == nil || !strings.Contains(err.Error(), "recorded request") {
				t.Fatal(err)
			}
			var s journal.Segments
			s.AddRecorded([]byte(body))
			if _, err := s.Encode(journal.Request{}); err == nil {
				t.Fatal("built on nonsense")
			}
		})
	}
	var s journal.Segments
	if _, err := s.Decode([]byte(double)); err != nil {
		t.Fatal(err)
	}
	for i, n := 2, 2; ; i, n = i+1, 2*n {
		_, err := s.Decode(fmt.Appendf(nil, `{"defs":{"%d":{"head":%d,"text":[[0,%d]]}},"messages":[]}`, i, i, n))
		if err != nil && strings.Contains(err.Error(), "too much") {
			break
		}
		if err != nil || i > 64 {
			t.Fatal(i, err)
		}
	}
}
