package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/secret"
)

const value = `p@ss"w/o+rd é\1`

var values = secret.New(map[string]string{"KEY": value, "OTHER": "s3cr3t-value", "LONG": "s3cr3t-value-and-more", "PIN": "1234", "CODE": "90210417", "NONE": "", "LINE": "  trimmed!\n"})

func quoted(t testing.TB, s string, html bool) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

func TestValueIsFoundInEveryEncoding(t *testing.T) {
	b64, raw := base64.StdEncoding, base64.RawURLEncoding
	for _, tt := range []struct{ name, text string }{
		{"as it is", "the key is " + value + "."},
		{"twice", value + value},
		{"JSON", `{"a":` + quoted(t, value, false) + `}`},
		{"JSON with HTML escapes", quoted(t, value, true)},
		{"JSON within JSON", quoted(t, quoted(t, value, false), false)},
		{"JSON in ASCII", `"p@ss\"w/o+rd \u00e9\\1"`},
		{"JSON of PHP", `"p@ss\"w\/o+rd \u00e9\\1"`},
		{"query", "https://x.test/?q=" + url.QueryEscape(value)},
		{"path", "https://x.test/" + url.PathEscape(value) + "/a"},
		{"browser", "p%40ss%22w%2Fo%2Brd%20%C3%A9%5C1"},
		{"JSON with escapes in upper case", `"p@ss\"w/o+rd \u00E9\\1"`},
		{"a quoted string of Go", strconv.Quote(value)},
		{"the user of an address", (&url.URL{Scheme: "https", Host: "h.test", User: url.User(value)}).String()},
		{"the path of an address", (&url.URL{Scheme: "https", Host: "h.test", Path: "/" + value}).String()},
		{"HTML", html.EscapeString(value)},
		{"HTML of others", strings.ReplaceAll(html.EscapeString(value), "&#34;", "&quot;")},
		{"lower case escapes", "p%40ss%22w%2fo%2brd%20%c3%a9%5c1"},
		{"base64", b64.EncodeToString([]byte(value))},
		{"base64 within a user and password", b64.EncodeToString([]byte("me:" + value))},
		{"base64, shifted by one", b64.EncodeToString([]byte("m" + value + "!"))},
		{"base64, shifted by two", b64.EncodeToString([]byte("me" + value + "and more"))},
		{"base64 of URLs, without padding", raw.EncodeToString([]byte(value))},
		{"base64 of URLs, shifted", raw.EncodeToString([]byte("??" + value + "??"))},
		{"hex", hex.EncodeToString([]byte(value))},
		{"HEX", "0x" + strings.ToUpper(hex.EncodeToString([]byte(value)))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clean, found := values.Text(tt.text)
			if !found || !strings.Contains(clean, "[redacted KEY]") || values.NameOf(clean) != "" {
				t.Errorf("%s became %s", tt.text, clean)
			}
		})
	}
}

func TestOnlyTheValueIsReplaced(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "a text without", "a text without"},
		{"in the middle", "a " + value + " b", "a [redacted KEY] b"},
		{"two of them", value + "s3cr3t-value", "[redacted KEY][redacted OTHER]"},
		{"one within another", "<s3cr3t-value-and-more>", "<[redacted LONG]>"},
		{"too short to be looked for", "1234", "1234"},
		{"without the line end of its file", "trimmed!", "[redacted LINE]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, found := values.Text(tt.text); got != tt.want || found != (got != tt.text) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	if got := values.Short(); !slices.Equal(got, []string{"PIN"}) {
		t.Errorf("short: %q", got)
	}
}

func TestNilValuesFindNothing(t *testing.T) {
	var none *secret.Values
	clean, found := none.Text(value)
	if pieces, hit := none.Segments([]string{value}); clean != value || found || hit || pieces[0] != value || none.NameOf(value) != "" || none.Short() != nil {
		t.Error("found something")
	}
}

// The result is the same for any split into segments.
func TestValueIsFoundAcrossSegments(t *testing.T) {
	text := "a " + value + " b " + value + " c"
	for i := range len(text) {
		for j := i; j <= len(text); j++ {
			pieces := []string{text[:i], text[i:j], text[j:]}
			clean, found := values.Segments(pieces)
			if got := strings.Join(clean, ""); !found || len(clean) != 3 || got != "a [redacted KEY] b [redacted KEY] c" {
				t.Fatalf("%q became %q", pieces, clean)
			}
		}
	}
	whole := []string{"before ", value, " after"}
	if clean, _ := values.Segments(whole); !slices.Equal(clean, []string{"before ", "[redacted KEY]", " after"}) {
		t.Errorf("neighbours were touched: %q", clean)
	}
}

