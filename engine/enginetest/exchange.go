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

// Provider is a provider to test against a real server: a recorded one, a mock of the
// vendor's API, or the service itself.
type Provider struct {
	Name string // its folder below testdata/exchanges, and the PROVIDER of make record

	// Build returns a model that sends its requests through server (nil = the default
	// transport). It sets the options that a scenario needs: "thinking" needs a model
	// with thinking enabled, "cache" one with caching enabled.
	Build func(s model.Settings, server http.RoundTripper, scenario string) (model.Model, error)

	BaseURL  string            // of the service; "" = the provider's default
	Model    string            // model to use at the service
	Thinking string            // model to use for scenarios with thinking
	Key      string            // environment variable with the key of the service; "" = none
	Env      map[string]string // other variables that it reads, with placeholder values
	Skip     map[string]string // unsupported scenarios and the reasons
}

// LiveServer is a running server.
type LiveServer struct {
	BaseURL  string
	Model    string // "" = the provider's
	Thinking string // "" = the provider's
	Noise    bool   // its model has random weights, so only the form of replies is checked
}

// MockKey is the key sent to recorded servers and mocks. Mocks accept no other.
const MockKey = "not-a-real-key"

// The environment of a test that records (make record sets it).
const (
	recordVar = "PEX_RECORD"       // name of the Subject
	urlVar    = "PEX_RECORD_URL"   // server to record instead of the service; with a path it is the base_url
	fromVar   = "PEX_RECORD_FROM"  // short name of that server; "" = the service
	modelVar  = "PEX_RECORD_MODEL" // its model, for all scenarios
	noiseVar  = "PEX_RECORD_NOISE" // set = the model has random weights
)

// ExchangeSuite replays the recorded exchanges in testdata/exchanges/NAME to a provider,
// one file per scenario. If PEX_RECORD is the provider's name, it records them instead:
// from the service whose key is in the environment, or from the server at PEX_RECORD_URL.
// Files with another origin are then kept, unless the service itself is recorded.
func ExchangeSuite(t *testing.T, p Provider) {
	name := os.Getenv(recordVar)
	recording := name == p.Name
	if name != "" && !recording {
		t.Skipf("%s is recorded", name)
	}
	if recording && os.Getenv(fromVar) == "" && p.Key != "" && os.Getenv(p.Key) == "" {
		t.Fatalf("recording %s needs a key of the service in %s (FROM=aimock records a mock instead)", p.Name, p.Key)
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			path := filepath.Join("testdata", "exchanges", p.Name, s.name+".txtar")
			switch why := p.Skip[s.name]; {
			case why != "":
				if _, err := os.Stat(path); err == nil {
					t.Errorf("%s is skipped (%s) but has a recording", path, why)
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

// LiveExchanges runs the scenarios of ExchangeSuite against a server.
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
		t.Fatalf("%v (record it with make record PROVIDER=%s, or add it to Skip)", err, p.Name)
	}
	player := httprecord.NewPlayer(t, r)
	run(t, p, s, player, LiveServer{BaseURL: r.BaseURL, Model: r.Model, Thinking: r.Model, Noise: r.Noise}, p.settings(false))
	player.Done()
}

// record runs a scenario against a server, and writes its file if the scenario passed.
func record(t *testing.T, p Provider, s scenario, path string) {
	from := cmp.Or(os.Getenv(fromVar), p.Name+", the service itself")
	if old, err := httprecord.Read(path); err == nil && os.Getenv(fromVar) != "" && shortName(old.Origin) != shortName(from) {
		t.Skipf("%s was recorded from %s and is kept", path, old.Origin)
	}
	at := LiveServer{BaseURL: p.BaseURL, Model: os.Getenv(modelVar), Thinking: os.Getenv(modelVar), Noise: os.Getenv(noiseVar) != ""}
	server := http.RoundTripper(http.DefaultTransport)
	if there := os.Getenv(urlVar); there != "" {
		u, err := url.Parse(there)
		if err != nil || u.Host == "" {
			t.Fatalf("%s is not a URL: %s", urlVar, there)
		}
		if u.Path != "" {
			at.BaseURL = u.Scheme + "://" + shortName(from) + ".test" + u.Path
		}
		server = httprecord.Route(server, u)
	}
	settings := p.settings(os.Getenv(fromVar) == "") // send the real key only to the service
	recorder := httprecord.NewRecorder(server)
	model := run(t, p, s, recorder, at, settings)
	if t.Failed() {
		t.Fatalf("%s was not written", path)
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

// shortName returns the name of an origin without its version.
func shortName(origin string) string {
	first, _, _ := strings.Cut(origin, " ")
	return strings.ToLower(first)
}

// settings returns settings without a server. If real is true, keys come from the
// environment.
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

// secrets returns the values that no recording may contain.
func (p Provider) secrets(s model.Settings) map[string]string {
	out := map[string]string{"key": s.APIKey}
	for name, plain := range p.Env {
		if v := s.Env(name); v != plain {
			out[name] = v
		}
	}
	return out
}

// checkNoStrayFiles reports recordings without a scenario.
func checkNoStrayFiles(t *testing.T, name string) {
	files, err := filepath.Glob(filepath.Join("testdata", "exchanges", name, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if findScenario(strings.TrimSuffix(filepath.Base(f), ".txtar")) == nil {
			t.Errorf("%s belongs to no scenario", f)
		}
	}
}
