package servecmd

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"syscall"

	"github.com/pexctl/pex/dsl/serverspec"
	"github.com/pexctl/pex/server/auth"
)

// reloadOnHangup reads the server file, its tokens and the specs again at each SIGHUP, until
// ctx ends. What cannot be read stays as it is.
func (d *daemon) reloadOnHangup(ctx context.Context) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	defer signal.Stop(signals)
	for {
		select {
		case <-signals:
		case <-ctx.Done():
			return
		}
		if err := d.reload(); err != nil {
			d.log.Error("reload failed; the server continues as before", "error", err)
			continue
		}
		d.log.Info("reloaded", "agents", len(d.agents.All()))
	}
}

func (d *daemon) reload() error {
	next, err := d.setup.again()
	if err != nil {
		return err
	}
	if changed := needRestart(d.setup.config, next.config); len(changed) > 0 {
		return fmt.Errorf("%s: changes to %s need a restart", next.path, strings.Join(changed, ", "))
	}
	definitions, err := next.definitions()
	if err != nil {
		return err
	}
	before := d.setup.config
	d.setup.config = next.config
	tokens, err := d.tokens()
	var issuer *auth.OIDC
	if err == nil {
		issuer, err = d.issuer()
	}
	if err == nil {
		_, err = hooks(next.config, os.LookupEnv)
	}
	if err == nil {
		err = d.agents.Reload(definitions)
	}
	if err == nil {
		err = d.setHooks()
	}
	if err != nil {
		d.setup.config = before
		return err
	}
	d.guard.SetCredentials(tokens, issuer)
	return nil
}

// needRestart returns the keys of the server file whose changes apply only after a restart.
// A reload that ignored them would leave, for example, a server open that should require
// tokens.
func needRestart(before, after *serverspec.Config) (changed []string) {
	for _, key := range []struct {
		name          string
		before, after any
	}{
		{"listen", before.Listen, after.Listen},
		{"auth", before.Auth == nil, after.Auth == nil},
		{"tenants", before.Tenants, after.Tenants},
		{"limits", before.Limits, after.Limits},
		{"cors", before.Origins, after.Origins},
		{"tls", before.TLS, after.TLS},
		{"mcp", before.MCPWait, after.MCPWait},
		{"openai", before.OpenAI, after.OpenAI},
		{"metrics", before.Metrics, after.Metrics},
		{"opensearch", before.OpenSearch, after.OpenSearch},
		{"park_after", before.ParkAfter, after.ParkAfter},
		{"grace", before.Grace, after.Grace},
	} {
		if !reflect.DeepEqual(key.before, key.after) {
			changed = append(changed, key.name)
		}
	}
	return changed
}
