//go:build unix

package servetest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// Many clients that repeat a few requests start each run once.
func TestRequestsWithTheSameKeyStartOneRun(t *testing.T) {
	alone(t)
	clients, posts, keys := size(16, 64), size(200, 10_000), size(10, 100)
	w := newWorld(t, map[string]string{"server.yaml": serverFile("limits: {queued_runs: 200}"), "spec.yaml": agent{name: "two", steps: 2, tool: writeTool}.spec()})
	w.start()
	var (
		next    atomic.Int64
		created atomic.Int64
		working sync.WaitGroup
		mu      sync.Mutex
	)
	ids := map[string]string{} // run by key
	for range clients {
		working.Go(func() {
			for n := next.Add(1); n <= int64(posts); n = next.Add(1) {
				key := fmt.Sprint("key-", n%int64(keys))
				r, err := w.do(http.MethodPost, "/v1/agents/two/runs", `{"question":"q"}`, "idempotency-key: "+key)
				if err != nil {
					t.Error(err)
					return
				}
				var ref struct {
					Run string `json:"run_id"`
				}
				if err := json.Unmarshal(r.body, &ref); err != nil || r.status != http.StatusOK && r.status != http.StatusCreated {
					t.Errorf("status %d: %s", r.status, r.body)
					return
				}
				if r.status == http.StatusCreated {
					created.Add(1)
				}
				mu.Lock()
				if was := ids[key]; was != "" && was != ref.Run {
					t.Errorf("%s started runs %s and %s", key, was, ref.Run)
				}
				ids[key] = ref.Run
				mu.Unlock()
			}
		})
	}
	working.Wait()
	for key, run := range ids {
		w.until(key+" is done", func() bool { return w.result(run).Status == "completed" })
	}
	runs := w.list()
	if len(runs) != keys || len(ids) != keys || created.Load() != int64(keys) {
		t.Errorf("%d keys: %d runs, %d ids, %d times 201", keys, len(runs), len(ids), created.Load())
	}
	w.ledger(2 * keys)
	t.Logf("%d clients, %d POSTs with %d keys: %d runs", clients, posts, keys, len(runs))
}
