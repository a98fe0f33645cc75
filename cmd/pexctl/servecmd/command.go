package servecmd

import (
	"fmt"
	"net"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/homedir"
)

// Command returns "pexctl serve".
func Command(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "serve", Usage: "Serve agents over HTTP, with runs that survive a restart", ArgsUsage: "[FILE|FOLDER...]",
		Description: ui.Help("FILE is a spec, or a server file (kind: Server). FOLDER stands for its server.yaml, or else for every spec below it. Without an argument, FOLDER is the working directory. Without a server file, the server listens on 127.0.0.1:8484 and accepts every request from this machine. Runs are stored in the home, like those of other commands. After a restart, the server continues the runs that were in progress. On SIGHUP, it reads the specs again.",
			"pexctl serve # Serve every spec below this directory",
			"pexctl serve specs/refund-desk --listen 127.0.0.1:9000",
			"pexctl serve server.yaml # Agents, tokens, tenants and limits from a file",
			"pexctl serve token new ci # Create a token for a client",
		),
		Flags: slices.Concat(
			[]cli.Flag{
				&cli.StringFlag{Name: "listen", Usage: "Listen on `HOST:PORT` (default: listen of the server file, or 127.0.0.1:8484). Port 0 is any free port"},
				&cli.BoolFlag{Name: "insecure", Usage: "Accept requests from other machines without authentication"},
				project.SetFlag("server file, or of each spec if there is none"),
				&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "Log only warnings and errors"},
				project.HomeFlag(), project.TrustFlag(),
			},
			logFlags("info", " (also probes, calls of runs, and why tokens are rejected)"),
			project.SpecFiles(),
		),
		Action:      env.Action(serve),
		Subcommands: []*cli.Command{tokenCommand(env)},
	}
}

func serve(c *ui.Call) error {
	s, err := readSetup(c, c.String("listen"))
	if err != nil {
		return err
	}
	log, err := newLog(c)
	if err != nil {
		return err
	}
	d, err := newDaemon(c, s, log)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.config.Listen)
	if err != nil {
		return failure.WithHintf(failure.Infra(err), "to listen elsewhere, use --listen HOST:PORT")
	}
	claim, _, err := homedir.ClaimServer(s.home) // two servers can share a home
	if err != nil {
		d.log.Warn("pexctl ui will not find this server", "error", err)
	}
	d.greet(c, listener.Addr().String())
	return d.run(c, listener, claim)
}

// greet prints what is served where, and a first request.
func (d *daemon) greet(c *ui.Call, address string) {
	if c.Quiet {
		return
	}
	url := d.scheme() + "://" + address
	all := d.agents.All()
	of := ""
	if name := d.setup.config.Name; d.setup.file != "" && name != "" {
		of = " of " + name
	}
	fmt.Fprintf(c.Stderr, "Serving %s%s on %s\n", text.Count(len(all), "agent"), of, url)
	for _, a := range all {
		fmt.Fprintf(c.Stderr, "  %-20s %s\n", a.Name, a.Shown())
	}
	if len(all) > 0 && d.setup.config.Auth == nil {
		fmt.Fprintf(c.Stderr, "Open %s in a browser, or try: curl -N %s/v1/agents/%s/runs -H 'accept: text/event-stream' --json '{\"question\": \"...\"}'\n", url, url, all[0].Name)
	}
}
