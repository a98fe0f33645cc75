//go:build unix

package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// Made-up secrets by environment variable, with characters that encodings change.
var canaries = map[string]string{
	"CANARY_KEY":            `sk-c4nary/K3y+<&>=Zz9Q`,
	"CANARY_ROUTE":          `r0ute/c4nary+<&>%q8W`,
	"CANARY_PASSWORD":       `pa55/c4nary+<&>w0rd?`,
	"CANARY_QUERY":          `qu3ry/c4nary+<&>=#`,
	"CANARY_TOOL":           `t00l "c4nary" \ é<&>/`,
	"AWS_ACCESS_KEY_ID":     `AKIAc4naryOFNOBODY00`,
	"AWS_SECRET_ACCESS_KEY": `aws/c4nary+<&>secretKEY`,
	"AWS_SESSION_TOKEN":     `s3ss10n/c4nary+<&>==`,
}

var escape = regexp.MustCompile(`%[0-9A-F]{2}`)

// spoken returns the encoded forms of a value, by name. It is independent of the
// code that finds secrets.
func spoken(value string) map[string]string {
	inJSON := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b[1 : len(b)-1])
	}
	plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(inJSON(value))
	query := url.QueryEscape(value)
	out := map[string]string{
		"raw": value, "hex": hex.EncodeToString([]byte(value)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(value))),
		"JSON": plain, "JSON for HTML": inJSON(value), "JSON in JSON": inJSON(plain), "HTML": html.EscapeString(value),
		"query": query, "path": url.PathEscape(value), "query without plus": strings.ReplaceAll(query, "+", "%20"),
		"query in lower case": escape.ReplaceAllStringFunc(query, strings.ToLower),
	}
	for name, e := range map[string]*base64.Encoding{"base64": base64.StdEncoding, "base64 of URLs": base64.URLEncoding} {
		for shift, before := range []string{"", "x", "me", "me:"} {
			all := e.EncodeToString([]byte(before + value))
			first := (shift*8 + 5) / 6
			out[name+" behind "+before] = strings.TrimRight(all, "=")[first : (len(before)+len(value))*8/6]
		}
	}
	return out
}

// nothingOf checks that a text contains no canary in any form, and neither does
// any file below a folder.
func nothingOf(t *testing.T, where, text string) {
	t.Helper()
	for name, value := range canaries {
		for form, s := range spoken(value) {
			if i := strings.Index(text, s); i >= 0 {
				t.Errorf("%s holds %s (%s): %q", where, name, form, text[max(0, i-60):min(len(text), i+len(s)+20)])
				break
			}
		}
	}
}

// cage is a project with its home, and a server that repeats secrets.
type cage struct {
	t      *testing.T
	dir    string
	server *parrot
	files  int // number of searched files
}

func newCage(t *testing.T) *cage {
	t.Helper()
	var says strings.Builder
	for name, value := range canaries {
		t.Setenv(name, value)
		for _, s := range spoken(value) {
			says.WriteString(s + " ")
		}
		says.WriteString(base64.StdEncoding.EncodeToString([]byte("me:"+value)) + "\n")
	}
	c := &cage{t: t, dir: t.TempDir(), server: newParrot(t, says.String(), canaries["CANARY_KEY"])}
	base := strings.Replace(c.server.URL, "://", "://me:"+url.PathEscape(canaries["CANARY_PASSWORD"])+"@", 1)
	t.Setenv("CANARY_BASE", base)
	t.Setenv("PEX_HOME", filepath.Join(c.dir, "home"))
	t.Setenv("CI", "") // so that golden files and cassettes are written
	t.Chdir(c.dir)
	return c
}

func (c *cage) write(name, text string) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// do runs a command, and checks its output for canaries.
func (c *cage) do(args ...string) (exit int, out string) {
	c.t.Helper()
	exit, out, errs := pexctl(args...)
	nothingOf(c.t, "stdout of "+strings.Join(args, " "), out)
	nothingOf(c.t, "stderr of "+strings.Join(args, " "), errs)
	return exit, out + errs
}

// look checks the content and names of all files for canaries.
func (c *cage) look() {
	c.t.Helper()
	c.files = 0
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		c.files++
		nothingOf(c.t, path, path+"\n"+string(b))
		switch filepath.Ext(path) {
		case ".events":
			nothingOf(c.t, "the stream of "+path, streamed(b))
		case ".trace":
			nothingOf(c.t, "the streams of "+path, traced(b))
		}
		return err
	})
	if err != nil || c.files == 0 {
		c.t.Fatal("files:", c.files, err)
	}
}

