//go:build e2e && linux

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/providers/postgres"
)

// server is a database server of one test run, on a socket in its folder. Debian's package
// postgresql has its programs.
type server struct{ bin, dir string }

var (
	starting sync.Once
	shared   *server
	failed   error
)

// database returns the address of a new database.
func database(t *testing.T) string {
	t.Helper()
	starting.Do(func() { shared, failed = start() })
	if failed != nil {
		t.Fatal(failed)
	}
	conn, err := pgx.Connect(t.Context(), shared.address("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	name := fmt.Sprintf("test%d", time.Now().UnixNano())
	if _, err := conn.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return shared.address(name)
}

func (s *server) address(database string) string {
	return "host=" + s.dir + " user=pex dbname=" + database
}

func start() (*server, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(found) == 0 {
		return nil, errors.New("no PostgreSQL in /usr/lib/postgresql; run make e2e, or install the package postgresql")
	}
	dir, err := os.MkdirTemp("/tmp", "pex-postgres-")
	s := &server{bin: found[len(found)-1], dir: dir}
	if err == nil {
		err = os.Chmod(dir, 0o777) // the server refuses to run as root, so it has another owner
	}
	if err == nil {
		err = s.run("initdb", "-D", dir+"/data", "-U", "pex", "-A", "trust", "--no-sync", "-E", "UTF8")
	}
	if err == nil {
		err = s.run("pg_ctl", "-D", dir+"/data", "-w", "-l", dir+"/log", "-o", "-c listen_addresses='' -c unix_socket_directories="+dir+" -c fsync=off", "start")
	}
	return s, err
}

// run runs a program of the server, not as root.
func (s *server) run(name string, args ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	if os.Geteuid() == 0 {
		nobody, err := user.Lookup("nobody")
		if err != nil {
			return err
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared != nil {
		_ = shared.run("pg_ctl", "-D", shared.dir+"/data", "-m", "immediate", "stop")
		_ = os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// open returns a store of a tenant.
func open(t *testing.T, address, tenant string) *postgres.Store {
	s := postgres.Open(postgres.Options{Address: address, Tenant: tenant, Variable: "PEX_PG"})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestE2EMemorySuite(t *testing.T) {
	enginetest.MemorySuite(t, func(t *testing.T) memory.Store { return open(t, database(t), "x") })
}

func TestE2ETenantsAreIsolated(t *testing.T) {
	address := database(t)
	a, b := open(t, address, "a"), open(t, address, "b")
	in := memory.Interaction{ID: "1", MemoryID: "c", Question: "whose?", Answer: "a's", Status: stop.RunCompleted}
	if err := a.Append(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if got, err := b.History(t.Context(), "c"); err != nil || len(got) > 0 {
		t.Errorf("the other tenant reads %v, %v", got, err)
	}
	if err := b.Remove(t.Context(), "c"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the other tenant removes: %v", err)
	}
	if got, err := b.List(t.Context()); err != nil || len(got) > 0 {
		t.Errorf("the other tenant lists %v, %v", got, err)
	}
	if got, err := a.History(t.Context(), "c"); err != nil || len(got) != 1 {
		t.Errorf("the tenant reads %v, %v", got, err)
	}
}

func TestE2EListAndRemove(t *testing.T) {
	s := open(t, database(t), "")
	at := func(hour int) time.Time { return time.Date(2026, 11, 20, hour, 0, 0, 123456789, time.UTC) }
	for i, id := range []string{"old", "long", "long"} {
		in := memory.Interaction{ID: strconv.Itoa(i), MemoryID: id, Question: "question \x00 " + strconv.Itoa(i), At: at(i + 1)}
		if err := s.Append(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	note := func(s *memory.Session) error {
		s.Notes = []memory.Note{{ID: "1", At: at(9)}}
		return nil
	}
	nothing := func(s *memory.Session) error { return nil }
	if err := errors.Join(s.UpdateSession(t.Context(), "notes", note), s.UpdateSession(t.Context(), "empty", nothing)); err != nil {
		t.Fatal(err)
	}
	got, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i].Bytes <= 0 {
			t.Errorf("%s has %d bytes", got[i].MemoryID, got[i].Bytes)
		}
		got[i].Bytes = 0
	}
	want := []memory.Conversation{
		{MemoryID: "notes", Notes: 1, First: at(9), Last: at(9)},
		{MemoryID: "long", Interactions: 2, First: at(2), Last: at(3), LastQuestion: "question \x00 2"},
		{MemoryID: "old", Interactions: 1, First: at(1), Last: at(1), LastQuestion: "question \x00 0"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := s.Remove(t.Context(), "long"); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"long", "empty", "unknown"} {
		if err := s.Remove(t.Context(), id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("remove %s: %v", id, err)
		}
	}
	if got, err := s.History(t.Context(), "long"); err != nil || len(got) > 0 {
		t.Errorf("what was removed is %v, %v", got, err)
	}
}

// TestE2EManyProcessesShareConversations lets 8 stores, each with connections of its own, add to
// the same two conversations in different orders: nothing is lost, and no one waits for ever.
func TestE2EManyProcessesShareConversations(t *testing.T) {
	address := database(t)
	const stores, each = 8, 25
	var wg sync.WaitGroup
	for p := range stores {
		s := open(t, address, "x")
		wg.Go(func() {
			for i := range each {
				ids := []string{"left", "right"}
				if p%2 == 1 {
					ids[0], ids[1] = ids[1], ids[0]
				}
				var all []memory.Interaction
				for _, id := range ids {
					all = append(all, memory.Interaction{ID: fmt.Sprintf("%d-%d", p, i), MemoryID: id})
				}
				if err := s.Append(t.Context(), all...); err != nil {
					t.Error(err)
				}
				if err := s.UpdateSession(t.Context(), "left", func(s *memory.Session) error {
					s.Notes = append(s.Notes, memory.Note{ID: fmt.Sprintf("%d-%d", p, i)})
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s := open(t, address, "x")
	for _, id := range []string{"left", "right"} {
		if got, err := s.History(t.Context(), id); err != nil || len(got) != stores*each {
			t.Errorf("%s has %d interactions, want %d: %v", id, len(got), stores*each, err)
		}
	}
	if got, err := s.Session(t.Context(), "left"); err != nil || len(got.Notes) != stores*each {
		t.Errorf("%d notes, want %d: %v", len(got.Notes), stores*each, err)
	}
}

// TestE2ETablesOfAnotherFormatAreRefused changes the version in the database.
func TestE2ETablesOfAnotherFormatAreRefused(t *testing.T) {
	address := database(t)
	if _, err := open(t, address, "").History(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, change := range []string{"UPDATE pex_memory_format SET version = 2", "DELETE FROM pex_memory_format"} {
		if _, err := conn.Exec(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		err := open(t, address, "").Append(t.Context(), memory.Interaction{ID: "1", MemoryID: "c"})
		if e, ok := errors.AsType[*postgres.FormatError](err); !ok || e.StopCode() != stop.StoreCorrupt {
			t.Errorf("after %s: %v", change, err)
		}
	}
}

// TestE2ERoleWithoutRightsToCreateUsesExistingTables is a database whose tables an
// administrator created.
func TestE2ERoleWithoutRightsToCreateUsesExistingTables(t *testing.T) {
	address := database(t)
	if _, err := open(t, address, "").History(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	role := "worker" + strconv.FormatInt(time.Now().UnixNano(), 10)
	for _, q := range []string{
		"CREATE ROLE " + role + " LOGIN", "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
		"GRANT SELECT ON pex_memory_format TO " + role, "GRANT SELECT, INSERT, UPDATE, DELETE ON pex_conversations, pex_interactions TO " + role,
	} {
		if _, err := conn.Exec(t.Context(), q); err != nil {
			t.Fatal(q, err)
		}
	}
	s := open(t, strings.Replace(address, "user=pex", "user="+role, 1), "")
	if err := s.Append(t.Context(), memory.Interaction{ID: "1", MemoryID: "c"}); err != nil {
		t.Error(err)
	}
}

// TestE2EServerThatRestartsIsUsedAgain kills the server between two operations.
func TestE2EServerThatRestartsIsUsedAgain(t *testing.T) {
	s := open(t, database(t), "")
	add := func(id string) error { return s.Append(t.Context(), memory.Interaction{ID: id, MemoryID: "c"}) }
	if err := add("1"); err != nil {
		t.Fatal(err)
	}
	if err := shared.run("pg_ctl", "-D", shared.dir+"/data", "-w", "-m", "fast", "stop"); err != nil {
		t.Fatal(err)
	}
	if err := add("2"); err == nil {
		t.Error("an interaction is stored without a server")
	}
	if err := shared.run("pg_ctl", "-D", shared.dir+"/data", "-w", "-l", shared.dir+"/log", "-o", "-c listen_addresses='' -c unix_socket_directories="+shared.dir, "start"); err != nil {
		t.Fatal(err)
	}
	if err := add("2"); err != nil {
		t.Error(err)
	}
	if got, err := s.History(t.Context(), "c"); err != nil || len(got) != 2 {
		t.Errorf("%d interactions, %v", len(got), err)
	}
}
