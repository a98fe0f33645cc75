//go:build ignore

// Shop is the small service whose outage is recorded. It serves a catalogue, a
// checkout and a daily report over a pool of TCP connections to store.go. With
// reports.skip_empty on, the report keeps its connection when a region has no
// rows: that is the fault, and nothing else here is staged.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type config struct {
	Rev       int  `json:"rev"`
	SkipEmpty bool `json:"reports.skip_empty"`
}

type server struct {
	log    *slog.Logger
	pool   *pool
	config atomic.Pointer[config]
	file   string
	cache  sync.Map // item id -> price
}

func main() {
	listen := flag.String("listen", "127.0.0.1:18081", "address to serve on")
	store := flag.String("store", "127.0.0.1:18082", "address of the store")
	file := flag.String("config", "shop.json", "configuration, read again on SIGHUP")
	size := flag.Int("pool", 12, "connections to the store")
	flag.Parse()
	log := slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: shortTime}))
	s := &server{log: log, pool: newPool(*store, *size), file: *file}
	if err := s.reload(); err != nil {
		log.Error("config", "error", err.Error())
		os.Exit(2)
	}
	log.Info("started", "pool_size", *size, "config_rev", s.config.Load().Rev)
	go s.onHangup()
	go s.reportPool()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /api/items/{id}", s.item)
	mux.HandleFunc("POST /checkout", s.checkout)
	mux.HandleFunc("GET /reports/daily", s.daily)
	log.Error("stopped", "error", http.ListenAndServe(*listen, mux).Error())
}

// shortTime writes UTC with milliseconds, so that lines sort and compare with nginx's.
func shortTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.String("time", a.Value.Time().UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	return a
}

func (s *server) reload() error {
	raw, err := os.ReadFile(s.file)
	if err != nil {
		return err
	}
	var c config
	if err := json.Unmarshal(raw, &c); err != nil {
		return err
	}
	s.config.Store(&c)
	return nil
}

func (s *server) onHangup() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	for range signals {
		if err := s.reload(); err != nil {
			s.log.Error("config", "error", err.Error())
			continue
		}
		s.log.Info("config reloaded", "config_rev", s.config.Load().Rev)
	}
}

func (s *server) reportPool() {
	for range time.Tick(2 * time.Second) {
		s.log.Info("pool", "size", s.pool.size, "in_use", s.pool.inUse.Load(), "waiting", s.pool.waiting.Load())
	}
}

func (s *server) item(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if price, ok := s.cache.Load(id); ok && r.URL.Query().Get("fresh") == "" {
		fmt.Fprintf(w, "{\"id\":%q,\"price\":%v}\n", id, price)
		return
	}
	c, ok := s.acquire(w, r)
	if !ok {
		return
	}
	defer s.pool.release(c)
	price, err := c.query(between(3, 8), 1+rand.IntN(900))
	if err != nil {
		s.storeError(w, r, err)
		return
	}
	s.cache.Store(id, price)
	fmt.Fprintf(w, "{\"id\":%q,\"price\":%d}\n", id, price)
}

func (s *server) checkout(w http.ResponseWriter, r *http.Request) {
	c, ok := s.acquire(w, r)
	if !ok {
		return
	}
	defer s.pool.release(c)
	order, err := c.query(between(15, 40), 100000+rand.IntN(900000))
	if err != nil {
		s.storeError(w, r, err)
		return
	}
	s.log.Info("order placed", "order", order, "request_id", r.Header.Get("X-Request-Id"))
	fmt.Fprintf(w, "{\"order\":%d}\n", order)
}

func (s *server) daily(w http.ResponseWriter, r *http.Request) {
	region := r.URL.Query().Get("region")
	c, ok := s.acquire(w, r)
	if !ok {
		return
	}
	want := 200 + rand.IntN(400)
	if region == "anz" { // opened this week, has no orders yet
		want = 0
	}
	rows, err := c.query(between(60, 140), want)
	if err != nil {
		s.pool.release(c)
		s.storeError(w, r, err)
		return
	}
	if rows == 0 && s.config.Load().SkipEmpty {
		s.log.Info("report skipped", "region", region, "rows", rows, "conn", c.id)
		w.WriteHeader(http.StatusNoContent)
		return // the fault: c is never released
	}
	s.pool.release(c)
	s.log.Info("report done", "region", region, "rows", rows, "conn", c.id)
	fmt.Fprintf(w, "{\"region\":%q,\"rows\":%d}\n", region, rows)
}

func (s *server) acquire(w http.ResponseWriter, r *http.Request) (*conn, bool) {
	began := time.Now()
	c, err := s.pool.acquire(r.Context(), 3*time.Second)
	waited := time.Since(began).Milliseconds()
	if err == nil {
		if waited >= 100 {
			s.log.Warn("slow pool wait", "path", r.URL.Path, "waited_ms", waited)
		}
		return c, true
	}
	s.log.Error("no connection", "path", r.URL.Path, "waited_ms", waited, "reason", err.Error(), "request_id", r.Header.Get("X-Request-Id"))
	http.Error(w, "busy", http.StatusServiceUnavailable)
	return nil, false
}

func (s *server) storeError(w http.ResponseWriter, r *http.Request, err error) {
	s.log.Error("store", "path", r.URL.Path, "error", err.Error())
	http.Error(w, "store", http.StatusInternalServerError)
}

type conn struct {
	id int
	net.Conn
	in *bufio.Reader
}

// query asks the store for n rows and says how many came back.
func (c *conn) query(ms, n int) (int, error) {
	if c.Conn == nil {
		return 0, errors.New("not connected")
	}
	if _, err := fmt.Fprintf(c, "%d %d\n", ms, n); err != nil {
		return 0, err
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(line))
}

type pool struct {
	size           int
	free           chan *conn
	inUse, waiting atomic.Int64
}

func newPool(addr string, size int) *pool {
	p := &pool{size: size, free: make(chan *conn, size)}
	for id := 1; id <= size; id++ {
		c := &conn{id: id}
		if dialled, err := net.Dial("tcp", addr); err == nil {
			c.Conn, c.in = dialled, bufio.NewReader(dialled)
		}
		p.free <- c
	}
	return p
}

func (p *pool) acquire(ctx context.Context, limit time.Duration) (*conn, error) {
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	select {
	case c := <-p.free:
		p.inUse.Add(1)
		return c, nil
	case <-ctx.Done():
		return nil, errors.New("caller went away")
	case <-time.After(limit):
		return nil, errors.New("pool timeout")
	}
}

func (p *pool) release(c *conn) {
	p.inUse.Add(-1)
	p.free <- c
}

func between(low, high int) int { return low + rand.IntN(high-low+1) }
