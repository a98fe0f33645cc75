package memorycmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/host"
)

// Command returns "pexctl memory".
func Command(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "memory", Usage: "List, show, export and delete stored conversations",
		Description: ui.Help("", "pexctl memory ls", "pexctl memory show support-42", "pexctl memory export --to memory.jsonl", "pexctl memory rm support-42"),
		Subcommands: []*cli.Command{memoryLsCommand(env), memoryShowCommand(env), memoryRmCommand(env), memoryExportCommand(env)},
	}
}

func memoryFlags(more ...cli.Flag) []cli.Flag {
	spec := &cli.StringFlag{Name: "spec", Usage: "Use the memory of `SPEC`: memory.path, or the database of memory.dsn_env"}
	return slices.Concat([]cli.Flag{spec, project.HomeFlag(), project.TenantFlag()}, serverFlags(), more)
}

// archive is an open store of conversations.
type archive interface {
	memory.Archive
	io.Closer
}

// withMemory opens the memory of --spec, or of another spec if that is not set; "" = that of the
// command's home.
func withMemory(c *ui.Call, spec string, do func(ctx context.Context, m memory.Archive) error) (err error) {
	m, err := openMemory(c, cmp.Or(c.String("spec"), spec))
	if err != nil {
		return err
	}
	defer func() {
		if e := m.Close(); err == nil && e != nil {
			err = failure.Infra(e)
		}
	}()
	return do(c.Context, m)
}

func openMemory(c *ui.Call, word string) (archive, error) {
	home, err := project.HomeOfSpec(c, word)
	if err != nil {
		return nil, err
	}
	at := catalog.MemoryPlace{Dir: filepath.Join(home, "memory")}
	if word != "" {
		if at, err = placeOf(c, word, home); err != nil {
			return nil, err
		}
	}
	if at.Variable == "" {
		return project.OpenMemory(c, at.Dir), nil
	}
	m, ok := c.Catalog.Memory(at).(archive)
	if !ok {
		return nil, failure.Usagef("the conversations of %s cannot be listed", word)
	}
	return m, nil
}

// placeOf returns where a spec stores conversations.
func placeOf(c *ui.Call, word, home string) (at catalog.MemoryPlace, err error) {
	path, err := project.Local(c, word)
	if err != nil {
		return at, err
	}
	p, spec, found := dsl.Compile(path, project.OptionsFor(c, word))
	if p == nil {
		return at, ui.ShowDiagnostics(c, found)
	}
	origin, err := project.OriginOf(c, spec)
	if err != nil {
		return at, err
	}
	if at, err = host.MemoryPlace(p, host.SettingsOf(c.Catalog, origin, home, nil)); err != nil {
		return at, failure.Usagef("%w", err)
	}
	if at == (catalog.MemoryPlace{}) {
		return at, failure.Usagef("%s stores no conversations: memory.backend is none", word)
	}
	return at, nil
}

// memoryArg returns the memory id in the arguments.
func memoryArg(c *ui.Call) (string, error) {
	if c.Arg(0) == "" {
		return "", failure.WithHintf(failure.Usagef("no conversation given"), "use pexctl %s ID; pexctl memory ls lists conversations", c.Name)
	}
	return c.Arg(0), c.AtMost(1)
}

// conversation is a stored conversation.
type conversation struct {
	memory.Content
	where  string // for messages: " on URL", or ""
	remove func(ctx context.Context) error
}

// withConversation is like withMemory, for a command about the conversation in its argument,
// which may be that of a server. flags are those that apply to a server.
func withConversation(c *ui.Call, do func(conversation) error, flags ...string) error {
	id, err := memoryArg(c)
	if err != nil {
		return err
	}
	server, err := openServer(c, flags...)
	if err != nil {
		return err
	}
	if server != nil {
		x, err := server.open(id)
		if err != nil {
			return err
		}
		return do(x)
	}
	return withMemory(c, "", func(ctx context.Context, m memory.Archive) error {
		kept, err := existingConversation(ctx, m, id)
		if p, ok := errors.AsType[*failure.Detail](err); ok {
			if hint := project.OtherHomes(c, "memory"); hint != "" {
				p.Hint = hint
			}
		}
		if err != nil {
			return err
		}
		return do(conversation{kept, "", func(ctx context.Context) error {
			if err := memory.RemoveAll(ctx, m, id); err != nil {
				return failure.Infra(err)
			}
			return nil
		}})
	})
}

func memoryLsCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "ls", Aliases: []string{"list"}, Usage: "List conversations, latest first", ArgsUsage: "[SPEC]",
		Description: ui.Help("", "pexctl memory ls", "pexctl memory ls --tenant acme -o json"),
		Flags:       memoryFlags(ui.OutputFlag()),
		Action: env.Action(func(c *ui.Call) error {
			if server, err := openServer(c); server != nil || err != nil {
				if err != nil {
					return err
				}
				return server.list()
			}
			return withMemory(c, c.Arg(0), func(ctx context.Context, m memory.Archive) error {
				all, err := m.List(ctx)
				if err != nil {
					return failure.Infra(err)
				}
				if c.JSON {
					return ui.PrintJSON(c, struct {
						Conversations []memory.Conversation `json:"conversations"`
					}{append([]memory.Conversation{}, all...)})
				}
				return listConversations(c, all)
			})
		}, 1),
	}
}

func listConversations(c *ui.Call, all []memory.Conversation) error {
	if len(all) == 0 {
		text := "no conversations; runs with --memory-id or memory.history store one"
		if c.Server != "" {
			text = "no conversations on " + c.Server
		} else if hint := project.OtherHomes(c, "memory"); hint != "" && len(c.Args) == 0 {
			text = "no conversations here\n  hint: " + hint
		}
		fmt.Fprintln(c.Stderr, text)
		return nil
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "MEMORY ID\tINTERACTIONS\tLAST\tSIZE\tLAST QUESTION")
	for _, m := range all {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", oneLine(c, m.MemoryID, 60), m.Interactions, timeText(m.Last), byteSize(m.Bytes), oneLine(c, m.LastQuestion, 60))
	}
	return w.Flush()
}

func memoryRmCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "rm", Aliases: []string{"remove", "delete"}, Usage: "Delete a conversation permanently", ArgsUsage: "ID",
		Description: ui.Help("Also deletes its notes, variables and the executor's conversation.",
			"pexctl memory rm support-42", "pexctl memory rm support-42 --yes # In scripts"),
		Flags:  memoryFlags(ui.YesFlag(), ui.OutputFlag()),
		Action: env.Action(memoryRm),
	}
}

func memoryRm(c *ui.Call) error {
	return withConversation(c, func(x conversation) error {
		what := fmt.Sprintf("Permanently delete conversation %s (%s, %s, %s)%s", c.Arg(0),
			ui.Count(len(x.Interactions), "interaction"), ui.Count(len(x.Notes), "note"), ui.Count(len(x.Variables), "variable"), x.where)
		if err := ui.Confirm(c, what); err != nil {
			return err
		}
		if err := x.remove(c.Context); err != nil {
			return err
		}
		if !c.JSON {
			return nil
		}
		return ui.PrintJSON(c, struct {
			Removed []string `json:"removed"`
		}{[]string{c.Arg(0)}})
	})
}

// oneLine formats text for a line of a table.
func oneLine(c *ui.Call, s string, wide int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > wide {
		s = string(runes[:wide-1]) + "…"
	}
	return ui.Safe(c.Stdout, s)
}

// timeText formats a time; the zero time is "-".
func timeText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// byteSize formats a size: 312 B, 4.1 kB, 2.0 MB.
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
