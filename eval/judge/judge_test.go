package judge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/judge"
	"github.com/pexctl/pex/eval/trial"
)

const schema = `{"type":"object","properties":{"pass":{"type":"boolean"}},"required":["pass"]}`

// fakeModel replies with the result of answer and records its requests.
type fakeModel struct {
	answer func(n int, req *model.Request) (*model.Reply, error)

	mu    sync.Mutex
	asked []model.Request
}

func (m *fakeModel) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	m.mu.Lock()
	m.asked = append(m.asked, *req)
	n := len(m.asked)
	m.mu.Unlock()
	return m.answer(n, req)
}

// says returns a model with these replies in order. The last one repeats.
func says(texts ...string) *fakeModel {
	return &fakeModel{answer: func(n int, _ *model.Request) (*model.Reply, error) {
		text := texts[min(n, len(texts))-1]
		return &model.Reply{Text: text, Stop: model.EndTurn, Usage: model.Tokens{Input: 100, Output: 10}}, nil
	}}
}

func TestJudgementIsExtracted(t *testing.T) {
	const deep = `{"a":`
	for _, c := range []struct{ name, reply, want string }{
		{"bare", `{"pass":true}`, `{"pass":true}`},
		{"fenced", "```json\n{\"pass\": true}\n```", `{"pass": true}`},
		{"prose around", `I think {so}. {"pass":false} That is all {really.`, `{"pass":false}`},
		{"the last one counts", `The answer says {"pass":true}, which is a trick. {"pass":false}`, `{"pass":false}`},
		{"one that fits", `{"pass":true} {"reason":"x"}`, `{"pass":true}`},
		{"braces before", strings.Repeat("{", 150) + `{"pass":true}`, `{"pass":true}`},
		{"never closed before", strings.Repeat(deep, 100) + `{"pass":true}`, `{"pass":true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := says(c.reply)
			got, err := judge.New(m, nil).Grade(t.Context(), trial.Question{Prompt: "?", Schema: []byte(schema)})
			if err != nil || got.Text != c.want || len(m.asked) != 1 {
				t.Errorf("%+v, %v after %d requests", got, err, len(m.asked))
			}
		})
	}
}

func TestTextWithoutSchema(t *testing.T) {
	got, err := judge.New(says("fine"), nil).Grade(t.Context(), trial.Question{Prompt: "?"})
	if err != nil || got.Text != "fine" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestInvalidReplyIsRequestedAgain(t *testing.T) {
	for _, c := range []struct{ name, reply, says string }{
		{"prose", "it passes", "it contains no JSON object"},
		{"other fields", `{"verdict":true}`, "pass"},
		{"other type", `{"pass":"yes"}`, "pass"},
		{"broken", `{"pass":`, "unexpected EOF"},
		{"endless", strings.Repeat("{", 300<<10), "bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := says(c.reply, `{"pass":true}`)
			got, err := judge.New(m, &engine.ModelSpec{Cost: &model.Cost{Input: 1e6, Output: 2e6}}).
				Grade(t.Context(), trial.Question{Prompt: "?", Schema: []byte(schema)})
			if err != nil {
				t.Fatal(err)
			}
			want := trial.Judgement{Text: `{"pass":true}`, Tokens: 220, Cost: 240}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			again := m.asked[1]
			if n := len(again.Messages); n != 3 || again.Call != 2 || again.Messages[1].Text.String() != c.reply || !strings.Contains(again.Messages[2].Text.String(), c.says) {
				t.Errorf("asked again: call %d, %+v", again.Call, again.Messages[n-1])
			}
		})
	}
}

func TestFailedJudgements(t *testing.T) {
	boom := &model.Error{Kind: model.RateLimited, Status: 429, Message: "slow down"}
	for _, c := range []struct {
		name  string
		reply *model.Reply
		err   error
		kind  model.ErrorKind
		says  string
		asked int
	}{
		{name: "twice unreadable", reply: &model.Reply{Text: "hm", Stop: model.EndTurn}, kind: model.BadReply, says: "no JSON object", asked: 2},
		{name: "twice cut", reply: &model.Reply{Text: `{"pa`, Stop: model.MaxTokens}, kind: model.BadReply, says: "max_output_tokens", asked: 2},
		{name: "refused", reply: &model.Reply{Text: "no", Stop: model.Refusal}, kind: model.BadReply, says: "the judge refused (refusal): no", asked: 1},
		{name: "filtered", reply: &model.Reply{Stop: model.ContentFiltered}, kind: model.BadReply, says: "content_filtered", asked: 1},
		{name: "failed", err: boom, kind: model.RateLimited, says: "judge strict: rate_limit (HTTP 429): slow down", asked: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &fakeModel{answer: func(int, *model.Request) (*model.Reply, error) { return c.reply, c.err }}
			if c.reply != nil {
				c.reply.Usage = model.Tokens{Input: 100, Output: 10}
			}
			got, err := judge.New(m, &engine.ModelSpec{Name: "strict", Cost: &model.Cost{Input: 1e6}}).Grade(t.Context(), trial.Question{Prompt: "?", Schema: []byte(schema)})
			if n := c.asked; c.reply != nil && (got.Tokens != n*110 || got.Cost != float64(n*100)) || got.Text != "" {
				t.Errorf("wasted %d tokens and %g USD: %q", got.Tokens, got.Cost, got.Text)
			}
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(err.Error(), c.says) || len(m.asked) != c.asked {
				t.Errorf("got %v after %d requests", err, len(m.asked))
			}
		})
	}
}

func TestInvalidSchemaIsError(t *testing.T) {
	_, err := judge.New(says("{}"), nil).Grade(t.Context(), trial.Question{Schema: []byte(`{"type":"objekt"}`)})
	if err == nil || !strings.Contains(err.Error(), "schema of the reply") {
		t.Error(err)
	}
}

func TestRequestOfJudge(t *testing.T) {
	half, seed := 0.5, int64(7)
	for _, c := range []struct {
		name string
		spec engine.ModelSpec
		q    trial.Question
		temp string
		seed string
		text string // of all messages
	}{
		{name: "at temperature 0", q: trial.Question{System: "s", Prompt: "p"}, temp: "0", text: "system:s|user:p"},
		{name: "at the author's", spec: engine.ModelSpec{Params: model.Params{Temperature: &half}}, q: trial.Question{Prompt: "p"}, temp: "0.5", text: "user:p"},
		{name: "a vote at the model's own", q: trial.Question{Prompt: "p", Vote: 1}, temp: "unset", text: "user:p"},
		{name: "votes of a seed differ", spec: engine.ModelSpec{Params: model.Params{Seed: &seed}}, q: trial.Question{Prompt: "p", Vote: 2}, temp: "unset", seed: "9", text: "user:p"},
		{name: "the llm's system prompt", spec: engine.ModelSpec{SystemPrompt: component.Inline("own")}, q: trial.Question{Prompt: "p"}, temp: "0", text: "system:own|user:p"},
		{name: "the check's beats it", spec: engine.ModelSpec{SystemPrompt: component.Inline("own")}, q: trial.Question{System: "s", Prompt: "p"}, temp: "0", text: "system:s|user:p"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := says("ok")
			if _, err := judge.New(m, &c.spec).Grade(t.Context(), c.q); err != nil {
				t.Fatal(err)
			}
			req := m.asked[0]
			temp, seed := "unset", ""
			if p := req.Params.Temperature; p != nil {
				temp = fmt.Sprint(*p)
			}
			if p := req.Params.Seed; p != nil {
				seed = fmt.Sprint(*p)
			}
			var text []string
			for _, msg := range req.Messages {
				text = append(text, string(msg.Role)+":"+msg.Text.String())
			}
			if temp != c.temp || seed != c.seed || strings.Join(text, "|") != c.text || req.Role != "judge" {
				t.Errorf("temperature %s, seed %q, %s, role %s", temp, seed, text, req.Role)
			}
		})
	}
	if seed != 7 {
		t.Error("the spec was changed")
	}
}

func TestSameQuestionIsAskedOnce(t *testing.T) {
	release := make(chan struct{})
	m := &fakeModel{}
	m.answer = func(int, *model.Request) (*model.Reply, error) {
		<-release
		return &model.Reply{Text: "x", Stop: model.EndTurn, Usage: model.Tokens{Input: 5}}, nil
	}
	j := judge.New(m, nil)
	tokens := make(chan int, 50)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			got, err := j.Grade(t.Context(), trial.Question{Prompt: fmt.Sprint("q", i%2)})
			if err != nil {
				t.Error(err)
			}
			tokens <- got.Tokens
		})
	}
	close(release)
	all.Wait()
	close(tokens)
	sum := 0
	for n := range tokens {
		sum += n
	}
	if len(m.asked) != 2 || sum != 10 {
		t.Errorf("%d requests and %d tokens for 2 questions of 5", len(m.asked), sum)
	}
	if _, err := j.Grade(t.Context(), trial.Question{Prompt: "q0", Vote: 1}); err != nil || len(m.asked) != 3 {
		t.Errorf("each vote must be asked: %v, %d requests", err, len(m.asked))
	}
}