// streamed joins the deltas in a file of events.
func streamed(events []byte) string {
	var out strings.Builder
	for line := range strings.Lines(string(events)) {
		var e struct{ Type, Text string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Type == "model.delta" {
			out.WriteString(e.Text)
		}
	}
	return out.String()
}

// pieceOf matches a piece of text in an event of a trace.
var pieceOf = regexp.MustCompile(`"(?:text|content|partial_json)":("(?:[^"\\]|\\.)*")`)

// traced joins the pieces of all streams in a trace.
func traced(trace []byte) string {
	var out strings.Builder
	for line := range strings.Lines(string(trace)) {
		if _, data, ok := strings.Cut(line, " < data: "); ok {
			for _, m := range pieceOf.FindAllStringSubmatch(data, -1) {
				var piece string
				_ = json.Unmarshal([]byte(m[1]), &piece)
				out.WriteString(piece)
			}
		}
	}
	return out.String()
}

// models are the providers that use HTTP.
var models = map[string]string{
	"openai":       `provider: openai, model: m, base_url: "${env.CANARY_BASE}/v1", options: {headers: {X-Route: "${env.CANARY_ROUTE}"}}`,
	"azure_openai": `provider: azure_openai, model: m, base_url: "${env.CANARY_BASE}", options: {headers: {X-Route: "${env.CANARY_ROUTE}"}}`,
	"mistral":      `provider: mistral, model: m, base_url: "${env.CANARY_BASE}/v1", options: {headers: {X-Route: "${env.CANARY_ROUTE}"}}`,
	"ollama":       `provider: ollama, model: m, base_url: "${env.CANARY_BASE}/v1", options: {headers: {X-Route: "${env.CANARY_ROUTE}"}}`,
	"anthropic":    `provider: anthropic, model: m, base_url: "${env.CANARY_BASE}", options: {headers: {X-Route: "${env.CANARY_ROUTE}"}}`,
	"googleai":     `provider: googleai, model: m, base_url: "${env.CANARY_BASE}", options: {headers: {X-Route: "${env.CANARY_ROUTE}"}}`,
	"bedrock":      `provider: bedrock, model: m, base_url: "${env.CANARY_BASE}", options: {region: eu-west-1}`,
	"http":         `provider: http, model: m, base_url: "${env.CANARY_BASE}", options: {url: "/chat/completions?key=${env.CANARY_QUERY}", llm_interface: openai/v1/chat/completions, headers: {X-Route: "${env.CANARY_ROUTE}"}}`,
}

func canarySpec(llm, retry string) string {
	return `apiVersion: pex/v1
kind: Agent
metadata: {name: canary}
llms:
  main: {` + llm + `, timeout: 10s` + retry + `}
tools:
  tell:
    type: command
    effect: read
    argv: [sh, -c, 'printf "%s and %s" "$1" "$TOLD"; [ -z "$TOLD" ] || echo "$TOLD" >&2; exit ${BAD:-0}', tell, "${args.said}"]
    env: {TOLD: "${env.CANARY_TOOL}", OTHERS: "${env.CANARY_QUERY} ${env.CANARY_KEY} ${env.CANARY_ROUTE}"}
tests:
  - name: tells
    parameters: {question: Who are you}
    run: {cassette: tells.jsonl}
    expect: [trace.model_calls == 4]
`
}

const canarySuite = `apiVersion: pex/v1
kind: Suite
metadata: {name: canaries}
spec: spec.yaml
dataset: cases.jsonl
llms: {judge: {provider: openai, model: m, base_url: "${env.CANARY_BASE}/v1", api_key_env: CANARY_KEY, timeout: 5s, retry: {max_attempts: 1}}}
judge: {llm: judge, rubric: is it an answer}
checks:
  - {type: contains, value: "nothing of it"}
  - {type: equals, value: "an answer"}
  - {type: rubric}
  - {type: command, argv: [sh, -c, "cat; cat >&2; exit 1"]}
`

// retryOnce makes calls fail without retries.
const retryOnce = ", retry: {max_attempts: 1}"

// A server that knows the keys repeats them in every possible way, and no output
// contains them. With -short only one provider of each library is tested.
func TestServerSecretsAreNeitherShownNorStored(t *testing.T) {
	for name, llm := range models {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "openai" && name != "bedrock" {
				t.Skip("its HTTP client is that of openai: left to the runs without -short")
			}
			c := newCage(t)
			if name != "bedrock" {
				llm += ", api_key_env: CANARY_KEY"
			}
			c.write("spec.yaml", canarySpec(llm, retryOnce))
			c.answersWell(name)
			failures := []string{"400", "401", "404", "429", "500", "529", "text", "redirect", "type", "garbage", "broken stream"}
			if sharesOpenAI := slices.Contains([]string{"azure_openai", "mistral", "ollama"}, name); sharesOpenAI || testing.Short() {
				failures = []string{"500", "broken stream"}
			}
			for i, how := range failures {
				c.server.answers(how)
				args := [][]string{{"-o", "json"}, {"--no-stream"}}[i%2]
				id := "fails-" + strings.ReplaceAll(how, " ", "-")
				trace := id + ".trace"
				exit, said := c.do(append([]string{"run", "spec.yaml", "Who are you", "--run-id", id, "--events", id + ".events", "--record", id + ".cassette", "--debug-file", trace}, args...)...)
				if text, err := os.ReadFile(trace); err != nil || !strings.Contains(string(text), "#1 = ") {
					t.Errorf("%s: no trace of an exchange: %v\n%s", how, err, text)
				}
				if exit == 0 && how != "type" && how != "garbage" {
					t.Errorf("%s: it was answered: %s", how, said)
				}
				c.do("runs", "show", id)
			}
			c.do("resume", "fails-500", "-o", "json")
			c.look()
		})
	}
}

