package assertion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/eval/trial"
)

// maxJudged is the maximum length of a text that a judge is sent.
const maxJudged = 100_000 // bytes

// fenced returns a text under a title, between delimiter lines that it cannot contain.
func fenced(title, text string) string {
	text = clipped(text)
	fence := prompt.Fence(text)
	return title + ":\n" + fence + "\n" + text + "\n" + fence + "\n"
}

// clipped omits the middle of a text that is too long.
func clipped(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxJudged {
		return text
	}
	return shortened(text, maxJudged/2, maxJudged/2)
}

// task returns the agent's question for the judge, "" if there is none.
func task(s *trial.Subject) string {
	question, ok := s.Parameters["question"]
	if !ok || question == nil {
		return ""
	}
	return fenced("Task", jsonvalue.Text(question)) + "\n"
}

// instructions returns the hash of a judge's instructions, without the case.
func instructions(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s\n", len(p), p)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)[:16])
}

// ask sends all questions to the judge concurrently and decodes the replies, which are in
// the order of the questions. Tokens and cost are those of all calls, even if there is an
// error.
func ask[R any](ctx context.Context, judge trial.Grader, questions []trial.Question) (replies []R, tokens int, cost float64, err error) {
	replies = make([]R, len(questions))
	judgements, errs := make([]trial.Judgement, len(questions)), make([]error, len(questions))
	var all sync.WaitGroup
	for i, q := range questions {
		all.Go(func() { judgements[i], errs[i] = judge.Grade(ctx, q) })
	}
	all.Wait()
	for _, j := range judgements {
		tokens, cost = tokens+j.Tokens, cost+j.Cost
	}
	for i, j := range judgements {
		if errs[i] != nil {
			return nil, tokens, cost, errs[i]
		}
		if err := json.Unmarshal([]byte(j.Text), &replies[i]); err != nil {
			return nil, tokens, cost, fmt.Errorf("invalid reply from the judge: %w", err)
		}
	}
	return replies, tokens, cost, nil
}
