package cassette

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/pexctl/pex/engine/model"
)

// model is one recording, shared by all runs. It is read once.
type chatModel struct {
	config   Config
	settings model.Settings

	once sync.Once
	tape *tape
	err  error
}

func (m *chatModel) read() (*tape, error) {
	m.once.Do(func() {
		f, err := open(m.settings, m.config.File)
		if err == nil {
			defer f.Close()
			m.tape, err = readTape(f, m.settings.Env)
		}
		if err != nil {
			m.err = fmt.Errorf("the cassette %s cannot be played: %w", m.config.File, err)
		}
	})
	return m.tape, m.err
}

// player is what one run has used up of a recording. Safe for concurrent use.
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

// ForRun implements model.RunScoped: a player that has used up nothing yet.
func (p *player) ForRun(string) model.Model { return newPlayer(p.model) }

// Generate implements model.Model: it chooses and answers at once.
func (p *player) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	return p.Choose(req).Generate(ctx, req, stream)
}

// Choose implements model.Sequenced: it takes the first answer to the
// request that is not used up. Without one the call fails, not the choice: a
// journal may answer it.
func (p *player) Choose(req *model.Request) model.Model {
	t, err := p.model.read()
	if err != nil {
		return &answer{fault: &model.Error{Kind: model.NoReply, Message: err.Error(), Err: err}}
	}
	q := t.question(req)
	all := t.find(q)
	if len(all) == 0 {
		return &answer{fault: p.model.none(t, q, req)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(all, func(i int) bool { return !p.used[i] })
	if i < 0 && !p.model.config.Repeat {
		return &answer{fault: p.model.spent(len(all), req)}
	}
	if i < 0 {
		i = len(all) - 1
	}
	p.used[all[i]] = true
	a := &t.answers[all[i]]
	return &answer{a.reply, a.fault}
}

// answer is what one call gets. It holds no state.
type answer struct {
	reply *model.Reply
	fault *model.Error
}

var _ model.Model = (*answer)(nil)

// Generate implements model.Model. A recording keeps no pieces: the text is
// streamed as one.
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
