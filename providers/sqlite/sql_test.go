package sqlite_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/sqlite"
)

// newTool builds the tool for dir/shop.db.
func newTool(t testing.TB, dir string, edit func(*sqlite.Config)) tool.Tool {
	t.Helper()
	c := sqlite.SQL.Config().(*sqlite.Config)
	c.Path = "shop.db"
	if edit != nil {
		edit(c)
	}
	tool, err := sqlite.SQL.Build(c, tool.Settings{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func writable(c *sqlite.Config) { c.ReadOnly = false }

// shop returns a folder with a database of orders, created by the tool itself.
func shop(t testing.TB, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shop.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	write := newTool(t, dir, writable)
	for _, q := range append([]string{
		"CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, total REAL, photo BLOB)",
		"INSERT INTO orders VALUES (1, 'Ada', 12.5, NULL), (2, 'Bob|by', 7, x'00ff'), (9007199254740993, 'Cy', 1e999, NULL)",
	}, more...) {
		if _, err := call(t.Context(), write, q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	return dir
}

func call(ctx context.Context, t tool.Tool, query string, args ...any) (*tool.Output, error) {
	arguments := map[string]any{"query": query}
	if args != nil {
		arguments["args"] = args
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		return nil, err
	}
	return t.Call(ctx, &tool.Call{Args: raw})
}

func TestConformance(t *testing.T) {
	dir := shop(t)
	enginetest.ToolSuite(t, newTool(t, dir, nil), `{"query":"SELECT * FROM orders"}`, `{"query":"SELECT ? + 1","args":[1]}`)
	enginetest.ToolSuite(t, newTool(t, dir, writable), `{"query":"UPDATE orders SET total = total + 1"}`)
}

func TestRowValues(t *testing.T) {
	tool := newTool(t, shop(t), nil)
	out, err := call(t.Context(), tool, "SELECT id, customer, total, photo FROM orders ORDER BY id -- all\n;\n/* of them */")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"columns":["id","customer","total","photo"],"rows":[[1,"Ada",12.5,null],[2,"Bob|by",7,{"base64":"AP8=","bytes":2}],[9007199254740993,"Cy","+Inf",null]],"truncated":false}`
	if d := cmp.Diff(want, string(out.Data)); d != "" {
		t.Error(d)
	}
	wantText := "| id | customer | total | photo |\n| --- | --- | --- | --- |\n| 1 | Ada | 12.5 |  |\n" +
		`| 2 | Bob\|by | 7 | {"base64":"AP8=","bytes":2} |` + "\n| 9007199254740993 | Cy | +Inf |  |\n[3 rows]"
	if d := cmp.Diff(wantText, out.Text); d != "" {
		t.Error(d)
	}
}

func TestPlaceholderValues(t *testing.T) {
	tool := newTool(t, shop(t), nil)
	out, err := call(t.Context(), tool, "SELECT ?, ?, ?, ?, typeof(?)", "x'; DROP TABLE orders", int64(9007199254740993), true, nil, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(`[["x'; DROP TABLE orders",9007199254740993,1,null,"real"]]`, rowsOf(t, out)); d != "" {
		t.Error(d)
	}
	for _, args := range [][]any{nil, {1, 2}, {[]int{1}}} {
		if out, err := call(t.Context(), tool, "SELECT ?", args...); err == nil {
			t.Errorf("%v gave %+v", args, out)
		}
	}
}

func rowsOf(t *testing.T, out *tool.Output) string {
	t.Helper()
	var r struct{ Rows json.RawMessage }
	if err := json.Unmarshal(out.Data, &r); err != nil {
		t.Fatal(err)
	}
	return string(r.Rows)
}

func TestLongResultsAreTruncatedWhileReading(t *testing.T) {
	dir := shop(t)
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, printf('%.*c', 100, 'x') AS x FROM n"
	tests := []struct {
		name, query, want string
		rows, bytes       int
	}{
		{"rows", endless, "[5 rows shown and there are more", 5, 24 << 10},
		{"bytes", endless, "[9 rows shown and there are more", 200, 1000},
		{"just as many", "SELECT id FROM orders", "\n[3 rows]", 3, 1000},
		{"a long text", "SELECT printf('%.*c', 100000, 'x')", "x [cut; 100000 bytes in all, substr() gives the rest] |\n[1 row; long values are cut]", 5, 24 << 10},
		{"a long name", `SELECT 1 AS "` + strings.Repeat("n", 5000) + `"`, "nnn... |\n", 5, 1000},
		{"a long blob", "SELECT zeroblob(5000)", `{"bytes":5000}`, 5, 24 << 10},
		{"a first row that is too long", "SELECT printf('%.*c', 3000, 'x')", "[the first row is too long", 5, 1000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tool := newTool(t, dir, func(c *sqlite.Config) { c.MaxRows, c.MaxBytes = tt.rows, tt.bytes })
			out, err := call(t.Context(), tool, tt.query)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.Text, tt.want) {
				t.Errorf("text %.300s, want %q", out.Text, tt.want)
			}
			if len(out.Data) > tt.bytes+200 {
				t.Errorf("%d bytes of data", len(out.Data))
			}
		})
	}
}

func TestAllowedQueries(t *testing.T) {
	dir := shop(t, "CREATE VIRTUAL TABLE notes USING fts5(body)", "INSERT INTO notes VALUES ('a red ship'), ('a blue car')",
		"CREATE TRIGGER log AFTER INSERT ON orders BEGIN INSERT INTO notes VALUES ('order; of ' || new.customer); END", "INSERT INTO orders (id, customer) VALUES (3, 'Di')")
	read := newTool(t, dir, nil)
	for q, want := range map[string]string{
		"SELECT name FROM sqlite_schema WHERE name = 'orders'": `[["orders"]]`,
		"WITH x(i) AS (VALUES (1), (2)) SELECT sum(i) FROM x":  `[[3]]`,
		"VALUES (1, 'a')":          `[[1,"a"]]`,
		"PRAGMA table_info(notes)": `[[0,"body","",0,null,0]]`,
		"SELECT name FROM pragma_table_info('orders') WHERE pk": `[["id"]]`,
		"PRAGMA user_version":                                          `[[0]]`,
		"PRAGMA integrity_check":                                       `[["ok"]]`,
		"SELECT body FROM notes WHERE notes MATCH 'red'":               `[["a red ship"]]`,
		"SELECT body FROM notes WHERE body LIKE '%Di'":                 `[["order; of Di"]]`,
		"SELECT value FROM json_each('[7]')":                           `[[7]]`,
		"SELECT rank() OVER (ORDER BY total) FROM orders LIMIT 1":      `[[1]]`,
		"SELECT count(*) FROM orders a, orders b, orders c ORDER BY 1": `[[64]]`,
		"SELECT strftime('%Y', '2026-11-22'), round(sqrt(2), 3)":       `[["2026",1.414]]`,
	} {
		out, err := call(t.Context(), read, q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
		} else if d := cmp.Diff(want, rowsOf(t, out)); d != "" {
			t.Errorf("%s: %s", q, d)
		}
	}
	if out, err := call(t.Context(), read, "EXPLAIN QUERY PLAN SELECT * FROM orders WHERE id = 1"); err != nil || !strings.Contains(out.Text, "SEARCH orders") {
		t.Error(out, err)
	}
}

func TestWritesReportChanges(t *testing.T) {
	dir := shop(t)
	write := newTool(t, dir, writable)
	out, err := call(t.Context(), write, "UPDATE orders SET customer = 'Z' WHERE id < 10")
	if err != nil || out.Text != "[2 rows changed]" || !strings.Contains(string(out.Data), `"changes":2`) {
		t.Errorf("%+v, %v", out, err)
	}
	out, err = call(t.Context(), write, "INSERT INTO orders (id) VALUES (50) RETURNING id")
	if err != nil || out.Text != "| id |\n| --- |\n| 50 |\n[1 row; 1 row changed]" {
		t.Errorf("%+v, %v", out, err)
	}
	if got := write.Info().Effect; got != tool.WriteEffect {
		t.Errorf("effect %s", got)
	}
	if got := newTool(t, dir, nil).Info().Effect; got != tool.ReadEffect {
		t.Errorf("effect %s", got)
	}
}

// A change with more rows than are shown is still completed and checked.
func TestChangeWithManyRowsIsAtomic(t *testing.T) {
	dir := shop(t, "CREATE TABLE parent (id INTEGER PRIMARY KEY)", "CREATE TABLE child (parent REFERENCES parent DEFERRABLE INITIALLY DEFERRED)")
	write := newTool(t, dir, writable)
	const many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) "
	if out, err := call(t.Context(), write, many+"INSERT INTO child SELECT i FROM n RETURNING parent"); err == nil || !strings.Contains(err.Error(), "FOREIGN KEY") {
		t.Errorf("%+v, %v", out, err)
	}
	out, err := call(t.Context(), write, many+"INSERT INTO parent SELECT i FROM n RETURNING id")
	if err != nil || !strings.HasSuffix(out.Text, "| 200 |\n[200 rows shown and there are more; filter, aggregate, or use LIMIT and OFFSET; 1000 rows changed]") {
		t.Errorf("%+v, %v", out, err)
	}
	out, err = call(t.Context(), write, "SELECT (SELECT count(*) FROM child), (SELECT count(*) FROM parent)")
	if err != nil || rowsOf(t, out) != "[[0,1000]]" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestErrorsSuggestAFix(t *testing.T) {
	dir := shop(t)
	for _, name := range []string{"text.db", "folder.db/x"} {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ name, path, query, want string }{
		{"syntax", "shop.db", "SELECT *\nFORM orders", `near "FORM": syntax error at line 2, column 1`},
		{"table", "shop.db", "SELECT * FROM order_items", "no such table: order_items; the tables are orders"},
		{"column", "shop.db", "SELECT price FROM orders", "no such column: price at line 1, column 8"},
		{"empty", "shop.db", " ", `"query" is missing`},
		{"comment", "shop.db", "-- nothing", "contains no statement"},
		{"two", "shop.db", "SELECT 1; SELECT 2", "more than one statement"},
		{"too large a value", "shop.db", "SELECT zeroblob(1000000000)", "is too large"},
		{"too large a text", "shop.db", "SELECT printf('%.*c', 1000000000, 'x')", "is too large"},
		{"many long names", "shop.db", "SELECT " + strings.Repeat("*,", 299) + `* FROM (SELECT 1 AS "` + strings.Repeat("n", 50_000) + `")`, "names of the 300 columns are too long"},
		{"too much memory", "shop.db", "SELECT " + strings.Repeat("printf('%*c',1000000,'x') a,", 1500) + "1", "memory limit for queries (256 MB)"},
		{"too large a statement", "shop.db", "SELECT '" + strings.Repeat("x", 70_000) + "'", "is too large"},
		{"read only", "shop.db", "DELETE FROM orders", "not allowed: not authorized; this tool runs SELECT"},
		{"missing file", "none.db", "SELECT 1", `there is no "none.db"`},
		{"no database", "text.db", "SELECT * FROM x", "text.db is not an SQLite database"},
		{"a folder", "folder.db", "SELECT 1", `"folder.db" is not a regular file`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() && len(tt.query) > 1000 {
				t.Skip("long under the race detector, with one goroutine at work")
			}
			_, err := call(t.Context(), newTool(t, dir, func(c *sqlite.Config) { c.Path = tt.path }), tt.query)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "none.db")); err == nil {
		t.Error("a missing database was created")
	}
}

// patience is far longer than anything takes, even on a busy machine.
const patience = 20 * time.Second

func TestCancelStopsAQuery(t *testing.T) {
	tool := newTool(t, shop(t), nil)
	const n = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
	for name, q := range map[string]string{
		"before the first row": n + "count(*) FROM n",
		"between rows":         n + "i FROM n WHERE i < 3 OR i < 0",
		"a sort without end":   n + "i FROM n ORDER BY i",
		"a set without end":    "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0",
		"a large function":     "SELECT instr(zeroblob(200000), cast(zeroblob(20000) || x'01' AS blob))",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			began := time.Now()
			out, err := call(ctx, tool, q)
			if err == nil || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%+v, %v", out, err)
			} else if left := strings.Contains(err.Error(), "in the background"); left != (name == "a large function") {
				t.Errorf("left running: %v (%v)", left, err)
			}
			if took := time.Since(began); took > patience {
				t.Errorf("took %s", took)
			}
		})
	}
}

// A call waits for a locked database, but not longer than the busy timeout or its context.
func TestWaitForLockedDatabase(t *testing.T) {
	dir := shop(t)
	write := newTool(t, dir, writable)
	ctx, cancel := context.WithCancel(t.Context())
	locked := make(chan struct{})
	go func() {
		defer close(locked)
		_, _ = call(ctx, write, "INSERT INTO orders (customer) SELECT i FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n)")
	}()
	for {
		if _, err := os.Stat(filepath.Join(dir, "shop.db-journal")); err == nil {
			break
		}
	}
	short, end := context.WithTimeout(t.Context(), 500*time.Millisecond) // long enough for the first attempt
	defer end()
	if out, err := call(short, write, "DELETE FROM orders WHERE id = 1"); err == nil || !strings.Contains(err.Error(), "locked") || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", out, err)
	}
	time.AfterFunc(200*time.Millisecond, cancel)
	if out, err := call(t.Context(), write, "DELETE FROM orders WHERE id = 1"); err != nil || out.Text != "[1 row changed]" {
		t.Errorf("%+v, %v", out, err)
	}
	<-locked
	out, err := call(t.Context(), write, "SELECT count(*) FROM orders")
	if err != nil || rowsOf(t, out) != "[[2]]" {
		t.Errorf("the cancelled insert left %+v, %v", out, err)
	}
}

func BenchmarkCall(b *testing.B) {
	var values []string
	for i := range 1000 {
		values = append(values, fmt.Sprintf("(%d, 'customer %d', %d)", i+10, i%50, i))
	}
	tool := newTool(b, shop(b, "INSERT INTO orders (id, customer, total) VALUES "+strings.Join(values, ",")), nil)
	for name, q := range map[string]string{"one row": "SELECT 1", "grouped": "SELECT customer, sum(total) FROM orders GROUP BY 1 ORDER BY 2 DESC LIMIT 10"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := call(b.Context(), tool, q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A database in WAL mode can be read. SQLite creates the two files that every reader needs, and only a writer removes
// them.
func TestDatabaseInWALMode(t *testing.T) {
	dir := shop(t)
	wal(t, filepath.Join(dir, "shop.db"))
	for range 2 {
		out, err := call(t.Context(), newTool(t, dir, nil), "SELECT count(*) FROM orders")
		if err != nil || rowsOf(t, out) != "[[3]]" {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	if out, err := call(t.Context(), newTool(t, dir, writable), "DELETE FROM orders WHERE id = 1"); err != nil {
		t.Errorf("%+v, %v", out, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("files %v", left)
	}
}

// wal marks a database as being in WAL mode, in bytes 18 and 19 of its header
// (https://www.sqlite.org/fileformat.html#file_format_version_numbers).
func wal(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[18], b[19] = 2, 2
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
