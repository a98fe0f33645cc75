package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/tool"
)

// wordCount is a tool that counts words.
type wordCount struct{}

var _ tool.Tool = wordCount{}

// Info implements tool.Tool.
func (wordCount) Info() tool.Info {
	return tool.Info{
		Name: "word_count", Description: "Counts the words of a text.", Effect: tool.ReadEffect,
		Input: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","description":"The text."}},"required":["text"]}`),
	}
}

// Call implements tool.Tool. The model reads an error as the result of its call.
func (wordCount) Call(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("word_count: %w", err)
	}
	var args struct{ Text string }
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return nil, fmt.Errorf("the arguments cannot be read: %w", err)
	}
	if args.Text == "" {
		return nil, errors.New("text is empty: pass the text whose words to count")
	}
	return &tool.Output{Text: fmt.Sprint(len(strings.Fields(args.Text)))}, nil
}

func ExampleTool() {
	for _, args := range []string{`{"text": "one two"}`, `{}`} {
		out, err := wordCount{}.Call(context.Background(), &tool.Call{Args: json.RawMessage(args)})
		if err != nil {
			fmt.Println("error:", err)
			continue
		}
		fmt.Println(out)
	}
	// Output:
	// 2
	// error: text is empty: pass the text whose words to count
}
