package assertion

import (
	"context"
	_ "embed" // the judge's prompt
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// RubricConfig configures the check rubric.
type RubricConfig struct {
	Rubric component.PromptRef `yaml:"rubric" vars:"case,parameters" doc:"Rubric: text, {file: ...} or {use: name}. Default: the rubric of the suite's judge."`
	Min    float64             `yaml:"min" min:"0" max:"1" doc:"Minimum score to pass. The judge must also say that the answer passes."`
	Votes  int                 `yaml:"votes" min:"1" max:"15" doc:"Number of votes of the judge, at its own temperature. More than half must pass; the score is the mean."`
	Path   component.FilterRef `yaml:"path" doc:"JSONPath of the single output value to grade instead of the response."`
}

// Rubric grades the answer with a judge.
var Rubric = component.New("rubric", "LLM as a judge: the suite's judge LLM grades the answer by a rubric. An empty answer fails without a call.",
	func() RubricConfig { return RubricConfig{Votes: 1} }, newRubric)

//go:embed prompt/rubric.md
var rubricPrompt string

const rubricSchema = `{"type":"object","properties":{"reason":{"type":"string"},"score":{"type":"number","minimum":0,"maximum":1},"pass":{"type":"boolean"}},` +
	`"required":["reason","score","pass"],"additionalProperties":false}`

// verdict is a judge's reply.
type verdict struct {
	Reason string
	Score  float64
	Pass   bool
}

type rubric struct {
	config RubricConfig
	text   component.PromptRef
	judge  trial.Grader
	hash   string
}

func newRubric(c *RubricConfig, s trial.CheckSettings) (trial.Check, error) {
	r := &rubric{config: *c, text: c.Rubric, judge: s.Judge}
	if r.text.IsZero() {
		r.text = s.Rubric
	}
	switch {
	case s.Judge == nil:
		return nil, errNoJudge
	case r.text.IsZero():
		return nil, errors.New("rubric requires a rubric: write rubric: ... in the check or in the suite's judge")
	}
	r.config.Votes = max(c.Votes, 1)
	r.hash = instructions(rubricPrompt, rubricSchema, r.text.Text)
	return onText{c.Path, r.look}, nil
}

var errNoJudge = errors.New("this check requires a judge: write judge: {llm: NAME} in the suite")

// look grades a text.
func (r *rubric) look(ctx context.Context, s *trial.Subject, text string) (trial.Mark, error) {
	criteria, err := renderPrompt(r.text, s)
	if err != nil {
		return trial.Mark{}, err
	}
	if strings.TrimSpace(text) == "" {
		m := boolean(false, criteria, text, "the answer is empty")
		m.Prompt = r.hash
		return m, nil
	}
	q := trial.Question{System: rubricPrompt, Schema: []byte(rubricSchema)}
	q.Prompt = task(s) + "Rubric:\n" + strings.TrimSpace(criteria) + "\n\n" + fenced("Answer", text)
	verdicts, tokens, cost, err := ask[verdict](ctx, r.judge, r.ballot(q))
	if err != nil {
		return trial.Mark{Tokens: tokens, Cost: cost}, err
	}
	m := r.mark(verdicts)
	m.Expected, m.Actual = short(criteria), short(text)
	m.Tokens, m.Cost = tokens, cost
	return m, nil
}

// ballot returns one copy of the question per vote.
func (r *rubric) ballot(q trial.Question) []trial.Question {
	if r.config.Votes == 1 {
		return []trial.Question{q}
	}
	out := make([]trial.Question, r.config.Votes)
	for i := range out {
		out[i] = q
		out[i].Vote = i + 1
	}
	return out
}

// mark counts the votes. The reason is that of the first vote on the winning side.
func (r *rubric) mark(verdicts []verdict) trial.Mark {
	passed, sum := 0, 0.0
	for _, v := range verdicts {
		sum += v.Score
		if v.Pass {
			passed++
		}
	}
	n := len(verdicts)
	score, won := sum/float64(n), 2*passed > n
	message := ""
	for _, v := range verdicts {
		if v.Pass == won {
			message = v.Reason
			break
		}
	}
	if n > 1 {
		message = fmt.Sprintf("%d of %d votes pass: %s", passed, n, message)
	}
	if won && score < r.config.Min {
		message = "the score is " + formatNumber(score) + ", the least is " + formatNumber(r.config.Min) + ": " + message
	}
	m := scored(won && score >= r.config.Min, score, "", "", message)
	m.Prompt = r.hash
	return m
}
