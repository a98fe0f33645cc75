package httpclient

import (
	"maps"
	"slices"

	"github.com/pexctl/pex/engine/secret"
)

// redactor replaces secrets by value. The zero redactor replaces nothing.
type redactor struct{ values *secret.Values }

func newRedactor(secrets []string) redactor { return redactor{secret.Unnamed(secrets)} }

func (r redactor) text(s string) string {
	clean, _ := r.values.Text(s)
	return clean
}

// begin replaces in the beginning of a text, and leaves out at its end what may
// be the beginning of a value.
func (r redactor) begin(b []byte) []byte { return []byte(r.values.Stream().Next(string(b))) }

// bytes replaces in a body: in JSON also where a value is written with escapes
// that nobody needs.
func (r redactor) bytes(b []byte) []byte {
	clean, _ := r.values.JSON(b)
	return clean
}

// SecretName says whether a header or a variable of this name holds what must
// never be shown.
func SecretName(name string) bool { return secret.Name(name) }

// SecretHeaders lists the values among headers that must never be shown. What
// stands behind the word of a scheme ("Bearer") is found by itself.
func SecretHeaders(headers map[string]string) (secrets []string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if SecretName(name) {
			secrets = append(secrets, headers[name])
		}
	}
	return secrets
}
