package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/orderedjson"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
)

// Schema returns the JSON Schema of the parameters of an agent.
func (c *Client) Schema(ctx context.Context, agent string) (schema Schema, err error) {
	err = c.get(ctx, "/v1/agents/"+url.PathEscape(agent)+"/schema", &schema)
	return schema, err
}

// Schema is the JSON Schema of the parameters of an agent.
type Schema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

// Agents returns the names of the agents of the server.
func (c *Client) Agents(ctx context.Context) (names []string, err error) {
	var list struct {
		Agents []struct {
			Name string `json:"name"`
		} `json:"agents"`
	}
	err = c.get(ctx, "/v1/agents", &list)
	for _, a := range list.Agents {
		names = append(names, a.Name)
	}
	return names, err
}

// AgentModel is a model that an agent uses.
type AgentModel struct {
	Name     string `json:"name"` // under llms of the spec
	Provider string `json:"provider"`
	Model    string `json:"model"`
}

// AgentModels returns the models of an agent.
func (c *Client) AgentModels(ctx context.Context, agent string) ([]AgentModel, error) {
	var a struct {
		Models []AgentModel `json:"models"`
	}
	err := c.get(ctx, "/v1/agents/"+url.PathEscape(agent), &a)
	return a.Models, err
}

// NewRun is a run to be started.
type NewRun struct {
	Question         string            `json:"question,omitempty"`
	Parameters       map[string]any    `json:"parameters,omitempty"`
	MemoryID         string            `json:"memory_id,omitempty"`
	ExecutorMemoryID string            `json:"executor_memory_id,omitempty"`
	Earlier          []Message         `json:"earlier,omitempty"`
	Set              []string          `json:"set,omitempty"`
	Files            []File            `json:"files,omitempty"`
	Labels           map[string]string `json:"labels,omitempty"`
	RunID            string            `json:"run_id"`
}

// File is an uploaded file for a run.
type File struct {
	Name     string `json:"name"`     // in prompts
	Artifact string `json:"artifact"` // see Upload
}

// Upload uploads a file for runs and returns its id. open opens it; a broken connection is
// repeated.
func (c *Client) Upload(ctx context.Context, open func() (io.ReadCloser, error)) (id string, err error) {
	err = c.retry(ctx, func() error {
		file, err := open()
		if err != nil {
			return err
		}
		defer file.Close()
		ctx, cancel := context.WithTimeout(ctx, uploadTime)
		defer cancel()
		_, b, err := c.receive(ctx, http.MethodPost, "/v1/artifacts", file)
		if err != nil {
			return err
		}
		var stored struct {
			SHA256 string `json:"sha256"`
		}
		err = decode(c.base, b, &stored)
		id = stored.SHA256
		return err
	})
	return id, err
}

// Message is a message of the conversation before a run.
type Message struct {
	Role    string `json:"role"` // user or assistant
	Content string `json:"content"`
}

// Start starts a run. A broken connection is repeated: the id makes sure that only one run
// is started.
func (c *Client) Start(ctx context.Context, agent string, n NewRun) error {
	return c.retry(ctx, func() error {
		_, _, err := c.call(ctx, http.MethodPost, "/v1/agents/"+url.PathEscape(agent)+"/runs", n)
		return err
	})
}

// IsLive reports whether a run with a status executes, or waits for its turn.
func IsLive(status stop.RunStatus) bool { return status == runs.Running || status == "queued" }

// Result returns the result of a run, and its JSON as the server sent it, without links.
func (c *Client) Result(ctx context.Context, run string, conversation bool) (*engine.Result, json.RawMessage, error) {
	path := runPath(run, "")
	if conversation {
		path += "?include=conversation"
	}
	var raw json.RawMessage
	if err := c.retry(ctx, func() error { return c.get(ctx, path, &raw) }); err != nil {
		return nil, nil, err
	}
	if all, ok := orderedjson.Parse(raw); ok && all.Get("links") != nil { // which a local run does not have
		raw = slices.DeleteFunc(all, func(m orderedjson.Member) bool { return m.Name == "links" }).JSON()
	}
	var res engine.Result
	var compact bytes.Buffer // parts that stay JSON are shown on one line
	err := json.Compact(&compact, raw)
	if err == nil {
		err = decode(c.base, compact.Bytes(), &res)
	}
	if string(res.Output) == "null" {
		res.Output = nil
	}
	return &res, raw, err
}

// Page is a page of runs, latest first.
type Page struct {
	Runs []runs.Summary `json:"runs"`
	Next string         `json:"next"` // cursor of the next page; "" = this is the last
}

// Filter selects runs. Its zero value selects all.
type Filter struct {
	Status   string            // a status or stop reason
	Prefix   string            // start of the id
	MemoryID string            // conversation
	Agent    string            // name
	Labels   map[string]string // all of them
}

