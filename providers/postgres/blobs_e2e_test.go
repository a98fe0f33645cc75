//go:build e2e && linux

package postgres_test

import (
	"context"
	"io"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/engine/enginetest"
)

// addressOf returns the address that database returned as a URL.
func addressOf(address string) string {
	u := url.URL{Scheme: "postgres", Path: "/"}
	q := url.Values{}
	for setting := range strings.FieldsSeq(address) {
		name, value, _ := strings.Cut(setting, "=")
		q.Set(name, value)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

func blobsAt(t *testing.T, address string) blob.Store {
	t.Helper()
	s, err := openBlobs(t, addressOf(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.(io.Closer).Close() })
	return s
}

func TestE2EBlobSuite(t *testing.T) {
	enginetest.BlobSuite(t, func(t *testing.T) blob.Store { return blobsAt(t, database(t)) })
}

// TestE2EProcessesShareBlobs opens two stores, each with connections of its own.
func TestE2EProcessesShareBlobs(t *testing.T) {
	address := database(t)
	a, b := blobsAt(t, address), blobsAt(t, address)
	content := []byte(strings.Repeat("\x00\xff", 1_250_000))
	ref, err := a.Put(t.Context(), content)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Get(t.Context(), ref); err != nil || string(got) != string(content) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func execute(t *testing.T, address string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, q := range statements {
		if _, err := conn.Exec(t.Context(), q); err != nil {
			t.Fatal(q, err)
		}
	}
}

func TestE2EDamagedBlobsAreFoundAndRepaired(t *testing.T) {
	address := database(t)
	s := blobsAt(t, address)
	ref, err := s.Put(t.Context(), []byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{"contenT", "cont"} {
		execute(t, address, "UPDATE pex_blobs SET content = '"+damage+"'")
		if _, err := s.Get(t.Context(), ref); blob.KindOf(err) != blob.Damaged {
			t.Errorf("%s: %v", damage, err)
		}
		if _, err := s.Put(t.Context(), []byte("content")); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context(), ref); err != nil || string(got) != "content" {
			t.Errorf("put again: %q, %v", got, err)
		}
	}
}

func TestE2EBlobErrorsAreNamed(t *testing.T) {
	address := database(t)
	if _, err := blobsAt(t, address).Put(t.Context(), []byte("x")); err != nil {
		t.Fatal(err)
	}
	role := "reader" + strconv.FormatInt(time.Now().UnixNano(), 10)
	execute(t, address, "CREATE ROLE "+role+" LOGIN", "GRANT SELECT ON pex_blobs, pex_blob_format TO "+role)
	reader := blobsAt(t, strings.Replace(address, "user=pex", "user="+role, 1))
	if _, err := reader.Get(t.Context(), blob.Of([]byte("x"))); err != nil {
		t.Error(err)
	}
	_, denied := reader.Put(t.Context(), []byte("y"))
	_, role404 := blobsAt(t, strings.Replace(address, "user=pex", "user=unknown", 1)).Put(t.Context(), []byte("y"))
	_, database404 := blobsAt(t, strings.Replace(address, "dbname=", "dbname=x", 1)).Put(t.Context(), []byte("y"))
	for name, err := range map[string]error{"a reader": denied, "an unknown role": role404, "an unknown database": database404} {
		if blob.KindOf(err) != blob.Denied || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	execute(t, address, "UPDATE pex_blob_format SET version = 2")
	_, err := blobsAt(t, address).Put(t.Context(), []byte("y"))
	if blob.KindOf(err) != blob.Unsupported || !strings.Contains(err.Error(), "the blobs in the database have format 2") {
		t.Errorf("got %v", err)
	}
	execute(t, address, "DELETE FROM pex_blob_format")
	_, err = blobsAt(t, address).Put(t.Context(), []byte("y"))
	if blob.KindOf(err) != blob.Unsupported || !strings.Contains(err.Error(), "drop the tables pex_blob_format and pex_blobs to start without blobs") {
		t.Errorf("got %v", err)
	}
}

// TestE2EBlobsSurviveARestart stops the server between two operations.
func TestE2EBlobsSurviveARestart(t *testing.T) {
	s := blobsAt(t, database(t))
	ref, err := s.Put(t.Context(), []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := shared.run("pg_ctl", "-D", shared.dir+"/data", "-w", "-m", "immediate", "stop"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), ref); blob.KindOf(err) != blob.Unreachable {
		t.Errorf("without a server: %v", err)
	}
	if err := shared.run("pg_ctl", "-D", shared.dir+"/data", "-w", "-l", shared.dir+"/log", "-o", "-c listen_addresses='' -c unix_socket_directories="+shared.dir, "start"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(t.Context(), ref); err != nil || string(got) != "x" {
		t.Error(string(got), err)
	}
}
