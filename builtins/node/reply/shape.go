package reply

import (
	"encoding/json"
	"slices"
	"strings"
)

// shaper turns one value into a plan or a result and records its deviations from the
// expected format.
type shaper struct {
	options   Options
	unwrapped int // number of JSON strings unwrapped so far
	fixes     fix
	repairs   []string
	warnings  []string
}

func (s *shaper) repair(words string) {
	if !slices.Contains(s.repairs, words) {
		s.repairs = append(s.repairs, words)
	}
}

func (s *shaper) warn(code string) {
	if !slices.Contains(s.warnings, code) {
		s.warnings = append(s.warnings, code)
	}
}

func errorResult(code, message string) Result {
	return Result{Kind: Error, Code: code, Message: message}
}

// plan converts a value that is an entire reply.
func (s *shaper) plan(v *value) Result {
	switch v.kind {
	case object:
		return s.object(v)
	case array:
		return s.list(v)
	case stringKind:
		if res, ok := s.parseString(v); ok {
			return res
		}
	default: // no other kind can be a plan
	}
	return errorResult(NotObject, "The reply is "+v.kind.String()+".")
}

// fields are the members that form a plan or a result.
type fields struct {
	steps, result           *value
	exactSteps, exactResult bool
}

// fields finds the members by name. The exact name takes precedence over an alias.
func (s *shaper) fields(v *value) fields {
	var f fields
	for i := range v.items {
		m := &v.items[i]
		switch m.key {
		case "steps":
			if f.exactSteps {
				s.warn(DuplicateKeys)
			}
			f.steps, f.exactSteps = m, true
		case "result":
			if f.exactResult {
				s.warn(DuplicateKeys)
			}
			f.result, f.exactResult = m, true
		default:
			f.alias(m)
		}
	}
	return f
}

func (f *fields) alias(m *value) {
	switch plainKey(m.key) {
	case "steps", "plan", "plan_steps", "step_list", "tasks", "remaining_steps", "next_steps", "new_steps":
		if f.steps == nil {
			f.steps = m
		}
	case "result", "answer", "final_answer", "final_result":
		if f.result == nil {
			f.result = m
		}
	}
}

// hasFields reports whether a value could be a reply on its own.
func hasFields(v *value) bool {
	return v.kind == object && slices.ContainsFunc(v.items, func(m value) bool {
		return m.key == "steps" || m.key == "result" || plainKey(m.key) == "steps" || plainKey(m.key) == "result"
	})
}

// object converts an object with the fields of a reply, or with a wrapped reply.
func (s *shaper) object(v *value) Result {
	f := s.fields(v)
	if f.steps == nil && f.result == nil {
		return s.otherObject(v)
	}
	if res, ok := s.unwrapField(f); ok {
		return res
	}
	s.noteAliases(f)
	var steps []Step
	if f.steps != nil {
		var wrong string
		if steps, wrong = s.steps(f.steps); wrong != "" {
			return errorResult(MissingFields, wrong)
		}
	}
	if f.result == nil || f.result.blank() {
		return planResult(steps)
	}
	if len(steps) > 0 && placeholder(f.result) {
		s.warn(PlaceholderResult)
		return planResult(steps)
	}
	if len(steps) > 0 {
		s.warn(Ambiguous)
	}
	return finalResult(f.result)
}

// noteAliases records the fields that have another name.
func (s *shaper) noteAliases(f fields) {
	if f.steps != nil && !f.exactSteps {
		s.repair(`"` + f.steps.key + `" read as "steps"`)
	}
	if f.result != nil && !f.exactResult {
		s.repair(`"` + f.result.key + `" read as "result"`)
	}
}

// unwrapField unwraps a field that contains an entire reply.
func (s *shaper) unwrapField(f fields) (Result, bool) {
	inner, other := f.steps, f.result
	if inner == nil || !hasFields(inner) {
		inner, other = f.result, f.steps
		if inner == nil || f.exactResult && (other != nil || !wholeReply(inner)) || !hasFields(inner) {
			return Result{}, false
		}
	}
	if other != nil && !other.blank() && len(other.items) > 0 {
		return Result{}, false
	}
	s.repair(`reply taken out of "` + inner.key + `"`)
	return s.object(inner), true
}

// wholeReply reports whether an object has both fields by their exact names, so that it
// is most likely not an answer of its own.
func wholeReply(v *value) bool {
	has := func(key string) bool {
		return slices.ContainsFunc(v.items, func(m value) bool { return m.key == key })
	}
	return v.kind == object && has("steps") && has("result")
}

func planResult(steps []Step) Result {
	if len(steps) == 0 {
		return errorResult(EmptyPlan, "")
	}
	return Result{Kind: Plan, Steps: steps}
}

