package evalcmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pexctl/pex/builtins/assertion"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/dataset"
	"github.com/pexctl/pex/eval/judge"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/procguard"
	"github.com/pexctl/pex/internal/app/version"
)

// suite is a suite with compiled variants and checks.
type suite struct {
	*suitespec.Suite
	file     string // as given, for reports
	source   dataset.Source
	variants []batch.Variant
	specs    []*dsl.Spec // of the variants
	infos    []report.VariantInfo
	checks   []batch.Graded
	warnings []string // for reports

	mu     sync.Mutex
	opened []engine.Host // hosts of trials, to close
}

// close closes the hosts of trials.
func (s *suite) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for i := range s.opened {
		errs = append(errs, s.opened[i].Close())
	}
	s.opened = nil
	return errors.Join(errs...)
}

// host returns a host for trials, which close closes.
func (s *suite) host(p *engine.Program, settings host.Settings) (engine.Host, error) {
	h, err := host.New(p, settings)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, h)
	return h, err
}

// loadSuite reads the suite of a command and its specs, and builds the checks. It
// opens nothing and makes no calls.
func loadSuite(c *call, path string) (*suite, error) {
	o := project.SpecOptions(c.Call)
	if err := checkFlags(c); err != nil {
		return nil, err
	}
	for _, flag := range []struct{ name, path string }{
		{"repeat", "repeat"},
		{"concurrency", "concurrency"},
		{"max-errors", "max_errors"},
		{"max-cost", "limits.max_cost"},
		{"margin", "baseline.margin"},
		{"inconclusive", "baseline.on_inconclusive"},
	} {
		if c.IsSet(flag.name) {
			o.Set = append(o.Set, fmt.Sprintf("%s=%v", flag.path, c.Value(flag.name)))
		}
	}
	o.Programs = dsl.NewPrograms(o)
	if c.IsSet("max-cost") && c.maxCost == 0 {
		return nil, failure.Usagef("--max-cost 0 would run nothing; leave it out for no limit")
	}
	read, found := dsl.LoadSuite(path, o)
	if err := ui.ShowDiagnostics(c.Call, found); err != nil {
		return nil, err
	}
	s := &suite{Suite: read, file: path, source: dataset.Source{Dataset: &read.Dataset, Name: fspath.Shown(cmp.Or(read.Dataset.File, read.File))}}
	if err := s.compile(c, o.Programs); err != nil {
		return nil, err
	}
	if err := s.graders(c.Catalog); err != nil {
		return nil, err
	}
	return s, s.checkRivals()
}

// share matches the values of max_errors.
var share = text.Regexp(`^\d+$|^\d+(?:\.\d+)?%$`)

// checkFlags checks the flags that replace keys of the suite, and reports mistakes
// with the flag's name.
func checkFlags(c *call) error {
	if s := c.maxErrors; c.IsSet("max-errors") && !share().MatchString(s) {
		return failure.Usagef("invalid value %q for --max-errors; use a number or a percentage of trials, such as 5 or 2%%", s)
	}
	if s := c.inconclusive; c.IsSet("inconclusive") && s != "pass" && s != "fail" {
		return failure.Usagef("invalid value %q for --inconclusive; use pass or fail", s)
	}
	if m := c.margin; c.IsSet("margin") && !(m >= 0 && m <= 1) {
		return failure.Usagef("invalid value %g for --margin; use a share between 0 and 1, such as 0.02", m)
	}
	if m := c.maxCost; c.IsSet("max-cost") && m < 0 {
		return failure.Usagef("--max-cost %g: USD, above 0", m)
	}
	return nil
}

// checkRivals reports an excluded variant that a check compares with.
func (s *suite) checkRivals() error {
	for _, g := range s.checks {
		p, ok := g.Check.(trial.Paired)
		if ok && !slices.ContainsFunc(s.variants, func(v batch.Variant) bool { return v.Name == p.Against() }) {
			return failure.Usagef("the check %s compares with the variant %s; add --variant %[2]s", g.Spec.Name, p.Against())
		}
	}
	return nil
}

// compile compiles the selected variants.
func (s *suite) compile(c *call, programs *dsl.Programs) error {
	asked := c.variants
	for _, name := range asked {
		if !slices.ContainsFunc(s.Variants, func(v suitespec.Variant) bool { return v.Name == name }) {
			return failure.Usagef("unknown variant %q; the suite has %s", name, ui.List(variantNames(s.Variants)))
		}
	}
	for _, v := range s.Variants {
		if len(asked) > 0 && !slices.Contains(asked, v.Name) {
			continue
		}
		p, spec, found := programs.Compile(v.Spec, v.Set)
		if err := ui.ShowDiagnostics(c.Call, found); err != nil {
			return err
		}
		host, err := s.hosts(c, p, spec)
		if err != nil {
			return err
		}
		s.specs = append(s.specs, spec)
		s.variants = append(s.variants, batch.Variant{Name: v.Name, Program: p, Host: host, Inputs: s.source.Inputs(p)})
		s.infos = append(s.infos, report.VariantInfo{
			Name: v.Name, File: fspath.Shown(spec.File), Set: v.Set, Priced: len(spec.Unpriced()) == 0,
			Spec: engine.SpecInfo{Name: p.Name, Version: p.Version, Digest: p.Digest},
		})
	}
	return nil
}

func variantNames(all []suitespec.Variant) []string {
	var out []string
	for _, v := range all {
		out = append(out, cmp.Or(v.Name, "an unnamed one"))
	}
	return out
}