func TestFailureIsNotCached(t *testing.T) {
	m := &fakeModel{answer: func(n int, _ *model.Request) (*model.Reply, error) {
		if n == 1 {
			return nil, &model.Error{Kind: model.NetworkError, Message: "gone"}
		}
		return &model.Reply{Text: "x", Stop: model.EndTurn}, nil
	}}
	j := judge.New(m, nil)
	if _, err := j.Grade(t.Context(), trial.Question{Prompt: "q"}); err == nil {
		t.Fatal("no error")
	}
	if got, err := j.Grade(t.Context(), trial.Question{Prompt: "q"}); err != nil || got.Text != "x" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCancelledCallerDoesNotCancelOthers(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	first, cancel := context.WithCancel(t.Context())
	m := &fakeModel{}
	m.answer = func(n int, _ *model.Request) (*model.Reply, error) {
		if n == 1 {
			close(asked)
			<-release
			return nil, fmt.Errorf("stopped: %w", first.Err())
		}
		return &model.Reply{Text: "x", Stop: model.EndTurn}, nil
	}
	j := judge.New(m, nil)
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := j.Grade(first, trial.Question{Prompt: "q"}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	<-asked
	cancel()
	all.Go(func() {
		if got, err := j.Grade(t.Context(), trial.Question{Prompt: "q"}); err != nil || got.Text != "x" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	late, stop := context.WithCancel(t.Context())
	stop()
	if _, err := j.Grade(late, trial.Question{Prompt: "q"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled caller must not wait: %v", err)
	}
	close(release)
	all.Wait()
}

// Whatever the model replies, an accepted judgement matches the schema.
func FuzzVerdict(f *testing.F) {
	f.Add(`{"pass":true}`)
	f.Add("I think {so}. ```json\n{\"pass\": false}\n``` {")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := judge.New(says(text), nil).Grade(t.Context(), trial.Question{Prompt: "?", Schema: []byte(schema)})
		if err != nil {
			return
		}
		var v struct{ Pass *bool }
		if json.Unmarshal([]byte(got.Text), &v) != nil || v.Pass == nil || !strings.Contains(text, got.Text) {
			t.Errorf("%q of %q", got.Text, text)
		}
	})
}
