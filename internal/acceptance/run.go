//go:build unix

package acceptance

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Command creates the process that acts as pexctl with these arguments. Run sets its folder, environment and streams.
// Env has additional variables.
type Command struct {
	Path string
	Env  []string
}

// Run runs a case in an empty folder and returns the failures, one sentence each. An error means that the case could
// not be run.
func Run(c Case, pexctl Command, work string) ([]string, error) {
	cwd := filepath.Join(work, "c")
	if err := os.CopyFS(cwd, os.DirFS(c.Dir)); err != nil {
		return nil, err
	}
	saved := map[string]string{"DIR": cwd}
	var bad []string
	for n, step := range c.Steps {
		o, err := step.perform(pexctl, work, cwd, saved)
		if err != nil {
			return bad, fmt.Errorf("step %d: %w", n+1, err)
		}
		for _, m := range step.judge(o, cwd, saved) {
			bad = append(bad, fmt.Sprintf("step %d %s: %s", n+1, strings.Join(step.Args[:min(2, len(step.Args))], " "), m))
		}
	}
	return bad, nil
}

// outcome is the result of a step.
type outcome struct {
	stdout, stderr string
	exit           int
	killed         bool
}

const patience = 60 * time.Second

func (s Step) perform(pexctl Command, work, cwd string, saved map[string]string) (outcome, error) {
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = fill(saved, a)
	}
	cmd := exec.Command(pexctl.Path, args...)
	cmd.Dir = cwd
	cmd.Env = s.environment(pexctl, work)
	cmd.Stdin = strings.NewReader(s.Stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Second // processes left running may keep its streams open
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	killed, err := await(cmd, s.limit())
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return outcome{}, err
	}
	return outcome{
		stdout: strings.ToValidUTF8(stdout.String(), "\uFFFD"), stderr: strings.ToValidUTF8(stderr.String(), "\uFFFD"),
		exit: cmd.ProcessState.ExitCode(), killed: killed,
	}, nil
}

func (s Step) limit() time.Duration {
	if s.KillAfter == nil {
		return patience
	}
	return time.Duration(*s.KillAfter * float64(time.Second))
}

// await waits for a process. At the limit it kills the process alone, like a crash, and then the processes it left
// running.
func await(cmd *exec.Cmd, limit time.Duration) (killed bool, err error) {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return false, err
	case <-time.After(limit):
	}
	pid := cmd.Process.Pid
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return true, err
	}
	err = <-ended
	if e := syscall.Kill(-pid, syscall.SIGKILL); e != nil && !errors.Is(e, syscall.ESRCH) {
		return true, e
	}
	return true, err
}

func (s Step) environment(pexctl Command, work string) []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "PEX_") {
			env = append(env, kv)
		}
	}
	env = append(env, "PEX_HOME="+filepath.Join(work, "home"), "NO_COLOR=1")
	env = append(env, pexctl.Env...)
	for k, v := range s.Env {
		env = append(env, k+"="+v)
	}
	return env
}
