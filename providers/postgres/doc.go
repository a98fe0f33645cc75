// Package postgres stores conversations in a PostgreSQL database, so that many machines share
// them (memory.backend: postgres), and blobs.
//
//	memory.Store -> Store -> pool -> pex_conversations: one row each, with its session state
//	                              -> pex_interactions:  one row each, in the order of seq
//	blob.Store   -> Blobs -> pool -> pex_blobs:         one row each
//
// The row of a conversation is its lock: a transaction that adds to it or changes its session state
// holds the row until it ends. Ids and names are bytea, since text cannot have every
// character of an id. The first operation creates the tables.
package postgres
