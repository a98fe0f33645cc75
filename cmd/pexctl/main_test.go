package main

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/internal/app/procguard"
	"github.com/pexctl/pex/providers/starlark"
)

// asPexctl makes the test binary act as pexctl: tests run it like a user runs the
// real one, without building anything, and also under the race detector.
const asPexctl = "TEST_BINARY_IS_PEXCTL"

func TestMain(m *testing.M) {
	starlark.Serve()
	guards := len(os.Args) > 1 && os.Args[1] == procguard.CommandName // its environment is empty
	if os.Getenv(asPexctl) != "" || guards {
		main()
		os.Exit(0)
	}
	_ = os.Setenv(noOllama())
	testscript.Main(m, map[string]func(){"pexctl": main, "toolserver": toolserver, "curl": curl})
}

// noOllama is the variable, with its value, that keeps init from finding an Ollama server of this machine.
func noOllama() (name, value string) { return "OLLAMA_HOST", "127.0.0.1:1" }

// oneGoroutine skips a test with a single goroutine under -short: the race
// detector finds nothing in it.
func oneGoroutine(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine at work: left to the runs without -short")
	}
}

// pexctlEnv returns the environment that makes os.Executable act as pexctl.
func pexctlEnv() []string {
	return []string{asPexctl + "=1", noSleep}
}

// noSleep disables the sleep at the end of a binary with the race detector.
const noSleep = "GORACE=atexit_sleep_ms=0"

// callOf returns a call without arguments.
func callOf(io streams) *ui.Call {
	return ui.NewCall(newEnv(io), cli.NewContext(&cli.App{}, flag.NewFlagSet("pexctl", flag.ContinueOnError), nil))
}
