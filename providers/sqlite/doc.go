// Package sqlite implements the sql tool: statements on one SQLite file chosen by the
// author.
//
//	sql{query, args} --file: in its folder, no link--> database: opened and closed by each call
//	  --authorizer: what this statement may access--> rows, limited while they are read
//	  --> {columns, rows, truncated} and the same as a text table
//
// SQLite itself decides what is allowed while it compiles a statement: it calls the
// authorizer for each table, function and pragma, so neither comments nor unusual syntax
// circumvent it. Read-only is enforced three times: the file is opened read-only,
// query_only is on, and the authorizer denies writes. No other file is accessible:
// databases cannot be attached and extensions cannot be loaded.
//
// SQLite's memory is limited per process (256 MB). Temporary files of sorts and sets are
// limited only by the call's timeout.
//
// A statement is interrupted when the call's context ends. A single function on a large
// value cannot be interrupted (instr of two values of 1 MB takes minutes); the call then
// returns without it, and the work continues in the background and occupies one of the
// tool's few slots until it ends. A database in WAL mode has two more files while in use;
// SQLite creates them for readers too, and only a writer removes them. Temporary files
// are deleted automatically.
//
// The package uses the library's C interface rather than its database/sql driver, which
// has no authorizer and cannot interrupt a statement between two rows.
//
// It must not know specs, plans, or its callers.
package sqlite
