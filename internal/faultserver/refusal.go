package faultserver

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// withStatus responds with a status and pairs of header names and values.
func withStatus(code int, header ...string) func(*exchange) {
	return func(s *exchange) {
		for i := 0; i < len(header); i += 2 {
			s.Header().Set(header[i], header[i+1])
		}
		s.Header().Set("Content-Type", "application/json")
		s.WriteHeader(code)
		_, _ = io.WriteString(s, `{"error":{"message":"injected"}}`)
	}
}

// statusFaults returns responses with an error status.
func statusFaults() []fault {
	const half, one = time.Second / 2, time.Second
	tomorrow := time.Now().Add(24 * time.Hour).UTC().Format(http.TimeFormat)
	var out []fault
	for _, after := range []struct {
		value string
		waits [2]time.Duration // zero = no further attempt
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
		f := both("429, Retry-After "+after.value, fails(model.RateLimited), withStatus(429, "Retry-After", after.value))
		f.waits, f.final = after.waits, after.waits[0] == 0
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
		out = append(out, both(http.StatusText(status.code)+" (status)", fails(status.kind), withStatus(status.code)))
	}
	return append(out,
		both("500, endless", fails(model.ServerError), func(s *exchange) {
			s.WriteHeader(500)
			s.writeForever([]byte(strings.Repeat("<html>", 1000)))
		}),
		both("500, truncated", fails(model.ServerError), func(s *exchange) {
			s.WriteHeader(500)
			_, _ = io.WriteString(s, `{"error":{"mess`)
			s.abort()
		}),
		both("500, message of 60 kB", fails(model.ServerError), func(s *exchange) {
			s.WriteHeader(500)
			_, _ = io.WriteString(s, `{"error":{"message":"`+strings.Repeat("injected ", 10_000)+`"}}`)
		}),
	)
}

// redirects returns redirects to nowhere.
func redirects() []fault {
	to := func(code int, where func(*http.Request) string) func(*exchange) {
		return func(s *exchange) {
			s.Header().Set("Location", where(s.r))
			s.WriteHeader(code)
		}
	}
	same := func(r *http.Request) string { return r.URL.Path }
	endless := both("endless redirects", fails(model.BadRequest), to(307, same))
	endless.recovers = true
	return []fault{
		endless,
		both("a redirect that changes the method to GET", fails(model.BadRequest), to(302, same)),
		both("a redirect to another host", fails(model.BadRequest), to(308, func(r *http.Request) string { return "http://elsewhere.invalid" + r.URL.Path })),
		both("a redirect to an invalid URL", fails(model.NetworkError, model.BadRequest, model.BadReply), to(307, func(*http.Request) string { return "http://[::1" })),
	}
}
