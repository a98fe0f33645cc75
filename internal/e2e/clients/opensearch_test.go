//go:build e2e && unix

package clients_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/chatserver"
	"github.com/pexctl/pex/internal/e2e/clients"
)

// clusterReply answers as a model does: a plan of one step, its result, and the answer.
func clusterReply(prompt string) string {
	switch {
	case strings.Contains(prompt, "If you cannot finish, report what you have"):
		return "There are 17 docs."
	case strings.Contains(prompt, "There are 17 docs."):
		return `{"steps": [], "result": "The cluster has 17 docs."}`
	}
	return `{"steps": ["Count the docs"], "result": ""}`
}

const openSearchServer = `apiVersion: pex/v1
kind: Server
metadata: {name: desk}
agents:
  hello: {spec: hello}
  refund-desk: {spec: refund-desk}
opensearch:
  endpoints: [%s]
  env: [OPENAI_KEY, OPENSEARCH_URL, OPENSEARCH_USER, OPENSEARCH_PASSWORD]
`

func TestClientsOfOpenSearch(t *testing.T) {
	model := chatserver.Start(t, 0, clusterReply)
	s := clients.Serve(t, []string{"hello", "refund-desk"}, map[string]string{"server.yaml": fmt.Sprintf(openSearchServer, model.URL)})
	t.Run("tutorial", func(t *testing.T) {
		agent := strings.TrimSpace(clients.Run(t, "opensearch", "tutorial", s.URL, model.URL))
		s.Restart()
		clients.Run(t, "opensearch", "agent", s.URL, agent)
	})
	t.Run("approval by the API after a restart", func(t *testing.T) {
		var waits struct{ Task, Path string }
		printed := clients.Run(t, "opensearch", "ask", s.URL)
		if err := json.Unmarshal([]byte(printed), &waits); err != nil {
			t.Fatal(printed, err)
		}
		s.Restart()
		s.Post("/v1/runs/"+waits.Task+"/answers", `{"path": "`+waits.Path+`", "do": "approve"}`)
		clients.Run(t, "opensearch", "end", s.URL, waits.Task)
	})
	t.Run("latency", func(t *testing.T) {
		var median struct{ ML, V1 float64 }
		printed := clients.Run(t, "opensearch", "latency", s.URL, "hello")
		if err := json.Unmarshal([]byte(printed), &median); err != nil {
			t.Fatal(printed, err)
		}
		t.Logf("figure: an execution takes %.2f ms at the median, and %.2f ms by /v1", median.ML, median.V1)
		if added := median.ML - median.V1; added > 2 {
			t.Errorf("the API adds %.2f ms", added)
		}
	})
}
