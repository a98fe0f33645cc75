package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/eval/golden"
)

// review walks through golden files that are not what the tests gave, shows
// each diff with the changed words marked, and asks at the terminal what to do
// about it. What is accepted is written at once. Rejected goldens stay as they
// are: the spec is wrong; skipped ones too: nobody has decided. The end of
// input and q skip all that is left. left is how many stay as they are.
func review(c *cli.Context, changes []golden.Change) (left int, err error) {
	_, in := terminal(c.App.Reader)
	_, out := terminal(c.App.ErrWriter)
	if !in || !out {
		return len(changes), usage("--review asks at a terminal, and there is none: --update accepts all that changed; read it with git diff")
	}
	r := &reviewer{
		in:    &person{in: bufio.NewReader(c.App.Reader), out: c.App.ErrWriter},
		out:   c.App.ErrWriter,
		safe:  func(s string) string { return fitFor(c.App.ErrWriter, s) },
		color: inColor(c.App.ErrWriter),
	}
	err = r.walk(c.Context, changes)
	fmt.Fprintf(r.out, "\naccepted %d, rejected %d, skipped %d\n", r.accepted, r.rejected, r.skipped)
	return len(changes) - r.accepted, err
}

// reviewer asks about one golden after the other.
type reviewer struct {
	in    *person
	out   io.Writer
	safe  func(string) string
	color bool

	accepted, rejected, skipped int
}

func (r *reviewer) walk(ctx context.Context, changes []golden.Change) error {
	for i := 0; i < len(changes); i++ {
		ch := changes[i]
		fmt.Fprintf(r.out, "\n[%d/%d] %s", i+1, len(changes), r.shown(ch))
		answer, err := r.ask(ctx, ch)
		if err != nil {
			r.skipped += len(changes) - i
			return err
		}
		switch answer {
		case "a":
			err = r.accept(ch)
		case "A":
			for err = r.accept(ch); err == nil && i+1 < len(changes) && changes[i+1].Case == ch.Case; {
				i++
				err = r.accept(changes[i])
			}
		case "r":
			r.rejected++
		case "s":
			r.skipped++
		case "q":
			r.skipped += len(changes) - i
			return nil
		}
		if err != nil {
			return infra(err)
		}
	}
	return nil
}

func (r *reviewer) accept(ch golden.Change) error {
	if err := ch.Accept(); err != nil {
		return err
	}
	r.accepted++
	return nil
}

// ask reads lines until one is an answer.
func (r *reviewer) ask(ctx context.Context, ch golden.Change) (string, error) {
	all := "A = accept all of this test"
	if ch.Kind == golden.Unused {
		all = "A = remove all that is unused"
	}
	for {
		fmt.Fprintf(r.out, "a = accept, r = reject, s = skip, %s, q = quit > ", all)
		line, err := r.in.line(ctx)
		line = strings.TrimSpace(line)
		switch line {
		case "a", "r", "s", "A", "q":
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
			fmt.Fprintf(r.out, "%q is none of the answers\n", line)
		}
	}
}

// shown is a change as it is asked about: what it is of, why, and the diff.
func (r *reviewer) shown(ch golden.Change) string {
	var b strings.Builder
	switch ch.Kind {
	case golden.Missing:
		fmt.Fprintf(&b, "%s: %s is new\n", r.safe(ch.Case), ch.Name)
	case golden.Unused:
		fmt.Fprintf(&b, "no test asks for %s any more: accept removes it\n", ch.Name)
	case golden.Changed:
		fmt.Fprintf(&b, "%s: %s changed\n", r.safe(ch.Case), ch.Name)
	}
	fmt.Fprintf(&b, "  %s\n", r.safe(shownPath(ch.File)))
	for _, c := range ch.Causes {
		fmt.Fprintf(&b, "  because of %s\n", r.safe(c.String()))
	}
	if r.color {
		return b.String() + ch.Diff().Colour(0, r.safe)
	}
	return b.String() + r.safe(ch.Diff().Unified(0))
}
