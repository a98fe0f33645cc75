package storecmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/providers/badger"
)

// memoryCheckTimeout is the timeout for checking a memory: damaged files can make the
// library loop.
const memoryCheckTimeout = 10 * time.Minute

// memoryCheckCommand is run by `store check` in its own process: damaged files
// can crash the library, which then counts as a finding.
func memoryCheckCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "memory-check", Usage: "Check the memory in this process", Hidden: true,
		Flags: []cli.Flag{project.HomeFlag()},
		Action: env.Action(withFlags(func(c *call) error {
			h, err := openHomed(c)
			if err != nil {
				return err
			}
			var v memoryVerdict
			memory := project.OpenMemory(c.Call, h.memoryDir())
			v.Damage, err = memory.Check(c.Context)
			err = errors.Join(err, memory.Close())
			if err != nil {
				v.Error = err.Error()
			}
			return ui.PrintJSON(c.Call, v)
		})),
	}
}

// memoryVerdict is the output of the process that checks the memory.
type memoryVerdict struct {
	Damage []badger.Damage `json:"damage"`
	Error  string          `json:"error,omitempty"` // why it could not check
}

// checkMemory checks the memory, if there is one, in its own process.
func (r *checkReport) checkMemory(c *call, h *storeHome) error {
	entries, err := os.ReadDir(h.memoryDir())
	if len(entries) == 0 && (err == nil || errors.Is(err, os.ErrNotExist)) {
		return nil
	}
	r.Memory = true
	const fix = "restore a backup, or move the folder away to start over"
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("check memory: %w", err)
	}
	v, err := memoryInProcess(c.Context, self, h.dir)
	if err != nil {
		r.Findings = append(r.Findings, finding{File: h.memoryDir(), What: err.Error(), Fix: fix, Damage: true})
		return nil
	}
	for _, d := range v.Damage {
		what := d.What
		if d.Tenant != "" {
			what = fmt.Sprintf("tenant %s: %s", d.Tenant, what)
		}
		r.Findings = append(r.Findings, finding{File: h.memoryDir(), What: what, Fix: cmp.Or(d.Fix, fix), Damage: true})
	}
	if v.Error != "" {
		return errors.New(v.Error)
	}
	return nil
}

// memoryInProcess starts self, which is a pexctl; the error reports a crash.
func memoryInProcess(ctx context.Context, self, home string) (v memoryVerdict, err error) {
	ctx, cancel := context.WithTimeout(ctx, memoryCheckTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "store", "memory-check", "--home", home)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		return v, fmt.Errorf("the check timed out after %v", memoryCheckTimeout)
	}
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &v)
	}
	if err != nil {
		why, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
		return v, fmt.Errorf("the check crashed: %w: %.200s", err, why)
	}
	return v, nil
}
