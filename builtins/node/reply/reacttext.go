package reply

import (
	"encoding/json"
	"strings"
)

// labels start the parts of a reply in lines. A label that is a prefix of another one
// comes after it.
var labels = [...]struct{ word, part string }{
	{"final answer", "answer"},
	{"final_answer", "answer"},
	{"action input", "input"},
	{"action_input", "input"},
	{"tool input", "input"},
	{"thought", "thought"},
	{"action", "action"},
	{"tool", "action"},
	{"observation", "observation"},
	{"observations", "observation"},
}

// reactText reads a reply in labelled lines, up to the first call or answer.
func reactText(s string, o Options) (Action, bool) {
	var a Action
	parts := map[string]string{}
	part := ""
	for line := range strings.Lines(s) {
		next, rest := label(line)
		if next == "" {
			if part != "" {
				parts[part] += line
			}
			continue
		}
		if next == "observation" || parts["action"] != "" && next != "input" && next != "answer" {
			a.Repairs = append(a.Repairs, "what follows the call dropped")
			break
		}
		if next == "answer" && parts["action"] != "" {
			a.Warnings = append(a.Warnings, Ambiguous)
		}
		part = next
		parts[part] += rest
	}
	a.Thought = strings.TrimSpace(parts["thought"])
	if answer := strings.TrimSpace(parts["answer"]); answer != "" {
		a.Final, a.Answer = true, answer
		return a, true
	}
	tool, input := toolOf(parts["action"], parts["input"])
	if tool == "" {
		return a, false
	}
	a.Tool = tool
	if raw, ok := a.lineInput(input, o); ok {
		a.Input = raw
		return a, true
	}
	return Action{}, false
}

// label returns the label at the start of a line, ignoring Markdown.
func label(line string) (part, rest string) {
	bare := strings.TrimLeft(line, " \t*_#>-`")
	for _, l := range labels {
		if len(bare) <= len(l.word) || !strings.EqualFold(bare[:len(l.word)], l.word) {
			continue
		}
		after := strings.TrimLeft(bare[len(l.word):], " *_`0123456789")
		if strings.HasPrefix(after, ":") {
			return l.part, strings.TrimLeft(after[1:], "*_")
		}
	}
	return "", ""
}

// toolOf cleans a tool's name and extracts an input written after it, as in search[x].
func toolOf(action, input string) (tool, in string) {
	action, more, _ := strings.Cut(strings.TrimSpace(action), "\n")
	action = strings.Trim(action, " \t*`\"'.")
	if input == "" {
		input = more
	}
	for _, pair := range []string{"[]", "()"} {
		i := strings.IndexByte(action, pair[0])
		if i > 0 && strings.HasSuffix(action, pair[1:]) {
			return strings.TrimSpace(action[:i]), action[i+1 : len(action)-1]
		}
	}
	if lower := strings.ToLower(action); strings.ContainsAny(action, " \t{}") || lower == "none" || lower == "n/a" {
		return "", ""
	}
	return action, input
}

// lineInput reads the input of a call in lines: JSON, or plain text. Truncated JSON is
// rejected.
func (a *Action) lineInput(s string, o Options) (json.RawMessage, bool) {
	s = strings.TrimSpace(s)
	if !startsLikeJSON(s) {
		return a.inputText(strings.Trim(s, "`")), true
	}
	raw, repaired, code := JSON(s, o)
	switch code {
	case "":
		if repaired {
			a.Repairs = append(a.Repairs, "input repaired")
		}
		return raw, true
	case Truncated, TooDeep:
		return nil, false
	}
	return json.RawMessage(quote(s)), true
}
