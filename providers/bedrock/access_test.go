package bedrock_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/bedrock"
)

// from returns an environment with these variables, as pairs of name and value.
func from(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

var keys = []string{"AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY", "a-secret-access-key", "AWS_SESSION_TOKEN", "a-session-token"}

func TestRequestsAreSigned(t *testing.T) {
	env := from(append(keys, "AWS_REGION", "eu-west-1")...)
	text, r := sent(t, defaults(), model.Settings{Model: nova, Env: env, UserAgent: "pex/9"}, question)
	got := r.Header.Get("Authorization")
	if !strings.HasPrefix(got, "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") || !strings.Contains(got, "/eu-west-1/bedrock/aws4_request") {
		t.Fatalf("authorization %q", got)
	}
	if r.Header.Get("X-Amz-Security-Token") != "a-session-token" || r.Header.Get("User-Agent") != "pex/9" {
		t.Errorf("header %v", r.Header)
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		t.Fatal(err)
	}
	replayed, err := http.NewRequest(r.Method, "http://"+r.Host+r.URL.EscapedPath(), strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	_, signed, _ := strings.Cut(got, "SignedHeaders=")
	signed, _, _ = strings.Cut(signed, ",")
	for name := range strings.SplitSeq(signed, ";") {
		if v := r.Header.Get(name); v != "" {
			replayed.Header.Set(name, v)
		}
	}
	sum := sha256.Sum256(text)
	who := aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "a-secret-access-key", SessionToken: "a-session-token"}
	if err := v4.NewSigner().SignHTTP(t.Context(), who, replayed, hex.EncodeToString(sum[:]), "bedrock", "eu-west-1", at); err != nil {
		t.Fatal(err)
	}
	if want := replayed.Header.Get("Authorization"); got != want {
		t.Errorf("signature\n%s\nwant\n%s", got, want)
	}
}

func TestTokenTakesPrecedenceOverKeys(t *testing.T) {
	_, r := sent(t, defaults(), model.Settings{APIKey: "bedrock-api-key", Env: from(keys...)}, question)
	if got := r.Header.Get("Authorization"); got != "Bearer bedrock-api-key" {
		t.Errorf("authorization %q", got)
	}
}

// machine sets up credentials all over the machine that the spec does not mention.
func machine(t *testing.T) {
	t.Helper()
	metadata := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("unexpected request to the metadata service: %s", r.URL.Path)
	}))
	t.Cleanup(metadata.Close)
	for name, value := range map[string]string{
		"AWS_BEARER_TOKEN_BEDROCK": "leaks-token", "AWS_ACCESS_KEY_ID": "leaks-id", "AWS_SECRET_ACCESS_KEY": "leaks-secret",
		"AWS_REGION": "leaks-region", "AWS_EXECUTION_ENV": "leaks-where", "AWS_LAMBDA_FUNCTION_NAME": "leaks-function",
		"_X_AMZN_TRACE_ID": "Root=leaks-trace", "AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata.URL,
		"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": metadata.URL, "AWS_ENDPOINT_URL": metadata.URL,
		"AWS_CONTAINER_CREDENTIALS_FULL_URI": metadata.URL,
	} {
		t.Setenv(name, value)
	}
	files(t, "[default]\naws_access_key_id = leaks-file-id\naws_secret_access_key = leaks-file-secret\n", "[default]\nregion = leaks-file-region\n")
}

// files writes the shared AWS files.
func files(t *testing.T, credentials, config string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"AWS_SHARED_CREDENTIALS_FILE": credentials, "AWS_CONFIG_FILE": config} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(name, path)
	}
}

func TestMachineCredentialsAreNotSent(t *testing.T) {
	machine(t)
	_, r := sent(t, defaults(), model.Settings{}, question)
	if _, signed := r.Header["Authorization"]; signed {
		t.Errorf("authorization %q", r.Header.Get("Authorization"))
	}
	for name, values := range r.Header {
		if strings.Contains(strings.Join(values, " "), "leaks-") || name == "Amz-Sdk-Invocation-Id" {
			t.Errorf("%s: %v", name, values)
		}
	}
}

