package web

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/turn"
)

// How many turns of a conversation the chat shows, and how many conversations: the latest.
const (
	maxTurns         = 12
	maxConversations = 20
)

// chatData is the data of the page of a chat.
type chatData struct {
	Agent  *agents.Agent
	ID     string // of the conversation; "" = a new one
	Turns  []chatTurn
	More   bool   // there are earlier turns
	Active string // run that has not ended; "" = none
	Status string // of the latest run
	Live   bool   // its events should be watched
	// Questions of the runs of the conversation.
	Questions []question
	Others    []chatEntry // other conversations with the agent
	MayRun    bool
	Draft     string
}

// Path returns the path of the page.
func (d *chatData) Path() string { return chatPath(d.Agent.Name, d.ID) }

// chatTurn is a run in a chat.
type chatTurn struct {
	Run, Status string
	Question    string
	Messages    []string // that users sent to the run
	Steps       []turn.Step
	Calls       int    // of tools
	Done        int    // steps that have ended
	Answer      string // once the run has ended
	Ended       bool
	Problem     string
}

// chatEntry is a conversation in a list.
type chatEntry struct {
	ID      string
	Last    runs.Summary
	Waiting bool
}

// chatPath returns the path of a conversation with an agent; id "" = a new one.
func chatPath(agent, id string) string {
	path := "/chat/" + url.PathEscape(agent)
	if id == "" {
		return path
	}
	return path + "?c=" + url.QueryEscape(id)
}

func (u *UI) showChat(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	return u.chatPage(ctx, c, r.PathValue("agent"), r.URL.Query().Get("c"))
}

// chatPage returns the page of a conversation with an agent.
func (u *UI) chatPage(ctx context.Context, c *access.Client, agent, id string) (*page, error) {
	a, err := c.Agent(auth.View, agent)
	if err != nil {
		return nil, err
	}
	d := &chatData{Agent: a, ID: id, MayRun: c.Can(auth.Run, a)}
	if d.Others, err = u.chats(ctx, c, a.Name, id); err != nil {
		return nil, err
	}
	if id != "" {
		if err := u.addTurns(ctx, c, d); err != nil {
			return nil, err
		}
	}
	title := "Chat with " + a.Name
	if len(d.Turns) > 0 {
		title = line(d.Turns[0].Question)
	}
	return &page{Name: "chat", Title: title, Data: d, Chat: true}, nil
}

// isUnderWay reports whether a run executes, or will continue without new limits.
func isUnderWay(status stop.RunStatus) bool {
	return slices.Contains([]stop.RunStatus{runs.Running, manager.Queued, manager.Suspended, stop.RunInterrupted}, status)
}

// chats returns the latest conversations with an agent, but one.
func (u *UI) chats(ctx context.Context, c *access.Client, agent, except string) (out []chatEntry, err error) {
	seen := map[string]bool{"": true, except: true}
	found, _, err := c.List(ctx, runs.Filter{Limit: 10 * maxConversations, Match: func(sum runs.Summary) bool { return sum.MemoryID != "" }}, agent, "")
	if err != nil {
		return nil, err
	}
	for _, sum := range found {
		if !seen[sum.MemoryID] && len(out) < maxConversations {
			seen[sum.MemoryID] = true
			out = append(out, chatEntry{sum.MemoryID, sum, sum.Interrupts > 0})
		}
	}
	return out, nil
}

// addTurns adds the latest runs of the conversation, whichever agent they are of.
func (u *UI) addTurns(ctx context.Context, c *access.Client, d *chatData) error {
	found, more, err := c.List(ctx, runs.Filter{MemoryID: d.ID, Limit: maxTurns}, "", "")
	if err != nil {
		return err
	}
	d.More = more > 0
	slices.Reverse(found)
	for _, sum := range found {
		d.Turns = append(d.Turns, u.turnOf(ctx, c, &sum))
		status := c.Status(ctx, sum.Run)
		d.Status = string(status)
		if isUnderWay(status) {
			d.Active = sum.Run
			d.Live = status == runs.Running || status == manager.Queued || status == manager.Suspended
		}
	}
	open, err := c.Questions(ctx)
	if err != nil {
		return err
	}
	for _, o := range open {
		if slices.ContainsFunc(d.Turns, func(t chatTurn) bool { return t.Run == o.Run }) {
			q := questionOf(o)
			q.From = d.Path()
			d.Questions = append(d.Questions, q)
		}
	}
	return nil
}

