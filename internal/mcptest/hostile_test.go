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

// row is one server, and what becomes of a run that uses it.
type row struct {
	mode   string
	limits limits // zero = patient ones
	effect string // "" = read
	want   string // regexp of what is said
	never  string // regexp of what is not, or ""
}

// short limits are for servers that would never end: what hangs where the limit
// is long has been broken off by something else.
var (
	shortCall  = limits{call: 300 * time.Millisecond, start: 20 * time.Second}
	shortStart = limits{call: 20 * time.Second, start: 500 * time.Millisecond}
)

const (
	called  = `(?s)^run completed\ncall srv__echo ok: .*`
	failed  = `(?s)^run completed\ncall srv__echo error: .*`
	expired = `(?s)^run completed\ncall srv__echo timeout: .*`
	unknown = `(?s)^run interrupted\n.*asks needs_review: `
	absent  = `(?s)^run completed\ncall srv__echo error: .*warning: tools\.srv: its tools are unavailable: .*`
)

var rows = []row{
	{mode: "good", want: called + "echoed"},

	// deaths
	{mode: "hang_start", limits: shortStart, want: absent},
	{mode: "mute", limits: shortStart, want: absent},
	{mode: "hang_list", limits: shortStart, want: absent},
	{mode: "hang_call", limits: shortCall, want: expired},
	{mode: "hang_call_deaf", limits: shortCall, want: expired},
	{mode: "hang_close", want: called + "echoed"},
	{mode: "crash_start", want: absent + "no such database"},
	{mode: "exit_start", want: absent},
	{mode: "crash_list", want: absent + "mcptest dies: list"},
	{mode: "crash_call", want: failed + "mcptest dies: call"},
	{mode: "crash_call", effect: "write", want: unknown},
	{mode: "crash_answered", want: called + "last words"},
	{mode: "half_line", want: failed + "mcptest dies: half a line"},
	{mode: "closes_stdout", want: failed},
	{mode: "grandchild", want: called + "echoed"},
	{mode: "grandchild_out", want: called + "echoed"},
	{mode: "slow_loris", limits: shortCall, want: expired},

	// floods
	{mode: "stderr_flood", want: called + "echoed"},
	{mode: "stdout_banner", want: called + "echoed"},
	{mode: "stdout_garbage", want: called + "after garbage"},
	{mode: "line_50mb", want: failed + "too|larger|longer|bytes|MiB"},
	{mode: "line_endless", want: failed},
	{mode: "result_50mb", want: failed},
	{mode: "result_10mb", want: called + "begin"},
	{mode: "list_changed_storm", want: called + "after the storm"},
	{mode: "progress_storm", want: called + "after the reports"},
	{mode: "log_storm", want: called + "after the log"},
	{mode: "unknown_storm", want: called + "after nonsense"},

	// lies
	{mode: "wrong_id", limits: shortCall, want: expired, never: "false"},
	{mode: "string_id", limits: shortCall, want: expired, never: "false"},
	{mode: "null_id", limits: shortCall, want: "(?s)^run completed\ncall srv__echo (timeout|error): ", never: "false"},
	{mode: "unknown_id", want: called + "true", never: "false"},
	{mode: "negative_id", want: called + "true", never: "false"},
	{mode: "twice", want: called + "first", never: "second"},
	{mode: "duplicate_id", limits: shortCall, want: "(?s)^run completed\ncall srv__echo "},
	{mode: "invalid_json", want: failed + "cannot be decoded"},
	{mode: "invalid_utf8", limits: shortCall, want: "(?s)^run completed\ncall srv__echo "},
	{mode: "batch", limits: shortCall, want: "(?s)^run completed\ncall srv__echo "},
	{mode: "empty_batch", limits: shortCall, want: "(?s)^run completed\ncall srv__echo "},
	{mode: "deep", want: failed + "cannot be decoded"},
	{mode: "result_and_error", limits: shortCall, want: "(?s)^run completed\ncall srv__echo (timeout|error): "},
	{mode: "no_result", limits: shortCall, want: "(?s)^run completed\ncall srv__echo "},
	{mode: "result_no_object", want: failed},
	{mode: "content_no_list", want: failed},
	{mode: "content_unknown", want: "(?s)^run completed\ncall srv__echo "},
	{mode: "no_content", want: called},
	{mode: "bad_base64", want: "(?s)^run completed\ncall srv__echo "},
	{mode: "structured_string", want: "(?s)^run completed\ncall srv__echo "},
	{mode: "structured_lie", want: "(?s)^run completed\ncall srv__echo "},
	{mode: "escapes", want: called + "cleared"},
	{mode: "error_answer", want: failed + "text must not be empty"},
	{mode: "error_result", want: failed + "the disk is full"},
	{mode: "old_version", want: absent + "1999-01-01"},
	{mode: "no_version", want: absent},
	{mode: "first_version", want: called + "echoed"},
	{mode: "crlf", want: called + "crlf"},
	{mode: "pretty", want: failed + "cannot be decoded"},
	{mode: "capital_letters", limits: shortCall, want: "(?s)^run completed\ncall srv__echo (timeout|error): "},

	// catalogues
	{mode: "changes_description", want: called + "changed"},
	{mode: "changes_parameter", want: called + "changed"},
	{mode: "adds_tool", want: called + "changed"},
	{mode: "no_tools", want: failed},
	{mode: "tools_null", want: failed},
	{mode: "tools_endless", limits: shortStart, want: `(?s)^run completed\n`},
	{mode: "ten_thousand_tools", want: called + "echoed"},
	{mode: "duplicate_names", want: called + `echoed.*warning: tools\.srv: .*is ignored`},
	{mode: "homoglyph_names", want: called + "echoed"},
	{mode: "no_name", want: called + "echoed"},
	{mode: "newline_name", want: called + "echoed"},
	{mode: "long_name", want: called + "echoed.*is ignored"},
	{mode: "hidden_unicode", want: called + "echoed"},
	{mode: "long_description", want: failed + "no tool.*is ignored"},
	{mode: "schema_huge", want: called + "echoed.*is ignored"},
	{mode: "schema_bomb", want: called + "echoed"},
	{mode: "schema_remote", want: called + "echoed"},
	{mode: "schema_no_object", want: called + "echoed"},
	{mode: "schema_nonsense", want: called + "echoed"},
	{mode: "schema_list", want: called + "echoed"},
	{mode: "schema_missing", want: called + "echoed"},
	{mode: "schema_draft07", want: called + "echoed"},
	{mode: "schema_2020", want: called + "echoed"},

	// questions
	{mode: "sampling", want: called + "told .*-3[0-9]+"},
	{mode: "roots", want: called + "told "},
	{mode: "unknown_ask", want: called + "told .*-32601"},
	{mode: "elicit", want: `(?s)^run interrupted\n.*asks elicitation: .*Password`},
	{mode: "elicit", effect: "write", want: called + "told .*(cancel|decline)"},
	{mode: "elicit_bad", want: called + "told "},
	{mode: "elicit_url", want: `(?s)^run `, never: "javascript:alert.*accept"},
	// The server may answer the last question's refusal before the timeout ends the call; else the outcome is unknown.
	{mode: "elicit_endless", effect: "write", limits: shortCall, want: `(?s)^run (completed\ncall srv__echo timeout: .*|interrupted\n.*asks needs_review: )`},
	{mode: "roots_storm", want: failed + "more than 256 unanswered"},
	{mode: "roots_deaf", want: failed + "more than 256 unanswered"},
	{mode: "ping_storm", want: failed + "more than 256 unanswered"},
	// If a call has begun by then, nothing tells that the question is not its own.
	{mode: "uninvited", want: `(?s)^run (completed\ncall srv__echo ok: .*echoed|interrupted\n.*asks elicitation)`},
}

