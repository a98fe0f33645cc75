package sqlite

import (
	"errors"
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// maxMemory is what SQLite may hold in this process, in bytes: the statements of
// all tools together. One row of a thousand values of maxValue would take 1 GB.
const maxMemory = 256 << 20

// bounded sets the bound. SQLite has to be told before its first use to count
// what it holds.
var bounded = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	args := libc.Xmalloc(tls, slot)
	if args == 0 {
		return errors.New("there is no memory left")
	}
	defer libc.Xfree(tls, args)
	if rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MEMSTATUS, libc.VaList(args, int32(1))); rc != sqlite3.SQLITE_OK {
		return errors.New("SQLite was used before its memory could be bounded")
	}
	sqlite3.Xsqlite3_hard_heap_limit64(tls, maxMemory)
	return nil
})
