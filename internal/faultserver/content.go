package faultserver

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/model"
)

// changed is a fault that changes the JSON of a good reply.
func changed(name string, o outcome, change func(string) string) fault {
	return both(name, o, func(s *exchange) { s.reply(s.f.changedReply(s.streamed, change)) })
}

// replaceText replaces a reply's text by a value.
func replaceText(value string) func(string) string {
	return strings.NewReplacer(`"`+Answer+`"`, value, `"`+First+`"`, value).Replace
}

// replaceCounts replaces each count by a value.
func replaceCounts(value string) func(string) string {
	return func(s string) string { return strings.ReplaceAll(s, "7171", value) }
}

// addMember inserts a member before an object's others.
func addMember(text string) func(string) string {
	return func(s string) string { return "{" + text + "," + strings.TrimPrefix(strings.TrimSpace(s), "{") }
}

// textMember matches the member with a reply's text.
var textMember = regexp.MustCompile(`"(\w+)":"moss([^"]*)"`)

// invalidValues returns good replies with one invalid value.
func invalidValues(*Format) []fault {
	bad := fails(model.BadReply)
	out := []fault{
		changed("a number for text", bad, replaceText("17")),
		changed("true for text", bad, replaceText("true")),
		changed("an object for text", bad, replaceText(`{"a":["b"]}`)),
		changed("NaN for text", bad, replaceText("NaN")),
		changed("text without its quote", bad, replaceText(`"moss, in`)),
		changed("NaN in another key", mayFail(model.BadReply), addMember(`"nan":NaN`)),
		changed("half a surrogate pair", mayFail(model.BadReply), func(s string) string { return strings.ReplaceAll(s, "moss", `m\ud800ss`) }),
		changed("invalid UTF-8", mayFail(model.BadReply), func(s string) string { return strings.ReplaceAll(s, "moss", "m\xffss") }),
	}
	for i := len(out) - 2; i < len(out); i++ {
		out[i].text = strings.Replace(Answer, "moss", "m\uFFFDss", 1)
	}
	twice := changed("duplicate key", mayFail(model.BadReply), func(s string) string {
		return textMember.ReplaceAllString(s, `"$1":"moth$2",$0`)
	})
	twice.text, twice.orAnswer = strings.Replace(Answer, "moss", "moth", 1), true
	out = append(out, twice)
	for _, n := range []string{"123456789012345678901234567890", "9223372036854775807", "-7171", "1e400", "7171.5", `"7171"`, "[7171]", "null"} {
		out = append(out, changed("counts of "+n, mayFail(model.BadReply), replaceCounts(n)))
	}
	return out
}

// deepValues returns good replies with deeply nested or very large values.
func deepValues() []fault {
	const depth = 10_001
	deep := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	deeper := strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
	return []fault{
		changed("nested arrays for text", fails(model.BadReply), replaceText(deep)),
		changed("nested objects for text", fails(model.BadReply), replaceText(deeper)),
		changed("nested arrays in another key", mayFail(model.BadReply), addMember(`"deep":`+deep)),
		changed("ten thousand duplicate keys", mayFail(model.BadReply), addMember(strings.TrimSuffix(strings.Repeat(`"id":"x",`, 10_000), ","))),
	}
}

// nonReplies returns responses that are not replies.
func nonReplies(f *Format) []fault {
	const bare = `"text"`
	bad := fails(model.BadReply)
	worthless := fails(model.BadReply, model.Truncated) // a stream may skip it, and then ends early
	var out []fault
	for _, body := range []string{`{"choices":[{"delta":{"content":`, "null", "[]", "17", bare, "true", "\xef\xbb\xbf{", strings.Repeat("[", 10_001)} {
		if body == bare && f.Bare {
			continue
		}
		out = append(out, perMode("garbage: "+body[:min(len(body), 10)], bad, worthless, func(s *exchange) {
			if s.streamed {
				s.reply(s.f.Stream.Frame(Event{JSON: body}))
				return
			}
			s.reply([]byte(body))
		}))
	}
	out = append(out,
		both("an HTML page", bad, htmlPage),
		both("garbage without frames", worthless, func(s *exchange) { s.reply([]byte(strings.Repeat("\x17\x00\xfe:\r\n", 500))) }),
	)
	var empty []Event
	if f.Stream != nil {
		empty = f.Stream.Empty
	}
	return slices.Concat(out, insteadOfReply("an empty reply", bad, f.Empty, empty),
		insteadOfReply("an error instead of a reply", fails(model.ServerError), f.Error, f.broken(strings.Clone)))
}

// insteadOfReply is a fault that sends this body, or these events, if any.
func insteadOfReply(name string, o outcome, whole string, events []Event) []fault {
	out := perMode(name, o, o, func(s *exchange) {
		switch {
		case s.streamed && len(events) > 0:
			s.reply(s.f.Stream.frames(events))
		case !s.streamed && whole != "":
			s.reply([]byte(whole))
		default:
			s.reply(s.f.reply(s.streamed))
		}
	})
	if o.kinds[0] == model.BadReply { // a stream may skip it, and then ends early
		out.stream = fails(model.BadReply, model.Truncated)
	}
	if whole == "" {
		out.whole = succeeds
	}
	if len(events) == 0 {
		out.stream = succeeds
	}
	return []fault{out}
}

// manyCalls returns replies and errors that are far too large.
func manyCalls(f *Format) []fault {
	const n = 10_000
	var out []fault
	if f.Calls != nil {
		var events []Event
		if f.Stream != nil {
			events = f.Stream.Calls(n)
		}
		out = insteadOfReply("ten thousand calls", fails(model.BadReply), f.Calls(n), events)
	}
	long := func(s string) string { return strings.Replace(s, "injected", strings.Repeat("injected ", 100_000), 1) }
	return append(out, insteadOfReply("an error of 600 kB", fails(model.ServerError), long(f.Error), f.broken(long))...)
}

// broken returns a stream with an error in the middle.
func (f *Format) broken(change func(string) string) []Event {
	if f.Stream == nil {
		return nil
	}
	return append(slices.Clone(f.Stream.firstEvents()), Event{f.Stream.Error.Name, change(f.Stream.Error.JSON)})
}
