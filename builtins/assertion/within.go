package assertion

import (
	"context"
	"errors"
	"fmt"

	"github.com/pexctl/pex/eval/trial"
)

// limits is a check of one metric of a run.
type limits struct {
	name        string
	least, most *float64
	figure      func(*trial.Subject) (n float64, shown string, err error)
}

var _ trial.Check = limits{}

// newLimits creates a check of a metric with at least one limit.
func newLimits(w limits) (trial.Check, error) {
	switch {
	case w.least == nil && w.most == nil:
		return nil, errors.New(w.name + " requires max or min")
	case w.least != nil && w.most != nil && *w.least > *w.most:
		return nil, fmt.Errorf("min %s is above max %s", formatNumber(*w.least), formatNumber(*w.most))
	}
	return w, nil
}

// Check implements trial.Check.
func (w limits) Check(_ context.Context, s *trial.Subject) (trial.Mark, error) {
	n, shown, err := w.figure(s)
	if err != nil {
		return trial.Mark{}, err
	}
	expected := bounds(w.least, w.most)
	switch {
	case w.most != nil && n > *w.most:
		return boolean(false, expected, shown, w.name+": "+shown+" is too much"), nil
	case w.least != nil && n < *w.least:
		return boolean(false, expected, shown, w.name+": "+shown+" is too little"), nil
	}
	return boolean(true, expected, shown, w.name+": "+shown), nil
}

// whole converts an integer limit.
func whole(n *int) *float64 {
	if n == nil {
		return nil
	}
	x := float64(*n)
	return &x
}
