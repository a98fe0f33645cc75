package httprecord

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/internal/httpclient"
)

// Only these headers are recorded. Others are volatile, irrelevant, or identify the owner of a key.
var (
	requestHeaders = []string{"Accept", "Anthropic-Beta", "Anthropic-Version", "Content-Type", "Openai-Beta"}
	answerHeaders  = []string{
		"Apim-Request-Id", "Content-Type", "Mistral-Correlation-Id", "Request-Id", "Retry-After", "Retry-After-Ms",
		"X-Amzn-Errortype", "X-Amzn-Requestid", "X-Request-Id", "X-Should-Retry",
	}
	owners = []string{"Anthropic-Organization-Id", "Openai-Organization", "Openai-Project", "Set-Cookie"}
)

// accounts matches customer names. Their replacements have the same length.
var (
	accounts = regexp.MustCompile(`\b(?:org|proj|user)[-_][A-Za-z0-9]{16,}|\barn(?::|%3A)aws[a-z-]*(?::|%3A)[a-z-]+(?::|%3A)[a-z0-9-]*(?::|%3A)[0-9]{12}\b`)
	named    = regexp.MustCompile(`[A-Za-z0-9]+$`)
)

var errBinary = errors.New("a binary body contains a secret: record with another key, or avoid requests that return it")

// Recording returns the exchanges so far with redacted secrets. secrets maps names to values; about has the other
// fields of the recording.
func (r *Recorder) Recording(about Recording, secrets map[string]string) (*Recording, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := maps.Clone(r.owner)
	maps.Copy(all, secrets)
	values := secret.New(all)
	out := about
	out.Model, out.Exchanges = string(redactAccounts([]byte(about.Model))), nil
	for _, x := range r.exchanges {
		clean, err := redacted(x, values)
		if err != nil {
			return nil, err
		}
		out.Exchanges = append(out.Exchanges, clean)
	}
	return &out, nil
}

func redacted(x Exchange, values *secret.Values) (Exchange, error) {
	x.Request.Path, _ = values.Text(x.Request.Path)
	body, _ := values.JSON(x.Request.Body)
	x.Request.Body = redactAccounts(body)
	x.Request.Path = string(redactAccounts([]byte(x.Request.Path)))
	x.Request.Header = redactedHeader(x.Request.Header, values)
	x.Response.Header = redactedHeader(x.Response.Header, values)
	var pieces []string
	for _, p := range x.Response.Pieces {
		pieces = append(pieces, string(p))
	}
	clean, found := values.Segments(pieces)
	whole := redactAccounts([]byte(strings.Join(clean, "")))
	if !readable(whole) && (found || string(whole) != strings.Join(clean, "")) {
		return Exchange{}, errBinary
	}
	var at []int
	for _, p := range clean {
		at = append(at, len(p))
	}
	x.Response.Pieces = slices.DeleteFunc(cut(whole, at), func(p []byte) bool { return len(p) == 0 })
	return x, nil
}

// redactAccounts replaces customer names by texts of the same length.
func redactAccounts(text []byte) []byte {
	return accounts.ReplaceAllFunc(text, func(account []byte) []byte {
		name := named.Find(account)
		name = bytes.TrimPrefix(name, []byte("3A")) // an escaped colon
		return append(account[:len(account)-len(name):len(account)-len(name)], bytes.Repeat([]byte("0"), len(name))...)
	})
}

func redactedHeader(h http.Header, values *secret.Values) http.Header {
	out := http.Header{}
	for name, all := range h {
		for _, v := range all {
			clean, _ := values.Text(v)
			out.Add(name, clean)
		}
	}
	return out
}

func pickHeaders(h http.Header, names []string) http.Header {
	out := http.Header{}
	for _, name := range names {
		if v := h.Values(name); len(v) > 0 {
			out[name] = slices.Clone(v)
		}
	}
	return out
}

// recordedRequestHeaders returns the recorded headers of a request: the relevant ones, and the header and scheme of a key.
func recordedRequestHeaders(h http.Header) http.Header {
	out := pickHeaders(h, requestHeaders)
	for name, all := range h {
		if httpclient.SecretName(name) && name != "Idempotency-Key" && len(all) > 0 {
			scheme, _, found := strings.Cut(all[0], " ")
			if found {
				scheme += " "
			} else {
				scheme = ""
			}
			out.Set(name, scheme+"[key]")
		}
	}
	return out
}
