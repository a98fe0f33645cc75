package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/mcp"
)

// rawServers are servers that write their lines literally. answers replaces the default reply to a method. asks, if
// set, is sent before the result of a call, and the client's reply to it becomes the result.
var rawServers = map[string]struct {
	answers map[string]string
	asks    string // in a call
	want    string // of a call, or of its error
}{
	"an argument of a prompt is null":  {answers: map[string]string{"prompts/list": `{"prompts":[null,{"name":"p","arguments":[null]}]}`}, want: "fine"},
	"a tool is null":                   {answers: map[string]string{"tools/list": `{"tools":[null,` + plainTool + `]}`}, want: "fine"},
	"a resource is null":               {answers: map[string]string{"resources/list": `{"resources":[null]}`}, want: "fine"},
	"a request of a round is null":     {answers: map[string]string{"tools/call": `{"resultType":"input_required","inputRequests":{"q":null}}`}, want: "malformed"},
	"a message in a round is null":     {answers: map[string]string{"tools/call": `{"resultType":"input_required","inputRequests":{"q":{"method":"sampling/createMessage","params":{"messages":[null]}}}}`}, want: "cannot be answered: only messages with a single text"},
	"it always replies with requests":  {answers: map[string]string{"tools/call": `{"resultType":"input_required","inputRequests":{"q":{"method":"roots/list","params":{}}}}`}, want: "with requests 10 times in a row"},
	"a block of content is unknown":    {answers: map[string]string{"tools/call": `{"content":[{"type":"hologram"}]}`}, want: "the server replied, but the reply cannot be decoded"},
	"an image is not in base64":        {answers: map[string]string{"tools/call": `{"content":[{"type":"image","data":"x"}]}`}, want: "the reply cannot be decoded"},
	"a block of content is null":       {answers: map[string]string{"tools/call": `{"content":[null]}`}, want: "the reply cannot be decoded"},
	"it is always busy":                {answers: map[string]string{"tools/call": `{"resultType":"input_required","inputRequests":{}}`}, want: "the server is busy"},
	"a message for the llm is null":    {asks: `{"method":"sampling/createMessage","params":{"messages":[null],"maxTokens":5}}`, want: "malformed"},
	"a question has no parameters":     {asks: `{"method":"elicitation/create"}`, want: "malformed"},
	"a notification has no parameters": {asks: `{"method":"notifications/elicitation/complete"}`, want: "fine"},
}

const plainTool = `{"name":"t","inputSchema":{"type":"object"}}`

// runRawServer runs an entry of rawServers.
func runRawServer(name string) {
	row := rawServers[name]
	result := func(method, version string) string {
		switch own, ok := row.answers[method]; {
		case ok:
			return own
		case method == "initialize":
			return `{"protocolVersion":"` + version + `","capabilities":{"tools":{},"resources":{},"prompts":{}},"serverInfo":{"name":"raw","version":"1"}}`
		}
		return map[string]string{
			"tools/list": `{"tools":[` + plainTool + `]}`, "tools/call": `{"content":[{"type":"text","text":"fine"}]}`,
			"prompts/list": `{"prompts":[]}`, "resources/list": `{"resources":[]}`, "resources/templates/list": `{"resourceTemplates":[null]}`,
		}[method]
	}
	var call json.RawMessage // the call that waits for the client's reply
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Error  json.RawMessage `json:"error"`
			Params struct {
				Version string `json:"protocolVersion"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		asking := strings.TrimPrefix(row.asks, "{")
		switch {
		case m.Method == "":
			fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":%q}]}}\n", call, m.Error)
			continue
		case m.Method == "tools/call" && strings.Contains(asking, "notifications/"):
			fmt.Println(`{"jsonrpc":"2.0",` + asking)
		case m.Method == "tools/call" && asking != "":
			call = m.ID
			fmt.Println(`{"jsonrpc":"2.0","id":"q",` + asking)
			continue
		}
		if body := result(m.Method, m.Params.Version); body != "" {
			fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", m.ID, body)
			continue
		}
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,\"message\":\"no\"}}\n", m.ID)
	}
}

// runPagingServer runs a server with an endless list of tools.
func runPagingServer(of string) {
	var size, each, page int
	if _, err := fmt.Sscanf(of, "%d:%d", &size, &each); err != nil {
		os.Exit(2)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version string `json:"protocolVersion"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		body := `{"protocolVersion":"` + m.Params.Version + `","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`
		switch m.Method {
		case "initialize":
		case "tools/list":
			page++
			var tools []string
			for i := range each {
				tools = append(tools, fmt.Sprintf(`{"name":"t%d_%d","description":%q,"inputSchema":{"type":"object"}}`, page, i, strings.Repeat("d", size)))
			}
			body = fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, strings.Join(tools, ","), page)
		default:
			fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,\"message\":\"no\"}}\n", m.ID)
			continue
		}
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", m.ID, body)
	}
}

func TestMalformedMessagesDoNotCrash(t *testing.T) {
	for name, row := range rawServers {
		t.Run(name, func(t *testing.T) {
			set := child(t, "raw:"+name, func(c *mcp.Config, _ *tool.Settings) {
				c.Prompts, c.Resources, c.Sampling = []string{"*"}, true, &mcp.Sample{}
			})
			sample := func(context.Context, []model.Message, int) (*model.Reply, error) {
				return &model.Reply{Text: "x"}, nil
			}
			for _, one := range []string{"list_resources", "t"} {
				out, err := find(t, set, one).Call(context.Background(), &tool.Call{Args: []byte(`{}`), Sample: sample})
				reply := fmt.Sprint(err)
				if err == nil {
					reply = out.Text
				}
				if one == "t" && !strings.Contains(reply, row.want) {
					t.Errorf("reply %q, want %q", reply, row.want)
				}
				if one != "t" && reply != "the server has no resources" {
					t.Errorf("list_resources: %q", reply)
				}
			}
		})
	}
}

func TestListingIsLimited(t *testing.T) {
	for _, tc := range []struct {
		name, mode string
		tools      int
		warning    string
		warnings   int
	}{
		{"definitions that are too long, page by page", "pages:1000000:1", 0, "exceed 33554432 bytes", 35},
		{"long definitions, page by page", "pages:200000:10", 20, "exceed 4194304 bytes", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if testing.Short() && tc.tools == 0 {
				t.Skip("35 MB of JSON, read by one goroutine")
			}
			l, err := child(t, tc.mode, nil).List(context.Background(), &tool.Call{})
			if err != nil {
				t.Fatal(err)
			}
			if len(l.Tools) != tc.tools || len(l.Warnings) != tc.warnings || !strings.Contains(l.Warnings[len(l.Warnings)-1], tc.warning) {
				t.Errorf("%d tools, %d warnings, the last: %q", len(l.Tools), len(l.Warnings), l.Warnings[len(l.Warnings)-1])
			}
		})
	}
}

func TestUnmatchedNamesAreReported(t *testing.T) {
	set := child(t, "plain", func(c *mcp.Config, _ *tool.Settings) {
		c.Resources = true
		c.Include = []string{"ehco", "ec*", "zz*", "list_resources"}
		c.Exclude = []string{"fial", "fail", "danger_*"}
	})
	_, l := list(t, set)
	want := []string{
		`include: "ehco" matches no tool of the server`,
		`include: "zz*" matches no tool of the server`,
		`exclude: "fial" matches no tool of the server`,
	}
	if diff := cmp.Diff(want, l.Warnings); diff != "" {
		t.Error(diff)
	}
}
