// Package e2e starts the servers that end-to-end tests talk to.
//
//	setup.sh --once--> ~/.cache/pex-e2e {ollama, aimock}
//	Ollama(t, gguf)          --> base URL of an inference server with the model "tiny"
//	Aimock(t, fixtures, ...) --> base URL of a mock of the vendors' APIs
//
// A server listens on loopback and ends with its test. The tests that use them
// have the build tag e2e and are run by make e2e.
//
// It must not know what is asked of the servers.
package e2e
