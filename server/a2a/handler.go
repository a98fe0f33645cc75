package a2a

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/log"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/jsonbody"
	"github.com/pexctl/pex/server/problem"
)

// Protocol is the name of the protocol in the key expose of a server file.
const Protocol = "a2a"

// wellKnown is the path of a card, from the root of a server or below an agent.
const wellKnown = "/.well-known/agent-card.json"

// pingInterval is how long a stream may be silent.
const pingInterval = 15 * time.Second

// Paths returns the paths of the protocol.
func Paths() []string { return []string{"/a2a/", wellKnown} }

// Options configure the handler.
type Options struct {
	Access  *access.Server
	MaxBody int64 // bytes of a request body; 0 = jsonbody.MaxBody
	// NeedToken says that clients must send a bearer token. Cards say so.
	NeedToken bool
}

// New returns the handler of Paths.
func New(o Options) http.Handler {
	s := &server{o}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+wellKnown, s.onlyCard)
	mux.HandleFunc("GET /a2a/{agent}"+wellKnown, s.of(s.card))
	mux.HandleFunc("POST /a2a/{agent}", s.of(s.rpc))
	mux.HandleFunc("/a2a/{agent}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", http.MethodPost)
		problem.Write(w, r, problem.New(problem.MethodNotAllowed, "send JSON-RPC requests with POST; the card of the agent is at %s%s", r.URL.Path, wellKnown))
	})
	mux.HandleFunc("/a2a/{agent}/{rest...}", s.of(s.rest))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		problem.Write(w, r, problem.New(problem.NotFound, "no such path"))
	})
	return mux
}

type server struct{ Options }

// of returns the handler of requests about the agent in the path.
func (s *server) of(handle func(http.ResponseWriter, *http.Request, *tasks)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, err := s.Access.Client(r.Context())
		if err != nil {
			s.Access.Fail(w, r, err)
			return
		}
		a, err := c.Exposed(auth.View, r.PathValue("agent"), Protocol)
		if err != nil {
			s.Access.Fail(w, r, err)
			return
		}
		body, bad := jsonbody.Read(w, r, s.MaxBody)
		if bad != nil {
			problem.Write(w, r, bad)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		r = r.WithContext(log.AttachLogger(r.Context(), s.Access.Log))
		handle(w, r, &tasks{server: s, client: c, agent: a, request: r, body: body})
	}
}

// rpc handles a JSON-RPC request. The name of a method tells the versions apart.
func (s *server) rpc(w http.ResponseWriter, r *http.Request, t *tasks) {
	if !isKnownVersion(r) {
		reply(w, errorObject{-32009, "the header A2A-Version must be 1.0 or 0.3"}, nil)
		return
	}
	var request struct {
		Version json.RawMessage `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  json.RawMessage `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	if json.Unmarshal(t.body, &request) != nil || string(request.Version) != `"2.0"` || !isID(request.ID) || !starts(request.Method, '"') {
		id := request.ID
		if !isID(id) {
			id = nil
		}
		reply(w, errorObject{-32600, `a request must be one object with "jsonrpc": "2.0", an id (a string or a number) and a method`}, id)
		return
	}
	if len(request.Params) > 0 && !starts(request.Params, '{') {
		reply(w, errorObject{-32602, "params must be an object"}, request.ID)
		return
	}
	options := []a2asrv.TransportOption{a2asrv.WithTransportKeepAlive(pingInterval)}
	if strings.Contains(string(request.Method), "/") { // message/send
		a2av0.NewJSONRPCHandler(t, options...).ServeHTTP(w, r)
		return
	}
	a2asrv.NewJSONRPCHandler(t, options...).ServeHTTP(w, r)
}

func starts(value json.RawMessage, with byte) bool { return len(value) > 0 && value[0] == with }

// isID reports whether a value can be the id of a request.
func isID(id json.RawMessage) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

func isKnownVersion(r *http.Request) bool {
	switch r.Header.Get("A2A-Version") {
	case "", "1.0", "0.3", "0.3.0":
		return true
	}
	return false
}

type errorObject struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// response is the response to a JSON-RPC request that failed.
type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   errorObject     `json:"error"`
}

func encode(e errorObject, id json.RawMessage) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	return append(jsonvalue.Encode(response{"2.0", id, e}), '\n')
}

func reply(w http.ResponseWriter, e errorObject, id json.RawMessage) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(e, id)) // the client may be gone
}

// rest handles a request of the HTTP binding. Paths of version 0.3 start with /v1.
func (s *server) rest(w http.ResponseWriter, r *http.Request, t *tasks) {
	inner := new(http.Request)
	*inner = *r
	inner.URL = &url.URL{Path: "/" + r.PathValue("rest"), RawQuery: r.URL.RawQuery}
	path, isLegacy := strings.CutPrefix(inner.URL.Path, a2av0.RESTPathPrefix+"/")
	path, _, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !slices.Contains([]string{"message:send", "message:stream", "tasks", "extendedAgentCard", "card"}, path) {
		problem.Write(w, r, problem.New(problem.NotFound, "no such path; the card of the agent is at /a2a/%s%s", t.agent.Name, wellKnown))
		return
	}
	options := []a2asrv.TransportOption{a2asrv.WithTransportKeepAlive(pingInterval)}
	if isLegacy {
		a2av0.NewRESTHandler(t, options...).ServeHTTP(w, inner)
		return
	}
	a2asrv.NewRESTHandler(t, options...).ServeHTTP(w, inner)
}

// card responds with the card of an agent, which has the members of both versions.
func (s *server) card(w http.ResponseWriter, r *http.Request, t *tasks) {
	if r.Method != http.MethodGet {
		problem.Write(w, r, problem.New(problem.MethodNotAllowed, "get the card with GET"))
		return
	}
	a2asrv.NewAgentCardHandler(a2av0.NewStaticAgentCardProducer(cardOf(t.agent, s.Access.Origin(r), s.NeedToken))).ServeHTTP(w, r)
}

// onlyCard responds with the card of the only agent that the client may view.
func (s *server) onlyCard(w http.ResponseWriter, r *http.Request) {
	c, err := s.Access.Client(r.Context())
	if err != nil {
		s.Access.Fail(w, r, err)
		return
	}
	var found []*agents.Agent
	for _, a := range c.Agents().All() {
		if c.Can(auth.View, a) && a.Exposes(Protocol) {
			found = append(found, a)
		}
	}
	if len(found) != 1 {
		problem.Write(w, r, problem.New(problem.NotFound, "the server has %d agents; the card of each is at /a2a/AGENT%s", len(found), wellKnown))
		return
	}
	s.card(w, r, &tasks{agent: found[0]})
}
