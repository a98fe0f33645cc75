package main

import (
	"bufio"
	"fmt"
	"os"
)

// command is what the licenses are listed for.
const command = "github.com/pexctl/pex/cmd/pexctl"

// platforms are those whose binaries may link different modules.
var platforms = []string{"linux/amd64", "darwin/arm64", "windows/amd64"}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run() error {
	modules, err := Linked(command, platforms)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(os.Stdout)
	if err := Write(w, modules); err != nil {
		return err
	}
	return w.Flush()
}
