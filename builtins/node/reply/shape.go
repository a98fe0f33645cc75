package reply

import (
	"encoding/json"
	"slices"
	"strings"
)

// shaper turns one value into a plan or a result, noting what it had to read
// otherwise than asked for.
type shaper struct {
	options   Options
	unwrapped int // JSON strings opened so far
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

func failed(code, message string) Result {
	return Result{Kind: Error, Code: code, Message: message}
}

// plan shapes a value that stands for a whole reply.
func (s *shaper) plan(v *value) Result {
	switch v.kind {
	case object:
		return s.object(v)
	case array:
		return s.list(v)
	case text:
		if res, ok := s.inside(v); ok {
			return res
		}
	default: // nothing else can hold a plan
	}
	return failed(NotObject, "The reply is "+v.kind.String()+".")
}

// fields are the members that make a plan or a result.
type fields struct {
	steps, result           *value
	exactSteps, exactResult bool
}

// fields finds the members by their names; the asked-for name beats a likeness.
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

// hasFields says whether a value could be a reply by itself.
func hasFields(v *value) bool {
	return v.kind == object && slices.ContainsFunc(v.items, func(m value) bool {
		return m.key == "steps" || m.key == "result" || plainKey(m.key) == "steps" || plainKey(m.key) == "result"
	})
}

// object shapes an object: its own fields, or those of what it wraps.
func (s *shaper) object(v *value) Result {
	f := s.fields(v)
	if f.steps == nil && f.result == nil {
		return s.foreign(v)
	}
	if res, ok := s.wrapped(f); ok {
		return res
	}
	s.named(f)
	var steps []Step
	if f.steps != nil {
		var wrong string
		if steps, wrong = s.steps(f.steps); wrong != "" {
			return failed(MissingFields, wrong)
		}
	}
	if f.result == nil || f.result.blank() {
		return planned(steps)
	}
	if len(steps) > 0 && placeholder(f.result) {
		s.warn(PlaceholderResult)
		return planned(steps)
	}
	if len(steps) > 0 {
		s.warn(Ambiguous)
	}
	return final(f.result)
}

// named notes which fields went by another name.
func (s *shaper) named(f fields) {
	if f.steps != nil && !f.exactSteps {
		s.repair(`"` + f.steps.key + `" read as "steps"`)
	}
	if f.result != nil && !f.exactResult {
		s.repair(`"` + f.result.key + `" read as "result"`)
	}
}

// wrapped opens a field that holds the whole reply once more.
func (s *shaper) wrapped(f fields) (Result, bool) {
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

// wholeReply says whether an object has both fields by their very names, so
// that it can hardly be an answer of its own.
func wholeReply(v *value) bool {
	has := func(key string) bool {
		return slices.ContainsFunc(v.items, func(m value) bool { return m.key == key })
	}
	return v.kind == object && has("steps") && has("result")
}

func planned(steps []Step) Result {
	if len(steps) == 0 {
		return failed(EmptyPlan, "")
	}
	return Result{Kind: Plan, Steps: steps}
}

func final(v *value) Result {
	if v.kind == text {
		return Result{Kind: Final, Result: v.str}
	}
	raw := v.json()
	return Result{Kind: Final, Result: raw, ResultValue: json.RawMessage(raw)}
}

// placeholder says whether a result beside steps only says that there is none.
func placeholder(v *value) bool {
	switch v.kind {
	case boolean:
		return v.raw == "false"
	case object, array:
		return len(v.items) == 0
	case text:
		switch strings.ToLower(strings.Trim(v.str, " .-_<>()")) {
		case "", "null", "none", "n/a", "na", "nil", "empty", "pending", "tbd":
			return true
		}
		return false
	default:
		return false
	}
}

// foreign shapes an object that has neither field.
func (s *shaper) foreign(v *value) Result {
	if toolCall(v) {
		return failed(ToolCallInPlan, "")
	}
	if inner, ok := s.wrapper(v); ok {
		return inner
	}
	if numbered(v) {
		s.repair("numbered steps read as a list")
		return s.listed(v)
	}
	if isStep(v) {
		s.repair("a lone step read as a plan")
		return s.listed(&value{kind: array, items: []value{*v}})
	}
	return failed(MissingFields, "It has "+keys(v)+".")
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
		if res, ok := s.inside(m); ok {
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

// inside reads the JSON that a string holds, two strings deep at most.
func (s *shaper) inside(v *value) (Result, bool) {
	if v.kind != text || s.unwrapped == 2 || !opens(v.str) {
		return Result{}, false
	}
	res := s.options.parse(v.str, s.unwrapped+1)
	if res.Kind == Error && res.Code == NotJSON {
		return res, false
	}
	s.fixes |= fixStringified
	return res, true
}

// opens says whether a text begins like JSON that may hold a plan.
func opens(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, "\"{") ||
		strings.HasPrefix(text, "```")
}

// list shapes an array that stands for the whole reply: its elements are steps.
func (s *shaper) list(v *value) Result {
	if len(v.items) == 0 {
		return failed(EmptyPlan, "")
	}
	if slices.ContainsFunc(v.items, func(m value) bool { return toolCall(&m) }) {
		return failed(ToolCallInPlan, "")
	}
	if len(v.items) == 1 && hasFields(&v.items[0]) {
		s.repair("reply taken out of an array")
		return s.object(&v.items[0])
	}
	s.repair("a bare list read as the steps")
	return s.listed(v)
}

func (s *shaper) listed(v *value) Result {
	steps, wrong := s.steps(v)
	if wrong != "" {
		return failed(MissingFields, wrong)
	}
	return planned(steps)
}

// plainKey is a key without the freedom of spelling: lower case, "_" for
// spaces, hyphens and camel case.
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

// keys lists an object's keys for a message.
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
