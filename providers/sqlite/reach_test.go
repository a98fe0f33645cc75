package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/sqlite"
)

// These statements try to access another file, or to change this one.
func TestOnlyReadsOfThisFileAreAllowed(t *testing.T) {
	dir := shop(t, "CREATE INDEX early ON orders (customer)")
	before, err := os.ReadFile(filepath.Join(dir, "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.db")
	anyMode := []string{
		"ATTACH '" + other + "' AS o", "AttAch/**/database ':memory:' AS o", "-- x\n/* y */ ATTACH '' AS o", "DETACH main",
		"EXPLAIN ATTACH '" + other + "' AS o; ATTACH '" + other + "' AS o",
		"VACUUM INTO '" + other + "'", "VACUUM", "SELECT load_extension('x')", `SELECT "load_extension"('x')`,
		"SELECT readfile('/etc/passwd')", "SELECT writefile('" + other + "', 'x')", "SELECT edit('x')",
		"SELECT 1; SELECT 2", "SELECT 1;; SELECT 2", "SELECT 1; /* */ ; -- x\n DELETE FROM orders", "SELECT 1; SELEC", "SELECT ';'; SELECT 1",
		"PRAGMA query_only = 0", "PRAGMA query_only(0)", "PRAGMA main.journal_mode = WAL", "PRAGMA journal_mode=DELETE", "PRAGMA temp_store_directory = '/tmp'",
		"PRAGMA hard_heap_limit = 1", "PRAGMA writable_schema = 1", "PRAGMA main.wal_checkpoint(TRUNCATE)", "PRAGMA user_version = 7",
		"PRAGMA database_list", "SELECT * FROM pragma_optimize(1)", "SELECT * FROM pragma_database_list", "EXPLAIN PRAGMA user_version = 7; PRAGMA user_version = 7",
		"BEGIN", "SAVEPOINT x", "CREATE TEMP TABLE t (x)", "CREATE TEMP VIEW v AS SELECT 1", "CREATE TABLE temp.t (x)",
		"CREATE VIRTUAL TABLE t USING csv(filename='/etc/passwd')", "CREATE VIRTUAL TABLE t USING sqlite_dbpage",
		"CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END; SELECT 1",
		"INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 2, 'x')", "UPDATE sqlite_schema SET sql = 'x'", "UPDATE sqlite_dbpage SET data = zeroblob(4096)",
		"WITH x AS (ATTACH '" + other + "' AS o) SELECT 1",
	}
	reading := []string{
		"DELETE FROM orders", "WITH x(i) AS (SELECT 1) DELETE FROM orders WHERE id IN x", "INSERT INTO orders (id) VALUES (5) RETURNING id",
		"REPLACE INTO orders (id) VALUES (1)", "UPDATE orders SET total = 0", "CREATE TABLE t (x)", "DROP TABLE orders", "ALTER TABLE orders ADD COLUMN x",
		"ANALYZE", "REINDEX", "CREATE INDEX i ON orders (total)", "EXPLAIN DELETE FROM orders",
	}
	read, write := newTool(t, dir, nil), newTool(t, dir, writable)
	for _, q := range append(anyMode, reading...) {
		if out, err := call(t.Context(), read, q); err == nil {
			t.Errorf("reading: %s gave %s", q, out.Text)
		}
	}
	for _, q := range anyMode {
		if out, err := call(t.Context(), write, q); err == nil {
			t.Errorf("writing: %s gave %s", q, out.Text)
		}
	}
	after, err := os.ReadFile(filepath.Join(dir, "shop.db"))
	if err != nil || !cmp.Equal(before, after) {
		t.Errorf("the database was changed (%v)", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 {
		t.Errorf("files %v, %v", left, err)
	}
}

// A trigger is compiled when it runs, and must have no more rights than a query.
func TestTriggersHaveNoMoreRights(t *testing.T) {
	write := newTool(t, shop(t, "CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT load_extension('x'); END"), writable)
	if out, err := call(t.Context(), write, "INSERT INTO orders (id) VALUES (7)"); err == nil || !strings.Contains(err.Error(), "not authorized to use function: load_extension") {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestFileMustBeInItsFolder(t *testing.T) {
	dir, outside := shop(t), shop(t)
	for link, target := range map[string]string{"out.db": filepath.Join(outside, "shop.db"), "null.db": "/dev/null", "in.db": "shop.db", "dangling.db": filepath.Join(outside, "new.db")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, ok := range map[string]bool{"in.db": true, "out.db": false, "null.db": false, "dangling.db": false} {
		_, err := call(t.Context(), newTool(t, dir, func(c *sqlite.Config) { c.Path = path; c.ReadOnly = false }), "SELECT count(*) FROM orders")
		if (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"", "../x.db", "/etc/passwd", "sub/", "..", "a\x00/b"} {
		c := &sqlite.Config{Path: path, MaxRows: 1, MaxBytes: 1000}
		if _, err := sqlite.SQL.Build(c, tool.Settings{Dir: dir}); err == nil {
			t.Errorf("path %q was taken", path)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(outside, "*")); len(left) != 1 {
		t.Errorf("files outside: %v", left)
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	dir := shop(t, "CREATE INDEX i ON orders (customer, total)")
	whole, err := os.ReadFile(filepath.Join(dir, "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	tool := newTool(t, dir, nil)
	for at := 0; at < len(whole); at += 41 {
		broken := append([]byte{}, whole...)
		for i := at; i < min(at+7, len(broken)); i++ {
			broken[i] ^= 0xff
		}
		if err := os.WriteFile(filepath.Join(dir, "shop.db"), broken, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, _ = call(ctx, tool, "SELECT * FROM orders ORDER BY customer") // an error or rows, but no crash
		if ctx.Err() != nil {
			t.Errorf("damage at %d: the call did not end", at)
		}
		cancel()
	}
}

func FuzzQuery(f *testing.F) {
	for _, q := range []string{"SELECT 1", "SELECT 1;--", "/*", "SELECT ';", "PRAGMA query_only=0", "SELECT 1 /* ; */ ; PRAGMA user_version=1", "EXPLAIN SELECT 1"} {
		f.Add(q)
	}
	dir := shop(f)
	tool := newTool(f, dir, nil)
	before, err := os.ReadFile(filepath.Join(dir, "shop.db"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, q string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _ = call(ctx, tool, q)
		if after, err := os.ReadFile(filepath.Join(dir, "shop.db")); err != nil || !cmp.Equal(before, after) {
			t.Errorf("%q changed the database", q)
		}
	})
}
