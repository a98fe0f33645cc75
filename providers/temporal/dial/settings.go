package dial

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"github.com/pexctl/pex/engine/secret"
)

// Settings say where the server is and how to use it.
type Settings struct {
	Environ []string // as of os.Environ: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_*, TEMPORAL_PROFILE, TEMPORAL_CONFIG_FILE
	File    string   // temporal.toml; "" = TEMPORAL_CONFIG_FILE, or Temporal's own in the user's configuration folder
	Profile string   // of the file; "" = TEMPORAL_PROFILE, or "default"

	Identity  string                      // of this process, as operators see it; "" = process id and host name
	Configure func(*client.Options) error // changes the options, such as a codec of payloads; nil = nothing
	Logger    *slog.Logger                // nil = no log
	Timeout   time.Duration               // of each question to the server by Dial; 0 = 5 seconds
}

const defaultTimeout = 5 * time.Second

// environment is the environment of Settings as envconfig reads it.
type environment struct {
	all    []string
	values map[string]string
}

var _ envconfig.EnvLookup = environment{}

func newEnvironment(environ []string) environment {
	e := environment{all: environ, values: map[string]string{}}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		e.values[name] = value
	}
	return e
}

// Environ returns all variables as NAME=VALUE.
func (e environment) Environ() []string { return e.all }

// LookupEnv returns a variable.
func (e environment) LookupEnv(name string) (string, bool) {
	v, ok := e.values[name]
	return v, ok
}

// target is what settings mean.
type target struct {
	options client.Options
	keys    *secret.Values // masked in errors
}

// load reads the settings. The error is an *Error.
func (s Settings) load() (*target, error) {
	profile, err := s.profile()
	if err != nil {
		return nil, &Error{Reason: BadSettings, Err: err}
	}
	t := &target{keys: keysOf(&profile)}
	if t.options, err = profile.ToClientOptions(envconfig.ToClientOptionsRequest{}); err != nil {
		return nil, &Error{Reason: BadSettings, Err: t.masked(err)}
	}
	t.options.Identity, t.options.Logger = s.Identity, Logger(s.Logger)
	t.options.ConnectionOptions.GetSystemInfoTimeout = s.timeout()
	if t.options.HostPort == "" {
		t.options.HostPort = client.DefaultHostPort
	}
	if t.options.Namespace == "" {
		t.options.Namespace = client.DefaultNamespace
	}
	if s.Configure != nil {
		if err := s.Configure(&t.options); err != nil {
			return nil, &Error{Reason: BadSettings, Err: t.masked(err)}
		}
	}
	return t, nil
}

func (s Settings) timeout() time.Duration {
	if s.Timeout > 0 {
		return s.Timeout
	}
	return defaultTimeout
}

// keysOf returns the secrets of a profile.
func keysOf(p *envconfig.ClientConfigProfile) *secret.Values {
	values := map[string]string{}
	for name, value := range p.GRPCMeta {
		values["TEMPORAL_GRPC_META_"+name] = value
	}
	values["TEMPORAL_API_KEY"] = p.APIKey
	if p.TLS != nil {
		values["TEMPORAL_TLS_CLIENT_KEY_DATA"] = string(p.TLS.ClientKeyData)
	}
	if p.Codec != nil {
		values["TEMPORAL_CODEC_AUTH"] = p.Codec.Auth
	}
	maps.DeleteFunc(values, func(_, v string) bool { return v == "" })
	return secret.New(values)
}

// profile reads the profile of the file and the environment.
func (s Settings) profile() (envconfig.ClientConfigProfile, error) {
	env := newEnvironment(s.Environ)
	o := envconfig.LoadClientConfigProfileOptions{ConfigFileProfile: s.Profile, EnvLookup: env}
	file, explicit := s.file(env)
	b, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !explicit:
	case err != nil:
		return envconfig.ClientConfigProfile{}, err
	}
	var c envconfig.ClientConfig
	if err := c.FromTOML(b, envconfig.ClientConfigFromTOMLOptions{}); err != nil {
		return envconfig.ClientConfigProfile{}, fmt.Errorf("%s is not valid TOML, or one of its keys has a value of the wrong type", file) // err may quote a key
	}
	name, explicit := s.profileName(env)
	if c.Profiles[name] == nil && explicit {
		return envconfig.ClientConfigProfile{}, fmt.Errorf("%s has no profile %s; it has %s", file, name, strings.Join(slices.Sorted(maps.Keys(c.Profiles)), ", "))
	}
	if len(b) > 0 {
		o.ConfigFileData = b
	} else {
		o.DisableFile = true
	}
	return envconfig.LoadClientConfigProfile(o)
}

// file returns the configuration file; explicit reports whether the settings name it.
func (s Settings) file(env environment) (file string, explicit bool) {
	if file := cmp.Or(s.File, env.values["TEMPORAL_CONFIG_FILE"]); file != "" {
		return file, true
	}
	return envconfig.DefaultConfigFilePath(), false
}

// profileName returns the profile; explicit reports whether the settings name it.
func (s Settings) profileName(env environment) (name string, explicit bool) {
	if name := cmp.Or(s.Profile, env.values["TEMPORAL_PROFILE"]); name != "" {
		return name, true
	}
	return envconfig.DefaultConfigFileProfile, false
}
