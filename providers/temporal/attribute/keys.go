package attribute

import (
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
)

// Search attributes of runs. A run has those that apply to it.
var (
	Agent      = temporal.NewSearchAttributeKeyKeyword("PexAgent")      // name of the agent
	Digest     = temporal.NewSearchAttributeKeyKeyword("PexDigest")     // of the program
	Tenant     = temporal.NewSearchAttributeKeyKeyword("PexTenant")     // whose run it is
	Status     = temporal.NewSearchAttributeKeyKeyword("PexStatus")     // of the run, as in its result
	StopReason = temporal.NewSearchAttributeKeyKeyword("PexStopReason") // code of the stop reason
	Memory     = temporal.NewSearchAttributeKeyKeyword("PexMemory")     // memory id of the conversation
	Eval       = temporal.NewSearchAttributeKeyKeyword("PexEval")       // id of the evaluation
	Case       = temporal.NewSearchAttributeKeyKeyword("PexCase")       // case of the evaluation
	Waiting    = temporal.NewSearchAttributeKeyBool("PexWaiting")       // a human must answer
	CostUSD    = temporal.NewSearchAttributeKeyFloat64("PexCostUSD")    // so far
	Tokens     = temporal.NewSearchAttributeKeyInt64("PexTokens")       // so far, of all kinds
)

// Attribute is a search attribute that a namespace must have.
type Attribute struct {
	Name string
	Type enums.IndexedValueType
}

// All returns the attributes in the order in which commands list them.
func All() []Attribute {
	var out []Attribute
	for _, k := range []temporal.SearchAttributeKey{Agent, Digest, Tenant, Status, StopReason, Memory, Eval, Case, Waiting, CostUSD, Tokens} {
		out = append(out, Attribute{k.GetName(), k.GetValueType()})
	}
	return out
}
