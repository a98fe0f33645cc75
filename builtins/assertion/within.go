package assertion

import (
	"context"
	"errors"
	"fmt"

	"github.com/pexctl/pex/eval/trial"
)

// limits is a check of one metric of a run.
type limits struct {
	name     string
	min, max *float64
	figure   func(*trial.Subject) (n float64, shown string, err error)
}

var _ trial.Check = limits{}

// newLimits creates a check of a metric with at least one limit.
func newLimits(w limits) (trial.Check, error) {
	switch {
	case w.min == nil && w.max == nil:
		return nil, errors.New(w.name + " requires max or min")
	case w.min != nil && w.max != nil && *w.min > *w.max:
		return nil, fmt.Errorf("min %s is above max %s", formatNumber(*w.min), formatNumber(*w.max))
	}
	return w, nil
}

// Check implements trial.Check.
func (w limits) Check(_ context.Context, s *trial.Subject) (trial.Mark, error) {
	n, shown, err := w.figure(s)
	if err != nil {
		return trial.Mark{}, err
	}
	expected := bounds(w.min, w.max)
	switch {
	case w.max != nil && n > *w.max:
		return boolean(false, expected, shown, w.name+": "+shown+" is too much"), nil
	case w.min != nil && n < *w.min:
		return boolean(false, expected, shown, w.name+": "+shown+" is too little"), nil
	}
	return boolean(true, expected, shown, w.name+": "+shown), nil
}

// intLimit converts an integer limit.
func intLimit(n *int) *float64 {
	if n == nil {
		return nil
	}
	x := float64(*n)
	return &x
}
