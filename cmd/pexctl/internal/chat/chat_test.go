package chat_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/chat"
	"github.com/pexctl/pex/engine/stop"
)

// The paths of a question: parked on disk at once, and in the memory of the server.
var parkings = map[string]time.Duration{"parked": time.Nanosecond, "live": time.Minute}

func TestDecisions(t *testing.T) {
	for name, after := range parkings {
		t.Run(name, func(t *testing.T) {
			x := newTalk(t, after, nil)
			x.say("What time is it?")
			x.await(chat.Said, "What time")
			x.asked()
			x.say("maybe")
			x.await(chat.Problem, `invalid answer "maybe": y = yes, n REASON = no`)
			x.edited = func(text string) string { return text }
			x.say("e")
			x.await(chat.Note, "Nothing was changed")
			x.edited = func(string) string { return "{" }
			x.say("e")
			x.await(chat.Problem, "not JSON; the question is still open")
			x.say("n too late")
			x.await(chat.Answer, "denied")
			x.idle()
			x.say("Again?")
			x.asked()
			x.say("yes")
			x.await(chat.Answer, "done")
			x.idle()
			if res, err := x.chat.Result(); err != nil || res.Status != stop.RunCompleted {
				t.Errorf("%+v %v", res, err)
			}
		})
	}
}

// A text while a question is open is a message to the run with !, or after Esc, which interrupts. It
// changes the plan.
func TestMessagesChangeThePlan(t *testing.T) {
	for name, after := range parkings {
		t.Run(name, func(t *testing.T) {
			x := newTalk(t, after, nil)
			x.say("What time is it?")
			x.asked()
			x.inputs <- chat.Input{Interrupt: true}
			x.until("an interruption", func(_ []chat.Entry, s chat.State) bool { return s.Interrupting })
			x.inputs <- chat.Input{Interrupt: true}
			x.until("no interruption", func(_ []chat.Entry, s chat.State) bool { return !s.Interrupting })
			x.inputs <- chat.Input{Interrupt: true}
			x.say("Use the 2025 figures.")
			x.await(chat.Said, "2025")
			if body := <-x.requests; !strings.Contains(body, `"interrupt":true`) || !strings.Contains(body, "Use the 2025 figures.") {
				t.Error(body)
			}
			x.say("!" + strings.Repeat("long ", 10<<10))
			x.await(chat.Problem, "not sent: a message to a run of 49 KiB; the limit is 32 KiB")
			x.say("y")
			x.await(chat.Answer, "2025 it is")
			x.say("/plan")
			if plan := x.await(chat.Output, "plan v2"); !strings.Contains(plan, "ok       s2 read 2025") {
				t.Error(plan)
			}
		})
	}
}

// Another process continues a conversation with the question of the run that was left, and with the
// earlier turns.
func TestConversationsContinue(t *testing.T) {
	x := newTalk(t, time.Nanosecond, nil)
	x.say("One?")
	x.asked()
	x.say("y")
	x.await(chat.Answer, "done")
	x.idle()
	x.say("Two?")
	x.asked()
	x.say("/quit")
	if err := <-x.ended; err != nil {
		t.Fatal(err)
	}
	if res, err := x.chat.Result(); err != nil || res.Status != stop.RunInterrupted || len(res.Interrupts) != 1 {
		t.Errorf("%+v %v", res, err)
	}
	x.ended <- nil // for the cleanup
	y := &talk{t: t, client: x.client, inputs: make(chan chat.Input), ended: make(chan error, 1), news: make(chan struct{}, 1)}
	y.begin(chat.Options{Client: x.client, Agent: "desk", MemoryID: "m1", Screen: y})
	y.await(chat.Said, "One?")
	y.await(chat.Answer, "done")
	y.await(chat.Said, "Two?")
	y.await(chat.Note, "Continuing run r-")
	y.asked()
	y.say("/new")
	y.await(chat.Note, "has not ended; /open m1 returns to it")
	y.say("/open m")
	y.await(chat.Note, "Continuing run r-")
	y.asked()
	y.say("/cancel")
	y.await(chat.Problem, "The run was cancelled")
	y.idle()
	y.say("/open nothing")
	y.await(chat.Problem, "no conversation nothing")
	y.say("/cancel")
	y.await(chat.Problem, "no run is under way")
}

