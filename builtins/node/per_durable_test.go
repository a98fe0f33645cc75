package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// These benchmarks measure the cost of journaling PER-k to disk (docs/performance.md):
// the same run in memory and in a home, closed as pexctl closes it.

// latent delays replies and counts their bytes as JSON.
type latent struct {
	model.Model
	delay      time.Duration
	replyBytes *atomic.Int64
}

func (m latent) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	pause(m.delay)
	reply, err := m.Model.Generate(ctx, req, stream)
	if err == nil && m.replyBytes != nil {
		body, _ := json.Marshal(reply)
		m.replyBytes.Add(int64(len(body)))
	}
	return reply, err
}

func pause(d time.Duration) {
	if d > 0 {
		time.Sleep(d)
	}
}

func latentHost(k int, delay time.Duration, replyBytes *atomic.Int64) engine.Host {
	h := perHost(k)
	h.Models = map[string]model.Model{"main": latent{h.Models["main"], delay, replyBytes}}
	return h
}

func perHome(tb testing.TB, dir string, d journal.Durability) *journal.Home {
	tb.Helper()
	h, err := journal.OpenHome(dir, d)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

// durablePER is runPER with a journal in a home.
func durablePER(p *engine.Program, h engine.Host, home *journal.Home, id string) error {
	f, err := home.Create(id)
	if err != nil {
		return err
	}
	res := runtime.Run(context.Background(), p, inputOf(id), h, runtime.Options{Journal: f})
	if err := completed(res); err != nil {
		return err
	}
	summary, err := json.Marshal(struct {
		Run    string          `json:"run_id"`
		Status string          `json:"status"`
		Stop   stop.Reason     `json:"stop_reason"`
		Spec   engine.SpecInfo `json:"spec"`
	}{id, string(res.Status), res.StopReason, res.Spec})
	if err != nil {
		return err
	}
	f.SetHead(summary)
	return f.Close()
}

// syncedFile is a file that grows by one write and one sync at a time.
type syncedFile struct {
	*os.File
	line []byte
}

func newSyncedFile(tb testing.TB, dir string, size int) syncedFile {
	tb.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "appends"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return syncedFile{f, bytes.Repeat([]byte{'x'}, size)}
}

func (a syncedFile) add() error {
	if _, err := a.Write(a.line); err != nil {
		return err
	}
	return a.Sync()
}

func journalSize(tb testing.TB, home *journal.Home, id string) int64 {
	tb.Helper()
	info, err := os.Stat(home.File(id))
	if err != nil {
		tb.Fatal(err)
	}
	return info.Size()
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func timed(tb testing.TB, f func() error) time.Duration {
	tb.Helper()
	began := time.Now()
	if err := f(); err != nil {
		tb.Fatal(err)
	}
	return time.Since(began)
}

// BenchmarkDurableStep measures the journaling cost of a step, relative to a write and a
// sync of as many bytes as a step adds. It reports medians of runs in memory, runs in a
// home and appends in the same folder, taken in turns.
//
// An append that follows a wait takes longer than one that follows another append: the
// processor has to be woken, and its caches are cold. So there are two yardsticks. An append
// after the model calls of a step is the fair one, and the same as a hot one if the
// model has no latency.
func BenchmarkDurableStep(b *testing.B) {
	const k, callsPerStep = 5, 3
	for _, delay := range []time.Duration{0, 5 * time.Millisecond} {
		b.Run(fmt.Sprintf("%dms", delay.Milliseconds()), func(b *testing.B) {
			p, host, dir := perProgram(b), latentHost(k, delay, nil), b.TempDir()
			home := perHome(b, dir, journal.Sync)
			if err := durablePER(p, host, home, "first"); err != nil {
				b.Fatal(err)
			}
			raw := newSyncedFile(b, dir, int(journalSize(b, home, "first"))/k)
			var inMemory, durable, hot, waited []time.Duration
			for b.Loop() {
				id := "r" + strconv.Itoa(len(durable))
				inMemory = append(inMemory, timed(b, func() error { runPER(p, host, id); return nil }))
				durable = append(durable, timed(b, func() error { return durablePER(p, host, home, id) }))
				for range k {
					hot = append(hot, timed(b, raw.add))
				}
				for range k {
					for range callsPerStep {
						pause(delay)
					}
					waited = append(waited, timed(b, raw.add))
				}
			}
			if err := home.Close(); err != nil {
				b.Fatal(err)
			}
			step := float64((median(durable) - median(inMemory)).Nanoseconds()) / k
			b.ReportMetric(step/1e3, "µs/step")
			b.ReportMetric(float64(median(hot).Nanoseconds())/1e3, "µs/hot-append")
			b.ReportMetric(float64(median(waited).Nanoseconds())/1e3, "µs/append")
			b.ReportMetric(step/float64(median(hot).Nanoseconds()), "x-hot-append")
			b.ReportMetric(step/float64(median(waited).Nanoseconds()), "x-append")
		})
	}
}

// BenchmarkConcurrentDurablePER5 runs 1,000 runs of five steps at once, each with a
// journal of its own, or all with one pool.
func BenchmarkConcurrentDurablePER5(b *testing.B) {
	p, host := perProgram(b), perHost(5)
	for _, d := range []journal.Durability{journal.Sync, journal.Async} {
		b.Run(string(d), func(b *testing.B) {
			home := perHome(b, b.TempDir(), d)
			concurrently(b, func(id string) error { return durablePER(p, host, home, id) })
			if err := home.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
	b.Run("shared", func(b *testing.B) {
		home := perHome(b, b.TempDir(), journal.Sync)
		home.ShareSyncs(0)
		concurrently(b, func(id string) error { return durablePER(p, host, home, id) })
		if err := home.Close(); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("pool", func(b *testing.B) {
		pool, err := journal.OpenPool(filepath.Join(b.TempDir(), "pool"), journal.PoolOptions{Durability: journal.Sync})
		if err != nil {
			b.Fatal(err)
		}
		concurrently(b, func(id string) error {
			defer pool.Forget(id)
			j, err := pool.Run(id)
			if err != nil {
				return err
			}
			return completed(runtime.Run(context.Background(), p, inputOf(id), host, runtime.Options{Journal: j}))
		})
		if err := pool.Close(); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkJournalBytes measures how the journal of a run grows with its steps.
func BenchmarkJournalBytes(b *testing.B) {
	for _, k := range []int{5, 10, 20, 40} {
		b.Run(strconv.Itoa(k), func(b *testing.B) {
			var replyBytes atomic.Int64
			p, host := perProgram(b), latentHost(k, 0, &replyBytes)
			home := perHome(b, b.TempDir(), journal.Exit)
			n := 0
			for b.Loop() {
				n++
				if err := durablePER(p, host, home, "r"+strconv.Itoa(n)); err != nil {
					b.Fatal(err)
				}
			}
			size, replies := float64(journalSize(b, home, "r1")), float64(replyBytes.Load())/float64(n)
			b.ReportMetric(size, "bytes")
			b.ReportMetric(size/float64(k), "bytes/step")
			b.ReportMetric((size-replies)/float64(k), "bytes-beside-replies/step")
		})
	}
}

// resetPeak resets the peak memory of the process, if the system supports it.
func resetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600)
}

// peak returns the peak memory of the process in MB, 0 if unknown.
func peak() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kb float64
	_, _ = fmt.Sscan(rest, &kb)
	return kb * 1024 / 1e6
}

// cpuTime returns the CPU time of the process, 0 if unknown. Its unit is 10 ms.
func cpuTime() time.Duration {
	stat, _ := os.ReadFile("/proc/self/stat")
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}
