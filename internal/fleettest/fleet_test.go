//go:build e2e && linux

package fleettest_test

import (
	"context"
	"math/rand/v2"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pexctl/pex/internal/syncbuffer"
	"github.com/pexctl/pex/internal/temporaltest"
)

// fleet is some workers, each of which is started again when it ends.
type fleet struct {
	driver driver
	log    syncbuffer.Buffer // of all workers
	wg     sync.WaitGroup

	mu      sync.Mutex
	current map[string]*exec.Cmd
	kills   int
	starts  int
	cpu     time.Duration // of workers that have ended
}

// restartPause is how long a worker that ended by itself, since there was no server, waits.
const restartPause = 200 * time.Millisecond

// launch starts workers with these names until ctx ends.
func launch(ctx context.Context, d driver, names ...string) *fleet {
	f := &fleet{driver: d, current: map[string]*exec.Cmd{}}
	for _, name := range names {
		f.wg.Go(func() {
			for ctx.Err() == nil {
				f.work(ctx, name)
			}
		})
	}
	return f
}

// work runs one worker to its end.
func (f *fleet) work(ctx context.Context, name string) {
	c := f.driver.worker(name)
	c.Stdout, c.Stderr = &f.log, &f.log
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	f.mu.Lock()
	err := c.Start()
	if err == nil {
		f.starts++
		f.current[name] = c
	}
	f.mu.Unlock()
	if err != nil {
		_, _ = f.log.Write([]byte(err.Error() + "\n"))
	} else {
		stop := context.AfterFunc(ctx, func() { _ = c.Process.Kill() })
		_ = c.Wait()
		stop()
		f.mu.Lock()
		f.cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		f.mu.Unlock()
		if c.ProcessState.ExitCode() == -1 {
			return // killed: the next one starts at once
		}
	}
	select {
	case <-ctx.Done():
	case <-time.After(restartPause):
	}
}

// kill kills one worker.
func (f *fleet) kill(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.current[name]; c != nil && c.Process.Kill() == nil {
		f.kills++
	}
}

// torment kills a random worker at each interval, and the server three times as the work goes on,
// until ctx ends.
func (f *fleet) torment(ctx context.Context, t *testing.T, s *temporaltest.Server, names []string, every time.Duration, progress func() float64, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	tick := time.NewTicker(every)
	defer tick.Stop()
	const serverKills = 3
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		f.kill(names[rng.IntN(len(names))])
		if n := s.Kills(); n < serverKills && progress() > float64(n+1)/(serverKills+1) {
			s.Kill()
			if err := s.Restart(); err != nil {
				t.Error(err)
				return
			}
		}
	}
}
