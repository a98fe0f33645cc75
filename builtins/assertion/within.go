package assertion

import (
	"context"
	"errors"
	"fmt"

	"github.com/pexctl/pex/eval/trial"
)

// within is a check of one figure of a run.
type within struct {
	name        string
	least, most *float64
	figure      func(*trial.Subject) (n float64, shown string, err error)
}

var _ trial.Check = within{}

// newWithin makes a check of a figure that has at least one bound.
func newWithin(w within) (trial.Check, error) {
	switch {
	case w.least == nil && w.most == nil:
		return nil, errors.New(w.name + " wants max or min")
	case w.least != nil && w.most != nil && *w.least > *w.most:
		return nil, fmt.Errorf("min %s is above max %s", figure(*w.least), figure(*w.most))
	}
	return w, nil
}

// Check implements trial.Check.
func (w within) Check(_ context.Context, s *trial.Subject) (trial.Mark, error) {
	n, shown, err := w.figure(s)
	if err != nil {
		return trial.Mark{}, err
	}
	expected := bounds(w.least, w.most)
	switch {
	case w.most != nil && n > *w.most:
		return says(false, expected, shown, w.name+": "+shown+" is too much"), nil
	case w.least != nil && n < *w.least:
		return says(false, expected, shown, w.name+": "+shown+" is too little"), nil
	}
	return says(true, expected, shown, w.name+": "+shown), nil
}

// whole is a bound that is a whole number.
func whole(n *int) *float64 {
	if n == nil {
		return nil
	}
	x := float64(*n)
	return &x
}
