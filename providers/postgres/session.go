package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pexctl/pex/engine/memory"
)

// maxSession is the maximum size of session state as JSON, in bytes; that of Badger's store.
const maxSession = 1 << 20

// Session implements memory.SessionStore.
func (s *Store) Session(ctx context.Context, memoryID string) (found memory.Session, err error) {
	err = s.do(ctx, "read the session state of memory "+memoryID, func(pool *pgxpool.Pool) error {
		var raw []byte
		err := pool.QueryRow(ctx, `SELECT session FROM pex_conversations WHERE tenant = $1 AND id = $2`, []byte(s.o.Tenant), []byte(memoryID)).Scan(&raw)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		found, err = decodeSession(raw)
		return err
	})
	return found, err
}

// UpdateSession implements memory.SessionStore.
func (s *Store) UpdateSession(ctx context.Context, memoryID string, change func(*memory.Session) error) error {
	if err := s.check(memoryID); err != nil {
		return &memory.RefusedError{Err: err}
	}
	var refused error
	err := s.change(ctx, "change the session state of memory "+memoryID, func(tx pgx.Tx) error {
		var raw []byte
		if err := tx.QueryRow(ctx, `
			INSERT INTO pex_conversations (tenant, id) VALUES ($1, $2)
			ON CONFLICT (tenant, id) DO UPDATE SET next = pex_conversations.next
			RETURNING session`, []byte(s.o.Tenant), []byte(memoryID)).Scan(&raw); err != nil {
			return err
		}
		state, err := decodeSession(raw)
		if err != nil {
			return err
		}
		if refused = change(&state); refused != nil {
			return refused
		}
		if raw, err = encodeSession(state); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE pex_conversations SET session = $3 WHERE tenant = $1 AND id = $2`, []byte(s.o.Tenant), []byte(memoryID), raw)
		return err
	})
	if refused != nil {
		return refused
	}
	return err
}

// encodeSession returns session state as JSON, or nil if it is empty.
func encodeSession(s memory.Session) ([]byte, error) {
	if len(s.Notes)+len(s.Variables) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(s)
	if err == nil && len(raw) > maxSession {
		err = fmt.Errorf("notes and variables would be %d bytes, the maximum is %d; clear notes or delete variables first", len(raw), maxSession)
	}
	if err != nil {
		return nil, &memory.RefusedError{Err: err}
	}
	return raw, nil
}

func decodeSession(raw []byte) (s memory.Session, err error) {
	if len(raw) == 0 {
		return s, nil
	}
	if err = json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("session state: %w", err)
	}
	return s, nil
}

// Remove implements memory.Archive.
func (s *Store) Remove(ctx context.Context, memoryID string) error {
	return s.change(ctx, "delete memory "+memoryID, func(tx pgx.Tx) error {
		var isEmpty bool
		err := tx.QueryRow(ctx, `
			DELETE FROM pex_conversations c WHERE tenant = $1 AND id = $2
			RETURNING session IS NULL AND NOT EXISTS (SELECT 1 FROM pex_interactions i WHERE i.tenant = c.tenant AND i.conversation = c.id)`,
			[]byte(s.o.Tenant), []byte(memoryID)).Scan(&isEmpty)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && isEmpty {
			return fs.ErrNotExist
		}
		return err
	})
}
