package enginetest

import (
	"cmp"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httprecord"
)

// Provider is a provider in a conversation with a server that is no fake of the
// test's: a recorded one, a mock of the vendor's API, or the service itself.
type Provider struct {
	Name string // its folder below testdata/exchanges, and the PROVIDER of make record

	// Build makes a model that sends its requests through server (nil = by the
	// process's transport). Options that a scenario wants are set by its name:
	// for "thinking" a model that is asked to think, for "cache" one that caches.
	Build func(s model.Settings, server http.RoundTripper, scenario string) (model.Model, error)

	BaseURL  string            // of the service; "" = the provider knows it
	Model    string            // asked for at the service
	Thinking string            // the same for what needs a model that thinks
	Key      string            // environment variable with the key for the service; "" = it asks for none
	Env      map[string]string // other variables that it reads, with what they hold where nobody looks at them
	Skip     map[string]string // scenarios that it has no means for, and why
}

// LiveServer is a server to talk to.
type LiveServer struct {
	BaseURL  string
	Model    string // "" = the subject's
	Thinking string // "" = the subject's
	Noise    bool   // its model has random weights: what it says has a form and no meaning
}

// MockKey is the key that is sent where no service checks it. A mock is told
// to take no other.
const MockKey = "the-key-of-nobody"

// The environment of a test that records (make record sets it).
const (
	recordVar = "PEX_RECORD"       // name of the Subject
	urlVar    = "PEX_RECORD_URL"   // a server that takes the place of the service; with a path, it is the base_url
	fromVar   = "PEX_RECORD_FROM"  // who answers there, in a word or two; "" = the service
	modelVar  = "PEX_RECORD_MODEL" // the model there, for every scenario
	noiseVar  = "PEX_RECORD_NOISE" // set = its weights are random
)

// ExchangeSuite plays the recorded exchanges below testdata/exchanges/NAME to a
// provider: one file a scenario. With the provider's name in PEX_RECORD they
// are recorded again instead, from the service whose key is in the environment,
// or from the server at PEX_RECORD_URL. A file that came from somewhere else is
// then left alone, unless it is the service that answers.
func ExchangeSuite(t *testing.T, p Provider) {
	name := os.Getenv(recordVar)
	recording := name == p.Name
	if name != "" && !recording {
		t.Skipf("%s is recorded", name)
	}
	if recording && os.Getenv(fromVar) == "" && p.Key != "" && os.Getenv(p.Key) == "" {
		t.Fatalf("to record %s the service wants a key in %s (FROM=aimock records a mock of it)", p.Name, p.Key)
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			path := filepath.Join("testdata", "exchanges", p.Name, s.name+".txtar")
			switch why := p.Skip[s.name]; {
			case why != "":
				if _, err := os.Stat(path); err == nil {
					t.Errorf("%s is skipped (%s) and has a recording", path, why)
				}
				t.Skip(why)
			case recording:
				record(t, p, s, path)
			default:
				play(t, p, s, path)
			}
		})
	}
	if !recording {
		checkNoStrayFiles(t, p.Name)
	}
}

// LiveExchanges has the conversations of ExchangeSuite with a server.
func LiveExchanges(t *testing.T, p Provider, at LiveServer) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			if why := p.Skip[s.name]; why != "" {
				t.Skip(why)
			}
			run(t, p, s, nil, at, p.settings(false))
		})
	}
}

// play runs a scenario against its recording.
func play(t *testing.T, p Provider, s scenario, path string) {
	r, err := httprecord.Read(path)
	if err != nil {
		t.Fatalf("%v (make record PROVIDER=%s records it; Skip says why there can be none)", err, p.Name)
	}
	player := httprecord.NewPlayer(t, r)
	run(t, p, s, player, LiveServer{BaseURL: r.BaseURL, Model: r.Model, Thinking: r.Model, Noise: r.Noise}, p.settings(false))
	player.Done()
}

// record runs a scenario against a server and, when it passed, writes its file.
func record(t *testing.T, p Provider, s scenario, path string) {
	from := cmp.Or(os.Getenv(fromVar), p.Name+", the service itself")
	if old, err := httprecord.Read(path); err == nil && os.Getenv(fromVar) != "" && shortName(old.Origin) != shortName(from) {
		t.Skipf("%s came from %s and stays", path, old.Origin)
	}
	at := LiveServer{BaseURL: p.BaseURL, Model: os.Getenv(modelVar), Thinking: os.Getenv(modelVar), Noise: os.Getenv(noiseVar) != ""}
	server := http.RoundTripper(http.DefaultTransport)
	if there := os.Getenv(urlVar); there != "" {
		u, err := url.Parse(there)
		if err != nil || u.Host == "" {
			t.Fatalf("%s is no address: %s", urlVar, there)
		}
		if u.Path != "" {
			at.BaseURL = u.Scheme + "://" + shortName(from) + ".test" + u.Path
		}
		server = httprecord.Route(server, u)
	}
	settings := p.settings(os.Getenv(fromVar) == "") // nobody else is shown a key
	recorder := httprecord.NewRecorder(server)
	model := run(t, p, s, recorder, at, settings)
	if t.Failed() {
		t.Fatalf("%s is not written", path)
	}
	recorded, err := recorder.Recording(httprecord.Recording{
		Origin: from, Date: time.Now().UTC().Format(time.DateOnly),
		BaseURL: at.BaseURL, Model: model, Noise: at.Noise,
	}, p.secrets(settings))
	if err != nil {
		t.Fatal(err)
	}
	changed, err := recorded.Write(path)
	if err != nil {
		t.Fatal(err)
	}
	if changed {
		t.Logf("wrote %s", path)
	}
}

// shortName is who answered, without a version.
func shortName(origin string) string {
	first, _, _ := strings.Cut(origin, " ")
	return strings.ToLower(first)
}

// settings are an llm's without a server: with the keys of the environment
// where they are real.
func (p Provider) settings(real bool) model.Settings {
	env := func(name string) string {
		switch v := os.Getenv(name); {
		case real && v != "":
			return v
		case name == p.Key:
			return MockKey
		}
		return p.Env[name]
	}
	return model.Settings{Name: "main", APIKey: env(p.Key), Timeout: 2 * time.Minute, Env: env}
}

// secrets are the values that no file may hold.
func (p Provider) secrets(s model.Settings) map[string]string {
	out := map[string]string{"key": s.APIKey}
	for name, plain := range p.Env {
		if v := s.Env(name); v != plain {
			out[name] = v
		}
	}
	return out
}

// checkNoStrayFiles complains of recordings that nothing plays.
func checkNoStrayFiles(t *testing.T, name string) {
	files, err := filepath.Glob(filepath.Join("testdata", "exchanges", name, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if findScenario(strings.TrimSuffix(filepath.Base(f), ".txtar")) == nil {
			t.Errorf("%s is of no scenario: nothing plays it", f)
		}
	}
}
