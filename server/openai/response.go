package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/turn"
)

// responseID identifies a response: the part of a run after an event.
type responseID struct {
	run   string
	after int // number of the event; 0 = the whole run
}

const responsePrefix = "resp_"

// String returns resp_RUN, or resp_RUN~EVENT for what follows an answer.
func (id responseID) String() string {
	if id.after == 0 {
		return responsePrefix + id.run
	}
	return fmt.Sprintf("%s%s~%d", responsePrefix, id.run, id.after)
}

// parseResponse parses the result of String.
func parseResponse(s string) (id responseID, ok bool) {
	rest, ok := strings.CutPrefix(s, responsePrefix)
	run, after, isPart := strings.Cut(rest, "~")
	if id.run = run; isPart {
		n, err := strconv.Atoi(after)
		id.after, ok = n, ok && err == nil && n > 0
	}
	return id, ok && run != ""
}

// The labels of runs with what a response shows of its request.
const (
	previousLabel   = "openai/previous_response_id"
	backgroundLabel = "openai/background"
)

// responseObject is a response.
type responseObject struct {
	ID                 string             `json:"id"`
	Object             string             `json:"object"`
	CreatedAt          int64              `json:"created_at"`
	Status             string             `json:"status"`
	Background         bool               `json:"background"`
	CompletedAt        *int64             `json:"completed_at"`
	Error              *responseError     `json:"error"`
	IncompleteDetails  *incompleteDetails `json:"incomplete_details"`
	Instructions       *string            `json:"instructions"`
	MaxOutputTokens    *int               `json:"max_output_tokens"`
	Metadata           map[string]string  `json:"metadata"`
	Model              string             `json:"model"`
	Output             []*item            `json:"output"`
	ParallelToolCalls  bool               `json:"parallel_tool_calls"`
	PreviousResponseID *string            `json:"previous_response_id"`
	Conversation       *conversationRef   `json:"conversation"`
	Store              bool               `json:"store"`
	Temperature        *float64           `json:"temperature"`
	Text               json.RawMessage    `json:"text"`
	ToolChoice         string             `json:"tool_choice"`
	Tools              []struct{}         `json:"tools"`
	TopP               *float64           `json:"top_p"`
	Truncation         string             `json:"truncation"`
	Usage              *responseUsage     `json:"usage"`
	Pex                *extension         `json:"pex"`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type incompleteDetails struct {
	Reason string `json:"reason"`
}

type conversationRef struct {
	ID string `json:"id"`
}

type responseUsage struct {
	Input     int `json:"input_tokens"`
	InputMore struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output     int `json:"output_tokens"`
	OutputMore struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

// view is a response of a run.
type view struct {
	id     responseID
	client *access.Client
	input  engine.Input
	began  time.Time
	output *output
}

// newView returns the response with an id. send receives its events.
func newView(c *access.Client, id responseID, send func(event)) (*view, error) {
	start, err := c.Runs.StartOf(id.run)
	if err != nil {
		return nil, err
	}
	return &view{id: id, client: c, input: start.Input, began: start.At, output: &output{run: id.run, send: send}}, nil
}

// read returns the response as the journal has it.
func read(ctx context.Context, c *access.Client, id responseID) (*responseObject, error) {
	v, err := newView(c, id, func(event) {})
	if err != nil {
		return nil, err
	}
	t, err := turn.Replay(ctx, c, id.run, v.apply)
	if err != nil {
		return nil, err
	}
	return v.object(t), nil
}

// apply adds a change that the response shows.
func (v *view) apply(t *turn.Turn, c turn.Change) {
	if c.Seq > v.id.after {
		v.output.apply(t, c)
	}
}

// object returns the response in a state of the run.
func (v *view) object(t *turn.Turn) *responseObject {
	labels, output := maps.Clone(v.input.Labels), make([]*item, len(v.output.items))
	for i, item := range v.output.items {
		shown := *item
		output[i] = &shown
	}
	o := &responseObject{
		ID: v.id.String(), Object: "response", CreatedAt: v.began.Unix(), Model: v.input.Agent, Output: output,
		ParallelToolCalls: true, Store: true, Text: json.RawMessage(`{"format":{"type":"text"}}`), ToolChoice: "auto", Tools: []struct{}{}, Truncation: "disabled",
		Background: labels[backgroundLabel] != "", Metadata: map[string]string{}, Pex: &extension{v.id.run, t.Status, t.Open},
	}
	if v.id.after > 0 {
		whole := responseID{run: v.id.run}.String()
		o.PreviousResponseID = &whole
	} else if previous, ok := labels[previousLabel]; ok {
		o.PreviousResponseID = &previous
	}
	if v.input.MemoryID != "" {
		o.Conversation = &conversationRef{v.input.MemoryID}
	}
	maps.Copy(o.Metadata, labels)
	delete(o.Metadata, previousLabel)
	delete(o.Metadata, backgroundLabel)
	o.setStatus(t, v.client)
	return o
}

// setStatus sets the status, and what explains it. A run that waits for an answer has
// completed a response: what follows the answer is the next one.
func (o *responseObject) setStatus(t *turn.Turn, c *access.Client) {
	switch failed := runError(t); {
	case t.Status == "" && t.WaitsFor(t.Open):
		o.Status, o.Pex.Status = "completed", stop.RunInterrupted
	case t.Status == "":
		o.Status = "in_progress"
		if _, queued := c.Manager.Running(o.Pex.RunID); queued {
			o.Status = "queued"
		}
		return
	case t.Status == stop.RunCancelled:
		o.Status = "cancelled"
	case failed != nil:
		o.Status, o.Error = "failed", &responseError{"server_error", failed.message}
	case finishReason(t) == "length":
		o.Status, o.IncompleteDetails = "incomplete", &incompleteDetails{"max_output_tokens"}
	case finishReason(t) == "content_filter":
		o.Status, o.IncompleteDetails = "incomplete", &incompleteDetails{"content_filter"}
	default:
		o.Status = "completed"
	}
	at, n := t.At.Unix(), t.Usage.Tokens
	o.CompletedAt = &at
	o.Usage = &responseUsage{Input: n.Input, Output: n.Output, Total: n.Total()}
	o.Usage.InputMore.Cached, o.Usage.OutputMore.Reasoning = n.Cached, n.Reasoning
}
