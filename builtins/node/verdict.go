package node

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/node/reply"
)

// verdict is a judge's verdict on a step.
type verdict struct {
	pass   bool
	reason string
}

// Keys under which judges report the verdict, the documented one first, and words that
// some models write instead of true and false.
var (
	verdictKeys = []string{"met", "pass", "passed", "satisfied", "success", "verdict"}
	reasonKeys  = []string{"reason", "explanation", "why"}
	yesWords    = []string{"true", "yes", "pass", "passed", "met", "ok"}
	noWords     = []string{"false", "no", "fail", "failed", "not met"}
)

// readVerdict parses a judge's reply. ok is false if it contains no verdict.
func readVerdict(text string) (v verdict, ok bool) {
	value, _, code := reply.JSON(text, reply.Options{})
	var fields map[string]any
	if code != "" || json.Unmarshal(value, &fields) != nil {
		return v, false
	}
	for _, key := range reasonKeys {
		if s, _ := fields[key].(string); v.reason == "" {
			v.reason = s
		}
	}
	for _, key := range verdictKeys {
		if v.pass, ok = yesOrNo(fields[key]); ok {
			return v, true
		}
	}
	return v, false
}

func yesOrNo(x any) (yes, ok bool) {
	switch x := x.(type) {
	case bool:
		return x, true
	case string:
		word := strings.ToLower(strings.TrimSpace(x))
		yes = slices.Contains(yesWords, word)
		return yes, yes || slices.Contains(noWords, word)
	}
	return false, false
}
