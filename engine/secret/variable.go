package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shortest is the length in bytes from which a value is looked for: shorter
// ones would tear up ordinary words.
const Shortest = 6

// shortestWord is the same for a value of nothing but letters, or of nothing but
// digits: servers that want no key are given "unused", "ollama" or "EMPTY", and
// a number of few digits is within many others.
const shortestWord = 8

// nobodys are what servers without secrets are given, and what is left unset.
// Texts and the names in JSON are full of them.
var nobodys = []string{"password", "postgres", "changeme", "minioadmin", "placeholder", "undefined", "not-needed", "no-key-required", "sk-no-key-required"}

// tooCommon says that a value cannot be looked for: ordinary texts hold it.
func tooCommon(value string) bool {
	if len(value) < Shortest || slices.Contains(nobodys, strings.ToLower(value)) {
		return true
	}
	return len(value) < shortestWord && (only(value, unicode.IsLetter) || only(value, unicode.IsDigit))
}

// only says that a text has nothing but ASCII of a kind.
func only(s string, kind func(rune) bool) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || !kind(r) })
}

// nameWords are what names of secrets hold.
var nameWords = []string{"auth", "key", "token", "secret", "cookie", "pass", "_pwd", "credential", "signature"}

// harmless are words that hold one of them and say nothing of a secret.
var harmless = regexp.MustCompile(`author([^i]|$)|keyword`)

// Name says whether a header or a variable of this name holds what must never
// be shown.
func Name(name string) bool {
	name = harmless.ReplaceAllString(strings.ToLower(name), "")
	return slices.ContainsFunc(nameWords, func(word string) bool { return strings.Contains(name, word) })
}

// Plain says that a variable's value is surely none to hide, so that a run may
// speak of it: an address without credentials, an absolute path, a mailbox, a
// number, a sentence, or words such as eu-central-1 and db.example.com:5432, in
// a variable whose name speaks of no secret. Who is not sure takes what is not plain for a secret.
func Plain(name, value string) bool {
	value = strings.TrimSpace(value)
	if Name(name) || Known(value).Looks != "" {
		return false
	}
	if u, err := url.Parse(value); err == nil && u.Scheme != "" && u.Host != "" {
		return u.User == nil && wordy(u.Path) && !slices.ContainsFunc(queryOf(u), func(s string) bool { return !wordy(s) })
	}
	if m := mailbox.FindStringSubmatch(value); m != nil {
		return wordy(m[1])
	}
	return filepath.IsAbs(value) || wordy(value)
}

var mailbox = regexp.MustCompile(`^([a-z0-9._-]+)@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}$`)

// word is letters, also like JavaScript, or digits, or few of both.
var word = regexp.MustCompile(`^(?:\p{Ll}{1,20}|\p{Lu}{1,20}|\p{Lu}\p{Ll}{1,19}|[A-Z]?[a-z]{3,19}(?:[A-Z][a-z]{2,19}){1,3}|[0-9]{1,15}|[A-Za-z0-9]{1,4})?$`)

// wordy says that a text is made of words; between those of a sentence stands
// what passwords like as well.
func wordy(s string) bool {
	between := "-._:/ ,[]"
	if strings.Contains(s, " ") {
		between += "+&'’()!?;*"
	}
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(between, r) }) {
		if !word.MatchString(part) {
			return false
		}
	}
	return true
}

// authScheme stands before the credentials in the value of a header.
var authScheme = regexp.MustCompile(`(?i)^(bearer|basic|token|apikey)\s+(\S.*)$`)

// parts are a value, and what in it is secret by itself: credentials without
// the word of their scheme, the password of user:password, of an address its
// user, its password and what its query holds, the lines of a private key.
func parts(value string) []string {
	out := []string{value}
	add := func(s string) {
		if !tooCommon(s) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if u, err := url.Parse(value); err == nil && u.Scheme != "" && u.Host != "" {
		password, has := u.User.Password()
		if add(password); !has || !wordy(u.User.Username()) {
			add(u.User.Username())
		}
		for _, s := range queryOf(u) {
			if !wordy(s) {
				add(s)
			}
		}
		return out
	}
	for _, s := range inside(value) {
		if len(s) >= shortestInside && (s[0] == '/' || !Plain("", s)) {
			add(s)
		}
	}
	if m := authScheme.FindStringSubmatch(value); m != nil {
		add(m[2])
		value = m[2]
	}
	if text, ok := basic(value); ok {
		add(text)
		value = text
	}
	if user, password, ok := strings.Cut(value, ":"); ok && !strings.ContainsAny(user, " \t\n{[\"'") && !wordy(password) {
		add(password)
	}
	return out
}

// shortestInside is the length in bytes from which what is inside a value is
// secret by itself.
const shortestInside = 16

// inside are the lines of a value, which are told one by one or behind a sign;
// of JSON, such as the key file of a service account, its texts and theirs.
func inside(value string) (out []string) {
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

// basic is the user:password that a text has in base64.
func basic(s string) (string, bool) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || !utf8.Valid(b) || bytes.IndexByte(b, ':') < 0 || bytes.ContainsFunc(b, unicode.IsControl) {
		return "", false
	}
	return string(b), true
}

// queryOf is what the query of an address holds, in the order of its names.
func queryOf(u *url.URL) (out []string) {
	q := u.Query()
	for _, name := range slices.Sorted(maps.Keys(q)) {
		out = append(out, q[name]...)
	}
	return out
}
