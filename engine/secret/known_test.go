package secret_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/secret"
)

// fakeKey returns a made-up key of n characters. It is assembled at run time, because
// literal keys would trigger secret scanners.
func fakeKey(prefix string, n int) string {
	return prefix + strings.Repeat("aB3dE6fH9jK2mN5pQ8", 20)[:n]
}

func TestKeysOfServicesAreFound(t *testing.T) {
	upper := func(s string) string { return strings.ToUpper(s) }
	for _, tt := range []struct{ name, key string }{
		{"an API key", fakeKey("sk-", 40)},
		{"an API key", "sk-proj-" + strings.Repeat("abcdef", 4)},
		{"an API key", fakeKey("sk-ant-api03-", 80)},
		{"an AWS access key id", upper(fakeKey("AKIA", 16))},
		{"an AWS access key id", upper(fakeKey("ASIA", 16))},
		{"a GitHub token", fakeKey("ghp_", 36)},
		{"a GitHub token", fakeKey("github_pat_", 60)},
		{"a GitLab token", fakeKey("glpat-", 20)},
		{"a Slack token", fakeKey("xoxb-", 30)},
		{"a Google API key", fakeKey("AIza", 35)},
		{"a Hugging Face token", fakeKey("hf_", 34)},
		{"a Groq key", fakeKey("gsk_", 52)},
		{"a Stripe key", fakeKey("sk_live_", 24)},
		{"a SendGrid key", fakeKey("SG.", 22) + "." + fakeKey("", 43)},
		{"a signed token (JWT)", "eyJ" + fakeKey("", 20) + ".eyJ" + fakeKey("", 30) + "." + fakeKey("", 43)},
		{"a private key", "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE"},
		{"a private key", "-----BEGIN " + "PRIVATE KEY-----"},
	} {
		for place, text := range map[string]string{
			"alone": tt.key, "in a sentence": "use " + tt.key + " for it", "in JSON": `{"k":"` + tt.key + `"}`,
			"in JSON within JSON": `{\"log\":\"\n` + tt.key + `\"}`, "in a header": "X-Thing: " + tt.key,
		} {
			seen := secret.FindWellKnown(text)
			if seen.Kind != tt.name || !strings.HasPrefix(text[seen.At:], seen.Text) || !strings.HasPrefix(tt.key, seen.Text) {
				t.Errorf("%s %s: %+v", tt.name, place, seen)
			}
			if seen := secret.InRecord(text, ""); seen.Kind != tt.name {
				t.Errorf("%s %s, recorded: %+v", tt.name, place, seen)
			}
		}
	}
}

func TestKeysAreFoundByContext(t *testing.T) {
	key := fakeKey("", 32)
	for _, text := range []string{
		"Authorization: Bearer " + key, `{\"authorization\": \"bearer ` + key + `\"}`, "authorization=Basic bWU6cGFzc3dvcmQxMjM=",
		"curl -H 'x-api-key: " + key + "'", "OPENAI_API_KEY=" + key, `"api_key": "` + key + `"`,
		"aws_secret_access_key = " + fakeKey("", 40),
	} {
		if secret.InRecord(text, "").Kind == "" {
			t.Errorf("not seen: %s", text)
		}
	}
	for _, name := range []string{"authorization", "Authorization", "x-api-key", "api_key", "client_secret", "access_token", "password"} {
		if secret.InRecord(key, name).Kind == "" || secret.InRecord("Bearer "+key, name).Kind == "" {
			t.Errorf("not seen under %s", name)
		}
	}
	for _, body := range []string{`{"headers":{"Authorization":["Token ` + key + `"]}}`, `{"a":1,"api_key" : "` + key + `"}`, `["` + fakeKey("ghp_", 36) + `"]`} {
		if secret.InJSON([]byte(body)).Kind == "" {
			t.Errorf("not seen: %s", body)
		}
	}
}

