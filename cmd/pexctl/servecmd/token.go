package servecmd

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/server/auth"
)

func tokenCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "token", Usage: "Create tokens for clients of a server",
		Description: ui.Help("", "pexctl serve token new ci --roles run"),
		Subcommands: []*cli.Command{newTokenCommand(env)},
	}
}

func newTokenCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "new", Usage: "Create a token, and print the entry for the token file of the server", ArgsUsage: "NAME",
		Description: ui.Help("The token goes to stdout: give it to the client and keep no copy. The entry for the token file goes to stderr; it has only a hash of the token.",
			"pexctl serve token new ci --roles run > ci.token",
			"pexctl serve token new finance --roles approve --tenant acme",
		),
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "roles", Usage: "`ROLES` of the client, separated by commas: view, run, approve, admin, or roles that agents of the server file name", Value: cli.NewStringSlice(auth.Run)},
			&cli.StringFlag{Name: "tenant", Usage: "`NAME` of the client's tenant (default: the default tenant of the server)"},
		},
		Action: env.Action(newToken, 1),
	}
}

func newToken(c *ui.Call) error {
	name := c.Arg(0)
	if name == "" {
		return failure.WithHintf(failure.Usagef("no name given"), "use pexctl serve token new NAME, where NAME says who the client is; decisions are recorded under this name")
	}
	var roles []string
	for _, list := range c.StringSlice("roles") {
		for role := range strings.SplitSeq(list, ",") {
			roles = append(roles, strings.TrimSpace(role))
		}
	}
	secret, digest := auth.NewToken()
	entry := fmt.Sprintf("{name: %s, sha256: %s, roles: [%s]", name, digest, strings.Join(roles, ", "))
	if c.Tenant != "" {
		entry += ", tenant: " + c.Tenant
	}
	fmt.Fprintf(c.Stderr, "Add this entry to tokens of the token file:\n  - %s}\n", entry)
	fmt.Fprintln(c.Stdout, secret)
	return nil
}
