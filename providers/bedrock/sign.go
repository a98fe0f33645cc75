package bedrock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
)

// Signer signs requests to other AWS services, for tools and blobs. It searches for credentials where AWS's own tools search, on
// the first request, and caches them while they are valid. The zero value is ready to use. Safe for concurrent use. It
// is in this package because only this package imports the SDK.
type Signer struct {
	Now func() time.Time // nil = time.Now

	mu     sync.Mutex
	config *aws.Config
}

// Sign adds a Signature Version 4 to a request. sum is the SHA-256 of its body in hex. An empty region is the one
// configured on the machine. Headers set later are not signed.
func (s *Signer) Sign(ctx context.Context, req *http.Request, sum, region, service string) error {
	found, err := s.find(ctx)
	if err != nil {
		return err
	}
	if region = cmp.Or(region, found.Region); region == "" {
		return errors.New("no AWS region: set auth.region, or AWS_REGION in the environment")
	}
	if found.Credentials == nil {
		return errors.New("no AWS credentials found")
	}
	who, err := found.Credentials.Retrieve(ctx)
	if err != nil {
		return fmt.Errorf("no AWS credentials found: %w", err)
	}
	if service == serverless {
		req.Header.Set("X-Amz-Content-Sha256", sum)
	}
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	return v4.NewSigner().SignHTTP(ctx, who, req, sum, service, region, now())
}

// Region returns the region that is configured on the machine, or "".
func (s *Signer) Region(ctx context.Context) (string, error) {
	found, err := s.find(ctx)
	if err != nil {
		return "", err
	}
	return found.Region, nil
}

// serverless is the service name of OpenSearch Serverless, which requires the body's sum in a header.
const serverless = "aoss"

// find searches for credentials once; failures are not cached.
func (s *Signer) find(ctx context.Context) (*aws.Config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.config != nil {
		return s.config, nil
	}
	found, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("AWS configuration: %w", err)
	}
	s.config = &found
	return s.config, nil
}
