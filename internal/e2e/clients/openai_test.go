//go:build e2e && unix

package clients_test

import (
	"encoding/json"
	"testing"

	"github.com/pexctl/pex/internal/e2e/clients"
)

func TestClientsOfOpenAI(t *testing.T) {
	s := clients.Serve(t, []string{"hello", "refund-desk"}, nil)
	t.Run("chat", func(t *testing.T) { clients.Run(t, "openai", s.URL, "chat") })
	t.Run("background", func(t *testing.T) { clients.Run(t, "openai", s.URL, "background") })
	t.Run("approval after a restart", func(t *testing.T) {
		waits := clients.Run(t, "openai", s.URL, "ask")
		s.Restart()
		clients.Run(t, "openai", s.URL, "answer", waits)
	})
	t.Run("approval by the API after a restart", func(t *testing.T) {
		waits := clients.Run(t, "openai", s.URL, "ask")
		s.Restart()
		var state struct{ Run, Path string }
		if err := json.Unmarshal([]byte(waits), &state); err != nil {
			t.Fatal(waits, err)
		}
		s.Post("/v1/runs/"+state.Run+"/answers", `{"path": "`+state.Path+`", "do": "approve"}`)
		clients.Run(t, "openai", s.URL, "watch", waits)
	})
}
