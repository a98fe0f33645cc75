//go:build linux

package mcptest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pexctl/pex/internal/mcptest"
)

// pexctl is the program under test. It is a normal build, because its memory is measured.
var pexctl string

func TestMain(m *testing.M) {
	mcptest.Main()
	if raceDetector {
		fmt.Println("skipped: these tests measure a normal build, which the race detector does not instrument")
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "mcptest")
	if err == nil {
		pexctl = filepath.Join(dir, "pexctl")
		var out []byte
		if out, err = exec.Command("go", "build", "-o", pexctl, "github.com/pexctl/pex/cmd/pexctl").CombinedOutput(); err != nil {
			err = fmt.Errorf("build pexctl: %w\n%s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
