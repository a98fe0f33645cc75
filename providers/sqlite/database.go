package sqlite

import (
	"errors"
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	maxValue  = 1 << 20  // bytes of one text or blob; on longer ones, single functions can run for minutes
	maxQuery  = 64 << 10 // bytes of a statement
	lockPause = 50       // milliseconds that SQLite itself waits for a lock; see retryBusy
)

// limits replace SQLite's limits, which are too high for untrusted statements.
var limits = map[int32]int32{
	sqlite3.SQLITE_LIMIT_LENGTH:              maxValue,
	sqlite3.SQLITE_LIMIT_SQL_LENGTH:          maxQuery,
	sqlite3.SQLITE_LIMIT_ATTACHED:            0,
	sqlite3.SQLITE_LIMIT_WORKER_THREADS:      0,
	sqlite3.SQLITE_LIMIT_EXPR_DEPTH:          200,
	sqlite3.SQLITE_LIMIT_COMPOUND_SELECT:     100,
	sqlite3.SQLITE_LIMIT_VDBE_OP:             100_000,
	sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000,
	sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH:       50,
}

// database is an open connection. Only one goroutine may use it, but others may call interrupt at any time.
type database struct {
	tls     *libc.TLS
	results uintptr // memory for the results of C functions: two pointers and a number
	mu      sync.Mutex
	handle  uintptr // 0 = closed
	refused uintptr // set by the authorizer when it denies an action
}

// open opens an existing file.
func open(path string, readOnly bool) (*database, error) {
	if err := limitMemory(); err != nil {
		return nil, err
	}
	d := &database{tls: libc.NewTLS()}
	if d.results = sqlite3.Xsqlite3_malloc(d.tls, 3*valueSize); d.results == 0 {
		d.tls.Close()
		return nil, errors.New("out of memory")
	}
	d.refused = d.results + 2*valueSize
	libc.AtomicStoreNInt32(d.refused, 0, 0)
	name, err := libc.CString(path)
	if err != nil {
		d.close()
		return nil, err
	}
	defer libc.Xfree(d.tls, name)
	flags := int32(sqlite3.SQLITE_OPEN_READWRITE)
	if readOnly {
		flags = sqlite3.SQLITE_OPEN_READONLY
	}
	rc := sqlite3.Xsqlite3_open_v2(d.tls, name, d.results, flags|sqlite3.SQLITE_OPEN_NOFOLLOW|sqlite3.SQLITE_OPEN_EXRESCODE, 0)
	d.handle = libc.AtomicLoadNUintptr(d.results, 0)
	if rc != sqlite3.SQLITE_OK {
		err := d.failure(rc)
		d.close()
		return nil, err
	}
	if err := d.secure(readOnly); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// valueSize is the size of one value on any machine.
const valueSize = 8

// secure disables everything that statements do not need.
func (d *database) secure(readOnly bool) error {
	for id, limit := range limits {
		sqlite3.Xsqlite3_limit(d.tls, d.handle, id, limit)
	}
	sqlite3.Xsqlite3_busy_timeout(d.tls, d.handle, lockPause)
	for option, on := range map[int32]int32{
		sqlite3.SQLITE_DBCONFIG_DEFENSIVE:             1,
		sqlite3.SQLITE_DBCONFIG_TRUSTED_SCHEMA:        0,
		sqlite3.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION: 0,
	} {
		// Two values of 8 bytes, the second a pointer that may be nil.
		if rc := sqlite3.Xsqlite3_db_config(d.tls, d.handle, option, libc.VaList(d.results, on, uintptr(0))); rc != sqlite3.SQLITE_OK {
			return d.failure(rc)
		}
	}
	allow, last := pointer(authorizeWriting), "PRAGMA foreign_keys = 1"
	if readOnly {
		allow, last = pointer(authorizeReading), "PRAGMA query_only = 1"
	}
	for _, text := range []string{"PRAGMA cell_size_check = 1", last} {
		if err := d.do(text); err != nil {
			return err
		}
	}
	if rc := sqlite3.Xsqlite3_set_authorizer(d.tls, d.handle, allow, d.refused); rc != sqlite3.SQLITE_OK {
		return d.failure(rc)
	}
	return nil
}

// do runs one of our own statements and discards its rows.
func (d *database) do(text string) error {
	s, err := d.prepare(text)
	if err != nil {
		return err
	}
	defer s.finish()
	for {
		if more, err := s.next(); err != nil || !more {
			return err
		}
	}
}

// interrupt aborts the running statement.
func (d *database) interrupt() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.handle != 0 {
		tls := libc.NewTLS() // the goroutine that runs the statement has its own
		defer tls.Close()
		sqlite3.Xsqlite3_interrupt(tls, d.handle)
	}
}

func (d *database) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.handle != 0 {
		sqlite3.Xsqlite3_close_v2(d.tls, d.handle)
		d.handle = 0
	}
	sqlite3.Xsqlite3_free(d.tls, d.results)
	d.tls.Close()
}

// sqliteError is an error of SQLite.
type sqliteError struct {
	code   int32 // extended
	text   string
	offset int // byte offset in the statement; -1 = unknown
}

func (f *sqliteError) Error() string { return f.text }

// failure returns the error for a result code.
func (d *database) failure(rc int32) error {
	f := &sqliteError{code: rc, offset: -1, text: libc.GoString(sqlite3.Xsqlite3_errstr(d.tls, rc))}
	if d.handle != 0 && rc != sqlite3.SQLITE_MISUSE {
		f.text = libc.GoString(sqlite3.Xsqlite3_errmsg(d.tls, d.handle))
		f.offset = int(sqlite3.Xsqlite3_error_offset(d.tls, d.handle))
	}
	return f
}

// maxMemory is the memory limit of SQLite in this process, shared by all tools. One row
// of a thousand values of maxValue would take 1 GB.
const maxMemory = 256 << 20

// limitMemory sets the limit. SQLite must be configured to count memory before its first
// use.
var limitMemory = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	args := libc.Xmalloc(tls, valueSize)
	if args == 0 {
		return errors.New("out of memory")
	}
	defer libc.Xfree(tls, args)
	if rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MEMSTATUS, libc.VaList(args, int32(1))); rc != sqlite3.SQLITE_OK {
		return errors.New("SQLite was used before its memory limit was set")
	}
	sqlite3.Xsqlite3_hard_heap_limit64(tls, maxMemory)
	return nil
})
