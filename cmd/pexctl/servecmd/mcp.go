package servecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/version"
	"github.com/pexctl/pex/internal/gctune"
	mcpserve "github.com/pexctl/pex/providers/mcp/serve"
	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/mcp"
)

// MCPCommand returns "pexctl mcp".
func MCPCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "mcp", Usage: "Serve agents as tools of the Model Context Protocol",
		Subcommands: []*cli.Command{{
			Name: "serve", Usage: "Serve agents as MCP tools over stdin and stdout", ArgsUsage: "[FILE|FOLDER...]",
			Description: ui.Help("For hosts such as Claude Desktop, Claude Code and VS Code, which start the command. Each agent is a tool. FILE is a spec, or a server file (kind: Server) whose agents are served; without an argument, FOLDER is the working directory. Runs are stored in the home of the first spec, like those of pexctl run. A run that takes longer than --wait continues, and the tool run_get returns its result. When the host closes stdin, runs are suspended; the next start continues them. Over HTTP, pexctl serve has the same tools at /mcp.",
				"pexctl mcp serve # Serve every spec below this directory",
				"pexctl mcp serve specs/refund-desk --home ~/.pex",
			),
			Flags: slices.Concat(
				[]cli.Flag{
					&cli.DurationFlag{Name: "wait", Usage: "Let a call wait for its run for `DURATION` before it returns the id of the run (default: mcp.wait of the server file, or 45s)"},
					project.SetFlag("server file, or of each spec if there is none"),
					project.HomeFlag(), project.TrustFlag(),
				},
				logFlags("warn", ""),
				project.SpecFiles(),
			),
			Action: env.Action(serveMCP),
		}},
	}
}

// serveMCP serves the client on stdin and stdout.
func serveMCP(c *ui.Call) error {
	s, err := readSetup(c, "")
	if err != nil {
		return err
	}
	if c.IsSet("wait") {
		s.config.MCPWait = c.Duration("wait")
	}
	if s.config.MCPWait < time.Second {
		return failure.Usagef("invalid value %v for --wait; use at least 1s", s.config.MCPWait)
	}
	if s.file == "" { // hosts start commands in any directory
		if s.home, err = project.HomeOfSpec(c, s.specs[0]); err != nil {
			return err
		}
	}
	log, err := newLog(c)
	if err != nil {
		return err
	}
	d, err := newDaemon(c, s, log)
	if err != nil {
		return err
	}
	if _, ok := ui.Terminal(c.Stdin); ok {
		fmt.Fprintf(c.Stderr, "Serving %s as MCP tools on stdin and stdout. MCP hosts start this command themselves; Ctrl-D ends it.\n", text.Count(len(d.agents.All()), "agent"))
	}
	gctune.Serving()
	ctx, end := ui.OnTermination(c.Context, func() { d.log.Info("shutting down; a second signal stops at once") })
	defer end()
	streams := d.streams()
	tools := d.newMCP(d.access(streams))
	working, stop := context.WithCancel(ctx)
	go d.work(working, func() {})
	err = tools.ServeIO(auth.NewContext(ctx, d.localClient()), c.Stdin, ui.Verbatim(c.Stdout))
	stop()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.Grace+closeTime)
	defer cancel()
	d.suspend(within)
	streams.Close()
	d.close()
	switch {
	case ctx.Err() != nil:
		return ui.Exit(ui.SignalCode(context.Cause(ctx)), nil)
	case err != nil && !errors.Is(err, io.EOF):
		return failure.Infra(err)
	}
	return nil
}

// localClient is the client of a command that a host has started: it may do everything with
// the runs of the home. Its user is not known: it cannot approve what a rule restricts to
// known people.
func (d *daemon) localClient() auth.Identity {
	return auth.Identity{Subject: auth.Anonymous, Tenant: d.setup.config.Tenants.Default, Roles: []string{auth.View, auth.Run, auth.Approve, auth.Admin}}
}

// newMCP returns the server of the Model Context Protocol.
func (d *daemon) newMCP(clients *access.Server) *mcpserve.Server {
	backend := mcp.New(clients)
	return mcpserve.New(mcpserve.Options{
		Agents: backend, Runs: backend, Name: d.setup.config.Name, Version: version.String(), Wait: d.setup.config.MCPWait, User: mcp.User,
	})
}

// mcpRoutes returns the paths of the Model Context Protocol.
func (d *daemon) mcpRoutes(clients *access.Server) []server.Route {
	handler := d.newMCP(clients).Handler()
	return []server.Route{
		{Paths: []string{mcp.Path}, Handler: mcp.Limit(clients, int64(d.setup.config.Limits.Body), handler), Form: mcp.Form()},
		{Paths: mcp.MetadataPaths(), Handler: mcp.Metadata(clients, d.guard.Issuer)},
	}
}
