package http_test

import (
	"encoding/base64"
	"errors"
	nethttp "net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/http"
)

func environment(name string) string {
	return map[string]string{"PEX_KEY": "env-secret-1", "PEX_TEAM": "moss", "PEX_TOKEN": "env-secret-2"}[name]
}

func configFor(url string) http.Config {
	c := defaults()
	c.URL = template(url)
	return c
}

func TestAddresses(t *testing.T) {
	for _, row := range []struct {
		name, url, llm, below, model, want string
	}{
		{"base_url alone", "", "", "/predict", "m", "/predict"},
		{"a path below it", "/models/${args.model}", "", "/v2/", "m", "/v2/models/m"},
		{"a name that would lead elsewhere", "/models/${args.model}/predict?v=1", "", "", "../x?y=1#z&a=b/ü%", "/models/..%2Fx%3Fy%3D1%23z%26a%3Db%2F%C3%BC%25/predict?v=1"},
		{"in the query", "/predict?m=${args.model}&k=2", "", "", "a&b=c d+e", "/predict?m=a%26b%3Dc%20d%2Be&k=2"},
		{"of the environment", "/teams/${env.PEX_TEAM}/predict", "", "", "m", "/teams/moss/predict"},
		{"a default", "/teams/${env.PEX_NONE:-all}", "", "", "m", "/teams/all"},
		{"chat", "", "openai/v1/chat/completions", "/v1", "m", "/v1/chat/completions"},
		{"converse", "", "bedrock/converse/claude", "", "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.x", "/model/arn:aws:bedrock:eu-west-1:1:inference-profile%2Feu.x/converse"},
		{"deepseek", "", "bedrock/converse/deepseek_r1", "", "us.deepseek.r1-v1:0", "/model/us.deepseek.r1-v1:0/converse"},
		{"gemini", "", "gemini/v1beta/generatecontent", "/v1beta", "gemini-2.5-flash", "/v1beta/models/gemini-2.5-flash:generateContent"},
		{"a tuned gemini", "", "gemini/v1beta/generatecontent", "/v1beta", "tunedModels/moss-1", "/v1beta/tunedModels/moss-1:generateContent"},
		{"an interface elsewhere", "/predict", "gemini/v1beta/generatecontent", "/v1beta", "m", "/v1beta/predict"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := configFor(row.url)
			c.RequestBody = value(t, `{"p": "${args.messages}"}`)
			c.LLMInterface, c.ResponseFilter = row.llm, member()
			var request *nethttp.Request
			base := answering(t, `"x"`, func(r *nethttp.Request) { request = r })
			// Not every interface understands this answer; where it was asked is what counts.
			_, _ = at(t, base+row.below, c, model.Settings{Model: row.model, Env: environment}).Generate(t.Context(), question, nil)
			if request == nil || request.URL.RequestURI() != row.want || request.Method != "POST" {
				t.Errorf("requested %s %s, want %s", request.Method, request.URL.RequestURI(), row.want)
			}
		})
	}
}

// answering starts a server that returns a JSON body to every request and passes the request to see.
func answering(t testing.TB, body string, see func(*nethttp.Request)) string {
	t.Helper()
	base, _ := servingWith(t, nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		see(r)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}))
	return base
}

func TestMethodsWithAndWithoutBody(t *testing.T) {
	c := configFor("/ask?q=${args.prompt}")
	c.Method = "GET"
	request, body := sent(t, c, model.Settings{}, question)
	if request.Method != "GET" || request.URL.RawQuery != "q=How%20many%3F" || body != nil || request.ContentLength > 0 {
		t.Errorf("%s %s, body %v", request.Method, request.URL, body)
	}
	c = configFor("/ask")
	c.Method, c.RequestBody = "PUT", value(t, `{"p": "${args.prompt}"}`)
	if request, body := sent(t, c, model.Settings{}, question); request.Method != "PUT" || body["p"] != "How many?" {
		t.Errorf("%s, body %v", request.Method, body)
	}
}

