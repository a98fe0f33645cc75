package serverspec

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
)

// anonymous is the client of a server without auth.
const anonymous = "anonymous"

// checkClient checks the name of a client.
func checkClient(d *config.Decoder, v *syntax.Node, name string) bool {
	switch {
	case name == anonymous:
		d.Report.Error(diag.BadName, v.Position, "the token name %s is reserved: it is the client of a server without auth", syntax.Quote(name)).Hint = "use another name"
	case !language.ClientName().MatchString(name) || len(name) > config.MaxName:
		d.Report.Error(diag.BadName, v.Position, "invalid name %s for a token", syntax.Quote(name)).
			Hint = "a name has at most " + strconv.Itoa(config.MaxName) + " letters, digits, _, -, ., + and @, and starts with a letter or digit"
	default:
		return true
	}
	return false
}

// checkName checks the name of a tenant or a role.
func checkName(d *config.Decoder, v *syntax.Node, name, what string) bool {
	if language.IdentityName().MatchString(name) && len(name) <= config.MaxName {
		return true
	}
	d.Report.Error(diag.BadName, v.Position, "invalid name %s for %s", syntax.Quote(name), what).
		Hint = "a name has at most " + strconv.Itoa(config.MaxName) + " lower-case letters, digits, _ and -, and starts with a letter or digit"
	return false
}

// CompileTokens decodes a tree of kind: Tokens. The tokens are complete only if no
// error was reported.
func CompileTokens(u *config.Unit, catalog *engine.Catalog, tree *syntax.Node) []Token {
	d := config.NewDecoder(u, "")
	d.Title, d.Language = "the token file", language.ServerLanguage{Plain: language.Plain{Catalog: catalog}}
	list := tree.Get("tokens")
	reported := map[int]bool{}
	if list != nil && list.Kind == syntax.List {
		for i, v := range list.Items {
			reported[i] = plainToken(u, v, "tokens["+strconv.Itoa(i)+"]")
		}
	}
	var k language.TokensKeys
	d.Decode(tree, "", &k)
	names, hashes := map[string]syntax.Position{}, map[string]syntax.Position{}
	out := make([]Token, 0, len(k.Tokens))
	for i, t := range k.Tokens {
		v := list.Items[i]
		hash := strings.ToLower(t.SHA256)
		out = append(out, Token{Name: t.Name, SHA256: hash, Tenant: t.Tenant, Roles: t.Roles, Position: testspec.PositionOf(v.Position)})
		if at := v.Get("name"); at != nil && checkClient(d, at, t.Name) {
			unique(u, names, t.Name, at, "duplicate token name "+syntax.Quote(t.Name))
		}
		if at := v.Get("sha256"); at != nil && hash != "" && !reported[i] {
			unique(u, hashes, hash, at, "tokens["+strconv.Itoa(i)+"].sha256 is the hash of another token")
		}
		if at := v.Get("tenant"); at != nil {
			checkName(d, at, t.Tenant, "a tenant")
		}
		for j, role := range t.Roles {
			checkName(d, v.Get("roles").Items[j], role, "a role")
		}
	}
	return out
}

func unique(u *config.Unit, seen map[string]syntax.Position, s string, v *syntax.Node, message string) {
	if first, ok := seen[s]; ok {
		u.Report.Error(diag.DuplicateKey, v.Position, "%s; the first one is at %s", message, syntax.Where(first)).Hint = "give every client a token of its own: pexctl serve token new NAME"
		return
	}
	seen[s] = v.Position
}

// plainKeys are keys in which people write the token itself.
var plainKeys = []string{"token", "secret", "value", "key", "password", "bearer"}

// plainToken reports an entry with a token in place of its hash, without showing
// it, and returns whether it did.
func plainToken(u *config.Unit, v *syntax.Node, path string) bool {
	if v.Kind == syntax.Text { // the decoder reports it
		hide(u.Report, v)
	}
	if v.Kind != syntax.Map {
		return false
	}
	for _, e := range v.Entries {
		if e.Key != "sha256" && !isPlainKey(e.Key) || !e.Value.IsScalar() || e.Value.Kind == syntax.Null {
			continue
		}
		if e.Key == "sha256" && hexDigits(e.Value.Text) == language.HashDigits {
			continue
		}
		notAHash(u, e, path+"."+e.Key, clientOf(v))
		if v.Find("sha256") == nil {
			e.Key = "sha256" // so that it is not also missing
		}
		return true
	}
	return false
}

func isPlainKey(key string) bool { return slices.Contains(plainKeys, strings.ToLower(key)) }

// hide redacts a value in all diagnostics, and in the tree.
func hide(r *syntax.Report, v *syntax.Node) {
	const least = 4 // characters: a shorter text is no secret, and is part of other words
	if len(v.Text) >= least {
		r.HideSecret(v.Text)
	}
	v.Kind, v.Text = syntax.Text, "***"
}

// notAHash reports a value that is not a hash.
func notAHash(u *config.Unit, e *syntax.Entry, path, client string) {
	v := e.Value
	if hash, ok := strings.CutPrefix(v.Text, "sha256:"); ok && hexDigits(hash) == language.HashDigits {
		u.Report.Error(diag.NotAllowed, v.Position, "%s must be %d hex digits, without a prefix", path, language.HashDigits).Hint = "remove sha256:"
		return
	}
	digits := hexDigits(v.Text)
	hide(u.Report, v)
	if digits > 0 && e.Key == "sha256" {
		u.Report.Error(diag.PlainToken, v.Position, "%s has %d hex digits; a SHA-256 hash has %d", path, digits, language.HashDigits).
			Hint = "copy the whole hash, or make a new token: pexctl serve token new " + client
	} else {
		u.Report.Error(diag.PlainToken, v.Position, "%s is a token in plain text; the file stores only SHA-256 hashes", path).
			Hint = "this token is no longer secret; to print a new one and its entry for this file: pexctl serve token new " + client
	}
}

// clientOf returns the name of an entry for a command line.
func clientOf(v *syntax.Node) string {
	if name := syntax.TextOf(v, "name"); language.ClientName().MatchString(name) {
		return name
	}
	return "NAME"
}

// hexDigits returns the number of hex digits of a text that has nothing else, or
// 0.
func hexDigits(s string) int {
	if _, err := hex.DecodeString(s + strings.Repeat("0", len(s)%2)); err != nil {
		return 0
	}
	return len(s)
}
