package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/mcp"
)

// patience is how long a scenario may take.
const patience = 25 * time.Second

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: mcpclient URL, with MCP_CONFORMANCE_SCENARIO set")
		os.Exit(2)
	}
	if err := play(os.Args[1], os.Getenv("MCP_CONFORMANCE_SCENARIO"), os.Getenv("MCP_CONFORMANCE_CONTEXT")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// scenario is what the suite passes to a client besides the address: how to sign
// in, and which calls to make.
type scenario struct {
	ClientID     string     `json:"client_id"`
	ClientSecret string     `json:"client_secret"`
	Calls        []toolCall `json:"toolCalls"`
}

type toolCall struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"arguments"`
}

// play does what a run would do: it lists the tools and makes the calls of the
// scenario. A scenario that names none gets a call of every tool.
func play(address, name, given string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var s scenario
	if given != "" {
		if err := json.Unmarshal([]byte(given), &s); err != nil {
			return fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	tools, err := toolset(address, s, strings.HasPrefix(name, "auth/"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tools.Close()) }()
	listing, err := tools.List(ctx, call(json.RawMessage("{}")))
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	defs := map[string]tool.Definition{}
	for _, def := range listing.Tools {
		defs[def.Name] = def
	}
	if s.Calls == nil {
		if s.Calls, err = callsOf(listing.Tools); err != nil {
			return err
		}
	}
	for _, c := range s.Calls {
		def, ok := defs[c.Name]
		if !ok {
			return fmt.Errorf("the server lists no tool %s", c.Name)
		}
		out, err := tools.Bind(def).Call(ctx, call(c.Args))
		if err != nil {
			return fmt.Errorf("call %s: %w", c.Name, err)
		}
		fmt.Println(c.Name, "returned", out.Text)
	}
	return nil
}

// callsOf is one call of each tool, with a value for every required parameter.
// An object is the input schema of the first tool, as it was read: one scenario
// compares it with the schema that it listed.
func callsOf(defs []tool.Definition) ([]toolCall, error) {
	if len(defs) == 0 {
		return nil, nil
	}
	samples := map[string]any{"string": "text", "integer": 5, "number": 5, "boolean": true, "array": []any{}, "object": defs[0].Input}
	var calls []toolCall
	for _, def := range defs {
		var schema struct {
			Properties map[string]struct{ Type string }
			Required   []string
		}
		if err := json.Unmarshal(def.Input, &schema); err != nil {
			return nil, fmt.Errorf("input schema of %s: %w", def.Name, err)
		}
		args := map[string]any{}
		for _, name := range schema.Required {
			args[name] = samples[schema.Properties[name].Type]
		}
		raw, err := json.Marshal(args)
		if err != nil {
			return nil, fmt.Errorf("arguments of %s: %w", def.Name, err)
		}
		calls = append(calls, toolCall{def.Name, raw})
	}
	return calls, nil
}

// call is a call as the engine makes it, with a person who says yes to all.
func call(args json.RawMessage) *tool.Call {
	return &tool.Call{
		Args: args, Key: "r/step.s1/turn.1/tool.0", RunID: "r", Path: "step.s1/turn.1/tool.0", Progress: func(string) {},
		Ask: func(context.Context, interrupt.Question) (interrupt.Decision, error) {
			return interrupt.Decision{Do: "approve"}, nil
		},
	}
}

// toolset is the tools at an address, by the product's own factory.
func toolset(address string, s scenario, signsIn bool) (tool.Toolset, error) {
	config := mcp.MCP.Config().(*mcp.Config)
	config.URL = component.Template{Text: address}
	settings := tool.Settings{
		Name: "server", Dir: ".", Root: ".", UserAgent: "pexctl/conformance", Env: os.Getenv, Browse: signIn,
	}
	if signsIn {
		config.Auth = &mcp.Auth{
			Type: "oauth", ClientID: s.ClientID, ClientMetadata: "https://conformance-test.local/client-metadata.json",
		}
		if s.ClientSecret != "" {
			config.Auth.ClientSecretEnv = "SECRET"
		}
		settings.Env = func(name string) string {
			if name == "SECRET" {
				return s.ClientSecret
			}
			return os.Getenv(name)
		}
	}
	t, err := mcp.MCP.Build(config, settings)
	if err != nil {
		return nil, err
	}
	set, ok := t.(tool.Toolset)
	if !ok {
		return nil, fmt.Errorf("%T is no toolset", t)
	}
	return set, nil
}

// signIn is the person and the browser: it opens the address and follows to
// where it leads.
func signIn(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
