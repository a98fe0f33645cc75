//go:build unix

package mcptest

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"slices"
)

// ModeEnv is the environment variable that turns a test binary into a server with this mode, if its
// TestMain starts with Main.
const ModeEnv = "PEX_MCPTEST_MODE"

// Mode is one kind of misbehavior on stdio.
type Mode struct {
	Doc   string                            // a sentence about the server
	start func(*server)                     // before anything is read
	on    map[string]func(*server, message) // replaces the normal answer, by method; "" = responses to the server's requests
	end   func(*server)                     // after the client has disconnected
}

// call returns a mode with another answer to a call.
func call(doc string, do func(*server, message)) Mode {
	return Mode{Doc: doc, on: map[string]func(*server, message){"tools/call": do}}
}

// list returns a mode with another list of tools.
func list(doc string, do func(*server, message)) Mode {
	return Mode{Doc: doc, on: map[string]func(*server, message){"tools/list": do}}
}

// Modes returns the servers on stdio, by name.
func Modes() map[string]Mode {
	all := map[string]Mode{"good": {Doc: "behaves correctly"}}
	for _, some := range []map[string]Mode{crashes(), floods(), protocolErrors(), toolResults(), versions(), toolLists(), questions()} {
		maps.Copy(all, some)
	}
	return all
}

// Names returns the sorted names of the modes on stdio.
func Names() []string { return slices.Sorted(maps.Keys(Modes())) }

// Main runs the server and does not return, if ModeEnv is set.
func Main() {
	name := os.Getenv(ModeEnv)
	if name == "" {
		return
	}
	if name == orphanMode {
		sleepForever()
	}
	mode, ok := Modes()[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "mcptest: unknown mode %q\n", name)
		os.Exit(2)
	}
	(&server{mode: mode, in: bufio.NewReaderSize(os.Stdin, 1<<20), out: os.Stdout}).serve()
	os.Exit(0)
}
