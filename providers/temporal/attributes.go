package temporal

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/providers/temporal/attribute"
)

// attributesOf returns the search attributes of a run that starts.
func attributesOf(p *engine.Program, in *engine.Input) temporal.SearchAttributes {
	set := []temporal.SearchAttributeUpdate{
		attribute.Agent.ValueSet(p.Name), attribute.Digest.ValueSet(p.Digest), attribute.Tenant.ValueSet(tenantOf(in)),
		attribute.Status.ValueSet(statusRunning), attribute.Waiting.ValueSet(false),
	}
	if in.MemoryID != "" {
		set = append(set, attribute.Memory.ValueSet(in.MemoryID))
	}
	return temporal.NewSearchAttributes(set...)
}

// statusRunning is the status of a run that has not ended.
const statusRunning = "running"

// announce sets the search attributes of a run that waits or has ended.
func (x *execution) announce(res *engine.Result) {
	_ = workflow.UpsertTypedSearchAttributes(x.ctx, // it fails only for wrong types
		attribute.Status.ValueSet(string(res.Status)), attribute.StopReason.ValueSet(string(res.StopReason.Code)), attribute.Waiting.ValueSet(!x.ended),
		attribute.CostUSD.ValueSet(res.Usage.CostUSD), attribute.Tokens.ValueSet(int64(res.Usage.Total())),
	)
}
