package syntax

import (
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/text"
)

// assigned matches a name with its value, as in YAML, --set and environment
// files.
var assigned = text.Regexp(`([A-Za-z0-9_-]+)["']?\s*[:=]\s*["']?([^\s"',{}\[\]]+)`)

// Mask masks everything that looks like a secret in a displayed line, whatever
// the diagnostic is about. key is the name of the value if the line is a value.
func (r *Report) Mask(line, key string) string {
	for seen := secret.FindWellKnown(line); seen.Kind != ""; seen = secret.FindWellKnown(line) {
		line = maskSecret(line, seen.Text)
	}
	for _, m := range assigned().FindAllStringSubmatch(line, -1) {
		if seen := FindSecret(m[2], m[1]); seen.Kind != "" {
			line = maskSecret(line, seen.Text)
		}
	}
	if seen := FindSecret(strings.Trim(line, ` "'`), key); seen.Kind != "" {
		line = maskSecret(line, seen.Text)
	}
	for _, s := range r.secrets {
		line = maskSecret(line, s)
	}
	return line
}

// maskSecret replaces a secret by stars: as many as it has characters if more text
// follows on the line, so that columns stay correct, otherwise at most twelve.
func maskSecret(line, s string) string {
	const most = 12
	if before, ok := strings.CutSuffix(line, s); ok {
		line = before + strings.Repeat("*", min(len(s), most))
	}
	return strings.ReplaceAll(line, s, strings.Repeat("*", len(s)))
}

// maskAt masks secrets in all texts of a diagnostic.
func (r *Report) maskAt(d *diag.Diagnostic, at Position) {
	key := ""
	if at.Source != nil && !at.Source.IsFile() {
		d.File = r.Mask(d.File, "")
		name := strings.TrimRight(d.File, "= ")
		key = name[strings.LastIndexAny(name, "._ ")+1:]
		if i := strings.LastIndex(name, "__"); i >= 0 {
			key = name[i+2:]
		}
	}
	d.Message, d.Snippet = r.Mask(d.Message, ""), r.Mask(d.Snippet, strings.ToLower(key))
}

// HideSecret records a secret of the spec and redacts it in earlier diagnostics.
func (r *Report) HideSecret(s string) {
	r.secrets = append(r.secrets, s)
	for i := range r.List {
		d := &r.List[i]
		d.Message, d.Snippet, d.Hint, d.File = maskSecret(d.Message, s), maskSecret(d.Snippet, s), maskSecret(d.Hint, s), maskSecret(d.File, s)
		d.Fix.Old, d.Fix.New = maskSecret(d.Fix.Old, s), maskSecret(d.Fix.New, s)
	}
}

// FindSecret searches a text for a key, and an address for a password.
func FindSecret(s, key string) secret.Sighting {
	seen := secret.InLiteral(s, key)
	if m := password().FindStringSubmatchIndex(s); seen.Kind == "" && m != nil && strings.HasSuffix(key, "url") {
		return secret.Sighting{At: m[2], Text: s[m[2]:m[3]], Kind: "a password"}
	}
	return seen
}

// password matches the password in a URL.
var password = text.Regexp(`^[a-z][a-z0-9+.-]*://[^/\s:@]*:([^/\s@${}<>]+)@`)