const (
	slack     = 2 * time.Second // what a run may take beyond its limits
	maxMemory = 200 << 20
	atOnce    = 3
)

// TestNoServerHoldsARunUp runs pexctl against every server there is: each run
// comes to its end within its limits and two seconds, uses less than 200 MB,
// and leaves no process behind.
func TestNoServerHoldsARunUp(t *testing.T) {
	var modes []string
	for _, r := range rows {
		modes = append(modes, r.mode)
	}
	slices.Sort(modes)
	if diff := cmp.Diff(mcptest.Names(), slices.Compact(modes)); diff != "" {
		t.Fatalf("modes without a row, or the other way round:\n%s", diff)
	}
	table := newTable(t)
	for _, r := range rows {
		t.Run(strings.TrimSuffix(r.mode+"_"+r.effect, "_"), func(t *testing.T) {
			defer table.turn(t)()
			table.check(t, r, "")
		})
	}
}

// TestNoServerBehindHTTPHoldsARunUp is the same for servers with an address.
func TestNoServerBehindHTTPHoldsARunUp(t *testing.T) {
	modes := mcptest.WebModes()
	table := newTable(t)
	for _, r := range webRows {
		mode, ok := modes[r.mode]
		if !ok {
			t.Fatalf("there is no mode %s", r.mode)
		}
		delete(modes, r.mode)
		t.Run(r.mode, func(t *testing.T) {
			defer table.turn(t)()
			site := mcptest.HTTP(t, mode)
			table.check(t, r, site.URL)
			if strays := site.Strays(); len(strays) > 0 {
				t.Errorf("the client went where only the server sent it: %q", strays)
			}
			if r.mode == "web_session_lost" && site.Asked("initialize") != 2 {
				t.Errorf("initialize was asked %d times, want once more after the loss", site.Asked("initialize"))
			}
		})
	}
	for name := range modes {
		t.Errorf("the mode %s has no row", name)
	}
}

