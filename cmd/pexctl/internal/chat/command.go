package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// command is a slash command.
type command struct {
	name, args, help string
	do               func(c *Chat, ctx context.Context, arg string) error
}

// commands returns the slash commands in the order of /help.
func commands() []command {
	return []command{
		{"help", "", "List the commands and keys", (*Chat).help},
		{"new", "", "Start a new conversation", (*Chat).startNew},
		{"sessions", "", "List the stored conversations", (*Chat).listSessions},
		{"open", "ID", "Continue a conversation", (*Chat).openSession},
		{"plan", "", "Show the plan of the latest turn", (*Chat).showPlan},
		{"cost", "", "Show what the conversation has cost", (*Chat).showCost},
		{"model", "[NAME]", "Use a model for the next turns; without NAME, list the models", (*Chat).setModel},
		{"set", "[KEY=VALUE]", "Override a value of the spec for the next turns; without KEY, list the overrides", (*Chat).setValue},
		{"file", "PATH", "Give the agent a file with the next question", (*Chat).addFile},
		{"fork", "[CALL]", "Repeat the latest turn from a call on, such as step.s2; without CALL, from its end", (*Chat).fork},
		{"cancel", "", "Cancel the run under way", (*Chat).cancel},
		{"promote", "[NAME]", "Save the latest turn as a test with a cassette", (*Chat).promote},
		{"export", "[FILE]", "Write the conversation as Markdown", (*Chat).export},
		{"quit", "", "Leave; a run under way can be continued", (*Chat).quit},
	}
}

// Commands returns the names of the slash commands, with the slash.
func Commands() (names []string) {
	for _, k := range commands() {
		names = append(names, "/"+k.name)
	}
	return names
}

// command carries out a slash command. The only error is errQuit.
func (c *Chat) command(ctx context.Context, line string) error {
	word, arg, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	all, arg := commands(), strings.TrimSpace(arg)
	i := slices.IndexFunc(all, func(k command) bool { return k.name == word })
	switch {
	case i < 0:
		c.unknown(word)
	case all[i].args == "" && arg != "":
		c.problemf("/%s takes no argument", word)
	case all[i].args != "" && all[i].args[0] != '[' && arg == "":
		c.problemf("usage: /%s %s", word, all[i].args)
	default:
		return all[i].do(c, ctx, arg)
	}
	return nil
}

// unknown suggests a command in place of one that does not exist.
func (c *Chat) unknown(word string) {
	names := Commands()
	if near := ui.Nearest("/"+word, names); near != "" && word != "" {
		c.problemf("unknown command /%s; did you mean %s?", word, near)
		return
	}
	c.problemf("unknown command /%s; /help lists the commands. To send a text that starts with a slash, write two", word)
}

func (c *Chat) help(context.Context, string) error {
	var b strings.Builder
	for _, k := range commands() {
		fmt.Fprintf(&b, "%-18s %s\n", strings.TrimSpace("/"+k.name+" "+k.args), k.help)
	}
	b.WriteString("\nA text while a run is under way is a message to it; !TEXT interrupts its model call.\n" +
		"A text that answers an open question goes to that question.\n")
	c.show(Output, b.String())
	return nil
}

func (c *Chat) quit(context.Context, string) error { return errQuit }

func (c *Chat) startNew(context.Context, string) error {
	c.noteLeft()
	c.leaveRun()
	c.memoryID, c.err = c.newID(), nil
	c.note("New conversation %s", c.memoryID)
	return nil
}

// noteLeft says where a run that is left continues.
func (c *Chat) noteLeft() {
	if c.isOpen() {
		c.note("Run %s has not ended; /open %s returns to it", c.run, c.memoryID)
	}
}

func (c *Chat) cancel(ctx context.Context, _ string) error {
	if !c.isOpen() {
		c.problemf("no run is under way")
		return nil
	}
	if _, err := c.o.Client.Cancel(ctx, c.run); err != nil {
		c.problem(err)
		return nil
	}
	if c.waits != nil {
		c.settled[c.waits.Path], c.waits = true, nil
	}
	if c.watching {
		return nil
	}
	if err := c.o.Client.AwaitEnd(ctx, c.run); err != nil {
		c.problem(err)
		return nil
	}
	c.openFeed(ctx)
	return nil
}
