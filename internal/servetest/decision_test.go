//go:build unix

package servetest_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// authenticated returns the files of a server with tokens for clients: their names are
// also their secrets.
func authenticated(parkAfter string, clients ...string) map[string]string {
	tokens := "apiVersion: pex/v1\nkind: Tokens\ntokens:\n"
	for _, name := range clients {
		tokens += fmt.Sprintf("  - {name: %s, sha256: %x, roles: [run, approve]}\n", name, sha256.Sum256([]byte(name)))
	}
	return map[string]string{
		"tokens.yaml": tokens,
		"server.yaml": serverFile("auth: {tokens: {file: tokens.yaml}}", "limits: {concurrent_runs: 200}", "park_after: "+parkAfter),
	}
}

func bearer(client string) string { return "authorization: Bearer " + client }

// raced performs races, in memory and on disk, in which the clients ann, bob and cid change runs
// of the agent asks at once. race returns what to count; check gets all counts.
func raced(t *testing.T, race func(w *world, r *rand.Rand, run string) map[string]int, check func(w *world, counts map[string]int)) {
	alone(t)
	for name, parkAfter := range map[string]string{"in memory": "30s", "on disk": "1ms"} {
		t.Run(name, func(t *testing.T) {
			races := size(40, 1000) / 2
			files := authenticated(parkAfter, "ann", "bob", "cid")
			files["spec.yaml"] = agent{name: "asks", steps: 1, tool: approveTool}.spec()
			w := newWorld(t, files)
			w.as = bearer("cid")
			w.start()
			counts := map[string]int{}
			var mu sync.Mutex
			var lanes sync.WaitGroup
			for lane := range 8 {
				lanes.Go(func() {
					r := rand.New(rand.NewPCG(uint64(lane), 52))
					for n := lane; n < races && !t.Failed(); n += 8 {
						one := race(w, r, fmt.Sprint("race-", n))
						mu.Lock()
						for what, times := range one {
							counts[what] += times
						}
						mu.Unlock()
					}
				})
			}
			lanes.Wait()
			if !t.Failed() {
				check(w, counts)
			}
			t.Logf("%d races, run %s: %v", races, name, counts)
		})
	}
}

// Three clients approve, deny and cancel at once, while the run is in memory and when it is
// not. One decision counts, and the run names its author.
func TestOneOfThreeRacingDecisionsCounts(t *testing.T) {
	race := func(w *world, _ *rand.Rand, run string) map[string]int { return map[string]int{w.race(run): 1} }
	raced(t, race, func(w *world, winners map[string]int) {
		w.ledgerBetween(winners["approve"], winners["approve"]+winners[approvedTooLate])
	})
}

// approvedTooLate is the outcome of a race in which the run was cancelled after an approval:
// its write may have begun before that or not.
const approvedTooLate = "approve, then cancel"

