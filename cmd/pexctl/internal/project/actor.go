package project

import (
	"os"
	"os/user"
	"strconv"

	"github.com/pexctl/pex/engine"
)

// User returns the user of this process, whom the journal records with each
// decision.
func User() engine.Actor {
	who := engine.Actor{User: strconv.Itoa(os.Getuid())}
	if u, err := user.Current(); err == nil {
		who.User = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		who.Host = host
	}
	return who
}
