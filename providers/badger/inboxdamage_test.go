//go:build darwin || freebsd || linux

package badger_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/providers/badger"
)

// After damage to any file of a store with an inbox, the data is complete or the damage is reported, and a later append
// is not acknowledged unless nothing was lost.
func TestDamageToAnyFileBesideAnInbox(t *testing.T) {
	skipUnderRace(t)
	from := t.TempDir()
	fill(t, from, 2)
	post(t, from, "c", 2, 5)
	eachHarm(t, from, func(t *testing.T, dir string) {
		n := 5
		if err := withInbox(dir).Append(t.Context(), interaction("c", "5")); !isCorrupt(t, err) {
			n++
		}
		got, err := badger.Open(dir, badger.Options{}).History(t.Context(), "c")
		if isCorrupt(t, err) {
			return
		}
		var ids []string
		for _, in := range got {
			ids = append(ids, in.ID)
		}
		if want := []string{"0", "1", "2", "3", "4", "5"}[:n]; !slices.Equal(ids, want) {
			t.Errorf("interactions %q, want %q", ids, want)
		}
	})
}

// change rewrites a file.
func change(t *testing.T, path string, do func([]byte) []byte) {
	t.Helper()
	raw, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, do(raw), 0o600))
}

// lineStart returns the offset of a line, counted from 1.
func lineStart(raw []byte, line int) int {
	at := 0
	for range line - 1 {
		at += bytes.IndexByte(raw[at:], '\n') + 1
	}
	return at
}

func TestInboxDamageIsNamed(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func([]byte) []byte
		stops  bool     // appends too
		names  []string // expected in the message
		left   []string // after following it
	}{
		{"a changed line", func(raw []byte) []byte {
			raw[lineStart(raw, 2)+40] ^= 1
			return raw
		}, false, []string{"line 2 of pex-store.inbox (byte 1", "wrong checksum"}, []string{"0", "2"}},
		{"a changed last line", func(raw []byte) []byte {
			raw[len(raw)-9] ^= 1
			return raw
		}, false, []string{"line 3 of pex-store.inbox"}, []string{"0", "1"}},
		{"a lost end", func(raw []byte) []byte { return raw[:len(raw)-3] }, true, []string{"pex-store.inbox has", "bytes instead of"}, []string{"0", "1"}},
		{"a removed line", func(raw []byte) []byte {
			return slices.Concat(raw[:lineStart(raw, 2)], raw[lineStart(raw, 3):])
		}, true, []string{"bytes instead of"}, []string{"0", "2"}},
		{"exchanged lines", func(raw []byte) []byte {
			two, three := lineStart(raw, 2), lineStart(raw, 3)
			return slices.Concat(raw[:two], raw[three:], raw[two:three])
		}, false, []string{"pex-store.inbox has a wrong checksum"}, []string{"0", "2", "1"}},
		{"emptied", func([]byte) []byte { return nil }, true, []string{"pex-store.inbox has 0 bytes instead of"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, tenant(dir, "").Append(t.Context(), interaction("other", "0")))
			post(t, dir, "c", 0, 3)
			inbox := filepath.Join(dir, "pex-store.inbox")
			change(t, inbox, c.damage)
			_, err := tenant(dir, "").History(t.Context(), "other")
			if stopCode(err) != stop.StoreCorrupt {
				t.Fatalf("history: %v", err)
			}
			for _, name := range append(c.names, dir, "pex-store.inbox.lock to continue") {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%q does not name %q", err, name)
				}
			}
			if c.stops {
				err := withInbox(dir).Append(t.Context(), interaction("c", "3"))
				if stopCode(err) != stop.StoreCorrupt {
					t.Errorf("append: %v", err)
				}
			}
			followFix(t, inbox, err)
			got, err := tenant(dir, "").History(t.Context(), "c")
			var ids []string
			for _, in := range got {
				ids = append(ids, in.ID)
			}
			if err != nil || !slices.Equal(ids, c.left) {
				t.Errorf("after the fix: %q, %v", ids, err)
			}
			checkHistory(t, dir, "other", 1)
			checkIntact(t, dir)
		})
	}
}

// followFix does what the message of a damaged inbox advises.
func followFix(t *testing.T, inbox string, err error) {
	t.Helper()
	var line int
	if i := strings.Index(err.Error(), "line "); strings.Contains(err.Error(), "delete that line") {
		if _, err := fmt.Sscanf(err.Error()[i:], "line %d", &line); err != nil {
			t.Fatal(err)
		}
		change(t, inbox, func(raw []byte) []byte {
			at := lineStart(raw, line)
			return slices.Concat(raw[:at], raw[at+bytes.IndexByte(raw[at:], '\n')+1:])
		})
	}
	must(t, os.Remove(inbox+".lock"))
}

