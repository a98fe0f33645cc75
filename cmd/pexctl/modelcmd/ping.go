package modelcmd

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/probe"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/internal/app/envfile"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/host"
)

func modelsPingCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "ping", Usage: "Test text, streaming, tool calls and schemas of each LLM of a spec", ArgsUsage: "SPEC",
		Description: ui.Help("Costs less than one cent. Exits with 3 if something that the spec needs does not work. LLMs that no role uses, and those used for embeddings only, are listed but not tested.",
			"pexctl models ping spec.yaml",
			"pexctl models ping spec.yaml --llm main --timeout 2m # Wait for a model to load",
			"pexctl models ping spec.yaml -o json | jq '.llms[] | select(.ok | not)'",
		),
		Flags: append(
			append(project.SpecFlags(), ui.LiveFlags()...),
			&cli.StringSliceFlag{Name: "llm", Usage: "Only the LLM `NAME`"},
			&cli.DurationFlag{Name: "timeout", Value: 30 * time.Second, Usage: "Wait at most this `DURATION` for a reply, including retries (default: 30s)"},
			&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Value: 4, Usage: "Test `N` LLMs at a time (default: 4)"},
			&cli.StringSliceFlag{Name: "param", Aliases: []string{"p"}, Usage: "`NAME=VALUE`: Set a parameter that a base_url uses"},
			project.TrustFlag(), ui.OutputFlag(),
		),
		Action: env.Action(withFlags(modelsPing), 1),
	}
}

// ping is one check of the LLMs of a spec.
type ping struct {
	c       *call
	secrets *secret.Values
	asked   []pingResult
	watch   *pingWatch
}

// pingResult is an LLM with the findings about it.
type pingResult struct {
	placedModel

	needs []probe.Check
	found []probe.Finding // empty if it need not be called
	note  string
}

func modelsPing(c *call) error {
	if c.timeout <= 0 || c.jobs <= 0 {
		return failure.Usagef("--timeout and -j must be positive")
	}
	p, err := newPing(c)
	if err != nil {
		return err
	}
	ctx, stop := ui.OnSignal(c.Context, func() {})
	defer stop()
	p.run(ctx)
	if ctx.Err() != nil {
		return ui.Exit(ui.SignalCode(context.Cause(ctx)), nil)
	}
	if c.JSON {
		err = p.json()
	} else {
		p.print()
	}
	if err != nil {
		return err
	}
	return p.verdict()
}

func newPing(c *call) (*ping, error) {
	program, spec, err := project.Compile(c.Call, diag.Unused) // unused LLMs may be checked
	if err != nil {
		return nil, err
	}
	if err := project.CheckTrust(c.Call, spec, project.HomeDir(c.Call, spec)); err != nil {
		return nil, err
	}
	given, err := pingParameters(c, program)
	if err != nil {
		return nil, err
	}
	settings := host.Settings{Catalog: c.Catalog, Dir: spec.Dir, Root: spec.Root, Env: os.Getenv}
	p := &ping{c: c, secrets: host.Hidden(c.Catalog, program, settings.Env), watch: newPingWatch(c)}
	c.Trace.Mask(p.secrets)
	all, names := placedModels(program, spec, settings, given), c.llm
	for _, name := range names {
		if !slices.ContainsFunc(all, func(m placedModel) bool { return m.named(name) }) {
			return nil, unknownModel(all, name)
		}
	}
	for _, m := range all {
		named := slices.ContainsFunc(names, m.named)
		if len(names) == 0 && p.mergeTwin(&m) || len(names) > 0 && !named {
			continue
		}
		p.asked = append(p.asked, pingResult{placedModel: m, needs: needsOf(m.use, named)})
	}
	return p, nil
}

// mergeTwin adds the needs of an agent within the spec to an LLM that differs only in
// name, fallbacks, price and limits. It returns false if there is none.
func (p *ping) mergeTwin(m *placedModel) bool {
	if m.agent == "" {
		return false
	}
	i := slices.IndexFunc(p.asked, func(a pingResult) bool { return sameServer(&a.placedModel, m) })
	if i < 0 {
		return false
	}
	a := &p.asked[i]
	a.use.join(m)
	a.needs = needsOf(a.use, false)
	return true
}

// sameServer reports whether two LLMs call the same model in the same way.
func sameServer(a, b *placedModel) bool {
	bare := func(m *placedModel) engine.ModelSpec {
		s := *m.spec
		var missing []string
		s.BaseURL = component.Template{Text: s.BaseURL.Render(m.host.Address(&missing))}
		s.Name, s.Fallback, s.Cost, s.RateLimit = "", nil, nil, model.RateLimit{}
		return s
	}
	return sameLLM(bare(a), bare(b))
}

