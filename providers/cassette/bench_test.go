package cassette_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/providers/cassette"
)

// BenchmarkRecorder measures recording one turn of a conversation that grows by 1 kB per turn.
func BenchmarkRecorder(b *testing.B) {
	const turns = 200
	var segments journal.Segments
	recs := records("x")[:1]
	var q journal.Request
	for i := range turns {
		q.Messages = append(q.Messages, journal.Message{Head: []byte(`{"role":"user"}`), Text: []string{fmt.Sprint(i), strings.Repeat("some words ", 90)}})
		body, err := segments.Encode(q)
		if err != nil {
			b.Fatal(err)
		}
		recs = append(recs, journal.Record{Seq: uint64(i + 2), Kind: journal.Intent, Class: journal.Read, Path: "m", Body: body})
	}
	secrets := secret.New(map[string]string{"A": "the-value-of-one", "B": "the/value+of two", "C": "the \"value\" of three"})
	dir := b.TempDir()
	for b.Loop() {
		r, err := cassette.New(journal.Discard{}, filepath.Join(dir, "c.jsonl"), secrets)
		if err != nil {
			b.Fatal(err)
		}
		for i := range recs {
			if _, err := r.Append(recs[i : i+1]); err != nil {
				b.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/turns, "µs/turn")
}

// BenchmarkPlayed measures replaying one turn of a conversation that grows by 1 kB per turn.
func BenchmarkPlayed(b *testing.B) {
	const turns = 200
	calls, answers := make([]model.Call, turns), make([]any, turns)
	var messages []model.Message
	for i := range turns {
		messages = append(messages, model.Message{Role: model.User, Text: model.Text{fmt.Sprint(i), strings.Repeat("some words ", 90)}})
		calls[i], answers[i] = model.Call{Role: "executor", LLM: "main", Messages: messages[:i+1]}, "ok"
	}
	path, was := recordCalls(b, callNode{calls: calls}, nil, answers...)
	m := played(b, path, nil).(model.RunScoped)
	for b.Loop() {
		run := m.ForRun("r")
		for i := range was.requests {
			if describeDifference(b, run, was.requests[i]) != "ok" {
				b.Fatal("no reply")
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/turns, "µs/turn")
}
