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

// onText is a check of one text: the response, or the value that path selects from the
// output.
type onText struct {
	path component.FilterRef
	look func(ctx context.Context, s *trial.Subject, text string) (trial.Mark, error)
}

var _ trial.Check = onText{}

// Check implements trial.Check. It fails if path does not select exactly one value.
func (c onText) Check(ctx context.Context, s *trial.Subject) (trial.Mark, error) {
	text, missing, err := answer(s, c.path)
	if err != nil {
		return trial.Mark{}, err
	}
	if missing != "" {
		return boolean(false, "", s.Result.Response, missing), nil
	}
	return c.look(ctx, s, text)
}

// answer returns the text to check. missing is the reason if there is none.
func answer(s *trial.Subject, path component.FilterRef) (text, missing string, err error) {
	if path.IsZero() {
		return s.Result.Response, "", nil
	}
	v, missing, err := selectOne(s, path)
	if err != nil || missing != "" {
		return "", missing, err
	}
	return jsonvalue.Text(v), "", nil
}

// selectOne returns the only value that path selects from the output. missing is the
// reason if there is none.
func selectOne(s *trial.Subject, path component.FilterRef) (v any, missing string, err error) {
	values, missing, err := selectValues(s, path)
	if err != nil || missing != "" {
		return nil, missing, err
	}
	if len(values) != 1 {
		return nil, fmt.Sprintf("%s selects %s of the output, not one", path.Source, text.Count(len(values), "value")), nil
	}
	return values[0], "", nil
}

// selectValues returns the values that path selects from the output.
func selectValues(s *trial.Subject, path component.FilterRef) (values []any, missing string, err error) {
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

// document returns the answer as JSON, with numbers as written: the validated output or,
// without one, the response, if all of it or of its only code fence is JSON. missing is
// the reason if there is none.
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

// unfenced returns the contents of a code fence that is the entire text, else the text.
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
