//go:build linux

package mcptest_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/internal/mcptest"
)

// testRow is a server and the expected result of a run that uses it.
type testRow struct {
	mode    string
	limits  limits // zero = longLimits
	effect  string // "" = read
	want    string // pattern of the summary
	wantNot string // pattern that must not match, or ""
}

// Limits for servers that never end. The other limit stays long, so that a test does not pass because
// of the wrong one.
var (
	shortCall  = limits{call: 300 * time.Millisecond, start: 20 * time.Second}
	shortStart = limits{call: 20 * time.Second, start: 500 * time.Millisecond}
)

const (
	callOK       = `(?s)^run completed\ncall srv__echo ok: .*`
	callFailed   = `(?s)^run completed\ncall srv__echo error: .*`
	callTimedOut = `(?s)^run completed\ncall srv__echo timeout: .*`
	needsReview  = `(?s)^run interrupted\n.*asks needs_review: `
	noTools      = `(?s)^run completed\ncall srv__echo error: .*warning: tools\.srv: unavailable: .*`
)

var rows = []testRow{
	{mode: "good", want: callOK + "echoed"},

	// crashes
	{mode: "hang_start", limits: shortStart, want: noTools},
	{mode: "mute", limits: shortStart, want: noTools},
	{mode: "hang_list", limits: shortStart, want: noTools},
	{mode: "hang_call", limits: shortCall, want: callTimedOut},
	{mode: "hang_call_deaf", limits: shortCall, want: callTimedOut},
	{mode: "hang_close", want: callOK + "echoed"},
	{mode: "crash_start", want: noTools + "no such database"},
	{mode: "exit_start", want: noTools},
	{mode: "crash_list", want: noTools + "mcptest exits: list"},
	{mode: "crash_call", want: callFailed + "mcptest exits: call"},
	{mode: "crash_call", effect: "write", want: needsReview},
	{mode: "crash_answered", want: callOK + "last words"},
	{mode: "half_line", want: callFailed + "mcptest exits: half a line"},
	{mode: "closes_stdout", want: callFailed},
	{mode: "grandchild", want: callOK + "echoed"},
	{mode: "grandchild_out", want: callOK + "echoed"},
	{mode: "slow_loris", limits: shortCall, want: callTimedOut},

	// floods
	{mode: "stderr_flood", want: callOK + "echoed"},
	{mode: "stdout_banner", want: callOK + "echoed"},
	{mode: "stdout_garbage", want: callOK + "after garbage"},
	{mode: "line_50mb", want: callFailed + "too|larger|longer|bytes|MiB"},
	{mode: "line_endless", want: callFailed},
	{mode: "result_50mb", want: callFailed},
	{mode: "result_10mb", want: callOK + "begin"},
	{mode: "list_changed_storm", want: callOK + "after the storm"},
	{mode: "progress_storm", want: callOK + "after the reports"},
	{mode: "log_storm", want: callOK + "after the log"},
	{mode: "unknown_storm", want: callOK + "after nonsense"},

	// protocol errors
	{mode: "wrong_id", limits: shortCall, want: callTimedOut, wantNot: "false"},
	{mode: "string_id", limits: shortCall, want: callTimedOut, wantNot: "false"},
	{mode: "null_id", limits: shortCall, want: "(?s)^run completed\ncall srv__echo (timeout|error): ", wantNot: "false"},
	{mode: "unknown_id", want: callOK + "true", wantNot: "false"},
	{mode: "negative_id", want: callOK + "true", wantNot: "false"},
	{mode: "twice", want: callOK + "first", wantNot: "second"},
	{mode: "duplicate_id", limits: shortCall, want: "(?s)^run completed\ncall srv__echo "},
	{mode: "invalid_json", want: callFailed + "cannot be decoded"},
	{mode: "invalid_utf8", limits: shortCall, want: "(?s)^run completed\ncall srv__echo "},
	{mode: "batch", limits: shortCall, want: "(?s)^run completed\ncall srv__echo "},
	{mode: "empty_batch", limits: shortCall, want: "(?s)^run completed\ncall srv__echo "},
	{mode: "deep", want: callFailed + "cannot be decoded"},
	{mode: "result_and_error", limits: shortCall, want: "(?s)^run completed\ncall srv__echo (timeout|error): "},
	{mode: "no_result", limits: shortCall, want: "(?s)^run completed\ncall srv__echo "},
	{mode: "result_no_object", want: callFailed},
	{mode: "content_no_list", want: callFailed},
	{mode: "content_unknown", want: "(?s)^run completed\ncall srv__echo "},
	{mode: "no_content", want: callOK},
	{mode: "bad_base64", want: "(?s)^run completed\ncall srv__echo "},
	{mode: "structured_string", want: "(?s)^run completed\ncall srv__echo "},
	{mode: "structured_lie", want: "(?s)^run completed\ncall srv__echo "},
	{mode: "escapes", want: callOK + "cleared"},
	{mode: "error_answer", want: callFailed + "text must not be empty"},
	{mode: "error_result", want: callFailed + "the disk is full"},
	{mode: "old_version", want: noTools + "1999-01-01"},
	{mode: "no_version", want: noTools},
	{mode: "first_version", want: callOK + "echoed"},
	{mode: "crlf", want: callOK + "crlf"},
	{mode: "pretty", want: callFailed + "cannot be decoded"},
	{mode: "capital_letters", limits: shortCall, want: "(?s)^run completed\ncall srv__echo (timeout|error): "},

	// lists of tools
	{mode: "changes_description", want: callOK + "changed"},
	{mode: "changes_parameter", want: callOK + "changed"},
	{mode: "adds_tool", want: callOK + "changed"},
	{mode: "no_tools", want: callFailed},
	{mode: "tools_null", want: callFailed},
	{mode: "tools_endless", limits: shortStart, want: `(?s)^run completed\n`},
	{mode: "ten_thousand_tools", want: callOK + "echoed"},
	{mode: "duplicate_names", want: callOK + `echoed.*warning: tools\.srv: .*is ignored`},
	{mode: "homoglyph_names", want: callOK + "echoed"},
	{mode: "no_name", want: callOK + "echoed"},
	{mode: "newline_name", want: callOK + "echoed"},
	{mode: "long_name", want: callOK + "echoed.*is ignored"},
	{mode: "hidden_unicode", want: callOK + "echoed"},
	{mode: "long_description", want: callFailed + "no tool.*is ignored"},
	{mode: "schema_huge", want: callOK + "echoed.*is ignored"},
	{mode: "schema_bomb", want: callOK + "echoed"},
	{mode: "schema_remote", want: callOK + "echoed"},
	{mode: "schema_no_object", want: callOK + "echoed"},
	{mode: "schema_nonsense", want: callOK + "echoed"},
	{mode: "schema_list", want: callOK + "echoed"},
	{mode: "schema_missing", want: callOK + "echoed"},
	{mode: "schema_draft07", want: callOK + "echoed"},
	{mode: "schema_2020", want: callOK + "echoed"},

	// questions
	{mode: "sampling", want: callOK + "received .*-3[0-9]+"},
	{mode: "roots", want: callOK + "received "},
	{mode: "unknown_ask", want: callOK + "received .*-32601"},
	{mode: "elicit", want: `(?s)^run interrupted\n.*asks elicitation: .*Password`},
	{mode: "elicit", effect: "write", want: callOK + "received .*(cancel|decline)"},
	{mode: "elicit_bad", want: callOK + "received "},
	{mode: "elicit_url", want: `(?s)^run `, wantNot: "javascript:alert.*accept"},
	// The server may answer the refusal of the last question before the timeout ends the call. Otherwise, the outcome is unknown.
	{mode: "elicit_endless", effect: "write", limits: shortCall, want: `(?s)^run (completed\ncall srv__echo timeout: .*|interrupted\n.*asks needs_review: )`},
	{mode: "roots_storm", want: callFailed + "more than 256 unanswered"},
	{mode: "roots_deaf", want: callFailed + "more than 256 unanswered"},
	{mode: "ping_storm", want: callFailed + "more than 256 unanswered"},
	// If a call has started by then, the question counts as part of it.
	{mode: "uninvited", want: `(?s)^run (completed\ncall srv__echo ok: .*echoed|interrupted\n.*asks elicitation)`},
}

