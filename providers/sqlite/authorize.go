package sqlite

import (
	"slices"
	"strings"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// reading is what a query may do: pragmas and functions are looked at one by one.
var reading = []int32{
	sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE,
}

// writing is what a statement may do beyond that where the author allows
// changes. Other databases, temporary ones included, and transactions that
// outlive a statement are no part of it: a connection lives for one statement.
var writing = []int32{
	sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE,
	sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_CREATE_VIEW, sqlite3.SQLITE_CREATE_TRIGGER,
	sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_DROP_INDEX, sqlite3.SQLITE_DROP_VIEW, sqlite3.SQLITE_DROP_TRIGGER,
	sqlite3.SQLITE_DROP_VTABLE, sqlite3.SQLITE_ALTER_TABLE, sqlite3.SQLITE_REINDEX, sqlite3.SQLITE_ANALYZE,
}

// virtual are the kinds of virtual tables that keep to their own database.
var virtual = []string{"fts5", "fts5vocab", "rtree", "rtree_i32", "geopoly"}

// describing are pragmas that tell about the database, whatever their argument.
var describing = []string{
	"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo",
	"foreign_key_list", "foreign_key_check", "quick_check", "integrity_check",
}

// telling are pragmas that tell something as long as they have no argument.
var telling = []string{
	"user_version", "application_id", "schema_version", "data_version", "encoding", "page_count", "page_size", "freelist_count",
	"journal_mode", "collation_list", "function_list", "module_list", "pragma_list", "compile_options", "foreign_keys",
}

// authorizeReading is SQLite's authorizer for queries; refused is where it
// notes that it refused something.
func authorizeReading(_ *libc.TLS, refused uintptr, action int32, first, second, _, _ uintptr) int32 {
	return verdict(refused, slices.Contains(reading, action) || permitted(action, first, second))
}

// authorizeWriting is the same where the file may be changed.
func authorizeWriting(_ *libc.TLS, refused uintptr, action int32, first, second, place, _ uintptr) int32 {
	lasting := !strings.EqualFold(libc.GoString(place), "temp")
	ok := slices.Contains(reading, action) || slices.Contains(writing, action) && lasting || permitted(action, first, second) ||
		action == sqlite3.SQLITE_CREATE_VTABLE && slices.Contains(virtual, strings.ToLower(libc.GoString(second)))
	return verdict(refused, ok)
}

func verdict(refused uintptr, ok bool) int32 {
	if ok {
		return sqlite3.SQLITE_OK
	}
	libc.AtomicStoreNInt32(refused, 1, 0)
	return sqlite3.SQLITE_DENY
}

// permitted says whether a function or a pragma may be used.
func permitted(action int32, first, second uintptr) bool {
	switch action {
	case sqlite3.SQLITE_FUNCTION:
		return !strings.EqualFold(libc.GoString(second), "load_extension")
	case sqlite3.SQLITE_PRAGMA:
		name := strings.ToLower(libc.GoString(first))
		return slices.Contains(describing, name) || second == 0 && slices.Contains(telling, name)
	}
	return false
}

type authorizer = func(*libc.TLS, uintptr, int32, uintptr, uintptr, uintptr, uintptr) int32

// pointer is a package's function as the library's C code calls it: the value
// of a func is a pointer to where its code's address stands, and that of a
// function without captured variables never moves.
func pointer(f authorizer) uintptr {
	return *(*uintptr)(unsafe.Pointer(&struct{ f authorizer }{f}))
}
