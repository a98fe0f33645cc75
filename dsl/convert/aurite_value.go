package convert

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/secret"
)

// numeral is a number, also one that is written as text; nil = it is none.
func (it *item) numeral() any {
	s := strings.TrimSpace(it.peek())
	if kindOfWord(s) != number {
		return nil
	}
	return json.Number(s)
}

// isWhole says whether a value is a whole number above zero.
func isWhole(it *item) bool {
	n, err := strconv.Atoi(strings.TrimSpace(it.peek()))
	return err == nil && n > 0
}

// address is an address as a template; one that holds credentials is not taken
// over.
func (m *project) address(it *item, variable string) string {
	s := it.word()
	u, err := url.Parse(placeholder().ReplaceAllString(s, "x"))
	private := err == nil && u.User != nil || secret.InLiteral(s, "").Looks != ""
	if err == nil {
		for name, values := range u.Query() {
			private = private || secret.Name(name) && !placeholder().MatchString(s) && values[0] != ""
		}
	}
	if private {
		m.note(it, Todo, "the address holds credentials and was not taken over: set the environment variable %s to it", variable)
		return "${env." + variable + "}"
	}
	return m.setting(it, "", variable)
}

// seconds is a number of seconds as specs write times; it takes it when it is
// one.
func (it *item) seconds() string {
	f, err := strconv.ParseFloat(strings.TrimSpace(it.peek()), 64)
	if err != nil || f <= 0 || f > 86400 {
		return ""
	}
	it.take()
	return time.Duration(f * float64(time.Second)).Round(time.Millisecond).String()
}
