//go:build faults && linux

package crashtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// pexctl is the program under test: an ordinary one, and one with failpoints.
var plain, trapped string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "faults")
	if err == nil {
		plain, err = built(dir, "pexctl")
	}
	if err == nil {
		trapped, err = built(dir, "pexctl-faults", "-tags", "faults")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func built(dir, name string, args ...string) (string, error) {
	path := filepath.Join(dir, name)
	c := exec.Command("go", append(append([]string{"build", "-o", path}, args...), "github.com/pexctl/pex/cmd/pexctl")...)
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return path, nil
}
