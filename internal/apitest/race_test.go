package apitest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/server/manager"
)

// Clients that repeat requests start one run for each key.
func TestAKeyStartsOneRun(t *testing.T) {
	clients, keys := 64, 100
	if testing.Short() {
		keys = 20
	}
	archive, dir := goldentest.Txtar(t, filepath.Join("testdata", "runs.txtar")), t.TempDir()
	archive.Extract(t, dir)
	w := newWorld(t, dir, manager.NewSlots(manager.Limits{Running: 4, RunningPerTenant: 4, Waiting: keys}))
	var wg sync.WaitGroup
	var mu sync.Mutex
	created, runs := 0, map[string]string{}
	for range clients {
		wg.Go(func() {
			for n := range keys {
				key := fmt.Sprint("key-", n)
				res := w.do("ann", "POST", "/v1/agents/hello/runs", http.Header{"Idempotency-Key": {key}}, `{"question": "hi"}`)
				var ref struct {
					Run string `json:"run_id"`
				}
				err := json.Unmarshal(res.Body.Bytes(), &ref)
				mu.Lock()
				if res.Code == http.StatusCreated {
					created++
				}
				if err != nil || res.Code != http.StatusOK && res.Code != http.StatusCreated || runs[key] != "" && runs[key] != ref.Run {
					t.Errorf("%s: %d %s", key, res.Code, res.Body)
				}
				runs[key] = ref.Run
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for _, run := range runs {
		w.await(run)
	}
	var list struct {
		Runs []struct {
			Status string `json:"status"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(w.do("ann", "GET", "/v1/runs?limit=500&status=completed", nil, "").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	if created != keys || len(list.Runs) != keys {
		t.Errorf("%d runs were created, %d completed; want %d", created, len(list.Runs), keys)
	}
}
