package webhook_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/server/webhook"
)

// What a run of 42 events costs of which a webhook wants 12, whose receiver works or is down.
func BenchmarkRun(b *testing.B) {
	text := strings.Repeat("x", 300)
	for _, bb := range []struct {
		name, url string
	}{{"none", ""}, {"works", "https://a.example.com"}, {"down", "http://127.0.0.1:1"}} {
		b.Run(bb.name, func(b *testing.B) {
			w := newWorld(b)
			o := webhook.Options{Log: discard}
			if bb.name == "works" {
				o = o.WithTransport(accepts{})
			}
			w.dispatcher = webhook.New(o)
			w.outbox = w.dispatcher.Open(webhook.Tenant{Name: "shared", Home: w.home, Replay: w.replay})
			if bb.url != "" {
				at, err := url.Parse(bb.url)
				if err != nil {
					b.Fatal(err)
				}
				hook := w.hook("a", step, engine.RunCompleted)
				hook.URL = at
				if err := w.dispatcher.SetHooks([]*webhook.Hook{hook}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				s := w.session(fmt.Sprint("r-", n), "desk", true)
				for i := range 41 {
					kind := engine.ModelStarted
					if i < 11 {
						kind = step
					}
					s.Send(engine.Event{V: 1, Seq: i + 1, Run: s.run, Type: kind, Text: text})
				}
				s.Send(engine.Event{V: 1, Seq: 42, Run: s.run, Type: engine.RunCompleted})
				s.Close()
			}
			w.stop()
		})
	}
}

// accepts is a receiver that accepts everything.
type accepts struct{}

func (accepts) RoundTrip(r *http.Request) (*http.Response, error) {
	_ = r.Body.Close()
	return status(http.StatusNoContent), nil
}