// pingParameters returns those of the flags. Only parameters that addresses refer
// to are required.
func pingParameters(c *call, p *engine.Program) (map[string]any, error) {
	given := map[string]any{}
	for _, flag := range c.param {
		name, value, ok := strings.Cut(flag, "=")
		if !ok {
			return nil, failure.Usagef("-p %s: write NAME=VALUE", flag)
		}
		if !hasParameter(p, name) {
			return nil, failure.Usagef("-p %s: unknown parameter %q", flag, name)
		}
		given[name] = value
	}
	return given, nil
}

// hasParameter reports whether a spec, or an agent within it, has a parameter.
func hasParameter(p *engine.Program, name string) bool {
	return slices.ContainsFunc(p.Parameters, func(known engine.Parameter) bool { return known.Name == name }) ||
		slices.ContainsFunc(p.Agents, func(inner *engine.Program) bool { return hasParameter(inner, name) })
}

func unknownModel(all []placedModel, name string) error {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].name()
	}
	if near := ui.Nearest(name, names); near != "" {
		return failure.Usagef("unknown LLM %q; did you mean %s?", name, near)
	}
	return failure.Usagef("unknown LLM %q; the spec has %s", name, ui.List(names))
}

// needsOf returns what an LLM must support: text and streaming, which runs use by
// default, and what its roles require. It returns nil for an LLM that is never
// asked for text, unless the user named it.
func needsOf(u llmUse, named bool) []probe.Check {
	if !u.text && !named {
		return nil
	}
	needs := []probe.Check{probe.Text, probe.Stream}
	if u.tools {
		needs = append(needs, probe.Tools)
	}
	if u.schema {
		needs = append(needs, probe.Schema)
	}
	return needs
}

// run checks the LLMs, a few at a time.
func (p *ping) run(ctx context.Context) {
	var all sync.WaitGroup
	free := make(chan struct{}, p.c.jobs)
	for i := range p.asked {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			p.ask(ctx, &p.asked[i])
		})
	}
	all.Wait()
	p.watch.close()
}

func (p *ping) ask(ctx context.Context, a *pingResult) {
	if a.spec.Offline() {
		a.note = a.spec.Provider + ": works offline"
		return
	}
	m, err := host.NewModel(a.spec, a.host)
	if err != nil {
		m = brokenModel{err}
	}
	key := keyOf(a.spec)
	if names := host.RequiredKey(a.spec); len(names) > 0 && key.Set == "" {
		unset := &model.Error{Kind: model.AuthError, Message: "the environment variable " + strings.Join(names, " or ") + " is not set"}
		a.found = probe.Failed(unset, host.UnsetHint(a.spec, a.path(), names, envfile.Unread(a.of.Dir, ".")))
		return
	}
	a.found = probe.Run(ctx, probe.Target{
		Model: m, Params: a.spec.Params, Cost: a.spec.Cost, RateLimit: a.spec.RateLimit,
		Path: a.path(), Address: a.address(), KeyEnvs: key.Env, KeySet: key.Set,
	}, probe.Options{
		Timeout:  p.c.timeout,
		Started:  func(c probe.Check) { p.watch.began(a.name(), c) },
		Finished: func(f probe.Finding) { p.watch.ended(a.name(), f) },
	})
	for i := range a.found {
		p.redact(&a.found[i])
	}
}

// redact masks secrets in the output of servers and models.
func (p *ping) redact(f *probe.Finding) {
	f.Note, _ = p.secrets.Text(f.Note)
	if f.Error != nil {
		clean := *f.Error
		clean.Message, _ = p.secrets.Text(clean.Message)
		f.Error = &clean
	}
}

// brokenModel is an LLM that its provider cannot build. The others are checked
// anyway.
type brokenModel struct{ err error }

var _ model.Model = brokenModel{}

// Generate returns the error.
func (m brokenModel) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	return nil, &model.Error{Kind: model.BadRequest, Message: m.err.Error(), Err: m.err}
}

// missing returns what the spec requires of an LLM and does not get.
func (a *pingResult) missing() (out []string) {
	for _, f := range a.found {
		if slices.Contains(a.needs, f.Check) && (f.Verdict == probe.No || f.Verdict == probe.Skipped && f.Check == probe.Text) {
			out = append(out, string(f.Check))
		}
	}
	return out
}

// verdict returns the exit code, which depends on the cause of the failure.
func (p *ping) verdict() error {
	var bad []string
	for i := range p.asked {
		if lacks := p.asked[i].missing(); len(lacks) > 0 {
			bad = append(bad, "LLM "+p.asked[i].name()+" failed required checks: "+strings.Join(lacks, ", "))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return failure.Infra(errors.New(strings.Join(bad, "; ")))
}