// requestOf makes one call without a base_url and network access, and returns the request.
func requestOf(t *testing.T, c bedrock.Config, set model.Settings) (*http.Request, error) {
	t.Helper()
	if set.Model == "" {
		set.Model = nova
	}
	var request *http.Request
	m, err := bedrock.New(&c, set, func(s *httpclient.Settings) {
		s.Base = tripper(func(r *http.Request) (*http.Response, error) {
			request = r
			return &http.Response{
				StatusCode: http.StatusOK, Request: r, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(done)),
			}, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Generate(t.Context(), question, nil)
	return request, err
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestMissingCredentialsAreReportedBeforeTheRequest(t *testing.T) {
	machine(t)
	tests := []struct {
		name string
		env  func(string) string
		kind model.ErrorKind
		want string
	}{
		{"no environment", nil, model.AuthError, "AWS_BEARER_TOKEN_BEDROCK"},
		{"half a key", from("AWS_ACCESS_KEY_ID", "x", "AWS_REGION", "eu-west-1"), model.AuthError, "AWS_SECRET_ACCESS_KEY"},
		{"no region", from(keys...), model.BadRequest, "options.region"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := requestOf(t, defaults(), model.Settings{Env: tt.env})
			var e *model.Error
			if r != nil || !errors.As(err, &e) || e.Kind != tt.kind || !strings.Contains(e.Message, tt.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestRegionIsFound(t *testing.T) {
	profile := "arn:aws:bedrock:ap-south-1:1:inference-profile/x"
	tests := []struct {
		name, option, model string
		env                 []string
		want                string
	}{
		{"option", "eu-central-1", profile, []string{"AWS_REGION", "eu-west-1"}, "bedrock-runtime.eu-central-1.amazonaws.com"},
		{"variable", "", profile, []string{"AWS_DEFAULT_REGION", "us-west-2", "AWS_REGION", "eu-west-1"}, "bedrock-runtime.eu-west-1.amazonaws.com"},
		{"other variable", "", nova, []string{"AWS_DEFAULT_REGION", "us-west-2"}, "bedrock-runtime.us-west-2.amazonaws.com"},
		{"model", "", profile, nil, "bedrock-runtime.ap-south-1.amazonaws.com"},
		{"China", "cn-north-1", nova, nil, "bedrock-runtime.cn-north-1.amazonaws.com.cn"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := defaults()
			c.Region = tt.option
			r, err := requestOf(t, c, model.Settings{Model: tt.model, APIKey: "key", Env: from(tt.env...)})
			if err != nil {
				t.Fatal(err)
			}
			if r.URL.Scheme != "https" || r.URL.Host != tt.want {
				t.Errorf("requested %s", r.URL)
			}
		})
	}
}

func TestMachineIsSearchedForCredentialsDefault(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"} {
		t.Setenv(name, "")
	}
	files(
		t, "[work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = secret-of-work\naws_session_token = token-of-work\n",
		"[profile work]\nregion = eu-north-1\n",
	)
	c := defaults()
	c.Credentials, c.Profile = "default", "work"
	r, err := requestOf(t, c, model.Settings{Env: from(keys...)})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Header.Get("Authorization"); !strings.Contains(got, "Credential=AKIDWORK/") || r.URL.Host != "bedrock-runtime.eu-north-1.amazonaws.com" {
		t.Errorf("requested %s, authorization %q", r.URL.Host, got)
	}
	base, _ := refusing(t, http.StatusForbidden, "AccessDeniedException", `{"message":"rejected: secret-of-work, token-of-work, c2VjcmV0LW9mLXdvcms="}`)
	_, err = at(t, base, c, model.Settings{}).Generate(t.Context(), question, nil)
	if err == nil || strings.Contains(err.Error(), "of-work") || strings.Contains(err.Error(), "c2VjcmV0") || !strings.Contains(err.Error(), "[redacted]") {
		t.Errorf("error %v", err)
	}
}

func TestMissingMachineCredentialsAreReported(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	files(t, "", "")
	c := defaults()
	c.Credentials, c.Region = "default", "eu-west-1"
	r, err := requestOf(t, c, model.Settings{})
	var e *model.Error
	if r != nil || !errors.As(err, &e) || e.Kind != model.AuthError || !strings.Contains(e.Message, "no AWS credentials found") {
		t.Errorf("error %v", err)
	}
	c.Profile = "missing"
	_, err = requestOf(t, c, model.Settings{})
	if !errors.As(err, &e) || e.Kind != model.AuthError || !strings.Contains(e.Message, "missing") {
		t.Errorf("error %v", err)
	}
}
