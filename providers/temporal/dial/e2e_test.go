//go:build e2e

package dial_test

import (
	"testing"

	"github.com/pexctl/pex/internal/temporaltest"
	"github.com/pexctl/pex/providers/temporal/dial"
)

func TestE2EDialsARealServer(t *testing.T) {
	s := temporaltest.Start(t, "agents")
	c, err := dial.Dial(t.Context(), settings(s.Environ("agents")...))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	refused(t, dial.UnknownNamespace, settings(s.Environ("missing")...))
	refused(t, dial.WrongTLS, settings(append(s.Environ("agents"), "TEMPORAL_TLS=true")...))
	s.Kill()
	refused(t, dial.NoServer, settings(s.Environ("agents")...))
}
