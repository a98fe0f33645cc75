package payload_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/providers/temporal/payload"
)

func base64Of(t *testing.T, key string) string {
	t.Helper()
	b, err := hex.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// TestKeysHaveSeveralForms reads the same key in each form: each decrypts what the first one encrypts.
func TestKeysHaveSeveralForms(t *testing.T) {
	encoded := base64Of(t, keyB)
	sealed := encode(t, payload.New(payload.Options{Keys: ring(t, "a:"+keyB)}), value([]byte("x")))
	for _, text := range []string{
		"a:" + keyB, "a: " + strings.ToUpper(keyB) + " \r\n", "# keys\n\n  a:" + encoded, "a:" + strings.TrimRight(encoded, "="),
		"a:" + strings.NewReplacer("+", "-", "/", "_").Replace(encoded), "b:" + keyA + "\na:" + encoded + "\n",
	} {
		if err := decodeError(payload.New(payload.Options{Keys: ring(t, text)}), sealed); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	unnamed := encode(t, payload.New(payload.Options{Keys: ring(t, keyB)}), value([]byte("x")))
	if err := decodeError(payload.New(payload.Options{Keys: ring(t, encoded)}), unnamed); err != nil {
		t.Error(err)
	}
	if name := string(unnamed.Metadata["pex-key"]); name != string(unnamed.Metadata["pex-key-check"]) || len(name) != 8 {
		t.Errorf("a key without a name is named %q", name)
	}
}

func TestUnusableKeysAreNotShown(t *testing.T) {
	secret := keyA[:40]
	for _, c := range []struct{ text, want string }{
		{"", "PEX_KEYS: it has no keys; create one with: openssl rand -base64 32"},
		{"# " + secret, "it has no keys"},
		{secret, "PEX_KEYS, line 1: a key is 32 bytes in base64 or hex"},
		{"\na:" + secret, "PEX_KEYS, line 2: a key is 32 bytes"},
		{"a:" + keyA + "0", "a key is 32 bytes"},
		{"a:" + keyA + "00", "a key is 32 bytes"},
		{"a:", "a key is 32 bytes"},
		{":" + keyA, "a name of a key has 1 to 64"},
		{"a b:" + keyA, "a name of a key has 1 to 64"},
		{strings.Repeat("a", 65) + ":" + keyA, "a name of a key has 1 to 64"},
		{"a:" + keyA + "\na:" + keyB, "line 2: there are two keys named a"},
		{"a:" + strings.Repeat("00", 32), "all bytes of the key are equal"},
		{"a:" + base64Of(t, keyB) + "/", "a key is 32 bytes"},
	} {
		_, err := payload.ParseRing("PEX_KEYS", c.text)
		if _, ok := errors.AsType[*payload.KeyError](err); !ok || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

func TestRingsPrintNoKeys(t *testing.T) {
	r := ring(t, "a:"+keyA+"\nb:"+keyB)
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "ring", r, "in", payload.Options{Keys: r})
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "ring", r, "in", payload.Options{Keys: r})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
		text := fmt.Sprintf(verb, r)
		if text != "key a encrypts, 2 in total" {
			t.Errorf("%s prints %s", verb, text)
		}
		fmt.Fprintf(&log, verb, payload.Options{Keys: r})
	}
	var raw []byte
	if _, err := fmt.Sscanf(keyA, "%x", &raw); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{keyA, strings.ToUpper(keyA), fmt.Sprintf("%v", raw)} {
		if strings.Contains(log.String(), s) {
			t.Error("a key is printed")
		}
	}
	if got := (*payload.Ring)(nil).String(); got != "no keys" {
		t.Errorf("no ring prints %q", got)
	}
}

func TestKeysAreReadFromVariablesAndFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte("a:"+keyA+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := func(name string) string { return map[string]string{"PEX_KEYS": keyA}[name] }
	if r, err := payload.RingFromVariable(environ, "PEX_KEYS"); err != nil || r.String() == "" {
		t.Error(err)
	}
	if r, err := payload.RingFromFile(file); err != nil || r.String() != "key a encrypts, 1 in total" {
		t.Error(r, err)
	}
	if _, err := payload.RingFromVariable(environ, "PEX_OTHER"); err == nil || !strings.Contains(err.Error(), "the environment variable PEX_OTHER: it has no keys") {
		t.Error(err)
	}
	if _, err := payload.RingFromFile(file + "x"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}
