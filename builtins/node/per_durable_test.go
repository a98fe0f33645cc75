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
	"sync"
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
	if m.delay > 0 {
		time.Sleep(m.delay)
	}
	reply, err := m.Model.Generate(ctx, req, stream)
	if err == nil && m.replyBytes != nil {
		body, _ := json.Marshal(reply)
		m.replyBytes.Add(int64(len(body)))
	}
	return reply, err
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
	in := engine.Input{RunID: id, Parameters: map[string]any{"question": "Add up the items one by one and report the total."}}
	res := runtime.Run(context.Background(), p, in, h, runtime.Options{Journal: f})
	if res.Status != stop.RunCompleted {
		return fmt.Errorf("%s: %s", res.StopReason.Code, res.StopReason.Message)
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

// appends is a file that grows by one write and one sync at a time.
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
func BenchmarkDurableStep(b *testing.B) {
	const k = 5
	for _, delay := range []time.Duration{0, 5 * time.Millisecond} {
		b.Run(fmt.Sprintf("%dms", delay.Milliseconds()), func(b *testing.B) {
			p, host, dir := perProgram(b), latentHost(k, delay, nil), b.TempDir()
			home := perHome(b, dir, journal.Sync)
			if err := durablePER(p, host, home, "first"); err != nil {
				b.Fatal(err)
			}
			raw := newSyncedFile(b, dir, int(journalSize(b, home, "first"))/k)
			var inMemory, durable, appended []time.Duration
			for b.Loop() {
				id := "r" + strconv.Itoa(len(durable))
				inMemory = append(inMemory, timed(b, func() error { runPER(p, host, id); return nil }))
				durable = append(durable, timed(b, func() error { return durablePER(p, host, home, id) }))
				for range k {
					appended = append(appended, timed(b, raw.add))
				}
			}
			if err := home.Close(); err != nil {
				b.Fatal(err)
			}
			step := float64((median(durable) - median(inMemory)).Nanoseconds()) / k
			sync := float64(median(appended).Nanoseconds())
			b.ReportMetric(step/1e3, "µs/step")
			b.ReportMetric(sync/1e3, "µs/append+fsync")
			b.ReportMetric(step/sync, "x-append+fsync")
		})
	}
}

// BenchmarkConcurrentDurablePER5 runs 1,000 runs of five steps at once, each with a
// journal. The reported peak is that of the whole process.
func BenchmarkConcurrentDurablePER5(b *testing.B) {
	const runs = 1000
	for _, d := range []journal.Durability{journal.Sync, journal.Async} {
		b.Run(string(d), func(b *testing.B) {
			p, host := perProgram(b), perHost(5)
			home := perHome(b, b.TempDir(), d)
			resetPeak()
			batch := 0
			for b.Loop() {
				batch++
				var wg sync.WaitGroup
				for i := range runs {
					wg.Go(func() {
						if err := durablePER(p, host, home, fmt.Sprintf("r%d.%d", batch, i)); err != nil {
							b.Error(err)
						}
					})
				}
				wg.Wait()
			}
			b.ReportMetric(float64(b.N*runs)/b.Elapsed().Seconds(), "runs/s")
			b.ReportMetric(peak(), "MB-peak")
			if err := home.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
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

// forgetPeak resets the peak memory of the process, if the system supports it.
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
