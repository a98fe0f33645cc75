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

// pickedBy are the flags that say what an evaluation is of: one that is gone on
// with has those that it was begun with.
var pickedBy = []string{"root", "allow-path", "set", "run", "tag", "variant", "sample", "seed", "first", "shard", "failing", "repeat", "all-trials"}

// picked are the flags that were given of those, with their values; one that
// holds a secret is left out, and is to be given again.
func (e *evaluation) picked(secrets []*secret.Values) map[string][]string {
	out := map[string][]string{}
	for _, name := range pickedBy {
		if !e.c.IsSet(name) {
			continue
		}
		values := e.c.StringSlice(name)
		if values == nil {
			values = []string{fmt.Sprint(e.c.Value(name))}
		}
		if !holds(secrets, strings.Join(values, "\n")) {
			out[name] = values
		}
	}
	return out
}

func holds(secrets []*secret.Values, text string) bool {
	for _, v := range secrets {
		if _, found := v.Text(text); found {
			return true
		}
	}
	return false
}

// goesOn gives the command the flags of the evaluation that it goes on with, but
// for those that it was given itself: these are compared. What cannot be read
// is left to whoever reads it in earnest.
func goesOn(c *call, path string) error {
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
	for _, name := range pickedBy {
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