const (
	slack       = 2 * time.Second // time that a run may exceed its limits by
	maxMemory   = 200 << 20
	concurrency = 3
)

// TestRunsAgainstMisbehavingServers runs pexctl against every server. Each run must end within its
// limits and two seconds, use less than 200 MB, and leave no process behind.
func TestRunsAgainstMisbehavingServers(t *testing.T) {
	var modes []string
	for _, r := range rows {
		modes = append(modes, r.mode)
	}
	slices.Sort(modes)
	if diff := cmp.Diff(mcptest.Names(), slices.Compact(modes)); diff != "" {
		t.Fatalf("modes without a row, or rows without a mode:\n%s", diff)
	}
	table := newTable(t)
	for _, r := range rows {
		t.Run(strings.TrimSuffix(r.mode+"_"+r.effect, "_"), func(t *testing.T) {
			defer table.acquire(t)()
			table.check(t, r, "")
		})
	}
}

// TestRunsAgainstMisbehavingHTTPServers does the same over HTTP.
func TestRunsAgainstMisbehavingHTTPServers(t *testing.T) {
	modes := mcptest.WebModes()
	table := newTable(t)
	for _, r := range webRows {
		mode, ok := modes[r.mode]
		if !ok {
			t.Fatalf("unknown mode %s", r.mode)
		}
		delete(modes, r.mode)
		t.Run(r.mode, func(t *testing.T) {
			defer table.acquire(t)()
			site := mcptest.HTTP(t, mode)
			table.check(t, r, site.URL)
			if forbidden := site.ForbiddenRequests(); len(forbidden) > 0 {
				t.Errorf("the client followed the server to another address: %q", forbidden)
			}
			if r.mode == "web_session_lost" && site.Requests("initialize") != 2 {
				t.Errorf("initialize was called %d times, want 2: again after the session was lost", site.Requests("initialize"))
			}
		})
	}
	for name := range modes {
		t.Errorf("the mode %s has no row", name)
	}
}

