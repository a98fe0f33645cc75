// Package clients drives pexctl serve with the client libraries that people use, from npm.
//
//	setup.sh clients --once--> ~/.cache/pex-e2e/clients/NAME/node_modules
//	Serve(t, specs) --> Server --> Run(t, name, server URL): node NAME/run.mjs
//
// Each folder has the package.json of one client, with exact versions, and its script, which
// fails unless the server does what it must. The tests have the build tag e2e and are run by
// make e2e-clients. The package must not know what the scripts check.
package clients
