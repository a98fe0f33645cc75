package evalcmd

import (
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// call is a call of one of these commands, with its flags.
type call struct {
	*ui.Call
	flags
}

// flags are the flags of all commands of this package. Flags that a command does
// not have are zero.
type flags struct {
	allTrials, conversation, dryRun, force                                    bool
	baseline, caseID, failing, id, inconclusive, maxErrors, olderThan, resume string
	shard, suite, to, variant                                                 string
	variants                                                                  []string
	first, limit, sample, trial                                               int
	margin, maxCost                                                           float64
	seed                                                                      int64
	tag                                                                       []string
}

// withFlags reads the flags of a command before it runs.
func withFlags(do func(*call) error) func(*ui.Call) error {
	return func(c *ui.Call) error { return do(&call{c, readFlags(c)}) }
}

func readFlags(c *ui.Call) flags {
	return flags{
		allTrials:    c.Bool("all-trials"),
		baseline:     c.String("baseline"),
		caseID:       c.String("case"),
		conversation: c.Bool("conversation"),
		dryRun:       c.Bool("dry-run"),
		failing:      c.String("failing"),
		first:        c.Int("first"),
		force:        c.Bool("force"),
		id:           c.String("id"),
		inconclusive: c.String("inconclusive"),
		limit:        c.Int("limit"),
		margin:       c.Float64("margin"),
		maxCost:      c.Float64("max-cost"),
		maxErrors:    c.String("max-errors"),
		olderThan:    c.String("older-than"),
		resume:       c.String("resume"),
		sample:       c.Int("sample"),
		seed:         c.Int64("seed"),
		shard:        c.String("shard"),
		suite:        c.String("suite"),
		tag:          c.StringSlice("tag"),
		to:           c.String("to"),
		trial:        c.Int("trial"),
		variant:      c.String("variant"),
		variants:     c.StringSlice("variant"),
	}
}