func TestKeysAndHeaders(t *testing.T) {
	for _, row := range []struct {
		name, auth, key string
		want            map[string]string
	}{
		{"no key", "", "", map[string]string{}},
		{"a key", "", "sk-1234", map[string]string{"Authorization": "Bearer sk-1234"}},
		{"a token", "bearer", "sk-1234", map[string]string{"Authorization": "Bearer sk-1234"}},
		{"a password", "basic", "me:sk-1234", map[string]string{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("me:sk-1234"))}},
		{"a key that is not sent", "none", "sk-1234", map[string]string{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := configFor("/ask")
			c.Auth, c.RequestBody = row.auth, value(t, `{"p": "${args.prompt}"}`)
			c.Headers = map[string]component.Template{
				"X-Api-Key": template("v1-${env.PEX_KEY}"), "X-Team": template("${env.PEX_TEAM}"), "X-None": template("${env.PEX_NONE}"),
			}
			row.want["X-Api-Key"], row.want["X-Team"], row.want["Idempotency-Key"] = "v1-env-secret-1", "moss", "run-1/plan.1"
			row.want["Content-Type"], row.want["User-Agent"] = "application/json", "pex/9"
			req := *question
			req.Key = "run-1/plan.1"
			request, _ := sent(t, c, model.Settings{APIKey: row.key, Env: environment, UserAgent: "pex/9"}, &req)
			got := map[string]string{}
			for _, name := range []string{"Authorization", "X-Api-Key", "X-Team", "X-None", "Idempotency-Key", "Content-Type", "User-Agent"} {
				if v, ok := request.Header[name]; ok {
					got[name] = strings.Join(v, ",")
				}
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSecretsAreNeverShown(t *testing.T) {
	const all = "env-secret-1 env-secret-2 v1-env-secret-1 sk-1234 bmV2ZXI6c2stMTIzNA=="
	base, _ := serving(t, 403, "application/json", []byte(`{"error": "`+all+` is not allowed"}`))
	c := configFor(base + "/ask?key=${env.PEX_TOKEN}")
	c.Auth, c.RequestBody = "basic", value(t, `{"p": "${args.prompt}", "t": "${env.PEX_TOKEN}"}`)
	c.Headers = map[string]component.Template{"X-Signed": template("by ${env.PEX_KEY}"), "Cookie": template("v1-env-secret-1")}
	_, err := at(t, "", c, model.Settings{APIKey: "never:sk-1234", Env: environment}).Generate(t.Context(), question, nil)
	if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sk-1234") || strings.Contains(err.Error(), "bmV2") {
		t.Errorf("error %v", err)
	}
	// Nobody listens at the address: its words must not show the key either.
	c.URL = template("http://127.0.0.1:1/ask?key=${env.PEX_TOKEN}")
	_, err = at(t, "", c, model.Settings{APIKey: "never:sk-1234", Env: environment}).Generate(t.Context(), question, nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.NetworkError || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}

func TestMissingSettingsAreReportedBeforeTheRequest(t *testing.T) {
	for _, row := range []struct {
		name string
		c    func() http.Config
		kind model.ErrorKind
		want string
	}{
		{"a key", func() http.Config { c := of("openai/v1/chat/completions"); c.Auth = "bearer"; return c }, model.AuthError, "api_key_env"},
		{"a variable of the address", func() http.Config {
			c := of("openai/v1/chat/completions")
			c.URL = template("${env.PEX_HOST}/v1")
			return c
		}, model.BadRequest, "options.url uses variables that are not set in the environment: PEX_HOST"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := at(t, "http://127.0.0.1:1", row.c(), model.Settings{Env: environment}).Generate(t.Context(), question, nil)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != row.kind || !strings.Contains(e.Message, row.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestUnsetVariablesAreNamedInErrors(t *testing.T) {
	base, _ := serving(t, 401, "application/json", []byte(`{"message": "who are you?"}`))
	c := of("gemini/v1beta/generatecontent")
	c.Headers = map[string]component.Template{"x-goog-api-key": template("${env.PEX_GEMINI_KEY}")}
	_, err := at(t, base, c, model.Settings{Model: "m", Env: environment}).Generate(t.Context(), question, nil)
	if err == nil || !strings.Contains(err.Error(), "who are you? (not set in the environment: PEX_GEMINI_KEY)") {
		t.Errorf("error %v", err)
	}
}

func TestInvalidOptions(t *testing.T) {
	const ask = `{"p": "${args.prompt}"}`
	for _, row := range []struct {
		name, base, want string
		c                func(*http.Config)
	}{
		{"no address", "", "has no URL", func(c *http.Config) { c.LLMInterface = "bedrock/converse/claude" }},
		{"half an address", "", "has no URL", func(c *http.Config) { c.URL = template("/ask") }},
		{"not a URL", "", "not an http or https URL", func(c *http.Config) { c.URL, c.RequestBody = template("host/ask"), value(t, ask) }},
		{"another scheme", "ftp://host", "not an http or https URL", func(c *http.Config) { c.RequestBody = value(t, ask) }},
		{"nothing to send", "http://host", "neither request_body nor llm_interface is set", func(*http.Config) {}},
		{"a body of GET", "http://host", "method GET has no body", func(c *http.Config) { c.Method, c.RequestBody = "GET", value(t, ask) }},
		{"GET without prompt", "http://host/ask", "would receive no prompt", func(c *http.Config) { c.Method = "GET" }},
		{"an unknown name in the address", "http://host", "unknown reference ${args.modell}", func(c *http.Config) { c.URL, c.RequestBody = template("/${args.modell}"), value(t, ask) }},
		{"an unknown interface", "http://host", `unknown llm_interface "gpt"`, func(c *http.Config) { c.LLMInterface = "gpt" }},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := defaults()
			row.c(&c)
			_, err := http.Build(&c, model.Settings{BaseURL: row.base})
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}
