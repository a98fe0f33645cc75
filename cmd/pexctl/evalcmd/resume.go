package evalcmd

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/internal/app/failure"
)

// selectionFlags are the flags that select the trials of an evaluation. A resumed
// evaluation uses those of its start.
var selectionFlags = []string{"root", "allow-path", "set", "run", "tag", "variant", "sample", "seed", "first", "shard", "failing", "repeat", "all-trials"}

// selectedFlags returns the given ones of those flags with their values. It omits flags
// that contain a secret, which must be given again.
func (e *evaluation) selectedFlags(secrets []*secret.Values) map[string][]string {
	out := map[string][]string{}
	for _, name := range selectionFlags {
		if !e.c.IsSet(name) {
			continue
		}
		values := e.c.StringSlice(name)
		if values == nil {
			values = []string{fmt.Sprint(e.c.Value(name))}
		}
		if !containsSecret(secrets, strings.Join(values, "\n")) {
			out[name] = values
		}
	}
	return out
}

func containsSecret(secrets []*secret.Values, text string) bool {
	for _, v := range secrets {
		if _, found := v.Text(text); found {
			return true
		}
	}
	return false
}

// restoreFlags sets the flags of the evaluation that the command resumes, except those
// that are given, which are compared. Reading errors are reported later.
func restoreFlags(c *call, path string) error {
	id := c.resume
	if id == "" {
		return nil
	}
	read, _ := dsl.LoadSuite(path, project.SpecOptions(c.Call))
	if read == nil {
		return nil
	}
	s := &suite{Suite: read, file: path}
	dir, err := s.earlier(project.HomeOf(c.Call, s.Root), id, "resume")
	if err != nil {
		return err
	}
	m, err := batch.ReadManifest(dir)
	if err != nil {
		return failure.Infra(err)
	}
	if err := c.SetFlag("resume", filepath.Base(dir)); err != nil {
		return err
	}
	for _, name := range selectionFlags {
		if c.IsSet(name) {
			continue
		}
		for _, v := range m.Flags[name] {
			if err := c.SetFlag(name, v); err != nil {
				return failure.Infra(err)
			}
		}
	}
	c.flags = readFlags(c.Call)
	c.PinPrices(m.Prices)
	return nil
}
