package wire

import "github.com/pexctl/pex/engine/secret"

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
