package runcmd

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/probe"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runs"
)

// modelHint suggests how to fix the failed model call that ended a run; it
// returns "" if nothing is known.
func modelHint(session *runs.Session, res *engine.Result) string {
	name, ok := strings.CutPrefix(res.StopReason.Path, "llms.")
	if res.Failure == nil || !ok {
		return ""
	}
	models := session.Program.Models
	i := slices.IndexFunc(models, func(m engine.ModelSpec) bool { return m.Name == name })
	if i < 0 {
		return ""
	}
	llm := &models[i]
	t := probe.Target{Path: res.StopReason.Path, RateLimit: llm.RateLimit}
	if llm.BaseURL.Text != "" {
		t.Address = t.Path + ".base_url"
	}
	known := llm.KeyVariables()
	t.KeyEnvs = slices.Concat(known.Names, known.Others)
	if llm.APIKeyEnv != "" {
		t.KeyEnvs = []string{llm.APIKeyEnv}
	}
	if i := slices.IndexFunc(t.KeyEnvs, func(name string) bool { return session.Host.Env(name) != "" }); i >= 0 {
		t.KeySet = t.KeyEnvs[i]
	}
	advice := t.Advice(res.Failure)
	if advice == "" {
		return ""
	}
	if k := res.Failure.Kind; k.Retryable() || k == model.BadReply {
		advice = "gave up after " + ui.Count(max(1, res.Failure.Attempts), "attempt") + "; " + advice
	}
	return advice + " (pexctl models ping tests the LLMs of a spec)"
}
