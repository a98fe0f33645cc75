package secret_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/secret"
)

func TestPlainValuesAreNotSecret(t *testing.T) {
	for _, tt := range []struct {
		name, variable, value string
		plain                 bool
	}{
		{"a region", "AWS_REGION", "eu-central-1", true},
		{"a stage", "STAGE", "production", true},
		{"a model", "MODEL", "gpt-4o-mini", true},
		{"a host", "DB_HOST", "db-1.internal.example.com:5432", true},
		{"a date", "API_VERSION", "2024-10-21", true},
		{"an address", "GATEWAY", "https://gateway.example.com:8443/v1", true},
		{"an address with a version", "GATEWAY", "https://gateway.example.com/v1?api-version=2024-10-21", true},
		{"a folder", "DATA", "/var/lib/x7f3a9c2b1d4", true},
		{"an address of a generated host", "GATEWAY", "https://contoso-8f3a2c1d.openai.azure.com", true},
		{"a mailbox", "SUPPORT", "help.desk@example.com", true},
		{"a day", "DAY", "20241021", true},
		{"a number to call", "PHONE", "+49 30 1234567", true},
		{"an ARN", "ROLE", "arn:aws:iam::123456789012:role/reader", true},
		{"a language", "LANGUAGE", "JavaScript", true},
		{"a company", "COMPANY", "Müller & Söhne", true},
		{"a sentence", "GREETING", "Hello, dear customer!", true},
		{"hours", "WHEN", "0 5 * * *", true},
		{"who wrote it", "GIT_AUTHOR_NAME", "Jane Smith", true},
		{"words to look for", "KEYWORDS", "elections", true},
		{"the key of who wrote it", "AUTHOR_KEY", "eu-central-1", false},
		{"an authorization", "AUTHORIZATION", "eu-central-1", false},
		{"a password of words by another name", "MYSQL_PWD", "correct-horse", false},
		{"a generated mailbox", "LOGIN", "x7f3a9c2b1d4@example.com", false},
		{"letters of all sizes", "THING", "xKqZpLmNaBcD", false},
		{"a region with the name of a key", "REGION_KEY", "eu-central-1", false},
		{"a password of words in the variable of one", "DB_PASSWORD", "correct-horse", false},
		{"a generated text", "THING", "x7f3a9c2b1d4", false},
		{"a password", "LOGIN", "p@ssword", false},
		{"a known form", "THING", "sk-proj-" + strings.Repeat("abcdef", 4), false},
		{"an address with a password", "GATEWAY", "https://me:letmein@gateway.example.com", false},
		{"an address with a token for a user", "GATEWAY", "https://x7f3a9c2b1d4@gateway.example.com", false},
		{"an address with a key", "GATEWAY", "https://gateway.example.com/?k=x7f3a9c2b1d4", false},
		{"a hook", "HOOK", "https://hooks.example.com/services/T01ABCDEF/x7f3a9c2b1d4", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := secret.Plain(tt.variable, tt.value); got != tt.plain {
				t.Errorf("%s=%s: plain is %v", tt.variable, tt.value, got)
			}
		})
	}
}

// A server may echo a part of a value.
func TestPartsOfAValueAreSecret(t *testing.T) {
	const part = "x7f3a9c2b1d4"
	for _, tt := range []struct{ name, value, text, want string }{
		{"a bearer", "Bearer " + part, "key " + part, "key [redacted V]"},
		{"the whole of it", "Bearer " + part, "[Bearer " + part + "]", "[[redacted V]]"},
		{"basic credentials", "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+part)), "password " + part, "password [redacted V]"},
		{"basic credentials alone", base64.StdEncoding.EncodeToString([]byte("me:" + part)), "password " + part, "password [redacted V]"},
		{"user and password", "me:" + part, "password " + part, "password [redacted V]"},
		{"an address's password", "https://me:" + part + "@h.test/v1", "asked https://h.test/v1 with " + part, "asked https://h.test/v1 with [redacted V]"},
		{"an address's escaped password", "https://me:x7f3%2Fc2b1d4@h.test/v1", "x7f3/c2b1d4", "[redacted V]"},
		{"an address's key", "https://h.test/v1?key=" + part + "&mode=fast", "mode=fast&key=" + part, "mode=fast&key=[redacted V]"},
		{"a line of a key", "-----BEGIN KEY-----\n/" + part + part + "\nabcd\n-----END KEY-----", "\r\n> /" + part + part + "\r\n> abcd", "\r\n> [redacted V]\r\n> abcd"},
		{"a text of a key file", `{"type": "service_account", "uri": "https://h.test/token", "key": "BEGIN\n` + part + part + `"}`, "https://h.test/token service_account " + part + part, "https://h.test/token service_account [redacted V]"},
		{"a time", "2024-10-21T10:20:30", "at 20:30", "at 20:30"},
		{"JSON", `{"type":"` + part + `"}`, `"type"`, `"type"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := secret.New(map[string]string{"V": tt.value})
			if got, _ := v.Text(tt.text); got != tt.want {
				t.Errorf("%q became %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestPlaceholderKeysAreNotSecret(t *testing.T) {
	v := secret.New(map[string]string{
		"KEY": "ollama", "OTHER": "EMPTY", "REAL": "k3y-42", "MAX_TOKENS": "150000",
		"DB": "postgres://postgres:postgres@localhost/db", "DB_PASSWORD": "Password",
	})
	const text = `ask ollama, not EMPTY, of postgres at 1715000042, {"password": 1}, with `
	if got, _ := v.Text(text + "k3y-42"); got != text+"[redacted REAL]" {
		t.Error(got)
	}
	if got := v.Short(); len(got) != 4 {
		t.Errorf("too short: %q", got)
	}
}

func TestUnnamedSecretsAreReplacedWithoutName(t *testing.T) {
	v := secret.Unnamed([]string{"", "abc", "Bearer x7f3a9c2b1d4"})
	if got, found := v.Text("abc x7f3a9c2b1d4"); got != "abc [redacted]" || !found {
		t.Error(got)
	}
	if v.NameOf("x7f3a9c2b1d4") != "" {
		t.Error("it has a name")
	}
}
