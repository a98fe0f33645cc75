package bedrock_test

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/aws/smithy-go/eventstream"

	"github.com/pexctl/pex/engine/enginetest"
)

// frame encodes an event in the binary framing of AWS.
func frame(kind, name string, payload any) []byte {
	text, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	return rawFrame(kind, name, text)
}

// rawFrame encodes an event with any payload.
func rawFrame(kind, name string, text []byte) []byte {
	m := eventstream.Message{Payload: text}
	m.Headers.Set(":"+kind+"-type", eventstream.StringValue(name))
	m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
	m.Headers.Set(":message-type", eventstream.StringValue(kind))
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func event(name string, payload any) []byte { return frame("event", name, payload) }

func delta(index int, d any) []byte {
	return event("contentBlockDelta", map[string]any{"contentBlockIndex": index, "delta": d, "p": "abcdefgh"})
}

// frames encodes the events of a reply: text by words, calls in pieces, the stop reason, usage.
func frames(x enginetest.Response) [][]byte {
	out := [][]byte{event("messageStart", map[string]string{"role": "assistant"})}
	for _, word := range strings.SplitAfter(x.Reply.Text, " ") {
		out = append(out, delta(0, map[string]string{"text": word}))
	}
	out = append(out, event("contentBlockStop", map[string]int{"contentBlockIndex": 0}))
	out = append(out, pieces(x)...)
	out = append(out, event("messageStop", map[string]string{"stopReason": stopReason(x.Reply.Stop)}))
	return append(out, event("metadata", map[string]any{
		"usage": usage(x.Reply.Usage), "metrics": map[string]int{"latencyMs": 1}, "trace": trace(x.Reply.Model),
	}))
}

// pieces encodes the tool calls of a reply, each in five pieces.
func pieces(x enginetest.Response) [][]byte {
	var rounds [5][][]byte
	for i, c := range x.Reply.Calls {
		args, n := string(c.Args), i+1
		half := len(args) / 2
		input := func(s string) []byte { return delta(n, map[string]any{"toolUse": map[string]string{"input": s}}) }
		rounds[0] = append(rounds[0], event("contentBlockStart", map[string]any{
			"contentBlockIndex": n, "start": map[string]any{"toolUse": map[string]string{"toolUseId": c.ID, "name": c.Name}},
		}))
		rounds[1] = append(rounds[1], input(args[:half]))
		rounds[2] = append(rounds[2], input(""))
		rounds[3] = append(rounds[3], input(args[half:]))
		rounds[4] = append(rounds[4], event("contentBlockStop", map[string]int{"contentBlockIndex": n}))
	}
	var out [][]byte
	if x.Interleave {
		for _, round := range rounds {
			out = append(out, round...)
		}
		return out
	}
	for i := range x.Reply.Calls {
		for _, round := range rounds {
			out = append(out, round[i])
		}
	}
	return out
}
