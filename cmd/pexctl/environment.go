package main

import (
	"github.com/pexctl/pex/engine"
)

// certificates are those of the process, for its connections to models.
func certificates(env func(string) string) engine.Certificates {
	return engine.Certificates{CAFile: env("PEX_CA_FILE"), ClientCert: env("PEX_CLIENT_CERT"), ClientKey: env("PEX_CLIENT_KEY")}
}
