package call

import (
	"fmt"
	"net/url"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/wire"
)

// Connect makes the transport of one llm at a server, whose address, or
// whatever else names it, and the llm's model tell with whom it shares limits,
// and with its timeout the breaker: who is patient may be answered. Its key, a
// password in the address and the other secrets are replaced in all that it
// says. change, if not nil, may adapt the settings first (tests). It sends
// nothing; an error is one of s.Certificates.
func Connect(s model.Settings, server string, secrets []string, change func(*wire.Settings)) (*wire.Client, error) {
	pool, err := wire.Pool(wire.Certificates(s.Certificates))
	if err != nil {
		return nil, err
	}
	w := wire.Settings{
		UserAgent: s.UserAgent,
		Secrets:   append([]string{s.APIKey, password(server)}, secrets...),
		Retry:     s.Retry,
		Limiter:   wire.Shared(server+" "+s.Model, wire.Limits(s.RateLimit)),
		Breaker:   wire.SharedBreaker(fmt.Sprintf("%s %s %s", server, s.Model, s.Timeout)),
		FirstByte: s.Timeout,
		Total:     s.Timeout,
		Base:      pool,
	}
	if change != nil {
		change(&w)
	}
	return wire.New(w), nil
}

// password is the one in an address, "" where there is none.
func password(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	pass, _ := u.User.Password()
	return pass
}
