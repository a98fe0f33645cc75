// Package temporaltest starts Temporal servers for tests with the build tag e2e.
//
//	internal/e2e/setup.sh temporal --once--> ~/.cache/pex-e2e/bin/temporal
//	Start(t, namespaces...) --> Server: Address, Environ; Kill, Restart with the same data
//
// A server is a process of its own, as in production, with a file of SQLite that survives its
// death. It listens on loopback and ends with its test, or with the process of the test.
//
// The package must not know what runs on the server.
package temporaltest
