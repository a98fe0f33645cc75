package webhook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/server/webhook"
)

const (
	secret      = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	otherSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
)

func secrets(t testing.TB, s string) webhook.Secrets {
	t.Helper()
	out, err := webhook.ParseSecrets(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The vector is published with the libraries of Standard Webhooks.
func TestSignaturesAreThoseOfStandardWebhooks(t *testing.T) {
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	id, at, body := "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`)
	if got := secrets(t, secret).Sign(id, at, body); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	both := secrets(t, " "+otherSecret+"\n"+secret+" ").Sign(id, at, body)
	if first, second, _ := strings.Cut(both, " "); second != want || !strings.HasPrefix(first, "v1,") {
		t.Errorf("with two secrets: %s", both)
	}
}

func TestInvalidSecretsAreNotShown(t *testing.T) {
	for s, want := range map[string]string{
		"":                            "there is no secret",
		"canary":                      "a secret must start with whsec_",
		"whsec_canary!":               "what follows whsec_ must be base64",
		"whsec_Y2FuYXJ5":              "the secret has 6 bytes; it must have 24 to 64",
		secret + " whsec_Y2FuYXJ5":    "secret 2: the secret has 6 bytes; it must have 24 to 64",
		secret + "," + "whsec_canary": "what follows whsec_ must be base64",
	} {
		if _, err := webhook.ParseSecrets(s); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", s, err, want)
		}
	}
}
