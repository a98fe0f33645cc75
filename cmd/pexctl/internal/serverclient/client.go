package serverclient

import (
	"errors"
	"net/http"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/httpclient"
)

// tokenVariable has the token for --server. There is no flag for it: other processes can
// read the arguments of a command.
const tokenVariable = "PEX_SERVER_TOKEN"

// Flag returns --server.
func Flag() cli.Flag {
	return &cli.StringFlag{Name: "server", Category: ui.GroupStorage, Usage: "Use the server (pexctl serve) at `URL` instead of a home on this machine; " + tokenVariable + " is the token"}
}

// everywhere are the flags that every command accepts with --server.
var everywhere = []string{"server", "output", "quiet", "yes", "color", "env-file", "verbose", "debug", "debug-file"}

// Client is a client of the server of --server, for one call of a command.
type Client struct {
	*apiclient.Client
	notFound string // what to do about an unknown name
}

// Open returns a client of the server of --server, or nil without the flag. notFound is
// the hint about an unknown name; flags are those of the command that apply to a server.
func Open(c *ui.Call, notFound string, flags ...string) (*Client, error) {
	if c.Server == "" {
		return nil, nil
	}
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if c.IsSet(name) && !slices.Contains(everywhere, name) && !slices.Contains(flags, name) {
			return nil, failure.Usagef("--%s cannot be combined with --server", name)
		}
	}
	transport, err := httpclient.Pool(httpclient.CertificatesOf(os.Getenv))
	if err != nil {
		return nil, failure.Usagef("%w", err)
	}
	client, err := apiclient.New(apiclient.Settings{URL: c.Server, Token: os.Getenv(tokenVariable), Transport: transport})
	if err != nil {
		return nil, failure.Usagef("--server: %w", err)
	}
	return &Client{client, notFound}, nil
}

// Fail adds hints to an error of the server, and separates the caller's mistakes from
// other failures. Requests that the server refuses for now can be repeated, so they are no
// mistakes.
func (s *Client) Fail(err error) error {
	if err == nil {
		return nil
	}
	if errors.As(err, new(*apiclient.ConnectionError)) {
		return failure.WithHintf(failure.Infra(err), "check the address, and that the server runs: pexctl serve; runs continue when it starts again")
	}
	e, ok := errors.AsType[*apiclient.Error](err)
	switch {
	case !ok:
		return err
	case e.Code == "":
		return failure.WithHintf(failure.Usagef("%w", e), "check the address given with --server")
	case e.Code == apiclient.NotFound:
		return failure.NotFoundf(s.notFound, "%w", e)
	case e.Code == apiclient.Unauthorized:
		return failure.WithHintf(failure.Usagef("the server requires a valid token"), "set %s to a token of the server", tokenVariable)
	case e.Status < 500 && e.Status != http.StatusTooManyRequests:
		return failure.Usagef("%w", e)
	case e.RetryAfter != "":
		return failure.WithHintf(failure.Infra(e), "try again in %s s", e.RetryAfter)
	}
	return failure.Infra(e)
}
