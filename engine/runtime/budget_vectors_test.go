package runtime_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/tool"
)

// vectorConfig is the Config of a tool that makes embeddings with an LLM.
type vectorConfig struct{ llm string }

func (c vectorConfig) WorstCase() []engine.CallBound {
	return []engine.CallBound{{LLM: c.llm, Vectors: true}}
}

// Embed makes embeddings as vendor does calls: it randomly fails, loses replies or crashes
// the process, and charges for its work.
func (v *vendor) Embed(ctx context.Context, texts []string) ([][]float64, model.Tokens, error) {
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	rnd := v.w.chance(strings.Join(texts, "\n"))
	used := model.Tokens{Input: size / 2}
	if rnd.IntN(3) == 0 {
		used.Input = rnd.IntN(used.Input + 1)
	}
	switch n := rnd.IntN(100); {
	case n < 6:
		return nil, model.Tokens{}, &model.Error{Kind: model.RateLimited, Message: "no"}
	case n < 10: // only one of several batches was processed
		used.Input /= 2
		charge(v.bills, v.price, used)
		return nil, used, &model.Error{Kind: model.Overloaded, Message: "no more"}
	case n < 20:
		charge(v.bills, v.price, used)
		return nil, model.Tokens{}, &model.Error{Kind: pick(rnd, model.Truncated, model.NetworkError, model.CallTimeout), Message: "lost"}
	}
	charge(v.bills, v.price, used)
	if v.w.dies(rnd) {
		<-ctx.Done()
		return nil, model.Tokens{}, ctx.Err()
	}
	return make([][]float64, len(texts)), used, nil
}

// library is a tool that stores embeddings of texts, some of which change.
type library struct {
	mu    sync.Mutex
	texts []string
	kept  map[string]bool
}

// library returns a tool that announces all or part of the texts it will embed, and does
// not always wait for the embeddings.
func (w *budgetWorld) library(models []engine.ModelSpec) tool.Binding {
	l := &library{kept: map[string]bool{}}
	for range w.rnd.IntN(12) {
		l.texts = append(l.texts, strings.Repeat(string(rune('a'+len(l.texts))), 1+w.rnd.IntN(pick(w.rnd, 50, 800, 8000))))
	}
	honest := w.rnd.IntN(4) > 0
	call := func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
		rnd := w.chance(c.Key)
		if !honest && rnd.IntN(3) == 0 {
			go func() {
				_, _ = c.Embed(ctx, []string{"far too late to be waited for, and longer than what a call has"}, 0)
			}()
		}
		if err := l.search(ctx, c, rnd, honest); err != nil {
			return nil, err
		}
		return &tool.Output{Text: "done"}, ctx.Err()
	}
	spec := &tool.Spec{Name: "library", Config: vectorConfig{pick(w.rnd, models...).Name}}
	spec.Retry = retry.Policy{MaxAttempts: w.rnd.IntN(3), InitialDelay: 1}
	effect := pick(w.rnd, tool.ReadEffect, tool.IdempotentEffect, tool.ReadEffect, tool.WriteEffect)
	return tool.Binding{Spec: spec, Tool: funcTool{effect, call}}
}

func (l *library) search(ctx context.Context, c *tool.Call, rnd *rand.Rand, honest bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.texts) > 0 && rnd.IntN(4) == 0 {
		delete(l.kept, pick(rnd, l.texts...)) // the file has changed
	}
	var missing []string
	rest := 0
	for _, t := range l.texts {
		if !l.kept[t] {
			missing, rest = append(missing, t), rest+len(t)
		}
	}
	if !honest {
		rest = rnd.IntN(rest + 1)
	}
	if _, err := c.Embed(ctx, []string{strings.Repeat("q", 1+rnd.IntN(40))}, rest); err != nil {
		return err
	}
	for _, t := range missing {
		if rest = max(0, rest-len(t)); ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := c.Embed(ctx, []string{t}, rest); err != nil {
			if rnd.IntN(2) == 0 {
				return errors.New("no vectors")
			}
			return nil // words alone
		}
		l.kept[t] = true
	}
	return nil
}
