package main

import (
	"encoding/json"
	"errors"
	"strings"
)

// message is a message of the floor's conversations.
type message struct{ role, text, args string }

// floorRun is a run of the floor.
type floorRun struct {
	k int
	*counts
}

// buildFloor returns the loop that makes the calls of the work and nothing else.
func buildFloor(k int, c *counts) (func() (string, error), error) {
	return floorRun{k, c}.run, nil
}

func (f floorRun) run() (string, error) {
	system := message{role: "system", text: "Plan the objective as JSON: steps or a result."}
	steps, answer, err := f.plan(planner, []message{system, {role: "user", text: question}})
	var done strings.Builder
	for len(steps) > 0 && answer == "" && err == nil {
		var result string
		if result, err = f.execute(steps[0]); err != nil {
			break
		}
		done.WriteString(steps[0] + "\n" + result + "\n\n")
		user := question + "\n\nPlan:\n" + strings.Join(steps, "\n") + "\n\nResults:\n" + done.String()
		steps, answer, err = f.plan(reviewer, []message{system, {role: "user", text: user}})
	}
	return answer, err
}

// plan asks for a plan or an answer.
func (f floorRun) plan(r role, messages []message) (steps []string, answer string, err error) {
	var out struct {
		Steps  []string `json:"steps"`
		Result string   `json:"result"`
	}
	err = json.Unmarshal([]byte(f.ask(r, messages).text), &out)
	return out.Steps, out.Result, err
}

// execute performs one step.
func (f floorRun) execute(step string) (string, error) {
	messages := []message{{role: "system", text: "Execute one step with the tools."}, {role: "user", text: question + "\n\n" + step}}
	for range 20 {
		reply := f.ask(executor, messages)
		messages = append(messages, reply)
		if reply.args == "" {
			return reply.text, nil
		}
		var in struct{ A, B int }
		if err := json.Unmarshal([]byte(reply.args), &in); err != nil {
			return "", err
		}
		messages = append(messages, message{role: "tool", text: f.add(in.A, in.B)})
	}
	return "", errors.New("the step does not end")
}

// ask is the fake model.
func (f floorRun) ask(r role, messages []message) message {
	f.models.Add(1)
	chars, item := 0, 0
	for _, m := range messages {
		chars += len(m.text) + len(m.args)
		if n, ok := lastItem(m.text); ok {
			item = n
		}
	}
	f.chars.Add(int64(chars))
	out := respond(r, f.k, item, messages[len(messages)-1].role == "tool")
	if out.add != "" || out.text != "" {
		return message{role: "assistant", text: out.text, args: out.add}
	}
	var b strings.Builder
	b.WriteString(`{"steps":`)
	appendStrings(&b, out.steps)
	b.WriteString(`,"result":"` + out.answer + `"}`)
	return message{role: "assistant", text: b.String()}
}
