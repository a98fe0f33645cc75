package postgres_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/providers/postgres"
)

func TestUnusableAddressesAreNamedWithoutTheirPassword(t *testing.T) {
	for address, want := range map[string]string{
		"":                                      "PEX_PG is not set",
		"postgres://u:hunter2@host:port/db":     "PEX_PG is not valid",
		"host=x password=hunter2 sslmode=maybe": "PEX_PG is not valid",
	} {
		s := postgres.Open(postgres.Options{Address: address, Variable: "PEX_PG"})
		_, err := s.History(t.Context(), "c")
		if _, ok := errors.AsType[*postgres.AddressError](err); !ok || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestUnreachableDatabaseIsTemporary(t *testing.T) {
	s := postgres.Open(postgres.Options{Address: "postgres://u:hunter2@127.0.0.1:1/db?connect_timeout=2"})
	err := s.Append(t.Context(), memory.Interaction{ID: "1", MemoryID: "c"})
	if _, refused := errors.AsType[*memory.RefusedError](err); err == nil || refused || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

// TestNamesThatTheTablesCannotHaveAreRefused needs no database: names are checked first.
func TestNamesThatTheTablesCannotHaveAreRefused(t *testing.T) {
	long := strings.Repeat("x", 801)
	for name, c := range map[string]struct {
		tenant string
		in     memory.Interaction
	}{
		"no memory id":        {"", memory.Interaction{ID: "1"}},
		"no id":               {"", memory.Interaction{MemoryID: "c"}},
		"a long memory id":    {"", memory.Interaction{MemoryID: long, ID: "1"}},
		"a long id":           {"", memory.Interaction{MemoryID: "c", ID: long}},
		"a long tenant":       {long, memory.Interaction{MemoryID: "c", ID: "1"}},
		"invalid UTF-8":       {"", memory.Interaction{MemoryID: "c\xff", ID: "1"}},
		"a large interaction": {"", memory.Interaction{MemoryID: "c", ID: "1", Answer: strings.Repeat("x", 8<<20)}},
	} {
		err := postgres.Open(postgres.Options{Tenant: c.tenant}).Append(t.Context(), c.in)
		if _, refused := errors.AsType[*memory.RefusedError](err); !refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestClosedStoreFails(t *testing.T) {
	s := postgres.Open(postgres.Options{Address: "postgres://127.0.0.1:1/db"})
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(context.Background(), "c"); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("got %v", err)
	}
}

func openBlobs(t *testing.T, address string) (blob.Store, error) {
	t.Helper()
	return blob.Open(address, map[string]blob.Opener{"postgres": postgres.OpenBlobs})
}

func TestAddressOfBlobsIsNotShown(t *testing.T) {
	_, err := openBlobs(t, "postgres://u:hunter2@host/db?sslmode=maybe")
	if _, ok := errors.AsType[*postgres.AddressError](err); !ok || !strings.Contains(err.Error(), "blob store: ") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
	s, err := openBlobs(t, "postgres://u:hunter2@127.0.0.1:1/db?connect_timeout=2")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"127.0.0.1", "the store is closed"} {
		_, err = s.Put(t.Context(), []byte("x"))
		if blob.KindOf(err) != blob.Unreachable || !strings.Contains(err.Error(), "database db on 127.0.0.1") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v", err)
		}
		if err := s.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	}
}
