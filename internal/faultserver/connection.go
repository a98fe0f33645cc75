package faultserver

import (
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/model"
)

// written is a fault that takes over the connection, writes a text and closes it.
func written(name string, o outcome, text func(*stage) string) fault {
	f := both(name, o, func(s *stage) {
		conn := s.take()
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, text(s))
	})
	f.raw = true
	return f
}

func just(text string) func(*stage) string { return func(*stage) string { return text } }

// connections are faults below HTTP, or in its grammar.
func connections() []fault {
	network, cut := wrong(model.NetworkError), wrong(model.Truncated)
	return append([]fault{
		written("no HTTP", network, just("\x00\x01\x02 what?\r\n\r\n")),
		written("closed at once", network, just("")),
		written("half a header", network, just("HTTP/1.1 200 OK\r\nContent-Ty")),
		written("two lengths", network, func(s *stage) string {
			return s.header("Content-Length: 5", "Content-Length: 9") + "12345"
		}),
		written("header only", cut, func(s *stage) string { return s.header("Content-Length: 900") }),
		written("a length of exabytes", cut, func(s *stage) string {
			return s.header("Content-Length: 9000000000000000000") + string(s.f.part(s.streamed))
		}),
		written("chunks that are none", cut, func(s *stage) string { return s.header("Transfer-Encoding: chunked") + "zz\r\n" }),
		reset("reset at once", network, just("")),
		reset("reset after the header", cut, func(s *stage) string { return s.header("Content-Length: 900") }),
		endless("a header without end", "HTTP/1.1 200 OK\r\n", "X-Chaos: "+strings.Repeat("x", 4000)+"\r\n"),
		endless("a header line without end", "HTTP/1.1 200 OK\r\nX-Chaos: ", strings.Repeat("x", 4000)),
		endless("early hints without end", "", "HTTP/1.1 103 Early Hints\r\nLink: "+strings.Repeat("x", 4000)+"\r\n\r\n"),
	}, lasting()...)
}

// reset is a fault that ends with a connection reset.
func reset(name string, o outcome, text func(*stage) string) fault {
	f := both(name, o, func(s *stage) {
		conn := s.take()
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, text(s))
		if c, ok := conn.(*net.TCPConn); ok {
			_ = c.SetLinger(0)
		}
	})
	f.raw = true
	if len(o.kinds) == 1 && o.kinds[0] == model.Truncated { // the reset may overtake the header
		f.whole.kinds = append(f.whole.kinds, model.NetworkError)
		f.stream = f.whole
	}
	return f
}

// endless is a header that never ends.
func endless(name, begin, piece string) fault {
	f := both(name, wrong(model.NetworkError), func(s *stage) {
		conn := s.take()
		defer func() { _ = conn.Close() }()
		_, err := io.WriteString(conn, begin)
		for err == nil {
			_, err = io.WriteString(conn, piece)
		}
	})
	f.raw = true
	return f
}

// lasting are faults of connections that serve more than one request.
func lasting() []fault {
	whole := func(s *stage) net.Conn {
		body := string(s.f.good(s.streamed))
		conn := s.take()
		_, _ = io.WriteString(conn, s.header("Content-Length: "+strconv.Itoa(len(body)))+body)
		return conn
	}
	closed := both("closed behind a good reply", right, func(s *stage) { _ = whole(s).Close() })
	dead := both("dead when it is used again", right, func(s *stage) {
		conn := whole(s)
		defer func() { _ = conn.Close() }()
		_, _ = conn.Read(make([]byte, 1))
	})
	severing := both("TLS, cut in the body", wrong(model.Truncated), func(s *stage) {
		conn := s.take()
		_, _ = io.WriteString(conn, s.header("Content-Length: 9000")+string(s.f.part(s.streamed)))
		if c, ok := conn.(*tls.Conn); ok {
			_ = c.NetConn().Close() // no close_notify
		}
	})
	answer := func(s *stage) { s.reply(s.f.good(s.streamed)) }
	halved := both("TLS, cut in the handshake", wrong(model.NetworkError), answer)
	unknown := both("TLS, of a stranger", wrong(model.NetworkError), answer)
	closed.lane, dead.lane, severing.lane, halved.lane, unknown.lane = reused, reused, secure, severed, strange
	out := []fault{closed, dead, severing, halved, unknown}
	for i := range out {
		out[i].raw = true
	}
	return out
}