func TestMistakesInCommands(t *testing.T) {
	x := newTalk(t, time.Nanosecond, nil)
	for line, want := range map[string]string{
		"/plna":          "unknown command /plna; did you mean /plan?",
		"/":              "unknown command /; /help lists the commands",
		"/xyzzy 1":       "unknown command /xyzzy",
		"/help me":       "/help takes no argument",
		"/file":          "usage: /file PATH",
		"/file nope.txt": "nope.txt: no such file",
		"/file .":        ". is not a file",
		"/open":          "usage: /open ID",
		"/set x":         "usage: /set KEY=VALUE",
		"/fork":          "there is no turn to fork yet",
		"/promote":       "there is no turn to save yet",
		"/model b/c":     "the agent has no model of this provider",
	} {
		x.say(line)
		x.await(chat.Problem, want)
	}
	x.say(strings.Repeat("x", chat.MaxQuestion+1))
	x.await(chat.Problem, "not sent: a question of 512 KiB; the limit is 512 KiB")
}

// Overrides that the server refuses are removed; those that a run accepted stay.
func TestOverrides(t *testing.T) {
	x := newTalk(t, time.Nanosecond, nil)
	x.say("/set limits.max_steps=5", "/model other", "One?")
	x.asked()
	x.say("y")
	x.await(chat.Answer, "done")
	x.idle()
	x.say("/set limits.max_steps=7", "/set planner.llm=main", "Two?")
	x.await(chat.Note, "removed: /set limits.max_steps=7 planner.llm=main")
	x.say("/set")
	if got := x.await(chat.Output, "llms"); got != "llms.main.model=other\n" {
		t.Error(got)
	}
	if _, err := x.chat.Result(); err == nil {
		t.Error("a turn that was not started has a result")
	}
}

func TestTurnsBecomeTests(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tests")
	x := newTalk(t, time.Nanosecond, func(o *chat.Options) { o.Tests = dir })
	x.say("What time is it, here & now?")
	x.asked()
	x.say("/promote")
	x.await(chat.Problem, "the turn has not ended yet")
	x.say("y")
	x.await(chat.Answer, "done")
	x.idle()
	x.say("/promote Not A Name")
	x.await(chat.Problem, "such as not-a-name")
	x.say("/promote")
	x.await(chat.Note, "case.yaml; to store its golden files: pexctl test ")
	b, err := os.ReadFile(filepath.Join(dir, "what-time-is-it-here", "case.yaml"))
	want := "parameters: {\"question\":\"What time is it, here \\u0026 now?\"}\nrun: {cassette: cassette.jsonl}\nexpect: [\"output contains \\\"done\\\"\"]\n"
	if err != nil || string(b) != want {
		t.Errorf("%v %s", err, b)
	}
	x.say("/promote")
	x.await(chat.Problem, "exists; give another name")
	doc := filepath.Join(t.TempDir(), "chat.md")
	x.say("/export " + doc)
	x.await(chat.Note, "Wrote ")
	b, err = os.ReadFile(doc)
	if err != nil || !strings.HasPrefix(string(b), "# desk: conversation m1\n\n## What time is it, here & now?\n\n") || !strings.HasSuffix(string(b), ":\n\ndone\n") {
		t.Errorf("%v %s", err, b)
	}
}

// A fork is a turn that the conversation shows.
func TestForks(t *testing.T) {
	x := newTalk(t, time.Nanosecond, nil)
	x.say("//What time is it?")
	x.await(chat.Said, "/What time")
	x.asked()
	x.say("y")
	x.await(chat.Answer, "done")
	x.idle()
	x.say("/fork step.s1")
	x.await(chat.Note, "from step.s1")
	x.asked()
	x.say("n too late")
	x.await(chat.Answer, "denied")
	x.idle()
	x.say("/fork nowhere")
	x.await(chat.Problem, "nowhere")
}
