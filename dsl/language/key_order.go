package language

import (
	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/format"
	"github.com/pexctl/pex/dsl/specfs"
)

// KeyOrder returns the order of a file's keys. top maps its top-level keys to the
// text of their values, which determine the kind of the file.
func KeyOrder(top map[string]string) format.Order {
	kind := top["kind"]
	_, run := top["run"]
	_, render := top["render"]
	if kind == "" && (run || render) { // case.yaml
		return testsOrder()
	}
	switch kind {
	case specfs.KindAgent, specfs.KindLibrary:
		return specOrder()
	case specfs.KindTests:
		return testsOrder()
	case specfs.KindSuite:
		return suiteOrder()
	case specfs.KindPrices:
		return pricesOrder()
	case specfs.KindServer:
		return serverOrder()
	case specfs.KindTokens:
		return tokensOrder()
	}
	return format.Order{First: []string{"apiVersion", "kind", "metadata"}}
}

func specOrder() format.Order {
	models := ofStruct(LLM{})
	models.Below = map[string]format.Order{"retry": ofStruct(Retry{}), "rate_limit": ofStruct(RateLimit{}), "cost": ofStruct(Cost{})}
	role := format.Order{First: []string{"llm"}}
	graph := ofStruct(GraphKeys{})
	graph.Below = map[string]format.Order{
		"nodes": {Below: map[string]format.Order{"*": ofStruct(NodeKeys{})}},
		"edges": {Below: map[string]format.Order{"*": ofStruct(EdgeKeys{})}},
	}
	parameter := format.Order{First: []string{"type", "description", "required", "default"}}
	tools := format.Order{First: []string{"type", "use", "description", "effect", "approval", "approvers", "four_eyes"}}
	store := ofStruct(Memory{})
	store.Below = map[string]format.Order{"compaction": {
		First: config.KeysOf(CompactionKeys{}),
		Below: map[string]format.Order{"summarize": ofStruct(SummarizationKeys{}), "*": ofStruct(TruncationKeys{})},
	}}
	return format.Order{First: config.KeysOf(Spec{}), Below: map[string]format.Order{
		"metadata": ofStruct(Metadata{}), "limits": ofStruct(Limits{}), "memory": store, "output": ofStruct(Output{}),
		"llms": {Below: map[string]format.Order{"*": models}}, "tools": {Below: map[string]format.Order{"*": tools}},
		"parameters": {Below: map[string]format.Order{"*": parameter}}, "guards": {Below: map[string]format.Order{"*": ofStruct(GuardRule{})}},
		"planner": role, "executor": role, "reflector": role, "finalizer": role, "graph": graph,
		"tests": {Below: map[string]format.Order{"*": caseOrder()}},
	}}
}

func checkOrder() format.Order {
	return format.Order{Below: map[string]format.Order{"*": ofStruct(CheckKeys{})}}
}

func caseOrder() format.Order {
	order := ofStruct(CaseKeys{})
	order.Below = map[string]format.Order{
		"run": ofStruct(RunKeys{}), "inject": {Below: map[string]format.Order{"*": ofStruct(InjectKeys{})}}, "checks": checkOrder(),
		"redact": {Below: map[string]format.Order{"*": ofStruct(RedactKeys{})}},
	}
	return order
}

// testsOrder returns the order for a file of tests, or a case.yaml with a header.
func testsOrder() format.Order {
	order := caseOrder()
	order.First = append(config.KeysOf(TestsKeys{}), order.First...)
	order.Below["metadata"], order.Below["tests"] = ofStruct(Metadata{}), format.Order{Below: map[string]format.Order{"*": caseOrder()}}
	return order
}

func suiteOrder() format.Order {
	order := ofStruct(SuiteKeys{})
	order.Below = map[string]format.Order{
		"metadata": ofStruct(Metadata{}), "llms": specOrder().Below["llms"], "dataset": ofStruct(DatasetKeys{}),
		"variants": {Below: map[string]format.Order{"*": ofStruct(VariantKeys{})}}, "checks": checkOrder(), "judge": ofStruct(JudgeKeys{}),
		"gates": {Below: map[string]format.Order{"*": ofStruct(GateKeys{})}}, "baseline": ofStruct(BaselineKeys{}),
		"limits": ofStruct(SuiteLimits{}), "quarantine": {Below: map[string]format.Order{"*": ofStruct(QuarantineKeys{})}},
	}
	return order
}

func ofStruct(t any) format.Order { return format.Order{First: config.KeysOf(t)} }
