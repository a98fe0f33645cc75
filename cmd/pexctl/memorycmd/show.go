package memorycmd

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

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// readConversation reads a conversation; that of an unknown id is empty.
func readConversation(ctx context.Context, m memory.Archive, id string) (memory.Content, error) {
	kept, err := memory.ReadContent(ctx, m, id)
	if err != nil {
		return kept, failure.Infra(err)
	}
	return kept, nil
}

// existingConversation reads a conversation that must exist.
func existingConversation(ctx context.Context, m memory.Archive, id string) (memory.Content, error) {
	kept, err := readConversation(ctx, m, id)
	if err == nil && kept.IsEmpty() {
		err = noConversation(ctx, m, id)
	}
	return kept, err
}

// noConversation returns the error for an unknown conversation, with a
// suggestion.
func noConversation(ctx context.Context, m memory.Archive, id string) error {
	all, err := m.List(ctx)
	if err != nil {
		return failure.Infra(err)
	}
	var ids []string
	for _, c := range all {
		ids = append(ids, c.MemoryID)
	}
	if near := ui.Nearest(id, ids); near != "" {
		return failure.NotFoundf("", "no conversation %q; did you mean %q?", id, near)
	}
	return failure.NotFoundf("pexctl memory ls lists conversations", "no conversation %q", id)
}

func memoryShowCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "Show the questions, answers, notes and variables of a conversation", ArgsUsage: "ID",
		Description: ui.Help("", "pexctl memory show support-42", "pexctl memory show support-42 -o json # Include the steps of each run"),
		Flags:       memoryFlags(ui.OutputFlag()),
		Action: env.Action(func(c *ui.Call) error {
			return withConversation(c, func(x conversation) error {
				if c.JSON {
					return ui.PrintJSON(c, x.Content)
				}
				_, err := fmt.Fprint(c.Stdout, ui.Safe(c.Stdout, conversationText(x.Content)))
				return err
			})
		}),
	}
}

// conversationText formats a conversation.
func conversationText(kept memory.Content) string {
	var b strings.Builder
	for i, in := range kept.Interactions {
		fmt.Fprintf(&b, "%d  %s  %s", i+1, timeText(in.At), in.Status)
		if in.RunID != "" {
			fmt.Fprintf(&b, "  run %s", in.RunID)
		}
		fmt.Fprintf(&b, "\n   Q: %s\n   A: %s\n\n", hangingIndent(in.Question), hangingIndent(in.Answer))
	}
	if len(kept.Notes) > 0 {
		b.WriteString("Notes\n")
	}
	for _, n := range kept.Notes {
		fmt.Fprintf(&b, "   %s  %s\n", timeText(n.At), hangingIndent(n.Text))
	}
	if len(kept.Variables) > 0 {
		b.WriteString("Variables\n")
	}
	for _, name := range slices.Sorted(maps.Keys(kept.Variables)) {
		fmt.Fprintf(&b, "   %s = %s\n", name, kept.Variables[name])
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// hangingIndent indents the lines after the first.
func hangingIndent(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n      ")
}

func memoryExportCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "Export conversations as JSON Lines", ArgsUsage: "[ID]",
		Description: ui.Help("Writes one interaction per line, oldest first, then the notes and variables of the conversation.",
			"pexctl memory export > memory.jsonl", "pexctl memory export support-42 --to support-42.jsonl"),
		Flags:  memoryFlags(&cli.StringFlag{Name: "to", Usage: "Write to `FILE` atomically (default: stdout)"}, ui.OutputFlag()),
		Action: env.Action(memoryExport, 1),
	}
}

func memoryExport(c *ui.Call) error {
	to := c.String("to")
	if to == "-" {
		to = ""
	}
	if c.JSON && to == "" {
		return failure.Usagef("the conversations and -o json cannot both go to stdout; add --to FILE")
	}
	server, err := openServer(c, "to")
	if err != nil {
		return err
	}
	if server != nil {
		return writeExport(c, to, func(w io.Writer) error { return server.export(c.Context, c.Arg(0), w) })
	}
	return withMemory(c, "", func(ctx context.Context, m memory.Archive) error {
		return writeExport(c, to, func(w io.Writer) error { return exportMemory(ctx, m, c.Arg(0), w) })
	})
}

// writeExport writes an export to a file, or to stdout if to is "".
func writeExport(c *ui.Call, to string, write func(io.Writer) error) error {
	if to == "" {
		return write(ui.ForPrograms(c.Stdout))
	}
	err := fspath.WriteFile(to, 0o600, write)
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return failure.Infra(fmt.Errorf("--to: %w", err))
	}
	if err != nil || !c.JSON {
		return err
	}
	return ui.PrintJSON(c, struct {
		File string `json:"file"`
	}{to})
}

// exportLine is a line of an export. Kinds may be added, but never changed or
// removed.
type exportLine struct {
	Version     int                 `json:"v"`
	Kind        string              `json:"kind"` // interaction, session
	MemoryID    string              `json:"memory_id"`
	Interaction *memory.Interaction `json:"interaction,omitempty"`
	Session     *memory.Session     `json:"session,omitempty"`
}

// exportMemory writes one conversation, or all of them if id is "".
func exportMemory(ctx context.Context, m memory.Archive, id string, w io.Writer) error {
	e := newEncoder(w)
	if id != "" {
		kept, err := existingConversation(ctx, m, id)
		if err != nil {
			return err
		}
		return exportConversation(e, kept)
	}
	all, err := m.List(ctx)
	if err != nil {
		return failure.Infra(err)
	}
	for _, c := range all {
		kept, err := readConversation(ctx, m, c.MemoryID)
		if err != nil {
			return err
		}
		if err := exportConversation(e, kept); err != nil {
			return failure.Infra(fmt.Errorf("export memory %s: %w", c.MemoryID, err))
		}
	}
	return nil
}

func newEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

func exportConversation(e *json.Encoder, kept memory.Content) error {
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
