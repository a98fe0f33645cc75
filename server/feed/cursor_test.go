package feed_test

import (
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/pexctl/pex/server/feed"
)

func TestParseCursor(t *testing.T) {
	for s, want := range map[string]feed.Cursor{"0.0": {}, "0.41": {Seq: 41}, "3.7": {Rewinds: 3, Seq: 7}, "999999999.999999999": {999999999, 999999999}} {
		if got, err := feed.ParseCursor(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", ".", "1", "1.", ".1", "1.2.3", "-1.2", "1.-2", "+1.2", "01.2", "1.02", " 1.2", "1.2 ", "1,2", "a.b", "1.1e3", "0x1.2", "1.1000000000", "١.٢", "0.1\n"} {
		_, err := feed.ParseCursor(s)
		if bad, ok := errors.AsType[*feed.CursorError](err); !ok || bad.Unknown {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestCursorOfARequest(t *testing.T) {
	for _, tt := range []struct{ header, target, want string }{
		{"", "/events", "0.0"},
		{"", "/events?after=", "0.0"},
		{"", "/events?after=0.4", "0.4"},
		{"1.5", "/events", "1.5"},
		{"1.5", "/events?after=0.4", "1.5"}, // a browser repeats the query when it reconnects
	} {
		r := httptest.NewRequest("GET", tt.target, nil)
		r.Header.Set("Last-Event-ID", tt.header)
		if got, err := feed.CursorOf(r); err != nil || got.String() != tt.want {
			t.Errorf("%+v: %s, %v", tt, got, err)
		}
	}
	_, err := feed.CursorOf(httptest.NewRequest("GET", "/events?after=x%0Ay", nil))
	if err == nil || err.Error() != `invalid cursor "x\ny": use the id of an event, such as 0.41` {
		t.Error(err)
	}
}

func FuzzParseCursor(f *testing.F) {
	for _, s := range []string{"0.41", "1.0", "", "1.", "999999999.1", "00.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := feed.ParseCursor(s)
		if err != nil {
			if c != (feed.Cursor{}) {
				t.Errorf("%q: %v and %v", s, c, err)
			}
			return
		}
		if c.String() != s || c.Rewinds < 0 || c.Seq < 0 {
			t.Errorf("%q is parsed as %v", s, c)
		}
	})
}
