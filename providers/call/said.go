package call

import (
	"strings"

	"github.com/pexctl/pex/engine"
)

// Words are what servers say of errors that tells more than the status does, in
// lower case. The first that occurs counts.
type Words []struct {
	Text string
	Kind engine.ErrorKind
}

// Kind is the kind of an error of which a server says that, "" where it says
// nothing known.
func (w Words) Kind(said string) engine.ErrorKind {
	said = strings.ToLower(said)
	for _, word := range w {
		if strings.Contains(said, word.Text) {
			return word.Kind
		}
	}
	return ""
}
