package memorycmd

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/internal/app/failure"
)

// serverFlags returns the flags of commands that work with a server.
func serverFlags() []cli.Flag {
	return []cli.Flag{
		serverclient.Flag(),
		&cli.StringFlag{Name: "agent", Category: ui.GroupStorage, Usage: "With --server: only conversations in the folder of the agent `NAME`"},
	}
}

// serverMemory are the conversations of a server, for one call of a command.
type serverMemory struct {
	*serverclient.Client
	c     *ui.Call
	agent string
}

// openServer returns the conversations of the server of --server, or nil without the flag.
// flags are those of the command that apply to them.
func openServer(c *ui.Call, flags ...string) (*serverMemory, error) {
	client, err := serverclient.Open(c, project.Command(c, "memory", "ls")+" lists conversations", append(flags, "agent")...)
	switch {
	case err != nil:
		return nil, err
	case client != nil:
		return &serverMemory{client, c, c.String("agent")}, nil
	case c.IsSet("agent"):
		return nil, failure.Usagef("--agent needs --server")
	}
	return nil, nil
}

// list prints the conversations.
func (s *serverMemory) list() error {
	if s.c.Arg(0) != "" {
		return failure.WithHintf(failure.Usagef("with --server, memory ls takes no SPEC"), "to list the conversations of one agent, use --agent NAME")
	}
	all, err := s.Conversations(s.c.Context, s.agent)
	if err != nil {
		return s.Fail(err)
	}
	if s.c.JSON {
		return ui.PrintJSON(s.c, struct {
			Conversations []apiclient.Conversation `json:"conversations"`
		}{append([]apiclient.Conversation{}, all...)})
	}
	plain := make([]memory.Conversation, len(all))
	for i := range all {
		plain[i] = all[i].Conversation
	}
	return listConversations(s.c, plain)
}

// open returns a conversation.
func (s *serverMemory) open(id string) (conversation, error) {
	content, err := s.Conversation(s.c.Context, id, s.agent)
	if err != nil {
		return conversation{}, s.Fail(err)
	}
	return conversation{content, " on " + s.URL(), func(ctx context.Context) error { return s.Fail(s.DeleteConversation(ctx, id, s.agent)) }}, nil
}

// export writes one conversation, or all of them if id is "".
func (s *serverMemory) export(ctx context.Context, id string, w io.Writer) error {
	ids := []string{id}
	if id == "" {
		all, err := s.Conversations(ctx, s.agent)
		if err != nil {
			return s.Fail(err)
		}
		ids = nil
		for _, c := range all {
			ids = append(ids, c.MemoryID)
		}
	}
	e := newEncoder(w)
	for _, id := range ids {
		content, err := s.Conversation(ctx, id, s.agent)
		if err != nil {
			return s.Fail(err)
		}
		if err := exportConversation(e, content); err != nil {
			return err
		}
	}
	return nil
}
