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

// Signer signs requests to other AWS services than Bedrock, for tools. It finds
// credentials where AWS's own tools do, when the first request is signed, and
// keeps them while they are valid. The zero value is ready; safe for concurrent
// use. It is here since the SDK has one door.
type Signer struct {
	Now func() time.Time // nil = time.Now

	mu    sync.Mutex
	found *aws.Config
}

// Sign adds a signature by Signature Version 4 to a request whose body has the
// SHA-256 sum, in hex. An empty region is the machine's. Headers that are set
// later are not signed.
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

// serverless is OpenSearch Serverless, which wants the body's sum in a header.
const serverless = "aoss"

// find looks for credentials once; a failure is not kept.
func (s *Signer) find(ctx context.Context) (*aws.Config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found != nil {
		return s.found, nil
	}
	found, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("AWS configuration of this machine: %w", err)
	}
	s.found = &found
	return s.found, nil
}
