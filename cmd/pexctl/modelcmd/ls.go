package modelcmd

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/host"
)

func modelsLsCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "ls", Aliases: []string{"list"}, Usage: "List the LLMs of a spec with their provider, key, price and roles, without calling them", ArgsUsage: "SPEC",
		Description: ui.Help("Includes the LLMs of sub-agents and the overrides of roles.",
			"pexctl models ls spec.yaml", "pexctl models ls spec.yaml -o json | jq '.llms[] | select(.key.set == \"\")'"),
		Flags:  append(project.SpecFlags(), ui.EnvFileFlag(), ui.OutputFlag()),
		Action: env.Action(withFlags(modelsLs), 1),
	}
}

// listedModel is an LLM in a list.
type listedModel struct {
	Name     string       `json:"name"`
	Agent    string       `json:"agent,omitempty"` // the file of the agent within the spec that has it
	Path     string       `json:"path"`            // in its spec
	Provider string       `json:"provider"`
	Model    string       `json:"model,omitempty"`
	UsedBy   []string     `json:"used_by"`
	BaseURL  string       `json:"base_url,omitempty"` // "" for the provider's own
	Unset    []string     `json:"base_url_unset,omitempty"`
	Key      llmKey       `json:"key"`
	Fallback []string     `json:"fallback"`
	Cost     *model.Cost  `json:"cost"` // USD per million tokens; null if unknown
	CostFrom string       `json:"cost_from,omitempty"`
	Limits   listedLimits `json:"limits"`
	Params   model.Params `json:"params"`

	known   bool // the price does not come from the spec
	offline bool
}

// listedLimits limit the calls of an LLM; zero values are omitted.
type listedLimits struct {
	RequestsPerMinute int   `json:"requests_per_minute,omitempty"`
	TokensPerMinute   int   `json:"tokens_per_minute,omitempty"`
	MaxConcurrent     int   `json:"max_concurrent,omitempty"`
	TimeoutMS         int64 `json:"timeout_ms,omitempty"`
	MaxAttempts       int   `json:"max_attempts,omitempty"`
}

func modelsLs(c *call) error {
	p, spec, err := project.Compile(c.Call, diag.Unused) // the table shows which LLMs are unused
	if err != nil {
		return err
	}
	all := []listedModel{}
	for _, m := range placedModels(p, spec, host.Settings{Env: os.Getenv}, nil) {
		all = append(all, listedOf(&m))
	}
	if c.JSON {
		return ui.PrintJSON(c.Call, struct {
			LLMs []listedModel `json:"llms"`
		}{all})
	}
	printModels(c, all)
	return nil
}

func printModels(c *call, all []listedModel) {
	rows := [][]string{{"LLM", "PROVIDER", "MODEL", "USED BY", "AGENT", "KEY", "$/M IN, OUT", "FALLBACK", "LIMITS", "BASE URL"}}
	for _, m := range all {
		rows = append(rows, []string{
			m.Name, m.Provider, cmp.Or(m.Model, "-"), ui.CellList(m.UsedBy), cmp.Or(m.Agent, "-"), keyText(m.Key), m.priceText(), ui.CellList(m.Fallback),
			limitsText(m.Limits), addressText(m),
		})
	}
	ui.TableOrRecords(c.Stdout, ui.WithoutEmpty(rows))
}

func listedOf(p *placedModel) listedModel {
	m := p.spec
	out := listedModel{
		Name: m.Name, Agent: p.agent, Path: pathOf(m), Provider: m.Provider, Model: m.Params.Model, Key: keyOf(m),
		offline: m.Offline(), UsedBy: append([]string{}, p.use.by...), Fallback: append([]string{}, m.Fallback...),
		BaseURL: addressOf(m), Params: m.Params, Cost: m.Cost,
		Limits: listedLimits{
			m.RateLimit.RequestsPerMinute, m.RateLimit.TokensPerMinute, m.RateLimit.MaxConcurrent,
			m.Timeout.Milliseconds(), m.Retry.MaxAttempts,
		},
	}
	out.CostFrom, out.known = costFrom(p.of, m)
	m.BaseURL.Render(p.host.Address(&out.Unset))
	return out
}

func keyText(k llmKey) string {
	switch {
	case k.Set != "":
		return k.Set + " (set)"
	case len(k.Env) > 0:
		return k.Env[0] + " (not set)"
	}
	return "-"
}

// priceText formats the input and output prices, in USD per million tokens.
func (m listedModel) priceText() string {
	usd := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case m.Cost != nil && m.known:
		return usd(m.Cost.Input) + ", " + usd(m.Cost.Output) + " (table)"
	case m.Cost != nil:
		return usd(m.Cost.Input) + ", " + usd(m.Cost.Output)
	case m.offline:
		return "-"
	}
	return "unknown"
}

// costFrom returns the place that defines the price of an LLM; known reports
// whether it is a table of prices, not the spec.
func costFrom(spec *dsl.Spec, m *engine.ModelSpec) (where string, known bool) {
	entry, _, _ := strings.Cut(m.Name, "+")
	origins := spec.Explain()
	for _, path := range []string{pathOf(m) + ".cost", "llms." + entry + ".cost"} {
		for _, o := range origins {
			if o.Path == path || o.Path == path+".input" {
				return o.Origin, o.Path == path
			}
		}
	}
	return "", false
}

// limitsText omits the timeout, which every LLM has.
func limitsText(l listedLimits) string {
	var out []string
	add := func(n int, format string) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, text.Amount(n)))
		}
	}
	add(l.RequestsPerMinute, "%s requests/min")
	add(l.TokensPerMinute, "%s tokens/min")
	add(l.MaxConcurrent, "%s concurrent")
	return ui.CellList(out)
}

func addressText(m listedModel) string {
	if len(m.Unset) > 0 {
		return m.BaseURL + " (not set)"
	}
	return cmp.Or(m.BaseURL, "-")
}