// A false positive would reject a recording.
func TestOrdinaryTextsAreNotKeys(t *testing.T) {
	for _, text := range []string{
		"", "sk-learn-compatible-estimators are in scikit-learn", "the task-1234567890abcdef1234 is done", "AKIA", "a bearer of good news, 2024",
		"Authorization: Bearer [redacted OPENAI_API_KEY]", "Authorization: Bearer YOUR_API_KEY_GOES_HERE", "set api_key: ${env.OPENAI_API_KEY}",
		"export OPENAI_API_KEY=...", "pass the bearer token in the Authorization header", "-----BEGIN CERTIFICATE-----", "eyJhbGciOiJIUzI1NiJ9",
		"api_key: your-api-key-of-the-service", "7f8d9a70-5c1e-4a57-9d3b-9e6f1c2a3b4d", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	} {
		if seen := secret.InRecord(text, ""); seen.Kind != "" {
			t.Errorf("%q looks like %+v", text, seen)
		}
	}
	for _, body := range []string{
		`{"next_page_token":"CAUQAA3kF9sLw0Zx8Vb2Nn6Mm","key":"issue-20240101-a7b3c9","input_tokens":12345678901234567890}`,
		`{"etag":"9f86d081884c7d659a2feaa0c55ad015","password":"hunter2"}`,
	} {
		if seen := secret.InJSON([]byte(body)); seen.Kind != "" {
			t.Errorf("%s looks like %+v", body, seen)
		}
	}
}

// Header names in a JSON Schema are not headers.
func TestNamesInASchemaAreNotKeys(t *testing.T) {
	const name = "x-request-signature-v2-sha256"
	for body, want := range map[string]bool{
		`{"properties":{"authorization":{"type":"string"}},"dependentRequired":{"authorization":["` + name + `"]}}`: false,
		`{"dependencies":{"proxy-authorization":["` + name + `"],"x-api-key":{"required":["` + name + `"]}}}`:       false,
		`{"dependentRequired":{"a":["b"]},"authorization":"` + name + `"}`:                                          true,
		`{"x":[{"dependentRequired":{}},{"authorization":["` + name + `"]}]}`:                                       true,
		`{"dependentRequired":"a","authorization":"` + name + `"}`:                                                  true,
		`{"headers":{"authorization":["` + name + `"]}}`:                                                            true,
	} {
		if seen := secret.InJSON([]byte(body)); (seen.Kind != "") != want {
			t.Errorf("%s: %+v", body, seen)
		}
	}
}

func TestLiteralsAreCheckedMoreStrictly(t *testing.T) {
	for _, tt := range []struct {
		name, text, key string
		want            bool
	}{
		{"a generated token", "8sJ2kQ9zLp4Xw7Rv1Tn6Yb3C", "X-Token", true},
		{"the name of a variable", "8sJ2kQ9zLp4Xw7Rv1Tn6Yb3C", "api_key_env", false},
		{"under another name", "8sJ2kQ9zLp4Xw7Rv1Tn6Yb3C", "title", false},
		{"a reference", "${env.TOKEN_8sJ2kQ9zLp4}", "token", false},
		{"a header", "Bearer 9f8e7d6c5b4a39281706f5e4", "Authorization", true},
		{"words", "correct horse battery staple", "password", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if seen := secret.InLiteral(tt.text, tt.key); (seen.Kind != "") != tt.want {
				t.Errorf("%+v", seen)
			}
		})
	}
}

// A digit before a key belongs to the same word, so the rest is not a key.
func TestKeyStartsAWord(t *testing.T) {
	key := "AKIA" + "ABCDEFGHIJKLMNOP"
	for text, want := range map[string]bool{key: true, " " + key: true, "0" + key: false, "9" + key: false, "a" + key: false, "_" + key: false, "-" + key: true} {
		if got := secret.FindWellKnown(text).Kind != ""; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestNilValuesLeaveJSONUnchanged(t *testing.T) {
	var none *secret.Values
	body := []byte(`{"a":"b"}`)
	if clean, found := none.JSON(body); found || string(clean) != string(body) {
		t.Errorf("%s, %v", clean, found)
	}
}
