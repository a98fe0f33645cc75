// Package plan is the vocabulary of plans: a Plan, its Steps, how a step ended and
// the StepRecord that is kept of it. It does not know who plans or runs the steps.
package plan
