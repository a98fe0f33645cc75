package httpclient

import (
	"maps"
	"slices"

	"github.com/pexctl/pex/engine/secret"
)

// redactor redacts secrets. The zero redactor redacts nothing.
type redactor struct{ values *secret.Values }

func newRedactor(secrets []string) redactor { return redactor{secret.Unnamed(secrets)} }

func (r redactor) text(s string) string {
	clean, _ := r.values.Text(s)
	return clean
}

// begin redacts the start of a text, and removes a possible partial secret at its end.
func (r redactor) begin(b []byte) []byte { return []byte(r.values.Stream().Next(string(b))) }

// bytes redacts a body. In JSON it also finds values with unnecessary escapes.
func (r redactor) bytes(b []byte) []byte {
	clean, _ := r.values.JSON(b)
	return clean
}

// SecretName reports whether a header or variable of this name is secret.
func SecretName(name string) bool { return secret.Name(name) }

// SecretHeaders returns the values of secret headers. A value after an authentication scheme ("Bearer") is redacted
// without being listed.
func SecretHeaders(headers map[string]string) (secrets []string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if SecretName(name) {
			secrets = append(secrets, headers[name])
		}
	}
	return secrets
}
