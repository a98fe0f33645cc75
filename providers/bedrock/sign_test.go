package bedrock_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/providers/bedrock"
)

// published returns the time of AWS's published test suite for Signature Version 4.
func published() time.Time { return time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC) }

// suite sets up the credentials of that suite.
func suite(t *testing.T) *bedrock.Signer {
	t.Helper()
	files(t, "", "")
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "AWS_SESSION_TOKEN": "",
		"AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "", "AWS_PROFILE": "", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI": "", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "",
	} {
		t.Setenv(name, value)
	}
	return &bedrock.Signer{Now: published}
}

func signed(t *testing.T, s *bedrock.Signer, method, at, region, service string) (*http.Request, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(nil)
	return req, s.Sign(t.Context(), req, hex.EncodeToString(sum[:]), region, service)
}

// The cases are named as in the suite.
func TestSignerCreatesPublishedSignatures(t *testing.T) {
	signer := suite(t)
	for _, tt := range []struct{ name, method, at, want string }{
		{"get-vanilla", "GET", "https://example.amazonaws.com/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"post-vanilla", "POST", "https://example.amazonaws.com/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{"get-vanilla-query-order-key-case", "GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, region := range []string{"us-east-1", ""} {
				req, err := signed(t, signer, tt.method, tt.at, region, "service")
				if err != nil {
					t.Fatal(err)
				}
				want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=" + tt.want
				if got := req.Header.Get("Authorization"); got != want {
					t.Errorf("region %q:\n got %s\nwant %s", region, got, want)
				}
			}
		})
	}
}

func TestSignerSendsBodySumToServerless(t *testing.T) {
	req, err := signed(t, suite(t), "GET", "https://x.eu-west-1.aoss.amazonaws.com/_cat/indices", "eu-west-1", "aoss")
	if err != nil {
		t.Fatal(err)
	}
	got := req.Header.Get("Authorization")
	if req.Header.Get("X-Amz-Content-Sha256") == "" || !strings.Contains(got, "x-amz-content-sha256") || !strings.Contains(got, "/eu-west-1/aoss/aws4_request") {
		t.Errorf("header %v", req.Header)
	}
}

func TestSignerReportsMissingSettings(t *testing.T) {
	signer := suite(t)
	t.Setenv("AWS_REGION", "")
	if _, err := signed(t, signer, "GET", "https://example.amazonaws.com/", "", "es"); err == nil || !strings.Contains(err.Error(), "no AWS region: set auth.region") {
		t.Errorf("without a region: %v", err)
	}
	none := suite(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	if _, err := signed(t, none, "GET", "https://example.amazonaws.com/", "eu-west-1", "es"); err == nil || !strings.Contains(err.Error(), "no AWS credentials found") {
		t.Errorf("without credentials: %v", err)
	}
}

func TestSignerReturnsTheRegionOfTheMachine(t *testing.T) {
	signer := suite(t)
	t.Setenv("AWS_REGION", "ap-east-1")
	if got, err := signer.Region(t.Context()); err != nil || got != "ap-east-1" {
		t.Errorf("got %q, %v", got, err)
	}
}
