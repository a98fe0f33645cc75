package runcmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/internal/app/failure"
)

func detachFlag() cli.Flag {
	return &cli.BoolFlag{Name: "detach", Usage: "Run in the background, print the run id and return; the run outlives this terminal"}
}

// detachTick is the interval at which a started run is checked for.
const detachTick = 10 * time.Millisecond

// background is a run in the background.
type background struct {
	Run    string `json:"run_id"`
	Memory string `json:"memory_id"`
	PID    int    `json:"pid"`
	Log    string `json:"log"`
}

// startDetached starts the same command in the background, and waits until its run
// exists. The arguments were validated before.
func (f *runFlags) startDetached(c *ui.Call, s *runs.Service, in engine.Input) error {
	if f.events == ui.FromStdin {
		return failure.Usagef("a run in the background (--detach) has no stdout for --events -; use --events FILE")
	}
	if f.messages == ui.FromStdin || f.paramsFile == ui.FromStdin {
		return failure.Usagef("a run in the background (--detach) has no stdin; use a file instead of -")
	}
	if err := checkRunID(s.Home(), in.RunID); err != nil {
		return err
	}
	d := background{Run: in.RunID, Memory: runtime.ConversationID(in), Log: filepath.Join(s.Home().Folder(in.RunID), journal.LogFile)}
	if err := d.start(c, s.Home()); err != nil {
		return err
	}
	return d.print(c, s.Dir(), f.outputFlags)
}

// checkRunID rejects the id of an existing run, whose log would be overwritten.
func checkRunID(home *journal.Home, run string) error {
	_, err := home.Read(run)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil, errors.Is(err, journal.ErrCorrupt), errors.Is(err, journal.ErrNewer):
		err = &journal.ExistsError{Run: run}
	}
	return project.StoreError(err)
}

// print prints the run's id, and the commands for it.
func (d *background) print(c *ui.Call, home string, f outputFlags) (err error) {
	if f.json {
		err = ui.PrintJSON(c, d)
	} else {
		_, err = fmt.Fprintln(c.Stdout, d.Run)
	}
	if err != nil || f.quiet {
		return err
	}
	run := d.Run + project.HomeArgument(c, home)
	_, err = fmt.Fprintf(c.Stderr, `Running in the background as pid %d, log %s
Follow: pexctl runs show --follow %s
Cancel: pexctl runs cancel %[3]s
Resume: pexctl resume %[3]s   # once it waits or is suspended (kill %[1]d)
`, d.PID, d.Log, run)
	return err
}

// start starts the process and waits for the run's first record. If the process
// ends before, it prints its log and returns its exit code.
func (d *background) start(c *ui.Call, home *journal.Home) error {
	self, err := os.Executable()
	if err != nil {
		return failure.Infra(fmt.Errorf("run in the background: %w", err))
	}
	if err := os.MkdirAll(filepath.Dir(d.Log), 0o700); err != nil {
		return failure.Infra(err)
	}
	log, err := regular.OpenFile(d.Log, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return failure.Infra(err)
	}
	defer log.Close()
	cmd := exec.Command(self, foregroundArgs(c, d.Run)...)
	cmd.Args[0] = c.App.Name
	cmd.Stdout, cmd.Stderr = log, log
	if err := startAlone(cmd); err != nil {
		return errors.Join(failure.Infra(fmt.Errorf("run in the background: %w", err)), home.Remove(d.Run))
	}
	d.PID = cmd.Process.Pid
	over := make(chan struct{})
	go func() {
		_ = cmd.Wait() // failed reads the exit code
		close(over)
	}()
	if d.awaitStart(home, over) {
		return nil
	}
	return d.failed(c, home, log, cmd.ProcessState.ExitCode())
}

// awaitStart waits for the run's first record. It returns false if the process ended
// without one.
func (d *background) awaitStart(home *journal.Home, over <-chan struct{}) bool {
	tick := time.NewTicker(detachTick)
	defer tick.Stop()
	for {
		select {
		case <-over:
			_, err := home.Read(d.Run)
			return err == nil
		case <-tick.C:
			if recs, _ := home.Read(d.Run); len(recs) > 0 {
				return true
			}
		}
	}
}

// failed prints the log of a process that started no run, and removes it.
func (d *background) failed(c *ui.Call, home *journal.Home, log *os.File, code int) error {
	text, err := io.ReadAll(io.NewSectionReader(log, 0, math.MaxInt64)) // its name may be gone
	if err != nil {
		return failure.Infra(err)
	}
	fmt.Fprint(c.Stderr, ui.Safe(c.Stderr, string(text)))
	if err := home.Remove(d.Run); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure.Infra(err)
	}
	if code <= ui.ExitOK {
		return failure.Infra(fmt.Errorf("the process of run %s exited before the run started", d.Run))
	}
	return ui.Exit(code, nil)
}

// foregroundArgs returns the arguments of the same command in the foreground,
// with a fixed run id and text output for the log.
func foregroundArgs(c *ui.Call, run string) []string {
	args := []string{c.Command.Name}
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !c.IsSet(name) || slices.Contains([]string{"detach", "run-id", "output"}, name) {
			continue
		}
		switch f.(type) {
		case *cli.BoolFlag:
			args = append(args, fmt.Sprintf("--%s=%t", name, c.Bool(name)))
		case *cli.StringSliceFlag:
			for _, value := range c.StringSlice(name) {
				args = append(args, "--"+name, value)
			}
		default:
			args = append(args, "--"+name, fmt.Sprint(c.Value(name)))
		}
	}
	return append(append(args, "--run-id", run, "--"), c.Args...)
}
