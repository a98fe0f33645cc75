package reply

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// draft is a step that is being read.
type draft struct {
	Step
	rank   int    // rank of the key that set the goal; lower is better
	number string // the step's own number, if it has one
	tool   string // name of a tool call in place of a goal
}

// steps reads the steps from any supported format. If wrong is not empty, it tells the
// model why they cannot be used.
func (s *shaper) steps(v *value) (steps []Step, wrong string) {
	drafts, wrong := s.drafts(v)
	if wrong != "" || len(drafts) == 0 {
		return nil, wrong
	}
	s.number(drafts)
	steps = make([]Step, len(drafts))
	for i := range drafts {
		steps[i] = drafts[i].Step
	}
	return steps, ""
}

func (s *shaper) drafts(v *value) ([]draft, string) {
	switch v.kind {
	case null:
		return nil, ""
	case array:
		return s.array(v)
	case stringKind:
		return s.prose(v)
	case object:
		return s.stepsByKey(v)
	default:
		return nil, "The steps are " + v.kind.String() + ", not a list."
	}
}

func (s *shaper) array(v *value) ([]draft, string) {
	drafts := make([]draft, 0, len(v.items))
	for i := range v.items {
		var wrong string
		if drafts, wrong = s.element(drafts, &v.items[i]); wrong != "" {
			return nil, fmt.Sprintf("Step %d is %s.", i+1, wrong)
		}
	}
	return drafts, ""
}

// element reads one element of the list of steps.
func (s *shaper) element(drafts []draft, v *value) ([]draft, string) {
	switch v.kind {
	case stringKind:
		goal := strings.TrimSpace(v.str)
		if goal == "" {
			s.repair("empty steps dropped")
			return drafts, ""
		}
		return append(drafts, draft{Step: Step{Goal: goal}}), ""
	case object:
		d, wrong := s.step(v)
		if wrong != "" {
			return nil, wrong
		}
		return append(drafts, d), ""
	case null:
		s.repair("empty steps dropped")
		return drafts, ""
	case number:
		s.repair("number taken as the text of a step")
		return append(drafts, draft{Step: Step{Goal: string(v.raw)}}), ""
	case array:
		s.repair("nested list of steps flattened")
		for i := range v.items {
			var wrong string
			if drafts, wrong = s.element(drafts, &v.items[i]); wrong != "" {
				return nil, wrong
			}
		}
		return drafts, ""
	default:
		return nil, v.kind.String() + ", not text and not an object with a \"goal\""
	}
}

// prose reads steps given as one string.
func (s *shaper) prose(v *value) ([]draft, string) {
	if strings.TrimSpace(v.str) == "" {
		return nil, ""
	}
	if startsLikeJSON(v.str) && s.unwrapped < 2 {
		src := prepare(v.str, s.options)
		if c, ok := src.all(s.options); ok && c.value.kind == array {
			s.unwrapped++
			s.fixes |= c.fixes | fixStringified
			return s.array(&c.value)
		}
	}
	s.repair("steps in one string split")
	var drafts []draft
	for _, line := range lines(v.str) {
		drafts = append(drafts, draft{Step: Step{Goal: line}})
	}
	return drafts, ""
}

// stepsByKey reads steps given as an object: numbered steps, or a single step.
func (s *shaper) stepsByKey(v *value) ([]draft, string) {
	switch {
	case len(v.items) == 0:
		return nil, ""
	case numbered(v):
		s.repair("numbered steps read as a list")
		return s.inOrder(v)
	case isStep(v):
		s.repair("a lone step read as a list")
		return s.array(&value{kind: array, items: []value{*v}})
	}
	return nil, "The steps are an object with " + keys(v) + ", not a list."
}

// inOrder reads numbered members as steps, ordered by number.
func (s *shaper) inOrder(v *value) ([]draft, string) {
	members := slices.Clone(v.items)
	members = slices.DeleteFunc(members, func(m value) bool { return stepNumber(m.key) == "" })
	slices.SortStableFunc(members, func(a, b value) int {
		m, n := stepNumber(a.key), stepNumber(b.key)
		if len(m) != len(n) {
			return len(m) - len(n)
		}
		return strings.Compare(m, n)
	})
	var drafts []draft
	for i := range members {
		before := len(drafts)
		var wrong string
		if drafts, wrong = s.element(drafts, &members[i]); wrong != "" {
			return nil, fmt.Sprintf("Step %s is %s.", stepNumber(members[i].key), wrong)
		}
		if len(drafts) == before+1 && drafts[before].number == "" {
			drafts[before].number = stepNumber(members[i].key)
		}
	}
	return drafts, ""
}

// numbered reports whether every key of an object is a step number.
func numbered(v *value) bool {
	return v.kind == object && len(v.items) > 0 &&
		!slices.ContainsFunc(v.items, func(m value) bool { return stepNumber(m.key) == "" })
}

// stepNumber returns the number in keys such as "2", "step2" and "Step 2", "" for others.
func stepNumber(key string) string {
	key = strings.TrimPrefix(plainKey(key), "step")
	key = strings.TrimLeft(key, "_")
	if n := digits(key); n == 0 || n != len(key) || n > 9 {
		return ""
	}
	if key = strings.TrimLeft(key, "0"); key == "" {
		return "0"
	}
	return key
}

// step reads a step given as an object.
func (s *shaper) step(v *value) (draft, string) {
	d := draft{rank: len(goalKeys)}
	for i := range v.items {
		s.member(&d, &v.items[i])
	}
	if d.tool != "" && !slices.Contains(d.Tools, d.tool) {
		d.Tools = append([]string{d.tool}, d.Tools...)
	}
	if d.Goal == "" && d.Context != "" && len(d.Tools) == 0 {
		d.Goal, d.Context = d.Context, ""
		s.repair("instructions read as the goal")
	}
	if d.Goal == "" && len(d.Tools) > 0 {
		d.Goal = callGoal(&d.Step)
		s.repair("goal written from the tool call")
	}
	if d.Goal == "" {
		return d, "an object without a \"goal\" (" + keys(v) + ")"
	}
	return d, ""
}

// callGoal returns a goal for a step that is only a tool call.
func callGoal(step *Step) string {
	goal := "Call " + step.Tools[0]
	if len(step.Args) > 0 {
		args, err := json.Marshal(step.Args)
		if err == nil {
			goal += " with " + string(args)
		}
	}
	return goal
}

// number assigns IDs to steps that other steps refer to: their own numbers, else their
// positions.
func (s *shaper) number(drafts []draft) {
	needed := false
	for i := range drafts {
		if drafts[i].ID != "" {
			return
		}
		for _, ref := range drafts[i].DependsOn {
			if n := digits(ref); n == 0 || n != len(ref) {
				return
			}
			needed = true
		}
	}
	if !needed {
		return
	}
	s.repair("steps numbered after what they depend on")
	own := !slices.ContainsFunc(drafts, func(d draft) bool { return d.number == "" })
	for i := range drafts {
		drafts[i].ID = fmt.Sprint(i + 1)
		if own {
			drafts[i].ID = drafts[i].number
		}
	}
}
