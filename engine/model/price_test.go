package model_test

import (
	"math"
	"testing"

	"github.com/pexctl/pex/engine/model"
)

func TestCostOfACall(t *testing.T) {
	whole := &model.Cost{Input: 10, Output: 100, CachedInput: 1, CacheWrite: 20}
	long := &model.Cost{Input: 10, Output: 100, Above: &model.CostAbove{Tokens: 1000, Input: 20, Output: 200, CachedInput: 2, CacheWrite: 40}}
	tests := []struct {
		name string
		cost *model.Cost
		used model.Tokens
		want float64 // USD a million times
	}{
		{"unknown", nil, model.Tokens{Input: 5, Output: 5}, 0},
		{"input and output", whole, model.Tokens{Input: 3, Output: 2, Reasoning: 1}, 30 + 200},
		{"cached", whole, model.Tokens{Input: 3, Cached: 2}, 10 + 2},
		{"written", whole, model.Tokens{Input: 6, Cached: 2, CacheWrite: 3}, 10 + 2 + 60},
		{"a cache without prices", &model.Cost{Input: 10}, model.Tokens{Input: 6, Cached: 2, CacheWrite: 3}, 60},
		{"more in the cache than there was", whole, model.Tokens{Input: 2, Cached: 5, CacheWrite: 5}, 2},
		{"just not long", long, model.Tokens{Input: 1000, Output: 1}, 10_000 + 100},
		{"long", long, model.Tokens{Input: 1001, Output: 1, Cached: 1000, CacheWrite: 1}, 2000 + 40 + 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.cost.Of(tt.used) * 1e6; math.Abs(got-tt.want) > 1e-6 {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}
