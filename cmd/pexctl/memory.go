package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/providers/badger"
)

func memoryCommand() *cli.Command {
	return &cli.Command{
		Name: "memory", Usage: "look after the conversations that runs keep",
		Description: examples("pexctl memory ls", "pexctl memory show support-42", "pexctl memory export --to memory.jsonl", "pexctl memory rm support-42"),
		Subcommands: []*cli.Command{memoryLsCommand(), memoryShowCommand(), memoryRmCommand(), memoryExportCommand()},
	}
}

func memoryFlags(more ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{homeFlag(), tenantFlag()}, more...)
}

// withMemory opens the memory of the home for a command: that of a spec, or
// where that is "" the one that the command works in.
func withMemory(c *cli.Context, spec string, do func(ctx context.Context, m *badger.Store) error) (err error) {
	home, err := homeOfSpec(c, spec)
	if err != nil {
		return err
	}
	m := openMemory(c, filepath.Join(home, "memory"))
	defer func() {
		if e := m.Close(); err == nil && e != nil {
			err = infra(e)
		}
	}()
	return do(c.Context, m)
}

// oneMemory is the memory id that a command was given.
func oneMemory(c *cli.Context) (string, error) {
	if c.Args().First() == "" {
		return "", usage("no memory id given: pexctl %s ID (pexctl memory ls lists them)", c.Command.HelpName)
	}
	return c.Args().First(), atMost(c, 1)
}

// withConversation is withMemory for a command about the one conversation that
// its argument names, and whether it was asked to answer in JSON.
func withConversation(c *cli.Context, do func(ctx context.Context, m *badger.Store, id string, kept remembered, wantJSON bool) error) error {
	wantJSON, err := asJSON(c)
	if err != nil {
		return err
	}
	id, err := oneMemory(c)
	if err != nil {
		return err
	}
	return withMemory(c, "", func(ctx context.Context, m *badger.Store) error {
		kept, err := knownConversation(ctx, m, id)
		if p, ok := errors.AsType[*problem](err); ok {
			if hint := elsewhere(c, "memory"); hint != "" {
				p.hint = hint
			}
		}
		if err != nil {
			return err
		}
		return do(ctx, m, id, kept, wantJSON)
	})
}

func memoryLsCommand() *cli.Command {
	return &cli.Command{
		Name: "ls", Usage: "list conversations, the latest first", ArgsUsage: "[SPEC]",
		Description: examples("pexctl memory ls", "pexctl memory ls --tenant acme -o json"),
		Flags:       memoryFlags(outputFlag()),
		Action: func(c *cli.Context) error {
			wantJSON, err := asJSON(c)
			if err != nil {
				return err
			}
			if err := atMost(c, 1); err != nil {
				return err
			}
			return withMemory(c, c.Args().First(), func(ctx context.Context, m *badger.Store) error {
				all, err := m.List(ctx)
				if err != nil {
					return infra(err)
				}
				if wantJSON {
					return printJSON(c, struct {
						Conversations []badger.Conversation `json:"conversations"`
					}{append([]badger.Conversation{}, all...)})
				}
				return listConversations(c, all)
			})
		},
	}
}

func listConversations(c *cli.Context, all []badger.Conversation) error {
	if len(all) == 0 {
		text := "no conversations; a run with --memory-id, or whose spec has memory.history, stores one"
		if hint := elsewhere(c, "memory"); hint != "" && !c.Args().Present() {
			text = "no conversations here\n  hint: " + hint
		}
		fmt.Fprintln(c.App.ErrWriter, text)
		return nil
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "MEMORY ID\tINTERACTIONS\tLAST\tSIZE\tLAST QUESTION")
	for _, m := range all {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", inLine(c, m.MemoryID, 60), m.Interactions, moment(m.Last), byteSize(m.Bytes), inLine(c, m.LastQuestion, 60))
	}
	return w.Flush()
}

func memoryRmCommand() *cli.Command {
	return &cli.Command{
		Name: "rm", Usage: "delete a conversation for good", ArgsUsage: "ID",
		Description: "Its notes and variables go with it, and what its executor remembers of the steps.\n\n" +
			examples("pexctl memory rm support-42", "pexctl memory rm support-42 --yes    # in scripts"),
		Flags:  memoryFlags(yesFlag(), outputFlag()),
		Action: memoryRm,
	}
}

func memoryRm(c *cli.Context) error {
	return withConversation(c, func(ctx context.Context, m *badger.Store, id string, kept remembered, wantJSON bool) error {
		what := fmt.Sprintf("remove conversation %s (%s, %s, %s)", id,
			count(len(kept.Interactions), "interaction"), count(len(kept.Notes), "note"), count(len(kept.Variables), "variable"))
		if err := confirm(c, what); err != nil {
			return err
		}
		if err := removeConversation(ctx, m, id); err != nil || !wantJSON {
			return err
		}
		return printJSON(c, struct {
			Removed []string `json:"removed"`
		}{[]string{id}})
	})
}

// removeConversation deletes a conversation and what its executor remembers:
// that first, so that a removal that was cut short can be repeated.
func removeConversation(ctx context.Context, m *badger.Store, id string) error {
	for _, id := range []string{engine.ExecutorMemoryOf(id), id} {
		if err := m.Remove(ctx, id); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return infra(err)
		}
	}
	return nil
}

// inLine makes text fit into a line of a table.
func inLine(c *cli.Context, s string, wide int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > wide {
		s = string(runes[:wide-1]) + "…"
	}
	return fitFor(c.App.Writer, s)
}

// moment is a time for people; "-" = none.
func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// byteSize is a size for people: 312 B, 4.1 kB, 2.0 MB.
func byteSize(n int64) string {
	size, unit := float64(n), "B"
	for _, larger := range []string{"kB", "MB", "GB"} {
		if size < 1000 {
			break
		}
		size, unit = size/1000, larger
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}
