package openai_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/server/openai"
	"github.com/pexctl/pex/server/turn"
)

var sequence = regexp.MustCompile(`"sequence_number":(\d+)`)

// A stream that starts after an event has exactly the rest of the stream, wherever it was cut.
func TestAResponseResumesAfterEachEvent(t *testing.T) {
	w := newWorld(t, openai.Options{}, time.Hour)
	_, full := w.post("ann", "/v1/responses", `{"model": "desk", "input": "add", "stream": true, "background": true}`)
	run := runID.FindString(full)
	decide := `{"model": "desk", "stream": true, "input": [{"type": "mcp_approval_response", "approval_request_id": "mcpr_%s_9", "approve": true}]}`
	_, rest := w.post("ann", "/v1/responses", fmt.Sprintf(decide, run))
	for id, stream := range map[string]string{run: "", run + "~9": rest} {
		if stream == "" { // the whole run has no end at the question, which was answered
			stream = w.Do(w.handler, openai.Form(), "ann", "GET", "/v1/responses/resp_"+id+"?stream=true", "", nil).Body.String()
		}
		events := strings.SplitAfter(stream, "\n\n")
		for i, e := range events[:len(events)-1] {
			n := sequence.FindStringSubmatch(e)[1]
			got := w.Do(w.handler, openai.Form(), "ann", "GET", "/v1/responses/resp_"+id+"?stream=true&starting_after="+n, "", nil).Body.String()
			if want := strings.Join(events[i+1:], ""); got != want {
				t.Errorf("%s after %s:\n%s\nwant\n%s", id, n, got, want)
			}
			if next := sequence.FindStringSubmatch(events[i+1]); next != nil {
				if a, b := number(n), number(next[1]); a >= b {
					t.Errorf("%s: %d is followed by %d", id, a, b)
				}
			}
		}
	}
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// The responses of an agent that is not exposed, and those of another tenant, do not exist.
func TestResponsesOfOthersDoNotExist(t *testing.T) {
	w := newWorld(t, openai.Options{}, time.Hour)
	_, body := w.post("ann", "/v1/responses", `{"model": "hello", "input": "hi"}`)
	id := "resp_" + runID.FindString(body)
	for _, path := range []string{"", "?stream=true", "/input_items", "/cancel"} {
		method := map[bool]string{true: "POST", false: "GET"}[path == "/cancel"]
		theirs := w.Do(w.handler, openai.Form(), "eve", method, "/v1/responses/"+id+path, "", nil)
		if theirs.Code != 404 || !strings.Contains(theirs.Body.String(), `"code":"not_found"`) {
			t.Errorf("%s: %d %s", path, theirs.Code, theirs.Body)
		}
	}
	if status, body := w.post("eve", "/v1/responses", `{"model": "hello", "input": "hi", "previous_response_id": "`+id+`"}`); status != 404 {
		t.Error(status, body)
	}
}

// A message to a response in progress is sent to its run.
func TestAMessageToAResponseInProgress(t *testing.T) {
	w := newWorld(t, openai.Options{}, time.Hour)
	_, body := w.post("ann", "/v1/responses", `{"model": "slow", "input": "hi", "background": true}`)
	run := runID.FindString(body)
	for seq := 0; seq < 2; time.Sleep(time.Millisecond) {
		state, _, err := turn.Read(t.Context(), w.Client("ann"), run)
		if err != nil {
			t.Fatal(err)
		}
		seq = state.Seq
	}
	further := `{"model": "slow", "input": "and hurry", "background": true, "previous_response_id": "resp_` + run + `"}`
	if status, body := w.post("ann", "/v1/responses", further); status != 200 || !strings.Contains(body, `"id":"resp_`+run+`~2"`) || !strings.Contains(body, `"in_progress"`) {
		t.Error(status, body)
	}
	if status, body := w.post("ann", "/v1/responses", strings.Replace(further, "slow", "hello", 1)); status != 400 || !strings.Contains(body, `"param":"model"`) {
		t.Error(status, body)
	}
	if status, body := w.post("ann", "/v1/responses/resp_"+run+"/cancel", ""); status != 200 || !strings.Contains(body, `"cancelled"`) {
		t.Error(status, body)
	}
	if status, body := w.post("ann", "/v1/responses/resp_"+run+"/cancel", ""); status != 200 || !strings.Contains(body, `"cancelled"`) {
		t.Error("again:", status, body)
	}
	if _, changes, err := turn.Read(t.Context(), w.Client("ann"), run); err != nil || !slices.ContainsFunc(changes, func(c turn.Change) bool { return c.Kind == turn.Received && c.Text == "and hurry" }) {
		t.Errorf("%v %+v", err, changes)
	}
	if w.Runs() != 1 {
		t.Error("another run was started")
	}
}
