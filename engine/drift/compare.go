package drift

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/journal"
)

// Class is the kind of a difference.
type Class string

// The classes.
const (
	Prompt     Class = "prompt"     // the messages, or the step
	Parameters Class = "parameters" // parameters of the model call, and the reply schema
	Tools      Class = "tools"      // definitions of a model's tools; for a tool call: which tool
	Arguments  Class = "arguments"  // of a tool call
)

// Difference is one difference from a recorded request. Before and After are readable
// texts that end with a line break; one of them is "" if the item is missing there.
type Difference struct {
	Class         Class
	What          string // what differs: "messages", "tool search"; short enough for a heading
	Before, After string
}

// Compare returns how a request differs from a recorded one, in the order of the classes;
// nil = in nothing that a model could see. It ignores the number of the call.
func Compare(recorded, now journal.Request) []Difference {
	a, b := fields(recorded), fields(now)
	var out []Difference
	add := func(c Class, what, before, after string) {
		if before != after {
			out = append(out, Difference{c, what, before, after})
		}
	}
	add(Prompt, "role", line(a["role"]), line(b["role"]))
	add(Prompt, "step", line(a["step"]), line(b["step"]))
	add(Prompt, "messages", Conversation(recorded), Conversation(now))
	add(Parameters, "parameters", settings(a), settings(b))
	add(Parameters, "schema of the reply", pretty(a["schema"]), pretty(b["schema"]))
	return append(out, compareTools(a["tools"], b["tools"])...)
}

// CompareCall returns how a tool call, {"tool", "args"}, differs from a recorded one; nil
// = in nothing.
func CompareCall(recorded, now []byte) []Difference {
	type call struct {
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args"`
	}
	var a, b call
	if json.Unmarshal(recorded, &a) != nil || json.Unmarshal(now, &b) != nil {
		a, b = call{Args: recorded}, call{Args: now}
	}
	var out []Difference
	if a.Tool != b.Tool {
		out = append(out, Difference{Tools, "tool", a.Tool + "\n", b.Tool + "\n"})
	}
	if before, after := pretty(a.Args), pretty(b.Args); before != after {
		out = append(out, Difference{Arguments, "arguments", before, after})
	}
	return out
}

// Conversation returns the messages of a request as one readable text.
func Conversation(q journal.Request) string {
	var b strings.Builder
	for i, m := range q.Messages {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(heading(m.Head))
		for _, s := range m.Text {
			b.WriteString(s)
		}
		if n := b.Len(); b.String()[n-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// heading returns [role] followed by everything else but the text.
func heading(head json.RawMessage) string {
	members := object(head)
	role, _ := plain(members["role"]).(string)
	delete(members, "role")
	var b strings.Builder
	fmt.Fprintf(&b, "[%s]\n", role)
	for _, name := range names(members) {
		if name == "calls" {
			b.WriteString(calls(members[name]))
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", name, members[name])
	}
	return b.String()
}

// calls returns the tool calls of a message, one per line.
func calls(list json.RawMessage) string {
	var b strings.Builder
	var all []json.RawMessage
	if json.Unmarshal(list, &all) != nil {
		return string(list) + "\n"
	}
	for _, c := range all {
		fmt.Fprintf(&b, "call: %s\n", sorted(withoutOpaque(c)))
	}
	return b.String()
}

// withoutOpaque replaces a call's provider-specific data (a signature of some kilobytes)
// by a digest.
func withoutOpaque(call json.RawMessage) json.RawMessage {
	members := object(call)
	secret, there := members["opaque"]
	if !there {
		return call
	}
	sum := sha256.Sum256(secret)
	members["opaque"] = fmt.Appendf(nil, `"%d bytes, %x"`, len(secret), sum[:4])
	short, err := json.Marshal(members)
	if err != nil {
		return call
	}
	return short
}

// settings returns the parameters of a call, one per line.
func settings(members map[string]json.RawMessage) string {
	params := object(members["params"])
	var b strings.Builder
	for _, name := range names(params) {
		fmt.Fprintf(&b, "%s: %s\n", name, sorted(params[name]))
	}
	if on := members["parallel_tools"]; on != nil {
		fmt.Fprintf(&b, "parallel_tools: %s\n", on)
	}
	return b.String()
}

// compareTools returns a difference for each tool that was added, removed or changed;
// otherwise one for the order, if it differs.
func compareTools(recorded, now json.RawMessage) []Difference {
	a, b := tools(recorded), tools(now)
	var out []Difference
	for _, t := range a {
		if after := describe(b, t.name); after != t.text {
			out = append(out, Difference{Tools, "tool " + t.name, t.text, after})
		}
	}
	for _, t := range b {
		if describe(a, t.name) == "" {
			out = append(out, Difference{Tools, "tool " + t.name, "", t.text})
		}
	}
	if len(out) == 0 && !slices.Equal(a, b) {
		out = append(out, Difference{Tools, "order of tools", listNames(a), listNames(b)})
	}
	return out
}

type tool struct{ name, text string }

func tools(list json.RawMessage) []tool {
	var all []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Input       json.RawMessage `json:"input"`
	}
	if json.Unmarshal(list, &all) != nil && len(list) > 0 {
		return []tool{{"", pretty(list)}}
	}
	out := make([]tool, len(all))
	for i, t := range all {
		out[i] = tool{t.Name, t.Name + "\n" + t.Description + "\n" + pretty(t.Input)}
	}
	return out
}

func describe(all []tool, name string) string {
	for _, t := range all {
		if t.name == name {
			return t.text
		}
	}
	return ""
}

func listNames(all []tool) string {
	var b strings.Builder
	for _, t := range all {
		b.WriteString(t.name + "\n")
	}
	return b.String()
}
