//go:build e2e && unix

package clients_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/e2e/clients"
)

func TestClientsOfA2A(t *testing.T) {
	s := clients.Serve(t, []string{"hello", "refund-desk"}, nil)
	for _, client := range [][2]string{{"1.0", "jsonrpc"}, {"1.0", "rest"}, {"0.3", "jsonrpc"}, {"0.3", "rest"}} {
		t.Run(strings.Join(client[:], " "), func(t *testing.T) {
			run := func(mode string, task ...string) string {
				return strings.TrimSpace(clients.Run(t, "a2a", append([]string{s.URL, client[0], client[1], mode}, task...)...))
			}
			run("tasks")
			run("answer", run("ask"))
			task := run("ask")
			s.Restart()
			s.Post("/v1/runs/"+task+"/answers", `{"path": "step.s3/turn.1/tool.0.approval", "do": "approve"}`)
			run("done", task)
		})
	}
}
