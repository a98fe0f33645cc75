//go:build e2e && unix

package clients_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/e2e/clients"
)

func TestClientsOfAGUI(t *testing.T) {
	s := clients.Serve(t, []string{"hello", "refund-desk"}, nil)
	t.Run("chat", func(t *testing.T) { t.Log(clients.Run(t, "agui", s.URL, "chat")) })
	t.Run("approval", func(t *testing.T) {
		waits := clients.Run(t, "agui", s.URL, "ask")
		clients.Run(t, "agui", s.URL, "answer", waits)
	})
	t.Run("approval after a restart", func(t *testing.T) {
		waits := clients.Run(t, "agui", s.URL, "ask")
		s.Restart()
		clients.Run(t, "agui", s.URL, "answer", waits)
	})
	t.Run("approval by the API after a restart", func(t *testing.T) {
		waits := clients.Run(t, "agui", s.URL, "ask")
		s.Restart()
		run, path := interrupt(t, waits)
		s.Post("/v1/runs/"+run+"/answers", `{"path": "`+path+`", "do": "approve"}`)
		clients.Run(t, "agui", s.URL, "watch", waits)
	})
}

// interrupt returns the run and the path of the question that a client prints.
func interrupt(t *testing.T, printed string) (run, path string) {
	t.Helper()
	var state struct {
		Interrupts []struct {
			Metadata map[string]string `json:"metadata"`
		} `json:"interrupts"`
	}
	if err := json.Unmarshal([]byte(strings.TrimSpace(printed)), &state); err != nil || len(state.Interrupts) != 1 {
		t.Fatal(printed, err)
	}
	m := state.Interrupts[0].Metadata
	return m["run_id"], m["path"]
}
