package commitlog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pexctl/pex/engine/journal/commitlog"
)

// A segment with damage at any byte gives the frames before it. The damage is named, unless
// it is in the last block, which a power loss may have cut short.
func TestDamageAtEveryByte(t *testing.T) {
	w := newWorld(t, commitlog.Options{})
	var ends []int
	for i := range 4 {
		if err := w.add("a", fmt.Sprintf("line %d\n", i)).Wait(); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, 512*(i+2))
	}
	whole, err := os.ReadFile(filepath.Join(w.dir, "1.a"))
	if err != nil {
		t.Fatal(err)
	}
	for at := range ends[3] {
		b := slices.Clone(whole[:8<<10])
		b[at] ^= 0x40
		frames, damaged := commitlog.Scan(b)
		harmless := at%512 >= 32+1+1+1+1+1+7 // the padding of a block
		switch {
		case at < 512 && at >= 32, at >= 512 && harmless:
			if len(frames) != 4 || damaged >= 0 {
				t.Fatalf("byte %d: %d frames, damage at %d", at, len(frames), damaged)
			}
		case at < 512:
			if len(frames) != 4 || damaged != 0 {
				t.Fatalf("byte %d: %d frames, damage at %d", at, len(frames), damaged)
			}
		case at >= ends[2]:
			if len(frames) != 3 || damaged >= 0 {
				t.Fatalf("byte %d: %d frames, damage at %d", at, len(frames), damaged)
			}
		default:
			if len(frames) != 3 || damaged != at/512*512 {
				t.Fatalf("byte %d: %d frames, damage at %d", at, len(frames), damaged)
			}
		}
	}
}

func TestADamagedLogIsKept(t *testing.T) {
	w := newWorld(t, commitlog.Options{})
	for range 3 {
		if err := w.add("a", "x").Wait(); err != nil {
			t.Fatal(err)
		}
	}
	dir := w.copied()
	path := filepath.Join(dir, "1.a")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[1024+16] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	n := 0
	err = commitlog.Recover(dir, func(frames []commitlog.Frame) error { n = len(frames); return nil })
	if err != nil || n != 2 {
		t.Errorf("%d frames, %v", n, err)
	}
	damaged, err := commitlog.Damaged(dir)
	if err != nil || len(damaged) != 1 || damaged[0].What != "1.a is damaged at byte 1024" || fmt.Sprint(damaged[0].Names) != "[a]" {
		t.Errorf("%+v, %v", damaged, err)
	}
	if err := commitlog.Recover(dir, func([]commitlog.Frame) error { return errors.New("applied twice") }); err != nil {
		t.Error(err)
	}
}

func FuzzScan(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "log")
	log, err := commitlog.Open(dir, commitlog.Options{Checkpoint: func([]string) error { return nil }})
	if err != nil {
		f.Fatal(err)
	}
	for i := range 3 {
		g, err := log.Add(&commitlog.Frame{Name: "run", Tag: 1, At: int64(4 * i), Bytes: []byte("text")}, nil)
		if err != nil || g.Wait() != nil {
			f.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "1.a"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[:4<<10])
	f.Add(b[:1600])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		frames, damaged := commitlog.Scan(b)
		if damaged >= len(b) && len(b) > 0 {
			t.Errorf("damage at byte %d of %d", damaged, len(b))
		}
		for _, f := range frames {
			if f.At < 0 || len(f.Bytes) > len(b) {
				t.Errorf("frame of %d bytes at %d", len(f.Bytes), f.At)
			}
		}
	})
}
