package badger_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pexctl/pex/providers/badger"
)

// FuzzNamesAreKeptApart checks that conversations of any two tenants and memory ids are returned unchanged and do not
// see each other.
func FuzzNamesAreKeptApart(f *testing.F) {
	for _, names := range [][4]string{
		{"", "ab", "a", "b"},
		{"a", "bc", "ab", "c"},
		{"a\x00", "b", "a", "\x00b"},
		{"a", "b", "a", "bi"}, // ends like a kind of key
		{"a", "x\x00\x01s", "a", "x"},
		{"\x00\x01", "\x00\x01", "\x00", "\x01\x00\x01"},
		{"t", "n", "", "t"},
		{"é", "\xff\xfe", "é\xff", "\xfe"},
		{strings.Repeat("a", 255), "b", strings.Repeat("a", 256), "b"},
		{"same", "same", "same", "same"},
		{"", "", "", "x"},
	} {
		f.Add(names[0], names[1], names[2], names[3])
	}
	f.Fuzz(func(t *testing.T, tenant1, id1, tenant2, id2 string) {
		dir := t.TempDir()
		at := func(tenant string) *badger.Store { return badger.Open(dir, badger.Options{Tenant: tenant}) }
		err1 := at(tenant1).Append(t.Context(), interaction(id1, "i"), interaction(id1, "first"))
		bad := id1 == "" || len(id1) > 4096 || len(tenant1) > 4096 || !utf8.ValidString(id1+"|"+tenant1)
		if (err1 != nil) != bad {
			t.Fatalf("tenant %q, memory %q: %v", tenant1, id1, err1)
		}
		err2 := at(tenant2).Append(t.Context(), interaction(id2, "i"))
		if err1 != nil || err2 != nil || tenant1 == tenant2 && id1 == id2 {
			return
		}
		for _, c := range []struct {
			tenant, id string
			want       int
		}{{tenant1, id1, 2}, {tenant2, id2, 1}} {
			got, err := at(c.tenant).History(t.Context(), c.id)
			if err != nil || len(got) != c.want || got[0].MemoryID != c.id {
				t.Errorf("tenant %q, memory %q: %v, %v", c.tenant, c.id, got, err)
			}
			list, err := at(c.tenant).List(t.Context())
			var ids []string
			for _, l := range list {
				ids = append(ids, l.MemoryID)
			}
			if err != nil || !slices.Contains(ids, c.id) || tenant1 != tenant2 && len(ids) != 1 {
				t.Errorf("tenant %q has %q, %v", c.tenant, ids, err)
			}
		}
		tenants, err := at("").Tenants(t.Context())
		want := []string{tenant1, tenant2}
		slices.Sort(want)
		if err != nil || !slices.Equal(tenants, slices.Compact(want)) {
			t.Errorf("tenants %q, want %q (%v)", tenants, want, err)
		}
		must(t, at(tenant1).Remove(t.Context(), id1))
		if got, err := at(tenant2).History(t.Context(), id2); err != nil || len(got) != 1 {
			t.Errorf("after removing the other conversation: %v, %v", got, err)
		}
	})
}

// FuzzSplitKey checks that SplitKey and KeyOf are inverse.
func FuzzSplitKey(f *testing.F) {
	f.Add([]byte("t\x00\x01a\x00\x01bn"), "a", "b")
	f.Add([]byte("t\x00\x00\x00\x01bs12345678"), "", "b")
	f.Add([]byte("n"), "", "")
	f.Add([]byte("t\xff\xff"), strings.Repeat("x", 300), "\x00")
	f.Fuzz(func(t *testing.T, raw []byte, a, b string) {
		if tenant, id, kind, rest, ok := badger.SplitKey(raw); ok && !bytes.Equal(badger.KeyOf(tenant, id, kind, rest), raw) {
			t.Errorf("%q splits into %q %q %c %q, which is another key", raw, tenant, id, kind, rest)
		}
		if b == "" || len(a) > 4096 || len(b) > 4096 {
			return
		}
		for kind, rest := range map[byte]string{'n': "", 'v': "", 's': "12345678", 'i': "id" + a} {
			tenant, id, k, r, ok := badger.SplitKey(badger.KeyOf(a, b, kind, rest))
			if !ok || tenant != a || id != b || k != kind || r != rest {
				t.Errorf("%q %q %c %q split into %q %q %c %q (%v)", a, b, kind, rest, tenant, id, k, r, ok)
			}
		}
	})
}
