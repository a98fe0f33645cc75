package bedrock

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/smithy-go/auth/bearer"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/secret"
)

// access is where requests go and who signs them.
type access struct {
	region string
	base   string // "" = the region's own endpoint
	token  string // sent as a bearer token
	static aws.Credentials
	chain  bool   // the SDK may look for credentials on the machine
	prof   string // in its shared files
	http   *http.Client

	mu    sync.Mutex
	made  *bedrockruntime.Client
	found []string // secrets that the chain found
}

func newAccess(c *Config, s model.Settings, base string) *access {
	env := func(name string) string {
		if s.Env == nil {
			return ""
		}
		return s.Env(name)
	}
	return &access{
		region: cmp.Or(c.Region, env("AWS_REGION"), env("AWS_DEFAULT_REGION"), regionOf(s.Model)),
		base:   base,
		token:  s.APIKey,
		static: aws.Credentials{
			AccessKeyID: env("AWS_ACCESS_KEY_ID"), SecretAccessKey: env("AWS_SECRET_ACCESS_KEY"), SessionToken: env("AWS_SESSION_TOKEN"),
		},
		chain: c.Credentials == defaultChain,
		prof:  c.Profile,
	}
}

// regionOf is the region that an ARN names.
func regionOf(id string) string {
	if parts := strings.SplitN(id, ":", 6); len(parts) == 6 && parts[0] == "arn" {
		return parts[3]
	}
	return ""
}

// secrets are the values that must never be shown.
func (a *access) secrets() []string {
	return []string{a.token, a.static.AccessKeyID, a.static.SecretAccessKey, a.static.SessionToken}
}

// hide replaces the secrets that the chain found.
func (a *access) hide(text string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	clean, _ := secret.Unnamed(a.found).Text(text)
	return clean
}

// where names the place that requests go to.
func (a *access) where() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.base != "" {
		return a.base
	}
	return "region " + a.region
}

// client is the SDK's, made when the first request is: files are read then,
// where they may be.
func (a *access) client(ctx context.Context) (*bedrockruntime.Client, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.made != nil {
		return a.made, nil
	}
	who, err := a.signer(ctx)
	if err != nil {
		return nil, err
	}
	if a.region == "" && a.base == "" {
		return nil, &model.Error{Kind: model.BadRequest, Message: "no AWS region: set options.region, or AWS_REGION in the environment"}
	}
	a.made = bedrockruntime.New(bedrockruntime.Options{}, a.options(who))
	return a.made, nil
}

// signer is who signs requests: nil for a bearer token, and for a server of
// base_url that asks for nothing.
func (a *access) signer(ctx context.Context) (aws.CredentialsProvider, error) {
	switch {
	case a.token != "":
		return nil, nil
	case a.static.HasKeys() && a.prof == "":
		return credentials.StaticCredentialsProvider{Value: a.static}, nil
	case a.chain:
		return a.search(ctx)
	case a.base != "":
		return nil, nil
	}
	return nil, &model.Error{Kind: model.AuthError, Message: "no AWS credentials: set the environment variable that api_key_env names (AWS_BEARER_TOKEN_BEDROCK by default), or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; options.credentials: default looks for them where AWS's own tools do"}
}

// search lets the SDK look for credentials and, if none is known, a region.
func (a *access) search(ctx context.Context) (aws.CredentialsProvider, error) {
	var how []func(*config.LoadOptions) error
	if a.region != "" {
		how = append(how, config.WithRegion(a.region))
	}
	if a.prof != "" {
		how = append(how, config.WithSharedConfigProfile(a.prof))
	}
	found, err := config.LoadDefaultConfig(ctx, how...)
	if err != nil {
		return nil, &model.Error{Kind: model.AuthError, Message: "AWS configuration of this machine: " + err.Error(), Err: err}
	}
	a.region = cmp.Or(a.region, found.Region)
	return finder{found.Credentials, a}, nil
}

// finder notes what the chain finds, and types its failure.
type finder struct {
	aws.CredentialsProvider
	of *access
}

// Retrieve implements aws.CredentialsProvider.
func (f finder) Retrieve(ctx context.Context) (aws.Credentials, error) {
	c, err := f.CredentialsProvider.Retrieve(ctx)
	if err != nil {
		return c, &model.Error{Kind: model.AuthError, Message: "no AWS credentials found: " + err.Error(), Err: err}
	}
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	for _, s := range []string{c.SecretAccessKey, c.SessionToken, c.AccessKeyID} {
		if !slices.Contains(f.of.found, s) {
			f.of.found = append(f.of.found, s)
		}
	}
	return c, nil
}

// options are the SDK's: everything it would do on its own account is off. They
// are set last, after what it took from the environment itself.
func (a *access) options(who aws.CredentialsProvider) func(*bedrockruntime.Options) {
	return func(o *bedrockruntime.Options) {
		o.Region = cmp.Or(a.region, "us-east-1") // of a server of base_url that does not care
		o.HTTPClient = sender{a.http}
		o.Retryer = aws.NopRetryer{}
		o.APIOptions = []func(*middleware.Stack) error{quiet}
		if a.base != "" {
			o.BaseEndpoint = &a.base
		}
		o.Credentials, o.BearerAuthTokenProvider = who, nil
		switch {
		case a.token != "":
			o.AuthSchemePreference = []string{"httpBearerAuth"}
			o.BearerAuthTokenProvider = bearer.StaticTokenProvider{Token: bearer.Token{Value: a.token}}
			o.BearerAuthSigner = tokenSigner{}
		case who != nil:
			o.AuthSchemePreference = []string{"sigv4"}
		default:
			o.AuthSchemePreference = []string{"noAuth"}
		}
	}
}

// sender gives each request a body that stays: the SDK closes its own as soon as
// an answer begins, and the connection with it if the server answered early.
type sender struct{ client *http.Client }

// Do implements the SDK's HTTPClient.
func (s sender) Do(r *http.Request) (*http.Response, error) {
	var text []byte
	if r.Body != nil {
		var err error
		if text, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	out := r.WithContext(r.Context())
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	out.Body, _ = out.GetBody() // it never fails
	out.ContentLength = int64(len(text))
	return s.client.Do(out)
}

// quiet takes out what tells a server of the machine: its user agent, a trace
// of the function that runs it, an id of each request.
func quiet(s *middleware.Stack) error {
	for _, id := range []string{"UserAgent", "RecursionDetection", "ClientRequestID"} {
		if _, err := s.Build.Remove(id); err != nil {
			return err
		}
	}
	return nil
}

// tokenSigner sends a token to every address that base_url may name; the SDK's
// own refuses plain http.
type tokenSigner struct{}

// SignWithBearerToken implements bearer.Signer.
func (tokenSigner) SignWithBearerToken(_ context.Context, t bearer.Token, m bearer.Message) (bearer.Message, error) {
	if req, ok := m.(*smithyhttp.Request); ok {
		req.Header.Set("Authorization", "Bearer "+t.Value)
	}
	return m, nil
}
