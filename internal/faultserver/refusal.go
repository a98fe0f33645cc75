package faultserver

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// refused is an answer of a status, with pairs of header names and values.
func refused(code int, header ...string) func(*stage) {
	return func(s *stage) {
		for i := 0; i < len(header); i += 2 {
			s.Header().Set(header[i], header[i+1])
		}
		s.Header().Set("Content-Type", "application/json")
		s.WriteHeader(code)
		_, _ = io.WriteString(s, `{"error":{"message":"chaos"}}`)
	}
}

// refusals are answers of a status that says no.
func refusals() []fault {
	const half, one = time.Second / 2, time.Second
	tomorrow := time.Now().Add(24 * time.Hour).UTC().Format(http.TimeFormat)
	var out []fault
	for _, after := range []struct {
		wish  string
		waits [2]time.Duration // none = it is not asked again
	}{
		{"7", [2]time.Duration{7 * one, 7 * one}},
		{tomorrow, [2]time.Duration{}},
		{"1000000000", [2]time.Duration{}},
		{"1e300", [2]time.Duration{}},
		{"NaN", [2]time.Duration{half, one}},
		{"-5", [2]time.Duration{half, one}},
		{"Thu, 01 Jan 1970 00:00:00 GMT", [2]time.Duration{half, one}},
		{"soon; \u00fc", [2]time.Duration{half, one}},
	} {
		f := both("429, again after "+after.wish, wrong(model.RateLimited), refused(429, "Retry-After", after.wish))
		f.waits, f.ends = after.waits, after.waits[0] == 0
		out = append(out, f)
	}
	for _, status := range []struct {
		code int
		kind model.ErrorKind
	}{
		{400, model.BadRequest},
		{401, model.AuthError},
		{403, model.AuthError},
		{404, model.NotFound},
		{500, model.ServerError},
		{502, model.ServerError},
		{503, model.Overloaded},
		{504, model.ServerError},
		{529, model.Overloaded},
	} {
		out = append(out, both(http.StatusText(status.code)+" (status)", wrong(status.kind), refused(status.code)))
	}
	return append(out,
		both("500 of which there is no end", wrong(model.ServerError), func(s *stage) {
			s.WriteHeader(500)
			s.forever([]byte(strings.Repeat("<html>", 1000)))
		}),
		both("500 that breaks off", wrong(model.ServerError), func(s *stage) {
			s.WriteHeader(500)
			_, _ = io.WriteString(s, `{"error":{"mess`)
			s.abort()
		}),
		both("500 with a message of 60 kB", wrong(model.ServerError), func(s *stage) {
			s.WriteHeader(500)
			_, _ = io.WriteString(s, `{"error":{"message":"`+strings.Repeat("chaos ", 10_000)+`"}}`)
		}),
	)
}

// redirects lead nowhere.
func redirects() []fault {
	to := func(code int, where func(*http.Request) string) func(*stage) {
		return func(s *stage) {
			s.Header().Set("Location", where(s.r))
			s.WriteHeader(code)
		}
	}
	same := func(r *http.Request) string { return r.URL.Path }
	endless := both("redirects without end", wrong(model.BadRequest), to(307, same))
	endless.heals = true
	return []fault{
		endless,
		both("a redirect that makes a GET of it", wrong(model.BadRequest), to(302, same)),
		both("a redirect to another host", wrong(model.BadRequest), to(308, func(r *http.Request) string { return "http://elsewhere.invalid" + r.URL.Path })),
		both("a redirect to what is no address", wrong(model.NetworkError, model.BadRequest, model.BadReply), to(307, func(*http.Request) string { return "http://[::1" })),
	}
}
