package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/secret"
)

// searched has short values, for small windows, and values with gaps.
var searched = secret.New(map[string]string{
	"KEY": "s3cr3t-value", "SPACED": "pa ss\nwo rd=1", "SHORT": "q7n\\nt2", "URL": "https://me:letm3in!now@h.test/?k=zz91=kk",
})

// pieces returns parts of values for texts that nearly contain a value.
func pieces() []string {
	out := []string{" ", "\n", "\r\n", "\t", `\n`, `\t`, `\\`, `\`, "=", "=\n", `=\n`, "n", "t", "r", "\x00", "é", "words of others "}
	for _, value := range []string{"s3cr3t-value", "pa ss\nwo rd=1", "passwordwo", "q7n\\nt2", "letm3in!now", "zz91=kk"} {
		b64 := base64.StdEncoding.EncodeToString([]byte("x" + value + "yz"))
		for _, form := range []string{value, b64, hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value)))} {
			half := len(form) / 2
			out = append(out, form, form[:half], form[half:], form[1:], form[:len(form)-1], form[half:half+2])
		}
	}
	return out
}

// scattered returns a text of pieces, some of them split by gaps.
func scattered(rnd *rand.Rand, from []string) string {
	gaps := []string{" ", "\n", "\r\n", `\n`, "=\n", `=\r\n`, "\t ", `\t`, "=", `\`}
	var b strings.Builder
	for range 1 + rnd.IntN(8) {
		piece := from[rnd.IntN(len(from))]
		if rnd.IntN(3) > 0 {
			b.WriteString(piece)
			continue
		}
		gap, every := gaps[rnd.IntN(len(gaps))], 1+rnd.IntN(9)
		for at := 0; at < len(piece); at += every {
			b.WriteString(piece[at:min(at+every, len(piece))])
			b.WriteString(gap)
		}
	}
	return b.String()
}

// checkSearch compares a search with SlowText.
func checkSearch(t *testing.T, s string) (found bool) {
	t.Helper()
	want, found := searched.SlowText(s)
	if got, ok := searched.Text(s); got != want || ok != found {
		t.Fatalf("%q became %q, want %q", s, got, want)
	}
	stream := searched.Stream()
	shown := ""
	for at := 0; at < len(s); at += 3 {
		shown += stream.Next(s[at:min(at+3, len(s))])
	}
	if shown += stream.Flush(); shown != want && !found {
		t.Fatalf("%q was shown as %q", s, shown)
	}
	return found
}

func TestSearchAgreesWithSlowSearch(t *testing.T) {
	rnd, from, found := rand.New(rand.NewPCG(1, 2)), pieces(), 0
	const texts = 20_000
	for range texts {
		if checkSearch(t, scattered(rnd, from)) {
			found++
		}
	}
	if found < texts/10 || found > texts*9/10 {
		t.Errorf("only %d of %d texts contain a value", found, texts)
	}
}

// FuzzSearch compares the search with SlowText.
func FuzzSearch(f *testing.F) {
	rnd, from := rand.New(rand.NewPCG(3, 4)), pieces()
	for range 50 {
		f.Add(scattered(rnd, from))
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkSearch(t, s)
	})
}
