//go:build e2e && linux

package fleettest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/pexctl/pex/internal/temporaltest"
)

// pexctl has the commands of the program under test. All flags of the driver are here.
type pexctl struct {
	program string
	dir     string   // of the spec, which only clients need
	environ []string // of the server
}

// programDir is the folder of pexctl; "" = it was not built.
var programDir string

// builtProgram is pexctl, built once.
var builtProgram = sync.OnceValues(func() (path string, err error) {
	if programDir, err = os.MkdirTemp("", "fleet"); err != nil {
		return "", err
	}
	path = filepath.Join(programDir, "pexctl")
	out, err := exec.Command("go", "build", "-o", path, "github.com/pexctl/pex/cmd/pexctl").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build pexctl: %w\n%s", err, out)
	}
	return path, err
})

// removeProgram removes what builtProgram built.
func removeProgram() {
	if programDir != "" {
		_ = os.RemoveAll(programDir)
	}
}

func newPexctl(t *testing.T, s *temporaltest.Server, spec string) *pexctl {
	t.Helper()
	program, err := builtProgram()
	if err != nil {
		t.Fatal(err)
	}
	p := &pexctl{program: program, dir: t.TempDir()}
	if s != nil {
		p.environ = s.Environ("default")
	}
	if err := os.WriteFile(filepath.Join(p.dir, "spec.yaml"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pexctl) command(home string, args ...string) *exec.Cmd {
	c := exec.Command(p.program, args...)
	c.Dir = p.dir
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(p.dir, home), "TMPDIR=" + os.TempDir()}, p.environ...)
	return c
}

func (p *pexctl) worker(name string) *exec.Cmd {
	return p.command(name, "worker", "--queues", "workflow,tool", "--max", strconv.Itoa(workerCalls), "--create-attributes", "-q")
}

func (p *pexctl) run(id string) *exec.Cmd {
	return p.command("client", "run", "spec.yaml", id, "--driver", "temporal", "--run-id", id, "-o", "json", "-q")
}

func (p *pexctl) answer(id string, decisions []decision) *exec.Cmd {
	args := []string{"resume", id, "--driver", "temporal", "-o", "json", "-q"}
	for _, d := range decisions {
		answer := d.Path + "=redo"
		if d.Receipt != "" {
			answer = fmt.Sprintf(`%s=done:{"receipt": %q}`, d.Path, d.Receipt)
		}
		args = append(args, "--answer", answer)
	}
	return p.command("client", args...)
}

// local runs the spec in one process, without a server.
func (p *pexctl) local(id string) *exec.Cmd {
	return p.command("local", "run", "spec.yaml", id, "--run-id", id, "-o", "json", "-q")
}

// hasWorkers reports whether the program has the driver.
func (p *pexctl) hasWorkers() bool { return p.command("client", "worker", "--help").Run() == nil }
