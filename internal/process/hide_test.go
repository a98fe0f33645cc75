//go:build unix

package process_test

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pexctl/pex/internal/process"
)

// A child can read its parent's environment in /proc, unless the parent hides it.
func TestHideSecretsHidesEnvironment(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	const canary = "CANARY=6f1d0c"
	read := func(hide string) string {
		cmd := exec.Command("/proc/self/exe", hide)
		cmd.Env = []string{childMode + "=secrets", canary, "PATH=" + os.Getenv("PATH")}
		cmd.Dir = "/"
		if os.Getuid() == 0 { // whom nothing is closed to
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if !strings.Contains(read("open"), canary) {
		t.Skip("this system closes the environment of processes by itself")
	}
	if got := read("hidden"); strings.Contains(got, canary) || !strings.Contains(got, "Permission denied") {
		t.Errorf("the child read %q", got)
	}
}

// secrets starts a child that reads our environment.
func secrets(args []string) int {
	if args[0] == "hidden" {
		process.HideSecrets()
	}
	out, _ := exec.Command("cat", "/proc/"+strconv.Itoa(os.Getpid())+"/environ").CombinedOutput()
	_, err := os.Stdout.Write(out)
	if err != nil {
		return 1
	}
	return 0
}