// table takes down how the runs went.
type table struct {
	turns chan struct{}
	plain time.Duration // what a run against a good server takes

	mu    sync.Mutex
	lines []string
}

func newTable(t *testing.T) *table {
	tab := &table{turns: make(chan struct{}, atOnce)}
	tab.plain = against(t, "good", "", "read", patient).took
	t.Cleanup(func() {
		slices.Sort(tab.lines)
		t.Logf("a run against a good server took %v\n%s", tab.plain.Round(time.Millisecond), strings.Join(tab.lines, "\n"))
	})
	return tab
}

// turn waits until few enough others run.
func (tab *table) turn(t *testing.T) (done func()) {
	t.Parallel()
	tab.turns <- struct{}{}
	return func() { <-tab.turns }
}

func (tab *table) check(t *testing.T, r row, url string) {
	t.Helper()
	effect, l := r.effect, r.limits
	if effect == "" {
		effect = "read"
	}
	if l == (limits{}) {
		l = patient
	}
	o := against(t, r.mode, url, effect, l)
	tab.mu.Lock()
	tab.lines = append(tab.lines, fmt.Sprintf("%-22s %6d ms %6d ms of CPU %5d MB  exit %d", r.mode, o.took.Milliseconds(), o.cpu.Milliseconds(), o.memory>>20, o.exit))
	tab.mu.Unlock()
	// The machine may be busy with other tests: what a good server takes, and
	// as much again for each that runs beside it, is nobody's fault.
	bound := min(l.call, l.start) + slack + (1+atOnce)*tab.plain
	if o.overrun || o.took > bound && l != patient {
		t.Errorf("took %v, want %v at most", o.took, bound)
	}
	if o.memory > maxMemory {
		t.Errorf("took %d MB, want less than %d", o.memory>>20, maxMemory>>20)
	}
	if len(o.left) > 0 {
		t.Errorf("left processes behind: %v", o.left)
	}
	if !regexp.MustCompile(r.want).MatchString(o.said) || r.never != "" && regexp.MustCompile(r.never).MatchString(o.said) {
		t.Errorf("exit %d, said:\n%s\nwant %s, never %q\nstderr: %s", o.exit, o.said, r.want, r.never, clipped(o.stderr))
	}
}
