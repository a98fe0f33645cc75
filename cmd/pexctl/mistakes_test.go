package main

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
)

// TestMistakes shows what pexctl prints for the mistakes of new users:
// testdata/mistakes/*.txtar. Lines of an archive's comment that start with $ are
// commands, and its file console is their output.
//
// $SERVER is the URL of a model server; the first element of the path selects the
// failure. A file NAME.hex is written as bytes to NAME, a file NAME.repeat as a
// repeated text.
func TestMistakes(t *testing.T) {
	oneGoroutine(t)
	server := httptest.NewServer(http.HandlerFunc(failing))
	defer server.Close()
	goldentest.Each(t, "../../testdata/mistakes/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		home, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		t.Chdir(dir)
		a.Extract(t, ".")
		special(t)
		for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PEX_HOME", "UNSET_KEY", "NO_COLOR"} {
			t.Setenv(name, "") // so that it is restored
			os.Unsetenv(name)
		}
		t.Setenv("TEST_KEY", "k")
		t.Setenv("PATH", "/usr/bin:/bin")
		var console strings.Builder
		for line := range strings.Lines(a.Comment()) {
			command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
			if !ok {
				continue
			}
			words := words(command)
			for i := range words {
				words[i] = strings.ReplaceAll(words[i], "$SERVER", server.URL)
			}
			if words[0] == "export" {
				name, value, _ := strings.Cut(words[1], "=")
				t.Setenv(name, value)
				continue
			}
			exit, out, errs := pexctl(words[1:]...)
			if strings.Contains(out, errs) { // vet prints on both
				errs = ""
			}
			fmt.Fprintf(&console, "$ %s\n%s%s[exit %d]\n", command, out, errs, exit)
		}
		said := strings.NewReplacer(server.URL, "$SERVER", strings.TrimPrefix(server.URL, "http://"), "$SERVER", dir, "$DIR").Replace(console.String())
		t.Chdir(home)
		a.Want(t, "console", volatile.ReplaceAllString(said, "…"))
	})
}

// volatile matches run ids and durations.
var volatile = regexp.MustCompile(`r-[0-9]{8}-?[0-9a-z-]*|\b[0-9.]+(ms|µs|s)\b`)

// words splits a command line; '...' is one word.
func words(line string) (out []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

// special writes the files whose bytes an archive cannot contain.
func special(t *testing.T) {
	t.Helper()
	all, err := filepath.Glob("*.*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		name, kind := strings.TrimSuffix(path, filepath.Ext(path)), filepath.Ext(path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var b []byte
		switch kind {
		case ".hex":
			if b, err = hex.DecodeString(strings.Join(strings.Fields(string(text)), "")); err != nil {
				t.Fatal(err)
			}
		case ".repeat":
			count, line, _ := strings.Cut(string(text), " ")
			n, err := strconv.Atoi(count)
			if err != nil {
				t.Fatal(err)
			}
			b = slices.Repeat([]byte(line), n)
		default:
			continue
		}
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// failing is a model server that fails as the first element of the path selects.
func failing(w http.ResponseWriter, r *http.Request) {
	kind, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	w.Header().Set("Content-Type", "application/json")
	switch kind {
	case "404":
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error": {"message": "The model gpt-99 does not exist", "type": "invalid_request_error", "code": "model_not_found"}}`)
	case "401":
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error": {"message": "Incorrect API key provided", "type": "invalid_request_error", "code": "invalid_api_key"}}`)
	case "429":
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}`)
	case "500":
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"error": {"message": "boom"}}`)
	default:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!DOCTYPE html><html><body>Welcome to nginx!</body></html>")
	}
}
