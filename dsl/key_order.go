package dsl

import (
	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/format"
	"github.com/pexctl/pex/dsl/specfs"
)

// Format gives a file of any kind its canonical layout, with keys in the order of
// the language. See format.Source.
func Format(src []byte) ([]byte, diag.List) { return format.Source(src, orderOf) }

// orderOf is the order of a file's top keys, by its kind.
func orderOf(top map[string]string) format.Order {
	kind := top["kind"]
	_, run := top["run"]
	_, render := top["render"]
	if kind == "" && (run || render) { // a case.yaml
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
	}
	return format.Order{First: []string{"apiVersion", "kind", "metadata"}}
}

func specOrder() format.Order {
	models := ofStruct(llm{})
	models.Below = map[string]format.Order{"retry": ofStruct(retry{}), "rate_limit": ofStruct(rateLimit{}), "cost": ofStruct(cost{})}
	role := format.Order{First: []string{"llm"}}
	graph := ofStruct(graphKeys{})
	graph.Below = map[string]format.Order{
		"nodes": {Below: map[string]format.Order{"*": ofStruct(nodeKeys{})}},
		"edges": {Below: map[string]format.Order{"*": ofStruct(edgeKeys{})}},
	}
	parameter := format.Order{First: []string{"type", "description", "required", "default"}}
	tools := format.Order{First: []string{"type", "use", "description", "effect", "approval"}}
	store := ofStruct(memory{})
	store.Below = map[string]format.Order{"compaction": {
		First: config.KeysOf(compactionKeys{}),
		Below: map[string]format.Order{"summarize": ofStruct(summarizationKeys{}), "*": ofStruct(truncationKeys{})},
	}}
	return format.Order{First: config.KeysOf(document{}), Below: map[string]format.Order{
		"metadata": ofStruct(metadata{}), "limits": ofStruct(limits{}), "memory": store, "output": ofStruct(output{}),
		"llms": {Below: map[string]format.Order{"*": models}}, "tools": {Below: map[string]format.Order{"*": tools}},
		"parameters": {Below: map[string]format.Order{"*": parameter}}, "guards": {Below: map[string]format.Order{"*": ofStruct(guardRule{})}},
		"planner": role, "executor": role, "reflector": role, "finalizer": role, "graph": graph,
		"tests": {Below: map[string]format.Order{"*": caseOrder()}},
	}}
}

func checkOrder() format.Order {
	return format.Order{Below: map[string]format.Order{"*": ofStruct(checkKeys{})}}
}

func caseOrder() format.Order {
	order := ofStruct(caseKeys{})
	order.Below = map[string]format.Order{
		"run": ofStruct(runKeys{}), "inject": {Below: map[string]format.Order{"*": ofStruct(injectKeys{})}}, "checks": checkOrder(),
		"redact": {Below: map[string]format.Order{"*": ofStruct(redactKeys{})}},
	}
	return order
}

// testsOrder is the order of a file of tests, and of a case.yaml with a header.
func testsOrder() format.Order {
	order := caseOrder()
	order.First = append(config.KeysOf(testsKeys{}), order.First...)
	order.Below["metadata"], order.Below["tests"] = ofStruct(metadata{}), format.Order{Below: map[string]format.Order{"*": caseOrder()}}
	return order
}

func suiteOrder() format.Order {
	order := ofStruct(suiteKeys{})
	order.Below = map[string]format.Order{
		"metadata": ofStruct(metadata{}), "llms": specOrder().Below["llms"], "dataset": ofStruct(datasetKeys{}),
		"variants": {Below: map[string]format.Order{"*": ofStruct(variantKeys{})}}, "checks": checkOrder(), "judge": ofStruct(judgeKeys{}),
		"gates": {Below: map[string]format.Order{"*": ofStruct(gateKeys{})}}, "baseline": ofStruct(baselineKeys{}),
		"limits": ofStruct(suiteLimits{}), "quarantine": {Below: map[string]format.Order{"*": ofStruct(quarantineKeys{})}},
	}
	return order
}

func ofStruct(t any) format.Order { return format.Order{First: config.KeysOf(t)} }
