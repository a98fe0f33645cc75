// Package sqlite is the tool sql: queries to one SQLite file of the author's.
//
//	sql{query, args} --file: in its folder, no link--> database: opened by a call, closed by it
//	  --authorizer: what this statement may touch--> rows, bounded while they are read
//	  --> {columns, rows, truncated} and the same as a table in words
//
// What is allowed is decided by SQLite itself while it compiles a statement:
// its authorizer is asked about each table, function and pragma, so neither
// comments nor clever spelling get past it. Read-only is threefold: the file is
// opened read-only, query_only is on, and the authorizer knows no writing. No
// other file is reached: databases cannot be attached, extensions not loaded.
//
// What SQLite holds in memory is bounded for the process (256 MB); what a sort or
// a set spills to temporary files is bounded by the call's time alone.
//
// A statement is interrupted when the call's context ends. One single function
// over a large value cannot be interrupted (instr of two values of 1 MB takes
// minutes); the call then ends without it, its work goes on in the background,
// and keeps one of the few places that a tool has for statements until it ends.
// A database in WAL mode has two more files beside it while it is used; SQLite
// makes them for readers too, and only a writer removes them.
// Large sorts are spilled to temporary files, which are deleted by themselves.
//
// The library's C interface is used rather than its database/sql driver, which
// has no authorizer and cannot interrupt a statement between two of its rows.
//
// It must not know specs, plans, or who asks.
package sqlite
