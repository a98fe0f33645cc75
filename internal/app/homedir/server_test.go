package homedir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/internal/app/homedir"
)

func TestAHomeHasOneServerAtATime(t *testing.T) {
	if !regular.CanLock {
		t.Skip("needs file locks")
	}
	home := filepath.Join(t.TempDir(), "home")
	claim := func() (homedir.Claim, *homedir.Server) {
		t.Helper()
		c, other, err := homedir.ClaimServer(home)
		if err != nil {
			t.Fatal(err)
		}
		return c, other
	}
	first, other := claim()
	if other != nil {
		t.Fatal(other)
	}
	if err := first.Announce("http://127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	second, other := claim()
	if d := cmp.Diff(&homedir.Server{URL: "http://127.0.0.1:1", PID: os.Getpid()}, other); d != "" {
		t.Error(d)
	}
	if err := second.Announce("http://127.0.0.1:2"); err != nil { // has no effect
		t.Fatal(err)
	}
	if _, again := claim(); again.URL != other.URL {
		t.Errorf("the second server has announced itself: %v", again)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	third, other := claim()
	if other != nil {
		t.Errorf("the home is claimed by %v, which has ended", other)
	}
	if b, err := os.ReadFile(filepath.Join(home, homedir.ServerFile)); err != nil || len(b) > 0 {
		t.Errorf("the address of the first server is still there: %s, %v", b, err)
	}
	if err := third.Release(); err != nil {
		t.Error(err)
	}
}

func TestAHomeThatIsAFileCannotBeClaimed(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.WriteFile(home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := homedir.ClaimServer(home); err == nil && regular.CanLock {
		t.Error("claimed")
	}
}
