package servecmd

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

func TestAServerIsReadyOnceItCanStoreRuns(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	check := func(r *readiness) error {
		r.home, r.log = home, slog.New(slog.DiscardHandler)
		return r.check(t.Context())
	}
	if err := check(&readiness{}); !errors.Is(err, errRecovering) {
		t.Errorf("before the runs are read: %v", err)
	}
	r := &readiness{}
	r.recovered.Store(true)
	if err := check(r); !errors.Is(err, errUnwritable) {
		t.Errorf("without a home: %v", err)
	}
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := check(r); !errors.Is(err, errUnwritable) {
		t.Errorf("probed again at once: %v", err)
	}
	r = &readiness{}
	r.recovered.Store(true)
	if err := check(r); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("left in the home: %v, %v", left, err)
	}
}
