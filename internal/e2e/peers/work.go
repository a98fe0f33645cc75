package main

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
)

// question is what every run is asked.
const question = "Add up the items one by one and report the total."

// total is the answer of every run.
const total = "the total is reported"

// peer is an implementation of the work.
type peer struct {
	name string
	// build returns a function that performs one run of k steps and returns its answer. It
	// is safe for concurrent use.
	build func(k int, c *counts) (run func() (string, error), err error)
}

var peers = []peer{{"pexctl", buildPex}, {"eino", buildEino}, {"floor", buildFloor}}

// counts counts what runs do.
type counts struct{ models, tools, chars atomic.Int64 }

// check compares the calls of a number of runs with those of the work.
func (c *counts) check(runs, k int) error {
	models, tools := int64(runs*(1+3*k)), int64(runs*k)
	if c.models.Load() != models || c.tools.Load() != tools {
		return fmt.Errorf("%d model calls and %d tool calls in %d runs of %d steps, want %d and %d",
			c.models.Load(), c.tools.Load(), runs, k, models, tools)
	}
	return nil
}

// add is the tool.
func (c *counts) add(a, b int) string {
	c.tools.Add(1)
	return strconv.Itoa(a + b)
}

// A role decides which replies the model gives.
type role int

const (
	planner role = iota
	executor
	reviewer
)

// reply is a reply of the fake model: the arguments of a call of add, the text of a step's
// result, the steps of a plan, or the answer.
type reply struct {
	add    string
	text   string
	steps  []string
	answer string
}

// respond returns the reply of the fake model for a role. item is the last item that the
// prompt mentions, 0 if it mentions none; called reports whether the prompt ends with the
// result of a tool.
func respond(r role, k, item int, called bool) reply {
	switch {
	case r == executor && !called:
		return reply{add: `{"a":` + strconv.Itoa(item) + `,"b":1}`}
	case r == executor:
		return reply{text: "item " + strconv.Itoa(item) + " was added and the running total is now updated"}
	case r == reviewer && item == k:
		return reply{answer: total}
	case r == planner:
		item = 0
	}
	steps := make([]string, 0, k-item)
	for i := item + 1; i <= k; i++ {
		n := strconv.Itoa(i)
		steps = append(steps, "Step "+n+": call add for item "+n)
	}
	return reply{steps: steps}
}

// lastItem returns the number of the last item that a text mentions.
func lastItem(text string) (item int, ok bool) {
	const mark = "item "
	at := strings.LastIndex(text, mark)
	if at < 0 {
		return 0, false
	}
	digits := text[at+len(mark):]
	n := 0
	for n < len(digits) && '0' <= digits[n] && digits[n] <= '9' {
		n++
	}
	item, err := strconv.Atoi(digits[:n])
	return item, err == nil
}

// appendStrings appends a JSON array of strings that need no escaping.
func appendStrings(b *strings.Builder, list []string) {
	b.Grow(48 * (len(list) + 1))
	b.WriteByte('[')
	for i, s := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(s)
		b.WriteByte('"')
	}
	b.WriteByte(']')
}
