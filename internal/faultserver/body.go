package faultserver

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"

	"github.com/pexctl/pex/engine/model"
)

// cuts are bodies that end too early, or arrive too slowly.
func cuts(f *Format) []fault {
	truncated, bad := wrong(model.Truncated), wrong(model.BadReply)
	out := []fault{
		both("byte by byte", right, func(s *stage) {
			s.begin()
			for _, b := range s.f.good(s.streamed) {
				_, _ = s.Write([]byte{b})
				s.flush()
			}
		}),
		both("broken off in the middle", truncated, func(s *stage) {
			s.begin()
			_, _ = s.Write(s.f.part(s.streamed))
			s.abort()
		}),
		both("broken off in an event", truncated, func(s *stage) {
			s.begin()
			part := s.f.part(s.streamed)
			_, _ = s.Write(part[:len(part)-len(part)/4])
			s.abort()
		}),
		both("broken off before the last byte", maybe(model.Truncated), func(s *stage) {
			s.begin()
			good := s.f.good(s.streamed)
			_, _ = s.Write(good[:len(good)-1])
			s.abort()
		}),
		apart("half, well closed", bad, truncated, func(s *stage) { s.reply(s.f.part(s.streamed)) }),
		apart("half an event, well closed", bad, wrong(model.Truncated, model.BadReply), func(s *stage) {
			part := s.f.part(s.streamed)
			s.reply(part[:len(part)-len(part)/4])
		}),
		apart("nothing, well closed", wrong(model.BadReply, model.Truncated), wrong(model.Truncated, model.BadReply), func(s *stage) { s.begin() }),
		apart("204", wrong(model.BadReply, model.Truncated), wrong(model.Truncated, model.BadReply), func(s *stage) { s.WriteHeader(204) }),
		both("gzip that is none", wrong(model.Truncated, model.BadReply), zipped(func(s *stage) { _, _ = s.Write(s.f.good(s.streamed)) })),
		both("gzip that breaks off", wrong(model.Truncated, model.BadReply), zipped(func(s *stage) {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write(s.f.good(s.streamed))
			_ = z.Close()
			_, _ = s.Write(b.Bytes()[:b.Len()/2])
		})),
	}
	if f.Stream == nil {
		return out
	}
	for i := 1; i <= f.Stream.End; i++ {
		o := truncated
		if i <= f.Stream.Mark {
			o = right
		}
		out = append(out, apart("the end mark is missing", right, o, func(s *stage) {
			if !s.streamed {
				s.reply(s.f.good(false))
				return
			}
			s.reply(s.f.Stream.frames(s.f.Stream.Events[:len(s.f.Stream.Events)-i]))
		}))
	}
	return out
}

// zipped adds a header that declares the body as gzip.
func zipped(serve func(*stage)) func(*stage) {
	return func(s *stage) {
		s.Header().Set("Content-Encoding", "gzip")
		s.begin()
		serve(s)
	}
}

// bombSize is the compressed size of a bomb, a thousandth of its uncompressed size.
const bombSize = 10 << 20

// bomb is 10 MB of gzip that expand to 10 GB, repeating the same piece.
func bomb(name string, piece func(*stage) []byte) fault {
	return both(name, wrong(model.BadReply), zipped(func(s *stage) {
		p := piece(s)
		var one bytes.Buffer // gzip may be one behind the other
		z := gzip.NewWriter(&one)
		for size := 0; size < 1<<20; size += len(p) {
			_, _ = z.Write(p)
		}
		_ = z.Close()
		for sent := 0; sent < bombSize && s.r.Context().Err() == nil; sent += one.Len() {
			if _, err := s.Write(one.Bytes()); err != nil {
				return
			}
		}
	}))
}

// more returns a long piece that is valid in the middle of a reply.
func more(s *stage) []byte {
	if s.streamed {
		return s.f.Stream.frames(lengthened(s.f.Stream.begun()))
	}
	return bytes.Repeat([]byte(" "), 32<<10)
}

// lengthened returns the events of a piece with longer texts.
func lengthened(events []Event) []Event {
	last := events[len(events)-1]
	last.JSON = strings.Replace(last.JSON, First, strings.Repeat(First, 1000), 1)
	return []Event{last}
}

// floods are endless bodies.
func floods(f *Format) []fault {
	bad := wrong(model.BadReply)
	flood := func(name string, begin, piece func(*stage) []byte) fault {
		return both(name, bad, func(s *stage) {
			s.begin()
			if begin != nil {
				_, _ = s.Write(begin(s))
			}
			s.forever(piece(s))
		})
	}
	zeros := bytes.Repeat([]byte{0}, 32<<10)
	out := []fault{
		bomb("a bomb of zeros", func(*stage) []byte { return zeros }),
		bomb("a bomb of events", more),
		flood("a body without end", func(s *stage) []byte { return s.f.part(s.streamed) }, more),
		flood("zeros without end", nil, func(*stage) []byte { return zeros }),
		flood("a string without end", func(s *stage) []byte { return []byte(`{"id":"`) }, func(*stage) []byte { return bytes.Repeat([]byte("x"), 32<<10) }),
	}
	if f.Stream == nil || f.Stream.Harmless == nil {
		return out
	}
	quiet := func(s *stage) []byte {
		if s.streamed {
			return bytes.Repeat(s.f.Stream.Harmless, 1000)
		}
		return more(s)
	}
	return append(out,
		flood("nothing of worth without end", nil, quiet),
		both("signs of life between events", right, func(s *stage) {
			if !s.streamed {
				s.reply(s.f.good(false))
				return
			}
			s.begin()
			for _, e := range s.f.Stream.Events {
				_, _ = s.Write(bytes.Repeat(s.f.Stream.Harmless, 3))
				_, _ = s.Write(s.f.Stream.Frame(e))
			}
		}),
	)
}

// page sends the HTML page of a proxy instead of a reply.
func page(s *stage) {
	s.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(s, "<!DOCTYPE html><html><body>"+strings.Repeat("log in first ", 1000)+"</body></html>")
}
