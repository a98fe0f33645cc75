package assertion

import (
	"context"
	"fmt"
	"strings"

	"github.com/pexctl/pex/dsl/schema"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/trial"
)

// onText is a check of one text: the response, or what path selects of the
// output.
type onText struct {
	path component.FilterRef
	look func(ctx context.Context, s *trial.Subject, text string) (trial.Mark, error)
}

var _ trial.Check = onText{}

// Check implements trial.Check. A path that does not select one value fails it.
func (c onText) Check(ctx context.Context, s *trial.Subject) (trial.Mark, error) {
	text, missing, err := answer(s, c.path)
	if err != nil {
		return trial.Mark{}, err
	}
	if missing != "" {
		return says(false, "", s.Result.Response, missing), nil
	}
	return c.look(ctx, s, text)
}

// answer is the text that a check looks at; missing says why there is none.
func answer(s *trial.Subject, path component.FilterRef) (text, missing string, err error) {
	if path.IsZero() {
		return s.Result.Response, "", nil
	}
	v, missing, err := selected(s, path)
	if err != nil || missing != "" {
		return "", missing, err
	}
	return jsonvalue.Text(v), "", nil
}

// selected is the one value that a path selects of the output; missing says why
// there is none.
func selected(s *trial.Subject, path component.FilterRef) (v any, missing string, err error) {
	values, missing, err := selection(s, path)
	if err != nil || missing != "" {
		return nil, missing, err
	}
	if len(values) != 1 {
		return nil, fmt.Sprintf("%s selects %s of the output, not one", path.Source, text.Count(len(values), "value")), nil
	}
	return values[0], "", nil
}

// selection is the values that a path selects of the output.
func selection(s *trial.Subject, path component.FilterRef) (values []any, missing string, err error) {
	doc, missing := document(s)
	if missing != "" {
		return nil, missing, nil
	}
	values, err = path.Apply(doc)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path.Source, err)
	}
	return values, "", nil
}

// document is the answer as JSON, numbers as they were written: the validated
// output; without one the response, where all of it, or all of the one fence in
// it, is JSON. missing says why there is none.
func document(s *trial.Subject) (v any, missing string) {
	if raw := s.Result.Output; len(raw) > 0 {
		v, err := schema.Decode(raw)
		if err == nil {
			return v, ""
		}
	}
	v, err := schema.Decode([]byte(unfenced(s.Result.Response)))
	if err != nil {
		return nil, "the answer is not JSON: " + strings.TrimPrefix(err.Error(), "not JSON: ")
	}
	return v, ""
}

// unfenced is what stands in the fence that a text consists of, else the text.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	inner, fenced := strings.CutPrefix(text, "```")
	if !fenced {
		return text
	}
	inner, fenced = strings.CutSuffix(inner, "```")
	_, inner, several := strings.Cut(inner, "\n")
	if !fenced || !several || strings.Contains(inner, "```") {
		return text
	}
	return inner
}