// turnOf returns what a chat shows of a run.
func (u *UI) turnOf(ctx context.Context, c *access.Client, sum *runs.Summary) chatTurn {
	t := chatTurn{Run: sum.Run, Question: sum.Question, Status: string(sum.Status), Problem: sum.Problem}
	if sum.Problem != "" {
		return t
	}
	run, err := c.Read(sum.Run)
	if err != nil {
		t.Problem = "the run cannot be read"
		return t
	}
	hidden := u.secrets(run)
	show := func(s string) string {
		if hidden != nil {
			s, _ = hidden.Text(s)
		}
		return s
	}
	state := turn.Of(ctx, run, func(_ *turn.Turn, ch turn.Change) {
		if ch.Kind == turn.Received {
			t.Messages = append(t.Messages, show(ch.Text))
		}
	})
	t.Question, t.Calls, t.Ended = show(t.Question), len(state.Calls), state.Status != ""
	for _, s := range state.Steps {
		s.Goal, s.Result, s.Error = show(s.Goal), show(s.Result), show(s.Error)
		t.Steps = append(t.Steps, s)
		if s.Status != "" && s.Status != plan.Running {
			t.Done++
		}
	}
	if len(state.Open) > 0 {
		t.Status = "waiting for an answer"
	}
	if t.Ended {
		t.Answer = show(state.Outcome())
	}
	return t
}

// sendChat sends a message to the run of the conversation that is under way, or else starts one.
func (u *UI) sendChat(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	agent, id, text := r.PathValue("agent"), r.PostForm.Get("c"), strings.ReplaceAll(r.PostForm.Get("text"), "\r\n", "\n")
	if id == "" {
		id = "c-" + strings.ToLower(rand.Text())
	}
	err := u.say(ctx, c, agent, id, text, r.PostForm.Get("interrupt") != "")
	if err == nil {
		return redirect(chatPath(agent, id)), nil
	}
	what := u.o.Access.Problem(r, err)
	p, pageErr := u.chatPage(ctx, c, agent, r.PostForm.Get("c"))
	if pageErr != nil {
		return nil, err
	}
	p.Alert, p.Status = what.Detail, what.Status()
	if d, ok := p.Data.(*chatData); ok {
		d.Draft = text
	}
	return p, nil
}

func (u *UI) say(ctx context.Context, c *access.Client, agent, id, text string, interrupt bool) error {
	a, err := c.Agent(auth.Run, agent)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return problem.New(problem.InvalidMessage, "write a message")
	}
	latest, _, err := c.List(ctx, runs.Filter{MemoryID: id, Limit: 1}, a.Name, "")
	if err != nil {
		return err
	}
	if len(latest) > 0 && isUnderWay(c.Status(ctx, latest[0].Run)) {
		err := c.Message(ctx, latest[0].Run, runs.Message{ID: runs.NewMessageID(), Text: text, Interrupt: interrupt})
		if !errors.As(err, new(*runs.EndedError)) {
			return err
		}
	}
	body := jsonvalue.Encode(map[string]string{"question": text})
	s, err := c.Prepare(ctx, a, access.NewRun{Parameters: body, MemoryID: id, Body: body})
	if err == nil {
		_, err = s.Run(ctx)
	}
	return err
}

// from returns the page to which a form of a question returns, or other.
func from(r *http.Request, other string) string {
	switch to := r.PostForm.Get("from"); {
	case to == "inbox":
		return "/inbox"
	case strings.HasPrefix(to, "/chat/"):
		return localPage(to)
	}
	return other
}
