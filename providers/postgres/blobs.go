package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pexctl/pex/engine/blob"
)

// Blobs stores blobs in a database. It is safe for concurrent use, also by several processes.
type Blobs struct {
	*database
	place string // for messages
}

var (
	_ blob.Store   = (*Blobs)(nil)
	_ blob.Sweeper = (*Blobs)(nil)
)

// sweepBatch is how many blobs one statement deletes.
const sweepBatch = 1000

// OpenBlobs is a blob.Opener for postgres and postgresql.
func OpenBlobs(address *url.URL) (blob.Store, error) {
	d := &database{address: address.String(), tables: blobs}
	c, err := d.config()
	if err != nil {
		return nil, err
	}
	at := c.ConnConfig
	return &Blobs{d, fmt.Sprintf("database %s on %s", at.Database, at.Host)}, nil
}

func (b *Blobs) String() string { return b.place }

// Put implements blob.Store.
func (b *Blobs) Put(ctx context.Context, content []byte) (blob.Ref, error) {
	ref := blob.Of(content)
	if err := blob.CheckPut(ref, b.place); err != nil {
		return blob.Ref{}, err
	}
	err := b.run(ctx, "store", ref, func(pool *pgxpool.Pool) error {
		sum := sumOf(ref)
		renewed, err := pool.Exec(ctx, `UPDATE pex_blobs SET stored = clock_timestamp() WHERE sha256 = $1 AND sha256(content) = $1`, sum)
		if err != nil || renewed.RowsAffected() > 0 {
			return err
		}
		if content == nil {
			content = []byte{}
		}
		_, err = pool.Exec(ctx, `INSERT INTO pex_blobs (sha256, content, stored) VALUES ($1, $2, clock_timestamp())
			ON CONFLICT (sha256) DO UPDATE SET content = EXCLUDED.content, stored = EXCLUDED.stored`, sum, content)
		return err
	})
	if err != nil {
		return blob.Ref{}, err
	}
	return ref, nil
}

// Get implements blob.Store.
func (b *Blobs) Get(ctx context.Context, ref blob.Ref) ([]byte, error) {
	if err := blob.CheckGet(ref, b.place); err != nil {
		return nil, err
	}
	var content []byte
	err := b.run(ctx, "read", ref, func(pool *pgxpool.Pool) error {
		var size int64
		err := pool.QueryRow(ctx, `SELECT octet_length(content), CASE WHEN octet_length(content) = $2 THEN content END
			FROM pex_blobs WHERE sha256 = $1`, sumOf(ref), ref.Size).Scan(&size, &content)
		if err == nil && size != ref.Size {
			return &blob.Error{Kind: blob.Damaged, Doing: "read", Ref: ref, Store: b.place, Err: fmt.Errorf("it has %d bytes", size)}
		}
		return err
	})
	if err == nil {
		err = blob.Verify(ref, content, b.place)
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

// DeleteOlder implements blob.Sweeper. The time is compared with the clock of the database.
func (b *Blobs) DeleteOlder(ctx context.Context, before time.Time) (deleted blob.Deleted, err error) {
	for batch := sweepBatch; batch == sweepBatch && err == nil; {
		err = b.run(ctx, "delete", blob.Ref{}, func(pool *pgxpool.Pool) error {
			var size int64
			err := pool.QueryRow(ctx, `WITH old AS (
				SELECT sha256 FROM pex_blobs WHERE stored < $1 LIMIT $2 FOR UPDATE
			), gone AS (
				DELETE FROM pex_blobs WHERE sha256 IN (SELECT sha256 FROM old) RETURNING octet_length(content) AS size
			) SELECT count(*), coalesce(sum(size), 0) FROM gone`, before, sweepBatch).Scan(&batch, &size)
			if err == nil {
				deleted.Blobs += batch
				deleted.Bytes += size
			}
			return err
		})
	}
	return deleted, err
}

func sumOf(ref blob.Ref) []byte {
	sum, _ := hex.DecodeString(ref.SHA256) // a Ref that was checked is valid
	return sum
}

// run runs an operation, and returns its error as a blob.Store does.
func (b *Blobs) run(ctx context.Context, doing string, ref blob.Ref, operation func(*pgxpool.Pool) error) error {
	err := b.do(ctx, "blob store", operation)
	if err == nil || blob.KindOf(err) != "" {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s blob: %w", doing, errors.Join(ctx.Err(), err))
	}
	failed := &blob.Error{Kind: kindOf(err), Doing: doing, Ref: ref, Store: b.place}
	if failed.Kind != blob.Missing {
		failed.Err = err
	}
	return failed
}

// kindOf classifies an error of the database; see https://www.postgresql.org/docs/current/errcodes-appendix.html.
func kindOf(err error) blob.Kind {
	if errors.Is(err, pgx.ErrNoRows) {
		return blob.Missing
	}
	if _, ok := errors.AsType[*FormatError](err); ok {
		return blob.Unsupported
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return blob.Unreachable
	}
	switch class := fmt.Sprintf("%.2s", pg.Code); {
	case pg.Code == "53100": // disk_full
		return blob.Full
	case pg.Code == "54000": // program_limit_exceeded: a value is too large
		return blob.TooLarge
	case class == "28", class == "42", pg.Code == "3D000": // no such role, right, table or database
		return blob.Denied
	}
	return blob.Unreachable
}