// List returns a page of at most limit runs.
func (c *Client) List(ctx context.Context, f Filter, limit int, cursor string) (page Page, err error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	for name, value := range map[string]string{"status": f.Status, "prefix": f.Prefix, "memory_id": f.MemoryID, "agent": f.Agent, "cursor": cursor} {
		if value != "" {
			query.Set(name, value)
		}
	}
	for key, value := range f.Labels {
		query.Add("label", key+"="+value)
	}
	err = c.get(ctx, "/v1/runs?"+query.Encode(), &page)
	return page, err
}

// Answer is an answer to a question.
type Answer struct {
	Path   string          `json:"path"`
	Do     string          `json:"do"`
	Reason string          `json:"reason,omitempty"`
	Edit   json.RawMessage `json:"edit,omitempty"`
	Text   string          `json:"text,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

// Answer answers a question. The answer is durable when it returns.
func (c *Client) Answer(ctx context.Context, run string, a Answer) error {
	_, _, err := c.call(ctx, http.MethodPost, runPath(run, "/answers"), a)
	return err
}

// MessageRef identifies a message to a run.
type MessageRef struct {
	Run string `json:"run_id"`
	ID  string `json:"id"`
}

// Message sends a message to a run. The message is durable when it returns. A broken
// connection is repeated: the id makes sure that the message is stored once.
func (c *Client) Message(ctx context.Context, run string, m runs.Message) error {
	return c.retry(ctx, func() error {
		_, _, err := c.call(ctx, http.MethodPost, runPath(run, "/messages"), map[string]any{"id": m.ID, "text": m.Text, "interrupt": m.Interrupt})
		return err
	})
}

// Resume continues a run that is suspended, or stopped at a limit that set raises.
func (c *Client) Resume(ctx context.Context, run string, set []string, keepSpec bool) error {
	_, _, err := c.call(ctx, http.MethodPost, runPath(run, "/resume"), map[string]any{"set": append([]string{}, set...), "keep_spec": keepSpec})
	return err
}

// Fork describes a fork of a run: it replays the run up to a call.
type Fork struct {
	RunID   string            `json:"run_id,omitempty"`
	At      string            `json:"at,omitempty"`       // path of the call, or the start of it; "" = the end of the run
	OnDrift string            `json:"on_drift,omitempty"` // see runs.Fork; "" = fail
	Set     []string          `json:"set,omitempty"`
	Prompts map[string]string `json:"prompts,omitempty"` // new texts of prompts, by name
}

// Fork starts a fork of a run. A broken connection is repeated: the id makes sure that only
// one run is started.
func (c *Client) Fork(ctx context.Context, parent string, f Fork) error {
	return c.retry(ctx, func() error {
		_, _, err := c.call(ctx, http.MethodPost, runPath(parent, "/fork"), f)
		return err
	})
}

// Rehearsal is what a fork would do.
type Rehearsal struct {
	runs.Rehearsal
	Diagnostics diag.List `json:"diagnostics"` // warnings about the overrides and edited prompts
}

// RehearseFork returns what a fork of a run would do. It starts nothing.
func (c *Client) RehearseFork(ctx context.Context, parent string, f Fork) (*Rehearsal, error) {
	_, b, err := c.call(ctx, http.MethodPost, runPath(parent, "/fork"), struct {
		Fork
		DryRun bool `json:"dry_run"`
	}{f, true})
	if err != nil {
		return nil, err
	}
	out := &Rehearsal{}
	return out, decode(c.base, b, out)
}

// Cancel ends a run in the background. It returns the status of a run that has already
// ended, otherwise "".
func (c *Client) Cancel(ctx context.Context, run string) (stop.RunStatus, error) {
	code, b, err := c.call(ctx, http.MethodPost, runPath(run, "/cancel"), nil)
	if err != nil || code != http.StatusOK {
		return "", err
	}
	var ended struct {
		Status stop.RunStatus `json:"status"`
	}
	return ended.Status, decode(c.base, b, &ended)
}

// Delete deletes a run; force also one that may still be needed.
func (c *Client) Delete(ctx context.Context, run string, force bool) error {
	path := runPath(run, "")
	if force {
		path += "?force=true"
	}
	_, _, err := c.call(ctx, http.MethodDelete, path, nil)
	return err
}

// Export writes the journal of a run as JSON Lines, without secrets.
func (c *Client) Export(ctx context.Context, run string, to io.Writer) error {
	_, b, err := c.call(ctx, http.MethodGet, runPath(run, "/journal"), nil)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(b) {
		if !json.Valid(line) {
			return fmt.Errorf("invalid response of %s: a line of the journal is not JSON", c.base)
		}
	}
	_, err = to.Write(b)
	return err
}
