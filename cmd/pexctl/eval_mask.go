package main

import (
	"encoding/json"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/eval/trial"
)

// mask takes the values of the environment variables that the specs and the
// suite name out of rows: nothing that is written of an evaluation holds them.
func (s *suite) mask() func(*trial.Row) {
	var all []*secret.Values
	for i := range s.variants {
		all = append(all, secretsOf(s.variants[i].Program, engine.Host{Env: environment}))
	}
	return func(row *trial.Row) {
		for _, v := range all {
			maskRow(row, v)
		}
	}
}

// maskRow masks a row as a whole: wherever in it a value stands.
func maskRow(row *trial.Row, v *secret.Values) {
	b, err := json.Marshal(row)
	if err != nil {
		return // what cannot be encoded is not written either
	}
	masked, found := v.JSON(b)
	if !found {
		return
	}
	var clean trial.Row
	if json.Unmarshal(masked, &clean) == nil {
		clean.Run.StopReason.Status = row.Run.StopReason.Status
		*row = clean
	}
}
