package feed_test

import (
	"fmt"
	"log"
	"net/http/httptest"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/server/feed"
)

// A client that received event 0.1 reconnects and continues after it.
func Example() {
	f := feed.New() // a sink of the run's session
	f.Send(engine.Event{V: 1, Seq: 1, At: time.Unix(0, 0).UTC(), Run: "r-1", Type: engine.RunStarted, Question: "Why?"})
	f.Send(engine.Event{V: 1, Seq: 2, At: time.Unix(1, 0).UTC(), Run: "r-1", Type: engine.RunCompleted, Status: "completed"})
	f.End("completed")

	r := httptest.NewRequest("GET", "/v1/runs/r-1/events", nil)
	r.Header.Set("Last-Event-ID", "0.1")
	after, err := feed.CursorOf(r)
	if err == nil {
		err = f.Check(r.Context(), after)
	}
	if err != nil {
		log.Fatal(err)
	}
	w := httptest.NewRecorder()
	if err := feed.Write(w, r, f.Watch(r.Context(), after, true), feed.FormatOf(r)); err != nil {
		log.Fatal(err)
	}
	fmt.Print(w.Body)
	// Output:
	// retry: 2000
	//
	// id: 0.2
	// event: run.completed
	// data: {"v":1,"seq":2,"at":"1970-01-01T00:00:01Z","run":"r-1","type":"run.completed","status":"completed"}
	//
	// retry: 15000
	// event: end
	// data: {"status":"completed"}
}
