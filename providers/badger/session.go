package badger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/pexctl/pex/engine/memory"
)

// MaxSession is the maximum stored size of a conversation's notes and variables, in
// bytes.
const MaxSession = 1 << 20

type sessionRecord struct {
	Version int            `json:"v"`
	Session memory.Session `json:"session"`
}

// Session returns the session state of a conversation; an unknown id has an empty one.
func (s *Store) Session(ctx context.Context, memoryID string) (memory.Session, error) {
	at := s.at(memoryID)
	if err := at.check(); err != nil {
		return memory.Session{}, err
	}
	var out memory.Session
	err := s.withExisting(ctx, func(db *lease) error {
		return db.View(func(txn *badger.Txn) (err error) {
			out, _, err = s.readSession(txn, at)
			return err
		})
	})
	if err != nil {
		return memory.Session{}, fmt.Errorf("read session of memory %s: %w", memoryID, err)
	}
	return out, nil
}

// UpdateSession changes the session state atomically. change receives the current state;
// its error cancels the update and is returned unchanged. When UpdateSession returns nil
// the change is durable.
func (s *Store) UpdateSession(ctx context.Context, memoryID string, change func(*memory.Session) error) error {
	at := s.at(memoryID)
	if err := at.check(); err != nil {
		return err
	}
	var changeErr error
	err := s.with(ctx, func(db *lease) error {
		return s.write(db, s.sessionChange(at, func(session *memory.Session) error {
			changeErr = change(session)
			return changeErr
		}))
	})
	switch {
	case err == nil:
		return nil
	case changeErr != nil:
		return changeErr
	}
	return fmt.Errorf("update session of memory %s: %w", memoryID, err)
}

// sessionChange plans the write of a changed session.
func (s *Store) sessionChange(at address, alter func(*memory.Session) error) func(*badger.Txn) (change, error) {
	return func(txn *badger.Txn) (c change, err error) {
		now, old, err := s.readSession(txn, at)
		if err != nil {
			return c, err
		}
		if err := alter(&now); err != nil {
			return c, err
		}
		raw, err := encodeSession(now)
		if err == nil && !bytes.Equal(raw, old) {
			c.at = []entry{{at.session(), raw}}
		}
		return c, err
	}
}

// readSession also returns the stored bytes; nil = nothing is stored.
func (s *Store) readSession(txn *badger.Txn, at address) (memory.Session, []byte, error) {
	item, err := txn.Get(at.session())
	if errors.Is(err, badger.ErrKeyNotFound) {
		return memory.Session{}, nil, nil
	}
	var raw []byte
	if err == nil {
		raw, err = item.ValueCopy(nil)
	}
	var r sessionRecord
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err == nil {
		err = checkVersion(r.Version)
	}
	if err != nil {
		return memory.Session{}, nil, s.damaged("the session of conversation "+at.memoryID, err)
	}
	return r.Session, raw, nil
}

// encodeSession returns the bytes to store; nil = nothing.
func encodeSession(now memory.Session) ([]byte, error) {
	if len(now.Notes) == 0 && len(now.Variables) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(sessionRecord{recordVersion, now})
	if err != nil {
		return nil, &memory.RefusedError{Err: fmt.Errorf("encode session: %w", err)}
	}
	if len(raw) > MaxSession {
		return nil, &memory.RefusedError{Err: fmt.Errorf("notes and variables would be %d bytes, the maximum is %d; clear notes or delete variables first", len(raw), MaxSession)}
	}
	return raw, nil
}
