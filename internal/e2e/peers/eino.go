package main

import (
	"context"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/prebuilt/planexecute"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

// buildEino builds the prebuilt plan-execute agent with its default prompts.
func buildEino(k int, c *counts) (func() (string, error), error) {
	ctx := context.Background()
	type sum struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	add, err := utils.InferTool("add", "Adds two numbers.", func(_ context.Context, in sum) (string, error) {
		return c.add(in.A, in.B), nil
	})
	if err != nil {
		return nil, err
	}
	plans, err := planexecute.NewPlanner(ctx, &planexecute.PlannerConfig{ToolCallingChatModel: einoModel{planner, k, c}})
	if err != nil {
		return nil, err
	}
	executes, err := planexecute.NewExecutor(ctx, &planexecute.ExecutorConfig{
		Model:       einoModel{executor, k, c},
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{add}}},
	})
	if err != nil {
		return nil, err
	}
	reviews, err := planexecute.NewReplanner(ctx, &planexecute.ReplannerConfig{ChatModel: einoModel{reviewer, k, c}})
	if err != nil {
		return nil, err
	}
	agent, err := planexecute.New(ctx, &planexecute.Config{Planner: plans, Executor: executes, Replanner: reviews, MaxIterations: k + 1})
	if err != nil {
		return nil, err
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent})
	return func() (string, error) { return einoAnswer(runner.Query(ctx, question)) }, nil
}

// einoAnswer returns the text of the last message of a run.
func einoAnswer(events *adk.AsyncIterator[*adk.AgentEvent]) (answer string, err error) {
	for {
		e, ok := events.Next()
		switch {
		case !ok:
			return strings.TrimSuffix(strings.TrimPrefix(answer, `{"response":"`), `"}`), nil
		case e.Err != nil:
			return "", e.Err
		case e.Output != nil && e.Output.MessageOutput != nil:
			m, err := e.Output.MessageOutput.GetMessage()
			if err != nil {
				return "", err
			}
			answer = m.Content
		}
	}
}

// einoModel is the fake model of one role.
type einoModel struct {
	role role
	k    int
	*counts
}

var _ model.ToolCallingChatModel = einoModel{}

// WithTools implements model.ToolCallingChatModel.
func (m einoModel) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return m, nil }

// Generate implements model.ToolCallingChatModel.
func (m einoModel) Generate(_ context.Context, messages []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	m.models.Add(1)
	chars := 0
	for _, msg := range messages {
		chars += len(msg.Content)
		for _, call := range msg.ToolCalls {
			chars += len(call.Function.Name) + len(call.Function.Arguments)
		}
	}
	m.chars.Add(int64(chars))
	out := respond(m.role, m.k, einoItem(messages), messages[len(messages)-1].Role == schema.Tool)
	switch {
	case out.add != "":
		return einoCall("add", out.add), nil
	case out.answer != "":
		return einoCall("respond", `{"response":"`+out.answer+`"}`), nil
	case out.text != "":
		return schema.AssistantMessage(out.text, nil), nil
	}
	var b strings.Builder
	b.WriteString(`{"steps":`)
	appendStrings(&b, out.steps)
	b.WriteByte('}')
	return einoCall("plan", b.String()), nil
}

// Stream implements model.ToolCallingChatModel.
func (m einoModel) Stream(ctx context.Context, messages []*schema.Message, o ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	msg, err := m.Generate(ctx, messages, o...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.Message{msg}), nil
}

func einoCall(name, args string) *schema.Message {
	return schema.AssistantMessage("", []schema.ToolCall{{ID: "c1", Function: schema.FunctionCall{Name: name, Arguments: args}}})
}

func einoItem(messages []*schema.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if item, ok := lastItem(messages[i].Content); ok {
			return item
		}
	}
	return 0
}
