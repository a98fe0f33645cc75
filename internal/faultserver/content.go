package faultserver

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/model"
)

// changed is a fault that changes the JSON of a good reply.
func changed(name string, o outcome, change func(string) string) fault {
	return both(name, o, func(s *stage) { s.reply(s.f.altered(s.streamed, change)) })
}

// swap replaces a reply's text by a value.
func swap(value string) func(string) string {
	return strings.NewReplacer(`"`+Answer+`"`, value, `"`+First+`"`, value).Replace
}

// count replaces each count by a value.
func count(value string) func(string) string {
	return func(s string) string { return strings.ReplaceAll(s, "7171", value) }
}

// member inserts a member before an object's others.
func member(text string) func(string) string {
	return func(s string) string { return "{" + text + "," + strings.TrimPrefix(strings.TrimSpace(s), "{") }
}

// textual matches the member with a reply's text.
var textual = regexp.MustCompile(`"(\w+)":"moss([^"]*)"`)

// contents are good replies with one invalid value.
func contents(*Format) []fault {
	bad := wrong(model.BadReply)
	out := []fault{
		changed("a number for text", bad, swap("17")),
		changed("true for text", bad, swap("true")),
		changed("an object for text", bad, swap(`{"a":["b"]}`)),
		changed("NaN for text", bad, swap("NaN")),
		changed("text without its quote", bad, swap(`"moss, in`)),
		changed("NaN beside it", maybe(model.BadReply), member(`"nan":NaN`)),
		changed("a cut surrogate", maybe(model.BadReply), func(s string) string { return strings.ReplaceAll(s, "moss", `m\ud800ss`) }),
		changed("bytes that are no UTF-8", maybe(model.BadReply), func(s string) string { return strings.ReplaceAll(s, "moss", "m\xffss") }),
	}
	for i := len(out) - 2; i < len(out); i++ {
		out[i].says = strings.Replace(Answer, "moss", "m\uFFFDss", 1)
	}
	twice := changed("a name twice", maybe(model.BadReply), func(s string) string {
		return textual.ReplaceAllString(s, `"$1":"moth$2",$0`)
	})
	twice.says, twice.either = strings.Replace(Answer, "moss", "moth", 1), true
	out = append(out, twice)
	for _, n := range []string{"123456789012345678901234567890", "9223372036854775807", "-7171", "1e400", "7171.5", `"7171"`, "[7171]", "null"} {
		out = append(out, changed("counts of "+n, maybe(model.BadReply), count(n)))
	}
	return out
}

// depths are good replies with deeply nested or very large values.
func depths() []fault {
	const depth = 10_001
	deep := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	deeper := strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
	return []fault{
		changed("a depth for text", wrong(model.BadReply), swap(deep)),
		changed("a depth of objects for text", wrong(model.BadReply), swap(deeper)),
		changed("a depth beside it", maybe(model.BadReply), member(`"deep":`+deep)),
		changed("a name ten thousand times", maybe(model.BadReply), member(strings.TrimSuffix(strings.Repeat(`"id":"x",`, 10_000), ","))),
	}
}

// shapes are responses that are not replies.
func shapes(f *Format) []fault {
	const bare = `"text"`
	bad := wrong(model.BadReply)
	worthless := wrong(model.BadReply, model.Truncated) // a stream may pass over it, and then ends
	var out []fault
	for _, body := range []string{`{"choices":[{"delta":{"content":`, "null", "[]", "17", bare, "true", "\xef\xbb\xbf{", strings.Repeat("[", 10_001)} {
		if body == bare && f.Bare {
			continue
		}
		out = append(out, apart("garbage: "+body[:min(len(body), 10)], bad, worthless, func(s *stage) {
			if s.streamed {
				s.reply(s.f.Stream.Frame(Event{JSON: body}))
				return
			}
			s.reply([]byte(body))
		}))
	}
	out = append(out,
		both("a page", bad, page),
		both("garbage without frames", worthless, func(s *stage) { s.reply([]byte(strings.Repeat("\x17\x00\xfe:\r\n", 500))) }),
	)
	var empty []Event
	if f.Stream != nil {
		empty = f.Stream.Empty
	}
	return slices.Concat(out, instead("nothing replied", bad, f.Empty, empty),
		instead("an error for a reply", wrong(model.ServerError), f.Error, f.broken(strings.Clone)))
}

// instead is a fault that sends this body, or these events, if any.
func instead(name string, o outcome, whole string, events []Event) []fault {
	out := apart(name, o, o, func(s *stage) {
		switch {
		case s.streamed && len(events) > 0:
			s.reply(s.f.Stream.frames(events))
		case !s.streamed && whole != "":
			s.reply([]byte(whole))
		default:
			s.reply(s.f.good(s.streamed))
		}
	})
	if o.kinds[0] == model.BadReply { // a stream may pass over it, and then ends
		out.stream = wrong(model.BadReply, model.Truncated)
	}
	if whole == "" {
		out.whole = right
	}
	if len(events) == 0 {
		out.stream = right
	}
	return []fault{out}
}

// crowds are replies or errors that are far too large.
func crowds(f *Format) []fault {
	const n = 10_000
	var out []fault
	if f.Calls != nil {
		var events []Event
		if f.Stream != nil {
			events = f.Stream.Calls(n)
		}
		out = instead("ten thousand calls", wrong(model.BadReply), f.Calls(n), events)
	}
	long := func(s string) string { return strings.Replace(s, "chaos", strings.Repeat("chaos ", 100_000), 1) }
	return append(out, instead("an error of 600 kB", wrong(model.ServerError), long(f.Error), f.broken(long))...)
}

// broken is a stream that ends with an error in the middle.
func (f *Format) broken(change func(string) string) []Event {
	if f.Stream == nil {
		return nil
	}
	return append(slices.Clone(f.Stream.begun()), Event{f.Stream.Error.Name, change(f.Stream.Error.JSON)})
}
