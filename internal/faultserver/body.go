package faultserver

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"

	"github.com/pexctl/pex/engine/model"
)

// truncations returns bodies that end too early, or arrive too slowly.
func truncations(f *Format) []fault {
	truncated, bad := fails(model.Truncated), fails(model.BadReply)
	out := []fault{
		both("byte by byte", succeeds, func(s *exchange) {
			s.writeHeader()
			for _, b := range s.f.reply(s.streamed) {
				_, _ = s.Write([]byte{b})
				s.flush()
			}
		}),
		both("connection closed in the middle", truncated, func(s *exchange) {
			s.writeHeader()
			_, _ = s.Write(s.f.partialReply(s.streamed))
			s.abort()
		}),
		both("connection closed within an event", truncated, func(s *exchange) {
			s.writeHeader()
			part := s.f.partialReply(s.streamed)
			_, _ = s.Write(part[:len(part)-len(part)/4])
			s.abort()
		}),
		both("connection closed before the last byte", mayFail(model.Truncated), func(s *exchange) {
			s.writeHeader()
			good := s.f.reply(s.streamed)
			_, _ = s.Write(good[:len(good)-1])
			s.abort()
		}),
		perMode("half a body, closed properly", bad, truncated, func(s *exchange) { s.reply(s.f.partialReply(s.streamed)) }),
		perMode("half an event, closed properly", bad, fails(model.Truncated, model.BadReply), func(s *exchange) {
			part := s.f.partialReply(s.streamed)
			s.reply(part[:len(part)-len(part)/4])
		}),
		perMode("an empty body, closed properly", fails(model.BadReply, model.Truncated), fails(model.Truncated, model.BadReply), func(s *exchange) { s.writeHeader() }),
		perMode("204", fails(model.BadReply, model.Truncated), fails(model.Truncated, model.BadReply), func(s *exchange) { s.WriteHeader(204) }),
		both("invalid gzip", fails(model.Truncated, model.BadReply), zipped(func(s *exchange) { _, _ = s.Write(s.f.reply(s.streamed)) })),
		both("truncated gzip", fails(model.Truncated, model.BadReply), zipped(func(s *exchange) {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write(s.f.reply(s.streamed))
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
			o = succeeds
		}
		out = append(out, perMode("the end mark is missing", succeeds, o, func(s *exchange) {
			if !s.streamed {
				s.reply(s.f.reply(false))
				return
			}
			s.reply(s.f.Stream.frames(s.f.Stream.Events[:len(s.f.Stream.Events)-i]))
		}))
	}
	return out
}

// zipped adds a header that declares the body as gzip.
func zipped(serve func(*exchange)) func(*exchange) {
	return func(s *exchange) {
		s.Header().Set("Content-Encoding", "gzip")
		s.writeHeader()
		serve(s)
	}
}

// bombSize is the compressed size of a bomb, a thousandth of its uncompressed size.
const bombSize = 10 << 20

// bomb is a body of 10 MB of gzip that expands to 10 GB, repeating one piece.
func bomb(name string, piece func(*exchange) []byte) fault {
	return both(name, fails(model.BadReply), zipped(func(s *exchange) {
		p := piece(s)
		var one bytes.Buffer // gzip streams may be concatenated
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

// filler returns a long piece that is valid in the middle of a reply.
func filler(s *exchange) []byte {
	if s.streamed {
		return s.f.Stream.frames(lengthenLast(s.f.Stream.firstEvents()))
	}
	return bytes.Repeat([]byte(" "), 32<<10)
}

// lengthenLast returns the events of a piece with longer texts.
func lengthenLast(events []Event) []Event {
	last := events[len(events)-1]
	last.JSON = strings.Replace(last.JSON, First, strings.Repeat(First, 1000), 1)
	return []Event{last}
}

// floods returns faults with endless bodies.
func floods(f *Format) []fault {
	bad := fails(model.BadReply)
	flood := func(name string, begin, piece func(*exchange) []byte) fault {
		return both(name, bad, func(s *exchange) {
			s.writeHeader()
			if begin != nil {
				_, _ = s.Write(begin(s))
			}
			s.writeForever(piece(s))
		})
	}
	zeros := bytes.Repeat([]byte{0}, 32<<10)
	out := []fault{
		bomb("a gzip bomb of zeros", func(*exchange) []byte { return zeros }),
		bomb("a gzip bomb of events", filler),
		flood("an endless body", func(s *exchange) []byte { return s.f.partialReply(s.streamed) }, filler),
		flood("endless zeros", nil, func(*exchange) []byte { return zeros }),
		flood("an endless string", func(s *exchange) []byte { return []byte(`{"id":"`) }, func(*exchange) []byte { return bytes.Repeat([]byte("x"), 32<<10) }),
	}
	if f.Stream == nil || f.Stream.Harmless == nil {
		return out
	}
	quiet := func(s *exchange) []byte {
		if s.streamed {
			return bytes.Repeat(s.f.Stream.Harmless, 1000)
		}
		return filler(s)
	}
	return append(out,
		flood("endless keep-alives", nil, quiet),
		both("keep-alives between events", succeeds, func(s *exchange) {
			if !s.streamed {
				s.reply(s.f.reply(false))
				return
			}
			s.writeHeader()
			for _, e := range s.f.Stream.Events {
				_, _ = s.Write(bytes.Repeat(s.f.Stream.Harmless, 3))
				_, _ = s.Write(s.f.Stream.Frame(e))
			}
		}),
	)
}

// htmlPage sends the HTML page of a proxy instead of a reply.
func htmlPage(s *exchange) {
	s.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(s, "<!DOCTYPE html><html><body>"+strings.Repeat("log in first ", 1000)+"</body></html>")
}
