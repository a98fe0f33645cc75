package reply

import (
	"slices"
	"strings"
)

// toolCall reports whether an object is a tool call in one of the formats that providers
// use.
func toolCall(v *value) bool {
	if v.kind != object {
		return false
	}
	has := func(names ...string) *value {
		for i := range v.items {
			if slices.Contains(names, plainKey(v.items[i].key)) {
				return &v.items[i]
			}
		}
		return nil
	}
	if calls := has("tool_calls", "function_call", "tool_call", "tool_uses", "function_calls"); calls != nil {
		return !calls.blank()
	}
	if kind := has("type"); kind != nil && slices.Contains([]string{"tool_use", "tool_call", "function", "function_call"}, kind.str) {
		return true
	}
	name := has("name", "tool", "tool_name", "function", "function_name", "action", "recipient_name", "tool_code")
	args := has("arguments", "args", "parameters", "params", "input", "inputs", "action_input", "tool_input", "kwargs")
	if name == nil || args == nil || has("goal", "description", "task") != nil {
		return false
	}
	return name.kind == object || name.kind == stringKind && name.str != "" && !strings.ContainsAny(name.str, " \n")
}

// isStep reports whether an object is a step on its own.
func isStep(v *value) bool {
	return v.kind == object && slices.ContainsFunc(v.items, func(m value) bool {
		return plainKey(m.key) == "goal" && m.kind == stringKind && !m.blank()
	})
}

// stepsOnly reports whether all candidates are steps.
func stepsOnly(found []candidate) bool {
	return len(found) > 1 && !slices.ContainsFunc(found, func(c candidate) bool {
		return !isStep(&c.value) || hasFields(&c.value)
	})
}

// joinSteps combines candidates into one list.
func joinSteps(found []candidate) candidate {
	c := candidate{value: value{kind: array, repaired: true}}
	for i := range found {
		c.value.items = append(c.value.items, found[i].value)
		c.fixes |= found[i].fixes
	}
	return c
}
