package fleet

import (
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/providers/bedrock"
	"github.com/pexctl/pex/providers/postgres"
	"github.com/pexctl/pex/providers/s3"
	"github.com/pexctl/pex/providers/temporal"
	"github.com/pexctl/pex/providers/temporal/dial"
	"github.com/pexctl/pex/providers/temporal/payload"
)

// keysVariable is the environment variable with the keys of payloads.
const keysVariable = "PEX_PAYLOAD_KEYS"

// Flags returns the flags of Connect.
func Flags(group string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "blobs", Category: group, EnvVars: []string{"PEX_BLOBS"}, Usage: "With Temporal, store what is too large for it at `URL`: file:///DIR, postgres://... or s3://BUCKET/PREFIX. Every worker and client needs the same"},
		&cli.StringFlag{Name: "payload-keys", Category: group, Usage: "With Temporal, encrypt everything with the keys in `FILE`, one per line: NAME:KEY with 32 bytes in base64 or hex, the current one first (default: " + keysVariable + ", or no encryption)"},
	}
}

// Connection is a connection with a namespace of a Temporal server. The caller must close it.
type Connection struct {
	*dial.Connection

	Codec  *payload.Codec
	Driver *temporal.Driver

	closes []func() error
}

// Close ends the connection.
func (c *Connection) Close() error {
	var errs []error
	for i := range c.closes {
		errs = append(errs, c.closes[len(c.closes)-1-i]())
	}
	return errors.Join(errs...)
}

// Connect connects to the server that the environment names. It makes sure that the store of
// payloads works. log receives what the connection logs; nil = nothing.
func Connect(c *ui.Call, log *slog.Logger) (*Connection, error) {
	out := &Connection{}
	var o payload.Options
	var err error
	if o.Keys, err = keys(c); err != nil {
		return nil, failure.Usagef("%w", err)
	}
	if address := c.String("blobs"); address != "" {
		store, err := openBlobs(address)
		if err != nil {
			return nil, failure.Usagef("--blobs: %w", err)
		}
		if closer, ok := store.(io.Closer); ok {
			out.closes = append(out.closes, closer.Close)
		}
		o.Store = store
	}
	out.Codec = payload.New(o)
	if err := out.Codec.Check(c.Context); err != nil {
		return nil, errors.Join(failure.WithHintf(failure.Infra(err), "check --blobs, or PEX_BLOBS"), out.Close())
	}
	conn, err := dial.Dial(c.Context, dial.Settings{Environ: os.Environ(), Configure: out.Codec.Configure, Logger: log})
	if err != nil {
		return nil, errors.Join(asFailure(err), out.Close())
	}
	out.closes = append(out.closes, func() error { conn.Close(); return nil })
	out.Connection, out.Driver = conn, &temporal.Driver{Client: conn.Client, Namespace: conn.Namespace}
	return out, nil
}

func asFailure(err error) error {
	if e, ok := errors.AsType[*dial.Error](err); ok && e.Reason == dial.BadSettings {
		return failure.Usagef("%w", err)
	}
	return failure.Infra(err)
}

// keys returns the keys of payloads; nil = none.
func keys(c *ui.Call) (*payload.Ring, error) {
	if file := c.String("payload-keys"); file != "" {
		return payload.RingFromFile(file)
	}
	if os.Getenv(keysVariable) == "" {
		return nil, nil
	}
	return payload.RingFromVariable(os.Getenv, keysVariable)
}

// openBlobs opens the store of payloads. It connects to nothing.
func openBlobs(address string) (blob.Store, error) {
	return blob.Open(address, map[string]blob.Opener{
		"postgres": postgres.OpenBlobs, "postgresql": postgres.OpenBlobs,
		"s3": s3.Opener(s3.Settings{Signer: new(bedrock.Signer), Environ: os.Getenv}),
	})
}