// hosts returns the hosts of trials: one for all, unless the address of an LLM
// depends on their parameters. Trials have no conversation memory.
func (s *suite) hosts(c *call, p *engine.Program, spec *dsl.Spec) (func(map[string]any) (engine.Host, error), error) {
	settings := host.Settings{Catalog: c.Catalog, Dir: spec.Dir, Root: spec.Root, Spec: spec.File, Allow: c.AllowPaths, Env: os.Getenv}
	if slices.ContainsFunc(p.Models, func(m engine.ModelSpec) bool { return strings.Contains(m.BaseURL.Text, "parameters.") }) {
		return func(parameters map[string]any) (engine.Host, error) {
			own := settings
			own.Parameters = parameters
			return s.host(p, own)
		}, nil
	}
	host, err := s.host(p, settings)
	if err != nil {
		return nil, failure.Usagef("%w", err)
	}
	return func(map[string]any) (engine.Host, error) { return host, nil }, nil
}

// graders builds the checks, and the models that they call.
func (s *suite) graders(components *catalog.Catalog) error {
	settings := trial.CheckSettings{
		Dir: s.Dir, Root: s.Root, Env: os.Getenv, UserAgent: version.UserAgent(), Guard: procguard.Watch,
	}
	models := host.Settings{Catalog: components, Dir: s.Dir, Root: s.Root, Env: os.Getenv}
	if s.Judge != nil {
		m, err := host.NewModel(&s.Judge.Model, models)
		if err != nil {
			return failure.Usagef("judge: %w", err)
		}
		settings.Judge = judge.New(m, &s.Judge.Model)
		settings.Rubric = s.Judge.Rubric
	}
	if s.Embed != nil {
		m, err := host.NewModel(s.Embed, models)
		if err != nil {
			return failure.Usagef("embed: %w", err)
		}
		embedder, ok := m.(model.Embedder)
		if !ok {
			return failure.Usagef("embed: provider %s has no embeddings; use openai (or any compatible server) or scripted", s.Embed.Provider)
		}
		settings.Embedder, settings.EmbedCost = embedder, s.Embed.Cost
	}
	var err error
	s.checks, err = buildChecks(s.Checks, settings)
	return err
}

// buildChecks builds the checks of a suite or test.
func buildChecks(specs []testspec.Check, settings trial.CheckSettings) ([]batch.Graded, error) {
	kinds := assertion.All()
	out := make([]batch.Graded, len(specs))
	for i, spec := range specs {
		f, ok := kinds.Find(spec.Type)
		if !ok {
			return nil, failure.Usagef("%s:%d: unknown check %q", spec.Position.File, spec.Position.Line, spec.Type)
		}
		settings.Name = spec.Name
		check, err := f.Build(spec.Config, settings)
		if err != nil {
			return nil, failure.Usagef("%s:%d: check %s: %w", spec.Position.File, spec.Position.Line, spec.Name, err)
		}
		out[i] = batch.Graded{Spec: spec, Check: check}
	}
	return out, nil
}

// checkInfos returns the checks in the form for reports.
func (s *suite) checkInfos() []report.CheckInfo {
	var out []report.CheckInfo
	for _, c := range s.Checks {
		out = append(out, report.CheckInfo{Name: c.Name, Type: c.Type, Weight: c.Weight, Line: c.Position.Line})
	}
	return out
}

// needsPrompts reports whether a check reads trace.prompts: trials then store
// them.
func needsPrompts(checks []batch.Graded) bool {
	return slices.ContainsFunc(checks, func(g batch.Graded) bool {
		p, ok := g.Check.(trial.Prompted)
		return ok && p.Prompts()
	})
}

// filter returns the filter of the dataset for the flags.
func (s *suite) filter(c *call, home string) (f dataset.Filter, err error) {
	f = dataset.Filter{Tags: c.tag, Sample: c.sample, Seed: c.seed, First: c.first}
	for _, name := range []string{"sample", "first", "repeat", "concurrency"} {
		if c.IsSet(name) && c.Int(name) < 1 {
			return f, failure.Usagef("invalid value %[2]d for --%[1]s; it must be at least 1", name, c.Int(name))
		}
	}
	if f.Match, err = pattern(c, "run"); err != nil {
		return f, err
	}
	if shard := c.shard; shard != "" {
		if f.Shard, f.Shards, err = dataset.ParseShard(shard); err != nil {
			return f, failure.Usagef("--shard: %w", err)
		}
	}
	if id := c.failing; id != "" {
		dir, err := s.earlier(home, id, "failing")
		if err != nil {
			return f, err
		}
		if f.Only, err = failedIn(dir); err != nil {
			return f, err
		}
		if err := c.SetFlag("failing", filepath.Base(dir)); err != nil { // when resuming, another evaluation is the latest
			return f, err
		}
		c.flags = readFlags(c.Call)
		f.Why = "that did not pass in " + filepath.Base(dir)
	}
	return f, nil
}

// failedIn selects the cases that did not pass in an earlier evaluation.
func failedIn(dir string) (func(id string) bool, error) {
	rows, err := batch.OpenRows(dir)
	if err != nil {
		return nil, failure.Usagef("--failing: %w", err)
	}
	failed := map[string]bool{}
	for row, err := range rows() {
		if err != nil {
			return nil, failure.Infra(err)
		}
		if row.Outcome == trial.Failed || row.Outcome == trial.Errored {
			failed[row.Case] = true
		}
	}
	if len(failed) == 0 {
		return nil, failure.Usagef("--failing: all cases passed in %s", filepath.Base(dir))
	}
	return func(id string) bool { return failed[id] }, nil
}
