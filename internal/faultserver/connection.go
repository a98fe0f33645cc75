package faultserver

import (
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/model"
)

// rawResponse is a fault that takes over the connection, writes a text and closes it.
func rawResponse(name string, o outcome, text func(*exchange) string) fault {
	f := both(name, o, func(s *exchange) {
		conn := s.hijack()
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, text(s))
	})
	f.hijacks = true
	return f
}

func constant(text string) func(*exchange) string { return func(*exchange) string { return text } }

// connectionFaults returns faults below HTTP, or in its syntax.
func connectionFaults() []fault {
	network, cut := fails(model.NetworkError), fails(model.Truncated)
	return append([]fault{
		rawResponse("not HTTP", network, constant("\x00\x01\x02 what?\r\n\r\n")),
		rawResponse("closed at once", network, constant("")),
		rawResponse("half a header", network, constant("HTTP/1.1 200 OK\r\nContent-Ty")),
		rawResponse("two lengths", network, func(s *exchange) string {
			return s.header("Content-Length: 5", "Content-Length: 9") + "12345"
		}),
		rawResponse("header only", cut, func(s *exchange) string { return s.header("Content-Length: 900") }),
		rawResponse("a length of exabytes", cut, func(s *exchange) string {
			return s.header("Content-Length: 9000000000000000000") + string(s.f.partialReply(s.streamed))
		}),
		rawResponse("invalid chunks", cut, func(s *exchange) string { return s.header("Transfer-Encoding: chunked") + "zz\r\n" }),
		reset("reset at once", network, constant("")),
		reset("reset after the header", cut, func(s *exchange) string { return s.header("Content-Length: 900") }),
		endless("an endless header", "HTTP/1.1 200 OK\r\n", "X-Filler: "+strings.Repeat("x", 4000)+"\r\n"),
		endless("an endless header line", "HTTP/1.1 200 OK\r\nX-Filler: ", strings.Repeat("x", 4000)),
		endless("endless early hints", "", "HTTP/1.1 103 Early Hints\r\nLink: "+strings.Repeat("x", 4000)+"\r\n\r\n"),
	}, keepAliveFaults()...)
}

// reset is a fault that ends with a connection reset.
func reset(name string, o outcome, text func(*exchange) string) fault {
	f := both(name, o, func(s *exchange) {
		conn := s.hijack()
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, text(s))
		if c, ok := conn.(*net.TCPConn); ok {
			_ = c.SetLinger(0)
		}
	})
	f.hijacks = true
	if len(o.kinds) == 1 && o.kinds[0] == model.Truncated { // the reset may overtake the header
		f.whole.kinds = append(f.whole.kinds, model.NetworkError)
		f.stream = f.whole
	}
	return f
}

// endless is a header that never ends.
func endless(name, begin, piece string) fault {
	f := both(name, fails(model.NetworkError), func(s *exchange) {
		conn := s.hijack()
		defer func() { _ = conn.Close() }()
		_, err := io.WriteString(conn, begin)
		for err == nil {
			_, err = io.WriteString(conn, piece)
		}
	})
	f.hijacks = true
	return f
}

// keepAliveFaults returns faults of connections that serve more than one request.
func keepAliveFaults() []fault {
	whole := func(s *exchange) net.Conn {
		body := string(s.f.reply(s.streamed))
		conn := s.hijack()
		_, _ = io.WriteString(conn, s.header("Content-Length: "+strconv.Itoa(len(body)))+body)
		return conn
	}
	closed := both("closed after a good reply", succeeds, func(s *exchange) { _ = whole(s).Close() })
	dead := both("dead when reused", succeeds, func(s *exchange) {
		conn := whole(s)
		defer func() { _ = conn.Close() }()
		_, _ = conn.Read(make([]byte, 1))
	})
	severing := both("TLS, closed within the body", fails(model.Truncated), func(s *exchange) {
		conn := s.hijack()
		_, _ = io.WriteString(conn, s.header("Content-Length: 9000")+string(s.f.partialReply(s.streamed)))
		if c, ok := conn.(*tls.Conn); ok {
			_ = c.NetConn().Close() // no close_notify
		}
	})
	answer := func(s *exchange) { s.reply(s.f.reply(s.streamed)) }
	halved := both("TLS, closed during the handshake", fails(model.NetworkError), answer)
	unknown := both("TLS, untrusted certificate", fails(model.NetworkError), answer)
	closed.server, dead.server, severing.server, halved.server, unknown.server = reusedConn, reusedConn, overTLS, brokenTLS, untrustedTLS
	out := []fault{closed, dead, severing, halved, unknown}
	for i := range out {
		out[i].hijacks = true
	}
	return out
}
