package servecmd

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/homedir"
)

// loopback is the host on which pexctl ui listens, and uiPort its port, unless it is taken.
const (
	loopback = "127.0.0.1"
	uiPort   = 8484
)

// UICommand returns "pexctl ui".
func UICommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "ui", Usage: "Open runs, agents, conversations and evaluations in the browser", ArgsUsage: "[FILE|FOLDER...]",
		Description: ui.Help("Serves the pages to this machine until Ctrl-C, and opens them in the browser. Without a terminal or a display, it prints their address only. Files and folders are those of pexctl serve; without an argument, FOLDER is the working directory. The pages use the home of pexctl run: they show runs of the command line, and runs started in the browser are in pexctl runs ls. If a server already uses the home, pexctl ui opens the pages of that server and starts none.",
			"pexctl ui # Every spec below this directory",
			"pexctl ui specs/refund-desk --no-open",
		),
		Flags: slices.Concat(
			[]cli.Flag{
				&cli.BoolFlag{Name: "no-open", Usage: "Print the address, and open no browser"},
				&cli.IntFlag{Name: "port", Usage: "Listen on port `N` of 127.0.0.1; 0 is any free port (default: 8484, or a free port if it is taken)"},
				project.SetFlag("server file, or of each spec if there is none"),
				project.HomeFlag(), project.TrustFlag(),
			},
			logFlags("warn", ""),
			project.SpecFiles(),
		),
		Action: env.Action(browse),
	}
}

// browse serves the pages of a home to its owner, or opens those of the server that does.
func browse(c *ui.Call) error {
	if port := c.Int("port"); port < 0 || port > 65535 {
		return failure.Usagef("invalid value %d for --port; use 0 to 65535", port)
	}
	s, err := readSetup(c, net.JoinHostPort(loopback, "0"))
	if err != nil {
		return err
	}
	if s.file == "" {
		if s.home, err = project.HomeOfSpec(c, s.specs[0]); err != nil {
			return err
		}
	}
	homedir.Create(s.home)
	claim, other, err := homedir.ClaimServer(s.home)
	if err != nil {
		return failure.Infra(err)
	}
	if other != nil {
		return browseOther(c, s, other)
	}
	log, err := newLog(c)
	if err != nil {
		return err
	}
	d, err := newDaemon(c, s, log)
	if err != nil {
		return errors.Join(err, claim.Release())
	}
	listener, err := listenOnLoopback(c)
	if err != nil {
		return errors.Join(err, claim.Release())
	}
	fmt.Fprintf(c.Stderr, "Serving %s on %s\n", text.Count(len(d.agents.All()), "agent"), d.urlOf(listener))
	openPages(c, d.urlOf(listener))
	fmt.Fprintln(c.Stderr, "Ctrl-C stops the server and suspends its runs; they continue at the next start.")
	return d.run(c, listener, claim)
}

// browseOther opens the pages of the server that uses the home.
func browseOther(c *ui.Call, s *setup, other *homedir.Server) error {
	home := fspath.Quote(fspath.Relative(s.home))
	if other.URL == "" {
		return failure.Infra(fmt.Errorf("another server uses the home %s, and its address is not known; try again", home))
	}
	fmt.Fprintf(c.Stderr, "A server (pid %d) already uses the home %s: %s\n", other.PID, home, other.URL)
	if len(c.Args) > 0 {
		fmt.Fprintln(c.Stderr, "It serves the agents with which it was started. To serve others, stop it or use another --home.")
	}
	openPages(c, other.URL)
	return nil
}

// listenOnLoopback listens on the port of --port, or else on the default one or any that is free.
func listenOnLoopback(c *ui.Call) (net.Listener, error) {
	listen := func(port int) (net.Listener, error) {
		return net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
	}
	if c.IsSet("port") {
		l, err := listen(c.Int("port"))
		if err != nil {
			return nil, failure.WithHintf(failure.Infra(err), "without --port, any free port is used")
		}
		return l, nil
	}
	l, err := listen(uiPort)
	if err != nil { // it is taken
		l, err = listen(0)
	}
	if err != nil {
		return nil, failure.Infra(err)
	}
	return l, nil
}

// openPages opens the browser if the caller has one and wants it.
func openPages(c *ui.Call, url string) {
	if c.Bool("no-open") {
		return
	}
	if _, ok := ui.Terminal(c.Stderr); !ok || !hasDisplay() {
		fmt.Fprintln(c.Stderr, "Open this address in a browser.")
		return
	}
	if err := openBrowser(url); err != nil {
		fmt.Fprintf(c.Stderr, "The browser cannot be started (%v). Open this address in it.\n", err)
	}
}
