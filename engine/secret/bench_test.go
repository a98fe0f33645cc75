package secret_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/secret"
)

// The usual case: three secrets, and a record of 100 kB without any of them.
func BenchmarkRecordOf100kB(b *testing.B) {
	v := secret.New(map[string]string{"OPENAI_API_KEY": fakeKey("sk-", 48), "TOKEN": fakeKey("", 32), "GATEWAY": "https://me:" + fakeKey("", 20) + "@h.test/v1?k=" + fakeKey("q", 20)})
	text := prose(100_000)
	record, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("plain", func(b *testing.B) { // unencoded values, without gaps
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			v.PlainScan(text)
		}
	})
	b.Run("text", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			v.Text(text)
		}
	})
	b.Run("json", func(b *testing.B) {
		b.SetBytes(int64(len(record)))
		for b.Loop() {
			v.JSON(record)
		}
	})
	b.Run("stream", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			s := v.Stream()
			for at := 0; at < len(text); at += 5 {
				s.Next(text[at:min(at+5, len(text))])
			}
		}
	})
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			secret.New(map[string]string{"OPENAI_API_KEY": fakeKey("sk-", 48), "TOKEN": fakeKey("", 32), "GATEWAY": "https://me:" + fakeKey("", 20) + "@h.test/v1"})
		}
	})
}

// prose returns a text of words in random order, which branch predictors cannot learn.
func prose(size int) string {
	words := strings.Fields(`it is 10:42 and checkout slow: "p99" of 2,300 ms at https://shop.example.com/cart?id=7; then the order 1017 was paid, ` +
		`customers ask for returned items within {"status": "late", "days": 14} a Monday, (see table) Total=4,210.55 EUR - no errors in log/app-3.txt`)
	rnd := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(words[rnd.IntN(len(words))])
		b.WriteString([]string{" ", " ", " ", " ", " ", " ", " ", "\n"}[rnd.IntN(8)])
	}
	return b.String()
}
