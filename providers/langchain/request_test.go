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

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/langchain"
)

// good are replies by backend.
var good = map[string]string{
	"ernie": `{"result":"x"}`,
}

func ask(texts ...string) *model.Request {
	return &model.Request{Messages: []model.Message{{Role: model.User, Text: texts}}}
}

// requestOf makes a call and returns the request that the server received, as text.
func requestOf(t *testing.T, c langchain.Config, set model.Settings, req *model.Request) string {
	t.Helper()
	var request strings.Builder
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		r.Header.Del("Content-Length")
		r.Header.Del("Accept-Encoding")
		fmt.Fprintf(&request, "%s %s\n", r.Method, r.URL.RequestURI())
		_ = r.Header.Write(&request)
		var body bytes.Buffer
		if err := json.Indent(&body, raw, "", "  "); err != nil {
			t.Errorf("%v: %s", err, raw)
		}
		request.WriteString("\n" + body.String() + "\n")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, good[c.Backend])
	}))
	defer s.Close()
	if _, err := at(t, s.URL+"/root/", c, set).Generate(t.Context(), req, nil); err != nil {
		t.Error(err)
	}
	return strings.ReplaceAll(request.String(), "\r\n", "\n")
}

func everything() *model.Request {
	zero, p, seed := 0.0, 0.5, int64(7)
	req := &model.Request{
		Key: "run-1/plan.1",
		Messages: []model.Message{
			{Role: model.System, Text: model.Text{"Be ", "brief."}},
			{Role: model.User, Text: model.Text{"Moss & fern: <\"which\">?"}},
			{Role: model.Assistant, Text: model.Text{"I look."}, Calls: []model.ToolCall{
				{ID: "c1", Name: "find", Args: json.RawMessage(`{"q":"moss"}`)}, {ID: "c2", Name: "find", Args: json.RawMessage(`{"q":"fern"}`)},
			}},
			{Role: model.ToolRole, CallID: "c1", Tool: "find", Text: model.Text{"green"}},
			{Role: model.ToolRole, CallID: "c2", Tool: "find", IsError: true, Text: model.Text{"no net"}},
			{Role: model.User, Text: model.Text{"And?"}},
		},
		Params: model.Params{Model: "org/a model", Temperature: &zero, TopP: &p, Seed: &seed, MaxOutputTokens: 99, Stop: []string{"END", "\nUser:"}},
	}
	return req
}

func TestRequests(t *testing.T) {
	set := model.Settings{Model: "m", APIKey: "k/e+y", UserAgent: "pexctl/1", Env: func(string) string { return " v " }}
	for backend := range good {
		t.Run(backend, func(t *testing.T) {
			c := of(backend)
			c.Headers = map[string]component.Template{"X-Team": {Text: "moss"}}
			c.ExtraBody = map[string]any{"extra": []any{1, "x"}}
			goldentest.File(t, "request/"+backend+".txt", requestOf(t, c, set, everything()))
		})
	}
}

func TestUnsetParametersAreNotSent(t *testing.T) {
	for backend := range good {
		t.Run(backend, func(t *testing.T) {
			goldentest.File(t, "request/"+backend+"_least.txt", requestOf(t, of(backend), model.Settings{Model: "m", APIKey: "k"}, ask("How many?")))
		})
	}
}

func TestStructuredOutputNoneOmitsSchema(t *testing.T) {
	c := of("ernie")
	c.StructuredOutput = "none"
	req := ask("How many?")
	req.Schema = &model.ReplySchema{Name: "plan", Schema: json.RawMessage(`{"type":"object"}`)}
	if got := requestOf(t, c, model.Settings{Model: "m", APIKey: "k"}, req); strings.Contains(got, "JSON Schema") {
		t.Error(got)
	}
}

func TestLangchaingoModelNames(t *testing.T) {
	for m, path := range map[string]string{"ERNIE-Bot": "/completions?", "ERNIE-Bot-turbo": "/eb-instant?", "ernie-4.0-turbo-8k": "/ernie-4.0-turbo-8k?"} {
		if got := requestOf(t, of("ernie"), model.Settings{Model: m, APIKey: "k"}, ask("How many?")); !strings.Contains(got, path) {
			t.Errorf("%s: request %s", m, got)
		}
	}
}

// Keys and addresses for langchaingo in the environment are ignored.
func TestMachineEnvironmentIsNotUsed(t *testing.T) {
	for _, name := range []string{"ERNIE_API_KEY", "ERNIE_SECRET_KEY", "ERNIE_ACCESS_TOKEN"} {
		t.Setenv(name, "canary-of-the-environment")
	}
	for backend := range good {
		t.Run(backend, func(t *testing.T) {
			c := of(backend)
			c.Headers = map[string]component.Template{"X-Team": {Text: "moss"}} // a header can replace the key
			got := requestOf(t, c, model.Settings{Model: "m"}, ask("How many?"))
			if strings.Contains(got, "canary") || strings.Contains(got, "Authorization") || strings.Contains(got, "access_token") || strings.Contains(got, "unused") {
				t.Error(got)
			}
		})
	}
}