func TestRedactedJSONStaysValid(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"nothing", `{"a":[1, true,null,"x"]}`, `{"a":[1, true,null,"x"]}`},
		{"a string", `{"a":` + quoted(t, value, false) + `,"n":1.50}`, `{"a":"[redacted KEY]","n":1.50}`},
		{"a name", `{"s3cr3t-value":1}`, `{"[redacted OTHER]":1}`},
		{"a number", `{"a":90210417,"b":7}`, `{"a":"[redacted CODE]","b":7}`},
		{"what surrounds it", `["\"<s3cr3t-value>\u00e9"]`, `["\"<[redacted OTHER]>\u00e9"]`},
		{"JSON within JSON", quoted(t, `{"k":`+quoted(t, value, false)+`}`, false), `"{\"k\":\"[redacted KEY]\"}"`},
		{"escapes of others", `["\u003c\ud83d\udd11\/\ud83ds3cr3t-value\ud83d\u00e9\n<"]`, `["\u003c\ud83d\udd11\/\ud83d[redacted OTHER]\ud83d\u00e9\n<"]`},
		{"escapes nobody needs", `["\u0073\u0033cr3t-value"]`, `["[redacted OTHER]"]`},
		{"a text", "no JSON: s3cr3t-value", "no JSON: [redacted OTHER]"},
		{"empty", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, found := values.JSON([]byte(tt.body))
			if string(got) != tt.want || found != (tt.body != tt.want) {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func FuzzRedactedJSONStaysValid(f *testing.F) {
	f.Add(`{"a":"s3cr3t-value","b":[90210417,"\u0073\u0033cr3t-value"]}`)
	f.Add(`"\\"`)
	f.Fuzz(func(t *testing.T, body string) {
		clean, found := values.JSON([]byte(body))
		if json.Valid([]byte(body)) && !json.Valid(clean) {
			t.Fatalf("%q became %q", body, clean)
		}
		if !found && string(clean) != body {
			t.Fatalf("%q became %q although nothing was found", body, clean)
		}
		secret.InJSON(clean)
	})
}

func TestFoldersAreReplacedByNames(t *testing.T) {
	v := values.Folder("/home/ana/shop/", "root").Folder("/home/ana/shop/out", "out").Folder("/", "all").Folder("not/absolute", "no")
	for _, tt := range []struct{ name, text, want string }{
		{"as it is", "/home/ana/shop", "<root>"},
		{"what is below", "in /home/ana/shop/data.", "in <root>/data."},
		{"at the end of a sentence", "It is /home/ana/shop.", "It is <root>."},
		{"another folder's name", "/home/ana/shop2 /home/ana/shop-old /home/ana/shop.git /mnt/home/ana/shop_x", "/home/ana/shop2 /home/ana/shop-old /home/ana/shop.git /mnt/home/ana/shop_x"},
		{"within another path", "x/home/ana/shop and 2/home/ana/shop", "x/home/ana/shop and 2/home/ana/shop"},
		{"the inner folder", "/home/ana/shop/out/a", "<out>/a"},
		{"in JSON", `{"dir":"/home/ana/shop","log":"a\n/home/ana/shop/x"}`, `{"dir":"<root>","log":"a\n<root>/x"}`},
		{"in JSON within JSON", `{"log":"{\"a\":\"x\\n/home/ana/shop\"}"}`, `{"log":"{\"a\":\"x\\n<root>\"}"}`},
		{"beside a secret", "/home/ana/shop/s3cr3t-value", "<root>/[redacted OTHER]"},
		{"nothing", "/ not/absolute", "/ not/absolute"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := v.Text(tt.text)
			if strings.HasPrefix(tt.text, "{") {
				clean, _ := v.JSON([]byte(tt.text))
				got = string(clean)
			}
			if got != tt.want {
				t.Errorf("%s became %s, want %s", tt.text, got, tt.want)
			}
			if clean, _ := v.Text(got); clean != got {
				t.Errorf("again it became %s", clean)
			}
		})
	}
	if v.NameOf("/home/ana/shop") != "" || v.NameOf("/home/ana/shop s3cr3t-value") != "OTHER" {
		t.Error("a folder was reported as a secret")
	}
	if clean, _ := values.Text("/home/ana/shop"); clean != "/home/ana/shop" {
		t.Error("Folder changed its receiver")
	}
	var none *secret.Values
	if clean, found := none.Folder("/a/b", "x").Text("/a/b/c"); !found || clean != "<x>/c" {
		t.Errorf("without secrets: %s", clean)
	}
}

// Wrapped, spaced and escaped values are found in texts and in streams.
func TestValueIsFoundWrappedAndEscaped(t *testing.T) {
	const value = "s3cr3t-value-of-40-characters-9f8e7d6c5b4a"
	v := secret.New(map[string]string{"KEY": value})
	each := func(format string) string {
		var b strings.Builder
		for i := range len(value) {
			fmt.Fprintf(&b, format, value[i])
		}
		return b.String()
	}
	folded := func(s string, width int, mark string) string {
		var lines []string
		for len(s) > width {
			lines, s = append(lines, s[:width]), s[width:]
		}
		return strings.Join(append(lines, s), mark)
	}
	for name, text := range map[string]string{
		"base64 of env, wrapped": folded(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("A=b;", 11)+"KEY="+value+"\nB=c\n")), 76, "\n"),
		"folded":                 folded(value, 20, "\n"),
		"od -An -tx1":            folded(each(" %02x"), 48, "\n"),
		"hex in pairs":           folded(hex.EncodeToString([]byte(value)), 4, " "),
		"JSON escapes":           each("\\u%04x"),
		"HTML escapes":           each("&#%d;"),
		"HTML escapes in hex":    each("&#x%x;"),
		"percent escapes":        each("%%%02X"),
		"hex escapes":            each("\\x%02x"),
		"octal escapes":          each("\\%03o"),
		"quoted-printable":       folded(value, 30, "=\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			clean, found := v.Text("before " + text + " after")
			if !found || clean != "before [redacted KEY] after" && !strings.Contains(clean, "[redacted KEY]") {
				t.Errorf("%q became %q", text, clean)
			}
			body, err := json.Marshal(map[string]string{"out": text})
			if err != nil {
				t.Fatal(err)
			}
			if clean, found := v.JSON(body); !found || !json.Valid(clean) {
				t.Errorf("%s became %s", body, clean)
			}
			s := v.Stream()
			shown := ""
			for i := range len(text) {
				shown += s.Next(text[i : i+1])
			}
			if shown += s.Flush(); !strings.Contains(shown, "[redacted KEY]") {
				t.Errorf("streamed %q became %q", text, shown)
			}
		})
	}
	if got, found := v.Text("s3cr3t value of 40 characters and\nother words"); found {
		t.Errorf("found in %q", got)
	}
}
