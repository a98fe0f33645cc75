package scripted

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/httpclient"
)

// chatModel is a compiled script. It is immutable after New; scripts track what runs use.
type chatModel struct {
	name    string
	replies []reply
	retry   retry.Policy
}

// reply is a compiled Reply.
type reply struct {
	role   string
	when   component.GuardRef
	prompt bool // the condition may use the prompt
	times  int  // 0 = always
	delay  time.Duration
	text   string
	calls  []model.ToolCall // without ids
	stop   model.StopReason
	usage  *model.Tokens
	fault  *model.Error
}

// New returns a model for a script; it is a model.RunScoped and a model.Sequenced. The
// Config must not be modified afterwards.
func New(c *Config, s model.Settings) (model.Model, error) {
	m := &chatModel{name: cmp.Or(s.Model, s.Name, "scripted"), replies: make([]reply, len(c.Replies))}
	m.retry = retry.Policy{MaxAttempts: s.Retry.MaxAttempts, InitialDelay: s.Retry.InitialDelay, MaxDelay: s.Retry.MaxDelay}
	for i, r := range c.Replies {
		var err error
		if m.replies[i], err = compile(r); err != nil {
			return nil, fmt.Errorf("reply %d of the script: %w", i+1, err)
		}
		m.replies[i].applyTimeout(s.Timeout)
	}
	return newScript(m), nil
}

// applyTimeout turns a reply that takes longer than the timeout into a timeout error.
func (r *reply) applyTimeout(timeout time.Duration) {
	if timeout <= 0 || r.delay <= timeout {
		return
	}
	r.delay = timeout
	r.fault = &model.Error{Kind: model.CallTimeout, Message: fmt.Sprintf("not done within %s", timeout)}
}

func compile(r Reply) (reply, error) {
	out := reply{
		role: r.Role, when: r.When, prompt: strings.Contains(r.When.Source, "prompt"),
		times: 1, delay: r.Delay, text: r.Text, stop: r.StopReason,
	}
	if r.Times != nil {
		out.times = *r.Times
	}
	if out.times < 0 {
		return out, fmt.Errorf("times is %d; write 0 for always", out.times)
	}
	for _, c := range r.ToolCalls {
		args, err := arguments(c.Arguments)
		if err != nil {
			return out, fmt.Errorf("arguments of %s: %w", c.Name, err)
		}
		out.calls = append(out.calls, model.ToolCall{Name: c.Name, Args: args})
	}
	if out.stop == "" {
		out.stop = model.EndTurn
		if out.calls != nil {
			out.stop = model.ToolUse
		}
	}
	if u := r.Usage; u != nil {
		out.usage = &model.Tokens{Input: u.InputTokens, Output: u.OutputTokens, Cached: u.CachedInputTokens, CacheWrite: u.CacheWriteTokens, Reasoning: u.ReasoningTokens}
	}
	if r.Error != nil {
		out.fault = failure(*r.Error)
	}
	return out, nil
}

// arguments returns the JSON of a call's arguments, with sorted keys.
func arguments(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case nil:
		return json.RawMessage("{}"), nil
	case string:
		return json.RawMessage(v), nil
	}
	return jsonvalue.Marshal(v)
}

func failure(f Failure) *model.Error {
	e := &model.Error{Kind: model.NetworkError, Status: f.Status, Message: f.Message, RetryAfter: min(f.RetryAfter, httpclient.MaxRetryAfter)}
	if f.Status != 0 {
		e.Kind = httpclient.KindOf(f.Status)
	}
	if e.Message == "" {
		e.Message = "error from the script"
	}
	return e
}

var _ model.Embedder = (*script)(nil)

// dimensions is the length of the vectors.
const dimensions = 256

// Embed implements model.Embedder for demos and tests. A vector counts the words of its text, each at an index given by
// its hash, so texts with the same words are similar.
func (s *script) Embed(ctx context.Context, texts []string) (vectors [][]float64, used model.Tokens, err error) {
	if err := ctx.Err(); err != nil {
		return nil, used, err
	}
	vectors = make([][]float64, len(texts))
	for i, t := range texts {
		vectors[i] = bagOfWords(t)
		used.Input += model.EstimateTokens(utf8.RuneCountInString(t))
	}
	return vectors, used, nil
}

// bagOfWords returns a vector of length 1; zero for a text without words.
func bagOfWords(text string) []float64 {
	out := make([]float64, dimensions)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		h := fnv.New32a()
		_, _ = h.Write([]byte(w)) // never fails
		out[h.Sum32()%dimensions]++
	}
	sum := 0.0
	for _, x := range out {
		sum += x * x
	}
	for i := range out {
		if sum > 0 {
			out[i] /= math.Sqrt(sum)
		}
	}
	return out
}
