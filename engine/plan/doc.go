// Package plan defines plans: a Plan, its Steps, their statuses and records. It does not
// know how plans are made or run.
package plan
