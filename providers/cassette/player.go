package cassette

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/pexctl/pex/engine/model"
)

// chatModel is one recording, shared by all runs and read once.
type chatModel struct {
	config   Config
	settings model.Settings

	once  sync.Once
	track *track
	err   error
}

func (m *chatModel) read() (*track, error) {
	m.once.Do(func() {
		f, err := open(m.settings, m.config.File)
		if err == nil {
			defer f.Close()
			m.track, err = readTrack(f, m.settings.Env)
		}
		if err != nil {
			m.err = fmt.Errorf("the cassette %s cannot be replayed: %w", m.config.File, err)
		}
	})
	return m.track, m.err
}

// player tracks the replies that one run has used. Safe for concurrent use.
type player struct {
	model *chatModel

	mu   sync.Mutex
	used map[int]bool
}

var (
	_ model.Model     = (*player)(nil)
	_ model.RunScoped = (*player)(nil)
	_ model.Sequenced = (*player)(nil)
)

func newPlayer(m *chatModel) *player { return &player{model: m, used: map[int]bool{}} }

// ForRun implements model.RunScoped: it returns a player without used replies.
func (p *player) ForRun(string) model.Model { return newPlayer(p.model) }

// Generate implements model.Model.
func (p *player) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	return p.Choose(req).Generate(ctx, req, stream)
}

// Choose implements model.Sequenced. It takes the first unused reply to the request. If there is none, the call fails
// rather than the choice, since a journal may have the call's result.
func (p *player) Choose(req *model.Request) model.Model {
	t, err := p.model.read()
	if err != nil {
		return &answer{fault: &model.Error{Kind: model.NoReply, Message: err.Error(), Err: err}}
	}
	q := t.query(req)
	all := t.find(q)
	if len(all) == 0 {
		return &answer{fault: p.model.notRecorded(t, q, req)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(all, func(i int) bool { return !p.used[i] })
	if i < 0 && !p.model.config.Repeat {
		return &answer{fault: p.model.exhausted(len(all), req)}
	}
	if i < 0 {
		i = len(all) - 1
	}
	p.used[all[i]] = true
	a := &t.answers[all[i]]
	return &answer{a.reply, a.fault}
}

// answer is the stateless result of one call.
type answer struct {
	reply *model.Reply
	fault *model.Error
}

var _ model.Model = (*answer)(nil)

// Generate implements model.Model. It streams the text as one delta, since recordings contain no deltas.
func (a *answer) Generate(ctx context.Context, _ *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.fault != nil {
		fault := *a.fault
		return nil, &fault
	}
	out := *a.reply
	out.Calls = slices.Clone(out.Calls)
	if stream != nil && out.Text != "" {
		stream(model.Delta{Text: out.Text})
	}
	return &out, nil
}
