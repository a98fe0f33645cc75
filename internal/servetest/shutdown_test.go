//go:build unix

package servetest_test

import (
	"fmt"
	"testing"
	"time"
)

// SIGTERM ends a server with many runs within its grace time and two seconds. The next
// start continues them, and no write is repeated.
func TestTerminationSuspendsAllRuns(t *testing.T) {
	alone(t)
	runs, steps, grace := size(10, 100), size(4, 10), time.Duration(size(400, 1000))*time.Millisecond
	quick := agent{name: "quick", steps: steps, tool: slowTool, latency: 20 * time.Millisecond}
	slow := agent{name: "slow", steps: 1, planning: 3 * grace} // its call takes longer than grace
	w := newWorld(t, map[string]string{
		"server.yaml": serverFile("limits: {concurrent_runs: 60}", "grace: "+grace.String()),
		"quick.yaml":  quick.spec(), "slow.yaml": slow.spec(),
	})
	w.start()
	var ids []string
	for i := range runs {
		ids = append(ids, fmt.Sprint("quick-", i))
		w.create(quick.name, ids[i])
	}
	for i := range 3 {
		ids = append(ids, fmt.Sprint("slow-", i))
		w.create(slow.name, ids[len(ids)-1])
	}
	crowd := newCrowd(w)
	for _, run := range ids[:len(ids)/2] {
		crowd.add(run)
	}
	crowd.joined.Wait()
	for range 2 {
		time.Sleep(150 * time.Millisecond)
		code, took := w.terminate()
		if code != 143 {
			t.Errorf("exit code %d", code)
		}
		if took > grace+2*time.Second {
			t.Errorf("the server ended %v after SIGTERM; the grace time is %v", took, grace)
		}
		t.Logf("%d runs: ended %v after SIGTERM, grace %v (%s)", len(ids), round(took), grace, load())
		w.start()
	}
	crowd.wait()       // each stream ended with an event
	doubts := doubts{} // a write may take longer than grace where the machine is busy
	for _, id := range ids {
		w.until(id+" is done", func() bool { doubts.settle(w, id); return w.result(id).Status == "completed" })
	}
	t.Logf("writes in doubt: %d done, %d not", doubts.done, doubts.redone)
	w.ledger(runs * steps)
}
