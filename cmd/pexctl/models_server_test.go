package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// chatAsked holds the parts of a request that the fake server reads.
type chatAsked struct {
	Model    string
	Stream   bool
	Tools    []json.RawMessage
	Format   json.RawMessage `json:"response_format"`
	Messages []struct {
		Role    string
		Content string
	}
}

// startVendor starts a server with OpenAI's protocol. The name of the model
// selects what it does not support: good, serial, toolless, textual, uncounted,
// cut, thinker. Other models do not exist, and keys other than right are
// rejected. busy accepts any key and rejects every other request.
func startVendor(t *testing.T) (url string) {
	t.Helper()
	var busy atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q chatAsked
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			refuse(w, http.StatusBadRequest, "no JSON")
			return
		}
		switch {
		case q.Model == "busy" && busy.Add(1)%2 == 1:
			w.Header().Set("Retry-After-Ms", "20")
			refuse(w, http.StatusTooManyRequests, "the quota of "+r.Header.Get("Authorization")+" is used up")
		case q.Model == "busy":
			answerChat(w, &q)
		case r.Header.Get("Authorization") != "Bearer right":
			refuse(w, http.StatusUnauthorized, "Incorrect API key provided: "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		case !strings.Contains(" good serial toolless textual uncounted cut thinker ", " "+q.Model+" "):
			refuse(w, http.StatusNotFound, "The model `"+q.Model+"` does not exist")
		case q.Model == "toolless" && len(q.Tools) > 0:
			refuse(w, http.StatusBadRequest, "toolless does not support tools")
		default:
			answerChat(w, &q)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"message":%q}}`, message)
}

func answerChat(w http.ResponseWriter, q *chatAsked) {
	message, finish := chatMessage(q)
	usage := `{"prompt_tokens":40,"completion_tokens":10,"total_tokens":50}`
	if q.Model == "uncounted" {
		usage = "null"
	}
	if !q.Stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"model":%q,"choices":[{"index":0,"finish_reason":%q,"message":%s}],"usage":%s}`, q.Model, finish, message, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, piece := range []string{"1 2 ", "3 4 ", "5"} {
		if q.Model != "thinker" {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", piece)
		}
	}
	if q.Model == "cut" {
		return
	}
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\n", finish)
	fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":%s}\n\ndata: [DONE]\n\n", usage)
}

// chatMessage returns the model's message, and why it stops.
func chatMessage(q *chatAsked) (message, finish string) {
	call := func(id, name string) string {
		return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"lookup_code","arguments":%q}}`, id, `{"name":"`+name+`"}`)
	}
	calls := func(list ...string) string {
		return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(list, ",") + `]}`
	}
	var results []string
	for _, m := range q.Messages {
		if m.Role == "tool" {
			results = append(results, m.Content)
		}
	}
	switch {
	case q.Model == "thinker":
		return `{"role":"assistant","content":""}`, "length"
	case len(q.Tools) > 0 && len(results) == 0 && q.Model == "serial":
		return calls(call("c1", "alpha")), "tool_calls"
	case len(q.Tools) > 0 && len(results) == 1:
		return calls(call("c2", "beta")), "tool_calls"
	case len(q.Tools) > 0 && len(results) == 0:
		return calls(call("c1", "alpha"), call("c2", "beta")), "tool_calls"
	case len(results) > 0:
		return fmt.Sprintf(`{"role":"assistant","content":%q}`, strings.Join(results, " ")), "stop"
	case q.Model == "busy":
		return `{"role":"assistant","content":"{\"result\": \"done\"}"}`, "stop"
	case len(q.Format) > 0 && q.Model != "textual":
		return `{"role":"assistant","content":"{\"spot\":\"Oslo\",\"letters\":4,\"side\":\"north\"}"}`, "stop"
	}
	return `{"role":"assistant","content":"pong"}`, "stop"
}
