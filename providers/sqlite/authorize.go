package sqlite

import (
	"slices"
	"strings"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// readActions are the actions allowed in queries; pragmas and functions are checked one
// by one.
var readActions = []int32{
	sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE,
}

// writeActions are additional actions if the author allows changes. Other databases,
// including temporary ones, and transactions across statements are not allowed: a
// connection is used for one statement.
var writeActions = []int32{
	sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE,
	sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_CREATE_VIEW, sqlite3.SQLITE_CREATE_TRIGGER,
	sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_DROP_INDEX, sqlite3.SQLITE_DROP_VIEW, sqlite3.SQLITE_DROP_TRIGGER,
	sqlite3.SQLITE_DROP_VTABLE, sqlite3.SQLITE_ALTER_TABLE, sqlite3.SQLITE_REINDEX, sqlite3.SQLITE_ANALYZE,
}

// virtualTables are the kinds of virtual tables that stay within their own database.
var virtualTables = []string{"fts5", "fts5vocab", "rtree", "rtree_i32", "geopoly"}

// readPragmas only read, whatever their argument.
var readPragmas = []string{
	"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo",
	"foreign_key_list", "foreign_key_check", "quick_check", "integrity_check",
}

// argumentlessPragmas only read if they have no argument.
var argumentlessPragmas = []string{
	"user_version", "application_id", "schema_version", "data_version", "encoding", "page_count", "page_size", "freelist_count",
	"journal_mode", "collation_list", "function_list", "module_list", "pragma_list", "compile_options", "foreign_keys",
}

// authorizeReading is SQLite's authorizer for queries. It sets refused if it denies an action.
func authorizeReading(_ *libc.TLS, refused uintptr, action int32, first, second, _, _ uintptr) int32 {
	return authorizerResult(refused, slices.Contains(readActions, action) || allowedCall(action, first, second))
}

// authorizeWriting is the authorizer if the file may be changed.
func authorizeWriting(_ *libc.TLS, refused uintptr, action int32, first, second, place, _ uintptr) int32 {
	lasting := !strings.EqualFold(libc.GoString(place), "temp")
	ok := slices.Contains(readActions, action) || slices.Contains(writeActions, action) && lasting || allowedCall(action, first, second) ||
		action == sqlite3.SQLITE_CREATE_VTABLE && slices.Contains(virtualTables, strings.ToLower(libc.GoString(second)))
	return authorizerResult(refused, ok)
}

func authorizerResult(refused uintptr, ok bool) int32 {
	if ok {
		return sqlite3.SQLITE_OK
	}
	libc.AtomicStoreNInt32(refused, 1, 0)
	return sqlite3.SQLITE_DENY
}

// allowedCall reports whether a function or pragma is allowed.
func allowedCall(action int32, first, second uintptr) bool {
	switch action {
	case sqlite3.SQLITE_FUNCTION:
		return !strings.EqualFold(libc.GoString(second), "load_extension")
	case sqlite3.SQLITE_PRAGMA:
		name := strings.ToLower(libc.GoString(first))
		return slices.Contains(readPragmas, name) || second == 0 && slices.Contains(argumentlessPragmas, name)
	}
	return false
}

type authorizer = func(*libc.TLS, uintptr, int32, uintptr, uintptr, uintptr, uintptr) int32

// pointer converts a Go function to a pointer for C code: a func value points to the
// address of its code, which never moves for a function without captured variables.
func pointer(f authorizer) uintptr {
	return *(*uintptr)(unsafe.Pointer(&struct{ f authorizer }{f}))
}