// answersWell runs a spec with all features, and checks every command about the
// run.
func (c *cage) answersWell(provider string) {
	t := c.t
	t.Helper()
	stream := []string{}
	if provider == "bedrock" { // the server does not support its streams
		stream = []string{"--no-stream"}
	}
	for _, id := range []string{"a", "b"} {
		c.server.answers("")
		args := append([]string{"run", "spec.yaml", "Who are you", "--run-id", id, "--memory-id", "m", "--events", id + ".events", "--record", id + ".cassette", "-o", "json", "--include", "conversation", "--debug-file", id + ".trace"}, stream...)
		if exit, said := c.do(args...); exit != 0 || !strings.Contains(said, "[redacted CANARY_TOOL]") || !strings.Contains(said, "The answer is ") {
			t.Fatalf("run %s: exit %d: %s", id, exit, said)
		}
	}
	for name, value := range canaries {
		sent := strings.HasPrefix(name, "AWS_") == (provider == "bedrock") && name != "CANARY_TOOL" && name != "AWS_SECRET_ACCESS_KEY"
		switch {
		case name == "CANARY_PASSWORD", name == "CANARY_QUERY": // not used by every provider
		case sent && !c.server.received(value):
			t.Errorf("%s was not sent to anybody: the test tests nothing", name)
		}
	}
	c.server.answers("")
	c.do(append([]string{"run", "spec.yaml", "Who are you", "--run-id", "c", "--debug"}, stream...)...)
	c.do("runs", "show", "a")
	c.do("runs", "show", "a", "-o", "json")
	c.do("runs", "show", "a", "--conversation")
	c.do("runs", "ls")
	c.do("runs", "diff", "a", "b")
	c.do("runs", "export", "a", "--to", "export.jsonl")
	c.do("memory", "show", "m")
	if provider != "openai" && provider != "bedrock" { // the rest does not depend on the provider
		return
	}
	if exit, said := c.do("run", "spec.yaml", "Who are you", "--replay", "all", "--from", "a.cassette", "--run-id", "again", "-q"); exit != 0 {
		t.Errorf("replay: exit %d: %s", exit, said)
	}
	c.server.answers("")
	if exit, said := c.do("test", ".", "--record", "all"); exit != 0 {
		t.Errorf("test: exit %d: %s", exit, said)
	}
	c.server.answers("")
	c.write("cases.jsonl", `{"id":"one","question":"Who are you"}`+"\n"+`{"id":"two","question":"Who else"}`+"\n")
	c.write("suite.yaml", canarySuite)
	exit, said := c.do("eval", "suite.yaml", "--id", "e", "-j", "1", "--json", "e.json", "--jsonl", "e.jsonl", "--csv", "e.csv", "--markdown", "e.md", "--junit", "e.xml", "--html", "e.html")
	if exit == ui.ExitUsage || exit == ui.ExitOK {
		t.Errorf("eval: exit %d: %s", exit, said)
	}
	c.do("eval", "show", "e")
	c.do("eval", "show", "e", "--case", "one", "--conversation")
	c.server.answers("401")
	c.do("eval", "score", "suite.yaml", "--id", "e")
	c.do("models", "ping", "spec.yaml")
	c.server.answers("")
	c.do("models", "ping", "spec.yaml", "-o", "json", "--debug")
	c.server.answers("401")
	c.do("eval", "suite.yaml", "--id", "f", "-j", "1", "-o", "json", "--html", "f.html", "--debug")
	c.do("eval", "show", "f", "--case", "one")
	c.do("models", "ls", "spec.yaml", "-o", "json")
	c.do("memory", "export", "--to", "memory.jsonl")
	if exit, said := c.do("store", "backup", "backup.tar"); exit != 0 {
		t.Errorf("backup: exit %d: %s", exit, said)
	}
}
