package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pexctl/pex/engine/memory"
)

const (
	// maxName is the maximum length of tenants and ids, in bytes: an index entry has three of
	// them and at most 2,704 bytes.
	maxName = 800
	// maxInteraction is the maximum size of an interaction as JSON, in bytes.
	maxInteraction = 8 << 20
)

// History implements memory.Store.
func (s *Store) History(ctx context.Context, memoryID string) ([]memory.Interaction, error) {
	var out []memory.Interaction
	err := s.do(ctx, "read memory "+memoryID, func(pool *pgxpool.Pool) error {
		rows, err := pool.Query(ctx, `SELECT interaction FROM pex_interactions WHERE tenant = $1 AND conversation = $2 ORDER BY seq`, []byte(s.o.Tenant), []byte(memoryID))
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (memory.Interaction, error) {
			var raw []byte
			if err := row.Scan(&raw); err != nil {
				return memory.Interaction{}, err
			}
			return decode(raw)
		})
		return err
	})
	return out, err
}

// Append implements memory.Store.
func (s *Store) Append(ctx context.Context, ins ...memory.Interaction) error {
	if len(ins) == 0 {
		return ctx.Err()
	}
	additions, err := s.additions(ins)
	if err != nil {
		return &memory.RefusedError{Err: err}
	}
	return s.change(ctx, "append to memory "+ins[0].MemoryID, func(tx pgx.Tx) error {
		for _, id := range slices.Sorted(maps.Keys(additions)) { // in the same order by everyone, since each is a lock
			if err := s.add(ctx, tx, id, additions[id]); err != nil {
				return err
			}
		}
		return nil
	})
}

// addition is an interaction to store.
type addition struct{ id, json []byte }

// additions encodes interactions, by conversation.
func (s *Store) additions(ins []memory.Interaction) (map[string][]addition, error) {
	out := map[string][]addition{}
	for _, in := range ins {
		raw, err := json.Marshal(in)
		if err == nil && len(raw) > maxInteraction {
			err = fmt.Errorf("interaction %s is %d bytes, the maximum is %d; store it without its trace", in.ID, len(raw), maxInteraction)
		}
		if err = errors.Join(err, s.check(in.MemoryID), checkName("interaction id", in.ID)); err != nil {
			return nil, err
		}
		out[in.MemoryID] = append(out[in.MemoryID], addition{[]byte(in.ID), raw})
	}
	return out, nil
}

// check returns why the store cannot have a conversation.
func (s *Store) check(memoryID string) error {
	err := checkName("memory id", memoryID)
	if s.o.Tenant != "" {
		err = errors.Join(checkName("tenant", s.o.Tenant), err)
	}
	return err
}

func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the %s is empty", what)
	case len(name) > maxName:
		return fmt.Errorf("the %s is %d bytes long, the maximum is %d", what, len(name), maxName)
	case !utf8.ValidString(name): // JSON would change it
		return fmt.Errorf("the %s %q is not valid UTF-8", what, name)
	}
	return nil
}

// add adds interactions to one conversation.
func (s *Store) add(ctx context.Context, tx pgx.Tx, memoryID string, additions []addition) error {
	tenant, conversation := []byte(s.o.Tenant), []byte(memoryID)
	var next int64
	if err := tx.QueryRow(ctx, `
		INSERT INTO pex_conversations (tenant, id) VALUES ($1, $2)
		ON CONFLICT (tenant, id) DO UPDATE SET next = pex_conversations.next
		RETURNING next`, tenant, conversation).Scan(&next); err != nil {
		return err
	}
	var batch pgx.Batch
	for _, a := range additions {
		batch.Queue(`
			INSERT INTO pex_interactions (tenant, conversation, seq, id, interaction) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (tenant, conversation, id) DO UPDATE SET interaction = excluded.interaction`,
			tenant, conversation, next, a.id, a.json)
		next++
	}
	batch.Queue(`UPDATE pex_conversations SET next = $3 WHERE tenant = $1 AND id = $2`, tenant, conversation, next)
	return tx.SendBatch(ctx, &batch).Close()
}

func decode(raw []byte) (in memory.Interaction, err error) {
	if err = json.Unmarshal(raw, &in); err != nil {
		return in, fmt.Errorf("interaction: %w", err)
	}
	return in, nil
}

// List implements memory.Archive.
func (s *Store) List(ctx context.Context) ([]memory.Conversation, error) {
	var out []memory.Conversation
	err := s.do(ctx, "list memory", func(pool *pgxpool.Pool) error {
		rows, err := pool.Query(ctx, `
			SELECT c.id, coalesce(c.session::text, ''), count(i.seq), coalesce(sum(octet_length(i.interaction::text)), 0)::bigint,
				coalesce((SELECT f.interaction::text FROM pex_interactions f WHERE f.tenant = c.tenant AND f.conversation = c.id ORDER BY seq LIMIT 1), ''),
				coalesce((SELECT l.interaction::text FROM pex_interactions l WHERE l.tenant = c.tenant AND l.conversation = c.id ORDER BY seq DESC LIMIT 1), '')
			FROM pex_conversations c LEFT JOIN pex_interactions i ON i.tenant = c.tenant AND i.conversation = c.id
			WHERE c.tenant = $1 GROUP BY c.tenant, c.id`, []byte(s.o.Tenant))
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, summary)
		return err
	})
	out = slices.DeleteFunc(out, func(c memory.Conversation) bool { return c.Interactions+c.Notes+c.Variables == 0 })
	slices.SortFunc(out, func(a, b memory.Conversation) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.MemoryID, b.MemoryID))
	})
	return out, err
}

// summary reads a row of List.
func summary(row pgx.CollectableRow) (c memory.Conversation, err error) {
	var id []byte
	var session, first, last string
	if err := row.Scan(&id, &session, &c.Interactions, &c.Bytes, &first, &last); err != nil {
		return c, err
	}
	c.MemoryID, c.Bytes = string(id), c.Bytes+int64(len(session))
	state, err := decodeSession([]byte(session))
	if err != nil {
		return c, err
	}
	c.Notes, c.Variables = len(state.Notes), len(state.Variables)
	if c.Notes > 0 {
		c.First, c.Last = state.Notes[0].At, state.Notes[c.Notes-1].At
	}
	if c.Interactions == 0 {
		return c, nil
	}
	from, err := decode([]byte(first))
	if err != nil {
		return c, err
	}
	to, err := decode([]byte(last))
	c.First, c.Last, c.LastQuestion = from.At, to.At, to.Question
	return c, err
}