// Check reports damage to the inbox beside damage to the store.
func TestCheckReportsInboxDamage(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 2)
	must(t, badger.Put(t.Context(), tenant(dir, ""), []byte("x"), []byte("y")))
	post(t, dir, "c", 2, 4)
	change(t, filepath.Join(dir, "pex-store.inbox"), func(raw []byte) []byte {
		raw[20] ^= 1
		return raw
	})
	damage, err := tenant(dir, "").Check(t.Context())
	if err != nil || len(damage) != 2 || !strings.Contains(damage[0].What, "unknown key") || !strings.Contains(damage[1].What, "line 1 of pex-store.inbox") || !strings.Contains(damage[1].Fix, "delete that line") {
		t.Errorf("%+v, %v", damage, err)
	}
}

// What a process that was killed, or a power loss, leaves at the end was not acknowledged.
func TestUnfinishedLineIsDropped(t *testing.T) {
	for name, tail := range map[string]func(line []byte) []byte{
		"half a line":        func(line []byte) []byte { return line[:len(line)/2] },
		"without its end":    func(line []byte) []byte { return line[:len(line)-1] },
		"zeros":              func(line []byte) []byte { return make([]byte, len(line)) },
		"zeros in the line":  func(line []byte) []byte { return append(line[:30:30], make([]byte, len(line)-30)...) },
		"nothing":            func([]byte) []byte { return nil },
		"zeros with newline": func(line []byte) []byte { return append(make([]byte, len(line)), '\n') },
	} {
		line, err := badger.EncodeLine("", interaction("c", "x"))
		must(t, err)
		for _, read := range []bool{true, false} { // before the next append
			dir := t.TempDir()
			post(t, dir, "c", 0, 2)
			change(t, filepath.Join(dir, "pex-store.inbox"), func(raw []byte) []byte { return append(raw, tail(line)...) })
			if read {
				checkHistory(t, dir, "c", 2)
			}
			post(t, dir, "c", 2, 3)
			checkHistory(t, dir, "c", 3)
			checkIntact(t, dir)
			if t.Failed() {
				t.Fatal(name)
			}
		}
	}
}

// A power loss can leave an older extent, or none.
func TestOlderExtentIsTolerated(t *testing.T) {
	for _, kept := range []int{-1, 0, 1, 2} { // appends that the extent includes; -1 = there is none
		dir := t.TempDir()
		lock := filepath.Join(dir, "pex-store.inbox.lock")
		var old []byte
		for i := range 3 {
			if i == kept && i > 0 {
				raw, err := os.ReadFile(lock)
				must(t, err)
				old = raw
			}
			post(t, dir, "c", i, i+1)
		}
		must(t, os.Remove(lock))
		if kept >= 0 {
			must(t, os.WriteFile(lock, old, 0o600))
		}
		post(t, dir, "c", 3, 4)
		checkHistory(t, dir, "c", 4)
	}
}

func TestNewerInboxIsRejected(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "pex-store.inbox"), []byte("dc441264 {\"v\":2}\n"), 0o600))
	var newer *badger.NewerError
	if err := withInbox(dir).Append(t.Context(), interaction("c", "0")); !errors.As(err, &newer) || newer.Format != 2 {
		t.Errorf("append: %v", err)
	}
	if _, err := tenant(dir, "").History(t.Context(), "c"); !errors.As(err, &newer) {
		t.Errorf("history: %v", err)
	}
}

// FuzzInbox checks that lines are returned as written whatever follows the acknowledged part, and that any change of that
// part is found.
func FuzzInbox(f *testing.F) {
	f.Add([]byte("tail"), "a", "b", 0, byte(1))
	f.Add([]byte("\n\n"), "", "é\n", 70, byte(0x80))
	f.Add([]byte("00000000 {}\n"), "t", "x", 9, byte(10))
	f.Add([]byte(""), "t", "x", 1000, byte(0))
	f.Fuzz(func(t *testing.T, tail []byte, tenant, id string, at int, flip byte) {
		if _, _, err := badger.ParseInbox(tail, -1); err == nil && len(tail) > 1<<16 {
			t.Skip("too long")
		}
		one, err1 := badger.EncodeLine(tenant, interaction("c", id))
		two, err2 := badger.EncodeLine(tenant, interaction("c", "second"), interaction("c", "third"))
		if err1 != nil || err2 != nil {
			return
		}
		acked := slices.Concat(one, two)
		raw := slices.Concat(acked, tail)
		ids, end, err := badger.ParseInbox(raw, len(acked))
		if err == nil && (len(ids) < 3 || !slices.Equal(ids[:3], []string{id, "second", "third"}) || end < int64(len(acked)) || end > int64(len(raw))) {
			t.Errorf("%q parses as %q, %d", raw, ids, end)
		}
		if err == nil {
			again, same, err := badger.ParseInbox(raw[:end], int(end))
			if err != nil || same != end || !slices.Equal(again, ids) {
				t.Errorf("without its tail, %q parses as %q, %d, %v", raw, again, same, err)
			}
		}
		if at < 0 || at >= len(acked) || flip == 0 {
			return
		}
		changed := slices.Clone(acked)
		changed[at] ^= flip
		if ids, _, err := badger.ParseChanged(acked, changed); err == nil {
			t.Errorf("byte %d changed: %q", at, ids)
		}
	})
}
