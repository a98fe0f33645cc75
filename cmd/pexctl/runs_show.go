package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

func runsShowCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show what a run did, or watch it", ArgsUsage: "RUN",
		Description: ui.Examples(
			"pexctl runs show RUN",
			"pexctl runs show RUN --follow              # watch a run of another process to its end",
			"pexctl runs show RUN --conversation        # with every prompt and reply",
			"pexctl runs show RUN -o json | jq .steps   # the result object, as run gives it",
			"pexctl runs show last                      # the latest run",
		) + "\n\n" + runNames,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "watch until the run ends, waits or is suspended; then as run: its answer, its exit code"},
			&cli.BoolFlag{Name: "conversation", Usage: "add the prompt and the reply of every model call"},
			&cli.StringFlag{Name: "events", Usage: "with --follow: write every event as a JSON line to `FILE` (- for stdout)"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "with --follow: no progress on stderr"},
			ui.OutputFlag(), homeFlag(),
		},
		Action: env.Action(runsShow),
	}
}

func runsShow(c *ui.Call) error {
	wantJSON, err := ui.WantsJSON(c)
	if err != nil {
		return err
	}
	t, err := oneTarget(c)
	if err != nil {
		return err
	}
	if c.String("events") != "" && !c.Bool("follow") {
		return failure.Usagef("--events goes with --follow: pexctl runs show %s --follow --events %s", t.run, fspath.Quote(c.String("events")))
	}
	f := &follow{c: c, target: t, json: wantJSON}
	if c.Bool("follow") {
		return f.watch()
	}
	return f.show()
}

// show prints how the run stands now.
func (f *follow) show() error {
	c := f.c
	f.pid, f.held = f.home.Holder(f.run)
	p, err := f.past(c)
	if err != nil {
		return err
	}
	res := p.now(c.Context)
	if f.held = f.held && !ended(p.records); f.held {
		underWay(res)
	}
	if !c.Bool("conversation") {
		res.Conversation = nil
	}
	if f.json {
		return ui.PrintJSON(c, res)
	}
	return f.print(p, res)
}

// underWay makes a result that of a run which a process is at: what is open is
// being done.
func underWay(res *engine.Result) {
	res.Status, res.StopReason = statusRunning, engine.StopReason{}
	res.Interrupts = slices.DeleteFunc(res.Interrupts, func(q engine.Question) bool { return q.Kind == engine.AskReview })
}

// print writes the report of a run to stdout.
func (f *follow) print(p *past, res *engine.Result) error {
	c := f.c
	question, _ := p.start.Input.Parameters["question"].(string)
	report := sink.Report{
		Result: res, Question: question, Now: time.Now(), Running: f.held, PID: f.pid,
		Columns: ui.Columns(c.Stdout), Color: ui.UsesColor(c.Stdout),
		HowTo: func(q engine.Question) (commands []string) {
			for _, answer := range ways(q) {
				commands = append(commands, f.resume()+" "+answering(q, answer))
			}
			return commands
		},
	}
	fmt.Fprint(ui.Styled(c.Stdout), report.String())
	for _, line := range f.next(res) {
		fmt.Fprintf(c.Stdout, "\n%s\n", line)
	}
	if !c.Bool("conversation") {
		return nil
	}
	return printConversation(c.Stdout, p.records)
}

// next is how a run goes on in which nobody is asked.
func (f *follow) next(res *engine.Result) []string {
	switch {
	case f.held:
		return []string{"watch it: pexctl runs show " + f.run + " --follow" + homeArgument(f.c, f.dir)}
	case len(res.Interrupts) > 0:
		return nil
	case res.Status == engine.Interrupted:
		return []string{"go on: " + f.resume()}
	case res.StopReason.Extendable() && res.StopReason.Path != "":
		return []string{"let it go further: " + f.resume() + " --set " + res.StopReason.Path + "=MORE"}
	}
	return nil
}

func (f *follow) resume() string { return "pexctl resume " + f.run + homeArgument(f.c, f.dir) }
