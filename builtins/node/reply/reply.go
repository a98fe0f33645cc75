package reply

import (
	"encoding/json"
	"reflect"

	"github.com/pexctl/pex/builtins/refusal"
)

// Kind is the kind of a reply.
type Kind string

// Kinds of replies.
const (
	Plan  Kind = "plan"
	Final Kind = "final"
	Error Kind = "error"
)

// Error codes of an unusable reply.
const (
	EmptyPlan      = "empty_plan"        // neither steps nor a result
	NotJSON        = "not_json"          // prose, or JSON that cannot be repaired
	EmptyOutput    = "empty_output"      // nothing, or only reasoning
	NotObject      = "not_object"        // JSON, but a scalar
	MissingFields  = "missing_fields"    // JSON without the required fields
	Truncated      = "truncated"         // the text ends inside the JSON
	ToolCallInPlan = "tool_call_in_plan" // the model called a tool instead of planning
	Refusal        = "refusal"           // the model refused; do not ask again
	TooLarge       = "too_large"         // longer than Options.MaxBytes
	TooDeep        = "too_deep"          // nested deeper than Options.MaxDepth
)

// Warnings of an accepted reply.
const (
	Ambiguous          = "ambiguous"           // both steps and a result: the result was used
	MultipleCandidates = "multiple_candidates" // different answers in one reply: the first was used
	DuplicateKeys      = "duplicate_keys"      // a duplicate key: the last value was used
	ToolCallIgnored    = "tool_call_ignored"   // a tool call next to the plan was ignored
	PlaceholderResult  = "placeholder_result"  // a result such as "none" next to steps was ignored
)

// Options limits what is read. The zero value suits most callers.
type Options struct {
	// Truncated reports that the model stopped at its output limit. An unusable reply
	// then has the code Truncated.
	Truncated bool
	MaxBytes  int // 0 = 1 MiB
	MaxDepth  int // maximum nesting depth; 0 = 64

	// Wrapped lets Fit unwrap a list with one element, or a tool call {"name": ...,
	// "arguments": ...}. OtherTool reports whether a name belongs to another tool, in
	// which case the call is not unwrapped; nil means that none does.
	Wrapped   bool
	OtherTool func(name string) bool
}

// Step is one step of a plan as the model wrote it. It converts to the engine's step
// type. ID is "" if the model wrote none.
type Step struct {
	ID        string                     `json:"id,omitempty"`
	Goal      string                     `json:"goal"`
	Tools     []string                   `json:"tools,omitempty"`
	Success   string                     `json:"success,omitempty"`
	Context   string                     `json:"context,omitempty"`
	Args      map[string]json.RawMessage `json:"args,omitempty"`
	DependsOn []string                   `json:"depends_on,omitempty"`
}

// Result is a parsed planning reply. A Plan has Steps. A Final has Result, and
// ResultValue if the result was not a string. An Error has Code and Message, which tells
// the model what is wrong and what to reply.
type Result struct {
	Kind        Kind
	Steps       []Step
	Result      string
	ResultValue json.RawMessage
	Repaired    bool     // the text was not valid JSON or not in the expected format
	Repairs     []string // descriptions of the repairs
	Warnings    []string
	Code        string
	Message     string
}

func (o Options) maxBytes() int {
	if o.MaxBytes > 0 {
		return o.MaxBytes
	}
	return 1 << 20
}

func (o Options) maxDepth() int {
	if o.MaxDepth > 0 {
		return o.MaxDepth
	}
	return 64
}

// Parse parses the reply of a planner or reflector. Failures are reported as a Result of
// kind Error.
func Parse(text string, o Options) Result {
	return o.parse(text, 0)
}

// parse is Parse. unwrapped is the number of JSON strings already unwrapped.
func (o Options) parse(text string, unwrapped int) Result {
	src := prepare(text, o)
	if src.code == "" {
		if res, ok := src.plan(o, unwrapped); ok {
			return res
		}
	}
	src.setCode(o)
	return Result{Kind: Error, Code: src.code, Message: src.message()}
}

// blame sets the final error code of an unusable text.
func (src *source) setCode(o Options) {
	switch {
	case src.code == TooLarge:
	case (src.code == NotJSON || src.code == "") && refusal.Is(src.text):
		src.code = Refusal
	case o.Truncated:
		src.code = Truncated
	case src.endCode != "":
		src.code = src.endCode
	case src.code == "":
		src.code = NotJSON
	}
}

// plan returns the first candidate that is a plan or a result. If it returns false, src
// has the error.
func (src *source) plan(o Options, unwrapped int) (Result, bool) {
	found := src.candidates(o)
	if stepsOnly(found) {
		found, src.entire = []candidate{joinSteps(found)}, true
	}
	var best Result
	var fixes fix
	several := false
	for i := range found {
		c := &found[i]
		s := shaper{options: o, unwrapped: unwrapped}
		res := s.plan(&c.value)
		switch {
		case !src.isReply(c, res.Code):
		case best.Kind == "" || best.Kind == Error && severity(res.Code) > severity(best.Code):
			res.Repairs, res.Warnings = append(s.repairs, res.Repairs...), append(s.warnings, res.Warnings...)
			best, fixes = res, c.fixes|s.fixes
		case best.Kind != Error && res.Kind != Error && !equivalent(&best, &res):
			several = true
		}
	}
	if best.Kind == "" {
		return best, false
	}
	if best.Kind == Error {
		src.code, src.detail = best.Code, best.Message
		if src.tool && best.Code != EmptyPlan {
			src.code = ToolCallInPlan
		}
		return best, false
	}
	if fixes |= src.fixes; fixes != 0 {
		best.Repairs = append(fixes.words(), best.Repairs...)
	}
	best.Repaired = len(best.Repairs) > 0
	if several {
		best.Warnings = append(best.Warnings, MultipleCandidates)
	}
	if src.tool {
		best.Warnings = append(best.Warnings, ToolCallIgnored)
	}
	return best, true
}

// counts reports whether a candidate may be the reply. An array or an error found in
// prose is one only if that is clearly intended.
func (src *source) isReply(c *candidate, code string) bool {
	if src.entire {
		return true
	}
	if c.value.kind == array {
		return code == ToolCallInPlan || code == "" && src.onOwnLines(c)
	}
	return code == "" || len(c.value.items) > 0
}

// same reports whether two replies are equivalent.
func equivalent(a, b *Result) bool {
	return a.Kind == b.Kind && a.Result == b.Result && reflect.DeepEqual(a.Steps, b.Steps)
}

// severity ranks the errors of several candidates. The highest is reported.
func severity(code string) int {
	switch code {
	case ToolCallInPlan:
		return 3
	case EmptyPlan:
		return 2
	case MissingFields:
		return 1
	case "": // not an error
		return 4
	}
	return 0
}
