package reply

import (
	"encoding/json"
	"reflect"

	"github.com/pexctl/pex/builtins/refusal"
)

// Kind says what a reply turned out to be.
type Kind string

// The kinds of a reply.
const (
	Plan  Kind = "plan"
	Final Kind = "final"
	Error Kind = "error"
)

// The codes of an unusable reply.
const (
	EmptyPlan      = "empty_plan"        // neither steps nor a result
	NotJSON        = "not_json"          // prose, or JSON beyond repair
	EmptyOutput    = "empty_output"      // nothing, or only reasoning
	NotObject      = "not_object"        // JSON, but a bare scalar
	MissingFields  = "missing_fields"    // JSON without the fields that are wanted
	Truncated      = "truncated"         // the text ends inside the JSON
	ToolCallInPlan = "tool_call_in_plan" // the model called a tool instead of planning
	Refusal        = "refusal"           // the model declines; not to be asked again
	TooLarge       = "too_large"         // longer than Options.MaxBytes
	TooDeep        = "too_deep"          // nested deeper than Options.MaxDepth
)

// The warnings of a reply that was taken.
const (
	Ambiguous          = "ambiguous"           // steps and a result: the result was taken
	MultipleCandidates = "multiple_candidates" // different answers in one reply: the first was taken
	DuplicateKeys      = "duplicate_keys"      // a key stood twice: the last was taken
	ToolCallIgnored    = "tool_call_ignored"   // a tool call stood beside the plan
	PlaceholderResult  = "placeholder_result"  // "none" or the like beside steps was not taken for a result
)

// Options bound what is read; the zero value is right for most callers.
type Options struct {
	// Truncated says that the model stopped at its output limit: a reply that
	// cannot be used then counts as truncated, whatever it looks like.
	Truncated bool
	MaxBytes  int // 0 = 1 MiB
	MaxDepth  int // of nesting; 0 = 64

	// Wrapped lets Fit take a value out of the call around it: a list of one, or
	// {"name": ..., "arguments": ...}. Foreign says that a name in such a call is
	// another tool's, so that the call is not this one; nil = none is.
	Wrapped   bool
	OtherTool func(name string) bool
}

// Step is one step of a plan as the model wrote it. It converts to the engine's
// step type; ID is "" where the model gave none.
type Step struct {
	ID        string                     `json:"id,omitempty"`
	Goal      string                     `json:"goal"`
	Tools     []string                   `json:"tools,omitempty"`
	Success   string                     `json:"success,omitempty"`
	Context   string                     `json:"context,omitempty"`
	Args      map[string]json.RawMessage `json:"args,omitempty"`
	DependsOn []string                   `json:"depends_on,omitempty"`
}

// Result is what a planner's reply says. A Plan has Steps; a Final has Result,
// and ResultValue where the result was not a string; an Error has Code and
// Message, which says to the model what is wrong and what is wanted.
type Result struct {
	Kind        Kind
	Steps       []Step
	Result      string
	ResultValue json.RawMessage
	Repaired    bool     // the text was not valid, or not shaped, as it stood
	Repairs     []string // what was repaired, in words
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

// Parse reads the reply of a planner or reflector. It never fails otherwise
// than by a Result of kind Error.
func Parse(text string, o Options) Result {
	return o.parse(text, 0)
}

// parse is Parse with the number of JSON strings already unwrapped.
func (o Options) parse(text string, unwrapped int) Result {
	src := prepare(text, o)
	if src.code == "" {
		if res, ok := src.plan(o, unwrapped); ok {
			return res
		}
	}
	src.blame(o)
	return Result{Kind: Error, Code: src.code, Message: src.message()}
}

// blame settles the code of a text from which nothing could be taken.
func (src *source) blame(o Options) {
	switch {
	case src.code == TooLarge:
	case (src.code == NotJSON || src.code == "") && refusal.Is(src.text):
		src.code = Refusal
	case o.Truncated:
		src.code = Truncated
	case src.ended != "":
		src.code = src.ended
	case src.code == "":
		src.code = NotJSON
	}
}

// plan picks the reply among the candidates: the first that is a plan or a
// result. False leaves the code in src.
func (src *source) plan(o Options, unwrapped int) (Result, bool) {
	found := src.candidates(o)
	if stepsOnly(found) {
		found, src.whole = []candidate{joined(found)}, true
	}
	var best Result
	var fixes fix
	several := false
	for i := range found {
		c := &found[i]
		s := shaper{options: o, unwrapped: unwrapped}
		res := s.plan(&c.value)
		switch {
		case !src.counts(c, res.Code):
		case best.Kind == "" || best.Kind == Error && severity(res.Code) > severity(best.Code):
			res.Repairs, res.Warnings = append(s.repairs, res.Repairs...), append(s.warnings, res.Warnings...)
			best, fixes = res, c.fixes|s.fixes
		case best.Kind != Error && res.Kind != Error && !same(&best, &res):
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

// counts says whether a candidate may stand for the reply: an array or an
// error found in prose does so only where it is plainly meant as one.
func (src *source) counts(c *candidate, code string) bool {
	if src.whole {
		return true
	}
	if c.value.kind == array {
		return code == ToolCallInPlan || code == "" && src.alone(c)
	}
	return code == "" || len(c.value.items) > 0
}

// same says whether two replies ask for the same.
func same(a, b *Result) bool {
	return a.Kind == b.Kind && a.Result == b.Result && reflect.DeepEqual(a.Steps, b.Steps)
}

// severity orders the errors of several candidates: what says most wins.
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
