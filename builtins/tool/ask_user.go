package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/tool"
)

// AskUserConfig configures ask_user. It has no settings.
type AskUserConfig struct{}

// Access implements tool.AccessDescriber.
func (*AskUserConfig) Access() []string { return nil }

// AskUser asks the user a question. The answer is the tool's output.
var AskUser = component.New("ask_user", "Asks the user a question during a step. The run waits for the answer without a time limit.",
	func() AskUserConfig { return AskUserConfig{} }, newAskUser)

const askUserInput = `{"type":"object","properties":{` +
	`"question":{"type":"string","description":"One self-contained question. State the context and, if there is a choice, the options."}` +
	`},"required":["question"],"additionalProperties":false}`

const maxQuestion = 4000 // bytes

type askUser struct{ info tool.Info }

var (
	_ tool.Tool      = (*askUser)(nil)
	_ tool.HumanTool = (*askUser)(nil)
)

func newAskUser(_ *AskUserConfig, s tool.Settings) (tool.Tool, error) {
	return &askUser{toolInfo(s, "ask_user",
		"Asks the user one question and returns the answer. Use it only for what only the user can know or decide, such as a preference, a missing detail or an ambiguous request, and no other tool can find out. The run waits until someone answers.",
		askUserInput, tool.ReadEffect)}, nil
}

// Info implements tool.Tool.
func (t *askUser) Info() tool.Info { return t.info }

// NextQuestion implements tool.HumanTool. The tool asks one question.
func (t *askUser) NextQuestion(args json.RawMessage, answers []interrupt.Decision) (*interrupt.Question, *tool.Output, error) {
	question, err := question(context.Background(), &tool.Call{Args: args})
	switch {
	case err != nil:
		return nil, nil, err
	case len(answers) == 0:
		return &interrupt.Question{Kind: interrupt.User, Question: question}, nil, nil
	}
	answer := strings.TrimSpace(answers[0].Answer())
	if answer == "" {
		answer = "(the user gave no answer)"
	}
	return nil, &tool.Output{Text: answer}, nil
}

func question(ctx context.Context, call *tool.Call) (string, error) {
	args, err := arguments[struct {
		Question string `json:"question"`
	}](ctx, call)
	if err != nil {
		return "", err
	}
	question := strings.TrimSpace(args.Question)
	if question == "" {
		return "", errors.New(`argument "question" is missing; pass the question for the user`)
	}
	if len(question) > maxQuestion {
		return "", fmt.Errorf("the question has %d bytes, the limit is %d: ask a shorter question about one thing", len(question), maxQuestion)
	}
	return question, nil
}

// Call implements tool.Tool. It fails, because there is no user to ask.
func (t *askUser) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	if _, err := question(ctx, call); err != nil {
		return nil, err
	}
	return nil, errors.New("no user is available; continue with what you know, and state your assumptions in the report")
}
