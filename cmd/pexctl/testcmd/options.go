package testcmd

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/outputs"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/internal/app/failure"
)

// testOptions are the parsed flags of `pexctl test`.
type testOptions struct {
	out         *outputs.Outputs
	json        bool // -o json
	quiet       bool
	update      bool
	review      bool
	record      string // missing, all or ""
	only        *regexp.Regexp
	shard       shard
	jobs        int
	list        bool
	watch       bool
	stale       bool
	allowed     []drift.Class
	unused      bool // unused golden files are failures
	cover       bool
	minCoverage float64 // minimum coverage, 0 to 1
	allow       []string
	// noCommands rejects programs that tools and checks would start.
	noCommands bool
}

// shard is part i of n, from 1; n is 0 for everything.
type shard struct{ i, n int }

// contains reports whether the case with an index belongs to the shard.
func (s shard) contains(index int) bool { return s.n == 0 || index%s.n == s.i-1 }

// all reports whether every case runs: only then is it known which golden files
// are unused.
func (o *testOptions) all() bool { return o.only == nil && o.shard.n == 0 }

func testOptionsOf(c *ui.Call) (*testOptions, error) {
	o := &testOptions{
		quiet: c.Quiet, update: c.Bool("update"), review: c.Bool("review"), record: c.String("record"),
		jobs: c.Int("jobs"), list: c.Bool("list"), watch: c.Bool("watch"), stale: c.Bool("stale"),
		cover: c.Bool("cover") || c.IsSet("cover-min"), minCoverage: c.Float64("cover-min") / 100,
		allow: c.AllowPaths, noCommands: c.Bool("no-commands"),
	}
	var err error
	if o.out, err = outputs.Open(c); err != nil {
		return nil, err
	}
	o.json = o.out.JSON
	if text := c.String("run"); text != "" {
		if o.only, err = regexp.Compile(text); err != nil {
			return nil, failure.Usagef("--run: %w", err)
		}
	}
	if o.shard, err = shardOf(c.String("shard")); err != nil {
		return nil, err
	}
	if o.allowed, err = parseDrifts(c.String("allow-drift")); err != nil {
		return nil, err
	}
	o.unused = o.all()
	if c.IsSet("fail-on-unused") {
		o.unused = c.Bool("fail-on-unused")
	}
	if err := o.checkConflicts(); err != nil || !o.review {
		return o, err
	}
	return o, requireTerminal(c)
}

// checkConflicts rejects conflicting options.
func (o *testOptions) checkConflicts() error {
	writes := o.update || o.review || o.record != ""
	switch {
	case o.record != "" && o.record != "missing" && o.record != "all":
		return failure.Usagef("invalid value %q for --record; use missing or all", o.record)
	case o.noCommands && o.record != "":
		return failure.Usagef("--record and --no-commands cannot be combined: recording runs the tools of a case")
	case o.update && o.review:
		return failure.Usagef("--update and --review cannot be combined")
	case o.review && o.json:
		return failure.Usagef("--review and -o json cannot be combined")
	case writes && inCI():
		return failure.Usagef("refusing to write golden files and cassettes because CI is set; run pexctl test on your machine, review the diff and commit it")
	case o.list && o.stale:
		return failure.Usagef("--list and --stale cannot be combined")
	case writes && (o.list || o.stale):
		return failure.Usagef("--list and --stale cannot be combined with --update, --review or --record")
	case o.watch && (writes || o.list || o.stale):
		return failure.Usagef("--watch cannot be combined with --update, --review, --record, --list or --stale")
	case o.unused && !o.all():
		return failure.Usagef("--fail-on-unused cannot be combined with --run or --shard: it needs all cases")
	case o.minCoverage < 0 || o.minCoverage > 1:
		return failure.Usagef("--cover-min must be a percentage between 0 and 100")
	case o.jobs < 1:
		return failure.Usagef("invalid value %d for -j; it must be at least 1", o.jobs)
	}
	return nil
}

func shardOf(text string) (shard, error) {
	if text == "" {
		return shard{}, nil
	}
	left, right, _ := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(left)
	n, err2 := strconv.Atoi(right)
	if err1 != nil || err2 != nil || i < 1 || i > n {
		return shard{}, failure.Usagef("invalid value %q for --shard; use I/N, such as 1/4 for the first of four shards", text)
	}
	return shard{i, n}, nil
}

// parseDrifts parses the classes of --allow-drift. Prompts may always drift.
func parseDrifts(text string) ([]drift.Class, error) {
	known := []string{string(drift.Prompt), string(drift.Parameters), string(drift.Tools), string(drift.Arguments)}
	var out []drift.Class
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		if word == "params" {
			word = string(drift.Parameters)
		}
		near := ui.Nearest(word, known)
		if near == "" || near != word {
			hint := ""
			if near != "" {
				hint = "; did you mean " + near + "?"
			}
			return nil, failure.Usagef("invalid value %q for --allow-drift; use %s%s", word, ui.OneOf(known), hint)
		}
		out = append(out, drift.Class(word))
	}
	return out, nil
}

// matches reports whether to run a case, by its name.
func (o *testOptions) matches(name string) bool { return o.only == nil || o.only.MatchString(name) }
