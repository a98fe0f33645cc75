package servecmd

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/serverspec"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/server/agents"
)

// setup is what the arguments of serve say.
type setup struct {
	config *serverspec.Config
	file   string   // the server file; "" = none
	specs  []string // files and folders, without a server file
	home   string
	listen string // in place of listen of the server file; "" = that

	path    string // of the server file, or of noFile
	options dsl.Options
	compile dsl.Options   // of the specs
	owner   *engine.Actor // see access.Server
}

// readSetup reads the arguments, and the server file if there is one. listen replaces the address
// in it, unless it is "".
func readSetup(c *ui.Call, listen string) (*setup, error) {
	s := &setup{specs: c.Args, listen: listen, compile: project.SpecOptions(c)}
	if len(s.specs) == 0 {
		s.specs = []string{"."}
	}
	if i := slices.IndexFunc(s.specs, isServerFile); i >= 0 {
		if len(s.specs) > 1 {
			return nil, failure.WithHintf(failure.Usagef("%s is a server file, so no other argument is possible", s.specs[i]), "list the specs under agents of the server file")
		}
		s.file, s.specs = specfs.InFolder(s.specs[i], specfs.ServerFile), nil
	}
	if err := s.load(c); err != nil {
		return nil, err
	}
	var err error
	s.home, err = project.HomeHere(c)
	if s.file != "" {
		s.home, err = project.HomeOfSpec(c, s.file)
	}
	return s, err
}

// isServerFile reports whether a path is a server file, or a folder with one.
func isServerFile(path string) bool {
	kind, err := specfs.Kind(specfs.InFolder(path, specfs.ServerFile))
	return err == nil && kind == specfs.KindServer
}

// noFile is the server file that applies if there is none.
const noFile = "apiVersion: pex/v1\nkind: Server\nmetadata: {name: pexctl}\n"

// load reads the configuration.
func (s *setup) load(c *ui.Call) error {
	s.options, s.path = project.SpecOptions(c), s.file
	s.options.Insecure = c.Bool("insecure")
	if s.file == "" {
		dir, err := os.Getwd()
		if err != nil {
			return failure.Usagef("%w", err)
		}
		s.path = filepath.Join(dir, ".pexctl-serve.yaml") // is not on disk
		s.options.Set, s.options.Environ = nil, nil       // they are for the specs
		s.options.Read = func(file string) ([]byte, error) {
			if file == s.path {
				return []byte(noFile), nil
			}
			return nil, specfs.ErrOnDisk
		}
	}
	if s.listen != "" {
		s.options.Set = append(slices.Clip(s.options.Set), "listen="+s.listen)
	}
	config, found := dsl.LoadServer(s.path, s.options)
	s.config = config
	return ui.ShowDiagnostics(c, found)
}

// again reads the server file again.
func (s *setup) again() (*setup, error) {
	next := *s
	config, found := dsl.LoadServer(s.path, s.options)
	if found.Failed() {
		return nil, &agents.InvalidError{Found: found}
	}
	next.config = config
	return &next, nil
}

// definitions returns the agents to serve.
func (s *setup) definitions() ([]agents.Definition, error) {
	var out []agents.Definition
	for _, a := range s.config.Agents {
		out = append(out, agents.Definition{Name: a.Name, Spec: a.Spec, Set: a.Set, Expose: append([]string{}, a.Expose...), AllowSet: append([]string{}, a.AllowSet...), Roles: a.Roles, OnBusy: a.OnBusy})
	}
	if s.file != "" && len(out) > 0 {
		return out, nil
	}
	if s.owner != nil {
		return []agents.Definition{{Spec: s.specs[0]}}, nil
	}
	folders := s.specs
	if s.file != "" {
		folders = []string{filepath.Dir(s.file)}
	}
	for _, path := range folders {
		specs, err := specsOf(path)
		if err != nil {
			return nil, err
		}
		for _, spec := range specs {
			out = append(out, agents.Definition{Spec: spec})
		}
	}
	return out, nil
}

// specsOf returns the specs that an argument stands for.
func specsOf(path string) ([]string, error) {
	info, err := os.Stat(specfs.FileOf(path))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, failure.NotFoundf(specfs.SpecsHint(".", "."), "%s does not exist", path)
	case err != nil:
		return nil, failure.Usagef("%w", err)
	case !info.IsDir():
		return []string{path}, nil
	}
	specs, _, err := specfs.Walk(path)
	if err != nil {
		return nil, failure.Usagef("%w", err)
	}
	if len(specs) == 0 {
		return nil, failure.WithHintf(failure.Usagef("no spec below %s", path), "pexctl init creates a project")
	}
	return specs, nil
}
