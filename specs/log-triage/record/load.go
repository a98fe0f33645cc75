//go:build ignore

// Load sends the traffic of the recording: a fixed rate, a fixed seed, at most
// -for long and -max requests, to loopback only. Shoppers retry a failed
// checkout at once, which is what turns an outage into a storm.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const retries = 3

type load struct {
	base string
	sent atomic.Int64
	most int64
	http *http.Client
}

func main() {
	addr := flag.String("to", "127.0.0.1:18080", "loopback address of nginx")
	length := flag.Duration("for", 58*time.Second, "how long, at most 60s")
	rate := flag.Int("rate", 32, "requests per second before retries")
	most := flag.Int64("max", 4000, "requests at most, retries included")
	imports := flag.Duration("import-at", 30*time.Second, "when the price import starts")
	flag.Parse()
	host, _, err := net.SplitHostPort(*addr)
	if err != nil || !net.ParseIP(host).IsLoopback() || *length > time.Minute {
		log.Fatal("loopback only, a minute at most")
	}
	l := &load{base: "http://" + *addr, most: *most, http: &http.Client{Timeout: 5 * time.Second}}
	ctx, cancel := context.WithTimeout(context.Background(), *length)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { l.shoppers(ctx, *rate, &all) })
	all.Go(func() { l.every(ctx, time.Second, &all, func(int) { l.send("GET", "/healthz", "health", 1) }) })
	all.Go(func() { l.prices(ctx, *imports, &all) })
	all.Wait()
	fmt.Printf("%d requests sent\n", l.sent.Load())
}

// every calls f in its own goroutine at each tick, so that slow answers do not slow the load.
func (l *load) every(ctx context.Context, d time.Duration, all *sync.WaitGroup, f func(n int)) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			all.Go(func() { f(n) })
		}
	}
}

func (l *load) shoppers(ctx context.Context, rate int, all *sync.WaitGroup) {
	regions := []string{"emea", "amer", "apac", "anz"}
	l.every(ctx, time.Second/time.Duration(rate), all, func(n int) {
		dice := rand.New(rand.NewPCG(7, uint64(n)))
		switch k := dice.IntN(100); {
		case k < 66:
			l.send("GET", fmt.Sprintf("/api/items/%d", 1+dice.IntN(300)), "shop", 1)
		case k < 91:
			l.checkout(n)
		default:
			l.send("GET", "/reports/daily?region="+regions[dice.IntN(len(regions))], "report", 1)
		}
	})
}

// checkout tries until it is answered, each time under the same request id.
func (l *load) checkout(n int) {
	for attempt := 1; attempt <= 1+retries; attempt++ {
		if l.send("POST", "/checkout", fmt.Sprintf("buy%04d", n), attempt) < 500 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// prices refreshes 60 items past the cache, as the import job does.
func (l *load) prices(ctx context.Context, at time.Duration, all *sync.WaitGroup) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(at):
	}
	ctx, cancel := context.WithTimeout(ctx, 6*time.Second)
	defer cancel()
	l.every(ctx, 100*time.Millisecond, all, func(n int) {
		l.send("GET", fmt.Sprintf("/api/items/%d?fresh=1", 1+n), "import", 1)
	})
}

func (l *load) send(method, path, id string, attempt int) int {
	if l.sent.Add(1) > l.most {
		return 0
	}
	r, err := http.NewRequest(method, l.base+path, strings.NewReader(""))
	if err != nil {
		return 0
	}
	r.Header.Set("X-Request-Id", id)
	r.Header.Set("X-Attempt", fmt.Sprint(attempt))
	answer, err := l.http.Do(r)
	if err != nil {
		return 599
	}
	answer.Body.Close()
	return answer.StatusCode
}
