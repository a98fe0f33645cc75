package apitest_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/webhook"
)

// hook returns a webhook whose receiver accepts everything but starts of runs.
func (w *world) hook() *webhook.Hook {
	w.t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), `{"type":"run.started"`) {
			http.Error(w, "no", http.StatusTeapot)
		}
	}))
	w.t.Cleanup(receiver.Close)
	at, err := url.Parse(receiver.URL + "/canary")
	if err != nil {
		w.t.Fatal(err)
	}
	return &webhook.Hook{Name: "chat", Events: []engine.EventType{engine.RunStarted, engine.RunCompleted}, Tenants: []string{""}, URL: at, Secrets: webhook.Secrets{[]byte("canary")}}
}

// outbox adapts a webhook.Outbox to the interface of a manager.
type outbox struct{ *webhook.Outbox }

func (o outbox) Attach(ctx context.Context, in engine.Input, isNew bool) (manager.Attachment, error) {
	return o.Outbox.Attach(ctx, in, isNew)
}
