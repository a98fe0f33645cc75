package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// tables are the tables of one kind of store. One of them has a row with the version of their format; a later one is not
// used.
type tables struct {
	of      string   // what uses them, for messages
	content string   // what they have, for messages
	names   []string // the first one has the version
	format  int
	lock    int64 // key of the advisory lock that serializes their creation
	schema  string
}

// conversations are the tables of a Store. seq has gaps where an interaction was added again.
var conversations = &tables{
	of: "memory", content: "conversations", names: []string{"pex_memory_format", "pex_conversations", "pex_interactions"},
	format: 1, lock: 0x7065786d656d, // "pexmem"
	schema: `
CREATE TABLE IF NOT EXISTS pex_memory_format (version int NOT NULL);
CREATE TABLE IF NOT EXISTS pex_conversations (
	tenant  bytea  NOT NULL,
	id      bytea  NOT NULL,
	next    bigint NOT NULL DEFAULT 0,
	session json,
	PRIMARY KEY (tenant, id)
);
CREATE TABLE IF NOT EXISTS pex_interactions (
	tenant       bytea  NOT NULL,
	conversation bytea  NOT NULL,
	seq          bigint NOT NULL,
	id           bytea  NOT NULL,
	interaction  json   NOT NULL,
	PRIMARY KEY (tenant, conversation, seq),
	UNIQUE (tenant, conversation, id),
	FOREIGN KEY (tenant, conversation) REFERENCES pex_conversations (tenant, id) ON DELETE CASCADE
);
INSERT INTO pex_memory_format SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM pex_memory_format);
`,
}

// blobs are the tables of Blobs. The contents are compressed or encrypted already.
var blobs = &tables{
	of: "blob store", content: "blobs", names: []string{"pex_blob_format", "pex_blobs"},
	format: 1, lock: 0x706578626c6f, // "pexblo"
	schema: `
CREATE TABLE IF NOT EXISTS pex_blob_format (version int NOT NULL);
CREATE TABLE IF NOT EXISTS pex_blobs (
	sha256  bytea       NOT NULL PRIMARY KEY,
	content bytea       NOT NULL,
	stored  timestamptz NOT NULL
);
ALTER TABLE pex_blobs ALTER COLUMN content SET STORAGE EXTERNAL;
INSERT INTO pex_blob_format SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM pex_blob_format);
`,
}

// prepare creates the tables unless they exist, and checks their format. The role needs no right
// to create tables that exist.
func (t *tables) prepare(ctx context.Context, conn *pgx.Conn) error {
	var exists bool
	if err := conn.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, t.names[0]).Scan(&exists); err != nil {
		return err
	}
	if !exists {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, t.lock); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, t.schema)
			return err
		})
		if err != nil {
			return fmt.Errorf("create the tables of %s: %w", t.content, err)
		}
	}
	var found int
	err := conn.QueryRow(ctx, `SELECT version FROM `+t.names[0]).Scan(&found)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return &FormatError{0, t}
	case err != nil:
		return err
	case found != t.format:
		return &FormatError{found, t}
	}
	return nil
}
