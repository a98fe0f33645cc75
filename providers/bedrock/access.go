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

// access decides where requests go and how they are signed.
type access struct {
	region  string // AWS region
	base    string // "" = the endpoint of the region
	token   string // sent as a bearer token
	static  aws.Credentials
	chain   bool   // whether the SDK searches the machine for credentials
	profile string // profile in the shared AWS files
	http    *http.Client

	mu           sync.Mutex
	sdkClient    *bedrockruntime.Client
	foundSecrets []string // secrets found by the chain
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
		chain:   c.Credentials == defaultChain,
		profile: c.Profile,
	}
}

// regionOf returns the region in an ARN, or "".
func regionOf(id string) string {
	if parts := strings.SplitN(id, ":", 6); len(parts) == 6 && parts[0] == "arn" {
		return parts[3]
	}
	return ""
}

// secrets returns the values to redact from all messages.
func (a *access) secrets() []string {
	return []string{a.token, a.static.AccessKeyID, a.static.SecretAccessKey, a.static.SessionToken}
}

// redact redacts the secrets found by the chain.
func (a *access) redact(text string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	clean, _ := secret.Unnamed(a.foundSecrets).Text(text)
	return clean
}

// location returns the base URL or the region, for messages.
func (a *access) location() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.base != "" {
		return a.base
	}
	return "region " + a.region
}

// client returns the SDK's client. The first request creates it, because that may read files.
func (a *access) client(ctx context.Context) (*bedrockruntime.Client, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sdkClient != nil {
		return a.sdkClient, nil
	}
	who, err := a.signer(ctx)
	if err != nil {
		return nil, err
	}
	if a.region == "" && a.base == "" {
		return nil, &model.Error{Kind: model.BadRequest, Message: "no AWS region: set options.region, or AWS_REGION in the environment"}
	}
	a.sdkClient = bedrockruntime.New(bedrockruntime.Options{}, a.options(who))
	return a.sdkClient, nil
}

// signer returns the credentials for signing. It returns nil for a bearer token, and for a server at base_url without
// credentials.
func (a *access) signer(ctx context.Context) (aws.CredentialsProvider, error) {
	switch {
	case a.token != "":
		return nil, nil
	case a.static.HasKeys() && a.profile == "":
		return credentials.StaticCredentialsProvider{Value: a.static}, nil
	case a.chain:
		return a.search(ctx)
	case a.base != "":
		return nil, nil
	}
	return nil, &model.Error{Kind: model.AuthError, Message: "no AWS credentials: set the environment variable that api_key_env names (AWS_BEARER_TOKEN_BEDROCK by default), or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; with options.credentials: default they are searched where AWS's own tools search"}
}

// search lets the SDK search for credentials and, if none is set, a region.
func (a *access) search(ctx context.Context) (aws.CredentialsProvider, error) {
	var options []func(*config.LoadOptions) error
	if a.region != "" {
		options = append(options, config.WithRegion(a.region))
	}
	if a.profile != "" {
		options = append(options, config.WithSharedConfigProfile(a.profile))
	}
	found, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, &model.Error{Kind: model.AuthError, Message: "AWS configuration: " + err.Error(), Err: err}
	}
	a.region = cmp.Or(a.region, found.Region)
	return finder{found.Credentials, a}, nil
}

// finder records the secrets that the chain finds and types its failures.
type finder struct {
	aws.CredentialsProvider
	access *access
}

// Retrieve implements aws.CredentialsProvider.
func (f finder) Retrieve(ctx context.Context) (aws.Credentials, error) {
	c, err := f.CredentialsProvider.Retrieve(ctx)
	if err != nil {
		return c, &model.Error{Kind: model.AuthError, Message: "no AWS credentials found: " + err.Error(), Err: err}
	}
	f.access.mu.Lock()
	defer f.access.mu.Unlock()
	for _, s := range []string{c.SecretAccessKey, c.SessionToken, c.AccessKeyID} {
		if !slices.Contains(f.access.foundSecrets, s) {
			f.access.foundSecrets = append(f.access.foundSecrets, s)
		}
	}
	return c, nil
}

// options returns the change that disables everything the SDK would do by itself. It is applied last, after the SDK has
// read the environment.
func (a *access) options(who aws.CredentialsProvider) func(*bedrockruntime.Options) {
	return func(o *bedrockruntime.Options) {
		o.Region = cmp.Or(a.region, "us-east-1") // a server at base_url may not need a region
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

// sender gives each request a body that can be read again. The SDK closes the body as soon as a response starts, and
// the connection with it if the server responded early.
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

// quiet removes the middleware that sends details of the machine: the user agent, a trace id of the calling function,
// and a request id.
func quiet(s *middleware.Stack) error {
	for _, id := range []string{"UserAgent", "RecursionDetection", "ClientRequestID"} {
		if _, err := s.Build.Remove(id); err != nil {
			return err
		}
	}
	return nil
}

// tokenSigner sends a token to any URL that base_url allows; the SDK's own signer rejects plain http.
type tokenSigner struct{}

// SignWithBearerToken implements bearer.Signer.
func (tokenSigner) SignWithBearerToken(_ context.Context, t bearer.Token, m bearer.Message) (bearer.Message, error) {
	if req, ok := m.(*smithyhttp.Request); ok {
		req.Header.Set("Authorization", "Bearer "+t.Value)
	}
	return m, nil
}
