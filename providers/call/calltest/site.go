package calltest

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/wire"
)

// Site is one provider and its server.
type Site struct {
	// Reply is the body of a whole reply, in JSON, whose text is "pong".
	Reply string
	// New makes a model as the provider's New does, with its default options.
	New func(model.Settings, func(*wire.Settings)) (model.Model, error)
}

const answer = "pong"

func (s Site) model(tb testing.TB, url string, base http.RoundTripper) model.Model {
	tb.Helper()
	m, err := s.New(model.Settings{Model: "m", BaseURL: url, APIKey: "sk-of-nobody"}, func(w *wire.Settings) {
		w.Base, w.Breaker = base, nil // each server is a test's own
	})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// ask makes one call of a model.
func ask(ctx context.Context, m model.Model, text string) (*model.Reply, error) {
	return m.Generate(ctx, &model.Request{
		Role: "planner", Call: 1, Key: "run/plan.1", Messages: []model.Message{
			{Role: model.System, Text: model.Text{"Answer ping with pong."}},
			{Role: model.User, Text: model.Text{text}},
		},
	}, nil)
}

// drain reads a body to its end.
func drain(r io.ReadCloser) (int64, error) {
	n, err := io.Copy(io.Discard, r)
	_ = r.Close()
	return n, err
}
