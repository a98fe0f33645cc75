package testcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// requireTerminal rejects a review without a terminal.
func requireTerminal(c *ui.Call) error {
	_, in := ui.Terminal(c.Stdin)
	_, out := ui.Terminal(c.Stderr)
	if !in || !out {
		return failure.WithHintf(failure.Usagef("--review needs a terminal"), "to accept all changes, use --update; then review them with git diff")
	}
	return nil
}

// review shows the diff of each golden file that differs from the results, with
// the changed words marked, and asks at the terminal what to do about it.
// Accepted changes are written immediately. Rejected ones stay because the spec
// is wrong, skipped ones because there is no decision yet. The end of input or
// ctx, and q, skip the rest. left is the number of unchanged golden files.
func review(ctx context.Context, c *ui.Call, changes []golden.Change) (left int, err error) {
	if err := requireTerminal(c); err != nil {
		return len(changes), err
	}
	r := &reviewer{
		in:    &ui.Person{In: bufio.NewReader(c.Stdin), Out: c.Stderr},
		out:   ui.Styled(c.Stderr),
		safe:  func(s string) string { return ui.Safe(c.Stderr, s) },
		color: ui.UsesColor(c.Stderr),
	}
	if err = r.walk(ctx, changes); ctx.Err() != nil {
		err = ui.SignalError(ctx, errors.New("interrupted during the review; accepted changes are saved"))
	}
	fmt.Fprintf(r.out, "\naccepted %d, rejected %d, skipped %d\n", r.accepted, r.rejected, r.skipped)
	return len(changes) - r.accepted, err
}

// reviewer asks about one golden file after another.
type reviewer struct {
	in    *ui.Person
	out   io.Writer
	safe  func(string) string
	color bool

	accepted, rejected, skipped int
}

func (r *reviewer) walk(ctx context.Context, changes []golden.Change) error {
	defer func() { r.skipped = len(changes) - r.accepted - r.rejected }()
	same := make([]string, len(changes)) // equal changes have equal values
	for i, ch := range changes {
		same[i] = string(ch.Kind) + ch.Diff().Changed()
	}
	decided := make([]bool, len(changes))
	for i, ch := range changes {
		if decided[i] {
			continue
		}
		alike := func(j int) bool { return same[j] == same[i] }
		fmt.Fprintf(r.out, "\n[%d/%d] %s", i+1, len(changes), r.shown(ch))
		answer, err := r.ask(ctx, ch, countUndecided(decided[i:], func(j int) bool { return alike(i + j) }))
		if err != nil {
			return err
		}
		switch answer {
		case "a":
			err = r.accept(changes, decided, func(j int) bool { return j == i })
		case "A":
			err = r.accept(changes, decided, func(j int) bool { return changes[j].Case == ch.Case })
		case "e":
			err = r.accept(changes, decided, alike)
		case "r":
			r.rejected++
		case "q":
			return nil
		}
		if err != nil {
			return failure.Infra(err)
		}
		decided[i] = true
	}
	return nil
}

// countUndecided returns the number of undecided changes that fit.
func countUndecided(decided []bool, fits func(int) bool) int {
	n := 0
	for j, done := range decided {
		if !done && fits(j) {
			n++
		}
	}
	return n
}

// accept accepts the undecided changes that fit.
func (r *reviewer) accept(changes []golden.Change, decided []bool, fits func(int) bool) error {
	for j := range changes {
		if decided[j] || !fits(j) {
			continue
		}
		if err := changes[j].Accept(); err != nil {
			return err
		}
		decided[j] = true
		r.accepted++
	}
	return nil
}

// ask reads lines until one is a valid answer. same is the number of golden files
// with this change.
func (r *reviewer) ask(ctx context.Context, ch golden.Change, same int) (string, error) {
	all := "A = accept all of this test"
	if ch.Kind == golden.Unused {
		all = "A = remove all unused files"
	}
	if same > 1 {
		all += fmt.Sprintf(", e = accept the same change in all %d golden files", same)
	}
	for {
		fmt.Fprintf(r.out, "a = accept, r = reject, s = skip, %s, q = quit > ", all)
		line, err := r.in.Line(ctx)
		line = strings.TrimSpace(line)
		switch line {
		case "a", "r", "s", "A", "q", "e":
			return line, nil
		case "accept", "reject", "skip", "quit":
			return line[:1], nil
		}
		if errors.Is(err, io.EOF) {
			fmt.Fprintln(r.out)
			return "q", nil
		}
		if err != nil {
			return "", err
		}
		if line != "" {
			fmt.Fprintf(r.out, "unknown answer %q\n", line)
		}
	}
}

// shown formats a change for the question: its subject, the reason, and the diff.
func (r *reviewer) shown(ch golden.Change) string {
	var b strings.Builder
	switch ch.Kind {
	case golden.Missing:
		fmt.Fprintf(&b, "%s: %s is new\n", r.safe(ch.Case), ch.Name)
	case golden.Unused:
		fmt.Fprintf(&b, "%s is no longer used: accept to remove it\n", ch.Name)
	case golden.Changed:
		fmt.Fprintf(&b, "%s: %s changed\n", r.safe(ch.Case), ch.Name)
	}
	fmt.Fprintf(&b, "  %s\n", r.safe(fspath.Shown(ch.File)))
	for _, c := range ch.Causes {
		fmt.Fprintf(&b, "  because of %s\n", r.safe(c.String()))
	}
	if r.color {
		return b.String() + ch.Diff().Color(0, r.safe)
	}
	return b.String() + r.safe(ch.Diff().Unified(0))
}
