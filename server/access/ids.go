package access

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/server/problem"
)

// newID returns the id of a new run, from the body or the idempotency key of a request. of is
// what the key belongs to, within the tenant.
func (c *Client) newID(id, key, of string) (string, error) {
	if bad := forbiddenID(id); bad != nil {
		return "", bad
	}
	switch {
	case id != "" && key != "":
		return "", problem.New(problem.InvalidRequest, "use either run_id or the header Idempotency-Key").At("/run_id")
	case key != "":
		return keyedID(c.Name, of, key), nil
	case id == "":
		return runs.NewID(time.Now()), nil
	}
	return id, nil
}

// keyedID returns the id of the run that the requests with an idempotency key start.
func keyedID(tenant, agent, key string) string {
	sum := sha256.Sum256([]byte(tenant + "\x00" + agent + "\x00" + key))
	return "k-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:26]
}

// keyedIDs matches the ids that keyedID returns, also in capitals: folders may ignore case.
var keyedIDs = text.Regexp(`^(?i)k-[a-z2-7]{26}$`)

// forbiddenID returns the problem of an id that a client may not give a run. Ids of
// idempotency keys are forbidden, since they would occupy the key of another client.
func forbiddenID(id string) *problem.Problem {
	switch {
	case id == runs.Latest:
		return problem.New(problem.InvalidRequest, "run_id: %q means the latest run; use another id", id).At("/run_id")
	case keyedIDs().MatchString(id):
		return problem.New(problem.InvalidRequest, "run_id: %q is reserved for requests with an Idempotency-Key; use an id other than k- and 26 characters", id).At("/run_id")
	}
	return nil
}
