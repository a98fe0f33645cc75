package assertion

import (
	"context"
	"errors"
	"strings"

	_ "embed" // the judge's prompt

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// PairwiseConfig configures the check pairwise.
type PairwiseConfig struct {
	Criteria component.PromptRef `yaml:"criteria" vars:"case,parameters" doc:"What makes an answer better: text, {file: ...} or {use: name}. Default: the rubric of the suite's judge."`
	Value    component.Template  `yaml:"value" vars:"case,parameters" doc:"Answer to compare with. Set value or variant."`
	Variant  string              `yaml:"variant" doc:"Variant whose answer to the same case is compared."`
	Tie      string              `yaml:"tie" enum:"pass|fail" doc:"Outcome if neither answer is better."`
	Path     component.FilterRef `yaml:"path" doc:"JSONPath of the single output value to compare instead of the responses."`
}

// Pairwise compares two answers with a judge.
var Pairwise = component.New("pairwise", "The suite's judge LLM compares the answer with a text or with the answer of another variant, in both orders. An answer preferred in only one order counts as a tie. Score: 1 better, 0.5 tie, 0 worse.",
	func() PairwiseConfig { return PairwiseConfig{Tie: "pass"} }, newPairwise)

//go:embed prompt/pairwise.md
var pairwisePrompt string

const pairwiseSchema = `{"type":"object","properties":{"reason":{"type":"string"},"better":{"enum":["first","second","neither"]}},` +
	`"required":["reason","better"],"additionalProperties":false}`

// preference is a judge's reply.
type preference struct{ Reason, Better string }

type pairwise struct {
	config   PairwiseConfig
	criteria component.PromptRef
	judge    trial.Grader
	hash     string
}

// paired is a pairwise check that compares variants.
type paired struct{ *pairwise }

var (
	_ trial.Check  = (*pairwise)(nil)
	_ trial.Paired = paired{}
)

// Against implements trial.Paired.
func (p paired) Against() string { return p.config.Variant }

func newPairwise(c *PairwiseConfig, s trial.CheckSettings) (trial.Check, error) {
	p := &pairwise{config: *c, criteria: c.Criteria, judge: s.Judge}
	if p.criteria.IsZero() {
		p.criteria = s.Rubric
	}
	switch {
	case s.Judge == nil:
		return nil, errNoJudge
	case p.criteria.IsZero():
		return nil, errors.New("pairwise requires criteria, because the suite's judge has no rubric: write one of them")
	case (c.Value.Text == "") == (c.Variant == ""):
		return nil, errors.New("pairwise requires exactly one of value and variant")
	}
	p.hash = instructions(pairwisePrompt, pairwiseSchema, p.criteria.Text)
	if c.Variant != "" {
		return paired{p}, nil
	}
	return p, nil
}

// Check implements trial.Check.
func (p *pairwise) Check(ctx context.Context, s *trial.Subject) (trial.Mark, error) {
	own, missing, err := answer(s, p.config.Path)
	if err != nil {
		return trial.Mark{}, err
	}
	other, otherMissing, err := p.other(s)
	if err != nil {
		return trial.Mark{}, err
	}
	own, other = strings.TrimSpace(own), strings.TrimSpace(other)
	var m trial.Mark
	switch {
	case own == other && missing == otherMissing:
		m = p.mark(0, "both answers are the same")
	case own == "":
		m = p.mark(-1, "the answer is empty"+because(missing))
	case other == "":
		m = p.mark(1, "the other answer is empty"+because(otherMissing))
	default:
		if m, err = p.compare(ctx, s, own, other); err != nil {
			return m, err
		}
	}
	m.Expected, m.Actual = short(other), short(own)
	return m, nil
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// other returns the answer to compare with.
func (p *pairwise) other(s *trial.Subject) (text, missing string, err error) {
	if p.config.Variant == "" {
		text, err = renderNonEmpty(p.config.Value, s)
		return text, "", err
	}
	if s.Paired == nil {
		return "", "", errors.New("variant " + p.config.Variant + " has no answer to compare with")
	}
	return answer(s.Paired, p.config.Path)
}

// compare asks the judge in both orders.
func (p *pairwise) compare(ctx context.Context, s *trial.Subject, own, other string) (trial.Mark, error) {
	criteria, err := renderPrompt(p.criteria, s)
	if err != nil {
		return trial.Mark{}, err
	}
	head := task(s) + "Criteria:\n" + strings.TrimSpace(criteria) + "\n\n"
	question := func(first, second string) trial.Question {
		return trial.Question{
			System: pairwisePrompt, Schema: []byte(pairwiseSchema),
			Prompt: head + fenced("First answer", first) + "\n" + fenced("Second answer", second),
		}
	}
	r, tokens, cost, err := ask[preference](ctx, p.judge, []trial.Question{question(own, other), question(other, own)})
	if err != nil {
		return trial.Mark{Tokens: tokens, Cost: cost}, err
	}
	m := p.decide(r[0], r[1])
	m.Tokens, m.Cost = tokens, cost
	return m, nil
}

// decide combines the preferences with our answer in first and in second place.
func (p *pairwise) decide(first, second preference) trial.Mark {
	switch {
	case first.Better == "first" && second.Better == "second":
		return p.mark(1, "it is better: "+first.Reason)
	case first.Better == "second" && second.Better == "first":
		return p.mark(-1, "the other is better: "+first.Reason)
	case first.Better == "neither" && second.Better == "neither":
		return p.mark(0, "neither is better: "+first.Reason)
	default:
		return p.mark(0, "neither is better: the judge's preference changed with their order; "+first.Reason)
	}
}

// mark returns the mark of an answer that is better (1), equally good (0) or worse (-1).
func (p *pairwise) mark(better int, message string) trial.Mark {
	m := scored(better > 0 || better == 0 && p.config.Tie != "fail", float64(better+1)/2, "", "", message)
	m.Prompt = p.hash
	return m
}