// results collects the figures of the runs.
type results struct {
	slots    chan struct{}
	baseline time.Duration // duration of a run against a good server

	mu    sync.Mutex
	lines []string
}

func newTable(t *testing.T) *results {
	tab := &results{slots: make(chan struct{}, concurrency)}
	tab.baseline = runAgainst(t, "good", "", "read", longLimits).duration
	t.Cleanup(func() {
		slices.Sort(tab.lines)
		t.Logf("a run against a good server took %v\n%s", tab.baseline.Round(time.Millisecond), strings.Join(tab.lines, "\n"))
	})
	return tab
}

// acquire waits until fewer than concurrency other tests run.
func (tab *results) acquire(t *testing.T) (done func()) {
	t.Parallel()
	tab.slots <- struct{}{}
	return func() { <-tab.slots }
}

func (tab *results) check(t *testing.T, r testRow, url string) {
	t.Helper()
	effect, l := r.effect, r.limits
	if effect == "" {
		effect = "read"
	}
	if l == (limits{}) {
		l = longLimits
	}
	o := runAgainst(t, r.mode, url, effect, l)
	tab.mu.Lock()
	tab.lines = append(tab.lines, fmt.Sprintf("%-22s %6d ms %6d ms of CPU %5d MB  exit %d", r.mode, o.duration.Milliseconds(), o.cpu.Milliseconds(), o.memory>>20, o.exit))
	tab.mu.Unlock()
	// The machine may be busy with other tests, so allow the time of a good server for this test and
	// for each that runs at the same time.
	bound := min(l.call, l.start) + slack + (1+concurrency)*tab.baseline
	if o.killed || o.duration > bound && l != longLimits {
		t.Errorf("took %v, want at most %v", o.duration, bound)
	}
	if o.memory > maxMemory {
		t.Errorf("used %d MB, want less than %d", o.memory>>20, maxMemory>>20)
	}
	if len(o.processes) > 0 {
		t.Errorf("processes still running: %v", o.processes)
	}
	if !regexp.MustCompile(r.want).MatchString(o.summary) || r.wantNot != "" && regexp.MustCompile(r.wantNot).MatchString(o.summary) {
		t.Errorf("exit %d:\n%s\nwant %s, and not %q\nstderr: %s", o.exit, o.summary, r.want, r.wantNot, truncate(o.stderr))
	}
}
