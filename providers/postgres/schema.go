package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// format is the version of the tables. A store with a later one is not used.
const format = 1

// schemaLock is the key of the advisory lock that serializes the creation of the tables.
const schemaLock = 0x7065786d656d // "pexmem"

// schema creates the tables. seq has gaps where an interaction was added again.
const schema = `
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
`

// prepare creates the tables unless they exist, and checks their format. The role needs no right
// to create tables that exist.
func prepare(ctx context.Context, conn *pgx.Conn) error {
	var exists bool
	if err := conn.QueryRow(ctx, `SELECT to_regclass('pex_memory_format') IS NOT NULL`).Scan(&exists); err != nil {
		return err
	}
	if !exists {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(schemaLock)); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, schema)
			return err
		})
		if err != nil {
			return fmt.Errorf("create the tables of conversations: %w", err)
		}
	}
	var found int
	err := conn.QueryRow(ctx, `SELECT version FROM pex_memory_format`).Scan(&found)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return &FormatError{}
	case err != nil:
		return err
	case found != format:
		return &FormatError{found}
	}
	return nil
}
