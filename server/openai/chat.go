package openai

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/turn"
)

// chatRequest is a request for a chat completion.
type chatRequest struct {
	common
	Messages      []message         `json:"messages"`
	N             int               `json:"n"`
	Functions     []json.RawMessage `json:"functions"`
	Logprobs      bool              `json:"logprobs"`
	TopLogprobs   int               `json:"top_logprobs"`
	Modalities    []string          `json:"modalities"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	ResponseFormat struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

var chatMembers = []string{
	"model", "stream", "metadata", "tools", "pex", "messages", "n", "functions", "logprobs", "top_logprobs", "modalities", "stream_options", "response_format",
}

// check rejects what no agent supports.
func (q *chatRequest) check() error {
	switch {
	case len(q.Messages) == 0:
		return invalid("messages", "missing_required_parameter", "missing messages")
	case q.N > 1 || q.N < 0:
		return invalid("n", unsupported, "n: a run has one answer")
	case q.Logprobs || q.TopLogprobs != 0:
		return invalid("logprobs", unsupported, "logprobs are not supported")
	case slices.ContainsFunc(q.Modalities, func(m string) bool { return m != "text" }):
		return invalid("modalities", unsupported, "modalities: only text is supported")
	}
	if err := checkTools("functions", q.Functions); err != nil {
		return err
	}
	return checkTools("tools", q.Tools)
}

func (h *Handler) chat(w http.ResponseWriter, r *http.Request) (err error) {
	q := &chatRequest{}
	if q.body, err = h.read(w, r, q, chatMembers); err != nil {
		return err
	}
	if err := q.check(); err != nil {
		return err
	}
	c, err := h.client(r)
	if err != nil {
		return err
	}
	task := taskOf(q)
	if q.Model == taskModel {
		return q.replyTask(w, r, task)
	}
	a, err := agentOf(c, auth.Run, q.Model)
	if err != nil {
		return err
	}
	if task != "" {
		return q.replyTask(w, r, task)
	}
	if err := checkFormat(a, "response_format", q.ResponseFormat.Type, q.ResponseFormat.JSONSchema.Schema); err != nil {
		return err
	}
	stream, err := c.OpenStream(r.Context())
	if err != nil {
		return err
	}
	defer stream.Release()
	s, memoryID, err := q.begin(w, r, c, a)
	if err != nil {
		return err
	}
	out := &completion{request: q, run: s.run, created: time.Now().Unix(), memoryID: memoryID, why: s.why, progress: h.o.Progress}
	if q.Stream {
		return out.stream(w, r, stream, func(show func(*turn.Turn, turn.Change) bool) (*turn.Turn, error) { return s.follow(c, stream, show) })
	}
	t, err := s.follow(c, stream, func(t *turn.Turn, change turn.Change) bool {
		out.add(t, change)
		return true
	})
	if err == nil {
		err = out.reply(w, t)
	}
	return err
}

// begin answers the question of the conversation's run, or starts a run.
func (q *chatRequest) begin(w http.ResponseWriter, r *http.Request, c *access.Client, a *agents.Agent) (*segment, string, error) {
	d, err := conversation(w, "messages", q.Messages)
	if err != nil {
		return nil, "", err
	}
	memoryID, err := conversationID(r, q.Metadata[memoryKey])
	if err != nil {
		return nil, "", err
	}
	if memoryID != "" {
		run, open, err := c.WaitingIn(r.Context(), a, memoryID)
		if err != nil {
			return nil, "", err
		}
		if run != "" {
			if err := noFiles("messages", d.files); err != nil {
				return nil, "", err
			}
			s, err := answer(r.Context(), c, run, open, d.question)
			return s, memoryID, err
		}
	}
	n, err := q.newRun(r, c, &d)
	if err != nil {
		return nil, "", err
	}
	n.MemoryID, n.Earlier, n.EarlierOnly = memoryID, d.earlier, len(d.earlier) > 0
	s, err := start(r.Context(), c, a, n)
	return s, memoryID, err
}

// completion is a chat completion.
type completion struct {
	request   *chatRequest
	run       string // "" = none
	created   int64
	memoryID  string
	why       string
	progress  Progress
	reasoning strings.Builder
}

// extension says what the protocol has no words for.
type extension struct {
	RunID      string               `json:"run_id"`
	Status     stop.RunStatus       `json:"status,omitempty"`
	Interrupts []interrupt.Question `json:"interrupts,omitempty"`
}

// add adds the progress of a change, and returns it.
func (o *completion) add(t *turn.Turn, c turn.Change) (line string) {
	if o.progress == None || c.Kind == turn.Asked {
		return ""
	}
	if line = t.Line(c); line == "" {
		return ""
	}
	line += "\n"
	o.reasoning.WriteString(line)
	return line
}

// content returns the text of the answer, or of the questions that the run waits for.
func (o *completion) content(t *turn.Turn) string {
	if t.Status != "" {
		return t.Outcome()
	}
	text := turn.Prompt(t.Open)
	if o.why != "" {
		text = o.why + "\n\n" + text
	}
	if o.memoryID == "" {
		text += "\n\nThis chat has no id, so a reply here starts another run. Answer with POST /v1/runs/" + t.Run + "/answers, or send the header X-Conversation-Id with each message."
	}
	return text
}

// extend returns the extension for a state of the run.
func extend(t *turn.Turn) *extension {
	status := t.Status
	if status == "" {
		status = stop.RunInterrupted
	}
	return &extension{t.Run, status, t.Open}
}

// usage is the usage of tokens.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	PromptMore struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionMore struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func usageOf(t *turn.Turn) *usage {
	n := t.Usage.Tokens
	u := &usage{Prompt: n.Input, Completion: n.Output, Total: n.Total()}
	u.PromptMore.Cached, u.CompletionMore.Reasoning = n.Cached, n.Reasoning
	return u
}

// chatMessage is the message of a completion, or a part of it.
type chatMessage struct {
	Role      string  `json:"role,omitempty"`
	Content   *string `json:"content,omitempty"`
	Reasoning string  `json:"reasoning_content,omitempty"`
}

// choice has Message in a completion, and Delta in a chunk.
type choice struct {
	Index    int          `json:"index"`
	Message  *chatMessage `json:"message,omitempty"`
	Delta    *chatMessage `json:"delta,omitempty"`
	Logprobs *struct{}    `json:"logprobs"`
	Finish   *string      `json:"finish_reason"`
}

// chatObject is a completion, or a chunk of one.
type chatObject struct {
	ID      string     `json:"id"`
	Object  string     `json:"object"`
	Created int64      `json:"created"`
	Model   string     `json:"model"`
	Choices []choice   `json:"choices"`
	Usage   *usage     `json:"usage,omitempty"`
	Pex     *extension `json:"pex,omitempty"`
}

func (o *completion) object(kind string, choices ...choice) chatObject {
	id := o.run
	if id == "" {
		id = "task"
	}
	return chatObject{ID: "chatcmpl-" + id, Object: kind, Created: o.created, Model: o.request.Model, Choices: append([]choice{}, choices...)}
}

// reply responds with the completion.
func (o *completion) reply(w http.ResponseWriter, t *turn.Turn) error {
	if t == nil {
		return context.Canceled // the client is gone, or the server shuts down
	}
	if failed := runError(t); failed != nil {
		return failed
	}
	text, finish := o.content(t), finishReason(t)
	if o.progress == Text {
		text = strings.TrimPrefix(o.reasoning.String()+"\n"+text, "\n")
		o.reasoning.Reset()
	}
	body := o.object("chat.completion", choice{Message: &chatMessage{"assistant", &text, o.reasoning.String()}, Finish: &finish})
	body.Usage = usageOf(t)
	if o.run != "" {
		body.Pex = extend(t)
	}
	return reply(w, body)
}
