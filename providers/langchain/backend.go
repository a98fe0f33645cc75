package langchain

import (
	"net/http"
	"net/url"

	"github.com/tmc/langchaingo/llms"

	"github.com/pexctl/pex/engine"
)

// backend is one of langchaingo's clients, with what it loses.
type backend struct {
	name string
	base string // where its server is, unless base_url says otherwise
	key  string // the variable that a key usually stands in; "" = none is needed
	most int    // tokens that a reply has at most where a request does not say; 0 = not known

	// path is where a model is asked, below the base.
	path func(p place) (string, error)
	// client makes langchaingo's client, for each attempt: some write to
	// themselves. Its requests go through the door, wherever it thinks that its
	// server is; it is given neither a key nor an address of ours.
	client func() (llms.Model, error)

	fields fields
	// patch puts into a body what has no field in fields; nil = nothing.
	patch func(req *engine.Request, body map[string]any)
	// sign puts the key into a request; nil = as a bearer's token.
	sign func(key string, r *http.Request)
	// read reads an answer; what is none is a *engine.ModelError.
	read func(answer []byte, into *draft) error
	// spared are fields of an answer that the client neither needs nor bears.
	spared []string
	// event reads one event of a stream; nil = the client does not stream.
	event func(data []byte, into *draft) error
}

// place is what an address is made of.
type place struct{ model, account, inference string }

// unused stands where a client wants a word that is not sent: it would look
// for one in the environment else.
const unused = "unused"

// nowhere is the server of clients that want one.
var nowhere = &url.URL{Scheme: "https", Host: "langchaingo.invalid"}

// backends are those there are, by name.
var backends = []*backend{cloudflareBackend, ernieBackend, huggingfaceBackend, llamafileBackend, maritacaBackend}

// find gives the backend of a name, nil where there is none.
func find(name string) *backend {
	for _, b := range backends {
		if b.name == name {
			return b
		}
	}
	return nil
}

// fields are the names that parameters have in a backend's requests; "" = it
// has no such field.
type fields struct{ model, temperature, topP, seed, most, stop string }

// put sets the fields of a body, and takes out those that are unset.
func (f fields) put(p engine.Params, body map[string]any) {
	set(body, f.model, p.Model, p.Model != "")
	set(body, f.temperature, p.Temperature, p.Temperature != nil)
	set(body, f.topP, p.TopP, p.TopP != nil)
	set(body, f.seed, p.Seed, p.Seed != nil)
	set(body, f.most, p.MaxOutputTokens, p.MaxOutputTokens > 0)
	set(body, f.stop, p.Stop, len(p.Stop) > 0)
}

func set(body map[string]any, name string, value any, wanted bool) {
	switch {
	case name == "":
	case wanted:
		body[name] = value
	default:
		delete(body, name)
	}
}
