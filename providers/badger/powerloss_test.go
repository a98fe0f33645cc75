//go:build darwin || freebsd || linux

package badger_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/disktest"
)

// lossPoint is a moment at which power is lost, and how many interactions were
// acknowledged, or begun.
type lossPoint struct {
	image               disktest.Image
	extents             [][]byte // contents of the lock file since its last sync, any of which the disk may have
	acknowledged, begun int
}

// Power is lost at every point of appends and imports: the interactions that were
// acknowledged are in the conversation, and none is there twice. What Badger has committed
// counts as durable, since it syncs its files itself.
func TestAPowerLossTakesNoAcknowledgedInteraction(t *testing.T) {
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 1))
		points := memoryPoints(t, rng)
		if testing.Short() {
			points = points[:len(points)/4]
		}
		for i, p := range points {
			label := fmt.Sprintf("run %d, point %d of %d", seed, i+1, len(points))
			p.check(t, label, inboxChoice(disktest.Durable, disktest.Written))
			for _, extent := range p.extents {
				old := func(disktest.File) []byte { return extent }
				p.check(t, label+", partly", inboxChoice(disktest.Partly(rng), old))
			}
		}
	}
}

// memoryPoints appends and imports interactions, and returns the points at which the inbox
// changed.
func memoryPoints(t *testing.T, rng *rand.Rand) (points []lossPoint) {
	home := t.TempDir()
	disk := disktest.Watch(t, home)
	defer disk.Stop()
	dir, p := filepath.Join(home, "memory"), lossPoint{}
	note := func() {
		p.image = disk.Image()
		p.extents = extentsOf(p.image, p.extents)
		last := len(points) - 1
		if last < 0 || points[last].acknowledged != p.acknowledged || !points[last].image.Equal(p.image, onlyInbox) {
			points = append(points, p)
		}
	}
	calls := 0
	disk.OnSync = func(path string) {
		if strings.HasSuffix(path, ".inbox.lock") {
			if calls++; calls%3 == 0 { // the sync has completed
				p.extents = nil
			}
		}
		if strings.Contains(path, "inbox") {
			note()
		}
	}
	for p.begun < 6 {
		p.begun++
		must(t, withInbox(dir).Append(t.Context(), interaction("c", fmt.Sprint(p.begun-1))))
		p.acknowledged++
		note()
		if p.begun != 3 && rng.IntN(4) > 0 {
			continue
		}
		first := len(points)
		checkHistory(t, dir, "c", p.begun)
		note()
		for i := range points[first:] { // Badger's files cannot be copied while it is open
			points[first+i].image = withoutInbox(p.image, points[first+i].image)
		}
	}
	return points
}

// extentsOf adds the content of the lock file to the earlier ones.
func extentsOf(m disktest.Image, earlier [][]byte) [][]byte {
	for _, f := range m {
		if !strings.HasSuffix(f.Path, ".inbox.lock") {
			continue
		}
		if earlier == nil {
			earlier = [][]byte{f.Synced}
		}
		if bytes.Equal(earlier[len(earlier)-1], f.Written) {
			return earlier
		}
		return append(slices.Clone(earlier), f.Written)
	}
	return nil
}

func isInbox(f disktest.File) bool { return strings.Contains(f.Path, ".inbox") }

// onlyInbox is equal for images with the same durable and written inbox.
func onlyInbox(f disktest.File) []byte {
	if !isInbox(f) {
		return nil
	}
	return fmt.Appendf(nil, "%v %v %q %q", f.Named, f.Exists, f.Synced, f.Written)
}

// withoutInbox returns an image with the inbox of another one.
func withoutInbox(m, inbox disktest.Image) disktest.Image {
	other := func(f disktest.File) bool { return !isInbox(f) }
	return append(slices.DeleteFunc(slices.Clone(m), isInbox), slices.DeleteFunc(slices.Clone(inbox), other)...)
}

// inboxChoice keeps the inbox and its lock file, which has the extent, as chosen, and all
// other files.
func inboxChoice(inbox, lock disktest.Choice) disktest.Choice {
	return func(f disktest.File) []byte {
		switch {
		case strings.HasSuffix(f.Path, ".inbox"):
			return inbox(f)
		case strings.HasSuffix(f.Path, ".inbox.lock"):
			return lock(f)
		}
		return disktest.Written(f)
	}
}

// check checks what is left after a power loss.
func (p *lossPoint) check(t *testing.T, label string, choose disktest.Choice) {
	t.Helper()
	dir := t.TempDir()
	must(t, p.image.Write(dir, choose))
	dir = filepath.Join(dir, "memory")
	must(t, os.MkdirAll(dir, 0o700))
	s := withInbox(dir)
	must(t, s.Append(t.Context(), interaction("d", "0"))) // and the next append works
	got, err := s.History(t.Context(), "c")
	if err != nil {
		t.Errorf("%s: %v", label, err)
		return
	}
	if n := len(got); n < p.acknowledged || n > p.begun {
		t.Errorf("%s: %d interactions, %d were acknowledged and %d begun", label, n, p.acknowledged, p.begun)
	}
	for i, in := range got {
		if in.ID != fmt.Sprint(i) {
			t.Errorf("%s: interaction %d is %s", label, i, in.ID)
		}
	}
}