// race lets three clients decide about a run at once, and returns the decision that
// counted.
func (w *world) race(run string) (winner string) {
	w.create("asks", run)
	path := ""
	w.until(run+" asks", func() bool {
		open := w.result(run).Interrupts
		if len(open) == 1 {
			path = open[0].Path
		}
		return path != ""
	})
	who := map[string]string{"approve": "ann", "deny": "bob", "cancel": "cid"}
	replies := map[string]*reply{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for do, client := range who {
		delay := time.Duration(rand.IntN(2000)) * time.Microsecond
		if do == "cancel" { // has to be earlier, to be first
			delay /= 8
		}
		all.Go(func() {
			time.Sleep(delay)
			target, body := "/answers", fmt.Sprintf(`{"path":%q,"do":%q}`, path, do)
			if do == "cancel" {
				target, body = "/cancel", ""
			}
			r, err := w.do(http.MethodPost, "/v1/runs/"+run+target, body, bearer(client))
			if err != nil {
				w.t.Error(err)
				r = &reply{}
			}
			mu.Lock()
			defer mu.Unlock()
			replies[do] = r
		})
	}
	all.Wait()
	w.until(run+" has ended", func() bool {
		return slices.Contains([]string{"completed", "failed", "cancelled"}, w.result(run).Status)
	})
	res := w.result(run)
	told := fmt.Sprintf("run %s %s; approve %d %s; deny %d %s; cancel %d %s; decisions %+v", run, res.Status, replies["approve"].status, replies["approve"].body,
		replies["deny"].status, replies["deny"].body, replies["cancel"].status, replies["cancel"].body, res.Decisions)
	accepted := []string{}
	for _, do := range []string{"approve", "deny"} {
		switch replies[do].status {
		case http.StatusOK:
			accepted = append(accepted, do)
		case http.StatusConflict, http.StatusNotFound:
		default:
			w.t.Errorf("status of %s: %s", do, told)
		}
	}
	if s := replies["cancel"].status; s != http.StatusAccepted && s != http.StatusOK {
		w.t.Errorf("status of cancel: %s", told)
	}
	decisions := res.Decisions
	answers := slices.DeleteFunc(slices.Clone(decisions), func(d decisionRecord) bool { return d.Path != path })
	for _, d := range decisions {
		if do := strings.TrimSuffix(d.Do, ":"); who[do] != d.By.User {
			w.t.Errorf("decision %s has the author %q: %s", do, d.By.User, told)
		}
	}
	switch {
	case len(accepted) == 0 && len(answers) == 0 && res.Status == "cancelled":
		return "cancel"
	case len(accepted) == 1 && len(answers) == 1 && answers[0].Do == accepted[0]:
		if res.Status == "cancelled" && accepted[0] == "approve" {
			return approvedTooLate
		}
		return accepted[0]
	}
	w.t.Errorf("not one decision: %s", told)
	return "none"
}

// Two parallel steps ask at once, and are answered in reverse order.
func TestQuestionsOfParallelStepsAreAnsweredInAnyOrder(t *testing.T) {
	alone(t)
	files := authenticated("30s", "ann", "bob")
	files["spec.yaml"] = agent{name: "asks", steps: 2, tool: approveTool, parallel: true}.spec()
	w := newWorld(t, files)
	w.as = bearer("ann")
	w.start()
	w.create("asks", "r")
	var open []question
	w.until("both steps ask", func() bool {
		var list struct{ Questions []question }
		decode(w, w.must(http.StatusOK, http.MethodGet, "/v1/questions", ""), &list)
		open = list.Questions
		return len(open) == 2
	})
	order := []string{open[1].Path, open[0].Path}
	for i, client := range []string{"ann", "bob"} {
		w.must(http.StatusOK, http.MethodPost, "/v1/runs/r/answers", fmt.Sprintf(`{"path":%q,"do":"approve"}`, order[i]), bearer(client))
		if left := w.result("r").Interrupts; i == 0 && (len(left) != 1 || left[0].Path != order[1]) {
			t.Fatalf("after the answer to %s these are open: %+v", order[0], left)
		}
	}
	w.until("the run is done", func() bool { return w.result("r").Status == "completed" })
	by := map[string]string{}
	for _, d := range w.result("r").Decisions {
		by[d.Path] = d.By.User
	}
	if by[order[0]] != "ann" || by[order[1]] != "bob" {
		t.Errorf("the authors are %v", by)
	}
	w.ledger(2)
}

// financeTool is approveTool for approvers with the role finance who did not start the run.
const financeTool = `write: {type: command, effect: write, approval: always, approvers: '"finance" in by.roles', four_eyes: true, argv: [sh, -c, 'echo "$PEX_IDEMPOTENCY_KEY" >> ledger; echo written']}`

// One client may approve, and three may not: one lacks the role that the tool requires, one
// started the run, and one is both an admin and without the role. They race, while the run is in
// memory and when it is not. Only the first is ever an author.
func TestNoRaceLetsAnotherClientApprove(t *testing.T) {
	alone(t)
	for name, parkAfter := range map[string]string{"in memory": "30s", "on disk": "1ms"} {
		t.Run(name, func(t *testing.T) {
			races := size(40, 1000) / 2
			files := authenticated(parkAfter, "ann", "bob", "cid", "dan")
			for client, roles := range map[string]string{"ann": "run, approve, finance", "bob": "run, approve, finance", "dan": "admin"} {
				files["tokens.yaml"] = strings.Replace(files["tokens.yaml"], fmt.Sprintf("%x, roles: [run, approve]", sha256.Sum256([]byte(client))),
					fmt.Sprintf("%x, roles: [%s]", sha256.Sum256([]byte(client)), roles), 1)
			}
			files["server.yaml"] = strings.Replace(files["server.yaml"], "auth: {", "auth: {roles: [finance], ", 1)
			files["spec.yaml"] = agent{name: "asks", steps: 1, tool: financeTool}.spec()
			w := newWorld(t, files)
			w.as = bearer("bob") // starts the runs
			w.start()
			var lanes sync.WaitGroup
			for lane := range 8 {
				lanes.Go(func() {
					for n := lane; n < races && !t.Failed(); n += 8 {
						w.restrictedRace(fmt.Sprint("race-", n))
					}
				})
			}
			lanes.Wait()
			if !t.Failed() {
				w.ledger(races)
			}
		})
	}
}

// restrictedRace lets four clients approve a run at once, of whom only ann may.
func (w *world) restrictedRace(run string) {
	w.create("asks", run)
	path := ""
	w.until(run+" asks", func() bool {
		if open := w.result(run).Interrupts; len(open) == 1 {
			path = open[0].Path
		}
		return path != ""
	})
	var all sync.WaitGroup
	for _, client := range []string{"ann", "bob", "cid", "dan"} {
		delay := time.Duration(rand.IntN(2000)) * time.Microsecond
		all.Go(func() {
			time.Sleep(delay)
			r, err := w.do(http.MethodPost, "/v1/runs/"+run+"/answers", fmt.Sprintf(`{"path":%q,"do":"approve"}`, path), bearer(client))
			switch {
			case err != nil:
				w.t.Error(err)
			case client == "ann" && r.status != http.StatusOK:
				w.t.Errorf("%s may approve: %d %s", client, r.status, r.body)
			case client != "ann" && (r.status != http.StatusForbidden || !strings.Contains(string(r.body), `"not_an_approver"`)) &&
				r.status != http.StatusConflict && r.status != http.StatusNotFound: // ann was faster
				w.t.Errorf("%s may not approve: %d %s", client, r.status, r.body)
			}
		})
	}
	all.Wait()
	w.until(run+" has ended", func() bool { return w.result(run).Status == "completed" })
	if d := w.result(run).Decisions; len(d) != 1 || d[0].By.User != "ann" {
		w.t.Errorf("run %s: decisions %+v", run, d)
	}
}
