package wire

import (
	"encoding/base64"
	"net/url"
	"strings"
)

const redacted = "[redacted]"

// shortest is the length from which a secret is replaced: shorter ones would
// tear up ordinary words.
const shortest = 4

// redactor replaces secrets by value. The zero redactor replaces nothing.
type redactor struct{ r *strings.Replacer }

func newRedactor(secrets []string) redactor {
	var pairs []string
	for _, s := range secrets {
		if len(s) < shortest {
			continue
		}
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), base64.StdEncoding.EncodeToString([]byte(s))} {
			pairs = append(pairs, form, redacted)
		}
	}
	if pairs == nil {
		return redactor{}
	}
	return redactor{strings.NewReplacer(pairs...)}
}

func (r redactor) text(s string) string {
	if r.r == nil {
		return s
	}
	return r.r.Replace(s)
}

func (r redactor) bytes(b []byte) []byte {
	if r.r == nil {
		return b
	}
	return []byte(r.r.Replace(string(b)))
}
