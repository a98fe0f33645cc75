package dial_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pexctl/pex/providers/temporal/dial"
)

// key is a key that must not appear in errors.
const key = "tmprl-7Qm2xVd9Rk4tWz8c"

// refused returns the error of settings that do not connect. Its text names no key.
func refused(t *testing.T, want dial.Reason, s dial.Settings) *dial.Error {
	t.Helper()
	c, err := dial.Dial(t.Context(), s)
	if err == nil {
		c.Close()
	}
	e, ok := errors.AsType[*dial.Error](err)
	if !ok || e.Reason != want {
		t.Fatalf("got %v, want an error with reason %s", err, want)
	}
	if strings.Contains(err.Error(), key) {
		t.Errorf("the error has the key: %v", err)
	}
	t.Log(err)
	return e
}

func wants(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not contain %q: %v", part, err)
		}
	}
}

// settings are those of an environment, without the user's configuration file.
func settings(environ ...string) dial.Settings {
	return dial.Settings{Environ: append([]string{"TEMPORAL_CONFIG_FILE=" + os.DevNull}, environ...)}
}

func write(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "temporal.toml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSettingsAreThoseOfTemporal(t *testing.T) {
	cert, ca := certificate(t)
	plain := serve(t, &frontend{namespace: "agents"})
	secured := serve(t, &frontend{namespace: "agents", refuse: func(authorization string) error {
		if authorization != "Bearer "+key {
			return status.Error(codes.PermissionDenied, "no")
		}
		return nil
	}}, withTLS(&tls.Config{Certificates: []tls.Certificate{cert}}))
	file := write(t, "[profile.work]\naddress = \""+secured+"\"\nnamespace = \"agents\"\napi_key = \""+key+"\"\n[profile.work.tls]\nserver_ca_cert_path = \""+ca+"\"\n")
	for name, s := range map[string]dial.Settings{
		"environment":             settings("TEMPORAL_ADDRESS="+plain, "TEMPORAL_NAMESPACE=agents"),
		"key and authority":       settings("TEMPORAL_ADDRESS="+secured, "TEMPORAL_NAMESPACE=agents", "TEMPORAL_API_KEY="+key, "TEMPORAL_TLS_SERVER_CA_CERT_PATH="+ca),
		"profile of a file":       settings("TEMPORAL_CONFIG_FILE="+file, "TEMPORAL_PROFILE=work"),
		"file and profile":        {File: file, Profile: "work"},
		"environment before file": {File: file, Profile: "work", Environ: []string{"TEMPORAL_ADDRESS=" + plain, "TEMPORAL_TLS=false"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := dial.Dial(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if c.Namespace != "agents" || c.Address != plain && c.Address != secured {
				t.Errorf("connected to %s %s", c.Address, c.Namespace)
			}
		})
	}
}

func TestTheUsersConfigurationFile(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	if dir, err := os.UserConfigDir(); err != nil || dir != home {
		t.Skip("the user's configuration is elsewhere on this system")
	}
	address := serve(t, &frontend{namespace: "agents"})
	if err := os.Mkdir(filepath.Join(home, "temporalio"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "[profile.default]\naddress = \"" + address + "\"\nnamespace = \"agents\"\n"
	if err := os.WriteFile(filepath.Join(home, "temporalio", "temporal.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := dial.Dial(t.Context(), dial.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestSettingsThatCannotBeUsed(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	file := write(t, "[profile.work]\naddress = \"x\"\n[profile.home]\n")
	e := refused(t, dial.BadSettings, dial.Settings{File: missing})
	wants(t, e, missing, "temporal.toml")
	wants(t, refused(t, dial.BadSettings, dial.Settings{File: file, Profile: "wrok"}), "has no profile wrok; it has home, work")
	for _, text := range []string{"[profile.default]\napi_key = " + key, "[profile.default]\naddress = 7\napi_key = \"" + key + "\"", "[profile.default]\napi_key = \"" + key} {
		wants(t, refused(t, dial.BadSettings, dial.Settings{File: write(t, text)}), "is not valid TOML")
	}
	wants(t, refused(t, dial.BadSettings, settings("TEMPORAL_CONFIG_FILE="+file, "TEMPORAL_TLS_CLIENT_CERT_PATH="+missing, "TEMPORAL_TLS_CLIENT_KEY_PATH="+missing)), missing)
	wants(t, refused(t, dial.BadSettings, settings("TEMPORAL_CONFIG_FILE="+file, "TEMPORAL_TLS_CLIENT_CERT_DATA=x", "TEMPORAL_TLS_CLIENT_KEY_DATA="+key)), "TEMPORAL_*")
}

func TestConfigureSeesAndChangesTheOptions(t *testing.T) {
	failed := errors.New("no codec")
	s := settings("TEMPORAL_ADDRESS=127.0.0.1:1", "TEMPORAL_NAMESPACE=n")
	s.Configure = func(o *client.Options) error {
		if o.HostPort != "127.0.0.1:1" || o.Namespace != "n" {
			t.Errorf("the options have %s and %s", o.HostPort, o.Namespace)
		}
		return failed
	}
	if e := refused(t, dial.BadSettings, s); !errors.Is(e, failed) {
		t.Errorf("got %v", e)
	}
}

func TestNoServer(t *testing.T) {
	l := listener(t)
	l.Close()
	address := l.Addr().String()
	wants(t, refused(t, dial.NoServer, settings("TEMPORAL_ADDRESS="+address)), "no Temporal server answers at "+address, "refused", "temporal server start-dev")
	wants(t, refused(t, dial.NoServer, settings("TEMPORAL_ADDRESS=dns:///"+address)), address)
}

func TestWrongTLS(t *testing.T) {
	cert, ca := certificate(t)
	plain := serve(t, &frontend{namespace: "default"})
	secured := serve(t, &frontend{namespace: "default"}, withTLS(&tls.Config{Certificates: []tls.Certificate{cert}}))
	mutual := serve(t, &frontend{namespace: "default"}, withTLS(&tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAnyClientCert}))
	wants(t, refused(t, dial.WrongTLS, settings("TEMPORAL_ADDRESS="+secured)), "the server requires TLS", "TEMPORAL_TLS=true")
	wants(t, refused(t, dial.WrongTLS, settings("TEMPORAL_ADDRESS="+mutual)), "the server requires TLS")
	wants(t, refused(t, dial.WrongTLS, settings("TEMPORAL_ADDRESS="+plain, "TEMPORAL_API_KEY="+key)), "the server does not use TLS", "TEMPORAL_TLS=false")
	wants(t, refused(t, dial.WrongTLS, settings("TEMPORAL_ADDRESS="+secured, "TEMPORAL_TLS=true")), "certificate", "TEMPORAL_TLS_SERVER_CA_CERT_PATH")
	wants(t, refused(t, dial.WrongTLS, settings("TEMPORAL_ADDRESS="+secured, "TEMPORAL_TLS_SERVER_CA_CERT_PATH="+ca, "TEMPORAL_TLS_SERVER_NAME=temporal.test")), "temporal.test", "TEMPORAL_TLS_SERVER_NAME")
	wants(t, refused(t, dial.WrongTLS, settings("TEMPORAL_ADDRESS="+mutual, "TEMPORAL_TLS_SERVER_CA_CERT_PATH="+ca)), "TEMPORAL_TLS_CLIENT_CERT_PATH")
}

func TestRefusedKeys(t *testing.T) {
	for _, code := range []codes.Code{codes.PermissionDenied, codes.Unauthenticated} {
		address := serve(t, &frontend{namespace: "default", refuse: func(authorization string) error {
			return status.Errorf(code, "the key %s has expired", authorization)
		}})
		e := refused(t, dial.RefusedKey, settings("TEMPORAL_ADDRESS="+address, "TEMPORAL_API_KEY="+key, "TEMPORAL_TLS=false"))
		wants(t, e, "refuses access to the namespace default", "[redacted TEMPORAL_API_KEY] has expired", "TEMPORAL_API_KEY")
	}
}

func TestUnknownNamespace(t *testing.T) {
	address := serve(t, &frontend{namespace: "default"})
	wants(t, refused(t, dial.UnknownNamespace, settings("TEMPORAL_ADDRESS="+address, "TEMPORAL_NAMESPACE=my agents")),
		"has no namespace my agents; create it with `temporal operator namespace create --namespace 'my agents'`")
}

func TestOtherServers(t *testing.T) {
	pages := httptest.NewServer(http.NotFoundHandler())
	defer pages.Close()
	securePages := httptest.NewTLSServer(http.NotFoundHandler())
	defer securePages.Close()
	for name, s := range map[string]dial.Settings{
		"gRPC":  settings("TEMPORAL_ADDRESS=" + serve(t, nil)),
		"HTTP":  settings("TEMPORAL_ADDRESS=" + strings.TrimPrefix(pages.URL, "http://")),
		"HTTPS": settings("TEMPORAL_ADDRESS="+strings.TrimPrefix(securePages.URL, "https://"), "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION=true"),
	} {
		t.Run(name, func(t *testing.T) {
			wants(t, refused(t, dial.NotTemporal, s), "is not a Temporal server", "7233")
		})
	}
}

func TestServerTrouble(t *testing.T) {
	address := serve(t, &frontend{namespace: "default", refuse: func(string) error { return status.Error(codes.Internal, "shard is closed") }})
	wants(t, refused(t, dial.ServerTrouble, settings("TEMPORAL_ADDRESS="+address)), "shard is closed")
}

func TestACancelledDialReturnsTheCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user pressed Ctrl-C")
	cancel(why)
	if _, err := dial.Dial(ctx, settings("TEMPORAL_ADDRESS="+serve(t, &frontend{}))); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}
