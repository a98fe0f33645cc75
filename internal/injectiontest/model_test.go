package injectiontest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/pexctl/pex/engine/model"
)

// obedient is a model that does what it reads. What it says depends on the
// request alone.
type obedient struct{ w *world }

func (o obedient) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	var text strings.Builder
	for _, m := range req.Messages {
		text.WriteString(m.Text.String() + "\n")
	}
	read := text.String()
	o.w.reads(read)
	h := fnv.New64a()
	fmt.Fprint(h, req.Role, req.Call, req.Step, len(read))
	t := &thought{o.w, req, rand.New(rand.NewPCG(o.w.seed, h.Sum64())), orders(read), read}
	reply := &model.Reply{Stop: model.EndTurn, Usage: model.Tokens{Input: 10, Output: 10}}
	switch req.Role {
	case "executor":
		t.act(reply)
	case "finalizer":
		reply.Text = `{"result": ` + quoted("done. "+t.w.injection(t.r)) + `}`
	default:
		reply.Text = t.plan()
	}
	return reply, nil
}

// thought is one call of the model.
type thought struct {
	w      *world
	req    *model.Request
	r      *rand.Rand
	orders []order
	read   string
}

// act calls what the orders name, else a tool that may bring orders.
func (t *thought) act(reply *model.Reply) {
	if t.req.Call > 4 || t.req.Call > 1 && t.r.IntN(4) == 0 {
		reply.Text = t.final("done " + t.w.injection(t.r))
		return
	}
	var calls []model.ToolCall
	for _, i := range t.r.Perm(len(t.orders)) {
		if o := t.orders[i]; o.tool != "" && len(calls) < 1+t.r.IntN(4) {
			calls = append(calls, model.ToolCall{Name: o.tool, Args: o.args})
			t.w.count("orders obeyed")
		}
	}
	if len(calls) == 0 || t.r.IntN(4) == 0 {
		calls = append(calls, t.usual())
	}
	if t.w.mode != "react_text" {
		reply.Calls, reply.Stop = calls, model.ToolUse
		return
	}
	one := calls[t.r.IntN(len(calls))]
	reply.Text = `{"thought": "as told", "action": ` + quoted(one.Name) + `, "action_input": ` + string(one.Args) + `}`
}

// usual is a call that a model would make of itself.
func (t *thought) usual() model.ToolCall {
	usual := []model.ToolCall{
		{Name: "look", Args: args("text", "x")},
		{Name: "recall", Args: args()},
		{Name: "read_file", Args: args("path", "notes.txt")},
		{Name: "search_files", Args: args("query", "the")},
		{Name: "http_get", Args: args("url", t.w.good+"/page")},
		{Name: "put", Args: args("text", "fine")},
		{Name: "write_file", Args: args("path", "report.txt", "content", "a report")},
		{Name: "send", Args: args("text", "a report")},
	}
	return usual[t.r.IntN(len(usual))]
}

func (t *thought) final(text string) string {
	if t.w.mode == "react_text" {
		return `{"thought": "done", "final_answer": ` + quoted(text) + `}`
	}
	return text
}

// plan gives the plan that it was told to give, else steps that obey the
// orders, else steps of its own. Told that a plan cannot be used, it gives one
// that can.
func (t *thought) plan() string {
	if strings.Contains(t.read, "Your reply is invalid") {
		return t.steps([]string{`{"goal": "look"}`, `{"goal": ` + quoted(t.w.injection(t.r)) + `}`})
	}
	if t.req.Role == "reflector" && t.r.IntN(5) == 0 {
		return `{"steps": [], "result": ` + quoted("the answer "+t.w.injection(t.r)) + `}`
	}
	steps := []string{`{"goal": ` + quoted("see "+t.w.injection(t.r)) + `}`}
	for _, i := range t.r.Perm(len(t.orders)) {
		switch o := t.orders[i]; {
		case o.plan != "" && t.r.IntN(2) == 0:
			t.w.count("plans as told")
			return o.plan
		case len(steps) >= 4:
		case o.step != "":
			steps = append(steps, `{"goal": `+quoted(o.step)+`}`)
		case o.tool != "" && o.tool == strings.TrimSpace(o.tool):
			t.w.count("steps as told")
			steps = append(steps, `{"goal": "as told", "tools": [`+quoted(o.tool)+`], "args": `+string(o.args)+`}`)
		}
	}
	for range t.r.IntN(3) {
		u := t.usual()
		steps = append(steps, `{"goal": "use `+u.Name+`", "tools": [`+quoted(u.Name)+`], "args": `+string(u.Args)+`}`)
	}
	return t.steps(steps)
}

func (t *thought) steps(steps []string) string {
	t.r.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	return `{"steps": [` + strings.Join(steps, ", ") + `], "result": ""}`
}

func quoted(s string) string {
	out, _ := json.Marshal(s) // texts always marshal
	return string(out)
}
