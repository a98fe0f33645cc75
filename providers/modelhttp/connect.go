package modelhttp

import (
	"fmt"
	"net/url"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
)

// Connect returns the transport of one LLM. The server's address (or other name) and the
// model determine with whom it shares rate limits, and together with the timeout the
// circuit breaker, since patient callers may succeed where others fail. The key, a
// password in the address and the other secrets are redacted from all messages. change,
// if not nil, adapts the settings (tests). It sends nothing; an error concerns
// s.Certificates.
func Connect(s model.Settings, server string, secrets []string, change func(*httpclient.Settings)) (*httpclient.Client, error) {
	pool, err := httpclient.Pool(httpclient.Certificates(s.Certificates))
	if err != nil {
		return nil, err
	}
	w := httpclient.Settings{
		UserAgent: s.UserAgent,
		Secrets:   append([]string{s.APIKey, password(server)}, secrets...),
		Retry:     s.Retry,
		Limiter:   httpclient.Shared(server+" "+s.Model, httpclient.Limits(s.RateLimit)),
		Breaker:   httpclient.SharedBreaker(fmt.Sprintf("%s %s %s", server, s.Model, s.Timeout)),
		FirstByte: s.Timeout,
		Total:     s.Timeout,
		Base:      pool,
	}
	if change != nil {
		change(&w)
	}
	return httpclient.New(w), nil
}

// password returns the password in a URL, or "".
func password(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	pass, _ := u.User.Password()
	return pass
}
