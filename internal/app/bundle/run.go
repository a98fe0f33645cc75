package bundle

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/engine/regular"
)

// HostError is returned for a program with a tool that needs one machine, or a store that only one
// machine can open.
type HostError struct {
	Agent string // name of the agent of the tool
	Tool  string
	Why   string
	Code  string // its diagnostic, for pexctl explain
	Hint  string
}

// Error names the tool and what to change.
func (e *HostError) Error() string {
	return fmt.Sprintf("tool %q of %s %s (%s): %s", e.Tool, e.Agent, e.Why, e.Code, e.Hint)
}

// Check returns a HostError for each tool that cannot run on several machines: the same as vet
// reports for the spec. Programs that vet has not seen are checked by it before they start.
func Check(p *engine.Program) error {
	errs := unplaced(p)
	if name := p.StatefulTool(); name != "" && p.Memory.Backend == "badger" {
		errs = append(errs, &HostError{p.Name, name, "changes the session state of the conversation, and memory.backend is badger, which only one machine can open", "PEX101", "write memory: {backend: postgres, dsn_env: VARIABLE}"})
	}
	return errors.Join(errs...)
}

func unplaced(p *engine.Program) (errs []error) {
	for i := range p.Tools {
		if what := p.Tools[i].NeedsHost(); what != "" {
			errs = append(errs, &HostError{p.Name, p.Tools[i].Name, "needs " + what + ", which other machines may not have", "PEX100", "write host: LABEL at the tool, or host: any"})
		}
	}
	for _, a := range p.Agents {
		errs = append(errs, unplaced(a)...)
	}
	return errs
}

// PackRun returns the bundle of a run that is to start on other machines: of its program, with the
// files of its user. These become artifacts of the input. home has those that are artifacts already.
// The error is a HostError if the program needs this machine.
func PackRun(p *engine.Program, in *engine.Input, home string) ([]byte, error) {
	if err := Check(p); err != nil {
		return nil, err
	}
	paths := in.FilePaths(home)
	contents := map[string]upload{}
	digests := maps.Clone(in.Artifacts)
	total := 0
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		b, err := readUpload(paths[name], MaxSize-total)
		if err != nil {
			return nil, fmt.Errorf("file %q: %w", name, err)
		}
		total += len(b)
		digest := blob.Of(b).SHA256
		contents[digest] = upload{digest, len(b), b}
		if digests == nil {
			digests = map[string]string{}
		}
		if was, stored := digests[name]; stored && was != digest {
			return nil, fmt.Errorf("file %q: the artifact is damaged", name)
		}
		digests[name] = digest
	}
	all := slices.SortedFunc(maps.Values(contents), func(a, b upload) int { return cmp.Compare(a.SHA256, b.SHA256) })
	b, err := pack(p, in.Origin, all)
	if err != nil {
		return nil, err
	}
	if len(paths) > 0 {
		in.Artifacts, in.FilesDir = digests, ""
	}
	return b, nil
}

// readUpload reads a file of at most most bytes.
func readUpload(path string, most int) ([]byte, error) {
	f, err := regular.Open(path)
	switch {
	case errors.Is(err, regular.ErrType):
		return nil, errors.New("only regular files can be sent to other machines, not folders")
	case errors.Is(err, fs.ErrNotExist):
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(b) > most {
		err = fmt.Errorf("%w: its files have more than %d MiB", ErrTooLarge, MaxSize>>20)
	}
	return b, err
}

// store puts the files of the run's user into the artifacts of a home.
func (b *Bundle) store(home string) error {
	to := artifact.Open(home, 0)
	for _, a := range b.manifest.Artifacts {
		if info, err := os.Stat(artifact.Path(home, a.SHA256)); err == nil && info.Size() == int64(a.Size) {
			continue
		}
		if _, _, err := to.Put(bytes.NewReader(a.content)); err != nil {
			return err
		}
	}
	return nil
}
