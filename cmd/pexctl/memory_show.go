package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/providers/badger"
)

// remembered is all that a memory id stands for.
type remembered struct {
	MemoryID     string               `json:"memory_id"`
	Interactions []engine.Interaction `json:"interactions"`
	engine.Session
}

func (k remembered) empty() bool { return len(k.Interactions)+len(k.Notes)+len(k.Variables) == 0 }

// readConversation reads a conversation; an unknown id gives an empty one.
func readConversation(ctx context.Context, m *badger.Store, id string) (kept remembered, err error) {
	kept.MemoryID = id
	if kept.Interactions, err = m.History(ctx, id); err != nil {
		return kept, infra(err)
	}
	if kept.Session, err = m.Session(ctx, id); err != nil {
		return kept, infra(err)
	}
	return kept, nil
}

// knownConversation reads a conversation that there must be.
func knownConversation(ctx context.Context, m *badger.Store, id string) (remembered, error) {
	kept, err := readConversation(ctx, m, id)
	if err == nil && kept.empty() {
		err = noConversation(ctx, m, id)
	}
	return kept, err
}

// noConversation says that there is no such one, and which one was meant.
func noConversation(ctx context.Context, m *badger.Store, id string) error {
	all, err := m.List(ctx)
	if err != nil {
		return infra(err)
	}
	var ids []string
	for _, c := range all {
		ids = append(ids, c.MemoryID)
	}
	if near := nearest(id, ids); near != "" {
		return notFound("", "there is no conversation %q; did you mean %q?", id, near)
	}
	return notFound("pexctl memory ls lists them", "there is no conversation %q", id)
}

func memoryShowCommand() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show a conversation: questions, answers, notes and variables", ArgsUsage: "ID",
		Description: examples("pexctl memory show support-42", "pexctl memory show support-42 -o json    # with the steps of each run"),
		Flags:       memoryFlags(outputFlag()),
		Action: func(c *cli.Context) error {
			return withConversation(c, func(_ context.Context, _ *badger.Store, _ string, kept remembered, wantJSON bool) error {
				if wantJSON {
					return printJSON(c, kept)
				}
				_, err := fmt.Fprint(c.App.Writer, fitFor(c.App.Writer, conversationText(kept)))
				return err
			})
		},
	}
}

// conversationText is a conversation to read.
func conversationText(kept remembered) string {
	var b strings.Builder
	for i, in := range kept.Interactions {
		fmt.Fprintf(&b, "%d  %s  %s", i+1, moment(in.At), in.Status)
		if in.RunID != "" {
			fmt.Fprintf(&b, "  run %s", in.RunID)
		}
		fmt.Fprintf(&b, "\n   Q: %s\n   A: %s\n\n", hanging(in.Question), hanging(in.Answer))
	}
	if len(kept.Notes) > 0 {
		b.WriteString("Notes\n")
	}
	for _, n := range kept.Notes {
		fmt.Fprintf(&b, "   %s  %s\n", moment(n.At), hanging(n.Text))
	}
	if len(kept.Variables) > 0 {
		b.WriteString("Variables\n")
	}
	for _, name := range slices.Sorted(maps.Keys(kept.Variables)) {
		fmt.Fprintf(&b, "   %s = %s\n", name, kept.Variables[name])
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// hanging sets the lines after the first under it.
func hanging(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n      ")
}

func memoryExportCommand() *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "write conversations as JSON Lines", ArgsUsage: "[ID]",
		Description: "One interaction a line, oldest first, then the notes and variables of their conversation.\n\n" +
			examples("pexctl memory export > memory.jsonl", "pexctl memory export support-42 --to support-42.jsonl"),
		Flags:  memoryFlags(&cli.StringFlag{Name: "to", Usage: "write to `FILE`, whole or not at all, instead of stdout"}, outputFlag()),
		Action: memoryExport,
	}
}

func memoryExport(c *cli.Context) error {
	wantJSON, err := asJSON(c)
	if err != nil {
		return err
	}
	if err := atMost(c, 1); err != nil {
		return err
	}
	to := c.String("to")
	if to == "-" {
		to = ""
	}
	if wantJSON && to == "" {
		return usage("the conversations and -o json both want stdout: --to FILE keeps them apart")
	}
	return withMemory(c, "", func(ctx context.Context, m *badger.Store) error {
		write := func(w io.Writer) error { return exportMemory(ctx, m, c.Args().First(), w) }
		if to == "" {
			return write(machine(c.App.Writer))
		}
		err := writeWhole(to, 0o600, write)
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			return infra(fmt.Errorf("--to: %w", err))
		}
		if err != nil || !wantJSON {
			return err
		}
		return printJSON(c, struct {
			File string `json:"file"`
		}{to})
	})
}

// exportLine is a line of an export. Kinds are only ever added.
type exportLine struct {
	Version     int                 `json:"v"`
	Kind        string              `json:"kind"` // interaction, session
	MemoryID    string              `json:"memory_id"`
	Interaction *engine.Interaction `json:"interaction,omitempty"`
	Session     *engine.Session     `json:"session,omitempty"`
}

// exportMemory writes one conversation, or with no id all of them.
func exportMemory(ctx context.Context, m *badger.Store, id string, w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if id != "" {
		kept, err := knownConversation(ctx, m, id)
		if err != nil {
			return err
		}
		return exportConversation(e, kept)
	}
	all, err := m.List(ctx)
	if err != nil {
		return infra(err)
	}
	for _, c := range all {
		kept, err := readConversation(ctx, m, c.MemoryID)
		if err != nil {
			return err
		}
		if err := exportConversation(e, kept); err != nil {
			return infra(fmt.Errorf("export memory %s: %w", c.MemoryID, err))
		}
	}
	return nil
}

func exportConversation(e *json.Encoder, kept remembered) error {
	for i := range kept.Interactions {
		if err := e.Encode(exportLine{Version: 1, Kind: "interaction", MemoryID: kept.MemoryID, Interaction: &kept.Interactions[i]}); err != nil {
			return err
		}
	}
	if len(kept.Notes)+len(kept.Variables) == 0 {
		return nil
	}
	return e.Encode(exportLine{Version: 1, Kind: "session", MemoryID: kept.MemoryID, Session: &kept.Session})
}
