package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/text"
)

// Shortest is the minimum length of a value in bytes: shorter ones would occur in
// ordinary words.
const Shortest = 6

// shortestWord is the minimum length of a value of only letters or only digits: servers
// without keys are given "unused", "ollama" or "EMPTY", and short numbers occur within
// others.
const shortestWord = 8

// commonValues are given to servers without secrets, or left as defaults. Texts and JSON
// keys are full of them.
var commonValues = []string{"password", "postgres", "changeme", "minioadmin", "placeholder", "undefined", "not-needed", "no-key-required", "sk-no-key-required"}

// tooCommon reports whether a value cannot be searched because ordinary texts contain it.
func tooCommon(value string) bool {
	if len(value) < Shortest || slices.Contains(commonValues, strings.ToLower(value)) {
		return true
	}
	return len(value) < shortestWord && (only(value, unicode.IsLetter) || only(value, unicode.IsDigit))
}

// only reports whether a text consists of ASCII of a kind.
func only(s string, kind func(rune) bool) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || !kind(r) })
}

// nameWords occur in names of secrets.
var nameWords = []string{"auth", "key", "token", "secret", "cookie", "pass", "_pwd", "credential", "signature"}

// harmlessWords contain one of nameWords and do not indicate a secret.
var harmlessWords = text.Regexp(`author([^i]|$)|keyword`)

// Name reports whether a header or variable with this name holds a secret.
func Name(name string) bool {
	name = harmlessWords().ReplaceAllString(strings.ToLower(name), "")
	return slices.ContainsFunc(nameWords, func(word string) bool { return strings.Contains(name, word) })
}

// Plain reports whether a variable's value is certainly not secret: a URL without
// credentials, an absolute path, an email address, a number, a sentence, or words such as
// eu-central-1 and db.example.com:5432, in a variable whose name does not indicate a
// secret. When in doubt, treat values as secret.
func Plain(name, value string) bool {
	value = strings.TrimSpace(value)
	if Name(name) || FindWellKnown(value).Kind != "" {
		return false
	}
	if u, err := url.Parse(value); err == nil && u.Scheme != "" && u.Host != "" {
		return u.User == nil && isWords(u.Path) && !slices.ContainsFunc(queryOf(u), func(s string) bool { return !isWords(s) })
	}
	if m := mailbox().FindStringSubmatch(value); m != nil {
		return isWords(m[1])
	}
	return filepath.IsAbs(value) || isWords(value)
}

var mailbox = text.Regexp(`^([a-z0-9._-]+)@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}$`)

// word is letters, also like JavaScript, or digits, or a few of both.
var word = text.Regexp(`^(?:\p{Ll}{1,20}|\p{Lu}{1,20}|\p{Lu}\p{Ll}{1,19}|[A-Z]?[a-z]{3,19}(?:[A-Z][a-z]{2,19}){1,3}|[0-9]{1,15}|[A-Za-z0-9]{1,4})?$`)

// isWords reports whether a text consists of words; sentences may contain characters that
// passwords use too.
func isWords(s string) bool {
	between := "-._:/ ,[]"
	if strings.Contains(s, " ") {
		between += "+&'’()!?;*"
	}
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(between, r) }) {
		if !word().MatchString(part) {
			return false
		}
	}
	return true
}

// authScheme precedes the credentials in a header.
var authScheme = text.Regexp(`(?i)^(bearer|basic|token|apikey)\s+(\S.*)$`)

// parts returns a value and its parts that are secrets themselves: credentials without
// their scheme, the password of user:password, user, password and query of a URL, the
// lines of a private key.
func parts(value string) []string {
	out := []string{value}
	add := func(s string) {
		if !tooCommon(s) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if u, err := url.Parse(value); err == nil && u.Scheme != "" && u.Host != "" {
		password, has := u.User.Password()
		if add(password); !has || !isWords(u.User.Username()) {
			add(u.User.Username())
		}
		for _, s := range queryOf(u) {
			if !isWords(s) {
				add(s)
			}
		}
		return out
	}
	for _, s := range nested(value) {
		if len(s) >= shortestInside && (s[0] == '/' || !Plain("", s)) {
			add(s)
		}
	}
	if m := authScheme().FindStringSubmatch(value); m != nil {
		add(m[2])
		value = m[2]
	}
	if text, ok := basic(value); ok {
		add(text)
		value = text
	}
	if user, password, ok := strings.Cut(value, ":"); ok && !strings.ContainsAny(user, " \t\n{[\"'") && !isWords(password) {
		add(password)
	}
	return out
}

// shortestInside is the minimum length of nested secrets in bytes.
const shortestInside = 16

// nested returns the lines of a value, which may be printed one by one; for JSON, such as
// the key file of a service account, its strings and their lines.
func nested(value string) (out []string) {
	lines := func(s string) {
		for line := range strings.Lines(s) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	if !json.Valid([]byte(value)) {
		lines(value)
		return out
	}
	tokens([]byte(value), func(_, _ int, s string, name bool) {
		if !name {
			out = append(out, strings.TrimSpace(s))
			lines(s)
		}
	})
	return out
}

// basic returns the user:password encoded in base64.
func basic(s string) (string, bool) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || !utf8.Valid(b) || bytes.IndexByte(b, ':') < 0 || bytes.ContainsFunc(b, unicode.IsControl) {
		return "", false
	}
	return string(b), true
}

// queryOf returns the query values of a URL, in order of their names.
func queryOf(u *url.URL) (out []string) {
	q := u.Query()
	for _, name := range slices.Sorted(maps.Keys(q)) {
		out = append(out, q[name]...)
	}
	return out
}
