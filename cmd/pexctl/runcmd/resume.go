package runcmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/host"
)

// ResumeCommand continues a run that waits, crashed or stopped at a limit.
func ResumeCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "resume", Usage: "go on with a run: after a crash, with an answer, or with a higher limit", ArgsUsage: "RUN",
		Description: ui.Examples(
			`pexctl resume r-20260102-150405-1a2b3c4d`,
			`pexctl resume last --answer approve       # the one question that is open`,
			`pexctl resume RUN --answer step.s1/turn.1/tool.0.approval=approve   # one of several`,
			`pexctl resume RUN --answer plan.1/approval='deny:look at March only'`,
			`pexctl resume RUN --answer step.s2/turn.1/tool.0='done:"order 7 was sent"'   # a write in doubt; or redo, skip`,
			`pexctl resume RUN --set limits.max_steps=40`,
		) + "\n\n" + project.RunNames,
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "answer", Usage: "answer a question: `[PATH=]VALUE`, approve, deny[:WHY], edit:JSON, TEXT; of a write in doubt: done:JSON, redo, skip; PATH says which, where several are open"},
			&cli.StringSliceFlag{Name: "set", Usage: "raise a limit of the run: `limits.NAME=VALUE`"},
			&cli.BoolFlag{Name: "keep-spec", Usage: "go on with the spec as it was when the run began, though its file has changed"},
		}, newSessionFlags()...),
		Action: env.Action(resumeRun),
	}
}

func resumeRun(c *ui.Call) error {
	f, err := readSessionFlags(c)
	if err != nil {
		return err
	}
	f.resumed = true
	terms := runs.Terms{Set: c.Set, KeepSpec: c.Bool("keep-spec")}
	for _, answer := range c.StringSlice("answer") {
		terms.Answers = append(terms.Answers, runs.Answer{Value: answer})
	}
	s, run, err := project.RunArg(c)
	if err != nil {
		return err
	}
	session, err := s.Resume(c.Context, run, terms)
	if over, ok := errors.AsType[*runs.EndedError](err); ok {
		return showEnded(c, s.Dir(), over.Result, f.outputFlags)
	}
	if err != nil {
		return resumeError(c, s, run, err)
	}
	if err := recordTo(c.Catalog, session, f.record); err != nil {
		return errors.Join(err, session.Close())
	}
	return execute(c, s, session, f, nil)
}

// showEnded shows how a run ended that has ended before.
func showEnded(c *ui.Call, home string, res *engine.Result, f outputFlags) error {
	if !f.quiet {
		fmt.Fprintf(c.Stderr, "run %s has ended before; this is how:\n", res.RunID)
	}
	if !f.conversation {
		res.Conversation = nil
	}
	return showResult(c, home, engine.Input{}, res, f)
}

// resumeError adds to an error of resuming a run the flags that help.
func resumeError(c *ui.Call, s *runs.Service, run string, err error) error {
	if e, ok := errors.AsType[*runs.AnswerError](err); ok {
		return failure.Usagef("--answer %w%s", e, whichQuestion(c, run, e))
	}
	if e, ok := errors.AsType[*runs.DoubtError](err); ok {
		options := answerOptions(e.Question)
		return failure.Usagef("%w: %s (or %s)", e, answerFlag(e.Question, options[0]), strings.Join(options[1:], ", "))
	}
	if e, ok := errors.AsType[*runs.LimitError](err); ok {
		switch {
		case e.Set != "":
			return failure.Usagef("--set %w; for another spec: pexctl runs fork %s --set %s", e, run, fspath.Quote(e.Set))
		case !e.Stop.Extendable():
			return failure.Usagef("%w; pexctl runs fork goes on from anywhere in it", e)
		}
		return failure.Usagef("%w", e)
	}
	if e, ok := errors.AsType[*runs.SpecChangedError](err); ok {
		return specChanged(c, e)
	}
	return project.RunError(c, s, err)
}

// whichQuestion lists the commands that say which question an answer is for; ""
// where that is not what is wrong with it.
func whichQuestion(c *ui.Call, run string, e *runs.AnswerError) string {
	if e.Open == nil {
		return ""
	}
	lines := []string{":"}
	for _, q := range e.Open {
		answer := e.Value
		if q.Kind == interrupt.Review {
			answer = answerOptions(q)[0]
		}
		lines = append(lines, fmt.Sprintf("  %s %s   # %s", project.Command(c, "resume", run), answerFlag(q, answer), tty.OneLine(tty.Safe(q.Question), 60)))
	}
	return strings.Join(lines, "\n")
}

// specChanged shows how the spec of a run changed, or why it does not compile, and
// refuses to continue with it.
func specChanged(c *ui.Call, e *runs.SpecChangedError) error {
	if e.Err != nil {
		if d, ok := errors.AsType[*host.InvalidError](e.Err); ok {
			fmt.Fprint(c.Stderr, d.Found.String())
		}
		return failure.Usagef("%s cannot be compiled any more; --keep-spec goes on with run %s as it began", e.Spec, e.Run)
	}
	fmt.Fprint(c.Stderr, ui.Safe(c.Stderr, ui.SourceDiff("the run", e.Before, e.Spec, e.After)))
	return failure.Usagef("%w: pexctl runs fork %s --spec %s goes on with the new one, --keep-spec with the old one", e, e.Run, fspath.Quote(e.Spec))
}
