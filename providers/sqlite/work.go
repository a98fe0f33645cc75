package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

const (
	interruptWait  = 800 * time.Millisecond // time for a statement to notice an interrupt
	busyTimeout    = 5 * time.Second        // time for other programs to release the file
	maxShownTables = 30                     // tables listed when one is not found
)

// work runs the query in the background, since it may outlast the call. It releases the call's slot when the query
// ends.
func (t *sqlTool) work(ctx context.Context, f file, q query) (*rows, error) {
	type outcome struct {
		rows *rows
		err  error
	}
	opened, done := make(chan *database, 1), make(chan outcome, 1)
	go func() {
		defer func() { <-t.slots }()
		var o outcome
		o.rows, o.err = t.runQuery(ctx, f, q, opened)
		done <- o
	}()
	select {
	case o := <-done:
		return o.rows, contextError(ctx, o.err)
	case <-ctx.Done():
	}
	// An interrupt before the statement starts has no effect.
	timer, again := time.NewTimer(interruptWait), time.NewTicker(interruptWait/40)
	defer timer.Stop()
	defer again.Stop()
	var d *database
	for {
		select {
		case d = <-opened:
		case <-again.C:
			if d != nil {
				d.interrupt()
			}
		case o := <-done:
			if o.err == nil {
				return o.rows, nil // it finished just before the interrupt and made a change
			}
			return nil, contextError(ctx, o.err)
		case <-timer.C:
			return nil, fmt.Errorf("the query was stopped, but one of its functions on a large value still runs in the background: %w", ctx.Err())
		}
	}
}

// contextError converts an interrupt after the end of the context to the context's error.
func contextError(ctx context.Context, err error) error {
	if f, ok := errors.AsType[*sqliteError](err); ok && f.code&0xff == sqlite3.SQLITE_INTERRUPT && ctx.Err() != nil {
		return fmt.Errorf("the query was stopped; select less, or make it cheaper (EXPLAIN QUERY PLAN shows what it scans): %w", ctx.Err())
	}
	return err
}

// runQuery opens the file, runs the query and closes the file.
func (t *sqlTool) runQuery(ctx context.Context, f file, q query, opened chan<- *database) (found *rows, err error) {
	// A damaged file must not crash the program. An invalid memory access becomes a panic, which becomes an error;
	// SQLite's resources are then leaked.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			found, err = nil, fmt.Errorf("the database is damaged: SQLite failed to read it (%v); check it with PRAGMA integrity_check", p)
		}
	}()
	d, err := open(f.path, t.config.ReadOnly)
	if err != nil {
		return nil, t.explain(nil, q, err)
	}
	opened <- d
	found, err = t.runStatement(ctx, d, f, q)
	if err != nil {
		err = t.explain(d, q, err)
	}
	d.close()
	return found, err
}

func (t *sqlTool) runStatement(ctx context.Context, d *database, f file, q query) (*rows, error) {
	if err := f.checkUnmoved(); err != nil {
		return nil, err
	}
	var s *statement
	err := retryBusy(ctx, func() (err error) {
		s, err = d.prepare(q.text)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer s.finish()
	if err := s.bind(q.values); err != nil {
		return nil, err
	}
	columns, err := s.columns(t.config.MaxBytes)
	if err != nil {
		return nil, err
	}
	r := newRows(columns, t.config.MaxRows, t.config.MaxBytes)
	r.mayWrite = sqlite3.Xsqlite3_stmt_readonly(d.tls, s.handle) == 0
	more := false
	err = retryBusy(ctx, func() (err error) {
		more, err = s.next()
		if err != nil {
			s.reset()
		}
		return err
	})
	// A change is committed or rolled back when its statement ends. The rows of a writing statement (RETURNING) are
	// therefore read to the end even if they are dropped.
	for ; err == nil && more && (r.add(s) || r.mayWrite); more, err = s.next() {
		if err := ctx.Err(); err != nil && !r.mayWrite {
			return nil, err
		}
	}
	if r.mayWrite {
		r.Changes = int(sqlite3.Xsqlite3_changes(d.tls, d.handle))
	}
	return r, err
}

// retryBusy retries a call while the file is locked. SQLite has done nothing in that case.
func retryBusy(ctx context.Context, do func() error) error {
	for deadline := time.Now().Add(busyTimeout); ; {
		err := do()
		f, ok := errors.AsType[*sqliteError](err)
		if !ok || f.code&0xff != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("another program has locked the database: %w", err)
		}
	}
}

// explain describes an error of SQLite with its cause, position and fix.
func (t *sqlTool) explain(d *database, q query, err error) error {
	f, ok := errors.AsType[*sqliteError](err)
	if !ok {
		return err
	}
	switch f.code & 0xff {
	case sqlite3.SQLITE_INTERRUPT:
		return err
	case sqlite3.SQLITE_AUTH:
		if t.config.ReadOnly {
			return fmt.Errorf("not allowed: %s; this tool runs SELECT, WITH, VALUES, EXPLAIN and read-only PRAGMAs on this file", f.text)
		}
		return fmt.Errorf("not allowed: %s; this tool only reads and changes tables of this file (no ATTACH, no temporary tables, no transactions across calls, no PRAGMA that changes a setting)", f.text)
	case sqlite3.SQLITE_READONLY:
		return errors.New("the database is read-only")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("another program has locked the database for %s; call again later", busyTimeout)
	case sqlite3.SQLITE_NOMEM:
		return fmt.Errorf("the statement exceeds the memory limit for queries (%d MB); select fewer or smaller values", maxMemory>>20)
	case sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("the statement (maximum %d bytes) or one of its values (maximum %d bytes) is too large; select length(column), or other columns", maxQuery, maxValue)
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%s is not an SQLite database, or is encrypted", t.name)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("the database is damaged (%s); PRAGMA integrity_check shows where", f.text)
	case sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("the database cannot be opened (%s): the file must be readable, and in WAL mode its folder must be writable", f.text)
	}
	text := f.text
	if f.offset >= 0 && f.offset <= len(q.text) {
		before := q.text[:f.offset]
		text += fmt.Sprintf(" at line %d, column %d", strings.Count(before, "\n")+1, len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))+1)
	}
	if d != nil && strings.HasPrefix(f.text, "no such table") {
		text += "; " + d.tables()
	}
	return errors.New(text)
}

// tables lists some of the tables.
func (d *database) tables() string {
	s, err := d.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name")
	if err != nil {
		return "SELECT name, sql FROM sqlite_schema shows the tables"
	}
	defer s.finish()
	var names []string
	for len(names) < maxShownTables {
		if more, err := s.next(); err != nil || !more {
			break
		}
		name, _ := s.value(0).(string)
		names = append(names, name)
	}
	if len(names) == 0 {
		return "the database has no tables"
	}
	return "the tables are " + strings.Join(names, ", ")
}