func finalResult(v *value) Result {
	if v.kind == stringKind {
		return Result{Kind: Final, Result: v.str}
	}
	raw := v.json()
	return Result{Kind: Final, Result: raw, ResultValue: json.RawMessage(raw)}
}

// placeholder reports whether a result next to steps only means that there is none.
func placeholder(v *value) bool {
	switch v.kind {
	case boolean:
		return v.raw == "false"
	case object, array:
		return len(v.items) == 0
	case stringKind:
		switch strings.ToLower(strings.Trim(v.str, " .-_<>()")) {
		case "", "null", "none", "n/a", "na", "nil", "empty", "pending", "tbd":
			return true
		}
		return false
	default:
		return false
	}
}

// otherObject converts an object that has neither field.
func (s *shaper) otherObject(v *value) Result {
	if toolCall(v) {
		return errorResult(ToolCallInPlan, "")
	}
	if inner, ok := s.wrapper(v); ok {
		return inner
	}
	if numbered(v) {
		s.repair("numbered steps read as a list")
		return s.stepsOf(v)
	}
	if isStep(v) {
		s.repair("a lone step read as a plan")
		return s.stepsOf(&value{kind: array, items: []value{*v}})
	}
	return errorResult(MissingFields, "It has "+keys(v)+".")
}

// wrapper looks for the reply one level down.
func (s *shaper) wrapper(v *value) (Result, bool) {
	for i := range v.items {
		m := &v.items[i]
		if len(v.items) > 1 && !wrapperKey(m.key) {
			continue
		}
		if hasFields(m) || m.kind == object && len(v.items) == 1 && s.fields(m).steps != nil {
			s.repair(`reply taken out of "` + m.key + `"`)
			return s.object(m), true
		}
		if res, ok := s.parseString(m); ok {
			s.repair(`reply taken out of "` + m.key + `"`)
			return res, true
		}
	}
	return Result{}, false
}

func wrapperKey(key string) bool {
	switch plainKey(key) {
	case "response", "output", "data", "json", "reply", "message", "content", "text", "final", "properties",
		"plan_response", "root", "value", "body", "payload":
		return true
	}
	return false
}

// parseString parses the JSON in a string, at most two strings deep.
func (s *shaper) parseString(v *value) (Result, bool) {
	if v.kind != stringKind || s.unwrapped == 2 || !startsLikeJSON(v.str) {
		return Result{}, false
	}
	res := s.options.parse(v.str, s.unwrapped+1)
	if res.Kind == Error && res.Code == NotJSON {
		return res, false
	}
	s.fixes |= fixStringified
	return res, true
}

// startsLikeJSON reports whether a text starts like JSON that may be a plan.
func startsLikeJSON(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, "\"{") ||
		strings.HasPrefix(text, "```")
}

// list converts an array that is an entire reply: its elements are steps.
func (s *shaper) list(v *value) Result {
	if len(v.items) == 0 {
		return errorResult(EmptyPlan, "")
	}
	if slices.ContainsFunc(v.items, func(m value) bool { return toolCall(&m) }) {
		return errorResult(ToolCallInPlan, "")
	}
	if len(v.items) == 1 && hasFields(&v.items[0]) {
		s.repair("reply taken out of an array")
		return s.object(&v.items[0])
	}
	s.repair("a bare list read as the steps")
	return s.stepsOf(v)
}

func (s *shaper) stepsOf(v *value) Result {
	steps, wrong := s.steps(v)
	if wrong != "" {
		return errorResult(MissingFields, wrong)
	}
	return planResult(steps)
}

// plainKey normalizes a key: lower case, with "_" for spaces, hyphens and camel case.
func plainKey(key string) string {
	plain := true
	for i := range len(key) {
		c := key[i]
		plain = plain && c != ' ' && c != '-' && (c < 'A' || c > 'Z')
	}
	if plain {
		return key
	}
	var b strings.Builder
	lower := false
	for _, c := range strings.TrimSpace(key) {
		switch {
		case c == ' ' || c == '-':
			b.WriteByte('_')
		case c >= 'A' && c <= 'Z':
			if lower {
				b.WriteByte('_')
			}
			b.WriteRune(c | 0x20)
		default:
			b.WriteRune(c)
		}
		lower = c >= 'a' && c <= 'z'
	}
	return b.String()
}

// keys formats an object's keys for a message.
func keys(v *value) string {
	if len(v.items) == 0 {
		return "no keys"
	}
	var names []string
	for i := range v.items {
		if i == 6 {
			names = append(names, "...")
			break
		}
		names = append(names, quote(excerpt(v.items[i].key, 30)))
	}
	return "the keys " + strings.Join(names, ", ")
}
