package reply

import (
	"encoding/json"
	"slices"
	"strings"
)

// goalKeys are the keys that may hold a step's goal, best first.
var goalKeys = [...]string{
	"goal", "task", "description", "step", "objective", "instruction", "step_description", "title", "action", "name", "text", "content", "summary",
}

// member reads one member of a step object. It ignores unknown keys.
func (s *shaper) member(d *draft, m *value) {
	switch m.key {
	case "id":
		d.ID = scalarText(m)
		return
	case "goal", "tools", "primary_tools", "success", "success_criteria", "context", "args", "depends_on":
	default:
		if !s.alias(d, m) {
			return
		}
	}
	switch field(m.key) {
	case "goal":
		s.goal(d, m)
	case "tools":
		s.tools(d, m, plainKey(m.key) == "primary_tools")
	case "success":
		d.Success = s.textField(m)
	case "context":
		d.Context = s.textField(m)
	case "args":
		s.args(d, m)
	case "depends_on":
		d.DependsOn = s.names(m)
	case "id":
		d.ID = scalarText(m)
	}
}

// alias reports whether a key is another spelling of a field, and records a repair if so.
func (s *shaper) alias(d *draft, m *value) bool {
	f := field(m.key)
	switch {
	case f == "number", f == "goal" && plainKey(m.key) == "step" && m.kind == number:
		d.number = scalarText(m)
		return false
	case f == "", f == "goal" && m.kind != stringKind, m.blank():
		return false
	}
	s.repair(`"` + m.key + `" read as "` + f + `"`)
	return true
}

// field returns the step field that a key names, or "" if it names none.
func field(key string) string {
	key = plainKey(key)
	if slices.Contains(goalKeys[:], key) {
		return "goal"
	}
	switch key {
	case "id", "step_id":
		return "id"
	case "number", "step_number", "index", "order":
		return "number"
	case "tools", "primary_tools", "tool", "tool_name", "tool_names", "primary_tool", "suggested_tools":
		return "tools"
	case "success", "success_criteria", "success_criterion", "acceptance_criteria", "expected_output", "expected_result", "done_when":
		return "success"
	case "context", "instructions", "details":
		return "context"
	case "args", "arguments", "inputs", "input", "parameters", "params", "tool_args", "tool_input", "action_input":
		return "args"
	case "depends_on", "dependencies", "dependency", "needs", "requires", "after", "prerequisites":
		return "depends_on"
	}
	return ""
}

// goal sets the goal from the best key that has one. A "name" or "action" next to
// arguments is the name of a tool.
func (s *shaper) goal(d *draft, m *value) {
	key := plainKey(m.key)
	rank := slices.Index(goalKeys[:], key)
	goal := strings.TrimSpace(m.str)
	if m.kind != stringKind || goal == "" {
		return
	}
	if (key == "name" || key == "action") && !strings.ContainsAny(goal, " \n") {
		d.tool = goal
		return
	}
	if rank <= d.rank {
		d.Goal, d.rank = goal, rank
	}
}

// tools adds tools; primary ones go first.
func (s *shaper) tools(d *draft, m *value, primary bool) {
	if m.kind == object {
		s.call(d, m)
		return
	}
	var names []string
	for i := range m.items {
		if v := &m.items[i]; v.kind == object {
			s.call(d, v)
		}
	}
	names = s.names(m)
	if primary {
		names, d.Tools = d.Tools, names
	}
	for _, name := range names {
		if !slices.Contains(d.Tools, name) {
			d.Tools = append(d.Tools, name)
		}
	}
}

// call adds a tool given as an object with a name. It takes the arguments if the step has
// none yet.
func (s *shaper) call(d *draft, v *value) {
	for i := range v.items {
		switch m := &v.items[i]; field(m.key) {
		case "goal", "tools":
			if name := strings.TrimSpace(m.str); name != "" && !strings.ContainsAny(name, " \n") && !slices.Contains(d.Tools, name) {
				d.Tools = append(d.Tools, name)
				s.repair("tool object read as a name")
			}
		case "args":
			if d.Args == nil {
				s.args(d, m)
			}
		}
	}
}

// args sets the arguments from an object, or a string that contains one.
func (s *shaper) args(d *draft, m *value) {
	if m.kind == stringKind && strings.HasPrefix(strings.TrimSpace(m.str), "{") {
		src := prepare(m.str, s.options)
		if c, ok := src.all(s.options); ok && c.value.kind == object {
			s.fixes |= c.fixes | fixStringified
			m = &c.value
		}
	}
	if m.kind != object {
		if !m.blank() && len(m.raw) > 2 {
			s.repair("arguments that are not an object dropped")
		}
		return
	}
	if len(m.items) == 0 {
		return
	}
	d.Args = make(map[string]json.RawMessage, len(m.items))
	for i := range m.items {
		d.Args[m.items[i].key] = json.RawMessage(m.items[i].json())
	}
}

// names reads a list of names: strings, numbers, or one comma-separated string.
func (s *shaper) names(m *value) []string {
	list := m.items
	if m.kind != array {
		list = nil
		for part := range strings.SplitSeq(scalarText(m), ",") {
			list = append(list, value{kind: stringKind, str: part})
		}
		if !m.blank() {
			s.repair("single name read as a list")
		}
	}
	names := make([]string, 0, len(list))
	for i := range list {
		name := strings.TrimSpace(scalarText(&list[i]))
		if lower := strings.ToLower(name); lower == "" || lower == "none" || lower == "null" || lower == "n/a" {
			continue
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return names
}

// textField reads a text field: a string, the lines of a list, or else the JSON.
func (s *shaper) textField(m *value) string {
	switch m.kind {
	case null:
		return ""
	case stringKind:
		return strings.TrimSpace(m.str)
	case array:
		var parts []string
		for i := range m.items {
			if part := s.textField(&m.items[i]); part != "" {
				parts = append(parts, part)
			}
		}
		return strings.Join(parts, "\n")
	default:
		return m.json()
	}
}

// scalarText returns a string or number as text, "" for other values.
func scalarText(v *value) string {
	switch v.kind {
	case stringKind:
		return strings.TrimSpace(v.str)
	case number:
		return v.raw
	default:
		return ""
	}
}
