package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pexctl/pex/engine/text"
)

// statement is a compiled statement.
type statement struct {
	*database
	handle uintptr
	values []uintptr // bound texts
}

// prepare compiles the only statement in a text. None, or more than one, is an error.
func (d *database) prepare(text string) (*statement, error) {
	source, err := libc.CString(text)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(d.tls, source)
	first, rest, err := d.compile(source)
	if err != nil {
		return nil, err
	}
	if first == 0 {
		return nil, errors.New("the query contains no statement; pass one, such as SELECT name, sql FROM sqlite_schema")
	}
	s := &statement{database: d, handle: first}
	// The rest may be white space and comments, which only the library can tell from a
	// statement; an invalid statement counts as a second one.
	for libc.GoString(rest) != "" {
		second, end, err := d.compile(rest)
		if second != 0 {
			sqlite3.Xsqlite3_finalize(d.tls, second)
		}
		if second != 0 || err != nil {
			s.finish()
			return nil, errors.New("the query contains more than one statement; pass one per call")
		}
		if end == rest {
			break
		}
		rest = end
	}
	return s, nil
}

// compile compiles the first statement of a text and returns where the rest starts.
func (d *database) compile(source uintptr) (handle, rest uintptr, err error) {
	rc := sqlite3.Xsqlite3_prepare_v2(d.tls, d.handle, source, -1, d.results, d.results+valueSize)
	if rc != sqlite3.SQLITE_OK {
		return 0, 0, d.failure(rc)
	}
	return libc.AtomicLoadNUintptr(d.results, 0), libc.AtomicLoadNUintptr(d.results+valueSize, 0), nil
}

// bind sets the values of the placeholders.
func (s *statement) bind(values []any) error {
	n := int(sqlite3.Xsqlite3_bind_parameter_count(s.tls, s.handle))
	if n != len(values) {
		return fmt.Errorf("the query has %s and args has %s; pass one value for each ?", text.Count(n, "placeholder"), text.Count(len(values), "value"))
	}
	for i, v := range values {
		if err := s.bindOne(int32(i+1), v); err != nil {
			return err
		}
	}
	return nil
}

func (s *statement) bindOne(at int32, v any) error {
	var rc int32
	switch v := v.(type) {
	case nil:
		rc = sqlite3.Xsqlite3_bind_null(s.tls, s.handle, at)
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		rc = sqlite3.Xsqlite3_bind_int64(s.tls, s.handle, at, n)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			rc = sqlite3.Xsqlite3_bind_int64(s.tls, s.handle, at, n)
			break
		}
		f, err := v.Float64()
		if err != nil {
			return fmt.Errorf("args[%d]: %s is out of range", at-1, v)
		}
		rc = sqlite3.Xsqlite3_bind_double(s.tls, s.handle, at, f)
	case string:
		text, err := libc.CString(v)
		if err != nil {
			return err
		}
		s.values = append(s.values, text)
		rc = sqlite3.Xsqlite3_bind_text(s.tls, s.handle, at, text, int32(len(v)), 0)
	}
	if rc != sqlite3.SQLITE_OK {
		return s.failure(rc)
	}
	return nil
}

// next moves to the next row, if there is one.
func (s *statement) next() (bool, error) {
	switch rc := sqlite3.Xsqlite3_step(s.tls, s.handle); rc {
	case sqlite3.SQLITE_ROW:
		return true, nil
	case sqlite3.SQLITE_DONE:
		return false, nil
	default:
		return false, s.failure(rc)
	}
}

// reset prepares a statement without results for another attempt.
func (s *statement) reset() { sqlite3.Xsqlite3_reset(s.tls, s.handle) }

// finish releases the statement.
func (s *statement) finish() {
	sqlite3.Xsqlite3_finalize(s.tls, s.handle)
	for _, v := range s.values {
		libc.Xfree(s.tls, v)
	}
}

// columns returns the names of the columns. Their total size is limited.
func (s *statement) columns(limit int) ([]string, error) {
	names := make([]string, sqlite3.Xsqlite3_column_count(s.tls, s.handle))
	for i := range names {
		name := libc.GoString(sqlite3.Xsqlite3_column_name(s.tls, s.handle, int32(i)))
		if len(name) > maxName {
			name = strings.ToValidUTF8(name[:maxName], "") + "..."
		}
		names[i] = strings.ToValidUTF8(name, "\uFFFD")
		if limit -= len(names[i]); limit < 0 {
			return nil, fmt.Errorf("the names of the %d columns are too long in total; select fewer columns, or shorten the names with AS", len(names))
		}
	}
	return names, nil
}

// value returns a value of the row: nil, int64, float64, string or []byte.
func (s *statement) value(i int) any {
	at := int32(i)
	switch sqlite3.Xsqlite3_column_type(s.tls, s.handle, at) {
	case sqlite3.SQLITE_INTEGER:
		return sqlite3.Xsqlite3_column_int64(s.tls, s.handle, at)
	case sqlite3.SQLITE_FLOAT:
		return sqlite3.Xsqlite3_column_double(s.tls, s.handle, at)
	case sqlite3.SQLITE_TEXT:
		p := sqlite3.Xsqlite3_column_text(s.tls, s.handle, at)
		return string(libc.GoBytes(p, int(sqlite3.Xsqlite3_column_bytes(s.tls, s.handle, at))))
	case sqlite3.SQLITE_BLOB:
		p := sqlite3.Xsqlite3_column_blob(s.tls, s.handle, at)
		return append([]byte{}, libc.GoBytes(p, int(sqlite3.Xsqlite3_column_bytes(s.tls, s.handle, at)))...)
	}
	return nil
}
