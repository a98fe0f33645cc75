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

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
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

// calls are the tools that a scenario wants called, with their arguments.
var calls = map[string]map[string]string{
	"initialize":                          {},
	"tools_call":                          {"add_numbers": `{"a": 5, "b": 3}`},
	"elicitation-sep1034-client-defaults": {"test_client_elicitation_defaults": `{}`},
	"sse-retry":                           {"test_reconnection": `{}`},
	"auth":                                {"test-tool": `{}`},
}

// play does what a run would do: it lists the tools and calls some.
func play(address, scenario, given string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	group, _, signsIn := strings.Cut(scenario, "/")
	wanted, ok := calls[group]
	if !ok {
		return fmt.Errorf("there is no scenario %q", scenario)
	}
	tools, err := toolset(address, given, signsIn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tools.Close()) }()
	listing, err := tools.List(ctx, call("{}"))
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	for _, def := range listing.Tools {
		args, ok := wanted[def.Name]
		if !ok {
			continue
		}
		out, err := tools.Bind(def).Call(ctx, call(args))
		if err != nil {
			return fmt.Errorf("call %s: %w", def.Name, err)
		}
		fmt.Println(def.Name, "gave", out.Text)
	}
	return nil
}

// call is a call as the engine makes it, with a person who says yes to all.
func call(args string) *engine.Call {
	return &engine.Call{
		Args: json.RawMessage(args), Key: "r/step.s1/turn.1/tool.0", RunID: "r", Path: "step.s1/turn.1/tool.0", Progress: func(string) {},
		Ask: func(context.Context, engine.Question) (engine.Decision, error) {
			return engine.Decision{Do: "approve"}, nil
		},
	}
}

// toolset is the tools at an address, by the product's own factory.
func toolset(address, given string, signsIn bool) (engine.Toolset, error) {
	config := mcp.MCP.Config().(*mcp.Config)
	config.URL = component.Template{Text: address}
	settings := engine.ToolSettings{
		Name: "server", Dir: ".", Root: ".", UserAgent: "pexctl/conformance", Env: os.Getenv, Browse: signIn,
	}
	if signsIn {
		var known struct {
			ID     string `json:"client_id"`
			Secret string `json:"client_secret"`
		}
		if given != "" {
			if err := json.Unmarshal([]byte(given), &known); err != nil {
				return nil, fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
			}
		}
		config.Auth = &mcp.Auth{
			Type: "oauth", ClientID: known.ID, ClientMetadata: "https://conformance-test.local/client-metadata.json",
		}
		if known.Secret != "" {
			config.Auth.ClientSecretEnv = "SECRET"
		}
		settings.Env = func(name string) string {
			if name == "SECRET" {
				return known.Secret
			}
			return os.Getenv(name)
		}
	}
	tool, err := mcp.MCP.Build(config, settings)
	if err != nil {
		return nil, err
	}
	set, ok := tool.(engine.Toolset)
	if !ok {
		return nil, fmt.Errorf("%T is no toolset", tool)
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
