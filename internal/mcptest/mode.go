//go:build unix

package mcptest

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"slices"
)

// ModeEnv is the variable whose value makes a test binary a server, if its
// TestMain begins with Main.
const ModeEnv = "PEX_MCPTEST_MODE"

// Mode is one way to behave badly.
type Mode struct {
	Doc   string                          // in a sentence
	start func(*peer)                     // before anything is read
	on    map[string]func(*peer, message) // instead of the good answer, by method; "" = answers to what the server asked
	end   func(*peer)                     // when the client has gone
}

// call is a mode that differs in how it answers a call.
func call(doc string, do func(*peer, message)) Mode {
	return Mode{Doc: doc, on: map[string]func(*peer, message){"tools/call": do}}
}

// list is a mode that differs in how it lists its tools.
func list(doc string, do func(*peer, message)) Mode {
	return Mode{Doc: doc, on: map[string]func(*peer, message){"tools/list": do}}
}

// Modes are the servers on stdio, by name.
func Modes() map[string]Mode {
	all := map[string]Mode{"good": {Doc: "does nothing wrong"}}
	for _, some := range []map[string]Mode{deaths(), floods(), lies(), contents(), versions(), catalogues(), questions()} {
		maps.Copy(all, some)
	}
	return all
}

// Names are the modes on stdio in order.
func Names() []string { return slices.Sorted(maps.Keys(Modes())) }

// Main is the server, if ModeEnv says so, and does not return then.
func Main() {
	name := os.Getenv(ModeEnv)
	if name == "" {
		return
	}
	if name == leftBehind {
		forever()
	}
	mode, ok := Modes()[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "mcptest: there is no mode %q\n", name)
		os.Exit(2)
	}
	(&peer{mode: mode, in: bufio.NewReaderSize(os.Stdin, 1<<20), out: os.Stdout}).serve()
	os.Exit(0)
}
