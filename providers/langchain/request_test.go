package langchain_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/internal/golden"
	"github.com/pexctl/pex/providers/langchain"
)

// good are answers of the backends.
var good = map[string]string{
	"ernie": `{"result":"x"}`,
}

func ask(texts ...string) *engine.Request {
	return &engine.Request{Messages: []engine.Message{{Role: engine.User, Text: texts}}}
}

// asked makes a call and gives the request that the server saw, as text.
func asked(t *testing.T, c langchain.Config, set engine.ModelSettings, req *engine.Request) string {
	t.Helper()
	var saw strings.Builder
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		r.Header.Del("Content-Length")
		r.Header.Del("Accept-Encoding")
		fmt.Fprintf(&saw, "%s %s\n", r.Method, r.URL.RequestURI())
		_ = r.Header.Write(&saw)
		var body bytes.Buffer
		if err := json.Indent(&body, raw, "", "  "); err != nil {
			t.Errorf("%v: %s", err, raw)
		}
		saw.WriteString("\n" + body.String() + "\n")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, good[c.Backend])
	}))
	defer s.Close()
	if _, err := at(t, s.URL+"/root/", c, set).Generate(t.Context(), req, nil); err != nil {
		t.Error(err)
	}
	return strings.ReplaceAll(saw.String(), "\r\n", "\n")
}

func everything() *engine.Request {
	zero, p, seed := 0.0, 0.5, int64(7)
	req := &engine.Request{
		Key: "run-1/plan.1",
		Messages: []engine.Message{
			{Role: engine.System, Text: engine.Text{"Be ", "brief."}},
			{Role: engine.User, Text: engine.Text{"Moss & fern: <\"which\">?"}},
			{Role: engine.Assistant, Text: engine.Text{"I look."}, Calls: []engine.ToolCall{
				{ID: "c1", Name: "find", Args: json.RawMessage(`{"q":"moss"}`)}, {ID: "c2", Name: "find", Args: json.RawMessage(`{"q":"fern"}`)},
			}},
			{Role: engine.ToolRole, CallID: "c1", Tool: "find", Text: engine.Text{"green"}},
			{Role: engine.ToolRole, CallID: "c2", Tool: "find", IsError: true, Text: engine.Text{"no net"}},
			{Role: engine.User, Text: engine.Text{"And?"}},
		},
		Params: engine.Params{Model: "org/a model", Temperature: &zero, TopP: &p, Seed: &seed, MaxOutputTokens: 99, Stop: []string{"END", "\nUser:"}},
	}
	return req
}

func TestRequests(t *testing.T) {
	set := engine.ModelSettings{Model: "m", APIKey: "k/e+y", UserAgent: "pexctl/1", Env: func(string) string { return " v " }}
	for backend := range good {
		t.Run(backend, func(t *testing.T) {
			c := of(backend)
			c.Headers = map[string]component.Template{"X-Team": {Text: "moss"}}
			c.ExtraBody = map[string]any{"extra": []any{1, "x"}}
			golden.File(t, "request/"+backend+".txt", asked(t, c, set, everything()))
		})
	}
}

func TestNothingIsSentThatIsNotSet(t *testing.T) {
	for backend := range good {
		t.Run(backend, func(t *testing.T) {
			golden.File(t, "request/"+backend+"_least.txt", asked(t, of(backend), engine.ModelSettings{Model: "m", APIKey: "k"}, ask("How many?")))
		})
	}
}

func TestSchemaIsNotAskedForWhereTheSpecSaysSo(t *testing.T) {
	c := of("ernie")
	c.StructuredOutput = "none"
	req := ask("How many?")
	req.Schema = &engine.ReplySchema{Name: "plan", Schema: json.RawMessage(`{"type":"object"}`)}
	if got := asked(t, c, engine.ModelSettings{Model: "m", APIKey: "k"}, req); strings.Contains(got, "JSON Schema") {
		t.Error(got)
	}
}

func TestModelNamesOfLangchaingoAreKnown(t *testing.T) {
	for model, path := range map[string]string{"ERNIE-Bot": "/completions?", "ERNIE-Bot-turbo": "/eb-instant?", "ernie-4.0-turbo-8k": "/ernie-4.0-turbo-8k?"} {
		if got := asked(t, of("ernie"), engine.ModelSettings{Model: model, APIKey: "k"}, ask("How many?")); !strings.Contains(got, path) {
			t.Errorf("%s is asked as %s", model, got)
		}
	}
}

// Whatever the machine says of langchaingo's keys and addresses is no matter.
func TestEnvironmentIsLeftAlone(t *testing.T) {
	for _, name := range []string{"ERNIE_API_KEY", "ERNIE_SECRET_KEY", "ERNIE_ACCESS_TOKEN"} {
		t.Setenv(name, "canary-of-the-environment")
	}
	for backend := range good {
		t.Run(backend, func(t *testing.T) {
			c := of(backend)
			c.Headers = map[string]component.Template{"X-Team": {Text: "moss"}} // another way in than a key
			got := asked(t, c, engine.ModelSettings{Model: "m"}, ask("How many?"))
			if strings.Contains(got, "canary") || strings.Contains(got, "Authorization") || strings.Contains(got, "access_token") || strings.Contains(got, "unused") {
				t.Error(got)
			}
		})
	}
}
