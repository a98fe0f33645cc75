package server

import (
	"net"
	"sync"
)

// limitedListener closes connections beyond a maximum as soon as it accepts them, so that
// those that are open keep the files of the process.
type limitedListener struct {
	net.Listener
	free chan struct{} // an element per connection that may be opened
}

func limitConnections(ln net.Listener, most int) net.Listener {
	free := make(chan struct{}, most)
	for range most {
		free <- struct{}{}
	}
	return &limitedListener{ln, free}
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case <-l.free:
			return &limitedConn{Conn: conn, release: sync.OnceFunc(func() { l.free <- struct{}{} })}, nil
		default:
			_ = conn.Close() // the client sees a closed connection
		}
	}
}

// limitedConn is a connection of a limitedListener.
type limitedConn struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
