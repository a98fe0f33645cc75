package runcmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/host"
)

// ResumeCommand returns "pexctl resume", which continues a run that waits,
// crashed or stopped at a limit.
func ResumeCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "resume", Usage: "Resume a run after a crash, with an answer, or with a higher limit", ArgsUsage: "RUN",
		Description: ui.Help(project.RunNames,
			`pexctl resume r-20260102-150405-1a2b3c4d`,
			`pexctl resume last --answer approve # Answer the only open question`,
			`pexctl resume RUN --answer step.s1/turn.1/tool.0.approval=approve # Answer one of several`,
			`pexctl resume RUN --answer plan.1/approval='deny:look at March only'`,
			`pexctl resume RUN --answer step.s2/turn.1/tool.0='done:"order 7 was sent"' # Settle a write with an unknown outcome`,
			`pexctl resume RUN --set limits.max_steps=40`,
		),
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "answer", Usage: "`[PATH=]VALUE`: Answer a question. VALUE is approve, deny[:WHY], edit:JSON or the text of the answer; for a write with an unknown outcome, it is done:JSON, redo or skip. PATH selects one of several open questions"},
			&cli.StringSliceFlag{Name: "set", Usage: "`limits.NAME=VALUE`: Raise a limit of the run"},
			&cli.BoolFlag{Name: "keep-spec", Usage: "Resume with the original spec even if its file has changed"},
		}, slices.Concat(newSessionFlags(), fleetFlags(), []cli.Flag{project.TenantFlag(), serverclient.Flag()})...),
		Action: env.Action(resumeRun),
	}
}

func resumeRun(c *ui.Call) error {
	f, err := readSessionFlags(c)
	if err != nil {
		return err
	}
	f.resumed = true
	terms := runs.ResumeOptions{Set: c.Set, KeepSpec: c.Bool("keep-spec")}
	for _, answer := range c.StringSlice("answer") {
		terms.Answers = append(terms.Answers, runs.Answer{Value: answer})
	}
	if remote, err := onFleet(c); err != nil {
		return err
	} else if remote {
		return resumeOnFleet(c, terms.Answers, f)
	}
	server, err := openServer(c, "answer", "set", "keep-spec", "events", "include")
	if err != nil {
		return err
	}
	if server != nil {
		return server.resume(terms.Answers, terms.KeepSpec, f)
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

// showEnded shows the result of a run that has already ended.
func showEnded(c *ui.Call, home string, res *engine.Result, f outputFlags) error {
	if !f.quiet {
		fmt.Fprintf(c.Stderr, "Run %s has already ended; its result:\n", res.RunID)
	}
	if !f.conversation {
		res.Conversation = nil
	}
	return showResult(c, home, engine.Input{}, res, "", f)
}

// resumeError adds to an error of resuming a run the flags that help.
func resumeError(c *ui.Call, s *runs.Service, run string, err error) error {
	if e, ok := errors.AsType[*runs.AnswerError](err); ok {
		return failure.Usagef("--answer %w%s", e, whichQuestion(c, run, e))
	}
	if e, ok := errors.AsType[*runs.UnresolvedWriteError](err); ok {
		options := answerOptions(e.Question)
		return failure.Usagef("%w: add %s (or %s)", e, answerFlag(e.Question, options[0]), ui.OneOf(options[1:]))
	}
	if e, ok := errors.AsType[*runs.LimitError](err); ok {
		switch {
		case e.Set != "":
			return failure.WithHintf(failure.Usagef("--set %w", e), "to change another value, fork the run: pexctl runs fork %s --set %s", run, fspath.Quote(e.Set))
		case !e.Stop.Extendable():
			return failure.WithHintf(failure.Usagef("%w", e), "to continue from any point of it, use pexctl runs fork %s", run)
		}
		return failure.Usagef("%w", e)
	}
	if e, ok := errors.AsType[*runs.SpecChangedError](err); ok {
		return specChanged(c, e)
	}
	return project.RunError(c, s, err)
}

// whichQuestion returns a command for each open question that an answer may be
// for, or "" if the answer is wrong in another way.
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

// specChanged shows how the spec of a run changed, or why it does not compile,
// and returns an error.
func specChanged(c *ui.Call, e *runs.SpecChangedError) error {
	if e.Err != nil {
		if d, ok := errors.AsType[*host.InvalidError](e.Err); ok {
			ui.WriteDiagnostics(c.Stderr, d.Found)
		}
		return failure.WithHintf(failure.Usagef("%s no longer compiles", e.Spec), "to resume run %s with its original spec, add --keep-spec", e.Run)
	}
	fmt.Fprint(c.Stderr, ui.Safe(c.Stderr, ui.SourceDiff("the run", e.Before, e.Spec, e.After)))
	return failure.WithHintf(failure.Usagef("%w", e), "to resume with the original spec, add --keep-spec; to continue with the new one: pexctl runs fork %s --spec %s", e.Run, fspath.Quote(e.Spec))
}
