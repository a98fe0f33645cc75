package main

import (
	"os"
	"testing"
)

// asPexctl makes the test binary be pexctl: tests run it as a user would run
// the real one, without building anything, and under the race detector too.
const asPexctl = "TEST_BINARY_IS_PEXCTL"

func TestMain(m *testing.M) {
	if os.Getenv(asPexctl) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// pexctlEnv is the environment that makes os.Executable a pexctl.
func pexctlEnv() []string {
	return []string{asPexctl + "=1", "GORACE=atexit_sleep_ms=0"} // a race binary sleeps a second at its end otherwise
}
